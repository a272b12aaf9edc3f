"""Deleting on purpose, with everything that depends on it.

One transaction, in the order in which rows refer to each other. What is counted before somebody
confirms is counted by doing it and taking it back, so that the figures are those of the deletion
itself. Afterwards the file is written anew: nothing of what was deleted is in it, nor in its log.

What others need stays and changes as little as possible: runs keep the conversations that are
left, samples the claims, and where a person's name stood beside somebody else's work,
`DELETED_PERSON` stands.
"""

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    Text,
    cast,
    delete,
    func,
    insert,
    select,
    update,
)

from faithtui.agreement.sampling.draw import CONVERSATIONS, SampleKind, SamplingDesign
from faithtui.domain.filters import FilterContext, Scope, TermName, parse_filter
from faithtui.domain.ids import ConversationId, RunId
from faithtui.errors import StoreError
from faithtui.store.calls.batches import list_runs_with_questions_out
from faithtui.store.calls.question_leases import WORKER_COLUMNS
from faithtui.store.database import Database
from faithtui.store.deletion_records import (
    DELETED_PERSON,
    EXPOSURES,
    DeletionGuard,
    DeletionKind,
    DeletionResult,
    DeletionRow,
)
from faithtui.store.records import WorkerRow
from faithtui.store.runs.rollups import (
    update_human_columns_of_items,
    update_run_counters_from_items,
)
from faithtui.store.samples.claim_set_rows import delete_claims_from_all_sets
from faithtui.store.samples.sampling_frames import read_frame
from faithtui.store.schema.json_columns import AnyRow
from faithtui.store.schema.judge_tables import (
    batch,
    batch_request,
    fresh_verdict,
    judge_call,
    lease,
    recalibration,
    worker,
)
from faithtui.store.schema.statements import make_in_condition
from faithtui.store.schema.storable_text import replace_unstorable_characters
from faithtui.store.schema.tables import (
    claim,
    claim_set,
    claim_set_claim,
    conversation,
    deletion,
    document,
    evidence,
    example_set,
    exposure,
    finding,
    guideline,
    human_label,
    image,
    prompt_set,
    run,
    run_item,
    sample,
    sample_claim,
    saved_view,
    split_rule,
    sufficient_set,
    test_opening,
    truth,
    turn,
    turn_document,
    verdict,
    window,
)
from faithtui.store.search.word_index import rebuild_index

ITEM_TABLES: tuple[tuple[Table, str], ...] = (
    (evidence, "evidence"),
    (sufficient_set, "evidence"),
    (finding, "findings"),
    (fresh_verdict, "verdicts asked for again"),
    (exposure, EXPOSURES),
    (sample_claim, "places in samples"),
    (verdict, "verdicts"),
    (window, "windows"),
    (truth, "truths"),
    (judge_call, "stored replies"),
    (batch_request, "questions of batches"),
)
"""Tables of what was judged in a conversation of a run, in the order in which rows can go, and
what their rows are called."""

NAME_COLUMNS: tuple[tuple[Table, str], ...] = (
    (guideline, "author"),
    (sample, "reviewer"),
    (split_rule, "made_by"),
    (test_opening, "opened_by"),
    (fresh_verdict, "asked_by"),
    (recalibration, "reviewer"),
    (deletion, "deleted_by"),
    (claim_set, "made_by"),
)
"""Columns with the name of a person beside something that others need."""

UNCLEAR_METADATA = "conversations whose metadata may name this annotator, left as they are"

_AUTHORS = ("annotator", "annotator_id", "reviewer", "rater", "labeler", "labeller", "author")
"""Keys under which objects of data sets name who gave them."""

_POSITIONS = 1_000
"""A name that is a smaller number may as well be a position."""

_Work = Callable[[Connection, Counter[str]], None]


class _RollbackError(Exception):
    """Ends a transaction that was only to count."""


