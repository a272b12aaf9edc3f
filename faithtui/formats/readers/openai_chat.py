"""OpenAI chat: `{"messages": [...]}` a record, as fine-tuning files and chat logs have them."""

from collections.abc import Iterator
from typing import Final

from faithtui.formats.files.record_files import Sample
from faithtui.formats.image_reader import ImageCollector
from faithtui.formats.readers.protocol import ReadOptions, RecordReader
from faithtui.formats.readers.question_rows import CONTEXTS, ID, KNOWN
from faithtui.formats.readers.values.cells import parse_list_or_object_cell
from faithtui.formats.readers.values.conversation_draft import (
    ConversationDraft,
    keep_unread_fields_in_draft,
)
from faithtui.formats.readers.values.key_spellings import (
    AnySpelling,
    has_any_key,
    normalise_key_spelling,
)
from faithtui.formats.readers.values.messages import MessageReader, looks_like_messages
from faithtui.formats.readers.values.passages import read_tool_output_as_passages

MESSAGES: Final = ("messages", "conversation", "conversations", "dialogue", "dialog", "chat")
_KNOWN: Final = KNOWN | frozenset(
    map(
        normalise_key_spelling,
        ("tools", "functions", "temperature", "parallel_tool_calls", "created", "object"),
    )
)
_OF_OTHER_TOOLS: Final = ("run_type", "observations", "attributes", "turns", "claim_id")


def _explain_match(sample: Sample) -> str | None:
    for record in sample.records:
        fields = AnySpelling(record)
        found = fields.read_first_value(*MESSAGES)
        if isinstance(found, str) and sample.is_table:
            found = (
                parse_list_or_object_cell(found, "messages")
                if found.lstrip().startswith("[")
                else found
            )
        if looks_like_messages(found) and not has_any_key(record, *_OF_OTHER_TOOLS):
            return f"`{fields.get_key_spelling(*MESSAGES)}` is a list of chat messages"
    return None


def _convert_message_list(
    fields: AnySpelling, options: ReadOptions, collector: ImageCollector
) -> Iterator[ConversationDraft]:
    messages = parse_list_or_object_cell(
        fields.read_first_value(*MESSAGES), fields.get_key_spelling(*MESSAGES)
    )
    if not isinstance(messages, list):
        raise fields.make_error(MESSAGES, messages, "a list of messages")
    draft = ConversationDraft(
        key=fields.read_text(*ID, "conversation_id", "thread_id", "session_id")
    )
    MessageReader(draft, collector, options.notes.unknown_keys).add_messages_to_draft(
        messages, fields.get_key_spelling(*MESSAGES)
    )
    choices = fields.read_first_value("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        MessageReader(draft, collector, options.notes.unknown_keys).add_messages_to_draft(
            [choices[0].get("message")], "choices[0].message"
        )
    given = fields.read_first_value(*CONTEXTS)
    answer = draft.last_answer_position
    if given is not None and answer is not None:
        draft.turns[answer].add_passages(read_tool_output_as_passages(given, None))
    keep_unread_fields_in_draft(
        draft, fields.get_unread_fields(), _KNOWN, options.notes.unknown_keys
    )
    yield draft


READER = RecordReader(
    "openai-chat", "chat messages, as OpenAI has them", _explain_match, _convert_message_list
)
