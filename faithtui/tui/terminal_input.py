"""What comes from a terminal, so that pasted text never acts as keys.

Textual's parser knows a bracketed paste, but gives an escape sequence inside of it on as keys, and
with it whatever the sequence runs into: a pasted log line would give verdicts. Here an escape
character inside a paste becomes its picture before Textual sees it.

Pasted text may hold an end mark of its own, which not every terminal takes out. So what comes
behind an end mark without a pause is not given on as keys yet: another mark shows that it was
pasted too, a pause that it was typed.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar, Final

from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.message import Message

STALLED_AFTER_S: Final = 1.0
"""Pause in a paste after which a single key shows that the end of the paste is missing."""
HELD_AT_MOST_S: Final = 2.0
"""How long what follows a paste without a pause is held: somebody may hold a key down."""
ESCAPE_PICTURE: Final = "␛"

_ONE_KEY = re.compile(r"(?:\x1b(?:[\[O][\d;:<?]*[A-Za-z~])?)+|[^\x1b]")
"""Escape sequences alone, as of arrows and the mouse, or one character."""
_MARK = re.compile(f"{re.escape(BRACKETED_PASTE_START)}|{re.escape(BRACKETED_PASTE_END)}")


class PasteParser(XTermParser):
    """Textual's parser for terminals, which gets no escape character inside a paste.

    A line feed outside a paste is Enter: a terminal that is not raw yet sends it for that key.

    Args:
        debug: Whether Textual logs what it reads.
        clock: Gives seconds; for the pause that ends a paste without an end mark.
    """

    TICKS_OF_A_READ: ClassVar[int] = 1
    """Ticks that the driver gives at once after each read; one more is a pause."""

    def __init__(self, debug: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(debug)
        self._clock = clock
        self._is_pasting = False
        self._kept = ""
        """In a paste: the beginning of what may be its end mark. Else: the end of what was read,
        which may be the beginning of a start mark."""
        self._read_at = self._ended_at = clock()
        self._held: str | None = None
        """What came behind the end of a paste, and may be a part of it; None: no paste ended."""
        self._ticks = 0
        """Ticks since the last read."""

    def tick(self) -> Iterable[Message]:
        """Give the keys of a sequence that was cut short, and those held since a paste ended."""
        for message in super().tick():
            if not self._is_pasting:
                self._kept = ""
            yield message
        self._ticks += 1
        is_pause = (
            self._ticks > self.TICKS_OF_A_READ or self._clock() - self._ended_at >= HELD_AT_MOST_S
        )
        if self._held is not None and is_pause:
            held, self._held = self._held, None
            for part in self._split_pastes(held):
                yield from super().feed(part)

    def feed(self, data: str) -> Iterable[Message]:
        """Read some more text; "" is the end of all input."""
        if not data:
            yield from super().feed(data)
            return
        self._ticks = 0
        pause, self._read_at = self._clock() - self._read_at, self._clock()
        if self._is_pasting and pause >= STALLED_AFTER_S and _ONE_KEY.fullmatch(data):
            yield from self._end_paste(self._kept)
        for part in self._split_pastes(data):
            yield from super().feed(part)

    def _end_paste(self, rest: str) -> Iterable[Message]:
        self._is_pasting, self._kept = False, ""
        yield from super().feed(rest.replace("\x1b", ESCAPE_PICTURE) + BRACKETED_PASTE_END)

    def _split_pastes(self, data: str) -> Iterator[str]:
        """Cut text at the marks of pastes; the parts inside of one have no escape character."""
        while data:
            if self._is_pasting:
                text, mark, data = (self._kept + data).partition(BRACKETED_PASTE_END)
                self._is_pasting = not mark
                if mark:
                    self._held, self._ended_at = "", self._clock()
                kept = 0 if mark else _count_partial_mark_at_end(text, BRACKETED_PASTE_END)
                self._kept = text[len(text) - kept :]
                part = text[: len(text) - kept].replace("\x1b", ESCAPE_PICTURE) + mark
            elif self._held is not None:
                part, data = self._split_pasted_remainder(self._held + data)
            else:
                before = len(self._kept)
                text, mark, rest = (self._kept + data).partition(BRACKETED_PASTE_START)
                self._is_pasting = bool(mark)
                kept = 0 if mark else _count_partial_mark_at_end(text, BRACKETED_PASTE_START)
                self._kept = text[len(text) - kept :]
                part, data = (text + mark)[before:].replace("\n", "\r"), rest
            if part:
                yield part

    def _split_pasted_remainder(self, text: str) -> tuple[str, str]:
        """Cut what came behind a paste at the next mark: what is before it was pasted too.

        Returns:
            What Textual gets, and what is still to be read.
        """
        mark = _MARK.search(text)
        if mark is None:
            self._held = text
            return "", ""
        pasted = text[: mark.start()].replace("\x1b", ESCAPE_PICTURE)
        part = f"{BRACKETED_PASTE_START}{pasted}{BRACKETED_PASTE_END}" if pasted else ""
        if mark[0] == BRACKETED_PASTE_START:
            self._is_pasting, self._held, self._kept = True, None, ""
            part += BRACKETED_PASTE_START
        else:
            self._held = ""
        return part, text[mark.end() :]


def _count_partial_mark_at_end(text: str, mark: str) -> int:
    """Count the characters at the end of a text that may be the beginning of a mark."""
    return next((size for size in range(len(mark) - 1, 0, -1) if text.endswith(mark[:size])), 0)
