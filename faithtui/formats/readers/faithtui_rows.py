"""Claims that were exported as rows, read again: conversations, verdicts and labels.

The rows of a conversation may lie anywhere in the file. Each has the messages of the conversation;
the passages are those that its claims were judged against.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from faithtui.domain.conversation import Document
from faithtui.domain.csv_cells import restore_formula
from faithtui.domain.labels.label_events import COUNTED_ACTIONS, VERDICT_ACTIONS
from faithtui.errors import InputError
from faithtui.formats.files.record_files import FileRecord, Sample
from faithtui.formats.files.record_groups import RecordGroups
from faithtui.formats.image_reader import ImageCollector
from faithtui.formats.json_lines import parse_inner_json
from faithtui.formats.readers.faithtui_results import (
    add_faithtui_label,
    add_faithtui_verdicts,
    list_objects_or_empty,
    make_exported_conversation_name,
)
from faithtui.formats.readers.protocol import (
    UNREADABLE,
    ParsedRecord,
    ReadOptions,
    RecordsBeforeError,
    build_conversations,
    make_parsed_record,
    make_refused_record,
)
from faithtui.formats.readers.values.conversation_draft import ConversationDraft
from faithtui.formats.readers.values.key_spellings import ShapeError
from faithtui.formats.readers.values.passages import PassageList
from faithtui.formats.writers.flat_rows import CLAIM_COLUMNS, FlatColumn, format_utc_time

_OF_CLAIMS: Final = frozenset(("claim_id", "conversation_id", "messages", "passages", "labels"))
_OF_LABELS: Final = frozenset(("claim_id", "conversation_id", "label_id", "annotator"))
_COLUMNS: Final[Mapping[str, FlatColumn]] = {each.name: each for each in CLAIM_COLUMNS}
_NO_CONVERSATION: Final = (
    "rows of labels hold no conversation and are left out; the claims of the same export have the "
    "labels too, and `faithtui merge` takes a bundle"
)
_NO_LABEL: Final = "notes, flags and marks of annotators without a label are left out"
_UNCOUNTED: Final = frozenset(map(str, VERDICT_ACTIONS - COUNTED_ACTIONS))
"""Events of which a report counts the claims: skipped ones, and those answered in bulk."""
_NO_TEXT: Final = (
    "answers some of whose passages no claim was judged against have unknown passages: the export "
    "has no text of them"
)
_STATEMENTS: Final = (
    "claims that are statements of documents are left out: verdicts are read of answers alone"
)


@dataclass(frozen=True, slots=True)
class ClaimRowReader:
    """Rows of `faithtui export claims`."""

    name: str = "faithtui-claims"
    title: str = "claims from `faithtui export claims`"

    def explain_match(self, sample: Sample) -> str | None:
        """See `FormatReader`."""
        if sample.records and sample.records[0].keys() >= _OF_CLAIMS:
            return "rows with `claim_id`, `messages` and `labels`, as `faithtui export claims`"
        return None

    def read(self, records: Iterable[FileRecord], options: ReadOptions) -> Iterator[ParsedRecord]:
        """See `FormatReader`; conversations come after the last row was read."""
        last = FileRecord(Path(), 0, None, 0, 0, {})
        sources: set[object] = set()
        repeats = _RepeatFilter()
        readable = RecordsBeforeError(records)
        with RecordGroups() as groups:
            for each in readable:
                if isinstance(each.found, InputError):
                    yield make_parsed_record(each, each.found)
                    continue
                last = each
                try:
                    row = _read_cells(each.found, is_table=options.sample.is_table)
                except UNREADABLE as error:
                    yield make_refused_record(each, error)
                    continue
                sources.add(str(row.get("source")))
                repeats.leave_out_repeated_parts(row)
                groups.add(str(row["conversation_id"]), {**row, "_line": each.line})
            for row, too_large in groups.list_keys_with_too_large_records():
                yield make_refused_record(replace(last, line=row["_line"]), too_large)
            for _, rows in groups:
                line = min(row.pop("_line") for row in rows)
                place = FileRecord(last.path, line, None, last.end, max(last.size, 1), {})
                collector = ImageCollector(last.path.parent)
                drafts = _make_drafts(rows, options, sources)
                yield from build_conversations(place, drafts, options, collector)
        readable.raise_error_if_any()


@dataclass(frozen=True, slots=True)
class LabelRowReader:
    """Rows of `faithtui export labels`, which belong to conversations that are elsewhere."""

    name: str = "faithtui-labels"
    title: str = "rows of labels from `faithtui export labels`"

    def explain_match(self, sample: Sample) -> str | None:
        """See `FormatReader`."""
        if sample.records and sample.records[0].keys() >= _OF_LABELS:
            return "rows with `label_id` and `annotator`, as `faithtui export labels`"
        return None

    def read(self, records: Iterable[FileRecord], options: ReadOptions) -> Iterator[ParsedRecord]:
        """See `FormatReader`; there is nothing to read."""
        for _ in records:
            options.notes.remarks[_NO_CONVERSATION] += 1
        yield from ()


def _read_cells(found: Mapping[str, object], *, is_table: bool) -> dict[str, Any]:
    """Read a row as it was written, whatever file it comes from.

    Raises:
        ShapeError: A cell is not what its column holds.
    """
    row: dict[str, Any] = {}
    for name, value in found.items():
        column = _COLUMNS.get(name)
        if column is None:
            continue
        row[name] = _parse_cell_by_column_kind(column, value, is_table=is_table)
    for name in ("conversation_id", "conversation", "messages", "turn", "claim"):
        if row.get(name) is None:
            raise ShapeError(name, "is missing")
    if "passages" not in row:
        raise ShapeError("passages", "is missing")
    if row["passages"] is not None and not isinstance(row["passages"], list):
        raise ShapeError("passages", "is no list of passages; expected it as it was exported")
    window = row.get("window")
    if isinstance(window, float) and window.is_integer():
        window = row["window"] = int(window)  # as tools write a column that has gaps
    if window is not None and type(window) is not int:
        raise ShapeError("window", "is no whole number")
    row["window"] = window or 0
    return row


def _parse_cell_by_column_kind(column: FlatColumn, value: object, *, is_table: bool) -> object:
    if isinstance(value, datetime):
        return format_utc_time(value)
    if not isinstance(value, str):
        return value
    if column.kind in ("text", "time"):
        return restore_formula(value) if is_table else value
    if value == "":
        return None
    try:
        parsed = parse_inner_json(value)
    except ValueError as error:
        raise ShapeError(column.name, "is no JSON; expected it as it was exported") from error
    return parsed


def _make_drafts(
    rows: list[dict[str, Any]], options: ReadOptions, sources: Collection[object]
) -> Iterator[ConversationDraft]:
    """Make the conversation of some rows; `sources` are the data sets of all of the file."""
    first = rows[0]
    key = make_exported_conversation_name(
        first.get("source"), first["conversation"], is_one_of_several=len(sources) > 1
    )
    draft = ConversationDraft(key=key)
    if isinstance(first.get("metadata"), dict):
        draft.metadata = dict(first["metadata"])
    passages = _PassageFinder(rows)
    for message in list_objects_or_empty(first["messages"]):
        _add_message(draft, message, passages, options)
    of_run: dict[tuple[str, object], list[tuple[int, dict[str, Any]]]] = {}
    for row in rows:
        position = row["turn"]
        if not isinstance(position, int) or not 0 <= position < len(draft.turns):
            raise ShapeError("turn", "is no position in `messages`")
        if row.get("kind") == "statement":
            options.notes.remarks[_STATEMENTS] += 1
            continue
        if row.get("judged"):
            judge = str(row.get("judge") or row.get("model") or "unknown")
            run = row.get("run_id") if isinstance(row.get("options"), dict) else None
            judged = {**row, "evidence": passages.list_evidence_with_passages(row.get("evidence"))}
            of_run.setdefault((judge, run), []).append((position, judged))
        start, end = row.get("span_start"), row.get("span_end")
        claim = {**row, "span": None if start is None else [start, end]}
        for label in list_objects_or_empty(row.get("labels")):
            if label.get("counted") or str(label.get("action")) in _UNCOUNTED:
                annotator = str(label.get("annotator"))
                add_faithtui_label(draft, position, annotator, claim, label)
            else:
                options.notes.remarks[_NO_LABEL] += 1
    for (judge, _), claims in of_run.items():
        add_faithtui_verdicts(draft, judge, claims, claims[0][1])
    yield draft


class _RepeatFilter:
    """Leaves out what a row repeats of those before it, as rows of a conversation are long.

    Only of rows that stand one behind the other, so that no more than one conversation is held.
    """

    def __init__(self) -> None:
        self._conversation: object = None
        self._passages: set[tuple[str, str | None, int]] = set()

    def leave_out_repeated_parts(self, row: dict[str, Any]) -> None:
        """Take the messages and metadata out of a row that is not the first, and known passages."""
        if row["conversation_id"] == self._conversation:
            row["messages"] = row["metadata"] = None
        else:
            self._conversation = row["conversation_id"]
            self._passages.clear()
        new = []
        for each in list_objects_or_empty(row["passages"]):
            text = hash(str(each.get("text")))
            known = str(each.get("document")), _to_source(each.get("source")), text
            if known not in self._passages:
                self._passages.add(known)
                new.append(each)
        row["passages"] = new


class _PassageFinder:
    """Finds the passages that messages name by the hash of their text.

    One text may have come from several sources. A message says which of them each place has; where
    it does not, as in exports of earlier versions, the first place in the messages gets the first
    source in the rows, its second place the second, and further places the last.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._found: dict[str, dict[Document, None]] = {}
        for row in rows:
            for each in list_objects_or_empty(row["passages"]):
                document = Document(str(each.get("text")), _to_source(each.get("source")))
                self._found.setdefault(str(each.get("document")), {})[document] = None
        self._used: Counter[str] = Counter()

    def list_passages(self, names: Sequence[object], sources: object) -> list[Document]:
        """List the passages of a message; those whose text no row has are left out.

        Args:
            names: Hashes of their texts.
            sources: The source of each, where the message says it.
        """
        if isinstance(sources, list) and len(sources) == len(names):
            return [
                Document(next(iter(self._found[str(name)])).text, _to_source(source))
                for name, source in zip(names, sources, strict=True)
                if str(name) in self._found
            ]
        found = (self._take_next_passage_of_name(str(each)) for each in names)
        return [each for each in found if each is not None]

    def list_evidence_with_passages(self, evidence: object) -> list[dict[str, object]]:
        """Give the evidence of a row with the text of the passage that each truth came from."""
        return [
            {**each, "passage": next((one.text for one in self._found.get(name, ())), None)}
            for each in list_objects_or_empty(evidence)
            for name in [str(each.get("document"))]
        ]

    def _take_next_passage_of_name(self, name: str) -> Document | None:
        """Give the next passage of this name; None: no row has it."""
        documents = list(self._found.get(name, ()))
        if not documents:
            return None
        place = min(self._used[name], len(documents) - 1)
        self._used[name] += 1
        return documents[place]


def _to_source(value: object) -> str | None:
    return None if value is None else str(value)


def _add_message(
    draft: ConversationDraft,
    message: Mapping[str, object],
    passages: _PassageFinder,
    options: ReadOptions,
) -> None:
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant") or not isinstance(content, str):
        raise ShapeError("messages", "has a message without `role` and `content`")
    names = message.get("documents")
    shown = None
    if isinstance(names, list):
        documents = tuple(passages.list_passages(names, message.get("sources")))
        if len(documents) == len(names):
            shown = PassageList(documents, ({},) * len(documents))
        else:
            options.notes.remarks[_NO_TEXT] += 1
    draft.add_turn(role, content, shown)


CLAIMS: Final = ClaimRowReader()
LABELS: Final = LabelRowReader()
