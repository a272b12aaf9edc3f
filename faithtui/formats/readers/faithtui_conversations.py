"""faithtui's own shape: one conversation a record, as docs/data-model.md has it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from faithtui.errors import InputError
from faithtui.formats.files.record_files import FileRecord, Sample
from faithtui.formats.readers.conversation_json import (
    build_plain_conversation,
    conversation_from_json,
)
from faithtui.formats.readers.protocol import (
    UNREADABLE,
    ParsedRecord,
    ReadNotes,
    ReadOptions,
    make_parsed_record,
    make_refused_record,
)
from faithtui.formats.readers.values.cells import parse_list_or_object_cell
from faithtui.formats.readers.values.key_spellings import (
    AnySpelling,
    normalise_key_spelling,
)
from faithtui.formats.readers.values.suggestions import suggest_key_for_value

_LINE_KEYS: Final = frozenset(("id", "turns", "metadata", "human_labels", "reference_judges"))
_TURN_KEYS: Final = frozenset(("role", "content", "retrieval_context", "context", "images"))
_CELLS_OF_LISTS: Final = frozenset(("turns", "humanlabels", "referencejudges"))
_DOCUMENT_KEYS: Final = frozenset(("text", "source", "images", "context", "content"))
_LABEL_KEYS: Final = frozenset(
    ("turn", "annotator", "label", "scale", "span", "note", "origin", "annotator_kind")
)
_KEYS_OF_INNER_OBJECTS: Final[Mapping[str, frozenset[str]]] = {
    "turns": _TURN_KEYS,
    "retrieval_context": _DOCUMENT_KEYS,
    "context": _DOCUMENT_KEYS,
    "human_labels": _LABEL_KEYS,
    "span": frozenset(("text", "start", "end")),
    "images": frozenset(("path", "url", "base64", "media_type")),
}
"""Names that objects have, by the key that they or their list stand under."""


@dataclass(frozen=True, slots=True)
class FaithtuiReader:
    """Conversations in faithtui's own shape."""

    name: str = "faithtui"
    title: str = "conversations in faithtui's own shape"

    def explain_match(self, sample: Sample) -> str | None:
        """See `FormatReader`."""
        if not sample.records:
            return None if sample.errors else "it holds no records"
        from faithtui.formats.readers import deepeval, deepeval_runs

        if any(
            each.explain_match(sample) for each in (deepeval.CONVERSATIONS, deepeval_runs.READER)
        ):
            return None
        for record in sample.records:
            turns = AnySpelling(record).read_first_value("turns")
            if isinstance(turns, list) or (isinstance(turns, str) and turns.startswith("[")):
                return "`turns` with role and content"
        return None

    def read(self, records: Iterable[FileRecord], options: ReadOptions) -> Iterator[ParsedRecord]:
        """See `FormatReader`."""
        for each in records:
            found = each.strict_error or each.found
            if isinstance(found, InputError):
                yield make_parsed_record(each, found)
                continue
            yield _parse_record(each, found, options)
            del found


def _parse_record(
    record: FileRecord, found: dict[str, object], options: ReadOptions
) -> ParsedRecord:
    try:
        # Most records have turns of texts and nothing else: no key to be found in another spelling,
        # and none to be counted.
        plain = build_plain_conversation(found, options.source)
        if plain is not None:
            return make_parsed_record(record, plain)
        found = _respell_known_keys(_parse_cells(found), _LINE_KEYS)
        _count_unknown_keys(found, options.notes)
        read = conversation_from_json(
            found, source=options.source, path=record.path, line=record.line, record=record.record
        )
    except UNREADABLE as error:
        return make_refused_record(record, error)
    return make_parsed_record(record, read.conversation, read.images)


def _parse_cells(found: dict[str, object]) -> dict[str, object]:
    """Read lists and objects that a table has as text."""
    return {
        key: parse_list_or_object_cell(value, key)
        if normalise_key_spelling(key) in _CELLS_OF_LISTS
        else value
        for key, value in found.items()
    }


def _respell_known_keys(found: dict[str, object], names: frozenset[str]) -> dict[str, object]:
    """Give an object with the names of this format where they came in another spelling."""
    if not found.keys() <= names:
        by_fold = {normalise_key_spelling(name): name for name in names if found.get(name) is None}
        respelt_keys: dict[str, object] = {}
        # Of two spellings of one name that hold something, the second is unknown, and reported.
        for key, value in found.items():
            fold = normalise_key_spelling(key)
            if value is None:
                respelt_keys.setdefault(key if key in names else by_fold.get(fold, key), None)
            else:
                respelt_keys[key if key in names else by_fold.pop(fold, key)] = value
        found = respelt_keys
    for key in found.keys() & names & _KEYS_OF_INNER_OBJECTS.keys():
        value, inner_names = found[key], _KEYS_OF_INNER_OBJECTS[key]
        if isinstance(value, dict):
            found = {**found, key: _respell_known_keys(value, inner_names)}
        elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
            respelt = [
                _respell_known_keys(each, inner_names) if isinstance(each, dict) else each
                for each in value
            ]
            if any(new is not old for new, old in zip(respelt, value, strict=True)):
                found = {**found, key: respelt}
    return found


def _count_unknown_keys(found: dict[str, object], notes: ReadNotes) -> None:
    for key in _list_unknown_keys(found, _LINE_KEYS, "", notes):
        notes.unknown_keys[key] += 1
    _count_unknown_keys_of_inner_objects(found, _LINE_KEYS, "", notes)


def _count_unknown_keys_of_inner_objects(
    found: dict[str, object], names: frozenset[str], level: str, notes: ReadNotes
) -> None:
    for key in found.keys() & names & _KEYS_OF_INNER_OBJECTS.keys():
        value, inner_names = found[key], _KEYS_OF_INNER_OBJECTS[key]
        is_list = isinstance(value, list)
        within = f"{level}{key}[]." if is_list else f"{level}{key}."
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, dict):
                for unknown in _list_unknown_keys(each, inner_names, within, notes):
                    notes.dropped_keys[unknown] += 1
                _count_unknown_keys_of_inner_objects(each, inner_names, within, notes)


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
        meant = suggest_key_for_value(key, found[key])
        if meant in names and meant not in found:
            notes.meant_keys.setdefault(f"{level}{key}", meant)
    return [f"{level}{key}" for key in unknown]


READER = FaithtuiReader()
