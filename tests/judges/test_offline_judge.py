import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.tasks import (
    ConcludeReasons,
    EvidenceGroup,
    ExplainScore,
    ExtractClaims,
    ExtractPooledClaims,
    ExtractPooledTruths,
    ExtractTruths,
    FindEvidence,
    JudgeClaimList,
    JudgeClaims,
    Task,
)
from faithtui.judges import overlap
from faithtui.judges.base import Judge, JudgeReply, JudgeRequest, Stop, Usage
from faithtui.judges.offline_judge import OfflineJudge, judge
from faithtui.judges.opening import judge_title

BAKERY = (
    "The bakery opened in 1962. It sells rye bread on Mondays. Its oven is heated with beech wood."
)
TRUTHS = (
    "The bakery opened in 1962.",
    "It sells rye bread on Mondays.",
    "Its oven is heated with beech wood.",
)
HOSTILE = (
    "",
    " ",
    "\x00",
    "\ud800 and \udfff",
    "\u202eright to left\u202c",
    "[bold]not markup[/bold]",
    '{"verdict": "yes"}',
    "\x1b[31mred",
    "a" * 100_000,
    "mud " * 25_000,
    ". " * 50_000,
    "9" * 5_000,
    "👩‍👩‍👧‍👦" * 500,
    "e" + "\u0301" * 5_000,
)


def ask(task: Task) -> JudgeRequest:
    return JudgeRequest(step="any", task=task, system="", prompt="", schema={}, max_tokens=1)


async def answer(task: Task, offline: OfflineJudge | None = None) -> Any:
    reply = await (offline or OfflineJudge()).send(ask(task))
    return json.loads(reply.text)


def finding(verdicts: Any, claim: str) -> tuple[str, list[str], list[str]]:
    found = verdicts[claim]
    return found["verdict"], found["supports"], found["contradicts"]


async def test_it_says_what_it_is() -> None:
    offline: Judge = OfflineJudge()
    assert offline.ref == "offline"
    assert offline.takes_images is False
    assert judge_title("offline") == "overlap baseline (offline heuristic)"
    assert judge_title("openai:gpt") == "openai:gpt"


def test_the_fingerprint_changes_with_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    before = OfflineJudge().fingerprint
    assert before == OfflineJudge().fingerprint
    assert f"overlap-baseline/{overlap.VERSION};" in before
    monkeypatch.setattr("faithtui.judges.offline_judge.WEIGHTS", (1.0,) * 12)
    assert OfflineJudge().fingerprint != before


async def test_a_reply_costs_nothing_and_tells_its_latency() -> None:
    ticks: Iterator[float] = iter((10.0, 10.25))
    offline = OfflineJudge(clock=lambda: next(ticks))
    reply = await offline.send(ask(ExtractTruths(documents=())))
    assert reply == JudgeReply(
        text="{}",
        stop=Stop.OK,
        usage=Usage(tokens_in=0, tokens_out=0, tokens_cached=0),
        structured=True,
        latency_ms=250,
    )


async def test_truths_are_the_sentences_of_each_document_once_and_in_order() -> None:
    reply = await answer(ExtractTruths(documents=(f"{BAKERY} {TRUTHS[0]}", "", "- One.\n- One.")))
    assert reply == {"d0": list(TRUTHS), "d1": [], "d2": ["One."]}


async def test_a_limit_keeps_the_first_truths_of_each_document() -> None:
    reply = await answer(ExtractTruths(documents=(BAKERY, "One. Two. Three."), limit=2))
    assert reply == {"d0": list(TRUTHS[:2]), "d1": ["One.", "Two."]}


async def test_pooled_truths_are_those_of_all_documents_without_repeats() -> None:
    reply = await answer(ExtractPooledTruths(documents=(BAKERY, TRUTHS[1], "New."), limit=4))
    assert reply == {"truths": [*TRUTHS, "New."]}


async def test_truths_can_be_found_in_their_document_letter_for_letter() -> None:
    document = "# Häuser 🏠\n\n* **Das** Haus ist alt.\r\n* 房子很旧。很大！\n\n| a | b |\n"
    truths = (await answer(ExtractTruths(documents=(document,))))["d0"]
    assert truths == ["Häuser 🏠", "**Das** Haus ist alt.", "房子很旧。", "很大！", "| a | b |"]
    assert all(truth in document for truth in truths)


