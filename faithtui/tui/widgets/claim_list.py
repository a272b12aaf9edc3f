"""What is judged in a conversation, and the keys that give verdicts on it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from faithtui.domain.ids import ClaimId
from faithtui.store.records import ReviewView
from faithtui.tui.described import titled
from faithtui.tui.drawing.claims import claim_list, row_of
from faithtui.tui.drawing.verdict import UNFAIR_KEY, choices
from faithtui.tui.place import Focus, is_open
from faithtui.tui.widgets.pane import RowPane

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

VERDICT = Binding.Group("verdict")


class ClaimList(RowPane):
    """Claims, one of them chosen. Verdict keys live here, so that they never fire while typing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "y",
            "verdict('y')",
            "first label",
            group=VERDICT,
            tooltip="Verdict: the metric's first label, such as supported; saves and goes on",
            id="review.verdict-yes",
        ),
        Binding(
            "n",
            "verdict('n')",
            "second label",
            group=VERDICT,
            tooltip="Verdict: the metric's second label, such as contradicted; saves and goes on",
            id="review.verdict-no",
        ),
        Binding(
            "i",
            "verdict('i')",
            "third label",
            group=VERDICT,
            tooltip="Verdict: the metric's third label, where it has one; saves and goes on",
            id="review.verdict-idk",
        ),
        Binding(
            "x",
            "verdict('x')",
            "not fair",
            group=VERDICT,
            tooltip="Not a fair claim: phantom, opinion or bad split; saves and goes on",
            id="review.verdict-unfair",
        ),
        Binding(
            "enter",
            "choose",
            "Details",
            show=False,
            tooltip="Show the judge's word in every window",
            id="review.open",
        ),
    ]

    @dataclass
    class Judged(Message):
        """A person gave a verdict on the claim that was on screen."""

        pane: "ClaimList"
        claim: ClaimId
        label: str

        @property
        def control(self) -> "ClaimList":
            """The list."""
            return self.pane

    @dataclass
    class Refused(Message):
        """A verdict key came before the claim it would be about had been drawn."""

        pane: "ClaimList"

        @property
        def control(self) -> "ClaimList":
            """The list."""
            return self.pane

    def __init__(self) -> None:
        super().__init__(id="claims", title="Claims")
        self._spec: MetricSpec | None = None
        self._current: ClaimId | None = None
        self._painted: ClaimId | None = None

    def show_claims(self, view: ReviewView, at: Focus, spec: "MetricSpec") -> None:
        """Draw the claims of a conversation or of one window, and choose one."""
        done = sum(not is_open(claim) for claim in view.claims)
        where = "" if at.window is None else f" in w{at.window + 1}"
        self._spec = spec
        self._current = at.claim
        self.show(
            lambda width: claim_list(view, at, spec, width),
            title=f"{titled(spec.units[1])}{where} {done}/{len(view.claims)} done",
        )
        self.hint = "J judge H you"
        self.move_to(row_of(view, at, at.claim))
        if self._painted != at.claim:
            self.call_after_refresh(self._mark_painted, at.claim)

    def clear(self) -> None:
        """Accept no verdict until claims are shown again."""
        self._current = self._painted = None

    def action_verdict(self, key: str) -> None:
        """Give the verdict of a key, on the claim that is on screen."""
        if self._spec is None or self._current is None:
            return
        if self._painted != self._current:
            self.post_message(self.Refused(self))
            return
        label = next((name for each, name, _ in choices(self._spec) if each == key), None)
        if label is not None:
            self.post_message(self.Judged(self, self._current, label))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide keys for labels that the metric does not have."""
        if action == "verdict" and self._spec is not None:
            return parameters[0] in (UNFAIR_KEY, *(key for key, _, _ in choices(self._spec)))
        return True

    def _mark_painted(self, claim: ClaimId | None) -> None:
        self._painted = claim
