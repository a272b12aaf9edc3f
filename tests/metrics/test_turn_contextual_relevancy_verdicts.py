import json
import re
from collections.abc import Hashable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithtui.domain.claims.verdicts import Assessment, Claim, Evidence, Truth
from faithtui.domain.conversation import Conversation, Span, normalise_text
from faithtui.domain.judging.tasks import JudgeDocument, RelateDocument
from faithtui.domain.labels.label_sets import NOT_A_CLAIM
from faithtui.domain.scores import (
    ClaimOccurrence,
    ScoreState,
    WindowLabels,
    score_conversation,
    score_window,
)
from faithtui.domain.windows import split_into_interactions
from faithtui.errors import (
    JudgeAuthFailed,
    JudgeError,
    JudgeQuotaExceeded,
    JudgeTimeout,
)
from faithtui.metrics.base import Question, ReplyMismatch
from faithtui.metrics.relevance.replies import make_statements_reply_shape
from tests.metrics.scripted import (
    CLEAR,
    SLOPPY,
    Json,
    Script,
    ScriptedAsk,
    anything,
    both,
    conversation,
    conversations,
    exchange,
    failing,
    judge,
    labels,
    make_conversation,
    oracles,
    relevancy,
    served,
    statement,
    states,
)
from tests.parity.run_cases import Strategy

# Verdicts from the messages named


async def test_a_statement_is_relevant_while_a_message_it_serves_is_in_view() -> None:
    assessments, _ = await judge(
        relevancy(window_size=2), make_conversation(3), ScriptedAsk(served(3))
    )
    assert labels(assessments) == [
        ["yes", "no", "no"],
        ["yes", "yes", "no", "yes", "no", "no"],
        ["yes", "yes", "no", "yes", "no", "no"],
    ]
    out_of_view = assessments[0].verdicts[1]
    assert out_of_view.word is None
    assert out_of_view.reason == "It serves only messages that are out of view."
    assert out_of_view.evidence == ()
    assert [found.truths for found in assessments] == [
        (Truth("Q0?"),),
        (Truth("Q0?"), Truth("Q1?")),
        (Truth("Q1?"), Truth("Q2?")),
    ]


async def test_the_messages_a_statement_serves_are_its_evidence() -> None:
    oracle = {"statements": {"D1.": [statement("s", "*"), statement("t")]}}
    talked = conversation(*exchange("Q0?", "A."), *exchange("Q1?", "A.", "D1."))
    assessments, _ = await judge(relevancy(), talked, ScriptedAsk(oracle))
    assert [each.evidence for each in assessments[1].verdicts] == [
        (Evidence(Truth("Q0?"), "supports"), Evidence(Truth("Q1?"), "supports")),
        (),
    ]


def saying(**entry: Json) -> Script:
    """Say this about every statement."""

    def script(question: Question[Any], answer: Json) -> Json:
        for each in answer.get("statements", ()):
            each |= entry
        return answer

    return script


@pytest.mark.parametrize(
    ("entry", "label"),
    [
        ({"verdict": "no", "serves": ["q0"]}, "no"),  # what is named never raises a verdict
        ({"verdict": "yes", "serves": []}, "yes"),  # a word without a message stands
        ({"verdict": "no", "serves": []}, "no"),
        ({"verdict": "yes", "serves": ["q7", "x"]}, "yes"),  # nobody has these numbers
        ({"verdict": "no", "serves": ["q7"]}, "no"),
        ({"verdict": "maybe", "serves": ["q0"]}, None),
        ({"verdict": "yes", "serves": [" [q0] ", "q0", 5]}, "yes"),
        ({"verdict": " YES ", "serves": None}, "yes"),
    ],
)
async def test_what_a_judge_names_is_read_and_its_verdict_stands(
    entry: Json, label: str | None
) -> None:
    oracle = {"statements": {"D0.": [statement("s")]}}
    assessments, _ = await judge(
        relevancy(), make_conversation(1), ScriptedAsk(oracle, saying(**entry))
    )
    assert labels(assessments) == [[label]]
    assert assessments[0].verdicts[0].word == entry["verdict"]
    assert len(assessments[0].verdicts[0].evidence) <= 1


