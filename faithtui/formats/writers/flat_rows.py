"""Claims and labels as flat rows: one per claim, or one per claim and annotator.

Each row stands alone: it names its conversation, claim, run and judge by ids that hold in every
store, and has the passages and the metadata with it. docs/exports.md lists the columns.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple, TypeAlias

from faithtui.domain.exported_conversation import (
    ExportClaim,
    ExportConversation,
    ExportLabel,
    ExportPassage,
    ExportRun,
    ExportTurn,
    make_stable_uuid,
)
from faithtui.formats.writers.trace_ids import TraceIds, find_trace_ids
from faithtui.formats.writers.window_states import list_repeats, list_window_states

Kind: TypeAlias = Literal[
    "text", "integer", "number", "flag", "time", "json", "passages", "evidence", "labels", "marks"
]

Row: TypeAlias = tuple[object, ...]
"""Values in the order of the columns: texts, numbers, flags, aware times, None, lists, objects."""


class FlatColumn(NamedTuple):
    """A column of a flat file."""

    name: str
    kind: Kind
    meaning: str
    is_shared: bool = False
    """The same value stands in many rows of a conversation."""


_OF_CONVERSATION: Final = (
    FlatColumn("conversation_id", "text", "id of the conversation"),
    FlatColumn("source", "text", "its data set"),
    FlatColumn("conversation", "text", "its own id in the data set"),
    FlatColumn("group", "text", "what must stay together in intervals and splits"),
    FlatColumn("turn_id", "text", "id of the turn"),
    FlatColumn("turn", "integer", "position of the turn, from 0"),
    FlatColumn("trace_id", "text", "id of the answer's trace where it came from"),
    FlatColumn("span_id", "text", "id of its span, observation or run there"),
    FlatColumn("session_id", "text", "id of the session or thread there"),
    FlatColumn("message_id", "text", "id of the message there"),
)

_OF_CLAIM: Final = (
    FlatColumn("claim_id", "text", "id of the claim"),
    FlatColumn("kind", "text", "`claim`, `statement` (of a document) or `answer` (a whole one)"),
    FlatColumn("claim", "text", "what was judged"),
    FlatColumn("span_start", "integer", "where the claim begins in the answer, in characters"),
    FlatColumn("span_end", "integer", "the character after its last"),
    FlatColumn("document", "text", "hash of the document that a statement belongs to"),
)

_OF_SAMPLE: Final = (
    FlatColumn("sample", "text", "name of the sample that the claim was drawn in"),
    FlatColumn("stratum", "text", "its stratum in that sample"),
    FlatColumn("probability", "number", "its inclusion probability in that sample"),
    FlatColumn("weight", "number", "how many claims it stands for: 1 / probability"),
)

CLAIM_COLUMNS: Final = (
    *_OF_CONVERSATION,
    *_OF_CLAIM,
    FlatColumn(
        "messages",
        "json",
        "all messages of the conversation: `role`, `content`, `documents` (hashes) of each, and "
        "their `sources` where they have any",
        is_shared=True,
    ),
    FlatColumn("question", "text", "the user's message before the answer", is_shared=True),
    FlatColumn("answer", "text", "the turn that makes the claim", is_shared=True),
    FlatColumn(
        "passages",
        "passages",
        "what the claim was judged against: `document` (hash), `text`, `source` of each",
        is_shared=True,
    ),
    FlatColumn("run_id", "text", "id of the run"),
    FlatColumn("run", "integer", "its number in the store"),
    FlatColumn("metric", "text", "key of the metric"),
    FlatColumn("judge", "text", "name of the judge"),
    FlatColumn("model", "text", "the judge as it was asked for, such as `openai:gpt-6-luna`"),
    FlatColumn("prompts", "text", "digest of the judge's prompts"),
    FlatColumn(
        "options", "json", "options of the run's metric, such as `window_size`", is_shared=True
    ),
    FlatColumn("judge_call", "text", "key of the stored reply that gave the verdict"),
    FlatColumn(
        "judged", "flag", "whether the run judged the claim; else it is here for its labels"
    ),
    FlatColumn("window", "integer", "first window that holds the claim, from 0"),
    FlatColumn(
        "repeats",
        "json",
        "later windows that hold it too: `window`, and `verdict`, `word`, `reason` where any of "
        "them is not that of the first",
    ),
    FlatColumn("verdict", "text", "the judge's label; none: it gave no readable one"),
    FlatColumn("word", "text", "what the judge wrote, letter for letter"),
    FlatColumn("reason", "text", "the judge's reason"),
    FlatColumn(
        "confidence", "number", "probability that the claim is supported, where the judge says"
    ),
    FlatColumn("judged_at", "time", "when its window was judged"),
    FlatColumn(
        "evidence",
        "evidence",
        "truths that the judge named: `truth`, `stance`, `document` (hash) of each",
    ),
    FlatColumn("human", "text", "consensus of the annotators in the run's words; none in a tie"),
    FlatColumn("tied", "flag", "as many annotators say one label as another"),
    FlatColumn("annotators", "integer", "how many gave a label that counts"),
    FlatColumn(
        "labels",
        "labels",
        "every annotator's label, note and marked evidence; the fields are columns of the labels",
    ),
    *_OF_SAMPLE,
    FlatColumn(
        "window_states",
        "json",
        "windows of the conversation that have no claim, or no score of their claims: `window`, "
        "`state`, `reason` of each",
        is_shared=True,
    ),
    FlatColumn("metadata", "json", "metadata of the conversation", is_shared=True),
)
"""Of a file of claims."""

LABEL_FIELDS: Final = (
    FlatColumn("label_id", "text", "id of the label event"),
    FlatColumn("annotator", "text", "who"),
    FlatColumn("label", "text", "the label; `x`: not a fair claim; none: a note or marks alone"),
    FlatColumn(
        "action", "text", "how it was given: `blind`, `agreed`, `overridden`, `imported`, …"
    ),
    FlatColumn(
        "counted",
        "flag",
        "whether it is a verdict of its own, not given in bulk or accepted unread; figures of a "
        "blind sample take those of them that did not see the judge (`saw_judge`), and no figure "
        "one given on a shown verdict that has changed since (`judge_verdict` is not `verdict`)",
    ),
    FlatColumn("note", "text", "the annotator's note"),
    FlatColumn("code", "text", "reason code: the stage that failed"),
    FlatColumn("at", "time", "when it was given"),
    FlatColumn("seconds", "number", "how long it took"),
    FlatColumn("saw_judge", "flag", "whether the annotator knew the judge's verdict"),
    FlatColumn("judge_verdict", "text", "the judge's verdict at that time"),
    FlatColumn("guideline", "text", "digest of the guideline in force"),
    FlatColumn("served_stratum", "text", "stratum of the sample it was served from"),
    FlatColumn("served_probability", "number", "inclusion probability in that sample"),
    FlatColumn("flagged", "flag", "flagged to be talked about"),
    FlatColumn("unsure", "flag", "given with low confidence"),
    FlatColumn("marks", "marks", "marked evidence: `document`, `start`, `end`, `text` of each"),
    FlatColumn("scale", "text", "scale of a label that came with the data"),
    FlatColumn("raw_label", "text", "its word there"),
    FlatColumn(
        "declared",
        "text",
        "`missed`: the judge did not extract this claim; `complete`: all claims of the answer are "
        "known; else none",
    ),
)
"""What is written of one label."""

LABEL_COLUMNS: Final = (
    *_OF_CONVERSATION,
    *_OF_CLAIM,
    *LABEL_FIELDS,
    FlatColumn("run_id", "text", "id of the run that the export is of"),
    FlatColumn("metric", "text", "key of its metric"),
    FlatColumn("judge", "text", "name of its judge"),
    FlatColumn("verdict", "text", "the judge's label of the claim in that run"),
    *_OF_SAMPLE,
    FlatColumn("metadata", "json", "metadata of the conversation", is_shared=True),
)
"""Of a file of labels."""

PASSAGE_FIELDS: Final = ("document", "text", "source")
EVIDENCE_FIELDS: Final = ("truth", "stance", "document")
MARK_FIELDS: Final = ("document", "start", "end", "text")


def make_claim_rows(run: ExportRun, conversation: ExportConversation) -> Iterator[Row]:
    """Make the rows of the claims of a conversation, in the order of `CLAIM_COLUMNS`."""
    passages: dict[tuple[ExportPassage, ...], list[dict[str, object]]] = {}
    questions = _list_question_before_each_turn(conversation)
    messages = [_make_message(each) for each in conversation.turns]
    names = _TurnNames(conversation)
    of_run = (run.id, run.number, run.metric, run.judge, run.model, run.prompts, run.options)
    states = list_window_states(conversation)
    for claim in conversation.claims:
        shown = passages.get(claim.passages)
        if shown is None:
            shown = passages[claim.passages] = [each._asdict() for each in claim.passages]
        yield (
            *names.make_conversation_and_turn_id_cells(claim.turn),
            *_make_claim_cells(claim),
            messages,
            questions[claim.turn],
            conversation.turns[claim.turn].content,
            shown,
            *of_run,
            claim.judge_call,
            claim.judged,
            claim.window,
            list_repeats(claim),
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
            *_make_sampling_cells(run, claim),
            states,
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
                *names.make_conversation_and_turn_id_cells(claim.turn),
                *_make_claim_cells(claim),
                *_make_label_cells(label),
                run.id,
                run.metric,
                run.judge,
                claim.verdict,
                *_make_sampling_cells(run, claim),
                conversation.metadata,
            )


def make_label_fields(label: ExportLabel) -> dict[str, object]:
    """Describe a label, by the names of `LABEL_FIELDS`; the time as text."""
    cells = dict(zip(_LABEL_NAMES, _make_label_cells(label), strict=True))
    cells["at"] = None if label.at is None else format_utc_time(label.at)
    return cells


_LABEL_NAMES: Final = tuple(each.name for each in LABEL_FIELDS)


def format_utc_time(moment: datetime) -> str:
    """Write a time in UTC, to the microsecond."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class _TurnNames:
    """The cells that name a turn, made once for each."""

    def __init__(self, conversation: ExportConversation) -> None:
        self._conversation = conversation
        self._cells: dict[int, Row] = {}

    def make_conversation_and_turn_id_cells(self, turn: int) -> Row:
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
                make_stable_uuid("turn", of.source, of.key, turn),
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


def _make_sampling_cells(run: ExportRun, claim: ExportClaim) -> Row:
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
        label.declared,
    )


def _list_question_before_each_turn(conversation: ExportConversation) -> Sequence[str | None]:
    """Give the last message of the user before each turn; None where there is none."""
    found: list[str | None] = []
    last: str | None = None
    for turn in conversation.turns:
        found.append(last)
        if turn.role == "user":
            last = turn.content
    return found
