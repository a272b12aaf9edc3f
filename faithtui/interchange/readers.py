"""Files of conversations in, values out, one at a time.

One format is known: one JSON object a line in the neutral shape. Anything else is refused with a
sentence that says what was found.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from faithtui.domain.conversation import Conversation
from faithtui.errors import InputError
from faithtui.interchange.json_lines import read_json_lines
from faithtui.interchange.neutral import conversation_from


@dataclass(frozen=True, slots=True)
class LineRead:
    """What one line of a file gave."""

    line: int
    """Line number from 1."""
    end: int
    """Bytes of the file up to the end of this line."""
    found: Conversation | InputError
    images: Mapping[str, bytes] = field(default_factory=dict)
    """Bytes of the conversation's images by SHA-256."""


def read_lines(path: Path, source: str | None = None) -> Iterator[LineRead]:
    """Read the conversations of a file and keep where each one stood.

    Args:
        path: A file of one JSON object a line.
        source: Name of the data set; None: the file's name without its suffix.

    Yields:
        One value for each line that is not blank, in order.

    Raises:
        InputError: The file cannot be read, or is something else altogether.
    """
    name = source_name(path) if source is None else source
    for line in read_json_lines(path):
        if isinstance(line.found, InputError):
            yield LineRead(line.number, line.end, line.found)
            continue
        try:
            read = conversation_from(line.found, source=name, path=path, line=line.number)
        except InputError as error:
            yield LineRead(line.number, line.end, error)
        else:
            yield LineRead(line.number, line.end, read.conversation, read.images)


def read_conversations(
    path: Path, source: str | None = None
) -> Iterator[Conversation | InputError]:
    """Read the conversations of a file.

    A line that cannot be used gives an error that names line, field and reason, and reading goes
    on. Two lines may have the same key: whoever stores them decides. The bytes of images come with
    `read_lines`.

    Args:
        path: A file of one JSON object a line.
        source: Name of the data set; None: the file's name without its suffix.

    Yields:
        One value for each line that is not blank, in order.

    Raises:
        InputError: The file cannot be read, or is something else altogether.
    """
    return (line.found for line in read_lines(path, source))


def source_name(path: Path) -> str:
    """Name a data set after its file, without the suffix; bytes that are no text become U+FFFD."""
    return path.stem.encode(errors="surrogateescape").decode(errors="replace")
