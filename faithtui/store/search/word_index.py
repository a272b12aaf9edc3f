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

from faithtui.domain.ids import RunId
from faithtui.errors import StoreReadOnly
from faithtui.store.database import Database
from faithtui.store.schema.statements import get_driver_connection, split_into_chunks
from faithtui.store.schema.storable_text import replace_unstorable_characters
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

    def count_gaps(self, driver: Any) -> int:
        """Count rows before the last indexed one whose words are not in the index."""
        last = self.find_last_indexed_id(driver)
        # A count of all reads the smallest index; one of those up to an id reads all texts.
        rows, indexed, behind = (
            driver.execute(statement, values).fetchone()[0]
            for statement, values in (
                (f"SELECT count(*) FROM {self.name}", ()),
                (f"SELECT count(*) FROM search_{self.name}_docsize", ()),
                (f"SELECT count(*) FROM {self.name} WHERE id > ?", (last,)),
            )
        )
        return max(0, int(rows - behind - indexed))

    def index_gaps(self, driver: Any) -> None:
        last = self.find_last_indexed_id(driver)
        missing = driver.execute(
            f"SELECT id FROM {self.name} WHERE id <= ? "
            f"AND id NOT IN (SELECT id FROM search_{self.name}_docsize) ORDER BY id",
            (last,),
        ).fetchall()
        for (number,) in missing:
            driver.execute(self.insert, (number - 1, number))

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
        """
        SELECT conversation.id, (
            SELECT coalesce(sum(length(content)), 0) FROM turn
            WHERE turn.conversation_id = conversation.id
        ) FROM conversation WHERE conversation.id > ? ORDER BY conversation.id LIMIT ?
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


def count_gaps(connection: Connection) -> int:
    """Count conversations and documents that are not in the index, though later ones are.

    Whoever wrote words out of order leaves them: a program older than this module, which wrote the
    words of its own rows while others waited.
    """
    driver = get_driver_connection(connection)
    return sum(each.count_gaps(driver) for each in _INDEXED_TABLES)


def index_gaps(connection: Connection) -> None:
    """Take up the conversations and documents that `count_gaps` counts, in one transaction."""
    driver = get_driver_connection(connection)
    for each in _INDEXED_TABLES:
        if each.count_gaps(driver):
            each.index_gaps(driver)


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


_WAITING_OF_RUN = """
    SELECT EXISTS (SELECT 1 FROM run_item WHERE run_id = :run AND conversation_id > :conversation)
    OR EXISTS (
        SELECT 1 FROM turn_document WHERE document_id > :document
        AND conversation_id IN (SELECT conversation_id FROM run_item WHERE run_id = :run)
    )
"""


def is_run_indexed(connection: Connection, run_id: RunId) -> bool:
    """Say whether no conversation or passage of a run is behind the last indexed one."""
    driver = get_driver_connection(connection)
    last = {each.name: each.find_last_indexed_id(driver) for each in _INDEXED_TABLES}
    return not driver.execute(_WAITING_OF_RUN, {"run": run_id, **last}).fetchone()[0]


def index_claims(connection: Connection, claims: Collection[int]) -> None:
    """Take up new claims by id, after they and their conversations were written."""
    answer_text = (
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
                    case((claim.c.kind == literal("answer"), answer_text), else_=claim.c.text),
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
        self._has_no_gaps = False
        """Whether it was looked for gaps; that reads an index of all rows, so it is done once."""

    def count_unindexed_texts(self) -> int:
        """Count conversations and documents whose words a search would not find yet."""
        with self._database.open_reader() as connection:
            return count_unindexed_texts(connection) + self._count_gaps_once(connection)

    def is_run_indexed(self, run_id: RunId) -> bool:
        """Say whether a search finds all words of a run, whatever else waits in the store."""
        with self._database.open_reader() as connection:
            return not self._count_gaps_once(connection) and is_run_indexed(connection, run_id)

    def index_next_lot(self) -> int:
        """Take up the words of some of them, in one transaction.

        Returns:
            How many are left.

        Raises:
            StoreReadOnly: The store cannot be written.
            StoreError: It is locked by another process, or the disk is full.
        """

        def write(connection: Connection) -> int:
            if not self._has_no_gaps:
                index_gaps(connection)
            index_next_lot(connection)
            return count_unindexed_texts(connection)

        left = self._database.run_in_write_transaction(write)
        self._has_no_gaps = True
        return left

    def index_texts_of_run(self, run_id: RunId, check_stop: Callable[[], None]) -> None:
        """Take up what waits until all words of a run are in, lot by lot.

        Args:
            run_id: The run. A store in which words of others wait is searched as it is.
            check_stop: Called between two lots; what it raises ends it, and what was taken up
                stays.

        Raises:
            StoreReadOnly: Words of the run wait, and the store cannot be written.
            StoreError: It is locked by another process, or the disk is full.
        """
        while not self.is_run_indexed(run_id):
            if self._database.is_read_only:
                raise StoreReadOnly(
                    "words cannot be searched for: those of "
                    f"{self.count_unindexed_texts():,} conversations and passages are not in the "
                    f"index yet, and {self._database.path} can only be read here; wait for an "
                    "import that is under way, or search once where it can be written"
                )
            check_stop()
            self.index_next_lot()

    def _count_gaps_once(self, connection: Connection) -> int:
        gaps = 0 if self._has_no_gaps else count_gaps(connection)
        self._has_no_gaps = not gaps
        return gaps
