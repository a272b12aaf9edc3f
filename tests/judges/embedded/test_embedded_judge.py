import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.conversation import Span
from faithtui.domain.judging.judge_names import judge_title
from faithtui.domain.judging.tasks import (
    ConcludeReasons,
    EvidenceGroup,
    ExplainRelevance,
    ExplainScore,
    ExtractClaims,
    ExtractPooledClaims,
    ExtractPooledTruths,
    ExtractTruths,
    FindEvidence,
    InferStatementList,
    InferStatements,
    JudgeClaimList,
    JudgeClaims,
    JudgeDocument,
    RelateDocument,
    SplitAnswer,
    SupportAnswer,
    Task,
)
from faithtui.domain.text.sentences import split_sentences
from faithtui.judges import embedded
from faithtui.judges.base import Judge, JudgeReply, JudgeRequest, StopReason, Usage
from faithtui.judges.embedded import embedded_replies
from faithtui.judges.embedded.embedded_judge import (
    OfflineJudge,
    evidence,
    judge,
    make_offline_fingerprint,
)
from faithtui.judges.embedded.weights import HEURISTIC_VERSION, Calibration, load_weights

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


EVIDENCE = ("sufficient", "partial", "contradicts")


def ask(task: Task) -> JudgeRequest:
    return JudgeRequest(step="any", task=task, system="", prompt="", schema={}, max_tokens=1)


async def answer(task: Task, offline: OfflineJudge | None = None) -> Any:
    reply = await (offline or OfflineJudge()).send(ask(task))
    return json.loads(reply.text)


def finding(verdicts: Any, claim: str) -> tuple[str, list[list[str]], list[str]]:
    found = verdicts[claim]
    return found["verdict"], found["sufficient"], found["contradicts"]


async def test_it_says_what_it_is() -> None:
    offline: Judge = OfflineJudge()
    assert offline.ref == "offline"
    assert offline.takes_images is False
    assert offline.context_window is None
    assert judge_title("offline") == "overlap baseline (offline heuristic)"
    assert judge_title("openai:gpt") == "openai:gpt"


def test_the_fingerprint_names_everything_an_answer_depends_on() -> None:
    fingerprint = OfflineJudge().fingerprint
    assert fingerprint == OfflineJudge(calibration=Calibration()).fingerprint
    assert f"overlap-baseline/{HEURISTIC_VERSION};weights={load_weights().digest};" in fingerprint
    assert "recalibrated" not in fingerprint
    recalibrated = OfflineJudge(calibration=Calibration(0.8, -0.25)).fingerprint
    assert recalibrated == f"{fingerprint};probabilities=0.8,-0.25"
    assert recalibrated == make_offline_fingerprint(Calibration(0.8, -0.25))
    moved = OfflineJudge(calibration=Calibration(threshold=0.6)).fingerprint
    assert moved == f"{fingerprint};threshold=0.6"


async def test_recalibrated_probabilities_leave_verdicts_as_they_are() -> None:
    claims = (TRUTHS[0], "The bakery opened in 1926.", "A bakery in a harbour town.")
    task = JudgeClaims(claims=claims, truths=TRUTHS)
    plain = await answer(task)
    for intercept in (-6.0, 6.0):
        moved = await answer(task, OfflineJudge(calibration=Calibration(1.0, intercept)))
        assert [each["verdict"] for each in moved.values()] == [
            each["verdict"] for each in plain.values()
        ]
        assert (moved["c0"]["confidence"] > plain["c0"]["confidence"]) == (intercept > 0)


async def test_the_threshold_moves_verdicts_and_leaves_probabilities_as_they_are() -> None:
    task = JudgeClaims(claims=(TRUTHS[0], "The bakery opened in 1926."), truths=TRUTHS)
    plain = await answer(task)
    strict = await answer(task, OfflineJudge(calibration=Calibration(threshold=0.9999)))
    assert plain["c0"]["verdict"] == "yes"
    assert strict["c0"]["verdict"] == "idk"
    assert strict["c0"]["confidence"] == plain["c0"]["confidence"]
    assert strict["c1"]["verdict"] == plain["c1"]["verdict"] == "no"