class Deletions:
    """Deletes, and remembers that it did."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def list_deletions(self) -> tuple[DeletionRow, ...]:
        """List the deletions there were, the first one first."""
        with self._database.open_reader() as connection:
            return tuple(
                DeletionRow(
                    row.id, DeletionKind(row.kind), row.deleted_by, row.counts, row.created_at
                )
                for row in connection.execute(select(deletion).order_by(deletion.c.id))
            )

    def list_runs_of_conversations(
        self, conversations: Sequence[ConversationId]
    ) -> tuple[RunId, ...]:
        """List the runs that some conversations are part of."""
        with self._database.open_reader() as connection:
            found = connection.execute(
                select(run_item.c.run_id)
                .where(make_in_condition(run_item.c.conversation_id, conversations))
                .distinct()
                .order_by(run_item.c.run_id)
            )
            return tuple(RunId(each) for each in found.scalars())

    def delete_conversations(
        self,
        kind: DeletionKind,
        numbers: Sequence[ConversationId],
        by: str,
        *,
        count_only: bool = False,
        guard: DeletionGuard | None = None,
    ) -> DeletionResult:
        """Delete conversations, and everything that runs and annotators stored about them.

        Args:
            kind: `DATASET` or `IMPORT`, for the record.
            numbers: The conversations.
            by: Who deletes them.
            count_only: Say what would go, and delete nothing.
            guard: What must still hold.

        Raises:
            StoreError: It cannot be written, or the guard does not hold; nothing was deleted.
        """
        work = partial(_delete_conversations, numbers=numbers)
        runs = select(run_item.c.run_id).where(
            make_in_condition(run_item.c.conversation_id, numbers)
        )
        return self._delete_or_count(kind, by, count_only, work, guard, runs)

    def delete_run(
        self,
        number: RunId,
        by: str,
        *,
        count_only: bool = False,
        guard: DeletionGuard | None = None,
    ) -> DeletionResult:
        """Delete a run with what its judge said. Conversations and labels stay.

        Raises:
            StoreError: There is no such run, it cannot be written, or the guard does not hold;
                nothing was deleted.
        """
        work = partial(_delete_run_with_judgements, number=number)
        runs = select(run.c.id).where(run.c.id == number)
        return self._delete_or_count(DeletionKind.RUN, by, count_only, work, guard, runs)

    def delete_person(
        self,
        name: str,
        by: str,
        *,
        count_only: bool = False,
        guard: DeletionGuard | None = None,
    ) -> DeletionResult:
        """Delete everything a person said, and the name wherever it stands.

        Args:
            name: As reviewer or annotator.
            by: Who deletes it.
            count_only: Say what would go, and delete nothing.
            guard: What must still hold.

        Raises:
            StoreError: It cannot be written, or the guard does not hold; nothing was deleted.
        """
        name = replace_unstorable_characters(name)
        by = DELETED_PERSON if by == name else by
        work = partial(_delete_person, name=name)
        return self._delete_or_count(DeletionKind.PERSON, by, count_only, work, guard)

    def _delete_or_count(
        self,
        kind: DeletionKind,
        by: str,
        count_only: bool,
        work: _Work,
        guard: DeletionGuard | None,
        runs: Select[Any] | None = None,
    ) -> DeletionResult:
        counts: Counter[str] = Counter()

        def count_and_roll_back(connection: Connection) -> None:
            work(connection, counts)
            raise _RollbackError

        def delete_and_record(connection: Connection) -> None:
            counts.clear()
            if guard is not None and runs is not None:
                _refuse_live_runs(connection, runs, guard)
            work(connection, counts)
            if guard is not None and _drop_zero_counts(counts) != guard.counts:
                raise StoreError(
                    "what it would take along changed since it was counted, so nothing was "
                    "deleted: look at it again"
                )
            rebuild_index(connection)
            connection.execute(
                insert(deletion).values(
                    kind=kind.value,
                    deleted_by=replace_unstorable_characters(by),
                    counts=_drop_zero_counts(counts),
                    created_at=self._clock(),
                )
            )

        if count_only:
            with contextlib.suppress(_RollbackError):
                self._database.run_in_write_transaction(count_and_roll_back)
            return DeletionResult(_drop_zero_counts(counts))
        remains = self._database.delete_and_vacuum(delete_and_record)
        return DeletionResult(_drop_zero_counts(counts), remains)


def _drop_zero_counts(counts: Mapping[str, int]) -> dict[str, int]:
    return {what: count for what, count in counts.items() if count}


def _refuse_live_runs(connection: Connection, runs: Select[Any], guard: DeletionGuard) -> None:
    """Refuse to delete under runs that are on by now, or whose questions are out.

    Raises:
        StoreError: There is one.
    """
    numbers = frozenset(RunId(each) for each in connection.execute(runs).scalars())
    statement = select(*WORKER_COLUMNS).where(make_in_condition(worker.c.run_id, numbers))
    workers = [WorkerRow(*row) for row in connection.execute(statement)]
    live = {each.run for each in workers if each.run is not None and not guard.is_gone(each)}
    for number in sorted((live | list_runs_with_questions_out(connection)) & numbers):
        raise StoreError(
            f"run {number} went on since it was looked at, so nothing was deleted: stop it first"
        )


def _delete_rows(connection: Connection, table: Table, *where: ColumnElement[bool]) -> int:
    return connection.execute(delete(table).where(*where)).rowcount


def _delete_conversations(
    connection: Connection, counts: Counter[str], numbers: Sequence[ConversationId]
) -> None:
    names = connection.execute(
        select(conversation.c.source, conversation.c.key).where(
            make_in_condition(conversation.c.id, numbers)
        )
    ).all()
    items = connection.execute(
        select(run_item.c.id, run_item.c.run_id).where(
            make_in_condition(run_item.c.conversation_id, numbers)
        )
    ).all()
    claims = _read_ids(connection, claim.c.id, make_in_condition(claim.c.conversation_id, numbers))
    runs = sorted({row.run_id for row in items})
    _shrink_samples(connection, runs, {row.id for row in items}, counts)
    _delete_run_items_and_judgements(connection, counts, [row.id for row in items])
    counts["claim sets with fewer claims"] += delete_claims_from_all_sets(connection, claims)
    counts["labels"] += _delete_rows(
        connection, human_label, make_in_condition(human_label.c.claim_id, claims)
    )
    counts["claims"] += _delete_rows(connection, claim, make_in_condition(claim.c.id, claims))
    documents = _read_ids(
        connection,
        turn_document.c.document_id,
        make_in_condition(turn_document.c.conversation_id, numbers),
    )
    images = _list_image_hashes(connection, numbers)
    _delete_rows(
        connection, turn_document, make_in_condition(turn_document.c.conversation_id, numbers)
    )
    counts["turns"] += _delete_rows(
        connection, turn, make_in_condition(turn.c.conversation_id, numbers)
    )
    counts["conversations"] += _delete_rows(
        connection, conversation, make_in_condition(conversation.c.id, numbers)
    )
    counts["documents"] += _delete_rows(
        connection,
        document,
        make_in_condition(document.c.id, documents),
        document.c.id.not_in(select(turn_document.c.document_id)),
    )
    counts["images"] += _delete_unused_images(connection, images)
    _delete_examples_of_conversations(connection, {(row.source, row.key) for row in names}, counts)
    _remove_sources_from_runs_and_views(connection, {row.source for row in names}, runs, counts)
    _recount_runs_and_delete_empty(connection, runs, counts)


def _delete_run_items_and_judgements(
    connection: Connection, counts: Counter[str], items: Collection[int]
) -> None:
    """Delete what was judged in conversations of runs, and that they were."""
    for table, what in ITEM_TABLES:
        counts[what] += _delete_rows(
            connection, table, make_in_condition(table.c.run_item_id, items)
        )
    counts["judged conversations"] += _delete_rows(
        connection, run_item, make_in_condition(run_item.c.id, items)
    )
    empty = batch.c.uid.not_in(select(batch_request.c.batch_uid))
    counts["batches"] += _delete_rows(connection, batch, empty)


def _recount_runs_and_delete_empty(
    connection: Connection, runs: Sequence[int], counts: Counter[str]
) -> None:
    """Count runs anew that lost conversations; those that have none left go."""
    left = set(
        connection.execute(
            select(run_item.c.run_id).where(make_in_condition(run_item.c.run_id, runs)).distinct()
        ).scalars()
    )
    for number in runs:
        if number in left:
            update_run_counters_from_items(connection, number)
            counts["runs with fewer conversations"] += 1
        else:
            _delete_empty_run(connection, number, counts)


def _delete_run_with_judgements(
    connection: Connection, counts: Counter[str], number: RunId
) -> None:
    if connection.execute(select(run.c.id).where(run.c.id == number)).first() is None:
        raise StoreError(f"there is no run {number}")
    judged = set(
        _read_ids(
            connection,
            verdict.c.claim_id,
            verdict.c.run_item_id.in_(select(run_item.c.id).where(run_item.c.run_id == number)),
        )
    )
    _delete_run_items_and_judgements(
        connection, counts, _read_ids(connection, run_item.c.id, run_item.c.run_id == number)
    )
    _delete_empty_run(connection, number, counts)
    _delete_unused_claims(connection, judged, counts)


def _delete_empty_run(connection: Connection, number: int, counts: Counter[str]) -> None:
    """Delete a run that has no conversations."""
    samples = _read_ids(connection, sample.c.id, sample.c.run_id == number)
    _delete_samples(connection, samples, counts)
    # Human labels are of the claim; they no longer count as given in this run.
    connection.execute(
        update(human_label).where(human_label.c.run_id == number).values(run_id=None)
    )
    counts["stored replies"] += _delete_rows(connection, judge_call, judge_call.c.run_id == number)
    batches = select(batch.c.uid).where(batch.c.run_id == number)
    _delete_rows(connection, batch_request, batch_request.c.batch_uid.in_(batches))
    counts["batches"] += _delete_rows(connection, batch, batch.c.run_id == number)
    counts["findings"] += _delete_rows(connection, finding, finding.c.run_id == number)
    # Numbers are given again, and must not lead to another run; nor must a process that was killed.
    killed = select(worker.c.uid).where(worker.c.run_id == number)
    _delete_rows(connection, lease, lease.c.worker.in_(killed))
    _delete_rows(connection, worker, worker.c.run_id == number)
    connection.execute(update(run).where(run.c.claims_run == number).values(claims_run=None))
    for row in connection.execute(select(test_opening)).all():
        if number in row.runs:
            connection.execute(
                update(test_opening)
                .where(test_opening.c.id == row.id)
                .values(runs=[each for each in row.runs if each != number])
            )
    example = select(run.c.example_set).where(run.c.id == number).scalar_subquery()
    others = select(run.c.example_set).where(run.c.id != number, run.c.example_set.is_not(None))
    counts["sets of examples"] += _delete_rows(
        connection,
        example_set,
        example_set.c.digest == example,
        example_set.c.digest.not_in(others),
    )
    prompts = select(run.c.prompt_set).where(run.c.id == number).scalar_subquery()
    others = select(run.c.prompt_set).where(run.c.id != number, run.c.prompt_set.is_not(None))
    counts["prompt texts"] += _delete_rows(
        connection,
        prompt_set,
        prompt_set.c.digest == prompts,
        prompt_set.c.digest.not_in(others),
    )
    counts["runs"] += _delete_rows(connection, run, run.c.id == number)


def _delete_samples(connection: Connection, samples: Collection[int], counts: Counter[str]) -> None:
    """Delete samples; labels that were given in them stay, as labels outside a sample."""
    counts["places in samples"] += _delete_rows(
        connection, sample_claim, make_in_condition(sample_claim.c.sample_id, samples)
    )
    connection.execute(
        update(human_label)
        .where(make_in_condition(human_label.c.sample_id, samples))
        .values(sample_id=None, stratum=None, probability=None)
    )
    counts["samples"] += _delete_rows(connection, sample, make_in_condition(sample.c.id, samples))


def _shrink_samples(
    connection: Connection, runs: Collection[int], items: Collection[int], counts: Counter[str]
) -> None:
    """Make samples of runs that lose conversations samples of what is left.

    What is drawn of what is left was drawn from what is left, each claim with the chance of its
    stratum, so the sample stays one: its frame and strata are counted anew. That takes the stratum
    of every claim that goes. Where the run is no longer what the sample was drawn from, those are
    not known, and the sample goes; its labels stay.
    """
    for row in connection.execute(
        select(sample).where(make_in_condition(sample.c.run_id, runs))
    ).all():
        left = connection.execute(
            select(sample_claim.c.position, sample_claim.c.run_item_id, sample_claim.c.stratum)
            .where(sample_claim.c.sample_id == row.id)
            .order_by(sample_claim.c.position)
        ).all()
        left = [each for each in left if each.run_item_id not in items]
        changed = _recount_sample(connection, row, left, items)
        if changed is None:
            _delete_samples(connection, [row.id], counts)
            continue
        connection.execute(update(sample).where(sample.c.id == row.id).values(changed))
        counts["samples with fewer claims"] += 1
        for each in changed["strata"]:
            if each["population"]:
                connection.execute(
                    update(sample_claim)
                    .where(
                        sample_claim.c.sample_id == row.id, sample_claim.c.stratum == each["name"]
                    )
                    .values(probability=each["drawn"] / each["population"])
                )


def _recount_sample(
    connection: Connection, row: AnyRow, left: Sequence[AnyRow], items: Collection[int]
) -> dict[str, Any] | None:
    """Give frame and strata of a sample without some conversations; None: they are not known."""
    if not left or row.kind == SampleKind.REPEAT.value:
        return None
    if row.population is not None:
        # What it was drawn from is not in the store, and stays what it is: less of it is drawn.
        if row.design == SamplingDesign.CONVERSATIONS.value:
            kept = Counter({CONVERSATIONS: len({each.run_item_id for each in left})})
        else:
            kept = Counter(each.stratum for each in left)
        return {"strata": [{**each, "drawn": kept[each["name"]]} for each in row.strata]}
    frame = read_frame(connection, RunId(row.run_id), row.stratified_by, row.created_at)
    units = [each for each in frame if each.item not in items]
    if row.design == SamplingDesign.CONVERSATIONS.value:
        before = {CONVERSATIONS: frame.conversation_count}
        populations = {CONVERSATIONS: len({each.item for each in units})}
        drawn = {CONVERSATIONS: len({each.run_item_id for each in left})}
    else:
        before = dict(frame.claim_counts_by_stratum)
        populations = Counter(each.stratum for each in units)
        drawn = Counter(each.stratum for each in left)
    if row.frame != len(frame) or before != {
        each["name"]: each["population"] for each in row.strata
    }:
        return None
    return {
        "frame": len(units),
        "strata": [
            {"name": name, "population": populations[name], "drawn": drawn[name]}
            for name in before
            if populations[name]
        ],
    }


def _list_image_hashes(connection: Connection, numbers: Collection[int]) -> set[str]:
    return {
        each["sha256"]
        for place in (turn, turn_document)
        for row in connection.execute(
            select(place.c.images).where(
                make_in_condition(place.c.conversation_id, numbers),
                func.json_array_length(place.c.images) > 0,
            )
        )
        for each in row.images
    }


def _delete_unused_images(connection: Connection, images: Collection[str]) -> int:
    """Delete those of some images that no turn and no document has any more."""
    unused = set(images)
    if unused:
        for place in (turn, turn_document):
            for row in connection.execute(
                select(place.c.images).where(func.json_array_length(place.c.images) > 0)
            ):
                unused -= {each["sha256"] for each in row.images}
    return sum(_delete_rows(connection, image, image.c.sha256 == each) for each in unused)


def _delete_examples_of_conversations(
    connection: Connection, gone: Collection[tuple[str, str]], counts: Counter[str]
) -> None:
    """Take examples out of their sets that were made of conversations which are gone.

    A set keeps its name: a run that showed it cannot go on with what is left of it, and says so.
    """
    for row in connection.execute(select(example_set)).all():
        kept = [each for each in row.examples if (each.get("source"), each.get("key")) not in gone]
        if len(kept) < len(row.examples):
            counts["examples"] += len(row.examples) - len(kept)
            connection.execute(
                update(example_set).where(example_set.c.digest == row.digest).values(examples=kept)
            )


def _remove_sources_from_runs_and_views(
    connection: Connection, sources: Collection[str], runs: Collection[int], counts: Counter[str]
) -> None:
    """Take names of data sets of which nothing is left out of runs and saved views."""
    left = set(
        connection.execute(
            select(conversation.c.source).where(conversation.c.source.in_(sources)).distinct()
        ).scalars()
    )
    gone = set(sources) - left
    for row in connection.execute(
        select(run.c.id, run.c.sources).where(make_in_condition(run.c.id, runs))
    ).all():
        kept = [each for each in row.sources if each not in gone]
        if kept != row.sources:
            connection.execute(update(run).where(run.c.id == row.id).values(sources=kept))
    _delete_views_naming(connection, TermName.SOURCE, gone, counts)


def _delete_views_naming(
    connection: Connection, name: TermName, values: Collection[str], counts: Counter[str]
) -> None:
    """Delete saved views whose filter names one of some things that are gone."""
    folded = {each.casefold() for each in values}
    for row in connection.execute(select(saved_view)).all():
        terms = [
            term
            for scope in Scope
            for term in parse_filter(row.filter, FilterContext(scope)).filter.list_terms_with_names(
                name
            )
        ]
        if any(term.value.casefold() in folded for term in terms):
            counts["saved views"] += _delete_rows(connection, saved_view, saved_view.c.id == row.id)


def _delete_person(connection: Connection, counts: Counter[str], name: str) -> None:
    mine = human_label.c.reviewer == name
    claims = _read_ids(connection, human_label.c.claim_id, mine)
    counts["labels"] += _delete_rows(connection, human_label, mine)
    seen = _delete_rows(connection, exposure, exposure.c.reviewer == name)
    counts[EXPOSURES] += seen
    repeats = _read_ids(
        connection,
        sample.c.id,
        sample.c.reviewer == name,
        sample.c.kind == SampleKind.REPEAT.value,
    )
    _delete_samples(connection, repeats, counts)
    for table, where in NAME_COLUMNS:
        counts["names beside work of others"] += connection.execute(
            update(table).where(table.c[where] == name).values({where: DELETED_PERSON})
        ).rowcount
    _delete_views_naming(connection, TermName.REVIEWER, [name], counts)
    _remove_person_from_metadata(connection, name, counts)
    _delete_unused_claims(connection, claims, counts)
    _refresh_scores(connection, claims)


def _remove_person_from_metadata(connection: Connection, name: str, counts: Counter[str]) -> None:
    """Take a person out of what conversations were imported with and nobody reads.

    Data sets keep ratings of other kinds there, by the name of who gave them. A name that is a
    small number is left alone, since that is what positions of turns look like.
    """
    written = json.dumps(name)
    rows = connection.execute(
        select(conversation.c.id, conversation.c.details).where(
            func.instr(cast(conversation.c.details, Text), written) > 0
        )
    ).all()
    if name.isdecimal() and int(name) < _POSITIONS:
        counts[UNCLEAR_METADATA] += len(rows)
        return
    for row in rows:
        counts["metadata of conversations"] += 1
        connection.execute(
            update(conversation)
            .where(conversation.c.id == row.id)
            .values(details=_remove_person_from_json_value(row.details, name))
        )


def _remove_person_from_json_value(value: Any, name: str) -> Any:
    """Leave out of a JSON value what is by a person, and the name where it stands alone."""
    match value:
        case dict():
            return {
                key: _remove_person_from_json_value(part, name)
                for key, part in value.items()
                if key != name
            }
        case list():
            return [
                _remove_person_from_json_value(part, name)
                for part in value
                if not _is_object_with_author(part, name)
            ]
        case _:
            return DELETED_PERSON if value == name else value


def _is_object_with_author(value: Any, name: str) -> bool:
    """Say whether an object says that somebody gave it."""
    return isinstance(value, dict) and any(value.get(key) == name for key in _AUTHORS)


def _delete_unused_claims(
    connection: Connection, claims: Collection[int], counts: Counter[str]
) -> None:
    """Delete those of some claims that nobody labelled, no judge judged and no sample holds."""
    users = (
        human_label,
        verdict,
        sample_claim,
        claim_set_claim,
        evidence,
        sufficient_set,
        finding,
        fresh_verdict,
    )
    unused = [
        claim.c.id.not_in(select(table.c.claim_id).where(table.c.claim_id.is_not(None)))
        for table in users
    ]
    counts["claims"] += _delete_rows(
        connection, claim, make_in_condition(claim.c.id, claims), *unused
    )


def _refresh_scores(connection: Connection, claims: Collection[int]) -> None:
    """Bring every conversation of a run up to date that holds one of some claims."""
    items: dict[int, set[int]] = {}
    for row in connection.execute(
        select(run_item.c.conversation_id, run_item.c.id)
        .join(verdict, verdict.c.run_item_id == run_item.c.id)
        .where(make_in_condition(verdict.c.claim_id, claims))
        .distinct()
    ):
        items.setdefault(row.conversation_id, set()).add(row.id)
    for number, held in items.items():
        update_human_columns_of_items(connection, number, sorted(held))


def _read_ids(
    connection: Connection, key: ColumnElement[Any], *where: ColumnElement[bool]
) -> list[int]:
    return list(connection.execute(select(key).where(*where).distinct()).scalars())
