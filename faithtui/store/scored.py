"""Scores of windows and conversations: the judge's, and the same formula on people's labels."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial

from faithtui.domain.ids import ClaimId
from faithtui.domain.readings import ScoredUnit, ScoreReading
from faithtui.domain.scores import Score, ScoreState, corrected_score, mean_score
from faithtui.store.judged import JudgedRun, JudgedWindow
from faithtui.store.records import ItemState
from faithtui.store.rollups import is_explained


def score_readings(judged: JudgedRun, said: Mapping[ClaimId, str]) -> Iterator[ScoreReading]:
    """Score what people labelled completely, beside the judge.

    Windows that failed or were skipped are not judged, and conversations that are not done are
    not judged as a whole.

    Args:
        judged: The run.
        said: People's consensus in the words of the run.

    Yields:
        Windows in the order of the run, then conversations.
    """
    of_item: dict[int, list[JudgedWindow]] = {}
    scores = cache(partial(corrected_score, rule=judged.rule))
    for window in judged.windows:
        of_item.setdefault(window.number, []).append(window)
        if window.state not in _NOT_JUDGED:
            yield _reading(
                judged, said, scores, window.number, [window], window.score, window.position
            )
    for number, item in judged.items.items():
        if item.state is ItemState.DONE:
            windows = of_item.get(number, [])
            yield _reading(judged, said, scores, number, windows, item.score, None)


_NOT_JUDGED = (ScoreState.FAILED, ScoreState.SKIPPED)
_Scores = Callable[[tuple[str, ...]], Score]
"""The score of a window by its sorted labels: few windows of many differ in them."""


def _reading(
    judged: JudgedRun,
    said: Mapping[ClaimId, str],
    scores: _Scores,
    number: int,
    windows: Sequence[JudgedWindow],
    judge: float | None,
    position: int | None,
) -> ScoreReading:
    """Compare the scores of some windows of a conversation; `position` is that of a single one."""
    item = judged.items[number]
    claims = set().union(*(judged.claims.get(each.id, ()) for each in windows))
    labelled = sum(claim in said for claim in claims)
    human = None
    if claims and labelled == len(claims):
        human = mean_score(
            [_human_score(judged, said, scores, each) for each in windows], judged.rule
        ).value
    return ScoreReading(
        unit=ScoredUnit.CONVERSATION if position is None else ScoredUnit.WINDOW,
        key=item.key,
        group=item.group,
        window=position,
        judge=judge,
        human=human,
        claims=len(claims),
        labelled=labelled,
    )


def _human_score(
    judged: JudgedRun, said: Mapping[ClaimId, str], scores: _Scores, window: JudgedWindow
) -> Score:
    """Score a window whose claims people labelled.

    The judge's labels beyond the last claim, which a peer's rule counts, are nothing that people
    could have labelled, so they are left out.
    """
    if not is_explained(window.state, missing=window.id in judged.missing):
        return Score(window.score, window.state, window.reason)
    return scores(tuple(sorted([said[each] for each in judged.claims.get(window.id, ())])))
