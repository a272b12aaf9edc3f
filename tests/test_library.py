"""What people write as a library: every public name refuses what it cannot take, in a sentence."""

import re
from collections.abc import Callable

import pytest

import faithtui
from faithtui import (
    Claim,
    Conversation,
    Document,
    FaithtuiError,
    Image,
    JudgeReply,
    JudgeRequest,
    Turn,
    agreement_report,
    build,
    measure,
    open_judge,
    open_store,
    single_turn,
)
from faithtui.agreement.labelled_units import DesignKind, LabelDesign, RunUnits
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.scores import ScoringRule
from faithtui.errors import InputError
from faithtui.judges.base import LocalJudge

CONVERSATION = single_turn("When?", "On Monday.", ["It happens on Monday."])
MADE = "a Conversation, as Conversation.of and single_turn make it"
RULE = ScoringRule(("yes",), None)
NOTHING = RunUnits((), (), (), LabelDesign(DesignKind.NONE, 0))

# ruff: noqa: E501 -- a table
# mypy: disable-error-code="arg-type, list-item, dict-item, return-value, assignment"
# Whoever runs mypy hears of these before.
WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: single_turn("q", "a", "text"), "retrieval_context: is a text; expected a list of texts or of Document, such as [text]"),
    (lambda: single_turn("q", "a", context="text"), "context: is a text; expected a list of texts or of Document"),
    (lambda: single_turn("q", "a", [{"text": "t"}]), "retrieval_context[0]: is a dict; expected a list of texts or of Document"),
    (lambda: single_turn("q", "a", ["t", 3]), "retrieval_context[1]: is an int; expected"),
    (lambda: single_turn("q", "a", {"text": "t"}), "retrieval_context: is a dict; expected a list"),
    (lambda: single_turn("q", "a", Document("t")), "retrieval_context: is a Document; expected a list"),
    (lambda: single_turn({"input": "q"}, "a"), "question: is a dict; expected a text, or None"),
    (lambda: single_turn("q", ["a"]), "answer: is a list; expected a text, or None"),
    (lambda: single_turn("q", "a", key=7), "key: is an int; expected a text"),
    (lambda: Turn("asistant", "a"), "role: is 'asistant'; expected `user` or `assistant`"),
    (lambda: Turn("system", "a"), "role: is 'system'; expected `user` or `assistant`"),
    (lambda: Turn(None, "a"), "role: is None; expected `user` or `assistant`"),
    (lambda: Turn("user", None), "content: is None; expected a text"),
    (lambda: Turn("user", ["a"]), "content: is a list; expected a text"),
    (lambda: Turn("assistant", "a", "text"), "retrieval_context: is a text; expected a tuple of documents, such as (Document(text),)"),
    (lambda: Turn("assistant", "a", ["text"]), "retrieval_context: is a list; expected a tuple of documents"),
    (lambda: Turn("assistant", "a", ("text",)), "retrieval_context[0]: is a text; expected a tuple of documents"),
    (lambda: Turn("user", "a", images=("x.png",)), "images[0]: is a text; expected a tuple of Image"),
    (lambda: Document({"text": "t"}), "text: is a dict; expected a text"),
    (lambda: Document("t", 3), "source: is an int; expected a text, or None"),
    (lambda: Document("t", images=["x"]), "images: is a list; expected a tuple of Image"),
    (lambda: Image(b"x", "image/png"), "sha256: is a bytes; expected 64 hexadecimal digits"),
    (lambda: Image("0" * 64, None), "media_type: is None; expected a text such as image/png"),
    (lambda: Image("0" * 64, "", 3), "url: is an int; expected an address, or None"),
    (lambda: Conversation.of({"role": "user", "content": "q"}), "turns[0]: is a dict; expected a tuple of Turn"),
    (lambda: Conversation.of([Turn("user", "q")]), "turns[0]: is a list; expected a tuple of Turn; Conversation.of(turn, turn, …)"),
    (lambda: Conversation("s", "k", [Turn("user", "q")], "g"), "turns: is a list; expected a tuple of Turn"),
    (lambda: Conversation("s", "k", "turns", "g"), "turns: is a text; expected a tuple of Turn"),
    (lambda: Conversation("s", 1, (), "g"), "key: is an int; expected a text"),
    (lambda: Conversation("s", "k", (), "g", None), "metadata: is None; expected a mapping"),
    (lambda: Conversation("s", "k", (), "g", {}, ({},)), "ratings[0]: is a dict; expected a tuple of Rating"),
    (lambda: Claim("1", "t"), "turn: is a text; expected the position of an assistant turn"),
    (lambda: Claim(1, None), "text: is None; expected a text"),
    (lambda: JudgeReply({"verdicts": []}), "text: is a dict; expected the reply as text"),
    (lambda: JudgeReply("{}", usage={"tokens_in": 1}), "usage: is a dict; expected a Usage"),
    (lambda: measure({"turns": []}), f"conversation: is a dict; expected {MADE}"),
    (lambda: measure("When?"), f"conversation: is a text; expected {MADE}"),
    (lambda: measure([CONVERSATION]), f"conversation: is a list; expected {MADE}"),
    (lambda: measure(None), f"conversation: is None; expected {MADE}"),
    (lambda: measure(CONVERSATION, None), "metric: is None; expected the key of a metric, or what build makes of one"),
    (lambda: measure(CONVERSATION, ["turn-faithfulness"]), "metric: is a list; expected the key of a metric"),
    (lambda: measure(CONVERSATION, type(build("turn-faithfulness", {}))), "metric: is the class TurnFaithfulness; expected"),
    (lambda: measure(CONVERSATION, judge=None), "judge: is None; expected a text such as openai:MODEL, or an object with `answer` or the protocol Judge"),
    (lambda: measure(CONVERSATION, judge=lambda question: "yes"), "judge: is a function; expected a text such as openai:MODEL"),
    (lambda: measure(CONVERSATION, options=["strict_mode"]), "options: is a list; expected a mapping such as {'window_size': 5}"),
    (lambda: measure(CONVERSATION, options={1: 2}), "options: is an int; expected names as texts"),
    (lambda: measure(CONVERSATION, claims="It is so."), "claims: is a text; expected a list of Claim, or None"),
    (lambda: measure(CONVERSATION, claims=["It is so."]), "claims[0]: is a text; expected a list of Claim"),
    (lambda: measure(CONVERSATION, images=[b"x"]), "images: is a list; expected bytes by the SHA-256 of each image"),
    (lambda: measure(CONVERSATION, images={"a": "b"}), "images['a']: is a text; expected the bytes of the image"),
    (lambda: measure(CONVERSATION, base_url=8000), "base_url: is an int; expected an address, or None"),
    (lambda: measure(CONVERSATION, concurrency="4"), "concurrency: is a text; expected a whole number, 1 or more"),
    (lambda: measure(CONVERSATION).score_with_overrides(["no"]), "human: is a list; expected a mapping such as {result.claims[0]: 'no'}"),
    (lambda: measure(CONVERSATION).score_with_overrides({"On Monday.": "no"}), "human: is a text; expected claims of the measurement as keys"),
    (lambda: measure(CONVERSATION).score_with_overrides({Claim(1, "On Monday."): 0}), "human['On Monday.']: is an int; expected a word for the verdict"),
    (lambda: build(None, {}), "metric: is None; expected the key of a metric, such as turn-faithfulness"),
    (lambda: build("turn-faithfulness", None), "options: is None; expected a mapping such as {'window_size': 5}"),
    (lambda: open_judge(None), "judge: is None; expected a text such as offline or openai:MODEL"),
    (lambda: open_judge({"model": "m"}), "judge: is a dict; expected a text"),
    (lambda: open_judge("offline", base_url=8000), "base_url: is an int; expected an address, or None"),
    (lambda: open_store(3), "path: is an int; expected a path, or None"),
    (lambda: agreement_report([], FAITHFULNESS, RULE), "readings: is a list; expected a RunUnits"),
    (lambda: agreement_report(NOTHING, ["yes", "no"], RULE), "labels: is a list; expected the LabelSet of the metric"),
    (lambda: agreement_report(NOTHING, FAITHFULNESS, {}), "rule: is a dict; expected the ScoringRule of the run"),
    (lambda: agreement_report(NOTHING, FAITHFULNESS, RULE, {}), "settings: is a dict; expected a ReportSettings, or None"),
]  # fmt: skip


