"""MTRAG: generation tasks, and its evaluations in InspectorRAGet's form.

A task is one answer to a history. Tasks of a conversation are one conversation where the history of
each holds the answers before it; where a model answered a history that somebody else wrote, each
task is a conversation of its own, in the group of the conversation it continues.

Source: github.com/IBM/mt-rag-benchmark and github.com/IBM/InspectorRAGet.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from faithtui.errors import InputError
from faithtui.formats.files.record_files import FileRecord, Sample
from faithtui.formats.files.record_groups import RecordGroups
from faithtui.formats.image_reader import ImageCollector, find_image_folder
from faithtui.formats.readers.protocol import (
    UNREADABLE,
    ParsedRecord,
    ReadOptions,
    RecordReader,
    RecordsBeforeError,
    add_warnings_on_broken_lists,
    build_conversations,
    make_parsed_record,
    make_refused_record,
    translate_to_shape_error,
)
from faithtui.formats.readers.traces.exchanges import is_about_faithfulness
from faithtui.formats.readers.values.cells import find_broken_list, parse_list_or_object_cell
from faithtui.formats.readers.values.conversation_draft import (
    ConversationDraft,
    list_roles_and_texts,
)
from faithtui.formats.readers.values.key_spellings import (
    AnySpelling,
    ShapeError,
    has_keys,
    normalise_key_spelling,
)
from faithtui.formats.readers.values.messages import MessageReader
from faithtui.formats.readers.values.passages import PassageList, read_passage_list

SCALE: Final = "mtrag-faithfulness-1-4"
_LINE: Final = "_line"
_TASK_KEYS: Final = frozenset(
    map(
        normalise_key_spelling,
        (
            *("task_id", "turn", "task_type", "dataset", "collection", "answerability"),
            *("Question Type", "Multi-Turn", "Ambiguity Type", "Standalone Type", "Validity"),
            *("Retriever Performance Characteristics", "annotations"),
            *("# Relevant Passages", "# Retrieved Reference Passages"),
        ),
    )
)
"""What tasks have beside what is read; all of it is kept with the answer."""


@dataclass(slots=True)
class _Task:
    """One answer to a history."""

    identity: str
    conversation: str
    turn: int
    history: list[object]
    passages: PassageList
    answer: str | None
    target: str | None
    details: dict[str, object]
    number: int = 0
    """Of the answer, where a task has several."""
    ratings: list[tuple[str, str, str]] = field(default_factory=list)
    """Annotator, scale and label."""
    other_ratings: dict[str, dict[str, object]] = field(default_factory=dict)
    judges: dict[str, object] = field(default_factory=dict)


def _explain_tasks_match(sample: Sample) -> str | None:
    if any(has_keys(each, "task_id", "input", "contexts") for each in sample.records):
        return "MTRAG tasks, with `task_id`, `input` and `contexts`"
    return None


def _split_task_id(identity: str) -> tuple[str, int]:
    """Cut `conversation::turn`, or `conversation<::>turn`."""
    start, mark, end = identity.rpartition("::")
    if not mark:
        return identity, 0
    end = end.removeprefix(">")
    return start.removesuffix("<"), int(end) if end.isdigit() else 0


@dataclass(frozen=True, slots=True)
class TaskReader:
    """Generation tasks, one a record."""

    name: str = "mtrag"
    title: str = "MTRAG generation tasks"

    def explain_match(self, sample: Sample) -> str | None:
        """See `FormatReader`."""
        return _explain_tasks_match(sample)

    def read(self, records: Iterable[FileRecord], options: ReadOptions) -> Iterator[ParsedRecord]:
        """See `FormatReader`; conversations come after the last record was read."""
        last: FileRecord | None = None
        readable = RecordsBeforeError(records)
        with RecordGroups() as groups:
            for each in readable:
                if isinstance(each.found, InputError):
                    yield make_parsed_record(each, each.found)
                    continue
                last = each
                fields = AnySpelling(each.found)
                try:
                    identity = fields.read_text("task_id") or str(each.line)
                    conversation = (
                        fields.read_text("conversation_id") or _split_task_id(identity)[0]
                    )
                except UNREADABLE as error:
                    yield make_refused_record(each, error)
                    continue
                groups.add(conversation, {**each.found, _LINE: each.line})
            for value, too_large in groups.list_keys_with_too_large_records():
                assert last is not None
                yield make_refused_record(replace(last, line=value[_LINE]), too_large)
            for conversation, values in groups:
                assert last is not None
                lines = [value.pop(_LINE) for value in values]
                size = max(1, last.size)
                place = FileRecord(last.path, min(lines), None, last.end, size, {})
                collector = ImageCollector(find_image_folder(last.path))
                tasks: list[_Task] = []
                for value, line in zip(values, lines, strict=True):
                    try:
                        fields = AnySpelling(value)
                        found = list(_make_task_per_answer(fields, conversation))
                        options.notes.unknown_keys.update(_list_unknown_keys(found[0].details))
                        tasks += found
                        broken = find_broken_list(
                            fields.read_first_value("contexts"), fields.get_key_spelling("contexts")
                        )
                        add_warnings_on_broken_lists(
                            options.notes, replace(place, line=line), [broken] if broken else []
                        )
                    except UNREADABLE as error:
                        yield make_refused_record(replace(place, line=line), error)
                if not tasks:
                    continue
                drafts = _make_conversations_from_tasks(
                    conversation, tasks, collector, key=conversation
                )
                yield from build_conversations(place, drafts, options, collector)
        readable.raise_error_if_any()


def _list_unknown_keys(details: Iterable[str]) -> list[str]:
    return [key for key in details if normalise_key_spelling(key) not in _TASK_KEYS]


def _make_task_per_answer(fields: AnySpelling, conversation: str) -> Iterator[_Task]:
    """Give one task for each answer; one without an answer where there is none."""
    identity = fields.read_text("task_id") or ""
    turn = fields.read_first_value("turn")
    history = parse_list_or_object_cell(fields.read_first_value("input"), "input")
    if not isinstance(history, list):
        raise fields.make_error(("input",), history, "a list of messages")
    where = fields.get_key_spelling("contexts")
    contexts = parse_list_or_object_cell(fields.read_first_value("contexts"), where)
    passages = read_passage_list(contexts, where)
    targets = [each.read_if_text("text") for each in fields.read_objects("targets")]
    predictions = [each.read_if_text("text") for each in fields.read_objects("predictions")]
    details = {
        key: value
        for key, value in fields.get_unread_fields().items()
        if normalise_key_spelling(key) != "conversationid"
    }
    task = _Task(
        identity,
        conversation,
        turn if isinstance(turn, int) else _split_task_id(identity)[1],
        history,
        passages,
        None,
        targets[0] if targets else None,
        {"task_id": identity, **details},
    )
    answers = predictions or targets[:1] or [None]
    for number, answer in enumerate(answers):
        yield _Task(
            task.identity,
            task.conversation,
            task.turn,
            task.history,
            task.passages,
            answer,
            task.target if predictions else None,
            task.details,
            number,
        )


def _make_conversations_from_tasks(
    conversation: str, tasks: Sequence[_Task], collector: ImageCollector, *, key: str
) -> Iterator[ConversationDraft]:
    """Make one conversation of tasks whose histories hold each other's answers, else one of each.

    Args:
        conversation: Its id.
        tasks: Of one conversation and one model.
        collector: Takes images.
        key: Of the conversation as a whole.
    """
    ordered = sorted(tasks, key=lambda task: (task.turn, task.number))
    joined = _join_tasks_with_matching_histories(ordered, collector)
    if joined is not None:
        joined.key = key
        joined.metadata = {"conversation_id": conversation, **joined.metadata}
        yield joined
        return
    known = {task.turn: task for task in ordered}
    for task in ordered:
        draft = ConversationDraft()
        MessageReader(draft, collector).add_messages_to_draft(task.history, "input")
        answers = [turn for turn in draft.turns if turn.role == "assistant"]
        for place, turn in enumerate(answers, start=1):
            earlier = known.get(place)
            if earlier is not None and earlier.turn < task.turn:
                turn.passages = earlier.passages
        _add_answer(draft, task)
        suffix = f"#{task.number + 1}" if task.number else ""
        model = key.removeprefix(conversation)
        draft.key = f"{task.identity}{model}{suffix}"
        draft.metadata = {"conversation_id": conversation, **draft.metadata}
        yield draft


def _join_tasks_with_matching_histories(
    tasks: Sequence[_Task], collector: ImageCollector
) -> ConversationDraft | None:
    draft = ConversationDraft()
    for task in tasks:
        history = ConversationDraft()
        MessageReader(history, collector).add_messages_to_draft(task.history, "input")
        before = list_roles_and_texts(draft.turns)
        if task.answer is None or list_roles_and_texts(history.turns)[: len(before)] != before:
            return None
        draft.turns += history.turns[len(before) :]
        _add_answer(draft, task)
    return draft


def _add_answer(draft: ConversationDraft, task: _Task) -> None:
    if task.answer is None:
        return
    turn = draft.add_turn("assistant", task.answer, task.passages)
    turn.details |= task.details
    if task.target is not None and task.target != task.answer:
        turn.details["reference"] = task.target
    if task.other_ratings:
        turn.details["other_ratings"] = task.other_ratings
    position = len(draft.turns) - 1
    for annotator, scale, label in task.ratings:
        draft.add_human_label(position, annotator, scale, label)
    for judge, value in task.judges.items():
        scores = draft.metadata.setdefault("reference_judges", {})
        assert isinstance(scores, dict)
        scores.setdefault(judge, {})[str(position)] = value


def _explain_evaluations_match(sample: Sample) -> str | None:
    if any(has_keys(each, "tasks", "evaluations", "documents") for each in sample.records):
        return "InspectorRAGet's `tasks`, `documents` and `evaluations`"
    return None


def _convert_evaluations(
    fields: AnySpelling, options: ReadOptions, collector: ImageCollector
) -> Iterator[ConversationDraft | ShapeError]:
    documents: dict[str, dict[str, object]] = {}
    scales: dict[str, str | None] = {}
    tasks: dict[str, _Task] = {}
    answered: dict[tuple[str, str], list[_Task]] = {}

    def read_document(fields: AnySpelling) -> None:
        documents[fields.read_text("document_id") or ""] = dict(fields.value)

    def read_metric(fields: AnySpelling) -> None:
        if str(fields.read_first_value("author")).lower() == "human":
            scales[fields.read_text("name") or ""] = _find_declared_scale(fields)

    def read_task(fields: AnySpelling) -> None:
        contexts = fields.read_first_value("contexts")
        passages = [
            documents.get(AnySpelling(context).read_text("document_id") or "", context)
            for context in (contexts if isinstance(contexts, list) else [])
            if isinstance(context, dict)
        ]
        identity = fields.read_text("task_id") or ""
        name = fields.get_key_spelling("contexts")
        task = AnySpelling({**fields.value, name: passages}, fields.where)
        tasks[identity] = next(_make_task_per_answer(task, _split_task_id(identity)[0]))
        options.notes.unknown_keys.update(_list_unknown_keys(tasks[identity].details))

    def read_evaluation(fields: AnySpelling) -> None:
        task = tasks.get(fields.read_text("task_id") or "")
        if task is None:
            options.notes.remarks["evaluations of tasks that are not there are left out"] += 1
            return
        model = fields.read_text("model_id") or "model"
        found = _read_evaluation(task, fields, scales, options)
        rest = fields.get_unread_fields()
        options.notes.unknown_keys.update(f"evaluations[].{key}" for key in rest)
        found.details = {**rest, **found.details}
        answered.setdefault((task.conversation, model), []).append(found)

    for name, read in (
        ("documents", read_document),
        ("metrics", read_metric),
        ("tasks", read_task),
        ("evaluations", read_evaluation),
    ):
        for each in fields.read_objects_or_errors(name):
            try:
                if isinstance(each, ShapeError):
                    raise each
                read(each)
            except UNREADABLE as error:
                yield translate_to_shape_error(
                    error, each.where if isinstance(each, AnySpelling) else ""
                )
    options.notes.dropped_keys.update(
        key
        for key in fields.get_unread_fields()
        if normalise_key_spelling(key) not in ("name", "models", "filters")
    )
    for (conversation, model), answers in answered.items():
        for draft in _make_conversations_from_tasks(
            conversation, answers, collector, key=f"{conversation}/{model}"
        ):
            draft.metadata["model"] = model
            yield draft


_NO_VALUE: Final = "scores of an answer without `value` are left out"
_LEVELS: Final = frozenset(("1", "2", "3", "4"))


def _find_declared_scale(metric: AnySpelling) -> str | None:
    """Name the scale of a metric that annotators used, by the levels that the file says it has.

    None where these are not MTRAG's: the label of a level says nothing without its scale.
    """
    values, ends = metric.read_first_value("values"), metric.read_first_value("range")
    if isinstance(values, list):
        levels = {
            _format_label_word(
                AnySpelling(each).read_first_value("value") if isinstance(each, dict) else each
            )
            for each in values
        }
        return SCALE if levels == _LEVELS else None
    return SCALE if isinstance(ends, list) and ends[:2] == [1, 4] else None


def _read_evaluation(
    task: _Task,
    fields: AnySpelling,
    scales: Mapping[str, str | None],
    options: ReadOptions,
) -> _Task:
    """Read the answer of a model to a task, and what was said of it.

    Args:
        task: The task.
        fields: The evaluation.
        scales: Of the metrics that annotators used; None where only the user knows it.
        options: How the file is to be read.
    """
    answer = fields.read_text("model_response")
    found = _Task(
        task.identity,
        task.conversation,
        task.turn,
        task.history,
        task.passages,
        answer or "",
        task.answer,
        dict(task.details),
    )
    annotations = fields.read_object("annotations").value
    declared = _list_names_of_other_spelling(scales, annotations)
    for key, given in annotations.items():
        if not isinstance(given, Mapping):
            continue
        metric = key if key in scales else declared.get(normalise_key_spelling(key), key)
        values = {
            str(who): AnySpelling(each).read_first_value("value")
            if isinstance(each, dict)
            else each
            for who, each in given.items()
        }
        rated = {who: value for who, value in values.items() if value is not None}
        if len(rated) < len(values):
            options.notes.remarks[_NO_VALUE] += len(values) - len(rated)
        values = rated
        if metric not in scales:
            for who, value in values.items():
                found.judges[metric if len(values) == 1 else f"{metric} {who}"] = value
        elif is_about_faithfulness(metric) or options.note_score_and_check_scale_is_named(metric):
            scale = options.choose_and_note_scale(metric, scales[metric])
            for who, value in values.items():
                if not isinstance(value, str | int | float):
                    where = (f"annotations.{metric}.{who}.value",)
                    raise fields.make_error(where, value, "a string or a number")
                found.ratings.append((who, scale, _format_label_word(value)))
        else:
            found.other_ratings[metric] = values
    return found


def _list_names_of_other_spelling(
    scales: Collection[str], annotations: Collection[str]
) -> dict[str, str]:
    """List the metrics that an evaluation may have in another spelling, by their folded names.

    Where names differ by their spelling alone, or the evaluation has the metric by its own name,
    another spelling is another metric.
    """
    folds = Counter(map(normalise_key_spelling, scales))
    return {
        fold: name
        for name in scales
        if folds[fold := normalise_key_spelling(name)] == 1 and name not in annotations
    }


def _format_label_word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


TASKS = TaskReader()
EVALUATIONS = RecordReader(
    "inspectorraget",
    "InspectorRAGet evaluations, as MTRAG's",
    _explain_evaluations_match,
    _convert_evaluations,
)
