"""Conversations of an import whose turns another data set has, counted when it is over.

One look-up for all of them: while conversations are written, each would be looked up in every other
data set, among hashes that lie anywhere in the index.
"""

import json
from collections.abc import Collection, Iterator
from typing import Final

from sqlalchemy import Connection

from faithtui.store.database import Database
from faithtui.store.records import EqualElsewhere
from faithtui.store.schema.statements import get_driver_connection
from faithtui.store.schema.storable_text import replace_unstorable_characters

_SOURCES: Final = (
    "names(name) AS (SELECT min(source) FROM conversation UNION ALL SELECT (SELECT min(source) "
    "FROM conversation WHERE source > name) FROM names WHERE name IS NOT NULL)"
)
"""All data sets, each found behind the one before without going through its conversations."""
_NEW: Final = (
    "mine AS MATERIALIZED (SELECT content_hash, source, id FROM conversation WHERE id > ?1 AND "
    "+source IN (SELECT value FROM json_each(?2))) "
)
_COUNT: Final = "SELECT mine.source, other.source, count(DISTINCT mine.id) FROM "
_EQUAL: Final = (
    "other.content_hash = mine.content_hash AND other.source <> mine.source AND other.id < mine.id "
    "GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2"
)
_LOOK_UP_EACH: Final = (
    f"WITH RECURSIVE {_SOURCES}, {_NEW} {_COUNT} mine CROSS JOIN names CROSS JOIN conversation AS "
    f"other WHERE other.source = names.name AND {_EQUAL}"
)
_GO_THROUGH_ALL: Final = (
    f"WITH {_NEW} {_COUNT} conversation AS other CROSS JOIN mine WHERE {_EQUAL}"
)


class EqualContents:
    """Contents of conversations, to find those that several data sets have."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get_last_id(self) -> int:
        """Give the id of the conversation that was imported last; 0 without any."""
        with self._database.open_reader() as connection:
            return _read_number(connection, "SELECT coalesce(max(id), 0) FROM conversation")

    def count_new_with_equal_elsewhere(
        self, after: int, sources: Collection[str]
    ) -> tuple[EqualElsewhere, ...]:
        """Count the conversations of an import whose turns an earlier one of another data set has.

        Args:
            after: Id of the last conversation before the import.
            sources: Data sets of the import.

        Returns:
            By data set; of each, the other ones with most of them first.
        """
        named = [replace_unstorable_characters(each) for each in sources]
        with self._database.open_reader() as connection:
            last = _read_number(connection, "SELECT coalesce(max(id), 0) FROM conversation")
            if last == after:
                return ()
            others = _read_number(
                connection, f"WITH RECURSIVE {_SOURCES} SELECT count(name) FROM names"
            )
            # Both take about half a microsecond for each look-up.
            query = _LOOK_UP_EACH if (last - after) * others < last else _GO_THROUGH_ALL
            rows = get_driver_connection(connection).execute(query, (after, json.dumps(named)))
            return tuple(EqualElsewhere(*row) for row in rows)

    def iter_contents(self) -> Iterator[tuple[str, str]]:
        """Give data set and content hash of all conversations, each pair once."""
        with self._database.open_reader() as connection:
            yield from get_driver_connection(connection).execute(
                "SELECT DISTINCT source, content_hash FROM conversation"
            )


def _read_number(connection: Connection, query: str) -> int:
    number: int = get_driver_connection(connection).execute(query).fetchone()[0]
    return number
