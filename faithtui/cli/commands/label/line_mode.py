"""Labelling line by line: one claim, one prompt, one typed line.

The same queue, the same store and the same acts as in the app. An answer is on the disk before the
next prompt, so that neither Ctrl-C nor the end of the input loses any.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faithtui.cli.commands.label.line_marks import (
    ALL,
    describe_marks,
    find_answer_span,
    find_passage,
    is_complete,
)
from faithtui.cli.commands.label.line_output import LineOutput
from faithtui.cli.commands.label.line_text import (
    claim_lines,
    format_label_event,
    full_lines,
    judge_lines,
    keys_lines,
    list_line_help,
    wrap_with_label,
)
from faithtui.cli.commands.label.served_claim import ServedClaim, read_served_claim
from faithtui.cli.output import plural
from faithtui.domain.annotations import (
    REASON_CODES,
    Action,
    LabelEvent,
    LabelMark,
    MarkedPassage,
    toggle_mark,
)
from faithtui.domain.ids import ClaimId, ItemId
from faithtui.domain.limits import NOTE
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.engine.review.missed_claims import add_missed_claim, mark_answer
from faithtui.errors import FaithtuiError
from faithtui.tui.review.lines.verdict import list_verdict_choices
from faithtui.tui.samples.queue import ClaimQueue, QueuePosition, load_queue_position
from faithtui.tui.theme import format as fmt

if TYPE_CHECKING:
    from faithtui.store.store import Store

_MOST_ECHOED = 60
"""Characters of a line that is no key which are said again."""
CODE_KEYS = frozenset(str(number) for number in range(1, len(REASON_CODES) + 1))


@dataclass
class LineMode:
    """A person who works through a queue line by line."""

    store: "Store"
    queue: ClaimQueue
    reviewer: str
    talk: LineOutput
    read_line: Callable[[], str]
    """Gives a line with its end, "" when there are no more."""
    seconds: Callable[[], float] = time.monotonic
    walk: QueuePosition = field(init=False)
    served: ServedClaim | None = None
    last_verdict: LabelEvent | None = None
    """The last verdict, for codes and doubts."""
    saved: int = 0
    """Verdicts that were saved."""
    error: FaithtuiError | None = None
    """What kept something from being saved, last."""
    served_at: float = 0.0
    unsure: bool = False
    """The last verdict was marked as unsure."""

    def __post_init__(self) -> None:
        """Take the queue up where the person left it."""
        self._load_progress()

    def run(self) -> None:
        """Ask until the queue is through, the person quits or the input ends."""
        self._serve_next()
        while True:
            self.talk.prompt("answer")
            line = self.read_line()
            if not line:
                self.talk.say("end-of-input", "", reason="end of input")
                return
            try:
                if not self.handle_line(line.strip()):
                    return
            except FaithtuiError as error:
                self.error = error
                self.talk.say("not-saved", f"not saved: {error}", reason=str(error))

    def handle_line(self, line: str) -> bool:
        """Do what a line says; False ends the session."""
        served = self.served
        key, _, rest = line.partition(" ")
        if served is None:
            return self._handle_last_verdict_key(key)
        words = {name: name for _, name, _ in list_verdict_choices(served.spec)}
        words |= {letter: name for letter, name, _ in list_verdict_choices(served.spec)}
        if key in words and not rest:
            self._save_verdict(served, words[key])
            return True
        match key:
            case "":
                self._say_claim(served)
            case "t":
                self.talk.say("full", *full_lines(served), claim=served.claim.id)
            case "s":
                self._skip_claim(served)
            case "f":
                self._toggle_flag(served)
            case "e":
                self._edit_note(served, rest)
            case "E":
                self._mark_evidence(served, rest.strip())
            case "+":
                self._add_missed_claim(served, rest.strip())
            case "v":
                self._reveal_judge(served)
            case "?":
                self._say_help(served)
            case "q":
                return False
            case _ if not self._handle_last_verdict_key(key):
                typed = make_visible_line(line, _MOST_ECHOED)
                self.talk.say(
                    "refused",
                    *wrap_with_label("no such key", f"{typed}; ? lists the keys"),
                    line=line,
                )
        return True

    def _handle_last_verdict_key(self, key: str) -> bool:
        """Do what a key says about what was done last; False when it says nothing of that."""
        match key:
            case "c":
                self._toggle_unsure()
            case "u" | "r":
                self._undo_or_redo(redo=key == "r")
            case _ if key in CODE_KEYS:
                self._add_code_to_last_verdict(int(key))
            case _:
                return False
        return True

    # Serving

    def _load_progress(self) -> None:
        """Read how far the person is."""
        here = self.walk.current_place if self.served is not None else -1
        self.walk = load_queue_position(self.store, self.queue, self.reviewer)
        if self.queue.sample is None:
            mine = self.store.samples.read_own_labelled_frame(self.queue.run, self.reviewer)
            self.walk.answered_claims |= {each.claim for each in mine} & set(self.queue.place)
        self.walk.current_place = here

    def _serve_next(self) -> None:
        """Serve the next claim, or say that the queue is through."""
        following = self.walk.list_next(1)
        if following:
            self._serve_claim(*following[0])
            return
        self.served = None
        self.talk.say(
            "through",
            "",
            "nothing more is open in this queue",
            "keys: u undo; 1 to 7 and c are about your last verdict; enter or q ends",
        )

    def _serve_claim(self, item: ItemId, claim: ClaimId, *, quietly: bool = False) -> None:
        """Ask about a claim."""
        before = self.served
        again = before is not None and before.claim.id == claim
        revealed = set(self.queue.shown)
        if again and before is not None and before.shown:
            revealed.add(claim)
        self.served = read_served_claim(
            self.store, self.queue, self.reviewer, item, claim, revealed
        )
        if not self.queue.blind:
            self.store.reviews.record_exposure(item, self.reviewer)
        self.walk.move_to(claim)
        if not again:
            self.served_at = self.seconds()
        if not quietly:
            self._say_claim(self.served)

    def _say_claim(self, served: ServedClaim) -> None:
        claim = served.claim
        judge: dict[str, object] = {}
        if served.shown:
            judge = {
                "judge": {"label": claim.home_verdict.label, "reason": claim.home_verdict.reason}
            }
        self.talk.say(
            "claim",
            "",
            *claim_lines(served),
            *describe_marks(served),
            *keys_lines(served.spec),
            number=served.number,
            of=served.of,
            claim=claim.id,
            conversation=served.view.item.key,
            turn=claim.turn,
            text=claim.text,
            passages=[
                {"passage": each.document.number, "text": each.document.text}
                for each in served.passages
            ],
            blind=not served.shown,
            **judge,
        )

    # Saying something

    def _save_verdict(self, served: ServedClaim, verdict: str) -> None:
        act = self.store.reviews.record_verdict(
            served.claim.id,
            self.reviewer,
            verdict,
            run=self.queue.run,
            saw_judge=served.knows_judge,
            repeats=self.queue.repeats,
            seconds=max(0.0, self.seconds() - self.served_at),
            sample=self.queue.sample,
        )
        self.last_verdict, self.unsure = act, False
        self.saved += 1
        words = f"{served.name} = {fmt.describe_label(verdict, served.spec.labels)}"
        self.talk.say(
            "saved",
            f"saved: {words}",
            claim=act.claim,
            verdict=verdict,
            saw_judge=act.saw_judge,
            # `agreed` would tell what a hidden judge said.
            **({"action": act.action.value} if served.shown else {}),
        )
        self.walk.mark_answered(act.claim)
        self._serve_next()

    def _skip_claim(self, served: ServedClaim) -> None:
        mine = served.claim.mine
        if mine is not None and mine.verdict is not None:
            self._refuse("it has your verdict; u undoes it")
            return
        self._record(served.claim.id, Action.SKIPPED, saw_judge=served.knows_judge)
        self.talk.say("later", f"skipped: {served.name}", claim=served.claim.id)
        self.walk.mark_skipped(served.claim.id)
        self._serve_next()

    def _toggle_flag(self, served: ServedClaim) -> None:
        flagged = served.claim.mine is not None and served.claim.mine.flagged
        mark = LabelMark.UNFLAG if flagged else LabelMark.FLAG
        self._record(served.claim.id, Action.MARKED, saw_judge=served.knows_judge, mark=mark)
        words = "no longer flagged" if flagged else "flagged"
        self.talk.say(
            "flag",
            f"{words}: {served.name}",
            claim=served.claim.id,
            flagged=not flagged,
        )
        self._serve_again(served)

    def _edit_note(self, served: ServedClaim, text: str) -> None:
        if not text:
            self.talk.prompt("note, empty leaves it as it is")
            text = self.read_line().strip()
            if not text:
                self.talk.say("note", "note: as it was", claim=served.claim.id, changed=False)
                return
        problem = NOTE.find_problem(len(text))
        if problem is not None:
            self._refuse(problem)
            return
        note = "" if text == "-" else text
        self._record(served.claim.id, Action.NOTED, saw_judge=served.knows_judge, note=note)
        words = "note saved" if note else "note removed"
        self.talk.say(
            "note",
            f"{words}: {served.name}",
            claim=served.claim.id,
            changed=True,
        )
        self._serve_again(served)

    def _mark_evidence(self, served: ServedClaim, quote: str) -> None:
        """Mark the quoted words of a passage, or no longer; "-" takes all marks away."""
        if served.claim.kind == "statement":
            self._refuse("a statement is a part of its passage: nothing else decides")
            return
        if not quote:
            self.talk.prompt("words of a passage that decide the verdict, - for none")
            quote = self.read_line().strip()
        marks = () if served.claim.mine is None else served.claim.mine.evidence
        if quote and quote != "-":
            mark = find_passage(served, quote)
            if mark is None:
                self._refuse("no passage has these words; t reads the passages in full")
                return
            marks = toggle_mark(marks, mark)
        elif quote:
            marks = ()
        self._record(served.claim.id, Action.EVIDENCE, saw_judge=served.knows_judge, evidence=marks)
        words = fmt.count_in_words(len(marks), "stretch", "stretches") if marks else "nothing"
        self.talk.say(
            "evidence",
            f"{words} marked as evidence: {served.name}",
            claim=served.claim.id,
            marks=[each._asdict() for each in marks],
        )
        self._serve_again(served)

    def _add_missed_claim(self, served: ServedClaim, text: str) -> None:
        """Add a claim that the judge did not extract; "all" says that there are no others."""
        run, item, turn = self.queue.run, served.view.item.id, served.claim.turn
        if served.spec.judges != "claim":
            self._refuse(f"{served.spec.title} extracts no claims: none can be missed")
            return
        if not text:
            self.talk.prompt(f"claim of this answer that the judge did not extract, or {ALL}")
            text = self.read_line().strip()
        if text == ALL:
            complete = not is_complete(served)
            mark_answer(self.store, run, item, turn, reviewer=self.reviewer, complete=complete)
            words = "are all known" if complete else "may not be all"
            self.talk.say(
                "complete", f"turn {turn + 1}: its claims {words}", turn=turn, complete=complete
            )
        elif text:
            span = find_answer_span(served, text)
            event = add_missed_claim(
                self.store, run, item, turn, text, reviewer=self.reviewer, span=span
            )
            words = "in the answer's words" if span is not None else "in your words"
            self.talk.say(
                "missed-claim",
                f"claim added to turn {turn + 1}, {words}",
                claim=event.claim,
                turn=turn,
                text=text,
            )
        self._serve_again(served)

    def _refuse(self, reason: str) -> None:
        self.talk.say("refused", *wrap_with_label("refused", reason), reason=reason)

    def _reveal_judge(self, served: ServedClaim) -> None:
        claim = served.claim
        if not served.shown:
            self._record(claim.id, Action.REVEALED, saw_judge=True)
            self.served = served = read_served_claim(
                self.store, self.queue, self.reviewer, served.view.item.id, claim.id, {claim.id}
            )
        judge = served.claim.home_verdict
        self.talk.say(
            "judge", *judge_lines(served), claim=claim.id, label=judge.label, reason=judge.reason
        )

    def _add_code_to_last_verdict(self, number: int) -> None:
        code = REASON_CODES[number - 1]
        if self.last_verdict is None:
            self._refuse("a reason code belongs to a label; give one first")
            return
        self._record(self.last_verdict.claim, Action.CODED, saw_judge=False, code=code.name)
        self.talk.say(
            "code",
            *wrap_with_label(
                f"reason code {number} ({code.title}) saved with your last verdict", code.meaning
            ),
            claim=self.last_verdict.claim,
            code=code.name,
        )

    def _toggle_unsure(self) -> None:
        if self.last_verdict is None:
            self._refuse("low confidence belongs to a label; give one first")
            return
        mark = LabelMark.SURE if self.unsure else LabelMark.UNSURE
        self._record(self.last_verdict.claim, Action.MARKED, saw_judge=False, mark=mark)
        self.unsure = not self.unsure
        words = "low confidence" if self.unsure else "sure again"
        self.talk.say(
            "doubt",
            f"your last verdict: {words}",
            claim=self.last_verdict.claim,
            unsure=self.unsure,
        )

    def _undo_or_redo(self, *, redo: bool) -> None:
        step = (self.store.reviews.redo if redo else self.store.reviews.undo)(self.reviewer)
        done = "redone" if redo else "undone"
        if not step:
            self.talk.say(done, f"nothing to be {done}", acts=0)
            return
        act = step[0]
        self.talk.say(done, f"{done}: {format_label_event(act)}", claim=act.claim, acts=len(step))
        if act.verdict is None and act.action is not Action.SKIPPED:
            if act.mark in (LabelMark.UNSURE, LabelMark.SURE):
                self.unsure = (act.mark is LabelMark.UNSURE) == redo
            if self.served is not None:
                self._serve_again(self.served)
            return
        verdicts = sum(each.verdict is not None for each in step)
        self.saved = max(0, self.saved + (verdicts if redo else -verdicts))
        self.last_verdict = None
        self._load_progress()
        place = self.queue.place.get(act.claim)
        if place is None:
            self.talk.say("elsewhere", "that claim is not in this queue", claim=act.claim)
            return
        if redo and act.claim in self.walk.answered_claims:
            self._serve_next()
        else:
            self._serve_claim(*self.queue.entries[place])

    def _say_help(self, served: ServedClaim) -> None:
        keys = list_line_help(served.spec)
        lines = [line for each in keys for line in wrap_with_label(*each.split(": ", 1))]
        self.talk.say("help", *lines, keys=keys)

    # Writing

    def _serve_again(self, served: ServedClaim) -> None:
        self._serve_claim(served.view.item.id, served.claim.id, quietly=True)

    def _record(
        self,
        claim: ClaimId,
        action: Action,
        *,
        saw_judge: bool,
        note: str | None = None,
        code: str | None = None,
        mark: LabelMark | None = None,
        evidence: tuple[MarkedPassage, ...] = (),
    ) -> None:
        """Store what was said of a claim besides a verdict."""
        self.store.reviews.record(
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

    def say_totals(self) -> None:
        """Say what was done and what is left."""
        left = len(self.queue.entries) - len(self.walk.answered_claims)
        self.talk.say(
            "done",
            "",
            f"{plural(self.saved, 'verdict')} saved; {left} of "
            f"{plural(len(self.queue.entries), 'claim')} left",
            saved=self.saved,
            left=left,
            of=len(self.queue.entries),
        )
