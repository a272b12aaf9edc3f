"""The words of what is stored, kept where full-text search looks for them.

Written in the transaction that writes the texts, by the few places that do. Not by triggers: those
would make bulk imports many times slower.
"""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection, case, insert, literal, select

from faithtui.domain.conversation import Turn
from faithtui.store.statements import chunks
from faithtui.store.tables import claim, search_claim, search_conversation, search_document, turn
from faithtui.store.texts import storable

CLAIM_BITS = 32
"""Lower bits of a row of `search_claim`: the claim's id; the upper ones have its conversation's."""


def index_conversations(
    connection: Connection, conversations: Sequence[tuple[int, str, Sequence[Turn]]]
) -> None:
    """Take up new conversations: id, key and turns of each."""
    rows = [
        {"rowid": number, "text": "\n".join([key, *(each.content for each in turns)])}
        for number, key, turns in conversations
    ]
    if rows:
        connection.execute(insert(search_conversation), rows)


def index_documents(connection: Connection, texts: Mapping[int, str]) -> None:
    """Take up new documents: texts by id."""
    if texts:
        connection.execute(
            insert(search_document),
            [{"rowid": number, "text": text} for number, text in texts.items()],
        )


def index_claims(connection: Connection, claims: Collection[int]) -> None:
    """Take up new claims by id, after they and their conversations were written."""
    said = (
        select(turn.c.content)
        .where(turn.c.conversation_id == claim.c.conversation_id, turn.c.position == claim.c.turn)
        .scalar_subquery()
    )
    for some in chunks(sorted(claims)):
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


def query_of(value: str, *, begins: bool) -> str:
    """Write words as a full-text query that finds them one after the other.

    Nothing of what was typed can be read as an operator: it stands in quotation marks as a whole,
    and the index cuts it into words as it cut the texts.

    Args:
        value: What was typed.
        begins: The last word may be the beginning of a longer one.
    """
    phrase = '"' + storable(value).replace('"', '""') + '"'
    return f"{phrase} *" if begins else phrase
