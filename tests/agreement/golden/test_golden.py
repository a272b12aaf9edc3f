"""Worked examples with known answers: papers, textbooks, documentation of well-known tools."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from faithtui.errors import InputError
from tests.agreement.golden import categories, numbers
from tests.agreement.golden_adapter import evaluate

GOLDEN = Path(__file__).parents[3] / "fixtures" / "agreement" / "golden.json"
CASES = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]


def same(wanted: Any, found: Any, tolerance: float) -> bool:
    """Compare as the examples ask: absolute, relative above 1."""
    if wanted is None or isinstance(wanted, (bool, str)):
        return bool(wanted == found)
    if isinstance(wanted, list):
        return (
            isinstance(found, (list, tuple))
            and len(wanted) == len(found)
            and all(same(a, b, tolerance) for a, b in zip(wanted, found, strict=True))
        )
    if isinstance(found, bool) or not isinstance(found, (int, float)) or math.isnan(found):
        return False
    return bool(abs(found - wanted) <= tolerance * max(1.0, abs(wanted)))


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_a_worked_example_has_its_known_answer(case: dict[str, Any]) -> None:
    found = evaluate(case["statistic"], case["input"], case.get("params", {}))
    wrong = {
        name: (wanted, found.get(name))
        for name, wanted in case["expected"].items()
        if not same(wanted, found.get(name), case["tolerance"])
    }
    assert not wrong


def test_every_example_is_there() -> None:
    assert len(CASES) == 133


@pytest.mark.parametrize("name", ["", "kappa", "Cohen_kappa", "cohen_kappa "])
def test_an_unknown_name_is_an_error_and_never_a_guess(name: str) -> None:
    table = {"kind": "confusion", "categories": ["yes", "no"], "matrix": [[1, 0], [0, 1]]}
    with pytest.raises(InputError, match="no statistic"):
        evaluate(name, table, {})


def test_a_name_belongs_to_one_registry() -> None:
    assert not categories.ENTRIES.keys() & numbers.ENTRIES.keys()


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_a_parameter_that_a_statistic_does_not_have_is_refused(case: dict[str, Any]) -> None:
    """Also where the input has no answer."""
    params = {**case.get("params", {}), "wheights": "linear"}
    with pytest.raises(InputError, match=r"has no parameter \['wheights'\]"):
        evaluate(case["statistic"], case["input"], params)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("scott_pi", {"weights": "linear"}),
        ("recall", {"positive": "no"}),
        ("cohen_kappa", {"confidence": 0.9}),
    ],
)
def test_a_parameter_that_a_statistic_has_is_taken_where_there_is_no_answer(
    name: str, params: dict[str, object]
) -> None:
    kind, units = ("counts", [[1, 0]]) if name == "scott_pi" else ("ratings", [["yes", None]])
    apart = {"kind": kind, "categories": ["yes", "no"], "units": units}
    assert evaluate(name, apart, params)["reason"] == "no_overlap"
