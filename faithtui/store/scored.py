"""Scores of windows and conversations: the judge's, and the same formula on people's labels."""

from collections.abc import Iterator, Mapping, Sequence

from faithtui.domain.ids import ClaimId
from faithtui.domain.readings import ScoredUnit, ScoreReading
from faithtui.domain.scores import Score, ScoreState, corrected_score, mean_score
from faithtui.store.codecs import AnyRow
from faithtui.store.judged import JudgedRun
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
    of_item: dict[int, list[AnyRow]] = {}
    for window in judged.windows:
        of_item.setdefault(window.number, []).append(window)
        if window.score_state not in _NOT_JUDGED:
            yield _reading(judged, said, window.number, [window], window.score, window.position)
    for number, item in judged.items.items():
        if item.state is ItemState.DONE:
            yield _reading(judged, said, number, of_item.get(number, []), item.score, None)


_NOT_JUDGED = (ScoreState.FAILED.value, ScoreState.SKIPPED.value)


def _reading(
    judged: JudgedRun,
    said: Mapping[ClaimId, str],
    number: int,
    windows: Sequence[AnyRow],
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
            [_human_score(judged, said, each) for each in windows], judged.rule
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


def _human_score(judged: JudgedRun, said: Mapping[ClaimId, str], window: AnyRow) -> Score:
    """Score a window whose claims people labelled.

    The judge's labels beyond the last claim, which a peer's rule counts, are nothing that people
    could have labelled, so they are left out.
    """
    state = ScoreState(window.score_state)
    if not is_explained(state, missing=window.id in judged.missing):
        return Score(window.score, state, window.score_reason)
    return corrected_score([said[each] for each in judged.claims.get(window.id, ())], judged.rule)
