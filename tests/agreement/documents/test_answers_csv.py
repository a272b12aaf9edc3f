"""The figures of answers in a report can be computed again from `answers.csv`."""

import csv
import json
from collections.abc import Iterable
from dataclasses import replace
from io import StringIO

import pytest

from faithtui.agreement.documents.answers_csv import (
    ANSWER_COLUMNS,
    AnswerRow,
    answers_csv,
    make_row_of_answer_labelled_as_whole,
    make_row_of_answer_metric_judges,
    make_row_of_answer_without_whole_label,
)
from faithtui.agreement.labelled_units import (
    AnswerUnit,
    ClaimUnit,
    DesignKind,
    LabelDesign,
    LabelState,
    Opinion,
    RunUnits,
    StratumCounts,
    UnratedAnswer,
)
from faithtui.agreement.report.claim_columns import (
    ComparedClaims,
    compute_inverse_probability_weights,
)
from faithtui.agreement.report.model import LevelReport
from faithtui.agreement.report.report import JudgingDescription, agreement_report
from faithtui.agreement.report.settings import ReportSettings
from faithtui.domain.csv_cells import escape_formula
from faithtui.domain.ids import ClaimId, ConversationId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import FAITHFULNESS, SUPPORT
from faithtui.domain.scores import (
    ScoreState,
    ScoringRule,
    make_empty_score,
    make_score,
    passes_threshold,
)
from tests.agreement.building import DATES, HEADER, stored_hostile

RULE = ScoringRule(("yes", "idk"), None, 0.5, labels=("yes", "no", "idk"))
ANSWER_RULE = ScoringRule(("yes",), None, 0.5, labels=SUPPORT.names)

Row = dict[str, str]


def table(rows: Iterable[AnswerRow], text: str = "An answer.") -> list[Row]:
    written = "".join(
        answers_csv(((row, text) for row in rows), HEADER, DATES, threshold=0.5, sample="s")
    )
    return list(csv.DictReader(StringIO(written, newline="")))


def rated(number: int, score: float | None, human: str | None, claims: int = 4) -> AnswerUnit:
    found = (
        make_empty_score(ScoreState.UNDEFINED, "nothing was judged")
        if score is None
        else make_score(score)
    )
    said = () if human is None else (Opinion("ann", human, Action.BLIND, blind=True),)
    return AnswerUnit(
        ConversationId(number),
        f"key {number}",
        f"g{number % 20}",
        3,
        found,
        claims,
        passes_threshold(found, RULE),
        human,
        None,
        len(said),
        said,
    )


def rated_by_several(number: int, score: float, said: str) -> AnswerUnit:
    """An answer with a label for each letter of y, n and i; the first of the most is `human`."""
    words = [{"y": "yes", "n": "no", "i": "idk"}[letter] for letter in said]
    opinions = tuple(
        Opinion(f"ann {place}", word, Action.BLIND, blind=True) for place, word in enumerate(words)
    )
    found = rated(number, score, max(words, key=words.count))
    return replace(found, raters=len(words), opinions=opinions)


def answer_units() -> RunUnits:
    scores, humans = (1.0, 0.25, 0.75, 0.0, 0.5, 1.0), ("yes", "no", "no", "idk", "yes", None)
    answers = [rated(i, scores[i % 6], humans[i * 7 % 6]) for i in range(120)]
    answers += [rated(120, None, "yes"), rated(121, 1.0, "yes", claims=0)]
    # Ties, what is none as both pass, and what passes although most of one label fail it.
    answers += [
        rated_by_several(130 + i, scores[i % 4], said)
        for i, said in enumerate(("yn", "ny", "nyin", "in", "yi", "nnnyyii", "yyn") * 3)
    ]
    unrated = [UnratedAnswer(ConversationId(200 + i), f"g{i}", i % 3 > 0) for i in range(15)]
    unrated.append(UnratedAnswer(ConversationId(300), "g1", None))
    return RunUnits((), tuple(answers), (), LabelDesign(DesignKind.NONE, 0), tuple(unrated))


def sampled_answers(*, with_ties: bool) -> tuple[tuple[ClaimUnit, ...], LabelDesign]:
    """300 answers that the metric judges itself, of which a sample by verdict is labelled."""
    drawn, labels = {"yes": 40, "no": 25}, {"yes": 240, "no": 60}
    units: list[ClaimUnit] = []
    for judge, population in labels.items():
        for i in range(population):
            number = len(units)
            is_drawn = i < drawn[judge]
            human = ("yes", "no")[i % 10 == 0] if judge == "yes" else ("no", "yes")[i % 4 == 0]
            # Two annotators contradict each other on one in seven.
            words = ("yes", "no") if with_ties and i % 7 == 0 else (human,)
            opinions = tuple(
                Opinion(f"ann {place}", word, Action.BLIND, blind=True)
                for place, word in enumerate(words)
            )
            units.append(
                ClaimUnit(
                    claim=ClaimId(number),
                    conversation=ConversationId(number % 30),
                    key=f"key {number % 30}",
                    group=f"g{number % 30}",
                    turn=1,
                    text="An answer.",
                    judge=judge,
                    human=human if is_drawn else None,
                    reviewers=len(words) if is_drawn else 0,
                    windows=1,
                    steady=True,
                    blind=True if is_drawn else None,
                    state=LabelState.LABELLED if is_drawn else LabelState.UNREVIEWED,
                    stratum=judge,
                    position=number if is_drawn else None,
                    opinions=opinions if is_drawn else (),
                )
            )
    strata = tuple(StratumCounts(each, labels[each], drawn[each], drawn[each], 0) for each in drawn)
    return tuple(units), LabelDesign(DesignKind.STRATIFIED, 300, strata, name="s")


