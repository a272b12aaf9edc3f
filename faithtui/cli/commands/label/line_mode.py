"""Labelling line by line: one claim, one prompt, one typed line.

The same queue, the same store and the same label events as in the app. An answer is on the disk
before the next prompt, so that neither Ctrl-C nor the end of the input loses any.
"""

from faithtui.cli.commands.label.claim_remarks import ClaimRemarks
from faithtui.cli.commands.label.line_context import LineContext
from faithtui.cli.commands.label.line_queue import LineQueue
from faithtui.cli.commands.label.line_text import (
    format_full_text_lines,
    format_label_event,
    list_key_explanations,
    wrap_with_name_before,
)
from faithtui.cli.commands.label.served_claim import ServedClaim
from faithtui.cli.output import plural
from faithtui.domain.ids import ClaimId
from faithtui.domain.labels.label_events import (
    Action,
    LabelEvent,
    LabelMark,
)
from faithtui.domain.labels.reason_codes import REASON_CODES
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.errors import FaithtuiError
from faithtui.tui.review.lines.verdict_lines import list_verdict_choices
from faithtui.tui.theme import format as fmt

_MOST_ECHOED = 60
"""Characters of a line that is no key which are said again."""
CODE_KEYS = frozenset(str(number) for number in range(1, len(REASON_CODES) + 1))


