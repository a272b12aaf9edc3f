"""A run's verdicts on the claims of a set, the ones that its judge worded otherwise among them."""

from collections.abc import Mapping
from dataclasses import replace

from sqlalchemy import Connection, select

from faithtui.domain.claims.claim_matcher import ClaimWording, match_claims
from faithtui.domain.ids import ClaimId, ClaimSetId, RunId
from faithtui.store.runs.judge_verdicts import JudgedRun
from faithtui.store.schema.json_columns import AnyRow
from faithtui.store.schema.tables import claim, claim_set_claim, run_item, verdict

_COLUMNS = (
    *(claim.c.id, claim.c.conversation_id, claim.c.kind, claim.c.turn, claim.c.document_id),
    claim.c.text,
)


def replace_run_claims_by_those_of_set(
    connection: Connection, run_id: RunId, judged: JudgedRun, claim_set: ClaimSetId
) -> JudgedRun:
    """Put the claims of a set in place of a run's own ones, as far as they are the same.

    Returns:
        The run with the verdicts that are on claims of the set, or were matched to one; the others
        are left out. Windows and their claims stay as they are.
    """
    texts, matched = _match_claims(connection, run_id, claim_set)
    return replace(
        judged,
        homes=[
            (number, turn, place, theirs, label, confidence, kind, texts[theirs])
            for number, turn, place, mine, label, confidence, kind, _ in judged.homes
            if (theirs := matched.get(mine)) is not None
        ],
        repeated={
            matched[each]: labels for each, labels in judged.repeated.items() if each in matched
        },
        inconsistent_claims=frozenset(
            matched[each] for each in judged.inconsistent_claims if each in matched
        ),
    )


def translate_labels_to_claims_of_set(
    connection: Connection,
    run_id: RunId,
    labels: Mapping[ClaimId, str | None],
    claim_set: ClaimSetId,
) -> dict[ClaimId, str | None]:
    """Give a run's labels to the claims of a set; see `replace_run_claims_by_those_of_set`."""
    _, matched = _match_claims(connection, run_id, claim_set)
    return {matched[each]: label for each, label in labels.items() if each in matched}


def _match_claims(
    connection: Connection, run_id: RunId, claim_set: ClaimSetId
) -> tuple[Mapping[ClaimId, str], Mapping[ClaimId, ClaimId]]:
    """Give the texts of a set's claims, and the claim of the set by claim of the run."""
    own = connection.execute(
        select(*_COLUMNS)
        .join(verdict, verdict.c.claim_id == claim.c.id)
        .join(run_item, run_item.c.id == verdict.c.run_item_id)
        .where(run_item.c.run_id == run_id, verdict.c.is_home)
        .order_by(run_item.c.number, claim.c.turn, verdict.c.position)
    ).all()
    wanted = connection.execute(
        select(*_COLUMNS)
        .join(claim_set_claim, claim_set_claim.c.claim_id == claim.c.id)
        .where(claim_set_claim.c.claim_set_id == claim_set)
        .order_by(claim_set_claim.c.position)
    ).all()
    found = match_claims([*map(_read_wording, own)], [*map(_read_wording, wanted)])
    return (
        {ClaimId(each.id): each.text for each in wanted},
        {ClaimId(mine): ClaimId(theirs) for mine, theirs in found.items()},
    )


def _read_wording(row: AnyRow) -> ClaimWording:
    return ClaimWording(
        row.id, (row.conversation_id, row.kind, row.turn, row.document_id), row.text
    )
