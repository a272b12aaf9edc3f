"""Columns of the tables that `faithtui measure` writes, and how their files are found and opened.

One module for all who write or read them, so that a column has one name, one type and one meaning.
A results folder holds `manifest.json`, one Parquet file a shard in a folder for each table, and a
journal of each shard that is under way. Nothing here may judge or draw.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from faithtui.errors import ConfigError

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT: Final = 1
"""Version of the results folder; a reader refuses a higher one."""

MANIFEST: Final = "manifest.json"
MANIFEST_LOCK: Final = ".manifest.lock"
JOURNAL: Final = "journal"
"""Folder of the journals of shards that are under way."""

TableName = Literal["conversations", "windows", "claims", "replies"]
ColumnType = Literal["text", "int32", "int64", "double", "bool"]

NO_VERDICT: Final = "none"
"""Label of a claim that the judge gave no verdict that can be read."""

_MISSING: Final = (
    "results of `faithtui measure` are Parquet files, and pyarrow is not installed: "
    "pip install 'faithtui[parquet]'"
)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    type: ColumnType
    meaning: str
    nullable: bool = False


_IDENTITY: Final = (
    Column("shard", "text", "Name of the shard, and of its files."),
    Column("source", "text", "Name of the data set, as an import would give it."),
    Column("key", "text", "Key of the conversation within the source."),
    Column("number", "int64", "Place of the conversation in its shard, from 0."),
)

TABLES: Final[Mapping[TableName, tuple[Column, ...]]] = {
    "conversations": (
        *_IDENTITY,
        Column("line", "int64", "Line or row of the file that its record begins on, from 1."),
        Column(
            "content_sha256",
            "text",
            "Hash of its turns, as a store has it; null where the record could not be read.",
            True,
        ),
        Column(
            "conversation_group",
            "text",
            "What must stay together when conversations are resampled.",
            True,
        ),
        Column("state", "text", "`scored`, `undefined`, `skipped`, `failed` or `incomplete`."),
        Column("reason", "text", "Why there is no score, or the final reason of the metric.", True),
        Column("windowed", "double", "The headline score, in [0, 1].", True),
        Column("per_interaction", "double", "Mean over interactions, in [0, 1].", True),
        Column("pooled", "double", "All claims together, in [0, 1].", True),
        Column("success", "bool", "Whether the score meets the threshold.", True),
        Column("claims", "int32", "Unique claims."),
        Column("yes", "int32", "Of these, with a verdict that counts as faithful."),
        Column("no", "int32", "With one that counts as unfaithful."),
        Column("idk", "int32", "With one that says neither."),
        Column("none", "int32", "With no verdict that can be read."),
        Column("integrity", "text", 'What stands against the score; "" for nothing.'),
        Column(
            "calls",
            "int32",
            "Calls that the worker which finished it made for it; what was answered before counts "
            "in `calls_stored`, and has its tokens and cost in the table of replies.",
        ),
        Column("calls_stored", "int32", "Questions that a reply from before answered."),
        Column("tokens_in", "int64", "Input tokens of its calls."),
        Column("tokens_out", "int64", "Output tokens of its calls."),
        Column("cost_usd", "double", "What its calls cost; null where a price is not known.", True),
        Column("latency_ms", "int64", "From the first question to the result."),
        Column("metadata", "text", "Its metadata, a JSON object."),
        Column(
            "conversation",
            "text",
            "Its turns as a line that `faithtui import` reads; null where it could not be read.",
            True,
        ),
        Column(
            "judgement",
            "text",
            "Windows, claims, truths, verdicts and evidence as JSON; null where there are none.",
            True,
        ),
    ),
    "windows": (
        *_IDENTITY,
        Column("position", "int32", "Place of the window in the conversation, from 0."),
        Column("first_turn", "int32", "Its first turn, from 0; null where it has none.", True),
        Column("last_turn", "int32", "Its last turn; null where it has none.", True),
        Column("state", "text", "As of a conversation."),
        Column("score", "double", "In [0, 1].", True),
        Column("reason", "text", "Why it got its score, or has none.", True),
    ),
    "claims": (
        *_IDENTITY,
        Column("position", "int32", "Place of the claim in the conversation, from 0."),
        Column("turn", "int32", "The turn that makes it, from 0.", True),
        Column(
            "document",
            "int32",
            "The document it is a statement of, counted over the different documents of the "
            "conversation from 0; null for claims of answers.",
            True,
        ),
        Column("claim", "text", "Its text; of a whole answer, the answer."),
        Column(
            "label",
            "text",
            "`yes`, `no` or `idk`, whatever the metric calls them (ragas: 1 and 0), or `none`.",
        ),
        Column("raw", "text", "What the judge wrote, letter for letter.", True),
        Column("reason", "text", "Why, as the judge wrote it.", True),
        Column("home_window", "int32", "The first window that holds it; its verdict is this one."),
        Column("windows", "int32", "How many windows hold it."),
        Column("differs", "bool", "Whether another window has another verdict on it."),
        Column(
            "uncertainty",
            "double",
            "How far from certain the verdict is, in [0, 1]: 1 - |2p - 1| where the judge gives "
            "the probability p that the claim is supported. Else 1 without a verdict, and with "
            "one the share of the windows that say otherwise, at least 0.5 for `idk`.",
        ),
        Column("conversation_score", "double", "Headline score of its conversation.", True),
    ),
    "replies": (
        Column("shard", "text", "Name of the shard that kept it."),
        Column("key", "text", "Hash of all that determines the reply."),
        Column("step", "text", "Kind of question within the metric."),
        Column("fingerprint", "text", "Judge, host, model and parameters, without secrets."),
        Column("text", "text", "The reply as it came."),
        Column("stop", "text", "Why it ended."),
        Column("structured", "bool", "Whether the provider bound it to the schema."),
        Column("tokens_in", "int64", "Input tokens.", True),
        Column("tokens_out", "int64", "Output tokens.", True),
        Column("tokens_cached", "int64", "Of the input, read from the provider's cache.", True),
        Column("cost_usd", "double", "What it cost; null where the price is not known.", True),
        Column("latency_ms", "int64", "How long the call took."),
        Column("served_model", "text", "The model that answered, as the provider says.", True),
        Column("usable", "bool", "Whether it could be used; one that could not was asked again."),
    ),
}
"""Every table and its columns, in the order of the files."""


def require_pyarrow() -> Any:
    """Give pyarrow.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError as error:
        raise ConfigError(_MISSING) from error
    return pa


def make_schema(table: TableName) -> "pa.Schema":
    """Make the schema of a table, with what each column means as its metadata.

    Raises:
        ConfigError: pyarrow is not installed.
    """
    pa = require_pyarrow()
    types = {
        "text": pa.string(),
        "int32": pa.int32(),
        "int64": pa.int64(),
        "double": pa.float64(),
        "bool": pa.bool_(),
    }
    return pa.schema(
        [
            pa.field(
                each.name,
                types[each.type],
                nullable=each.nullable,
                metadata={"meaning": each.meaning},
            )
            for each in TABLES[table]
        ],
        metadata={"faithtui_results": str(FORMAT), "table": table},
    )


def get_table_file(results: Path, table: TableName, shard: str) -> Path:
    """Name the file of a table of a shard."""
    return results / table / f"{shard}.parquet"


def list_finished_shards(results: Path) -> list[str]:
    """List the shards of a results folder that are whole, in order of name.

    A shard is whole when its file of conversations is there: that one is moved into place last.
    """
    return sorted(each.stem for each in (results / "conversations").glob("*.parquet"))
