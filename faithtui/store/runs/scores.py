"""Scores of windows and conversations: the judge's, and the same formula on people's labels."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial

from faithtui.agreement.labelled_units import ScoredUnit, UnitScores
from faithtui.domain.ids import ClaimId
from faithtui.domain.scores import Score, ScoreState, average_scores, score_window_with_human_labels
from faithtui.store.records import ItemState
from faithtui.store.runs.judge_verdicts import JudgedRun, WindowScore
from faithtui.store.runs.rollups import is_score_state_explained_by_labels

_NOT_JUDGED = (ScoreState.FAILED, ScoreState.SKIPPED)


def iter_human_and_judge_scores(
    judged: JudgedRun, consensus: Mapping[ClaimId, str]
) -> Iterator[UnitScores]:
    """Score what people labelled completely, beside the judge.

    Windows that failed or were skipped are not judged, and conversations that are not done are
    not judged as a whole.

    Args:
        judged: The run.
        consensus: People's consensus in the words of the run.

    Yields:
        Windows in the order of the run, then conversations.
    """
    of_item: dict[int, list[WindowScore]] = {}
    scoring = _UnitScorer(judged, consensus)
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
    """Scores by what people said."""

    def __init__(self, judged: JudgedRun, consensus: Mapping[ClaimId, str]) -> None:
        self._judged = judged
        self._consensus = consensus
        self._labelled = frozenset(consensus)
        self._score = cache(partial(score_window_with_human_labels, rule=judged.rule))
        """By sorted labels, in which few windows of many differ."""

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
        if claims and labelled == len(claims):
            scores = [self._compute_human_score(each) for each in windows]
            human = average_scores(scores, self._judged.rule).value
        return UnitScores(
            unit=ScoredUnit.CONVERSATION if position is None else ScoredUnit.WINDOW,
            key=item.key,
            group=item.group,
            window=position,
            judge=judge,
            human=human,
            claims=len(claims),
            labelled=labelled,
        )

    def _compute_human_score(self, window: WindowScore) -> Score:
        """Score a window whose claims people labelled.

        The judge's labels beyond the last claim, which a peer's rule counts, are nothing that
        people could have labelled, so they are left out.
        """
        judged = self._judged
        if not is_score_state_explained_by_labels(
            window.state, missing=window.id in judged.missing
        ):
            return Score(window.score, window.state, window.reason)
        labels = [self._consensus[each] for each in judged.claims.get(window.id, ())]
        return self._score(tuple(sorted(labels)))
