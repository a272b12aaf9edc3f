"""The peers, worked out by hand: as they were recorded, and as faithtui, on any case."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parity import reference_answers, reference_deepeval, run_cases
from tests.parity.reference_judge import PeerError
from tests.parity.strategies import (
    ANSWERS,
    CLAIMS,
    DOCUMENTS,
    MESSAGES,
    SLOPPY,
    cases,
    failing_steps,
    random_claims,
    random_conversation,
    random_options,
    random_truths,
    random_verdicts,
)
from tests.parity.test_cases import OWN, PARTIAL, RECORDED, cases_of

Json = Any
PEERS = {
    "turn_faithfulness": reference_deepeval.measured,
    "turn_contextual_relevancy": reference_deepeval.measured,
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


def _reply() -> st.SearchStrategy[Json]:
    return st.sampled_from(
        (
            {},
            {"truths": ["t1"], "claims": ["k1", "k2"], "verdicts": [{"verdict": "yes"}]},
            {"truths": [], "claims": [], "verdicts": []},
            {"truths": None, "claims": None, "verdicts": None, "reason": None},
            {"verdicts": [{"verdict": "NO!"}, {"reason": "r"}, {}], "claims": ["k1"]},
            {"verdicts": [{"verdict": "no", "statement": "s"}, {"verdict": "yes", "reason": 5}]},
            {"verdicts": [{"verdict": "no", "statement": "s"}, {"verdict": "hm", "reason": 5}]},
            {"truths": [1], "claims": ["k1", 2], "verdicts": ["yes"], "reason": "r"},
            {"truths": "t1", "claims": {"k1": 1}, "verdicts": 0, "reason": 5},
        )
    )


def _raw() -> st.SearchStrategy[Json]:
    return st.sampled_from(
        (
            "",
            "no idea",
            "} {",
            'Sure: ```json\n{"truths": ["t1",], "claims": ["k1", "k2",], "verdicts": '
            '[{"verdict": "Yes, but", "statement": "s"},], "reason": "r",}\n```',
            '{"truths": ["t2"], "claims": ["k3"]',
            '{"claims": ["k1"]} and {"claims": ["k2"]}',
            '{"verdicts": [{"verdict": "borderline"}, {"verdict": "no", "verdict": "yes"}]}',
            '{"truths": NaN, "claims": [], "verdicts": "", "reason": null}',
        )
    )


def _fault(
    steps: Sequence[str], replies: st.SearchStrategy[Json], raws: st.SearchStrategy[Json]
) -> st.SearchStrategy[Json]:
    """One kind of question gets a fixed reply."""
    fault = replies.map(lambda value: {"reply": value}) | raws.map(lambda text: {"raw": text})
    return st.dictionaries(st.sampled_from(steps), fault, max_size=1)


def _change(*entries: Json) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries(
        {},
        optional={
            "truncate_to": st.integers(0, 2),
            "append": st.lists(st.sampled_from(entries), max_size=4),
        },
    )


@st.composite
def scripted_cases(draw: st.DrawFn) -> Json:
    """A case of turn faithfulness with too few, too many or fixed replies about whole windows."""
    case = draw(cases())
    # An empty window has no answer to which faithtui could attach claims that a judge makes up.
    case["options"]["window_size"] = max(1, case["options"]["window_size"])
    steps = ("truths", "claims", "verdicts", "reason", "final_reason")
    case["judge"]["faults"] = draw(_fault(steps, _reply(), _raw()))
    place = case["judge"] if draw(st.booleans()) else case["judge"]["faults"]
    place["verdict_list"] = draw(_change("yes", "no", "idk", {"verdict": "yes"}))
    return case


@st.composite
def scripted_relevancy_cases(draw: st.DrawFn) -> Json:
    """A case of turn contextual relevancy with too few, too many or fixed replies."""
    case = draw(relevancy_cases())
    steps = ("verdicts", "reason", "final_reason")
    case["judge"]["faults"] = draw(_fault(steps, _reply(), _raw()))
    appended = ("yes", "no", "idk", {"verdict": "no", "statement": "s"}, {"verdict": "maybe"})
    case["judge"]["faults"]["verdict_list"] = draw(_change(*appended))
    return case


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
        _change("yes", "no", 1, 0, {"statement": "s", "reason": "r", "verdict": "7"}, {})
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
        else draw(_fault(steps, _reply().filter(_elixir_takes), _raw())),
    }
    judge["faults"]["verdict_list"] = draw(_change("yes", "NO", "No, it is not", {}, None))
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


def outcome(case: Mapping[str, Json]) -> dict[str, Json]:
    """Work out a case: what a recording says, as far as it can be compared."""
    try:
        return PEERS[case["metric"]](case)
    except PeerError as error:
        failed = {"error": {"kind": error.kind}, "score": None, "success": None}
        return {**failed, "n_windows": 0, "windows": []} if "turns" in case["input"] else failed


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
    return run_cases.differences(outcome(case), got, ())


@pytest.mark.parametrize("path", [RECORDED, PARTIAL, *OWN], ids=lambda path: str(path.stem))
def test_the_reference_works_out_what_was_recorded(path: Path) -> None:
    for case in cases_of(path):
        assert (case["id"], comparable(outcome(case))) == (
            case["id"],
            comparable(case["expected"]),
        )


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
