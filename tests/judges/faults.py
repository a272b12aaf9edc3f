"""Everything that goes wrong with providers, by name: the fault matrix as values.

A fault changes an answer at one of three places: the reply's object, the reply's text, or what
goes over the wire. `FaultServer` decides when which one happens.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

Json = Any


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong."""

    kind: str
    """A key of `OBJECTS` or `TEXTS`, or one of `WIRE`."""
    status: int = 500
    """Of kind `status`."""
    code: str = ""
    """What the error calls itself; of kind `status`."""
    message: str = "something went wrong"
    retry_after: str | None = None
    """The header, in seconds or as a date; of kind `status`."""
    echo_key: bool = False
    """Put the key into the message; of kind `status`."""
    seconds: float = 0.05
    """Between two bytes, of kind `drip`; before the answer, of kind `slow`."""

    @property
    def name(self) -> str:
        """For tables: the kind, and of a status which one."""
        return f"{self.kind} {self.code or self.status}" if self.kind == "status" else self.kind


WIRE: Mapping[str, bool] = MappingProxyType(
    {
        "status": False,
        "reset_before": False,
        "reset_mid_body": True,
        "close_mid_body": True,
        "bad_chunk": True,
        "hang": False,
        "drip": True,
        "slow": True,
        "not_json": False,
        "empty_body": True,
        "truncated_envelope": True,
        "no_choices": True,
        "max_tokens": True,
        "null_content": True,
        "refusal": True,
        "content_filter": True,
        "no_usage": True,
        "bad_usage": True,
        "huge_usage": True,
        "unknown_finish": True,
        "extra_fields": True,
    }
)
"""Faults outside the reply's text, and whether the provider bills the answer nevertheless."""


def _wrong_schema(reply: Json) -> Json:
    return {"unexpected": list(reply)}


def _with_each(field: str, change: Callable[[Json], Json]) -> Callable[[Json], Json]:
    def changed(reply: Json) -> Json:
        if isinstance(reply, dict):
            return {
                name: change(each) if name == field else changed(each)
                for name, each in reply.items()
            }
        return [changed(each) for each in reply] if isinstance(reply, list) else reply

    return changed


def _missing_verdict(reply: Json) -> Json:
    return dict(list(reply.items())[:-1]) if _holds_verdicts(reply) else reply


def _extra_verdict(reply: Json) -> Json:
    if not _holds_verdicts(reply):
        return reply
    return {**reply, "c999": next(iter(reply.values()))}


def _empty_list(reply: Json) -> Json:
    return {name: [] if isinstance(each, list) else each for name, each in reply.items()}


def _bad_index(reply: Json) -> Json:
    if not _holds_verdicts(reply):
        return reply
    return {
        name: {**each, "sufficient": [["t999"], ["x"]]} if "sufficient" in each else each
        for name, each in reply.items()
    }


def _holds_verdicts(reply: Json) -> bool:
    return bool(reply) and all(isinstance(e, dict) and "verdict" in e for e in reply.values())


OBJECTS: Mapping[str, Callable[[Json], Json]] = MappingProxyType(
    {
        "wrong_schema": _wrong_schema,
        "wrong_enum": _with_each("verdict", lambda word: "perhaps"),
        "upper_enum": _with_each("verdict", lambda word: f" {str(word).upper()} "),
        "missing_verdict": _missing_verdict,
        "extra_verdict": _extra_verdict,
        "empty_list": _empty_list,
        "empty_object": lambda reply: {},
        "bad_index": _bad_index,
        "reorder": lambda reply: dict(reversed(reply.items())),
        "surrogates": _with_each("reason", lambda text: f"\ud83d{text}\udc00"),
        "nul": _with_each("reason", lambda text: f"\0{text}\0"),
        "bidi": _with_each("reason", lambda text: f"\u202e{text}\u2066\x1b[31m"),
        "fake_quote": _with_each(
            "reason", lambda text: f'{text} As it says: "The moon is a lamp."'
        ),
    }
)
"""What changes the reply's object. Where there is nothing to change, nothing goes wrong."""

