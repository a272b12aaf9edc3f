"""FaithBench: summaries of passages, with the spans that annotators marked.

Source: github.com/vectara/FaithBench, `data_for_release/batch_*.json`.
"""

from collections.abc import Iterator
from typing import Final

from faithtui.domain.conversation import Document
from faithtui.formats.files.record_files import Sample
from faithtui.formats.image_reader import ImageCollector
from faithtui.formats.readers.protocol import ReadOptions, RecordReader, make_drafts
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
from faithtui.formats.readers.values.passages import PassageList

SCALE: Final = "faithbench-span"
_WORST_FIRST: Final = ("Unwanted", "Questionable", "Benign")
_NOT_SCORES: Final = ("summarizer", "raw_sample_id")
_KNOWN_OF_ANNOTATIONS: Final = frozenset(
    map(
        normalise_key_spelling,
        (
            *("annot_id", "sample_id", "annotator_id", "annotator_name", "note"),
            *("summary_start", "summary_end", "source_span", "source_start", "source_end"),
        ),
    )
)


def _list_samples(record: dict[str, object]) -> list[dict[str, object]]:
    fields = AnySpelling(record)
    given = fields.read_first_value("samples") if fields.has_one_of_keys("samples") else [record]
    return [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []


def _explain_match(sample: Sample) -> str | None:
    for record in sample.records:
        for each in _list_samples(record)[:3]:
            if has_keys(each, "summary", "source") and has_any_key(each, "annotations"):
                return "FaithBench's `source`, `summary` and `annotations`"
    return None


def _convert_samples(
    fields: AnySpelling, options: ReadOptions, collector: ImageCollector
) -> Iterator[ConversationDraft | ShapeError]:
    del collector
    samples = (
        fields.read_objects_or_errors("samples") if fields.has_one_of_keys("samples") else (fields,)
    )
    yield from make_drafts(samples, lambda each: _read_sample(each, options))


def _read_sample(fields: AnySpelling, options: ReadOptions) -> ConversationDraft:
    draft = ConversationDraft(key=fields.read_text("sample_id", "id"))
    source = fields.read_text("source") or ""
    summary = fields.read_text("summary") or ""
    draft.add_turn("assistant", summary, PassageList((Document(source),), ({},)))
    known = fields.read_object("metadata")
    group = known.read_first_value("raw_sample_id")
    draft.metadata = {
        **{name: known.read_first_value(name) for name in _NOT_SCORES},
        "passage_group": None if group is None else str(group),
    }
    scores = known.get_unread_fields()
    if scores:
        draft.metadata["reference_judges"] = scores
    annotations: list[dict[str, object]] = []
    for each in fields.read_objects("annotations"):
        annotations.append(dict(each.value))
        _add_label(draft, each, summary, options)
        for key in each.get_unread_fields():
            if normalise_key_spelling(key) not in _KNOWN_OF_ANNOTATIONS:
                options.notes.unknown_keys[key] += 1  # kept with its annotation
    draft.metadata["annotations"] = annotations or None
    keep_unread_fields_in_draft(
        draft, fields.get_unread_fields(), frozenset(), options.notes.unknown_keys
    )
    return draft


def _add_label(
    draft: ConversationDraft, fields: AnySpelling, summary: str, options: ReadOptions
) -> None:
    labels = fields.read_first_value("label")
    words = [str(each) for each in labels] if isinstance(labels, list) else [str(labels or "")]
    kinds = {word.partition(".")[0] for word in words}
    label = next((each for each in _WORST_FIRST if each in kinds), "unlabelled")
    piece = fields.read_text("summary_span")
    if piece is None or not piece.strip():
        return
    start, end = fields.read_first_value("summary_start"), fields.read_first_value("summary_end")
    span = None
    if isinstance(start, int) and isinstance(end, int) and summary[start:end] == piece:
        span = (start, end)
    names = fields.read_text("annotator_name"), fields.read_text("annotator_id")
    draft.add_human_label(
        0,
        next((name for name in names if name and name.strip()), "unknown"),
        options.choose_and_note_scale("label", SCALE),
        label,
        claim=piece,
        span=span,
        note=fields.read_text("note"),
    )


READER = RecordReader("faithbench", "FaithBench batches", _explain_match, _convert_samples)
