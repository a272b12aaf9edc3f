"""Claims that need several truths together, and claims of which a part is stated nowhere."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.judging.tasks import FindEvidence
from faithtui.errors import JudgeRefused, JudgeReplyInvalid
from faithtui.metrics.base import Question
from faithtui.metrics.reply_shapes import ParsedVerdict
from faithtui.metrics.strategies.window_verdicts import ClaimFinding, decide_claim
from tests.metrics.scripted import (
    DOWN,
    Json,
    Script,
    ScriptedAsk,
    conversation,
    exchange,
    honest,
    judge,
    labels,
    make_conversation,
    metric,
    states,
)

HERON = "The mascot is a heron."
HALVES = {
    "truths": {"D0.": ["half"], "D1.": ["other half"], "D2.": [HERON]},
    "claims": {"A0.": ["both"]},
    "verdicts": {"both": {"yes_if_all": [["half", "other half"]]}},
}
"""The first answer's claim follows from the documents of the first two turns together."""


# A judge that depends on what it is shown, and on nothing else


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Json, int, int]:
    """What a judge knows, how many interactions there are, and the window size.

    Of the claims 40 % need two truths, 15 % have a part that is stated nowhere, 15 % are
    contradicted by a truth; what the judge says where nothing decides is any word.
    """
    count = draw(st.integers(1, 8))
    truths = [f"fact {n}" for n in range(2 * count)]
    documents = {
        f"D{n}.": draw(st.permutations(truths))[: draw(st.integers(0, 3))] for n in range(count)
    }
    claims = {
        f"A{n}.": [f"claim {n} {k}" for k in range(draw(st.integers(0, 3)))] for n in range(count)
    }
    known = sorted({truth for each in documents.values() for truth in each}) or truths
    some = st.sampled_from(known)
    rules: dict[str, Json] = {}
    for claim in (each for listed in claims.values() for each in listed):
        rule: dict[str, Json] = {"else": draw(st.sampled_from(("idk", "idk", "no", "yes")))}
        luck = draw(st.integers(0, 99))
        if luck < 40:
            sets = st.lists(
                st.lists(some, min_size=2, max_size=3, unique=True), min_size=1, max_size=2
            )
            rule["yes_if_all"] = draw(sets)
        elif luck < 55:
            rule["part_of"] = draw(st.lists(some, min_size=1, max_size=2))
        elif luck < 85:
            rule["yes_if_any"] = draw(st.lists(some, min_size=1, max_size=2))
        if draw(st.integers(0, 99)) < 15:
            rule["no_if_any"] = [draw(some)]
        rules[claim] = rule
    oracle = {"truths": documents, "claims": claims, "verdicts": rules}
    return oracle, count, draw(st.integers(1, 5))


def by_the_rule(rule: Json, in_view: set[str]) -> str:
    """Say what the judge says of a claim with these truths in view."""
    if in_view.intersection(rule.get("no_if_any", ())):
        return "no"
    alternatives = [*([each] for each in rule.get("yes_if_any", ())), *rule.get("yes_if_all", ())]
    if any(in_view.issuperset(each) for each in alternatives):
        return "yes"
    return str(rule["else"])


@pytest.mark.thorough
@given(conversations())
def test_both_strategies_say_what_the_judge_says_of_each_window(
    drawn: tuple[Json, int, int],
) -> None:
    oracle, count, size = drawn
    expected = []
    for position in range(count):
        held = range(max(0, position - size + 1), position + 1)
        in_view = {truth for n in held for truth in oracle["truths"][f"D{n}."]}
        expected.append(
            [
                by_the_rule(oracle["verdicts"][claim], in_view)
                for n in held
                for claim in oracle["claims"][f"A{n}."]
            ]
        )
    for strategy in ("evidence", "window"):
        for penalize in (False, True):
            chosen = metric(strategy=strategy, window_size=size, penalize_ambiguous_claims=penalize)
            ask = ScriptedAsk(oracle)
            assessments, _ = asyncio.run(judge(chosen, make_conversation(count), ask))
            assert labels(assessments) == expected
            if strategy == "evidence":
                assert ask.steps.total() - ask.steps["verdicts-again"] <= 3 * count + 1


# What the judge said is not raised


async def one_window(oracle: Json, script: Script = honest, **options: object) -> Any:
    ask = ScriptedAsk(oracle, script)
    using = metric("turn-faithfulness", **options)
    assessments, _ = await judge(using, conversation(*exchange("Q?", "A.", "D.")), ask)
    return assessments[0], ask


def replying(**entry: Json) -> Script:
    """Answer every comparison's first claim like this."""

    def script(question: Question[Any], answer: Json) -> Json:
        if isinstance(question.task, FindEvidence):
            blank = {"reason": "r", "sufficient": [], "partial": [], "contradicts": []}
            answer["c0"] = blank | entry
        return answer

    return script


