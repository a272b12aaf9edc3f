"""Arithmetic from labels to scores, for the judge's labels and for human labels alike.

One code path: a score with overrides is this arithmetic over labels of which some are human labels.
Undefined, incomplete, failed and skipped are states with a reason, never numbers.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from faithtui.domain.labels.label_sets import NOT_A_CLAIM

TOLERANCE = 1e-9
"""Three windows of 0.7 meet a threshold of 0.7, though their float mean is 0.6999999999999998."""

NOTHING_JUDGED = "nothing was judged"
"""Why there is no score where nobody knows more."""

NO_FAIR_CLAIM = "all that was judged is labelled x (not a fair claim)"
"""Why there is no score where annotators left nothing to score."""


class ScoreState(StrEnum):
    """Whether there is a number, and if not, why not."""

    SCORED = "scored"
    UNDEFINED = "undefined"
    """The formula has no value: nothing was judged, or nothing could be compared."""
    INCOMPLETE = "incomplete"
    """A verdict or a window is missing."""
    FAILED = "failed"
    """Something went wrong."""
    SKIPPED = "skipped"
    """The metric does not apply."""


@dataclass(frozen=True, slots=True)
class Score:
    """A number in [0, 1], or the reason why there is none."""

    value: float | None
    state: ScoreState = ScoreState.SCORED
    reason: str | None = None
    """None when scored."""
    undefined: int = 0
    """Of a mean: windows or answers that it leaves out because they are undefined."""
    skipped: int = 0
    """Of a mean: windows or answers that it leaves out because they were skipped."""

    def __post_init__(self) -> None:
        """Keep number and state in step."""
        if (self.value is None) == (self.state is ScoreState.SCORED):
            raise ValueError(f"a score of {self.value} cannot be {self.state}")


def make_score(value: float) -> Score:
    """Make a score that has a number."""
    return Score(value)


def make_empty_score(state: ScoreState, reason: str) -> Score:
    """Make a score that has none."""
    return Score(None, state, reason)


@dataclass(frozen=True, slots=True)
class ScoringRule:
    """How labels become a score. Stored with the run, so that human labels can be scored too."""

    passing: tuple[str, ...]
    """Labels that count as faithful."""
    when_empty: float | None
    """Score of a window without claims; None is undefined. Only peers have a number, and runs that
    were made when every run had one."""
    threshold: float | None = 0.5
    """A conversation passes from here on; None: no pass or fail."""
    strict: bool = False
    """Binary: 1 when every window is perfect, else 0."""
    as_peer: bool = False
    """Use the peer's arithmetic with its oddities: missing verdicts leave the denominator, strict
    clamps each window and not the mean, plain float comparison."""
    labels: tuple[str, ...] = ()
    """Names of the metric's labels; (): any word is one."""
    synonyms: tuple[tuple[str, str], ...] = ()
    """Words that annotators may have used under another metric, and the label each stands for."""

    def translate_word_to_label(self, word: str) -> str | None:
        """Say what a human label means under this metric.

        Annotators label a claim once, under whichever metric they review; `no` there is `0` here.

        Returns:
            A label of the metric or `x`; None when the word has no meaning here, so that the claim
            counts as not reviewed.
        """
        if word == NOT_A_CLAIM or word in self.labels or not self.labels:
            return word
        return dict(self.synonyms).get(word)

    @property
    def effective_threshold(self) -> float | None:
        """The threshold in force: 1 under `strict`."""
        return 1.0 if self.strict else self.threshold


def score_window(
    labels: Sequence[str | None],
    rule: ScoringRule,
    surplus: Sequence[str | None] = (),
    *,
    why_empty: str = NOTHING_JUDGED,
) -> Score:
    """Score one window, one answer, or any other pile of labels.

    Args:
        labels: One per claim; None where the judge gave none. Claims labelled `x`
            are left out by the caller.
        rule: The metric's rule.
        surplus: Labels beyond the last claim; counted only under `as_peer`.
        why_empty: Why there are no labels, where there are none.

    Returns:
        passing / all, in [0, 1]; `when_empty` without labels; INCOMPLETE when a label is missing
        and the rule is not the peer's.

    Source:
        deepeval 4.3.1, metrics/turn_faithfulness, `_calculate_score`. Different on purpose: a
        missing verdict makes the window incomplete instead of leaving the denominator.
    """
    if rule.as_peer:
        known = [label for label in (*labels, *surplus) if label is not None]
    else:
        missing = sum(label is None for label in labels)
        if missing:
            return make_empty_score(
                ScoreState.INCOMPLETE, f"{missing} of {len(labels)} claims have no verdict"
            )
        known = [label for label in labels if label is not None]
    if not known:
        if rule.when_empty is None:
            return make_empty_score(ScoreState.UNDEFINED, why_empty)
        return make_score(rule.when_empty)
    value = sum(label in rule.passing for label in known) / len(known)
    if rule.strict and value < 1:
        value = 0.0
    return make_score(value)


