"""What can be computed from what, what has no answer, and what is an error."""

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.errors import InputError
from tests.agreement.golden.categories import ENTRIES
from tests.agreement.golden_adapter import evaluate

OF_TWO = [
    "percent_agreement",
    "cohen_kappa",
    "weighted_kappa",
    "scott_pi",
    "brennan_prediger",
    "randolph_kappa",
    "gwet_ac1",
    "gwet_ac2",
    "krippendorff_alpha",
    "krippendorff_alpha_two_raters",
    "fleiss_kappa",
    "fleiss_kappa_category",
    "positive_agreement",
    "negative_agreement",
    "prevalence_index",
    "bias_index",
    "precision",
    "recall",
    "specificity",
    "npv",
    "f1",
    "balanced_accuracy",
    "mcc",
    "accuracy",
    "macro_f1",
    "confusion_matrix",
    "bowker_symmetry",
    "stuart_maxwell",
]
OF_SEVERAL = [
    "percent_agreement",
    "brennan_prediger",
    "randolph_kappa",
    "gwet_ac1",
    "gwet_ac2",
    "krippendorff_alpha",
    "fleiss_kappa",
    "fleiss_kappa_category",
]
OF_CLUSTERS = [
    "jackknife_se_kappa",
    "jackknife_se_agreement",
    "jackknife_ci_kappa",
    "jackknife_ci_agreement",
    "linearised_se_agreement",
    "exact_bootstrap_se_agreement",
    "exact_bootstrap_mean_agreement",
    "clustered_mcnemar_durkalski",
    "clustered_mcnemar_obuchowski",
    "signflip_p_two_sided",
]
OF_DISCORDANT = [name for name in ENTRIES if name.startswith("mcnemar_")]
VERIFIED = [name for name in ENTRIES if name.startswith(("naive_", "corrected_"))]
WEIGHTED = [
    "percent_agreement",
    "cohen_kappa",
    "weighted_kappa",
    "scott_pi",
    "brennan_prediger",
    "gwet_ac2",
    "fleiss_kappa",
]
REASONS = {
    "no_items",
    "no_overlap",
    "no_variation",
    "one_class_only",
    "no_predicted_positives",
    "no_true_positives_in_reference",
}
NAMES = ("yes", "no", "idk")


def confusion(*matrix: Sequence[float], names: Any = None) -> dict[str, Any]:
    return {
        "kind": "confusion",
        "categories": list(names or NAMES[: len(matrix)]),
        "matrix": list(matrix),
    }


def undefined(reason: str) -> dict[str, object]:
    return {"value": None, "status": "undefined", "reason": reason}


def sound(found: dict[str, object]) -> bool:
    """Say whether a result keeps the contract: a value or a reason, and no NaN anywhere."""
    text = json.dumps(found)  # raises for what is no plain value
    if "NaN" in text or "Infinity" in text:
        return False
    if found["value"] is None:
        return found["status"] == "undefined" and found["reason"] in REASONS
    return "status" not in found


def test_every_name_is_covered_here() -> None:
    covered = {*OF_TWO, *OF_SEVERAL, *OF_CLUSTERS, *OF_DISCORDANT, *VERIFIED, "pabak"}
    assert covered == set(ENTRIES)


cells_st = st.integers(0, 4) | st.just(0)
matrices = st.integers(1, 4).flatmap(
    lambda size: st.lists(
        st.lists(cells_st, min_size=size, max_size=size), min_size=size, max_size=size
    )
)


@given(matrices, st.sampled_from(OF_TWO))
def test_any_table_has_a_result(matrix: list[list[float]], name: str) -> None:
    assert sound(evaluate(name, confusion(*matrix, names="abcd"[: len(matrix)]), {}))


@given(matrices, st.sampled_from(WEIGHTED), st.sampled_from(["linear", "quadratic", "identity"]))
def test_any_table_has_a_weighted_result(
    matrix: list[list[float]], name: str, weights: str
) -> None:
    given_input = confusion(*matrix, names="abcd"[: len(matrix)])
    assert sound(evaluate(name, given_input, {"weights": weights}))


