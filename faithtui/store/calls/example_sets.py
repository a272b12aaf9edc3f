"""Examples that runs show to their judge, kept word for word so that a run can be repeated."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert

from faithtui.errors import StoreError
from faithtui.store.database import Database
from faithtui.store.schema.storable_text import replace_unstorable_in_json, text_hash
from faithtui.store.schema.tables import example_set


class Examples:
    """Sets of examples of a store."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def store_set(self, examples: Sequence[Mapping[str, object]]) -> str:
        """Keep a set, once however often it is kept.

        Args:
            examples: JSON objects, in order.

        Returns:
            Its name: 64 hexadecimal digits that depend on nothing but the examples.
        """
        kept = [replace_unstorable_in_json(dict(each)) for each in examples]
        digest = text_hash(json.dumps(kept, ensure_ascii=True, sort_keys=True))
        row = {"digest": digest, "examples": kept, "created_at": self._clock()}

        def insert_set(connection: Connection) -> None:
            connection.execute(insert(example_set).values(row).on_conflict_do_nothing())

        self._database.run_in_write_transaction(insert_set)
        return digest

    def read_set(self, digest: str) -> tuple[dict[str, object], ...]:
        """Read a set.

        Raises:
            StoreError: There is none of this name.
        """
        with self._database.open_reader() as connection:
            found = connection.execute(
                select(example_set.c.examples).where(example_set.c.digest == digest)
            ).scalar()
        if found is None:
            raise StoreError(
                f"{self._database.path} has no examples {digest[:12]}; start the run again with "
                "--examples"
            )
        return tuple(found)