def score_window_with_human_labels(
    labels: Iterable[str | None],
    rule: ScoringRule,
    surplus: Sequence[str | None] = (),
    *,
    why_empty: str = NOTHING_JUDGED,
) -> Score:
    """Score one window by labels of which some or all are human labels; see `score_window`.

    A claim called `x` leaves numerator and denominator. Where all are, there is no score.
    """
    given = list(labels)
    fair = [label for label in given if label != NOT_A_CLAIM]
    if given and not fair:
        why_empty = NO_FAIR_CLAIM
    return score_window(fair, rule, surplus, why_empty=why_empty)


def format_parts_left_out_of_mean(
    undefined: int, skipped: int, parts: int, noun: str = "window"
) -> str:
    """Say what a mean leaves out: `2 of 7 windows undefined, 1 of 7 windows skipped`.

    Returns:
        "" where it leaves nothing out.
    """
    of_all = f"of {parts} {noun}{'' if parts == 1 else 's'}"
    counts = ((undefined, ScoreState.UNDEFINED), (skipped, ScoreState.SKIPPED))
    return ", ".join(f"{count} {of_all} {state.value}" for count, state in counts if count)


def average_scores(parts: Sequence[Score], rule: ScoringRule) -> Score:
    """Average the scores of windows or of answers, each with the same weight.

    Undefined and skipped parts are left out and counted beside the mean; under `strict` they
    neither pass nor fail. One incomplete or failed part leaves the whole without a number, because
    a mean over what happens to be there would pass for the whole.

    Returns:
        A score in [0, 1]. Under `strict` 0 or 1, but the peer's mean of clamped windows under
        `as_peer`. UNDEFINED, or SKIPPED, when all parts are left out. Without parts: 1 under
        `as_peer`, else SKIPPED.
    """
    if not parts:
        if rule.as_peer:
            return make_score(1.0)
        return make_empty_score(ScoreState.SKIPPED, "no interaction")
    for state in (ScoreState.FAILED, ScoreState.INCOMPLETE):
        hit = [part for part in parts if part.state is state]
        if hit:
            return make_empty_score(state, f"{len(hit)} of {len(parts)} parts: {hit[0].reason}")
    values = [part.value for part in parts if part.value is not None]
    undefined = sum(part.state is ScoreState.UNDEFINED for part in parts)
    skipped = sum(part.state is ScoreState.SKIPPED for part in parts)
    if not values:
        state = ScoreState.UNDEFINED if undefined else ScoreState.SKIPPED
        return Score(None, state, _format_reasons_for_missing_scores(parts), undefined, skipped)
    if rule.as_peer:
        value = sum(values) / len(values)
    else:
        value = math.fsum(values) / len(values)
        if rule.strict and value < 1:
            value = 0.0
    return Score(value, undefined=undefined, skipped=skipped)


def _format_reasons_for_missing_scores(parts: Sequence[Score]) -> str:
    """Say why no part has a score: each reason once, counted where there are several."""
    counts = Counter(part.reason or part.state.value for part in parts)
    if len(counts) == 1:
        return next(iter(counts))
    return "; ".join(f"{count} of {len(parts)}: {reason}" for reason, count in counts.items())


def passes_threshold(score: Score, rule: ScoringRule) -> bool | None:
    """Say whether a score meets the threshold.

    Returns:
        None without a threshold or without a number. Equal passes; a difference below 1e-9 is
        equal, except under `as_peer`, which compares plain floats.
    """
    if score.value is None or rule.effective_threshold is None:
        return None
    if rule.as_peer:
        return score.value >= rule.effective_threshold
    return score.value >= rule.effective_threshold - TOLERANCE


