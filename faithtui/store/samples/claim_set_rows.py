"""Rows of claim sets: read, written, hashed, and made fewer where claims are deleted."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from faithtui.agreement.sampling.draw import (
    CONVERSATIONS,
    FrameUnit,
    SampleKind,
    SamplingDesign,
    SamplingFrame,
    Stratum,
)
from faithtui.agreement.sampling.label_designs import LabelledSample, SampledClaim
from faithtui.domain.claims.claim_set import SetClaim, hash_set_version
from faithtui.domain.ids import ClaimId, ClaimSetId, ItemId, RunId, SampleId
from faithtui.errors import StoreError
from faithtui.store.bundles.bundles import read_claim_names
from faithtui.store.samples.sampling_frames import read_frame
from faithtui.store.schema.json_columns import AnyRow
from faithtui.store.schema.statements import insert_returning_id, make_in_condition
from faithtui.store.schema.storable_text import replace_unstorable_characters
from faithtui.store.schema.tables import (
    claim,
    claim_set,
    claim_set_claim,
    run,
    sample,
    sample_claim,
)

_AT_ONCE = 10_000
"""Claims of a set that are written at a time."""


def read_version_row(connection: Connection, number: ClaimSetId) -> AnyRow:
    """Read the row of a version.

    Raises:
        StoreError: It is not there.
    """
    row = connection.execute(select(claim_set).where(claim_set.c.id == number)).one_or_none()
    if row is None:
        raise StoreError("the claim set is not in this store any more; faithtui claim-set list")
    return row


def find_version(connection: Connection, name: str, version: int | None) -> AnyRow | None:
    """Find a version of a set; None asks for the newest."""
    wanted = select(claim_set).where(claim_set.c.name == replace_unstorable_characters(name))
    if version is not None:
        wanted = wanted.where(claim_set.c.version == version)
    row: AnyRow | None = connection.execute(wanted.order_by(claim_set.c.version.desc())).first()
    return row


def read_claim_rows(connection: Connection, number: int) -> list[dict[str, Any]]:
    """Read the claims of a version as they are written, in order."""
    rows = connection.execute(
        select(
            claim_set_claim.c.position,
            claim_set_claim.c.claim_id,
            claim_set_claim.c.stratum,
            claim_set_claim.c.place,
            claim_set_claim.c.shown,
        )
        .where(claim_set_claim.c.claim_set_id == number)
        .order_by(claim_set_claim.c.position)
    )
    return [dict(row._mapping) for row in rows]


def insert_version(
    connection: Connection, columns: dict[str, Any], claims: Sequence[dict[str, Any]]
) -> ClaimSetId:
    """Write a version with its claims."""
    number = insert_returning_id(connection, insert(claim_set).values(**columns))
    for start in range(0, len(claims), _AT_ONCE):
        part = [{**each, "claim_set_id": number} for each in claims[start : start + _AT_ONCE]]
        connection.execute(insert(claim_set_claim), part)
    return ClaimSetId(number)


def read_sample_as_set(
    connection: Connection, sample_id: SampleId
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read a sample as the columns and the claims of a set.

    Raises:
        StoreError: It is not there, is a repeat, or its run is no longer what it was drawn from.
    """
    row = connection.execute(select(sample).where(sample.c.id == sample_id)).one_or_none()
    if row is None:
        raise StoreError(f"there is no sample {sample_id}")
    if row.kind == SampleKind.REPEAT.value:
        raise StoreError(
            f"sample {sample_id} is a repeat of claims that were labelled before, so that it "
            "stands for no other claims; name the sample that they were drawn in"
        )
    if row.population is not None:
        raise StoreError(
            f"sample {sample_id} was drawn from {row.population['results']}, of which only drawn "
            "conversations are in the store; a claim set has everything that it was drawn from"
        )
    of = connection.execute(select(run.c.metric, run.c.options).where(run.c.id == row.run_id)).one()
    frame = read_frame(connection, RunId(row.run_id), row.stratified_by, row.created_at)
    wanted = select(
        sample_claim.c.claim_id,
        sample_claim.c.stratum,
        sample_claim.c.position,
        sample_claim.c.shown,
    ).where(sample_claim.c.sample_id == sample_id)
    drawn = {each.claim_id: each for each in connection.execute(wanted)}
    if row.frame != len(frame) or drawn.keys() - {each.claim for each in frame}:
        raise StoreError(
            f"what run {row.run_id} judged is not what sample {sample_id} was drawn from any more; "
            "draw a new sample"
        )
    size = of.options.get("window_size")
    columns: dict[str, Any] = {
        "metric": of.metric,
        "window_size": size if isinstance(size, int) else None,
        "design": row.design,
        "stratified_by": row.stratified_by,
        "seed": row.seed,
        "frame": row.frame,
        "strata": row.strata,
        "sample_uid": row.uid,
    }
    return columns, [
        {
            "position": position,
            "claim_id": each.claim,
            "stratum": drawn[each.claim].stratum if each.claim in drawn else each.stratum,
            "place": drawn[each.claim].position if each.claim in drawn else None,
            "shown": each.claim in drawn and drawn[each.claim].shown,
        }
        for position, each in enumerate(frame)
    ]


