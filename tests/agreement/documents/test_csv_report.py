import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.documents.csv_report import COLUMNS
from faithtui.agreement.documents.files import ClaimExtras, claims_csv
from faithtui.agreement.idk_recoding import EXCLUDED, IdkRule
from faithtui.agreement.labelled_units import (
    ClaimUnit,
    DesignKind,
    LabelDesign,
    LabelState,
    RunUnits,
    is_tied,
)
from faithtui.agreement.report.claim_columns import (
    ComparedClaims,
    compute_inverse_probability_weights,
    list_counted_labels,
)
from faithtui.agreement.report.figures.claims_and_answers import compute_claim_level_report
from faithtui.agreement.report.report import PreparedUnits
from faithtui.agreement.report.settings import ReportSettings
from faithtui.domain.csv_cells import escape_formula
from faithtui.domain.labels.label_sets import FAITHFULNESS, NOT_A_CLAIM
from tests.agreement.building import (
    CLAIMS,
    DATES,
    HEADER,
    RULE,
    claim,
    rich,
    rich_readings,
    stored_hostile,
)


def beside(
    claims: Sequence[ClaimUnit], extras: ClaimExtras | None = None
) -> Iterator[tuple[ClaimUnit, ClaimExtras]]:
    return ((each, extras or ClaimExtras()) for each in claims)


def table(
    claims: Sequence[ClaimUnit], extras: ClaimExtras | None = None, sample: str = ""
) -> list[dict[str, str]]:
    text = "".join(claims_csv(beside(claims, extras), HEADER, DATES, sample=sample))
    return list(csv.DictReader(StringIO(text, newline="")))


def test_the_csv_has_one_flat_row_per_claim() -> None:
    rows = table(CLAIMS)
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == len(CLAIMS)
    by_claim = {row["claim"]: row for row in rows}
    assert by_claim["4"]["judge"] == "yes"
    assert by_claim["4"]["human"] == "no"
    assert by_claim["4"]["same"] == "no"
    assert by_claim["3"]["steady"] == "no"
    assert by_claim["41"]["judge"] == by_claim["41"]["same"] == ""
    assert by_claim["42"]["human"] == by_claim["42"]["blind"] == ""


def test_numbers_stay_numbers_and_texts_are_quoted() -> None:
    reading = claim(12, "yes", "no")._replace(confidence=0.25, position=3, stratum="yes")
    extras = ClaimExtras(("A passage.",), 2.5, ("A note.",))
    lines = "".join(
        claims_csv(beside([reading], extras), HEADER, DATES, sample="drawn")
    ).splitlines()
    assert lines[1] == (
        '12,"key 4","group 4",1,"claim 12","[""A passage.""]","yes",0.25,"no","no","no",'
        '"","","unreviewed","drawn","yes",3,2.5,1,"","","[""A note.""]","","yes",1,"yes",7,'
        '"turn-faithfulness","offline"'
    )


def test_what_is_not_known_is_empty() -> None:
    (row,) = table([claim(1, None, None)], sample="drawn")
    empty = {name for name, value in row.items() if value == ""}
    assert empty == {
        *("passages", "judge", "confidence", "human", "same", "sample", "stratum", "position"),
        *("weight", "verdicts", "codes", "notes", "evidence", "blind", "tied"),
        *("judge_counted", "human_counted"),
    }


def test_the_csv_says_what_each_person_said() -> None:
    claims = rich_readings().claims
    several = next(each for each in claims if len(each.opinions) > 1)
    (row,) = table([several])
    said = json.loads(row["verdicts"])
    assert [each["reviewer"] for each in said] == [each.reviewer for each in several.opinions]
    assert [each["verdict"] for each in said] == [each.verdict for each in several.opinions]
    assert {each["at"] for each in said} == {"2026-01-04T12:00:00Z"}
    assert {each["guideline"] for each in said} == {"guideline version 2 (abc)"}
    codes = {each.code for each in several.opinions if each.code}
    assert set(json.loads(row["codes"] or "[]")) == codes


def test_weights_of_a_stratified_sample_add_up_to_what_it_stands_for() -> None:
    found = rich_readings()
    weights = compute_inverse_probability_weights(
        ComparedClaims(found.claims, FAITHFULNESS, found.design, ReportSettings())
    )
    compared = [
        each
        for each in found.claims
        if each.human is not None and not is_tied(each.opinions, FAITHFULNESS.names)
    ]
    assert set(weights) == {each.claim for each in compared}
    assert sum(weights.values()) == pytest.approx(400)
    # The same that the figures of the report are computed with.
    by_stratum = dict(rich().claims.weights)
    assert all(weights[each.claim] == by_stratum[str(each.stratum)] for each in compared)