TWO_TRUTHS = {"truths": {"D.": ["t", "u"]}, "claims": {"A.": ["k"]}}


@pytest.mark.parametrize("penalize", [False, True])
@pytest.mark.parametrize("word", ["idk", "no"])
async def test_a_claim_with_a_part_that_is_not_stated_keeps_its_verdict(
    word: str, penalize: bool
) -> None:
    script = replying(verdict=word, partial=["t0"], reason="free for students is not mentioned")
    found, ask = await one_window(TWO_TRUTHS, script, penalize_ambiguous_claims=penalize)
    (verdict,) = found.verdicts
    assert (verdict.label, verdict.word) == (word, word)
    assert [(each.truth.text, each.stance) for each in verdict.evidence] == [("t", "partial")]
    assert found.score.value == (1.0 if word == "idk" and not penalize else 0.0)
    assert ask.steps["verdicts-again"] == 0


# A reply that contradicts itself

CONTRADICTORY = [
    ({"verdict": "idk", "sufficient": [["t0"]]}, "truths were named as sufficient for it"),
    ({"verdict": "no", "sufficient": [["t0", "t1"]]}, "truths were named as sufficient for it"),
    ({"verdict": "yes", "contradicts": ["t1"]}, "a truth was named that contradicts the claim"),
    ({"verdict": "idk", "contradicts": ["t1"]}, "a truth was named that contradicts the claim"),
    ({"verdict": "yes", "partial": ["t0"]}, "truths were named for a part of it only"),
]


@pytest.mark.parametrize(("entry", "contradiction"), CONTRADICTORY)
async def test_it_is_asked_about_once_more_and_then_the_verdict_holds(
    entry: Json, contradiction: str
) -> None:
    found, ask = await one_window(TWO_TRUTHS, replying(**entry))
    (verdict,) = found.verdicts
    assert (verdict.label, verdict.word) == (entry["verdict"], entry["verdict"])
    assert (ask.steps["verdicts"], ask.steps["verdicts-again"]) == (1, 1)
    (again,) = (each for each in ask.questions if each.step == "verdicts-again")
    assert again.prompt.endswith(
        f'- c0: the verdict was "{entry["verdict"]}", but {contradiction}.'
    )
    (first,) = (each for each in ask.questions if each.step == "verdicts")
    assert again.count is first.count


@pytest.mark.parametrize("entry", [each for each, _ in CONTRADICTORY])
async def test_what_it_says_the_second_time_counts(entry: Json) -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        if question.step == "verdicts":
            return replying(**entry)(question, answer)
        return replying(verdict="yes", sufficient=[["t1"]])(question, answer)

    found, _ = await one_window(TWO_TRUTHS, script)
    (verdict,) = found.verdicts
    assert verdict.label == "yes"
    assert [(each.truth.text, each.stance) for each in verdict.evidence] == [("u", "supports")]


@pytest.mark.parametrize("second", [{"verdict": "maybe"}, {"verdict": None}, None])
async def test_a_second_answer_that_cannot_be_read_leaves_the_first(second: Json) -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        if question.step == "verdicts":
            return replying(verdict="idk", sufficient=[["t0"]])(question, answer)
        return {"c0": second} if question.step == "verdicts-again" else answer

    found, _ = await one_window(TWO_TRUTHS, script)
    assert [each.label for each in found.verdicts] == ["idk"]


async def test_a_second_answer_in_no_form_leaves_the_first() -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        if question.step == "verdicts":
            return replying(verdict="idk", sufficient=[["t0"]])(question, answer)
        return JudgeReplyInvalid("prose", raw="Well, well.") if "again" in question.step else answer

    found, _ = await one_window(TWO_TRUTHS, script)
    assert [each.label for each in found.verdicts] == ["idk"]


@pytest.mark.parametrize("word", ["yes", "no", "idk"])
async def test_a_verdict_for_which_nothing_was_named_is_not_contradicted(word: str) -> None:
    found, ask = await one_window(TWO_TRUTHS, replying(verdict=word))
    assert [each.label for each in found.verdicts] == [word]
    assert ask.steps["verdicts-again"] == 0


async def test_claims_whose_replies_agree_are_not_asked_about_again() -> None:
    oracle = {"truths": {"D.": ["t", "u"]}, "claims": {"A.": ["k", "l"]}}

    def script(question: Question[Any], answer: Json) -> Json:
        if question.step == "verdicts":
            answer["c1"] |= {"verdict": "no", "sufficient": [["t0"]]}
        return answer

    _, ask = await one_window(oracle, script)
    (again,) = (task for task in ask.tasks(FindEvidence)[1:])
    assert [group.claims for group in again.groups] == [("l",)]


async def test_a_peers_rules_ask_nothing_twice() -> None:
    script = replying(verdict="idk", sufficient=[["t0"]])
    found, ask = await one_window(TWO_TRUTHS, script, as_peer=True)
    assert [each.label for each in found.verdicts] == ["idk"]
    assert ask.steps["verdicts-again"] == 0


