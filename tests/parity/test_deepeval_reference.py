"""What deepeval 4.3.1 makes of an oracle case, worked out step by step; faithtui agrees on any.

Written from the peer's own order of steps and from nothing of faithtui, so that the two can be
compared: plain lists and dicts, one window after the other, no concurrency, nothing asked once.
"""

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parity import run_cases
from tests.parity.reference_judge import (
    PeerError,
    fault_of,
    known_claims,
    known_truths,
    known_verdict,
    too_few_or_many,
)
from tests.parity.strategies import (
    CLAIMS,
    DOCUMENTS,
    MESSAGES,
    SLOPPY,
    any_reply,
    any_text,
    cases,
    failing_steps,
    fixed_replies,
    random_conversation,
    random_options,
    wrong_counts,
)

Json = Any

IMAGE = re.compile(r"\[DEEPEVAL:(?:IMAGE|PDF):(.*?)\]")


def work_out_conversation(case: Mapping[str, Json]) -> dict[str, Json]:
    """Work out a conversation: what a recording says, as far as it can be compared."""
    try:
        return measured(case)
    except PeerError as error:
        failed = {"error": {"kind": error.kind}, "score": None, "success": None}
        return {**failed, "n_windows": 0, "windows": []}


def differences(case: Json, strategy: run_cases.Strategy) -> list[str]:
    got = asyncio.run(run_cases.measured(case, run_cases.judge_of(case), strategy))
    return run_cases.differences(work_out_conversation(case), got, ())


def measured(case: Mapping[str, Json]) -> dict[str, Json]:
    """Work out a conversation under turn faithfulness or turn contextual relevancy.

    Raises:
        PeerError: The peer ends with an exception.
    """
    options = case.get("options") or {}
    judge = case.get("judge") or {}
    turns = case["input"].get("turns")
    _check_turns(turns)
    if not judge.get("multimodal") and any(_has_image(turn) for turn in turns):
        raise PeerError("unsupported_multimodal")
    strict = options.get("strict_mode", False)
    threshold = 1 if strict else options.get("threshold", 0.5)
    judged = _faithfulness_window if case["metric"] == "turn_faithfulness" else _relevancy_window
    windows = [
        _window(positions, turns, options, judge, judged)
        for positions in _windows(turns, options.get("window_size", 10))
    ]
    total = 0.0
    for window in windows:
        total += window["score"]
    score = total / len(windows) if windows else 1.0
    if options.get("include_reason", True) and windows:
        _reason(judge, "final_reason")
    return {
        "error": None,
        "score": round(score, 12),
        "success": None if threshold is None else score >= threshold,
        "n_windows": len(windows),
        "windows": [{**window, "score": round(window["score"], 12)} for window in windows],
    }


def _check_turns(turns: Json) -> None:
    if not isinstance(turns, list) or not turns:
        raise PeerError("invalid_input")
    for turn in turns:
        context = turn.get("retrieval_context")
        if (
            turn.get("role") not in ("user", "assistant")
            or not isinstance(turn.get("content"), str)
            or not isinstance(context, list | None)
            or not all(_is_document(each) for each in context or [])
        ):
            raise PeerError("invalid_input")


def _is_document(given: Json) -> bool:
    if isinstance(given, dict):
        return isinstance(given.get("context"), str) and isinstance(given.get("source"), str)
    return isinstance(given, str)


def _has_image(turn: Mapping[str, Json]) -> bool:
    texts = [turn["content"]]
    for document in turn.get("retrieval_context") or []:
        texts.append(document["context"] if isinstance(document, dict) else document)
    return any(IMAGE.search(text) for text in texts)


def _windows(turns: Sequence[Json], size: int) -> list[list[int]]:
    """Give the positions of the turns of each window."""
    units: list[list[int]] = []
    current: list[int] = []
    has_user = False
    for position, turn in enumerate(turns):
        if (
            current
            and turns[current[-1]]["role"] == "assistant"
            and turn["role"] == "user"
            and has_user
        ):
            units.append(current)
            current = [position]
            continue
        current.append(position)
        if turn["role"] == "user":
            has_user = True
    if len(current) > 1 and turns[current[-1]]["role"] == "assistant" and has_user:
        units.append(current)
    windows = []
    for last in range(len(units)):
        window: list[int] = []
        for unit in units[max(0, last - size + 1) : last + 1]:
            window.extend(unit)
        windows.append(window)
    return windows


