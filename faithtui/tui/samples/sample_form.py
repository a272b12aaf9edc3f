"""The forms that draw samples: what will be drawn and what it will give is said before."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Label, Select
from textual.worker import Worker, WorkerState

from faithtui.agreement.sampling.draw import (
    SamplingDesign,
    SamplingFrame,
    Stratum,
    preview_draws_per_stratum,
)
from faithtui.agreement.sampling.label_plan import (
    LabelPlan,
    compute_expected_blind_counts,
    predict_half_widths,
)
from faithtui.domain.ids import RunId, SampleId
from faithtui.engine.review.samples.label_plans import PlanBasis, read_plan_strata
from faithtui.engine.review.samples.sample_queues import (
    USUAL_CONVERSATIONS,
    USUAL_SIZE,
    SampleRequest,
    draw_and_save_run_sample,
)
from faithtui.errors import ConfigError, FaithtuiError
from faithtui.store.samples.sample_records import SampleRow
from faithtui.store.samples.sampling_frames import STRATA
from faithtui.tui.input_queue import ModalWindow, hold_keys_during_worker
from faithtui.tui.messages import WorkerFailed
from faithtui.tui.samples.sample_fields import (
    PLAN,
    parse_number,
    parse_plan_as_stratum_sizes,
    parse_share,
    parse_stratum_sizes,
)
from faithtui.tui.samples.sample_lines import (
    explain_too_large_size,
    format_sample_preview_lines,
)
from faithtui.tui.session import Session
from faithtui.tui.theme.lines import Piece, escape_text, wrap
from faithtui.tui.widgets.bars import KeyBar
from faithtui.tui.widgets.choice_pane import ChoicePane
from faithtui.tui.widgets.plain_input import PlainInput
from faithtui.tui.widgets.scroll_pane import Pane

_STRATA_WORDS = {
    "verdict": "the judge's verdict",
    "turn": "early, middle or late in the conversation",
    "model": "which model wrote the answer",
    "disagreement": "whether another run's judge differs",
    "flip": "whether the verdict changed between windows",
}


def _predict_half_widths(
    basis: PlanBasis, strata: Sequence[Stratum], shown_share: float
) -> LabelPlan:
    """Foresee the half widths of a sample from the claims that count in figures."""
    drawn = {each.name: each.drawn for each in strata}
    return predict_half_widths(basis.strata, compute_expected_blind_counts(drawn, shown_share))


def _read_stratum_sizes(
    typed: str,
    size: int,
    basis: PlanBasis | None,
    frame: SamplingFrame | None,
    shown_share: float,
) -> dict[str, int]:
    """Read how many claims of each stratum are to be drawn.

    Raises:
        ConfigError: It cannot be read, or the claims are still being counted.
    """
    if typed and frame is None:
        raise ConfigError("what can be drawn is still being counted; a moment")
    if typed.startswith(PLAN) and basis is not None:
        return parse_plan_as_stratum_sizes(typed, size, basis.strata, shown_share)
    return parse_stratum_sizes(typed, frame.claim_counts_by_stratum if frame is not None else {})


class DrawSampleScreen(ModalWindow[SampleId | None]):
    """What to draw from a run; answers with the sample.

    Args:
        session: Store, reviewer and preferences.
        run: The run.
        seed: What the form begins with.
        pace_s: Seconds the reviewer takes per claim.
    """

    CSS_PATH = "sample_form.tcss"
    HELP_WORDS: ClassVar[str] = (
        "{draw.field} goes from field to field, {draw.draw} draws. Simple: every claim has the "
        "same chance. Stratified: a number from each stratum, which is how rare verdicts get "
        "enough labels; weights are stored, so that totals stay right. Typed as numbers, «plan» "
        "shares the size among strata such that the share that passes and recall come out as "
        "narrow as they can, and «plan 0.05» takes as many claims as ±0.05 needs. Whole "
        "conversations: quicker to read, and claims of one conversation tell less. The same seed "
        "draws the same claims. While the judge is hidden, a share of the claims is shown with "
        "the judge's verdict, drawn at random, so that its influence on annotators can be "
        "measured; their labels count in no other figure."
    )

    HINTS: ClassVar[Mapping[str, str]] = {
        "name": "how the queue is called; empty: after its design, numbered if that is taken",
        "design": "how claims are drawn",
        "strata": "what strata are made of; only when stratified",
        "size": "claims, or conversations, to draw",
        "sizes": "number or all each; plan: by size; plan 0.05: for ±0.05; empty: equal",
        "seed": "the same seed draws the same claims",
        "blind": "whether the judge is hidden until you answer",
        "share": "share shown with the verdict on purpose; they count in no figure",
    }
    """What each field is for, by its id."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "draw_sample", "draw", tooltip="Draw the sample", id="draw.draw"),
        Binding(
            "tab", "app.focus_next", "next field", tooltip="Go to the next field", id="draw.field"
        ),
        Binding(
            "escape",
            "close",
            "close",
            tooltip="Close the form without drawing",
            id="draw.close",
        ),
    ]

    @dataclass
    class FrameRead(Message):
        """What can be drawn was read."""

        stratified_by: tuple[str, ...]
        frame: SamplingFrame
        basis: PlanBasis | None
        """What a plan by these strata starts from; None without strata."""

    def __init__(self, session: Session, run: RunId, *, seed: int, pace_s: float) -> None:
        super().__init__()
        self._session = session
        self._run = run
        self._seed = seed
        self._pace_s = pace_s
        self._frames: dict[tuple[str, ...], SamplingFrame] = {}
        """What was read, by what strata are made of; the last one only."""
        self._basis: PlanBasis | None = None
        """What a plan by the strata of the frame starts from."""
        self._is_drawing = False

    def compose(self) -> ComposeResult:
        """Stack the fields."""
        preferences = self._session.preferences
        with Vertical(id="dialog") as dialog:
            dialog.border_title = Content("Draw a sample")
            with VerticalScroll(id="fields", can_focus=False):
                with Grid(id="form"):
                    yield Label(Content("design"))
                    yield Select[str](
                        [
                            ("simple: every claim has the same chance", "simple"),
                            ("stratified: a number from each stratum", "stratified"),
                            ("conversations: whole ones, with all their claims", "conversations"),
                        ],
                        value="simple",
                        allow_blank=False,
                        id="design",
                        compact=True,
                    )
                    yield Label(Content("size"))
                    yield PlainInput(value=str(USUAL_SIZE), id="size", compact=True)
                yield ChoicePane(
                    [
                        (name, [Piece(f"{name:<13}"), Piece(_STRATA_WORDS[name], "quiet")])
                        for name in STRATA
                    ],
                    ["verdict"],
                    id="strata",
                    title="Strata",
                    hint=self._session.keys.fill_in_keys("{new-run.choose} chooses"),
                )
                with Grid(id="more"):
                    yield Label(Content("numbers"), id="sizes-label")
                    yield PlainInput(id="sizes", compact=True)
                    yield Label(Content("judge"))
                    yield Select[str](
                        [
                            ("hidden until answered (blind)", "blind"),
                            ("shown: agreement may come out too high", "shown"),
                        ],
                        value="blind" if preferences.blind else "shown",
                        allow_blank=False,
                        id="blind",
                        compact=True,
                    )
                    yield Label(Content("shown"))
                    yield PlainInput(value=f"{preferences.audit_share:g}", id="share", compact=True)
                    yield Label(Content("seed"))
                    yield PlainInput(value=str(self._seed), id="seed", compact=True)
                    yield Label(Content("name"))
                    yield PlainInput(id="name", compact=True)
                yield Label(Content(""), id="problem")
            preview_pane = Pane(id="preview", title="Will be drawn")
            preview_pane.can_focus = False
            yield preview_pane
            yield Label(Content(""), id="hint")
            yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Begin with the design."""
        self._show_fields()
        self.query_one("#design").focus()
        self.update_preview()

    @on(events.DescendantFocus)
    def show_hint_of_focused_field(self, event: events.DescendantFocus) -> None:
        """Say what the field is for that is gone to."""
        words = self.HINTS.get(event.widget.id or "", "")
        self.query_one("#hint", Label).update(Content(words))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Let the app say what failed."""
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.app.post_message(WorkerFailed(event.worker.error))

    # Looking ahead

    @on(Select.Changed, "#design")
    def show_design_fields(self) -> None:
        """Offer what the design needs."""
        size = self.query_one("#size", Input)
        usual = {str(USUAL_SIZE), str(USUAL_CONVERSATIONS)}
        if size.value in usual:
            whole = self._chosen_design is SamplingDesign.CONVERSATIONS
            size.value = str(USUAL_CONVERSATIONS if whole else USUAL_SIZE)
        self._show_fields()
        self.update_preview()

    @on(Select.Changed, "#blind")
    @on(Input.Changed)
    @on(ChoicePane.Changed)
    def update_preview(self) -> None:
        """Say what would be drawn, reading what can be drawn where that is not known yet."""
        wanted = self._chosen_strata
        frame = self._frames.get(wanted)
        if frame is None:
            self._show_in_preview(Piece("counting what can be drawn …", "quiet"))
            self.read_sampling_frame(wanted)
            return
        try:
            request = self._read_request(frame)
        except ConfigError as error:
            self._show_in_preview(escape_text(str(error), "warn"))
            return
        strata = preview_draws_per_stratum(frame, request.plan)
        basis, share = self._basis, request.shown_share
        found = _predict_half_widths(basis, strata, share) if basis is not None and wanted else None
        asked = 0 if request.sizes else request.size
        if not self._is_drawing:
            too_large = explain_too_large_size(asked, strata, request.design)
            self.query_one("#problem", Label).update(Content(too_large))
        forecast = partial(format_sample_preview_lines, found=found, basis=basis, shown=share)
        size, pace = len(frame), self._pace_s
        self.query_one("#preview", Pane).show(
            lambda width: forecast(strata, request.design, size, pace, width, asked=asked)
        )

    @work(exclusive=True, group="frame", exit_on_error=False)
    async def read_sampling_frame(self, stratified_by: tuple[str, ...]) -> None:
        """Read what can be drawn, without holding up keys."""
        store = self._session.store
        if stratified_by:
            basis = await asyncio.to_thread(read_plan_strata, store, self._run, stratified_by)
            self.post_message(self.FrameRead(stratified_by, basis.frame, basis))
            return
        frame = await asyncio.to_thread(store.samples.read_frame, self._run)
        self.post_message(self.FrameRead(stratified_by, frame, None))

    @on(FrameRead)
    def keep_sampling_frame_and_preview(self, event: FrameRead) -> None:
        """Keep what was read, and nothing older: a frame may be large."""
        self._frames = {event.stratified_by: event.frame}
        self._basis = event.basis
        self.update_preview()

    # Drawing

    @on(Input.Submitted)
    def draw_sample_on_enter(self) -> None:
        """Draw on enter in a text field."""
        self.action_draw_sample()

    def action_draw_sample(self) -> None:
        """Draw what was ordered, or say why that cannot be."""
        try:
            request = self._read_request(self._frames.get(self._chosen_strata))
        except ConfigError as error:
            self.show_problem(str(error))
            return
        if not self._is_drawing:
            self._is_drawing = True
            self.show_problem("drawing …")
            self.draw_and_store(request)

    @hold_keys_during_worker(can_give_up=False)
    @work(exclusive=True, group="draw", exit_on_error=False)
    async def draw_and_store(self, request: SampleRequest) -> None:
        """Draw and store the sample."""
        session = self._session
        frame = self._frames.get(self._chosen_strata)
        try:
            row = await asyncio.to_thread(
                draw_and_save_run_sample, session.store, self._run, session.reviewer, request, frame
            )
        except FaithtuiError as error:
            self._is_drawing = False
            self.show_problem(str(error))
            return
        self.dismiss(row.id)

    def action_close(self) -> None:
        """Close without a sample."""
        self.dismiss(None)

    def show_problem(self, words: str) -> None:
        """Say what is wrong with the order."""
        problem = self.query_one("#problem", Label)
        problem.update(Content(escape_text(words).text))
        self.call_after_refresh(problem.scroll_visible, animate=False)

    @property
    def _chosen_design(self) -> SamplingDesign:
        return SamplingDesign(str(self.query_one("#design", Select).value))

    @property
    def _chosen_strata(self) -> tuple[str, ...]:
        if self._chosen_design is not SamplingDesign.STRATIFIED:
            return ()
        return self.query_one("#strata", ChoicePane).selection

    def _show_fields(self) -> None:
        stratified = self._chosen_design is SamplingDesign.STRATIFIED
        for name in ("strata", "sizes", "sizes-label"):
            self.query_one(f"#{name}").display = stratified
        self.query_one("#more").styles.height = 5 if stratified else 4

    def _show_in_preview(self, piece: Piece) -> None:
        self.query_one("#preview", Pane).show(lambda width: wrap([piece], width))

    def _read_request(self, frame: SamplingFrame | None) -> SampleRequest:
        """Read the form.

        Raises:
            ConfigError: A field cannot be read.
        """
        design, strata = self._chosen_design, self._chosen_strata
        if design is SamplingDesign.STRATIFIED and not strata:
            raise ConfigError("strata: at least one is to be chosen; space chooses")
        size = parse_number(self.query_one("#size", Input).value, "size")
        blind = self.query_one("#blind", Select).value == "blind"
        shown_share = parse_share(self.query_one("#share", Input).value) if blind else 0.0
        sizes: dict[str, int] = {}
        if design is SamplingDesign.STRATIFIED:
            typed = self.query_one("#sizes", Input).value.strip()
            sizes = _read_stratum_sizes(typed, size, self._basis, frame, shown_share)
        return SampleRequest(
            name=self.query_one("#name", Input).value.strip(),
            design=design,
            stratified_by=strata,
            size=size,
            sizes=sizes,
            seed=parse_number(self.query_one("#seed", Input).value, "seed", 0),
            blind=blind,
            shown_share=shown_share,
        )


