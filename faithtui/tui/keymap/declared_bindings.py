"""Every key of the app, found in the classes themselves: for docs, key maps and their checks.

Nothing here is a list by hand. A screen or a pane added later is found, being a class of the
package; which panes a screen can have follows from what its modules know.
"""

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType

from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

import faithtui.tui
from faithtui.tui import screen_catalog
from faithtui.tui.keymap.key_names import KeyNames, format_key
from faithtui.tui.widgets.zoomable_panes import Panes

_PACKAGE = "faithtui.tui."
_WIDGETS = f"{_PACKAGE}widgets."


@dataclass(frozen=True, slots=True)
class KeyNode:
    """A place that has keys: a pane, a screen, the app."""

    title: str
    keys: Mapping[str, tuple[str, ...]]
    """Ids by key, as they are by default."""


KeyChain = tuple[KeyNode, ...]
"""Nodes whose keys work at the same time, the focused one first."""


@lru_cache(maxsize=1)
def list_binding_classes() -> tuple[type[DOMNode], ...]:
    """List the classes that have keys of their own: the app, main screens as `g` lists them, rest.

    Imports every module of the app, which takes a while.
    """
    found: set[type[DOMNode]] = set()
    for module in _import_modules():
        for each in vars(module).values():
            if _is_own_node_class(each) and each.__dict__.get("BINDINGS"):
                found.add(each)
    main = [screen_catalog.load_screen_class(name) for name in screen_catalog.LETTERS]

    def rank_class(kind: type[DOMNode]) -> tuple[int, int, str]:
        rank = 0 if issubclass(kind, App) else 1 if kind.__name__ == "FaithScreen" else 3
        return (2, main.index(kind), "") if kind in main else (rank, 0, make_class_title(kind))

    return tuple(sorted(found, key=rank_class))


def make_class_title(kind: type[DOMNode]) -> str:
    """Name a class for users: `ClaimList` is `Claim list`."""
    if issubclass(kind, App):
        return "Everywhere"
    if kind.__name__ == "FaithScreen":
        return "Every screen"
    words = re.findall(r"[A-Z][a-z]*", kind.__name__)
    if words[-1] == "Screen" and len(words) > 1:
        words.pop()
    return " ".join(words).capitalize()


def list_bindings_by_class() -> Iterator[tuple[str, Binding]]:
    """List bindings by class, in the order they were written; inherited ones only once."""
    for kind in list_binding_classes():
        for binding in kind.__dict__["BINDINGS"]:
            if isinstance(binding, Binding):
                yield make_class_title(kind), binding


@lru_cache(maxsize=1)
def map_binding_ids_to_default_keys() -> Mapping[str, tuple[str, ...]]:
    """Give the keys of every id, as they are by default."""
    found: dict[str, dict[str, None]] = {}
    for _, binding in list_bindings_by_class():
        if binding.id is not None:
            for key in binding.key.split(","):
                found.setdefault(binding.id, {})[normalise_key(key)] = None
    return {name: tuple(keys) for name, keys in found.items()}


@lru_cache(maxsize=1)
def list_bindings_active_together() -> tuple[KeyChain, ...]:
    """List which keys work together: for every screen, with none and with each pane focused."""
    app = next(kind for kind in list_binding_classes() if issubclass(kind, App))
    found: list[KeyChain] = []
    for screen in list_screen_classes():
        # Keys stop at a window above a screen.
        outer: KeyChain = (merge_class_bindings(screen),)
        if not issubclass(screen, ModalScreen):
            outer = (*outer, merge_class_bindings(app))
        found.append(outer)
        held = tuple(merge_class_bindings(holder) for holder in list_pane_containers(screen))
        found += [(merge_class_bindings(pane), *held, *outer) for pane in list_panes(screen)]
    return tuple(found)


def list_screen_classes() -> list[type[DOMNode]]:
    """List all screens, windows above others too, but those that others extend."""
    found = {
        each
        for module in _import_modules()
        for each in vars(module).values()
        if _is_own_node_class(each) and issubclass(each, Screen)
    }
    extended = {base for each in found for base in each.__mro__[1:]}
    return sorted(found - extended, key=make_class_title)


def list_panes(screen: type[DOMNode]) -> list[type[Widget]]:
    """List the panes that a screen can have: those its modules know, and what these know."""
    return [each for each in _list_widgets_known_to_screen(screen) if each.can_focus]