@pytest.mark.parametrize(
    ("first", "second", "label"),
    [
        ({"verdict": "no", "serves": ["q0"]}, {"verdict": "yes", "serves": ["q0"]}, "yes"),
        ({"verdict": "no", "serves": ["q0"]}, {"verdict": "no", "serves": []}, "no"),
        ({"verdict": "no", "serves": ["q0"]}, {"verdict": "no", "serves": ["q0"]}, "no"),
        ({"verdict": "no", "serves": ["q0"]}, {"verdict": "maybe", "serves": []}, "no"),
    ],
)
async def test_a_verdict_that_its_messages_contradict_is_asked_about_once_more(
    first: Json, second: Json, label: str
) -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        return saying(**(second if question.step == "verdicts-again" else first))(question, answer)

    ask = ScriptedAsk({"statements": {"D0.": [statement("s")]}}, script)
    assessments, _ = await judge(relevancy(), make_conversation(1), ask)
    assert labels(assessments) == [[label]]
    assert (ask.steps["verdicts"], ask.steps["verdicts-again"]) == (1, 1)
    again = next(each for each in ask.questions if each.step == "verdicts-again")
    assert "let verdict and messages say the same" in again.prompt
    assert again.count is ask.questions[0].count


async def test_word_reason_and_confidence_are_kept() -> None:
    oracle = {"statements": {"D0.": [statement("s", "*"), statement("t")]}}
    script = saying(reason=" hm ", confidence=0.25)
    assessments, _ = await judge(relevancy(), make_conversation(1), ScriptedAsk(oracle, script))
    assert [(each.word, each.reason, each.confidence) for each in assessments[0].verdicts] == [
        ("yes", "hm", 0.25),
        ("no", "hm", 0.25),
    ]


async def test_a_word_counts_in_windows_that_show_messages_of_its_question() -> None:
    """The second question about the document says yes, without naming a message."""
    talked = conversation(*(turn for n in range(5) for turn in exchange(f"Q{n}?", "A.", "D.")))

    def script(question: Question[Any], answer: Json) -> Json:
        if isinstance(question.task, RelateDocument) and "Q3?" in question.task.messages:
            answer["statements"][0] |= {"verdict": "yes", "reason": "so"}
        return answer

    ask = ScriptedAsk({"statements": {"D.": [statement("s")]}}, script)
    assessments, _ = await judge(relevancy(window_size=2), talked, ask)
    assert [task.messages for task in ask.tasks(RelateDocument)] == [
        ("Q0?", "Q1?", "Q2?"),
        ("Q3?", "Q4?"),
    ]
    assert [set(found) for found in labels(assessments)] == [
        {"no"},
        {"no"},
        {"no"},
        {"yes"},
        {"yes"},
    ]
    assert assessments[3].verdicts[0].reason == "so"


# Statements and their documents


@both
async def test_a_statement_belongs_to_the_first_turn_that_has_its_document(
    strategy: Strategy,
) -> None:
    talked = conversation(
        *exchange("Q0?", "A.", "It is D."), *exchange("Q1?", "B.", "E.", "It is D.")
    )
    oracle = {"statements": {"It is D.": [statement("IS  d"), statement("else", "Q1?")]}}
    using = relevancy(strategy=strategy, window_size=1)
    assessments, _ = await judge(using, talked, ScriptedAsk(oracle))
    located = Claim(1, "IS  d", Span(3, 7), "statement", "It is D.")
    other = Claim(1, "else", None, "statement", "It is D.")
    assert [each.claim for each in assessments[0].verdicts] == [located, other]
    assert [each.claim for each in assessments[1].verdicts] == [located, other]
    assert labels(assessments) == [["no", "no"], ["no", "yes"]]


@both
async def test_a_document_that_a_window_has_twice_counts_twice_and_is_asked_about_once(
    strategy: Strategy,
) -> None:
    oracle = {"statements": {"D.": [statement("s", "Q?")], "E.": [statement("t")]}}
    ask = ScriptedAsk(oracle)
    talked = conversation(*exchange("Q?", "A.", "D.", "E.", "D."))
    assessments, _ = await judge(relevancy(strategy=strategy), talked, ask)
    assert labels(assessments) == [["yes", "no", "yes"]]
    assert assessments[0].verdicts[0] == assessments[0].verdicts[2]
    assert assessments[0].score.value == 2 / 3
    assert ask.steps["verdicts"] == 2


