"""ragas's annotated exports: what a metric said, and what a person put in its place.

Only a metric about faithfulness gives verdicts and labels; what others say is kept as metadata.

An accepted output is a human label that agrees; a changed one is the label that stands in it; one
that was refused and not changed is the opposite verdict, where there are only two. A label keeps
its word, 1 or 0 of ragas itself, on the scale of scores that are nothing else.

Source: ragas 0.4.3, `dataset_schema.py`, `MetricAnnotation`, and its docs on aligning a metric.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from faithtui.agreement.rating_scales import BINARY_SCALE
from faithtui.domain.conversation import Rating
from faithtui.domain.labels.imported_verdicts import ImportedClaim, ImportedVerdict, ImportedWindow
from faithtui.formats.files.record_files import Sample
from faithtui.formats.image_reader import ImageCollector
from faithtui.formats.readers.faithtui_results import (
    add_exported_result_to_draft,
    make_exported_answer_name,
)
from faithtui.formats.readers.protocol import ReadOptions, RecordReader, make_drafts
from faithtui.formats.readers.question_rows import RowNames, make_conversation_draft
from faithtui.formats.readers.traces.exchanges import is_about_faithfulness
from faithtui.formats.readers.values.conversation_draft import (
    ConversationDraft,
    keep_unread_fields_in_draft,
)
from faithtui.formats.readers.values.key_spellings import AnySpelling, ShapeError, has_keys
from faithtui.formats.writers.answer_results import OWN_KEY

_NUMBERS: Final = {"yes": "1", "true": "1", "no": "0", "false": "0"}
_OPPOSITES: Final = {"1": "0", "0": "1", "yes": "no", "no": "yes", "true": "false", "false": "true"}
_PASSED: Final = {"1": True, "yes": True, "true": True, "0": False, "no": False, "false": False}
ANNOTATOR: Final = "ragas-annotator"
_ROW: Final = RowNames(
    question=("user_input",), answer=("response",), contexts=("retrieved_contexts",)
)


def _is_annotation_list(value: object) -> bool:
    return isinstance(value, list) and bool(value) and has_keys(value[0], "metric_input", "prompts")


def _explain_match(sample: Sample) -> str | None:
    for record in sample.records:
        for metric, rows in record.items():
            if _is_annotation_list(rows):
                return f"ragas's annotations of `{metric}`, with `metric_input` and `prompts`"
    return None


def _convert_annotations_of_metrics(
    fields: AnySpelling, options: ReadOptions, collector: ImageCollector
) -> Iterator[ConversationDraft | ShapeError]:
    for metric, rows in fields.value.items():
        if not _is_annotation_list(rows):
            options.notes.unknown_keys[metric] += 1
            continue
        read_one = partial(_read_annotation, metric, options, collector)
        yield from make_drafts(AnySpelling({metric: rows}).read_objects_or_errors(metric), read_one)


def _read_annotation(
    metric: str, options: ReadOptions, collector: ImageCollector, fields: AnySpelling
) -> ConversationDraft:
    given = fields.read_object("metric_input")
    draft = make_conversation_draft(given, _ROW, options, collector)
    draft.metadata["metric_output"] = fields.read_first_value("metric_output")
    draft.metadata["target"] = fields.read_first_value("target")
    own = fields.read_first_value(OWN_KEY)
    if isinstance(own, Mapping):
        draft.key = make_exported_answer_name(own)
    is_accepted = fields.read_first_value("is_accepted")
    answer = draft.last_answer_position
    prompts = fields.read_object("prompts").value
    draft.metadata["prompts"] = dict(prompts)
    keep_unread_fields_in_draft(
        draft, fields.get_unread_fields(), frozenset(), options.notes.unknown_keys
    )
    if answer is None:
        return draft
    if not is_about_faithfulness(metric) and not options.note_score_and_check_scale_is_named(
        metric
    ):
        options.notes.remarks[
            f"annotations of the metric `{metric}` are kept as metadata; if it says how faithful "
            f"an answer is, name the scale of its 1 and 0: `--scale {metric}={BINARY_SCALE}`"
        ] += 1
        return draft
    scale = options.choose_and_note_scale(metric)
    is_exported_run = False
    if isinstance(own, Mapping) and "options" in own:
        is_exported_run = True
        add_exported_result_to_draft(draft, answer, own, is_alone=True)
    for name in prompts:
        prompt = AnySpelling(prompts).read_object(name)
        output = prompt.read_first_value("prompt_output")
        edited = prompt.read_first_value("edited_output")
        accepted = prompt.read_first_value("is_accepted")
        if isinstance(output, Mapping):
            _add_verdicts_and_ratings(
                draft,
                answer,
                f"ragas {metric}",
                scale,
                output,
                edited if isinstance(edited, Mapping) else None,
                is_accepted if accepted is None else accepted,
                are_verdicts_known=is_exported_run,
            )
    draft.ratings = [_choose_scale_of_label(each, metric) for each in draft.ratings]
    return draft


def _choose_scale_of_label(label: Rating, metric: str) -> Rating:
    """Name the scale of 1 and 0 where the user named none, and give other words as it has them."""
    if label.scale == metric and label.label in _NUMBERS.values():
        return replace(label, scale=BINARY_SCALE)
    if label.scale == BINARY_SCALE:
        return replace(label, label=_NUMBERS.get(label.label.lower(), label.label))
    return label


def _add_verdicts_and_ratings(
    draft: ConversationDraft,
    answer: int,
    judge: str,
    scale: str,
    output: Mapping[str, Any],
    edited: Mapping[str, Any] | None,
    accepted: object,
    *,
    are_verdicts_known: bool,
) -> None:
    statements = _list_statement_verdicts(output)
    if statements:
        changed = {
            claim: verdict for claim, verdict, _ in _list_statement_verdicts(edited or output)
        }
        if not are_verdicts_known:
            draft.verdicts.append(
                ImportedWindow(
                    judge,
                    tuple(
                        ImportedClaim(text, None if verdict is None else str(verdict), why)
                        for text, verdict, why in statements
                    ),
                )
            )
        if accepted is not True and edited is None:
            # Nobody looked, or it was refused as a whole: which statement was wrong is not said.
            return
        for claim, verdict in changed.items():
            if verdict is not None:
                draft.add_human_label(answer, ANNOTATOR, scale, _to_word(verdict), claim=claim)
        return
    verdict = output.get("verdict")
    if verdict is None:
        return
    word = _to_word(verdict)
    draft.add_judge_verdict_on_answer(
        ImportedVerdict(
            judge,
            answer,
            word=str(verdict),
            passed=_PASSED.get(word.lower()),
            reason=output.get("reason"),
        )
    )
    if edited is not None and edited.get("verdict") is not None:
        label, note = _to_word(edited["verdict"]), edited.get("reason")
    elif accepted is True:
        label, note = word, None
    elif accepted is False and word.lower() in _OPPOSITES:
        label, note = _OPPOSITES[word.lower()], None
    else:
        return
    draft.add_human_label(
        answer, ANNOTATOR, scale, label, note=note if isinstance(note, str) else None
    )


def _list_statement_verdicts(output: Mapping[str, Any]) -> list[tuple[str, object, str | None]]:
    """List statement, verdict and reason of an output that judges statements."""
    found = output.get("statements")
    if not isinstance(found, list):
        return []
    return [
        (str(each["statement"]), each.get("verdict"), each.get("reason"))
        for each in found
        if isinstance(each, Mapping) and each.get("statement") and "verdict" in each
    ]


def _to_word(verdict: object) -> str:
    """Give a verdict as a text, whole numbers without a point, as labels are written."""
    if isinstance(verdict, bool):
        return str(verdict).lower()
    if isinstance(verdict, float) and verdict.is_integer():
        return str(int(verdict))
    return str(verdict)


READER = RecordReader(
    "ragas-annotations",
    "ragas annotated exports (MetricAnnotation)",
    _explain_match,
    _convert_annotations_of_metrics,
)
