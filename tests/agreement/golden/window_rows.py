"""From rows of windows to units that people and judge can be compared on.

A claim that stands in several windows is one unit. What nobody looked at is not agreed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from faithtui.domain.labels.label_sets import NOT_A_CLAIM, SEVERITY
from faithtui.errors import InputError


class State(StrEnum):
    """What became of a claim in the review."""

    AGREED = "agreed"
    OVERRIDDEN = "overridden"
    BLIND = "blind"
    ADJUDICATED = "adjudicated"
    """Settled after people differed; goes before the others."""
    STALE = "stale"
    """Labelled while it looked different."""
    SKIPPED = "skipped"
    BULK = "bulk"
    """Accepted unread, with many others."""
    UNREVIEWED = "unreviewed"


GIVEN = (State.ADJUDICATED, State.BLIND, State.AGREED, State.OVERRIDDEN)
"""States with a verdict that counts."""

_STANDING = (State.STALE, State.SKIPPED, State.BULK, State.UNREVIEWED)
"""Of a unit without a verdict that counts: the first of these that any of its rows has."""

NO_VERDICT = (NOT_A_CLAIM, "cannot-tell")
"""Words of people that are no category: such a unit is reviewed and not compared."""


class DuplicateRule(StrEnum):
    """Which verdict a claim has that the judge saw in several windows."""

    FIRST_WINDOW = "first_window"
    MAJORITY = "majority"
    """Ties: the most severe."""
    WORST = "worst"
    LATEST = "latest"


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """A claim in a window."""

    conversation: str
    claim: str
    window: int
    judge: str | None
    """None: no readable verdict."""
    state: State
    rater: str | None
    human: str | None
    """None without a verdict that counts."""


@dataclass(frozen=True, slots=True)
class PipelineCounts:
    """What rows come to."""

    total: int
    """Units: total = reviewed + skipped + unreviewed + bulk + stale."""
    reviewed: int
    compared: int
    """Reviewed units on which both gave a category."""
    agreed: int
    skipped: int
    unreviewed: int
    bulk: int
    stale: int
    confusion: tuple[tuple[int, ...], ...]
    """Of the compared units: rows people, columns judge."""
    compared_rows: int
    """Rows on which both gave a category, each window counted."""
    agreed_rows: int

    @property
    def agreement(self) -> float | None:
        """Share of the compared units with the same category; None without any."""
        return self.agreed / self.compared if self.compared else None

    @property
    def coverage(self) -> float | None:
        """Share of all units that are reviewed."""
        return self.reviewed / self.total if self.total else None

    @property
    def wrong_if_unreviewed_counted(self) -> float | None:
        """What agreement would seem to be if silence were consent. Must not be shown."""
        untouched = self.total - self.reviewed
        counted = self.compared + untouched
        return (self.agreed + untouched) / counted if counted else None

    @property
    def wrong_if_windows_counted(self) -> float | None:
        """What agreement would seem to be if copies were units. Must not be shown."""
        return self.agreed_rows / self.compared_rows if self.compared_rows else None


def pipeline_counts(
    rows: Iterable[JudgeRow],
    categories: Sequence[str],
    rule: DuplicateRule = DuplicateRule.MAJORITY,
) -> PipelineCounts:
    """Count units.

    Args:
        rows: One per claim and window, in any order.
        categories: Declared labels.
        rule: Which of the judge's verdicts a unit has. People's verdict is the majority of its
            rows, ties the most severe; one that was settled goes before the others.

    Raises:
        InputError: A verdict is no category, a verdict that counts is missing, or a tie is to be
            broken between words whose severity is not known.
    """
    units: dict[tuple[str, str], list[JudgeRow]] = {}
    for row in rows:
        _check(row, categories)
        units.setdefault((row.conversation, row.claim), []).append(row)
    states: Counter[State] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    row_pairs: Counter[bool] = Counter()
    for copies in units.values():
        copies.sort(key=lambda row: row.window)
        row_pairs.update(
            row.judge == row.human
            for row in copies
            if row.judge is not None and row.human in categories and row.state in GIVEN
        )
        human = _human(copies)
        if human is None:
            found = {row.state for row in copies}
            states[next(state for state in _STANDING if state in found)] += 1
            continue
        states[State.AGREED] += 1
        judge = _judge(copies, rule)
        if judge is not None and human in categories:
            pairs[human, judge] += 1
    return PipelineCounts(
        total=len(units),
        reviewed=states[State.AGREED],
        compared=sum(pairs.values()),
        agreed=sum(count for (human, judge), count in pairs.items() if human == judge),
        skipped=states[State.SKIPPED],
        unreviewed=states[State.UNREVIEWED],
        bulk=states[State.BULK],
        stale=states[State.STALE],
        confusion=tuple(tuple(pairs[h, j] for j in categories) for h in categories),
        compared_rows=sum(row_pairs.values()),
        agreed_rows=row_pairs[True],
    )


def _check(row: JudgeRow, categories: Sequence[str]) -> None:
    where = f"claim {row.claim!r} of conversation {row.conversation!r}, window {row.window}"
    if row.judge is not None and row.judge not in categories:
        raise InputError(f"{where}: the judge's verdict {row.judge!r} is none of {categories}")
    if row.state in GIVEN and row.human not in (*categories, *NO_VERDICT):
        raise InputError(
            f"{where}: {row.state} with the verdict {row.human!r}, which is none of {categories}"
        )


def _human(copies: Sequence[JudgeRow]) -> str | None:
    """Give people's verdict on a unit; None when none counts."""
    settled = [row.human for row in copies if row.state is State.ADJUDICATED]
    if settled:
        return settled[-1]
    return _majority([row.human for row in copies if row.state in GIVEN and row.human])


def _judge(copies: Sequence[JudgeRow], rule: DuplicateRule) -> str | None:
    """Give the judge's verdict on a unit; None when it has none in any window."""
    verdicts = [row.judge for row in copies if row.judge is not None]
    if not verdicts:
        return None
    match rule:
        case DuplicateRule.FIRST_WINDOW:
            return verdicts[0]
        case DuplicateRule.LATEST:
            return verdicts[-1]
        case DuplicateRule.WORST:
            return _worst(set(verdicts))
        case DuplicateRule.MAJORITY:
            return _majority(verdicts)


def _majority(words: Sequence[str]) -> str | None:
    counted = Counter(words)
    most = max(counted.values(), default=0)
    return _worst({word for word, count in counted.items() if count == most}) if counted else None


def _worst(words: set[str]) -> str:
    if len(words) == 1:
        return words.pop()
    severity: Mapping[str, int] = SEVERITY
    unknown = sorted(words - severity.keys() - set(NO_VERDICT))
    if unknown:
        raise InputError(f"no severity is known for {', '.join(unknown)}, so a tie stays a tie")
    # What is no category says nothing about faithfulness, so it gives way.
    return max(sorted(words), key=lambda word: severity.get(word, -1))
