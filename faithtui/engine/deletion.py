"""Deleting data sets, imports, annotators and runs: what is meant, and what stands against it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from faithtui.clock import utc_now
from faithtui.domain.conversation import content_hash
from faithtui.domain.ids import ConversationId, RunId
from faithtui.domain.text.suggestions import format_suggestion
from faithtui.engine.calls.leases import is_worker_gone
from faithtui.engine.calls.unstored_replies import UnstoredReplies
from faithtui.engine.runs.run_liveness import read_run_marking_interrupted
from faithtui.errors import InputError, StoreError
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from faithtui.store.deletion_records import DeletionGuard, DeletionKind, DeletionResult
from faithtui.store.records import RunState
from faithtui.store.store import Store


@dataclass(frozen=True, slots=True)
class DeletionPlan:
    """Something that can be deleted."""

    kind: DeletionKind
    title: str
    """What it is, for a question."""
    carry_out: Callable[[DeletionGuard | None], DeletionResult]
    """Deletes it while the guard holds; without one only counts what would go."""

    def count_rows(self) -> dict[str, int]:
        """Say how much would go, by what it is; {} for nothing."""
        return dict(self.carry_out(None).counts)

    def delete_if_unchanged_and_idle(self, counts: Mapping[str, int]) -> DeletionResult:
        """Delete it, if it is still what was counted, and nobody works on it.

        Args:
            counts: As `count_rows` gave them, and as somebody agreed to.

        Raises:
            StoreError: It cannot be written, is another by now, or a run of it is on; nothing was
                deleted.
        """
        now = utc_now()
        return self.carry_out(DeletionGuard(lambda worker: is_worker_gone(worker, now), counts))


def plan_dataset_deletion(store: Store, name: str, by: str) -> DeletionPlan:
    """Mean all conversations of a data set.

    Raises:
        StoreError: There is no such data set, or a run over it is on.
    """
    known = [row.source for row in store.conversations.list_sources()]
    if name not in known:
        names = ", ".join(known) or "none"
        meant = format_suggestion(name, known)
        raise StoreError(f"there is no data set `{name}` in this store; imported: {names}{meant}")
    numbers = store.conversations.list_ids((name,))
    return _plan_conversations_deletion(
        store, DeletionKind.DATASET, f"the data set `{name}`", numbers, by
    )


def plan_file_deletion(store: Store, path: Path, source: str | None, by: str) -> DeletionPlan:
    """Mean the conversations that a file holds, as far as they are stored with the same turns.

    Args:
        store: Where they are.
        path: The file; it is read as an import reads it.
        source: Name of the data set; None: the file's name without its suffix.
        by: Who deletes.

    Raises:
        InputError: The file cannot be read.
        StoreError: None of its conversations is stored, or a run over one is on.
    """
    dataset, opened = open_file_and_detect_format(path, FormatChoice(), source)
    name = dataset.source
    wanted = {
        each.found.key: content_hash(each.found.turns)
        for each in dataset.read(opened)
        if not isinstance(each.found, InputError)
    }
    found = store.conversations.map_unchanged_keys_to_ids(name, wanted)
    numbers = tuple(sorted(found.values()))
    if not numbers:
        raise StoreError(
            f"none of the conversations of {path} is stored under `{name}`; name the data set "
            "with --source"
        )
    return _plan_conversations_deletion(
        store, DeletionKind.IMPORT, f"what {path} brought", numbers, by
    )


def plan_person_deletion(store: Store, name: str, by: str) -> DeletionPlan:
    """Mean everything a person said.

    Raises:
        StoreError: Nothing in the store is of anybody of this name.
    """
    found = DeletionPlan(
        DeletionKind.PERSON,
        f"all labels and notes of `{name}`",
        lambda guard: store.deletions.delete_person(
            name, by, count_only=guard is None, guard=guard
        ),
    )
    if not found.count_rows():
        raise StoreError(
            f"nothing in this store is by `{name}`; names are told apart letter by letter"
        )
    return found


def plan_run_deletion(store: Store, number: RunId, by: str) -> DeletionPlan:
    """Mean a run with all that its judge said.

    Raises:
        StoreError: There is no such run, or it is on.
    """
    _recover_unstored_replies(store)
    _raise_if_runs_active(store, [number])
    return DeletionPlan(
        DeletionKind.RUN,
        f"run {number}",
        lambda guard: store.deletions.delete_run(number, by, count_only=guard is None, guard=guard),
    )


def _plan_conversations_deletion(
    store: Store, kind: DeletionKind, title: str, numbers: Sequence[ConversationId], by: str
) -> DeletionPlan:
    _recover_unstored_replies(store)
    _raise_if_runs_active(store, store.deletions.list_runs_of_conversations(numbers))
    return DeletionPlan(
        kind,
        title,
        lambda guard: store.deletions.delete_conversations(
            kind, numbers, by, count_only=guard is None, guard=guard
        ),
    )


def _recover_unstored_replies(store: Store) -> None:
    """Read replies that the store could not take into it, so that they go with their run.

    Raises:
        StoreError: A reply cannot be read.
    """
    UnstoredReplies(store.path).recover_into_store(store)


def _raise_if_runs_active(store: Store, runs: Sequence[RunId]) -> None:
    """Refuse to delete under a run that is on, or that waits for answers.

    Raises:
        StoreError: There is one.
    """
    for number in runs:
        if read_run_marking_interrupted(store, number).state is RunState.RUNNING:
            raise StoreError(f"run {number} is on, so nothing of it is deleted: stop it first")
        if store.batches.sum_outstanding_of_run(number).questions:
            raise StoreError(
                f"questions of run {number} are with the provider or in files, so nothing of it "
                f"is deleted: call them back with `faithtui batch cancel {number}` and read what "
                f"was answered with `faithtui run --resume {number}`, or wait for the answers"
            )
