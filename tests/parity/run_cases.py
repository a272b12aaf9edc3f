"""Replay recorded cases of the peers against faithtui's metrics, under the peers' rules.

    python tests/parity/run_cases.py FILE [--strategy evidence|window]

Prints one line a case and last `N passed, M failed, K skipped`; exits 1 when a case failed. Works
from the repository root with the base install. Metrics that judge whole conversations run under
both strategies, unless `--strategy` names one; metrics that judge one answer ask the same under
both, and run once.

What a case may name in `peer_specific` is not compared. Under `evidence` a case that scripts the
reply to a whole window's question is skipped where no question asks for the same. Options of a
peer that change no number, and have no counterpart, are left out.
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

# Started as a script, Python looks for modules beside this file and not in the root above it.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from faithtui.domain.claims.verdicts import Assessment
from faithtui.domain.conversation import Conversation, Document, Image, Role, Turn
from faithtui.domain.scores import ScoreState
from faithtui.domain.windows import split_into_interactions
from faithtui.engine.calls.ask import Asker
from faithtui.engine.calls.metric_driver import assess_conversation
from faithtui.engine.calls.reply_cache import MemoryReplyCache
from faithtui.errors import (
    ConfigError,
    ContextWindowTooSmall,
    FaithtuiError,
    ImagesNotSupported,
    InputError,
    JudgeError,
    JudgeReplyInvalid,
    MissingParameters,
    NotFaithful,
    PeerFails,
)
from faithtui.judges.base import ImageData
from faithtui.metrics.registry import METRICS, build, list_option_names
from faithtui.store.records import StoredReply
from tests.parity.oracle import OracleJudge, WindowOnly

__all__ = ["STRATEGIES", "OracleJudge", "Outcome", "Strategy", "conversation_of", "measured", "run"]

Json = Any
Strategy = Literal["evidence", "window"]

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
ONE_ANSWER = frozenset({"ragas-faithfulness", "llamaindex-faithfulness", "deepevalex-faithfulness"})
"""Metrics whose cases have a question and an answer and no turns."""
WITHOUT_EFFECT = frozenset({"verbose_mode", "model", "llm", "adapter", "context_window"})
"""Options that change no number here: the judge is the case's own."""
NEAR = 1e-9
IMAGE_MARK = re.compile(r"\[DEEPEVAL:(?:IMAGE|PDF):(.*?)\]")
"""How a case writes an image into a text; the conversation gets the image beside the text."""


@dataclass(frozen=True)
class Outcome:
    """What faithtui makes of a case."""

    error: str | None = None
    score: float | None = None
    success: bool | None = None
    windows: tuple[Mapping[str, Json], ...] = ()
    feedback: str | None = None


class NoReplies(MemoryReplyCache):
    """Forgets every reply: for judges that answer by number, where asking twice means twice."""

    def find(self, key: str, *, or_cut: bool = False) -> StoredReply | None:
        return None


def key_of(case: Mapping[str, Json]) -> str:
    """Give our key of a case's metric."""
    return str(case["metric"]).replace("_", "-")


def judge_of(case: Mapping[str, Json]) -> OracleJudge:
    """Make the judge of a case; its context window may stand among the options."""
    window = (case.get("options") or {}).get("context_window")
    given = {} if window is None else {"context_window": window}
    return OracleJudge({**given, **(case.get("judge") or {})})


def left_out(case: Mapping[str, Json]) -> list[str]:
    """List the options of a case that faithtui does not have."""
    known = {*list_option_names(key_of(case)), *WITHOUT_EFFECT}
    return sorted(name for name in case.get("options") or {} if name not in known)


def model_of(case: Mapping[str, Json]) -> str | None:
    """Give the name of the judge's model, which decides about LlamaIndex' own prompt."""
    places = (case.get("options") or {}, case.get("judge") or {})
    names = (place.get(name) for place in places for name in ("llm", "model", "model_name"))
    return next((name for name in names if isinstance(name, str)), None)


def fits(case: Mapping[str, Json]) -> bool:
    """Whether a scripted reply about a window can be one about what `evidence` asks for.

    It can where each document is asked about by itself all the same; else where there is one
    window, with one answer and a document, whose claims are all different.
    """
    if key_of(case) != "turn-faithfulness":
        return True
    try:
        turns = conversation_of(case["input"]).turns
    except InputError:
        return True
    answers = [turn for turn in turns if turn.role == "assistant"]
    parts = split_into_interactions(turns)
    listed = (case["judge"].get("claims") or {}).values()
    return not parts or (
        len(parts) == len(answers) == 1
        and (case.get("options") or {}).get("window_size", 1) > 0
        and bool(answers[0].retrieval_context)
        and all(len(set(claims)) == len(claims) for claims in listed)
    )


