"""Which keys do what: a preset, and on top of it the user's own `keymap.toml`.

Faults are found before the app begins and named with the file and the ids, because a key that does
another thing than the user thinks costs verdicts. The app then hands the result to Textual, which
knows bindings by the same ids.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual.keys import KEY_NAME_REPLACEMENTS, KEY_TO_UNICODE_NAME, Keys, key_to_character

from faithtui.config import Preset
from faithtui.errors import ConfigError
from faithtui.toml_text import quote_word, read_toml
from faithtui.tui.keymap.presets import CHANGES, MOVED_PREFIX

if TYPE_CHECKING:
    from faithtui.tui.keymap.declared_bindings import KeyChain

_SAME_IN_TERMINALS: Final = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+h": "backspace",
    "ctrl+j": "enter",
    "ctrl+left_square_bracket": "escape",
    "ctrl+[": "escape",
}
"""Keys for which most terminals send the same as for another one."""

FOLLOWERS: Final = {"review.verdict-elsewhere": "review.verdict-"}
"""Bindings that have the keys of all others whose ids begin so, unless the user says otherwise."""

OLD_IDS: Final = {
    "review.code-1": "review.code-claim",
    "review.code-2": "review.code-truth",
    "review.code-3": "review.code-verdict",
    "review.code-4": "review.code-retrieval",
    "review.code-5": "review.code-policy",
    "review.code-6": "review.code-data",
    "review.code-7": "review.code-other",
    "replies.help": "window.help",
}
"""Ids that key maps of earlier versions may hold. Written out: the order of the codes may change,
and what a user's file means may not."""

EARLIER_KEYS: Final = {
    **dict.fromkeys(("runs.export", "conversations.export", "agreement.export"), "e"),
    **dict.fromkeys(("runs.retry", "conversations.retry", "progress.retry"), "x"),
    "queue-end.queues": "u",
    "settings.test-judge": "t",
    **{
        f"agreement.{part}": key
        for part, key in {
            "people": "d",
            "slices": "s",
            "scores": "t",
            "calibration": "c",
            "progress": "w",
            "detection": "f",
            "marked": "x",
        }.items()
    },
}
"""Keys that bindings had in earlier versions, by id: who gave the present one to something else
then keeps them."""

_NAMES: Final = frozenset(
    {key.value for key in Keys if "+" not in key.value and not key.value.startswith("<")}
    | set(KEY_NAME_REPLACEMENTS)
    | set(KEY_NAME_REPLACEMENTS.values())
    | set(KEY_TO_UNICODE_NAME)
)
_LONGEST_NAME: Final = 100
"""Characters: what is longer is not one of our names, misspelt."""
_MODIFIERS: Final = ("ctrl", "alt", "shift", "super", "hyper", "meta")


@dataclass(frozen=True, slots=True)
class KeyClash:
    """A key that two bindings have where both work."""

    key: str
    first: str
    second: str
    where: str
    """The pane, screen or app that has them."""


def load_keymap(preset: Preset, file: Path) -> dict[str, str]:
    """Read the key map.

    Args:
        preset: Which one to begin with.
        file: The user's own changes; need not exist.

    Returns:
        Keys by id that differ from the default ones, separated by commas.

    Raises:
        ConfigError: The file cannot be read, names an id or a key that does not exist, or two
            bindings have the same key where both work.
    """
    own = read_keymap(file)
    keymap = add_keys_of_dependent_bindings({**preset_keymap(preset), **own}, own)
    if own:
        keymap = restore_old_keys_on_clash(keymap, own)
        refuse_clashing_keys(keymap, own, file)
    return keymap


def preset_keymap(preset: Preset) -> dict[str, str]:
    """Give the keys by id in which a preset differs from the default."""
    changes = CHANGES[preset]
    keymap = dict(changes.ids)
    if changes.moves:
        from faithtui.tui.keymap.declared_bindings import map_binding_ids_to_default_keys

        for name, keys in map_binding_ids_to_default_keys().items():
            if name.startswith(MOVED_PREFIX) and any(key in changes.moves for key in keys):
                keymap[name] = ",".join(changes.moves.get(key, key) for key in keys)
    return keymap


def add_keys_of_dependent_bindings(
    keymap: Mapping[str, str], own: Mapping[str, str]
) -> dict[str, str]:
    """Let bindings that repeat the keys of others follow these."""
    found = dict(keymap)
    for follower, leaders in FOLLOWERS.items():
        if follower in own or not any(name.startswith(leaders) for name in keymap):
            continue
        from faithtui.tui.keymap.declared_bindings import map_binding_ids_to_default_keys

        defaults = map_binding_ids_to_default_keys()
        lists = [
            keymap.get(name, ",".join(keys))
            for name, keys in defaults.items()
            if name.startswith(leaders) and name not in FOLLOWERS
        ]
        if follower in defaults and lists:
            found[follower] = ",".join(lists)
    return found


