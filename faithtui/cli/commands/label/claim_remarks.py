"""What an annotator marks on a claim besides a label: flags, notes, evidence, missed claims."""

from faithtui.cli.commands.label.line_context import LineContext
from faithtui.cli.commands.label.line_marks import (
    ALL,
    find_quote_in_answer,
    find_quote_in_passages,
    is_answer_declared_complete,
)
from faithtui.cli.commands.label.line_queue import LineQueue
from faithtui.cli.commands.label.served_claim import ServedClaim
from faithtui.domain.labels.label_events import Action, LabelMark, toggle_evidence_mark
from faithtui.domain.limits import NOTE
from faithtui.engine.review.missed_claims import add_missed_claim, mark_answer_complete
from faithtui.tui.theme import format as fmt


class ClaimRemarks:
    """Stores what is typed about the claim that is asked about; it is asked about again."""

    def __init__(self, context: LineContext, queue: LineQueue) -> None:
        """Take what is shared, and the queue that serves the claim."""
        self.context = context
        self.queue = queue

    def toggle_and_print_flag(self, served: ServedClaim) -> None:
        """Flag a claim, or no longer."""
        flagged = served.claim.mine is not None and served.claim.mine.flagged
        mark = LabelMark.UNFLAG if flagged else LabelMark.FLAG
        self.context.save_event(
            served.claim.id, Action.MARKED, saw_judge=served.has_seen_judge_verdict, mark=mark
        )
        words = "no longer flagged" if flagged else "flagged"
        self.context.output.print_event(
            "flag",
            f"{words}: {served.name}",
            claim=served.claim.id,
            flagged=not flagged,
        )
        self.queue.reload_claim(served)

    def ask_for_and_save_note(self, served: ServedClaim, text: str) -> None:
        """Save a note, which is asked for where none was typed; "-" removes it."""
        if not text:
            text = self.context.ask_for_text("note, empty leaves it as it is")
            if not text:
                self.context.output.print_event(
                    "note", "note: as it was", claim=served.claim.id, changed=False
                )
                return
        problem = NOTE.find_size_problem(len(text))
        if problem is not None:
            self.context.print_refusal(problem)
            return
        note = "" if text == "-" else text
        self.context.save_event(
            served.claim.id, Action.NOTED, saw_judge=served.has_seen_judge_verdict, note=note
        )
        words = "note saved" if note else "note removed"
        self.context.output.print_event(
            "note",
            f"{words}: {served.name}",
            claim=served.claim.id,
            changed=True,
        )
        self.queue.reload_claim(served)

    def toggle_evidence_mark_of_quote(self, served: ServedClaim, quote: str) -> None:
        """Mark the quoted words of a passage, or no longer; "-" takes all marks away."""
        if served.claim.kind == "statement":
            self.context.print_refusal("a statement is a part of its passage: nothing else decides")
            return
        if not quote:
            quote = self.context.ask_for_text(
                "words of a passage that decide the verdict, - for none"
            )
        marks = () if served.claim.mine is None else served.claim.mine.evidence
        if quote and quote != "-":
            mark = find_quote_in_passages(served, quote)
            if mark is None:
                self.context.print_refusal(
                    "no passage has these words; t reads the passages in full"
                )
                return
            marks = toggle_evidence_mark(marks, mark)
        elif quote:
            marks = ()
        self.context.save_event(
            served.claim.id,
            Action.EVIDENCE,
            saw_judge=served.has_seen_judge_verdict,
            evidence=marks,
        )
        words = (
            fmt.format_count_with_noun(len(marks), "stretch", "stretches") if marks else "nothing"
        )
        self.context.output.print_event(
            "evidence",
            f"{words} marked as evidence: {served.name}",
            claim=served.claim.id,
            marks=[each._asdict() for each in marks],
        )
        self.queue.reload_claim(served)

    def add_missed_claim_or_toggle_answer_complete(self, served: ServedClaim, text: str) -> None:
        """Add a claim that the judge did not extract; "all" says that there are no others.

        The text is asked for where none was typed; "all" once more takes back what it said.
        """
        if served.spec.judges != "claim":
            self.context.print_refusal(
                f"{served.spec.title} extracts no claims: none can be missed"
            )
            return
        if not text:
            text = self.context.ask_for_text(
                f"claim of this answer that the judge did not extract, or {ALL}"
            )
        if text == ALL:
            self._toggle_answer_complete(served)
        elif text:
            self._add_missed_claim(served, text)
        self.queue.reload_claim(served)

    def _toggle_answer_complete(self, served: ServedClaim) -> None:
        turn, complete = served.claim.turn, not is_answer_declared_complete(served)
        mark_answer_complete(
            self.context.store,
            self.context.queue.run,
            served.view.item.id,
            turn,
            reviewer=self.context.reviewer,
            complete=complete,
        )
        words = "are all known" if complete else "may not be all"
        self.context.output.print_event(
            "complete", f"turn {turn + 1}: its claims {words}", turn=turn, complete=complete
        )

    def _add_missed_claim(self, served: ServedClaim, text: str) -> None:
        turn, span = served.claim.turn, find_quote_in_answer(served, text)
        event = add_missed_claim(
            self.context.store,
            self.context.queue.run,
            served.view.item.id,
            turn,
            text,
            reviewer=self.context.reviewer,
            span=span,
        )
        words = "in the answer's words" if span is not None else "in your words"
        self.context.output.print_event(
            "missed-claim",
            f"claim added to turn {turn + 1}, {words}",
            claim=event.claim,
            turn=turn,
            text=text,
        )
