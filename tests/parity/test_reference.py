"""The peers, worked out by hand: as they were recorded, and as faithtui, on any case."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parity import reference_answers, run_cases
from tests.parity.reference_judge import PeerError
from tests.parity.strategies import (
    ANSWERS,
    DOCUMENTS,
    MESSAGES,
    SLOPPY,
    any_reply,
    any_text,
    failing_steps,
    fixed_replies,
    random_claims,
    random_truths,
    random_verdicts,
    wrong_counts,
)
from tests.parity.test_cases import OWN, PARTIAL, RECORDED, cases_of
from tests.parity.test_deepeval_reference import work_out_conversation

Json = Any
PEERS = {
    "ragas_faithfulness": reference_answers.ragas,
    "llamaindex_faithfulness": reference_answers.llamaindex,
    "deepevalex_faithfulness": reference_answers.deepevalex,
}


NUMBERS: tuple[Json, ...] = (
    1,
    0,
    2,
    -1,
    True,
    False,
    1.0,
    0.5,
    None,
    "1",
    " 0 ",
    "2.0",
    "1.5",
    "yes",
    "maybe",
    [],
)
REPLIES = ("YES", "NO", "", " ", "No. Eyes open.", "supported", "\nyes\n")


def _answer(contexts: str) -> st.SearchStrategy[Json]:
    documents = st.lists(st.sampled_from(DOCUMENTS), max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "question": st.sampled_from(MESSAGES) | st.none(),
            "answer": st.sampled_from(ANSWERS),
            contexts: documents | st.none(),
        },
    ) | st.fixed_dictionaries(
        {
            "question": st.just("Why?"),
            "answer": st.sampled_from(ANSWERS[1:]),
            contexts: documents.filter(bool),
        }
    )


@st.composite
def ragas_texts(draw: st.DrawFn, good: Json) -> str:
    """A reply with something around it, something missing in it, or broken off."""
    text = json.dumps(good)
    if draw(st.booleans()):
        position = draw(st.integers(0, len(text)))
        text = (
            text[:position]
            + draw(st.sampled_from(("", "}", "]", '"', ",", "\\", "\n")))
            + (text[position + draw(st.integers(0, 3)) :])
        )
    if draw(st.booleans()):
        text = text[: draw(st.integers(0, len(text)))]
    before = draw(st.sampled_from(("", "Sure: ", "```json\n", "[1] ", "```\n", "so ```json ")))
    return before + text + draw(st.sampled_from(("", "\n```", " Bye.", "}")))


@st.composite
def ragas_cases(draw: st.DrawFn) -> Json:
    """A case of ragas with any verdicts and replies."""
    statements = {"statements": ["k1", "k2 {x}"]}
    verdicts = {
        "statements": [
            {"statement": "k1", "reason": "a ] b", "verdict": draw(st.sampled_from(NUMBERS))},
            {"statement": "k2", "reason": 'c "d" }', "verdict": 0},
        ]
    }
    fault = {
        "claims": st.just({"raise": "down"})
        | ragas_texts(statements).map(lambda text: {"raw": text}),
        "verdicts": st.just({"raise": "down"})
        | ragas_texts(verdicts).map(lambda text: {"raw": text}),
    }
    judge = {
        "truths": draw(random_truths()),
        "claims": draw(random_claims()),
        "verdicts": draw(random_verdicts(NUMBERS)),
        "faults": draw(st.fixed_dictionaries({}, optional=fault)),
    }
    judge["faults"]["verdict_list"] = draw(
        wrong_counts("yes", "no", 1, 0, {"statement": "s", "reason": "r", "verdict": "7"}, {})
    )
    if draw(st.booleans()):
        judge["fixed_text"] = json.dumps(draw(st.sampled_from((statements, verdicts, [1]))))
    return _case("ragas_faithfulness", {}, draw(_answer("contexts")), judge)


@st.composite
def llamaindex_cases(draw: st.DrawFn) -> Json:
    """A case of LlamaIndex whose contexts fit into one prompt."""
    fault = st.sampled_from(("ValueError", "TypeError", "RuntimeError")).map(
        lambda kind: {"raise": kind}
    ) | st.sampled_from(REPLIES).map(lambda text: {"raw": text})
    judge = draw(
        st.fixed_dictionaries(
            {"yes_if_context_has": st.lists(st.sampled_from(("Doc A", "B.", "zz")), max_size=2)},
            optional={
                "replies": st.lists(st.sampled_from(REPLIES), min_size=1, max_size=3),
                "faults": st.fixed_dictionaries({"question": fault}),
                "context_window": st.sampled_from((500, 900, 2000)),
            },
        )
    )
    options = draw(st.fixed_dictionaries({}, optional={"raise_error": st.booleans()}))
    return _case("llamaindex_faithfulness", options, draw(_answer("contexts")), judge)


@st.composite
def deepevalex_cases(draw: st.DrawFn) -> Json:
    """A case of DeepEvalEx with any verdicts and replies."""
    given = draw(_answer("retrieval_context"))
    if draw(st.booleans()):
        given["context"] = draw(st.lists(st.sampled_from(DOCUMENTS), max_size=2))
    steps = ("truths", "claims", "verdicts", "reason")
    judge = {
        "truths": draw(random_truths()),
        "claims": draw(random_claims()),
        "verdicts": draw(random_verdicts(SLOPPY)),
        "honour_limit": draw(st.booleans()),
        "faults": draw(failing_steps(steps))
        if draw(st.booleans())
        else draw(fixed_replies(steps, any_reply().filter(_elixir_takes), any_text())),
    }
    judge["faults"]["verdict_list"] = draw(wrong_counts("yes", "NO", "No, it is not", {}, None))
    options = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "threshold": st.sampled_from((None, 0, 0.5, 1)),
                "include_reason": st.booleans(),
                "truths_extraction_limit": st.sampled_from((None, 0, 1, 2)),
            },
        )
    )
    return _case("deepevalex_faithfulness", options, given, judge)


def _elixir_takes(reply: Json) -> bool:
    """Whether claims and truths are texts: what else an Elixir text can hold is not told here."""
    return all(
        isinstance(each, str)
        for name in ("truths", "claims")
        for each in (reply.get(name) if isinstance(reply.get(name), list) else [])
    )


def _case(metric: str, options: Json, given: Json, judge: Json) -> Json:
    return {"id": "random", "metric": metric, "options": options, "input": given, "judge": judge}


def work_out_answer(case: Mapping[str, Json]) -> dict[str, Json]:
    """Work out an answer: what a recording says, as far as it can be compared."""
    try:
        return PEERS[case["metric"]](case)
    except PeerError as error:
        return {"error": {"kind": error.kind}, "score": None, "success": None}


def outcome(case: Mapping[str, Json]) -> dict[str, Json]:
    is_answer = case["metric"] in PEERS
    return work_out_answer(case) if is_answer else work_out_conversation(case)


def comparable(outcome: Mapping[str, Json]) -> Json:
    found = {
        "error": (outcome["error"] or {}).get("kind"),
        "windows": [
            {aspect: window[aspect] for aspect in ("turns", "score", "verdicts")}
            for window in outcome.get("windows", ())
        ],
        **{
            aspect: outcome[aspect]
            for aspect in ("score", "success", "n_windows", "verdicts", "feedback")
            if aspect in outcome and not outcome["error"]
        },
    }
    return found


def differences(case: Json, strategy: run_cases.Strategy) -> list[str]:
    got = asyncio.run(run_cases.measured(case, run_cases.judge_of(case), strategy))
    return run_cases.differences(work_out_answer(case), got, ())


@pytest.mark.parametrize("path", [RECORDED, PARTIAL, *OWN], ids=lambda path: str(path.stem))
def test_the_reference_works_out_what_was_recorded(path: Path) -> None:
    for case in cases_of(path):
        assert (case["id"], comparable(outcome(case))) == (
            case["id"],
            comparable(case["expected"]),
        )


@given(ragas_cases())
@settings(deadline=None)
def test_any_answer_is_judged_as_ragas_judges_it(case: Json) -> None:
    assert differences(case, "window") == []


@given(llamaindex_cases())
@settings(deadline=None)
def test_any_answer_is_judged_as_llamaindex_judges_it(case: Json) -> None:
    assert differences(case, "window") == []


@given(deepevalex_cases())
@settings(deadline=None)
def test_any_answer_is_judged_as_deepevalex_judges_it(case: Json) -> None:
    assert differences(case, "window") == []
