"""Rows of a question, an answer and what was retrieved: one interaction each.

The shape most data sets have, under many names. ragas, deepeval and LlamaIndex write it with names
of their own, and their readers use what is here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from faithtui.domain.labels.imported_verdicts import ImportedVerdict
from faithtui.formats.files.record_files import Sample
from faithtui.formats.image_reader import ImageCollector
from faithtui.formats.readers.protocol import ReadOptions, RecordReader
from faithtui.formats.readers.values.cells import (
    find_broken_list,
    parse_list_or_object_cell,
    parse_list_or_object_or_keep_text,
)
from faithtui.formats.readers.values.conversation_draft import (
    ConversationDraft,
    keep_unread_fields_in_draft,
)
from faithtui.formats.readers.values.key_spellings import (
    AnySpelling,
    ShapeError,
    has_any_key,
    has_keys,
    normalise_key_spelling,
)
from faithtui.formats.readers.values.messages import (
    MessageReader,
    looks_like_messages,
    read_chat_history_as_messages,
)
from faithtui.formats.readers.values.passages import parse_passages_in_text, read_passage_list

QUESTION: Final = (
    "question",
    "query",
    "user_input",
    "input",
    "prompt",
    "user_query",
    "user_question",
    "user",
    "instruction",
    "request",
    "q",
)
ANSWER: Final = (
    "answer",
    "response",
    "actual_output",
    "output",
    "generated_answer",
    "generation",
    "prediction",
    "completion",
    "reply",
    "model_answer",
    "model_output",
    "model_response",
    "llm_output",
    "generated_text",
    "assistant",
    "a",
)
CONTEXTS: Final = (
    "contexts",
    "retrieved_contexts",
    "retrieval_context",
    "context",
    "passages",
    "documents",
    "retrieved_documents",
    "retrieved_passages",
    "source_documents",
    "retrieved_docs",
    "chunks",
    "docs",
    "evidence",
    "knowledge",
    "source_nodes",
)
ID: Final = (
    "id",
    "row_id",
    "sample_id",
    "example_id",
    "question_id",
    "query_id",
    "qid",
    "task_id",
    "uid",
    "uuid",
    "_id",
)
HISTORY: Final = ("chat_history", "history", "conversation_history", "previous_messages")
LABEL: Final = ("label", "human_label", "human_verdict", "gold_label", "annotation")
ANNOTATOR: Final = ("annotator", "annotator_id", "reviewer", "labeller", "labeler", "rater")
NOTE: Final = ("note", "label_note", "human_note")
SCORE: Final = ("faithfulness", "faithfulness_score", "groundedness", "groundedness_score")
JUDGE: Final = ("judge", "judge_model", "evaluation_model", "evaluator")
REASON: Final = ("faithfulness_reason", "judge_reason")

KNOWN: Final = frozenset(
    map(
        normalise_key_spelling,
        (
            "reference",
            "ground_truth",
            "ground_truths",
            "expected_output",
            "expected_answer",
            "reference_answer",
            "reference_contexts",
            "retrieved_context_ids",
            "reference_context_ids",
            "model",
            "tags",
            "metadata",
            "domain",
            "language",
            "topic",
            "trace_id",
            "span_id",
            "run_id",
            "session_id",
            "message_id",
            "conversation_id",
            "group",
            "timestamp",
            "created_at",
            "latency",
            "cost",
            "split",
        ),
    )
)
"""Columns that are kept and mean nothing to a metric."""


_MAPPED: Final = ("retrieval_context", "contexts")
"""Names of passages that a column of any format can be mapped to."""


@dataclass(frozen=True, slots=True)
class RowNames:
    """Under which names a format has the parts of a row."""

    question: tuple[str, ...] = QUESTION
    answer: tuple[str, ...] = ANSWER
    contexts: tuple[str, ...] = CONTEXTS
    identity: tuple[str, ...] = ID
    joined_by: str | None = None
    """What joins the passages of one cell; None: they are written as a list."""
    known: frozenset[str] = KNOWN

    def list_context_names(self, options: ReadOptions) -> tuple[str, ...]:
        """List names of the passages: the format's, then those that `--map` gave to columns."""
        return (*self.contexts, *(each for each in _MAPPED if each in options.mapped_names))


def make_conversation_draft(
    fields: AnySpelling, names: RowNames, options: ReadOptions, collector: ImageCollector
) -> ConversationDraft:
    """Make a conversation of one interaction.

    Raises:
        ShapeError: A part of the row is of another type, or it has neither question nor answer.
    """
    draft = ConversationDraft(key=fields.read_text(*names.identity))
    reader = MessageReader(draft, collector, options.notes.unknown_keys)
    history = read_chat_history_as_messages(fields.read_first_value(*HISTORY))
    if history:
        reader.add_messages_to_draft(history, fields.get_key_spelling(*HISTORY))
    elif history is None:
        fields.mark_as_unread(*HISTORY)
    question = fields.read_first_value(*names.question)
    # A text is a text whatever it looks like, unless it holds whole messages.
    messages = parse_list_or_object_or_keep_text(question)
    if isinstance(messages, list) and looks_like_messages(messages):
        reader.add_messages_to_draft(messages, fields.get_key_spelling(*names.question))
    elif question is not None:
        draft.add_turn("user", _to_text(question, fields, names.question))
    where = fields.get_key_spelling(*names.list_context_names(options))
    given = _read_contexts(fields, names, options, where)
    draft.note_broken_list(given, where)
    answer = fields.read_first_value(*names.answer)
    if answer is not None:
        turn = draft.add_turn("assistant", _to_text(answer, fields, names.answer))
        if given is not None:
            turn.passages = read_passage_list(given, where)
    elif not draft.turns:
        raise ShapeError(
            "",
            f"has neither a question nor an answer (found {_format_names(fields)}); say which "
            "columns they are: `--map question=COLUMN --map answer=COLUMN`",
        )
    elif given is not None:
        draft.metadata["contexts_without_answer"] = given
    _add_human_or_judge_label(draft, fields, options)
    keep_unread_fields_in_draft(
        draft, fields.get_unread_fields(), names.known, options.notes.unknown_keys
    )
    conversation = draft.metadata.get("conversation_id")
    if conversation is not None:
        draft.metadata["conversation_id"] = str(conversation)
    return draft