@both
async def test_statements_are_trimmed_blank_ones_dropped_and_repeats_kept_once(
    strategy: Strategy,
) -> None:
    oracle = {
        "statements": {
            "D0.": [
                statement(" One. "),
                statement(" "),
                statement("one.", "*"),
                statement("Two.", verdict="perhaps"),
                statement("TWO.", "*"),
            ]
        }
    }
    assessments, _ = await judge(
        relevancy(strategy=strategy), make_conversation(1), ScriptedAsk(oracle)
    )
    assert [(each.claim.text, each.label) for each in assessments[0].verdicts] == [
        ("One.", "no"),
        ("TWO.", "yes"),
    ]


@both
async def test_under_the_peers_rules_statements_are_kept_as_written(strategy: Strategy) -> None:
    oracle = {"statements": {"D0.": [statement(" s "), statement(""), statement(" s ", "*")]}}
    using = relevancy(strategy=strategy, as_peer=True)
    assessments, _ = await judge(using, make_conversation(1), ScriptedAsk(oracle))
    assert [(each.claim.text, each.label) for each in assessments[0].verdicts] == [
        (" s ", "no"),
        ("", "no"),
        (" s ", "yes"),
    ]


async def test_a_statement_that_windows_write_differently_is_one_claim() -> None:
    """But the same words in another document are another claim."""
    seen: list[str] = []

    def script(question: Question[Any], answer: Json) -> Json:
        if isinstance(question.task, JudgeDocument):
            seen.append(question.task.document)
            for each in answer["verdicts"]:
                each["statement"] = each["statement"].upper() if len(seen) % 2 else "it is so"
        return answer

    oracle = {"statements": {each: [statement("It is  so")] for each in ("D0.", "D1.")}}
    assessments, _ = await judge(
        relevancy(strategy="window", async_mode=False),
        make_conversation(2),
        ScriptedAsk(oracle, script),
    )
    first, again, other = [each.claim for found in assessments for each in found.verdicts]
    assert first == again
    assert first.text == "IT IS  SO"
    assert (other.document, normalise_text(other.text)) == ("D1.", "it is so")


# Failures


@pytest.mark.parametrize("strategy", ["evidence", "window"])
async def test_a_failure_fails_only_windows_that_hold_the_document(strategy: str) -> None:
    script = failing("verdicts", lambda task: task.document == "D1.")
    using = relevancy(strategy=strategy, window_size=2)
    assessments, conclusion = await judge(
        using, make_conversation(4), ScriptedAsk(served(4), script)
    )
    assert states(assessments) == [
        ScoreState.SCORED,
        ScoreState.FAILED,
        ScoreState.FAILED,
        ScoreState.SCORED,
    ]
    assert assessments[1].score.reason == "JudgeTimeout: the judge did not answer"
    assert conclusion.score.state is ScoreState.FAILED
    assert (conclusion.success, conclusion.reason) == (None, None)


@pytest.mark.parametrize(
    ("message", "failed"), [("Q0?", [0, 1, 2, 3, 4, 5]), ("Q3?", [3, 4, 5]), ("Q9?", [])]
)
async def test_a_later_question_about_a_document_that_fails_fails_the_windows_it_decides(
    message: str, failed: list[int]
) -> None:
    talked = conversation(*(turn for n in range(6) for turn in exchange(f"Q{n}?", "A.", "D.")))
    script = failing("verdicts", lambda task: message in task.messages)
    oracle = {"statements": {"D.": [statement("s", "*")]}}
    assessments, _ = await judge(relevancy(window_size=2), talked, ScriptedAsk(oracle, script))
    assert [n for n, state in enumerate(states(assessments)) if state is ScoreState.FAILED] == (
        failed
    )


