"""How a claim set was drawn: when, and what other samples of its claims were labelled.

Both are counted where the sample is, and kept in the set, which goes where the sample is not.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, select

from faithtui.agreement.sampling.draw import SampleKind
from faithtui.store.schema.json_columns import AnyRow
from faithtui.store.schema.statements import make_in_condition
from faithtui.store.schema.tables import (
    claim,
    claim_set,
    claim_set_claim,
    conversation,
    deletion,
    human_label,
    run,
    sample,
    sample_claim,
)

DRAWING_COLUMNS = ("drawn_at", "other_labels")
"""Of a claim set, both null where nothing is known of the drawing."""


def list_claims_drawn_by_other_samples_or_sets(
    connection: Connection, claims: Collection[int], sample_uid: str
) -> set[int]:
    """List the claims that other samples and claim sets drew.

    Args:
        connection: Of the store.
        claims: Of which.
        sample_uid: The sample that does not count, nor do claim sets made of it.
    """
    by_samples = (
        select(sample_claim.c.claim_id)
        .join(sample, sample.c.id == sample_claim.c.sample_id)
        .where(
            make_in_condition(sample_claim.c.claim_id, claims),
            sample.c.kind == SampleKind.SAMPLE.value,
            sample.c.uid != sample_uid,
        )
    )
    by_sets = (
        select(claim_set_claim.c.claim_id)
        .join(claim_set, claim_set.c.id == claim_set_claim.c.claim_set_id)
        .where(
            make_in_condition(claim_set_claim.c.claim_id, claims),
            claim_set_claim.c.place.is_not(None),
            claim_set.c.sample_uid != sample_uid,
        )
    )
    return set(connection.scalars(by_samples.union(by_sets)))


def find_sample_that_drew(
    connection: Connection, sample_uid: str, drawn: Collection[int]
) -> AnyRow | None:
    """Find the sample of this store that a claim set names, if it drew the claims of the set.

    A file of a set says which sample it is of; it may name one that has other claims.

    Args:
        connection: Of the store.
        sample_uid: As the set says.
        drawn: The drawn claims of the set.

    Returns:
        `id`, `created_at` and `judged_at`.
    """
    found = connection.execute(
        select(sample.c.id, sample.c.created_at, run.c.created_at.label("judged_at"))
        .join(run, run.c.id == sample.c.run_id)
        .where(sample.c.uid == sample_uid)
    ).one_or_none()
    if found is None:
        return None
    shared = connection.scalar(
        select(func.count())
        .select_from(sample_claim)
        .where(
            sample_claim.c.sample_id == found.id, make_in_condition(sample_claim.c.claim_id, drawn)
        )
    )
    return found if shared == len(drawn) else None


def complete_draw_columns(
    connection: Connection, columns: Mapping[str, Any], claims: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Give `DRAWING_COLUMNS` of a claim set as they are now: what was counted once stays counted.

    Where samples were deleted, all labelled claims that were not drawn count: nothing says whose
    they were. Where labels were, how many there are of others is not known.

    Args:
        connection: Of the store.
        columns: Of the set; `DRAWING_COLUMNS` may be missing.
        claims: Rows of its claims.
    """
    kept = {name: columns.get(name) for name in DRAWING_COLUMNS}
    uid = columns["sample_uid"]
    drawn = [each["claim_id"] for each in claims if each["place"] is not None]
    found = find_sample_that_drew(connection, uid, drawn)
    if found is None and None in kept.values():
        return kept
    outside = [each["claim_id"] for each in claims if each["place"] is None]
    wanted = select(human_label.c.claim_id).where(
        make_in_condition(human_label.c.claim_id, outside), human_label.c.verdict.is_not(None)
    )
    labelled = set(connection.scalars(wanted))
    # Samples of an earlier run over the same conversations drew the same claims.
    since = connection.scalar(
        select(func.min(conversation.c.imported_at))
        .join(claim, claim.c.conversation_id == conversation.c.id)
        .where(make_in_condition(claim.c.id, drawn))
    ) or (kept["drawn_at"] if found is None else found.judged_at)
    deleted = connection.scalars(
        select(deletion.c.counts).where(deletion.c.created_at >= since)
    ).all()
    if any(each.get("labels") for each in deleted):
        return {
            "drawn_at": kept["drawn_at"] if found is None else found.created_at,
            "other_labels": None,
        }
    if not any(each.get("samples") for each in deleted):
        labelled = list_claims_drawn_by_other_samples_or_sets(connection, labelled, uid)
    return {
        "drawn_at": kept["drawn_at"] if found is None else found.created_at,
        "other_labels": max(len(labelled), kept["other_labels"] or 0),
    }