async def test_a_calibration_cannot_lift_a_clash_above_its_cap() -> None:
    lenient = OfflineJudge(calibration=Calibration(1.0, 6.0))
    reply = await answer(JudgeClaims(claims=("It opened in 1926.",), truths=TRUTHS), lenient)
    assert reply["c0"]["confidence"] <= 0.4


async def test_a_reply_costs_nothing_and_tells_its_latency() -> None:
    ticks: Iterator[float] = iter((10.0, 10.25))
    offline = OfflineJudge(clock=lambda: next(ticks))
    reply = await offline.send(ask(ExtractTruths(documents=())))
    assert reply == JudgeReply(
        text="{}",
        stop=StopReason.OK,
        usage=Usage(tokens_in=0, tokens_out=0, tokens_cached=0),
        structured=True,
        latency_ms=250,
    )


async def test_truths_are_the_sentences_of_each_document_once_and_in_order() -> None:
    reply = await answer(ExtractTruths(documents=(f"{BAKERY} {TRUTHS[0]}", "", "- One.\n- One.")))
    assert reply == {"d0": list(TRUTHS), "d1": [], "d2": ["One."]}


async def test_it_forgets_the_texts_that_were_not_used_for_longest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []

    def note(text: str) -> list[Span]:
        read.append(text)
        return split_sentences(text)

    monkeypatch.setattr(embedded_replies, "_KEPT_TRUTHS", 2)
    monkeypatch.setattr(embedded_replies, "_KEPT_CONTEXTS", 1)
    monkeypatch.setattr(embedded_replies, "split_sentences", note)
    asked = embedded_replies.OfflineAnswers()
    first, second, third = TRUTHS
    for truths in ((first, second), (second, third), (first,), (third,)):
        await asked.answer(JudgeClaims(("It sells bread.",), truths))
    assert read == [first, second, third, first]


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
    assert finding(reply, "c0") == ("yes", [["t0"]], [])
    assert finding(reply, "c1") == ("yes", [["t4"]], [])
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
    assert finding(await answer(FindEvidence(groups=groups)), "c0") == ("yes", [["t1"]], [])


async def test_truths_that_support_a_claim_only_together_are_one_set() -> None:
    claim = "The bakery opened in 1962 and its oven is heated with beech wood."
    truths = ("Rye bread is sold on Mondays.", TRUTHS[0], "The oven is heated with beech wood.")
    groups = (EvidenceGroup(claims=(claim,), truths=truths),)
    assert finding(await answer(FindEvidence(groups=groups)), "c0") == ("yes", [["t1", "t2"]], [])
    alone = (EvidenceGroup(claims=(claim,), truths=truths[:2]),)
    assert (await answer(FindEvidence(groups=alone)))["c0"]["verdict"] == "idk"


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
        (
            ConcludeReasons(score=1.0, success=True, reasons=()),
            "The conversation scored 1.00, which passes. Nothing lowered it.",
        ),
        (
            ExplainScore(score=0.5, findings=()),
            "The score is 0.50; no reason was given for what lowered it.",
        ),
        (
            ExplainRelevance(score=0.5, messages=("Why?",), irrelevant=(), relevant=("A.",)),
            "The score is 0.50; no reason was given for what lowered it.",
        ),
        (
            ExplainRelevance(score=1.0, messages=("Why?",), irrelevant=(), relevant=()),
            "The score is 1.00: there was no statement to compare with the messages.",
        ),
        (
            ExplainRelevance(score=1.0, messages=("Why?",), irrelevant=(), relevant=("A.",)),
            "The score is 1.00: every statement shares enough words with a message.",
        ),
        (
            ExplainRelevance(score=0.5, messages=(), irrelevant=("A: x.", "B."), relevant=("C.",)),
            "The score is 0.50: 2 of 3 statements share too few words with the messages: A: x. B.",
        ),
    ],
)
async def test_reasons_are_made_from_a_template(task: Task, reason: str) -> None:
    assert await answer(task) == {"reason": reason}


