"""What judges and people say about the claims of a run, read for a comparison of all of them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, and_, case, func, select

from faithtui.agreement.report.raters import ComparedClaim, Repeat, repeats_of
from faithtui.domain.annotations import Action, HumanVerdict, LabelAct, standing_acts
from faithtui.domain.ids import ClaimId, ItemId, LabelId, RunId
from faithtui.domain.scores import ScoringRule
from faithtui.errors import StoreError
from faithtui.store.annotations.label_replay import acts_of, human_verdicts
from faithtui.store.database import Database
from faithtui.store.records import RunRow
from faithtui.store.runs.list_rows import run_rows
from faithtui.store.schema.json_columns import AnyRow
from faithtui.store.schema.statements import chunks, row_by_row
from faithtui.store.schema.tables import (
    claim,
    conversation,
    human_label,
    run,
    run_item,
    turn,
    verdict,
)


@dataclass(frozen=True, slots=True)
class Compared:
    """What is known about the raters of a run's claims."""

    run: RunRow
    runs: tuple[RunRow, ...]
    """Runs of the same metric that judged labelled claims of it: itself, then the newest first."""
    claims: tuple[ComparedClaim, ...]
    """Claims that somebody acted on, in the order of the run and of the text."""
    repeats: tuple[Repeat, ...]
    """Second verdicts of people on their own claims."""


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim in a list."""

    id: ClaimId
    key: str
    """Of its conversation."""
    turn: int
    text: str
    """Of a whole answer, what the turn says."""


class Raters:
    """Comparisons of judges and people."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def compared(self, run_id: RunId) -> Compared:
        """Read what everybody says about the claims of a run that somebody acted on.

        Raises:
            StoreError: There is no such run.
        """
        with self._database.reading() as connection:
            rows = run_rows(connection, [run_id])
            if not rows:
                raise StoreError(f"there is no run {run_id}; faithtui runs lists them")
            (row,) = rows
            labelled = _home(run_id).where(
                verdict.c.claim_id.in_(select(human_label.c.claim_id).distinct())
            )
            found = connection.execute(labelled.order_by(*_ORDER)).all()
            numbers = [each.claim_id for each in found]
            acts = _acts(connection, numbers)
            claims, judges = _claims(connection, found, acts, row)
            return Compared(
                row,
                (row, *run_rows(connection, sorted(judges - {run_id}, reverse=True))),
                claims,
                _repeats(connection, acts, {each.claim: each.group for each in claims}, row),
            )

    def judges_differ(self, run_id: RunId) -> tuple[ComparedClaim, ...]:
        """Read the claims of a run on which judges of the metric's runs differ, labelled or not.

        Reads every verdict of those runs, so it takes seconds for a million claims.

        Raises:
            StoreError: There is no such run.
        """
        with self._database.reading() as connection:
            rows = run_rows(connection, [run_id])
            if not rows:
                raise StoreError(f"there is no run {run_id}; faithtui runs lists them")
            differing = (
                select(verdict.c.claim_id)
                .join(run_item, run_item.c.id == verdict.c.run_item_id)
                .where(verdict.c.is_home, run_item.c.run_id.in_(_same_metric(run_id)))
                .group_by(verdict.c.claim_id)
                .having(func.count(func.coalesce(verdict.c.label, "").distinct()) > 1)
            )
            found = connection.execute(
                _home(run_id).where(verdict.c.claim_id.in_(differing)).order_by(*_ORDER)
            ).all()
            acts = _acts(connection, [each.claim_id for each in found])
            return _claims(connection, found, acts, rows[0])[0]

    def rows(self, claims: Sequence[ClaimId]) -> list[ClaimRow]:
        """Read claims for a list, in any order; ids that are gone are left out."""
        with self._database.reading() as connection:
            return [
                ClaimRow(ClaimId(row.id), row.key, row.turn, row.text)
                for some in chunks(list(claims))
                for row in connection.execute(_texts().where(claim.c.id.in_(some)))
            ]


_ORDER = (run_item.c.number, claim.c.turn, verdict.c.position, claim.c.id)


def _same_metric(run_id: RunId) -> Select[Any]:
    """Select the runs with the same metric; of archived ones only the run itself."""
    metric = select(run.c.metric).where(run.c.id == run_id).scalar_subquery()
    listed = run.c.archived_at.is_(None) | (run.c.id == run_id)
    return select(run.c.id).where(run.c.metric == metric, listed)


