"""Files of conversations in, values out, one at a time.

They are in faithtui's own shape: one JSON object a line, or all of them in one JSON array.
Anything else is refused with a sentence that says what was found.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from faithtui.domain.conversation import Conversation
from faithtui.errors import InputError
from faithtui.formats.json_lines import JsonRecord, read_json_lines, read_json_lines_or_array
from faithtui.formats.readers.conversation_json import conversation_from_json
from faithtui.formats.readers.protocol import ParsedRecord


def read_conversation_records(
    path: Path, source: str | None = None, *, with_arrays: bool = True
) -> Iterator[ParsedRecord]:
    """Read the conversations of a file and keep where each one stood.

    Args:
        path: A file of one JSON object a line, or of one JSON array.
        source: Name of the data set; None: the file's name without its suffix.
        with_arrays: A file may be one array; else that is refused.

    Yields:
        One value for each line that is not blank, or for each element, in order.

    Raises:
        InputError: The file cannot be read, or is something else altogether.
    """
    name = make_dataset_name(path) if source is None else source
    read = read_json_lines_or_array if with_arrays else read_json_lines
    for each in read(path):
        yield _parse_record(each, path, name)
        del each  # a large one is not held while the next one is read


def _parse_record(record: JsonRecord, path: Path, source: str) -> ParsedRecord:
    found: Conversation | InputError
    images: Mapping[str, bytes] = {}
    if isinstance(record.found, InputError):
        found = record.found
    else:
        try:
            read = conversation_from_json(
                record.found, source=source, path=path, line=record.line, record=record.record
            )
            found, images = read.conversation, read.images
        except InputError as error:
            found = error
    return ParsedRecord(record.line, record.record, record.end, record.size, found, images)


def read_conversations(
    path: Path, source: str | None = None
) -> Iterator[Conversation | InputError]:
    """Read the conversations of a file.

    A record that cannot be used gives an error that names line, field and reason, and reading goes
    on. Two records may have the same key: whoever stores them decides. The bytes of images come
    with `read_conversation_records`.

    Args:
        path: A file of one JSON object a line, or of one JSON array.
        source: Name of the data set; None: the file's name without its suffix.

    Yields:
        One value for each line that is not blank, or for each element, in order.

    Raises:
        InputError: The file cannot be read, or is something else altogether.
    """
    return (each.found for each in read_conversation_records(path, source))


def make_dataset_name(path: Path) -> str:
    """Name a data set after its file, without the suffix; bytes that are no text become U+FFFD."""
    return path.stem.encode(errors="surrogateescape").decode(errors="replace")
