"""Replay recorded cases of the peers against faithtui's metrics, under the peers' rules.

    python tests/parity/run_cases.py FILE [--strategy evidence|window]

Without `--strategy` every conversation case runs under both. Prints one line a case and last
`N passed, M failed, K skipped`; exits 1 when a case failed. Works from the repository root with the
base install. The judge is built from a case's oracle: a set of pure functions of what it is shown,
so it does not matter how the questions are cut.

What a case may name in `peer_specific` is not compared. Under `evidence` a case that scripts the
reply to a whole window's question is skipped: there is no such question.
"""

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from faithtui.domain.assessment import Assessment
from faithtui.domain.conversation import Conversation, Document, Image, Role, Turn
from faithtui.domain.scores import ScoreState
from faithtui.domain.tasks import (
    ConcludeReasons,
    ExplainScore,
    ExtractClaims,
    ExtractPooledClaims,
    ExtractPooledTruths,
    ExtractTruths,
    FindEvidence,
    JudgeClaimList,
    JudgeClaims,
)
from faithtui.engine.asking import Asker, MemoryReplies
from faithtui.errors import (
    ConfigError,
    FaithtuiError,
    ImagesNotSupported,
    InputError,
    JudgeError,
    JudgeReplyInvalid,
    JudgeRequestRejected,
    PeerFails,
)
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.metrics.registry import METRICS, build

Json = Any
Strategy = Literal["evidence", "window"]

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
WITHOUT_EFFECT = frozenset({"verbose_mode", "model", "flaky"})
"""Options of the peer that change no number."""
IMAGE_MARK = re.compile(r"\[DEEPEVAL:(?:IMAGE|PDF):(.*?)\]")
"""How a case writes an image into a text; the conversation gets the image beside the text."""
NEAR = 1e-9


class OracleJudge:
    """A judge whose answers are looked up in a case."""

    ref = "oracle"
    fingerprint = "oracle"

    def __init__(self, oracle: Mapping[str, Json]) -> None:
        self._oracle = oracle
        self._faults: Mapping[str, Json] = oracle.get("faults") or {}
        self._structured = oracle.get("reply_style", "schema") == "schema"

    @property
    def takes_images(self) -> bool:
        return bool(self._oracle.get("multimodal", False))

    @property
    def context_window(self) -> int | None:
        return int(self._oracle.get("context_window", 3900))

    async def send(self, request: JudgeRequest) -> JudgeReply:
        fault = self._faults.get(request.step.replace("-", "_")) or {}
        if "raise" in fault:
            raise JudgeRequestRejected(f"the case makes this question fail: {fault['raise']}")
        if "raw" in fault:
            return JudgeReply(text=str(fault["raw"]), structured=False)
        answer = fault["reply"] if "reply" in fault else self._answer(request)
        return JudgeReply(text=json.dumps(answer), structured=self._structured)

    async def aclose(self) -> None:
        pass

    def _answer(self, request: JudgeRequest) -> Json:
        match request.task:
            case ExtractTruths(documents, limit):
                return {f"d{n}": self._truths([each], limit) for n, each in enumerate(documents)}
            case ExtractPooledTruths(documents, limit):
                return {"truths": self._truths(documents, limit)}
            case ExtractClaims(answers):
                return {f"a{n}": self._claims([each]) for n, each in enumerate(answers)}
            case ExtractPooledClaims(answers):
                return {"claims": self._claims(answers)}
            case FindEvidence():
                return self._evidence(request.task)
            case JudgeClaims(claims, truths):
                return {
                    f"c{n}": {"reason": "because", "verdict": self._verdict(each, truths)}
                    for n, each in enumerate(claims)
                }
            case JudgeClaimList(claims, truths):
                return {"verdicts": self._verdict_list(claims, truths)}
            case ExplainScore() | ConcludeReasons():
                return {"reason": "because"}

    def _truths(self, documents: Sequence[str], limit: int | None) -> list[str]:
        known = self._oracle.get("truths") or {}
        found = list(dict.fromkeys(truth for each in documents for truth in known.get(each, ())))
        if limit is not None and self._oracle.get("honour_limit"):
            return found[:limit]
        return found

    def _claims(self, answers: Sequence[str]) -> list[str]:
        known = self._oracle.get("claims") or {}
        return [claim for each in answers for claim in known.get(each, ())]

    def _rule(self, claim: str) -> Json:
        return (self._oracle.get("verdicts") or {}).get(claim, "idk")

    def _verdict(self, claim: str, truths: Sequence[str]) -> Json:
        rule = self._rule(claim)
        if not isinstance(rule, dict):
            return rule
        if set(rule.get("no_if_any", ())) & set(truths):
            return "no"
        if set(rule.get("yes_if_any", ())) & set(truths):
            return "yes"
        return rule.get("else", "idk")

    def _verdict_list(self, claims: Sequence[str], truths: Sequence[str]) -> list[Json]:
        words: list[Json] = [self._verdict(claim, truths) for claim in claims]
        change = self._verdict_list_fault()
        if change.get("truncate_to") is not None:
            words = words[: change["truncate_to"]]
        words += change.get("append") or []
        return [
            each if isinstance(each, dict) else {"verdict": each, "reason": "because"}
            for each in words
        ]

    def _verdict_list_fault(self) -> Mapping[str, Json]:
        for place in (self._faults, self._oracle, self._faults.get("verdicts") or {}):
            if place.get("verdict_list"):
                found: Mapping[str, Json] = place["verdict_list"]
                return found
        return {}

    def _evidence(self, task: FindEvidence) -> Json:
        reply, claims, truths = {}, 0, 0
        for group in task.groups:
            numbers = {truth: f"t{truths + n}" for n, truth in enumerate(group.truths)}
            for claim in group.claims:
                rule = self._rule(claim)
                named = rule if isinstance(rule, dict) else {}
                reply[f"c{claims}"] = {
                    "reason": "because",
                    "supports": [numbers[t] for t in named.get("yes_if_any", ()) if t in numbers],
                    "contradicts": [numbers[t] for t in named.get("no_if_any", ()) if t in numbers],
                    "verdict": self._verdict(claim, group.truths),
                }
                claims += 1
            truths += len(group.truths)
        return reply

    def scripts_a_window(self) -> bool:
        """Whether a reply to the question about a whole window is given letter for letter."""
        return bool(self._verdict_list_fault()) or any(
            "raw" in fault or "reply" in fault
            for step, fault in self._faults.items()
            if step in ("truths", "claims", "verdicts") and isinstance(fault, dict)
        )


