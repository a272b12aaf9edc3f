"""How long things may be that users and files bring, in one place, and the sentence that says so.

A limit is there so that one text cannot fill the memory, a screen or a statement of SQL; each is
far above what anybody needs. Nothing is ever cut to fit: what is too long is refused, and stays
where it is.
"""

from dataclasses import dataclass
from typing import Literal

from faithtui.errors import InputError

MB = 2**20


@dataclass(frozen=True, slots=True)
class Limit:
    """How long one kind of text may be."""

    what: str
    """Its name in a sentence, such as `a note`."""
    most: int
    unit: Literal["characters", "bytes", "bytes of text in memory", "words", "values"]
    way_out: str
    """What to do instead, in words that follow a semicolon."""

    def find_size_problem(self, size: int) -> str | None:
        """Say what is wrong with something of this size; None: nothing."""
        if size <= self.most:
            return None
        return (
            f"{self.what} may have {self.most:,} {self.unit}, and this has {size:,}; {self.way_out}"
        )

    def check_length(self, text: str, *, field: str | None = None) -> None:
        """Refuse a text that has too many characters.

        Args:
            text: The text.
            field: Where it stands, for the message; None: nowhere.

        Raises:
            InputError: It has.
        """
        problem = self.find_size_problem(len(text))
        if problem is not None:
            raise InputError(problem, field=field)


RECORD = Limit(
    "a record",
    32 * MB,
    "bytes",
    "split the conversation, or give its images as `path`",
)
"""One line of a file of JSON lines, or one element of a JSON array."""

TABLE_ROW = Limit(
    "a row of a table",
    8 * MB,
    "characters",
    "write the table as JSON lines, or shorten its cells",
)
"""Of CSV and the like, whose reader holds each cell at four bytes a character."""

RECORD_VALUES = Limit(
    "a record",
    1_000_000,
    "values",
    "split the conversation, or leave out metadata that is not text",
)
"""Numbers, texts, lists and objects together, counted by brackets and commas, of which texts have
some too. Each takes a hundred bytes of memory and more, whatever it takes in the file."""

RECORD_TEXTS = Limit(
    "a record",
    36 * MB,
    "bytes of text in memory",
    "split the conversation or its documents: one emoji makes each character of its text take four "
    "bytes, one dash or curly quotation mark two, and what is not ASCII is held in UTF-8 too",
)
"""All its strings together, in memory and, where they are not ASCII, in UTF-8 as well: the store
is handed that form. A record of ASCII reaches `RECORD` first; so does one whose images are in it,
since each string counts by itself."""

COLUMNS_ROW = Limit(
    "a row of a Parquet or Arrow file",
    24 * MB,
    "bytes of text in memory",
    "split the conversation, or write the file as JSON lines",
)
"""All its strings together, as `RECORD_TEXTS` counts them; pyarrow alone takes 40 MB."""

KEY = Limit("a name", 1_000, "characters", "choose a shorter one")
"""Of a conversation, or of what it belongs to: lists, filters and indexes hold it."""

IMAGES = Limit(
    "the images of a conversation",
    64 * MB,
    "bytes",
    "make them smaller, or split the conversation",
)
"""All together: they are in memory until they are stored."""

NOTE = Limit("a note", 100_000, "characters", "shorten it, or keep the rest in a file it names")
"""Of a verdict: many pages."""

REVIEWER = Limit("the name of a reviewer", 200, "characters", "choose a shorter one")

VIEW_NAME = Limit("the name of a view", 200, "characters", "choose a shorter one")

CLAIM = Limit("a claim", 4_000, "characters", "write one statement, in a sentence")
GUIDELINE = Limit("the guideline", 1_000_000, "characters", "shorten it, or refer to a document")

FILTER = Limit("a filter", 10_000, "characters", "leave some of it out")

FILTER_TERMS = Limit("a filter", 100, "words", "leave some out, or put a phrase in quotation marks")
"""Each is a condition of one statement, whose depth SQLite limits to 1,000."""
