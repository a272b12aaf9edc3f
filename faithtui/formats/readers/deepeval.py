"""deepeval: conversational test cases and goldens, and goldens of single exchanges.

A conversational case is nearly faithtui's own shape, so it is brought into that and read by its
reader. Both spellings of every key are read, and mixed ones; `turns` may be JSON in a string.

Source: deepeval 4.3.1, `test_case/conversational_test_case.py`, `dataset/golden.py`,
`dataset/utils.py` (lists joined with `|` in CSV).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from faithtui.errors import InputError
from faithtui.formats.files.record_files import FileRecord, Sample
from faithtui.formats.image_reader import ImageCollector
from faithtui.formats.readers.conversation_json import conversation_from_json
from faithtui.formats.readers.protocol import (
    UNREADABLE,
    ParsedRecord,
    ReadOptions,
    RecordReader,
    add_warnings_on_broken_lists,
    make_parsed_record,
    make_refused_record,
)
from faithtui.formats.readers.question_rows import ID, KNOWN, RowNames, make_conversation_draft
from faithtui.formats.readers.values.cells import find_broken_list, parse_list_or_object_cell
from faithtui.formats.readers.values.conversation_draft import PER_TURN, ConversationDraft
from faithtui.formats.readers.values.key_spellings import (
    AnySpelling,
    ShapeError,
    has_any_key,
    has_keys,
    normalise_key_spelling,
)
from faithtui.formats.readers.values.messages import list_unknown_message_keys
from faithtui.formats.readers.values.passages import read_tool_output_as_passages

CASE_KEYS: Final = (
    "scenario",
    "expected_outcome",
    "user_description",
    "chatbot_role",
    "additional_metadata",
    "custom_column_key_values",
    "expectations",
    "mcp_servers",
)
"""Keys that a conversational case has and faithtui's own shape does not."""

METRICS: Final = "metrics_data"
"""What metrics said of a case, in a finished run."""

_TURN_KEYS: Final = ("tools_called", "mcp_tools_called", "user_id")
_NEUTRAL_KEYS: Final = ("human_labels", "reference_judges")
KNOWN_CASE: Final = frozenset(
    map(
        normalise_key_spelling,
        (
            *CASE_KEYS,
            "name",
            "comments",
            "context",
            "tags",
            "context_",
            "voice",
            "multimodal",
            "flaky",
            "images_mapping",
            "retrieval_context",
            "expected_output",
            "source_file",
            "images",
            "token_cost",
            "completion_time",
        ),
    )
)
_GOLDEN: Final = RowNames(
    question=("input",),
    answer=("actual_output",),
    contexts=("retrieval_context",),
    identity=ID,
    joined_by="|",
    known=KNOWN
    | KNOWN_CASE
    | frozenset(map(normalise_key_spelling, ("tools_called", "expected_tools"))),
)


def is_finished_case(record: dict[str, object]) -> bool:
    """Say whether a record is a case of a finished test run."""
    return has_any_key(record, METRICS) and has_any_key(record, "actual_output", "turns")


def _explain_conversations_match(sample: Sample) -> str | None:
    if any(map(is_finished_case, sample.records)):
        return None
    for record in sample.records:
        if not has_keys(record, "turns") or has_any_key(record, *_NEUTRAL_KEYS):
            continue
        turns = AnySpelling(record).read_first_value("turns")
        if has_any_key(record, *CASE_KEYS):
            named = next(each for each in CASE_KEYS if has_any_key(record, each))
            return f"`turns` beside deepeval's `{AnySpelling(record).get_key_spelling(named)}`"
        # Another text is a bad line of any format, which is reported.
        if isinstance(turns, str) and turns.lstrip().startswith("["):
            return "`turns` is a string with JSON in it, as deepeval saves goldens"
        if isinstance(turns, list) and any(has_any_key(each, *_TURN_KEYS) for each in turns):
            return "`turns` with deepeval's keys in them"
    return None


