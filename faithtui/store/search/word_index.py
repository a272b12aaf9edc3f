"""The words of what is stored, kept where full-text search looks for them.

Words of claims are written in the transaction that writes the claims, by the few places that do.
Not by triggers: those would make bulk imports many times slower.

Conversations and documents are taken up in order of their ids, so that whatever is behind the last
one that was taken up waits, whoever wrote it and whatever was killed. An import takes them up in
lots larger than its transactions, or leaves them to the first search for words.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, case, insert, literal, select

from faithtui.errors import StoreReadOnly
from faithtui.store.database import Database
from faithtui.store.schema.column_types import replace_unstorable_characters
from faithtui.store.schema.statements import get_driver_connection, split_into_chunks
from faithtui.store.schema.tables import (
    claim,
    search_claim,
    turn,
)

CLAIM_BITS = 32
"""Lower bits of a row of `search_claim`: the claim's id; the upper ones have its conversation's."""

LOT_ROWS: Final = 2_000
"""Conversations, and documents, that are taken up in one transaction. With 500 the index takes
half as long again: each transaction is a part of it that is merged with others later. A label of
another process waits for a transaction."""
_LOT_CHARACTERS: Final = 8_000_000
"""In one transaction, but one text is taken up whatever its length."""


@dataclass(frozen=True, slots=True)
class _IndexedTable:
    """A table whose words are indexed in order of its ids, so that the last one says what waits."""

    name: str
    sizes: str
    """Ids after one, in order, with how many characters each has."""
    insert: str
    """Takes up the rows after one id, to another one."""

    def find_last_indexed_id(self, driver: Any) -> int:
        # FTS5 keeps the number of words of each row in a table of its own.
        return _read_maximum(driver, f"search_{self.name}_docsize")

    def find_last_id(self, driver: Any) -> int:
        return _read_maximum(driver, self.name)

    def find_end_of_lot(self, driver: Any, after: int) -> int:
        """Find the last id of a lot: so many rows, or characters, and one row at least."""
        end, characters = after, 0
        for number, length in driver.execute(self.sizes, (after, LOT_ROWS)):
            characters += length
            if end > after and characters > _LOT_CHARACTERS:
                break
            end = number
        return end


_MESSAGES = """(
    SELECT group_concat(content, char(10)) FROM (
        SELECT turn.content FROM turn WHERE turn.conversation_id = conversation.id
        ORDER BY turn.position
    )
)"""
_INDEXED_TABLES = (
    _IndexedTable(
        "conversation",
        f"""
        SELECT conversation.id, coalesce(length({_MESSAGES}), 0) FROM conversation
        WHERE conversation.id > ? ORDER BY conversation.id LIMIT ?
        """,
        f"""
        INSERT INTO search_conversation (rowid, text)
        SELECT conversation.id, conversation.key || char(10) || coalesce({_MESSAGES}, '')
        FROM conversation WHERE conversation.id > ? AND conversation.id <= ?
        ORDER BY conversation.id
        """,
    ),
    _IndexedTable(
        "document",
        "SELECT id, length(text) FROM document WHERE id > ? ORDER BY id LIMIT ?",
        """
        INSERT INTO search_document (rowid, text)
        SELECT id, text FROM document WHERE id > ? AND id <= ? ORDER BY id
        """,
    ),
)


def _read_maximum(driver: Any, table: str) -> int:
    found: int | None = driver.execute(f"SELECT max(id) FROM {table}").fetchone()[0]
    return found or 0


def count_unindexed_texts(connection: Connection) -> int:
    """Count conversations and documents whose words are not in the index yet.

    Ids have no gaps behind the last one that was indexed: what deletes indexes everything anew.
    """
    driver = get_driver_connection(connection)
    return sum(
        max(0, each.find_last_id(driver) - each.find_last_indexed_id(driver))
        for each in _INDEXED_TABLES
    )


def index_next_lot(connection: Connection) -> None:
    """Take up the next conversations and documents whose words are not in the index."""
    driver = get_driver_connection(connection)
    for each in _INDEXED_TABLES:
        after = each.find_last_indexed_id(driver)
        end = each.find_end_of_lot(driver, after)
        if end > after:
            driver.execute(each.insert, (after, end))


def index_all_texts(connection: Connection) -> None:
    """Take up all conversations and documents whose words are not in the index."""
    while count_unindexed_texts(connection):
        index_next_lot(connection)


def index_claims(connection: Connection, claims: Collection[int]) -> None:
    """Take up new claims by id, after they and their conversations were written."""
    said = (
        select(turn.c.content)
        .where(turn.c.conversation_id == claim.c.conversation_id, turn.c.position == claim.c.turn)
        .scalar_subquery()
    )
    for some in split_into_chunks(sorted(claims)):
        connection.execute(
            insert(search_claim).from_select(
                ["rowid", "text"],
                select(
                    claim.c.conversation_id.bitwise_lshift(CLAIM_BITS) + claim.c.id,
                    case((claim.c.kind == literal("answer"), said), else_=claim.c.text),
                )
                .where(claim.c.id.in_(some))
                .order_by(claim.c.id),
            )
        )


def rebuild_index(connection: Connection) -> None:
    """Index everything anew, so that no word of what was deleted is left; seconds for a million.

    Taking single texts out would need them letter for letter as they were put in, and would leave
    their words in the file until the index happens to be merged.
    """
    for name in ("search_conversation", "search_claim", "search_document"):
        connection.exec_driver_sql(f"INSERT INTO {name} ({name}) VALUES ('delete-all')")
    index_claims(connection, _list_all_ids(connection, claim.c.id))
    index_all_texts(connection)


def _list_all_ids(connection: Connection, key: ColumnElement[int]) -> list[int]:
    return list(connection.execute(select(key).order_by(key)).scalars())


def make_phrase_query(value: str, *, begins: bool) -> str:
    """Write words as a full-text query that finds them one after the other.

    Nothing of what was typed can be read as an operator: it stands in quotation marks as a whole,
    and the index cuts it into words as it cut the texts.

    Args:
        value: What was typed.
        begins: The last word may be the beginning of a longer one.
    """
    phrase = '"' + replace_unstorable_characters(value).replace('"', '""') + '"'
    return f"{phrase} *" if begins else phrase


class WordIndex:
    """What of a store's texts is in its index, and taking up the rest."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def count_unindexed_texts(self) -> int:
        """Count conversations and documents whose words a search would not find yet."""
        with self._database.open_reader() as connection:
            return count_unindexed_texts(connection)

    def index_next_lot(self) -> int:
        """Take up the words of some of them, in one transaction.

        Returns:
            How many are left.

        Raises:
            StoreReadOnly: The store cannot be written.
            StoreError: It is locked by another process, or the disk is full.
        """

        def write(connection: Connection) -> int:
            index_next_lot(connection)
            return count_unindexed_texts(connection)

        return self._database.run_in_write_transaction(write)

    def index_all_texts(self, check_stop: Callable[[], None] = lambda: None) -> None:
        """Take up the words of all of them, lot by lot, so that nobody waits for long.

        Args:
            check_stop: Called between two lots; what it raises ends it, and what was taken up
                stays.

        Raises:
            StoreReadOnly: Words wait, and the store cannot be written.
            StoreError: It is locked by another process, or the disk is full.
        """
        left = self.count_unindexed_texts()
        if left and self._database.is_read_only:
            raise StoreReadOnly(
                f"words cannot be searched for: those of {left:,} conversations and passages are "
                f"not in the index yet, and {self._database.path} can only be read here; search "
                "once where it can be written"
            )
        while left:
            check_stop()
            left = self.index_next_lot()
