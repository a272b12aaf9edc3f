"""Files as streams of UTF-8 bytes, whatever they were packed in or written as.

Packed ones (gzip, bzip2, xz, zstd) are unpacked while they are read, and UTF-16 is written anew as
UTF-8, so that whoever cuts a file into records knows one kind of bytes. Nothing is held but a
buffer.
"""

import codecs
import gzip
import importlib
import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from faithtui.errors import FileUnreadable, InputError
from faithtui.formats.image_reader import STDIN

HEAD_BYTES: Final = 1 << 16
"""How much of a file decides what it is."""

_CHUNK = 1 << 16
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZSTD_PIECE: Final = 1024
"""Packed bytes that are unpacked at once: they become 32 MB at most."""
_ZSTD_SENTENCE = (
    "is packed with zstd, which this Python cannot unpack; install `faithtui[zstd]`, or unpack it "
    "first: `zstd -d FILE`"
)


class PieceStream(io.RawIOBase):
    """Bytes that a function gives piece by piece, b"" at the end."""

    def __init__(self, read_piece: Callable[[], bytes]) -> None:
        self._read_piece = read_piece
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fill a buffer from the start; 0 at the end."""
        view = memoryview(buffer)  # type: ignore[arg-type]  # whatever io hands over
        if not self._rest:
            self._rest = memoryview(self._read_piece())
        size = min(len(view), len(self._rest))
        view[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def read_exactly(file: IO[bytes], size: int) -> bytes:
    """Read so many bytes.

    Raises:
        ValueError: There are fewer.
    """
    found = file.read(size)
    if len(found) < size:
        raise ValueError("ends too early")
    return found


def iterate_pieces(file: IO[bytes], size: int) -> Iterator[bytes]:
    """Read so many bytes, piece by piece.

    Raises:
        ValueError: There are fewer.
    """
    while size:
        piece = read_exactly(file, min(size, _CHUNK))
        size -= len(piece)
        yield piece


@dataclass(frozen=True, slots=True)
class ByteStream:
    """An open file, unpacked."""

    file: io.BufferedReader
    """UTF-8 bytes, or those of a binary format; at the beginning."""
    head: bytes
    """The first bytes, not taken from the file."""
    packed: bool
    """Whether it was unpacked or written anew, so that places in it are not those of the file."""
    raw: IO[bytes]
    """The file as it lies on the disk; where it stands says how much was read."""

    def count_bytes_read(self) -> int:
        """Say how many bytes of the file were read; 0 for a pipe, which does not tell."""
        try:
            return self.raw.tell()
        except OSError:
            return 0

    def close(self) -> None:
        """Close it; standard input stays open."""
        if self.raw is not sys.stdin.buffer:
            self.file.close()
            self.raw.close()


def open_file_or_stdin_as_utf8(path: Path) -> ByteStream:
    """Open a file, or standard input for `-`.

    Raises:
        InputError: It cannot be opened, or not unpacked here.
    """
    try:
        if path == STDIN:
            raw: IO[bytes] = sys.stdin.buffer
        else:
            raw = path.open("rb", buffering=0)
    except IsADirectoryError as error:
        raise InputError("is a directory; expected a file", path=path) from error
    except OSError as error:
        raise make_read_error(path, error) from error
    try:
        return _decompress_and_recode_to_utf8(
            path,
            io.BufferedReader(PieceStream(lambda: _read_available_bytes(raw)), HEAD_BYTES),
            raw,
        )
    except OSError as error:
        raw.close()
        raise make_read_error(path, error) from error
    except InputError:
        raw.close()
        raise


def _read_available_bytes(raw: IO[bytes]) -> bytes:
    """Read what is there, up to a piece; a pipe gives what was written so far."""
    read: Callable[[int], bytes] = getattr(raw, "read1", raw.read)
    return read(_CHUNK)


def make_read_error(path: Path, error: Exception) -> InputError:
    """Say that a file cannot be read, and why."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    # A packed file that is damaged is an error of its own library, which has no number.
    kind = InputError if getattr(error, "errno", None) is None else FileUnreadable
    return kind(f"cannot be read: {reason}", path=path)


