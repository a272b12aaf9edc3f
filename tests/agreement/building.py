"""Labelled units and reports on them, small and rich, and what checks the files."""

import importlib
import json
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from faithtui.agreement.documents.files import ReportHeader
from faithtui.agreement.idk_recoding import IdkRule
from faithtui.agreement.labelled_units import (
    AnswerUnit,
    ClaimUnit,
    DesignKind,
    EvidenceUnit,
    ExtractionUnit,
    LabelDesign,
    LabelState,
    MetadataValues,
    Opinion,
    RunUnits,
    ScoredUnit,
    StratumCounts,
    UnitScores,
)
from faithtui.agreement.report.compare import PairedUnit, compute_self_agreement
from faithtui.agreement.report.figures.probes import estimate_changed_verdict_share
from faithtui.agreement.report.figures.rater_comparison import RepeatedLabel
from faithtui.agreement.report.model import AgreementReport, ProbeTrial
from faithtui.agreement.report.report import JudgingDescription, OtherJudge, agreement_report
from faithtui.agreement.report.settings import IntervalMethod, ReportSettings
from faithtui.domain.ids import ClaimId, ConversationId, SampleId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.probes.perturbations import ProbeKind
from faithtui.domain.scores import ScoringRule, make_score, passes_threshold

FIXTURES = Path(__file__).parents[2] / "fixtures"
SCHEMA = FIXTURES / "agreement" / "report.schema.json"
RULE = ScoringRule(("yes",), 1.0)
WORDS = ("yes", "no", "idk")

HEADER = ReportHeader(
    run=7,
    metric="turn-faithfulness",
    judge="offline",
    options={"penalize_ambiguous_claims": True, "threshold": 0.5},
    sources=("mtrag",),
    prompt_digest="ab12",
    input_digest="0" * 64,
    windows=40,
    vacuous_windows=2,
    created_at=datetime(2026, 1, 4, 22, 10, tzinfo=UTC),
    generated_at=datetime(2026, 1, 5, 10, 0, tzinfo=UTC),
    tool_version="0.1.0",
)


def readings(
    claims: Sequence[ClaimUnit] = (),
    answers: Sequence[AnswerUnit] = (),
    scores: Sequence[UnitScores] = (),
    design: LabelDesign | None = None,
) -> RunUnits:
    """Put readings together; without a design they are a census or a convenience sample."""
    if design is None:
        labelled = [claim for claim in claims if claim.human is not None]
        kind = DesignKind.CENSUS if len(labelled) == len(claims) else DesignKind.CONVENIENCE
        design = LabelDesign(kind if labelled else DesignKind.NONE, len(claims))
    return RunUnits(tuple(claims), tuple(answers), tuple(scores), design)


class FixedDates:
    """Verdicts that were all stored at noon, under one guideline."""

    def get_date(self, opinion: Opinion) -> datetime | None:
        return datetime(2026, 1, 4, 12, tzinfo=UTC)

    def get_guideline(self, opinion: Opinion) -> str | None:
        return "guideline version 2 (abc)"


DATES = FixedDates()

HOSTILE = [
    "<script>alert(1)</script>",
    "a | b",
    "`code` *bold* _it_ ~~gone~~ **x**",
    "[link](javascript:alert(1)) ![img](x) [1](x) [0.1, 0.2][y]",
    "https://example.org/x?a=1&b=2 www.example.org",
    "first\nsecond\r\n# third",
    "&lt; &#124; &amp;",
    "\\| \\\\ \\<",
    "$x^2$ {{x}} <!-- c -->",
    "\x1b[31mred\u202eflip\x00",
    "\" onload='x' autofocus </svg></style></title>",
]