async def test_statements_name_the_messages_they_serve() -> None:
    document = f"{TRUTHS[2]} {TRUTHS[0]} Penguins live on ice. {TRUTHS[1]}"
    messages = ("Does the bakery sell rye bread?", "Thanks!", "Which wood heats its oven?")
    reply = await answer(RelateDocument(document, messages))
    assert [(each["statement"], each["serves"]) for each in reply["statements"]] == [
        (TRUTHS[2], ["q2"]),
        (TRUTHS[0], ["q0", "q2"]),
        ("Penguins live on ice.", []),
        (TRUTHS[1], ["q0"]),
    ]
    assert all(
        set(each) == {"statement", "reason", "serves", "verdict"} for each in reply["statements"]
    )


async def test_a_document_about_something_else_serves_nothing() -> None:
    reply = await answer(RelateDocument(BAKERY, messages=("How fast do swallows fly?",)))
    assert [(each["serves"], each["verdict"]) for each in reply["statements"]] == [([], "no")] * 3


async def test_reasons_name_the_words_that_are_shared() -> None:
    document = f"Penguins live on ice. {BAKERY}"
    message = "Where can I buy rye bread on Mondays for my breakfast?"
    reply = await answer(JudgeDocument(document, (message,)))
    assert [(each["verdict"], each["reason"]) for each in reply["verdicts"]] == [
        ("no", "It holds 0 of 5 content words of the closest message."),
        ("no", "It holds 0 of 5 content words of the closest message."),
        ("yes", "It holds 3 of 5 content words of a message (rye, bread, mondays)."),
        ("yes", "The sentence before holds content words of a message; it holds 0 of 5."),
    ]


async def test_a_reason_names_a_few_of_many_words() -> None:
    message = "Alder, beech, cedar, elm, fir, hazel, larch, maple?"
    reply = await answer(JudgeDocument(message.replace("?", "."), (message,)))
    [verdict] = reply["verdicts"]
    assert verdict["reason"] == (
        "It holds 8 of 8 content words of a message "
        "(alder, beech, cedar, elm, fir, hazel and 2 more)."
    )


async def test_one_word_of_a_long_message_is_too_little() -> None:
    message = "alder beech cedar elm fir hazel larch bakery"
    reply = await answer(JudgeDocument(BAKERY, (message,)))
    assert [each["verdict"] for each in reply["verdicts"]] == ["no", "no", "no"]
    assert "1 of 8 content words of the closest message (bakery)" in reply["verdicts"][0]["reason"]


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ((), "There is no message to compare it with."),
        (("And why is that?",), "The message holds no word to compare."),
        (
            ("And why is that?", "Swallows?"),
            "It holds 0 of 1 content word of the closest message.",
        ),
    ],
)
async def test_without_words_to_compare_nothing_is_relevant(
    messages: tuple[str, ...], reason: str
) -> None:
    reply = await answer(JudgeDocument(document=TRUTHS[0], messages=messages))
    assert reply["verdicts"] == [{"statement": TRUTHS[0], "verdict": "no", "reason": reason}]


async def test_a_repeated_sentence_is_one_statement() -> None:
    reply = await answer(JudgeDocument(f"{BAKERY} {TRUTHS[0]}", messages=("When?",)))
    assert [each["statement"] for each in reply["verdicts"]] == list(TRUTHS)


async def test_an_empty_document_has_no_statements() -> None:
    assert await answer(RelateDocument("", ("Why?",))) == {"statements": []}
    assert await answer(JudgeDocument("", ("Why?",))) == {"verdicts": []}


async def test_statements_of_an_answer_include_its_refusals() -> None:
    said = "Hello! The oven is old. The documents do not mention prices. Shall I go on? Bye!"
    reply = await answer(SplitAnswer(question="How old?", answer=said))
    assert reply == {
        "statements": ["The oven is old.", "The documents do not mention prices."],
    }


async def test_only_what_is_supported_can_be_inferred() -> None:
    statements = (TRUTHS[0], "The bakery opened in 1926.", "Penguins cannot fly.")
    by_number = await answer(InferStatements(statements, contexts=(BAKERY,)))
    assert {key: each["verdict"] for key, each in by_number.items()} == {
        "s0": "1",
        "s1": "0",
        "s2": "0",
    }
    assert all(set(each) == {"reason", "verdict"} for each in by_number.values())
    listed = (await answer(InferStatementList(statements, contexts=(BAKERY,))))["statements"]
    assert [each["verdict"] for each in listed] == [1, 0, 0]
    assert [each["statement"] for each in listed] == list(statements)
    assert [each["reason"] for each in listed] == [each["reason"] for each in by_number.values()]