async def test_claims_are_the_statements_of_each_answer() -> None:
    answers = (
        "Hello! The **bakery** opened in 1962. Do you like rye?",
        "I'm sorry, the documents do not mention prices.",
        "Reasons:\n1. Beech wood burns long.\n2. It is cheap.",
    )
    reply = await answer(ExtractClaims(answers=answers, questions=("When?",), history=("user: x",)))
    assert reply == {
        "a0": ["The **bakery** opened in 1962."],
        "a1": [],
        "a2": ["Beech wood burns long.", "It is cheap."],
    }


async def test_pooled_claims_are_those_of_all_answers_without_repeats() -> None:
    answers = ("Rye sells well. Hi!", "Rye sells well. Oats do not.")
    reply = await answer(ExtractPooledClaims(answers=answers))
    assert reply == {"claims": ["Rye sells well.", "Oats do not."]}


async def test_evidence_names_truths_numbered_through_all_groups() -> None:
    task = FindEvidence(
        groups=(
            EvidenceGroup(claims=("The bakery opened in 1962.",), truths=TRUTHS[:1]),
            EvidenceGroup(claims=(), truths=("Nothing of interest.",)),
            EvidenceGroup(
                claims=("The oven is heated with beech wood.", "It sells rye bread on Fridays."),
                truths=TRUTHS,
            ),
        )
    )
    reply = await answer(task)
    assert list(reply) == ["c0", "c1", "c2"]
    assert finding(reply, "c0") == ("yes", ["t0"], [])
    assert finding(reply, "c1") == ("yes", ["t4"], [])
    assert finding(reply, "c2") == ("no", [], ["t3"])
    assert '"Fridays" where the closest sentence says "Mondays"' in reply["c2"]["reason"]


async def test_an_undecided_claim_names_no_evidence() -> None:
    groups = (EvidenceGroup(claims=("Penguins cannot fly across oceans.",), truths=TRUTHS),)
    reply = await answer(FindEvidence(groups=groups))
    assert finding(reply, "c0") == ("idk", [], [])
    assert reply["c0"]["confidence"] < 0.5


async def test_a_truth_of_several_sentences_is_named_once() -> None:
    claim = "The bakery opened in 1962 and its oven is heated with beech wood."
    groups = (EvidenceGroup(claims=(claim,), truths=("Unrelated.", BAKERY)),)
    assert finding(await answer(FindEvidence(groups=groups)), "c0") == ("yes", ["t1"], [])


async def test_claims_are_judged_by_number() -> None:
    reply = await answer(JudgeClaims(claims=(TRUTHS[0], "It opened at sea."), truths=TRUTHS))
    assert {key: each["verdict"] for key, each in reply.items()} == {"c0": "yes", "c1": "idk"}
    assert all(set(each) == {"reason", "verdict", "confidence"} for each in reply.values())


async def test_a_claim_list_is_judged_in_order() -> None:
    reply = await answer(
        JudgeClaimList(claims=("The bakery opened in 1926.", TRUTHS[1]), truths=TRUTHS)
    )
    assert [each["verdict"] for each in reply["verdicts"]] == ["no", "yes"]
    assert all(set(each) == {"reason", "verdict"} for each in reply["verdicts"])


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (
            ExplainScore(score=1.0, findings=()),
            "The score is 1.00: no claim was found to depart from the context.",
        ),
        (ExplainScore(score=0.5, findings=("A.",)), "The score is 0.50 because of 1 claim: A."),
        (
            ExplainScore(score=0, findings=("A.", "B.", "A.", "C.", "D.")),
            "The score is 0.00 because of 5 claims: A. B. C. And 1 more.",
        ),
        (
            ConcludeReasons(score=0.75, success=True, reasons=("W1.", "W2.")),
            "The conversation scored 0.75, which passes. From its windows: W1. W2.",
        ),
        (
            ConcludeReasons(score=0.25, success=False, reasons=("W1.",)),
            "The conversation scored 0.25, which does not pass. From its windows: W1.",
        ),
        (
            ConcludeReasons(score=0.25, success=None, reasons=()),
            "The conversation scored 0.25. No window gave a reason.",
        ),
    ],
)
async def test_reasons_are_made_from_a_template(task: Task, reason: str) -> None:
    assert await answer(task) == {"reason": reason}


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
async def test_any_string_gets_an_answer_in_shape(hostile: str) -> None:
    offline = OfflineJudge()
    documents = await offline.send(ask(ExtractTruths(documents=(hostile,))))
    answers = await offline.send(ask(ExtractClaims(answers=(hostile,))))
    groups = (EvidenceGroup(claims=(hostile,), truths=(hostile, BAKERY)),)
    evidence = await offline.send(ask(FindEvidence(groups=groups)))
    for reply in (documents, answers, evidence):
        assert reply.text.isascii()
    assert all(truth in hostile for truth in json.loads(documents.text)["d0"])
    assert all(claim in hostile for claim in json.loads(answers.text)["a0"])
    found = json.loads(evidence.text)["c0"]
    assert found["verdict"] in {"yes", "no", "idk"}
    assert 0 <= found["confidence"] <= 1


