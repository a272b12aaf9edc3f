"""Everything drawn with ASCII alone, for terminals whose encoding is not UTF-8.

One filter behind all widgets, so that no drawing has to know. Every character is replaced by as
many cells as it had, so nothing moves.
"""

import locale
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from rich.cells import get_character_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_DRAWN: Final = str.maketrans(
    {
        **dict.fromkeys("─━┄┅┈┉╌╍═▔▁▂▃", "-"),
        **dict.fromkeys("│┃┆┇┊┋╎╏║▏▎▍▕▐▌", "|"),
        **dict.fromkeys("┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬╭╮╰╯▛▜▙▟▄▀▖▗▘▝", "+"),
        **dict.fromkeys("█▇▆▅■▓●", "#"),
        **dict.fromkeys("░", "."),
        **dict.fromkeys("▒", "%"),
        **{"→": ">", "←": "<", "↑": "^", "↓": "v", "▶": ">", "◀": "<", "▲": "^", "▼": "v"},
        **{"·": ".", "•": "*", "…": "~", "—": "-", "–": "-", "−": "-", "×": "x", "±": "~"},
        **{"«": '"', "»": '"', "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‹": "<"},
        **{"›": ">", "✓": "y", "✗": "x", "○": "o", "◆": "*", "κ": "k", "α": "a", "≤": "<"},
        **{"≥": ">", "≠": "!", "≈": "~", "∅": "0", "\u00a0": " ", "\u2009": " ", "\u202f": " "},
    }
)
"""What stands for the characters that screens draw, each one cell for one cell."""


class AsciiFilter(LineFilter):
    """Replaces what is not ASCII."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Replace characters, cell for cell."""
        return [
            segment
            if segment.control or segment.text.isascii()
            else Segment(to_ascii(segment.text), segment.style)
            for segment in segments
        ]


@lru_cache(4096)
def to_ascii(text: str) -> str:
    """Write a text with ASCII characters alone, as wide as it was.

    Letters lose their accents; what has no ASCII form is a `?` per cell.
    """
    return "".join(
        each if each.isascii() else _replace_character(each) for each in text.translate(_DRAWN)
    )


def _replace_character(character: str) -> str:
    size = get_character_cell_size(character)
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain if plain and len(plain) == size and plain.isprintable() else "?" * size


def wants_ascii(chosen: bool | None, environment: Mapping[str, str]) -> bool:
    """Whether to draw with ASCII alone.

    Args:
        chosen: The user's setting; None leaves it to the terminal's encoding.
        environment: Environment variables, which name the encoding as C programs read it.
    """
    if chosen is not None:
        return chosen
    named = next(
        (value for name in ("LC_ALL", "LC_CTYPE", "LANG") if (value := environment.get(name))), ""
    )
    if not named or named in ("C", "POSIX"):
        # Python takes UTF-8 here, and terminals of containers without a locale do too.
        return "utf" not in locale.getpreferredencoding(False).casefold()
    _, _, encoding = named.partition(".")
    return bool(encoding) and "utf" not in encoding.partition("@")[0].casefold()