def read_source_sample_and_frame_of_set(
    connection: Connection, number: ClaimSetId
) -> tuple[LabelledSample, SamplingFrame]:
    """Read a version as the sample it was made of, and what that was drawn from.

    Raises:
        StoreError: It is not there.
    """
    row = read_version_row(connection, number)
    rows = connection.execute(
        select(
            claim_set_claim.c.claim_id,
            claim_set_claim.c.stratum,
            claim_set_claim.c.place,
            claim_set_claim.c.shown,
            claim.c.conversation_id,
        )
        .join(claim, claim.c.id == claim_set_claim.c.claim_id)
        .where(claim_set_claim.c.claim_set_id == number)
        .order_by(claim_set_claim.c.position)
    ).all()
    # A conversation is what an item of the run was.
    frame = SamplingFrame(
        (ItemId(each.conversation_id), ClaimId(each.claim_id), each.stratum) for each in rows
    )
    drawn = sorted((each for each in rows if each.place is not None), key=lambda each: each.place)
    return LabelledSample(
        id=None,
        name=f"{row.name} version {row.version}",
        seed=row.seed,
        design=SamplingDesign(row.design),
        frame=len(rows),
        stratified_by=tuple(row.stratified_by),
        strata=strata_from_json(row.strata),
        claims=tuple(
            SampledClaim(
                ClaimId(each.claim_id), ItemId(each.conversation_id), each.stratum, each.shown
            )
            for each in drawn
        ),
        claim_set=number,
    ), frame


def delete_claims_from_all_sets(connection: Connection, claims: Sequence[int]) -> int:
    """Take claims that go out of all sets; what is left was drawn from what is left.

    Returns:
        How many versions have fewer claims now, or went.
    """
    gone = make_in_condition(claim_set_claim.c.claim_id, claims)
    wanted = select(claim_set_claim.c.claim_set_id).where(gone).distinct()
    numbers = list(connection.execute(wanted).scalars())
    connection.execute(delete(claim_set_claim).where(gone))
    for number in numbers:
        sample_, frame = read_source_sample_and_frame_of_set(connection, ClaimSetId(number))
        if not sample_.claims:
            delete_claim_sets(connection, [number])
            continue
        populations, drawn = _count_frame_and_drawn_by_stratum(
            sample_.design, frame, sample_.claims
        )
        columns: dict[str, Any] = {
            "frame": len(frame),
            "strata": [
                {
                    "name": each.name,
                    "population": populations[each.name],
                    "drawn": drawn[each.name],
                }
                for each in sample_.strata
                if populations[each.name]
            ],
        }
        row = read_version_row(connection, ClaimSetId(number))
        whole = {**copy_inherited_columns(row), **columns}
        columns["digest"] = hash_claim_set_version(
            connection, whole, read_claim_rows(connection, number)
        )
        connection.execute(update(claim_set).where(claim_set.c.id == number).values(columns))
    return len(numbers)


def delete_claim_sets(connection: Connection, numbers: Sequence[int]) -> None:
    """Delete versions; runs that judged their claims stay."""
    for number in numbers:
        connection.execute(delete(claim_set_claim).where(claim_set_claim.c.claim_set_id == number))
        connection.execute(update(run).where(run.c.claim_set == number).values(claim_set=None))
        connection.execute(delete(claim_set).where(claim_set.c.id == number))


def hash_claim_set_version(
    connection: Connection, columns: dict[str, Any], claims: Sequence[dict[str, Any]]
) -> str:
    """Hash what a version is made of, equal in every store."""
    names = read_claim_names(connection, [each["claim_id"] for each in claims])
    strata = [(each["name"], each["population"], each["drawn"]) for each in columns["strata"]]
    return hash_set_version(
        columns["metric"],
        columns["window_size"],
        columns["design"],
        strata,
        (
            SetClaim(names[each["claim_id"]], each["stratum"], each["place"], each["shown"])
            for each in claims
        ),
    )


_KEPT = (
    *("metric", "window_size", "design", "stratified_by", "seed", "frame", "strata"),
    *("sample_uid", "drawn_at", "other_labels"),
)
"""Columns that a version has from the one before."""


def copy_inherited_columns(row: AnyRow) -> dict[str, Any]:
    """Take the columns that a version has from the one before."""
    return {name: row._mapping[name] for name in _KEPT}


def strata_from_json(strata: Sequence[dict[str, Any]]) -> tuple[Stratum, ...]:
    """Read the strata of a version."""
    return tuple(Stratum(each["name"], each["population"], each["drawn"]) for each in strata)


def _count_frame_and_drawn_by_stratum(
    design: SamplingDesign, frame: Sequence[FrameUnit], drawn: Sequence[SampledClaim]
) -> tuple[Counter[str], Counter[str]]:
    """Count what there is of each stratum, and what was drawn."""
    if design is SamplingDesign.CONVERSATIONS:
        return (
            Counter({CONVERSATIONS: len({each.item for each in frame})}),
            Counter({CONVERSATIONS: len({each.item for each in drawn})}),
        )
    return Counter(each.stratum for each in frame), Counter(each.stratum for each in drawn)
