"""Text made safe to draw: what is invisible or commands a terminal becomes visible characters.

Every text from a file, a judge or a person passes `make_visible` or `make_visible_line` once before
it is drawn or printed. The result is for eyes only: offsets differ from the original, so a
highlighted text is made visible piece by piece, and what is stored or exported is never the result.

Nothing here wraps, colours or reads markup: whoever draws must still pass the result on as text.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

TAB = "    "
"""What a tab becomes. Not a tab stop: text is cut and wrapped after it came through here."""

NEWLINE_PICTURE = "␊"
"""What a line end becomes where only one line is drawn."""

_ASTRAL = "\U00010000-\U0010ffff"
"""Beyond the basic plane: one class over both planes is ten times slower than two."""

_SPECIAL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f"  # controls but the newline
    "\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"  # format characters
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufffb"
    "\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # letters that are blank
    "\u20e3"  # keycap
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"  # surrogates and non-characters
    f"|(?=[{_ASTRAL}])["
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U0001f3fb-\U0001f3ff"  # skin tones
    "\U000e0000-\U000e0fff"  # tags and more variation selectors
    + "".join(chr(plane << 16 | low) for plane in range(1, 17) for low in (0xFFFE, 0xFFFF))
    + "]"
)

_BIDI = {
    0x061C: "ALM",
    0x200E: "LRM",
    0x200F: "RLM",
    0x202A: "LRE",
    0x202B: "RLE",
    0x202C: "PDF",
    0x202D: "LRO",
    0x202E: "RLO",
    0x2066: "LRI",
    0x2067: "RLI",
    0x2068: "FSI",
    0x2069: "PDI",
}
"""Characters that turn the direction of what follows, by the names Unicode gives them."""


def make_visible(text: str) -> str:
    r"""Make a text of any number of lines safe to draw; newlines stay.

    - controls become their pictures (ESC is ␛), a C1 control its two-character spelling (U+009D
      is ␛]), a line or paragraph separator ␤, `\r\n` a newline and a tab `TAB`;
    - marks that turn the direction become their names (⟨RLO⟩);
    - what takes no room becomes ∅; variation selectors, joiners, skin tones and keycaps, on which
      terminals and libraries disagree, are dropped;
    - at most two combining marks stay on a character, and a mark that would land on whatever was
      drawn before gets a ◌ to sit on;
    - lone surrogates and non-characters become U+FFFD.

    Idempotent. Plain text comes back as the same object.
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    shown = _SPECIAL.sub(_replace_special, text.replace("\r\n", "\n"))
    if shown.isascii():
        return shown
    piled, leading = _compile_combining_mark_patterns()
    return leading.sub("◌", piled.sub(r"\1", shown))


def make_visible_line(text: str, limit: int | None = None) -> str:
    """Make a text safe to draw on one line.

    Args:
        text: Any text, of any length.
        limit: Most characters to give back, at least 1; None for all. A text that is longer is
            cut and ends with `…`. Characters are not cells: wide ones take two.

    Returns:
        The text as `make_visible` gives it, with `NEWLINE_PICTURE` for newlines. Idempotent.
    """
    if limit is None:
        return make_visible(text).replace("\n", NEWLINE_PICTURE)
    # A few times the limit leaves room for what is dropped, and a megabyte costs nothing.
    piece = text[: 4 * limit]
    line = make_visible(piece).replace("\n", NEWLINE_PICTURE)
    if len(piece) == len(text) and len(line) <= limit:
        return line
    return line[: limit - 1] + "…"


def _replace_special(match: re.Match[str]) -> str:
    """Give what one special character is drawn as."""
    code = ord(match[0])
    if code == 0x09:
        return TAB
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if code in (0x85, 0x2028, 0x2029):
        return "␤"
    if code < 0xA0:
        return "␛" + chr(code - 0x40)
    if code in _BIDI:
        return f"⟨{_BIDI[code]}⟩"
    if 0xD800 <= code <= 0xDFFF or 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE:
        return "�"
    if code in (0x200D, 0x20E3) or 0x1F3FB <= code <= 0x1F3FF or _is_variation_selector(code):
        return ""
    return "∅"


def _is_variation_selector(code: int) -> bool:
    """Say whether a character only picks a look for the one before it."""
    return (
        0xFE00 <= code <= 0xFE0F
        or 0xE0100 <= code <= 0xE01EF
        or (0x180B <= code <= 0x180F and code != 0x180E)
    )


@cache
def _compile_combining_mark_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile the patterns for piles of marks and for marks without a base.

    Made on first need: looking at every character takes some 10 ms.
    """
    # Marks beyond 0x1FFFF are variation selectors, which are gone by then.
    low = "".join(_list_combining_mark_ranges(range(0x300, 0x10000)))
    high = "".join(_list_combining_mark_ranges(range(0x10000, 0x20000)))
    mark = f"(?:[{low}]|(?=[{_ASTRAL}])[{high}])"
    return re.compile(f"({mark}{{2}}){mark}+"), re.compile(f"^(?={mark})", re.MULTILINE)


def _list_combining_mark_ranges(codes: range) -> Iterator[str]:
    """List the characters that take no room of their own, as parts of a character class."""
    start = None
    for code in codes:
        if unicodedata.category(chr(code)) in ("Mn", "Me"):
            start = code if start is None else start
        elif start is not None:
            yield f"{chr(start)}-{chr(code - 1)}"
            start = None
