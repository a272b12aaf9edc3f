"""ragas: rows of one interaction, and conversations as lists of messages.

Source: ragas 0.4.3, `dataset_schema.py`, `SingleTurnSample` and `MultiTurnSample`.
"""

from collections.abc import Iterator
from typing import Final

from faithtui.formats.files.record_files import Sample
from faithtui.formats.image_reader import ImageCollector
from faithtui.formats.readers.faithtui_results import list_objects_or_empty, restore_exported_answer
from faithtui.formats.readers.protocol import ReadOptions, RecordReader
from faithtui.formats.readers.question_rows import (
    KNOWN,
    RowNames,
    find_question_and_answer_keys,
    make_conversation_draft,
)
from faithtui.formats.readers.values.cells import (
    parse_list_or_object_cell,
    parse_list_or_object_or_keep_text,
)
from faithtui.formats.readers.values.conversation_draft import (
    ConversationDraft,
    keep_unread_fields_in_draft,
)
from faithtui.formats.readers.values.key_spellings import (
    AnySpelling,
    has_any_key,
    has_keys,
    normalise_key_spelling,
)
from faithtui.formats.readers.values.messages import MessageReader, looks_like_messages
from faithtui.formats.writers.answer_results import OWN_KEY

_KNOWN: Final = KNOWN | frozenset(
    map(
        normalise_key_spelling,
        ("multi_responses", "rubrics", "reference_tool_calls", "reference_topics", "persona_name"),
    )
)
_ROW: Final = RowNames(
    question=("user_input",),
    answer=("response",),
    contexts=("retrieved_contexts",),
    known=_KNOWN,
)


_TELLING: Final = ("response", "retrieved_contexts", "reference")
"""Columns of ragas beside `user_input`, any of which makes a row one of its."""


def _is_multi_turn_sample(record: dict[str, object]) -> bool:
    return looks_like_messages(
        parse_list_or_object_or_keep_text(AnySpelling(record).read_first_value("user_input"))
    )


def _explain_rows_match(sample: Sample) -> str | None:
    if _has_answers_under_other_names_alone(sample):
        return None
    for record in sample.records:
        if has_keys(record, "user_input") and not _is_multi_turn_sample(record):
            found = [name for name in _TELLING if has_any_key(record, name)]
            if found:
                named = ", ".join(f"`{name}`" for name in ("user_input", *found))
                return f"rows with ragas's names {named}"
            return None
    return None


def _has_answers_under_other_names_alone(sample: Sample) -> bool:
    """Say whether the answers of rows are under another name than ragas has for them."""
    has_response = any(has_any_key(each, "response") for each in sample.records)
    return not has_response and find_question_and_answer_keys(sample) is not None


def _explain_conversations_match(sample: Sample) -> str | None:
    if any(_is_multi_turn_sample(each) for each in sample.records):
        return "`user_input` is a list of messages, as in ragas's multi-turn samples"
    return None


def _convert_row(
    fields: AnySpelling, options: ReadOptions, collector: ImageCollector
) -> Iterator[ConversationDraft]:
    own = list_objects_or_empty(fields.read_first_value(OWN_KEY))
    metadata = fields.read_first_value("metadata") if own else None
    for name in ("annotations", "ids", *(str(each.get("metric")) for each in own)) if own else ():
        fields.read_first_value(name)  # what `own` says in full
    draft = make_conversation_draft(fields, _ROW, options, collector)
    restore_exported_answer(draft, own, metadata)
    yield draft


def _convert_conversation(
    fields: AnySpelling, options: ReadOptions, collector: ImageCollector
) -> Iterator[ConversationDraft]:
    messages = parse_list_or_object_cell(fields.read_first_value("user_input"), "user_input")
    if not isinstance(messages, list):
        raise fields.make_error(("user_input",), messages, "a list of messages")
    draft = ConversationDraft(key=fields.read_text(*_ROW.identity))
    MessageReader(draft, collector, options.notes.unknown_keys).add_messages_to_draft(
        messages, "user_input"
    )
    keep_unread_fields_in_draft(
        draft, fields.get_unread_fields(), _KNOWN, options.notes.unknown_keys
    )
    yield draft


ROWS = RecordReader("ragas", "ragas rows (single-turn samples)", _explain_rows_match, _convert_row)
CONVERSATIONS = RecordReader(
    "ragas-multi-turn",
    "ragas multi-turn samples",
    _explain_conversations_match,
    _convert_conversation,
)
