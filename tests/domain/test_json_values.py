"""Values as JSON, field by field."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

import pytest

from faithtui.domain.estimates import Estimate, EstimateStatus
from faithtui.domain.json_values import Json, JsonForm, JsonWriter, value_json
from faithtui.domain.withheld_reasons import WithheldReason


class Word(StrEnum):
    YES = "yes"


class Place(NamedTuple):
    low: float
    high: float


@dataclass(frozen=True)
class Inner:
    word: Word
    place: Place | None
    names: tuple[str, ...]


@dataclass(frozen=True)
class Outer:
    count: int
    share: float
    inner: Inner
    by_name: dict[str, Inner]


INNER = Inner(Word.YES, Place(0.1234567, -0.0000001), ("a", "b"))
OUTER = Outer(3, 0.1234567, INNER, {"x": INNER})


def write(decimals: int | None = None, **forms: JsonForm) -> Json:
    kinds = {"outer": Outer, "inner": Inner, "place": Place}
    return JsonWriter({kinds[name]: form for name, form in forms.items()}, decimals).convert(OUTER)


def test_fields_are_keys_by_their_names_and_in_their_order() -> None:
    inner = {"word": "yes", "place": {"low": 0.123457, "high": 0.0}, "names": ["a", "b"]}
    expected = {"count": 3, "share": 0.123457, "inner": inner, "by_name": {"x": inner}}
    assert json.dumps(write(6)) == json.dumps(expected)


def test_a_form_leaves_out_renames_adds_and_orders() -> None:
    found = write(
        outer=JsonForm(
            left_out={"by_name": "not wanted"},
            renamed={"count": "n"},
            more=lambda outer: {"share": outer.share * 2, "twice": outer.count * 2},
            order=("twice", "n"),
        ),
        inner=JsonForm(left_out={"place": "not wanted", "names": "not wanted"}),
    )
    expected = {"twice": 6, "n": 3, "share": 0.2469134, "inner": {"word": "yes"}}
    assert json.dumps(found) == json.dumps(expected)


def test_without_decimals_numbers_stay_as_they_are() -> None:
    assert value_json((1, 0.123456789, True, None)) == [1, 0.123456789, True, None]


def test_an_estimate_has_its_counts_last() -> None:
    found = value_json(Estimate(None, EstimateStatus.UNDEFINED, 3, 1, WithheldReason.NO_ITEMS))
    assert isinstance(found, dict)
    assert list(found)[:3] == ["value", "status", "reason"]
    assert list(found)[-2:] == ["n", "clusters"]
    assert found["reason"] == "no_items"


@pytest.mark.parametrize("value", [object(), datetime(2026, 1, 1, tzinfo=UTC), {1, 2}, b"x"])
def test_what_json_does_not_know_is_refused_by_its_type(value: object) -> None:
    with pytest.raises(TypeError, match=type(value).__name__):
        value_json(value)
