"""Scores of windows and conversations: the judge's, and the same formula on human labels."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from types import MappingProxyType

from faithtui.agreement.labelled_units import ScoredUnit, UnitScores
from faithtui.domain.ids import ClaimId
from faithtui.domain.labels.label_sets import NOT_A_CLAIM
from faithtui.domain.scores import Score, ScoreState, average_scores, score_window_with_human_labels
from faithtui.store.records import ItemState
from faithtui.store.runs.judge_verdicts import JudgedRun, WindowScore
from faithtui.store.runs.rollups import is_score_state_explained_by_labels

_NOT_JUDGED = (ScoreState.FAILED, ScoreState.SKIPPED)
_GetLabel = Callable[[int, ClaimId], str | None]
"""Gives the label of a claim in a window, by the window's id."""


def iter_human_and_judge_scores(
    judged: JudgedRun,
    consensus: Mapping[ClaimId, str],
    left_out: Collection[ClaimId] = (),
    tied: Mapping[ClaimId, Sequence[str]] = MappingProxyType({}),
    served: Collection[ClaimId] | None = None,
) -> Iterator[UnitScores]:
    """Score what annotators labelled completely, beside the judge.

    Windows that failed or were skipped are not judged, and conversations that are not done are
    not judged as a whole.

    Args:
        judged: The run.
        consensus: The annotators' consensus in the words of the run.
        left_out: Claims that were drawn to be labelled with the judge's verdict in view. Where a
            window holds some, both scores are those of its other claims.
        tied: Claims without a consensus, with the labels between which annotators are evenly split.
        served: Claims of the drawn conversations that annotators have come to; None: no
            conversations were drawn, and they have come to all.

    Yields:
        Windows in the order of the run, then conversations.
    """
    of_item: dict[int, list[WindowScore]] = {}
    scoring = _UnitScorer(
        judged,
        consensus,
        frozenset(left_out),
        tied,
        None if served is None else frozenset(served),
    )
    for window in judged.windows:
        of_item.setdefault(window.number, []).append(window)
        if window.state not in _NOT_JUDGED:
            yield scoring.score_windows_by_human_and_judge(
                window.number, [window], window.score, window.position
            )
    for number, item in judged.items.items():
        if item.state is ItemState.DONE:
            yield scoring.score_windows_by_human_and_judge(
                number, of_item.get(number, []), item.score
            )