@dataclass(frozen=True)
class Outcome:
    """What faithtui makes of a case."""

    error: str | None = None
    score: float | None = None
    success: bool | None = None
    windows: tuple[Mapping[str, Json], ...] = ()


def conversation_of(given: Mapping[str, Json]) -> Conversation:
    """Read a case's turns.

    Raises:
        InputError: The peer cannot build a conversation of them.
    """
    turns = tuple(_turn(each) for each in _list(given.get("turns"), "turns"))
    if not turns:
        raise InputError("turns is empty; expected at least one turn", field="turns")
    return Conversation(source="case", key="case", turns=turns, group="case")


def _turn(given: Json) -> Turn:
    if not isinstance(given, dict):
        raise InputError("expected an object", field="turns")
    role: Json = given.get("role")
    content = _text(given.get("content"), "content")
    if role not in get_args(Role):
        raise InputError(f"the role is {role!r}; expected `user` or `assistant`", field="role")
    context = given.get("retrieval_context")
    return Turn(
        role=role,
        content=content,
        retrieval_context=None
        if context is None
        else tuple(_document(each) for each in _list(context, "retrieval_context")),
        images=_images(content),
    )


def _document(given: Json) -> Document:
    if not isinstance(given, dict):
        text = _text(given, "retrieval_context")
        return Document(text, images=_images(text))
    text = _text(given.get("context"), "context")
    return Document(text, source=_text(given.get("source"), "source"), images=_images(text))


def _list(given: Json, field: str) -> list[Json]:
    if not isinstance(given, list):
        raise InputError("expected a list", field=field)
    return given


def _text(given: Json, field: str) -> str:
    if not isinstance(given, str):
        raise InputError("expected a text", field=field)
    return given


def _images(text: str) -> tuple[Image, ...]:
    return tuple(Image(name, media_type="image/png") for name in IMAGE_MARK.findall(text))


async def measured(case: Mapping[str, Json], judge: OracleJudge, strategy: Strategy) -> Outcome:
    """Run a case through the metric, the engine's way of asking included."""
    options = {
        name: value
        for name, value in (case.get("options") or {}).items()
        if name not in WITHOUT_EFFECT
    }
    asker = Asker(judge, MemoryReplies(), concurrency=16)
    try:
        metric = build(case["metric"], {**options, "strategy": strategy, "as_peer": True})
        conversation = conversation_of(case["input"])
        ask = asker.on_behalf_of(None)
        findings = await metric.gather(conversation, ask)
        assessments = [metric.assess(findings, each) for each in metric.windows(conversation)]
        conclusion = await metric.conclude(assessments, ask)
    except FaithtuiError as error:
        return Outcome(error=_kind(error))
    finally:
        await asker.aclose()
    return Outcome(
        score=conclusion.score.value,
        success=conclusion.success,
        windows=tuple(_window(each) for each in assessments),
    )


