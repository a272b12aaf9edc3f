from typing import Any

import pytest

from faithtui.domain.claims.verdicts import Assessment, Claim
from faithtui.domain.conversation import Span, Turn
from faithtui.domain.judging.tasks import (
    FindEvidence,
    JudgeClaims,
)
from faithtui.domain.scores import ScoreState
from faithtui.metrics.base import Question
from tests.metrics.scripted import (
    Json,
    Script,
    ScriptedAsk,
    both,
    conversation,
    exchange,
    facts,
    judge,
    labels,
    make_conversation,
    metric,
    states,
)
from tests.parity.run_cases import Strategy

# Verdicts from evidence


async def one_window(oracle: dict[str, Json], script: Script | None = None) -> Assessment:
    talked = conversation(*exchange("Q?", "A.", "D."))
    ask = ScriptedAsk(oracle, script) if script else ScriptedAsk(oracle)
    assessments, _ = await judge(metric(), talked, ask)
    return assessments[0]


async def test_no_wins_where_both_kinds_of_truth_are_in_view() -> None:
    found = await one_window(
        {
            "truths": {"D.": ["t1", "t2"]},
            "claims": {"A.": ["k"]},
            "verdicts": {"k": {"yes_if_any": ["t1"], "no_if_any": ["t2"]}},
        }
    )
    (verdict,) = found.verdicts
    assert verdict.label == "no"
    assert [(each.truth.text, each.stance) for each in verdict.evidence] == [
        ("t1", "supports"),
        ("t2", "contradicts"),
    ]


async def test_a_claim_whose_support_is_out_of_view_is_asked_about_there() -> None:
    oracle = {
        "truths": {"D0.": ["t"], "D2.": ["s"]},
        "claims": {"A1.": ["k"]},
        "verdicts": {"k": {"yes_if_any": ["t"]}},
    }
    talked = conversation(
        *exchange("Q?", "A0.", "D0."), *exchange("Q?", "A1."), *exchange("Q?", "A2.", "D2.")
    )
    ask = ScriptedAsk(oracle)
    assessments, _ = await judge(metric(window_size=2), talked, ask)
    assert labels(assessments) == [[], ["yes"], ["idk"]]
    assert assessments[2].verdicts[0].reason == "because"
    assert assessments[2].verdicts[0].evidence == ()
    # The comparison with the new truth of the third window named nothing, and shows just that.
    assert ask.steps["verdicts-again"] == 0


async def test_a_reason_about_a_truth_out_of_view_is_not_given() -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        if question.step == "verdicts":
            answer["c0"] |= {"reason": "s denies it", "confidence": 0.1}
        return answer

    oracle = {
        "truths": {"D0.": ["t"], "D1.": ["s"]},
        "claims": {"A0.": ["k"]},
        "verdicts": {"k": {"yes_if_any": ["t"], "no_if_any": ["s"]}},
    }
    ask = ScriptedAsk(oracle, script)
    assessments, _ = await judge(metric(), make_conversation(2), ask)
    assert ask.steps["verdicts"] == 1
    first, second = (found.verdicts[0] for found in assessments)
    assert (first.label, first.word, first.confidence) == ("yes", None, None)
    assert first.reason == (
        "Truths in view are sufficient for it; one that contradicts it is out of view."
    )
    assert (second.label, second.reason, second.confidence) == ("no", "s denies it", 0.1)


async def test_a_claim_for_which_nothing_was_named_keeps_the_judges_word() -> None:
    found = await one_window(
        {"truths": {"D.": ["t"]}, "claims": {"A.": ["k"]}, "verdicts": {"k": "no"}}
    )
    assert [(each.label, each.word) for each in found.verdicts] == [("no", "no")]


async def test_truths_that_do_not_exist_name_nothing() -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        if question.step == "verdicts":
            answer["c0"] |= {
                "verdict": "yes",
                "sufficient": [["t9"], [" [T0] "], ["t1", "t7"], ["t1", 5]],
                "contradicts": "t0",
            }
        return answer

    found = await one_window({"truths": {"D.": ["t", "u"]}, "claims": {"A.": ["k"]}}, script)
    (verdict,) = found.verdicts
    assert verdict.label == "yes"
    assert [(each.truth.text, each.stance) for each in verdict.evidence] == [
        ("t", "supports"),
        ("u", "partial"),
    ]


async def test_word_reason_and_confidence_are_kept() -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        if question.step == "verdicts":
            answer["c0"] |= {"verdict": " Borderline", "reason": " hm ", "confidence": 0.4}
        return answer

    found = await one_window({"truths": {"D.": ["t"]}, "claims": {"A.": ["k"]}}, script)
    (verdict,) = found.verdicts
    assert (verdict.label, verdict.word) == ("idk", " Borderline")
    assert (verdict.reason, verdict.confidence) == ("hm", 0.4)