def _window(
    positions: Sequence[int],
    turns: Sequence[Json],
    options: Mapping[str, Json],
    judge: Mapping[str, Json],
    judged: Callable[..., tuple[list[str], tuple[str, ...]]],
) -> dict[str, Json]:
    said: dict[str, list[str]] = {"user": [], "assistant": []}
    documents: list[Json] = []
    for position in positions:
        said[turns[position]["role"]].append(turns[position]["content"])
        if turns[position]["role"] == "assistant":
            documents.extend(turns[position].get("retrieval_context") or [])
    if any(isinstance(document, dict) for document in documents):
        raise PeerError("type_error")
    labels, passing = judged(documents, said, options, judge)
    score = 1.0
    if labels:
        score = len([label for label in labels if label in passing]) / len(labels)
        if options.get("strict_mode") and score < 1:
            score = 0.0
        if options.get("include_reason", True):
            _reason(judge, "reason")
    return {"turns": list(positions), "score": score, "verdicts": labels}


def _faithfulness_window(
    documents: Sequence[str],
    said: Mapping[str, Sequence[str]],
    options: Mapping[str, Json],
    judge: Mapping[str, Json],
) -> tuple[list[str], tuple[str, ...]]:
    limit = options.get("truths_extraction_limit")
    truths = _texts(judge, "truths", known_truths(judge, documents, limit))
    claims = _texts(judge, "claims", known_claims(judge, said["assistant"]))
    labels = []
    if claims:
        words = too_few_or_many(judge, [known_verdict(judge, claim, truths) for claim in claims])
        entries = [
            each if isinstance(each, dict) else {"verdict": each, "reason": "because"}
            for each in words
        ]
        # A judge bound to the schema writes `borderline` for what the case calls `idk`.
        labels = _labels(judge, entries, ("yes", "no", "borderline", "idk"), ())
    return labels, ("yes",) if options.get("penalize_ambiguous_claims") else ("yes", "idk")


def _relevancy_window(
    documents: Sequence[str],
    said: Mapping[str, Sequence[str]],
    options: Mapping[str, Json],
    judge: Mapping[str, Json],
) -> tuple[list[str], tuple[str, ...]]:
    labels = []
    for document in documents:
        entries = []
        for each in too_few_or_many(judge, (judge.get("statements") or {}).get(document, [])):
            if not isinstance(each, dict):
                each = {"statement": "one more", "verdict": each}
            wanted = each.get("relevant_to", [])
            serves = wanted == "*" or any(message in wanted for message in said["user"])
            entries.append({"verdict": "yes" if serves else "no", "reason": "because", **each})
        labels += _labels(judge, entries, ("yes", "no"), ("statement",))
    return labels, ("yes",)


def _labels(
    judge: Mapping[str, Json],
    entries: Sequence[Json],
    words: Sequence[str],
    texts: Sequence[str],
) -> list[str]:
    """Read a list of verdicts; every one that counts must have these texts."""
    reply, checked = _reply(judge, "verdicts", {"verdicts": list(entries)})
    listed: Json = reply.get("verdicts") if isinstance(reply, dict) else None
    if checked and not isinstance(listed, list):
        raise PeerError("invalid_judge_reply")
    if not isinstance(listed or [], list):
        raise PeerError("invalid_judge_reply")
    labels = []
    for each in listed or []:
        if not isinstance(each, dict):
            raise PeerError("invalid_judge_reply")
        word = each.get("verdict")
        if checked and word not in words:
            raise PeerError("invalid_judge_reply")
        found = re.match("[a-z]+", word.strip().lower()) if isinstance(word, str) else None
        if not found or found.group() not in words:
            continue
        if not isinstance(each.get("reason"), str | None) or not all(
            isinstance(each.get(text), str) for text in texts
        ):
            raise PeerError("invalid_judge_reply")
        labels.append("idk" if found.group() == "borderline" else found.group())
    return labels


def _texts(judge: Mapping[str, Json], step: str, answer: list[str]) -> list[str]:
    reply, _ = _reply(judge, step, {step: answer})
    texts = reply.get(step) if isinstance(reply, dict) else None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise PeerError("invalid_judge_reply")
    return texts


def _reason(judge: Mapping[str, Json], step: str) -> None:
    reply, checked = _reply(judge, step, {"reason": "because"})
    if not isinstance(reply, dict) or "reason" not in reply:
        raise PeerError("invalid_judge_reply")
    if not checked and (reply["reason"] is None or step == "final_reason"):
        return
    if not isinstance(reply["reason"], str):
        raise PeerError("invalid_judge_reply")


def _reply(judge: Mapping[str, Json], step: str, answer: Json) -> tuple[Json, bool]:
    """Give the reply to a question, and whether it comes as a checked structure."""
    fault = fault_of(judge, step)
    if "raw" in fault:
        return _loose(fault["raw"]), False
    reply = fault.get("reply", answer)
    if judge.get("reply_style", "schema") == "schema":
        return reply, True
    return _loose(json.dumps(reply)), False