@given(matrices, st.sampled_from(OF_TWO), st.integers(1, 7))
def test_weights_as_cells_give_what_counts_give(
    matrix: list[list[float]], name: str, factor: int
) -> None:
    """Scaling changes no figure but alpha, which corrects for the number of units."""
    if name.startswith(("krippendorff", "confusion", "bowker", "stuart", "fleiss_kappa_category")):
        return
    names = "abcd"[: len(matrix)]
    scaled = [[cell * factor / 8 for cell in row] for row in matrix]
    plain = evaluate(name, confusion(*matrix, names=names), {})
    weighted = evaluate(name, confusion(*scaled, names=names), {})
    assert weighted.get("reason") == plain.get("reason")
    assert weighted["value"] == pytest.approx(plain["value"], abs=1e-12)


ratings_st = st.integers(0, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from([1, 2, 3, None]), min_size=raters, max_size=raters), max_size=8
    )
)


@given(
    ratings_st,
    st.sampled_from(OF_SEVERAL),
    st.sampled_from(["nominal", "ordinal", "interval", "ratio"]),
)
def test_any_ratings_have_a_result(units: list[Any], name: str, level: str) -> None:
    given_input = {"kind": "ratings", "categories": [1, 2, 3, 5], "units": units}
    levels = {"level": level} if "alpha" in name else {}
    assert sound(evaluate(name, given_input, levels))


@given(ratings_st, st.sampled_from(OF_SEVERAL))
def test_counts_of_ratings_give_what_ratings_give(units: list[Any], name: str) -> None:
    counts = [[row.count(value) for value in (1, 2, 3, 5)] for row in units]
    listed = {"kind": "ratings", "categories": [1, 2, 3, 5], "units": units}
    counted = {"kind": "counts", "categories": [1, 2, 3, 5], "units": counts}
    assert evaluate(name, listed, {}) == evaluate(name, counted, {})


@given(matrices, st.sampled_from(OF_SEVERAL), st.sampled_from([None, "linear"]))
def test_a_table_gives_what_its_units_give(
    matrix: list[list[int]], name: str, weights: str | None
) -> None:
    names = "abcd"[: len(matrix)]
    units = [
        [names[i], names[j]]
        for i, row in enumerate(matrix)
        for j, count in enumerate(row)
        for _ in range(count)
    ]
    params = {"weights": weights} if weights and name in WEIGHTED else {}
    listed = evaluate(name, {"kind": "ratings", "categories": list(names), "units": units}, params)
    table = evaluate(name, confusion(*matrix, names=names), params)
    assert table.get("reason") == listed.get("reason")
    assert table["value"] == pytest.approx(listed["value"], abs=1e-12, nan_ok=False)


@given(st.lists(matrices.filter(lambda each: len(each) == 2), max_size=6))
def test_any_conversations_have_a_result(clusters: list[Any]) -> None:
    given_input = {"kind": "cluster_confusions", "categories": ["a", "b"], "clusters": clusters}
    for name in (*OF_CLUSTERS, *OF_DISCORDANT, *OF_TWO):
        assert sound(evaluate(name, given_input, {})), name


@given(st.integers(0, 30), st.integers(0, 30), st.sampled_from(OF_DISCORDANT))
def test_any_discordant_counts_have_a_result(b: int, c: int, name: str) -> None:
    found = evaluate(name, {"kind": "discordant", "b": b, "c": c}, {})
    assert sound(found)
    if name.startswith("mcnemar_p") and isinstance(found["value"], float):
        assert 0 < found["value"] <= 1


@given(
    st.lists(st.integers(0, 3), min_size=9, max_size=9),
    st.lists(st.integers(0, 5), min_size=3, max_size=3),
    st.sampled_from(VERIFIED),
)
def test_any_verified_sample_has_a_result(cells: list[int], rest: list[int], name: str) -> None:
    labelled = [cells[:3], cells[3:6], cells[6:]]
    population = [sum(row[j] for row in labelled) + rest[j] for j in range(3)]
    given_input = {
        "kind": "verified_sample",
        "categories": list(NAMES),
        "judge_population": population,
        "labelled": labelled,
    }
    assert sound(evaluate(name, given_input, {}))


