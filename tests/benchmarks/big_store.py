"""A judged store of any size, written by SQL: a million claims in about a minute.

Every conversation has three interactions and ten claims, one window and one verdict per claim.
Texts are drawn from pools of invented words, as frequent as words are: the n-th one 1/n times as
often as the first.
"""

import itertools
import json
import random
import sqlite3
from collections import Counter
from pathlib import Path

from faithtui.store.schema.checksums import CHECKED_COLUMNS, row_checksum
from faithtui.store.schema.json_columns import convert_score_to_integer_units
from faithtui.store.store import Store
from tests.store.building import SPEC

CLAIMS = 10
"""Claims of each conversation."""
WORDS = ("marble", "harvest", "cobalt", "lantern", "meadow", "pocket", "saddle", "thicket")
"""Words that are in the texts, the frequent ones first; `thicket` is the 300th of all."""
_POOL = 4000
_PATTERNS = 64
_INTERACTIONS = 3
_INDEXED = (
    (
        "search_conversation",
        'SELECT c.id, c."key" || char(10) || group_concat(t.content, char(10)) FROM conversation c '
        "CROSS JOIN turn t ON t.conversation_id = c.id GROUP BY c.id",
    ),
    (
        "search_claim",
        "SELECT conversation_id << 32 | id, text FROM claim ORDER BY conversation_id, id",
    ),
    ("search_document", "SELECT id, text FROM document ORDER BY id"),
)


def build(path: Path, conversations: int) -> Path:
    """Make a store with one finished run over so many conversations.

    The keys are `c000001` and so on, the claims of a conversation end with their ids.
    """
    with Store.open(path) as store:
        store.runs.create(SPEC, ())
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -400000")
        connection.execute("BEGIN")
        _pad_to_width(connection, conversations)
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
    return path


def _pad_to_width(connection: sqlite3.Connection, conversations: int) -> None:
    """Write all rows, and the indexes afterwards, which is several times faster."""
    indexes = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    ).fetchall()
    for name, _ in indexes:
        connection.execute(f'DROP INDEX "{name}"')
    _pools(connection)
    connection.execute("CREATE TEMP TABLE n (i INTEGER PRIMARY KEY)")
    connection.execute(
        "WITH RECURSIVE up(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM up WHERE i < ?) "
        "INSERT INTO n SELECT i FROM up",
        (conversations * CLAIMS,),
    )
    now = "2026-01-01 00:00:00.000000"
    at = {"size": conversations, "now": now, "pool": _POOL, "patterns": _PATTERNS}
    for statement in _ROWS:
        connection.execute(statement, at)
    connection.create_function("row_checksum", -1, row_checksum)
    columns = ", ".join(CHECKED_COLUMNS["verdict"])
    connection.execute(f"UPDATE verdict SET checksum = row_checksum({columns})")
    for _, statement in indexes:
        connection.execute(statement)
    for table, rows in _INDEXED:
        connection.execute(f"INSERT INTO {table} (rowid, text) {rows}")
    connection.execute(
        "UPDATE run SET state = 'done', conversations = :size, done = :size, windows = :size, "
        f"claims = :size * {CLAIMS}, scored = :size, score_sum = "
        f"(SELECT sum(CAST(round(score * {convert_score_to_integer_units(1.0)}) AS INTEGER)) "
        "FROM run_item)",
        {"size": conversations},
    )


