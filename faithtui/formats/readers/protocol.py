"""What every format reader is: it recognises a sample of records, and reads all of them.

A reader is a module of functions behind one small class. It never opens a file, and it gives
conversations, so that nothing behind it knows which tool a file came from.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from faithtui.domain.conversation import Conversation
from faithtui.domain.labels.imported_verdicts import ImportedJudgement
from faithtui.errors import InputError
from faithtui.formats.files.record_files import FileRecord, Sample
from faithtui.formats.image_reader import ImageCollector, find_image_folder
from faithtui.formats.readers.values.conversation_draft import ConversationDraft
from faithtui.formats.readers.values.key_spellings import AnySpelling, ShapeError


@dataclass(slots=True)  # not frozen, which takes four times as long to make
class ParsedRecord:
    """What one record of a file gave: a conversation, or why there is none."""

    line: int
    """Line it begins on, from 1."""
    record: int | None
    """Its place in an array, from 1; None: it is a line."""
    end: int
    """Bytes of the file up to its end."""
    size: int
    """Its bytes."""
    found: Conversation | InputError
    images: Mapping[str, bytes] = field(default_factory=dict)
    """Bytes of the conversation's images by SHA-256."""
    verdicts: tuple[ImportedJudgement, ...] = ()
    """What judges said of it elsewhere."""


WARNINGS_KEPT: Final = 10_000
"""Warnings of a data set that are reported one by one; the others are counted."""

UNEVEN_ROW: Final = (
    "row with too few cells, or with empty ones behind the last column; it was taken, and what is "
    "missing counts as empty"
)
BROKEN_LIST: Final = "list that cannot be read, as if it had been cut off, which was taken as text"
"""Kinds of warnings."""


@dataclass(slots=True)
class ReadNotes:
    """What a reader has to say about a whole file, collected while it is read."""

    unknown_keys: Counter[str] = field(default_factory=Counter)
    """How often each key came that nobody understood; `[]` stands for any place in a list."""
    remarks: Counter[str] = field(default_factory=Counter)
    """Sentences about what was left out or taken otherwise, and how often."""
    dropped_keys: Counter[str] = field(default_factory=Counter)
    """How often each key came that nobody understood and that has no place to be kept in."""
    meant_keys: dict[str, str] | None = None
    """The name that each key of these may be mapped to, where the reader knows which names have a
    place beside it; None: it does not."""
    scores: set[str] = field(default_factory=set)
    """Names of scores whose scale was asked for."""
    warnings: list[InputError] = field(default_factory=list)
    """Where something was taken that may not be what was meant; the first `WARNINGS_KEPT`."""
    warned: int = 0
    """How many warnings there were."""

    def add_warning(self, warning: InputError, remark: str) -> None:
        """Name the place of something that may not be what was meant, and count its kind."""
        self.warned += 1
        self.remarks[remark] += 1
        if len(self.warnings) < WARNINGS_KEPT:
            self.warnings.append(warning)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a file is to be read."""

    source: str
    """Name of the data set."""
    sample: Sample
    """Its records are there of tables alone, where the other rows say what an empty cell means."""
    scales: Mapping[str, str] = field(default_factory=dict)
    """Label scales by the name a human score has in the file."""
    notes: ReadNotes = field(default_factory=ReadNotes)
    mapped_names: Collection[str] = ()
    """Names that the user gave to columns or keys of the file, with `--map`."""

    def choose_and_note_scale(self, name: str, default: str | None = None) -> str:
        """Name the scale of a human score: as the user said, or the default, or its own name."""
        self.notes.scores.add(name)
        return self.scales.get(name, name if default is None else default)

    def note_score_and_check_scale_is_named(self, name: str) -> bool:
        """Say whether the user named a scale for a human score."""
        self.notes.scores.add(name)
        return name in self.scales


class FormatReader(Protocol):
    """A format: how it is recognised and read."""

    @property
    def name(self) -> str:
        """What `--format` calls it."""

    @property
    def title(self) -> str:
        """What it is, in a few words."""

    def explain_match(self, sample: Sample) -> str | None:
        """Say why a file is of this format; None where it is not."""

    def read(self, records: Iterable[FileRecord], options: ReadOptions) -> Iterator[ParsedRecord]:
        """Read all records of a file; of several files where they are joined."""


UNREADABLE: Final = (
    ShapeError,
    InputError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What reading one record may raise: what a reader looks for, and what it did not think of. Files
come from other tools, so the second is one refused record too, and no end of the import."""

Convert = Callable[
    [AnySpelling, ReadOptions, ImageCollector], Iterable[ConversationDraft | ShapeError]
]
"""Makes conversations of one record; an error is a part of it that cannot be read."""


