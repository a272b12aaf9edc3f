"""Reading of traces: records by trace, traces by session, sessions as conversations.

A tool's reader says which trace a record belongs to and what exchange a trace holds; this is the
rest, once for all of them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from faithtui.errors import InputError
from faithtui.formats.files.record_files import FileRecord, Sample
from faithtui.formats.files.record_groups import RecordGroups
from faithtui.formats.image_reader import ImageCollector, find_image_folder
from faithtui.formats.readers.protocol import (
    UNREADABLE,
    ParsedRecord,
    ReadOptions,
    RecordsBeforeError,
    build_conversations,
    make_parsed_record,
    make_refused_record,
)
from faithtui.formats.readers.traces.exchanges import (
    Exchange,
    make_conversation_from_exchanges,
    make_sortable_time,
)
from faithtui.formats.readers.values.key_spellings import AnySpelling, ShapeError

_PLACE: Final = "_place"

SplitRecord = Callable[[AnySpelling], Iterable[tuple[str, dict[str, Any]] | ShapeError]]
"""Cuts a record into parts of traces, each with the trace's id; an error is a part that cannot be
read."""
ReadTrace = Callable[[str, list[dict[str, Any]], ReadOptions], "Exchange | None"]
"""Makes the exchange of a trace; None where it holds none."""


@dataclass(frozen=True, slots=True)
class TraceReader:
    """A format whose conversations are spread over records."""

    name: str
    title: str
    recognise_sample: Callable[[Sample], str | None]
    split_record: SplitRecord
    read_trace: ReadTrace
    find_session: Callable[[Mapping[str, Any]], str | None]
    """Finds what a part of a trace names as its session; None where it names none."""

    def explain_match(self, sample: Sample) -> str | None:
        """See `FormatReader`."""
        return self.recognise_sample(sample)

    def read(self, records: Iterable[FileRecord], options: ReadOptions) -> Iterator[ParsedRecord]:
        """See `FormatReader`; conversations come after the last record was read."""
        last = FileRecord(Path(), 0, None, 0, 0, {})
        places: dict[Path, int] = {}
        readable = RecordsBeforeError(records)
        with RecordGroups() as traces, RecordGroups() as sessions:
            for each in readable:
                if isinstance(each.found, InputError):
                    yield make_parsed_record(each, each.found)
                    continue
                last = each
                place = [places.setdefault(each.path, len(places)), each.line]
                try:
                    for found in self.split_record(AnySpelling(each.found)):
                        if isinstance(found, ShapeError):
                            yield make_refused_record(each, found)
                            continue
                        trace, part = found
                        traces.add(trace, {**part, _PLACE: place})
                except UNREADABLE as error:
                    yield make_refused_record(each, error)
            paths = list(places)
            for part, too_large in traces.list_keys_with_too_large_records():
                yield make_refused_record(_locate_first_record(last, paths, [part]), too_large)
            for trace, parts in traces:
                first = _locate_first_record(last, paths, parts)
                try:
                    exchange = self.read_trace(trace, parts, options)
                except UNREADABLE as error:
                    yield make_refused_record(first, error)
                    continue
                if exchange is not None:
                    value = {**exchange.to_json(), _PLACE: [places.get(first.path, 0), first.line]}
                    sessions.add(exchange.session, value, make_sortable_time(exchange.time))
            for value, too_large in sessions.list_keys_with_too_large_records():
                yield make_refused_record(_locate_first_record(last, paths, [value]), too_large)
            for session, values in sessions:
                first = _locate_first_record(last, paths, values)
                collector = ImageCollector(find_image_folder(first.path))
                drafts = (
                    make_conversation_from_exchanges(session, found, options, collector)
                    for found in [[Exchange.from_json(each) for each in values]]
                )
                yield from build_conversations(first, drafts, options, collector)
        readable.raise_error_if_any()

    def list_trace_and_session_ids(self, records: Iterable[FileRecord]) -> Iterator[str]:
        """List what a file shares with files that belong to it: ids of traces and of sessions."""
        for each in records:
            if isinstance(each.found, InputError):
                continue
            with suppress(*UNREADABLE):  # reading tells
                for found in self.split_record(AnySpelling(each.found)):
                    if isinstance(found, ShapeError):
                        continue
                    trace, part = found
                    session = self.find_session(part)
                    yield f"trace {trace}"
                    if session is not None:
                        yield f"session {session}"


def _locate_first_record(
    last: FileRecord, paths: Sequence[Path], parts: list[dict[str, Any]]
) -> FileRecord:
    """Give the place of the first record of some, for messages."""
    file, line = min(tuple(each.pop(_PLACE)) for each in parts)
    return FileRecord(paths[file], line, None, last.end, max(last.size, 1), {})