def _pools(connection: sqlite3.Connection) -> None:
    """Write texts and patterns of verdicts that rows are made of."""
    choose = random.Random(7)
    vocabulary = ["".join(choose.choices("aeioubcdfghlmnprst", k=6)) for _ in range(20_000)]
    for place, word in zip((3, 10, 30, 60, 100, 150, 200, 300), WORDS, strict=True):
        vocabulary[place] = word
    weights = list(itertools.accumulate(1 / (n + 1) for n in range(len(vocabulary))))
    texts = {"short": 8, "long": 24, "document_pool": 60}
    for name, length in texts.items():
        connection.execute(f"CREATE TEMP TABLE {name} (id INTEGER PRIMARY KEY, text TEXT)")
        connection.executemany(
            f"INSERT INTO {name} VALUES (?, ?)",
            [
                (n, " ".join(choose.choices(vocabulary, cum_weights=weights, k=length)))
                for n in range(_POOL)
            ],
        )
    connection.execute(
        "CREATE TEMP TABLE pattern (id INTEGER PRIMARY KEY, labels TEXT, score REAL, scores TEXT)"
    )
    connection.execute(
        "CREATE TEMP TABLE word (pattern INT, position INT, label TEXT, "
        "PRIMARY KEY (pattern, position)) WITHOUT ROWID"
    )
    for pattern in range(_PATTERNS):
        labels = choose.choices(("yes", "no", "idk"), weights=(80, 5, 15), k=CLAIMS)
        score = 1 - labels.count("no") / CLAIMS
        each = {"value": score, "state": "scored", "reason": None}
        scores = {"windowed": each, "per_interaction": each, "pooled": each}
        connection.execute(
            "INSERT INTO pattern VALUES (?, ?, ?, ?)",
            (pattern, json.dumps(Counter(labels)), score, json.dumps(scores)),
        )
        connection.executemany(
            "INSERT INTO word VALUES (?, ?, ?)",
            [(pattern, position, label) for position, label in enumerate(labels)],
        )


_EACH = "FROM n WHERE i <= :size"
_DRAWN = f"(i * 7919 + {{}}) % {_POOL}"
_CONVERSATION, _POSITION = f"(i - 1) / {CLAIMS} + 1", f"(i - 1) % {CLAIMS}"
_ROWS = (
    "INSERT INTO document (id, hash, text) SELECT id + 1, 'h' || id, text FROM document_pool",
    'INSERT INTO conversation (id, source, "key", "group", content_hash, opening, turns, details, '
    "imported_at) SELECT i, 'scale', printf('c%06d', i), 'g' || (i % 50), 'c' || i, "
    f"(SELECT text FROM long WHERE id = {_DRAWN.format(0)}), {2 * _INTERACTIONS}, '{{}}', :now "
    f"{_EACH}",
    *(
        "INSERT INTO turn (conversation_id, position, role, content, has_context, images) "
        f"SELECT i, {position}, '{('user', 'assistant')[position % 2]}', "
        f"(SELECT text FROM long WHERE id = {_DRAWN.format(position * 31)}), {position % 2}, '[]' "
        f"{_EACH}"
        for position in range(2 * _INTERACTIONS)
    ),
    *(
        "INSERT INTO turn_document (conversation_id, turn, position, document_id, source, images) "
        f"SELECT i, {position}, 0, {_DRAWN.format(position * 17)} + 1, NULL, '[]' {_EACH}"
        for position in range(1, 2 * _INTERACTIONS, 2)
    ),
    "INSERT INTO run_item (id, run_id, conversation_id, number, state, windows, failed_windows, "
    "claims, missing, labelled, overridden, labels, score, corrected, scores, corrected_scores) "
    f"SELECT i, 1, i, i, 'done', 1, 0, {CLAIMS}, 0, 0, 0, p.labels, p.score, p.score, p.scores, "
    "p.scores FROM n JOIN pattern p ON p.id = i * 37 % :patterns WHERE i <= :size",
    "INSERT INTO window (id, run_item_id, position, interactions, turns, score, score_state, "
    "without_context, surplus, truths, judged_at) SELECT i, i, 0, '[0, 1, 2]', "
    "'[0, 1, 2, 3, 4, 5]', p.score, 'scored', 0, '[]', '[]', :now "
    "FROM n JOIN pattern p ON p.id = i * 37 % :patterns WHERE i <= :size",
    "INSERT INTO claim (id, conversation_id, kind, turn, digest, text, imported) SELECT i, "
    f"{_CONVERSATION}, 'claim', 1 + 2 * ({_POSITION} % {_INTERACTIONS}), 'd' || i, "
    f"(SELECT text FROM short WHERE id = {_DRAWN.format(5)}) || ' ' || i, 0 FROM n",
    "INSERT INTO verdict (window_id, position, run_item_id, claim_id, label, word, reason, "
    f"confidence, is_home) SELECT {_CONVERSATION}, {_POSITION}, {_CONVERSATION}, i, w.label, "
    f"w.label, 'it says so', 0.9, 1 FROM n JOIN word w "
    f"ON w.pattern = ({_CONVERSATION}) * 37 % :patterns AND w.position = {_POSITION}",
)