@dataclass(frozen=True, slots=True)
class ClaimOccurrence:
    """One claim in one window, as the judge labelled it."""

    claim: Hashable
    """Identity of the claim; the same in every window and for every repetition."""
    interaction: int
    """Position of the interaction whose answer makes the claim."""
    label: str | None


@dataclass(frozen=True, slots=True)
class WindowLabels:
    """A window reduced to what scoring needs."""

    interactions: tuple[int, ...]
    occurrences: tuple[ClaimOccurrence, ...] = ()
    surplus: tuple[str | None, ...] = ()
    failure: Score | None = None
    """Why the window could not be judged; None when it was."""
    undefined: str | None = None
    """Why the judge's labels make no score: nothing was drawn, or there was nothing to compare it
    with. Only the human labels count then. None: the labels count."""


@dataclass(frozen=True, slots=True)
class ScoreSet:
    """The three scores of a conversation."""

    windowed: Score
    """Mean over windows that have a score: the headline. Early turns weigh more."""
    per_interaction: Score
    """Mean over interactions that have a score, each once."""
    pooled: Score
    """All claims together, each once."""


def score_conversation(
    windows: Sequence[WindowLabels],
    rule: ScoringRule,
    human: Mapping[Hashable, str] | None = None,
) -> tuple[ScoreSet, tuple[Score, ...]]:
    """Score a conversation, by the judge's labels or with overrides.

    A claim's label outside its windows (per interaction and pooled) is that of its home window:
    the first one that holds it. Where that has no score, only human labels count. An interaction
    that its own window skips is skipped there too, not scored as one without claims.

    Args:
        windows: All windows of the conversation, in order.
        rule: The metric's rule.
        human: The human label per claim identity, in any metric's words; it replaces the judge's
            in every window. A claim called `x` leaves numerator and denominator. None or {}: the
            judge's own scores.

    Returns:
        The three scores, and the score of every window in order.
    """
    human_labels = {
        claim: label
        for claim, word in (human or {}).items()
        if (label := rule.translate_word_to_label(word))
    }

    def list_labels(occurrences: Iterable[ClaimOccurrence]) -> list[str | None]:
        return [human_labels.get(each.claim, each.label) for each in occurrences]

    def list_counted_occurrences(window: WindowLabels) -> list[ClaimOccurrence]:
        if window.undefined is None:
            return list(window.occurrences)
        return [each for each in window.occurrences if each.claim in human_labels]

    each_window = tuple(
        window.failure
        or score_window_with_human_labels(
            list_labels(list_counted_occurrences(window)),
            rule,
            window.surplus,
            why_empty=window.undefined or NOTHING_JUDGED,
        )
        for window in windows
    )
    windowed = average_scores(each_window, rule)
    if windowed.state in (ScoreState.FAILED, ScoreState.SKIPPED):
        return ScoreSet(windowed, windowed, windowed), each_window
    homes: dict[Hashable, tuple[ClaimOccurrence, WindowLabels]] = {}
    for window in windows:
        for occurrence in window.occurrences:
            homes.setdefault(occurrence.claim, (occurrence, window))
    at_home = [
        occurrence
        for occurrence, home in homes.values()
        if home.undefined is None or occurrence.claim in human_labels
    ]
    by_interaction: dict[int, list[ClaimOccurrence]] = defaultdict(list)
    for occurrence in at_home:
        by_interaction[occurrence.interaction].append(occurrence)
    once = replace(rule, as_peer=False)
    # Where nothing of an interaction was judged, the window that ends with it says why.
    own = {
        window.interactions[-1]: score
        for window, score in zip(windows, each_window, strict=True)
        if window.interactions and score.state in (ScoreState.SKIPPED, ScoreState.UNDEFINED)
    }

    def score_interaction(position: int) -> Score:
        ending = own.get(position)
        if ending is not None and ending.state is ScoreState.SKIPPED:
            return ending
        found = list_labels(by_interaction.get(position, ()))
        why = NOTHING_JUDGED if ending is None else ending.reason
        return score_window_with_human_labels(found, once, why_empty=why or NOTHING_JUDGED)

    parts = sorted({position for window in windows for position in window.interactions})
    return (
        ScoreSet(
            windowed=windowed,
            per_interaction=average_scores([score_interaction(part) for part in parts], once),
            pooled=score_window_with_human_labels(
                list_labels(at_home), once, why_empty=windowed.reason or NOTHING_JUDGED
            ),
        ),
        each_window,
    )
