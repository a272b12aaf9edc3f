"""Writing what was drawn from a results folder: conversations, their run, and the sample.

All of a draw is one transaction, so that a store holds a sample with everything it serves or
nothing of it. What is in the store already, as after an earlier draw, stays as it is.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import uuid4

from sqlalchemy import Connection, func, insert, select, update

from faithtui.agreement.population import Population
from faithtui.agreement.sampling.draw import SampleKind, SamplingDesign, Stratum
from faithtui.domain.claims.verdicts import Assessment, Claim
from faithtui.domain.conversation import Conversation
from faithtui.domain.ids import ClaimId, ItemId, RunId, SampleId
from faithtui.errors import StoreError
from faithtui.store.conversation_import import import_batch
from faithtui.store.records import ItemState, RunSpec, RunState
from faithtui.store.runs.rollups import update_run_counters_from_items
from faithtui.store.runs.runs import create_run, insert_pending_items, score_and_finish_item
from faithtui.store.runs.windows import find_or_insert_claim_ids, save_windows
from faithtui.store.schema.statements import insert_returning_id, split_into_chunks
from faithtui.store.schema.storable_text import (
    replace_unstorable_characters,
    replace_unstorable_in_json,
)
from faithtui.store.schema.tables import conversation, run, run_item, sample, sample_claim

Identity = tuple[str, str]
"""Source and key of a conversation."""


@dataclass(frozen=True, slots=True)
class DrawnConversation:
    """A conversation that was drawn from, with all that its judge said."""

    conversation: Conversation
    assessments: tuple[Assessment, ...]
    reason: str | None
    """The final reason of the metric."""
    images: Mapping[str, bytes]
    """By their SHA-256."""


@dataclass(frozen=True, slots=True)
class DrawnClaim:
    """A claim of a sample."""

    identity: Identity
    claim: Claim
    stratum: str
    shown: bool
    """Served with the judge's verdict in view."""


@dataclass(frozen=True, slots=True)
class PopulationDraw:
    """A sample of a population, with everything that it brings into a store."""

    spec: RunSpec
    """Of the run that all drawn conversations are of."""
    conversations: Sequence[DrawnConversation]
    """Those of `fresh` claims."""
    known: Sequence[DrawnClaim]
    """What was drawn before, by its stratum now; () for a first draw."""
    fresh: Sequence[DrawnClaim]
    """What was not drawn before, in the order to serve it."""
    name: str
    design: SamplingDesign
    stratified_by: tuple[str, ...]
    seed: int
    blind: bool
    shown_share: float
    population: Population
    strata: tuple[Stratum, ...]
    """What was drawn of what, by all draws together."""


def import_and_save_population_draw(
    connection: Connection,
    now: datetime,
    draw: PopulationDraw,
    reviewer: str,
    extends: SampleId | None,
) -> SampleId:
    """Write a draw; see `Samples.save_population_draw_as_sample`."""
    if extends is not None:
        draw = _drop_deleted_conversations(connection, draw, extends)
    conversations = [each.conversation for each in draw.conversations]
    images = {name: found for each in draw.conversations for name, found in each.images.items()}
    counts = import_batch(
        connection, now, conversations, images, merge_equal=False, index_words=True
    )
    if counts.conflicting:
        raise StoreError(
            f"conversation {counts.conflicting[0]!r} is in the store with other messages; draw "
            "into another store with --store, or delete the data set from this one"
        )
    run_id = _find_or_create_run_and_mark_done(connection, now, draw, extends)
    items = _insert_missing_judged_items(connection, now, run_id, draw)
    if extends is None:
        number = SampleId(
            insert_returning_id(
                connection,
                insert(sample).values(
                    uid=uuid4().hex,
                    kind=SampleKind.SAMPLE.value,
                    run_id=run_id,
                    reviewer=replace_unstorable_characters(reviewer),
                    blind=draw.blind,
                    shown_share=draw.shown_share,
                    seed=draw.seed,
                    created_at=now,
                    strata=[],
                    **_make_sample_columns(draw),
                ),
            )
        )
    else:
        number = extends
        changes = {**_make_sample_columns(draw), "closed_at": None, "decision": None}
        connection.execute(update(sample).where(sample.c.id == number).values(**changes))
    _insert_drawn_claims_and_strata(connection, number, draw, items)
    return number


