"""Tables about judges: replies, what they cost, who is asking, batches, and what was found out."""

from datetime import datetime
from typing import ClassVar

from sqlalchemy import BigInteger, PrimaryKeyConstraint
from sqlmodel import Field
from sqlmodel.sql.sqltypes import UTCDateTime

from faithtui.store.schema.checksums import make_checksum_default
from faithtui.store.schema.metadata import StoreTable, get_table
from faithtui.store.schema.storable_text import StoredText
from faithtui.store.schema.stored_json import StoredJson


class JudgeCallTable(StoreTable, table=True):
    """One reply of a judge, written the moment it arrived."""

    __tablename__: ClassVar[str] = "judge_call"

    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(sa_type=StoredText, index=True)
    """Hash of everything that determines the reply."""
    run_id: int | None = Field(foreign_key="run.id", index=True)
    run_item_id: int | None = Field(foreign_key="run_item.id", index=True)
    judge: str = Field(sa_type=StoredText)
    step: str = Field(sa_type=StoredText)
    usable: bool
    """False: malformed or cut; kept. Found again only to learn that a limit was too low."""
    text: str = Field(sa_type=StoredText)
    stop: str = Field(sa_type=StoredText)
    structured: bool
    tokens_in: int | None
    tokens_out: int | None
    tokens_cached: int | None
    request_id: str | None = Field(sa_type=StoredText)
    served_model: str | None = Field(sa_type=StoredText)
    latency_ms: int
    created_at: datetime = Field(sa_type=UTCDateTime)
    window: int | None
    """Position of the window that asked first; none: the conversation as a whole."""
    replicate: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Which repetition of the question it answers."""
    rung: str | None = Field(sa_type=StoredText)
    """The output format that it was asked in: `schema`, `tool`, `json` or `text`."""
    tokens_cache_write: int | None
    tokens_reasoning: int | None
    cost_nusd: int | None = Field(sa_type=BigInteger)
    """In units of 1e-9 US dollars; none: the price was not known."""
    prices: str | None = Field(sa_type=StoredText)
    """Where the price was from and of which date; the date alone in rows of earlier versions."""
    estimated: bool = Field(default=False, sa_column_kwargs={"server_default": "0"})
    """The judge did not say its tokens, or said what cannot be; these are ours."""
    batch_uid: str | None = Field(sa_type=StoredText)
    """The batch it came in."""
    checksum: int | None = Field(
        sa_type=BigInteger, sa_column_kwargs={"default": make_checksum_default("judge_call")}
    )
    """Of the row as it was written; see `checksums`."""


class JudgeMemoryTable(StoreTable, table=True):
    """What was found out about a judge."""

    __tablename__: ClassVar[str] = "judge_memory"

    fingerprint: str = Field(primary_key=True, sa_type=StoredText)
    rung: str | None = Field(sa_type=StoredText)
    """The output format that works: `schema`, `tool`, `json` or `text`."""
    refused: list[str] | None = Field(sa_type=StoredJson(list[str]))
    """Parameters that the model does not take."""
    updated_at: datetime = Field(sa_type=UTCDateTime)


class WorkerTable(StoreTable, table=True):
    """A process that asks, or works on a run. It is alive as long as it counts."""

    __tablename__: ClassVar[str] = "worker"

    uid: str = Field(primary_key=True, sa_type=StoredText)
    host: str = Field(sa_type=StoredText)
    pid: int
    beats: int
    """Counts up while it lives. No time: a clock that jumps must not kill it."""
    started_at: datetime = Field(sa_type=UTCDateTime)
    run_id: int | None
    """The run it works on; none: it works on batches of several."""
    process: str | None = Field(sa_type=StoredText)
    """Tells the process from a later one with its number; none: this system cannot."""
    beat_at: datetime | None = Field(sa_type=UTCDateTime)
    """When it counted last. Only read for a process of another machine, which cannot be asked."""


class LeaseTable(StoreTable, table=True):
    """A question in flight: nobody else asks it while the worker lives."""

    __tablename__: ClassVar[str] = "lease"

    key: str = Field(primary_key=True, sa_type=StoredText)
    worker: str = Field(sa_type=StoredText, index=True)


class BatchTable(StoreTable, table=True):
    """Questions that were handed to a provider together, to be answered within a day."""

    __tablename__: ClassVar[str] = "batch"

    uid: str = Field(primary_key=True, sa_type=StoredText)
    """Ours, sent along, so that a batch whose receipt was lost is found again."""
    run_id: int = Field(foreign_key="run.id", index=True)
    provider_id: str | None = Field(sa_type=StoredText)
    """The provider's name of it; none: not known to have arrived."""
    state: str = Field(sa_type=StoredText)
    """`planned`, `sent`, `ended` or `failed`."""
    reason: str | None = Field(sa_type=StoredText)
    requests: int
    created_at: datetime = Field(sa_type=UTCDateTime)
    ended_at: datetime | None = Field(sa_type=UTCDateTime)