@both
@pytest.mark.parametrize("async_mode", [True, False])
@pytest.mark.parametrize("error", [JudgeAuthFailed("no key"), JudgeQuotaExceeded("spent")])
@pytest.mark.parametrize("step", ["verdicts", "final-reason"])
async def test_errors_after_which_nothing_can_succeed_are_let_through(
    strategy: Strategy, async_mode: bool, error: JudgeError, step: str
) -> None:
    ask = ScriptedAsk(served(3), failing(step, anything, error))
    with pytest.raises(type(error)) as raised:
        await judge(relevancy(strategy=strategy, async_mode=async_mode), make_conversation(3), ask)
    assert raised.value is error


@both
@pytest.mark.parametrize("step", ["verdicts", "reason", "final-reason"])
async def test_under_the_peers_rules_one_failure_loses_the_conversation(
    strategy: Strategy, step: str
) -> None:
    ask = ScriptedAsk(served(3), failing(step, anything))
    with pytest.raises(JudgeTimeout):
        await judge(relevancy(strategy=strategy, as_peer=True), make_conversation(3), ask)


async def test_a_final_reason_that_cannot_be_had_never_costs_the_score() -> None:
    oracle = {"statements": {f"D{n}.": [statement(f"s{n}")] for n in range(2)}}
    ask = ScriptedAsk(oracle, failing("final-reason", anything))
    _, conclusion = await judge(relevancy(window_size=1), make_conversation(2), ask)
    assert conclusion.score.value == 0.0
    assert conclusion.reason == ("2 statements not relevant: s0 (no): because; s1 (no): because")


# Reading replies


def read(reply: Json, *, as_peer: bool, structured: bool = False) -> list[tuple[str, str | None]]:
    shape = make_statements_reply_shape("verdicts", messages=None, as_peer=as_peer)
    return [(each.text, each.verdict.word) for each in shape.read(reply, structured)]


GOOD = {"statement": "s", "verdict": "yes", "reason": "r"}


@pytest.mark.parametrize(
    "reply", [None, [], "verdicts", {}, {"verdicts": None}, {"verdicts": {}}, {"verdicts": ["yes"]}]
)
def test_a_reply_of_another_shape_is_refused(reply: Json) -> None:
    with pytest.raises(ReplyMismatch):
        read(reply, as_peer=False)
    with pytest.raises(ReplyMismatch):
        read(reply, as_peer=True, structured=True)


@pytest.mark.parametrize("entry", [{"verdict": "yes"}, {"statement": None}, {"statement": 1}])
def test_an_entry_without_its_statement_is_refused(entry: Json) -> None:
    with pytest.raises(ReplyMismatch, match=r"`verdicts\[1\].statement` must be a string"):
        read({"verdicts": [GOOD, entry]}, as_peer=False)


@pytest.mark.parametrize("reply", [{}, {"verdicts": None}, {"verdicts": []}, {"verdicts": 0}])
def test_the_peer_takes_a_missing_list_for_an_empty_one_where_no_schema_binds(reply: Json) -> None:
    assert read(reply, as_peer=True) == []


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        (GOOD, [("s", "yes")]),
        ({"statement": "s", "verdict": "No: other"}, [("s", "No: other")]),
        ({"statement": "s", "verdict": "idk"}, [("s", "idk")]),
        ({"statement": "s", "verdict": True}, [("s", None)]),
        ({"statement": "s"}, [("s", None)]),
        ({"verdict": "maybe"}, []),
        ({"statement": None, "verdict": "idk", "reason": 3}, []),
        ({"statement": "s", "verdict": "idk", "reason": 3}, [("s", "idk")]),
        ({"statement": "s", "verdict": "yes", "reason": None}, [("s", "yes")]),
    ],
)
def test_the_peer_needs_a_statement_where_the_word_counts(
    entry: Json, found: list[tuple[str, str | None]]
) -> None:
    assert read({"verdicts": [entry]}, as_peer=True) == found


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"verdict": "yes"}, "statement"),
        ({"statement": 2, "verdict": "no!"}, "statement"),
        ({"statement": "s", "verdict": "no", "reason": 3}, "reason"),
    ],
)
def test_the_peer_fails_on_entries_it_cannot_build(entry: Json, problem: str) -> None:
    for structured in (False, True):
        with pytest.raises(ReplyMismatch):
            read({"verdicts": [entry]}, as_peer=True, structured=structured)
    with pytest.raises(ReplyMismatch, match=problem):
        read({"verdicts": [entry]}, as_peer=True)


