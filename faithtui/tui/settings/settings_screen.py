"""What is set, where it comes from, and changing it."""

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import ClassVar

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from faithtui.config import PRESETS, SettingOrigin, SettingsWithOrigins, find_variable
from faithtui.errors import ConfigError
from faithtui.paths import keymap_file
from faithtui.settings_file import Value, check_setting, read_value, write_setting
from faithtui.tui.keymap.keymap import load_keymap, read_keymap
from faithtui.tui.messages import SettingsChanged
from faithtui.tui.screen.dialogs import PickDialog
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.session import Session
from faithtui.tui.settings.setting_lines import (
    SECTIONS,
    SettingsFacts,
    SettingsSection,
    choices_of,
    section_lines,
    value_lines,
    value_of,
)
from faithtui.tui.theme import layouts, theme
from faithtui.tui.theme.ascii import wants_ascii
from faithtui.tui.theme.lines import Piece, escape_line, escape_text, make_line
from faithtui.tui.widgets.bars import StatusLine
from faithtui.tui.widgets.pane import RowPane
from faithtui.tui.widgets.panes import Panes
from faithtui.tui.widgets.plain_input import PlainInput


class SettingInput(PlainInput):
    """A line to type the value of one setting in."""

    setting = ""
    """Name of the setting that was typed last, or is being typed."""


