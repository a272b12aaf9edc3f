"""Drawn queues of other stores: found here by their `uid`, or made where all they serve is here."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select

from faithtui.agreement.sampling.draw import (
    ClaimDraw,
    FrameUnit,
    SampleDraw,
    SampleKind,
    SamplingDesign,
    Stratum,
)
from faithtui.agreement.sampling.draw_check import is_draw_of_frame
from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.judging.judge_profile import hide_fingerprint_secrets
from faithtui.domain.labels.label_bundle import BundleSample, ConversationName, RunName
from faithtui.store.bundles.foreign_claims import make_claim_key, read_stored_claims
from faithtui.store.samples.sampling_frames import STRATA, read_frame
from faithtui.store.schema.json_columns import AnyRow
from faithtui.store.schema.statements import insert_returning_id, split_into_chunks
from faithtui.store.schema.storable_text import replace_unstorable_in_json
from faithtui.store.schema.tables import (
    human_label,
    run,
    run_item,
    sample,
    sample_claim,
    verdict,
)


def read_run_ids_by_name(connection: Connection) -> dict[RunName, int]:
    """Read the ids of all runs by what holds in copies of the store too."""
    return {
        RunName(
            row.metric,
            row.judge,
            hide_fingerprint_secrets(row.judge_fingerprint),
            row.prompt_digest,
            row.created_at,
        ): row.id
        for row in connection.execute(
            select(
                run.c.id,
                run.c.metric,
                run.c.judge,
                run.c.judge_fingerprint,
                run.c.prompt_digest,
                run.c.created_at,
            )
        )
    }


@dataclass(frozen=True, slots=True)
class KnownSamples:
    """The samples of a bundle that are here, by `uid`."""

    ids: Mapping[str, int]
    unchanged: frozenset[str]
    """Those that are here as they come, with the same claims drawn of the same strata."""
    doubtful: frozenset[str]
    """Those that are here otherwise than they come, and have no other labels than unverified ones:
    a file that nothing vouches for may have made them, and with them the weights of all labels.
    Without any label, the same sample with more claims drawn, here or there, is no doubt."""
    made: int
    """How many were made."""
    not_drawn: int
    """How many were not, because their seed does not draw them of their run."""


def find_or_add_samples(
    connection: Connection,
    samples: Sequence[BundleSample],
    conversation_ids: Mapping[ConversationName, int],
    labelled: Collection[str],
) -> KnownSamples:
    """Find or make samples; one whose run or claims are not all here cannot be served here.

    Args:
        connection: Where to write.
        samples: Those of a bundle.
        conversation_ids: Its conversations that are here.
        labelled: `uid` of the samples in which labels were given that a file vouches for. Nothing
            vouches for another one, whose claims and strata are what labels that are given here
            stand for, so it is made only where its seed draws it of its run as it is here.
    """
    stored: dict[str, AnyRow] = {}
    for some in split_into_chunks([each.uid for each in samples]):
        for row in connection.execute(select(sample).where(sample.c.uid.in_(some))):
            stored[row.uid] = row
    found = {uid: int(row.id) for uid, row in stored.items()}
    fresh = [each for each in samples if each.uid not in stored]
    runs = read_run_ids_by_name(connection) if samples else {}
    unchanged = {
        each.uid
        for each in samples
        if each.uid in stored
        and _is_stored_sample(connection, stored[each.uid], each, runs, conversation_ids)
    }
    made = not_drawn = 0
    for each in fresh:
        run_id = _find_run_with_conversations(each, runs, conversation_ids)
        if run_id is None:
            continue
        rows = _make_sample_claim_rows(connection, each, run_id, conversation_ids)
        if rows is None:
            continue
        if each.uid not in labelled and not _is_draw_of_run(connection, each, run_id, rows):
            not_drawn += 1
            continue
        number = insert_returning_id(
            connection, insert(sample).values(**_sample_columns(each, run_id))
        )
        if rows:
            connection.execute(insert(sample_claim), [{"sample_id": number, **row} for row in rows])
        found[each.uid] = number
        unchanged.add(each.uid)
        made += 1
    changed = {uid: found[uid] for uid in stored.keys() - unchanged}
    labels = _read_whether_labels_are_unverified_alone(connection, list(changed.values()))
    doubtful = frozenset(
        each.uid
        for each in samples
        if each.uid in changed
        and labels.get(
            changed[each.uid],
            not _is_longer_draw(connection, stored[each.uid], each, runs, conversation_ids),
        )
    )
    return KnownSamples(found, frozenset(unchanged), doubtful, made, not_drawn)


def _find_run_with_conversations(
    coming: BundleSample,
    runs: Mapping[RunName, int],
    conversation_ids: Mapping[ConversationName, int],
) -> int | None:
    """Find the run of a sample; None when it, or a conversation of the sample, is not here."""
    if any(drawn.claim.conversation not in conversation_ids for drawn in coming.claims):
        return None
    return runs.get(coming.run)


def _read_whether_labels_are_unverified_alone(
    connection: Connection, sample_ids: Sequence[int]
) -> dict[int, bool]:
    """Read of each sample with labels whether all of them are unverified."""
    return {
        number: bool(is_unverified)
        for some in split_into_chunks(sample_ids)
        for number, is_unverified in connection.execute(
            select(human_label.c.sample_id, func.min(human_label.c.unverified))
            .where(human_label.c.sample_id.in_(some))
            .group_by(human_label.c.sample_id)
        )
    }


def _is_longer_draw(
    connection: Connection,
    stored: AnyRow,
    coming: BundleSample,
    runs: Mapping[RunName, int],
    conversation_ids: Mapping[ConversationName, int],
) -> bool:
    """Say whether a sample that is here is the one that comes with more claims drawn, or fewer.

    Copies of a store draw more with the same seed: that continues what was drawn of each stratum,
    and strata take turns in another order.
    """
    run_id = _find_run_with_conversations(coming, runs, conversation_ids)
    if run_id is None:
        return False
    columns = _sample_columns(coming, run_id)
    if not _has_columns(stored, columns, {*_LATER_COLUMNS, "strata"}):
        return False
    sizes = {each["name"]: each["population"] for each in stored.strata}
    if sizes != {name: population for name, population, _ in coming.strata}:
        return False
    rows = _make_sample_claim_rows(connection, coming, run_id, conversation_ids)
    if rows is None:
        return False
    fields = ("claim_id", "stratum", "shown")
    here = [
        tuple(row)
        for row in connection.execute(
            select(*(sample_claim.c[name] for name in fields))
            .where(sample_claim.c.sample_id == stored.id)
            .order_by(sample_claim.c.position)
        )
    ]
    return _continues_each_stratum(here, [tuple(row[name] for name in fields) for row in rows])


def _continues_each_stratum(
    here: Sequence[tuple[Any, ...]], coming: Sequence[tuple[Any, ...]]
) -> bool:
    """Say whether one of two draws begins as the other in each stratum, and they share claims.

    A claim is its id, its stratum and whether the judge is shown.
    """
    there = {each[0]: each for each in coming}
    shared = [each for each in here if each[0] in there]
    # As many as both have; probabilities follow from the sizes of strata.
    return (
        bool(shared)
        and all(each == there[each[0]] for each in shared)
        and all(
            one == other
            for name in {each[1] for each in here}
            for one, other in zip(
                (each for each in here if each[1] == name),
                (each for each in coming if each[1] == name),
                strict=False,
            )
        )
    )


def _has_columns(stored: AnyRow, columns: Mapping[str, Any], besides: Collection[str]) -> bool:
    return all(columns[name] == getattr(stored, name) for name in columns.keys() - besides)


_LATER_COLUMNS = frozenset({"uid", "closed_at", "decision"})
"""What names a sample, and what is stored once its labels are given."""


def _is_stored_sample(
    connection: Connection,
    stored: AnyRow,
    coming: BundleSample,
    runs: Mapping[RunName, int],
    conversation_ids: Mapping[ConversationName, int],
) -> bool:
    """Say whether a sample that is here was drawn as the one that comes."""
    run_id = _find_run_with_conversations(coming, runs, conversation_ids)
    if run_id is None:
        return False
    columns = _sample_columns(coming, run_id)
    if not _has_columns(stored, columns, _LATER_COLUMNS):
        return False
    fields = ("position", "claim_id", "run_item_id", "stratum", "probability", "shown")
    drawn = [
        row._asdict()
        for row in connection.execute(
            select(*(sample_claim.c[name] for name in fields))
            .where(sample_claim.c.sample_id == stored.id)
            .order_by(sample_claim.c.position)
        )
    ]
    return drawn == _make_sample_claim_rows(connection, coming, run_id, conversation_ids)


def _make_sample_claim_rows(
    connection: Connection,
    sample: BundleSample,
    run_id: int,
    conversation_ids: Mapping[ConversationName, int],
) -> list[dict[str, Any]] | None:
    """Make the rows of a sample's claims; None when the run here did not judge one of them."""
    conversations = sorted({conversation_ids[each.claim.conversation] for each in sample.claims})
    claims = read_stored_claims(connection, conversations)
    items: dict[int, int] = {}
    for some in split_into_chunks(conversations):
        for row in connection.execute(
            select(run_item.c.id, run_item.c.conversation_id).where(
                run_item.c.run_id == run_id, run_item.c.conversation_id.in_(some)
            )
        ):
            items[row.conversation_id] = row.id
    judged: set[tuple[int, int]] = set()
    for some in split_into_chunks(list(items.values())):
        found = connection.execute(
            select(verdict.c.run_item_id, verdict.c.claim_id)
            .where(verdict.c.run_item_id.in_(some))
            .distinct()
        )
        judged |= {(row.run_item_id, row.claim_id) for row in found}
    rows: list[dict[str, Any]] = []
    for position, each in enumerate(sample.claims):
        here = claims.get(make_claim_key(each.claim, conversation_ids))
        item = items.get(conversation_ids[each.claim.conversation])
        if here is None or item is None or (item, here[0]) not in judged:
            return None
        rows.append(
            {
                "position": position,
                "claim_id": here[0],
                "run_item_id": item,
                "stratum": each.stratum,
                "probability": each.probability,
                "shown": each.shown,
            }
        )
    return rows