def _decompress_and_recode_to_utf8(
    path: Path, file: io.BufferedReader, raw: IO[bytes]
) -> ByteStream:
    unpacked = _open_decompressed_or_none(path, file)
    if unpacked is not None:
        file = unpacked
    encoding = _detect_utf16_encoding(_peek(file))
    if encoding is not None:
        file = io.BufferedReader(PieceStream(_make_recoder(path, file, encoding)), HEAD_BYTES)
    return ByteStream(file, _peek(file), unpacked is not None or encoding is not None, raw)


def _peek(file: io.BufferedReader) -> bytes:
    return file.peek(HEAD_BYTES)[:HEAD_BYTES]


def _open_decompressed_or_none(path: Path, file: io.BufferedReader) -> io.BufferedReader | None:
    """Open what is packed; None for what is not."""
    read_some = _find_decompressor(path, file)
    if read_some is None:
        return None

    def read_piece() -> bytes:
        try:
            return read_some(_CHUNK)
        except Exception as error:
            # lzma and zstandard have errors of their own, and importing either for its name alone
            # would load it for every file.
            if isinstance(error, OSError | EOFError | ValueError) or type(error).__name__ in (
                "LZMAError",
                "ZstdError",
                "error",
            ):
                raise InputError(
                    f"cannot be unpacked: {error}; it is cut off or damaged, so copy or pack it "
                    "anew",
                    path=path,
                ) from error
            raise

    return io.BufferedReader(PieceStream(read_piece), HEAD_BYTES)


def _find_decompressor(path: Path, file: io.BufferedReader) -> Callable[[int], bytes] | None:
    """Find what reads unpacked bytes of a file; None where it is not packed.

    It gives what there is, so that of a file that was cut off everything comes before the error.
    """
    head = _peek(file)
    if head.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file).read1
    if head.startswith(b"BZh"):
        import bz2

        return bz2.BZ2File(file).read1
    if head.startswith(b"\xfd7zXZ\x00"):
        import lzma

        return lzma.LZMAFile(file).read1
    return _find_zstd_reader(path, file) if head.startswith(_ZSTD) else None


def _find_zstd_reader(path: Path, file: io.BufferedReader) -> Callable[[int], bytes]:
    read: Callable[[int], bytes]
    for name in ("compression.zstd", "zstandard"):  # the first is part of Python from 3.14 on
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if name == "zstandard":
            read = _make_zstd_reader(module.ZstdDecompressor, file)
        else:
            read = module.ZstdFile(file).read1
        return read
    raise InputError(_ZSTD_SENTENCE, path=path)


def _make_zstd_reader(make: Callable[[], Any], file: io.BufferedReader) -> Callable[[int], bytes]:
    """Read frame after frame; the reader of `zstandard` takes a file that is cut off for whole."""
    frame: Any = None
    packed = b""

    def read(_: int) -> bytes:
        nonlocal frame, packed
        while True:
            packed = packed or file.read(_ZSTD_PIECE)
            if not packed:
                if frame is None:
                    return b""
                raise EOFError("it ends before its last part does")
            frame = make().decompressobj() if frame is None else frame
            found: bytes = frame.decompress(packed)
            packed = frame.unused_data if frame.eof else b""
            if frame.eof:
                frame = None
            if found:
                return found

    return read


def _detect_utf16_encoding(head: bytes) -> str | None:
    """Find the encoding of a text that is not UTF-8, by its mark or by its first zeros."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if len(head) >= 4 and head[0] and not head[1] and head[2] and not head[3]:
        return "utf-16-le"
    if len(head) >= 4 and not head[0] and head[1] and not head[2] and head[3]:
        return "utf-16-be"
    return None


def _make_recoder(path: Path, file: io.BufferedReader, encoding: str) -> Callable[[], bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    is_over = False

    def read_piece() -> bytes:
        nonlocal is_over
        while not is_over:
            piece = file.read1(_CHUNK)
            is_over = not piece
            try:
                text = decoder.decode(piece, is_over)
            except UnicodeDecodeError as error:
                raise InputError(
                    f"is UTF-16 that cannot be decoded: {error.reason}; save the file as UTF-8",
                    path=path,
                ) from error
            if text:
                return text.encode("utf-8", "surrogatepass")
        return b""

    return read_piece