@pytest.mark.parametrize("word", ["idk", "borderline", "Yes", "", None, 1])
def test_the_peer_fails_on_words_outside_a_schema_that_binds(word: Json) -> None:
    with pytest.raises(ReplyMismatch, match="expected one of yes, no"):
        read({"verdicts": [{**GOOD, "verdict": word}]}, as_peer=True, structured=True)


def test_the_peers_way_from_text_to_json_is_used_under_its_rules_alone() -> None:
    parse = make_statements_reply_shape("verdicts", messages=None, as_peer=True).parse
    assert parse is not None
    assert parse('Sure: ```{"verdicts": [],}```') == {"verdicts": []}
    assert make_statements_reply_shape("verdicts", messages=None, as_peer=False).parse is None


def test_a_schema_asks_for_served_messages_where_they_are_numbered() -> None:
    plain = make_statements_reply_shape("verdicts", messages=None, as_peer=False).schema
    named = make_statements_reply_shape("statements", messages=["q0"], as_peer=False).schema
    assert '"serves"' not in json.dumps(plain)
    assert '"serves"' in json.dumps(named)
    assert '["yes", "no"]' in json.dumps(plain)


# Any conversation, any oracle


def told(assessments: Sequence[Assessment]) -> list[Any]:
    return [
        (
            [(each.claim, each.label) for each in found.verdicts],
            found.truths,
            found.score,
            found.without_context,
        )
        for found in assessments
    ]


@given(talked=conversations(), oracle=oracles(), size=st.integers(1, 5), strict=st.booleans())
@settings(deadline=None, max_examples=50)
async def test_both_strategies_agree(
    talked: Conversation, oracle: Any, size: int, strict: bool
) -> None:
    found = []
    for strategy in ("evidence", "window"):
        using = relevancy(strategy=strategy, window_size=size, strict_mode=strict)
        ask = ScriptedAsk({"statements": oracle})
        assessments, conclusion = await judge(using, talked, ask)
        found.append((told(assessments), conclusion.score, conclusion.success))
    assert found[0] == found[1]


def peer(talked: Conversation, oracle: Any, size: int, strict: bool) -> tuple[list[Any], float]:
    """The peer's windows and score, worked out anew for a judge that writes plain JSON."""
    units = split_into_interactions(talked.turns)
    windows, scores = [], []
    for last in range(len(units)):
        turns = [
            talked.turns[turn]
            for unit in units[max(0, last - size + 1) : last + 1]
            for turn in unit.turns
        ]
        messages = [turn.content for turn in turns if turn.role == "user"]
        found = []
        for turn in turns:
            for document in (turn.retrieval_context or ()) if turn.role == "assistant" else ():
                for each in oracle.get(document.text, ()):
                    serves = each.get("relevant_to", ())
                    hit = serves == "*" or any(message in messages for message in serves)
                    word = each["verdict"] if "verdict" in each else ("no", "yes")[hit]
                    letters = re.match("[a-z]+", str(word or "").strip().lower())
                    if letters and letters.group() in ("yes", "no"):
                        found.append(letters.group())
        score = found.count("yes") / len(found) if found else 1
        windows.append(found)
        scores.append(0 if strict and score < 1 else score)
    return windows, sum(scores) / len(scores) if scores else 1


@pytest.mark.thorough
@given(
    talked=conversations(),
    oracle=oracles(SLOPPY),
    size=st.integers(1, 5),
    strict=st.booleans(),
    reasons=st.booleans(),
)
@settings(deadline=None, max_examples=50)
async def test_under_the_peers_rules_both_strategies_give_the_peers_score(
    talked: Conversation, oracle: Any, size: int, strict: bool, reasons: bool
) -> None:
    windows, score = peer(talked, oracle, size, strict)
    for strategy in ("evidence", "window"):
        using = relevancy(
            strategy=strategy,
            window_size=size,
            strict_mode=strict,
            include_reason=reasons,
            as_peer=True,
        )
        ask = ScriptedAsk({"statements": oracle, "reply_style": "json"})
        assessments, conclusion = await judge(using, talked, ask)
        kept = [[label for label in found if label] for found in labels(assessments)]
        assert kept == windows
        assert conclusion.score.value == score
        assert ask.steps["reason"] == (sum(map(bool, windows)) if reasons else 0)


