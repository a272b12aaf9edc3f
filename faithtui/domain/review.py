"""What people say about claims: an append-only log of acts, and what it amounts to.

Undo is another act. The state is always the replay of the log, so it survives restarts and can be
merged. *Not overridden* is not *agreed*: only an act counts.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from faithtui.domain.ids import ClaimId, LabelId
from faithtui.domain.labels import NOT_A_CLAIM, SEVERITY


class Action(StrEnum):
    """What kind of act a row of the log is."""

    BLIND = "blind"
    """A verdict given before the judge's was shown."""
    AGREED = "agreed"
    """The judge's verdict was shown and the person gave the same."""
    OVERRIDDEN = "overridden"
    """The judge's verdict was shown and the person gave another."""
    ADJUDICATED = "adjudicated"
    """A final word after people differed."""
    SKIPPED = "skipped"
    BULK = "bulk"
    """One of many verdicts given at once; never counted as a reading of the claim."""
    NOTED = "noted"
    """A note and no verdict; an earlier verdict stays."""
    IMPORTED = "imported"
    """Came with the data."""
    WITHDRAWN = "withdrawn"
    """Undoes the act `target`."""
    RESTORED = "restored"
    """Redoes the act `target`."""


COUNTED = frozenset(
    {Action.BLIND, Action.AGREED, Action.OVERRIDDEN, Action.ADJUDICATED, Action.IMPORTED}
)
"""Acts whose verdict enters agreement figures."""


@dataclass(frozen=True, slots=True)
class LabelAct:
    """One row of the log."""

    id: LabelId
    """Grows with every row: order of the log."""
    claim: ClaimId
    reviewer: str
    action: Action
    verdict: str | None = None
    """A label of the metric's set, or `x`; None for acts without a verdict."""
    note: str | None = None
    target: LabelId | None = None
    """The act this one withdraws or restores."""


@dataclass(frozen=True, slots=True)
class HumanVerdict:
    """What one person's acts on one claim amount to."""

    claim: ClaimId
    reviewer: str
    verdict: str | None
    """None when the person only wrote a note or skipped."""
    action: Action | None
    """The act that gave the verdict."""
    note: str | None = None

    @property
    def counts(self) -> bool:
        """Whether it is a verdict on record that people stand behind, `x` included."""
        return self.verdict is not None and self.action in COUNTED


def standing_acts(log: Iterable[LabelAct]) -> tuple[LabelAct, ...]:
    """Drop what was withdrawn and not restored; keep the order of the log."""
    acts: dict[LabelId, LabelAct] = {}
    withdrawn: set[LabelId] = set()
    for act in log:
        if act.action is Action.WITHDRAWN and act.target is not None:
            withdrawn.add(act.target)
        elif act.action is Action.RESTORED and act.target is not None:
            withdrawn.discard(act.target)
        else:
            acts[act.id] = act
    return tuple(act for act in acts.values() if act.id not in withdrawn)


def effective(log: Iterable[LabelAct]) -> dict[tuple[ClaimId, str], HumanVerdict]:
    """Replay a log into one state per claim and reviewer.

    Args:
        log: Acts in the order of their ids; any claims, any reviewers.

    Returns:
        The last standing verdict and the last standing note of each (claim, reviewer) that has
        one. An empty note removes the note.
    """
    state: dict[tuple[ClaimId, str], HumanVerdict] = {}
    for act in standing_acts(log):
        key = (act.claim, act.reviewer)
        before = state.get(key, HumanVerdict(act.claim, act.reviewer, None, None))
        says = act.action is not Action.NOTED
        state[key] = HumanVerdict(
            claim=act.claim,
            reviewer=act.reviewer,
            verdict=act.verdict if says else before.verdict,
            action=act.action if says else before.action,
            note=before.note if act.note is None else (act.note or None),
        )
    return {
        key: found
        for key, found in state.items()
        if found.action is not None or found.note is not None
    }


def _stacks(
    log: Iterable[LabelAct], reviewer: str
) -> tuple[dict[LabelId, LabelAct], dict[LabelId, LabelAct]]:
    """Replay one reviewer's acts into an undo stack and a redo stack, each with its top last."""
    done: dict[LabelId, LabelAct] = {}
    undone: dict[LabelId, LabelAct] = {}
    for act in log:
        if act.reviewer != reviewer or act.action is Action.IMPORTED:
            continue
        if act.action is Action.WITHDRAWN:
            _move(act.target, done, undone)
        elif act.action is Action.RESTORED:
            _move(act.target, undone, done)
        else:
            done[act.id] = act
            undone.clear()
    return done, undone


def _move(
    target: LabelId | None, source: dict[LabelId, LabelAct], to: dict[LabelId, LabelAct]
) -> None:
    """Put an act on top of the other stack; nothing when it is not on this one."""
    if target in source:
        to[target] = source.pop(target)


def next_undo(log: Iterable[LabelAct], reviewer: str) -> LabelAct | None:
    """Find the act that undo would withdraw; None when there is none left."""
    done, _ = _stacks(log, reviewer)
    return next(reversed(done.values()), None)


def next_redo(log: Iterable[LabelAct], reviewer: str) -> LabelAct | None:
    """Find the act that redo would restore; None when a new act has been made since."""
    _, undone = _stacks(log, reviewer)
    return next(reversed(undone.values()), None)


def consensus(verdicts: Sequence[HumanVerdict]) -> str | None:
    """Combine several people's verdicts on one claim.

    An adjudicated verdict wins (the last one). Else the majority; a tie goes to the most severe
    of the tied verdicts (`x` before no before idk before yes), so that a doubt is never dropped.
    Verdicts that do not count (see `HumanVerdict.counts`) are left out.

    Returns:
        A label or `x`; None when nobody gave a verdict that counts.
    """
    said = [found for found in verdicts if found.counts]
    final = [found.verdict for found in said if found.action is Action.ADJUDICATED]
    if final:
        return final[-1]
    votes = Counter(found.verdict for found in said if found.verdict is not None)
    if not votes:
        return None
    rank = {**SEVERITY, NOT_A_CLAIM: len(SEVERITY)}
    return max(votes, key=lambda word: (votes[word], rank.get(word, -1)))