def _is_draw_of_run(
    connection: Connection, sample: BundleSample, run_id: int, rows: Sequence[Mapping[str, Any]]
) -> bool:
    """Say whether a sample is what its seed and design draw of its run as it is here.

    What a sample of a population was drawn from is not here. A repeat weighs nothing.
    """
    if sample.kind == SampleKind.REPEAT.value:
        return True
    if sample.population is not None or not set(sample.stratified_by) <= set(STRATA):
        return False
    frame = read_frame(connection, RunId(run_id), sample.stratified_by, sample.created_at)
    drawn = SampleDraw(
        tuple(
            ClaimDraw(
                FrameUnit(ItemId(each["run_item_id"]), ClaimId(each["claim_id"])),
                each["stratum"],
                each["probability"],
                each["shown"],
            )
            for each in rows
        ),
        tuple(Stratum(*each) for each in sample.strata),
        sample.frame,
    )
    design = SamplingDesign(sample.design)
    return is_draw_of_frame(drawn, frame, design, sample.seed, sample.shown_share)


def _sample_columns(sample: BundleSample, run_id: int) -> dict[str, Any]:
    return {
        "uid": sample.uid,
        "name": sample.name,
        "kind": sample.kind,
        "run_id": run_id,
        "reviewer": sample.reviewer,
        "design": sample.design,
        "stratified_by": list(sample.stratified_by),
        "seed": sample.seed,
        "blind": sample.blind,
        "shown_share": sample.shown_share,
        "frame": sample.frame,
        "strata": [
            {"name": name, "population": population, "drawn": drawn}
            for name, population, drawn in sample.strata
        ],
        "created_at": sample.created_at,
        "closed_at": sample.closed_at,
        "decision": sample.decision,
        "population": None
        if sample.population is None
        else replace_unstorable_in_json(dict(sample.population)),
    }
