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

from faithtui.config import PRESETS, Configured, Origin, variable_of
from faithtui.errors import ConfigError
from faithtui.paths import keymap_beside
from faithtui.settings_file import Value, check_setting, read_value, write_setting
from faithtui.tui.keymap.keymap import load_keymap, read_keymap
from faithtui.tui.messages import SettingsChanged
from faithtui.tui.screen.dialogs import PickDialog
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.session import Session
from faithtui.tui.settings.drawing import (
    SECTIONS,
    Facts,
    Section,
    choices_of,
    section_lines,
    value_lines,
    value_of,
)
from faithtui.tui.theme import layouts, theme
from faithtui.tui.theme.ascii import wants_ascii
from faithtui.tui.theme.lines import Piece, line, shown, shown_line
from faithtui.tui.widgets.bars import StatusLine
from faithtui.tui.widgets.pane import RowPane
from faithtui.tui.widgets.panes import Panes
from faithtui.tui.widgets.plain_input import PlainInput


class SettingLine(PlainInput):
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
    entry = getters.query_one("#value", SettingLine)

    @dataclass
    class Learnt(Message):
        """Facts were gathered."""

        facts: Facts

    @dataclass
    class Tried(Message):
        """The judge was tried."""

        works: bool
        sentence: str

    @dataclass
    class Written(Message):
        """A setting is in the file."""

        name: str
        configured: Configured
        keymap: Mapping[str, str] | None

    @dataclass
    class Refused(Message):
        """A setting could not be changed."""

        words: str

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        words = f"faithtui {version('faithtui')} on Python {sys.version.split()[0]}"
        self.facts = Facts(store=session.store_path, version=words, keys=session.keys)

    def make_panes(self) -> Panes:
        """Make the sections and the values, the sections first."""
        return Panes(
            RowPane(id="sections", title="Sections"),
            RowPane(id="values", title="Values"),
            planner=layouts.settings,
        )

    def compose(self) -> ComposeResult:
        """Add the line to type a value in, which takes the place of the status line."""
        yield from super().compose()
        yield SettingLine(id="value", placeholder="enter saves, escape drops it", compact=True)

    def on_mount(self) -> None:
        """Begin with the first section."""
        self.entry.display = False
        self.sections.show(section_lines)
        self.sections.focus()
        super().on_mount()
        self.draw()

    def reload(self) -> None:
        """Look at the store and the key map again."""
        self.gather()

    @property
    def section(self) -> Section:
        """The chosen section."""
        return SECTIONS[min(self.sections.cursor, len(SECTIONS) - 1)]

    @property
    def setting(self) -> str | None:
        """Name of the chosen setting."""
        names = self.section.names
        return names[min(self.values.cursor, len(names) - 1)] if names else None

    def draw(self) -> None:
        """Draw the values of the chosen section."""
        section, configured, facts = self.section, self.session.configured, self.facts
        self.values.show(
            lambda width: value_lines(section, configured, facts, width), title=section.title
        )
        file = "no settings file here" if configured is None else str(configured.file)
        self.entitle([Piece("  "), shown_line(file, "quiet")])
        self.refresh_bindings()

    @work(exclusive=True, group="facts", exit_on_error=False)
    async def gather(self) -> None:
        """Look at the files."""
        self.post_message(self.Learnt(await self.read(self._facts, self.facts)))

    def _facts(self, before: Facts) -> Facts:
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
        keymap = keymap_beside(configured.file)
        try:
            own = tuple(read_keymap(keymap))
        except ConfigError:
            own = ()  # changed since the start; the next start says what is wrong with it
        return replace(facts, keymap=keymap, keymap_ids=own)

    @on(Learnt)
    def show_facts(self, event: Learnt) -> None:
        """Draw what was found."""
        self.facts = event.facts
        self.draw()

    @on(RowPane.Moved, "#sections")
    def follow(self) -> None:
        """Show another section."""
        self.values.move_to(0)
        self.draw()

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
        name, configured = self.setting, self.session.configured
        if name is None or configured is None:
            return
        themes = [*theme.THEMES, *sorted(set(self.app.available_themes) - theme.OWN_NAMES)]
        choices = choices_of(name, themes, PRESETS)
        if not choices:
            self._type(name, value_of(configured, name))
            return

        def chosen(row: str | None) -> None:
            if row is not None:
                self.change(name, choices[int(row)])

        def build(_width: int) -> list[object]:
            now = value_of(configured, name)
            return [
                line(Piece(" > " if each == now else "   ", "key"), Piece(each or "unset"), row=row)
                for row, each in enumerate(choices)
            ]

        self.navigation.open_window(PickDialog(name, build), chosen)  # type: ignore[arg-type]

    def _type(self, name: str, value: str) -> None:
        self.entry.setting = name
        self.entry.value = value
        self.query_one(StatusLine).display = False
        self.entry.display = True
        self.entry.focus()

    @on(Input.Submitted, "#value")
    def save_typed(self, event: Input.Submitted) -> None:
        """Save what was typed."""
        self._stop_typing()
        self.change(self.entry.setting, event.value)

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
        if self.setting is not None:
            self.change(self.setting, "")

    @work(exclusive=True, group="write", exit_on_error=False)
    async def change(self, name: str, text: str) -> None:
        """Check a value, write it and take it into use."""
        configured = self.session.configured
        if configured is None:
            return
        try:
            value = read_value(name, text, getattr(configured.settings, name))
            self.post_message(await self.read(self._write, configured, name, value))
        except ConfigError as error:
            self.post_message(self.Refused(str(error)))

    def _write(self, configured: Configured, name: str, value: Value | None) -> Written:
        keymap = None
        if name == "keys":
            # Before it is written: a preset may clash with the user's own key map.
            wanted = check_setting(configured.file, name, value, configured.environment)
            file = keymap_beside(configured.file)
            keymap = load_keymap(wanted.settings.keys, file)
        changed = write_setting(configured.file, name, value, configured.environment)
        return self.Written(name, changed, keymap)

    @on(Written)
    def take(self, event: Written) -> None:
        """Use the settings from now on, and say so."""
        configured = event.configured
        ascii = wants_ascii(configured.settings.ascii, configured.environment)
        self.session.configured = configured
        self.post_message(SettingsChanged(configured, event.keymap, ascii))
        self.draw()
        pieces = [Piece("saved ", "good"), shown_line(f"{event.name} in {configured.file}")]
        if configured.origins[event.name] is Origin.ENVIRONMENT:
            pieces.append(Piece(f" · {variable_of(event.name)} goes before it", "warn"))
        elif event.name in ("store", "reviewer"):
            pieces.append(Piece(" · counts from the next start", "quiet"))
        self.say(*pieces)

    @on(Refused)
    def tell_refused(self, event: Refused) -> None:
        """Say why nothing was changed."""
        self.app.bell()
        self.say(Piece("not saved: ", "bad strong"), shown_line(event.words))
        self.notify(shown(event.words).text, title="Not saved", severity="error", markup=False)

    # Checking

    def action_check(self) -> None:
        """Check the store."""
        self.say(Piece("checking the store …", "quiet"))
        self.check()

    @work(exclusive=True, group="check", exit_on_error=False)
    async def check(self) -> None:
        """Check the store without holding up keys."""
        problems = await self.read(self.session.store.check)
        self.post_message(self.Learnt(replace(self.facts, checked=tuple(problems))))
        self.say(Piece("the store is sound" if not problems else "the store has problems"))

    def action_try_judge(self) -> None:
        """Try the judge that is set."""
        configured = self.session.configured
        if configured is not None:
            judge = configured.settings.judge
            self.say(Piece("asking ", "quiet"), shown_line(judge), Piece(" …", "quiet"))
            self.try_judge(configured)

    @work(exclusive=True, group="try", exit_on_error=False)
    async def try_judge(self, configured: Configured) -> None:
        """Ask the judge two small questions without holding up keys."""
        self.post_message(await self.read(self._tried, configured))

    def _tried(self, configured: Configured) -> Tried:
        # Imported here, on a thread: it brings what judges are made of.
        from faithtui.engine.judge_check import try_judge

        settings = configured.settings
        try:
            around = self.session.circumstances()
        except ConfigError as error:
            return self.Tried(False, str(error))
        trying = try_judge(
            settings.judge,
            settings.base_url,
            timeout_s=settings.timeout_s,
            environ=configured.environment,
            around=around,
        )
        trial = asyncio.run(trying)
        return self.Tried(trial.ok, trial.sentence)

    @on(Tried)
    def tell_trial(self, event: Tried) -> None:
        """Say what came of it, below the settings of the judge."""
        self.facts = replace(self.facts, trial=(event.works, event.sentence))
        self.draw()
        self.say(Piece("the judge works" if event.works else "the judge does not work"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done with the chosen section."""
        if action == "edit":
            return self.is_mounted and self.setting is not None and self._known
        if action == "default":
            configured = self.session.configured
            return (
                self.is_mounted
                and configured is not None
                and self.setting is not None
                and configured.origins[self.setting] is Origin.FILE
            )
        if action == "try_judge":
            return self.is_mounted and self.section.title == "Judge" and self._known
        if action == "check":
            return self.is_mounted and self.section.title == "Storage" and self.session.is_open
        return super().check_action(action, parameters)

    @property
    def _known(self) -> bool:
        return self.session.configured is not None