class ExtendSampleScreen(ModalWindow[int | None]):
    """How many more to draw of a sample; answers with the number.

    Args:
        row: The sample.
    """

    CSS_PATH = "sample_form.tcss"
    HELP_WORDS: ClassVar[str] = (
        "What was drawn keeps its place; more is drawn with the same seed and comes after it. With "
        "strata, what is drawn in addition comes from each in equal parts."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "answer_with_number", "draw", tooltip="Draw more", id="extend.draw"),
        Binding("escape", "close", "close", tooltip="Draw nothing", id="extend.close"),
    ]

    def __init__(self, row: SampleRow) -> None:
        super().__init__()
        self._row = row

    def compose(self) -> ComposeResult:
        """Stack the field and what it is for."""
        unit = "conversations" if self._row.design is SamplingDesign.CONVERSATIONS else "claims"
        with Vertical(id="dialog") as dialog:
            dialog.border_title = Content("Draw more")
            with Grid(id="one"):
                yield Label(Content(f"how many more {unit}"))
                yield PlainInput(value="50" if unit == "claims" else "5", id="size", compact=True)
            yield Label(Content(""), id="problem")
            yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Begin in the field."""
        self.query_one("#size").focus()

    @on(Input.Submitted)
    def answer_on_enter(self) -> None:
        """Draw on enter."""
        self.action_answer_with_number()

    def action_answer_with_number(self) -> None:
        """Answer with the number."""
        try:
            self.dismiss(parse_number(self.query_one("#size", Input).value, "how many"))
        except ConfigError as error:
            self.query_one("#problem", Label).update(Content(escape_text(str(error)).text))

    def action_close(self) -> None:
        """Close without drawing."""
        self.dismiss(None)