async def test_evidence_that_the_verdict_denies_decides_nothing_elsewhere() -> None:
    """The judge says idk and names a sufficient truth, twice; the next window asks anew."""

    def script(question: Question[Any], answer: Json) -> Json:
        if isinstance(question.task, FindEvidence) and answer["c0"]["sufficient"]:
            answer["c0"]["verdict"] = "idk"
        return answer

    oracle = {
        "truths": {"D0.": ["t"], "D1.": [HERON]},
        "claims": {"A0.": ["k"]},
        "verdicts": {"k": {"yes_if_any": ["t"]}},
    }
    assessments, _ = await judge(metric(), make_conversation(2), ScriptedAsk(oracle, script))
    assert labels(assessments) == [["idk"], ["idk"]]


def test_what_was_said_of_exactly_the_truths_in_view_is_not_raised_by_sets_of_other_windows() -> (
    None
):
    def finding(truths: str, label: str, *sets: str) -> ClaimFinding:
        sufficient = tuple(map(frozenset, sets))
        return ClaimFinding(frozenset(truths), ParsedVerdict(label), label, sufficient)

    view = frozenset("ab")
    elsewhere = finding("abc", "yes", "a")
    for label in ("no", "idk"):
        decision = decide_claim([finding("ab", label), elsewhere], view)
        assert decision is not None
        assert decision.label == label
    decision = decide_claim([elsewhere], view)
    assert decision is not None
    assert (decision.label, decision.follows) == ("yes", True)


@pytest.mark.parametrize("error", [JudgeReplyInvalid("prose", raw=""), JudgeRefused("no", raw="")])
async def test_answers_that_cannot_be_used_leave_what_came_before(error: JudgeReplyInvalid) -> None:
    """The second claim is left out at first, and then nothing usable comes any more."""

    def script(question: Question[Any], answer: Json) -> Json:
        if isinstance(question.task, FindEvidence):
            return {"c0": answer["c0"]} if not question.replicate else error
        return answer

    oracle = {
        "truths": {"D.": ["t"]},
        "claims": {"A.": ["k", "l"]},
        "verdicts": {"k": {"yes_if_any": ["t"]}},
    }
    found, _ = await one_window(oracle, script)
    assert [each.label for each in found.verdicts] == ["yes", None]
    assert found.score.state.value == "incomplete"


async def test_a_claim_that_cannot_be_asked_about_is_asked_once_for_all_its_windows() -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        return DOWN if question.step == "verdicts-again" else answer

    oracle = HALVES | {"truths": {"D0.": ["half"], "D2.": ["other half"]}}
    ask = ScriptedAsk(oracle, script)
    assessments, _ = await judge(metric(), make_conversation(9), ask)
    assert ask.steps["verdicts-again"] == 1
    assert [each.value for each in states(assessments)] == ["scored"] * 2 + ["failed"] * 7


# Truths that are spread over turns


async def test_halves_in_two_turns_are_a_whole_where_both_are_in_view() -> None:
    """The second half comes two turns later, in a question that does not show the first one."""
    oracle = HALVES | {"truths": {"D0.": ["half"], "D2.": ["other half"]}}
    ask = ScriptedAsk(oracle)
    assessments, _ = await judge(metric(), make_conversation(4), ask)
    assert labels(assessments) == [["idk"], ["idk"], ["yes"], ["yes"]]
    assert ask.steps["verdicts-again"] == 1
    evidence = [
        [(each.truth.text, each.stance, each.sets) for each in found.verdicts[0].evidence]
        for found in assessments
    ]
    half = [("half", "partial", ())]
    whole = [("half", "supports", (1,)), ("other half", "supports", (1,))]
    assert evidence == [half, half, whole, whole]


async def test_sets_that_share_a_truth_have_numbers_of_their_own() -> None:
    oracle = {
        "truths": {"D.": ["a", "b", "c", "d"]},
        "claims": {"A.": ["k"]},
        "verdicts": {"k": {"yes_if_any": ["d"], "yes_if_all": [["a", "b"], ["b", "c"]]}},
    }
    found, _ = await one_window(oracle)
    assert [(each.truth.text, each.sets) for each in found.verdicts[0].evidence] == [
        ("a", (1,)),
        ("b", (1, 2)),
        ("c", (2,)),
        ("d", ()),
    ]


async def test_a_question_that_fails_costs_only_the_windows_that_need_it() -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        return DOWN if question.step == "verdicts-again" else answer

    oracle = HALVES | {"truths": {"D0.": ["half"], "D2.": ["other half"]}}
    assessments, _ = await judge(
        metric(window_size=3), make_conversation(4), ScriptedAsk(oracle, script)
    )
    found = [each.value for each in states(assessments)]
    assert found == ["scored", "scored", "failed", "undefined"]
    assert "did not answer" in (assessments[2].score.reason or "")
