"""Label events: what is stored of a label, a skip, a note or an undo, and the replay of their log.

Undo is another event. The state is always the replay of the log, so it survives restarts, and logs
of several machines merge into one state whatever the order they meet in: events are replayed in the
order of their logical clock, then of their unique name. *Not overridden* is not *agreed*: only an
event counts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

from faithtui.domain.ids import ClaimId, LabelId, RunId, SampleId
from faithtui.domain.labels.label_sets import NOT_A_CLAIM, SEVERITY


class Action(StrEnum):
    """What kind of event a row of the log is."""

    BLIND = "blind"
    """A label given before the judge's verdict was shown."""
    AGREED = "agreed"
    """The judge's verdict was shown and the annotator gave the same label."""
    OVERRIDDEN = "overridden"
    """The judge's verdict was shown and the annotator gave another label."""
    ADJUDICATED = "adjudicated"
    """A final label after annotators differed."""
    ACCEPTED = "accepted"
    """The judge's verdict taken over by one key; never counted as a label of one's own."""
    SKIPPED = "skipped"
    """Skipped until later; an earlier label stays."""
    BULK = "bulk"
    """One of many labels given at once; not counted in agreement."""
    REPEATED = "repeated"
    """A second blind label of the same annotator, for self-agreement. Changes nothing."""
    NOTED = "noted"
    """A note and no verdict; an earlier verdict stays."""
    CODED = "coded"
    """A reason code for the verdict that stands."""
    EVIDENCE = "evidence"
    """Passages marked as what decides the verdict, all of them; none takes earlier marks away.
    Says nothing of the verdict."""
    MARKED = "marked"
    """A mark set or taken away; see `LabelMark`."""
    REVEALED = "revealed"
    """The judge's verdict was seen before a label was given. A fact, so it cannot be undone."""
    IMPORTED = "imported"
    """Came with the data."""
    WITHDRAWN = "withdrawn"
    """Undoes the event `target`."""
    RESTORED = "restored"
    """Redoes the event `target`."""


COUNTED_ACTIONS = frozenset(
    {Action.BLIND, Action.AGREED, Action.OVERRIDDEN, Action.ADJUDICATED, Action.IMPORTED}
)
"""Events whose label enters agreement figures."""

VERDICT_ACTIONS = COUNTED_ACTIONS | {Action.ACCEPTED, Action.BULK, Action.SKIPPED}
"""Events that answer a claim: they set an annotator's label from then on. `SKIPPED` says: nothing
yet, and takes no label away."""

UNDOABLE_ACTIONS = frozenset(Action) - {
    Action.IMPORTED,
    Action.REVEALED,
    Action.WITHDRAWN,
    Action.RESTORED,
}


def choose_action_of_verdict_event(
    verdict: str, judge: str | None, *, saw_judge: bool, repeats: bool = False
) -> Action:
    """Name the event of giving a label.

    Args:
        verdict: The annotator's label.
        judge: Label of the judge, in the words of the same metric; None: it gave none.
        saw_judge: Whether the annotator knew it.
        repeats: It is asked a second time, for self-agreement.
    """
    if repeats:
        return Action.REPEATED
    if not saw_judge:
        return Action.BLIND
    return Action.AGREED if verdict == judge else Action.OVERRIDDEN


HASTY_S = 2.0
"""Seconds on a claim below which nobody has read it and its passages."""

TIE = "tie"
"""Stands for the label of a claim or an answer that is a tie."""


class LabelMark(StrEnum):
    """What a `MARKED` event says."""

    FLAG = "flag"
    """To be talked about."""
    UNFLAG = "unflag"
    UNSURE = "unsure"
    """Low confidence in the verdict that stands."""
    SURE = "sure"
    MISSED = "missed"
    """The answer makes this claim, and the judge of the run did not extract it."""
    NOT_MISSED = "not-missed"
    COMPLETE = "complete"
    """Of an answer: with the missed ones, all its claims are known in the run."""
    INCOMPLETE = "incomplete"