def check_figures(
    level: LevelReport, rows: list[Row], *, is_weighted: bool, has_ties: bool = True
) -> None:
    """Compute the headline's figures from the rows, and compare."""
    compared = [row for row in rows if row["judge"] and row["human"]]
    assert len(compared) == level.agreement.n
    assert [row["same"] for row in rows if row["same"]] == [
        ("no", "yes")[row["judge"] == row["human"]] for row in compared
    ]
    tied = [row for row in rows if row["tied"] == "yes"]
    assert len(tied) == level.coverage.tied
    assert {row["human"] for row in tied} == ({""} if has_ties else set())
    assert {row["tied"] for row in compared} == {"no"}
    cells: dict[tuple[str, str], float] = {}
    for row in compared:
        cell = (row["human"], row["judge"])
        cells[cell] = cells.get(cell, 0) + (float(row["weight"]) if is_weighted else 1)
    whole = sum(cells.values())
    same = sum(weight for (human, judge), weight in cells.items() if human == judge) / whole
    chance = sum(
        sum(weight for cell, weight in cells.items() if cell[0] == each)
        * sum(weight for cell, weight in cells.items() if cell[1] == each)
        for each in ("yes", "no")
    ) / (whole * whole)
    missed, found = cells["no", "yes"], cells["no", "no"]
    assert level.percent_agreement.value == pytest.approx(same)
    assert level.cohen_kappa.value == pytest.approx((same - chance) / (1 - chance))
    assert level.strict.recall.value == pytest.approx(found / (found + missed))
    assert level.agreement.clusters == len({row["group"] for row in compared})
    judged = [row for row in rows if row["judge"]]
    passed = sum(row["judge"] == "yes" for row in judged) / len(judged)
    assert level.rate.judge_raw.value == pytest.approx(passed)


def test_figures_of_rated_answers_follow_from_the_rows() -> None:
    units = answer_units()
    level = agreement_report(units, FAITHFULNESS, RULE).answers
    rows = table(
        [
            *(make_row_of_answer_labelled_as_whole(each, RULE) for each in units.answers),
            *map(make_row_of_answer_without_whole_label, units.unrated),
        ]
    )
    assert level.agreement.n
    check_figures(level, rows, is_weighted=False)
    # Nobody drew them, so there is no corrected rate and nothing to weigh.
    assert {row["weight"] for row in rows} == {""}
    assert level.rate.corrected_this_run.value is None


@pytest.mark.parametrize("with_ties", [False, True])
def test_figures_of_sampled_answers_follow_from_rows_and_weights(*, with_ties: bool) -> None:
    claims, design = sampled_answers(with_ties=with_ties)
    found = agreement_report(
        RunUnits(claims, (), (), design),
        SUPPORT,
        ANSWER_RULE,
        judged=JudgingDescription(unit=("answer", "answers"), answers_are_claims=True),
    )
    weights = compute_inverse_probability_weights(
        ComparedClaims(claims, SUPPORT, design, ReportSettings())
    )
    rows = table(make_row_of_answer_metric_judges(each, ANSWER_RULE, weights) for each in claims)
    check_figures(found.claims, rows, is_weighted=True, has_ties=with_ties)
    weighed = [row for row in rows if row["weight"]]
    passed = sum(float(row["weight"]) for row in weighed if row["human"] == "yes")
    share = passed / sum(float(row["weight"]) for row in weighed)
    if not with_ties:  # half of each is in the share
        assert found.claims.rate.corrected_this_run.value == pytest.approx(share)
    assert {row["sample"] for row in weighed} == {"s"}


def test_an_answer_has_its_text_its_labels_and_their_dates() -> None:
    (row,) = table(
        [make_row_of_answer_labelled_as_whole(rated(1, 0.25, "idk"), RULE)], "It costs 3."
    )
    assert tuple(row) == ANSWER_COLUMNS
    assert (row["text"], row["judge"], row["score"], row["claims"]) == (
        "It costs 3.",
        "no",
        "0.25",
        "4",
    )
    assert (row["human"], row["label"], row["same"], row["blind"]) == ("yes", "idk", "no", "yes")
    (said,) = json.loads(row["verdicts"])
    assert (said["reviewer"], said["at"]) == ("ann", "2026-01-04T12:00:00Z")
    assert said["guideline"] == "guideline version 2 (abc)"


@pytest.mark.parametrize("text", stored_hostile())
def test_hostile_words_start_no_formula(text: str) -> None:
    unit = AnswerRow(conversation=text, group=text, turn=1, judge="yes", label=text, stratum=text)
    (row,) = table([unit], text)
    for cell in row.values():
        assert cell.startswith(("'", "[")) or cell == escape_formula(cell)
