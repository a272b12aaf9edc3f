"""Bytes of a JSON file cut into records, line by line or element by element of an array.

Written by hand and not with a streaming parser: a record is then parsed whole by the same code
whichever way it stands in a file, and one that is too large is passed over byte by byte, so that
its size is reported and the next one is read. No more than one record is ever held.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BufferedIOBase

from faithtui.errors import InputError

_CHUNK = 1 << 18
"""Bytes read at a time."""

LARGE = 4 << 20
"""Bytes of a record from which its memory counts, so that it stays bytes until it is parsed."""

_BLANK = " \t\n\r\x0b\x0c"
_SPACE = b" \t\r\n"
_ENDS = tuple(_SPACE[place : place + 1] for place in range(len(_SPACE)))
_IN_TEXT = re.compile(rb'["\\]')
_IN_ARRAY = re.compile(rb'["{}\[\],]')
_DEEPER = re.compile(rb'["{}\[\]]')


@dataclass(slots=True)  # not frozen, which takes four times as long to make
class RawRecord:
    """One record of a file, as its bytes."""

    line: int
    """Line it begins on, from 1."""
    record: int | None
    """Its place in an array, from 1; None: it is a line."""
    end: int
    """Bytes of the file up to its end."""
    size: int
    """Its bytes, without the white space around it in an array, and without the line end."""
    text: str | bytes | UnicodeDecodeError | None
    """None: there were more bytes than may be held. Decoded here, so that the bytes are let go
    before it is parsed. Bytes when it is large: one emoji makes a text of four bytes a
    character."""

    @property
    def is_blank(self) -> bool:
        """Whether it holds nothing but white space."""
        if isinstance(self.text, str):
            return not self.text.strip(_BLANK)
        return isinstance(self.text, bytes) and self.text.isspace()


def cut_lines(file: BufferedIOBase, most: int) -> Iterator[RawRecord]:
    """Read a file line by line.

    Args:
        file: Open at its beginning; a pipe will do.
        most: Bytes of a line that may be held, its end left out.

    Yields:
        Every line, blank ones too.
    """
    end = number = 0
    # Two more for the line end, which does not count.
    while part := file.readline(most + 2):
        number += 1
        end += len(part)
        size = len(part.rstrip(b"\r\n"))
        if size <= most and (part.endswith(b"\n") or len(part) < most + 2):
            held, part = [_decode_utf8(part, size, is_first=number == 1)], b""
            yield RawRecord(number, None, end, size, held.pop())  # not held while we wait here
            continue
        size = len(part.rstrip(b"\n"))
        while part and not part.endswith(b"\n"):
            part = file.readline(_CHUNK)
            end += len(part)
            size += len(part.rstrip(b"\n"))
        yield RawRecord(number, None, end, size, None)


def cut_array(
    file: BufferedIOBase, most: int, take_rest: Callable[[bytes], None] | None = None
) -> Iterator[RawRecord]:
    """Read a JSON array element by element.

    Brackets and quotation marks alone decide where an element ends; whether it is JSON is for
    whoever parses it.

    Args:
        file: Open at its beginning, where `[` comes after nothing but white space and a byte order
            mark; a pipe will do.
        most: Bytes of an element that may be held.
        take_rest: Is handed what comes after its end, piece by piece; None: nothing may.

    Yields:
        Every element, in order. An empty one stands where a comma has nothing beside it.

    Raises:
        InputError: The array does not end, or something comes after its end; what came before was
            yielded.
    """
    element = _ElementBuffer(most)
    end = number = depth = 0
    in_text = is_escaped = after_comma = is_over = False
    while chunk := file.read1(_CHUNK):
        start = at = 0
        while not is_over:
            if is_escaped and at < len(chunk):  # whatever stands behind a backslash means nothing
                is_escaped, at = False, at + 1
            marks = _IN_TEXT if in_text else _DEEPER if depth > 1 else _IN_ARRAY
            found = marks.search(chunk, at)
            if found is None:
                break
            mark, at = found[0], found.end()
            if in_text:
                in_text = is_escaped = mark == b"\\"
            elif mark == b'"':
                in_text = True
            elif mark in (b"[", b"{"):
                depth += 1
                if depth == 1:  # of the array itself
                    element.skip_bytes(chunk[start:at])
                    start = at
            elif depth > 1:
                depth -= 1
            elif mark != b"}":
                element.add_bytes(chunk[start : at - 1])
                start, is_over = at, mark == b"]"
                if not is_over or element.size or after_comma:
                    number += 1
                    yield element.finish_record(number, end + at - 1)
                after_comma = not is_over
        if is_over:
            (take_rest or _refuse_text_after_array)(chunk[start:])
        elif depth:
            element.add_bytes(chunk[start:])
        else:
            element.skip_bytes(chunk)
        end += len(chunk)
    if not is_over:
        where = f"record {number + 1}" if element.size else "the array"
        raise InputError(f"ends in the middle of {where}; expected the closing bracket `]`")


class _ElementBuffer:
    """Collects the bytes of one element after the other."""

    def __init__(self, most: int) -> None:
        self.size = 0
        """Bytes of this one so far, held or not."""
        self._most = most
        self._held = bytearray()
        self._line = self._start_line = 1

    def skip_bytes(self, piece: bytes) -> None:
        """Pass over what is no part of any element."""
        self._line += piece.count(b"\n")

    def add_bytes(self, piece: bytes) -> None:
        """Add bytes; white space before the first is passed over."""
        if not self.size:
            bare = piece.lstrip(_SPACE)
            self.skip_bytes(piece[: len(piece) - len(bare)])
            self._start_line, piece = self._line, bare
        self.skip_bytes(piece)
        self.size += len(piece)
        if self.size <= self._most:
            self._held += piece
        else:
            self._held.clear()

    def finish_record(self, number: int, end: int) -> RawRecord:
        """Give the element, and begin the next one."""
        size, text = self.size, None
        if size <= self._most:
            while self._held.endswith(_ENDS):
                self._held.pop()
            size = len(self._held)
            text = _decode_utf8(self._held, size)
        self.size, self._held = 0, bytearray()
        return RawRecord(self._start_line, number, end, size, text)


def _decode_utf8(
    data: bytes | bytearray, size: int, *, is_first: bool = False
) -> str | bytes | UnicodeDecodeError:
    """Read the first bytes as UTF-8; the error is the value."""
    start = len(codecs.BOM_UTF8) if is_first and data.startswith(codecs.BOM_UTF8) else 0
    if size > LARGE:
        return bytes(data[start:size])
    try:
        return data[start:size].decode()
    except UnicodeDecodeError as error:
        return error


def _refuse_text_after_array(rest: bytes) -> None:
    if rest.strip(_SPACE):
        raise InputError("goes on behind the end of the array; expected nothing after `]`")