def identity(claim: Claim) -> tuple[int, str, str | None]:
    return claim.turn, normalise_text(claim.text), claim.document


def judged_windows(
    talked: Conversation, assessments: Sequence[Assessment]
) -> tuple[WindowLabels, ...]:
    """What scoring people's labels starts from."""
    interaction = {
        turn: part.position for part in split_into_interactions(talked.turns) for turn in part.turns
    }
    return tuple(
        WindowLabels(
            interactions=found.window.interactions,
            occurrences=tuple(
                ClaimOccurrence(identity(each.claim), interaction[each.claim.turn], each.label)
                for each in found.verdicts
            ),
            failure=None if found.score.state is ScoreState.SCORED else found.score,
        )
        for found in assessments
    )


@given(
    talked=conversations(),
    oracle=oracles(CLEAR),
    size=st.integers(1, 5),
    strategy=st.sampled_from(("evidence", "window")),
    data=st.data(),
)
@settings(deadline=None, max_examples=50)
async def test_a_relabelled_statement_moves_every_window_that_holds_it_and_nothing_else(
    talked: Conversation, oracle: Any, size: int, strategy: str, data: st.DataObject
) -> None:
    using = relevancy(strategy=strategy, window_size=size)
    ask = ScriptedAsk({"statements": oracle})
    assessments, conclusion = await judge(using, talked, ask)
    windows = judged_windows(talked, assessments)
    before, each_before = score_conversation(windows, using.rule)
    assert before.windowed == conclusion.score
    assert each_before == tuple(found.score for found in assessments)
    known = sorted(
        {identity(each.claim) for found in assessments for each in found.verdicts}, key=str
    )
    if not known:
        return
    chosen = data.draw(st.sampled_from(known))
    word = data.draw(st.sampled_from(("yes", "no", NOT_A_CLAIM)))
    _, each_after = score_conversation(windows, using.rule, {chosen: word})
    for window, old, new in zip(windows, each_before, each_after, strict=True):
        if window.failure is not None:
            assert new == old
            continue
        corrected = [
            word if each.claim == chosen else each.label
            for each in window.occurrences
            if not (each.claim == chosen and word == NOT_A_CLAIM)
        ]
        expected = score_window(corrected, using.rule)
        assert (new.value, new.state) == (expected.value, expected.state)
        if not any(each.claim == chosen for each in window.occurrences):
            assert new == old


# The page's example


async def test_the_example_worked_out_by_hand() -> None:
    oracle = {
        "D0.": [statement("a", "Q0?"), statement("b", "Q1?")],
        "D1.": [statement("c")],
        "D2.": [statement("d", "Q2?")],
    }
    assessments, conclusion = await judge(
        relevancy(), make_conversation(3), ScriptedAsk({"statements": oracle})
    )
    assert [found.score.value for found in assessments] == [1 / 2, 2 / 3, 3 / 4]
    assert conclusion.success is True
    windows = judged_windows(make_conversation(3), assessments)
    b, c = (1, "b", "D0."), (3, "c", "D1.")
    reviews: tuple[tuple[dict[Hashable, str], tuple[float, float, float]], ...] = (
        ({}, (0.639, 0.5, 0.5)),
        ({b: "yes"}, (0.806, 0.667, 0.75)),
        ({b: "no"}, (0.444, 0.5, 0.5)),
        ({c: NOT_A_CLAIM}, (0.833, 0.75, 0.667)),
    )
    for said, expected in reviews:
        found, _ = score_conversation(windows, relevancy().rule, said)
        scores = (found.windowed, found.per_interaction, found.pooled)
        assert tuple(round(score.value or 0.0, 3) for score in scores) == expected
