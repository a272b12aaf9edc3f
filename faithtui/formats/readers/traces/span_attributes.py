"""Attributes of spans, however they came, as one flat mapping.

They come flat (`retrieval.documents.0.document.content`), nested, with `attributes.` in front of
each, or as OTLP's list of keys and values. Those of which the conventions say that they are one
value are never taken apart.

Source: OpenTelemetry `gen-ai-spans.md`: structured attributes come as structures, or as JSON in a
text where an instrumentation cannot record them so.
"""

from collections.abc import Mapping
from typing import Final

from faithtui.formats.readers.traces.exchanges import parse_json_or_keep_text
from faithtui.formats.readers.values.key_spellings import AnySpelling

_LISTS: Final = (
    "retrieval.documents",
    "reranker.input_documents",
    "reranker.output_documents",
    "llm.input_messages",
    "llm.output_messages",
)
"""Attributes that are lists of objects, which a cell of a table holds as text."""

_VALUES: Final = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.retrieval.documents",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "input.value",
    "output.value",
    "traceloop.entity.input",
    "traceloop.entity.output",
    "retrieval_context",
    "content",
    "message.content",
)
"""Attributes that are one value: a text, perhaps of JSON, a structure, or spread over keys."""
_BEGINNINGS_OF_VALUES: Final = tuple(f"{name}." for name in _VALUES)


def flatten_span_attributes(span: Mapping[str, object]) -> dict[str, object]:
    """Give the attributes of a span or of an event by their dotted names."""
    fields = AnySpelling(span)
    given = parse_json_or_keep_text(fields.read_first_value("attributes"))
    flat: dict[str, object] = {}
    if isinstance(given, list):
        for each in given:
            if isinstance(each, dict) and isinstance(each.get("key"), str):
                _flatten_to_dotted_keys(_read_otlp_value(each.get("value")), each["key"], flat)
    elif isinstance(given, dict):
        for key, value in given.items():
            _flatten_to_dotted_keys(value, key, flat)
    for key, value in span.items():
        if key.startswith("attributes.") and value is not None:
            _flatten_to_dotted_keys(value, key.removeprefix("attributes."), flat)
    kind = fields.read_first_value("span_kind")
    if isinstance(kind, str) and "openinference.span.kind" not in flat:
        flat["openinference.span.kind"] = kind
    return _join_values_spread_over_keys(flat)


def _join_values_spread_over_keys(flat: dict[str, object]) -> dict[str, object]:
    """Give back as one value what came as `gen_ai.input.messages.0.role` and so on."""
    subkeys = [key for key in flat if key.startswith(_BEGINNINGS_OF_VALUES)]
    for name in _VALUES if subkeys else ():
        start = f"{name}."
        own = [key for key in subkeys if key.startswith(start)]
        if own and name not in flat:
            flat[name] = _nest_dotted_keys({key.removeprefix(start): flat.pop(key) for key in own})
    return flat


def _nest_dotted_keys(fields: Mapping[str, object]) -> object:
    """Make objects of dotted keys, and lists where all keys are numbers."""
    found: dict[str, dict[str, object]] = {}
    for key, value in fields.items():
        first, _, rest = key.partition(".")
        found.setdefault(first, {})[rest] = value
    nested = {
        first: inner[""] if "" in inner else _nest_dotted_keys(inner)
        for first, inner in found.items()
    }
    if all(key.isascii() and key.isdecimal() for key in nested):
        return [nested[key] for key in sorted(nested, key=lambda key: (len(key), key))]
    return nested


def group_attributes_by_number(
    attributes: Mapping[str, object], name: str
) -> list[dict[str, object]]:
    """Bring together what is spread over numbered keys from 0."""
    found: dict[int, dict[str, object]] = {}
    start = f"{name}."
    for key, value in attributes.items():
        if not key.startswith(start):
            continue
        number, _, rest = key.removeprefix(start).partition(".")
        if number.isdigit():
            found.setdefault(int(number[:6]), {})[rest or "value"] = value
    return [found[number] for number in sorted(found)]


def get_attribute_or_subkeys(attributes: Mapping[str, object], name: str) -> object:
    """Give an attribute, or as an object those whose names begin with its name and a dot."""
    if name in attributes:
        return attributes[name]
    start = f"{name}."
    return {
        key.removeprefix(start): value for key, value in attributes.items() if key.startswith(start)
    }


def _flatten_to_dotted_keys(value: object, key: str, flat: dict[str, object]) -> None:
    if key in _VALUES:
        flat[key] = value
    elif isinstance(value, dict):
        for name, each in value.items():
            _flatten_to_dotted_keys(each, f"{key}.{name}", flat)
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        for place, each in enumerate(value):
            _flatten_to_dotted_keys(each, f"{key}.{place}", flat)
    elif isinstance(value, str) and isinstance(inner := _parse_list(key, value), list):
        _flatten_to_dotted_keys(inner, key, flat)
    else:
        flat[key] = value


def _parse_list(key: str, value: str) -> object:
    return parse_json_or_keep_text(value) if key in _LISTS else value


def _read_otlp_value(value: object) -> object:
    if not isinstance(value, dict):
        return value
    for name, each in value.items():
        match name:
            case "arrayValue":
                values = each.get("values", []) if isinstance(each, dict) else []
                return [_read_otlp_value(item) for item in values]
            case "kvlistValue":
                values = each.get("values", []) if isinstance(each, dict) else []
                return {item["key"]: _read_otlp_value(item.get("value")) for item in values}
            case "intValue":
                return int(each) if isinstance(each, str) else each
            case _:
                return each
    return None
