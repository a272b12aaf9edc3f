"""What can be done next with the chosen run: listed in a pane, and done."""

from typing import TYPE_CHECKING

from faithtui.domain.ids import SampleId
from faithtui.domain.labels.label_sets import Polarity
from faithtui.store.runs.run_records import RunRow
from faithtui.tui.messages import ShowScreen
from faithtui.tui.runs.next_steps import WRITING_ACTIONS, NextStep, list_next_steps
from faithtui.tui.runs.run_details import step_lines
from faithtui.tui.screen.blind_mode import describe_keys_ending_blind_work
from faithtui.tui.screen.controller import Controller
from faithtui.tui.session import ListState
from faithtui.tui.widgets.scroll_pane import RowPane

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec
    from faithtui.tui.runs.runs_screen import RunsScreen


class NextStepActions(Controller["RunsScreen"]):
    """Shows the next steps of the chosen run, and takes the ones that lead into other screens."""

    def __init__(self, screen: "RunsScreen") -> None:
        super().__init__(screen)
        self._steps: tuple[NextStep, ...] = ()

    def show_steps_of_run(self, row: RunRow | None, spec: "MetricSpec | None") -> None:
        """List what can be done next with a run.

        Args:
            row: The run; None: none is chosen.
            spec: Its metric; None: not read yet.
        """
        pane = self.screen.query_one("#next", RowPane)
        if row is None or spec is None:
            self._steps = ()
            # The words that stand below the steps until labels and figures are read.
            pane.show(lambda width: step_lines((), width, self.keys, is_read=False) if row else ())
            return
        steps = tuple(
            each
            for each in list_next_steps(row, spec, self.screen.figures.make_run_knowledge(row))
            if not (self.screen.session.is_read_only and each.action in WRITING_ACTIONS)
        )
        self._steps = steps
        is_read = self.screen.figures.get_known_figures(row.id) is not None
        pane.show(lambda width: step_lines(steps, width, self.keys, is_read=is_read))
        pane.move_to(max(0, min(pane.cursor, len(steps) - 1)))

    async def run_numbered_step(self, number: int) -> None:
        """Take a step, as its key does."""
        if number < len(self._steps):
            await self.screen.run_action(self._steps[number].action)

    def action_offer_spot_check(self) -> None:
        """Offer a spot-check of the chosen run."""
        from faithtui.tui.samples.queue_start import QueueStart

        row = self.screen.run_at_cursor
        if row is not None and not row.claims:
            self.refuse("nothing is judged in this run yet: there is nothing to draw from")
        elif row is not None:
            self.session.switch_run(row.id)
            QueueStart(self.screen, self._ignore_drawn_sample).read_and_offer_spot_check(row.id)

    def _ignore_drawn_sample(self, sample: SampleId) -> None:
        """Need nothing of a queue that was drawn: it is begun at once."""

    def action_show_failing(self) -> None:
        """List the conversations in which the judge found something unfaithful, worst first."""
        row = self.screen.run_at_cursor
        spec = None if row is None else self.screen.specs.get(row.id)
        if row is None or spec is None:
            return
        if self.session.is_blind:
            way_out = describe_keys_ending_blind_work(self.session)
            self.refuse(f"that would show the judge's verdicts: {way_out}")
            return
        bad = next((one.name for one in spec.labels.labels if one.polarity is Polarity.BAD), None)
        if bad is None:
            self.refuse("this metric has no verdict for something unfaithful")
            return
        self.session.switch_run(row.id)
        self.session.lists["conversations"] = ListState(f"verdict:{bad}", "score")
        self.screen.post_message(ShowScreen("conversations"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what needs a run while there is none."""
        return self.session.is_open and self.screen.run_at_cursor is not None
