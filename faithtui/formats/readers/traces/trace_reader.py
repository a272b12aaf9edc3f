"""Reading of traces: records by trace, traces by session, sessions as conversations.

A tool's reader says which trace a record belongs to and what exchange a trace holds; this is the
rest, once for all of them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faithtui.errors import InputError
from faithtui.formats.files.record_files import FileRecord, Sample
from faithtui.formats.files.record_groups import RecordGroups
from faithtui.formats.images import ImageCollector, find_image_folder
from faithtui.formats.readers.protocol import (
    UNREADABLE,
    ParsedRecord,
    ReadOptions,
    build_drafts,
    make_parsed_record,
    refuse_record,
)
from faithtui.formats.readers.traces.exchanges import Exchange, join_exchanges, make_time_rank
from faithtui.formats.readers.values.any_spelling import AnySpelling, ShapeError

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
    joins_files: bool = True

    def recognise(self, sample: Sample) -> str | None:
        """See `FormatReader`."""
        return self.recognise_sample(sample)

    def read(self, records: Iterable[FileRecord], options: ReadOptions) -> Iterator[ParsedRecord]:
        """See `FormatReader`; conversations come after the last record was read."""
        last = FileRecord(Path(), 0, None, 0, 0, {})
        with RecordGroups() as traces, RecordGroups() as sessions:
            for each in records:
                if isinstance(each.found, InputError):
                    yield make_parsed_record(each, each.found)
                    continue
                last = each
                try:
                    for found in self.split_record(AnySpelling(each.found)):
                        if isinstance(found, ShapeError):
                            yield refuse_record(each, found)
                            continue
                        trace, part = found
                        traces.add(trace, {**part, "_line": each.line})
                except UNREADABLE as error:
                    yield refuse_record(each, error)
            for trace, parts in traces:
                place = _take_line(last, parts)
                try:
                    exchange = self.read_trace(trace, parts, options)
                except UNREADABLE as error:
                    yield refuse_record(place, error)
                    continue
                if exchange is not None:
                    value = {**exchange.to_json(), "_line": place.line}
                    sessions.add(exchange.session, value, make_time_rank(exchange.time))
            for session, values in sessions:
                place = _take_line(last, values)
                gallery = ImageCollector(find_image_folder(last.path))
                drafts = (
                    join_exchanges(session, found, options, gallery)
                    for found in [[Exchange.from_json(each) for each in values]]
                )
                yield from build_drafts(place, drafts, options, gallery)


def _take_line(last: FileRecord, parts: list[dict[str, Any]]) -> FileRecord:
    """Give the place of the first record of some, for messages."""
    lines = [each.pop("_line", 0) for each in parts]
    size = max(last.size, 1)
    return FileRecord(last.path, min(lines, default=0), None, last.end, size, {})