def _drop_deleted_conversations(
    connection: Connection, draw: PopulationDraw, extends: SampleId
) -> PopulationDraw:
    """Leave out conversations that were drawn before and are gone: deleted ones stay away."""
    of = select(sample.c.run_id).where(sample.c.id == extends).scalar_subquery()
    there = connection.execute(
        select(conversation.c.source, conversation.c.key)
        .join(run_item, run_item.c.conversation_id == conversation.c.id)
        .where(run_item.c.run_id == of)
    )
    gone = {each.identity for each in draw.known} - {(source, key) for source, key in there}
    return replace(
        draw,
        conversations=[
            each
            for each in draw.conversations
            if (each.conversation.source, each.conversation.key) not in gone
        ],
        known=[each for each in draw.known if each.identity not in gone],
        fresh=[each for each in draw.fresh if each.identity not in gone],
    )


def _make_sample_columns(draw: PopulationDraw) -> dict[str, object]:
    return {
        "name": replace_unstorable_characters(draw.name),
        "design": draw.design.value,
        "stratified_by": list(draw.stratified_by),
        "frame": draw.population.claim_count,
        "population": replace_unstorable_in_json(draw.population.to_json()),
    }


def _find_or_create_run_and_mark_done(
    connection: Connection, now: datetime, draw: PopulationDraw, extends: SampleId | None
) -> RunId:
    if extends is None:
        number = create_run(connection, now, draw.spec, [])
    else:
        number = RunId(
            connection.execute(select(sample.c.run_id).where(sample.c.id == extends)).scalar_one()
        )
    sources = connection.execute(select(run.c.sources).where(run.c.id == number)).scalar_one()
    every = sorted({*sources, *(each.conversation.source for each in draw.conversations)})
    done = {
        "sources": every,
        "state": RunState.DONE.value,
        "reason": replace_unstorable_characters(
            f"only conversations drawn from {draw.population.claim_count:,} claims in "
            f"{draw.population.results} are here: the score is of these, the report of all"
        ),
        "finished_at": now,
    }
    connection.execute(update(run).where(run.c.id == number).values(**done))
    return number


def _insert_missing_judged_items(
    connection: Connection, now: datetime, run_id: RunId, draw: PopulationDraw
) -> dict[Identity, tuple[int, ItemId]]:
    """Write what was judged of each drawn conversation that the run does not have.

    Returns:
        Numbers of the conversation and of the conversation of the run, of every one in the run.
    """
    known = _read_item_ids_by_conversation(connection, run_id)
    ids = _read_conversation_ids(connection, [each.conversation for each in draw.conversations])
    new = [
        each
        for each in draw.conversations
        if (each.conversation.source, each.conversation.key) not in known
    ]
    numbers = [ids[each.conversation.source, each.conversation.key] for each in new]
    last = select(func.max(run_item.c.number)).where(run_item.c.run_id == run_id)
    insert_pending_items(
        connection, run_id, numbers, first=(connection.execute(last).scalar() or 0) + 1
    )
    update_run_counters_from_items(connection, run_id)
    items = _read_item_ids_by_conversation(connection, run_id)
    for each in new:
        _, item = items[each.conversation.source, each.conversation.key]
        save_windows(connection, now, item, each.assessments)
        score_and_finish_item(connection, item, ItemState.DONE, None, each.reason, None)
    return items


def _read_item_ids_by_conversation(
    connection: Connection, run_id: RunId
) -> dict[Identity, tuple[int, ItemId]]:
    rows = connection.execute(
        select(conversation.c.source, conversation.c.key, conversation.c.id, run_item.c.id)
        .join(run_item, run_item.c.conversation_id == conversation.c.id)
        .where(run_item.c.run_id == run_id)
    )
    return {(source, key): (number, ItemId(item)) for source, key, number, item in rows}