def test_a_census_needs_no_correction() -> None:
    given_input = {
        "kind": "verified_sample",
        "categories": ["no", "yes"],
        "judge_population": [7, 9],
        "labelled": [[5, 2], [2, 7]],
    }
    for name in ("recall", "specificity"):
        corrected = evaluate(f"corrected_{name}", given_input, {})
        assert corrected == evaluate(f"naive_{name}", given_input, {})
    kappa = evaluate("cohen_kappa", confusion([5, 2], [2, 7]), {})
    assert evaluate("corrected_cohen_kappa", given_input, {})["value"] == kappa["value"]


def test_a_verdict_nobody_labelled_leaves_the_corrected_figure_unknown() -> None:
    given_input = {
        "kind": "verified_sample",
        "categories": ["no", "yes"],
        "judge_population": [7, 9],
        "labelled": [[5, 0], [2, 0]],
    }
    assert evaluate("corrected_recall", given_input, {}) == undefined("no_items")
    assert evaluate("naive_recall", given_input, {})["value"] == 1


def test_recall_takes_the_named_categories_as_positive() -> None:
    table = confusion([8, 1, 1], [1, 6, 3], [2, 2, 1])
    assert evaluate("recall", table, {"positive": "no"})["value"] == 0.6
    assert evaluate("recall", table, {"positive": ["no", "idk"]})["value"] == 12 / 15
    assert evaluate("recall", table, {})["value"] == 0.8
    assert evaluate("recall", {**table, "positive": "no"}, {})["value"] == 0.6
    with pytest.raises(InputError, match="positive"):
        evaluate("recall", table, {"positive": "maybe"})


def test_what_is_positive_in_binary_counts_is_said_by_their_names() -> None:
    counts = {"kind": "binary_counts", "positive": "no", "tp": 3, "fp": 1, "fn": 2, "tn": 4}
    assert evaluate("recall", counts, {})["value"] == 0.6
    assert evaluate("confusion_matrix", counts, {})["value"] == [[3, 2], [1, 4]]


@pytest.mark.parametrize(
    ("statistic", "counts", "reason"),
    [
        ("precision", (0, 0, 3, 4), "no_predicted_positives"),
        ("recall", (0, 3, 0, 4), "no_true_positives_in_reference"),
        ("specificity", (3, 0, 3, 0), "one_class_only"),
        ("npv", (3, 3, 0, 0), "one_class_only"),
        ("f1", (0, 0, 0, 4), "no_true_positives_in_reference"),
        ("mcc", (0, 0, 3, 4), "no_predicted_positives"),
        ("positive_agreement", (0, 0, 0, 4), "no_variation"),
        ("negative_agreement", (4, 0, 0, 0), "no_variation"),
        ("cohen_kappa", (0, 0, 0, 4), "no_variation"),
        ("krippendorff_alpha", (0, 0, 0, 4), "no_variation"),
        ("scott_pi", (0, 0, 0, 4), "no_variation"),
        ("bowker_symmetry", (3, 0, 0, 4), "no_variation"),
        ("stuart_maxwell", (3, 0, 0, 4), "no_variation"),
        ("recall", (0, 0, 0, 0), "no_items"),
        ("prevalence_index", (0, 0, 0, 0), "no_items"),
    ],
)
def test_what_cannot_be_divided_says_why(
    statistic: str, counts: tuple[int, ...], reason: str
) -> None:
    named = dict(zip(("tp", "fp", "fn", "tn"), counts, strict=True))
    assert evaluate(statistic, {"kind": "binary_counts", **named}, {}) == undefined(reason)


