"""faithtui's own shape: one conversation a record, as docs/data-model.md has it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from faithtui.errors import InputError
from faithtui.formats.files.record_files import FileRecord, Sample
from faithtui.formats.readers.neutral import conversation_from_json
from faithtui.formats.readers.protocol import (
    UNREADABLE,
    ParsedRecord,
    ReadNotes,
    ReadOptions,
    make_parsed_record,
    make_refused_record,
)
from faithtui.formats.readers.values.any_spelling import normalise_key_spelling
from faithtui.formats.readers.values.suggestions import suggest_key

_LINE_KEYS: Final = frozenset(("id", "turns", "metadata", "human_labels", "reference_judges"))
_TURN_KEYS: Final = frozenset(("role", "content", "retrieval_context", "context", "images"))


_NO_RECORD: Final = (
    "none of its first records can be read, so what is wrong with each is told; JSON Lines, CSV "
    "and Parquet are taken"
)


@dataclass(frozen=True, slots=True)
class NeutralReader:
    """Conversations in the neutral shape."""

    name: str = "faithtui"
    title: str = "conversations in faithtui's own shape"

    def explain_match(self, sample: Sample) -> str | None:
        """See `FormatReader`; a file whose lines are all broken is told line by line."""
        if not sample.records:
            return _NO_RECORD if sample.errors else "it holds no records"
        from faithtui.formats.readers import deepeval, deepeval_runs

        if any(
            each.explain_match(sample) for each in (deepeval.CONVERSATIONS, deepeval_runs.READER)
        ):
            return None
        for record in sample.records:
            if isinstance(record.get("turns"), list):
                return "`turns` with role and content"
        return None

    def read(self, records: Iterable[FileRecord], options: ReadOptions) -> Iterator[ParsedRecord]:
        """See `FormatReader`."""
        for each in records:
            found = each.strict_error or each.found
            if isinstance(found, InputError):
                yield make_parsed_record(each, found)
                continue
            found = _normalise_key_spelling(found)
            _count_unknown_keys(found, options.notes)
            try:
                read = conversation_from_json(
                    found, source=options.source, path=each.path, line=each.line, record=each.record
                )
            except UNREADABLE as error:
                yield make_refused_record(each, error)
                continue
            yield make_parsed_record(each, read.conversation, read.images)
            del read, found


def _normalise_key_spelling(found: dict[str, object]) -> dict[str, object]:
    """Give a record with the names of this format where they came in another spelling."""
    found = _respell_known_keys(found, _LINE_KEYS)
    turns = found.get("turns")
    if isinstance(turns, list) and any(
        isinstance(turn, dict) and not turn.keys() <= _TURN_KEYS for turn in turns
    ):
        found = {
            **found,
            "turns": [
                _respell_known_keys(turn, _TURN_KEYS) if isinstance(turn, dict) else turn
                for turn in turns
            ],
        }
    return found


def _respell_known_keys(found: dict[str, object], names: frozenset[str]) -> dict[str, object]:
    if found.keys() <= names:
        return found
    by_fold = {normalise_key_spelling(name): name for name in names - found.keys()}
    # Of two spellings of one name, the second stays what it is: unknown, and told.
    return {
        key if key in names else by_fold.pop(normalise_key_spelling(key), key): value
        for key, value in found.items()
    }


def _count_unknown_keys(found: dict[str, object], notes: ReadNotes) -> None:
    for key in _list_unknown_keys(found, _LINE_KEYS, "", notes):
        notes.unknown_keys[key] += 1
    turns = found.get("turns")
    for turn in turns if isinstance(turns, list) else ():
        if isinstance(turn, dict):
            for key in _list_unknown_keys(turn, _TURN_KEYS, "turns[].", notes):
                notes.dropped_keys[key] += 1


def _list_unknown_keys(
    found: dict[str, object], names: frozenset[str], level: str, notes: ReadNotes
) -> list[str]:
    """List the keys of an object that nobody reads, and note which name each may have meant.

    A name that has no place at this level, or that the object has, is not what a key meant.
    """
    if found.keys() <= names:
        return []
    unknown = [key for key in found if key not in names]
    if notes.meant_keys is None:
        notes.meant_keys = {}
    for key in unknown:
        meant = suggest_key(key)
        if meant in names and meant not in found:
            notes.meant_keys.setdefault(f"{level}{key}", meant)
    return [f"{level}{key}" for key in unknown]


READER = NeutralReader()