_MARK_WORDS: Final[Mapping[LabelMark, str]] = {
    LabelMark.FLAG: "flag",
    LabelMark.UNFLAG: "removal of the flag",
    LabelMark.UNSURE: "low confidence",
    LabelMark.SURE: "removal of low confidence",
    LabelMark.MISSED: "a missed claim added",
    LabelMark.NOT_MISSED: "a missed claim removed",
    LabelMark.COMPLETE: "an answer declared complete",
    LabelMark.INCOMPLETE: "an answer no longer complete",
}
_ACTION_WORDS: Final[Mapping[Action, str]] = {
    Action.SKIPPED: "skip",
    Action.NOTED: "note",
    Action.CODED: "reason code",
    Action.EVIDENCE: "marked evidence",
}


def describe_event_without_verdict(action: Action, mark: LabelMark | None) -> str:
    """Name an event that gives no label, in words, for sentences such as `undone: flag`."""
    if action is Action.MARKED and mark is not None:
        return _MARK_WORDS[mark]
    return _ACTION_WORDS.get(action, action.value)


class MarkedPassage(NamedTuple):
    """A stretch of a document that an annotator marked as evidence."""

    document: str
    """Hash of the document, which names it in every store."""
    start: int
    """First character."""
    end: int
    """The character after the last."""


class MarkedText(NamedTuple):
    """A marked stretch with who marked it and what it says."""

    reviewer: str
    mark: MarkedPassage
    text: str


def merge_overlapping_evidence_marks(marks: Iterable[MarkedPassage]) -> tuple[MarkedPassage, ...]:
    """Order marks by document and place; marks that overlap or touch become one."""
    found: list[MarkedPassage] = []
    for mark in sorted(marks):
        last = found[-1] if found else None
        if last is not None and last.document == mark.document and mark.start <= last.end:
            found[-1] = last._replace(end=max(last.end, mark.end))
        else:
            found.append(mark)
    return tuple(found)


def toggle_evidence_mark(
    marks: Sequence[MarkedPassage], mark: MarkedPassage
) -> tuple[MarkedPassage, ...]:
    """Mark a stretch too; what is marked all over already is marked no longer."""
    inside = any(
        each.document == mark.document and each.start <= mark.start and mark.end <= each.end
        for each in merge_overlapping_evidence_marks(marks)
    )
    if not inside:
        return merge_overlapping_evidence_marks((*marks, mark))
    left: list[MarkedPassage] = []
    for each in marks:
        if each.document != mark.document or each.end <= mark.start or mark.end <= each.start:
            left.append(each)
            continue
        if each.start < mark.start:
            left.append(each._replace(end=mark.start))
        if mark.end < each.end:
            left.append(each._replace(start=mark.end))
    return merge_overlapping_evidence_marks(left)


IdT = TypeVar("IdT")
ClaimT = TypeVar("ClaimT")
SampleT = TypeVar("SampleT")
RunT = TypeVar("RunT")


class Event(NamedTuple, Generic[IdT, ClaimT, SampleT, RunT]):
    """One event of one annotator on one claim: a row of the log.

    What it refers to goes by its number in a store (`LabelEvent`), and by a name that holds in
    every store where it travels (`BundleEvent`). A tuple, as there may be a million: it is made
    several times as fast as a frozen dataclass.
    """

    id: IdT
    """Names the row. The order of a log is that of the sequence, not of this."""
    claim: ClaimT
    reviewer: str
    action: Action
    verdict: str | None = None
    """A label of the metric's set, or `x`; None for events without a label."""
    note: str | None = None
    target: IdT | None = None
    """The event this one withdraws or restores."""
    batch: str | None = None
    """Name of the step it belongs to: what was given at once is undone at once; None: a step of
    its own."""
    code: str | None = None
    """Name of a reason code, with a verdict or `CODED`; None there: no code."""
    mark: LabelMark | None = None
    """What a `MARKED` event says."""
    saw_judge: bool = False
    """Whether the judge's verdict was known to the annotator then."""
    sample: SampleT | None = None
    """The sample that the claim was served from."""
    run: RunT | None = None
    """The run under review when it was given."""
    judge_verdict: str | None = None
    """The judge's verdict then."""
    seconds: float | None = None
    """How long the claim was on screen."""
    scale: str | None = None
    """Of an imported label."""
    raw_label: str | None = None
    """The word an imported label had in its file."""
    unverified: bool = False
    """It came with a file of which nothing says that it is what was exported, here or in a store
    that it passed through."""
    stratum: str | None = None
    """Of the claim in the sample, when it was served. From here on nothing is read of a store for
    a replay."""
    probability: float | None = None
    """Of being in the sample, when it was served."""
    guideline: str | None = None
    """Digest of the guideline that was in force."""
    clock: int = 0
    """Logical clock; 0: not read."""
    created_at: datetime | None = None
    """None: not read."""
    evidence: tuple[MarkedPassage, ...] = ()
    """What an `EVIDENCE` event marks."""


