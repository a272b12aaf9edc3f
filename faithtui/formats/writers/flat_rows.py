"""Claims and labels as flat rows: one per claim, or one per claim and annotator.

Each row stands alone: it names its conversation, claim, run and judge by ids that hold in every
store, and has the passages and the metadata with it. docs/exports.md lists the columns.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple, TypeAlias

from faithtui.domain.run_export import (
    ExportClaim,
    ExportConversation,
    ExportLabel,
    ExportPassage,
    ExportRun,
    ExportTurn,
    make_id,
)
from faithtui.formats.writers.trace_ids import TraceIds, find_trace_ids

Kind: TypeAlias = Literal[
    "text", "integer", "number", "flag", "time", "json", "passages", "evidence", "labels", "marks"
]

Row: TypeAlias = tuple[object, ...]
"""Values in the order of the columns: texts, numbers, flags, aware times, None, lists, objects."""


class Column(NamedTuple):
    """A column of a flat file."""

    name: str
    kind: Kind
    meaning: str
    is_shared: bool = False
    """The same value stands in many rows of a conversation."""


_OF_CONVERSATION: Final = (
    Column("conversation_id", "text", "id of the conversation"),
    Column("source", "text", "its data set"),
    Column("conversation", "text", "its own id in the data set"),
    Column("group", "text", "what must stay together in intervals and splits"),
    Column("turn_id", "text", "id of the turn"),
    Column("turn", "integer", "position of the turn, from 0"),
    Column("trace_id", "text", "id of the answer's trace where it came from"),
    Column("span_id", "text", "id of its span, observation or run there"),
    Column("session_id", "text", "id of the session or thread there"),
    Column("message_id", "text", "id of the message there"),
)

_OF_CLAIM: Final = (
    Column("claim_id", "text", "id of the claim"),
    Column("kind", "text", "`claim`, `statement` (of a document) or `answer` (a whole one)"),
    Column("claim", "text", "what was judged"),
    Column("span_start", "integer", "where the claim begins in the answer, in characters"),
    Column("span_end", "integer", "the character after its last"),
    Column("document", "text", "hash of the document that a statement belongs to"),
)

_OF_SAMPLE: Final = (
    Column("sample", "text", "name of the sample that the claim was drawn in"),
    Column("stratum", "text", "its stratum in that sample"),
    Column("probability", "number", "its inclusion probability in that sample"),
    Column("weight", "number", "how many claims it stands for: 1 / probability"),
)

CLAIM_COLUMNS: Final = (
    *_OF_CONVERSATION,
    *_OF_CLAIM,
    Column(
        "messages",
        "json",
        "all messages of the conversation: `role`, `content`, `documents` (hashes) of each, and "
        "their `sources` where they have any",
        is_shared=True,
    ),
    Column("question", "text", "the user's message before the answer", is_shared=True),
    Column("answer", "text", "the turn that makes the claim", is_shared=True),
    Column(
        "passages",
        "passages",
        "what the claim was judged against: `document` (hash), `text`, `source` of each",
        is_shared=True,
    ),
    Column("run_id", "text", "id of the run"),
    Column("run", "integer", "its number in the store"),
    Column("metric", "text", "key of the metric"),
    Column("judge", "text", "name of the judge"),
    Column("model", "text", "the judge as it was asked for, such as `openai:gpt-6-luna`"),
    Column("prompts", "text", "digest of the judge's prompts"),
    Column("judge_call", "text", "key of the stored reply that gave the verdict"),
    Column("judged", "flag", "whether the run judged the claim; else it is here for its labels"),
    Column("window", "integer", "first window that holds the claim, from 0"),
    Column("verdict", "text", "the judge's label; none: it gave no readable one"),
    Column("word", "text", "what the judge wrote, letter for letter"),
    Column("reason", "text", "the judge's reason"),
    Column("confidence", "number", "probability that the claim is supported, where the judge says"),
    Column("judged_at", "time", "when its window was judged"),
    Column(
        "evidence",
        "evidence",
        "truths that the judge named: `truth`, `stance`, `document` (hash) of each",
    ),
    Column("human", "text", "consensus of the annotators in the run's words; none in a tie"),
    Column("tied", "flag", "as many annotators say one label as another"),
    Column("annotators", "integer", "how many gave a label that counts"),
    Column(
        "labels",
        "labels",
        "every annotator's label, note and marked evidence; the fields are columns of the labels",
    ),
    *_OF_SAMPLE,
    Column("metadata", "json", "metadata of the conversation", is_shared=True),
)
"""Of a file of claims."""

LABEL_FIELDS: Final = (
    Column("label_id", "text", "id of the label event"),
    Column("annotator", "text", "who"),
    Column("label", "text", "the label; `x`: not a fair claim; none: a note or marks alone"),
    Column("action", "text", "how it was given: `blind`, `agreed`, `overridden`, `imported`, …"),
    Column("counted", "flag", "whether it enters agreement figures"),
    Column("note", "text", "the annotator's note"),
    Column("code", "text", "reason code: the stage that failed"),
    Column("at", "time", "when it was given"),
    Column("seconds", "number", "how long it took"),
    Column("saw_judge", "flag", "whether the annotator knew the judge's verdict"),
    Column("judge_verdict", "text", "the judge's verdict at that time"),
    Column("guideline", "text", "digest of the guideline in force"),
    Column("served_stratum", "text", "stratum of the sample it was served from"),
    Column("served_probability", "number", "inclusion probability in that sample"),
    Column("flagged", "flag", "flagged to be talked about"),
    Column("unsure", "flag", "given with low confidence"),
    Column("marks", "marks", "marked evidence: `document`, `start`, `end`, `text` of each"),
    Column("scale", "text", "scale of a label that came with the data"),
    Column("raw_label", "text", "its word there"),
)
"""What is told of one label."""

LABEL_COLUMNS: Final = (
    *_OF_CONVERSATION,
    *_OF_CLAIM,
    *LABEL_FIELDS,
    Column("run_id", "text", "id of the run that the export is of"),
    Column("metric", "text", "key of its metric"),
    Column("judge", "text", "name of its judge"),
    Column("verdict", "text", "the judge's label of the claim in that run"),
    *_OF_SAMPLE,
    Column("metadata", "json", "metadata of the conversation", is_shared=True),
)
"""Of a file of labels."""

PASSAGE_FIELDS: Final = ("document", "text", "source")
EVIDENCE_FIELDS: Final = ("truth", "stance", "document")
MARK_FIELDS: Final = ("document", "start", "end", "text")


def make_claim_rows(run: ExportRun, conversation: ExportConversation) -> Iterator[Row]:
    """Make the rows of the claims of a conversation, in the order of `CLAIM_COLUMNS`."""
    passages: dict[tuple[ExportPassage, ...], list[dict[str, object]]] = {}
    questions = _list_questions(conversation)
    messages = [_make_message(each) for each in conversation.turns]
    names = _TurnNames(conversation)
    of_run = (run.id, run.number, run.metric, run.judge, run.model, run.prompts)
    for claim in conversation.claims:
        shown = passages.get(claim.passages)
        if shown is None:
            shown = passages[claim.passages] = [each._asdict() for each in claim.passages]
        yield (
            *names.make_cells(claim.turn),
            *_make_claim_cells(claim),
            messages,
            questions[claim.turn],
            conversation.turns[claim.turn].content,
            shown,
            *of_run,
            claim.judge_call,
            claim.judged,
            claim.window,
            claim.verdict,
            claim.word,
            claim.reason,
            claim.confidence,
            claim.judged_at,
            [each._asdict() for each in claim.evidence],
            claim.human,
            claim.tied,
            sum(each.is_counted for each in claim.labels),
            [make_label_fields(each) for each in claim.labels],
            *_make_sample_cells(run, claim),
            conversation.metadata,
        )


def _make_message(turn: ExportTurn) -> dict[str, object]:
    message: dict[str, object] = {"role": turn.role, "content": turn.content, "documents": None}
    if turn.passages is not None:
        message["documents"] = [each.document for each in turn.passages]
        # A hash is that of the text, which may have come from several sources.
        if any(each.source is not None for each in turn.passages):
            message["sources"] = [each.source for each in turn.passages]
    return message


def make_label_rows(run: ExportRun, conversation: ExportConversation) -> Iterator[Row]:
    """Make the rows of the labels of a conversation, in the order of `LABEL_COLUMNS`."""
    names = _TurnNames(conversation)
    for claim in conversation.claims:
        for label in claim.labels:
            yield (
                *names.make_cells(claim.turn),
                *_make_claim_cells(claim),
                *_make_label_cells(label),
                run.id,
                run.metric,
                run.judge,
                claim.verdict,
                *_make_sample_cells(run, claim),
                conversation.metadata,
            )


def make_label_fields(label: ExportLabel) -> dict[str, object]:
    """Describe a label, by the names of `LABEL_FIELDS`; the time as text."""
    cells = dict(zip(_LABEL_NAMES, _make_label_cells(label), strict=True))
    cells["at"] = None if label.at is None else format_time(label.at)
    return cells


_LABEL_NAMES: Final = tuple(each.name for each in LABEL_FIELDS)


def format_time(moment: datetime) -> str:
    """Write a time in UTC, to the microsecond."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class _TurnNames:
    """The cells that name a turn, made once for each."""

    def __init__(self, conversation: ExportConversation) -> None:
        self._conversation = conversation
        self._cells: dict[int, Row] = {}

    def make_cells(self, turn: int) -> Row:
        """Make the cells of `_OF_CONVERSATION`."""
        found = self._cells.get(turn)
        if found is None:
            of = self._conversation
            ids: TraceIds = find_trace_ids(of, turn)
            found = self._cells[turn] = (
                of.id,
                of.source,
                of.key,
                of.group,
                make_id("turn", of.source, of.key, turn),
                turn,
                ids.trace,
                ids.span,
                ids.session,
                ids.message,
            )
        return found


def _make_claim_cells(claim: ExportClaim) -> Row:
    start, end = claim.span or (None, None)
    return (claim.id, claim.kind, claim.text, start, end, claim.document)


def _make_sample_cells(run: ExportRun, claim: ExportClaim) -> Row:
    if claim.probability is None:
        return (None, None, None, None)
    return (run.sample, claim.stratum, claim.probability, 1 / claim.probability)


def _make_label_cells(label: ExportLabel) -> Row:
    return (
        label.id,
        label.annotator,
        label.label,
        None if label.action is None else label.action.value,
        label.is_counted,
        label.note,
        label.code,
        label.at,
        label.seconds,
        label.saw_judge,
        label.judge_verdict,
        label.guideline,
        label.stratum,
        label.probability,
        label.flagged,
        label.unsure,
        [each._asdict() for each in label.evidence],
        label.scale,
        label.raw_label,
    )


def _list_questions(conversation: ExportConversation) -> Sequence[str | None]:
    """Give the last message of the user before each turn; None where there is none."""
    found: list[str | None] = []
    last: str | None = None
    for turn in conversation.turns:
        found.append(last)
        if turn.role == "user":
            last = turn.content
    return found