def _window(assessment: Assessment) -> Mapping[str, Json]:
    labels = [*(each.label for each in assessment.verdicts), *assessment.surplus]
    return {
        "turns": list(assessment.window.turns),
        "score": assessment.score.value,
        "verdicts": [label for label in labels if label is not None],
        "state": assessment.score.state,
    }


def _kind(error: FaithtuiError) -> str:
    """Give the comparable kind of an error."""
    kinds: tuple[tuple[type[FaithtuiError], str], ...] = (
        (JudgeReplyInvalid, "invalid_judge_reply"),
        (JudgeError, "judge_error"),
        (ImagesNotSupported, "unsupported_multimodal"),
        (PeerFails, "type_error"),
        (InputError, "invalid_input"),
        (ConfigError, "value_error"),
    )
    return next((kind for known, kind in kinds if isinstance(error, known)), "other")


def differences(expected: Mapping[str, Json], got: Outcome, ignored: Sequence[str]) -> list[str]:
    """List where an outcome is not what was recorded; [] when it is."""

    def free(aspect: str) -> bool:
        return any(aspect in each.replace(" ", "_") for each in ignored)

    kind = (expected.get("error") or {}).get("kind")
    if kind != got.error:
        return [] if free("error") else [f"error {got.error}, expected {kind}"]
    if kind is not None:
        return []
    found = []
    if not free("score") and not _near(expected["score"], got.score):
        found.append(f"score {got.score}, expected {expected['score']}")
    if not free("success") and expected.get("success") != got.success:
        found.append(f"success {got.success}, expected {expected.get('success')}")
    if expected.get("n_windows") is not None and not free("windows"):
        found += _window_differences(expected, got, [a for a in _ASPECTS if not free(a)])
    return found


_ASPECTS = ("turns", "score", "verdicts")


def _window_differences(
    expected: Mapping[str, Json], got: Outcome, aspects: Sequence[str]
) -> Iterator[str]:
    if expected["n_windows"] != len(got.windows):
        yield f"{len(got.windows)} windows, expected {expected['n_windows']}"
        return
    for number, (want, have) in enumerate(
        zip(expected["windows"], got.windows, strict=True), start=1
    ):
        for aspect in aspects:
            same = (
                _near(want[aspect], have[aspect])
                if aspect == "score"
                else want[aspect] == have[aspect]
            )
            if not same:
                yield f"window {number}: {aspect} {have[aspect]}, expected {want[aspect]}"
        if have["state"] is not ScoreState.SCORED:
            yield f"window {number}: {have['state']}"


def _near(want: Json, have: float | None) -> bool:
    if want is None or want == "NaN" or have is None:
        return have is None and (want is None or want == "NaN")
    return abs(float(want) - have) <= NEAR


def run(
    cases: Sequence[Mapping[str, Json]], strategies: Sequence[Strategy]
) -> tuple[int, int, int]:
    """Replay cases and print a line each; return how many passed, failed and were skipped."""
    passed = failed = skipped = 0
    windowed = {entry.spec.key.replace("-", "_") for entry in METRICS}
    for case in cases:
        metric = str(case["metric"]).replace("-", "_")
        if metric not in windowed:
            failed += 1
            print(f"FAIL {case['id']}: there is no metric {case['metric']}")
            continue
        for strategy in strategies:
            name = f"{case['id']} [{strategy}]"
            judge = OracleJudge(case.get("judge") or {})
            if strategy == "evidence" and judge.scripts_a_window():
                skipped += 1
                print(f"SKIP {name}: scripts the reply to a window's question")
                continue
            try:
                got = asyncio.run(measured(case, judge, strategy))
                wrong = differences(case["expected"], got, case.get("peer_specific") or ())
            except Exception as error:
                wrong = [f"{type(error).__name__}: {error}"]
            if wrong:
                failed += 1
                print(f"FAIL {name}: {'; '.join(wrong)}")
            else:
                passed += 1
                print(f"pass {name}")
    return passed, failed, skipped


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--strategy", choices=STRATEGIES)
    chosen = parser.parse_args(arguments)
    recorded = json.loads(chosen.file.read_text(encoding="utf-8"))
    cases = recorded["cases"] if isinstance(recorded, dict) else recorded
    strategies = STRATEGIES if chosen.strategy is None else (chosen.strategy,)
    passed, failed, skipped = run(cases, strategies)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
