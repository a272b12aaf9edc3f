import copy
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.judges.embedded.weights import (
    FEATURE_SIGNS,
    FEATURES,
    HEURISTIC_VERSION,
    load_weights,
    load_weights_document,
    parse_weights,
)
from tests.embedded_judge_training.figures import area_under_curve, balanced_accuracy, with_interval
from tests.embedded_judge_training.logistic_fit import fitted
from tests.embedded_judge_training.sources import DEMO_FILES, LEFT_OUT, SOURCES
from tests.embedded_judge_training.training import features_digest, main, read_rows, train

TOWNS = ("Harwick", "Ostby", "Lindau", "Morro", "Vire", "Tallin", "Esk", "Penrose")


def row(source: str, group: int, claim: str, *, is_supported: bool) -> str:
    town = TOWNS[group % len(TOWNS)]
    context = (
        f"The mill of {town} was built in 18{group:02d}. It burnt down in 1901.\n"
        f"Today {town} has {group + 12} shops and a small harbour for fishing boats."
    )
    return json.dumps(
        {
            "source": source,
            "group": f"{source}:{group}",
            "claim": claim.format(town=town, year=f"18{group:02d}", shops=group + 12),
            "context": context,
            "label": "supported" if is_supported else "unsupported",
            "human": {"supporting_sentences": [[0], [0, 1]]} if source == "wice" else None,
        }
    )


GOOD = ("The mill of {town} was built in {year}.", "{town} has {shops} shops and a small harbour.")
BAD = (
    "I think Queen Ada opened the {town} railway in 1777.",
    "Our museum in Dunmore is not free on Sundays.",
)


def small_data() -> list[str]:
    """Rows of every source, true and false ones of two kinds."""
    return [
        row(source.name, group, claim, is_supported=is_supported)
        for source in SOURCES
        for group in range(4)
        for is_supported, claims in ((True, GOOD), (False, BAD))
        for claim in claims
    ]


def test_training_gives_the_same_file_twice_and_signs_as_fixed(tmp_path: Path) -> None:
    data = tmp_path / "rows.jsonl"
    data.write_text("\n".join([*small_data(), row("unknown", 1, "x", is_supported=True)]))
    files = [tmp_path / name for name in ("one.json", "two.json")]
    for file in files:
        main([str(data), "--out", str(file), "--date", "2026-01-02", "--draws", "20"])
    assert files[0].read_bytes() == files[1].read_bytes()
    document = json.loads(files[0].read_text("utf-8"))
    weights = parse_weights(document)
    assert any(weights.weights)
    training = document["training"]
    assert training["rows"] == 16 * sum(source.is_trained_on for source in SOURCES)
    assert {each["used_for"] for each in training["sources"] if "FaithBench" in each["title"]} == {
        "evaluation only"
    }
    assert document["measured"]["mean_of_families"]["shipped"]["auroc"] == 1.0
    assert document["measured"]["evidence"]["claims"] == 16


def test_rows_that_are_only_measured_move_no_weight() -> None:
    rows = read_rows(small_data())
    kept = [each for each in rows if each.source.is_trained_on]
    assert len(kept) < len(rows)
    with_them = train(rows, "2026-01-02", draws=5)
    without = train(kept, "2026-01-02", draws=5)
    for part in ("features", "intercept", "calibration"):
        assert with_them[part] == without[part]


def test_conversations_of_the_demo_move_no_weight() -> None:
    """The demo compares the judge with labels: on what it was trained on that would be no test."""
    lines = []
    for file in DEMO_FILES:
        for line in file.read_text("utf-8").splitlines():
            conversation = json.loads(line)
            key = conversation["id"].split("-")[1]
            for turn in conversation["turns"]:
                if turn["role"] == "assistant" and turn.get("retrieval_context"):
                    shown = {
                        "claim": turn["content"],
                        "context": "\n".join(turn["retrieval_context"]),
                        "label": "supported",
                    }
                    # By its text under any name, and by its name with any text.
                    lines.append({**shown, "source": "wice", "group": "other"})
                    named = {**shown, "claim": "Something else.", "source": "mtrag"}
                    lines.append({**named, "group": f"mtrag:{key}{24 * '0'}"})
    assert len(lines) > 400
    demo = read_rows(map(json.dumps, lines))
    assert not any(each.is_trained_on for each in demo)
    rows = read_rows(small_data())
    assert all(each.is_trained_on == each.source.is_trained_on for each in rows)
    with_them = train([*rows, *demo], "2026-01-02", draws=5)
    without = train(rows, "2026-01-02", draws=5)
    for part in ("features", "intercept", "calibration"):
        assert with_them[part] == without[part]


def test_the_shipped_file_was_trained_without_the_demo() -> None:
    sources = {each["name"]: each for each in load_weights_document()["training"]["sources"]}
    mtrag = sources.pop("mtrag")
    # Five of the ten conversations of the demo are among the data.
    assert (mtrag["rows"], mtrag["in_demo"], mtrag["trained_on"]) == (269, 107, 162)
    assert all(each["in_demo"] == 0 for each in sources.values())


