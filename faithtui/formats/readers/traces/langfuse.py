"""Langfuse: traces with their observations and scores inside, or each kind in a file of its own.

Source: Langfuse's API reference, `Trace`, `Observation` and `Score`; its exports to files have the
same fields in snake_case.
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
    LANGFUSE_OBSERVATION,
    LANGFUSE_SCORE,
    LANGFUSE_TRACE,
)
from faithtui.formats.readers.traces.trace_reader import TraceReader
from faithtui.formats.readers.values.key_spellings import (
    AnySpelling,
    has_any_key,
    has_keys,
    normalise_key_spelling,
)

_KIND: Final = "_kind"
_EVIDENCE: Final = ("retriever", "tool")
_OTHER_STEPS: Final = ("span", "chain", "agent", "event")
"""Types of observations that may have retrieved something without saying so."""
_TWICE: Final = "traces that are there more than once are read once, as they came first"
_NO_TRACE: Final = (
    "observations and scores whose trace is not there are left out; import them together with the "
    "file of traces"
)


def _is_score(record: dict[str, object]) -> bool:
    return (
        has_keys(record, "name", "value")
        and has_any_key(record, "data_type", "source")
        and has_any_key(record, "trace_id", "session_id", "observation_id")
    )


def _is_observation(record: dict[str, object]) -> bool:
    return has_keys(record, "trace_id", "type", "start_time") and has_any_key(
        record, "parent_observation_id", "level", "usage_details", "model"
    )


def _is_trace(record: dict[str, object]) -> bool:
    return has_keys(record, "id", "input", "output") and (
        has_keys(record, "observations")
        or (has_keys(record, "timestamp") and has_any_key(record, "session_id", "release"))
    )


def _explain_match(sample: Sample) -> str | None:
    for record in sample.records:
        if _is_score(record):
            return "Langfuse scores, with `traceId`, `name`, `value` and `source`"
        if _is_observation(record):
            return "Langfuse observations, with `traceId`, `type` and `startTime`"
        if _is_trace(record):
            return "Langfuse traces, with `sessionId`, `input` and `output`"
    return None


def _iterate_trace_records(fields: AnySpelling) -> Iterator[tuple[str, dict[str, Any]]]:
    record = dict(fields.value)
    if _is_score(record) or _is_observation(record):
        trace = fields.read_text("trace_id")
        if not trace:
            raise fields.make_error(("trace_id",), trace, "the id of the trace")
        yield trace, {**record, _KIND: "score" if _is_score(record) else "observation"}
        return
    trace = fields.read_text("id", "trace_id")
    if not trace:
        raise fields.make_error(("id",), trace, "the id of the trace")
    yield trace, {**record, _KIND: "trace"}


def _make_exchange_from_trace(
    trace: str, records: list[dict[str, Any]], options: ReadOptions
) -> Exchange | None:
    by_kind: dict[str, list[AnySpelling]] = {"trace": [], "observation": [], "score": []}
    for record in records:
        by_kind[record.pop(_KIND)].append(AnySpelling(record))
    if not by_kind["trace"]:
        options.notes.remarks[_NO_TRACE] += len(records)
        return None
    root, *others = by_kind["trace"]
    if others:
        options.notes.remarks[_TWICE] += len(others)
    observations = [*_list_records_nested_in_trace(root, "observations"), *by_kind["observation"]]
    observations.sort(key=lambda each: make_sortable_time(each.read_text("start_time") or ""))
    time = root.read_text("timestamp", "start_time") or ""
    exchange = Exchange(_find_session_id(root.value) or trace, time)
    exchange.messages = find_chat_messages(root.read_first_value("input"))
    exchange.answer = find_answer_text(root.read_first_value("output"))
    for each in observations:
        _add_observation(exchange, each, options)
        exchange.unknown.add_fields(each.value, LANGFUSE_OBSERVATION)
    exchange.read_rest_of_input_and_output(
        {name: root.read_first_value(name) for name in ("input", "output")}
    )
    for each in (root, *observations):
        exchange.read_mapped_passages(each)
    parents = {each.read_text("id"): _find_parent(each) for each in observations}
    steps = (
        InnerStep(
            each.read_text("id"),
            each.read_text("name"),
            each.read_first_value("output"),
            find_ancestors(each.read_text("id"), parents),
        )
        for each in observations
        if (each.read_text("type") or "span").lower() in _OTHER_STEPS
    )
    exchange.read_outputs_of_other_steps(
        steps, "observations[].output", "give it the `type` `RETRIEVER`", options
    )
    exchange.unknown.add_fields(root.value, LANGFUSE_TRACE)
    exchange.details = {
        "trace_id": trace,
        **({"timestamp": time} if time else {}),
        **{
            key: each
            for key, each in root.get_unread_fields().items()
            if normalise_key_spelling(key) not in ("id", "scores", "htmlpath")
            and normalise_key_spelling(key) in LANGFUSE_TRACE
            and each not in ([], {})
        },
    }
    free: dict[str, object] = {
        name: parse_json_or_keep_text(exchange.details.pop(name))
        for name in ("metadata", "tags")
        if name in exchange.details
    }
    exchange.details |= exchange.unknown.drop_secrets(free, "")
    scores = [*_list_records_nested_in_trace(root, "scores"), *by_kind["score"]]
    unique = {each.read_text("id") or str(place): each for place, each in enumerate(scores)}
    exchange.scores = [_read_score(each) for each in unique.values()]
    for each in unique.values():
        exchange.unknown.add_fields(each.value, LANGFUSE_SCORE)
    exchange.answer_steps = list_ids_of_answer_steps(
        exchange.answer,
        [
            (
                each.read_text("id"),
                find_answer_text(parse_json_or_keep_text(each.read_first_value("output"))),
            )
            for each in observations
            if not _is_retrieval_or_tool(each)
        ],
    )
    return exchange


def _find_session_id(part: Mapping[str, object]) -> str | None:
    return AnySpelling(part).read_text("session_id") or None


def _list_records_nested_in_trace(root: AnySpelling, name: str) -> Iterator[AnySpelling]:
    """List what stands inside a trace; lists of traces name it by id alone, which says nothing."""
    for each in root.read_objects_or_errors(name):
        if isinstance(each, AnySpelling):
            yield each
        elif not isinstance(root.value[root.get_key_spelling(name)], list):
            raise each


def _find_parent(observation: AnySpelling) -> str | None:
    return observation.read_text("parent_observation_id")


def _add_observation(exchange: Exchange, fields: AnySpelling, options: ReadOptions) -> None:
    kind = (fields.read_text("type") or "").lower()
    output = parse_json_or_keep_text(fields.read_first_value("output"))
    if _is_retrieval_or_tool(fields):
        is_error = (fields.read_text("level") or "").upper() == "ERROR"
        exchange.add_output_of_step(
            output, fields.read_text("name"), options, has_failed=is_error and kind != "tool"
        )
    elif kind == "generation":
        if not exchange.messages:
            exchange.messages = find_chat_messages(fields.read_first_value("input"))
        if exchange.answer is None:
            exchange.answer = find_answer_text(output)


def _is_retrieval_or_tool(fields: AnySpelling) -> bool:
    """Say whether an observation retrieved something or called a tool."""
    kind = (fields.read_text("type") or "").lower()
    name = fields.read_text("name") or ""
    return kind in _EVIDENCE or (kind == "span" and "retriev" in name.lower())


def _read_score(fields: AnySpelling) -> TraceScore:
    details = {key: each for key, each in fields.value.items() if each is not None}
    details.pop("_line", None)
    source = (fields.read_text("source") or "").upper()
    kind = (fields.read_text("data_type") or "").upper()
    name = fields.read_text("name") or "score"
    value = fields.read_first_value("value")
    written = fields.read_first_value("string_value")
    if kind == "BOOLEAN":
        value = bool(value) if isinstance(value, int | float) else written
    elif kind == "CATEGORICAL" and written is not None:
        value = written
    metadata = fields.read_first_value("metadata")
    known = AnySpelling(metadata if isinstance(metadata, dict) else {})
    person = fields.read_text("author_user_id") or known.read_text("annotator")
    return TraceScore(
        name,
        value,
        fields.read_text("comment"),
        annotator=(person or "unknown") if source == "ANNOTATION" else None,
        judge=name_score_judge(known.read_text("model", "judge"), name, "langfuse")
        if source == "EVAL"
        else None,
        details=details,
        step=fields.read_text("observation_id") or None,
    )


READER = TraceReader(
    "langfuse",
    "Langfuse traces, observations and scores",
    _explain_match,
    _iterate_trace_records,
    _make_exchange_from_trace,
    _find_session_id,
)