def _loose(text: str) -> Json:
    start, end = text.find("{"), text.rfind("}") + 1
    if end == 0 and start != -1:
        text += "}"
        end = len(text)
    piece = text[start:end] if start != -1 and end != 0 else ""
    for attempt in (piece, re.sub(r",\s*([\]}])", r"\1", piece)):
        try:
            return json.loads(attempt)
        except json.JSONDecodeError:
            continue
    raise PeerError("invalid_judge_reply")


def _statements(words: tuple[Json, ...]) -> st.SearchStrategy[Json]:
    name = st.fixed_dictionaries({"statement": st.sampled_from(CLAIMS)})
    serving = st.fixed_dictionaries(
        {"relevant_to": st.just("*") | st.lists(st.sampled_from(MESSAGES), max_size=2)}
    )
    judged = st.fixed_dictionaries(
        {"verdict": st.sampled_from(words)}, optional={"reason": st.none() | st.just("r")}
    )
    entry = st.builds(lambda one, other: {**one, **other}, name, serving | judged)
    return st.dictionaries(st.sampled_from(DOCUMENTS), st.lists(entry, max_size=3))


@st.composite
def relevancy_cases(draw: st.DrawFn, *, faults: bool = False) -> Json:
    """A case of turn contextual relevancy whose faults, if any, are questions that fail."""
    words = SLOPPY if draw(st.booleans()) else ("yes", "no")
    return {
        "id": "random",
        "metric": "turn_contextual_relevancy",
        "options": draw(random_options()),
        "input": {"turns": draw(random_conversation())},
        "judge": {
            "statements": draw(_statements(words)),
            "reply_style": draw(st.sampled_from(("schema", "json"))),
            "faults": draw(failing_steps(("verdicts", "reason", "final_reason"))) if faults else {},
        },
    }


@st.composite
def scripted_cases(draw: st.DrawFn) -> Json:
    """A case of turn faithfulness with too few, too many or fixed replies about whole windows."""
    case = draw(cases())
    # An empty window has no answer to which faithtui could attach claims that a judge makes up.
    case["options"]["window_size"] = max(1, case["options"]["window_size"])
    steps = ("truths", "claims", "verdicts", "reason", "final_reason")
    case["judge"]["faults"] = draw(fixed_replies(steps, any_reply(), any_text()))
    place = case["judge"] if draw(st.booleans()) else case["judge"]["faults"]
    place["verdict_list"] = draw(wrong_counts("yes", "no", "idk", {"verdict": "yes"}))
    return case


@st.composite
def scripted_relevancy_cases(draw: st.DrawFn) -> Json:
    """A case of turn contextual relevancy with too few, too many or fixed replies."""
    case = draw(relevancy_cases())
    steps = ("verdicts", "reason", "final_reason")
    case["judge"]["faults"] = draw(fixed_replies(steps, any_reply(), any_text()))
    appended = ("yes", "no", "idk", {"verdict": "no", "statement": "s"}, {"verdict": "maybe"})
    case["judge"]["faults"]["verdict_list"] = draw(wrong_counts(*appended))
    return case


@pytest.mark.thorough
@given(cases())
@settings(deadline=None)
def test_both_strategies_and_the_reference_agree_on_any_conversation(case: Json) -> None:
    assert differences(case, "evidence") == []
    assert differences(case, "window") == []


@pytest.mark.thorough
@given(cases(faults=True))
@settings(deadline=None)
def test_they_agree_on_which_failing_questions_lose_a_conversation(case: Json) -> None:
    assert differences(case, "evidence") == []
    assert differences(case, "window") == []


@given(scripted_cases())
@settings(deadline=None)
def test_any_scripted_reply_is_read_as_the_peer_reads_it(case: Json) -> None:
    assert differences(case, "window") == []


@pytest.mark.thorough
@given(relevancy_cases())
@settings(deadline=None)
def test_both_strategies_and_the_reference_agree_on_any_context(case: Json) -> None:
    assert differences(case, "evidence") == []
    assert differences(case, "window") == []


@pytest.mark.thorough
@given(relevancy_cases(faults=True))
@settings(deadline=None)
def test_they_agree_on_which_failing_questions_lose_a_context(case: Json) -> None:
    assert differences(case, "evidence") == []
    assert differences(case, "window") == []


@pytest.mark.thorough
@given(scripted_relevancy_cases())
@settings(deadline=None)
def test_any_scripted_statement_is_read_as_the_peer_reads_it(case: Json) -> None:
    assert differences(case, "evidence") == []
    assert differences(case, "window") == []