def restore_old_keys_on_clash(keymap: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Give bindings that moved their earlier key where the user's file has the new one taken."""
    from faithtui.tui.keymap.declared_bindings import list_bindings_active_together

    found = dict(keymap)
    for clash in find_clashes(list_bindings_active_together(), keymap):
        names = {clash.first, clash.second}
        if names & own.keys():
            found |= {name: EARLIER_KEYS[name] for name in names & EARLIER_KEYS.keys() - own.keys()}
    return found


def read_keymap(file: Path) -> dict[str, str]:
    """Read the user's key map and check each entry by itself; {} when there is no file.

    Raises:
        ConfigError: The file cannot be read, or names an id or a key that does not exist.
    """
    read = read_toml(file)
    found = read.table
    if not found:
        return {}
    from faithtui.tui.keymap.declared_bindings import (
        list_bindings_by_class,
        map_binding_ids_to_default_keys,
    )

    known = map_binding_ids_to_default_keys()
    while_typing = {each.id for _, each in list_bindings_by_class() if each.priority}
    keymap: dict[str, str] = {}
    for written, value in _flatten_table(found):
        where, name = read.format_file_and_line(written), OLD_IDS.get(written, written)
        if name in keymap:
            old = next(each for each, new in OLD_IDS.items() if new == name)
            raise ConfigError(f"{where}: `{old}` is the old id of `{name}`; keep one of the two")
        if name not in known:
            raise ConfigError(
                f"{where}: there is no binding {quote_word(name)}; "
                f"{_suggest_nearest(name, tuple(known))}"
                "faithtui keys lists all of them"
            )
        if not isinstance(value, str) or not value.strip():
            raise ConfigError(f'{where}: `{name}` needs keys such as "u" or "u,ctrl+z"')
        keys = [_parse_key(key.strip(), name, where) for key in value.split(",")]
        for key in keys:
            if name in while_typing and key_to_character(key) is not None:
                raise ConfigError(
                    f"{where}: `{name}` works while you type, so `{key}` cannot be its key; "
                    "expected one that types nothing, such as ctrl+q"
                )
        keymap[name] = ",".join(dict.fromkeys(keys))
    return keymap


def refuse_clashing_keys(keymap: Mapping[str, str], own: Mapping[str, str], file: Path) -> None:
    """Refuse a key map in which a key means two things at once.

    Raises:
        ConfigError: It does; both ids and the key are named.
    """
    from faithtui.tui.keymap.declared_bindings import list_bindings_active_together

    found = list(find_clashes(list_bindings_active_together(), keymap))
    # What follows others clashes because these do, which says more.
    found.sort(key=lambda each: each.first in FOLLOWERS or each.second in FOLLOWERS)
    if found:
        clash = found[0]
        mine = next((name for name in (clash.first, clash.second) if name in own), clash.second)
        where = read_toml(file).format_file_and_line(mine)
        raise ConfigError(
            f"{where}: `{clash.key}` is the key of both `{clash.first}` and `{clash.second}` "
            f"({clash.where}); give `{mine}` another one"
        )


def find_clashes(all_chains: Sequence["KeyChain"], keymap: Mapping[str, str]) -> Iterator[KeyClash]:
    """Find keys that two bindings have where both work.

    A pane's key may hide its screen's where that is so by default too: there the pane's is the
    special case of the other. Within one pane or screen two bindings never share a key.
    """
    for chain in all_chains:
        meant = {
            pair
            for inner, outer in combinations(chain, 2)
            for key, ids in inner.keys.items()
            for one in ids
            for other in outer.keys.get(key, ())
            for pair in ((one, other), (other, one))
        }
        places: dict[str, list[tuple[int, str]]] = {}
        for depth, node in enumerate(chain):
            ids: dict[str, list[str]] = {}
            for key, names in node.keys.items():
                for name in names:
                    ids.setdefault(name, []).append(key)
            for name, keys in ids.items():
                for key in keymap[name].split(",") if name in keymap else keys:
                    if (depth, name) not in places.setdefault(key, []):
                        places[key].append((depth, name))
        for key, held in places.items():
            for (depth, one), (other_depth, other) in combinations(held, 2):
                if one == other or (depth != other_depth and (one, other) in meant):
                    continue
                yield KeyClash(key, one, other, " in ".join(node.title for node in chain))


def _parse_key(key: str, name: str, where: str) -> str:
    """Check a key and write it as Textual names it."""
    from faithtui.tui.keymap.declared_bindings import normalise_key

    *modifiers, last = ("", "+") if key == "+" else key.split("+")
    modifiers = [each for each in modifiers if each]
    is_known = (len(last) == 1 and last.isprintable() and not last.isspace()) or last in _NAMES
    if not is_known or any(each not in _MODIFIERS for each in modifiers):
        raise ConfigError(
            f"{where}: `{name}`: there is no key {quote_word(key)}; "
            f"{_suggest_nearest(last, tuple(_NAMES))}"
            "examples: u, ctrl+z, pagedown, question_mark"
        )
    if modifiers and len(last) == 1 and last != last.lower():
        raise ConfigError(f"{where}: `{name}`: write `{key}` with a small letter: `{key.lower()}`")
    full = normalise_key(last) if not modifiers else key
    if full in _SAME_IN_TERMINALS:
        raise ConfigError(
            f"{where}: `{name}`: most terminals send {_SAME_IN_TERMINALS[full]} for `{key}`; "
            f"expected another key, or `{_SAME_IN_TERMINALS[full]}` itself"
        )
    return full


def _suggest_nearest(word: str, known: Sequence[str]) -> str:
    if len(word) > _LONGEST_NAME:
        return ""
    near = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}? " if near else ""


def _flatten_table(table: Mapping[str, object], before: str = "") -> Iterator[tuple[str, object]]:
    """List entries with dotted names, however the file nests them."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flatten_table(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value