class BatchRequestTable(StoreTable, table=True):
    """One question of a batch."""

    __tablename__: ClassVar[str] = "batch_request"
    __table_args__ = (PrimaryKeyConstraint("batch_uid", "number"),)

    batch_uid: str = Field(foreign_key="batch.uid", sa_type=StoredText)
    number: int
    """Place in the batch, from 0."""
    key: str = Field(sa_type=StoredText, index=True)
    run_item_id: int | None = Field(foreign_key="run_item.id")
    window: int | None
    step: str = Field(sa_type=StoredText)
    tries: int
    """Which try of the question it is, from 1."""
    replicate: int
    """Which repetition of the question it is."""
    plain: bool
    """It has no schema."""
    tokens_likely: int
    """What it reads, where the provider does not say."""
    tokens_worst: int
    """What it may read and write at most."""
    nusd_worst: int = Field(sa_type=BigInteger)
    """What it may cost at most, in units of 1e-9 US dollars; 0 where the price is not known."""
    state: str = Field(sa_type=StoredText)
    """`waiting`, `answered`, `unusable`, `failed` or `left`; see `RequestState`."""
    reason: str | None = Field(sa_type=StoredText)


class FreshVerdictTable(StoreTable, table=True):
    """A verdict that was asked for again on purpose, beside the run. Only ever appended."""

    __tablename__: ClassVar[str] = "fresh_verdict"

    id: int | None = Field(default=None, primary_key=True)
    run_item_id: int = Field(foreign_key="run_item.id", index=True)
    claim_id: int = Field(foreign_key="claim.id", index=True)
    window: int
    replicate: int
    label: str | None = Field(sa_type=StoredText)
    word: str | None = Field(sa_type=StoredText)
    reason: str | None = Field(sa_type=StoredText)
    confidence: float | None
    asked_by: str = Field(sa_type=StoredText)
    created_at: datetime = Field(sa_type=UTCDateTime)


class RecalibrationTable(StoreTable, table=True):
    """What human labels moved of a judge; of each kind the last one not withdrawn counts."""

    __tablename__: ClassVar[str] = "recalibration"

    id: int | None = Field(default=None, primary_key=True)
    judge: str = Field(sa_type=StoredText)
    """Its fingerprint without any recalibration; `;verdicts` after it where the row moves verdicts
    alone."""
    slope: float
    intercept: float
    labels: int
    """How many it rests on."""
    error_before: float
    """Expected calibration error on those labels; of verdicts 1 - balanced accuracy."""
    error_after: float
    """The same, cross-validated, with the new slope and intercept."""
    reviewer: str = Field(sa_type=StoredText)
    created_at: datetime = Field(sa_type=UTCDateTime)
    withdrawn_at: datetime | None = Field(sa_type=UTCDateTime)


judge_call = get_table(JudgeCallTable)
judge_memory = get_table(JudgeMemoryTable)
worker = get_table(WorkerTable)
lease = get_table(LeaseTable)
batch = get_table(BatchTable)
batch_request = get_table(BatchRequestTable)
fresh_verdict = get_table(FreshVerdictTable)
recalibration = get_table(RecalibrationTable)