def stored_hostile() -> list[str]:
    """Read the strings that attack terminals, the very long ones cut, without empty ones."""
    found = json.loads((FIXTURES / "hostile" / "strings.json").read_text("utf-8"))["strings"]
    texts = [
        each["text"]
        if each["text"] is not None
        else each["repeat"] * min(each["times"], 2_000 // len(each["repeat"]))
        for each in found
    ]
    return [text for text in texts if text]


def hostile_pages() -> list[str]:
    """Make texts for whole reports: all strings, several in each."""
    texts = stored_hostile()
    return [" ".join(HOSTILE), *(" ".join(texts[i : i + 12]) for i in range(0, len(texts), 12))]


def claim(number: int, judge: str | None, human: str | None, text: str = "") -> ClaimUnit:
    return ClaimUnit(
        claim=ClaimId(number),
        conversation=ConversationId(number % 8),
        key=f"key {number % 8}",
        group=f"group {number % 8}",
        turn=1,
        text=text or f"claim {number}",
        judge=judge,
        human=human,
        reviewers=0 if human is None else 1,
        windows=1 + number % 2,
        steady=number != 3,
        blind=None if human is None else True,
    )


def answer(number: int, share: float, human: str, rating: float) -> AnswerUnit:
    score = make_score(share)
    return AnswerUnit(
        conversation=ConversationId(number % 8),
        key=f"key {number % 8}",
        group=f"group {number % 8}",
        turn=1,
        score=score,
        claims=2,
        passes=passes_threshold(score, RULE),
        human=human,
        rating=rating,
        raters=3,
    )


CLAIMS = [
    *(claim(i, "no" if i % 5 == 0 else "yes", "no" if i % 4 == 0 else "yes") for i in range(40)),
    claim(40, "idk", "idk"),
    claim(41, None, "yes"),
    claim(42, "yes", None),
    claim(43, "yes", "x"),
]
ANSWERS = [
    answer(i, i % 3 / 2, "no" if i % 4 == 0 else "yes", (0.0, 0.5, 1.0, 1.0)[i % 4])
    for i in range(24)
]


def report(
    claims: Sequence[ClaimUnit] = CLAIMS, answers: Sequence[AnswerUnit] = ANSWERS
) -> AgreementReport:
    return agreement_report(readings(claims, answers), FAITHFULNESS, RULE)


PEOPLE = ("ann", "bob", "Çağla", "dee, who has a rather long name")


def rich_readings(text: str = "") -> RunUnits:
    """Make a run with a stratified sample, several people, confidences and scores.

    Args:
        text: Stands in every place that holds somebody else's words; "": usual ones.
    """
    choose = random.Random(5)
    people = PEOPLE if not text else tuple(f"{text} {number}" for number in range(4))
    names = {word: f"{text} {word}" if text else word for word in WORDS}

    def word(share: float) -> str:
        if choose.random() < share:
            return "no"
        return "idk" if choose.random() < 0.1 else "yes"

    claims = []
    counts = {word: [0, 0] for word in WORDS}
    for number in range(400 if not text else 120):
        group = number // 16
        truth = word(0.4 if group % 5 == 0 else 0.08)
        judge = truth if choose.random() < 0.85 else word(0.3)
        drawn = choose.random() < {"yes": 0.4, "no": 0.9, "idk": 0.8}[judge]
        counts[judge][0] += 1
        counts[judge][1] += drawn
        opinions = tuple(
            Opinion(
                who,
                truth if choose.random() < 0.9 else word(0.3),
                Action.BLIND if number % 3 else Action.AGREED,
                bool(number % 3),
                seconds=choose.uniform(3, 40),
                code=choose.choice((None, None, "claim", text or "odd")),
                order=number * 7 % 400,
            )
            for who in choose.sample(people, choose.choice((1, 1, 2, 3)))
        )
        if not drawn:
            opinions = ()
        claims.append(
            ClaimUnit(
                claim=ClaimId(number),
                conversation=ConversationId(group),
                key=text or f"conversation {group}",
                group=f"{text} group {group}",
                turn=1 + 2 * (number % 4),
                text=text or f"Claim {number} says that a refund takes five days.",
                judge=judge,
                human=opinions[0].verdict if opinions else None,
                reviewers=len(opinions),
                windows=1 + number % 3,
                steady=number % 17 != 0,
                blind=all(each.blind for each in opinions) if opinions else None,
                state=LabelState.LABELLED
                if opinions
                else choose.choice((LabelState.SKIPPED, LabelState.STALE, LabelState.UNREVIEWED)),
                opinions=opinions,
                confidence=min(0.99, max(0.01, choose.gauss(0.85 if judge == "yes" else 0.3, 0.1))),
                stratum=names[judge],
                position=number if drawn else None,
            )
        )
    strata = tuple(
        StratumCounts(names[word], whole, drawn + 3, drawn, 3)
        for word, (whole, drawn) in counts.items()
    )
    design = LabelDesign(
        DesignKind.STRATIFIED, 400, strata, SampleId(1), text or "by verdict", 7, True, 0, 25, 0
    )
    scores = []
    for number in range(70):
        human = choose.random()
        judged = min(1.0, max(0.0, human + choose.gauss(0, 0.15)))
        scores.append(
            UnitScores(
                ScoredUnit.WINDOW, text or "c", f"g{number % 30}", number, judged, human, 5, 5
            )
        )
    scores += [
        UnitScores(ScoredUnit.CONVERSATION, text or "c", f"g{i}", None, 0.5, None, 5, 2)
        for i in range(6)
    ]
    answers = [replace(each, key=text or each.key) for each in ANSWERS]
    evidence = [
        EvidenceUnit(
            ClaimId(number),
            f"{text} group {number // 4}",
            people[number % 2],
            frozenset(("d", place) for place in range(6)),
            frozenset(("d", place) for place in range(number % 7)),
        )
        for number in range(40)
    ]
    extraction = [
        ExtractionUnit(
            ConversationId(number), f"{text} group {number // 2}", 1, 5, number % 2, 1, number % 3,
            (people[0],),
        )
        for number in range(20)
    ]  # fmt: skip
    return RunUnits(
        tuple(claims),
        tuple(answers),
        tuple(scores),
        design,
        evidence=tuple(evidence),
        extraction=tuple(extraction),
        metadata=(
            MetadataValues(
                text or "model",
                {ConversationId(each): (text or f"model {each % 3}",) for each in range(20)},
            ),
        ),
    )


@cache
def rich(text: str = "", settings: ReportSettings | None = None) -> AgreementReport:
    """Make a report in which every section has something to say."""
    found = rich_readings(text)
    choose = random.Random(6)
    other = tuple(
        PairedUnit(
            each.group,
            str(each.judge),
            str(each.judge) if choose.random() < 0.9 else "yes",
            each.human,
        )
        for each in found.claims
    )
    repeats = [
        RepeatedLabel(
            text or "ann",
            f"g{i}",
            "yes" if i % 3 else "no",
            "yes" if i % 4 else "no",
            9_000.0,
        )
        for i in range(20)
    ]
    probes = (
        estimate_changed_verdict_share(ProbeKind.SYNONYMS, 30, 4),
        estimate_changed_verdict_share(ProbeKind.NAME, 12, 11),
    )
    made = agreement_report(
        found,
        FAITHFULNESS,
        replace(RULE, threshold=0.5),
        settings,
        judged=JudgingDescription("turn-faithfulness", text or "judge-x"),
        other=OtherJudge(text or "judge-y", other),
        repeats=compute_self_agreement(repeats, WORDS),
    )
    return replace(made, probes=ProbeTrial(text or "judge-x", "x 1", 40, 3, probes, False))


@cache
def make_validator() -> Any:
    # The package ships no types.
    jsonschema: Any = importlib.import_module("jsonschema")
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def check_schema(document: Any) -> None:
    make_validator().validate(document)


@st.composite
def any_report(draw: st.DrawFn) -> AgreementReport:
    """Make a report on a few claims, by any design and any settings."""
    kind = draw(st.sampled_from(DesignKind))
    every = kind is DesignKind.CENSUS
    claims = []
    for number in range(draw(st.integers(1 if every else 0, 24))):
        judge = draw(st.sampled_from((*WORDS, None)))
        people = draw(st.lists(st.sampled_from(PEOPLE), unique=True, max_size=3))
        if kind is DesignKind.NONE:
            people = []
        elif every and not people:
            people = [PEOPLE[0]]
        opinions = tuple(
            Opinion(
                who,
                draw(st.sampled_from((*WORDS, "x", "odd"))),
                Action.BLIND,
                draw(st.sampled_from((True, False, None))),
                draw(st.none() | st.floats(0, 99)),
                draw(st.none() | st.just("claim")),
                number,
            )
            for who in people
        )
        passed_over = draw(st.booleans())
        claims.append(
            claim(number, judge, opinions[0].verdict if opinions else None)._replace(
                opinions=opinions,
                reviewers=len(opinions),
                state=LabelState.LABELLED if opinions else draw(st.sampled_from(LabelState)),
                confidence=draw(st.none() | st.floats(0, 1)),
                stratum=(judge or "unread") if kind is DesignKind.STRATIFIED else None,
                position=number if opinions or passed_over else None,
            )
        )
    strata = tuple(
        StratumCounts(
            name,
            sum(each.stratum == name for each in claims),
            sum(each.stratum == name and each.position is not None for each in claims),
            sum(each.stratum == name and each.human is not None for each in claims),
            sum(each.stratum == name and each.state is LabelState.SKIPPED for each in claims),
        )
        for name in (*WORDS, "unread")
    )
    design = LabelDesign(
        kind,
        len(claims),
        strata if kind is DesignKind.STRATIFIED else (),
        seed=draw(st.none() | st.integers(0, 9)),
        random_prefix=draw(st.booleans()),
        conversations=8,
        drawn_conversations=draw(st.integers(0, 8)),
    )
    shares = st.sampled_from((0.0, 0.25, 0.5, 1.0, None))
    scores = [
        UnitScores(
            draw(st.sampled_from(ScoredUnit)),
            "key",
            f"group {number % 4}",
            number,
            draw(shares),
            draw(shares),
            draw(st.integers(0, 3)),
            2,
        )
        for number in range(draw(st.integers(0, 14)))
    ]
    settings = ReportSettings(
        level=draw(st.sampled_from((0.8, 0.95))),
        idk=draw(st.sampled_from(IdkRule)),
        interval=draw(st.sampled_from(IntervalMethod)),
        resamples=100,
        ordinal=draw(st.booleans()),
        target=0.2,
    )
    other = draw(
        st.none()
        | st.just(
            OtherJudge(
                "other",
                tuple(
                    PairedUnit(each.group, each.judge, "yes", each.human)
                    for each in claims
                    if each.judge is not None
                ),
            )
        )
    )
    rule = replace(RULE, threshold=draw(st.sampled_from((0.5, None))))
    answers = [
        replace(each, passes=passes_threshold(each.score, rule))
        for each in ANSWERS[: draw(st.integers(0, len(ANSWERS)))]
    ]
    return agreement_report(
        RunUnits(tuple(claims), tuple(answers), tuple(scores), design),
        FAITHFULNESS,
        rule,
        settings,
        judged=JudgingDescription("metric", "judge"),
        other=other,
    )
