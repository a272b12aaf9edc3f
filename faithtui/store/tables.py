"""The tables. They never leave this package; readers get the values of `records`.

No `Relationship` attributes: joins are written where they are used. Queries are built from the
`Table` objects at the end of this file and select columns. docs/data-model.md explains each table.
"""

from datetime import datetime
from typing import ClassVar

from sqlalchemy import (
    JSON,
    BigInteger,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel
from sqlmodel.sql.sqltypes import UTCDateTime

from faithtui.store.texts import StoredText

# A registry of our own: another program's SQLModel tables in the same process stay apart.
# The convention names every constraint, so that later revisions can refer to it.
_registry = registry(
    metadata=MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
)

_JSON = JSON(none_as_null=True)


class _Stored(SQLModel, registry=_registry):
    """Base of all tables."""


class ConversationTable(_Stored, table=True):
    """An imported conversation; `source` and `key` are its identity."""

    __tablename__: ClassVar[str] = "conversation"
    __table_args__ = (UniqueConstraint("source", "key"), Index(None, "source", "content_hash"))

    id: int | None = Field(default=None, primary_key=True)
    source: str = Field(sa_type=StoredText)
    key: str = Field(sa_type=StoredText)
    group: str = Field(sa_type=StoredText)
    """What must stay together when conversations are resampled."""
    content_hash: str = Field(sa_type=StoredText)
    opening: str = Field(sa_type=StoredText)
    """First characters of the first user message, for lists."""
    turns: int
    """How many it has."""
    details: dict[str, object] = Field(sa_type=_JSON)
    """Its metadata, as imported."""
    imported_at: datetime = Field(sa_type=UTCDateTime)


class TurnTable(_Stored, table=True):
    """One message of a conversation."""

    __tablename__: ClassVar[str] = "turn"
    __table_args__ = (PrimaryKeyConstraint("conversation_id", "position"),)

    conversation_id: int = Field(foreign_key="conversation.id")
    position: int
    role: str = Field(sa_type=StoredText)
    content: str = Field(sa_type=StoredText)
    has_context: bool
    """False: nobody knows what was retrieved. True without documents: nothing was."""
    images: list[dict[str, str | None]] = Field(sa_type=_JSON)
    """Its images in order: `sha256`, `media_type` and `url` of each."""


class DocumentTable(_Stored, table=True):
    """A text that was retrieved, with its images; kept once however often it was."""

    __tablename__: ClassVar[str] = "document"
    __table_args__ = (UniqueConstraint("hash"),)

    id: int | None = Field(default=None, primary_key=True)
    hash: str = Field(sa_type=StoredText)
    """Of the text, and of the marks of its images."""
    text: str = Field(sa_type=StoredText)


class TurnDocumentTable(_Stored, table=True):
    """A document in the context of a turn."""

    __tablename__: ClassVar[str] = "turn_document"
    __table_args__ = (
        PrimaryKeyConstraint("conversation_id", "turn", "position"),
        ForeignKeyConstraint(
            ["conversation_id", "turn"], ["turn.conversation_id", "turn.position"]
        ),
    )

    conversation_id: int
    turn: int
    position: int
    document_id: int = Field(foreign_key="document.id", index=True)
    source: str | None = Field(sa_type=StoredText)
    images: list[dict[str, str | None]] = Field(sa_type=_JSON)
    """Its images in order, as those of a turn."""


class ImageTable(_Stored, table=True):
    """An image of a turn or of a document, kept once however often it occurs."""

    __tablename__: ClassVar[str] = "image"

    sha256: str = Field(primary_key=True, sa_type=StoredText)
    """Of the bytes; of the address, when only that is known."""
    media_type: str = Field(sa_type=StoredText)
    """Empty when only the address is known."""
    url: str | None = Field(sa_type=StoredText)
    """Where it lies; never fetched."""
    data: bytes | None = Field(sa_type=LargeBinary)
    """None: only the address is known."""
    length: int | None
    """Of the data, in bytes."""


class RunTable(_Stored, table=True):
    """A metric and a judge over a selection, with counters so that lists never add up verdicts."""

    __tablename__: ClassVar[str] = "run"

    id: int | None = Field(default=None, primary_key=True)
    metric: str = Field(sa_type=StoredText)
    metric_version: str = Field(sa_type=StoredText)
    peer: str = Field(sa_type=StoredText)
    strategy: str = Field(sa_type=StoredText)
    options: dict[str, object] = Field(sa_type=_JSON)
    rule: dict[str, object] = Field(sa_type=_JSON)
    """The scoring rule, so that people's labels can be scored without the metric."""
    judge: str = Field(sa_type=StoredText)
    judge_fingerprint: str = Field(sa_type=StoredText)
    base_url: str | None = Field(sa_type=StoredText)
    prompt_digest: str = Field(sa_type=StoredText)
    prompts_dir: str | None = Field(sa_type=StoredText)
    claims_from: str = Field(sa_type=StoredText)
    """`extracted` or `imported`."""
    sources: list[str] = Field(sa_type=_JSON)
    concurrency: int
    state: str = Field(sa_type=StoredText)
    reason: str | None = Field(sa_type=StoredText)
    created_at: datetime = Field(sa_type=UTCDateTime)
    finished_at: datetime | None = Field(sa_type=UTCDateTime)
    conversations: int = 0
    pending: int = 0
    done: int = 0
    failed: int = 0
    skipped: int = 0
    windows: int = 0
    failed_windows: int = 0
    claims: int = 0
    missing: int = 0
    labelled: int = 0
    scored: int = 0
    """Conversations with a score."""
    score_sum: int = Field(default=0, sa_type=BigInteger)
    """In units of 1e-12: whole numbers, so that adding and taking back leaves nothing behind."""
    corrected_scored: int = 0
    corrected_sum: int = Field(default=0, sa_type=BigInteger)
    calls: int = 0
    tokens_in: int = Field(default=0, sa_type=BigInteger)
    tokens_out: int = Field(default=0, sa_type=BigInteger)


class RunItemTable(_Stored, table=True):
    """One conversation of a run: queue, resume point and what lists show."""

    __tablename__: ClassVar[str] = "run_item"
    __table_args__ = (
        UniqueConstraint("run_id", "number"),
        UniqueConstraint("run_id", "conversation_id"),
        Index(None, "run_id", "state"),
        Index(None, "run_id", "score"),
    )

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    conversation_id: int = Field(foreign_key="conversation.id", index=True)
    number: int
    """Place in the run, from 1."""
    state: str = Field(sa_type=StoredText)
    reason: str | None = Field(sa_type=StoredText)
    conclusion: str | None = Field(sa_type=StoredText)
    """The final reason."""
    windows: int = 0
    failed_windows: int = 0
    claims: int = 0
    missing: int = 0
    labelled: int = 0
    overridden: int = 0
    labels: dict[str, int] = Field(sa_type=_JSON)
    """How many unique claims have each label of the judge."""
    score: float | None
    """The judge's windowed score, for sorting."""
    corrected: float | None
    scores: dict[str, object] | None = Field(sa_type=_JSON)
    """The judge's three scores; None while pending."""
    corrected_scores: dict[str, object] | None = Field(sa_type=_JSON)


class ClaimTable(_Stored, table=True):
    """One unique thing a person can label. Shared by runs."""

    __tablename__: ClassVar[str] = "claim"
    __table_args__ = (UniqueConstraint("conversation_id", "kind", "turn", "digest"),)

    id: int | None = Field(default=None, primary_key=True)
    conversation_id: int = Field(foreign_key="conversation.id")
    kind: str = Field(sa_type=StoredText)
    """`claim`: a statement of an answer. `statement`: one of a document. `answer`: the whole
    answer, with an empty text."""
    turn: int
    digest: str = Field(sa_type=StoredText)
    """Of the normalised text; of a statement, of its document's hash and the normalised text."""
    text: str = Field(sa_type=StoredText)
    """In the words it first came with."""
    span_start: int | None
    span_end: int | None
    imported: bool
    """It came with the data, whether or not a judge has drawn it too."""
    document_id: int | None = Field(foreign_key="document.id")
    """The document a statement belongs to; None for the other kinds."""


class TruthTable(_Stored, table=True):
    """A fact a judge drew from one document, in one conversation of a run."""

    __tablename__: ClassVar[str] = "truth"
    __table_args__ = (Index(None, "run_item_id"),)

    id: int | None = Field(default=None, primary_key=True)
    run_item_id: int = Field(foreign_key="run_item.id")
    document_id: int | None = Field(foreign_key="document.id")
    """None: the judge saw several documents at once."""
    digest: str = Field(sa_type=StoredText)
    """Of the normalised text; unique within item and document, which the one writer sees to."""
    text: str = Field(sa_type=StoredText)
    span_start: int | None
    span_end: int | None


class WindowTable(_Stored, table=True):
    """A window of a conversation of a run, judged or failed."""

    __tablename__: ClassVar[str] = "window"
    __table_args__ = (UniqueConstraint("run_item_id", "position"),)

    id: int | None = Field(default=None, primary_key=True)
    run_item_id: int = Field(foreign_key="run_item.id")
    position: int
    interactions: list[int] = Field(sa_type=_JSON)
    turns: list[int] = Field(sa_type=_JSON)
    score: float | None
    score_state: str = Field(sa_type=StoredText)
    score_reason: str | None = Field(sa_type=StoredText)
    reason: str | None = Field(sa_type=StoredText)
    without_context: bool
    surplus: list[str | None] = Field(sa_type=_JSON)
    truths: list[int] = Field(sa_type=_JSON)
    """Ids of the truths in view, in reading order. A list, because a row for each would be most
    of the file: every window repeats the truths of the ones before."""
    judged_at: datetime = Field(sa_type=UTCDateTime)


class VerdictTable(_Stored, table=True):
    """The judge's label of a claim in a window. Never edited."""

    __tablename__: ClassVar[str] = "verdict"
    __table_args__ = (PrimaryKeyConstraint("window_id", "position"),)

    window_id: int = Field(foreign_key="window.id")
    position: int
    """Place in the window; the same claim may have two."""
    run_item_id: int = Field(foreign_key="run_item.id", index=True)
    claim_id: int = Field(foreign_key="claim.id", index=True)
    label: str | None = Field(sa_type=StoredText)
    word: str | None = Field(sa_type=StoredText)
    reason: str | None = Field(sa_type=StoredText)
    confidence: float | None
    is_home: bool
    """The first verdict of the claim in the first window that holds it."""


class EvidenceTable(_Stored, table=True):
    """A truth the judge named for a claim, in one conversation of a run."""

    __tablename__: ClassVar[str] = "evidence"
    __table_args__ = (PrimaryKeyConstraint("run_item_id", "claim_id", "truth_id", "stance"),)

    run_item_id: int = Field(foreign_key="run_item.id")
    claim_id: int = Field(foreign_key="claim.id", index=True)
    truth_id: int = Field(foreign_key="truth.id", index=True)
    stance: str = Field(sa_type=StoredText)


class HumanLabelTable(_Stored, table=True):
    """One act of one person on one claim. Only ever appended."""

    __tablename__: ClassVar[str] = "human_label"
    __table_args__ = (Index(None, "reviewer", "action"),)

    id: int | None = Field(default=None, primary_key=True)
    claim_id: int = Field(foreign_key="claim.id", index=True)
    reviewer: str = Field(sa_type=StoredText)
    action: str = Field(sa_type=StoredText)
    verdict: str | None = Field(sa_type=StoredText)
    note: str | None = Field(sa_type=StoredText)
    target_id: int | None = Field(foreign_key="human_label.id", index=True)
    """The act this one withdraws or restores."""
    scale: str | None = Field(sa_type=StoredText)
    """Of an imported label."""
    raw_label: str | None = Field(sa_type=StoredText)
    """The word an imported label had in its file."""
    run_id: int | None = Field(foreign_key="run.id", index=True)
    """The run under review when it was given."""
    judge_verdict: str | None = Field(sa_type=StoredText)
    """What the judge had said then."""
    saw_judge: bool
    seconds: float | None
    """Time the person took."""
    reason_code: str | None = Field(sa_type=StoredText)
    guideline_version: str | None = Field(sa_type=StoredText)
    created_at: datetime = Field(sa_type=UTCDateTime)


class JudgeCallTable(_Stored, table=True):
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
    """False: malformed; kept, and never found again."""
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


METADATA: MetaData = _registry.metadata


def _table(model: type[_Stored]) -> Table:
    return METADATA.tables[str(model.__tablename__)]


conversation = _table(ConversationTable)
turn = _table(TurnTable)
document = _table(DocumentTable)
turn_document = _table(TurnDocumentTable)
image = _table(ImageTable)
run = _table(RunTable)
run_item = _table(RunItemTable)
claim = _table(ClaimTable)
truth = _table(TruthTable)
window = _table(WindowTable)
verdict = _table(VerdictTable)
evidence = _table(EvidenceTable)
human_label = _table(HumanLabelTable)
judge_call = _table(JudgeCallTable)