@pytest.mark.parametrize(("work", "message"), WRONG, ids=[each[1][:60] for each in WRONG])
def test_a_value_of_another_type_is_refused_with_field_and_way_out(
    work: Callable[[], object], message: str
) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}") as caught:
        work()
    assert isinstance(caught.value, FaithtuiError)
    assert caught.value.field == message.partition(":")[0]


class Answering(LocalJudge):
    """A judge of one's own that says the same to everything."""

    ref, fingerprint, takes_images, context_window = "mine", "mine 1", False, None

    def __init__(self, said: object) -> None:
        self.said = said

    async def send(self, request: JudgeRequest) -> JudgeReply:
        return self.said

    async def aclose(self) -> None: ...


@pytest.mark.parametrize("said", ["yes", None, {"text": "yes"}])
def test_what_a_judge_of_ones_own_gives_must_be_a_reply(said: object) -> None:
    expected = r"^judge\.send: is .*; expected a JudgeReply, such as JudgeReply\(text\)"
    with pytest.raises(InputError, match=expected):
        measure(CONVERSATION, judge=Answering(said))
    assert (
        measure(CONVERSATION, judge=Answering(JudgeReply("no JSON"))).score.state.value == "failed"
    )


def test_a_judge_of_ones_own_must_have_what_judges_have() -> None:
    class Bare:
        ref = "mine"

        async def send(self, request: JudgeRequest) -> JudgeReply:
            return JudgeReply("")

    with pytest.raises(InputError, match=r"^judge: has no fingerprint, takes_images, context"):
        measure(CONVERSATION, judge=Bare())


def test_documents_may_be_texts_documents_and_any_sequence_of_them() -> None:
    for given in (["a", Document("b")], ("a", Document("b"))):
        *_, answer = single_turn("q", "a", given).turns
        assert answer.retrieval_context == (Document("a"), Document("b"))
    assert single_turn("q", "a", []).turns[1].retrieval_context == ()
    assert single_turn("q", "a").turns[1].retrieval_context is None
    assert single_turn(None, None).turns == ()


FUNCTIONS = {
    "agreement_report", "build", "draw_sample", "evaluate", "evaluate_async", "measure", "measure_async",
    "measure_shards", "open_judge", "open_store", "single_turn",
}  # fmt: skip
GIVEN = {"Claim", "Conversation", "Document", "Image", "JudgeProfile", "JudgeReply", "Turn"}
"""Values that people make. All others come out of faithtui, or are what a judge's author reads."""
RETURNED = {
    "Assessment", "Call", "Evaluation", "Evidence", "FaithtuiError", "Judge", "JudgeRequest",
    "MeasureSummary", "Measurement", "MemoryReplyCache", "Project", "Score", "ScoreSet", "ScoreState", "Truth", "Usage", "Verdict",
}  # fmt: skip


def test_every_public_name_is_in_this_table_or_comes_out_of_faithtui() -> None:
    assert set(faithtui.__all__) == FUNCTIONS | GIVEN | RETURNED