@dataclass(frozen=True, slots=True)
class RecordReader:
    """A format in which each record holds whole conversations."""

    name: str
    title: str
    recognise_sample: Callable[[Sample], str | None]
    convert: Convert

    def explain_match(self, sample: Sample) -> str | None:
        """See `FormatReader`."""
        return self.recognise_sample(sample)

    def read(self, records: Iterable[FileRecord], options: ReadOptions) -> Iterator[ParsedRecord]:
        """See `FormatReader`."""
        for each in records:
            if isinstance(each.found, InputError):
                yield make_parsed_record(each, each.found)
                continue
            collector = ImageCollector(find_image_folder(each.path))
            drafts = self.convert(AnySpelling(each.found), options, collector)
            yield from build_conversations(each, drafts, options, collector)


class RecordsBeforeError:
    """Records up to the place from which a file cannot be read, for readers that collect them.

    What was collected still makes conversations; `raise_error_if_any` comes after these.

    Args:
        records: The records of one file or of several.
    """

    def __init__(self, records: Iterable[FileRecord]) -> None:
        self._records = records
        self._error: InputError | None = None

    def __iter__(self) -> Iterator[FileRecord]:
        """Give the records."""
        try:
            yield from self._records
        except InputError as error:
            self._error = error

    def raise_error_if_any(self) -> None:
        """Say why there are no more.

        Raises:
            InputError: The file cannot be read on.
        """
        if self._error is not None:
            raise self._error


def make_drafts(
    elements: Iterable[AnySpelling | ShapeError],
    make_draft: Callable[[AnySpelling], ConversationDraft],
) -> Iterator[ConversationDraft | ShapeError]:
    """Make a conversation of each element of a list; one that cannot be read stops no other.

    Args:
        elements: The list, see `AnySpelling.read_objects_or_errors`.
        make_draft: Makes the conversation of one element.
    """
    for each in elements:
        if isinstance(each, ShapeError):
            yield each
            continue
        made: ConversationDraft | ShapeError
        try:
            made = make_draft(each)
            made.where = each.where
        except UNREADABLE as error:
            made = translate_to_shape_error(error, each.where)
        yield made


def build_conversations(
    record: FileRecord,
    drafts: Iterable[ConversationDraft | ShapeError],
    options: ReadOptions,
    collector: ImageCollector,
) -> Iterator[ParsedRecord]:
    """Build the conversations of a record; what cannot be built is reported with its place."""
    iterator = iter(drafts)
    while True:
        try:
            draft = next(iterator)
        except StopIteration:
            return
        except UNREADABLE as error:
            yield make_refused_record(record, error)
            return  # an iterator that raised is over
        if isinstance(draft, ShapeError):
            yield make_refused_record(record, draft)
            continue
        add_warnings_on_broken_lists(options.notes, record, draft.broken_lists)
        try:
            built = draft.build(options.source)
        except UNREADABLE as error:
            yield make_refused_record(record, translate_to_shape_error(error, draft.where))
            continue
        yield make_parsed_record(record, built, collector.data, tuple(draft.verdicts))


def translate_to_shape_error(error: Exception, where: str = "") -> ShapeError:
    """Say in a sentence why something could not be read.

    Args:
        error: One of `UNREADABLE`.
        where: Name of the field that was read; "" for a whole record.
    """
    match error:
        case ShapeError() if error.field.startswith(where):
            return error
        case ShapeError():
            return ShapeError(f"{where}.{error.field}" if error.field else where, error.reason)
        case InputError():
            return ShapeError(error.field or where, error.reason)
        case _:
            message = f"{type(error).__name__}: {error}"[:200].rstrip(": ")
            return ShapeError(
                where,
                f"holds something that this format has in no such place ({message}); mend it or "
                "leave it out",
            )


def add_warnings_on_broken_lists(
    notes: ReadNotes, record: FileRecord, found: Iterable[ShapeError]
) -> None:
    """Name the fields of a record in which a list that cannot be read was taken as text."""
    for each in found:
        notes.add_warning(record.make_error(each.reason, each.field), BROKEN_LIST)


def make_refused_record(record: FileRecord, error: Exception) -> ParsedRecord:
    """Refuse a record that could not be read.

    Args:
        record: The record.
        error: One of `UNREADABLE`.
    """
    if isinstance(error, InputError) and error.path is not None:
        return make_parsed_record(record, error)
    shape_error = translate_to_shape_error(error)
    return make_parsed_record(
        record, record.make_error(shape_error.reason, shape_error.field or None)
    )


def make_parsed_record(
    record: FileRecord,
    found: Conversation | InputError,
    images: Mapping[str, bytes] | None = None,
    verdicts: tuple[ImportedJudgement, ...] = (),
) -> ParsedRecord:
    """Put what came of a record beside its place."""
    return ParsedRecord(
        record.line, record.record, record.end, record.size, found, images or {}, verdicts
    )