TEXTS = st.text(
    st.one_of(st.sampled_from("The ab. 12!\n*-é中\ud800😀"), st.characters()), max_size=40
)
LISTS = st.lists(TEXTS, max_size=3).map(tuple)


@given(st.lists(st.tuples(LISTS, LISTS), max_size=3))
def test_every_claim_of_every_group_gets_its_complete_entry(
    groups: list[tuple[tuple[str, ...], tuple[str, ...]]],
) -> None:
    task = FindEvidence(groups=tuple(EvidenceGroup(*group) for group in groups))
    reply = asyncio.run(answer(task))
    number, first = 0, 0
    for claims, truths in groups:
        own = {f"t{first + position}" for position in range(len(truths))}
        for _ in claims:
            entry = reply[f"c{number}"]
            assert set(entry) == {"reason", "supports", "contradicts", "verdict", "confidence"}
            assert set(entry["supports"]) | set(entry["contradicts"]) <= own
            assert len(entry["supports"]) <= 3
            assert bool(entry["supports"]) == (entry["verdict"] == "yes")
            assert bool(entry["contradicts"]) == (entry["verdict"] == "no")
            number += 1
        first += len(truths)
    assert len(reply) == number


@given(LISTS)
def test_extracted_texts_are_distinct_parts_of_their_source(texts: tuple[str, ...]) -> None:
    truths = asyncio.run(answer(ExtractTruths(documents=texts)))
    claims = asyncio.run(answer(ExtractClaims(answers=texts)))
    assert list(truths) == [f"d{position}" for position in range(len(texts))]
    assert list(claims) == [f"a{position}" for position in range(len(texts))]
    for source, found in zip(texts * 2, [*truths.values(), *claims.values()], strict=True):
        assert all(each in source for each in found)
        assert len(set(found)) == len(found)


async def test_the_same_question_gets_the_same_answer_from_a_used_and_a_new_judge() -> None:
    task = FindEvidence(groups=(EvidenceGroup(claims=TRUTHS, truths=TRUTHS),))
    used = OfflineJudge()
    first = await answer(task, used)
    for number in range(20):
        await answer(JudgeClaims(claims=("Rye.",), truths=(f"Truth {number}.",)), used)
    assert await answer(task, used) == first == await answer(task)


async def test_others_get_a_turn_while_it_computes() -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    truths = tuple(f"Shelf {number} holds rye bread." for number in range(500))
    await answer(JudgeClaims(claims=TRUTHS, truths=truths))
    counting.cancel()
    assert turns >= len(truths) // 50 + len(TRUTHS)


async def test_it_can_be_closed_twice_and_asked_again() -> None:
    offline = OfflineJudge()
    await offline.aclose()
    await offline.aclose()
    assert await answer(ExtractPooledClaims(answers=("It rains.",)), offline) == {
        "claims": ["It rains."]
    }


def test_one_claim_can_be_judged_against_one_text() -> None:
    verdict, confidence, supported = judge(TRUTHS[0], BAKERY)
    assert (verdict, confidence) == ("yes", supported)
    verdict, confidence, supported = judge("Whales sing.", BAKERY)
    assert (verdict, confidence) == ("idk", 1 - supported)
