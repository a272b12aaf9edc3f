"""What looks wrong in runs: findings of the checks, kept so that a list of them is read at once."""

from collections.abc import Sequence

from sqlalchemy import Connection, Select, and_, case, delete, func, insert, select, update

from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.integrity.findings import WEIGHTS, Finding, FindingKind
from faithtui.domain.integrity.run_summary import CHECKS
from faithtui.store.database import Database
from faithtui.store.records import (
    FindingCount,
    FindingRow,
    FindingSummary,
    ItemCheckResult,
    ItemState,
)
from faithtui.store.runs.rollups import TEXT_COUNTS, update_item_and_run_counters
from faithtui.store.schema.json_columns import AnyRow
from faithtui.store.schema.statements import split_into_chunks
from faithtui.store.schema.tables import (
    claim,
    conversation,
    finding,
    run,
    run_item,
    verdict,
    window,
)

_ENDED = (ItemState.DONE.value, ItemState.FAILED.value)
"""States of a conversation in which something was judged that can be checked."""


class Findings:
    """Findings of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_unchecked_conversations(
        self, run_id: RunId, limit: int | None = None
    ) -> tuple[ItemId, ...]:
        """List conversations of a run that were judged since they were checked, or never were.

        Args:
            run_id: The run.
            limit: At most so many; None: all.
        """
        statement = (
            select(run_item.c.id)
            .where(
                run_item.c.run_id == run_id,
                run_item.c.checked != CHECKS,
                run_item.c.state.in_(_ENDED),
            )
            .limit(limit)
        )
        with self._database.open_reader() as connection:
            return tuple(ItemId(each) for each in connection.scalars(statement))

    def read_surplus_verdicts(self, item: ItemId) -> dict[int, tuple[str | None, ...]]:
        """Read the verdicts a judge gave beyond the last claim, by position of the window."""
        with self._database.open_reader() as connection:
            rows = connection.execute(
                select(window.c.position, window.c.surplus).where(window.c.run_item_id == item)
            )
            return {row.position: tuple(row.surplus) for row in rows if row.surplus}

    def replace_findings_of_conversations(self, checked: Sequence[ItemCheckResult]) -> int:
        """Write what checks of some conversations found, in place of what was found before.

        Conversations that were judged on meanwhile are left unchecked.

        Returns:
            How many conversations were written.

        Raises:
            StoreError: It cannot be written; nothing of it was.
        """
        return self._database.run_in_write_transaction(
            lambda connection: _replace_findings_of_conversations(connection, checked)
        )

    def summarise_run(self, run_id: RunId) -> FindingSummary:
        """Count the findings of a run by kind, and the conversations that are checked."""
        with self._database.open_reader() as connection:
            waiting = connection.scalars(
                select(func.count())
                .select_from(run_item)
                .where(
                    run_item.c.run_id == run_id,
                    run_item.c.checked != CHECKS,
                    run_item.c.state.in_(_ENDED),
                )
            ).one()
            checked = connection.scalars(
                select(func.count())
                .select_from(run_item)
                .where(run_item.c.run_id == run_id, run_item.c.checked == CHECKS)
            ).one()
            rows = connection.execute(
                select(
                    finding.c.kind,
                    func.count(),
                    func.count(finding.c.run_item_id.distinct()),
                    func.count(finding.c.claim_id.distinct()),
                )
                .where(finding.c.run_id == run_id)
                .group_by(finding.c.kind)
            ).all()
        found = {kind: FindingCount(*numbers) for kind, *numbers in rows}
        known = {kind.value: kind for kind in FindingKind}
        return FindingSummary(
            checked=checked,
            waiting=waiting,
            counts={known[kind]: found[kind] for kind in known if kind in found},
        )

    def list_ids_of_kind(self, run_id: RunId, kind: FindingKind) -> tuple[int, ...]:
        """List the findings of a kind, for paging through them by `read_rows`."""
        return self._database.read_ids(
            select(finding.c.id)
            .join(run_item, run_item.c.id == finding.c.run_item_id)
            .where(finding.c.run_id == run_id, finding.c.kind == kind.value)
            .order_by(run_item.c.number, finding.c.id)
        )

    def read_rows(self, ids: Sequence[int]) -> tuple[FindingRow, ...]:
        """Read findings, in the order asked; unknown ids are left out."""
        found: dict[int, FindingRow] = {}
        with self._database.open_reader() as connection:
            for some in split_into_chunks(ids):
                for row in connection.execute(_ROWS.where(finding.c.id.in_(some))):
                    found[row.id] = _finding_from_row(row)
        return tuple(found[each] for each in ids if each in found)

    def list_claims_with_finding(
        self, run_id: RunId, kind: FindingKind
    ) -> tuple[tuple[ItemId, ClaimId], ...]:
        """List the claims with a finding of a kind, each once, in the order of the run."""
        with self._database.open_reader() as connection:
            rows = connection.execute(
                select(finding.c.run_item_id, finding.c.claim_id)
                .join(run_item, run_item.c.id == finding.c.run_item_id)
                .where(
                    finding.c.run_id == run_id,
                    finding.c.kind == kind.value,
                    finding.c.claim_id.is_not(None),
                )
                .group_by(finding.c.run_item_id, finding.c.claim_id)
                .order_by(run_item.c.number, func.min(finding.c.id))
            ).all()
        return tuple((ItemId(item), ClaimId(claim_id)) for item, claim_id in rows)

    def list_suspicious_claims(
        self, run_id: RunId, limit: int = 500
    ) -> tuple[tuple[ItemId, ClaimId], ...]:
        """List the claims of a run, the most suspicious first.

        First those with findings, by the weights of `integrity.WEIGHTS` added up, ties by how near
        the judge's confidence is to one half; then the others by that nearness. Claims without a
        finding of whose verdict the judge gives no confidence are left out: nothing is known
        against them. The order is a convenience and no sample: see docs/integrity.md.

        Args:
            run_id: The run.
            limit: At most so many.
        """
        weight = case(
            *((finding.c.kind == kind.value, value) for kind, value in WEIGHTS.items()), else_=0
        )
        total = func.sum(weight).label("total")
        found = (
            select(finding.c.run_item_id, finding.c.claim_id, total)
            .where(finding.c.run_id == run_id, finding.c.claim_id.is_not(None))
            .group_by(finding.c.run_item_id, finding.c.claim_id)
            .subquery()
        )
        doubt = func.abs(verdict.c.confidence - 0.5)
        with self._database.open_reader() as connection:
            rows = connection.execute(
                select(found.c.run_item_id, found.c.claim_id)
                .join(run_item, run_item.c.id == found.c.run_item_id)
                .join(
                    verdict,
                    and_(
                        verdict.c.run_item_id == found.c.run_item_id,
                        verdict.c.claim_id == found.c.claim_id,
                        verdict.c.is_home,
                    ),
                )
                .order_by(
                    found.c.total.desc(),
                    func.coalesce(doubt, 1),
                    run_item.c.number,
                    found.c.claim_id,
                )
                .limit(limit)
            ).all()
            chosen = [(ItemId(item), ClaimId(claim_id)) for item, claim_id in rows]
            if len(chosen) < limit:
                have = set(chosen)
                more = connection.execute(
                    select(verdict.c.run_item_id, verdict.c.claim_id)
                    .join(run_item, run_item.c.id == verdict.c.run_item_id)
                    .where(
                        run_item.c.run_id == run_id,
                        verdict.c.is_home,
                        verdict.c.confidence.is_not(None),
                    )
                    .order_by(doubt, run_item.c.number, verdict.c.claim_id)
                    .limit(limit)
                )
                for item, claim_id in more:
                    entry = (ItemId(item), ClaimId(claim_id))
                    if entry not in have and len(chosen) < limit:
                        chosen.append(entry)
        return tuple(chosen)


_ROWS: Select[tuple[object, ...]] = (
    select(
        finding.c.id,
        finding.c.run_item_id,
        finding.c.kind,
        finding.c.claim_id,
        finding.c.window,
        finding.c.turn,
        finding.c.detail,
        run_item.c.number,
        conversation.c.source,
        conversation.c.key,
        claim.c.text,
    )
    .join(run_item, run_item.c.id == finding.c.run_item_id)
    .join(conversation, conversation.c.id == run_item.c.conversation_id)
    .outerjoin(claim, claim.c.id == finding.c.claim_id)
)


def _finding_from_row(row: AnyRow) -> FindingRow:
    return FindingRow(
        id=row.id,
        item=ItemId(row.run_item_id),
        number=row.number,
        source=row.source,
        key=row.key,
        finding=Finding(
            FindingKind(row.kind),
            row.detail,
            None if row.claim_id is None else ClaimId(row.claim_id),
            row.window,
            row.turn,
        ),
        text=row.text,
    )


def _replace_findings_of_conversations(
    connection: Connection, checked: Sequence[ItemCheckResult]
) -> int:
    written = 0
    for each in checked:
        # A run may have gone on since the conversation was read; then it is checked again later.
        run_id = connection.execute(
            select(run_item.c.run_id).where(
                run_item.c.id == each.item,
                run_item.c.state == each.state.value,
                run_item.c.windows == each.windows,
            )
        ).scalar()
        if run_id is None:
            continue
        written += 1
        update_item_and_run_counters(
            connection, each.item, replace_conversation_findings(connection, run_id, each)
        )
    return written


def replace_conversation_findings(
    connection: Connection, run_id: int, checked: ItemCheckResult
) -> dict[str, object]:
    """Write what checks of a conversation found, in place of what was found before.

    Returns:
        What its row must have from now on: the version of the checks and what they counted.
    """
    # Counts of another version of the checks are none of this one.
    connection.execute(
        update(run)
        .where(run.c.id == run_id, run.c.checks != CHECKS)
        .values(checks=CHECKS, checked=0, **dict.fromkeys(TEXT_COUNTS, 0))
    )
    connection.execute(delete(finding).where(finding.c.run_item_id == checked.item))
    rows = [
        {
            "run_id": run_id,
            "run_item_id": checked.item,
            "kind": found.kind.value,
            "claim_id": found.claim,
            "window": found.window,
            "turn": found.turn,
            "detail": found.detail,
        }
        for found in checked.findings
    ]
    if rows:
        connection.execute(insert(finding), rows)
    counted = {column: getattr(checked.counts, name) for column, name in TEXT_COUNTS.items()}
    return {"checked": CHECKS, **counted}
