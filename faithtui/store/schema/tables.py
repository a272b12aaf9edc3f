"""The tables. They never leave this package; readers get the values of `records`.

No `Relationship` attributes: joins are written where they are used. Queries are built from the
`Table` objects at the end of this file and select columns. docs/data-model.md explains each table.
"""

from datetime import datetime
from typing import ClassVar

from pydantic import NonNegativeInt
from sqlalchemy import (
    BigInteger,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    UniqueConstraint,
    column,
    table,
    text,
)
from sqlmodel import Field
from sqlmodel.sql.sqltypes import UTCDateTime

from faithtui.domain.conversation import Image
from faithtui.domain.scores import ScoreSet, ScoringRule
from faithtui.store.schema.checksums import make_checksum_default
from faithtui.store.schema.metadata import StoreTable, get_table
from faithtui.store.schema.storable_text import StoredText
from faithtui.store.schema.stored_json import (
    StoredCalibration,
    StoredJson,
    StoredPopulation,
    StoredProfile,
    StoredStratum,
)


class ConversationTable(StoreTable, table=True):
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
    details: dict[str, object] = Field(sa_type=StoredJson(dict[str, object]))
    """Its metadata, as imported."""
    imported_at: datetime = Field(sa_type=UTCDateTime)


class TurnTable(StoreTable, table=True):
    """One message of a conversation."""

    __tablename__: ClassVar[str] = "turn"
    __table_args__ = (PrimaryKeyConstraint("conversation_id", "position"),)

    conversation_id: int = Field(foreign_key="conversation.id")
    position: int
    role: str = Field(sa_type=StoredText)
    content: str = Field(sa_type=StoredText)
    has_context: bool
    """False: nobody knows what was retrieved. True without documents: nothing was."""
    images: list[dict[str, str | None]] = Field(sa_type=StoredJson(list[Image]))
    """Its images in order: `sha256`, `media_type` and `url` of each."""


class DocumentTable(StoreTable, table=True):
    """A text that was retrieved, with its images; kept once however often it was."""

    __tablename__: ClassVar[str] = "document"
    __table_args__ = (UniqueConstraint("hash"),)

    id: int | None = Field(default=None, primary_key=True)
    hash: str = Field(sa_type=StoredText)
    """Of the text, and of the marks of its images."""
    text: str = Field(sa_type=StoredText)


class TurnDocumentTable(StoreTable, table=True):
    """A document in the context of a turn."""

    __tablename__: ClassVar[str] = "turn_document"
    __table_args__ = (
        PrimaryKeyConstraint("conversation_id", "turn", "position"),
        ForeignKeyConstraint(
            ["conversation_id", "turn"], ["turn.conversation_id", "turn.position"]
        ),
        Index(None, "document_id", "conversation_id"),
    )

    conversation_id: int
    turn: int
    position: int
    document_id: int = Field(foreign_key="document.id")
    source: str | None = Field(sa_type=StoredText)
    images: list[dict[str, str | None]] = Field(sa_type=StoredJson(list[Image]))
    """Its images in order, as those of a turn."""


class ImageTable(StoreTable, table=True):
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


