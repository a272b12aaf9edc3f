"""Printing: data to stdout, talk to stderr, and every foreign text made safe first.

Every command has this at hand, `--help` too, which must not pay for what only printing needs:
that is imported in the functions.
"""

import itertools
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from io import TextIOWrapper
from pathlib import Path
from typing import Final, Literal, NamedTuple, TextIO

GAP = "  "
NARROWEST = 12
"""Cells that a text column keeps however narrow the terminal is."""

_HASH_KEY: Final = re.compile("[0-9a-f]{64}")
"""Key of a conversation that came without an id: the hash of its turns."""
_SHORT_KEY: Final = 12
"""Digits of it that tables show."""

ColorMode = Literal["auto", "always", "never"]
_BOLD: Final = "\x1b[1m"
_RED: Final = "\x1b[1;31m"
_PLAIN: Final = "\x1b[0m"


class OutputStyle(NamedTuple):
    """How much is said, and how it looks."""

    quiet: bool = False
    """No progress and no hints."""
    color: ColorMode = "auto"


_style: ContextVar[OutputStyle | None] = ContextVar("output_style", default=None)


def set_output_style(style: OutputStyle) -> None:
    """Let everything that is printed from now on look so."""
    _style.set(style)


def is_quiet() -> bool:
    """Whether progress and hints are not wanted."""
    return get_output_style().quiet


def get_output_style() -> OutputStyle:
    """Give how everything that is printed looks."""
    return _style.get() or OutputStyle()


def style_text(text: str, look: str, stream: TextIO) -> str:
    """Give a text the look of a terminal, where the stream is one or colours are always wanted."""
    match get_output_style().color:
        case "never":
            return text
        case "auto" if (
            not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        ):
            return text
        case _:
            return f"{look}{text}{_PLAIN}"


class TableColumn(NamedTuple):
    """One column of a table."""

    title: str
    align: Literal["left", "right"] = "left"
    flexible: bool = False
    """Gives way when the terminal is narrow; one per table."""
    rank: int = 0
    """Left out when the terminal is too narrow for all; the highest first, of equals the last."""