@pytest.mark.parametrize(
    ("units", "reason"),
    [
        ([], "no_items"),
        ([[]], "no_items"),
        ([[None, None]], "no_items"),
        ([["yes"], ["no"]], "no_overlap"),
        ([["yes", None], [None, "no"]], "no_overlap"),
        ([["yes", "yes"], [None, "no"]], "no_variation"),
    ],
)
def test_ratings_of_one_rater_or_none_say_why(units: list[Any], reason: str) -> None:
    given_input = {"kind": "ratings", "categories": ["yes", "no"], "units": units}
    for name in ("cohen_kappa", "scott_pi", "krippendorff_alpha_two_raters", "krippendorff_alpha"):
        assert evaluate(name, given_input, {}) == undefined(reason)


def test_ratings_without_overlap_have_no_table() -> None:
    apart = {"kind": "ratings", "categories": ["a", "b"], "units": [["a", None], [None, "b"]]}
    for name in ("recall", "accuracy", "confusion_matrix", "bowker_symmetry", "stuart_maxwell"):
        assert evaluate(name, apart, {}) == undefined("no_overlap")


def test_kappa_leaves_out_units_that_one_rater_skipped() -> None:
    given_input = {
        "kind": "ratings",
        "categories": ["yes", "no"],
        "units": [["yes", "yes"], ["no", "no"], ["yes", "no"], ["no", None], [None, "yes"]],
    }
    complete = confusion([1, 1], [0, 1])
    assert evaluate("cohen_kappa", given_input, {}) == evaluate("cohen_kappa", complete, {})


def test_scott_pi_reads_counts_of_two_ratings() -> None:
    counts = {"kind": "counts", "categories": ["a", "b"], "units": [[2, 0], [0, 2], [1, 1], [1, 0]]}
    table = evaluate("scott_pi", confusion([1, 1], [0, 1]), {})["value"]
    assert evaluate("scott_pi", counts, {})["value"] == pytest.approx(table)
    alone = {**counts, "units": [[1, 0], [0, 1]]}
    assert evaluate("scott_pi", alone, {}) == undefined("no_overlap")
    with pytest.raises(InputError, match="two raters"):
        evaluate("scott_pi", {**counts, "units": [[2, 1]]}, {})


def test_pabak_is_for_two_categories() -> None:
    assert evaluate("pabak", confusion([40, 9], [6, 45]), {})["value"] == pytest.approx(0.7)
    with pytest.raises(InputError, match="brennan_prediger"):
        evaluate("pabak", confusion([1, 0, 0], [0, 1, 0], [0, 0, 1]), {})


def test_cohens_disagreement_weights() -> None:
    """Cohen 1968, table 1: proportions of 200 units, weighted kappa .348."""
    table = confusion([88, 10, 2], [14, 40, 6], [18, 10, 12], names="abc")
    weights = [[0, 1, 3], [1, 0, 6], [3, 6, 0]]
    found = evaluate("weighted_kappa", table, {"disagreement_weights": weights})["value"]
    assert found == pytest.approx(0.348, abs=5e-4)
    agreement = [[1 - each / 6 for each in row] for row in weights]
    same = evaluate("weighted_kappa", table, {"agreement_weights": agreement})["value"]
    assert same == pytest.approx(found)


def test_weights_go_by_the_numbers_of_the_categories() -> None:
    table = confusion([3, 1, 2], [1, 3, 0], [0, 1, 2], names=[1, 2, 4])
    by_scores = confusion([3, 1, 2], [1, 3, 0], [0, 1, 2], names="abc")
    found = evaluate("weighted_kappa", table, {"weights": "linear"})
    assert found == evaluate(
        "weighted_kappa", by_scores, {"weights": "linear", "category_scores": [1, 2, 4]}
    )
    assert found != evaluate("weighted_kappa", by_scores, {"weights": "linear"})


def test_limits_of_kappa_follow_the_confidence() -> None:
    table = confusion([106, 10, 4], [22, 28, 10], [2, 12, 6], names="abc")
    usual = evaluate("cohen_kappa", table, {})
    wide = evaluate("cohen_kappa", table, {"confidence": 0.99})
    value, se = usual["value"], usual["se"]
    assert isinstance(value, float)
    assert isinstance(se, float)
    assert usual["ci_low"] == pytest.approx(value - 1.96 * se, abs=1e-5)
    assert wide["ci_high"] == pytest.approx(value + 2.5758 * se, abs=1e-5)
    assert usual["se_null"] != usual["se"]


