"""Spans of OpenInference and of OpenTelemetry's GenAI conventions.

Attributes become one flat mapping first; see `span_attributes`.

Source: OpenInference `semantic_conventions.md`; OpenTelemetry `gen-ai-spans.md` and
`gen-ai-events.md`; OpenLLMetry for `gen_ai.prompt.N` and `gen_ai.completion.N`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from faithtui.formats.files.record_files import Sample
from faithtui.formats.json_lines import parse_inner_json
from faithtui.formats.readers.faithtui_results import find_faithtui_details
from faithtui.formats.readers.protocol import UNREADABLE, ReadOptions, translate_to_shape_error
from faithtui.formats.readers.traces.exchanges import (
    HIDDEN,
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
    read_output_of_step,
)
from faithtui.formats.readers.traces.span_attributes import (
    flatten_span_attributes,
    get_attribute_or_subkeys,
    group_attributes_by_number,
)
from faithtui.formats.readers.traces.span_evidence import EvidenceOfSpans
from faithtui.formats.readers.traces.standard_keys import (
    ANNOTATION,
    SPAN,
    name_attribute_if_not_standard,
)
from faithtui.formats.readers.traces.trace_reader import TraceReader
from faithtui.formats.readers.traces.unknown_fields import UnknownFields
from faithtui.formats.readers.values.key_spellings import (
    AnySpelling,
    ShapeError,
    has_any_key,
    has_keys,
    normalise_key_spelling,
)
from faithtui.formats.readers.values.passages import PassageList, read_passage_list
from faithtui.formats.writers.answer_results import OWN_KEY

_SESSION: Final = ("session.id", "gen_ai.conversation.id", "conversation.id", "thread.id")
_MARKS: Final = (
    "openinference.span.kind",
    "gen_ai.operation.name",
    "gen_ai.system",
    "gen_ai.provider.name",
    "traceloop.span.kind",
    "input.value",
)
_EVALUATION: Final = "gen_ai.evaluation.result"
_DETAILS: Final = (
    "gen_ai.client.inference.operation.details",
    "gen_ai.content.prompt",
    "gen_ai.content.completion",
)
"""Events, of a span or in OTLP logs, that hold attributes of their span; the last two are
OpenLIT's, of earlier conventions."""
_BEGINS_AS_JSON = re.compile(r'\s*(?:\[[\s\[]*(?:\{\s*(?:"|\Z)|\Z)|\{\s*")')
_INPUTS = ("gen_ai.input.messages", "input.value", "traceloop.entity.input", "gen_ai.prompt")
_OUTPUTS = (
    "gen_ai.output.messages",
    "output.value",
    "traceloop.entity.output",
    "gen_ai.completion",
)
_CUT_MESSAGES = (
    "attribute of messages in JSON that cannot be read, as if it had been cut off: left out"
)
_JSON_EVIDENCE = ("gen_ai.retrieval.documents", "gen_ai.tool.call.result")
_CUT_EVIDENCE = (
    "result or list of documents in JSON that cannot be read, as if it had been cut off: taken as "
    "text"
)
_NO_TRACE: Final = (
    "evaluations whose trace is not there are left out; import them together with the file of spans"
)
_HIDDEN: Final = "texts and images that OpenInference hid, `__REDACTED__`, are taken as not there"
_OTHER_STEPS: Final = ("CHAIN", "AGENT", "UNKNOWN", "RERANKER")
"""Kinds of spans that may have retrieved something without saying so."""


def _explain_match(sample: Sample) -> str | None:
    for record in sample.records:
        if has_any_key(record, "resourceSpans"):
            return "OTLP, with `resourceSpans`"
        if any(True for _ in _list_standalone_evaluations(AnySpelling(record))):
            return "evaluations of spans or traces, as OpenInference or OpenTelemetry has them"
        for span in _list_spans(AnySpelling(record)):
            if isinstance(span, ShapeError):
                continue
            attributes = flatten_span_attributes(span)
            mark = next((each for each in _MARKS if each in attributes), None)
            if mark is not None:
                return f"spans with `{mark}`"
    return None


def find_mark_in_other_case(sample: Sample) -> tuple[str, str] | None:
    """Find an attribute that would be one of spans of language models, were its case another.

    OpenTelemetry tells attributes apart by case, so it is not read.

    Returns:
        Its name, and the one that was expected; None where there is none.
    """
    by_fold = {mark.casefold(): mark for mark in _MARKS}
    for record in sample.records:
        for span in _list_spans(AnySpelling(record)):
            if not isinstance(span, ShapeError):
                for key in flatten_span_attributes(span):
                    if key not in _MARKS and key.casefold() in by_fold:
                        return key, by_fold[key.casefold()]
    return None