def _read_conversation_ids(
    connection: Connection, conversations: Sequence[Conversation]
) -> dict[Identity, int]:
    found: dict[Identity, int] = {}
    for some in split_into_chunks(
        sorted({replace_unstorable_characters(each.key) for each in conversations})
    ):
        for row in connection.execute(
            select(conversation.c.id, conversation.c.source, conversation.c.key).where(
                conversation.c.key.in_(some)
            )
        ):
            found[row.source, row.key] = row.id
    return found


def _insert_drawn_claims_and_strata(
    connection: Connection,
    number: SampleId,
    draw: PopulationDraw,
    items: Mapping[Identity, tuple[int, ItemId]],
) -> None:
    """Write what a sample serves, with how much was drawn of each stratum."""
    ids = _find_claim_ids(connection, [*draw.known, *draw.fresh], items)
    stored = set(
        connection.execute(
            select(sample_claim.c.claim_id).where(sample_claim.c.sample_id == number)
        ).scalars()
    )
    kept = [
        (each, found)
        for each, found in _pair_stored_claims_with_ids(draw.known, ids)
        if found[0] in stored
    ]
    fresh = [
        (each, found)
        for each, found in _pair_stored_claims_with_ids(draw.fresh, ids)
        if found[0] not in stored
    ]
    strata = _recount_strata_in_store(draw, [each for each, _ in (*kept, *fresh)])
    probability = {each.name: each.draw_probability for each in strata}
    for each, (claim_id, _) in kept:
        connection.execute(
            update(sample_claim)
            .where(sample_claim.c.sample_id == number, sample_claim.c.claim_id == claim_id)
            .values(stratum=each.stratum, probability=probability[each.stratum])
        )
    gone = stored - {claim_id for _, (claim_id, _) in kept}
    if gone:
        raise StoreError(
            "the store has claims in this sample that the results do not: they are not those it "
            "was drawn from; draw into another store with --store"
        )
    last = select(func.max(sample_claim.c.position)).where(sample_claim.c.sample_id == number)
    highest = connection.execute(last).scalar()
    if fresh:
        connection.execute(
            insert(sample_claim),
            [
                {
                    "sample_id": number,
                    "position": position,
                    "claim_id": claim_id,
                    "run_item_id": item,
                    "stratum": each.stratum,
                    "probability": probability[each.stratum],
                    "shown": each.shown,
                }
                for position, (each, (claim_id, item)) in enumerate(
                    fresh, start=0 if highest is None else highest + 1
                )
            ],
        )
    columns = [
        {"name": each.name, "population": each.population, "drawn": each.drawn} for each in strata
    ]
    connection.execute(update(sample).where(sample.c.id == number).values(strata=columns))


def _pair_stored_claims_with_ids(
    claims: Sequence[DrawnClaim], ids: Mapping[tuple[Identity, Claim], tuple[ClaimId, ItemId]]
) -> list[tuple[DrawnClaim, tuple[ClaimId, ItemId]]]:
    """Give each claim its numbers; one that is not in the store is left out."""
    return [
        (each, ids[each.identity, each.claim])
        for each in claims
        if (each.identity, each.claim) in ids
    ]


def _recount_strata_in_store(draw: PopulationDraw, claims: Sequence[DrawnClaim]) -> list[Stratum]:
    """Count what is in the store of each stratum: less than was drawn where some was deleted."""
    if draw.design is SamplingDesign.CONVERSATIONS:
        drawn = Counter({draw.strata[0].name: len({each.identity for each in claims})})
    else:
        drawn = Counter(each.stratum for each in claims)
    return [Stratum(each.name, each.population, drawn[each.name]) for each in draw.strata]


def _find_claim_ids(
    connection: Connection,
    claims: Sequence[DrawnClaim],
    items: Mapping[Identity, tuple[int, ItemId]],
) -> dict[tuple[Identity, Claim], tuple[ClaimId, ItemId]]:
    """Find the numbers of claims of conversations that are in the store."""
    by_conversation: dict[Identity, list[Claim]] = {}
    for each in claims:
        by_conversation.setdefault(each.identity, []).append(each.claim)
    found = {}
    for identity, own in by_conversation.items():
        if identity not in items:
            continue
        number, item = items[identity]
        for claim, claim_id in find_or_insert_claim_ids(connection, number, own).items():
            found[identity, claim] = (ClaimId(claim_id), item)
    return found
