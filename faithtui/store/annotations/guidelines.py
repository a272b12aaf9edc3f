"""The text that says how to judge, and its versions. Labels name the version in force.

A version is for every metric or for one. Of those that are for a metric, the one set last is in
force; where there is none, the default of the metric is. A default becomes a row with the first
label that is given under it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, Connection, func, insert, select

from faithtui.domain.ids import RunId
from faithtui.domain.labels.default_guidelines import DEFAULT_AUTHOR, DEFAULT_GUIDELINES
from faithtui.domain.limits import GUIDELINE
from faithtui.store.database import Database
from faithtui.store.schema.json_columns import AnyRow
from faithtui.store.schema.storable_text import replace_unstorable_characters, text_hash
from faithtui.store.schema.tables import guideline, run

DIGEST_DIGITS = 12
"""Digits of a text's hash that labels carry."""

DEFAULTS_SET_AT = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands for the time of a default, which nobody set: the same in every store."""

SET_ORDER = (guideline.c.created_at, guideline.c.digest, guideline.c.id)
"""The order of versions: the same in every store that has the same ones; the last is in force."""


@dataclass(frozen=True, slots=True)
class Guideline:
    """A version of the guideline."""

    number: int
    """From 1, in the order in which versions were set, wherever that was; 0: the default of its
    metric."""
    digest: str
    """Names the text in every store."""
    text: str
    author: str
    created_at: datetime | None
    """None: nobody set it, it is the default."""
    metric: str | None = None
    """The metric it is for; None: every metric."""

    @property
    def is_default(self) -> bool:
        """Whether it is the default of its metric."""
        return self.created_at is None


class Guidelines:
    """Versions of a store's guideline."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def list_versions(self, metric: str | None = None) -> tuple[Guideline, ...]:
        """List the versions that somebody set, the one in force last.

        Args:
            metric: Only those that are for this metric, or for every one; None: all.
        """
        with self._database.open_reader() as connection:
            rows = connection.execute(
                select(guideline).where(guideline.c.built_in.is_(False)).order_by(*SET_ORDER)
            ).all()
        found = (_version_from_row(row, number) for number, row in enumerate(rows, start=1))
        return tuple(_list_for_metric(found, metric)) if metric is not None else tuple(found)

    def find_version_in_force(self, metric: str | None = None) -> Guideline | None:
        """Give the version in force; None when nobody set one.

        Args:
            metric: For this metric; None: the version set last, whatever it is for.
        """
        return next(reversed(self.list_versions(metric)), None)

    def find_version_or_default(self, metric: str) -> Guideline | None:
        """Give what is in force for a metric: the version set last, else the metric's default.

        Returns:
            None for a metric that this faithtui does not know, where nobody set a version.
        """
        return self.find_version_in_force(metric) or find_default_guideline(metric)

    def list_default_digests(self) -> frozenset[str]:
        """List the digests of defaults: those of today, and those that labels were given under."""
        with self._database.open_reader() as connection:
            found = connection.scalars(select(guideline.c.digest).where(guideline.c.built_in))
            return frozenset(found) | frozenset(
                map(hash_guideline_text, DEFAULT_GUIDELINES.values())
            )

    def add_version(self, text: str, author: str, metric: str | None = None) -> Guideline:
        """Put a text in force; the same text again is no new version.

        Args:
            text: The text.
            author: Who sets it.
            metric: The metric it is for; None: every metric.

        Returns:
            The version in force from now on.

        Raises:
            InputError: It is too long.
        """
        GUIDELINE.check_length(text)
        text = replace_unstorable_characters(text)
        digest = hash_guideline_text(text)
        row = {
            "digest": digest,
            "text": text,
            "author": replace_unstorable_characters(author),
            "metric": metric,
            "built_in": False,
        }
        now = self._clock()

        def insert_version(connection: Connection) -> None:
            before = _find_newest_version_row(connection, metric)
            if before is not None and (before.digest, before.metric) == (digest, metric):
                return
            # After every other, whatever the clock of the machine they came from said.
            last = connection.execute(
                select(func.max(guideline.c.created_at)).where(guideline.c.built_in.is_(False))
            ).scalar()
            moment = now if last is None else max(now, last + timedelta(microseconds=1))
            connection.execute(insert(guideline).values(**row, created_at=moment))

        self._database.run_in_write_transaction(insert_version, durable=True)
        return self.list_versions(metric)[-1]


def hash_guideline_text(text: str) -> str:
    """Name a text, in every store alike."""
    return text_hash(text)[:DIGEST_DIGITS]


def find_default_guideline(metric: str) -> Guideline | None:
    """Give the default of a metric; None for a metric that is not known."""
    text = DEFAULT_GUIDELINES.get(metric)
    if text is None:
        return None
    return Guideline(0, hash_guideline_text(text), text, DEFAULT_AUTHOR, None, metric)


def find_current_digest_storing_default(connection: Connection, run_id: RunId | None) -> str | None:
    """Give the digest of what is in force for the metric of a run, in a write.

    A default that is in force for the first time becomes a row.

    Returns:
        None when there is nothing: a label without a run, and no version for every metric.
    """
    metric: str | None = None
    if run_id is not None:
        metric = connection.execute(select(run.c.metric).where(run.c.id == run_id)).scalar()
    newest = _find_newest_version_row(connection, metric)
    if newest is not None:
        return str(newest.digest)
    default = None if metric is None else find_default_guideline(metric)
    if default is None:
        return None
    known = connection.execute(
        select(guideline.c.id).where(
            guideline.c.built_in,
            guideline.c.digest == default.digest,
            guideline.c.metric == default.metric,
        )
    ).first()
    if known is None:
        connection.execute(
            insert(guideline).values(
                digest=default.digest,
                text=default.text,
                author=default.author,
                created_at=DEFAULTS_SET_AT,
                metric=default.metric,
                built_in=True,
            )
        )
    return default.digest


def _find_newest_version_row(connection: Connection, metric: str | None) -> AnyRow | None:
    """Read the version that was set last for a metric; None: for every metric."""
    meant: ColumnElement[bool] = guideline.c.metric.is_(None)
    if metric is not None:
        meant |= guideline.c.metric == metric
    return connection.execute(
        select(guideline.c.digest, guideline.c.metric)
        .where(guideline.c.built_in.is_(False), meant)
        .order_by(*(each.desc() for each in SET_ORDER))
        .limit(1)
    ).one_or_none()


def _list_for_metric(versions: Iterable[Guideline], metric: str) -> Iterable[Guideline]:
    return (each for each in versions if each.metric in (None, metric))


def _version_from_row(row: AnyRow, number: int) -> Guideline:
    return Guideline(number, row.digest, row.text, row.author, row.created_at, row.metric)
