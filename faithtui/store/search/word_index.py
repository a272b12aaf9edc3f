"""The words of what is stored, kept where full-text search looks for them.

Written in the transaction that writes the texts, by the few places that do. Not by triggers: those
would make bulk imports many times slower.
"""

from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import ColumnElement, Connection, case, func, insert, literal, select

from faithtui.store.schema.column_types import replace_unstorable_characters
from faithtui.store.schema.statements import get_driver_connection, split_into_chunks
from faithtui.store.schema.tables import (
    claim,
    conversation,
    document,
    search_claim,
    search_conversation,
    search_document,
    turn,
)

CLAIM_BITS = 32
"""Lower bits of a row of `search_claim`: the claim's id; the upper ones have its conversation's."""


def index_conversations(connection: Connection, conversations: Sequence[int]) -> None:
    """Take up new conversations by id, after they and their turns were written."""
    in_order = (
        select(turn.c.content)
        .where(turn.c.conversation_id == conversation.c.id)
        .order_by(turn.c.position)
        .correlate(conversation)
        .subquery()
    )
    messages = select(func.group_concat(in_order.c.content, "\n")).scalar_subquery()
    for some in split_into_chunks(conversations):
        connection.execute(
            insert(search_conversation).from_select(
                ["rowid", "text"],
                select(
                    conversation.c.id,
                    conversation.c.key + "\n" + func.coalesce(messages, ""),
                )
                .where(conversation.c.id.in_(some))
                .order_by(conversation.c.id),
            )
        )


def index_documents(connection: Connection, documents: Sequence[int]) -> None:
    """Take up new documents by id, after they were written."""
    for some in split_into_chunks(documents):
        connection.execute(
            insert(search_document).from_select(
                ["rowid", "text"],
                select(document.c.id, document.c.text)
                .where(document.c.id.in_(some))
                .order_by(document.c.id),
            )
        )


def index_new_conversations(
    connection: Connection, rows: Iterable[tuple[int, str, Sequence[str]]]
) -> None:
    """Take up conversations that were just written: id, key and messages, as stored.

    The same words as `index_conversations` reads back, without reading them.
    """
    get_driver_connection(connection).executemany(
        "INSERT INTO search_conversation (rowid, text) VALUES (?, ?)",
        ((number, "\n".join((key, *messages))) for number, key, messages in rows),
    )


def index_new_documents(connection: Connection, rows: Iterable[tuple[int, str]]) -> None:
    """Take up documents that were just written: id and text, as stored."""
    get_driver_connection(connection).executemany(
        "INSERT INTO search_document (rowid, text) VALUES (?, ?)", rows
    )


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
    index_conversations(connection, _list_all_ids(connection, conversation.c.id))
    index_claims(connection, _list_all_ids(connection, claim.c.id))
    index_documents(connection, _list_all_ids(connection, document.c.id))


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
