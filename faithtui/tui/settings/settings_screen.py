"""What is set, where it comes from, and changing it."""

import sys
from dataclasses import replace
from importlib.metadata import version
from typing import ClassVar

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from faithtui.errors import ConfigError
from faithtui.paths import keymap_file
from faithtui.tui.keymap.keymap import read_keymap
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.session import Session
from faithtui.tui.settings.setting_checks import SettingChecks
from faithtui.tui.settings.setting_editor import SettingEditor, SettingInput
from faithtui.tui.settings.setting_lines import (
    SECTIONS,
    SettingsFacts,
    SettingsSection,
    section_lines,
    value_lines,
)
from faithtui.tui.theme import layouts
from faithtui.tui.theme.lines import Piece, escape_line
from faithtui.tui.widgets.scroll_pane import RowPane
from faithtui.tui.widgets.zoomable_panes import Panes


class SettingsScreen(FaithScreen):
    """Sections of settings beside the values of one of them."""

    TITLE_WORDS: ClassVar[str] = "SETTINGS"
    HELP_WORDS: ClassVar[str] = (
        "A value comes from the default, the file or the environment, which goes before the file. "
        "{settings.change} changes the chosen value in the file; comments in it stay. Colours, "
        "keys and how you review change at once."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        *SettingEditor.BINDINGS,
        *SettingChecks.BINDINGS,
    ]

    sections = getters.query_one("#sections", RowPane)
    values = getters.query_one("#values", RowPane)
    entry = getters.query_one("#value", SettingInput)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.editor = SettingEditor(self)
        self.checks = SettingChecks(self)
        self.add_controllers(self.editor, self.checks)
        words = f"faithtui {version('faithtui')} on Python {sys.version.split()[0]}"
        self.facts = SettingsFacts(store=session.store_path, version=words, keys=session.keys)

    def make_panes(self) -> Panes:
        """Make the sections and the values, the sections first."""
        return Panes(
            RowPane(id="sections", title="Sections"),
            RowPane(id="values", title="Values"),
            layout_function=layouts.lay_out_settings,
        )

    def compose_input_lines(self) -> ComposeResult:
        """Give the line to type a value in, which takes the place of the status line."""
        yield SettingInput(id="value", placeholder="enter saves, escape drops it", compact=True)

    def on_mount(self) -> None:
        """Begin with the first section."""
        self.entry.display = False
        self.sections.show(section_lines)
        self.sections.focus()
        super().on_mount()
        self.paint_values()

    def reload(self) -> None:
        """Look at the store and the key map again."""
        self.load_and_show_facts()

    @property
    def selected_section(self) -> SettingsSection:
        """The chosen section."""
        return SECTIONS[min(self.sections.cursor, len(SECTIONS) - 1)]

    @property
    def selected_setting(self) -> str | None:
        """Name of the chosen setting."""
        names = self.selected_section.names
        return names[min(self.values.cursor, len(names) - 1)] if names else None

    def paint_values(self) -> None:
        """Draw the values of the chosen section."""
        section, configured, facts = self.selected_section, self.session.configured, self.facts
        self.values.show(
            lambda width: value_lines(section, configured, facts, width), title=section.title
        )
        file = "no settings file here" if configured is None else str(configured.file)
        self.set_title([Piece("  "), escape_line(file, "quiet")])
        self.refresh_bindings()

    @work(exclusive=True, group="facts", exit_on_error=False)
    async def load_and_show_facts(self) -> None:
        """Look at the files."""
        self.call_later(self.show_facts, await self.read_in_thread(self._collect_facts, self.facts))

    def _collect_facts(self, before: SettingsFacts) -> SettingsFacts:
        path, configured = self.session.store_path, self.session.configured
        wal = path.with_name(f"{path.name}-wal")
        facts = replace(
            before,
            size=path.stat().st_size if path.exists() else None,
            wal=wal.stat().st_size if wal.exists() else None,
            schema=self.session.store.schema_version if self.session.is_open else "",
        )
        if configured is None:
            return facts
        keymap = keymap_file(configured.file)
        try:
            own = tuple(read_keymap(keymap))
        except ConfigError:
            own = ()  # changed since the start; the next start says what is wrong with it
        return replace(facts, keymap=keymap, keymap_ids=own)

    def show_facts(self, facts: SettingsFacts) -> None:
        """Draw what was found."""
        self.facts = facts
        self.paint_values()

    @on(RowPane.Moved, "#sections")
    def show_values_of_section(self) -> None:
        """Show another section."""
        self.values.move_to(0)
        self.paint_values()

    @on(RowPane.Moved, "#values")
    def refresh_value_hints(self) -> None:
        """Say what can be done with another value; what was said of the one before is over."""
        self.show_message()
        self.refresh_bindings()

    @on(RowPane.Chosen, "#sections")
    def focus_section_values(self) -> None:
        """Go to the values."""
        self.values.focus()

    @on(RowPane.Chosen, "#values")
    def edit_chosen_value(self) -> None:
        """Change the chosen value."""
        self.editor.action_edit_setting()

    @on(Input.Submitted, "#value")
    def save_typed_value(self, event: Input.Submitted) -> None:
        """Save what was typed."""
        self.editor.save_typed_value(event.value)

    def on_key(self, event: events.Key) -> None:
        """Let escape close the line that is typed on."""
        if event.key == "escape" and self.entry.has_focus:
            event.stop()
            self.editor.stop_typing()
