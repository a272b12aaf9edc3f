"""`e` and `d`: a setting is changed in the file, or taken out of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from textual.actions import SkipAction
from textual.binding import Binding, BindingType

from faithtui.config import PRESETS, SettingOrigin, SettingsWithOrigins, find_environment_variable
from faithtui.errors import ConfigError
from faithtui.paths import keymap_file
from faithtui.settings_file import (
    Value,
    parse_typed_value,
    preview_setting,
    write_setting_and_reload_settings,
)
from faithtui.tui.input_queue import hold_keys_during_worker
from faithtui.tui.keymap.keymap import load_keymap
from faithtui.tui.messages import SettingsChanged
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.screen.dialogs import PickDialog
from faithtui.tui.settings.setting_lines import (
    TITLES,
    describe_choice,
    format_setting_value,
    list_choices,
)
from faithtui.tui.theme import theme
from faithtui.tui.theme.ascii import wants_ascii
from faithtui.tui.theme.lines import Line, Piece, escape_line, escape_text, make_line
from faithtui.tui.widgets.bars import StatusLine
from faithtui.tui.widgets.plain_input import PlainInput

if TYPE_CHECKING:
    from faithtui.tui.settings.settings_screen import SettingsScreen


class SettingInput(PlainInput):
    """A line to type the value of one setting in: the footer names its keys while it is used."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "save value", tooltip="Save the value", id="setting.save"),
        Binding(
            "escape",
            "drop",
            "drop value",
            tooltip="Leave the value as it was",
            id="setting.drop",
        ),
    ]

    setting = ""
    """Name of the setting that was typed last, or is being typed."""

    def action_drop(self) -> None:
        """Let the screen close the line."""
        raise SkipAction


class SettingEditor(Controller["SettingsScreen"]):
    """Changes the chosen setting of the settings screen, on a line or from a list."""

    screen: "SettingsScreen"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "e", "edit_setting", "change", tooltip="Change the chosen value", id="settings.change"
        ),
        Binding(
            "d",
            "reset_to_default",
            "default",
            tooltip="Take the chosen value out of the file, so that the default counts",
            id="settings.default",
        ),
    ]

    def action_edit_setting(self) -> None:
        """Let a value be chosen or typed."""
        name, configured = self.screen.selected_setting, self.session.configured
        if name is None or configured is None:
            return
        themes = [*theme.THEMES, *sorted(set(self.app.available_themes) - theme.OWN_NAMES)]
        choices = list_choices(name, themes, PRESETS)
        if not choices:
            self._open_value_input(name, format_setting_value(configured, name))
            return

        def change_to_choice(row: str | None) -> None:
            if row is not None:
                self.check_save_and_apply_setting(name, choices[int(row)])

        now = format_setting_value(configured, name)

        def choice_lines(_width: int) -> list[Line]:
            return [
                make_line(
                    Piece(" (x) " if each == now else " ( ) ", "human"),
                    Piece(describe_choice(name, each)),
                    row=row,
                )
                for row, each in enumerate(choices)
            ]

        title = f"{TITLES[name]}: enter chooses, esc leaves it"
        chosen = choices.index(now) if now in choices else 0
        self.input_queue.open_window(
            PickDialog(title, choice_lines, chosen=chosen), change_to_choice
        )

    def _open_value_input(self, name: str, value: str, *, is_refused: bool = False) -> None:
        entry = self.screen.entry
        entry.setting = name
        # A value in force is replaced by what is typed; one that was refused is mended.
        entry.select_on_focus = not is_refused
        self.screen.show_input_line(entry, value)
        entry.cursor_position = len(value)
        # A value alone does not say what it is: the status line does.
        self.screen.query_one(StatusLine).display = True
        self.screen.show_message(
            Piece(TITLES[name], "strong"), Piece(": type the new value", "quiet")
        )

    def save_typed_value(self, text: str) -> None:
        """Save what was typed; what is refused is typed on."""
        self.stop_typing()
        self.check_save_and_apply_setting(self.screen.entry.setting, text, is_typed=True)

    def stop_typing(self) -> None:
        """Close the line that is typed on."""
        self.screen.show_message()
        self.screen.close_input_line(self.screen.entry)
        self.screen.values.focus()

    def action_reset_to_default(self) -> None:
        """Take the chosen value out of the file."""
        if self.screen.selected_setting is not None:
            self.check_save_and_apply_setting(self.screen.selected_setting, "")

    @hold_keys_during_worker(can_give_up=False)
    @run_in_worker("write")
    async def check_save_and_apply_setting(
        self, name: str, text: str, *, is_typed: bool = False
    ) -> None:
        """Check a value, write it and take it into use; one that is refused stays to be mended.

        Args:
            name: The setting.
            text: The value, as it is typed.
            is_typed: It was typed on the line, and is put there again where it is refused.
        """
        configured = self.session.configured
        if configured is None:
            return
        try:
            value = parse_typed_value(name, text, getattr(configured.settings, name))
            changed, keymap = await self.read_in_thread(
                self._write_setting_and_load_keymap, configured, name, value
            )
        except ConfigError as error:
            if is_typed:
                self._open_value_input(name, text, is_refused=True)
            self._show_rejection(str(error))
            return
        self._apply_setting(name, changed, keymap)

    def _write_setting_and_load_keymap(
        self, configured: SettingsWithOrigins, name: str, value: Value | None
    ) -> tuple[SettingsWithOrigins, Mapping[str, str] | None]:
        keymap = None
        if name == "judge" and value is not None:
            # Imported here, on a thread: it brings what judges are made of.
            from faithtui.judges.providers.endpoints import parse_endpoint

            parse_endpoint(str(value), None)
        if name == "keys":
            # Before it is written: a preset may clash with the user's own key map.
            wanted = preview_setting(configured.file, name, value, configured.environment)
            file = keymap_file(configured.file)
            keymap = load_keymap(wanted.settings.keys, file)
        changed = write_setting_and_reload_settings(
            configured.file, name, value, configured.environment
        )
        return changed, keymap

    def _apply_setting(
        self, name: str, configured: SettingsWithOrigins, keymap: Mapping[str, str] | None
    ) -> None:
        """Use the settings from now on, and say so."""
        ascii = wants_ascii(configured.settings.ascii, configured.environment)
        self.session.use_settings(configured)
        self.screen.post_message(SettingsChanged(configured, keymap, ascii))
        self.screen.paint_values()
        if configured.origins[name] is SettingOrigin.DEFAULT:
            words = f"{TITLES[name]}: the default counts again, "
            words += describe_choice(name, format_setting_value(configured, name))
            self.show_message(escape_line(words, "good"))
            return
        pieces = [Piece("saved ", "good"), escape_line(f"{TITLES[name]} in {configured.file}")]
        if configured.origins[name] is SettingOrigin.ENVIRONMENT:
            pieces.append(Piece(f" · {find_environment_variable(name)} goes before it", "warn"))
        elif name in ("store", "reviewer"):
            pieces.append(Piece(" · counts from the next start", "quiet"))
        self.show_message(*pieces)

    def _show_rejection(self, words: str) -> None:
        """Say why nothing was changed."""
        self.app.bell()
        self.show_message(Piece("not saved: ", "bad strong"), escape_line(words))
        self.app.notify(escape_text(words).text, title="Not saved", severity="error", markup=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done with the chosen setting."""
        name, configured = self.screen.selected_setting, self.session.configured
        if name is None or configured is None:
            return False
        return action != "reset_to_default" or configured.origins[name] is SettingOrigin.FILE
