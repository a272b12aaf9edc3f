"""Prompt texts that runs send, kept word for word so that a run can be read and repeated later."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert

from faithtui.domain.ids import RunId
from faithtui.store.database import Database
from faithtui.store.schema.tables import prompt_set, run


@dataclass(frozen=True, slots=True)
class StoredPrompts:
    """Prompt texts of a metric."""

    digest: str
    """64 hexadecimal digits of the texts and the version."""
    metric: str
    version: int
    """How questions are put beside the texts."""
    texts: Mapping[str, str]
    """By step, with their holes and without examples."""
    created_at: datetime
    """UTC; when the first run with them was planned."""


class PromptSets:
    """Prompt texts of a store."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def store_set(self, digest: str, metric: str, version: int, texts: Mapping[str, str]) -> None:
        """Keep texts, once however often they are kept.

        Args:
            digest: Names them.
            metric: Whose they are.
            version: How questions are put beside them.
            texts: By step.
        """
        row = {
            "digest": digest,
            "metric": metric,
            "version": version,
            "texts": dict(texts),
            "created_at": self._clock(),
        }

        def insert_set(connection: Connection) -> None:
            connection.execute(insert(prompt_set).values(row).on_conflict_do_nothing())

        self._database.run_in_write_transaction(insert_set)

    def find_set(self, digest: str) -> StoredPrompts | None:
        """Find texts by their digest; None: there are none of this name."""
        with self._database.open_reader() as connection:
            row = connection.execute(
                select(prompt_set).where(prompt_set.c.digest == digest)
            ).one_or_none()
        if row is None:
            return None
        return StoredPrompts(row.digest, row.metric, row.version, row.texts, row.created_at)

    def list_run_ids_by_prompt_digest(self) -> dict[str | None, tuple[RunId, ...]]:
        """List the runs by the texts they send, the newest first; None: those that kept none."""
        found: dict[str | None, list[RunId]] = {}
        with self._database.open_reader() as connection:
            statement = select(run.c.prompt_set, run.c.id).order_by(run.c.id.desc())
            for row in connection.execute(statement):
                found.setdefault(row.prompt_set, []).append(RunId(row.id))
        return {digest: tuple(runs) for digest, runs in found.items()}
