"""What deepeval 4.3.1 makes of an oracle case of turn faithfulness, worked out step by step.

Written from the peer's own order of steps and from nothing of faithtui, so that the two can be
compared: plain lists and dicts, one window after the other, no concurrency, nothing asked once.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

Json = Any

WORDS = ("yes", "no", "borderline", "idk")
IMAGE = re.compile(r"\[DEEPEVAL:(?:IMAGE|PDF):(.*?)\]")


class PeerError(Exception):
    """The peer ends with an exception of this kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(kind)


def outcome(case: Mapping[str, Json]) -> dict[str, Json]:
    """Work out a case: `error`, `score`, `success`, `n_windows` and `windows` as in a recording."""
    try:
        return _measured(case)
    except PeerError as error:
        return {
            "error": {"kind": error.kind},
            "score": None,
            "success": None,
            "n_windows": 0,
            "windows": [],
        }


def _measured(case: Mapping[str, Json]) -> dict[str, Json]:
    options = case.get("options") or {}
    judge = case.get("judge") or {}
    turns = case["input"].get("turns")
    _check_turns(turns)
    if not judge.get("multimodal") and any(_has_image(turn) for turn in turns):
        raise PeerError("unsupported_multimodal")
    strict = options.get("strict_mode", False)
    threshold = 1 if strict else options.get("threshold", 0.5)
    windows = [
        _window(positions, turns, options, judge, strict)
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
    strict: bool,
) -> dict[str, Json]:
    documents: list[Json] = []
    answers: list[str] = []
    for position in positions:
        if turns[position]["role"] == "assistant":
            answers.append(turns[position]["content"])
            documents.extend(turns[position].get("retrieval_context") or [])
    if any(isinstance(document, dict) for document in documents):
        raise PeerError("type_error")
    truths = _texts(judge, "truths", _known_truths(judge, documents, options))
    claims = _texts(judge, "claims", _known_claims(judge, answers))
    labels = _labels(judge, claims, truths) if claims else []
    score = 1.0
    if labels:
        passing = ("yes",) if options.get("penalize_ambiguous_claims") else ("yes", "idk")
        score = len([label for label in labels if label in passing]) / len(labels)
        if strict and score < 1:
            score = 0.0
        if options.get("include_reason", True):
            _reason(judge, "reason")
    return {"turns": list(positions), "score": score, "verdicts": labels}


def _known_truths(
    judge: Mapping[str, Json], documents: Sequence[str], options: Mapping[str, Json]
) -> list[str]:
    truths: list[str] = []
    for document in documents:
        for truth in (judge.get("truths") or {}).get(document, []):
            if truth not in truths:
                truths.append(truth)
    limit = options.get("truths_extraction_limit")
    if limit is not None and judge.get("honour_limit"):
        truths = truths[: max(limit, 0)]
    return truths


def _known_claims(judge: Mapping[str, Json], answers: Sequence[str]) -> list[str]:
    claims: list[str] = []
    for answer in answers:
        claims.extend((judge.get("claims") or {}).get(answer, []))
    return claims


def _known_verdict(judge: Mapping[str, Json], claim: str, truths: Sequence[str]) -> Json:
    rule = (judge.get("verdicts") or {}).get(claim, "idk")
    if not isinstance(rule, dict):
        return rule
    for truth in rule.get("no_if_any", []):
        if truth in truths:
            return "no"
    for truth in rule.get("yes_if_any", []):
        if truth in truths:
            return "yes"
    return rule.get("else", "idk")


def _labels(judge: Mapping[str, Json], claims: Sequence[str], truths: Sequence[str]) -> list[str]:
    said = [_known_verdict(judge, claim, truths) for claim in claims]
    change = (judge.get("faults") or {}).get("verdict_list") or judge.get("verdict_list") or {}
    if change.get("truncate_to") is not None:
        said = said[: change["truncate_to"]]
    said.extend(change.get("append") or [])
    entries = [
        each if isinstance(each, dict) else {"verdict": each, "reason": "because"} for each in said
    ]
    reply, checked = _reply(judge, "verdicts", {"verdicts": entries})
    if checked:
        listed = reply.get("verdicts")
        if not isinstance(listed, list):
            raise PeerError("invalid_judge_reply")
        for each in listed:
            if not isinstance(each, dict) or each.get("verdict") not in WORDS:
                raise PeerError("invalid_judge_reply")
        return [_spelt(each["verdict"]) for each in listed]
    labels = []
    for each in reply.get("verdicts") or []:
        if not isinstance(each, dict):
            raise PeerError("invalid_judge_reply")
        word = each.get("verdict")
        found = re.match("[a-z]+", word.strip().lower()) if isinstance(word, str) else None
        if found and found.group() in WORDS:
            labels.append(_spelt(found.group()))
    return labels


def _spelt(word: str) -> str:
    return "idk" if word == "borderline" else word


def _texts(judge: Mapping[str, Json], step: str, answer: list[str]) -> list[str]:
    reply, _ = _reply(judge, step, {step: answer})
    texts = reply.get(step)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise PeerError("invalid_judge_reply")
    return texts


def _reason(judge: Mapping[str, Json], step: str) -> None:
    reply, checked = _reply(judge, step, {"reason": "because"})
    if "reason" not in reply:
        raise PeerError("invalid_judge_reply")
    if reply["reason"] is None and not checked:
        return
    if not isinstance(reply["reason"], str):
        raise PeerError("invalid_judge_reply")


def _reply(judge: Mapping[str, Json], step: str, answer: Json) -> tuple[dict[str, Json], bool]:
    """Give the reply to a question, and whether it comes as a checked structure."""
    fault = (judge.get("faults") or {}).get(step) or {}
    if "raise" in fault:
        raise PeerError("judge_error")
    if "raw" in fault:
        return _loose(fault["raw"]), False
    reply: Json = fault.get("reply", answer)
    if judge.get("reply_style", "schema") == "schema":
        return reply, True
    return _loose(json.dumps(reply)), False


def _loose(text: str) -> dict[str, Json]:
    start, end = text.find("{"), text.rfind("}") + 1
    if end == 0 and start != -1:
        text += "}"
        end = len(text)
    piece = text[start:end] if start != -1 and end != 0 else ""
    for attempt in (piece, re.sub(r",\s*([\]}])", r"\1", piece)):
        try:
            reply: dict[str, Json] = json.loads(attempt)
        except json.JSONDecodeError:
            continue
        return reply
    raise PeerError("invalid_judge_reply")
