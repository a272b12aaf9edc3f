"""LangSmith: runs, and the feedback on them in a file of its own.

Source: langsmith 0.14, `schemas.py`, `Run` and `Feedback`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from faithtui.formats.files.record_files import Sample
from faithtui.formats.readers.protocol import ReadOptions
from faithtui.formats.readers.traces.exchanges import (
    Exchange,
    InnerStep,
    TraceScore,
    find_ancestors,
    find_answer_text,
    find_chat_messages,
    list_ids_of_answer_steps,
    make_sortable_time,
    name_score_judge,
    parse_json_or_keep_text,
)
from faithtui.formats.readers.traces.standard_keys import (
    LANGSMITH_EXTRA,
    LANGSMITH_FEEDBACK,
    LANGSMITH_RUN,
)
from faithtui.formats.readers.traces.trace_reader import TraceReader
from faithtui.formats.readers.values.key_spellings import AnySpelling, has_any_key, has_keys
from faithtui.formats.readers.values.messages import make_dict_without_none

_EVIDENCE: Final = ("retriever", "tool")
_SESSION: Final = ("thread_id", "session_id", "conversation_id")
_FEEDBACK_ALONE: Final = (
    "feedback whose run is not there is left out; import it together with its runs: "
    "`faithtui import RUNS FEEDBACK`"
)


def _is_run(record: dict[str, object]) -> bool:
    return has_keys(record, "run_type", "inputs") and has_any_key(record, "trace_id", "id")


def _is_feedback(record: dict[str, object]) -> bool:
    return has_keys(record, "key", "run_id") and has_any_key(
        record, "feedback_source", "correction", "comment"
    )


def _explain_match(sample: Sample) -> str | None:
    if any(map(_is_run, sample.records)):
        return "LangSmith runs, with `run_type`, `inputs` and `outputs`"
    if any(map(_is_feedback, sample.records)):
        return "LangSmith feedback, with `key`, `run_id` and `feedback_source`"
    return None


def _iterate_trace_records(fields: AnySpelling) -> Iterator[tuple[str, dict[str, Any]]]:
    # The first part of a dotted order is the root's time and id: 20260101T090000000000Z<trace>.
    _, _, root = (fields.read_text("dotted_order") or "").partition(".")[0].partition("Z")
    trace = (
        fields.read_text("trace_id") or root or fields.read_text("run_id") or fields.read_text("id")
    )
    if trace is None:
        raise fields.make_error(("trace_id",), None, "the id of the trace")
    yield trace, dict(fields.value)


def _make_exchange_from_trace(
    trace: str, records: list[dict[str, Any]], options: ReadOptions
) -> Exchange | None:
    runs = [AnySpelling(each) for each in records if not _is_feedback(each)]
    feedback = [AnySpelling(each) for each in records if _is_feedback(each)]
    if not runs:
        options.notes.remarks[_FEEDBACK_ALONE] += len(feedback)
        return None
    ids = {each.read_text("id") for each in runs}
    roots = [each for each in runs if each.read_text("parent_run_id") not in ids] or runs
    root = roots[0]
    metadata = root.read_object("extra").read_object("metadata").value
    named = _find_session_id(root.value)
    exchange = Exchange(named or trace, time=root.read_text("start_time") or "")
    exchange.messages = find_chat_messages(_read_cell(root, "inputs"))
    exchange.answer = find_answer_text(_read_cell(root, "outputs"))
    runs.sort(
        key=lambda run: (
            run.read_text("dotted_order") or "",
            make_sortable_time(run.read_text("start_time") or ""),
        )
    )
    for run in runs:
        _add_retrieved_passages(exchange, run, options)
        exchange.unknown.add_fields(run.value, LANGSMITH_RUN)
        extra = run.read_object("extra")
        exchange.unknown.add_fields(extra.value, LANGSMITH_EXTRA, "extra.")
    exchange.read_rest_of_input_and_output(
        {name: root.read_first_value(name) for name in ("inputs", "outputs")}
    )
    parents = {run.read_text("id"): run.read_text("parent_run_id") for run in runs}
    others = (
        InnerStep(
            run.read_text("id"),
            run.read_text("name"),
            _open_output(run.read_first_value("outputs")),
            find_ancestors(run.read_text("id"), parents),
        )
        for run in runs
        if run is not root and run.read_text("run_type") == "chain"
    )
    exchange.read_outputs_of_other_steps(
        others, "outputs", "give it the `run_type` `retriever`", options
    )
    for each in feedback:
        exchange.unknown.add_fields(each.value, LANGSMITH_FEEDBACK)
    exchange.details = make_dict_without_none(
        trace_id=trace,
        run_id=root.read_text("id"),
        tags=exchange.unknown.drop_secrets({"tags": _read_cell(root, "tags")}, "").get("tags"),
        metadata=exchange.unknown.drop_secrets(
            {name: each for name, each in metadata.items() if name not in _SESSION},
            "extra.metadata.",
        )
        or None,
        project_id=root.read_text("session_id"),
        status=root.read_text("status"),
        error=root.read_text("error"),
        start_time=root.read_text("start_time"),
        end_time=root.read_text("end_time"),
    )
    exchange.scores = [_read_feedback(each) for each in feedback]
    exchange.answer_steps = list_ids_of_answer_steps(
        exchange.answer,
        [
            (each.read_text("id"), find_answer_text(_read_cell(each, "outputs")))
            for each in runs
            if each.read_text("run_type") not in _EVIDENCE
        ],
    )
    exchange.answer_steps += [each for each in (root.read_text("id"),) if each is not None]
    return exchange


def _read_cell(run: AnySpelling, name: str) -> object:
    """Read what went into a run or came out of it, which a table has as text."""
    return parse_json_or_keep_text(run.read_first_value(name))


def _find_session_id(part: Mapping[str, object]) -> str | None:
    metadata = AnySpelling(part).read_object("extra").read_object("metadata")
    return metadata.read_text(*_SESSION) or None


def _add_retrieved_passages(exchange: Exchange, run: AnySpelling, options: ReadOptions) -> None:
    exchange.read_mapped_passages(run)
    kind = run.read_text("run_type")
    if kind not in _EVIDENCE:
        return
    output = _read_cell(run, "outputs")
    if isinstance(output, dict):
        inner = AnySpelling(output).read_first_value("documents", "output", "result")
        output = output if inner is None else inner
    is_error = bool(run.read_first_value("error")) or run.read_first_value("status") == "error"
    exchange.add_output_of_step(
        output, run.read_text("name"), options, has_failed=is_error and kind == "retriever"
    )


def _open_output(output: object) -> object:
    """Take off the `output` that the tool puts around what is no object."""
    inner = parse_json_or_keep_text(output)
    return inner["output"] if isinstance(inner, dict) and list(inner) == ["output"] else inner


def _read_feedback(fields: AnySpelling) -> TraceScore:
    source = fields.read_object("feedback_source")
    kind = source.read_text("type")
    known = AnySpelling(source.read_object("metadata").value)
    person = known.read_text("annotator", "user", "user_id", "ls_user_id") or source.read_text(
        "user_name", "user_id"
    )
    name = fields.read_text("key") or "feedback"
    value = fields.read_first_value("score")
    if value is None:
        value = fields.read_first_value("value")
    is_person = kind == "app" or (kind == "api" and person is not None)
    correction = fields.read_first_value("correction")
    if is_person and isinstance(correction, dict):
        # What the person put in its place. That of a judge's feedback is nobody's word of the
        # judge: it stays in the details.
        corrected = AnySpelling(correction).read_first_value("score", "value")
        value = value if corrected is None else corrected
    return TraceScore(
        name,
        value,
        fields.read_text("comment"),
        annotator=(person or "unknown") if is_person else None,
        judge=name_score_judge(known.read_text("model", "judge", "evaluator"), name, "langsmith")
        if kind == "model"
        else None,
        step=fields.read_text("run_id") or None,
        details={key: each for key, each in fields.value.items() if each is not None},
    )


READER = TraceReader(
    "langsmith",
    "LangSmith runs and feedback",
    _explain_match,
    _iterate_trace_records,
    _make_exchange_from_trace,
    _find_session_id,
)
