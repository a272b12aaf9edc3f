"""What people say about claims, as it counts in a report.

Stricter than what screens show: a verdict that was given in sight of a judge's word which has
changed since says nothing about the word that stands now.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, select

from faithtui.agreement.labelled_units import LabelState, Opinion
from faithtui.domain.annotations import Action, HumanVerdict, combine_verdicts
from faithtui.domain.ids import ClaimId, LabelId, RunId, SampleId
from faithtui.domain.scores import ScoringRule
from faithtui.store.annotations.label_replay import (
    ACT_COLUMNS,
    LOG_ORDER,
    act_from_row,
    replay_verdicts,
)
from faithtui.store.schema.tables import claim, human_label, run_item

_BLIND = (Action.BLIND, Action.IMPORTED)
"""Verdicts of people who had not seen a judge's, whatever else is stored with them."""
_BLIND_BY_NAME = {str(each): each for each in _BLIND}
_IN_VIEW = (Action.AGREED, Action.OVERRIDDEN, Action.ACCEPTED)
"""Verdicts that there are only with a judge's in view."""

HomeLabelsByRun = Mapping[RunId, Mapping[ClaimId, str | None]]
"""What the judges of runs say now, in each claim's home window."""


class CountedLabels(NamedTuple):
    """What people say about one claim, all of them together."""

    state: LabelState
    opinions: tuple[Opinion, ...] = ()
    """See `ClaimReading.opinions`."""
    run_label: str | None = None
    """Consensus in the words of the run; None without any that means something there."""
    human: str | None = None
    """Consensus, in words that mean nothing in the run if there are no others."""

    reviewers: int = 0
    """How many people gave a verdict that counts."""
    blind: bool | None = None
    """Whether all verdicts that count were given blind; None without any."""


UNREVIEWED = CountedLabels(LabelState.UNREVIEWED)


class LabelLogRow(NamedTuple):
    """A row of the log: `ACT_COLUMNS`, in their order, and what figures need beside them."""

    id: LabelId
    claim: ClaimId
    reviewer: str
    action: str
    verdict: str | None
    note: str | None
    target: LabelId | None
    batch: str | None
    code: str | None
    mark: str | None
    saw_judge: bool
    sample: SampleId | None
    run: RunId | None
    judge: str | None
    """The judge's word then."""
    seconds: float | None
    scale: str | None
    raw_label: str | None


_ACTS = select(
    *ACT_COLUMNS,
    human_label.c.run_id,
    human_label.c.judge_verdict,
    human_label.c.seconds,
    human_label.c.scale,
    human_label.c.raw_label,
)


def read_run_label_log(connection: Connection, run_id: RunId) -> list[LabelLogRow]:
    """Read all acts on claims in the conversations of a run, in the order of the log."""
    return _read_log_rows(
        connection,
        _ACTS.join(claim, claim.c.id == human_label.c.claim_id)
        .where(
            claim.c.conversation_id.in_(
                select(run_item.c.conversation_id).where(run_item.c.run_id == run_id)
            )
        )
        .order_by(*LOG_ORDER),
    )


def read_claims_label_log(connection: Connection, claims: Sequence[ClaimId]) -> list[LabelLogRow]:
    """Read all acts on a few claims as `read_run_label_log` does."""
    return _read_log_rows(
        connection, _ACTS.where(human_label.c.claim_id.in_(claims)).order_by(*LOG_ORDER)
    )


def _read_log_rows(connection: Connection, wanted: Select[Any]) -> list[LabelLogRow]:
    return [*map(LabelLogRow._make, connection.execute(wanted).all())]


def replay_label_log(
    log: Sequence[LabelLogRow], rule: ScoringRule, homes: HomeLabelsByRun, *, blind_only: bool
) -> dict[ClaimId, CountedLabels]:
    """Replay a log into what counts.

    Args:
        log: As `read_run_label_log` reads it.
        rule: Of the run whose words are to be used.
        homes: Of the runs that verdicts given in them must still be about.
        blind_only: Leave out verdicts that were given with a judge's in view.

    Returns:
        What people said of each claim that somebody acted on.
    """
    given = {row.id: (place, row) for place, row in enumerate(log)}
    acts: dict[ClaimId, list[LabelLogRow]] = defaultdict(list)
    for row in log:
        if not (blind_only and _is_in_view(row)):
            acts[row.claim].append(row)
    heard = cache(rule.translate_label)
    found = {}
    for claim_id, rows in acts.items():
        if len(rows) == 1:
            # Most claims have one act, and one blind verdict is what is said.
            alone = _count_single_blind_act(rows[0], given, heard)
            if alone is not None:
                found[claim_id] = alone
                continue
        standing = _replay_acts(rows)
        before: Sequence[HumanVerdict] = ()
        if any(map(_is_final, standing)):
            before = _replay_acts([row for row in rows if row.action != Action.ADJUDICATED])
        found[claim_id] = _make_counted_labels(standing, before, given, heard, homes)
    return found