def odd_claims() -> tuple[tuple[ClaimUnit, ...], LabelDesign]:
    """A sample by strata with `x`, missing verdicts, and labels that no figure counts."""
    found = rich_readings()
    claims = []
    for number, each in enumerate(found.claims):
        human = NOT_A_CLAIM if each.human and number % 23 == 0 else each.human
        opinions = tuple(one._replace(verdict=str(human)) for one in each.opinions[:1])
        judge = None if number % 31 == 0 else each.judge
        made = each._replace(human=human, opinions=opinions, reviewers=len(opinions), judge=judge)
        if human and number % 29 == 0:
            made = made._replace(audit=True)
        if not human and number % 37 == 0:
            made = made._replace(human="no", reviewers=1, state=LabelState.LABELLED)
        claims.append(made)
    return tuple(claims), found.design


@pytest.mark.parametrize("rule", IdkRule)
@pytest.mark.parametrize("kind", [DesignKind.STRATIFIED, DesignKind.CONVENIENCE])
def test_figures_follow_from_the_rows_however_idk_counts(rule: IdkRule, kind: DesignKind) -> None:
    claims, design = odd_claims()
    found = RunUnits(claims, (), (), replace(design, kind=kind))
    prepared = PreparedUnits(found, FAITHFULNESS, RULE, ReportSettings(idk=rule))
    compared = prepared.compared
    level, passing = (
        compute_claim_level_report(compared, prepared.recoded_rule),
        prepared.recoded_rule.passing,
    )
    weights = compute_inverse_probability_weights(compared)
    extras = [
        (each, ClaimExtras(weight=weights.get(each.claim), counted=counted))
        for each, counted in zip(claims, list_counted_labels(compared), strict=True)
    ]
    text = "".join(claims_csv(extras, HEADER, DATES, sample="s"))
    rows = list(csv.DictReader(StringIO(text, newline="")))

    cells: dict[tuple[str, str], float] = defaultdict(float)
    for row in rows:
        if row["judge_counted"] and row["human_counted"]:
            cells[row["human_counted"], row["judge_counted"]] += float(row["weight"] or 1)
    whole = sum(cells.values())
    same = sum(cells[each, each] for each in compared.labels.names) / whole
    chance = sum(
        sum(weight for cell, weight in cells.items() if cell[0] == each)
        * sum(weight for cell, weight in cells.items() if cell[1] == each)
        for each in compared.labels.names
    )
    assert level.percent_agreement.value == pytest.approx(same)
    assert level.cohen_kappa.value == pytest.approx(
        (same - chance / whole**2) / (1 - chance / whole**2)
    )
    (bad,) = compared.bad
    flagged = sum(weight for cell, weight in cells.items() if cell[0] == bad)
    assert level.strict.recall.value == pytest.approx(cells[bad, bad] / flagged)
    judged = [row["judge_counted"] for row in rows if row["judge_counted"]]
    assert level.rate.judge_raw.value == pytest.approx(
        sum(each in passing for each in judged) / len(judged)
    )
    if kind is DesignKind.CONVENIENCE:
        return
    passes = fair = 0.0
    for stratum in {row["stratum"] for row in rows}:
        of = [row["human_counted"] for row in rows if row["stratum"] == stratum]
        seen = [each for each in of if each]
        passes += len(of) * sum(each in passing for each in seen) / len(seen)
        fair += len(of) * sum(each not in (NOT_A_CLAIM, EXCLUDED) for each in seen) / len(seen)
    assert level.rate.corrected_this_run.value == pytest.approx(passes / fair)


def test_idk_that_is_left_out_is_in_no_share_and_no_missing_label() -> None:
    """Of ten claims that pass 4 are labelled, of ten that fail 2; corrected by hand."""
    said = [("yes", each) for each in ("yes", "yes", "idk", "no", *[None] * 6)]
    said += [("no", each) for each in ("no", "no", *[None] * 8)]
    claims = tuple(
        claim(place, judge, human)._replace(position=place if human else None)
        for place, (judge, human) in enumerate(said)
    )
    found = RunUnits(claims, (), (), LabelDesign(DesignKind.SIMPLE, len(claims)))
    prepared = PreparedUnits(found, FAITHFULNESS, RULE, ReportSettings(idk=IdkRule.EXCLUDE))
    level = compute_claim_level_report(prepared.compared, prepared.recoded_rule)
    # Three quarters of the first ten are decided, and two quarters pass.
    assert level.rate.corrected_this_run.value == pytest.approx(10 * 2 / 4 / (10 * 3 / 4 + 10))


def compute_alpha_of_pairs(pairs: Sequence[tuple[str, str, float]]) -> float:
    """Compute nominal alpha of human and judge's labels with weights, by its definition.

    Krippendorff 2011, section C: one minus observed over expected disagreement; the latter is the
    share of pairs of different values among all pairs of two of the n values, each drawn once.
    """
    values: dict[str, float] = defaultdict(float)
    for human, judge, weight in pairs:
        values[human] += weight
        values[judge] += weight
    n = sum(values.values())
    observed = sum(2 * weight for human, judge, weight in pairs if human != judge) / n
    different = sum(one * (n - one) for one in values.values())
    return 1 - observed / (different / (n * (n - 1)))