async def test_claims_and_truths_are_located() -> None:
    oracle = {"truths": {"It is D.": ["is D", "else"]}, "claims": {"So A one.": ["A one", "B"]}}
    talked = conversation(*exchange("Q?", "So A one.", "It is D."))
    assessments, _ = await judge(metric(), talked, ScriptedAsk(oracle))
    assert [each.claim.span for each in assessments[0].verdicts] == [Span(3, 8), None]
    assert [(each.document, each.span) for each in assessments[0].truths] == [
        ("It is D.", Span(3, 7)),
        ("It is D.", None),
    ]


# Claims and their answers


@both
async def test_a_claim_belongs_to_the_answer_that_makes_it(strategy: Strategy) -> None:
    turns = (
        Turn("assistant", "Welcome, we open at nine."),
        Turn("user", "So?"),
        Turn("assistant", "Entry is free."),
        Turn("assistant", "Dogs are welcome."),
    )
    oracle = {
        "claims": {
            turns[0].content: ["we open at nine"],
            turns[2].content: ["Entry is free"],
            turns[3].content: ["Dogs are welcome", "Welcome are all dogs"],
        }
    }
    assessments, _ = await judge(
        metric(strategy=strategy), conversation(*turns), ScriptedAsk(oracle)
    )
    assert [each.claim.turn for each in assessments[0].verdicts] == [0, 2, 3, 3]


@both
async def test_a_claim_of_two_answers_belongs_to_both(strategy: Strategy) -> None:
    talked = conversation(*exchange("Q?", "It is free."), *exchange("R?", "Yes, it is free."))
    oracle = {"claims": {"It is free.": ["it is free"], "Yes, it is free.": ["It is  free"]}}
    assessments, _ = await judge(metric(strategy=strategy), talked, ScriptedAsk(oracle))
    assert [[each.claim.turn for each in found.verdicts] for found in assessments] == [[1], [1, 3]]


@both
async def test_a_claim_repeated_out_of_reach_belongs_to_the_later_answer(
    strategy: Strategy,
) -> None:
    talked = conversation(
        *exchange("Q?", "It is free."), *exchange("R?", "Hm."), *exchange("S?", "It is free.")
    )
    oracle = {"claims": {"It is free.": ["it is free"]}}
    assessments, _ = await judge(
        metric(strategy=strategy, window_size=1), talked, ScriptedAsk(oracle)
    )
    assert [[each.claim.turn for each in found.verdicts] for found in assessments] == [[1], [], [5]]


async def test_a_paraphrase_keeps_the_turn_it_was_found_in_first() -> None:
    talked = conversation(*exchange("Q?", "Free it is."), *exchange("R?", "Costs nothing, free."))
    oracle = {"claims": {"Free it is.": ["Entry is free"]}}
    assessments, _ = await judge(metric(strategy="window"), talked, ScriptedAsk(oracle))
    assert [[each.claim.turn for each in found.verdicts] for found in assessments] == [[1], [1]]


async def test_a_claim_that_one_answer_repeats_stays_with_it() -> None:
    talked = conversation(*exchange("Q?", "Free, free."))
    oracle = {"claims": {"Free, free.": ["free", "Free"]}}
    assessments, _ = await judge(metric(strategy="window"), talked, ScriptedAsk(oracle))
    assert [each.claim.turn for each in assessments[0].verdicts] == [1, 1]


@both
async def test_given_claims_are_judged_and_none_is_extracted(strategy: Strategy) -> None:
    ask = ScriptedAsk(facts(2))
    chosen = [Claim(3, "a1 one"), Claim(1, "a0 two"), Claim(0, "of a question")]
    assessments, _ = await judge(
        metric(strategy=strategy, window_size=1), make_conversation(2), ask, chosen
    )
    assert "claims" not in ask.steps
    assert labels(assessments)[1] == ["yes"]
    assert "no" in labels(assessments)[0]
    assert {each.claim for found in assessments for each in found.verdicts} >= set(chosen[:2])


# Missing verdicts


def silent(times: int, *, word: str | None = None) -> Script:
    """Say nothing, or a word nobody knows, about the claim `a0 one`, so many times."""
    left = [times]

    def script(question: Question[Any], answer: Json) -> Json:
        claims: tuple[str, ...] = ()
        if isinstance(question.task, FindEvidence):
            claims = tuple(claim for group in question.task.groups for claim in group.claims)
        elif isinstance(question.task, JudgeClaims):
            claims = question.task.claims
        if "a0 one" in claims and left[0]:
            left[0] -= 1
            key = f"c{claims.index('a0 one')}"
            if word is None:
                del answer[key]
            else:
                answer[key] = {"verdict": word, "reason": "?"}
        return answer

    return script