def _home(run_id: RunId) -> Select[Any]:
    """Select the claims of a run, each once."""
    return (
        select(verdict.c.claim_id, verdict.c.run_item_id, conversation.c.group)
        .join(run_item, run_item.c.id == verdict.c.run_item_id)
        .join(claim, claim.c.id == verdict.c.claim_id)
        .join(conversation, conversation.c.id == claim.c.conversation_id)
        .where(verdict.c.is_home, run_item.c.run_id == run_id)
    )


def _texts() -> Select[Any]:
    return (
        select(
            claim.c.id,
            claim.c.turn,
            conversation.c.key,
            case((claim.c.kind == "answer", turn.c.content), else_=claim.c.text).label("text"),
        )
        .join(conversation, conversation.c.id == claim.c.conversation_id)
        .outerjoin(
            turn,
            and_(
                turn.c.conversation_id == claim.c.conversation_id,
                turn.c.position == claim.c.turn,
            ),
        )
    )


def _acts(connection: Connection, claims: Sequence[int]) -> list[LabelAct]:
    """Read the acts on some claims; those on one claim are in the order of the log."""
    return [
        act
        for some in chunks(claims)
        for act in acts_of(connection, human_label.c.claim_id.in_(some))
    ]


def _claims(
    connection: Connection, found: Sequence[AnyRow], acts: Sequence[LabelAct], row: RunRow
) -> tuple[tuple[ComparedClaim, ...], set[RunId]]:
    """Put together what is said about claims; also give the runs that judged one of them."""
    rule = row.spec.rule
    standing = standing_acts(acts)
    # A final word is told apart from what its giver had said before.
    before = human_verdicts(act for act in standing if act.action is not Action.ADJUDICATED)
    finals = {act.claim: act for act in standing if act.action is Action.ADJUDICATED}
    judges: dict[int, dict[RunId, str | None]] = defaultdict(dict)
    for some in chunks([each.claim_id for each in found]):
        for said in connection.execute(
            select(run_item.c.run_id, verdict.c.claim_id, verdict.c.label)
            .join(run_item, run_item.c.id == verdict.c.run_item_id)
            .where(
                verdict.c.is_home,
                verdict.c.claim_id.in_(some),
                row_by_row(run_item.c.run_id).in_(_same_metric(row.id)),
            )
            .order_by(run_item.c.run_id)
        ):
            judges[said.claim_id][RunId(said.run_id)] = said.label
    return (
        tuple(
            ComparedClaim(
                claim=ClaimId(each.claim_id),
                item=ItemId(each.run_item_id),
                group=each.group,
                opinions=_opinions(before.get(ClaimId(each.claim_id), ()), rule),
                final=_final(finals.get(ClaimId(each.claim_id)), rule),
                judges=judges[each.claim_id],
                flagged=any(one.flagged for one in before.get(ClaimId(each.claim_id), ())),
            )
            for each in found
        ),
        {number for said in judges.values() for number in said},
    )


def _opinions(verdicts: Iterable[HumanVerdict], rule: ScoringRule) -> tuple[HumanVerdict, ...]:
    """Keep what counts and means something in the run, in its words; in the order of names."""
    heard = (
        replace(each, verdict=rule.heard(each.verdict))
        for each in verdicts
        if each.counts and each.verdict is not None
    )
    return tuple(
        sorted((each for each in heard if each.verdict is not None), key=lambda each: each.reviewer)
    )


def _final(act: LabelAct | None, rule: ScoringRule) -> HumanVerdict | None:
    word = None if act is None or act.verdict is None else rule.heard(act.verdict)
    if act is None or word is None:
        return None
    return HumanVerdict(act.claim, act.reviewer, word, act.action, act.note or None)


def _repeats(
    connection: Connection, acts: Sequence[LabelAct], groups: dict[ClaimId, str], row: RunRow
) -> tuple[Repeat, ...]:
    found = repeats_of(acts)
    numbers = sorted({act.id for each in found for act in (each.first, each.second)})
    times: dict[LabelId, datetime] = {}
    for some in chunks(numbers):
        for told in connection.execute(
            select(human_label.c.id, human_label.c.created_at).where(human_label.c.id.in_(some))
        ):
            times[LabelId(told.id)] = told.created_at
    rule = row.spec.rule
    return tuple(
        Repeat(
            each.second.reviewer,
            groups[each.second.claim],
            rule.heard(each.first.verdict or "") or "",
            rule.heard(each.second.verdict or "") or "",
            (times[each.second.id] - times[each.first.id]).total_seconds(),
        )
        for each in found
    )