def _list_spans(fields: AnySpelling) -> Iterator[dict[str, Any] | ShapeError]:
    for record in _list_log_records(fields):
        if isinstance(record, AnySpelling) and record.read_first_value("event_name") in _DETAILS:
            yield {
                "trace_id": record.read_first_value("trace_id"),
                "span_id": record.read_first_value("span_id"),
                "start_time": record.read_first_value("time_unix_nano", "observed_time_unix_nano"),
                "attributes": record.read_first_value("attributes"),
            }
    resources = fields.read_first_value("resource_spans", "resourceSpans")
    if not isinstance(resources, list):
        if has_any_key(fields.value, "attributes", "span_kind", "span_id") or any(
            key.startswith("attributes.") for key in fields.value
        ):
            yield dict(fields.value)
        return
    names = ("scope_spans", "instrumentation_library_spans")
    for span in _list_nested_objects(fields, ("resource_spans",), names, ("spans",)):
        yield span if isinstance(span, ShapeError) else dict(span.value)


def _list_log_records(fields: AnySpelling) -> Iterator[AnySpelling | ShapeError]:
    return _list_nested_objects(fields, ("resource_logs",), ("scope_logs",), ("log_records",))


def _list_nested_objects(
    fields: AnySpelling, names: tuple[str, ...], *inner: tuple[str, ...]
) -> Iterator[AnySpelling | ShapeError]:
    """List the objects in lists within lists, and an error for each that is none.

    Args:
        fields: The outermost object.
        names: Of its list.
        inner: Names of the list in each element of that, and so on.
    """
    for each in fields.read_objects_or_errors(*names):
        if inner and isinstance(each, AnySpelling):
            yield from _list_nested_objects(each, *inner)
        else:
            yield each


def _list_standalone_evaluations(fields: AnySpelling) -> Iterator[dict[str, Any] | ShapeError]:
    """List evaluations that come apart from their spans: annotations, and events in OTLP logs."""
    if has_keys(fields.value, "annotator_kind", "name", "result"):
        metadata = fields.read_object("metadata").value
        own = find_faithtui_details(fields.value) or {}
        result = fields.read_object("result")
        evaluation = {
            "gen_ai.evaluation.name": fields.read_text("name"),
            "gen_ai.evaluation.score.value": result.read_first_value("score"),
            "gen_ai.evaluation.score.label": result.read_first_value("label"),
            "gen_ai.evaluation.explanation": result.read_text("explanation"),
            "annotator_kind": fields.read_text("annotator_kind"),
            "annotator": metadata.get("annotator"),
            "metadata": metadata,
            "span_id": fields.read_text("span_id"),
        }
        yield {
            "trace": fields.read_first_value("trace_id") or own.get("trace_id"),
            "evaluation": evaluation,
            "record": {
                **fields.value,
                **{f"result.{key}": each for key, each in result.get_unread_fields().items()},
            },
        }
        return
    for record in _list_log_records(fields):
        if isinstance(record, ShapeError):
            yield record
        elif record.read_first_value("event_name") == _EVALUATION:
            evaluation = flatten_span_attributes(record.value)
            evaluation["span_id"] = record.read_first_value("span_id")
            own_text = evaluation.get("faithtui.details")
            if isinstance(own_text, str):
                evaluation[OWN_KEY] = _parse_json_or_none(own_text)
            yield {"trace": record.read_first_value("trace_id"), "evaluation": evaluation}


def _parse_json_or_none(text: str) -> object:
    try:
        return parse_inner_json(text)
    except ValueError:
        return None


def _iterate_trace_records(
    fields: AnySpelling,
) -> Iterator[tuple[str, dict[str, Any]] | ShapeError]:
    evaluations = list(_list_standalone_evaluations(fields))
    for each in evaluations:
        if isinstance(each, ShapeError):
            yield each
            continue
        trace = each["trace"]
        if isinstance(trace, str | int) and trace:
            rest = _list_unknown_fields(each.get("record", {}), ANNOTATION)
            yield str(trace), {"evaluation": each["evaluation"], "start": "", "unknown": rest}
        else:
            yield fields.make_error(("trace_id",), trace, "the id of the trace")
    are_annotations = evaluations and not has_any_key(fields.value, "resourceLogs")
    for span in () if are_annotations else _list_spans(fields):
        try:
            yield span if isinstance(span, ShapeError) else _get_trace_id_and_fields(span)
        except UNREADABLE as error:
            yield translate_to_shape_error(error)