@both
@pytest.mark.parametrize("times", [0, 1, 2])
async def test_missing_verdicts_are_asked_for_again_at_most_twice(
    strategy: Strategy, times: int
) -> None:
    ask = ScriptedAsk(facts(1), silent(times))
    assessments, _ = await judge(metric(strategy=strategy), make_conversation(1), ask)
    assert labels(assessments) == [["yes", "no"]]
    assert ask.steps["verdicts"] == 1 + times


@both
@pytest.mark.parametrize("word", [None, "perhaps"])
async def test_a_verdict_that_stays_missing_leaves_the_window_incomplete(
    strategy: Strategy, word: str | None
) -> None:
    ask = ScriptedAsk(facts(1), silent(3, word=word))
    assessments, conclusion = await judge(metric(strategy=strategy), make_conversation(1), ask)
    assert labels(assessments) == [[None, "no"]]
    assert assessments[0].verdicts[0].word == word
    assert states(assessments) == [ScoreState.INCOMPLETE]
    assert conclusion.score.state is ScoreState.INCOMPLETE
    assert conclusion.success is None
    assert ask.steps == {"truths": 1, "claims": 1, "verdicts": 3}


@both
async def test_an_entry_without_a_verdict_is_none(strategy: Strategy) -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        if question.step == "verdicts":
            answer["c0"].pop("verdict")
        return answer

    oracle = {"truths": {"D0.": ["t"]}, "claims": {"A0.": ["k"]}, "verdicts": {"k": "yes"}}
    ask = ScriptedAsk(oracle, script)
    assessments, _ = await judge(metric(strategy=strategy), make_conversation(1), ask)
    assert labels(assessments) == [[None]]
    assert ask.steps["verdicts"] == 3


async def test_only_the_missing_claims_are_asked_about_again() -> None:
    ask = ScriptedAsk(facts(1), silent(1))
    await judge(metric(), make_conversation(1), ask)
    first, again = ask.tasks(FindEvidence)
    assert first.groups[0].claims == ("a0 one", "a0 two")
    assert again.groups[0].claims == ("a0 one",)
    assert again.groups[0].truths == first.groups[0].truths


async def test_a_later_comparison_without_answer_leaves_only_its_windows_incomplete() -> None:
    oracle = facts(3)

    def script(question: Question[Any], answer: Json) -> Json:
        if isinstance(question.task, FindEvidence):
            claims = [claim for group in question.task.groups for claim in group.claims]
            truths = [truth for group in question.task.groups for truth in group.truths]
            if "d1 one" in truths and "a0 one" in claims:
                del answer[f"c{claims.index('a0 one')}"]
            if "d1 one" in truths and "a0 two" in claims:
                del answer[f"c{claims.index('a0 two')}"]
        return answer

    assessments, _ = await judge(
        metric(window_size=2), make_conversation(3), ScriptedAsk(oracle, script)
    )
    assert labels(assessments) == [
        ["yes", "no"],
        [None, "no", "yes", "no"],  # a contradiction stands whatever else was not answered
        ["yes", "no", "yes", "no"],
    ]


async def test_a_comparison_without_answer_is_forgotten_once_its_truths_are_out_of_view() -> None:
    oracle = {"truths": {"D0.": ["t"]}, "claims": {"A1.": ["k"]}}

    def script(question: Question[Any], answer: Json) -> Json:
        return {} if question.step == "verdicts" else answer

    talked = conversation(
        *exchange("Q?", "A0.", "D0."), *exchange("Q?", "A1."), *exchange("Q?", "A2.")
    )
    assessments, _ = await judge(metric(window_size=2), talked, ScriptedAsk(oracle, script))
    assert labels(assessments) == [[], [None], ["idk"]]


@both
async def test_under_the_peers_rules_nothing_is_asked_again(strategy: Strategy) -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        if question.step != "verdicts":
            return answer
        return {"verdicts": []} if "verdicts" in answer else {}

    ask = ScriptedAsk(facts(1), script)
    assessments, _ = await judge(metric(strategy=strategy, as_peer=True), make_conversation(1), ask)
    assert ask.steps["verdicts"] == 1
    assert labels(assessments) == [[None, None]]
    assert assessments[0].score.value == 1.0
    assert ask.steps["reason"] == 0
