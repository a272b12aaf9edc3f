"""Verdicts and human labels of the claims of a run, read for a comparison of all raters."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, and_, case, func, select

from faithtui.agreement.report.figures.rater_comparison import (
    ClaimOpinions,
    RepeatedLabel,
    list_repeated_verdicts,
)
from faithtui.domain.ids import ClaimId, ItemId, LabelId, RunId
from faithtui.domain.labels.label_events import (
    Action,
    HumanVerdict,
    LabelEvent,
    drop_withdrawn_events,
)
from faithtui.domain.scores import ScoringRule
from faithtui.errors import StoreError
from faithtui.store.annotations.label_replay import read_events, replay_verdicts
from faithtui.store.database import Database
from faithtui.store.records import RunRow
from faithtui.store.runs.list_rows import read_run_rows
from faithtui.store.schema.json_columns import AnyRow
from faithtui.store.schema.statements import make_unindexed_key_expression, split_into_chunks
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
class RaterRecords:
    """What is known about the raters of a run's claims."""

    run: RunRow
    runs: tuple[RunRow, ...]
    """Runs of the same metric that judged labelled claims of it: itself, then the newest first."""
    claims: tuple[ClaimOpinions, ...]
    """Claims that somebody acted on, in the order of the run and of the text."""
    repeats: tuple[RepeatedLabel, ...]
    """Second labels of annotators on their own claims."""

    @property
    def run_ids(self) -> list[RunId]:
        """Numbers of the runs."""
        return [each.id for each in self.runs]


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim in a list."""

    id: ClaimId
    key: str
    """Of its conversation."""
    turn: int
    text: str
    """Of a whole answer, what the turn says."""


class RaterReader:
    """Comparisons of judges and annotators."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read_rater_records(self, run_id: RunId) -> RaterRecords:
        """Read what everybody says about the claims of a run that somebody acted on.

        Raises:
            StoreError: There is no such run.
        """
        with self._database.open_reader() as connection:
            rows = read_run_rows(connection, [run_id])
            if not rows:
                raise StoreError(f"there is no run {run_id}; faithtui runs lists them")
            (row,) = rows
            labelled = _select_unique_judged_claims(run_id).where(
                verdict.c.claim_id.in_(select(human_label.c.claim_id).distinct())
            )
            found = connection.execute(labelled.order_by(*_ORDER)).all()
            numbers = [each.claim_id for each in found]
            acts = _read_claim_events(connection, numbers)
            claims, judges = _collect_opinions_and_judging_runs(connection, found, acts, row)
            return RaterRecords(
                row,
                (row, *read_run_rows(connection, sorted(judges - {run_id}, reverse=True))),
                claims,
                read_repeated_labels(
                    connection,
                    acts,
                    {each.claim: each.group for each in claims},
                    row.spec.rule,
                ),
            )

    def read_judge_disagreements(self, run_id: RunId) -> tuple[ClaimOpinions, ...]:
        """Read the claims of a run on which judges of the metric's runs differ, labelled or not.

        Reads every verdict of those runs, so it takes seconds for a million claims.

        Raises:
            StoreError: There is no such run.
        """
        with self._database.open_reader() as connection:
            rows = read_run_rows(connection, [run_id])
            if not rows:
                raise StoreError(f"there is no run {run_id}; faithtui runs lists them")
            differing = (
                select(verdict.c.claim_id)
                .join(run_item, run_item.c.id == verdict.c.run_item_id)
                .where(verdict.c.is_home, run_item.c.run_id.in_(_select_same_metric_runs(run_id)))
                .group_by(verdict.c.claim_id)
                .having(func.count(func.coalesce(verdict.c.label, "").distinct()) > 1)
            )
            found = connection.execute(
                _select_unique_judged_claims(run_id)
                .where(verdict.c.claim_id.in_(differing))
                .order_by(*_ORDER)
            ).all()
            acts = _read_claim_events(connection, [each.claim_id for each in found])
            return _collect_opinions_and_judging_runs(connection, found, acts, rows[0])[0]

    def read_claim_rows(self, claims: Sequence[ClaimId]) -> list[ClaimRow]:
        """Read claims for a list, in any order; ids that are gone are left out."""
        with self._database.open_reader() as connection:
            return [
                ClaimRow(ClaimId(row.id), row.key, row.turn, row.text)
                for some in split_into_chunks(list(claims))
                for row in connection.execute(_select_claim_texts().where(claim.c.id.in_(some)))
            ]


_ORDER = (run_item.c.number, claim.c.turn, verdict.c.position, claim.c.id)


def _select_same_metric_runs(run_id: RunId) -> Select[Any]:
    """Select the runs with the same metric; of archived ones only the run itself."""
    metric = select(run.c.metric).where(run.c.id == run_id).scalar_subquery()
    listed = run.c.archived_at.is_(None) | (run.c.id == run_id)
    return select(run.c.id).where(run.c.metric == metric, listed)


