"""Tables about judges: replies, what they cost, who is asking, batches, and what was found out."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Integer,
    PrimaryKeyConstraint,
    Table,
)

from faithtui.store.schema.checksums import make_checksum_default
from faithtui.store.schema.column_types import StoredText, UTCDateTime
from faithtui.store.schema.metadata import JSON_OR_NULL, METADATA

judge_call = Table(
    "judge_call",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column(
        "key",
        StoredText,
        nullable=False,
        index=True,
        doc="Hash of everything that determines the reply.",
    ),
    Column("run_id", Integer, ForeignKey("run.id"), index=True),
    Column("run_item_id", Integer, ForeignKey("run_item.id"), index=True),
    Column("judge", StoredText, nullable=False),
    Column("step", StoredText, nullable=False),
    Column(
        "usable",
        Boolean,
        nullable=False,
        doc="False: malformed or cut; kept. Found again only to learn that a limit was too low.",
    ),
    Column("text", StoredText, nullable=False),
    Column("stop", StoredText, nullable=False),
    Column("structured", Boolean, nullable=False),
    Column("tokens_in", Integer),
    Column("tokens_out", Integer),
    Column("tokens_cached", Integer),
    Column("request_id", StoredText),
    Column("served_model", StoredText),
    Column("latency_ms", Integer, nullable=False),
    Column("created_at", UTCDateTime, nullable=False),
    Column(
        "window",
        Integer,
        doc="Position of the window that asked first; none: the conversation as a whole.",
    ),
    Column(
        "replicate",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Which repetition of the question it answers.",
    ),
    Column("rung", StoredText, doc="How the judge was bound to JSON."),
    Column("tokens_cache_write", Integer),
    Column("tokens_reasoning", Integer),
    Column(
        "cost_nusd",
        BigInteger,
        doc="In units of 1e-9 US dollars; none: the price was not known.",
    ),
    Column(
        "prices",
        StoredText,
        doc=(
            "Where the price was from and of which date; the date alone in rows of earlier "
            "versions."
        ),
    ),
    Column(
        "estimated",
        Boolean,
        nullable=False,
        default=False,
        server_default="0",
        doc="The judge did not say its tokens, or said what cannot be; these are ours.",
    ),
    Column("batch_uid", StoredText, doc="The batch it came in."),
    Column(
        "checksum",
        BigInteger,
        default=make_checksum_default("judge_call"),
        doc="Of the row as it was written; see `checksums`.",
    ),
    comment="One reply of a judge, written the moment it arrived.",
)

judge_memory = Table(
    "judge_memory",
    METADATA,
    Column("fingerprint", StoredText, primary_key=True),
    Column("rung", StoredText, doc="The way of asking for JSON that works."),
    Column("refused", JSON_OR_NULL, doc="Parameters that the model does not take."),
    Column("updated_at", UTCDateTime, nullable=False),
    comment="What was found out about a judge.",
)

worker = Table(
    "worker",
    METADATA,
    Column("uid", StoredText, primary_key=True),
    Column("host", StoredText, nullable=False),
    Column("pid", Integer, nullable=False),
    Column(
        "beats",
        Integer,
        nullable=False,
        doc="Counts up while it lives. No time: a clock that jumps must not kill it.",
    ),
    Column("started_at", UTCDateTime, nullable=False),
    Column("run_id", Integer, doc="The run it works on; none: it works on batches of several."),
    Column(
        "process",
        StoredText,
        doc="Tells the process from a later one with its number; none: this system cannot.",
    ),
    Column(
        "beat_at",
        UTCDateTime,
        doc=(
            "When it counted last. Only read for a process of another machine, which cannot be "
            "asked."
        ),
    ),
    comment="A process that asks, or works on a run. It is alive as long as it counts.",
)

lease = Table(
    "lease",
    METADATA,
    Column("key", StoredText, primary_key=True),
    Column("worker", StoredText, nullable=False, index=True),
    comment="A question in flight: nobody else asks it while the worker lives.",
)

batch = Table(
    "batch",
    METADATA,
    Column(
        "uid",
        StoredText,
        primary_key=True,
        doc="Ours, sent along, so that a batch whose receipt was lost is found again.",
    ),
    Column("run_id", Integer, ForeignKey("run.id"), nullable=False, index=True),
    Column(
        "provider_id",
        StoredText,
        doc="The provider's name of it; none: not known to have arrived.",
    ),
    Column("state", StoredText, nullable=False, doc="`planned`, `sent`, `ended` or `failed`."),
    Column("reason", StoredText),
    Column("requests", Integer, nullable=False),
    Column("created_at", UTCDateTime, nullable=False),
    Column("ended_at", UTCDateTime),
    comment="Questions that were handed to a provider together, to be answered within a day.",
)

batch_request = Table(
    "batch_request",
    METADATA,
    Column("batch_uid", StoredText, ForeignKey("batch.uid"), nullable=False),
    Column("number", Integer, nullable=False, doc="Place in the batch, from 0."),
    Column("key", StoredText, nullable=False, index=True),
    Column("run_item_id", Integer, ForeignKey("run_item.id")),
    Column("window", Integer),
    Column("step", StoredText, nullable=False),
    Column("tries", Integer, nullable=False, doc="Which try of the question it is, from 1."),
    Column("replicate", Integer, nullable=False, doc="Which repetition of the question it is."),
    Column("plain", Boolean, nullable=False, doc="It has no schema."),
    Column(
        "tokens_likely",
        Integer,
        nullable=False,
        doc="What it reads, where the provider does not say.",
    ),
    Column("tokens_worst", Integer, nullable=False, doc="What it may read and write at most."),
    Column(
        "nusd_worst",
        BigInteger,
        nullable=False,
        doc=(
            "What it may cost at most, in units of 1e-9 US dollars; 0 where the price is not known."
        ),
    ),
    Column(
        "state",
        StoredText,
        nullable=False,
        doc="`waiting`, `answered`, `unusable`, `failed` or `left`; see `RequestState`.",
    ),
    Column("reason", StoredText),
    PrimaryKeyConstraint("batch_uid", "number"),
    comment="One question of a batch.",
)

fresh_verdict = Table(
    "fresh_verdict",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("run_item_id", Integer, ForeignKey("run_item.id"), nullable=False, index=True),
    Column("claim_id", Integer, ForeignKey("claim.id"), nullable=False, index=True),
    Column("window", Integer, nullable=False),
    Column("replicate", Integer, nullable=False),
    Column("label", StoredText),
    Column("word", StoredText),
    Column("reason", StoredText),
    Column("confidence", Float),
    Column("asked_by", StoredText, nullable=False),
    Column("created_at", UTCDateTime, nullable=False),
    comment="A verdict that was asked for again on purpose, beside the run. Only ever appended.",
)

recalibration = Table(
    "recalibration",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column(
        "judge",
        StoredText,
        nullable=False,
        doc=(
            "Its fingerprint without any recalibration; `;verdicts` after it where the row moves "
            "verdicts alone."
        ),
    ),
    Column("slope", Float, nullable=False),
    Column("intercept", Float, nullable=False),
    Column("labels", Integer, nullable=False, doc="How many it rests on."),
    Column(
        "error_before",
        Float,
        nullable=False,
        doc="Expected calibration error on those labels; of verdicts 1 - balanced accuracy.",
    ),
    Column(
        "error_after",
        Float,
        nullable=False,
        doc="The same, cross-validated, with the new slope and intercept.",
    ),
    Column("reviewer", StoredText, nullable=False),
    Column("created_at", UTCDateTime, nullable=False),
    Column("withdrawn_at", UTCDateTime),
    comment="What human labels moved of a judge; of each kind the last one not withdrawn counts.",
)