class SettingsScreen(FaithScreen):
    """Sections of settings beside the values of one of them."""

    TITLE_WORDS: ClassVar[str] = "SETTINGS"
    HELP_WORDS: ClassVar[str] = (
        "A value comes from the default, the file or the environment, which goes before the file. "
        "{settings.change} changes the chosen value in the file; comments in it stay. Colours, "
        "keys and how you review change at once."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "change", tooltip="Change the chosen value", id="settings.change"),
        Binding(
            "d",
            "default",
            "default",
            tooltip="Take the chosen value out of the file, so that the default counts",
            id="settings.default",
        ),
        Binding("c", "check", "check store", tooltip="Check the store", id="settings.check"),
        Binding(
            "t",
            "try_judge",
            "test judge",
            tooltip="Ask the judge that is set two small questions",
            id="settings.test-judge",
        ),
    ]

    sections = getters.query_one("#sections", RowPane)
    values = getters.query_one("#values", RowPane)
    entry = getters.query_one("#value", SettingInput)

    @dataclass
    class FactsRead(Message):
        """Facts were gathered."""

        facts: SettingsFacts

    @dataclass
    class JudgeTested(Message):
        """The judge was tried."""

        works: bool
        sentence: str

    @dataclass
    class SettingSaved(Message):
        """A setting is in the file."""

        name: str
        configured: SettingsWithOrigins
        keymap: Mapping[str, str] | None

    @dataclass
    class SettingRejected(Message):
        """A setting could not be changed."""

        words: str

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        words = f"faithtui {version('faithtui')} on Python {sys.version.split()[0]}"
        self.facts = SettingsFacts(store=session.store_path, version=words, keys=session.keys)

    def make_panes(self) -> Panes:
        """Make the sections and the values, the sections first."""
        return Panes(
            RowPane(id="sections", title="Sections"),
            RowPane(id="values", title="Values"),
            planner=layouts.plan_settings,
        )

    def compose(self) -> ComposeResult:
        """Add the line to type a value in, which takes the place of the status line."""
        yield from super().compose()
        yield SettingInput(id="value", placeholder="enter saves, escape drops it", compact=True)

    def on_mount(self) -> None:
        """Begin with the first section."""
        self.entry.display = False
        self.sections.show(section_lines)
        self.sections.focus()
        super().on_mount()
        self.draw_values()

    def reload(self) -> None:
        """Look at the store and the key map again."""
        self.read_facts()

    @property
    def selected_section(self) -> SettingsSection:
        """The chosen section."""
        return SECTIONS[min(self.sections.cursor, len(SECTIONS) - 1)]

    @property
    def selected_setting(self) -> str | None:
        """Name of the chosen setting."""
        names = self.selected_section.names
        return names[min(self.values.cursor, len(names) - 1)] if names else None

    def draw_values(self) -> None:
        """Draw the values of the chosen section."""
        section, configured, facts = self.selected_section, self.session.configured, self.facts
        self.values.show(
            lambda width: value_lines(section, configured, facts, width), title=section.title
        )
        file = "no settings file here" if configured is None else str(configured.file)
        self.set_title([Piece("  "), escape_line(file, "quiet")])
        self.refresh_bindings()

    @work(exclusive=True, group="facts", exit_on_error=False)
    async def read_facts(self) -> None:
        """Look at the files."""
        self.post_message(self.FactsRead(await self.read(self._collect_facts, self.facts)))

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

    @on(FactsRead)
    def show_facts(self, event: FactsRead) -> None:
        """Draw what was found."""
        self.facts = event.facts
        self.draw_values()

    @on(RowPane.Moved, "#sections")
    def follow_cursor(self) -> None:
        """Show another section."""
        self.values.move_to(0)
        self.draw_values()

    @on(RowPane.Moved, "#values")
    def follow_value(self) -> None:
        """Say what can be done with another value."""
        self.refresh_bindings()

    @on(RowPane.Chosen, "#sections")
    def enter_section(self) -> None:
        """Go to the values."""
        self.values.focus()

    @on(RowPane.Chosen, "#values")
    def choose_value(self) -> None:
        """Change the chosen value."""
        self.action_edit()

    # Changing

    def action_edit(self) -> None:
        """Let a value be chosen or typed."""
        name, configured = self.selected_setting, self.session.configured
        if name is None or configured is None:
            return
        themes = [*theme.THEMES, *sorted(set(self.app.available_themes) - theme.OWN_NAMES)]
        choices = choices_of(name, themes, PRESETS)
        if not choices:
            self._edit_in_line(name, value_of(configured, name))
            return

        def change_to_choice(row: str | None) -> None:
            if row is not None:
                self.change_setting(name, choices[int(row)])

        def choice_lines(_width: int) -> list[object]:
            now = value_of(configured, name)
            return [
                make_line(
                    Piece(" > " if each == now else "   ", "key"), Piece(each or "unset"), row=row
                )
                for row, each in enumerate(choices)
            ]

        self.navigation.open_window(PickDialog(name, choice_lines), change_to_choice)  # type: ignore[arg-type]

    def _edit_in_line(self, name: str, value: str) -> None:
        self.entry.setting = name
        self.entry.value = value
        self.query_one(StatusLine).display = False
        self.entry.display = True
        self.entry.focus()

    @on(Input.Submitted, "#value")
    def save_typed(self, event: Input.Submitted) -> None:
        """Save what was typed."""
        self._stop_typing()
        self.change_setting(self.entry.setting, event.value)

    def on_key(self, event: events.Key) -> None:
        """Let escape close the line."""
        if event.key == "escape" and self.entry.has_focus:
            event.stop()
            self._stop_typing()

    def _stop_typing(self) -> None:
        self.entry.display = False
        self.query_one(StatusLine).display = True
        self.values.focus()

    def action_default(self) -> None:
        """Take the chosen value out of the file."""
        if self.selected_setting is not None:
            self.change_setting(self.selected_setting, "")

    @work(exclusive=True, group="write", exit_on_error=False)
    async def change_setting(self, name: str, text: str) -> None:
        """Check a value, write it and take it into use."""
        configured = self.session.configured
        if configured is None:
            return
        try:
            value = read_value(name, text, getattr(configured.settings, name))
            self.post_message(await self.read(self._write, configured, name, value))
        except ConfigError as error:
            self.post_message(self.SettingRejected(str(error)))

    def _write(
        self, configured: SettingsWithOrigins, name: str, value: Value | None
    ) -> SettingSaved:
        keymap = None
        if name == "keys":
            # Before it is written: a preset may clash with the user's own key map.
            wanted = check_setting(configured.file, name, value, configured.environment)
            file = keymap_file(configured.file)
            keymap = load_keymap(wanted.settings.keys, file)
        changed = write_setting(configured.file, name, value, configured.environment)
        return self.SettingSaved(name, changed, keymap)

    @on(SettingSaved)
    def apply_setting(self, event: SettingSaved) -> None:
        """Use the settings from now on, and say so."""
        configured = event.configured
        ascii = wants_ascii(configured.settings.ascii, configured.environment)
        self.session.configured = configured
        self.post_message(SettingsChanged(configured, event.keymap, ascii))
        self.draw_values()
        pieces = [Piece("saved ", "good"), escape_line(f"{event.name} in {configured.file}")]
        if configured.origins[event.name] is SettingOrigin.ENVIRONMENT:
            pieces.append(Piece(f" · {find_variable(event.name)} goes before it", "warn"))
        elif event.name in ("store", "reviewer"):
            pieces.append(Piece(" · counts from the next start", "quiet"))
        self.show_message(*pieces)

    @on(SettingRejected)
    def show_rejection(self, event: SettingRejected) -> None:
        """Say why nothing was changed."""
        self.app.bell()
        self.show_message(Piece("not saved: ", "bad strong"), escape_line(event.words))
        self.notify(
            escape_text(event.words).text, title="Not saved", severity="error", markup=False
        )

    # Checking

    def action_check(self) -> None:
        """Check the store."""
        self.show_message(Piece("checking the store …", "quiet"))
        self.check_store()

    @work(exclusive=True, group="check", exit_on_error=False)
    async def check_store(self) -> None:
        """Check the store without holding up keys."""
        problems = await self.read(self.session.store.check)
        self.post_message(self.FactsRead(replace(self.facts, problems=tuple(problems))))
        self.show_message(Piece("the store is sound" if not problems else "the store has problems"))

    def action_try_judge(self) -> None:
        """Try the judge that is set."""
        configured = self.session.configured
        if configured is not None:
            judge = configured.settings.judge
            self.show_message(Piece("asking ", "quiet"), escape_line(judge), Piece(" …", "quiet"))
            self.try_judge(configured)

    @work(exclusive=True, group="try", exit_on_error=False)
    async def try_judge(self, configured: SettingsWithOrigins) -> None:
        """Ask the judge two small questions without holding up keys."""
        self.post_message(await self.read(self._test_judge, configured))

    def _test_judge(self, configured: SettingsWithOrigins) -> JudgeTested:
        # Imported here, on a thread: it brings what judges are made of.
        from faithtui.engine.judge_check import try_judge

        settings = configured.settings
        try:
            around = self.session.get_run_environment()
        except ConfigError as error:
            return self.JudgeTested(False, str(error))
        trying = try_judge(
            settings.judge,
            settings.base_url,
            timeout_s=settings.timeout_s,
            environ=configured.environment,
            around=around,
        )
        trial = asyncio.run(trying)
        return self.JudgeTested(trial.ok, trial.sentence)

    @on(JudgeTested)
    def show_judge_test(self, event: JudgeTested) -> None:
        """Say what came of it, below the settings of the judge."""
        self.facts = replace(self.facts, trial=(event.works, event.sentence))
        self.draw_values()
        self.show_message(Piece("the judge works" if event.works else "the judge does not work"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done with the chosen section."""
        if action == "edit":
            return self.is_mounted and self.selected_setting is not None and self._has_settings
        if action == "default":
            configured = self.session.configured
            return (
                self.is_mounted
                and configured is not None
                and self.selected_setting is not None
                and configured.origins[self.selected_setting] is SettingOrigin.FILE
            )
        if action == "try_judge":
            return self.is_mounted and self.selected_section.title == "Judge" and self._has_settings
        if action == "check":
            return (
                self.is_mounted
                and self.selected_section.title == "Storage"
                and self.session.is_open
            )
        return super().check_action(action, parameters)

    @property
    def _has_settings(self) -> bool:
        return self.session.configured is not None
