"""Claim sets out of a store into a file, and from a file into a store: whole, or not at all."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from faithtui.domain.ids import ClaimSetId, ConversationId
from faithtui.errors import ConfigError, InputError
from faithtui.formats.claim_sets import (
    ConversationWithImages,
    claim_set_lines,
    read_and_check_claim_set,
    read_transcripts,
)
from faithtui.metrics.registry import find_metric
from faithtui.output_files import refuse_unwritable_target, write_text
from faithtui.store.bundles.merge import MergeCounts
from faithtui.store.samples.claim_sets import ClaimSetRow
from faithtui.store.store import Store


@dataclass(frozen=True, slots=True)
class ClaimSetImport:
    """What importing a claim set did."""

    row: ClaimSetRow
    is_new: bool
    """This version was not here."""
    new_conversations: int
    merged: MergeCounts
    """What became of its labels."""


def export_claim_set(store: Store, number: ClaimSetId, path: Path, *, force: bool) -> None:
    """Write a claim set into a file, with everything that a run over it needs.

    Raises:
        ExportError: The file is a store, is there already and `force` is not set, cannot be
            written, or a conversation is too large with its images.
        StoreError: The set is not there.
    """
    refuse_unwritable_target(path, force=force)
    found = store.claim_sets.read_claim_set_bundle(number)
    conversations = sorted(store.claim_sets.list_conversation_ids(number))
    lines = claim_set_lines(found, _read_stored_transcripts(store, conversations))
    write_text(path, lines, force=force)


def import_claim_set(store: Store, path: Path) -> ClaimSetImport:
    """Take a claim set in: its conversations, claims, labels and design.

    The file is checked as a whole before anything is written. What is here already stays as it is;
    after a crash, import again.

    Raises:
        InputError: The file cannot be read, or is not a whole claim set.
        StoreError: A conversation is here with other turns, another set has its name and version,
            or the store cannot be written.
    """
    found = read_and_check_claim_set(path)
    try:
        find_metric(found.metric)
    except ConfigError as error:
        raise InputError(f"{error}; or update faithtui", path=path, line=1) from error
    store.claim_sets.refuse_conflicting_version(found)
    new = 0
    for each in read_transcripts(path):
        new += store.conversations.import_batch([each.conversation], each.images).new
    row, merged, is_new = store.claim_sets.import_bundle(found)
    return ClaimSetImport(row, is_new, new, merged)


def _read_stored_transcripts(
    store: Store, conversations: list[ConversationId]
) -> Iterator[ConversationWithImages]:
    for number in conversations:
        conversation = store.conversations.get(number)
        images = {}
        for image in conversation.images:
            data = store.images.read(image.sha256).data
            if data is not None:
                images[image.sha256] = data
        yield ConversationWithImages(conversation, images)