def test_the_shipped_file_belongs_to_the_shipped_features() -> None:
    """Whoever changes what a feature means trains anew: docs/judges/offline.md says how."""
    document = load_weights_document()
    assert document["features_digest"] == features_digest()
    assert document["version"] == HEURISTIC_VERSION
    assert tuple(each["name"] for each in document["features"]) == FEATURES


def test_the_shipped_file_says_where_its_numbers_come_from() -> None:
    training = load_weights_document()["training"]
    used = {each["name"] for each in training["sources"] if each["used_for"] == "training"}
    assert used == {source.name for source in SOURCES if source.is_trained_on}
    assert not any("NC" in each["licence"] for each in training["sources"] if each["name"] in used)
    assert training["rows"] == sum(each["trained_on"] for each in training["sources"])
    for each in training["sources"]:
        is_used = each["used_for"] == "training"
        assert each["trained_on"] == (each["rows"] - each["in_demo"] if is_used else 0)
    assert training["left_out"] == LEFT_OUT


def test_every_shipped_weight_has_its_fixed_sign() -> None:
    for name, weight in zip(FEATURES, load_weights().weights, strict=True):
        assert weight * FEATURE_SIGNS[name] > 0, name


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda d: d["features"].pop(), "has the features"),
        (lambda d: d["features"][0].update(weight=-1.0), "against its sign"),
        (lambda d: d["features"][0].update(weight=math.nan), "against its sign"),
        (lambda d: d["calibration"].update(slope=0.0), "no usable calibration"),
        (lambda d: d.update(intercept=math.inf), "no usable calibration"),
    ],
)
def test_a_file_that_does_not_belong_to_the_code_is_refused(
    change: Callable[[dict[str, Any]], object], complaint: str
) -> None:
    document = copy.deepcopy(dict(load_weights_document()))
    change(document)
    with pytest.raises(ValueError, match=complaint):
        parse_weights(document)


def test_a_weight_is_held_at_its_sign() -> None:
    rows = [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.9, 0.2, 1.0], [0.1, 1.1, 1.0]]
    sides = [1.0, -1.0, 1.0, -1.0]
    free = fitted(rows, sides, [0.25] * 4, [1, -1, 0], ridge=0.1)
    assert free[0] > 0 > free[1]
    held = fitted(rows, sides, [0.25] * 4, [-1, -1, 0], ridge=0.1)
    assert held[0] == 0
    assert held[1] < free[1]


def test_the_fit_is_where_the_slope_is_flat() -> None:
    rows = [[0.2, 1.0], [0.4, 1.0], [0.6, 1.0], [0.9, 1.0]]
    sides, ridge = [-1.0, 1.0, -1.0, 1.0], 0.05
    weight, intercept = fitted(rows, sides, [0.25] * 4, [1, 0], ridge)
    wrong = [
        side * 0.25 / (1 + math.exp(side * (weight * row[0] + intercept)))
        for row, side in zip(rows, sides, strict=True)
    ]
    assert sum(w * row[0] for w, row in zip(wrong, rows, strict=True)) == pytest.approx(
        ridge * weight, abs=1e-7
    )
    assert sum(wrong) == pytest.approx(0, abs=1e-7)


JUDGED = st.lists(st.tuples(st.booleans(), st.floats(0, 1), st.booleans()), min_size=1, max_size=20)


@given(JUDGED)
def test_the_area_is_the_share_of_pairs_in_order(
    judged: list[tuple[bool, float, bool]],
) -> None:
    good = [chance for is_supported, chance, _ in judged if is_supported]
    bad = [chance for is_supported, chance, _ in judged if not is_supported]
    area = area_under_curve(judged)
    if not good or not bad:
        assert area is None
        assert balanced_accuracy(judged) is None
        return
    pairs = [(one > other) + (one == other) / 2 for one in good for other in bad]
    assert area == pytest.approx(sum(pairs) / len(pairs))


def test_balanced_accuracy_is_the_mean_over_both_kinds() -> None:
    judged = [(True, 0.9, True), (True, 0.8, True), (True, 0.2, False), (False, 0.1, False)]
    assert balanced_accuracy(judged) == pytest.approx((2 / 3 + 1) / 2)


def test_an_interval_holds_its_value_and_comes_out_the_same_again() -> None:
    groups = [[(n % 2 == 0, n / 40, n > 20), (n % 3 == 0, 1 - n / 40, n < 9)] for n in range(40)]
    found = with_interval(area_under_curve, groups, draws=200, seed=1)
    assert found == with_interval(area_under_curve, groups, draws=200, seed=1)
    assert found["low"] is not None
    assert found["value"] is not None
    assert found["high"] is not None
    assert found["low"] < found["value"] < found["high"]
