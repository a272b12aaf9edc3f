"""The call that decided a claim, and the claim's entry in question and reply."""

import json
from dataclasses import replace

import pytest

from faithtui.domain.ids import TruthId
from faithtui.domain.judging.tasks import (
    EvidenceGroup,
    FindEvidence,
    InferStatements,
    JudgeClaimList,
    SupportAnswer,
    Task,
    list_numbered_claims_or_statements,
)
from faithtui.judges.base import JudgeRequest
from faithtui.store.records import CallRow, StoredReply, TruthView
from faithtui.tui.replies.claim_entry import ClaimEntry, ClaimInWindow, find_call_deciding_claim
from faithtui.tui.replies.reply_lines import TextLines, format_prompt_lines, reply_lines
from tests.tui.building import NOON


def call(number: int, text: str, *, window: int | None = 0, usable: bool = True) -> CallRow:
    reply = StoredReply(text, "ok", True, 1, 1, 0, None, None, 1, "schema", None, 0, 0, None)
    return CallRow(number, "verdicts", window, 0, usable, NOON, reply)


def request(task: Task, prompt: str = "") -> JudgeRequest:
    return JudgeRequest("verdicts", task, "", prompt, None, 900)


def marked(drawn: TextLines) -> list[str]:
    return [each.text for each in drawn.lines if each.text.startswith("▌")]


SHIP = ClaimInWindow("claim 12", "The ship sails at nine.", 2)


@pytest.mark.parametrize(
    ("task", "name"),
    [
        (FindEvidence((EvidenceGroup(("a",), ()), EvidenceGroup((SHIP.text,), ()))), "c1"),
        (JudgeClaimList(("The ship  sails at nine.",), ()), "c0"),
        (InferStatements(("a", "b", SHIP.text), ()), "s2"),
    ],
)
def test_units_are_numbered_as_in_the_question(task: Task, name: str) -> None:
    found = find_call_deciding_claim([call(7, "{}")], {7: request(task)}, SHIP)
    assert found == ClaimEntry(0, name, SHIP.text)
    assert list_numbered_claims_or_statements(SupportAnswer("a", "b")) == ()


def test_the_nearest_window_counts_and_then_the_last_usable_reply() -> None:
    task = JudgeClaimList((SHIP.text,), ())
    calls = [
        call(1, "{}", window=0),
        call(2, "{}", window=3),
        call(3, "{}", window=3),
        call(4, "{", window=2, usable=False),
        call(5, "{}", window=None),
    ]
    asked = {each.id: request(task) for each in calls}
    found = find_call_deciding_claim(calls, asked, SHIP)
    assert found is not None
    assert (found.row, found.is_deciding) == (2, False), "the reply says nothing of it"
    assert find_call_deciding_claim(calls, {}, SHIP) is None


def test_the_entry_is_marked_in_question_and_reply() -> None:
    prompt = (
        "Truths:\n[t0] The ship sails at nine.\nClaims:\n[c0] a\n[c1] The ship sails at nine.\n"
    )
    entry = ClaimEntry(0, "c1", SHIP.text)
    asked = format_prompt_lines(request(JudgeClaimList((), ()), prompt), None, 60, entry)
    assert marked(asked) == ["▌[c1] The ship sails at nine."]
    assert asked.entry is not None
    assert asked.lines[asked.entry].text.startswith("▌")
    plain = format_prompt_lines(request(JudgeClaimList((), ()), prompt), None, 60)
    told = [each.text.replace("▌", " ") for each in asked.lines]
    assert told == [each.text for each in plain.lines], "nothing moves"
    keyed = call(1, '{"c0": {"verdict": "no"}, "c1": {"verdict": "yes"}}')
    assert marked(reply_lines(keyed, 60, entry)) == ['▌  "c1": {', '▌    "verdict": "yes"', "▌  }"]
    listed = call(1, '{"verdicts": [{"verdict": "no"}, {"verdict": "yes"}]}')
    assert '▌      "verdict": "yes"' in marked(reply_lines(listed, 60, entry))
    assert len(marked(reply_lines(listed, 60, entry))) == 3
    assert marked(reply_lines(call(1, "no JSON"), 60, entry)) == []


def test_a_statement_that_the_reply_names_itself_is_found() -> None:
    text = (
        '{"statements": [{"statement": "A.", "verdict": "no"}, {"statement": "B", "verdict": 1}]}'
    )
    statement = ClaimInWindow("statement 1", "a.", 0)
    calls = [call(1, '{"claims": ["a."]}'), call(2, text), call(3, "a.")]
    asked = {each.id: request(SupportAnswer("", "")) for each in calls}
    found = find_call_deciding_claim(calls, asked, statement)
    assert found == ClaimEntry(1, None, "a.")
    assert found is not None
    assert marked(reply_lines(calls[1], 60, found))[1:] == [
        '▌      "statement": "A.",', '▌      "verdict": "no"', "▌    },"
    ]  # fmt: skip
    assert format_prompt_lines(request(SupportAnswer("", ""), "a."), None, 60, found).entry is None


def test_of_several_calls_the_one_counts_that_says_what_the_verdict_says() -> None:
    def say(number: int, verdict: str, reason: str, window: int) -> CallRow:
        said = {"verdict": verdict, "reason": reason, "sufficient": [["t1"], ["t0", "t2"]]}
        return call(number, json.dumps({"c0": said}), window=window)

    truths = tuple(
        TruthView(TruthId(9), number, text, None, None, (0,))
        for number, text in ((7, "At nine."), (8, "it sails"))
    )
    shown = replace(SHIP, window=1, word="yes", reason="6 of 7 words", truths=truths)
    task = FindEvidence((EvidenceGroup((SHIP.text,), ("It sails", "at nine.", "unknown")),))
    calls = [
        say(1, "idk", "4 of 7 words", 1),
        say(2, "yes", "6 of 7 words", 2),
        say(3, "yes", "7 of 7 words", 1),
    ]
    asked = {each.id: request(task) for each in calls}
    found = find_call_deciding_claim(calls, asked, shown)
    assert found == ClaimEntry(1, "c0", SHIP.text, True, "t1 = T7, t0 = T8")
    derived = find_call_deciding_claim(calls, asked, replace(shown, word=None, reason=None))
    assert derived is not None
    assert not derived.is_deciding, "no reply says it in these words"
    alone = find_call_deciding_claim(calls[:1], asked, shown)
    assert alone is not None
    assert alone.is_deciding