async def measured(case: Mapping[str, Json], judge: OracleJudge, strategy: Strategy) -> Outcome:
    """Run a case through the metric, the engine's way of asking included."""
    key = key_of(case)
    unused = {*left_out(case), *WITHOUT_EFFECT}
    options = {
        name: value for name, value in (case.get("options") or {}).items() if name not in unused
    }
    if key == "llamaindex-faithfulness" and (model := model_of(case)) is not None:
        options["llm"] = model
    asker = Asker(
        judge,
        NoReplies() if judge.answers_by_number else MemoryReplyCache(),
        concurrency=16,
        pause=_no_pause,
        load_image=_image,
    )
    try:
        metric = build(key, {**options, "strategy": strategy, "as_peer": True})
        conversation = (answer_of if key in ONE_ANSWER else conversation_of)(case["input"])
        assessments, conclusion = await assess_conversation(
            metric, conversation, asker.bind_to_item(None)
        )
    except FaithtuiError as error:
        return Outcome(error=_kind(error))
    finally:
        await asker.aclose()
    results = metric.make_peer_library_results(conversation, assessments, conclusion, 0)
    feedback = results[0].get("feedback") if results else None
    return Outcome(
        score=conclusion.score.value,
        success=conclusion.success,
        windows=tuple(_window(each) for each in assessments),
        feedback=feedback if isinstance(feedback, str) else None,
    )


async def _no_pause(seconds: float) -> None:
    """Wait for nothing: a scripted judge has no use for it."""


def _image(image: Image) -> ImageData:
    return ImageData(image.sha256, image.media_type, image.mark, data=b"")


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
        (MissingParameters, "missing_params"),
        (ContextWindowTooSmall, "judge_context_window_too_small"),
        (NotFaithful, "not_faithful_raised"),
        (InputError, "invalid_input"),
        (ConfigError, "value_error"),
    )
    if isinstance(error, PeerFails):
        return "value_error" if "ValueError" in str(error) else "type_error"
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
    if "verdicts" in expected and not free("verdicts"):
        verdicts = [label for window in got.windows for label in window["verdicts"]]
        if verdicts != expected["verdicts"]:
            found.append(f"verdicts {verdicts}, expected {expected['verdicts']}")
    if "feedback" in expected and not free("feedback") and got.feedback != expected["feedback"]:
        found.append(f"feedback {got.feedback!r}, expected {expected['feedback']!r}")
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
        if have["state"] not in (ScoreState.SCORED, ScoreState.UNDEFINED):
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
    known = {entry.spec.key for entry in METRICS}
    for case in cases:
        key = key_of(case)
        if key not in known:
            failed += 1
            print(f"FAIL {case['id']}: there is no metric {case['metric']}")
            continue
        unused = left_out(case)
        note = f" (without {', '.join(unused)})" if unused else ""
        for strategy in strategies[:1] if key in ONE_ANSWER else strategies:
            name = f"{case['id']}{'' if key in ONE_ANSWER else f' [{strategy}]'}{note}"
            wrong = _wrong(case, strategy)
            if wrong is None:
                skipped += 1
                print(f"SKIP {name}: scripts the reply to a window's question")
                continue
            if wrong:
                failed += 1
                print(f"FAIL {name}: {'; '.join(wrong)}")
            else:
                passed += 1
                print(f"pass {name}")
    return passed, failed, skipped


def _wrong(case: Mapping[str, Json], strategy: Strategy) -> list[str] | None:
    """Replay a case and list what is not as recorded; None where a strategy cannot replay it."""
    judge = judge_of(case)
    if strategy == "evidence" and judge.scripts_a_window() and not fits(case):
        return None
    try:
        got = asyncio.run(measured(case, judge, strategy))
        return differences(case["expected"], got, case.get("peer_specific") or ())
    except WindowOnly:
        return None
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]


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


def conversation_of(given: Mapping[str, Json]) -> Conversation:
    """Read a case's turns.

    Raises:
        InputError: The peer cannot build a conversation of them.
    """
    turns = tuple(_turn(each) for each in _list(given.get("turns"), "turns"))
    if not turns:
        raise InputError("turns is empty; expected at least one turn", field="turns")
    return Conversation(source="case", key="case", turns=turns, group="case")


def answer_of(given: Mapping[str, Json]) -> Conversation:
    """Read a case's question, answer and contexts; what was not given makes no turn.

    Raises:
        InputError: A value of the wrong kind.
    """
    turns = []
    if given.get("question") is not None:
        turns.append(Turn("user", _text(given["question"], "question")))
    if given.get("answer") is not None:
        contexts = _contexts(given)
        turns.append(
            Turn(
                "assistant",
                _text(given["answer"], "answer"),
                None if contexts is None else tuple(map(Document, contexts)),
            )
        )
    return Conversation(source="case", key="case", turns=tuple(turns), group="case")


def _contexts(given: Mapping[str, Json]) -> list[str] | None:
    own = given.get("contexts", given.get("retrieval_context"))
    alias = given.get("context")
    if own is None and alias is None:
        return None
    if own == [] and alias:
        # The peer finds the alias when it checks and then reads the empty list: it judges the
        # answer on nothing, as it does on one empty document.
        return [""]
    listed = _list(own if own is not None else alias, "contexts")
    return [_words(each) if isinstance(each, dict) else _text(each, "contexts") for each in listed]


def _words(given: Mapping[str, Json]) -> str:
    """Spell out a long context: numbered words, with a marker among them."""
    words = [f"{given.get('prefix', 'w')}{n}" for n in range(given["words"])]
    if given.get("marker") is not None:
        words.insert(given.get("at", len(words)), given["marker"])
    return " ".join(words)


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


if __name__ == "__main__":
    sys.exit(main())