def list_pane_containers(screen: type[DOMNode]) -> list[type[Widget]]:
    """List what holds panes of a screen and has keys for all of them."""
    return [
        each
        for each in _list_widgets_known_to_screen(screen)
        if not each.can_focus and each.__dict__.get("BINDINGS") and issubclass(each, Panes)
    ]


def _list_widgets_known_to_screen(screen: type[DOMNode]) -> list[type[Widget]]:
    found: set[type[Widget]] = set()
    left = [each.__module__ for each in screen.__mro__ if each.__module__.startswith(_PACKAGE)]
    seen: set[str] = set()
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        for each in vars(sys.modules[name]).values():
            if (
                _is_own_node_class(each)
                and issubclass(each, Widget)
                and not issubclass(each, Screen)
            ):
                if each.__module__.startswith(_WIDGETS) or issubclass(each, Panes):
                    left.append(each.__module__)
                found.add(each)
    return sorted(found, key=make_class_title)


def merge_class_bindings(kind: type[DOMNode]) -> KeyNode:
    """Merge the keys of a class and its bases: the key of a class goes before its base's."""
    keys: dict[str, tuple[str, ...]] = {}
    for base in reversed(kind.__mro__):
        own: dict[str, tuple[str, ...]] = {}
        for binding in base.__dict__.get("BINDINGS", ()):
            if not isinstance(binding, Binding):
                continue
            for key in map(normalise_key, binding.key.split(",")):
                own[key] = (*own.get(key, ()), *([binding.id] if binding.id else []))
        keys |= own
    return KeyNode(make_class_title(kind), keys)


def normalise_key(key: str) -> str:
    """Write a key as Textual names it: `question_mark` for `?`."""
    return next(iter(Binding.make_bindings([Binding(key.strip(), "")]))).key


def format_keys_markdown(keymap: Mapping[str, str] | None = None) -> str:
    """Write all keys as Markdown: a heading and a table per class.

    Args:
        keymap: Keys by id that differ from the default ones.
    """
    parts: list[str] = []
    current = ""
    for scope, binding in list_bindings_by_class():
        if scope != current:
            current = scope
            parts += [f"\n## {scope}\n", "| key | does | id |", "|---|---|---|"]
        keys = " ".join(
            _format_markdown_cell(key) for key in format_binding_keys(binding, keymap or {})
        )
        words = KeyNames(keymap or {}).fill_in_keys(binding.tooltip)
        parts.append(f"| {keys} | {words} | `{binding.id}` |")
    return "\n".join(parts).lstrip("\n") + "\n"


def format_presets_markdown(presets: Mapping[str, Mapping[str, str]]) -> str:
    """Write as Markdown which keys are others in which preset.

    Args:
        presets: Keys by id that differ from the default ones, by name of the preset.
    """
    head = ["does", "id", "default", *presets]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    seen: set[str] = set()
    for _, binding in list_bindings_by_class():
        name = binding.id or ""
        if name in seen or not any(name in keymap for keymap in presets.values()):
            continue
        seen.add(name)
        own = format_binding_keys(binding, {})
        cells = [" ".join(map(_format_markdown_cell, own))]
        for keymap in presets.values():
            changed = format_binding_keys(binding, keymap)
            cells.append("" if changed == own else " ".join(map(_format_markdown_cell, changed)))
        words = KeyNames({}).fill_in_keys(binding.tooltip)
        lines.append(f"| {words} | `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def format_binding_keys(binding: Binding, keymap: Mapping[str, str]) -> list[str]:
    """Write the keys of a binding as users read them."""
    changed = keymap.get(binding.id or "")
    keys = (changed or binding.key).split(",")
    return [format_key(Binding(normalise_key(key), binding.action)) for key in keys]


def _format_markdown_cell(key: str) -> str:
    return f"`{key}`".replace("|", "\\|")


def _import_modules() -> list[ModuleType]:
    return [
        importlib.import_module(each.name)
        for each in pkgutil.walk_packages(faithtui.tui.__path__, _PACKAGE)
    ]


def _is_own_node_class(node_class: object) -> bool:
    return (
        isinstance(node_class, type)
        and issubclass(node_class, DOMNode)
        and node_class.__module__.startswith(_PACKAGE)
    )
