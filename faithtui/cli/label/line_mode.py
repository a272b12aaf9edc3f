"""Labelling line by line: one claim, one prompt, one typed line.

The same queue, the same store and the same acts as in the app. An answer is on the disk before the
next prompt, so that neither Ctrl-C nor the end of the input loses any.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from faithtui.cli.label.line_output import Talk
from faithtui.cli.label.line_text import (
    Served,
    act_words,
    claim_lines,
    full_lines,
    help_texts,
    judge_lines,
    keys_lines,
    labelled,
)
from faithtui.cli.output import plural
from faithtui.domain.annotations import REASON_CODES, Action, LabelAct, Mark
from faithtui.domain.ids import ClaimId, ItemId
from faithtui.domain.limits import NOTE
from faithtui.domain.text.sanitizing import visible_line
from faithtui.errors import FaithtuiError
from faithtui.store.annotations.blinding import answered, blinded
from faithtui.store.records import ReviewView
from faithtui.tui.metric_view import spec_of
from faithtui.tui.review.drawing.evidence import read_view
from faithtui.tui.review.drawing.verdict import choices
from faithtui.tui.samples.queue import ClaimQueue, Walk, begun
from faithtui.tui.theme import format as fmt

if TYPE_CHECKING:
    from faithtui.store.store import Store

_TYPED = 60
"""Characters of a line that is no key which are said again."""
CODE_KEYS = frozenset(str(number) for number in range(1, len(REASON_CODES) + 1))


@dataclass
class LineMode:
    """A person who works through a queue line by line."""

    store: "Store"
    queue: ClaimQueue
    reviewer: str
    talk: Talk
    read_line: Callable[[], str]
    """Gives a line with its end, "" when there are no more."""
    seconds: Callable[[], float] = time.monotonic
    walk: Walk = field(init=False)
    served: Served | None = None
    given: LabelAct | None = None
    """The last verdict, for codes and doubts."""
    saved: int = 0
    """Verdicts that were saved."""
    error: FaithtuiError | None = None
    """What kept something from being saved, last."""
    since: float = 0.0
    unsure: bool = False
    """The last verdict was marked as unsure."""

    def __post_init__(self) -> None:
        """Take the queue up where the person left it."""
        self._begin()

    def run(self) -> None:
        """Ask until the queue is through, the person quits or the input ends."""
        self._next()
        while True:
            self.talk.prompt("answer")
            line = self.read_line()
            if not line:
                self.talk.say("end-of-input", "", reason="end of input")
                return
            try:
                if not self.handle(line.strip()):
                    return
            except FaithtuiError as error:
                self.error = error
                self.talk.say("not-saved", f"not saved: {error}", reason=str(error))

    def handle(self, line: str) -> bool:
        """Do what a line says; False ends the session."""
        served = self.served
        key, _, rest = line.partition(" ")
        if served is None:
            return self._about_last(key)
        words = {name: name for _, name, _ in choices(served.spec)}
        words |= {letter: name for letter, name, _ in choices(served.spec)}
        if key in words and not rest:
            self._answer(served, words[key])
            return True
        match key:
            case "":
                self._tell(served)
            case "t":
                self.talk.say("full", *full_lines(served), claim=served.claim.id)
            case "s":
                self._later(served)
            case "f":
                self._flag(served)
            case "e":
                self._note(served, rest)
            case "v":
                self._reveal(served)
            case "?":
                self._help(served)
            case "q":
                return False
            case _ if not self._about_last(key):
                typed = visible_line(line, _TYPED)
                self.talk.say(
                    "refused", *labelled("no such key", f"{typed}; ? lists the keys"), line=line
                )
        return True

    def _about_last(self, key: str) -> bool:
        """Do what a key says about what was done last; False when it says nothing of that."""
        match key:
            case "c":
                self._doubt()
            case "u" | "r":
                self._take_back(redo=key == "r")
            case _ if key in CODE_KEYS:
                self._code(int(key))
            case _:
                return False
        return True

    # Serving

    def _begin(self) -> None:
        """Read how far the person is."""
        here = self.walk.here if self.served is not None else -1
        self.walk = begun(self.store, self.queue, self.reviewer)
        if self.queue.sample is None:
            mine = self.store.samples.own_labelled(self.queue.run, self.reviewer)
            self.walk.done |= {each.claim for each in mine} & set(self.queue.place)
        self.walk.here = here

    def _next(self) -> None:
        """Serve the next claim, or say that the queue is through."""
        following = self.walk.ahead(1)
        if following:
            self._serve(*following[0])
            return
        self.served = None
        self.talk.say(
            "through",
            "",
            "nothing more is open in this queue",
            "keys: u undo; 1 to 7 and c are about your last verdict; enter or q ends",
        )

    def _serve(self, item: ItemId, claim: ClaimId, *, quietly: bool = False) -> None:
        """Ask about a claim."""
        before = self.served
        again = before is not None and before.claim.id == claim
        open_to = set(self.queue.shown)
        if again and before is not None and before.shown:
            open_to.add(claim)
        self.served = self._read(item, claim, open_to)
        if not self.queue.blind:
            self.store.reviews.expose(item, self.reviewer)
        self.walk.follow(claim)
        if not again:
            self.since = self.seconds()
        if not quietly:
            self._tell(self.served)

    def _read(self, item: ItemId, claim: ClaimId, open_to: set[ClaimId]) -> Served:
        view = self.store.runs.review_view(item, self.reviewer)
        spec = spec_of(view.run.spec)
        own = next(each.mine for each in view.claims if each.id == claim)
        if self.queue.blind:
            # A claim that is asked again is hidden again, however it was answered.
            asked = _unanswered(view, claim)
            view = blinded(asked, open_to=open_to, sample=self.queue.sample)
        found = next(each for each in view.claims if each.id == claim)
        shown = claim not in view.hidden
        if own is not None and answered(replace(found, mine=own), self.queue.sample):
            found = replace(found, mine=own)
        place = self.queue.place[claim] + 1
        return Served(view, found, spec, read_view(view), place, len(self.queue.entries), shown)

    def _tell(self, served: Served) -> None:
        claim = served.claim
        judge: dict[str, object] = {}
        if served.shown:
            judge = {"judge": {"label": claim.judge.label, "reason": claim.judge.reason}}
        self.talk.say(
            "claim",
            "",
            *claim_lines(served),
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

    def _answer(self, served: Served, verdict: str) -> None:
        act = self.store.reviews.answer(
            served.claim.id,
            self.reviewer,
            verdict,
            run=self.queue.run,
            saw_judge=self._knows(served),
            repeats=self.queue.repeats,
            seconds=max(0.0, self.seconds() - self.since),
            sample=self.queue.sample,
        )
        self.given, self.unsure = act, False
        self.saved += 1
        words = f"{self._name(served)} = {fmt.word(verdict, served.spec.labels)}"
        self.talk.say(
            "saved",
            f"saved: {words}",
            claim=act.claim,
            verdict=verdict,
            saw_judge=act.saw_judge,
            # `agreed` would tell what a hidden judge said.
            **({"action": act.action.value} if served.shown else {}),
        )
        self.walk.answered(act.claim)
        self._next()

    def _later(self, served: Served) -> None:
        mine = served.claim.mine
        if mine is not None and mine.verdict is not None:
            self.talk.say("refused", "refused: it has your verdict; u takes it back")
            return
        self._record(served, Action.SKIPPED)
        self.talk.say("later", f"skipped: {self._name(served)}", claim=served.claim.id)
        self.walk.put_off(served.claim.id)
        self._next()

    def _flag(self, served: Served) -> None:
        flagged = served.claim.mine is not None and served.claim.mine.flagged
        self._record(served, Action.MARKED, mark=Mark.UNFLAG if flagged else Mark.FLAG)
        words = "no longer flagged" if flagged else "flagged"
        self.talk.say(
            "flag", f"{words}: {self._name(served)}", claim=served.claim.id, flagged=not flagged
        )
        self._again(served)

    def _note(self, served: Served, text: str) -> None:
        if not text:
            self.talk.prompt("note, empty leaves it as it is")
            text = self.read_line().strip()
            if not text:
                self.talk.say("note", "note: as it was", claim=served.claim.id, changed=False)
                return
        problem = NOTE.problem(len(text))
        if problem is not None:
            self.talk.say("refused", f"refused: {problem}")
            return
        note = "" if text == "-" else text
        self._record(served, Action.NOTED, note=note)
        words = "note saved" if note else "note removed"
        self.talk.say("note", f"{words}: {self._name(served)}", claim=served.claim.id, changed=True)
        self._again(served)

    def _reveal(self, served: Served) -> None:
        claim = served.claim
        if not served.shown:
            self._record(served, Action.REVEALED, saw=True)
            self.served = served = self._read(served.view.item.id, claim.id, {claim.id})
        judge = served.claim.judge
        self.talk.say(
            "judge", *judge_lines(served), claim=claim.id, label=judge.label, reason=judge.reason
        )

    def _code(self, number: int) -> None:
        code = REASON_CODES[number - 1]
        if self.given is None:
            self.talk.say("refused", "refused: a reason code belongs to a label; give one first")
            return
        self._record_on(self.given, Action.CODED, code=code.name)
        self.talk.say(
            "code",
            *labelled(
                f"reason code {number} ({code.title}) saved with your last verdict", code.meaning
            ),
            claim=self.given.claim,
            code=code.name,
        )

    def _doubt(self) -> None:
        if self.given is None:
            self.talk.say("refused", "refused: low confidence belongs to a label; give one first")
            return
        self._record_on(self.given, Action.MARKED, mark=Mark.SURE if self.unsure else Mark.UNSURE)
        self.unsure = not self.unsure
        words = "low confidence" if self.unsure else "sure again"
        self.talk.say(
            "doubt", f"your last verdict: {words}", claim=self.given.claim, unsure=self.unsure
        )

    def _take_back(self, *, redo: bool) -> None:
        step = (self.store.reviews.redo if redo else self.store.reviews.undo)(self.reviewer)
        done = "redone" if redo else "undone"
        if not step:
            self.talk.say(done, f"nothing to be {done}", acts=0)
            return
        act = step[0]
        self.talk.say(done, f"{done}: {act_words(act)}", claim=act.claim, acts=len(step))
        if act.verdict is None and act.action is not Action.SKIPPED:
            if act.mark in (Mark.UNSURE, Mark.SURE):
                self.unsure = (act.mark is Mark.UNSURE) == redo
            if self.served is not None:
                self._again(self.served)
            return
        verdicts = sum(each.verdict is not None for each in step)
        self.saved = max(0, self.saved + (verdicts if redo else -verdicts))
        self.given = None
        self._begin()
        place = self.queue.place.get(act.claim)
        if place is None:
            self.talk.say("elsewhere", "that claim is not in this queue", claim=act.claim)
            return
        if redo and act.claim in self.walk.done:
            self._next()
        else:
            self._serve(*self.queue.entries[place])

    def _help(self, served: Served) -> None:
        keys = help_texts(served.spec)
        lines = [line for each in keys for line in labelled(*each.split(": ", 1))]
        self.talk.say("help", *lines, keys=keys)

    # Writing

    def _knows(self, served: Served) -> bool:
        return served.shown or served.claim.seen

    def _name(self, served: Served) -> str:
        return f"{served.spec.units[0]} {served.number}"

    def _again(self, served: Served) -> None:
        self._serve(served.view.item.id, served.claim.id, quietly=True)

    def _record(
        self,
        served: Served,
        action: Action,
        *,
        note: str | None = None,
        mark: Mark | None = None,
        saw: bool = False,
    ) -> None:
        self.store.reviews.record(
            served.claim.id,
            self.reviewer,
            action,
            note=note,
            run=self.queue.run,
            judge_verdict=None,
            saw_judge=saw or self._knows(served),
            mark=mark,
            sample=self.queue.sample,
        )

    def _record_on(
        self, given: LabelAct, action: Action, *, code: str | None = None, mark: Mark | None = None
    ) -> None:
        """Say something about a verdict that was given."""
        self.store.reviews.record(
            given.claim,
            self.reviewer,
            action,
            run=self.queue.run,
            judge_verdict=None,
            saw_judge=False,
            code=code,
            mark=mark,
            sample=self.queue.sample,
        )

    def farewell(self) -> None:
        """Say what was done and what is left."""
        left = len(self.queue.entries) - len(self.walk.done)
        self.talk.say(
            "done",
            "",
            f"{plural(self.saved, 'verdict')} saved; {left} of "
            f"{plural(len(self.queue.entries), 'claim')} left",
            saved=self.saved,
            left=left,
            of=len(self.queue.entries),
        )


def _unanswered(view: ReviewView, claim: ClaimId) -> ReviewView:
    """Take out the verdict that the person gave on a claim; the note and the flag stay."""
    return replace(
        view,
        claims=tuple(
            replace(each, mine=replace(each.mine, verdict=None, action=None, code=None))
            if each.id == claim and each.mine is not None
            else each
            for each in view.claims
        ),
    )
