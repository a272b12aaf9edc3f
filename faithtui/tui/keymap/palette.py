"""What the palette of commands offers: every action that can be done now, with its key."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from textual.app import App, SystemCommand
from textual.binding import ActiveBinding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.screen import Screen

from faithtui.tui import screen_catalog
from faithtui.tui.input_queue import InputQueue
from faithtui.tui.keymap.key_names import KeyNames, format_key, format_keys_by_id


class CommandProvider(Provider):
    """Gives the palette the app's commands, in the order in which the app lists them."""

    async def discover(self) -> Hits:
        """List all of them."""
        for each in self.app.get_system_commands(self.screen):
            yield DiscoveryHit(Content(each.title), each.callback, help=each.help)

    async def search(self, query: str) -> Hits:
        """List those that a query finds, by name or key."""
        matcher = self.matcher(query)
        for each in self.app.get_system_commands(self.screen):
            score = matcher.match(each.title)
            if score > 0:
                yield Hit(score, matcher.highlight(each.title), each.callback, help=each.help)


def list_commands(
    app: App[None],
    screen: Screen[Any],
    go: Callable[[str], object],
    keymap: Mapping[str, str],
    input_queue: InputQueue,
) -> Iterator[SystemCommand]:
    """List the commands of a screen as it is now.

    Args:
        app: The app.
        screen: Its screen.
        go: Goes to a main screen by name.
        keymap: Keys by id where they are not the default ones.
        input_queue: Lets commands run when the palette is closed.
    """
    names = KeyNames(keymap)
    found: dict[str, tuple[list[str], ActiveBinding]] = {}
    for each in screen.active_bindings.values():
        name = each.binding.id
        if name is None or not each.enabled:
            continue
        keys, _ = found.setdefault(name, ([], each))
        key = format_key(each.binding)
        if key not in keys:
            keys.append(key)
    # Sorted stably: the pane's own commands first, moving in it last.
    for _, (keys, each) in sorted(found.items(), key=lambda item: item[0].startswith("move.")):
        binding = each.binding
        yield SystemCommand(
            f"{_lower_first(binding.description)}  ({' '.join(keys)})",
            names.fill_in_keys(binding.tooltip or binding.description),
            _make_action_callback(app, input_queue, binding.action, each.node),
        )
    prefix = format_keys_by_id(keymap, "app.go", "g")[0]
    for name, entry in screen_catalog.SCREENS.items():
        letter = format_keys_by_id(keymap, f"go.{name}", entry.letter)[0]
        title = f"go to {name}  ({prefix} {letter})"
        yield SystemCommand(title, entry.words, _make_go_callback(go, name))
    yield SystemCommand("theme", "Choose colours, dark or light", app.action_change_theme)


def _lower_first(words: str) -> str:
    return words[:1].lower() + words[1:]


def _make_action_callback(
    app: App[None], input_queue: InputQueue, action: str, node: Any
) -> Callable[[], None]:
    def run_action() -> None:
        input_queue.run_between_keys(lambda: app.run_action(action, node))

    return run_action


def _make_go_callback(go: Callable[[str], object], name: str) -> Callable[[], None]:
    def go_to_screen() -> None:
        go(name)

    return go_to_screen