def convert_conversational_case(
    value: dict[str, object], options: ReadOptions, broken_lists: list[ShapeError]
) -> dict[str, object]:
    """Bring a conversational case into faithtui's own shape.

    Args:
        value: The case.
        options: Its notes are filled.
        broken_lists: Gets an error for each text that begins as a list and was taken as text.

    Raises:
        ShapeError: `turns` is no list, or a turn no object.
    """
    fields = AnySpelling(value)
    turns = parse_list_or_object_cell(fields.read_first_value("turns"), "turns")
    if not isinstance(turns, list):
        raise fields.make_error(("turns",), turns, "a list of turns")
    details: dict[str, object] = {}
    normalised = []
    for place, turn in enumerate(turns):
        if not isinstance(turn, dict):
            normalised.append(turn)
            continue
        where = f"turns[{place}]"
        normal, rest = _normalise_turn(AnySpelling(turn, where), broken_lists)
        options.notes.unknown_keys.update(list_unknown_message_keys(rest, where))
        normalised.append(normal)
        if rest:
            details[str(place)] = rest
    case: dict[str, object] = {"turns": normalised}
    number = fields.read_first_value(*ID)
    if number not in (None, ""):
        case["id"] = number
    metadata = fields.read_first_value("metadata")
    if isinstance(metadata, str):
        text, metadata = metadata, parse_list_or_object_cell(metadata, "metadata")
        if isinstance(metadata, str):  # it is no object, and kept as it stands
            metadata = {"metadata": text}
            broken = find_broken_list(text, "metadata")
            broken_lists += [broken] if broken else []
    if isinstance(metadata, dict) or details:
        known = metadata if isinstance(metadata, dict) else {}
        case["metadata"] = {**known, **({PER_TURN: details} if details else {})}
    for name in _NEUTRAL_KEYS:
        if (given := fields.read_first_value(name)) is not None:
            case[name] = given
    rest = fields.get_unread_fields()
    for key in rest:
        if normalise_key_spelling(key) not in KNOWN_CASE:
            options.notes.unknown_keys[key] += 1
    return {**rest, **case}


def _normalise_turn(
    fields: AnySpelling, broken_lists: list[ShapeError]
) -> tuple[dict[str, object], dict[str, object]]:
    normal: dict[str, object] = {}
    for name in ("role", "content", "images"):
        if (found := fields.read_first_value(name)) is not None:
            normal[name] = found
    context = fields.read_first_value("retrieval_context", "context")
    if isinstance(context, str):
        where = f"{fields.where}.retrieval_context"
        context = parse_list_or_object_cell(context, where)
        broken = find_broken_list(context, where)
        broken_lists += [broken] if broken else []
        context = [context] if isinstance(context, str) else context
    calls = fields.read_first_value("tools_called")
    if isinstance(calls, list):
        outputs = [
            {"text": document.text, **({"source": document.source} if document.source else {})}
            for call in calls
            if isinstance(call, dict)
            for document in read_tool_output_as_passages(
                call.get("output"), _get_tool_name(call)
            ).documents
        ]
        if outputs:
            context = [*(context if isinstance(context, list) else []), *outputs]
    if context is not None:
        normal["retrieval_context"] = context
    normal.setdefault("content", "")
    rest = fields.get_unread_fields()
    return normal, {**rest, **({"tools_called": calls} if calls else {})}


def _get_tool_name(call: dict[str, object]) -> str | None:
    name = call.get("name")
    return name if isinstance(name, str) else None


@dataclass(frozen=True, slots=True)
class ConversationReader:
    """Conversational test cases and goldens."""

    name: str = "deepeval"
    title: str = "deepeval conversational test cases and goldens"

    def explain_match(self, sample: Sample) -> str | None:
        """See `FormatReader`."""
        return _explain_conversations_match(sample)

    def read(self, records: Iterable[FileRecord], options: ReadOptions) -> Iterator[ParsedRecord]:
        """See `FormatReader`."""
        for each in records:
            if isinstance(each.found, InputError):
                yield make_parsed_record(each, each.found)
                continue
            broken_lists: list[ShapeError] = []
            try:
                case = convert_conversational_case(each.found, options, broken_lists)
                read = conversation_from_json(
                    case, source=options.source, path=each.path, line=each.line, record=each.record
                )
            except UNREADABLE as error:
                yield make_refused_record(each, error)
            else:
                add_warnings_on_broken_lists(options.notes, each, broken_lists)
                yield make_parsed_record(each, read.conversation, read.images)


def _explain_goldens_match(sample: Sample) -> str | None:
    if any(map(is_finished_case, sample.records)):
        return None
    if any(has_keys(each, "input", "actual_output") for each in sample.records):
        fields = AnySpelling(sample.records[0])
        return f"rows with deepeval's `input` and `{fields.get_key_spelling('actual_output')}`"
    return None


def _convert_golden(
    fields: AnySpelling, options: ReadOptions, collector: ImageCollector
) -> Iterator[ConversationDraft]:
    draft = make_conversation_draft(fields, _GOLDEN, options, collector)
    calls = draft.metadata.get("tools_called") or draft.metadata.get("toolsCalled")
    answer = draft.last_answer_position
    if isinstance(calls, list) and answer is not None:
        for call in calls:
            if isinstance(call, dict) and call.get("output") is not None:
                draft.turns[answer].add_passages(
                    read_tool_output_as_passages(call["output"], _get_tool_name(call))
                )
    yield draft


CONVERSATIONS = ConversationReader()
GOLDENS = RecordReader(
    "deepeval-goldens",
    "deepeval goldens and test cases of single exchanges",
    _explain_goldens_match,
    _convert_golden,
)