def _select_unique_judged_claims(run_id: RunId) -> Select[Any]:
    """Select the claims of a run, each once."""
    return (
        select(verdict.c.claim_id, verdict.c.run_item_id, conversation.c.group)
        .join(run_item, run_item.c.id == verdict.c.run_item_id)
        .join(claim, claim.c.id == verdict.c.claim_id)
        .join(conversation, conversation.c.id == claim.c.conversation_id)
        .where(verdict.c.is_home, run_item.c.run_id == run_id)
    )


def _select_claim_texts() -> Select[Any]:
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


def _read_claim_events(connection: Connection, claims: Sequence[int]) -> list[LabelEvent]:
    """Read the events on some claims; those on one claim are in the order of the log."""
    return [
        act
        for some in split_into_chunks(claims)
        for act in read_events(connection, human_label.c.claim_id.in_(some))
    ]


def _collect_opinions_and_judging_runs(
    connection: Connection, found: Sequence[AnyRow], acts: Sequence[LabelEvent], row: RunRow
) -> tuple[tuple[ClaimOpinions, ...], set[RunId]]:
    """Put together what is said about claims; also give the runs that judged one of them."""
    rule = row.spec.rule
    standing = drop_withdrawn_events(acts)
    # A final label is kept apart from the earlier label of its giver.
    before = replay_verdicts(act for act in standing if act.action is not Action.ADJUDICATED)
    finals = {act.claim: act for act in standing if act.action is Action.ADJUDICATED}
    judges: dict[int, dict[RunId, str | None]] = defaultdict(dict)
    for some in split_into_chunks([each.claim_id for each in found]):
        for verdict_row in connection.execute(
            select(run_item.c.run_id, verdict.c.claim_id, verdict.c.label)
            .join(run_item, run_item.c.id == verdict.c.run_item_id)
            .where(
                verdict.c.is_home,
                verdict.c.claim_id.in_(some),
                make_unindexed_key_expression(run_item.c.run_id).in_(
                    _select_same_metric_runs(row.id)
                ),
            )
            .order_by(run_item.c.run_id)
        ):
            judges[verdict_row.claim_id][RunId(verdict_row.run_id)] = verdict_row.label
    return (
        tuple(
            ClaimOpinions(
                claim=ClaimId(each.claim_id),
                item=ItemId(each.run_item_id),
                group=each.group,
                opinions=_list_counted_opinions_in_run_words(
                    before.get(ClaimId(each.claim_id), ()), rule
                ),
                final=_make_final_verdict(finals.get(ClaimId(each.claim_id)), rule),
                judges=judges[each.claim_id],
                flagged=any(one.flagged for one in before.get(ClaimId(each.claim_id), ())),
            )
            for each in found
        ),
        {number for label_by_run in judges.values() for number in label_by_run},
    )


def _list_counted_opinions_in_run_words(
    verdicts: Iterable[HumanVerdict], rule: ScoringRule
) -> tuple[HumanVerdict, ...]:
    """Keep what counts and means something in the run, in its words; in the order of names."""
    translated = (
        replace(each, verdict=rule.translate_word_to_label(each.verdict))
        for each in verdicts
        if each.is_counted and each.verdict is not None
    )
    return tuple(
        sorted(
            (each for each in translated if each.verdict is not None),
            key=lambda each: each.reviewer,
        )
    )


def _make_final_verdict(act: LabelEvent | None, rule: ScoringRule) -> HumanVerdict | None:
    word = None if act is None or act.verdict is None else rule.translate_word_to_label(act.verdict)
    if act is None or word is None:
        return None
    return HumanVerdict(act.claim, act.reviewer, word, act.action, act.note or None)


def read_repeated_labels(
    connection: Connection,
    acts: Iterable[LabelEvent],
    groups: Mapping[ClaimId, str],
    rule: ScoringRule,
) -> tuple[RepeatedLabel, ...]:
    """Put together what statistics need to know of second labels.

    Args:
        connection: Where to read.
        acts: On any claims, in the order of the log.
        groups: What each of the claims belongs together with.
        rule: Of the run whose words are to be used.
    """
    found = list_repeated_verdicts(acts)
    times: dict[LabelId, datetime] = {}
    for some in split_into_chunks(sorted({act.id for pair in found for act in pair})):
        for row in connection.execute(
            select(human_label.c.id, human_label.c.created_at).where(human_label.c.id.in_(some))
        ):
            times[LabelId(row.id)] = row.created_at
    return tuple(
        RepeatedLabel(
            second.reviewer,
            groups[second.claim],
            rule.translate_word_to_label(first.verdict or "") or "",
            rule.translate_word_to_label(second.verdict or "") or "",
            (times[second.id] - times[first.id]).total_seconds(),
        )
        for first, second in found
    )
