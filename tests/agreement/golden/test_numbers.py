"""The statistics by name: cases at the edge, other kinds of input, and input that is refused."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.errors import InputError
from tests.agreement.golden.numbers import ENTRIES

GOLDEN = Path(__file__).parents[3] / "fixtures" / "agreement" / "golden.json"


def undefined(reason: str) -> dict[str, object]:
    return {"value": None, "status": "undefined", "reason": reason}


def proportion(k: float, n: float) -> dict[str, object]:
    return {"kind": "proportion", "k": k, "n": n}


def strata(*counts: tuple[int, int, int]) -> dict[str, object]:
    names = ("population", "labelled", "faithful")
    return {"kind": "strata", "strata": [dict(zip(names, each, strict=True)) for each in counts]}


def conversations(*rows: list[tuple[int, int, int]]) -> dict[str, object]:
    names = ("verdict", "population", "labelled", "faithful")
    return {
        "kind": "cluster_strata",
        "conversations": [
            [
                dict(zip(names, (verdict, *each), strict=True))
                for verdict, each in zip(("yes", "no", "idk"), row, strict=False)
            ]
            for row in rows
        ],
    }


def pairs(a: list[float], b: list[float]) -> dict[str, object]:
    return {"kind": "pairs", "a": a, "b": b}


def scores(y: list[int], score: list[float]) -> dict[str, object]:
    return {"kind": "scores", "y": y, "score": score}


def apparent(positives: int, tested: int, sensitivity: float, specificity: float) -> Any:
    return {
        "kind": "apparent_prevalence",
        "positives": positives,
        "tested": tested,
        "sensitivity": sensitivity,
        "specificity": specificity,
    }


def accuracy(tested: int, n_sensitivity: int, n_specificity: int, specificity: float) -> Any:
    return {
        "kind": "estimated_accuracy",
        "apparent": 0.3,
        "tested": tested,
        "sensitivity": 0.6,
        "n_sensitivity": n_sensitivity,
        "specificity": specificity,
        "n_specificity": n_specificity,
    }


def vectors(human: list[float], judge: list[float], others: list[float]) -> dict[str, object]:
    return {"kind": "ppi_vectors", "human": human, "judge": judge, "judge_unlabelled": others}


def matrix(*units: list[float]) -> dict[str, object]:
    return {"kind": "score_matrix", "units": list(units)}


def probabilities(y: list[int], p: list[float]) -> dict[str, object]:
    return {"kind": "probabilities", "y": y, "p": p}


def power(**fields: float) -> dict[str, object]:
    return {"kind": "ppi_power", "correlation": 0.9, "cost_label": 1, **fields}


UNDEFINED: list[tuple[str, dict[str, object], str]] = [
    ("wilson_interval", proportion(0, 0), "no_items"),
    ("stratified_proportion", strata(), "no_items"),
    ("stratified_proportion", strata((0, 0, 0)), "no_items"),
    ("stratified_proportion", strata((9, 3, 1), (5, 0, 0)), "no_items"),
    ("naive_label_mean", strata((9, 0, 0)), "no_items"),
    ("stratified_proportion_jackknife", conversations(), "no_items"),
    ("stratified_proportion_jackknife", conversations([(5, 2, 1), (3, 0, 0)]), "no_items"),
    ("rogan_gladen", apparent(0, 0, 0.9, 0.9), "no_items"),
    ("rogan_gladen", apparent(3, 9, 0.7, 0.3), "uninformative_judge"),
    ("lang_reiczigel_interval", accuracy(0, 5, 5, 0.9), "no_items"),
    ("lang_reiczigel_interval", accuracy(9, 0, 5, 0.9), "no_items"),
    ("lang_reiczigel_interval", accuracy(9, 5, 5, 0.4), "uninformative_judge"),
    ("ppi_mean", vectors([], [], [0.5]), "no_items"),
    ("auroc", scores([], []), "no_items"),
    ("auroc", scores([1, 1], [0.2, 0.3]), "one_class_only"),
    ("spearman", pairs([], []), "no_items"),
    ("spearman", pairs([1], [2]), "no_variation"),
    ("kendall_tau_b", pairs([], []), "no_items"),
    ("kendall_tau_b", pairs([1, 2], [3, 3]), "no_variation"),
    ("mean_difference", pairs([], []), "no_items"),
    ("sd_difference", pairs([1], [2]), "no_variation"),
    ("limits_of_agreement", pairs([], []), "no_items"),
    ("limits_of_agreement", pairs([1], [2]), "no_variation"),
    ("mean_absolute_error", pairs([], []), "no_items"),
    ("icc", matrix(), "no_items"),
    ("icc", matrix([1], [2]), "no_overlap"),
    ("icc", matrix([1, 2]), "no_variation"),
    ("icc", matrix([1, 1], [1, 1]), "no_variation"),
    ("ece", probabilities([], []), "no_items"),
    ("brier", probabilities([], []), "no_items"),
    ("brier_two_class", probabilities([], []), "no_items"),
]


@pytest.mark.parametrize(("statistic", "given_input", "reason"), UNDEFINED)
def test_what_has_no_meaning_says_why(
    statistic: str, given_input: dict[str, object], reason: str
) -> None:
    assert ENTRIES[statistic](given_input, {}) == undefined(reason)


def test_full_trust_in_a_judge_without_unlabelled_units_is_undefined() -> None:
    census = vectors([0.1, 0.9], [0.3, 0.4], [])
    assert ENTRIES["ppi_mean"](census, {"lambda": 1}) == undefined("no_items")
    assert ENTRIES["ppi_mean"](census, {"lambda": "auto"})["value"] == 0.5
    assert ENTRIES["ppi_mean"](census, {"lambda": 0})["value"] == 0.5


def test_a_value_may_have_no_interval() -> None:
    for statistic, given_input, value in (
        ("stratified_proportion", strata((9, 1, 1)), 1.0),
        ("ppi_mean", vectors([0.4], [0.3], [0.2, 0.9]), 0.4),
        ("auroc", scores([0, 1], [0.1, 0.9]), 1.0),
        ("auroc", scores([0, 0, 1, 1], [0.1, 0.1, 0.9, 0.9]), 1.0),
        ("stratified_proportion_jackknife", conversations([(5, 2, 1)]), 0.5),
        ("stratified_proportion_jackknife", conversations([(5, 2, 1)], [(9, 0, 0)]), 0.5),
    ):
        found = ENTRIES[statistic](given_input, {})
        assert found["value"] == pytest.approx(value)
        assert (found["ci_low"], found["ci_high"]) == (None, None)


def test_a_census_has_no_width() -> None:
    found = ENTRIES["stratified_proportion"](strata((30, 30, 12), (10, 10, 8)), {})
    assert found == {"value": 0.5, "se": 0.0, "ci_low": 0.5, "ci_high": 0.5}
    more = {"finite_population": False}
    assert ENTRIES["stratified_proportion"](strata((30, 30, 12), (10, 10, 8)), more)["se"] != 0


def test_two_conversations_are_enough_for_the_formula() -> None:
    found = ENTRIES["stratified_proportion_jackknife"](
        conversations([(5, 3, 1)], [(9, 3, 2)], [(4, 2, 2)]), {}
    )
    low, high = found["ci_low"], found["ci_high"]
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert 0 < low < 0.6 < high < 1


def test_all_faithful_has_an_interval_over_conversations() -> None:
    found = ENTRIES["stratified_proportion_jackknife"](conversations(*[[(5, 3, 3)]] * 20), {})
    assert found["value"] == 1
    assert found["ci_low"] == pytest.approx(0.8388748419)


def test_a_verdict_that_a_conversation_does_not_list_is_one_it_does_not_have() -> None:
    full = conversations(*[[(5, 3, i % 4), (2, 1, 1)] for i in range(8)], [(4, 2, 1), (0, 0, 0)])
    short = conversations(*[[(5, 3, i % 4), (2, 1, 1)] for i in range(8)], [(4, 2, 1)])
    statistic = ENTRIES["stratified_proportion_jackknife"]
    assert statistic(full, {}) == statistic(short, {})
    assert ENTRIES["naive_label_mean"](full, {}) == ENTRIES["naive_label_mean"](short, {})


def test_confidence_widens_intervals() -> None:
    for statistic, given_input in (
        ("wilson_interval", proportion(8, 20)),
        ("stratified_proportion", strata((90, 20, 15), (10, 5, 1))),
        ("lang_reiczigel_interval", accuracy(100, 40, 40, 0.9)),
        ("ppi_mean", vectors([0.1, 0.9, 0.4], [0.3, 0.4, 0.8], [0.2, 0.7])),
        ("auroc", scores([0, 0, 1, 1, 1], [0.1, 0.5, 0.3, 0.8, 0.9])),
    ):
        narrow = ENTRIES[statistic](given_input, {"confidence": 0.5})
        wide = ENTRIES[statistic](given_input, {"confidence": 0.99})
        assert wide["ci_low"] < narrow["ci_low"]  # type: ignore[operator]  # both are numbers
        assert ENTRIES[statistic](given_input, {}) == ENTRIES[statistic](
            given_input, {"confidence": 0.95}
        )


def test_the_same_numbers_in_another_kind_give_the_same() -> None:
    y, score = [0, 1, 1, 0, 1, 0], [0.2, 0.2, 0.9, 0.5, 0.5, 0.2]
    table = {
        "kind": "score_table",
        "levels": [0.5, 0.2, 0.9],
        "negatives": [1, 2, 0],
        "positives": [1, 1, 1],
    }
    assert ENTRIES["auroc"](table, {}) == ENTRIES["auroc"](scores(y, score), {})
    assert ENTRIES["auroc"](probabilities(y, score), {}) == ENTRIES["auroc"](table, {})
    ranked = {
        "kind": "confusion",
        "categories": ["low", "middle", "high"],
        "matrix": [[2, 1, 0], [1, 1, 0], [0, 1, 0]],
    }
    spelled = pairs([1, 1, 1, 2, 2, 3], [1, 1, 2, 1, 2, 2])
    for statistic in ("spearman", "kendall_tau_b"):
        assert ENTRIES[statistic](ranked, {}) == ENTRIES[statistic](spelled, {})
        assert ENTRIES[statistic](table, {}) == ENTRIES[statistic](scores(y, score), {})
        columns = matrix(*([a, b] for a, b in zip(y, score, strict=True)))
        assert ENTRIES[statistic](columns, {}) == ENTRIES[statistic](
            pairs([float(each) for each in y], score), {}
        )
    counts = {
        "kind": "ppi_counts",
        "labelled": {"h1j1": 3, "h0j1": 1, "h0j0": 2},
        "unlabelled": {"j1": 4, "j0": 5},
    }
    rows = vectors([1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0], [1.0] * 4 + [0.0] * 5)
    assert ENTRIES["ppi_mean"](counts, {}) == pytest.approx(ENTRIES["ppi_mean"](rows, {}))
    known = accuracy(100, 40, 40, 0.9)
    assert ENTRIES["rogan_gladen"](known, {}) == pytest.approx(
        ENTRIES["rogan_gladen"](apparent(30, 100, 0.6, 0.9), {})
    )


def test_a_raw_rate_is_kept_beside_the_clipped_one() -> None:
    found = ENTRIES["rogan_gladen"](apparent(0, 100, 0.9, 0.9), {})
    assert found == pytest.approx({"value": -0.125, "clipped": 0.0})


def test_limits_lie_around_the_mean() -> None:
    given_input = pairs([3, 5, 7, 9], [2, 5, 5, 8])
    found = ENTRIES["limits_of_agreement"](given_input, {"multiplier": 2})
    sd = ENTRIES["sd_difference"](given_input, {})["value"]
    assert isinstance(sd, float)
    assert found["value"] == 1
    assert (found["low"], found["high"]) == pytest.approx((1 - 2 * sd, 1 + 2 * sd))
    assert (found["ci_low"], found["ci_high"]) == (found["low"], found["high"])


def test_a_split_is_planned_for_a_budget_or_for_a_size() -> None:
    bought = ENTRIES["ppi_power"](power(cost_prediction=0.1, budget=100), {})
    needed = ENTRIES["ppi_power"](
        power(cost_prediction=0.1, effective_n=bought["effective_n"]),  # type: ignore[arg-type]  # a number
        {},
    )
    assert needed["cost"] == pytest.approx(bought["cost"], rel=0.03)
    assert bought["value"] == bought["effective_n"]


def rows(*cells: tuple[str, str | None, str, str | None]) -> dict[str, object]:
    return {
        "kind": "judge_rows",
        "categories": ["yes", "no", "idk"],
        "rows": [
            {
                "conversation": "c",
                "claim_key": claim,
                "window": 0,
                "judge": judge,
                "review": review,
                "rater": "r1",
                "human": human,
            }
            for claim, judge, review, human in cells
        ],
    }


def test_counting_units_of_nothing_says_so_and_keeps_the_counts() -> None:
    found = ENTRIES["pipeline_counts"](rows(), {})
    assert found["units_total"] == 0
    assert (found["value"], found["reason"]) == (None, "no_items")
    untouched = ENTRIES["pipeline_counts"](rows(("k", "yes", "unreviewed", None)), {})
    assert (untouched["units_unreviewed"], untouched["coverage"]) == (1, 0)
    assert untouched["reason"] == "no_items"


def test_every_review_state_is_known_by_its_words() -> None:
    found = ENTRIES["pipeline_counts"](
        rows(
            ("1", "yes", "blind", "yes"),
            ("2", "yes", "adjudicated", "no"),
            ("3", "yes", "bulk_accept", "yes"),
            ("4", "yes", "bulk", None),
            ("5", "no", "stale", "no"),
            ("6", None, "overridden", "no"),
        ),
        {},
    )
    assert (found["units_reviewed"], found["units_compared"]) == (3, 2)
    assert (found["units_bulk_accepted"], found["units_stale"]) == (2, 1)
    assert found["agreement_reviewed"] == 0.5


@pytest.mark.parametrize(
    ("given_input", "codes"),
    [
        ({"kind": "confusion", "categories": ["a", "b"], "matrix": [[0, 0], [0, 0]]}, 2),
        ({"kind": "binary_counts", "tp": 40, "fp": 5, "fn": 5, "tn": 40}, 0),
        (
            {"kind": "ratings", "categories": ["a", "b"], "units": [["a", None], [None, "b"]]},
            2,
        ),
    ],
)
def test_warnings_of_any_table(given_input: dict[str, object], codes: int) -> None:
    found = ENTRIES["agreement_warnings"](given_input, {})["value"]
    assert found == ["few_items", "undefined"][:codes]


MALFORMED: list[tuple[str, dict[str, object], dict[str, object]]] = [
    ("wilson_interval", {"kind": "pairs"}, {}),
    ("wilson_interval", {"k": 1, "n": 2}, {}),
    ("wilson_interval", proportion(3, 2), {}),
    ("wilson_interval", proportion(-1, 2), {}),
    ("wilson_interval", proportion(0.5, 2), {}),
    ("wilson_interval", proportion(True, 2), {}),
    ("wilson_interval", {"kind": "proportion", "k": 1}, {}),
    ("wilson_interval", proportion(1, 2), {"confidence": 1}),
    ("wilson_interval", proportion(1, 2), {"confidence": "high"}),
    ("sample_size_proportion", {"kind": "plan", "p": 0.5, "half_width": 0}, {}),
    ("sample_size_proportion", {"kind": "plan", "p": 1.5, "half_width": 0.1}, {}),
    ("stratified_proportion", strata((5, 6, 1)), {}),
    ("stratified_proportion", strata((5, 3, 4)), {}),
    ("stratified_proportion", strata((5, 3, 2)), {"finite_population": "yes"}),
    ("stratified_proportion", {"kind": "strata", "strata": [3]}, {}),
    ("stratified_proportion_jackknife", strata((5, 3, 2)), {}),
    (
        "stratified_proportion_jackknife",
        {
            "kind": "cluster_strata",
            "conversations": [
                [{"verdict": "yes", "population": 1, "labelled": 0, "faithful": 0}] * 2
            ],
        },
        {},
    ),
    ("rogan_gladen", apparent(5, 4, 0.9, 0.9), {}),
    ("rogan_gladen", apparent(1, 4, 1.2, 0.9), {}),
    ("ppi_mean", vectors([1], [1, 2], [3]), {}),
    ("ppi_mean", vectors([1], [math.nan], [3]), {}),
    ("ppi_mean", vectors([1], [1], [3]), {"lambda": "much"}),
    ("ppi_mean", {"kind": "ppi_counts", "labelled": {"h1": 3}, "unlabelled": {}}, {}),
    ("ppi_mean", {"kind": "ppi_counts", "labelled": [], "unlabelled": {}}, {}),
    ("ppi_power", power(cost_prediction=0.1), {}),
    ("ppi_power", power(cost_prediction=0.1, correlation=2, budget=1), {}),
    ("ppi_power", power(cost_prediction=0, budget=1), {}),
    ("ppi_power", power(cost_prediction=0.1, budget=-1), {}),
    ("auroc", scores([0, 2], [0.1, 0.2]), {}),
    ("auroc", scores([0, 1], [0.1]), {}),
    ("auroc", {"kind": "scores", "y": [0, 1]}, {}),
    (
        "auroc",
        {"kind": "score_table", "levels": [1, 1], "negatives": [1, 1], "positives": [1, 1]},
        {},
    ),
    ("spearman", pairs([1, 2], [1]), {}),
    ("spearman", matrix([1, 2, 3]), {}),
    ("mean_difference", pairs([1], ["2"]), {}),  # type: ignore[list-item]  # a text on purpose
    ("limits_of_agreement", pairs([1, 2], [1, 2]), {"multiplier": -1}),
    ("icc", matrix([1, 2], [1]), {}),
    ("icc", matrix([1, 2], [1, 3]), {"form": "4,1"}),
    ("ece", probabilities([0], [1.2]), {}),
    ("ece", probabilities([0], [0.2]), {"bins": 0}),
    ("ece", probabilities([0], [0.2]), {"norm": "l3"}),
    ("brier", probabilities([0, 1], [0.2]), {}),
    ("pipeline_counts", rows(("k", "yes", "seen", None)), {}),
    ("pipeline_counts", rows(("k", "yes", "agreed", None)), {}),
    ("pipeline_counts", rows(("k", "maybe", "unreviewed", None)), {}),
    ("pipeline_counts", {"kind": "judge_rows", "categories": ["a", "a"], "rows": []}, {}),
    ("pipeline_counts", {"kind": "judge_rows", "categories": ["a"], "rows": [{}]}, {}),
    ("agreement_warnings", {"kind": "confusion", "categories": ["a"], "matrix": [[1, 2]]}, {}),
]


@pytest.mark.parametrize(("statistic", "given_input", "params"), MALFORMED)
def test_malformed_input_is_refused(
    statistic: str, given_input: dict[str, object], params: dict[str, object]
) -> None:
    with pytest.raises(InputError):
        ENTRIES[statistic](given_input, params)


def golden() -> list[Any]:
    cases = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
    return [case for case in cases if case["statistic"] in ENTRIES]


def finite(value: object) -> bool:
    if isinstance(value, list):
        return all(map(finite, value))
    return not isinstance(value, float) or math.isfinite(value)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in golden()])
def test_results_are_json_without_nan(case: dict[str, Any]) -> None:
    found = ENTRIES[case["statistic"]](case["input"], case.get("params", {}))
    assert all(map(finite, found.values()))
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@given(
    st.lists(
        st.integers(0, 6).flatmap(
            lambda population: st.integers(0, population).flatmap(
                lambda labelled: st.tuples(
                    st.just(population), st.just(labelled), st.integers(0, labelled)
                )
            )
        ),
        max_size=4,
    )
)
def test_any_counts_give_a_value_or_a_reason(counts: list[tuple[int, int, int]]) -> None:
    for statistic, given_input in (
        ("stratified_proportion", strata(*counts)),
        ("naive_label_mean", strata(*counts)),
        ("stratified_proportion_jackknife", conversations(*[[each] for each in counts])),
    ):
        found = ENTRIES[statistic](given_input, {})
        assert all(map(finite, found.values()))
        assert (found["value"] is None) == (found.get("status") == "undefined")