def _list_unknown_fields(record: Mapping[str, Any], known: frozenset[str]) -> list[object]:
    folds = set(map(normalise_key_spelling, record))
    if len(folds) == len(record) and folds <= known:
        return []
    found = UnknownFields()
    found.add_fields(record, known)
    return found.to_json()


def _keep_unknown_attributes(exchange: Exchange, span: Mapping[str, Any]) -> None:
    """Keep attributes that no convention has, of a span and of those events that are read."""
    named: list[tuple[str | None, Any]] = [
        (name, value)
        for key, value in span["attributes"].items()
        if (name := name_attribute_if_not_standard(key)) is not None
    ]
    for event in span["events"]:
        if str(event["name"]).startswith("gen_ai."):
            named += [
                (name_attribute_if_not_standard(key, of_event=True), value)
                for key, value in event["attributes"].items()
            ]
    for name, value in named:
        if name is not None and value not in (None, "", [], {}):
            exchange.unknown.add_value(f"attributes.{name}", value, can_be_mapped=False)


def _get_trace_id_and_fields(span: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Give the trace of a span, and what is read of it."""
    named = AnySpelling(span)
    context = parse_json_or_keep_text(named.read_first_value("context"))
    within = AnySpelling(context if isinstance(context, dict) else {})
    trace = within.read_text("trace_id") or named.read_text("trace_id", "context.trace_id")
    number = within.read_text("span_id") or named.read_text("span_id", "context.span_id", "id")
    if not trace:
        raise named.make_error(("trace_id",), None, "the id of the trace")
    attributes = flatten_span_attributes(span)
    events = []
    for event in _list_events(named):
        if event["name"] in _DETAILS:
            attributes = {**event["attributes"], **attributes}
        else:
            events.append(event)
    mapped = named.read_first_value("retrieval_context")
    if mapped is not None:
        attributes["retrieval_context"] = mapped
    own = {key: each for key, each in span.items() if not key.startswith("attributes.")}
    return (
        trace,
        {
            "id": number,
            "parent": named.read_text("parent_id", "parent_span_id"),
            "name": named.read_text("name"),
            "start": named.read_text("start_time", "start_time_unix_nano"),
            "end": named.read_text("end_time", "end_time_unix_nano"),
            "status": named.read_first_value("status_code", "status"),
            "attributes": attributes,
            "unknown": _list_unknown_fields(own, SPAN),
            "events": events,
        },
    )


def _list_events(span: AnySpelling) -> list[dict[str, Any]]:
    events = parse_json_or_keep_text(span.read_first_value("events"))
    return [
        {
            "name": AnySpelling(each).read_first_value("name"),
            "attributes": flatten_span_attributes(each),
        }
        for each in (events if isinstance(events, list) else [])
        if isinstance(each, dict)
    ]


def _make_exchange_from_trace(
    trace: str, spans: list[dict[str, Any]], options: ReadOptions
) -> Exchange | None:
    evaluations = [each["evaluation"] for each in spans if "evaluation" in each]
    unknown = [each["unknown"] for each in spans]
    spans = [each for each in spans if "evaluation" not in each]
    if not spans:
        options.notes.remarks[_NO_TRACE] += len(evaluations)
        return None
    spans.sort(key=lambda span: make_sortable_time(span["start"] or ""))
    ids = {span["id"] for span in spans}
    roots = [span for span in spans if span["parent"] not in ids or span["parent"] is None]
    root = roots[0] if roots else spans[0]
    session = next(filter(None, map(_find_session_id, (root, *spans))), trace)
    exchange = Exchange(session, root["start"] or "")
    cut = [_take_out_messages_cut_off(span["attributes"], options) for span in spans]
    exchange.messages, exchange.answer = _read_chat_messages_and_answer(
        root["attributes"], root["events"]
    )
    for (name, size), found in zip(
        cut[spans.index(root)].items(), (exchange.messages, exchange.answer), strict=False
    ):
        if size and not found:
            raise ShapeError(
                name,
                f"is JSON that cannot be read, as if it had been cut off (it has {size:,} "
                "characters): export the trace with a larger limit for the length of attributes",
            )
    evidence = EvidenceOfSpans()
    for span in spans:
        _add_passages_or_chat(exchange, evidence, span, options)
    exchange.passages = evidence.join(options)
    for span in spans:
        if "retrieval_context" in span["attributes"]:
            exchange.read_mapped_passages(AnySpelling(span["attributes"]))
        _keep_unknown_attributes(exchange, span)
    attributes = root["attributes"]
    exchange.read_rest_of_input_and_output(
        {name: attributes.get(name) for name in ("input.value", "output.value")}
    )
    parents = {span["id"]: span["parent"] for span in spans}
    others = (
        InnerStep(
            span["id"],
            span["name"],
            span["attributes"].get("output.value"),
            find_ancestors(span["id"], parents),
        )
        for span in spans
        if span is not root and _get_kind(span["attributes"]) in _OTHER_STEPS
    )
    exchange.read_outputs_of_other_steps(
        others,
        "attributes.output.value",
        "give it the `openinference.span.kind` `RETRIEVER`",
        options,
    )
    for rest in filter(None, unknown):
        exchange.unknown.add_all(UnknownFields.from_json(rest))
    free: dict[str, object] = {
        name: parse_json_or_keep_text(get_attribute_or_subkeys(attributes, name))
        for name in ("metadata", "tag.tags")
    }
    free = exchange.unknown.drop_secrets(free, "attributes.")
    exchange.details = {
        name: each
        for name, each in {
            "trace_id": trace,
            "span_id": root["id"],
            "name": root["name"],
            "start_time": root["start"],
            "end_time": root["end"],
            "tags": free.get("tag.tags"),
            "metadata": free.get("metadata"),
            "user_id": attributes.get("user.id"),
            "model": _find_model(spans),
        }.items()
        if each not in (None, "", {}, [])
    }
    exchange.scores = [score for span in spans for score in _list_scores_in_span_events(span)]
    exchange.scores += [_read_score(each, each.get("span_id")) for each in evaluations]
    steps = [
        (span["id"], _read_chat_messages_and_answer(span["attributes"], span["events"])[1])
        for span in spans
        if not _is_retrieval_or_tool(span["attributes"])
    ]
    exchange.answer_steps = list_ids_of_answer_steps(exchange.answer, steps)
    exchange.answer_steps += [each for each in (root["id"],) if each is not None]
    return exchange


def _take_out_messages_cut_off(
    attributes: dict[str, object], options: ReadOptions
) -> dict[str, int]:
    """Take out messages in JSON that ends early: an SDK cuts attributes at a length that was set.

    What is left of a result or of documents stays evidence, and is counted.

    Returns:
        Of what was taken out the length, by name: of questions, then of answers; 0 where nothing
        was.
    """
    if any(_is_json_cut_off(attributes.get(name)) for name in _JSON_EVIDENCE):
        options.notes.remarks[_CUT_EVIDENCE] += 1
    sizes: dict[str, int] = {}
    for names in (_INPUTS, _OUTPUTS):
        cut = [name for name in names if _is_json_cut_off(attributes.get(name))]
        sizes[cut[0] if cut else names[0]] = len(str(attributes[cut[0]])) if cut else 0
        for name in cut:
            del attributes[name]
        options.notes.remarks.update({_CUT_MESSAGES: len(cut)} if cut else {})
    return sizes


def _is_json_cut_off(value: object) -> bool:
    """Say whether a text is JSON but for its end; a text with more behind a value is none."""
    if not isinstance(value, str) or not _BEGINS_AS_JSON.match(value):
        return False
    try:
        json.JSONDecoder().raw_decode(value.lstrip())
    except (ValueError, RecursionError):
        return True
    return False


def _find_session_id(part: Mapping[str, Any]) -> str | None:
    attributes = part.get("attributes") or {}
    found = (attributes.get(name) for name in _SESSION)
    return next((str(each) for each in found if each not in (None, "")), None)


def _is_retrieval_or_tool(attributes: Mapping[str, object]) -> bool:
    """Say whether a span retrieved something or called a tool."""
    kind = _get_kind(attributes)
    operation = str(attributes.get("gen_ai.operation.name", "")).lower()
    return kind in ("RETRIEVER", "TOOL") or operation in ("retrieval", "execute_tool")


def _get_kind(attributes: Mapping[str, object]) -> str:
    return str(attributes.get("openinference.span.kind", "")).upper()


def _find_model(spans: list[dict[str, Any]]) -> object:
    names = ("llm.model_name", "gen_ai.response.model", "gen_ai.request.model")
    found = (span["attributes"].get(name) for span in spans for name in names)
    return next((each for each in found if each), None)


def _read_chat_messages_and_answer(
    attributes: dict[str, Any], events: list[dict[str, Any]]
) -> tuple[list[object], str | None]:
    """Read the messages and the answer that one span holds."""
    messages: list[object] = []
    for name in ("llm.input_messages", "gen_ai.prompt"):
        messages = messages or _list_messages(attributes, name)
    for name in ("gen_ai.input.messages", "input.value", "traceloop.entity.input", "gen_ai.prompt"):
        messages = messages or find_chat_messages(attributes.get(name))
    system = _read_system_instructions(attributes)
    if system and messages:
        messages = [{"role": "system", "content": system}, *messages]
    answer: str | None = None
    outputs = ("output.value", "gen_ai.output.messages", "traceloop.entity.output")
    for name in (*outputs, "gen_ai.completion"):
        answer = find_answer_text(attributes.get(name)) if answer is None else answer
    for name in ("llm.output_messages", "gen_ai.completion"):
        listed = _list_messages(attributes, name)
        answer = find_answer_text(listed) if answer is None else answer
    for event in events:
        role = str(event["name"] or "").removeprefix("gen_ai.").removesuffix(".message")
        inside = event["attributes"]
        if role in ("user", "system", "assistant", "tool"):
            content = inside.get("content", inside.get("gen_ai.prompt"))
            if content is not None:
                messages.append({"role": role, "content": content})
        elif event["name"] == "gen_ai.choice" and answer is None:
            answer = find_answer_text(inside.get("message.content") or inside.get("message"))
    return messages, answer


def _read_system_instructions(attributes: Mapping[str, object]) -> str | None:
    """Read the text of instructions, which come as a text or as a list of parts."""
    given = attributes.get("gen_ai.system_instructions")
    parts = parse_json_or_keep_text(given)
    text = find_answer_text({"parts": parts}) if isinstance(parts, list) else None
    if text is None and given not in (None, "", [], {}):
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return text


def _list_messages(attributes: Mapping[str, object], name: str) -> list[object]:
    """List numbered messages without what was hidden in them; one without its text is left out."""
    listed: list[object] = []
    for each in group_attributes_by_number(attributes, name):
        visible = _leave_out_hidden(each)
        message = _read_message(visible)
        if message["content"] or len(visible) == len(each):
            listed.append(message)
    return listed


def _leave_out_hidden(attributes: Mapping[str, object]) -> dict[str, object]:
    return {key: each for key, each in attributes.items() if each != HIDDEN}


def _read_message(fields: Mapping[str, object]) -> dict[str, object]:
    """Read one numbered message; `message.` in front of its keys does not count."""
    inner = {key.removeprefix("message."): each for key, each in fields.items()}
    message: dict[str, object] = {"role": inner.get("role", "user")}
    content = inner.get("content")
    if content is None:
        parts = [
            str(each.get("message_content.text", each.get("text", "")))
            for each in group_attributes_by_number(inner, "contents")
        ]
        content = "\n".join(part for part in parts if part)
    message["content"] = content
    for name in ("name", "tool_call_id"):
        if inner.get(name) is not None:
            message[name] = inner[name]
    calls = [
        {
            "id": each.get("tool_call.id", each.get("id")),
            "name": each.get("tool_call.function.name", each.get("name")),
            "arguments": each.get("tool_call.function.arguments", each.get("arguments")),
        }
        for each in group_attributes_by_number(inner, "tool_calls")
    ]
    if calls:
        message["tool_calls"] = calls
    return message


def _add_passages_or_chat(
    exchange: Exchange, evidence: EvidenceOfSpans, span: dict[str, Any], options: ReadOptions
) -> None:
    attributes = span["attributes"]
    kind = _get_kind(attributes)
    operation = str(attributes.get("gen_ai.operation.name", "")).lower()
    documents = group_attributes_by_number(attributes, "retrieval.documents")
    given = group_attributes_by_number(attributes, "reranker.input_documents")
    reranked = group_attributes_by_number(attributes, "reranker.output_documents")
    if HIDDEN in attributes.values():
        options.notes.remarks[_HIDDEN] += 1
    if given or reranked:
        evidence.add_reranked(span["start"], _read_documents(given), _read_documents(reranked))
    elif documents:
        found = _read_documents(documents)
        if found.documents:
            evidence.add_retrieved(span["start"], found)
    elif kind == "RETRIEVER" or operation == "retrieval":
        _add_output_of_retriever(exchange, evidence, span, options)
    elif kind == "TOOL" or operation == "execute_tool":
        name = attributes.get("tool.name") or attributes.get("gen_ai.tool.name") or span["name"]
        output = attributes.get("output.value", attributes.get("gen_ai.tool.call.result"))
        gave = read_output_of_step(output, str(name) if name else None, options)
        if gave is not None:
            evidence.add_output_of_tool(span["start"], gave)
    elif exchange.answer is None or not exchange.messages:
        messages, answer = _read_chat_messages_and_answer(attributes, span["events"])
        has_more = exchange.answer is None and _begins_with(messages, exchange.messages)
        exchange.messages = messages if has_more else exchange.messages or messages
        exchange.answer = answer if exchange.answer is None else exchange.answer


def _begins_with(messages: list[object], earlier: list[object]) -> bool:
    """Say whether a call of a model was given what one before it was, as after calls of tools."""
    return messages[: len(earlier)] == earlier


def _read_documents(documents: list[dict[str, object]]) -> PassageList:
    """Read numbered documents without what was hidden in them; one without its text is left out."""
    listed = []
    for document in documents:
        visible = {
            key.removeprefix("document."): each for key, each in _leave_out_hidden(document).items()
        }
        if "content" in visible or len(visible) == len(document):
            listed.append(visible)
    return read_passage_list(listed, "retrieval.documents")


def _add_output_of_retriever(
    exchange: Exchange, evidence: EvidenceOfSpans, span: dict[str, Any], options: ReadOptions
) -> None:
    """Add what a retriever gave without documents in attributes of their own.

    OpenInference writes no attribute at all for an empty list of documents, nor does a span that
    failed: what that retrieved is not known.
    """
    attributes = span["attributes"]
    listed = attributes.get("retrieval.documents")
    output = attributes.get("output.value", attributes.get("gen_ai.retrieval.documents"))
    if listed not in (None, "", []):
        exchange.unknown.add_value("attributes.retrieval.documents", listed, can_be_mapped=False)
    elif output is None and "openinference.span.kind" in attributes:
        output = []
    found = read_output_of_step(output, span["name"], options, has_failed=_has_failed(span))
    if found is not None:
        evidence.add_retrieved(span["start"], found)


def _has_failed(span: Mapping[str, Any]) -> bool:
    """Say whether the status of a span is an error: a word or OpenTelemetry's number, or both."""
    status = parse_json_or_keep_text(span["status"])
    if isinstance(status, dict):
        status = AnySpelling(status).read_first_value("code", "status_code")
    return str(status).upper().rpartition("_")[2].rpartition(".")[2] in ("ERROR", "2")


def _list_scores_in_span_events(span: dict[str, Any]) -> Iterator[TraceScore]:
    """List the evaluations that came as events of a span."""
    for event in span["events"]:
        if event["name"] != _EVALUATION:
            continue
        yield _read_score(event["attributes"], span["id"])


def _read_score(inside: dict[str, Any], span: object) -> TraceScore:
    """Read an evaluation by its attributes, and the id of its span."""
    name = str(inside.get("gen_ai.evaluation.name", "evaluation"))
    value = inside.get("gen_ai.evaluation.score.value")
    label = inside.get("gen_ai.evaluation.score.label")
    kind = str(inside.get("annotator_kind", "LLM")).upper()
    person = inside.get("annotator", inside.get("user.id"))
    model = inside.get("gen_ai.request.model", inside.get("judge"))
    judge = name_score_judge(None if model is None else str(model), name, "evaluation")
    return TraceScore(
        name,
        label if value is None else value,
        inside.get("gen_ai.evaluation.explanation"),
        annotator=str(person or "unknown") if kind == "HUMAN" else None,
        judge=None if kind == "HUMAN" else judge,
        details=inside,
        step=str(span) if span else None,
    )


READER = TraceReader(
    "spans",
    "OpenInference and OpenTelemetry GenAI spans",
    _explain_match,
    _iterate_trace_records,
    _make_exchange_from_trace,
    _find_session_id,
)
