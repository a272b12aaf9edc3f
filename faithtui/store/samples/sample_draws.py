"""The sample that a report on a run rests on."""

from collections import Counter
from collections.abc import Collection

from sqlalchemy import Connection, select

from faithtui.agreement.sampling.designs import LabelledSample, SampledClaim
from faithtui.agreement.sampling.draw import SampleKind, SamplingDesign, Stratum
from faithtui.domain.ids import ClaimId, ItemId, RunId, SampleId
from faithtui.errors import StoreError
from faithtui.store.schema.tables import sample, sample_claim

_REPRESENTATIVE_KINDS = (SampleKind.SAMPLE.value, SampleKind.SPOT_CHECK.value)
"""Kinds that stand for the run: what is drawn of one's own labelled claims does not."""


def read_report_sample(
    connection: Connection, run_id: RunId, asked: SampleId | None, labelled: Collection[ClaimId]
) -> LabelledSample | None:
    """Read the sample that labels of a run rest on.

    Args:
        connection: Where to read.
        run_id: The run.
        asked: The sample to take; None: the one with the most labelled claims, of equals the
            newest.
        labelled: Claims of the run that count as labelled.

    Returns:
        None when no claim of any sample is labelled and none was asked for.

    Raises:
        StoreError: The sample asked for is not there, is of another run, or is a repeat.
    """
    chosen = _find_most_labelled(connection, run_id, labelled) if asked is None else asked
    if chosen is None:
        return None
    row = connection.execute(select(sample).where(sample.c.id == chosen)).one_or_none()
    if row is None or row.run_id != run_id:
        raise StoreError(f"run {run_id} has no sample {chosen}; choose one of its own, or none")
    if row.kind not in _REPRESENTATIVE_KINDS:
        raise StoreError(
            f"sample {chosen} is a {row.kind} of claims that were labelled before, so it does not "
            "stand for the run; choose one that was drawn from all of it"
        )
    claims = connection.execute(
        select(sample_claim.c.claim_id, sample_claim.c.run_item_id, sample_claim.c.stratum)
        .where(sample_claim.c.sample_id == chosen)
        .order_by(sample_claim.c.position)
    )
    return LabelledSample(
        id=chosen,
        name=row.name,
        seed=row.seed,
        design=SamplingDesign(row.design),
        frame=row.frame,
        stratified_by=tuple(row.stratified_by),
        strata=tuple(
            Stratum(each["name"], each["population"], each["drawn"]) for each in row.strata
        ),
        claims=tuple(
            SampledClaim(ClaimId(claim_id), ItemId(item), stratum)
            for claim_id, item, stratum in claims
        ),
    )


def _find_most_labelled(
    connection: Connection, run_id: RunId, labelled: Collection[ClaimId]
) -> SampleId | None:
    if not labelled:
        return None
    rows = connection.execute(
        select(sample_claim.c.sample_id, sample_claim.c.claim_id)
        .join(sample, sample.c.id == sample_claim.c.sample_id)
        .where(sample.c.run_id == run_id, sample.c.kind.in_(_REPRESENTATIVE_KINDS))
    )
    counts = Counter(sample_id for sample_id, claim_id in rows if claim_id in labelled)
    return max(counts, key=lambda each: (counts[each], each), default=None)