class RunTable(StoreTable, table=True):
    """A metric and a judge over a selection, with counters so that lists never add up verdicts."""

    __tablename__: ClassVar[str] = "run"

    id: int | None = Field(default=None, primary_key=True)
    metric: str = Field(sa_type=StoredText)
    metric_version: str = Field(sa_type=StoredText)
    peer: str = Field(sa_type=StoredText)
    strategy: str = Field(sa_type=StoredText)
    options: dict[str, object] = Field(sa_type=StoredJson(dict[str, object]))
    rule: dict[str, object] = Field(sa_type=StoredJson(ScoringRule))
    """The scoring rule, so that human labels can be scored without the metric."""
    judge: str = Field(sa_type=StoredText)
    judge_fingerprint: str = Field(sa_type=StoredText)
    base_url: str | None = Field(sa_type=StoredText)
    prompt_digest: str = Field(sa_type=StoredText)
    prompts_dir: str | None = Field(sa_type=StoredText)
    prompt_set: str | None = Field(sa_type=StoredText)
    """Digest of its prompt texts without examples; none: it was begun before they were kept."""
    profile: dict[str, object] | None = Field(sa_type=StoredJson(StoredProfile))
    """Parameters its judge is asked with; none: it was begun before there were any."""
    example_set: str | None = Field(sa_type=StoredText)
    """Digest of the examples its questions show; none: it shows none."""
    claims_from: str = Field(sa_type=StoredText)
    """`extracted` or `imported`."""
    sources: list[str] = Field(sa_type=StoredJson(list[str]))
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
    undefined_windows: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Windows of which the judge's labels make no score: nothing was judged or compared."""
    skipped_windows: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Windows to which the metric does not apply."""
    undefined: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Conversations of which no window has a score, because nothing was judged or compared."""
    incomplete: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Conversations that lack a verdict and therefore have no score."""
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
    tokens_cached: int = Field(
        default=0, sa_type=BigInteger, sa_column_kwargs={"server_default": "0"}
    )
    cost_nusd: int = Field(default=0, sa_type=BigInteger, sa_column_kwargs={"server_default": "0"})
    """In units of 1e-9 US dollars, of the calls whose price was known."""
    unpriced_calls: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Calls whose price was not known."""
    retries: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Attempts that failed in a way that may pass, and were made again."""
    budget_nusd: int | None = Field(sa_type=BigInteger)
    """What it may cost, in units of 1e-9 US dollars; none: no limit."""
    budget_tokens: int | None = Field(sa_type=BigInteger)
    """Tokens it may use, read and written; none: no limit."""
    max_failures: str | None = Field(sa_type=StoredText)
    """After how many failures it stops, such as `10` or `5%`; none: as many as by default."""
    batch: bool = Field(default=False, sa_column_kwargs={"server_default": "0"})
    """Its questions go through the provider's batches."""
    claims_run: int | None
    """The run whose claims it judges, where `claims_from` is `run`."""
    claim_set: int | None
    """The version of a claim set whose claims it judges, where `claims_from` is `set`."""
    calibration: dict[str, object] | None = Field(sa_type=StoredJson(StoredCalibration))
    """How the probabilities of the embedded judge were recalibrated; none: they were not."""
    archived_at: datetime | None = Field(sa_type=UTCDateTime)
    """When it was put away; none: it is listed."""
    checks: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Version of the checks that the counts below are from; 0: nothing was checked."""
    checked: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Conversations that are checked as they are."""
    checked_claims: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Claims that were looked for in their answers; 0 while it is not checked."""
    phantom_claims: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Of these, the ones that were not found."""
    checked_truths: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Truths that were looked for in their passages."""
    invented_truths: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Of these, the ones that were not found."""
    checked_texts: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Claims, truths and reasons that were held against the prompts."""
    echoed_texts: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Of these, the ones that repeat a prompt."""


