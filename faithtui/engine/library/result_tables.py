"""Results of the library as tables: for a terminal, for rich, for a notebook.

Texts come from conversations and judges, so each is shown as text: control characters visible, no
markup of rich, no HTML.
"""

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from faithtui.domain.text.visible_text import make_visible_line

MOST_ROWS = 50
"""Rows that are drawn; all of them are in the values."""

MOST_LETTERS = 80
"""Of one cell."""


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A title, rows of cells under names of columns, and sentences below."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Draw it in columns."""
        rows = [self.columns, *self._list_shown_rows()]
        widths = [max(len(row[at]) for row in rows) for at in range(len(self.columns))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([make_visible_line(self.title, 400), *lines, *self._list_notes()])

    def __rich_console__(self, console: Any, options: Any) -> Iterator[object]:
        """Draw it on a console of rich, which finds no markup in it."""
        yield console.render_str(str(self), markup=False, emoji=False, highlight=False)

    def _repr_html_(self) -> str:
        """Draw it in a notebook."""
        head = "".join(f"<th>{html.escape(each)}</th>" for each in self.columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>"
            for row in self._list_shown_rows()
        )
        notes = "".join(f"<p>{html.escape(each)}</p>" for each in self._list_notes())
        title = html.escape(make_visible_line(self.title, 400))
        return (
            f"<p><b>{title}</b></p><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>{notes}"
        )

    def _list_shown_rows(self) -> list[tuple[str, ...]]:
        return [
            tuple(make_visible_line(cell, MOST_LETTERS) for cell in row)
            for row in self.rows[:MOST_ROWS]
        ]

    def _list_notes(self) -> list[str]:
        more = len(self.rows) - MOST_ROWS
        notes = [f"{more} more rows are in the result"] if more > 0 else []
        return [*notes, *(make_visible_line(each, 400) for each in self.notes)]


def format_score_or_dash(value: float | None) -> str:
    """Write a score; a dash for none."""
    return "—" if value is None else f"{value:.2f}"


def format_cost_cell(usd: float | None) -> str:
    """Write what calls cost."""
    return "cost not known" if usd is None else f"${usd:.4f}"