def test_kappa_of_one_category_or_of_each() -> None:
    units = [[6, 1, 0], [0, 7, 0], [2, 2, 3]]
    counts = {"kind": "counts", "categories": ["a", "b", "c"], "units": units}
    each = evaluate("fleiss_kappa_category", counts, {})["value"]
    assert isinstance(each, list)
    named = [evaluate("fleiss_kappa_category", counts, {"category": c})["value"] for c in "abc"]
    assert named == each
    binary = {"kind": "counts", "categories": ["b", "rest"], "units": [[1, 6], [7, 0], [2, 5]]}
    assert each[1] == pytest.approx(evaluate("fleiss_kappa", binary, {})["value"])
    with pytest.raises(InputError, match="category"):
        evaluate("fleiss_kappa_category", counts, {"category": "d"})


def test_conversations_without_units_change_nothing() -> None:
    clusters = [[[5, 1], [0, 2]], [[3, 0], [2, 1]], [[6, 0], [1, 0]], [[2, 2], [0, 4]]]
    plain = {"kind": "cluster_confusions", "categories": ["yes", "no"], "clusters": clusters}
    more = {**plain, "clusters": [*clusters, [[0, 0], [0, 0]]]}
    for name in OF_CLUSTERS:
        assert evaluate(name, more, {}) == evaluate(name, plain, {})


def test_intervals_of_conversations_that_all_agree() -> None:
    clusters = [[[3, 0], [0, 2]]] * 8
    given_input = {"kind": "cluster_confusions", "categories": ["yes", "no"], "clusters": clusters}
    found = evaluate("jackknife_ci_agreement", given_input, {})
    assert (found["value"], found["ci_high"], found["method"]) == (1, 1, "wilson")
    assert found["ci_low"] == pytest.approx(8 / (8 + 1.959964**2), abs=1e-6)
    assert evaluate("jackknife_ci_kappa", given_input, {}) == undefined("no_variation")
    assert evaluate("jackknife_se_kappa", given_input, {})["value"] == 0


def test_one_conversation_has_no_standard_error() -> None:
    one = {"kind": "cluster_confusions", "categories": ["a", "b"], "clusters": [[[3, 1], [1, 2]]]}
    for name in ("jackknife_se_kappa", "jackknife_se_agreement", "linearised_se_agreement"):
        assert evaluate(name, one, {}) == undefined("no_variation")
    assert "ci_low" not in evaluate("jackknife_ci_kappa", one, {})


TABLE = confusion([1, 2], [3, 4])
RATINGS = {"kind": "ratings", "categories": ["a", "b"], "units": [["a", "b"]]}
CLUSTERS = {"kind": "discordant_clusters", "n": [2], "b": [1], "c": [0]}
SAMPLE = {
    "kind": "verified_sample",
    "categories": ["a", "b"],
    "judge_population": [1, 1],
    "labelled": [[1, 0], [0, 1]],
}


