"""Small sources and results for tests of shards."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from faithtui.domain.conversation import Conversation
from faithtui.engine.shards.results_schema import TABLES
from faithtui.formats.writers.conversations import conversation_to_json
from tests.engine.building import conversation

CONVERSATIONS = [conversation(key, 2) for key in "abcde"]


def write_lines(path: Path, chats: Sequence[Conversation | str] = CONVERSATIONS) -> Path:
    """Write conversations, or lines as they are, as JSON lines."""
    lines = [
        each if isinstance(each, str) else json.dumps(conversation_to_json(each, {}))
        for each in chats
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def read_rows(results: Path, table: str) -> list[dict[str, Any]]:
    """Read all rows of a table, in the order of the shards."""
    files = sorted((results / table).glob("*.parquet"))
    return [row for each in files for row in pq.read_table(each).to_pylist()]


_CHANGES = ("latency_ms", "calls", "calls_stored", "tokens_in", "tokens_out", "cost_usd")
"""What depends on when a reply came and not on what it says."""


def read_tables(results: Path) -> dict[str, list[dict[str, Any]]]:
    """Read all tables without what depends on when a reply came."""
    found: dict[str, list[dict[str, Any]]] = {}
    for table in TABLES:
        rows = [
            {name: value for name, value in row.items() if name not in _CHANGES}
            for row in read_rows(results, table)
        ]
        found[table] = sorted(rows, key=lambda row: row["key"]) if table == "replies" else rows
    return found
