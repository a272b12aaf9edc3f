"""A page as a list of blocks, before it becomes Markdown or HTML.

Every text in a block is text: whoever writes a page escapes all of it, so nothing here has to be
trusted and both kinds of page say the same.
"""

from dataclasses import dataclass

from faithtui.agreement.documents.markup import Markup
from faithtui.agreement.report.settings import Severity


@dataclass(frozen=True, slots=True)
class Code:
    """A word for machines inside a text, such as the code of a warning."""

    text: str


Part = str | Code
Text = Part | tuple[Part, ...]
"""A line of text, or its parts, which follow each other without a space."""


@dataclass(frozen=True, slots=True)
class Heading:
    """Begins a section."""

    text: str
    level: int = 2
    """1 is the title of the page."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Some sentences."""

    text: Text
    lead: bool = False
    """The answer on top of the page."""


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list."""

    items: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning."""

    severity: Severity
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Notices:
    """Warnings, in order."""

    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows, each with a name in front."""

    caption: str
    """One line that says what the rows are."""
    heads: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]
    """As wide as `heads`."""
    figures: bool = True
    """All columns but the first hold numbers."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture."""

    id: str
    """Such as `confusion-claims`; unique in a page."""
    title: str
    alt: str
    """A sentence that says what the picture says."""
    svg: Markup
    """One `svg` element with title and description in it."""


@dataclass(frozen=True, slots=True)
class PlotWithTable:
    """A picture and the numbers it was drawn from."""

    plot: Plot
    table: Table
    folded: bool = False
    """The table is worth unfolding only for who wants the numbers."""


Block = Heading | Paragraph | ItemList | Notices | Table | PlotWithTable
