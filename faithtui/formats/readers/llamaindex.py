"""LlamaIndex: labelled RAG data sets, and results of its evaluators.

Source: llama-index-core 0.14, `llama_dataset/rag.py` and `evaluation/base.py`.
"""

from collections.abc import Iterator
from typing import Final

from faithtui.domain.labels.imported_verdicts import ImportedVerdict
from faithtui.formats.files.record_files import Sample
from faithtui.formats.image_reader import ImageCollector
from faithtui.formats.readers.faithtui_results import list_objects_or_empty, restore_exported_answer
from faithtui.formats.readers.protocol import ReadOptions, RecordReader, make_drafts
from faithtui.formats.readers.question_rows import ANSWER, RowNames, make_conversation_draft
from faithtui.formats.readers.values.cells import parse_list_or_object_cell
from faithtui.formats.readers.values.conversation_draft import (
    ConversationDraft,
    keep_unread_fields_in_draft,
)
from faithtui.formats.readers.values.key_spellings import (
    AnySpelling,
    ShapeError,
    has_any_key,
    has_keys,
)
from faithtui.formats.readers.values.passages import read_passage_list
from faithtui.formats.writers.answer_results import OWN_KEY

JUDGE = "llamaindex"
_OF_RESULT: Final = (
    "passing",
    "score",
    "feedback",
    "pairwise_source",
    "invalid_result",
    "invalid_reason",
)
_PAIRWISE: Final = (
    "results that compare two answers, with `pairwise_source`, are kept as metadata: they say "
    "which answer is better, and not whether one is faithful"
)
_RESULT = RowNames(question=("query",), answer=("response",), contexts=("contexts",))


def _list_examples(record: dict[str, object]) -> list[object]:
    found = AnySpelling(record).read_first_value("examples")
    return found if isinstance(found, list) else [record]


def _explain_dataset_match(sample: Sample) -> str | None:
    for record in sample.records:
        if any(
            has_keys(each, "query")
            and has_any_key(each, "reference_answer", "reference_contexts")
            and not has_any_key(each, *ANSWER)
            for each in _list_examples(record)[:3]
        ):
            return "LlamaIndex's `query`, `reference_contexts` and `reference_answer`"
    return None


def _convert_dataset(
    fields: AnySpelling, options: ReadOptions, collector: ImageCollector
) -> Iterator[ConversationDraft | ShapeError]:
    del collector
    examples = (
        fields.read_objects_or_errors("examples")
        if fields.has_one_of_keys("examples")
        else (fields,)
    )
    yield from make_drafts(examples, lambda each: _read_example(each, options))


def _read_example(fields: AnySpelling, options: ReadOptions) -> ConversationDraft:
    draft = ConversationDraft(key=fields.read_text("id", "id_"))
    question = fields.read_text("query")
    if question is not None:
        draft.add_turn("user", question)
    answer = fields.read_text("reference_answer")
    if answer is not None:
        turn = draft.add_turn("assistant", answer)
        contexts = parse_list_or_object_cell(
            fields.read_first_value("reference_contexts"), "reference_contexts"
        )
        draft.note_broken_list(contexts, "reference_contexts")
        if contexts is not None:
            turn.passages = read_passage_list(contexts, "reference_contexts")
        turn.details["is_reference"] = True
    known = frozenset(("queryby", "referenceanswerby", "referencecontexts"))
    keep_unread_fields_in_draft(
        draft, fields.get_unread_fields(), known, options.notes.unknown_keys
    )
    return draft


def _explain_results_match(sample: Sample) -> str | None:
    if any(
        has_keys(each, "query", "response", "passing")
        or has_keys(each, "query", "response", "pairwise_source")
        for each in sample.records
    ):
        return "LlamaIndex's evaluation results, with `query`, `response` and `passing`"
    return None


def _convert_result(
    fields: AnySpelling, options: ReadOptions, collector: ImageCollector
) -> Iterator[ConversationDraft]:
    own = list_objects_or_empty(fields.read_first_value(OWN_KEY))
    metadata = fields.read_first_value("metadata") if own else None
    given = {name: fields.read_first_value(name) for name in _OF_RESULT}
    feedback, reason = _to_text(given["feedback"]), _to_text(given["invalid_reason"])
    draft = make_conversation_draft(fields, _RESULT, options, collector)
    answer = draft.last_answer_position
    if own:
        restore_exported_answer(draft, own, metadata)
    elif answer is None:
        draft.metadata["result"] = {name: each for name, each in given.items() if each is not None}
    elif given["pairwise_source"] is not None:
        options.notes.remarks[_PAIRWISE] += 1
        draft.metadata["result"] = {name: each for name, each in given.items() if each is not None}
    else:
        passed = _parse_bool_or_none(given["passing"])
        is_invalid = _parse_bool_or_none(given["invalid_result"]) is True
        if passed is None and given["score"] is not None:
            draft.turns[answer].details["score"] = given["score"]
        draft.add_judge_verdict_on_answer(
            ImportedVerdict(
                JUDGE,
                answer,
                word=None if is_invalid else feedback,
                # Evaluators that give a score say themselves whether it passes.
                score=None
                if passed is None or is_invalid
                else _parse_number_0_to_1_or_none(given["score"]),
                passed=None if is_invalid else passed,
                reason="; ".join(filter(None, (reason, feedback))) if is_invalid else reason,
            )
        )
    yield draft


def _to_text(value: object) -> str | None:
    return None if value is None else str(value)


def _parse_number_0_to_1_or_none(value: object) -> float | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None


def _parse_bool_or_none(value: object) -> bool | None:
    match str(value).lower():
        case "true":
            return True
        case "false":
            return False
        case _:
            return None


DATASET = RecordReader(
    "llamaindex", "LlamaIndex labelled RAG data sets", _explain_dataset_match, _convert_dataset
)
RESULTS = RecordReader(
    "llamaindex-results", "LlamaIndex evaluation results", _explain_results_match, _convert_result
)