LabelEvent: TypeAlias = Event[LabelId, ClaimId, SampleId, RunId]
"""A row of the log of a store."""

NewEvent: TypeAlias = Event[LabelId | None, ClaimId, SampleId, RunId]
"""An event that is still to be written; it has no number yet."""


@dataclass(frozen=True, slots=True)
class HumanVerdict:
    """What one annotator's events on one claim amount to."""

    claim: ClaimId
    reviewer: str
    verdict: str | None
    """None when the annotator gave none."""
    action: Action | None
    """The event that gave the label, or skipped a claim without one; None before either."""
    note: str | None = None
    code: str | None = None
    """Reason code of the verdict."""
    flagged: bool = False
    unsure: bool = False
    """Low confidence in the verdict."""
    sample: SampleId | None = None
    """The sample that the verdict was served from."""
    skipped_since: bool = False
    """The claim was skipped after the verdict, which stands all the same."""
    evidence: tuple[MarkedPassage, ...] = ()
    """Marked as what decides the verdict."""
    missed_in: frozenset[RunId] = frozenset()
    """Runs whose judge missed the claim."""
    complete_in: frozenset[RunId] = frozenset()
    """Of an answer: runs in which all its claims are known."""
    event: LabelEvent | None = field(default=None, compare=False)
    """The event that `action` is; its number differs between stores that agree."""

    @property
    def is_counted(self) -> bool:
        """Whether it is a human label on record, `x` included."""
        return self.verdict is not None and self.action in COUNTED_ACTIONS

    @property
    def is_skipped(self) -> bool:
        """Whether the claim was skipped last, and has no label that counts."""
        return self.action is Action.SKIPPED or (self.skipped_since and not self.is_counted)

    @property
    def has_content(self) -> bool:
        """Whether there is anything on record that a screen shows."""
        return bool(
            self.action
            or self.note
            or self.flagged
            or self.evidence
            or self.missed_in
            or self.complete_in
        )


def drop_withdrawn_events(log: Iterable[LabelEvent]) -> tuple[LabelEvent, ...]:
    """Drop what was withdrawn and not restored; keep the order of the log."""
    acts: dict[LabelId, LabelEvent] = {}
    withdrawn: set[LabelId] = set()
    for act in log:
        if act.action is Action.WITHDRAWN and act.target is not None:
            withdrawn.add(act.target)
        elif act.action is Action.RESTORED and act.target is not None:
            withdrawn.discard(act.target)
        else:
            acts[act.id] = act
    return tuple(act for act in acts.values() if act.id not in withdrawn)


def replay_log_into_verdicts(log: Iterable[LabelEvent]) -> dict[tuple[ClaimId, str], HumanVerdict]:
    """Replay a log into one state per claim and reviewer.

    Args:
        log: Events in the order of the log; any claims, any reviewers.

    Returns:
        The last standing verdict, its reason code and confidence, the last standing note and the
        flag of each (claim, reviewer) that has one. An empty note removes the note.
    """
    state: dict[tuple[ClaimId, str], HumanVerdict] = {}
    for act in drop_withdrawn_events(log):
        key = (act.claim, act.reviewer)
        state[key] = _apply_event(state.get(key), act)
    return {key: found for key, found in state.items() if found.has_content}


def list_claim_reviewer_exposures_to_judge(
    log: Iterable[LabelEvent],
) -> frozenset[tuple[ClaimId, str]]:
    """Say who knows the judge's verdict on which claim.

    What was withdrawn counts too: a verdict can be taken back, having seen something cannot.
    """
    return frozenset(
        (act.claim, act.reviewer) for act in log if act.saw_judge or act.action is Action.REVEALED
    )


