"""What ragas, LlamaIndex and DeepEvalEx make of an oracle case, worked out step by step.

Written from the peers' own order of steps and from nothing of faithtui.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.parity.reference_judge import (
    PeerError,
    fault_of,
    known_claims,
    known_truths,
    known_verdict,
    too_few_or_many,
)

Json = Any

OUR_WINDOW = 3900
NOT_CONTEXT = 256 + 500 + 241
"""Tokens of a LlamaIndex prompt that are no context: the answer to come, padding, the question."""
SWALLOWED = ("ValueError", "TypeError", "ValidationError")


def ragas(case: Mapping[str, Json]) -> dict[str, Json]:
    """Work out a case of ragas 0.4.3, its older class.

    Raises:
        PeerError: The peer ends with an exception.
    """
    judge, given = case.get("judge") or {}, case["input"]
    if given.get("answer") is None or given.get("question") is None:
        raise PeerError("missing_params")
    statements = _statements(
        _ragas_reply(judge, "claims", {"statements": known_claims(judge, [given["answer"]])}, str)
    )
    if not statements:
        return _result("NaN", None)
    contexts = given.get("contexts")
    if contexts is None:
        raise PeerError("missing_params")
    truths = known_truths(judge, contexts, None)
    listed = [
        {
            "statement": each,
            "reason": "because",
            "verdict": _number(known_verdict(judge, each, truths)),
        }
        for each in statements
    ]
    entries = []
    for each in too_few_or_many(judge, listed):
        if not isinstance(each, dict):
            each = {"statement": "one more", "reason": "because", "verdict": each}
        entries.append({**each, "verdict": _number(each["verdict"])} if "verdict" in each else each)
    verdicts = _statements(_ragas_reply(judge, "verdicts", {"statements": entries}, int))
    if not verdicts:
        return _result("NaN", None)
    return _result(len([each for each in verdicts if each != 0]) / len(verdicts), None)


def _number(word: Json) -> Json:
    return {"yes": 1, "no": 0, "idk": 0}.get(word, word) if isinstance(word, str) else word


def _statements(found: list[Json] | None) -> list[Json]:
    if found is None:
        raise PeerError("invalid_judge_reply")
    return found


def _ragas_reply(
    judge: Mapping[str, Json], step: str, answer: Json, kind: type
) -> list[Json] | None:
    """Ask, and have a reply that cannot be read repaired once."""
    fault = fault_of(judge, step)
    text = fault["raw"] if "raw" in fault else json.dumps(fault.get("reply", answer))
    found = _ragas_list(_json_in(text), kind)
    return _ragas_list(judge.get("fixed_text", ""), kind) if found is None else found


def _json_in(text: str) -> str:
    """Cut out the first bracket and what belongs to it; brackets in strings count too."""
    fence = text.find("```json")
    text = text[max(0, fence) :]
    start = next((n for n, char in enumerate(text) if char in "[{"), None)
    if start is None:
        return text
    pair = "[]" if text[start] == "[" else "{}"
    depth = 0
    for end in range(start, len(text)):
        depth += (text[end] == pair[0]) - (text[end] == pair[1])
        if depth == 0:
            return text[start : end + 1]
    return text


def _ragas_list(text: str, kind: type) -> list[Json] | None:
    value = next(_values(text), None)
    listed = value.get("statements") if isinstance(value, dict) else None
    if not isinstance(listed, list):
        return None
    if kind is str:
        return listed if all(isinstance(each, str) for each in listed) else None
    verdicts = []
    for each in listed:
        if not isinstance(each, dict) or not all(
            isinstance(each.get(name), str) for name in ("statement", "reason")
        ):
            return None
        verdict = _whole(each.get("verdict"))
        if verdict is None:
            return None
        verdicts.append(verdict)
    return verdicts


def _values(text: str) -> Iterator[Json]:
    """Read JSON between fences, complete what was cut off, and shorten until something is left."""
    environment = " \n\r\t`"
    text = text.strip(environment).removeprefix("json").strip(environment)
    if text[:1] not in ("{", "["):
        return
    try:
        yield json.loads(text, strict=False)
    except ValueError:
        completed = _completed(text)
        if completed is None:
            return
        text, closing = completed
        for end in range(len(text), 0, -1):
            try:
                yield json.loads(text[:end] + closing, strict=False)
            except ValueError:
                continue


def _completed(text: str) -> tuple[str, str] | None:
    """Close an open string; give the text, and the brackets that are still open in it.

    None when a bracket closes what is not open.
    """
    open_brackets: list[str] = []
    in_string = escaped = False
    for char in text:
        if escaped:
            escaped = False
        elif in_string:
            escaped = char == "\\"
            in_string = char != '"'
        elif char == '"':
            in_string = True
        elif char in "[{":
            open_brackets.append("]" if char == "[" else "}")
        elif char in "]}" and (not open_brackets or open_brackets.pop() != char):
            return None
    if in_string:
        text = (text[:-1] if escaped else text) + '"'
    return text, "".join(reversed(open_brackets))


def _whole(value: Json) -> int | None:
    """Read a whole number as pydantic does: from a text and a truth value too."""
    if isinstance(value, str):
        digits = value.strip()
        whole, _, rest = digits.partition(".")
        if not digits.isascii() or rest.strip("0"):
            return None
        value = whole
    if isinstance(value, float) and (math.isnan(value) or value != int(value)):
        return None
    try:
        return int(value)
    except (TypeError, ValueError):
        return None


def llamaindex(case: Mapping[str, Json]) -> dict[str, Json]:
    """Work out a case of llama-index-core 0.14.25.

    How many prompts there are depends on the tokenizer, so it is taken from the recorded `calls`;
    it is one where nothing is recorded.

    Raises:
        PeerError: The peer ends with an exception.
    """
    judge, given, options = case.get("judge") or {}, case["input"], case.get("options") or {}
    answer, contexts = given.get("answer"), given.get("contexts")
    if answer is None or contexts is None:
        raise PeerError("missing_params")
    # White space alone makes no node, an empty text an empty one.
    contexts = [each for each in contexts if each == "" or _spelt_out(each).strip()]
    window = options.get("context_window", judge.get("context_window", OUR_WINDOW))
    # A word is a token here or more; the cases keep away from the border.
    if contexts and window <= NOT_CONTEXT + len(answer.split()):
        raise PeerError("judge_context_window_too_small")
    calls = case.get("expected", {}).get("calls") or {}
    feedback = _last_reply(judge, contexts, sum(calls.values()))
    passing = "yes" in feedback.lower()
    if not passing and options.get("raise_error"):
        raise PeerError("not_faithful_raised")
    return {**_result(float(passing), passing), "feedback": feedback}


def _last_reply(judge: Mapping[str, Json], contexts: Sequence[Json], prompts: int) -> str:
    wanted = judge.get("yes_if_context_has") or []
    texts = [_spelt_out(each) for each in contexts]
    replies = judge.get("replies")
    latest = ""
    for number in range(max(prompts, 1) if contexts else 0):
        fault = (judge.get("faults") or {}).get("refine" if latest else "question") or {}
        if "raise" in fault:
            if fault["raise"] in SWALLOWED:
                continue
            raise PeerError("judge_error")
        if "raw" in fault:
            reply = fault["raw"]
        elif replies:
            reply = replies[min(number, len(replies) - 1)]
        else:
            # Which prompt shows it does not matter: a YES is kept.
            found = latest == "YES" or any(want in text for want in wanted for text in texts)
            reply = "YES" if found else "NO"
        latest = reply or latest
    return latest or "Empty Response"


def _spelt_out(context: Json) -> str:
    if not isinstance(context, dict):
        return str(context)
    words = [f"{context['prefix']}{n}" for n in range(context["words"])]
    if "marker" in context:
        words.insert(context["at"], context["marker"])
    return " ".join(words)


def deepevalex(case: Mapping[str, Json]) -> dict[str, Json]:
    """Work out a case of DeepEvalEx 0.1.0, from its source.

    Raises:
        PeerError: The peer ends with an error.
    """
    judge, given, options = case.get("judge") or {}, case["input"], case.get("options") or {}
    own, alias = given.get("retrieval_context"), given.get("context")
    if not given.get("question") or not given.get("answer") or not (own or alias):
        raise PeerError("missing_params")
    documents = alias if own is None else own
    limit = options.get("truths_extraction_limit")
    truths = _elixir_list(judge, "truths", known_truths(judge, documents, limit))
    claims = _elixir_list(judge, "claims", known_claims(judge, [given["answer"]]))
    labels = []
    if claims:
        words = too_few_or_many(judge, [known_verdict(judge, claim, truths) for claim in claims])
        entries = [
            each if isinstance(each, dict) else {"verdict": each, "reason": "because"}
            for each in words
        ]
        for each in _elixir_list(judge, "verdicts", entries):
            if each is not None and not isinstance(each, dict):
                raise PeerError("invalid_judge_reply")
            word = (each or {}).get("verdict")
            folded = word.strip().lower() if isinstance(word, str) else "idk"
            labels.append(folded if folded in ("yes", "no") else "idk")
    score = 1.0 - labels.count("no") / len(labels) if labels else 1.0
    if options.get("include_reason", True):
        reason = _elixir_reply(judge, "reason", {"reason": "because"})
        if not isinstance(reason, dict) or not isinstance(reason.get("reason"), str):
            raise PeerError("invalid_judge_reply")
    threshold = options.get("threshold", 0.5)
    # Numbers sort before `nil`, so that nothing reaches a threshold that is not there.
    success = threshold is not None and score >= threshold
    return {**_result(score, success), "verdicts": labels}


def _elixir_list(judge: Mapping[str, Json], step: str, answer: Sequence[Json]) -> list[Json]:
    reply = _elixir_reply(judge, step, {step: list(answer)})
    listed = reply.get(step) if isinstance(reply, dict) else None
    if not isinstance(listed, list):
        raise PeerError("invalid_judge_reply")
    return listed


def _elixir_reply(judge: Mapping[str, Json], step: str, answer: Json) -> Json:
    fault = fault_of(judge, step)
    if "raw" not in fault:
        return fault.get("reply", answer)
    try:
        return json.loads(fault["raw"])
    except ValueError as error:
        raise PeerError("invalid_judge_reply") from error


def _result(score: Json, success: bool | None) -> dict[str, Json]:
    return {
        "error": None,
        "score": round(score, 12) if isinstance(score, float) else score,
        "success": success,
    }
