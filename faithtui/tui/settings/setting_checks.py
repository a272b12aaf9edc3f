"""`c` and `t`: the store is checked, the judge is tried."""

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from faithtui.config import SettingsWithOrigins
from faithtui.errors import ConfigError
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.theme.lines import Piece, escape_line

if TYPE_CHECKING:
    from faithtui.tui.settings.settings_screen import SettingsScreen


class SettingChecks(Controller["SettingsScreen"]):
    """Checks the store and tries the judge that is set."""

    screen: "SettingsScreen"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "check_store", "check store", tooltip="Check the store", id="settings.check"),
        Binding(
            "ctrl+t",
            "try_judge",
            "test judge",
            tooltip="Ask the judge that is set two small questions",
            id="settings.test-judge",
        ),
    ]

    def action_check_store(self) -> None:
        """Check the store."""
        self.show_message(Piece("checking the store …", "quiet"))
        self.check_store_and_show_result()

    @run_in_worker("check")
    async def check_store_and_show_result(self) -> None:
        """Check the store without holding up keys."""
        problems = await self.read_in_thread(self.session.store.list_damage)
        self.screen.call_later(self._show_store_check, tuple(problems))

    def _show_store_check(self, problems: tuple[str, ...]) -> None:
        """Say what came of it, below the store's file."""
        self.screen.show_facts(replace(self.screen.facts, problems=problems))
        self.show_message(Piece("the store is sound" if not problems else "the store has problems"))

    def action_try_judge(self) -> None:
        """Try the judge that is set."""
        configured = self.session.configured
        if configured is not None:
            judge = configured.settings.judge
            self.show_message(Piece("asking ", "quiet"), escape_line(judge), Piece(" …", "quiet"))
            self.try_judge_and_show_result(configured)

    @run_in_worker("try")
    async def try_judge_and_show_result(self, configured: SettingsWithOrigins) -> None:
        """Ask the judge two small questions without holding up keys."""
        self.screen.call_later(
            self._show_judge_test, *await self.read_in_thread(self._test_judge, configured)
        )

    def _test_judge(self, configured: SettingsWithOrigins) -> tuple[bool, str]:
        # Imported here, on a thread: it brings what judges are made of.
        from faithtui.engine.judge_check import try_judge_with_two_questions
        from faithtui.engine.runs.judge_profiles import choose_profile

        settings = configured.settings
        try:
            profile = choose_profile(settings.judge, settings.judges, configured.environment)
            environment = self.session.get_run_environment()
        except ConfigError as error:
            return False, str(error)
        trying = try_judge_with_two_questions(
            settings.judge,
            settings.base_url,
            profile=profile,
            timeout_s=profile.timeout_s or settings.timeout_s,
            environ=configured.environment,
            environment=environment,
        )
        trial = asyncio.run(trying)
        return trial.ok, trial.sentence

    def _show_judge_test(self, works: bool, sentence: str) -> None:
        """Say what came of it, below the settings of the judge."""
        self.screen.show_facts(replace(self.screen.facts, trial=(works, sentence)))
        self.show_message(Piece("the judge works" if works else "the judge does not work"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what does not belong to the chosen section."""
        section = self.screen.selected_section.title
        if action == "try_judge":
            return section == "Judge" and self.session.configured is not None
        return section == "Storage" and self.session.is_open
