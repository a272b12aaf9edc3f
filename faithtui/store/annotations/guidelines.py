"""The text that says how to judge, and its versions. Labels name the version in force."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, func, insert, select

from faithtui.domain.ids import GuidelineId
from faithtui.domain.limits import GUIDELINE
from faithtui.store.database import Database
from faithtui.store.schema.column_types import make_storable, text_hash
from faithtui.store.schema.tables import guideline

DIGEST_DIGITS = 12
"""Digits of a text's hash that labels carry."""

SET_ORDER = (guideline.c.created_at, guideline.c.digest, guideline.c.id)
"""The order of versions: the same in every store that has the same ones; the last is in force."""


@dataclass(frozen=True, slots=True)
class Guideline:
    """A version of the guideline."""

    id: GuidelineId
    number: int
    """From 1, in the order in which versions were set, wherever that was."""
    digest: str
    """Names the text in every store."""
    text: str
    author: str
    created_at: datetime


class Guidelines:
    """Versions of a store's guideline; the last one is in force."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def versions(self) -> tuple[Guideline, ...]:
        """List all versions, the one in force last."""
        with self._database.open_reader() as connection:
            rows = connection.execute(select(guideline).order_by(*SET_ORDER)).all()
        return tuple(
            Guideline(GuidelineId(row.id), number, row.digest, row.text, row.author, row.created_at)
            for number, row in enumerate(rows, start=1)
        )

    def current(self) -> Guideline | None:
        """Give the version in force; None when there is no guideline."""
        return next(reversed(self.versions()), None)

    def set(self, text: str, author: str) -> Guideline:
        """Put a text in force; the same text again is no new version.

        Returns:
            The version in force from now on.

        Raises:
            InputError: It is too long.
        """
        GUIDELINE.check_length(text)
        text = make_storable(text)
        digest = text_hash(text)[:DIGEST_DIGITS]
        row = {"digest": digest, "text": text, "author": make_storable(author)}
        now = self._clock()

        def insert_version(connection: Connection) -> None:
            if read_current_digest(connection) == digest:
                return
            # After every other, whatever the clock of the machine they came from said.
            last = connection.execute(select(func.max(guideline.c.created_at))).scalar()
            moment = now if last is None else max(now, last + timedelta(microseconds=1))
            connection.execute(insert(guideline).values(**row, created_at=moment))

        self._database.write(insert_version, durable=True)
        return self.versions()[-1]


def read_current_digest(connection: Connection) -> str | None:
    """Give the digest of the guideline in force; None when there is none."""
    found: str | None = connection.execute(
        select(guideline.c.digest).order_by(*(each.desc() for each in SET_ORDER)).limit(1)
    ).scalar()
    return found