class RunItemTable(StoreTable, table=True):
    """One conversation of a run: queue, resume point and what lists show."""

    __tablename__: ClassVar[str] = "run_item"
    __table_args__ = (
        UniqueConstraint("run_id", "number"),
        UniqueConstraint("run_id", "conversation_id"),
        Index(None, "run_id", "state"),
        Index(None, "run_id", "score"),
        Index("ix_run_item_checked", "run_id", "checked", "state"),
        # What lists are sorted and filtered by, so that no list reads whole rows.
        Index(
            "ix_run_item_listed",
            "run_id",
            "number",
            "conversation_id",
            "state",
            "score",
            "corrected",
            "claims",
            "labelled",
            "overridden",
            "missing",
        ),
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
    undefined_windows: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    skipped_windows: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    claims: int = 0
    missing: int = 0
    labelled: int = 0
    overridden: int = 0
    labels: dict[str, int] = Field(sa_type=StoredJson(dict[str, NonNegativeInt]))
    """How many unique claims have each label of the judge."""
    score: float | None
    """The judge's windowed score, for sorting."""
    corrected: float | None
    scores: dict[str, object] | None = Field(sa_type=StoredJson(ScoreSet))
    """The judge's three scores; None while pending."""
    corrected_scores: dict[str, object] | None = Field(sa_type=StoredJson(ScoreSet))
    checked: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Version of the checks its findings are from; 0: not checked since it was last judged."""
    asked_after: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Newest call when what it lacked was last asked for again; 0: never. What earlier calls left
    unanswered is asked again, later ones count as asked."""
    checked_claims: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Claims that were looked for in their answers; 0 while it is not checked."""
    phantom_claims: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Of these, the ones that were not found."""
    checked_truths: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Truths that were looked for in their passages."""
    invented_truths: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Of these, the ones that were not found."""
    checked_texts: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Claims, truths and reasons that were held against the prompts."""
    echoed_texts: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """Of these, the ones that repeat a prompt."""


class ClaimTable(StoreTable, table=True):
    """One unique thing an annotator can label. Shared by runs."""

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


class TruthTable(StoreTable, table=True):
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
    quote: str | None = Field(sa_type=StoredText)
    """The words of the document that the judge says state it; none: it was not asked for any."""


class WindowTable(StoreTable, table=True):
    """A window of a conversation of a run, judged or failed."""

    __tablename__: ClassVar[str] = "window"
    __table_args__ = (UniqueConstraint("run_item_id", "position"),)

    id: int | None = Field(default=None, primary_key=True)
    run_item_id: int = Field(foreign_key="run_item.id")
    position: int
    interactions: list[int] = Field(sa_type=StoredJson(list[NonNegativeInt]))
    turns: list[int] = Field(sa_type=StoredJson(list[NonNegativeInt]))
    score: float | None
    score_state: str = Field(sa_type=StoredText)
    score_reason: str | None = Field(sa_type=StoredText)
    reason: str | None = Field(sa_type=StoredText)
    without_context: bool
    surplus: list[str | None] = Field(sa_type=StoredJson(list[str | None]))
    truths: list[int] = Field(sa_type=StoredJson(list[NonNegativeInt]))
    """Ids of the truths in view, in reading order. A list, because a row for each would be most
    of the file: every window repeats the truths of the ones before."""
    judged_at: datetime = Field(sa_type=UTCDateTime)


class VerdictTable(StoreTable, table=True):
    """The judge's label of a claim in a window. Never edited."""

    __tablename__: ClassVar[str] = "verdict"
    __table_args__ = (
        PrimaryKeyConstraint("window_id", "position"),
        # One entry per unique claim of a run, by what the judge says of it.
        Index(
            "ix_verdict_home",
            "label",
            "run_item_id",
            "claim_id",
            sqlite_where=text("is_home = 1"),
        ),
    )

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
    checksum: int | None = Field(
        sa_type=BigInteger, sa_column_kwargs={"default": make_checksum_default("verdict")}
    )
    """Of the row as it was written; see `checksums`."""


class EvidenceTable(StoreTable, table=True):
    """A truth the judge named for a claim, in one conversation of a run."""

    __tablename__: ClassVar[str] = "evidence"
    __table_args__ = (PrimaryKeyConstraint("run_item_id", "claim_id", "truth_id", "stance"),)

    run_item_id: int = Field(foreign_key="run_item.id")
    claim_id: int = Field(foreign_key="claim.id", index=True)
    truth_id: int = Field(foreign_key="truth.id", index=True)
    stance: str = Field(sa_type=StoredText)


class SufficientSetTable(StoreTable, table=True):
    """A truth of a set of several that are enough for a claim only together."""

    __tablename__: ClassVar[str] = "sufficient_set"
    __table_args__ = (PrimaryKeyConstraint("run_item_id", "claim_id", "number", "truth_id"),)

    run_item_id: int = Field(foreign_key="run_item.id")
    claim_id: int = Field(foreign_key="claim.id", index=True)
    number: int
    """From 1, of the sets of this claim."""
    truth_id: int = Field(foreign_key="truth.id", index=True)


class FindingTable(StoreTable, table=True):
    """Something that looks wrong in what a judge said of a conversation; see docs/integrity.md."""

    __tablename__: ClassVar[str] = "finding"
    __table_args__ = (Index("ix_finding_listed", "run_id", "kind", "run_item_id", "claim_id"),)

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    """Of the conversation, so that the list of a run is read from one index."""
    run_item_id: int = Field(foreign_key="run_item.id", index=True)
    kind: str = Field(sa_type=StoredText)
    claim_id: int | None = Field(foreign_key="claim.id", index=True)
    window: int | None
    """Position of the window it is about."""
    turn: int | None
    """Position of the turn it is about."""
    detail: str = Field(sa_type=StoredText)


class HumanLabelTable(StoreTable, table=True):
    """One label event: an act of one annotator on one claim. Only ever appended."""

    __tablename__: ClassVar[str] = "human_label"
    __table_args__ = (
        UniqueConstraint("uid"),
        Index(None, "reviewer", "action"),
        Index(None, "clock"),
    )

    id: int | None = Field(default=None, primary_key=True)
    uid: str = Field(sa_type=StoredText)
    """Names the act in every store it comes to. Of an imported label: a hash of what it says."""
    clock: int
    """Logical clock: greater than that of every act its store knew. The log is ordered by it,
    then by `uid`, so that logs merge into one order."""
    batch: str | None = Field(sa_type=StoredText)
    """What was given at once has the same name here, and is undone at once."""
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
    """Time the annotator took."""
    reason_code: str | None = Field(sa_type=StoredText)
    """The stage that failed, as the annotator coded it."""
    mark: str | None = Field(sa_type=StoredText)
    """`flag`, `unflag`, `unsure`, `sure`, `missed`, `not-missed`, `complete` or `incomplete`."""
    sample_id: int | None = Field(foreign_key="sample.id", index=True)
    """The sample the claim was served from."""
    stratum: str | None = Field(sa_type=StoredText)
    """Of the claim in that sample, when it was served."""
    probability: float | None
    """Of being in that sample, when it was served."""
    guideline_version: str | None = Field(sa_type=StoredText)
    """Hash of the guideline that was in force."""
    created_at: datetime = Field(sa_type=UTCDateTime)
    checksum: int | None = Field(
        sa_type=BigInteger, sa_column_kwargs={"default": make_checksum_default("human_label")}
    )
    """Of the row as it was written; see `checksums`."""
    unverified: bool = Field(default=False, sa_column_kwargs={"server_default": "0"})
    """It came with a file of which nothing says that it is what was exported."""


class LabelEvidenceTable(StoreTable, table=True):
    """A stretch of a document that an annotator marked as evidence, by a label event `evidence`."""

    __tablename__: ClassVar[str] = "label_evidence"
    __table_args__ = (PrimaryKeyConstraint("label_id", "position"),)

    label_id: int = Field(foreign_key="human_label.id", ondelete="CASCADE")
    position: int
    """In the order of documents and of their text, from 0."""
    document: str = Field(sa_type=StoredText)
    """Hash of the document, which names it in every store."""
    span_start: int
    """First character."""
    span_end: int
    """The character after the last."""
    checksum: int | None = Field(
        sa_type=BigInteger, sa_column_kwargs={"default": make_checksum_default("label_evidence")}
    )
    """Of the row as it was written; see `checksums`."""


class SampleTable(StoreTable, table=True):
    """A drawn queue: which claims of a run an annotator is to label, and how they were chosen."""

    __tablename__: ClassVar[str] = "sample"
    __table_args__ = (UniqueConstraint("uid"),)

    id: int | None = Field(default=None, primary_key=True)
    uid: str = Field(sa_type=StoredText)
    """Names the sample in every store it comes to."""
    name: str = Field(sa_type=StoredText)
    kind: str = Field(sa_type=StoredText)
    """`sample`, `spot-check` or `repeat`."""
    run_id: int = Field(foreign_key="run.id", index=True)
    reviewer: str = Field(sa_type=StoredText)
    """Who drew it."""
    design: str = Field(sa_type=StoredText)
    """`simple`, `stratified` or `conversations`."""
    stratified_by: list[str] = Field(sa_type=StoredJson(list[str]))
    """What the strata are made of."""
    seed: int
    blind: bool
    shown_share: float
    """Of the claims, how many are served with the judge's verdict shown."""
    frame: int
    """Claims it was drawn from."""
    strata: list[dict[str, object]] = Field(sa_type=StoredJson(list[StoredStratum]))
    """`name`, `population` and `drawn` of each."""
    created_at: datetime = Field(sa_type=UTCDateTime)
    closed_at: datetime | None = Field(sa_type=UTCDateTime)
    decision: str | None = Field(sa_type=StoredText)
    """What a spot-check came to."""
    population: dict[str, object] | None = Field(default=None, sa_type=StoredJson(StoredPopulation))
    """Counts of the results folder that it was drawn from, where only drawn conversations are in
    the store; none: it was drawn from its run."""


class SampleClaimTable(StoreTable, table=True):
    """A claim of a sample, at its place in the drawn order."""

    __tablename__: ClassVar[str] = "sample_claim"
    __table_args__ = (
        PrimaryKeyConstraint("sample_id", "position"),
        UniqueConstraint("sample_id", "claim_id"),
    )

    sample_id: int = Field(foreign_key="sample.id")
    position: int
    claim_id: int = Field(foreign_key="claim.id", index=True)
    run_item_id: int = Field(foreign_key="run_item.id", index=True)
    stratum: str = Field(sa_type=StoredText)
    probability: float
    """Of being in the sample, in (0, 1]."""
    shown: bool
    """Served with the judge's verdict shown, to measure its influence on annotators."""


class ClaimSetTable(StoreTable, table=True):
    """A version of a named claim set: labelled claims, what they were drawn from, and how."""

    __tablename__: ClassVar[str] = "claim_set"
    __table_args__ = (UniqueConstraint("name", "version"),)

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(sa_type=StoredText)
    version: int
    """From 1."""
    digest: str = Field(sa_type=StoredText)
    """Hash of its claims, strata and places."""
    labels_digest: str = Field(sa_type=StoredText)
    """Hash of the labels its claims had when this version was made."""
    metric: str = Field(sa_type=StoredText)
    """The metric its labels were given under."""
    window_size: int | None
    """Of the run it was drawn from, in interactions; none: it had no windows."""
    design: str = Field(sa_type=StoredText)
    """As of a sample."""
    stratified_by: list[str] = Field(sa_type=StoredJson(list[str]))
    seed: int
    frame: int
    """Claims it was drawn from, which are all its claims."""
    strata: list[dict[str, object]] = Field(sa_type=StoredJson(list[StoredStratum]))
    """`name`, `population` and `drawn` of each."""
    sample_uid: str = Field(sa_type=StoredText)
    """Names the sample it was made of."""
    made_by: str = Field(sa_type=StoredText)
    created_at: datetime = Field(sa_type=UTCDateTime)
    drawn_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    """When its sample was drawn; none: nothing says."""
    other_labels: int | None
    """Claims of it that were not drawn and have a label, of other samples; none: nothing says."""


class ClaimSetClaimTable(StoreTable, table=True):
    """A claim of a claim set: one that could be drawn, or was."""

    __tablename__: ClassVar[str] = "claim_set_claim"
    __table_args__ = (
        PrimaryKeyConstraint("claim_set_id", "position"),
        UniqueConstraint("claim_set_id", "claim_id"),
    )

    claim_set_id: int = Field(foreign_key="claim_set.id")
    position: int
    """In the order of the run it was drawn from."""
    claim_id: int = Field(foreign_key="claim.id", index=True)
    stratum: str = Field(sa_type=StoredText)
    """In the drawing."""
    place: int | None
    """In the drawn order, from 0; none: it was not drawn."""
    shown: bool
    """As of a sample; false where it was not drawn."""


class ExposureTable(StoreTable, table=True):
    """An annotator saw the judge's verdicts on a conversation of a run."""

    __tablename__: ClassVar[str] = "exposure"
    __table_args__ = (PrimaryKeyConstraint("run_item_id", "reviewer"),)

    run_item_id: int = Field(foreign_key="run_item.id")
    reviewer: str = Field(sa_type=StoredText)
    at: datetime = Field(sa_type=UTCDateTime)


class GuidelineTable(StoreTable, table=True):
    """A version of the text that says how to judge. Only ever appended."""

    __tablename__: ClassVar[str] = "guideline"

    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(sa_type=StoredText)
    """Hash of the text; labels name it."""
    text: str = Field(sa_type=StoredText)
    author: str = Field(sa_type=StoredText)
    created_at: datetime = Field(sa_type=UTCDateTime)
    metric: str | None = Field(sa_type=StoredText)
    """The metric it is for; none: every metric."""
    built_in: bool = Field(default=False, sa_column_kwargs={"server_default": "0"})
    """It is the default of its metric, kept because labels were given under it. Never in force
    where another version is."""


class SavedViewTable(StoreTable, table=True):
    """A filter and an order of a list under a name."""

    __tablename__: ClassVar[str] = "saved_view"
    __table_args__ = (UniqueConstraint("screen", "name"),)

    id: int | None = Field(default=None, primary_key=True)
    screen: str = Field(sa_type=StoredText)
    """The list it belongs to."""
    name: str = Field(sa_type=StoredText)
    filter: str = Field(sa_type=StoredText)
    """As it is typed; "" for none."""
    sort: str = Field(sa_type=StoredText)
    created_at: datetime = Field(sa_type=UTCDateTime)


class SplitRuleTable(StoreTable, table=True):
    """How conversations are split into train, dev and test. One row, made once."""

    __tablename__: ClassVar[str] = "split_rule"

    id: int | None = Field(default=None, primary_key=True)
    """Always 1."""
    seed: int = Field(sa_type=BigInteger)
    train: int
    """Percent of the groups."""
    dev: int
    """Percent of the groups."""
    test: int
    """Percent of the groups; the three make 100."""
    made_by: str = Field(sa_type=StoredText)
    created_at: datetime = Field(sa_type=UTCDateTime)


class TestOpeningTable(StoreTable, table=True):
    """Somebody looked at figures of the test part. Only ever appended."""

    __tablename__: ClassVar[str] = "test_opening"

    id: int | None = Field(default=None, primary_key=True)
    command: str = Field(sa_type=StoredText)
    """Which one showed them."""
    runs: list[int] = Field(sa_type=StoredJson(list[NonNegativeInt]))
    """Of which runs."""
    opened_by: str = Field(sa_type=StoredText)
    created_at: datetime = Field(sa_type=UTCDateTime)


class DeletionTable(StoreTable, table=True):
    """Something was deleted on purpose. Only ever appended; nothing here says what it was."""

    __tablename__: ClassVar[str] = "deletion"

    id: int | None = Field(default=None, primary_key=True)
    kind: str = Field(sa_type=StoredText)
    """`dataset`, `import`, `person` or `run`."""
    deleted_by: str = Field(sa_type=StoredText)
    """Who did it; `(deleted)` when that annotator was deleted since."""
    counts: dict[str, int] = Field(sa_type=StoredJson(dict[str, NonNegativeInt]))
    """How many rows of each kind went, or were changed."""
    created_at: datetime = Field(sa_type=UTCDateTime)


class ExampleSetTable(StoreTable, table=True):
    """Examples that runs show to their judge; kept once however many runs do."""

    __tablename__: ClassVar[str] = "example_set"

    digest: str = Field(primary_key=True, sa_type=StoredText)
    """Hash of the examples; runs name it."""
    examples: list[dict[str, object]] = Field(sa_type=StoredJson(list[dict[str, object]]))
    """In order, each as in its file."""
    created_at: datetime = Field(sa_type=UTCDateTime)


class PromptSetTable(StoreTable, table=True):
    """Prompt texts of runs, word for word; kept once however many runs send them."""

    __tablename__: ClassVar[str] = "prompt_set"

    digest: str = Field(primary_key=True, sa_type=StoredText)
    """Hash of the texts and the version; runs name it."""
    metric: str = Field(sa_type=StoredText)
    version: int
    """How questions are put beside the texts: how much of a history is shown."""
    texts: dict[str, str] = Field(sa_type=StoredJson(dict[str, str]))
    """By step, with their holes and without examples."""
    created_at: datetime = Field(sa_type=UTCDateTime)


conversation = get_table(ConversationTable)
turn = get_table(TurnTable)
document = get_table(DocumentTable)
turn_document = get_table(TurnDocumentTable)
image = get_table(ImageTable)
run = get_table(RunTable)
run_item = get_table(RunItemTable)
claim = get_table(ClaimTable)
truth = get_table(TruthTable)
window = get_table(WindowTable)
verdict = get_table(VerdictTable)
evidence = get_table(EvidenceTable)
sufficient_set = get_table(SufficientSetTable)
finding = get_table(FindingTable)
human_label = get_table(HumanLabelTable)
label_evidence = get_table(LabelEvidenceTable)
sample = get_table(SampleTable)
sample_claim = get_table(SampleClaimTable)
claim_set = get_table(ClaimSetTable)
claim_set_claim = get_table(ClaimSetClaimTable)
exposure = get_table(ExposureTable)
guideline = get_table(GuidelineTable)
saved_view = get_table(SavedViewTable)
split_rule = get_table(SplitRuleTable)
test_opening = get_table(TestOpeningTable)
deletion = get_table(DeletionTable)
example_set = get_table(ExampleSetTable)
prompt_set = get_table(PromptSetTable)

search_conversation = table("search_conversation", column("rowid"), column("text"))
"""Words of a conversation: its key and its messages; `rowid` is its id."""
search_claim = table("search_claim", column("rowid"), column("text"))
"""Words of a claim, of a whole answer those of its turn; `rowid` has the id of its conversation in
the upper and its own in the lower 32 bits, so that neither has to be looked up."""
search_document = table("search_document", column("rowid"), column("text"))
"""Words of a document; `rowid` is its id. The three are full-text indexes of SQLite: they hold no
texts, only where words stand, and are made anew where something is deleted."""