def _count_single_blind_act(
    row: LabelLogRow,
    given: Mapping[LabelId, tuple[int, LabelLogRow]],
    heard: Callable[[str], str | None],
) -> CountedLabels | None:
    """Read a claim's only act: as replaying it would, in a quarter of the time.

    Returns:
        None unless it is a verdict that was given blind, whatever the judge says now.
    """
    action, verdict = _BLIND_BY_NAME.get(row.action), row.verdict
    if action is None or verdict is None:
        return None
    word = heard(verdict)
    human = verdict if word is None else word
    place, _ = given[row.id]
    opinion = Opinion(row.reviewer, human, action, True, row.seconds, row.code, place)
    return CountedLabels(LabelState.LABELLED, (opinion,), word, human, 1, True)


def _replay_acts(rows: Sequence[LabelLogRow]) -> Sequence[HumanVerdict]:
    """Replay the acts on one claim into what each person stands by."""
    return next(iter(replay_verdicts(map(act_from_row, rows)).values()), ())


def _make_counted_labels(
    standing: Sequence[HumanVerdict],
    before: Sequence[HumanVerdict],
    given: Mapping[LabelId, tuple[int, LabelLogRow]],
    heard: Callable[[str], str | None],
    homes: HomeLabelsByRun,
) -> CountedLabels:
    """Combine what people say of one claim.

    Args:
        standing: What each person stands by.
        before: The same without final words; () when there are none.
        given: Place in the log and row of each act.
        heard: Translates a word into one of the run; None: it means nothing there.
        homes: What judges say now.
    """
    fresh = [each for each in standing if each.is_counted and not _is_stale(each, given, homes)]
    if not fresh:
        return CountedLabels(_find_uncounted_state(standing))
    own: list[HumanVerdict] = []
    if before:
        settled = {each.reviewer for each in fresh if _is_final(each)}
        own = [
            each
            for each in before
            if each.reviewer in settled and each.is_counted and not _is_stale(each, given, homes)
        ]
    opinions = [_make_opinion(each, given, heard) for each in (*fresh, *own)]
    opinions.sort(key=attrgetter("order"))
    if len(fresh) == 1:
        word, untranslated = _translate_verdict(fresh[0], heard), fresh[0].verdict
    else:
        word = combine_verdicts(
            [replace(each, verdict=_translate_verdict(each, heard)) for each in fresh]
        )
        untranslated = combine_verdicts(fresh)
    return CountedLabels(
        LabelState.LABELLED,
        tuple(opinions),
        run_label=word,
        human=untranslated if word is None else word,
        reviewers=len(fresh),
        blind=all(each.blind for each in opinions),
    )


def _translate_verdict(found: HumanVerdict, heard: Callable[[str], str | None]) -> str | None:
    return None if found.verdict is None else heard(found.verdict)


def _find_uncounted_state(standing: Sequence[HumanVerdict]) -> LabelState:
    """Say how a claim stands of which no verdict counts."""
    if any(each.is_counted for each in standing):
        return LabelState.STALE
    actions = {each.action for each in standing}
    if Action.SKIPPED in actions:
        return LabelState.SKIPPED
    if actions & {Action.BULK, Action.ACCEPTED}:
        return LabelState.BULK
    return LabelState.UNREVIEWED


def _make_opinion(
    found: HumanVerdict,
    given: Mapping[LabelId, tuple[int, LabelLogRow]],
    heard: Callable[[str], str | None],
) -> Opinion:
    assert found.act is not None
    assert found.verdict is not None
    assert found.action is not None
    place, row = given[found.act]
    return Opinion(
        reviewer=found.reviewer,
        verdict=heard(found.verdict) or found.verdict,
        action=found.action,
        blind=found.action in _BLIND or (found.action is Action.ADJUDICATED and not row.saw_judge),
        seconds=row.seconds,
        code=found.code,
        order=place,
    )


def _is_final(found: HumanVerdict) -> bool:
    return found.action is Action.ADJUDICATED


def _is_stale(
    found: HumanVerdict, given: Mapping[LabelId, tuple[int, LabelLogRow]], homes: HomeLabelsByRun
) -> bool:
    """Say whether a verdict is about a word that the judge does not say any more."""
    if found.act is None or found.action not in _IN_VIEW:
        return False
    _, row = given[found.act]
    judge = None if row.run is None else homes.get(row.run)
    return judge is not None and judge.get(found.claim) != row.judge


def _is_in_view(row: LabelLogRow) -> bool:
    """Say whether a row is a verdict that was given with a judge's in view."""
    action = Action(row.action)
    return action in _IN_VIEW or (
        row.saw_judge and action in (Action.ADJUDICATED, Action.BULK) and row.verdict is not None
    )
