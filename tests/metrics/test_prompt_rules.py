"""What each rule of the second version of the prompts asks and forbids, case by case.

What a model makes of a rule is not tested here and was not measured. What is: that the rules stand
in every text that asks for verdicts by claim, that the examples keep to them, and what becomes of
a reply that follows a rule and of one that breaks it.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from faithtui import measure
from faithtui.domain.conversation import single_turn
from faithtui.domain.integrity.invented_quotes import is_quoted_from
from faithtui.judges.plugin_judge import CustomQuestion
from faithtui.metrics.registry import build
from faithtui.metrics.reply_shapes import make_facts_reply_shape, make_keyed_verdicts_reply_shape

PROMPTS = Path(__file__).parents[2] / "faithtui" / "metrics" / "prompts"
PAGE = Path(__file__).parents[2] / "docs" / "prompts.md"
RULES = ("Parts", "Inference", "Rounding", "Hedges", "Negation", "Language")
BY_CLAIM = (
    "shared/verdicts.txt",
    "shared/verdict-list.txt",
    "turn-faithfulness/evidence.txt",
    "deepevalex-faithfulness/verdict-list.txt",
    "ragas-faithfulness/inference.txt",
    "ragas-faithfulness/inference-list.txt",
)


@dataclass(frozen=True)
class Case:
    """A claim, the truths it is compared with, and what a rule makes of it."""

    rule: str
    truths: tuple[str, ...]
    claim: str
    asks: dict[str, Any]
    forbids: dict[str, Any]


def said(
    verdict: str,
    sufficient: list[list[str]] | None = None,
    partial: list[str] | None = None,
    contradicts: list[str] | None = None,
) -> dict[str, Any]:
    """A judge's entry for the claim."""
    return {
        "reason": "",
        "sufficient": sufficient or [],
        "partial": partial or [],
        "contradicts": contradicts or [],
        "verdict": verdict,
    }


YES, NO, IDK = said("yes", [["t0"]]), said("no", contradicts=["t0"]), said("idk")
CASES = [
    Case(
        "Parts",
        ("The museum opens at nine on weekdays.",),
        "The museum opens at nine every day.",
        said("idk", partial=["t0"]),
        said("yes", partial=["t0"]),
    ),
    Case(
        "Inference",
        ("The bridge opened in 1923.", "The bridge closed in 1933."),
        "The bridge was open for ten years.",
        said("yes", [["t0", "t1"]]),
        said("idk", [["t0", "t1"]]),
    ),
    Case("Rounding", ("Entry costs 4.85 euros.",), "Entry costs about five euros.", YES, NO),
    Case("Rounding", ("Entry costs 4.85 euros.",), "Entry costs six euros.", NO, YES),
    Case(
        "Hedges",
        ("The shop is usually open until six.",),
        "The shop is always open until six.",
        said("idk", partial=["t0"]),
        said("yes", partial=["t0"]),
    ),
    Case("Negation", ("No fee is charged.",), "There is a fee.", NO, said("yes", None, [], ["t0"])),
    Case("Negation", ("The shop opens at nine.",), "The shop has no parking.", IDK, YES),
    Case("Language", ("Das Ticket kostet fünf Euro.",), "A ticket costs five euros.", YES, IDK),
]


class RuleJudge:
    """Draws the truths and the claim of a case, and answers comparisons from a list."""

    fingerprint = "rules 1"

    def __init__(self, case: Case, *replies: dict[str, Any]) -> None:
        self._case = case
        self._replies = list(replies)
        self.prompts: list[str] = []

    async def answer(self, question: CustomQuestion) -> str:
        self.prompts.append(question.prompt)
        match question.step:
            case "truths":
                return json.dumps({"d0": [{"fact": t, "quote": t} for t in self._case.truths]})
            case "claims":
                return json.dumps({"a0": [self._case.claim]})
            case _:
                return json.dumps({"c0": self._replies.pop(0)})


def judge_case(case: Case, *replies: dict[str, Any]) -> tuple[Any, RuleJudge]:
    judge = RuleJudge(case, *replies)
    chat = single_turn("And?", case.claim, [" ".join(case.truths)])
    return measure(chat, judge=judge, options={"include_reason": False}), judge


each_case = pytest.mark.parametrize("case", CASES, ids=[f"{c.rule}: {c.claim}" for c in CASES])


@pytest.mark.parametrize("name", BY_CLAIM)
def test_every_text_that_asks_for_verdicts_has_all_rules(name: str) -> None:
    text = (PROMPTS / name).read_text(encoding="utf-8")
    assert re.findall(r"^- (\w+):", text.partition("Rules:\n")[2], re.MULTILINE) == list(RULES)


def test_the_texts_about_an_answer_keep_what_verdicts_hang_on() -> None:
    for name in (
        "shared/claims.txt",
        "shared/pooled-claims.txt",
        "ragas-faithfulness/statements.txt",
    ):
        text = (PROMPTS / name).read_text(encoding="utf-8")
        for word in ("hedges", "negations", "numbers", "language", "denies"):
            assert word in text, name
    text = (PROMPTS / "llamaindex-faithfulness" / "question.txt").read_text(encoding="utf-8")
    for word in ("part", "likely", "rounded", "always", "does not mention", "Languages"):
        assert word in text