@pytest.mark.parametrize(
    ("statistic", "given_input", "params"),
    [
        ("cohen_kappa", {}, {}),
        ("cohen_kappa", {"kind": "counts", "categories": ["a"], "units": [[2]]}, {}),
        ("cohen_kappa", {"kind": "scores"}, {}),
        ("cohen_kappa", {"kind": ["confusion"]}, {}),
        ("cohen_kappa", {**RATINGS, "units": [["a", "b", "a"]]}, {}),
        ("cohen_kappa", {**RATINGS, "units": [["a", "c"]]}, {}),
        ("fleiss_kappa", {**RATINGS, "units": [["a", "b"], ["a"]]}, {}),
        ("fleiss_kappa", {"kind": "counts", "categories": ["a", "b"], "units": [[1]]}, {}),
        ("fleiss_kappa", {"kind": "counts", "categories": ["a", "b"], "units": [[1, 0.5]]}, {}),
        ("fleiss_kappa_category", confusion([1.5, 0], [0, 1]), {}),
        ("cohen_kappa", {**TABLE, "matrix": [[1, 2]]}, {}),
        ("cohen_kappa", {**TABLE, "matrix": [[1], [2]]}, {}),
        ("cohen_kappa", {**TABLE, "matrix": [[1, -2], [3, 4]]}, {}),
        ("cohen_kappa", {**TABLE, "matrix": [[1, math.nan], [3, 4]]}, {}),
        ("cohen_kappa", {**TABLE, "matrix": [[1, True], [3, 4]]}, {}),
        ("cohen_kappa", {**TABLE, "matrix": "12"}, {}),
        ("cohen_kappa", {**TABLE, "categories": ["a", "a"]}, {}),
        ("cohen_kappa", {**TABLE, "categories": ["a", "b", "c"]}, {}),
        ("cohen_kappa", {"kind": "confusion", "matrix": [[1]]}, {}),
        ("cohen_kappa", TABLE, {"confidence": 95}),
        ("cohen_kappa", {"kind": "binary_counts", "tp": 1, "fp": 2, "fn": 3}, {}),
        ("weighted_kappa", TABLE, {"weights": "radical"}),
        ("weighted_kappa", TABLE, {"weights": "linear", "agreement_weights": [[1, 0], [0, 1]]}),
        ("weighted_kappa", TABLE, {"weights": "linear", "category_scores": [1]}),
        ("weighted_kappa", TABLE, {"agreement_weights": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}),
        ("weighted_kappa", TABLE, {"agreement_weights": [[0, 1], [1, 0]]}),
        ("weighted_kappa", TABLE, {"agreement_weights": [[1, 2], [2, 1]]}),
        ("weighted_kappa", TABLE, {"disagreement_weights": [[1, 1], [1, 1]]}),
        ("krippendorff_alpha", TABLE, {"level": "metric"}),
        ("krippendorff_alpha", TABLE, {"level": "ratio"}),
        ("krippendorff_alpha", {**TABLE, "categories": [-1, 1]}, {"level": "ratio"}),
        ("mcnemar_p", {"kind": "discordant", "b": 1}, {}),
        ("mcnemar_p", {"kind": "discordant", "b": 1.5, "c": 2}, {}),
        ("mcnemar_p", confusion([1, 0, 0], [0, 1, 0], [0, 0, 1]), {}),
        ("clustered_mcnemar_durkalski", {**CLUSTERS, "b": [1, 2]}, {}),
        ("clustered_mcnemar_durkalski", {**CLUSTERS, "c": [2]}, {}),
        ("signflip_p_two_sided", {"kind": "cluster_differences", "d": ["a"]}, {}),
        ("signflip_p_two_sided", {"kind": "cluster_differences", "d": [1]}, {"draws": 0}),
        ("jackknife_se_kappa", TABLE, {}),
        ("bowker_symmetry", confusion([1, 0.5], [0, 1]), {}),
        ("krippendorff_alpha", confusion([0.4, 0.1], [0.2, 0.3]), {}),
        ("cohen_kappa", [[1, 2], [3, 4]], {}),
        ("corrected_recall", {**SAMPLE, "judge_population": [0, 1]}, {}),
        ("corrected_recall", {**SAMPLE, "judge_population": [1]}, {}),
    ],
)
def test_a_malformed_input_is_an_error(
    statistic: str, given_input: Any, params: dict[str, Any]
) -> None:
    with pytest.raises(InputError):
        evaluate(statistic, given_input, params)


def test_conversations_give_the_test_that_ignores_them() -> None:
    clusters = {"kind": "discordant_clusters", "n": [7, 6, 4], "b": [2, 1, 0], "c": [3, 0, 4]}
    plain = {"kind": "discordant", "b": 3, "c": 7}
    for name in OF_DISCORDANT:
        assert evaluate(name, clusters, {}) == evaluate(name, plain, {})


def test_two_categories_have_only_one_way_to_differ() -> None:
    counts = {"kind": "binary_counts", "tp": 3, "fp": 1, "fn": 2, "tn": 4}
    plain = evaluate("cohen_kappa", counts, {})
    assert evaluate("weighted_kappa", counts, {"weights": "quadratic"}) == plain
