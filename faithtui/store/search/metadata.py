"""Metadata of conversations, as it came with the data: keys at any depth and what stands there."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    TableValuedAlias,
    Text,
    and_,
    cast,
    func,
    literal,
    or_,
    select,
)

from faithtui.agreement.labelled_units import MetadataValues
from faithtui.domain.ids import ConversationId, RunId
from faithtui.store.conversation_import import MERGED, MERGED_BESIDE_OWN
from faithtui.store.schema.tables import conversation, run_item

_OF_MERGED = (f"$.{MERGED}[", f'$."{MERGED_BESIDE_OWN}"[')
"""Beginnings of paths to what other conversations with the same turns had."""
_NO_VALUE_TYPES = ("null", "object", "array")
"""Types of JSON that are no value themselves."""


def select_conversations_by_metadata(value: str) -> Select[tuple[int]]:
    """Select conversations whose metadata has a key, at any depth, and perhaps a value under it.

    Args:
        value: `key`, or `key=value`; case does not matter in the value.
    """
    key, has_value, wanted = value.partition("=")
    part = _make_json_tree_table()
    conditions = [_make_under_key_condition(part, key), part.c.type != "null"]
    if has_value:
        # SQLite has true and false as 1 and 0.
        word = {"true": "1", "false": "0"}.get(wanted.casefold(), wanted.casefold())
        conditions.append(func.lower(cast(part.c.atom, Text)).in_({wanted.casefold(), word}))
    return select(conversation.c.id).where(
        select(literal(1)).select_from(part).where(*conditions).exists()
    )


def read_metadata_values(
    connection: Connection, run_id: RunId, keys: Sequence[str]
) -> tuple[MetadataValues, ...]:
    """Read what the conversations of a run have under some keys of their own metadata."""
    found = []
    for key in keys:
        part = _make_json_tree_table()
        rows = connection.execute(
            _make_run_metadata_sql(run_id, part, conversation.c.id, part.c.type, part.c.atom).where(
                _make_under_key_condition(part, key), part.c.type.not_in(_NO_VALUE_TYPES)
            )
        )
        values: dict[ConversationId, dict[str, None]] = {}
        for number, kind, atom in rows:
            word = kind if kind in ("true", "false") else str(atom)
            if word:
                values.setdefault(ConversationId(number), {})[word] = None
        found.append(MetadataValues(key, {each: tuple(own) for each, own in values.items()}))
    return tuple(found)


def list_metadata_keys(connection: Connection, run_id: RunId) -> tuple[str, ...]:
    """Name the keys under which the conversations of a run have a value or a list, sorted."""
    part = _make_json_tree_table()
    rows = connection.execute(
        _make_run_metadata_sql(run_id, part, part.c.key)
        .where(func.typeof(part.c.key) == "text", part.c.type.not_in(("null", "object")))
        .distinct()
    )
    return tuple(sorted(str(key) for (key,) in rows))


def _make_json_tree_table() -> TableValuedAlias:
    return func.json_tree(conversation.c.details).table_valued("key", "atom", "path", "type")


def _make_under_key_condition(part: TableValuedAlias, key: str) -> ColumnElement[bool]:
    # An element of a list has a number for its key, and the list's own key ends its path.
    inside = func.substr(part.c.path, -len(key) - 1) == f".{key}"
    written = json.dumps(key, ensure_ascii=False)
    quoted = func.substr(part.c.path, -len(written) - 1) == f".{written}"
    is_element = func.typeof(part.c.key) == "integer"
    return or_(
        and_(func.typeof(part.c.key) == "text", cast(part.c.key, Text) == key),
        and_(is_element, or_(inside, quoted)),
    )


def _make_run_metadata_sql(run_id: RunId, part: TableValuedAlias, *columns: Any) -> Select[Any]:
    return (
        select(*columns)
        .select_from(run_item)
        .join(conversation, conversation.c.id == run_item.c.conversation_id)
        .join(part, literal(True))
        .where(
            run_item.c.run_id == run_id,
            *(func.substr(part.c.path, 1, len(path)) != path for path in _OF_MERGED),
        )
    )