@each_case
def test_a_reply_that_follows_a_rule_is_taken_at_its_word(case: Case) -> None:
    found, judge = judge_case(case, case.asks)
    assert [each.label for each in found.verdicts] == [case.asks["verdict"]]
    assert f"- {case.rule}:" in judge.prompts[-1]
    assert case.claim in judge.prompts[-1]
    assert found.warning == ""


@pytest.mark.parametrize(
    "case",
    [
        each
        for each in CASES
        if each.rule in ("Parts", "Inference", "Hedges") or "fee" in each.claim
    ],
    ids=lambda case: case.claim,
)
def test_one_that_contradicts_its_own_evidence_is_asked_about_again(case: Case) -> None:
    found, judge = judge_case(case, case.forbids, case.asks)
    assert "contradict themselves" in judge.prompts[-1]
    assert [each.label for each in found.verdicts] == [case.asks["verdict"]]


@each_case
def test_the_page_shows_the_case(case: Case) -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").split("\n") if line.startswith("| ")]
    (row,) = [each for each in rows if f"| {' '.join(case.truths)} | {case.claim} |" in each]
    assert row.startswith(f"| {case.rule} |")
    assert row.split("|")[4].strip().startswith(f"`{case.asks['verdict']}`")


EXAMPLES = re.findall(
    r'^Example \d\. (.*?), claim "(.*?)": (\{.*\})$',
    (PROMPTS / "turn-faithfulness" / "evidence.txt").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def test_the_examples_of_the_comparison_keep_to_the_rules() -> None:
    assert len(EXAMPLES) == 2
    for shown, claim, reply in EXAMPLES:
        truths = tuple(re.findall(r't\d "(.*?)"', shown))
        case = Case("Parts", truths, claim, json.loads(reply), {})
        found, judge = judge_case(case, case.asks)
        assert [each.label for each in found.verdicts] == [case.asks["verdict"]]
        assert len(judge.prompts) == 3, "nothing had to be asked again"
        (quote,) = re.findall(r'"(.+?)"', case.asks["reason"])
        assert any(is_quoted_from(quote, each) for each in truths)


def test_the_examples_of_verdicts_can_be_read() -> None:
    text = (PROMPTS / "shared" / "verdicts.txt").read_text(encoding="utf-8")
    replies = re.findall(r"^Example \d\. .*?: (\{.*\})$", text, re.MULTILINE)
    shape = make_keyed_verdicts_reply_shape(["c0", "c1"], ("yes", "no", "idk"))
    read = shape.read({f"c{n}": json.loads(each) for n, each in enumerate(replies)}, True)
    assert [each.word for each in read if each is not None] == ["idk", "yes"]


def test_the_examples_of_truths_quote_their_documents_letter_for_letter() -> None:
    text = (PROMPTS / "shared" / "quoted-truths.txt").read_text(encoding="utf-8")
    shown = re.findall(r'^Example \d\. Document "(.*?)": (\[.*\])$', text, re.MULTILINE)
    assert len(shown) == 2
    shape = make_facts_reply_shape(["d0", "d1"], is_quoted=True)
    read = shape.read({f"d{n}": json.loads(reply) for n, (_, reply) in enumerate(shown)}, True)
    for (document, _), facts in zip(shown, read, strict=True):
        assert facts
        for fact in facts:
            assert fact.quote is not None
            assert fact.quote in document


def test_a_truth_stands_where_its_quote_does_and_an_invented_quote_is_found() -> None:
    document = "Founded in 1923, the yard built ferries."

    class Judge(RuleJudge):
        async def answer(self, question: CustomQuestion) -> str:
            if question.step != "truths":
                return await super().answer(question)
            facts = [
                {"fact": "The yard was founded in 1923.", "quote": "founded in  1923"},
                {"fact": "The yard built ferries.", "quote": "the yard built submarines"},
            ]
            return json.dumps({"d0": facts})

    case = Case("Parts", (), "The yard was founded in 1923.", YES, {})
    chat = single_turn("And?", case.claim, [document])
    found = measure(chat, judge=Judge(case, YES), options={"include_reason": False})
    first, second = found.truths
    assert first.span is not None
    assert document[first.span.start : first.span.end] == "Founded in 1923"
    assert (second.span, second.quote) == (None, "the yard built submarines")
    assert found.to_dict()["claims"][0]["evidence"][0]["quote"] == "founded in  1923"  # type: ignore[index, call-overload]  # JSON


def test_texts_of_ones_own_without_quotes_are_asked_for_none(tmp_path: Path) -> None:
    (tmp_path / "truths.txt").write_text("List. $documents $limit", encoding="utf-8")
    case = CASES[0]

    class Judge(RuleJudge):
        async def answer(self, question: CustomQuestion) -> str:
            if question.step != "truths":
                return await super().answer(question)
            assert question.schema is not None
            assert question.schema["properties"] == {
                "d0": {"type": "array", "items": {"type": "string"}}
            }
            return json.dumps({"d0": list(case.truths)})

    metric = build("turn-faithfulness", {"include_reason": False}, prompts_dir=tmp_path)
    chat = single_turn("And?", case.claim, [" ".join(case.truths)])
    found = measure(chat, metric, Judge(case, case.asks))
    assert [each.quote for each in found.truths] == [None]
