"""Taking in the human labels of another store.

Free of conflicts: an event is known by its `uid` and never changes, so merging is putting logs
together, and the order of the log is that of clocks and uids, not of arrival. An imported label
has the same `uid` in every store that imported the same file, at a clock of each; the earliest one
holds in all.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from sqlalchemy import Connection, insert, select, update

from faithtui.domain.labels.label_bundle import (
    BundleEvent,
    BundleGuideline,
    ClaimName,
    ConversationName,
    LabelBundle,
    RunName,
)
from faithtui.domain.labels.label_events import Action
from faithtui.store.annotations.guidelines import hash_guideline_text
from faithtui.store.annotations.label_replay import (
    compute_next_clock,
    make_event_columns,
    read_marked_passages,
    store_marked_passages,
)
from faithtui.store.bundles.foreign_claims import find_or_add_claims, read_document_lengths
from faithtui.store.bundles.foreign_samples import (
    KnownSamples,
    find_or_add_samples,
    read_run_ids_by_name,
)
from faithtui.store.database import Database
from faithtui.store.runs.rollups import update_human_columns_of_items
from faithtui.store.schema.json_columns import AnyRow
from faithtui.store.schema.statements import split_into_chunks
from faithtui.store.schema.storable_text import replace_unstorable_characters
from faithtui.store.schema.tables import (
    claim,
    conversation,
    guideline,
    human_label,
    verdict,
)

_AT_ONCE = 2_000
"""Events in a transaction, so that a label given meanwhile does not wait long."""

_NO_CLAIM = "is about a claim that does not fit its conversation: text, turn or document is another"

_NO_PASSAGE = "marks a passage that is not in its conversation"

_FAR_AHEAD = 1 << 32
"""So far beyond the last clock here no honest event is; a forged one would use up all clocks."""

_FORGED = "has a clock far ahead of every act here: faithtui does not write such acts"

UnmergedReason = Literal["absent", "other turns"]


@dataclass(frozen=True, slots=True)
class UnmergedConversation:
    """A conversation whose events were not merged."""

    conversation: ConversationName
    why: UnmergedReason
    """It is not here, or it is here with other turns."""
    acts: int


@dataclass(frozen=True, slots=True)
class MergeCounts:
    """What merging a bundle did."""

    new: int = 0
    """Events that were not here."""
    known: int = 0
    """Events that were."""
    unverified: int = 0
    """Of the new ones, those of files of which nothing says that they are what was exported."""
    new_claims: int = 0
    """Claims that nobody had extracted here."""
    new_samples: int = 0
    samples_not_drawn: int = 0
    """Samples that are not taken: no label of a file with a digest is in them, and their seed does
    not draw them of their run."""
    new_guidelines: int = 0
    unmerged: tuple[UnmergedConversation, ...] = ()
    """In the order of source and key."""
    refused: tuple[tuple[str, str], ...] = ()
    """`uid` of each event that cannot be taken, and why."""

    @property
    def unmerged_acts(self) -> int:
        """Events whose conversations are not here."""
        return sum(each.acts for each in self.unmerged)


@dataclass(slots=True)
class _MergeTally:
    """What has been done so far."""

    new: int = 0
    known: int = 0
    unverified: int = 0
    new_claims: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)


def merge_bundle(database: Database, bundle: LabelBundle) -> MergeCounts:
    """Take a bundle in.

    Written some conversations at a time; after a crash, merge again. Every score that changes is
    brought up to date, once per conversation.

    Raises:
        StoreError: It cannot be written. Earlier conversations are.
    """
    count = _MergeTally()
    conversation_ids, elsewhere = match_bundle_conversations(database, bundle)
    acts: dict[ConversationName, list[BundleEvent]] = defaultdict(list)
    with database.open_reader() as connection:
        last = compute_next_clock(connection) + _FAR_AHEAD
    for act in bundle.acts:
        if act.clock > last:
            count.refused.append((act.id, _FORGED))
        elif act.claim.conversation in conversation_ids:
            acts[act.claim.conversation].append(act)
    texts = {name: bundle.claims[name] for found in acts.values() for name in _list_claims(found)}
    guidelines = database.run_in_write_transaction(
        lambda connection: _add_guidelines(connection, bundle.guidelines), durable=True
    )
    ids: dict[ClaimName, int] = {}
    for some in _group_conversations_into_batches(acts):
        names = [name for conversation in some for name in _list_claims(acts[conversation])]
        found, made = database.run_in_write_transaction(
            partial(
                find_or_add_claims, names=names, texts=texts, conversation_ids=conversation_ids
            ),
            durable=True,
        )
        ids |= found
        count.new_claims += made
    logs: list[list[BundleEvent]] = []
    for some in _group_conversations_into_batches(acts):
        log = [act for conversation in some for act in acts[conversation]]
        count.refused += [(act.id, _NO_CLAIM) for act in log if act.claim not in ids]
        log = [act for act in log if act.claim in ids]
        foreign = _find_events_with_unknown_evidence(database, log, conversation_ids)
        count.refused += [(act.id, _NO_PASSAGE) for act in log if act.id in foreign]
        logs.append([act for act in log if act.id not in foreign])
    # What is refused, a flag, and what no file vouches for say nothing of where a sample is from.
    labelled = {
        act.sample
        for log in logs
        for act in log
        if act.sample is not None and act.verdict and not act.unverified
    }
    known = database.run_in_write_transaction(
        lambda connection: find_or_add_samples(
            connection, bundle.samples, conversation_ids, labelled
        ),
        durable=True,
    )
    for log in logs:
        database.run_in_write_transaction(
            partial(
                _add_events_and_refresh_scores,
                log=log,
                claims=ids,
                samples=known,
                count=count,
            ),
            durable=True,
        )
    return MergeCounts(
        count.new,
        count.known,
        count.unverified,
        count.new_claims,
        known.made,
        known.not_drawn,
        guidelines,
        elsewhere,
        tuple(count.refused),
    )


def _find_events_with_unknown_evidence(
    database: Database, log: Sequence[BundleEvent], conversation_ids: Mapping[ConversationName, int]
) -> set[str]:
    """Find the events that mark what their conversation does not have."""
    marking = [act for act in log if act.evidence]
    if not marking:
        return set()
    with database.open_reader() as connection:
        lengths = read_document_lengths(
            connection, sorted({conversation_ids[act.claim.conversation] for act in marking})
        )
    return {
        act.id
        for act in marking
        for mark in act.evidence
        if mark.end > lengths.get((conversation_ids[act.claim.conversation], mark.document), 0)
    }


def _list_claims(acts: Sequence[BundleEvent]) -> tuple[ClaimName, ...]:
    return tuple(dict.fromkeys(act.claim for act in acts))


def _group_conversations_into_batches(
    acts: Mapping[ConversationName, Sequence[BundleEvent]],
) -> Iterator[list[ConversationName]]:
    """Group whole conversations: what an event refers to is always in its own."""
    some: list[ConversationName] = []
    size = 0
    for talk, log in acts.items():
        if some and size + len(log) > _AT_ONCE:
            yield some
            some, size = [], 0
        some.append(talk)
        size += len(log)
    if some:
        yield some


def match_bundle_conversations(
    database: Database, bundle: LabelBundle
) -> tuple[dict[ConversationName, int], tuple[UnmergedConversation, ...]]:
    """Find the conversations of a bundle; say which are not here, and how many events they have."""
    wanted = dict.fromkeys(name.conversation for name in bundle.claims)
    stored: dict[tuple[str, str], AnyRow] = {}
    with database.open_reader() as connection:
        for some in split_into_chunks(
            list({replace_unstorable_characters(each.key) for each in wanted})
        ):
            for row in connection.execute(
                select(
                    conversation.c.id,
                    conversation.c.source,
                    conversation.c.key,
                    conversation.c.content_hash,
                ).where(conversation.c.key.in_(some))
            ):
                stored[row.source, row.key] = row
    found: dict[ConversationName, int] = {}
    missing: dict[ConversationName, UnmergedReason] = {}
    for each in wanted:
        here = stored.get((each.source, each.key))
        if here is None:
            missing[each] = "absent"
        elif here.content_hash != each.content_hash:
            missing[each] = "other turns"
        else:
            found[each] = here.id
    counts = Counter(act.claim.conversation for act in bundle.acts)
    return found, tuple(
        UnmergedConversation(each, missing[each], counts[each])
        for each in sorted(missing, key=lambda each: (each.source, each.key, each.content_hash))
        if counts[each]
    )


def _add_guidelines(connection: Connection, texts: Sequence[BundleGuideline]) -> int:
    known = {
        (row.digest, row.metric, row.built_in, row.created_at)
        for row in connection.execute(select(guideline))
    }
    # A text goes by its own digest: a file may give another text the one that labels name.
    fresh = {
        (hash_guideline_text(each.text), each.metric, each.built_in, each.created_at): each
        for each in texts
    }
    rows = [
        {
            "digest": key[0],
            "text": each.text,
            "author": each.author,
            "created_at": each.created_at,
            "metric": each.metric,
            "built_in": each.built_in,
        }
        for key, each in fresh.items()
        if key not in known
    ]
    if rows:
        connection.execute(insert(guideline), rows)
    return sum(not row["built_in"] for row in rows)


def _add_events_and_refresh_scores(
    connection: Connection,
    log: Sequence[BundleEvent],
    claims: Mapping[ClaimName, int],
    samples: KnownSamples,
    count: _MergeTally,
) -> None:
    """Append the events of some conversations that are not here, and refresh what follows."""
    stored = _read_stored_events(connection, [act.id for act in log])
    stored |= _read_stored_events(connection, [act.target for act in log if act.target is not None])
    runs = read_run_ids_by_name(connection)
    touched: set[int] = set()
    plain: list[dict[str, Any]] = []
    undoing: list[BundleEvent] = []
    for act in log:
        here = stored.get(act.id)
        if here is not None:
            if not _is_same_event(here, act, claims[act.claim]):
                count.refused.append((act.id, "is here already, and says something else"))
                continue
            count.known += 1
            target = stored.get(act.target or "")
            changed = _fill_in_stored_event(connection, here, act, target, samples, runs)
            count.unverified += changed.get("unverified", False)
            if "clock" in changed:
                touched.add(here.claim_id)
        elif act.target is not None:
            undoing.append(act)
        else:
            plain.append(_make_event_row(act, claims, samples, runs, None))
    made: dict[str, AnyRow] = _insert_events(connection, plain)
    marks = {act.id: act.evidence for act in log if act.evidence}
    store_marked_passages(
        connection, {row.id: marks[uid] for uid, row in made.items() if uid in marks}
    )
    later: list[dict[str, Any]] = []
    for act in undoing:
        target = made.get(act.target or "") or stored.get(act.target or "")
        why = _find_undo_problem(target, act, claims[act.claim])
        if why is not None:
            count.refused.append((act.id, why))
        elif target is not None:
            later.append(_make_event_row(act, claims, samples, runs, target.id))
    made |= _insert_events(connection, later)
    count.new += len(made)
    count.unverified += sum(row.unverified for row in made.values())
    _refresh_scores(connection, touched | {row.claim_id for row in made.values()})


_SAID = (
    *("reviewer", "action", "verdict", "note", "scale", "raw_label", "judge_verdict", "saw_judge"),
    *("seconds", "reason_code", "mark", "stratum", "probability", "guideline_version", "batch"),
    "created_at",
)
"""Columns of what an event says, which are the same wherever it is."""

_ACT_COLUMNS = (
    *(human_label.c[name] for name in ("id", "uid", "clock", "claim_id", "sample_id", "run_id")),
    *(human_label.c[name] for name in ("target_id", "unverified", *_SAID)),
)


def _read_stored_events(connection: Connection, uids: Sequence[str]) -> dict[str, AnyRow]:
    return {
        row.uid: row
        for some in split_into_chunks(uids)
        for row in connection.execute(select(*_ACT_COLUMNS).where(human_label.c.uid.in_(some)))
    }


def _insert_events(connection: Connection, rows: Sequence[dict[str, Any]]) -> dict[str, AnyRow]:
    if not rows:
        return {}
    made = connection.execute(insert(human_label).returning(*_ACT_COLUMNS), rows)
    return {row.uid: row for row in made}


def _is_same_event(here: AnyRow, act: BundleEvent, claim_id: int) -> bool:
    return (here.claim_id, here.reviewer, here.action, here.verdict) == (
        claim_id,
        act.reviewer,
        act.action.value,
        act.verdict,
    )


def _fill_in_stored_event(
    connection: Connection,
    here: AnyRow,
    act: BundleEvent,
    target: AnyRow | None,
    samples: KnownSamples,
    runs: Mapping[RunName, int],
) -> dict[str, Any]:
    """Fill in what an event that is here refers to, now that that is here too.

    An event that somebody vouched for is unverified from then on that a file without a digest
    changes it: nothing says any more that the annotator gave it so.

    Args:
        connection: In a write.
        here: The event as it is here.
        act: The same event as it comes.
        target: The event here that it undoes.
        samples: That are here.
        runs: Ids of all runs.

    Returns:
        The columns that changed; `clock` is its place in the log.
    """
    columns: dict[str, Any] = {}
    sample = None if act.sample is None else samples.ids.get(act.sample)
    run = None if act.run is None else runs.get(act.run)
    if here.sample_id is None and sample is not None:
        columns["sample_id"] = sample
    if here.run_id is None and run is not None:
        columns["run_id"] = run
    if act.clock < here.clock:
        columns["clock"] = act.clock
    if columns and act.unverified and not here.unverified:
        columns["unverified"] = True
    # What a file vouches for now, if it says all that was taken in without that. Of two clocks the
    # earlier one stays, which is then the one that nothing vouches for.
    if (
        here.unverified
        and not act.unverified
        and act.clock <= here.clock
        and here.sample_id in (None, sample)
        and here.run_id in (None, run)
        and (sample is None or act.sample in samples.unchanged)
        and _says_all_of_stored_event(connection, here, act, target)
    ):
        columns["unverified"] = False
    if columns:
        connection.execute(update(human_label).where(human_label.c.id == here.id).values(**columns))
    return columns


def _says_all_of_stored_event(
    connection: Connection, here: AnyRow, act: BundleEvent, target: AnyRow | None
) -> bool:
    """Say whether an event says all that the one here says, what it marks and undoes included."""
    columns = make_event_columns(act)
    return (
        all(columns[name] == getattr(here, name) for name in _SAID)
        and here.target_id == (None if target is None else target.id)
        and read_marked_passages(connection, [here.id]).get(here.id, ()) == act.evidence
    )


def _find_undo_problem(target: AnyRow | None, act: BundleEvent, claim_id: int) -> str | None:
    if target is None:
        return f"is about the act {act.target}, which is in none of the files and not here"
    if (target.claim_id, target.reviewer) != (claim_id, act.reviewer):
        return "undoes a label of another annotator or of another claim"
    if target.action in (Action.WITHDRAWN.value, Action.RESTORED.value):
        return "undoes an undo"
    return None


def _make_event_row(
    act: BundleEvent,
    claims: Mapping[ClaimName, int],
    samples: KnownSamples,
    runs: Mapping[RunName, int],
    target: int | None,
) -> dict[str, Any]:
    columns = make_event_columns(act)
    return {
        **columns,
        "unverified": columns["unverified"] or act.sample in samples.doubtful,
        "uid": act.id,
        "claim_id": claims[act.claim],
        "target_id": target,
        "run_id": None if act.run is None else runs.get(act.run),
        "sample_id": None if act.sample is None else samples.ids.get(act.sample),
    }


def _refresh_scores(connection: Connection, claims: set[int]) -> None:
    """Bring every conversation of a run that holds one of the claims up to date, each once."""
    items: dict[int, set[int]] = defaultdict(set)
    for some in split_into_chunks(sorted(claims)):
        for row in connection.execute(
            select(claim.c.conversation_id, verdict.c.run_item_id)
            .join(claim, claim.c.id == verdict.c.claim_id)
            .where(verdict.c.claim_id.in_(some))
            .distinct()
        ):
            items[row.conversation_id].add(row.run_item_id)
    for conversation_id, held in items.items():
        update_human_columns_of_items(connection, conversation_id, sorted(held))
