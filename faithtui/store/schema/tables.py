"""The tables. They never leave this package; readers get the values of `records`.

SQLAlchemy's own `Table` objects, as queries are built from them: classes with an object for each
row would be loaded with every start and used by nothing. A column's `doc` and a table's `comment`
say what it is for; docs/data-model.md is made from them.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    column,
    table,
    text,
)

from faithtui.store.schema.checksums import make_checksum_default
from faithtui.store.schema.column_types import StoredText, UTCDateTime
from faithtui.store.schema.metadata import JSON_OR_NULL, METADATA

conversation = Table(
    "conversation",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("source", StoredText, nullable=False),
    Column("key", StoredText, nullable=False),
    Column(
        "group",
        StoredText,
        nullable=False,
        doc="What must stay together when conversations are resampled.",
    ),
    Column("content_hash", StoredText, nullable=False),
    Column(
        "opening",
        StoredText,
        nullable=False,
        doc="First characters of the first user message, for lists.",
    ),
    Column("turns", Integer, nullable=False, doc="How many it has."),
    Column("details", JSON_OR_NULL, nullable=False, doc="Its metadata, as imported."),
    Column("imported_at", UTCDateTime, nullable=False),
    UniqueConstraint("source", "key"),
    Index(None, "source", "content_hash"),
    comment="An imported conversation; `source` and `key` are its identity.",
)

turn = Table(
    "turn",
    METADATA,
    Column("conversation_id", Integer, ForeignKey("conversation.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("role", StoredText, nullable=False),
    Column("content", StoredText, nullable=False),
    Column(
        "has_context",
        Boolean,
        nullable=False,
        doc="False: nobody knows what was retrieved. True without documents: nothing was.",
    ),
    Column(
        "images",
        JSON_OR_NULL,
        nullable=False,
        doc="Its images in order: `sha256`, `media_type` and `url` of each.",
    ),
    PrimaryKeyConstraint("conversation_id", "position"),
    comment="One message of a conversation.",
)

document = Table(
    "document",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("hash", StoredText, nullable=False, doc="Of the text, and of the marks of its images."),
    Column("text", StoredText, nullable=False),
    UniqueConstraint("hash"),
    comment="A text that was retrieved, with its images; kept once however often it was.",
)

turn_document = Table(
    "turn_document",
    METADATA,
    Column("conversation_id", Integer, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("document_id", Integer, ForeignKey("document.id"), nullable=False),
    Column("source", StoredText),
    Column("images", JSON_OR_NULL, nullable=False, doc="Its images in order, as those of a turn."),
    PrimaryKeyConstraint("conversation_id", "turn", "position"),
    ForeignKeyConstraint(["conversation_id", "turn"], ["turn.conversation_id", "turn.position"]),
    Index(None, "document_id", "conversation_id"),
    comment="A document in the context of a turn.",
)

image = Table(
    "image",
    METADATA,
    Column(
        "sha256",
        StoredText,
        primary_key=True,
        doc="Of the bytes; of the address, when only that is known.",
    ),
    Column("media_type", StoredText, nullable=False, doc="Empty when only the address is known."),
    Column("url", StoredText, doc="Where it lies; never fetched."),
    Column("data", LargeBinary, doc="None: only the address is known."),
    Column("length", Integer, doc="Of the data, in bytes."),
    comment="An image of a turn or of a document, kept once however often it occurs.",
)

run = Table(
    "run",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("metric", StoredText, nullable=False),
    Column("metric_version", StoredText, nullable=False),
    Column("peer", StoredText, nullable=False),
    Column("strategy", StoredText, nullable=False),
    Column("options", JSON_OR_NULL, nullable=False),
    Column(
        "rule",
        JSON_OR_NULL,
        nullable=False,
        doc="The scoring rule, so that human labels can be scored without the metric.",
    ),
    Column("judge", StoredText, nullable=False),
    Column("judge_fingerprint", StoredText, nullable=False),
    Column("base_url", StoredText),
    Column("prompt_digest", StoredText, nullable=False),
    Column("prompts_dir", StoredText),
    Column(
        "prompt_set",
        StoredText,
        doc=(
            "Digest of its prompt texts without examples; none: it was begun before they were kept."
        ),
    ),
    Column(
        "profile",
        JSON_OR_NULL,
        doc="Parameters its judge is asked with; none: it was begun before there were any.",
    ),
    Column(
        "example_set",
        StoredText,
        doc="Digest of the examples its questions show; none: it shows none.",
    ),
    Column("claims_from", StoredText, nullable=False, doc="`extracted` or `imported`."),
    Column("sources", JSON_OR_NULL, nullable=False),
    Column("concurrency", Integer, nullable=False),
    Column("state", StoredText, nullable=False),
    Column("reason", StoredText),
    Column("created_at", UTCDateTime, nullable=False),
    Column("finished_at", UTCDateTime),
    Column("conversations", Integer, nullable=False, default=0),
    Column("pending", Integer, nullable=False, default=0),
    Column("done", Integer, nullable=False, default=0),
    Column("failed", Integer, nullable=False, default=0),
    Column("skipped", Integer, nullable=False, default=0),
    Column("windows", Integer, nullable=False, default=0),
    Column("failed_windows", Integer, nullable=False, default=0),
    Column(
        "undefined_windows",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Windows of which the judge's labels make no score: nothing was judged or compared.",
    ),
    Column(
        "skipped_windows",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Windows to which the metric does not apply.",
    ),
    Column(
        "undefined",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Conversations of which no window has a score, because nothing was judged or compared.",
    ),
    Column(
        "incomplete",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Conversations that lack a verdict and therefore have no score.",
    ),
    Column("claims", Integer, nullable=False, default=0),
    Column("missing", Integer, nullable=False, default=0),
    Column("labelled", Integer, nullable=False, default=0),
    Column("scored", Integer, nullable=False, default=0, doc="Conversations with a score."),
    Column(
        "score_sum",
        BigInteger,
        nullable=False,
        default=0,
        doc=(
            "In units of 1e-12: whole numbers, so that adding and taking back leaves nothing "
            "behind."
        ),
    ),
    Column("corrected_scored", Integer, nullable=False, default=0),
    Column("corrected_sum", BigInteger, nullable=False, default=0),
    Column("calls", Integer, nullable=False, default=0),
    Column("tokens_in", BigInteger, nullable=False, default=0),
    Column("tokens_out", BigInteger, nullable=False, default=0),
    Column("tokens_cached", BigInteger, nullable=False, default=0, server_default="0"),
    Column(
        "cost_nusd",
        BigInteger,
        nullable=False,
        default=0,
        server_default="0",
        doc="In units of 1e-9 US dollars, of the calls whose price was known.",
    ),
    Column(
        "unpriced_calls",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Calls whose price was not known.",
    ),
    Column(
        "retries",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Attempts that failed in a way that may pass, and were made again.",
    ),
    Column(
        "budget_nusd",
        BigInteger,
        doc="What it may cost, in units of 1e-9 US dollars; none: no limit.",
    ),
    Column("budget_tokens", BigInteger, doc="Tokens it may use, read and written; none: no limit."),
    Column(
        "max_failures",
        StoredText,
        doc="After how many failures it stops, such as `10` or `5%`; none: as many as by default.",
    ),
    Column(
        "batch",
        Boolean,
        nullable=False,
        default=False,
        server_default="0",
        doc="Its questions go through the provider's batches.",
    ),
    Column(
        "claims_run",
        Integer,
        doc="The run whose claims it judges, where `claims_from` is `run`.",
    ),
    Column(
        "claim_set",
        Integer,
        doc="The version of a claim set whose claims it judges, where `claims_from` is `set`.",
    ),
    Column(
        "calibration",
        JSON_OR_NULL,
        doc="How the probabilities of the embedded judge were recalibrated; none: they were not.",
    ),
    Column("archived_at", UTCDateTime, doc="When it was put away; none: it is listed."),
    Column(
        "checks",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Version of the checks that the counts below are from; 0: nothing was checked.",
    ),
    Column(
        "checked",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Conversations that are checked as they are.",
    ),
    Column(
        "checked_claims",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Claims that were looked for in their answers; 0 while it is not checked.",
    ),
    Column(
        "phantom_claims",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Of these, the ones that were not found.",
    ),
    Column(
        "checked_truths",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Truths that were looked for in their passages.",
    ),
    Column(
        "invented_truths",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Of these, the ones that were not found.",
    ),
    Column(
        "checked_texts",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Claims, truths and reasons that were held against the prompts.",
    ),
    Column(
        "echoed_texts",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Of these, the ones that repeat a prompt.",
    ),
    comment=(
        "A metric and a judge over a selection, with counters so that lists never add up verdicts."
    ),
)

run_item = Table(
    "run_item",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("run_id", Integer, ForeignKey("run.id"), nullable=False),
    Column("conversation_id", Integer, ForeignKey("conversation.id"), nullable=False, index=True),
    Column("number", Integer, nullable=False, doc="Place in the run, from 1."),
    Column("state", StoredText, nullable=False),
    Column("reason", StoredText),
    Column("conclusion", StoredText, doc="The final reason."),
    Column("windows", Integer, nullable=False, default=0),
    Column("failed_windows", Integer, nullable=False, default=0),
    Column("undefined_windows", Integer, nullable=False, default=0, server_default="0"),
    Column("skipped_windows", Integer, nullable=False, default=0, server_default="0"),
    Column("claims", Integer, nullable=False, default=0),
    Column("missing", Integer, nullable=False, default=0),
    Column("labelled", Integer, nullable=False, default=0),
    Column("overridden", Integer, nullable=False, default=0),
    Column(
        "labels",
        JSON_OR_NULL,
        nullable=False,
        doc="How many unique claims have each label of the judge.",
    ),
    Column("score", Float, doc="The judge's windowed score, for sorting."),
    Column("corrected", Float),
    Column("scores", JSON_OR_NULL, doc="The judge's three scores; None while pending."),
    Column("corrected_scores", JSON_OR_NULL),
    Column(
        "checked",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Version of the checks its findings are from; 0: not checked since it was last judged.",
    ),
    Column(
        "asked_after",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc=(
            "Newest call when what it lacked was last asked for again; 0: never. What earlier "
            "calls left unanswered is asked again, later ones count as asked."
        ),
    ),
    Column(
        "checked_claims",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Claims that were looked for in their answers; 0 while it is not checked.",
    ),
    Column(
        "phantom_claims",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Of these, the ones that were not found.",
    ),
    Column(
        "checked_truths",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Truths that were looked for in their passages.",
    ),
    Column(
        "invented_truths",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Of these, the ones that were not found.",
    ),
    Column(
        "checked_texts",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Claims, truths and reasons that were held against the prompts.",
    ),
    Column(
        "echoed_texts",
        Integer,
        nullable=False,
        default=0,
        server_default="0",
        doc="Of these, the ones that repeat a prompt.",
    ),
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
    comment="One conversation of a run: queue, resume point and what lists show.",
)

claim = Table(
    "claim",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("conversation_id", Integer, ForeignKey("conversation.id"), nullable=False),
    Column(
        "kind",
        StoredText,
        nullable=False,
        doc=(
            "`claim`: a statement of an answer. `statement`: one of a document. `answer`: the "
            "whole answer, with an empty text."
        ),
    ),
    Column("turn", Integer, nullable=False),
    Column(
        "digest",
        StoredText,
        nullable=False,
        doc=(
            "Of the normalised text; of a statement, of its document's hash and the normalised "
            "text."
        ),
    ),
    Column("text", StoredText, nullable=False, doc="In the words it first came with."),
    Column("span_start", Integer),
    Column("span_end", Integer),
    Column(
        "imported",
        Boolean,
        nullable=False,
        doc="It came with the data, whether or not a judge has drawn it too.",
    ),
    Column(
        "document_id",
        Integer,
        ForeignKey("document.id"),
        doc="The document a statement belongs to; None for the other kinds.",
    ),
    UniqueConstraint("conversation_id", "kind", "turn", "digest"),
    comment="One unique thing an annotator can label. Shared by runs.",
)

truth = Table(
    "truth",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("run_item_id", Integer, ForeignKey("run_item.id"), nullable=False),
    Column(
        "document_id",
        Integer,
        ForeignKey("document.id"),
        doc="None: the judge saw several documents at once.",
    ),
    Column(
        "digest",
        StoredText,
        nullable=False,
        doc=(
            "Of the normalised text; unique within item and document, which the one writer sees to."
        ),
    ),
    Column("text", StoredText, nullable=False),
    Column("span_start", Integer),
    Column("span_end", Integer),
    Column(
        "quote",
        StoredText,
        doc=(
            "The words of the document that the judge says state it; none: it was not asked for "
            "any."
        ),
    ),
    Index(None, "run_item_id"),
    comment="A fact a judge drew from one document, in one conversation of a run.",
)

window = Table(
    "window",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("run_item_id", Integer, ForeignKey("run_item.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("interactions", JSON_OR_NULL, nullable=False),
    Column("turns", JSON_OR_NULL, nullable=False),
    Column("score", Float),
    Column("score_state", StoredText, nullable=False),
    Column("score_reason", StoredText),
    Column("reason", StoredText),
    Column("without_context", Boolean, nullable=False),
    Column("surplus", JSON_OR_NULL, nullable=False),
    Column(
        "truths",
        JSON_OR_NULL,
        nullable=False,
        doc=(
            "Ids of the truths in view, in reading order. A list, because a row for each would be "
            "most of the file: every window repeats the truths of the ones before."
        ),
    ),
    Column("judged_at", UTCDateTime, nullable=False),
    UniqueConstraint("run_item_id", "position"),
    comment="A window of a conversation of a run, judged or failed.",
)

verdict = Table(
    "verdict",
    METADATA,
    Column("window_id", Integer, ForeignKey("window.id"), nullable=False),
    Column(
        "position",
        Integer,
        nullable=False,
        doc="Place in the window; the same claim may have two.",
    ),
    Column("run_item_id", Integer, ForeignKey("run_item.id"), nullable=False, index=True),
    Column("claim_id", Integer, ForeignKey("claim.id"), nullable=False, index=True),
    Column("label", StoredText),
    Column("word", StoredText),
    Column("reason", StoredText),
    Column("confidence", Float),
    Column(
        "is_home",
        Boolean,
        nullable=False,
        doc="The first verdict of the claim in the first window that holds it.",
    ),
    Column(
        "checksum",
        BigInteger,
        default=make_checksum_default("verdict"),
        doc="Of the row as it was written; see `checksums`.",
    ),
    PrimaryKeyConstraint("window_id", "position"),
    # One entry per unique claim of a run, by what the judge says of it.
    Index(
        "ix_verdict_home",
        "label",
        "run_item_id",
        "claim_id",
        sqlite_where=text("is_home = 1"),
    ),
    comment="The judge's label of a claim in a window. Never edited.",
)

evidence = Table(
    "evidence",
    METADATA,
    Column("run_item_id", Integer, ForeignKey("run_item.id"), nullable=False),
    Column("claim_id", Integer, ForeignKey("claim.id"), nullable=False, index=True),
    Column("truth_id", Integer, ForeignKey("truth.id"), nullable=False, index=True),
    Column("stance", StoredText, nullable=False),
    PrimaryKeyConstraint("run_item_id", "claim_id", "truth_id", "stance"),
    comment="A truth the judge named for a claim, in one conversation of a run.",
)

sufficient_set = Table(
    "sufficient_set",
    METADATA,
    Column("run_item_id", Integer, ForeignKey("run_item.id"), nullable=False),
    Column("claim_id", Integer, ForeignKey("claim.id"), nullable=False, index=True),
    Column("number", Integer, nullable=False, doc="From 1, of the sets of this claim."),
    Column("truth_id", Integer, ForeignKey("truth.id"), nullable=False, index=True),
    PrimaryKeyConstraint("run_item_id", "claim_id", "number", "truth_id"),
    comment="A truth of a set of several that are enough for a claim only together.",
)

finding = Table(
    "finding",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column(
        "run_id",
        Integer,
        ForeignKey("run.id"),
        nullable=False,
        doc="Of the conversation, so that the list of a run is read from one index.",
    ),
    Column("run_item_id", Integer, ForeignKey("run_item.id"), nullable=False, index=True),
    Column("kind", StoredText, nullable=False),
    Column("claim_id", Integer, ForeignKey("claim.id"), index=True),
    Column("window", Integer, doc="Position of the window it is about."),
    Column("turn", Integer, doc="Position of the turn it is about."),
    Column("detail", StoredText, nullable=False),
    Index("ix_finding_listed", "run_id", "kind", "run_item_id", "claim_id"),
    comment=(
        "Something that looks wrong in what a judge said of a conversation; see docs/integrity.md."
    ),
)

human_label = Table(
    "human_label",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column(
        "uid",
        StoredText,
        nullable=False,
        doc=(
            "Names the act in every store it comes to. Of an imported label: a hash of what it "
            "says."
        ),
    ),
    Column(
        "clock",
        Integer,
        nullable=False,
        doc=(
            "Logical clock: greater than that of every act its store knew. The log is ordered by "
            "it, then by `uid`, so that logs merge into one order."
        ),
    ),
    Column(
        "batch",
        StoredText,
        doc="What was given at once has the same name here, and is undone at once.",
    ),
    Column("claim_id", Integer, ForeignKey("claim.id"), nullable=False, index=True),
    Column("reviewer", StoredText, nullable=False),
    Column("action", StoredText, nullable=False),
    Column("verdict", StoredText),
    Column("note", StoredText),
    Column(
        "target_id",
        Integer,
        ForeignKey("human_label.id"),
        index=True,
        doc="The act this one withdraws or restores.",
    ),
    Column("scale", StoredText, doc="Of an imported label."),
    Column("raw_label", StoredText, doc="The word an imported label had in its file."),
    Column(
        "run_id",
        Integer,
        ForeignKey("run.id"),
        index=True,
        doc="The run under review when it was given.",
    ),
    Column("judge_verdict", StoredText, doc="What the judge had said then."),
    Column("saw_judge", Boolean, nullable=False),
    Column("seconds", Float, doc="Time the annotator took."),
    Column("reason_code", StoredText, doc="The stage that failed, as the annotator coded it."),
    Column(
        "mark",
        StoredText,
        doc=(
            "`flag`, `unflag`, `unsure`, `sure`, `missed`, `not-missed`, `complete` or "
            "`incomplete`."
        ),
    ),
    Column(
        "sample_id",
        Integer,
        ForeignKey("sample.id"),
        index=True,
        doc="The sample the claim was served from.",
    ),
    Column("stratum", StoredText, doc="Of the claim in that sample, when it was served."),
    Column("probability", Float, doc="Of being in that sample, when it was served."),
    Column("guideline_version", StoredText, doc="Hash of the guideline that was in force."),
    Column("created_at", UTCDateTime, nullable=False),
    Column(
        "checksum",
        BigInteger,
        default=make_checksum_default("human_label"),
        doc="Of the row as it was written; see `checksums`.",
    ),
    UniqueConstraint("uid"),
    Index(None, "reviewer", "action"),
    Index(None, "clock"),
    comment="One label event: an act of one annotator on one claim. Only ever appended.",
)

label_evidence = Table(
    "label_evidence",
    METADATA,
    Column("label_id", Integer, ForeignKey("human_label.id", ondelete="CASCADE"), nullable=False),
    Column(
        "position",
        Integer,
        nullable=False,
        doc="In the order of documents and of their text, from 0.",
    ),
    Column(
        "document",
        StoredText,
        nullable=False,
        doc="Hash of the document, which names it in every store.",
    ),
    Column("span_start", Integer, nullable=False, doc="First character."),
    Column("span_end", Integer, nullable=False, doc="The character after the last."),
    Column(
        "checksum",
        BigInteger,
        default=make_checksum_default("label_evidence"),
        doc="Of the row as it was written; see `checksums`.",
    ),
    PrimaryKeyConstraint("label_id", "position"),
    comment=(
        "A stretch of a document that an annotator marked as evidence, by a label event `evidence`."
    ),
)

sample = Table(
    "sample",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("uid", StoredText, nullable=False, doc="Names the sample in every store it comes to."),
    Column("name", StoredText, nullable=False),
    Column("kind", StoredText, nullable=False, doc="`sample`, `spot-check` or `repeat`."),
    Column("run_id", Integer, ForeignKey("run.id"), nullable=False, index=True),
    Column("reviewer", StoredText, nullable=False, doc="Who drew it."),
    Column("design", StoredText, nullable=False, doc="`simple`, `stratified` or `conversations`."),
    Column("stratified_by", JSON_OR_NULL, nullable=False, doc="What the strata are made of."),
    Column("seed", Integer, nullable=False),
    Column("blind", Boolean, nullable=False),
    Column(
        "shown_share",
        Float,
        nullable=False,
        doc="Of the claims, how many are served with the judge's verdict shown.",
    ),
    Column("frame", Integer, nullable=False, doc="Claims it was drawn from."),
    Column("strata", JSON_OR_NULL, nullable=False, doc="`name`, `population` and `drawn` of each."),
    Column("created_at", UTCDateTime, nullable=False),
    Column("closed_at", UTCDateTime),
    Column("decision", StoredText, doc="What a spot-check came to."),
    Column(
        "population",
        JSON_OR_NULL,
        doc=(
            "Counts of the results folder that it was drawn from, where only drawn conversations "
            "are in the store; none: it was drawn from its run."
        ),
    ),
    UniqueConstraint("uid"),
    comment=(
        "A drawn queue: which claims of a run an annotator is to label, and how they were chosen."
    ),
)

sample_claim = Table(
    "sample_claim",
    METADATA,
    Column("sample_id", Integer, ForeignKey("sample.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("claim_id", Integer, ForeignKey("claim.id"), nullable=False, index=True),
    Column("run_item_id", Integer, ForeignKey("run_item.id"), nullable=False, index=True),
    Column("stratum", StoredText, nullable=False),
    Column("probability", Float, nullable=False, doc="Of being in the sample, in (0, 1]."),
    Column(
        "shown",
        Boolean,
        nullable=False,
        doc="Served with the judge's verdict shown, to measure its influence on annotators.",
    ),
    PrimaryKeyConstraint("sample_id", "position"),
    UniqueConstraint("sample_id", "claim_id"),
    comment="A claim of a sample, at its place in the drawn order.",
)

claim_set = Table(
    "claim_set",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", StoredText, nullable=False),
    Column("version", Integer, nullable=False, doc="From 1."),
    Column("digest", StoredText, nullable=False, doc="Hash of its claims, strata and places."),
    Column(
        "labels_digest",
        StoredText,
        nullable=False,
        doc="Hash of the labels its claims had when this version was made.",
    ),
    Column("metric", StoredText, nullable=False, doc="The metric its labels were given under."),
    Column(
        "window_size",
        Integer,
        doc="Of the run it was drawn from, in interactions; none: it had no windows.",
    ),
    Column("design", StoredText, nullable=False, doc="As of a sample."),
    Column("stratified_by", JSON_OR_NULL, nullable=False),
    Column("seed", Integer, nullable=False),
    Column(
        "frame",
        Integer,
        nullable=False,
        doc="Claims it was drawn from, which are all its claims.",
    ),
    Column("strata", JSON_OR_NULL, nullable=False, doc="`name`, `population` and `drawn` of each."),
    Column("sample_uid", StoredText, nullable=False, doc="Names the sample it was made of."),
    Column("made_by", StoredText, nullable=False),
    Column("created_at", UTCDateTime, nullable=False),
    UniqueConstraint("name", "version"),
    comment="A version of a named claim set: labelled claims, what they were drawn from, and how.",
)

claim_set_claim = Table(
    "claim_set_claim",
    METADATA,
    Column("claim_set_id", Integer, ForeignKey("claim_set.id"), nullable=False),
    Column("position", Integer, nullable=False, doc="In the order of the run it was drawn from."),
    Column("claim_id", Integer, ForeignKey("claim.id"), nullable=False, index=True),
    Column("stratum", StoredText, nullable=False, doc="In the drawing."),
    Column("place", Integer, doc="In the drawn order, from 0; none: it was not drawn."),
    Column("shown", Boolean, nullable=False, doc="As of a sample; false where it was not drawn."),
    PrimaryKeyConstraint("claim_set_id", "position"),
    UniqueConstraint("claim_set_id", "claim_id"),
    comment="A claim of a claim set: one that could be drawn, or was.",
)

exposure = Table(
    "exposure",
    METADATA,
    Column("run_item_id", Integer, ForeignKey("run_item.id"), nullable=False),
    Column("reviewer", StoredText, nullable=False),
    Column("at", UTCDateTime, nullable=False),
    PrimaryKeyConstraint("run_item_id", "reviewer"),
    comment="An annotator saw the judge's verdicts on a conversation of a run.",
)

guideline = Table(
    "guideline",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("digest", StoredText, nullable=False, doc="Hash of the text; labels name it."),
    Column("text", StoredText, nullable=False),
    Column("author", StoredText, nullable=False),
    Column("created_at", UTCDateTime, nullable=False),
    Column("metric", StoredText, doc="The metric it is for; none: every metric."),
    Column(
        "built_in",
        Boolean,
        nullable=False,
        default=False,
        server_default="0",
        doc=(
            "It is the default of its metric, kept because labels were given under it. Never in "
            "force where another version is."
        ),
    ),
    comment="A version of the text that says how to judge. Only ever appended.",
)

saved_view = Table(
    "saved_view",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("screen", StoredText, nullable=False, doc="The list it belongs to."),
    Column("name", StoredText, nullable=False),
    Column("filter", StoredText, nullable=False, doc='As it is typed; "" for none.'),
    Column("sort", StoredText, nullable=False),
    Column("created_at", UTCDateTime, nullable=False),
    UniqueConstraint("screen", "name"),
    comment="A filter and an order of a list under a name.",
)

split_rule = Table(
    "split_rule",
    METADATA,
    Column("id", Integer, primary_key=True, doc="Always 1."),
    Column("seed", BigInteger, nullable=False),
    Column("train", Integer, nullable=False, doc="Percent of the groups."),
    Column("dev", Integer, nullable=False, doc="Percent of the groups."),
    Column("test", Integer, nullable=False, doc="Percent of the groups; the three make 100."),
    Column("made_by", StoredText, nullable=False),
    Column("created_at", UTCDateTime, nullable=False),
    comment="How conversations are split into train, dev and test. One row, made once.",
)

test_opening = Table(
    "test_opening",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("command", StoredText, nullable=False, doc="Which one showed them."),
    Column("runs", JSON_OR_NULL, nullable=False, doc="Of which runs."),
    Column("opened_by", StoredText, nullable=False),
    Column("created_at", UTCDateTime, nullable=False),
    comment="Somebody looked at figures of the test part. Only ever appended.",
)

deletion = Table(
    "deletion",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("kind", StoredText, nullable=False, doc="`dataset`, `import`, `person` or `run`."),
    Column(
        "deleted_by",
        StoredText,
        nullable=False,
        doc="Who did it; `(deleted)` when that annotator was deleted since.",
    ),
    Column(
        "counts",
        JSON_OR_NULL,
        nullable=False,
        doc="How many rows of each kind went, or were changed.",
    ),
    Column("created_at", UTCDateTime, nullable=False),
    comment="Something was deleted on purpose. Only ever appended; nothing here says what it was.",
)

example_set = Table(
    "example_set",
    METADATA,
    Column("digest", StoredText, primary_key=True, doc="Hash of the examples; runs name it."),
    Column("examples", JSON_OR_NULL, nullable=False, doc="In order, each as in its file."),
    Column("created_at", UTCDateTime, nullable=False),
    comment="Examples that runs show to their judge; kept once however many runs do.",
)

prompt_set = Table(
    "prompt_set",
    METADATA,
    Column(
        "digest",
        StoredText,
        primary_key=True,
        doc="Hash of the texts and the version; runs name it.",
    ),
    Column("metric", StoredText, nullable=False),
    Column(
        "version",
        Integer,
        nullable=False,
        doc="How questions are put beside the texts: how much of a history is shown.",
    ),
    Column(
        "texts",
        JSON_OR_NULL,
        nullable=False,
        doc="By step, with their holes and without examples.",
    ),
    Column("created_at", UTCDateTime, nullable=False),
    comment="Prompt texts of runs, word for word; kept once however many runs send them.",
)

search_conversation = table("search_conversation", column("rowid"), column("text"))
"""Words of a conversation: its key and its messages; `rowid` is its id."""
search_claim = table("search_claim", column("rowid"), column("text"))
"""Words of a claim, of a whole answer those of its turn; `rowid` has the id of its conversation in
the upper and its own in the lower 32 bits, so that neither has to be looked up."""
search_document = table("search_document", column("rowid"), column("text"))
"""Words of a document; `rowid` is its id. The three are full-text indexes of SQLite: they hold no
texts, only where words stand, and are made anew where something is deleted."""
