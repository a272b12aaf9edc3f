"""What the parts of line mode share: the store, the queue, the annotator and the terminal."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithtui.cli.commands.label.line_output import LineOutput
from faithtui.cli.commands.label.line_text import wrap_with_name_before
from faithtui.domain.ids import ClaimId
from faithtui.domain.labels.label_events import Action, LabelEvent, LabelMark, MarkedPassage
from faithtui.tui.samples.queue import ClaimQueue

if TYPE_CHECKING:
    from faithtui.store.store import Store


@dataclass(frozen=True)
class LineContext:
    """Who labels what, and where it is asked and stored."""

    store: "Store"
    queue: ClaimQueue
    reviewer: str
    output: LineOutput
    read_line: Callable[[], str]
    """Gives a line with its end, "" when there are no more."""

    def print_refusal(self, reason: str) -> None:
        """Say why what was typed cannot be done."""
        self.output.print_event("refused", *wrap_with_name_before("refused", reason), reason=reason)

    def ask_for_text(self, prompt: str) -> str:
        """Ask for a line of text, and give it without blanks around it."""
        self.output.print_prompt(prompt)
        return self.read_line().strip()

    def save_event(
        self,
        claim: ClaimId,
        action: Action,
        *,
        saw_judge: bool,
        note: str | None = None,
        code: str | None = None,
        mark: LabelMark | None = None,
        evidence: tuple[MarkedPassage, ...] = (),
    ) -> LabelEvent:
        """Store what is marked on a claim besides a label."""
        return self.store.label_log.append_label_event(
            claim,
            self.reviewer,
            action,
            run=self.queue.run,
            judge_verdict=None,
            saw_judge=saw_judge,
            note=note,
            code=code,
            mark=mark,
            evidence=evidence,
            sample=self.queue.sample,
        )
