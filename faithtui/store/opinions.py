"""What people say about claims, as it counts in a report.

Stricter than what screens show: a verdict that was given in sight of a judge's word which has
changed since says nothing about the word that stands now.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import attrgetter

from sqlalchemy import Connection, select

from faithtui.domain.ids import ClaimId, LabelId, RunId
from faithtui.domain.readings import LabelState, Opinion
from faithtui.domain.review import GIVING, Action, HumanVerdict, consensus
from faithtui.domain.scores import ScoringRule
from faithtui.store.codecs import AnyRow
from faithtui.store.labels import ACT_COLUMNS, LOG_ORDER, act_from_row, human_verdicts
from faithtui.store.tables import claim, human_label, run_item

_BLIND = (Action.BLIND, Action.IMPORTED)
"""Verdicts of people who had not seen a judge's, whatever else is stored with them."""
_IN_VIEW = (Action.AGREED, Action.OVERRIDDEN, Action.ACCEPTED)
"""Verdicts that there are only with a judge's in view."""

Homes = Mapping[RunId, Mapping[ClaimId, str | None]]
"""What the judges of runs say now, in each claim's home window."""


@dataclass(frozen=True, slots=True)
class Said:
    """What people say about one claim, all of them together."""

    state: LabelState
    opinions: tuple[Opinion, ...] = ()
    """See `ClaimReading.opinions`."""
    heard: str | None = None
    """Consensus in the words of the run; None without any that means something there."""
    human: str | None = None
    """Consensus, in words that mean nothing in the run if there are no others."""

    reviewers: int = 0
    """How many people gave a verdict that counts."""
    blind: bool | None = None
    """Whether all verdicts that count were given blind; None without any."""


UNREVIEWED = Said(LabelState.UNREVIEWED)

_ACTS = select(
    *ACT_COLUMNS,
    human_label.c.run_id,
    human_label.c.judge_verdict,
    human_label.c.seconds,
    human_label.c.scale,
    human_label.c.raw_label,
)


def log_of_run(connection: Connection, run_id: RunId) -> Sequence[AnyRow]:
    """Read all acts on claims in the conversations of a run, in the order of the log.

    Returns:
        Rows with `ACT_COLUMNS` and `run_id`, `judge_verdict`, `seconds`, `scale` and `raw_label`.
    """
    return connection.execute(
        _ACTS.join(claim, claim.c.id == human_label.c.claim_id)
        .where(
            claim.c.conversation_id.in_(
                select(run_item.c.conversation_id).where(run_item.c.run_id == run_id)
            )
        )
        .order_by(*LOG_ORDER)
    ).all()


def log_of_claims(connection: Connection, claims: Sequence[ClaimId]) -> Sequence[AnyRow]:
    """Read all acts on a few claims as `log_of_run` does."""
    return connection.execute(
        _ACTS.where(human_label.c.claim_id.in_(claims)).order_by(*LOG_ORDER)
    ).all()


def people_said(
    log: Sequence[AnyRow], rule: ScoringRule, homes: Homes, *, blind_only: bool
) -> dict[ClaimId, Said]:
    """Replay a log into what counts.

    Args:
        log: As `log_of_run` reads it.
        rule: Of the run whose words are to be used.
        homes: Of the runs that verdicts given in them must still be about.
        blind_only: Leave out verdicts that were given with a judge's in view.

    Returns:
        What people said of each claim that somebody acted on.
    """
    given: dict[LabelId, tuple[int, AnyRow]] = {}
    acts: dict[ClaimId, list[AnyRow]] = {}
    for place, row in enumerate(log):
        given[row.id] = (place, row)
        if not (blind_only and _is_in_view(row)):
            acts.setdefault(row.claim_id, []).append(row)
    heard = cache(rule.heard)
    found = {}
    for claim_id, rows in acts.items():
        standing = _standing(rows)
        before: Sequence[HumanVerdict] = ()
        if any(map(_is_final, standing)):
            before = _standing([row for row in rows if row.action != Action.ADJUDICATED])
        found[claim_id] = _said(standing, before, given, heard, homes)
    return found


def _standing(rows: Sequence[AnyRow]) -> Sequence[HumanVerdict]:
    """Replay the acts on one claim into what each person stands by."""
    if len(rows) != 1:
        log = [act_from_row(row) for row in rows]
        return next(iter(human_verdicts(log).values()), ())
    # Most claims have one act, and a replay of one act is the act.
    (row,) = rows
    if row.action not in GIVING:
        return ()
    return (
        HumanVerdict(
            row.claim_id,
            row.reviewer,
            row.verdict,
            Action(row.action),
            code=row.reason_code,
            act=row.id,
        ),
    )


def _said(
    standing: Sequence[HumanVerdict],
    before: Sequence[HumanVerdict],
    given: Mapping[LabelId, tuple[int, AnyRow]],
    heard: Callable[[str], str | None],
    homes: Homes,
) -> Said:
    """Combine what people say of one claim.

    Args:
        standing: What each person stands by.
        before: The same without final words; () when there are none.
        given: Place in the log and row of each act.
        heard: Translates a word into one of the run; None: it means nothing there.
        homes: What judges say now.
    """
    fresh = [each for each in standing if each.counts and not _is_stale(each, given, homes)]
    if not fresh:
        return Said(_state(standing))
    own: list[HumanVerdict] = []
    if before:
        settled = {each.reviewer for each in fresh if _is_final(each)}
        own = [
            each
            for each in before
            if each.reviewer in settled and each.counts and not _is_stale(each, given, homes)
        ]
    opinions = [_opinion(each, given, heard) for each in (*fresh, *own)]
    opinions.sort(key=attrgetter("order"))
    if len(fresh) == 1:
        word, untranslated = _word(fresh[0], heard), fresh[0].verdict
    else:
        word = consensus([replace(each, verdict=_word(each, heard)) for each in fresh])
        untranslated = consensus(fresh)
    return Said(
        LabelState.LABELLED,
        tuple(opinions),
        heard=word,
        human=untranslated if word is None else word,
        reviewers=len(fresh),
        blind=all(each.blind for each in opinions),
    )


def _word(found: HumanVerdict, heard: Callable[[str], str | None]) -> str | None:
    return None if found.verdict is None else heard(found.verdict)


def _state(standing: Sequence[HumanVerdict]) -> LabelState:
    """Say how a claim stands of which no verdict counts."""
    if any(each.counts for each in standing):
        return LabelState.STALE
    actions = {each.action for each in standing}
    if Action.SKIPPED in actions:
        return LabelState.SKIPPED
    if actions & {Action.BULK, Action.ACCEPTED}:
        return LabelState.BULK
    return LabelState.UNREVIEWED


def _opinion(
    found: HumanVerdict,
    given: Mapping[LabelId, tuple[int, AnyRow]],
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
    found: HumanVerdict, given: Mapping[LabelId, tuple[int, AnyRow]], homes: Homes
) -> bool:
    """Say whether a verdict is about a word that the judge does not say any more."""
    if found.act is None or found.action not in _IN_VIEW:
        return False
    _, row = given[found.act]
    judge = homes.get(row.run_id)
    return judge is not None and judge.get(found.claim) != row.judge_verdict


def _is_in_view(row: AnyRow) -> bool:
    """Say whether a row is a verdict that was given with a judge's in view."""
    action = Action(row.action)
    return action in _IN_VIEW or (
        row.saw_judge and action in (Action.ADJUDICATED, Action.BULK) and row.verdict is not None
    )