def _read_contexts(
    fields: AnySpelling, names: RowNames, options: ReadOptions, where: str
) -> object:
    """Give what was retrieved as it stands; None where nobody knows."""
    context_names = names.list_context_names(options)
    given = fields.read_first_value(*context_names)
    if not options.sample.is_table:
        return parse_passages_in_text(given)
    if given is None:
        # Joined, an empty list is an empty cell; where other rows have passages it is one here.
        is_used = any(
            AnySpelling(each).read_first_value(*context_names) for each in options.sample.records
        )
        return [] if names.joined_by is not None and is_used else None
    if names.joined_by is None or str(given).lstrip().startswith("["):
        found = parse_list_or_object_cell(given, where)
    else:
        found = given
    if not isinstance(found, str) or names.joined_by is None or find_broken_list(found, where):
        return found
    return found.split(names.joined_by)


def _add_human_or_judge_label(
    draft: ConversationDraft, fields: AnySpelling, options: ReadOptions
) -> None:
    answer = draft.last_answer_position
    if answer is None:
        return
    name = fields.get_key_spelling(*LABEL)
    if fields.has_one_of_keys(*LABEL) and fields.has_one_of_keys(*ANNOTATOR):
        label = fields.read_first_value(*LABEL)
        annotator = fields.read_text(*ANNOTATOR)
        word = str(label).lower() if isinstance(label, bool) else str(label)
        if label is None or not word.strip() or not annotator or not annotator.strip():
            fields.mark_as_unread(*LABEL, *ANNOTATOR)
        else:
            draft.add_human_label(
                answer,
                annotator,
                options.choose_and_note_scale(name),
                word,
                note=fields.read_text(*NOTE),
            )
    score = _to_score(fields.read_first_value(*SCORE))
    if score is None:
        fields.mark_as_unread(*SCORE)
    else:
        judge = fields.read_text(*JUDGE)
        if judge is None or not judge.strip():
            judge = fields.get_key_spelling(*SCORE)
        draft.add_judge_verdict_on_answer(
            ImportedVerdict(judge, answer, score=score, reason=fields.read_if_text(*REASON))
        )


_IF_TABLE: Final = (
    '; if it is a table as pandas or datasets write it, write its rows: `to_json(orient="records")`'
)


def _to_score(value: object) -> float | None:
    """Read a score from 0 to 1; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        score = float(str(value))
    except ValueError:
        return None
    return score if 0 <= score <= 1 else None


def _to_text(value: object, row: AnySpelling, names: tuple[str, ...]) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, dict):
        inner = AnySpelling(value).read_if_text("content", "text", *QUESTION, *ANSWER)
        if inner is not None:
            return inner
    error = row.make_error(names, value, "a string")
    if all(type(each) is type(value) for each in row.value.values()):
        error = ShapeError(error.field, f"{error.reason}{_IF_TABLE}")
    raise error


def _format_names(fields: AnySpelling) -> str:
    names = [f"`{name[:40]}`" for name in list(fields.value)[:8]]
    return ", ".join(names) or "no key"


def find_question_and_answer_keys(sample: Sample) -> tuple[str, str] | None:
    """Give the names of question and answer in a sample; None where one is missing."""
    for record in sample.records:
        fields = AnySpelling(record)
        question = fields.get_key_spelling(*QUESTION)
        answer = fields.get_key_spelling(*ANSWER)
        if has_any_key(record, *QUESTION) and has_any_key(record, *ANSWER):
            return question, answer
    return None


_OF_OTHER_TOOLS: Final = (
    "observations",
    "run_type",
    "metric_input",
    "attributes",
    "invalid_result",
    "passing",
    "pairwise_source",
    "parent_observation_id",
    "completion_start_time",
    "usage_details",
)
"""Keys of rows that readers of their own know more about."""


def _explain_match(sample: Sample) -> str | None:
    names = find_question_and_answer_keys(sample)
    if names is None:
        return None
    first = sample.records[0]
    if has_any_key(first, "turns", "messages", *_OF_OTHER_TOOLS):
        return None
    if has_keys(first, "input", "actual_output"):
        return None  # a golden of deepeval
    if has_keys(first, "id", "timestamp") and has_any_key(first, "session_id", "release"):
        return None  # a trace of Langfuse
    fields = AnySpelling(first)
    if {normalise_key_spelling(names[0]), normalise_key_spelling(names[1])} == {
        "userinput",
        "response",
    }:
        return None
    contexts = f", `{fields.get_key_spelling(*CONTEXTS)}`" if has_any_key(first, *CONTEXTS) else ""
    return f"rows with `{names[0]}`, `{names[1]}`{contexts}"


def _convert_question_row(
    fields: AnySpelling, options: ReadOptions, collector: ImageCollector
) -> Iterator[ConversationDraft]:
    yield make_conversation_draft(fields, RowNames(), options, collector)


READER = RecordReader(
    "rows", "rows of question, answer and contexts", _explain_match, _convert_question_row
)