class _UnitScorer:
    """Scores by the human labels."""

    def __init__(
        self,
        judged: JudgedRun,
        consensus: Mapping[ClaimId, str],
        left_out: frozenset[ClaimId],
        tied: Mapping[ClaimId, Sequence[str]],
        served: frozenset[ClaimId] | None,
    ) -> None:
        self._judged = judged
        self._consensus = consensus
        self._labelled = consensus.keys() - left_out
        self._left_out = left_out
        self._tied = tied
        self._served = served
        self._judge_labels = _map_windows_to_judge_labels(judged) if left_out else {}
        self._score = cache(partial(score_window_with_human_labels, rule=judged.rule))
        """By labels in an order, in which few windows of many differ."""

    def score_windows_by_human_and_judge(
        self,
        number: int,
        windows: Sequence[WindowScore],
        judge: float | None,
        position: int | None = None,
    ) -> UnitScores:
        """Compare the scores of some windows of a conversation; `position`: of a single one."""
        item, of_window = self._judged.items[number], self._judged.claims
        claims = frozenset[ClaimId]().union(*[of_window.get(each.id, ()) for each in windows])
        labelled = len(claims & self._labelled)
        human = None
        # One that holds nothing else stays as it is, without a label.
        counted = claims - self._left_out or claims
        unfair = self._list_unfair_windows(windows)
        is_fair = not unfair and any(self._consensus.get(each) != NOT_A_CLAIM for each in counted)
        if counted and labelled == len(counted) and is_fair:
            human = self._compute_mean_score(windows, lambda _, claim: self._consensus[claim])
        bounds = self._bound_human_score(windows, counted, human, unfair)
        if (
            bounds is not None
            and bounds[0] == bounds[1]
            and self._tied.keys() >= (counted - self._labelled)
        ):
            # Whichever of the tied labels is right, they pass alike, or fail alike.
            human, labelled = bounds[0], len(counted)
        if len(counted) < len(claims) and (human is not None or bounds is not None):
            # The two are compared, so they are of the same claims.
            judge = self._compute_mean_score(
                windows, lambda window, claim: self._judge_labels[window, claim]
            )
        return UnitScores(
            unit=ScoredUnit.CONVERSATION if position is None else ScoredUnit.WINDOW,
            key=item.key,
            group=item.group,
            window=position,
            judge=judge,
            human=human,
            claims=len(counted),
            labelled=labelled,
            human_bounds=bounds,
        )

    def _bound_human_score(
        self,
        windows: Sequence[WindowScore],
        counted: frozenset[ClaimId],
        human: float | None,
        unfair: frozenset[int],
    ) -> tuple[float, float] | None:
        """Score a unit with claims without a label as failing, and as passing.

        Nothing is known of a window whose claims are all labelled x: whoever calls all claims of a
        bad one unfair leaves it out.
        """
        if human is not None:
            is_reached = self._served is None or not self._served.isdisjoint(counted)
            return (human, human) if is_reached else None
        unknown = counted - self._labelled
        if not unknown and not unfair:
            return None
        if self._served is None:
            is_reached = not (counted - self._labelled - self._tied.keys())
        else:
            is_reached = not self._served.isdisjoint(counted)
        if not is_reached:
            return None
        rule = self._judged.rule
        # Any word that does not pass fails.
        passing, failing = next(iter(rule.passing), ""), ""

        def choose_label(wanted: bool, window: int, claim: ClaimId) -> str:  # for partial
            """Give a claim's label; without one, a label that passes or fails as is wanted."""
            if claim not in unknown and window not in unfair:
                return self._consensus[claim]
            labels = self._tied.get(claim, (NOT_A_CLAIM,))
            may_be = {each in rule.passing for each in labels}
            passes = wanted if NOT_A_CLAIM in labels or wanted in may_be else not wanted
            return passing if passes else failing

        low, high = (
            self._compute_mean_score(windows, partial(choose_label, wanted))
            for wanted in (False, True)
        )
        return None if low is None or high is None else (low, high)

    def _list_unfair_windows(self, windows: Iterable[WindowScore]) -> frozenset[int]:
        """Give the windows of whose counted claims annotators call each one unfair."""
        of_window, found = self._judged.claims, []
        for each in windows:
            counted = frozenset(of_window.get(each.id, ())) - self._left_out
            if counted and all(self._consensus.get(claim) == NOT_A_CLAIM for claim in counted):
                found.append(each.id)
        return frozenset(found)

    def _compute_mean_score(
        self, windows: Iterable[WindowScore], get_label: _GetLabel
    ) -> float | None:
        """Average the scores of windows by labels; one whose claims are all left out has none."""
        of_window = self._judged.claims
        scores = [
            self._compute_score(each, get_label)
            for each in windows
            if not of_window.get(each.id) or not self._left_out.issuperset(of_window[each.id])
        ]
        return average_scores(scores, self._judged.rule).value

    def _compute_score(self, window: WindowScore, get_label: _GetLabel) -> Score:
        """Score a window by labels of its claims.

        The judge's labels beyond the last claim, which a peer's rule counts, are nothing that
        annotators could have labelled, so they are left out.
        """
        judged = self._judged
        if not is_score_state_explained_by_labels(
            window.state, missing=window.id in judged.missing
        ):
            return Score(window.score, window.state, window.reason)
        words = [
            get_label(window.id, each)
            for each in judged.claims.get(window.id, ())
            if each not in self._left_out
        ]
        return self._score(tuple(sorted(words, key=str)))


def _map_windows_to_judge_labels(judged: JudgedRun) -> dict[tuple[int, ClaimId], str | None]:
    """Say what the judge said of each claim in each window that holds it."""
    home = {claim: label for *_, claim, label, _, _, _ in judged.homes}
    seen = Counter[ClaimId]()
    found: dict[tuple[int, ClaimId], str | None] = {}
    for window in judged.windows:
        for claim in dict.fromkeys(judged.claims.get(window.id, ())):
            labels = judged.repeated.get(claim)
            found[window.id, claim] = home.get(claim) if labels is None else labels[seen[claim]]
            seen[claim] += 1
    return found