class LineMode:
    """An annotator who works through a queue line by line."""

    def __init__(self, context: LineContext) -> None:
        """Take the queue up where the annotator left it."""
        self.context = context
        self.queue = LineQueue(context)
        self.remarks = ClaimRemarks(context, self.queue)
        self.error: FaithtuiError | None = None
        """What kept something from being saved, last."""
        self._last_verdict: LabelEvent | None = None
        """The last label, for codes and doubts."""
        self._labelled: set[ClaimId] = set()
        self._is_unsure = False
        """The last label was marked as low confidence."""
        self._saved = 0
        """Verdicts that were saved."""

    def run(self) -> None:
        """Ask until the queue is through, the annotator quits or the input ends."""
        self.queue.serve_next_claim_or_say_queue_is_done()
        while True:
            self.context.output.print_prompt("answer")
            line = self.context.read_line()
            if not line:
                self.context.output.print_event("end-of-input", "", reason="end of input")
                return
            try:
                if not self.run_line_and_check_session_continues(line.strip()):
                    return
            except FaithtuiError as error:
                self.error = error
                self.context.output.print_event(
                    "not-saved", f"not saved: {error}", reason=str(error)
                )

    def run_line_and_check_session_continues(self, line: str) -> bool:
        """Do what a line says; False ends the session."""
        served = self.queue.served
        key, _, rest = line.partition(" ")
        if served is None:
            return self._try_to_change_last_verdict_by_key(key)
        words = {name: name for _, name, _ in list_verdict_choices(served.spec)}
        words |= {letter: name for letter, name, _ in list_verdict_choices(served.spec)}
        if key in words and not rest:
            self._save_verdict_and_serve_next(served, words[key])
            return True
        match key:
            case "":
                self.queue.print_claim(served)
            case "t":
                self.context.output.print_event(
                    "full", *format_full_text_lines(served), claim=served.claim.id
                )
            case "s":
                self._skip_claim_and_serve_next(served)
            case "f":
                self.remarks.toggle_and_print_flag(served)
            case "e":
                self.remarks.ask_for_and_save_note(served, rest)
            case "E":
                self.remarks.toggle_evidence_mark_of_quote(served, rest.strip())
            case "+":
                self.remarks.add_missed_claim_or_toggle_answer_complete(served, rest.strip())
            case "v":
                self.queue.print_judge_verdict_and_record_reveal(served)
            case "?":
                self._print_help(served)
            case "q":
                return False
            case _ if not self._try_to_change_last_verdict_by_key(key):
                typed = make_visible_line(line, _MOST_ECHOED)
                self.context.output.print_event(
                    "refused",
                    *wrap_with_name_before("no such key", f"{typed}; ? lists the keys"),
                    line=line,
                )
        return True

    def _try_to_change_last_verdict_by_key(self, key: str) -> bool:
        """Do what a key says about what was done last; False when it says nothing of that."""
        match key:
            case "c":
                self._toggle_low_confidence_of_last_verdict()
            case "u" | "r":
                self._undo_or_redo(redo=key == "r")
            case _ if key in CODE_KEYS:
                self._add_reason_code_to_last_verdict(int(key))
            case _:
                return False
        return True

    def _save_verdict_and_serve_next(self, served: ServedClaim, verdict: str) -> None:
        if self.queue.is_served_claim_labelled_elsewhere():
            self._print_label_from_elsewhere_and_serve_next(served, verdict)
            return
        act = self.context.store.label_log.record_verdict(
            served.claim.id,
            self.context.reviewer,
            verdict,
            run=self.context.queue.run,
            saw_judge=served.has_seen_judge_verdict,
            repeats=self.context.queue.repeats,
            seconds=self.queue.count_seconds_since_shown(),
            sample=self.context.queue.sample,
        )
        self._last_verdict, self._is_unsure = act, False
        self._labelled.add(act.claim)
        self._saved += 1
        words = f"{served.name} = {fmt.describe_label(verdict, served.spec.labels)}"
        before = self._find_replaced_label(act)
        if before is not None:
            replaced = fmt.describe_label(before, served.spec.labels)
            words += f", replaced {replaced}: u brings it back"
        self.context.output.print_event(
            "saved",
            f"saved: {words}",
            claim=act.claim,
            verdict=verdict,
            saw_judge=act.saw_judge,
            **({} if before is None else {"replaced": before}),
            # `agreed` would reveal what a hidden judge said.
            **({"action": act.action.value} if served.shown else {}),
        )
        self.queue.mark_answered_or_skipped(act)
        self.queue.serve_next_claim_or_say_queue_is_done()

    def _print_label_from_elsewhere_and_serve_next(
        self, served: ServedClaim, typed: str | None
    ) -> None:
        """Leave the label that another open app gave meanwhile, and go on.

        To ask again would take the next line for this claim, and lines may be typed ahead.
        """
        label = self.queue.find_given_label(served)
        words = f"{served.name} was labelled"
        if label is not None:
            words = f"{served.name} = {fmt.describe_label(label, served.spec.labels)}"
        self.context.output.print_event(
            "labelled-elsewhere",
            *wrap_with_name_before("not saved", f"{words} in another app, which stands"),
            claim=served.claim.id,
            verdict=label,
            typed=typed,
        )
        # A reason code that follows is not about the label before it.
        self._last_verdict = None
        self.queue.serve_next_claim_or_say_queue_is_done()

    def _find_replaced_label(self, act: LabelEvent) -> str | None:
        """Find a label of the reviewer's that a verdict replaced by another one; None for none."""
        if self.context.queue.repeats:
            return None  # nothing is replaced
        before = self.context.store.label_log.find_labels_before_step((act,)).get(act.claim)
        return None if before is None or before.verdict == act.verdict else before.verdict

    def _skip_claim_and_serve_next(self, served: ServedClaim) -> None:
        mine = served.claim.mine
        if mine is not None and mine.verdict is not None:
            self.context.print_refusal("it has your verdict; u undoes it")
            return
        if self.queue.is_served_claim_labelled_elsewhere():
            self._print_label_from_elsewhere_and_serve_next(served, None)
            return
        act = self.context.save_event(
            served.claim.id, Action.SKIPPED, saw_judge=served.has_seen_judge_verdict
        )
        self.context.output.print_event("later", f"skipped: {served.name}", claim=served.claim.id)
        self._last_verdict = None
        self.queue.mark_answered_or_skipped(act)
        self.queue.serve_next_claim_or_say_queue_is_done()

    def _find_label_to_annotate(self, what: str) -> LabelEvent | None:
        """Find the label given last; None where it is none any more, which is said then."""
        last, context = self._last_verdict, self.context
        if last is None:
            context.print_refusal(f"{what} belongs to a label; give one first")
        elif not context.queue.repeats:
            found = context.store.label_log.find_label(context.reviewer, last.claim)
            if found is None or found.verdict != last.verdict:
                context.print_refusal(f"{what} belongs to your last label, changed elsewhere since")
                self._last_verdict = last = None
        return last

    def _add_reason_code_to_last_verdict(self, number: int) -> None:
        code = REASON_CODES[number - 1]
        last = self._find_label_to_annotate("a reason code")
        if last is None:
            return
        self.context.save_event(last.claim, Action.CODED, saw_judge=False, code=code.name)
        self.context.output.print_event(
            "code",
            *wrap_with_name_before(
                f"reason code {number} ({code.title}) saved with your last verdict", code.meaning
            ),
            claim=last.claim,
            code=code.name,
        )

    def _toggle_low_confidence_of_last_verdict(self) -> None:
        last = self._find_label_to_annotate("low confidence")
        if last is None:
            return
        mark = LabelMark.SURE if self._is_unsure else LabelMark.UNSURE
        self.context.save_event(last.claim, Action.MARKED, saw_judge=False, mark=mark)
        self._is_unsure = not self._is_unsure
        words = "low confidence" if self._is_unsure else "sure again"
        self.context.output.print_event(
            "doubt",
            f"your last verdict: {words}",
            claim=last.claim,
            unsure=self._is_unsure,
        )

    def _undo_or_redo(self, *, redo: bool) -> None:
        label_log, reviewer = self.context.store.label_log, self.context.reviewer
        # A claim that is labelled here is not shown again, but one that was labelled in the app may
        # have shown its judge there.
        step = label_log.redo(reviewer) if redo else label_log.undo(reviewer, self._labelled)
        done = "redone" if redo else "undone"
        if not step:
            self.context.output.print_event(done, f"nothing to be {done}", acts=0)
            return
        act = step[0]
        # What stands after it was said elsewhere, or before.
        self._labelled.difference_update(each.claim for each in step)
        self.context.output.print_event(
            done, f"{done}: {format_label_event(act)}", claim=act.claim, acts=len(step)
        )
        if act.verdict is None and act.action is not Action.SKIPPED:
            if act.mark in (LabelMark.UNSURE, LabelMark.SURE):
                self._is_unsure = (act.mark is LabelMark.UNSURE) == redo
            if self.queue.served is not None:
                self.queue.reload_claim(self.queue.served)
            return
        verdicts = sum(each.verdict is not None for each in step)
        self._saved = max(0, self._saved + (verdicts if redo else -verdicts))
        self._last_verdict = None
        self.queue.reload_reviewer_position_in_queue()
        place = self.context.queue.place.get(act.claim)
        if place is None:
            self.context.output.print_event(
                "elsewhere", "that claim is not in this queue", claim=act.claim
            )
            return
        if redo and act.claim in self.queue.position.answered_claims:
            self.queue.serve_next_claim_or_say_queue_is_done()
        else:
            self.queue.load_and_print_claim_recording_exposure(*self.context.queue.entries[place])

    def _print_help(self, served: ServedClaim) -> None:
        keys = list_key_explanations(served.spec)
        lines = [line for each in keys for line in wrap_with_name_before(*each.split(": ", 1))]
        self.context.output.print_event("help", *lines, keys=keys)

    def print_done_and_remaining_counts(self) -> None:
        """Say what was done and what is left."""
        self.queue.reload_position_if_changed()
        left = self.queue.open_count
        self.context.output.print_event(
            "done",
            "",
            f"{plural(self._saved, 'verdict')} saved; {left} of "
            f"{plural(len(self.context.queue.entries), 'claim')} left",
            saved=self._saved,
            left=left,
            of=len(self.context.queue.entries),
        )