def plural(count: int, word: str) -> str:
    """Write a count with its word: `1 window`, `2,000 windows`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def format_conversation_name(source: str, key: str) -> str:
    """Name a conversation in a table; a key that is a hash of its turns by its first digits."""
    return f"{source}/{key[:_SHORT_KEY] if _HASH_KEY.fullmatch(key) else key}"


def format_score_cell(score: float | None) -> str:
    """Write a score for a table; a dash where there is none."""
    return "—" if score is None else f"{score:.2f}"


def format_score_with_overrides(score: float | None, reviewed: int, units: int) -> str:
    """Write a score with overrides for a table, with how much of it is reviewed; a dash for none.

    What nobody reviewed keeps the judge's verdict in it, so it is no estimate of anything: that is
    the corrected share of a report.
    """
    if not reviewed:
        return format_score_cell(None)
    return f"{format_score_cell(score)}, {reviewed} of {units} reviewed"


def format_row_counts_line(counts: Mapping[str, int]) -> str:
    """Write counts of rows in a line, the best known first."""
    first = ("conversations", "runs", "labels")
    ordered = [
        *(each for each in first if each in counts),
        *(each for each in counts if each not in first),
    ]
    return ", ".join(f"{what}: {counts[what]:,}" for what in ordered) or "nothing"


_COMMAND: Final = (
    r"(?<=`)faithtui(?=`)|(?<![\w./\\-])(?<!as `)faithtui(?= (?:archive|backup|batch|check|"
    r"claim-set|compare|delete|doctor|export|gate|guideline|import|judge|label|merge|report|restore|"
    r"runs?|sample|show|split|trend)(?:[ `),;:]|\.?$))"
)
"""The program, where a sentence advises to open it or to call a command on the store at hand."""


def insert_store_option(text: str, arguments: Sequence[str] | None = None) -> str:
    """Put the `--store` of this command line into the commands that a sentence advises.

    Whoever copies one of them means the same store, and not the one of the settings.

    Args:
        text: The sentence.
        arguments: The command line without the program; None: that of this process.
    """
    words = sys.argv[1:] if arguments is None else arguments
    named = [each.partition("=")[2] for each in words if each.startswith("--store=")]
    named += [after for each, after in itertools.pairwise(words) if each == "--store"]
    if not named:
        return text
    import shlex

    option = f" --store {shlex.quote(named[-1])}"
    return re.sub(_COMMAND, lambda found: f"{found[0]}{option}", text)


def print_to_stderr(text: str) -> None:
    """Tell a person something, on stderr."""
    from faithtui.domain.text.visible_text import make_visible

    print(make_visible(insert_store_option(text)), file=sys.stderr)


def print_error(text: str) -> None:
    """Tell a person why a command ends, on stderr."""
    from faithtui.domain.text.visible_text import make_visible

    start = style_text("error:", _RED, sys.stderr)
    print(f"{start} {make_visible(insert_store_option(text))}", file=sys.stderr)


def print_hint(text: str) -> None:
    """Tell a person who watches what comes next; files and other programs get none of it."""
    if sys.stderr.isatty() and not is_quiet():
        print_to_stderr(text)


def print_text(text: str) -> None:
    """Print data for a person, on stdout."""
    from faithtui.domain.text.visible_text import make_visible

    print(make_visible(text))


def print_json(value: object) -> None:
    """Print data for a program, on stdout: one JSON value on one line, and at once.

    A program that answers to what it reads would wait for ever for a line in a buffer.
    """
    import json

    print(json.dumps(value, ensure_ascii=True, allow_nan=False), flush=True)


def print_file_name(path: Path, *, as_json: bool) -> None:
    """Print the name of a file that was written; not into what may have been written to itself."""
    if not path.is_file():  # a device or a pipe, such as stdout
        return
    if as_json:
        print_json(str(path))
    else:
        print_text(str(path))


def print_file_content(parts: Iterable[str]) -> None:
    """Print a file on stdout: into a pipe or a file byte for byte, on a terminal as characters."""
    from faithtui.domain.text.visible_text import make_visible

    on_terminal = sys.stdout.isatty()
    if not on_terminal and isinstance(sys.stdout, TextIOWrapper):
        # What is read again is UTF-8, whatever the terminal of whoever writes it.
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    for part in parts:
        sys.stdout.write(make_visible(part) if on_terminal else part)


def print_table(columns: Sequence[TableColumn], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on stdout; on a terminal it fits, elsewhere nothing is cut or left out."""
    from faithtui.domain.text.visible_text import make_visible_line

    cells = [[make_visible_line(cell) for cell in row] for row in rows]
    widths = [
        max([len(column.title), *(_cell_width(row[index]) for row in cells)])
        for index, column in enumerate(columns)
    ]
    shown = list(range(len(columns)))
    if sys.stdout.isatty():
        shown, widths = choose_columns_and_widths_that_fit(
            columns, widths, shutil.get_terminal_size().columns
        )
    for number, row in enumerate([[column.title for column in columns], *cells]):
        line = GAP.join(
            _cut_or_pad_cell(row[index], widths[index], columns[index].align) for index in shown
        ).rstrip()
        print(line if number else style_text(line, _BOLD, sys.stdout))
    if len(shown) < len(columns):
        left_out = ", ".join(
            column.title for index, column in enumerate(columns) if index not in shown
        )
        sys.stdout.flush()  # the hint stands below the table
        print_hint(f"too narrow for: {left_out}; a wider terminal, a file or --json has them")


def choose_columns_and_widths_that_fit(
    columns: Sequence[TableColumn], widths: Sequence[int], room: int
) -> tuple[list[int], list[int]]:
    """Fit a table into a terminal.

    The flexible column gives way first, then columns are left out by their rank, then all columns
    of text give way, the widest first, and then columns are left out from the right. The first
    column always stays; numbers are never cut.

    Args:
        columns: The columns.
        widths: Cells each would take.
        room: Cells there are.

    Returns:
        The places of the columns that are shown, and the width of each column.
    """
    fitted = list(widths)
    shown = list(range(len(columns)))

    def count_cells_over_room() -> int:
        return sum(fitted[index] for index in shown) + len(GAP) * (len(shown) - 1) - room

    def shrink_column(index: int) -> None:
        least = min(fitted[index], max(NARROWEST, len(columns[index].title)))
        fitted[index] = max(least, fitted[index] - max(0, count_cells_over_room()))

    for index, column in enumerate(columns):
        if column.flexible:
            shrink_column(index)
    by_rank = sorted(shown[1:], key=lambda index: (-columns[index].rank, -index))
    ranked = [index for index in by_rank if columns[index].rank]
    for index in ranked:
        if count_cells_over_room() > 0:
            shown.remove(index)
    for index in sorted(shown, key=lambda each: -fitted[each]):
        if columns[index].align == "left":
            shrink_column(index)
    while count_cells_over_room() > 0 and len(shown) > 1:
        shown.pop()
    if count_cells_over_room() > 0:
        fitted[shown[0]] = max(1, room)
    return shown, fitted


def _cell_width(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def _cut_or_pad_cell(text: str, width: int, align: Literal["left", "right"]) -> str:
    from rich.cells import set_cell_size

    length = _cell_width(text)
    if length > width:
        return set_cell_size(text, width - 1) + "…"
    pad = " " * (width - length)
    return pad + text if align == "right" else text + pad