@pytest.mark.parametrize(
    ("said", "context", "earlier", "expected"),
    [
        (f"{TRUTHS[0]} {TRUTHS[1]}", BAKERY, None, "YES"),
        (f"Sure! {TRUTHS[0]}", BAKERY, None, "YES"),
        (f"{TRUTHS[0]} It never sells rye bread on Mondays.", BAKERY, None, "NO"),
        ("Penguins cannot fly.", BAKERY, None, "NO"),
        (TRUTHS[0], "", None, "NO"),
        ("", BAKERY, None, "NO"),
        ("Penguins cannot fly.", BAKERY, "YES", "YES"),
        ("Penguins cannot fly.", BAKERY, "NO", "NO"),
        (TRUTHS[0], BAKERY, "NO", "YES"),
    ],
)
async def test_support_of_an_answer_is_said_in_plain_text(
    said: str, context: str, earlier: str | None, expected: str
) -> None:
    request = replace(ask(SupportAnswer(said, context, earlier)), schema=None)
    reply = await OfflineJudge().send(request)
    assert reply.text == expected
    assert not reply.structured


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
async def test_any_string_gets_an_answer_in_shape(hostile: str) -> None:
    offline = OfflineJudge()
    documents = await offline.send(ask(ExtractTruths(documents=(hostile,))))
    answers = await offline.send(ask(ExtractClaims(answers=(hostile,))))
    groups = (EvidenceGroup(claims=(hostile,), truths=(hostile, BAKERY)),)
    evidence = await offline.send(ask(FindEvidence(groups=groups)))
    related = await offline.send(ask(RelateDocument(hostile, (hostile, "Why rye?"))))
    supported = await offline.send(ask(SupportAnswer(hostile, hostile)))
    for reply in (documents, answers, evidence, related, supported):
        assert reply.text.isascii()
    statements = [each["statement"] for each in json.loads(related.text)["statements"]]
    assert statements == json.loads(documents.text)["d0"]
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
            assert set(entry) == {*EVIDENCE, "reason", "verdict", "confidence"}
            named = {each for truths in entry["sufficient"] for each in truths}
            assert named | set(entry["contradicts"]) <= own
            assert len(named) <= 3
            assert bool(entry["sufficient"]) == (entry["verdict"] == "yes")
            assert entry["partial"] == []
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


@given(TEXTS, LISTS)
def test_a_statement_serves_a_message_whatever_else_is_asked(
    document: str, messages: tuple[str, ...]
) -> None:
    together = asyncio.run(answer(RelateDocument(document, messages)))["statements"]
    pooled = asyncio.run(answer(JudgeDocument(document, messages)))["verdicts"]
    assert [each["verdict"] for each in pooled] == [each["verdict"] for each in together]
    for position, message in enumerate(messages):
        alone = asyncio.run(answer(JudgeDocument(document, (message,))))["verdicts"]
        assert [each["verdict"] == "yes" for each in alone] == [
            f"q{position}" in each["serves"] for each in together
        ]
    for each in together:
        assert (each["verdict"] == "yes") == bool(each["serves"])


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


async def test_others_get_a_turn_while_it_reads_one_long_document() -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    document = " ".join(f"Shelf {number} holds rye bread." for number in range(1000))
    await answer(RelateDocument(document, ("Which shelf holds rye?",)))
    counting.cancel()
    assert turns >= 2 * 1000 // 50


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


def test_evidence_of_one_text_is_the_best_sentence_first() -> None:
    claim = "The oven is heated with beech wood and rye bread is sold on Mondays."
    found = [BAKERY[start:end] for start, end in evidence(claim, BAKERY)]
    assert found[0] == TRUTHS[2]
    assert found[1] == TRUTHS[1]
    assert evidence("Whales sing.", BAKERY) == []


def test_it_is_imported_from_its_floor() -> None:
    text = "It opens at 9 on Monday."
    verdict, confidence, chance = embedded.judge("It opens at 9.", text)
    assert (verdict, confidence) == ("yes", chance)
    assert embedded.evidence("It opens at 9.", text) == [(0, len(text))]
    with pytest.raises(AttributeError, match="has no attribute 'answer'"):
        _ = embedded.answer