@pytest.mark.parametrize("kind", [DesignKind.STRATIFIED, DesignKind.SIMPLE, DesignKind.CONVENIENCE])
def test_alpha_follows_from_the_rows_with_the_number_of_values_that_is_documented(
    kind: DesignKind,
) -> None:
    """By strata the values of all claims that the rows stand for, elsewhere those of the rows."""
    claims, design = odd_claims()
    # Few labels, of which the correction for the number of values can be seen.
    few = [each._replace(human=None, reviewers=0, opinions=()) for each in claims]
    kept = [place for place, each in enumerate(claims) if each.human and each.position is not None]
    for place in kept[::6]:
        few[place] = claims[place]
    found = RunUnits(tuple(few), (), (), replace(design, kind=kind))
    prepared = PreparedUnits(found, FAITHFULNESS, RULE, ReportSettings())
    compared = prepared.compared
    weights = compute_inverse_probability_weights(compared)
    extras = [
        (each, ClaimExtras(weight=weights.get(each.claim), counted=counted))
        for each, counted in zip(few, list_counted_labels(compared), strict=True)
    ]
    rows = csv.DictReader(
        StringIO("".join(claims_csv(extras, HEADER, DATES, sample="s")), newline="")
    )
    pairs = [
        (row["human_counted"], row["judge_counted"], float(row["weight"] or 1))
        for row in rows
        if row["human_counted"] and row["judge_counted"]
    ]
    alpha = compute_claim_level_report(compared, prepared.recoded_rule).agreement.krippendorff_alpha
    by_weight = compute_alpha_of_pairs(pairs)
    by_row = compute_alpha_of_pairs([(human, judge, 1.0) for human, judge, _ in pairs])
    wanted, other = (by_weight, by_row) if kind is DesignKind.STRATIFIED else (by_row, by_weight)
    # Weights are rounded in the file.
    assert alpha.value == pytest.approx(wanted, abs=1e-7)
    if kind is DesignKind.SIMPLE:
        # Weights are all alike here, so that only the number of values differs.
        n, whole = len(pairs), sum(weight for _, _, weight in pairs)
        assert wanted - other == pytest.approx(
            (1 - by_row) * (1 / (2 * n) - 1 / (2 * whole)), rel=0.1
        )


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (DesignKind.CENSUS, 1.0),
        (DesignKind.SIMPLE, 2.0),
        (DesignKind.CLUSTER, 2.0),
        (DesignKind.CONVENIENCE, None),
        (DesignKind.OVERRIDE_ONLY, None),
        (DesignKind.NONE, None),
    ],
)
def test_a_weight_is_one_over_the_probability(kind: DesignKind, expected: float | None) -> None:
    claims = [
        claim(i, "yes", "no" if i < 5 else None)._replace(position=i if i < 5 else None)
        for i in range(10)
    ]
    if kind is DesignKind.CENSUS:
        claims = claims[:5]
    design = LabelDesign(kind, len(claims), conversations=8, drawn_conversations=2)
    weights = compute_inverse_probability_weights(
        ComparedClaims(claims, FAITHFULNESS, design, ReportSettings())
    )
    assert set(weights.values()) == (set() if expected is None else {expected})


def test_a_claim_beside_the_sample_has_no_weight() -> None:
    claims = [claim(0, "yes", "no")._replace(position=0), claim(1, "yes", "no")]
    design = LabelDesign(DesignKind.SIMPLE, 2)
    compared = ComparedClaims(claims, FAITHFULNESS, design, ReportSettings())
    assert set(compute_inverse_probability_weights(compared)) == {claims[0].claim}


@pytest.mark.parametrize("text", stored_hostile())
def test_hostile_words_in_every_column_stay_one_row_and_start_no_formula(text: str) -> None:
    readings = [each for each in rich_readings(text).claims if each.opinions][:2]
    extras = ClaimExtras((text, "=1"), 1.0, (text,))
    rows = table(readings, extras, sample=text)
    assert len(rows) == 2
    for row, reading in zip(rows, readings, strict=True):
        assert row["text"].removeprefix("'") == reading.text.removeprefix("'")
        assert json.loads(row["passages"]) == [text, "=1"]
        for cell in row.values():
            assert cell.startswith(("'", "[")) or cell == escape_formula(cell)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝"])
def test_a_cell_that_looks_like_a_formula_is_made_harmless(start: str) -> None:
    text = f"{start}cmd|' /C calc'!A0"
    reading = claim(1, "yes", "no", text)._replace(key=text, group=text, human=text)
    (cells,) = table([reading])
    assert {cells[name] for name in ("conversation", "group", "text", "human")} == {f"'{text}"}


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_harmless_cell_never_starts_a_formula(text: str) -> None:
    cell = escape_formula(text)
    assert cell in (text, f"'{text}")
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_text_comes_back_from_the_csv(text: str) -> None:
    (row,) = table([claim(1, "yes", "no", text)])
    assert row["text"].removeprefix("'") == text.removeprefix("'")
