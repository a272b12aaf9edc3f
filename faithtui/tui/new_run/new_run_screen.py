"""The form that starts runs, of one metric or of several over the same conversations."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, Label, Select
from textual.worker import Worker, WorkerState

from faithtui.domain.judging.judge_profile import JudgeProfile
from faithtui.engine.judge_choices import JudgeChoice
from faithtui.engine.runs.request import RunRequest
from faithtui.errors import ConfigError, FaithtuiError
from faithtui.tui.input_queue import ModalWindow, hold_keys_during_worker
from faithtui.tui.keymap.help import HelpText
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.messages import WorkerFailed
from faithtui.tui.new_run.field_words import FIELD_HELP, SELECTS
from faithtui.tui.new_run.form_lines import JudgeTrial
from faithtui.tui.new_run.preview_pane import NOT_COUNTED, PreviewPane
from faithtui.tui.new_run.run_fields import RunFields
from faithtui.tui.screen.dialogs import ConfirmDialog
from faithtui.tui.theme.lines import escape_line, escape_text
from faithtui.tui.widgets.bars import KeyBar
from faithtui.tui.widgets.choice_pane import ChoicePane
from faithtui.tui.widgets.scroll_pane import RowPane

if TYPE_CHECKING:
    from faithtui.engine.judge_check import JudgeCheckResult

PREVIEW_DELAY_S = 0.6
"""Seconds without a change after which the form is worth looking ahead for."""


@dataclass(frozen=True, slots=True)
class OrderPreview:
    """What runs would ask and cost, in words."""

    parts: Sequence[tuple[str, str]]
    """Each with its name."""
    risk: str
    """Why somebody should agree before they start; "" where nobody need be asked."""


@dataclass(frozen=True, slots=True)
class NewRunActions:
    """What the form has done for it; each raises FaithtuiError when that cannot be."""

    start: Callable[[Sequence[RunRequest]], Awaitable[None]]
    """Starts runs."""
    refuse_missing_key: Callable[[Sequence[RunRequest]], Awaitable[None]]
    """Refuses judges whose key is missing: before anybody is asked whether to pay for them."""
    preview: Callable[[Sequence[RunRequest]], Awaitable[OrderPreview]]
    """Says what runs would ask and cost."""
    find_judges: Callable[[], Awaitable[Sequence[JudgeChoice]]]
    """Looks for judges, also where that takes a while."""
    test_judge: "Callable[[str, str | None, JudgeProfile], Awaitable[JudgeCheckResult]]"
    """Asks a judge two small questions; cancelling it cancels them."""


class NewRunScreen(ModalWindow[None]):
    """Metrics, judge, strategy, sources and options of runs.

    Args:
        fields: The fields.
        actions: What the form has done for it.
        keys: What keys are called.
    """

    CSS_PATH = "new_run.tcss"
    FIELD_HELP: ClassVar[Mapping[str, HelpText]] = FIELD_HELP
    HELP_WORDS: ClassVar[str] = (
        "{new-run.field} goes from field to field, {new-run.choose} changes a choice, "
        "{new-run.start} starts. One run is made per metric chosen; they go on in the background, "
        "one after the other. Judges are the embedded one, those of your settings and of earlier "
        "runs, models of providers whose key is set, and what servers on this machine offer; any "
        "other one is typed as provider:model. Parameters are typed name=value: temperature, "
        "top_p, seed, reasoning_effort, max_tokens, timeout_s, extra_body, extra_headers; what is "
        "not typed is as in the settings. {new-run.test} asks the judge two small questions. "
        "Below stands what the runs would ask and cost, estimated from a sample of the "
        "conversations. A run that costs more than a dollar, or whose price is not known, asks "
        "once before it starts. Options are changed in their list or typed name=value with blanks "
        "between; metric.name=value goes to one of several metrics. Until you change them they "
        "are those of the metric's newest run."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+s",
            "start",
            "start",
            tooltip="Start the runs in the background",
            id="new-run.start",
        ),
        Binding(
            "ctrl+t",
            "test_judge",
            "test",
            tooltip="Ask the judge two small questions with known answers",
            id="new-run.test",
        ),
        Binding(
            "tab",
            "app.focus_next",
            "next field",
            tooltip="Go to the next field",
            id="new-run.field",
        ),
        Binding(
            "escape",
            "cancel_test_or_close",
            "close",
            tooltip="Close the form without starting a run; a test of the judge is cancelled first",
            id="new-run.close",
        ),
    ]

    def __init__(self, fields: RunFields, actions: NewRunActions, keys: KeyNames) -> None:
        super().__init__()
        self.fields = fields
        self.actions = actions
        self._keys = keys
        self._preview_timer: Timer | None = None
        self._previewed: list[RunRequest] | str | None = None
        """What a preview was begun of: the runs, or why there are none."""
        self._shown: tuple[list[RunRequest] | str | None, OrderPreview]
        self._shown = None, OrderPreview((), "")
        """What the preview that is drawn is of, and the preview."""

    def compose(self) -> ComposeResult:
        """Stack the fields."""
        with Vertical(id="dialog") as dialog:
            dialog.border_title = Content("New run")
            with Container(id="body"):
                yield self.fields
                yield PreviewPane(self._keys, id="preview")
            yield Label(Content(""), id="problem")
            yield Label(Content(""), id="hint")
            yield KeyBar(id="keys")

    @property
    def preview_pane(self) -> PreviewPane:
        """Where trial and preview are drawn."""
        return self.query_one("#preview", PreviewPane)

    def on_mount(self) -> None:
        """Look for judges, and count what the form begins with."""
        self.show_hint("metrics")
        self.update_preview()
        self.find_and_show_judges()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Let the app say what failed."""
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.app.post_message(WorkerFailed(event.worker.error))

    # Fields

    @on(events.DescendantFocus)
    def show_hint_of_focused_field(self, event: events.DescendantFocus) -> None:
        """Say what the field is for that is gone to."""
        self.show_hint(event.widget.id or "")

    @on(RowPane.Moved)
    def show_hint_of_entry(self, event: RowPane.Moved) -> None:
        """Say what the entry is that is gone to."""
        if event.pane.has_focus:
            self.show_hint(event.pane.id or "")

    def show_hint(self, field: str) -> None:
        """Say what a field is for, or what is chosen in it."""
        words = escape_line(self.fields.get_field_hint(field)).text
        self.query_one("#hint", Label).update(Content(words))

    # Judges

    @work(exclusive=True, group="judges", exit_on_error=False)
    async def find_and_show_judges(self) -> None:
        """Look for keys and servers, which takes a while."""
        self.fields.show_judges(await self.actions.find_judges())

    @on(Input.Changed, "#judge, #server, #parameters")
    def cancel_and_clear_judge_test(self) -> None:
        """Forget what was found out of another judge."""
        self.cancel_judge_test_if_running()
        self.preview_pane.show_judge_test(None)

    def action_test_judge(self) -> None:
        """Try the judge."""
        try:
            judge, base_url = self.fields.read_judge_and_address()
            profile = self.fields.read_judge_parameters(judge)
        except ConfigError as error:
            self.show_problem(str(error))
            return
        if not self.preview_pane.is_testing:
            self.show_problem("")
            self.preview_pane.show_judge_test(JudgeTrial(judge))
            self.refresh_bindings()
            self.test_judge_and_show_result(judge, base_url, profile)

    @work(exclusive=True, group="test", exit_on_error=False)
    async def test_judge_and_show_result(
        self, judge: str, base_url: str | None, profile: JudgeProfile
    ) -> None:
        """Ask the judge beside the keys, and say how it did."""
        try:
            result = await self.actions.test_judge(judge, base_url, profile)
        except FaithtuiError as error:
            self.preview_pane.show_judge_test(None)
            self.show_problem(str(error))
        else:
            self.preview_pane.show_judge_test(JudgeTrial(judge, result))
        self.refresh_bindings()

    def cancel_judge_test_if_running(self) -> bool:
        """Give up trying the judge; says whether it was being tried."""
        trial = self.preview_pane.trial
        if trial is None or not self.preview_pane.is_testing:
            return False
        self.workers.cancel_group(self, "test")
        self.preview_pane.show_judge_test(replace(trial, is_cancelled=True))
        self.refresh_bindings()
        return True

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the key that tries the judge while it is tried."""
        return action != "test_judge" or not (self.is_mounted and self.preview_pane.is_testing)

    # Preview

    @on(Input.Changed)
    @on(Select.Changed)
    @on(ChoicePane.Changed)
    def preview_after_delay(self) -> None:
        """Look ahead once nothing is changed for a moment."""
        field = "" if self.focused is None else self.focused.id or ""
        if field in SELECTS:
            self.show_hint(field)
        self.show_problem("")
        if self._preview_timer is not None:
            self._preview_timer.stop()
        form = self._read_form()
        if form == self._shown[0]:
            self.preview_pane.show_preview(self._shown[1].parts)
        elif form != self._previewed:
            self.preview_pane.mark_stale()
            self._preview_timer = self.set_timer(PREVIEW_DELAY_S, self.update_preview)

    @work(exclusive=True, group="preview", exit_on_error=False)
    async def update_preview(self) -> None:
        """Say what the runs would judge, ask and cost."""
        wanted = self._previewed = self._read_form()
        try:
            if isinstance(wanted, str):
                found = OrderPreview([("asks", f"{NOT_COUNTED}{wanted}")], "")
            else:
                found = await self.actions.preview(wanted)
        except FaithtuiError as error:
            found = OrderPreview([("asks", f"{NOT_COUNTED}{error}")], "")
        if self._read_form() != wanted:
            self._previewed = None  # changed meanwhile: the next one is about to be made
            return
        self._shown = (wanted, found)
        self.preview_pane.show_preview(found.parts)

    # Start

    @on(Input.Submitted)
    def start_runs_on_enter(self) -> None:
        """Start on enter in a text field."""
        self.action_start()

    @hold_keys_during_worker(can_give_up=True)
    @work(exclusive=True, group="order", exit_on_error=False)
    async def action_start(self) -> None:
        """Start what was ordered, or say why that cannot be; ask once where it costs much."""
        try:
            requests = self.fields.read_requests()
            await self.actions.refuse_missing_key(requests)
            shown, preview = self._shown
            if shown != requests:
                # In a line that is there: another one would push the form up.
                self.query_one("#hint", Label).update(
                    "counting what it would cost, then it starts … esc gives it up"
                )
                preview = await self.actions.preview(requests)
                self.show_hint("" if self.focused is None else self.focused.id or "")
        except FaithtuiError as error:
            self.show_problem(str(error))
            return

        def start_if_agreed(answer: str | None) -> None:
            if answer == "yes":
                self.start_runs(requests)

        if preview.risk:
            words = f"{preview.risk} Start it?"
            self.input_queue.open_window(ConfirmDialog("What this costs", words), start_if_agreed)
        else:
            self.start_runs(requests)

    @hold_keys_during_worker(can_give_up=False)
    @work(exclusive=True, group="start", exit_on_error=False)
    async def start_runs(self, requests: Sequence[RunRequest]) -> None:
        """Start runs, or say why that cannot be."""
        try:
            await self.actions.start(requests)
        except FaithtuiError as error:
            self.show_problem(str(error))
            return
        self.dismiss(None)

    def action_cancel_test_or_close(self) -> None:
        """Close without a run; the first time, give up trying the judge."""
        if not self.cancel_judge_test_if_running():
            self.dismiss(None)

    def show_problem(self, words: str) -> None:
        """Say what is wrong with the order; "" says nothing."""
        problem = self.query_one("#problem", Label)
        problem.update(Content(escape_text(words).text))
        problem.display = bool(words)

    # Reading

    def _read_form(self) -> list[RunRequest] | str:
        """Read the form, or say why it cannot be read."""
        try:
            return self.fields.read_requests()
        except FaithtuiError as error:
            return str(error)