TEXTS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        "truncated_content": lambda text: text[: len(text) // 2],
        "empty_content": lambda text: "",
        "whitespace_content": lambda text: " \n ",
        "prose_only": lambda text: "Most of it seems right to me.",
        "fenced": lambda text: f"```json\n{text}\n```",
        "prose": lambda text: f"Here is what you asked for:\n\n{text}\n\nTell me if I can help.",
        "think": lambda text: f'<think>Maybe {{"reason": "no"}}? Hm.</think>\n{text}',
        "trailing_comma": lambda text: f"{text[:-1]},}}" if text != "{}" else text,
        "two_objects": lambda text: f'{{"draft": [1, 2]}}\n\nNo, better:\n{text}',
        "nan": lambda text: '{"confidence": NaN, ' + text[1:],
        "dup_keys": lambda text: text[:-1] + ", " + text[1:],
        "dup_ids": lambda text: text[:-1] + ', "c0": {"reason": "", "verdict": "no"}}',
        "deep": lambda text: '{"a": ' * 20_000 + text + "}" * 20_000,
        "huge": lambda text: text[:-1] + f', "filler": "{"x" * 20_000_000}"}}',
    }
)
"""What changes the reply's text."""


def status(number: int, **changes: Any) -> Fault:
    """A refusal by status."""
    return Fault("status", number, **changes)


FAULTS: Mapping[str, tuple[Fault, ...]] = MappingProxyType(
    {
        "F01": (status(429, code="rate_limit_exceeded", retry_after="1"),),
        "F02": (status(429, code="rate_limit_exceeded"),),
        "F03": (
            status(429, retry_after="3600"),
            status(429, retry_after="Fri, 20 Nov 2099 12:00:30 GMT"),
        ),
        "F04": (
            status(429, code="insufficient_quota"),
            status(429, code="enforced_spend_limit_reached"),
            status(402, code="billing_error"),
        ),
        "F05": (status(401, echo_key=True), status(403, echo_key=True)),
        "F06": (status(500), status(502), status(503), status(529, code="overloaded_error")),
        "F07": (status(500),),
        "F08": tuple(map(Fault, ("reset_before", "reset_mid_body", "close_mid_body", "bad_chunk"))),
        "F09": (Fault("hang"),),
        "F10": (Fault("drip"),),
        "F11": tuple(map(Fault, ("not_json", "empty_body", "truncated_envelope", "no_choices"))),
        "F12": (Fault("truncated_content"),),
        "F13": (Fault("max_tokens"),),
        "F14": tuple(map(Fault, ("wrong_schema", "wrong_enum", "upper_enum"))),
        "F15": tuple(map(Fault, ("missing_verdict", "extra_verdict", "empty_list"))),
        "F16": tuple(map(Fault, ("dup_ids", "bad_index", "reorder"))),
        "F17": tuple(map(Fault, ("empty_content", "null_content", "whitespace_content"))),
        "F18": tuple(map(Fault, ("refusal", "content_filter"))),
        "F19": tuple(map(Fault, ("fenced", "prose", "think", "trailing_comma", "two_objects"))),
        "F20": tuple(map(Fault, ("nan", "dup_keys", "deep", "huge"))),
        "F21": tuple(map(Fault, ("surrogates", "nul", "bidi"))),
        "F22": (Fault("fake_quote"),),
        "F23": tuple(map(Fault, ("no_usage", "bad_usage", "huge_usage"))),
        "F24": tuple(map(Fault, ("unknown_finish", "extra_fields"))),
        # F25 and F26 are no faults of an answer: see `knows` and `ignores` of `FaultConfig`.
        "F25": (),
        "F26": (Fault("prose_only"),),
    }
)
"""The rows of the fault matrix that a server can cause."""

LASTING = frozenset({"F03", "F04", "F05", "F18"})
"""Rows that end a run or lose a question by design, however often it is asked."""

PASSING = tuple(
    fault
    for row, faults in FAULTS.items()
    for fault in faults
    if row not in LASTING and fault.kind not in ("empty_list", "huge")
)
"""Everything that a run must come through with the scores it would have had. An empty list makes
another answer, which nobody can tell from a true one."""


def changed_object(fault: Fault | None, reply: Json) -> Json:
    """Change a reply's object, if the fault is of that kind and there is something to change."""
    change = None if fault is None else OBJECTS.get(fault.kind)
    return reply if change is None or not isinstance(reply, dict) else change(reply)


def changed_text(fault: Fault | None, text: str) -> str:
    """Change a reply's text, if the fault is of that kind."""
    change = None if fault is None else TEXTS.get(fault.kind)
    return text if change is None else change(text)


def fault_named(name: Mapping[str, Json]) -> Fault:
    """Read a fault from JSON.

    Raises:
        ValueError: There is no such kind.
    """
    fault = Fault(**name)
    if fault.kind not in {*WIRE, *OBJECTS, *TEXTS}:
        raise ValueError(f"no such fault: {fault.kind}")
    return fault


def as_json(value: Json) -> str:
    """Write a reply as a model would; lone surrogates stay, escaped."""
    return value if isinstance(value, str) else json.dumps(value)