_NO_RUNS: frozenset[RunId] = frozenset()


def _apply_event(before: HumanVerdict | None, act: LabelEvent) -> HumanVerdict:
    """Give the state after one more event; None: there was none before."""
    note = act.note or None
    if before is not None and act.note is None:
        note = before.note
    if act.action is Action.SKIPPED and before is not None and before.verdict is not None:
        # Whoever skips a claim may not see its label: it is hidden in a blind sample, or another
        # app gave it just now.
        return replace(before, note=note, skipped_since=True)
    if act.action in VERDICT_ACTIONS:
        # Not by `replace`, which takes twice as long: there may be a million.
        return HumanVerdict(
            act.claim,
            act.reviewer,
            act.verdict,
            act.action,
            note,
            code=act.code,
            flagged=before is not None and before.flagged,
            sample=act.sample,
            evidence=() if before is None else before.evidence,
            missed_in=_NO_RUNS if before is None else before.missed_in,
            complete_in=_NO_RUNS if before is None else before.complete_in,
            event=act,
        )
    now = replace(before or HumanVerdict(act.claim, act.reviewer, None, None), note=note)
    if act.action is Action.CODED:
        return replace(now, code=act.code)
    if act.action is Action.EVIDENCE:
        return replace(now, evidence=act.evidence)
    match act.mark:
        case LabelMark.FLAG | LabelMark.UNFLAG:
            return replace(now, flagged=act.mark is LabelMark.FLAG)
        case LabelMark.UNSURE | LabelMark.SURE:
            return replace(now, unsure=act.mark is LabelMark.UNSURE)
        case LabelMark.MISSED | LabelMark.NOT_MISSED:
            is_set = act.mark is LabelMark.MISSED
            return replace(now, missed_in=_add_or_remove_run(now.missed_in, act.run, is_set=is_set))
        case LabelMark.COMPLETE | LabelMark.INCOMPLETE:
            is_set = act.mark is LabelMark.COMPLETE
            return replace(
                now, complete_in=_add_or_remove_run(now.complete_in, act.run, is_set=is_set)
            )
        case None:
            return now


def _add_or_remove_run(
    runs: frozenset[RunId], run: RunId | None, *, is_set: bool
) -> frozenset[RunId]:
    """Add a run, or take it away; None: the run of the event is not in this store."""
    if run is None:
        return runs
    return runs | {run} if is_set else runs - {run}


Step = tuple[LabelEvent, ...]
"""Events that were made at once, in the order of the log."""

EventFilter = Callable[[LabelEvent], bool]
"""Whether an undo or a redo is about an event; None stands for every one."""


def _replay_undo_and_redo_stacks(
    log: Iterable[LabelEvent], reviewer: str, is_concerned: EventFilter | None
) -> tuple[dict[LabelId, LabelEvent], dict[LabelId, LabelEvent]]:
    """Replay one reviewer's events into an undo stack and a redo stack, each with its top last.

    Of other events than those concerned neither has any, though they end what can be redone.
    """
    done: dict[LabelId, LabelEvent] = {}
    undone: dict[LabelId, LabelEvent] = {}
    for act in log:
        if act.reviewer != reviewer:
            continue
        if act.action is Action.WITHDRAWN:
            _move_event_to_other_stack(act.target, done, undone)
        elif act.action is Action.RESTORED:
            _move_event_to_other_stack(act.target, undone, done)
        elif act.action in UNDOABLE_ACTIONS:
            done[act.id] = act
            undone.clear()
    if is_concerned is None:
        return done, undone
    return (
        {id: act for id, act in done.items() if is_concerned(act)},
        {id: act for id, act in undone.items() if is_concerned(act)},
    )


def _move_event_to_other_stack(
    target: LabelId | None, source: dict[LabelId, LabelEvent], to: dict[LabelId, LabelEvent]
) -> None:
    """Put an event on top of the other stack; nothing when it is not on this one."""
    if target in source:
        to[target] = source.pop(target)


def _list_events_of_top_step(stack: dict[LabelId, LabelEvent]) -> Step:
    """Take the events of the step on top of a stack, in the order of the log; () without one."""
    last = next(reversed(stack.values()), None)
    if last is None:
        return ()
    if last.batch is None:
        return (last,)
    acts = (act for act in stack.values() if act.batch == last.batch)
    return tuple(sorted(acts, key=lambda act: act.id))


def list_events_to_undo(
    log: Iterable[LabelEvent], reviewer: str, is_concerned: EventFilter | None = None
) -> Step:
    """Find the events that undo would withdraw; () when there is none left."""
    done, _ = _replay_undo_and_redo_stacks(log, reviewer, is_concerned)
    return _list_events_of_top_step(done)


def list_events_to_redo(
    log: Iterable[LabelEvent], reviewer: str, is_concerned: EventFilter | None = None
) -> Step:
    """Find the events that redo would restore; () when a new event has been made since."""
    _, undone = _replay_undo_and_redo_stacks(log, reviewer, is_concerned)
    return _list_events_of_top_step(undone)


def find_undo_in_log_tail(
    end: Sequence[LabelEvent], reviewer: str, is_concerned: EventFilter | None = None
) -> Step | None:
    """Find what undo would withdraw from the end of a log, however long the log is.

    Args:
        end: The last events of a log, of one annotator at least; all from some event on.
        reviewer: Who takes back.
        is_concerned: Which events may be taken back.

    Returns:
        What `list_events_to_undo` finds in the whole log; None when the end is not enough, because
        it refers to earlier events, leaves nothing, or the step may have begun earlier.
    """
    done, _ = _replay_undo_and_redo_stacks(end, reviewer, is_concerned)
    return _find_step_in_log_tail(done, end, reviewer)


def find_redo_in_log_tail(
    end: Sequence[LabelEvent], reviewer: str, is_concerned: EventFilter | None = None
) -> Step | None:
    """Find what redo would restore from the end of a log; see `find_undo_in_log_tail`."""
    _, undone = _replay_undo_and_redo_stacks(end, reviewer, is_concerned)
    made = any(act.reviewer == reviewer and act.action in UNDOABLE_ACTIONS for act in end)
    if made and not undone and not _refers_before_log_tail(end, reviewer):
        return ()
    return _find_step_in_log_tail(undone, end, reviewer)


def _find_step_in_log_tail(
    stack: dict[LabelId, LabelEvent], end: Sequence[LabelEvent], reviewer: str
) -> Step | None:
    if _refers_before_log_tail(end, reviewer):
        return None
    step = _list_events_of_top_step(stack)
    # Of events made at once the first ones may stand before the end.
    return step if step and step[-1].batch is None else None


def _refers_before_log_tail(end: Sequence[LabelEvent], reviewer: str) -> bool:
    known = {act.id for act in end}
    return any(
        act.target not in known
        for act in end
        if act.reviewer == reviewer and act.action in (Action.WITHDRAWN, Action.RESTORED)
    )


def choose_majority_or_severest_verdict(verdicts: Sequence[HumanVerdict]) -> str | None:
    """Combine several annotators' labels of one claim.

    An adjudicated verdict wins (the last one). Else the majority; a tie goes to the most severe
    of the tied verdicts (`x` before no before idk before yes), so that a doubt is never dropped.
    Verdicts that do not count (see `HumanVerdict.is_counted`) are left out.

    Returns:
        A label or `x`; None when nobody gave a label that counts.
    """
    rank = {**SEVERITY, NOT_A_CLAIM: len(SEVERITY)}
    return max(
        list_top_verdicts(verdicts), key=lambda word: (rank.get(word, -1), word), default=None
    )


def list_top_verdicts(verdicts: Sequence[HumanVerdict]) -> tuple[str, ...]:
    """List the labels that most annotators gave to one claim.

    Returns:
        One, several for a tie, or none.
    """
    counted = [found for found in verdicts if found.is_counted and found.verdict is not None]
    final = [found.verdict for found in counted if found.action is Action.ADJUDICATED]
    votes = Counter(final[-1:] or [found.verdict for found in counted])
    most = max(votes.values(), default=0)
    return tuple(word for word, count in votes.items() if word is not None and count == most)
