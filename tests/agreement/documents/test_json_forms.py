"""Which fields of a report stand in its JSON: all but those that the forms name."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass, make_dataclass, replace
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from faithtui.agreement.documents.files import report_json
from faithtui.agreement.documents.json_report import FORMS, report_to_json
from faithtui.agreement.report.model import (
    AgreementReport,
    Bounds,
    Detection,
    PopulationReport,
    RateSlice,
)
from faithtui.agreement.report.settings import IntervalMethod, ReportLevel, ReportSettings
from faithtui.domain.estimates import Estimate, EstimateStatus
from faithtui.domain.json_values import JsonFields, JsonForm, list_field_names
from tests.agreement.building import HEADER, rich

OWN = ReportSettings(
    interval=IntervalMethod.BOOTSTRAP, resamples=100, ordinal=True, level=0.9, blind_only=False
)


POPULATION = PopulationReport(
    results="lake",
    conversations=120,
    judged=100,
    claims=400,
    states={"scored": 100, "failed": 20},
    failed_share=1 / 6,
    open_shards=1,
    mean_scores={"windowed": 0.9},
    bounds=Bounds(0.7, 0.9),
    slices=(
        RateSlice(
            "language",
            "de",
            90,
            0.8,
            Estimate(0.75, EstimateStatus.OK, 30, 9),
        ),
    ),
    few=2,
)


def list_left_out(kind: type) -> Mapping[str, str]:
    """List the fields that the form of a class leaves out, and why."""
    return FORMS.get(kind, JsonForm()).left_out


def list_classes(kind: Any = AgreementReport) -> frozenset[type]:
    """List the value classes that a report is made of."""
    found: set[type] = set()

    def add(kind: Any) -> None:
        if kind in found:
            return
        if get_origin(kind) is not None or get_args(kind):
            for each in get_args(kind):
                add(each)
            origin = get_origin(kind)
            if isinstance(origin, type) and list_field_names(origin):
                add(origin)
        elif isinstance(kind, type) and list_field_names(kind):
            found.add(kind)
            # What a form leaves out is nowhere in the JSON, nor is what it is made of.
            for name in set(list_field_names(kind)) - set(list_left_out(kind)):
                add(get_type_hints(kind)[name])

    add(kind)
    return frozenset(found)


CLASSES = sorted(list_classes(), key=lambda kind: kind.__name__)


Put = Callable[[Any], Any]


def find_values(value: Any, put: Put) -> Iterator[tuple[Any, Put]]:
    """Go through the values a report is made of.

    Args:
        value: The report, or a part of it.
        put: Makes the report with another value in the place of this one.
    """

    def put_field(name: str) -> Put:
        return lambda new: put(change_field(value, name, new))

    def put_element(at: int) -> Put:
        return lambda new: put((*value[:at], new, *value[at + 1 :]))

    kind: Any = type(value)
    if list_field_names(kind):
        yield value, put
        for name in list_field_names(kind):
            yield from find_values(getattr(value, name), put_field(name))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for at in range(min(3, len(value))):
            yield from find_values(value[at], put_element(at))


def change_field(value: Any, name: str, new: Any) -> Any:
    """Make the same value with another one in a field."""
    return (
        value._replace(**{name: new})
        if hasattr(value, "_fields")
        else replace(value, **{name: new})
    )


def make_others(value: Any) -> Iterator[Any]:
    """Make values of the same kind as another one."""
    match value:
        case bool():
            yield not value
        case Enum():
            yield from (each for each in type(value) if each is not value)
        case str():
            yield "majority" if value == "first_window" else f"{value}x"
        case int():
            yield value + 1
        case float():
            yield value + 0.0625
        case None:
            yield from (1, 0.0625)
        case Estimate():
            yield replace(value, n=value.n + 1)
            if value.value is not None:
                yield replace(value, value=value.value + 0.0625)
        case Mapping() if value:
            name, first = next(iter(value.items()))
            yield from ({**value, name: other} for other in make_others(first))
        case tuple() if value and not hasattr(value, "_fields"):
            yield value[:-1]
            yield from ((*value[:-1], other) for other in make_others(value[-1]))
        case _ if is_dataclass(value) or hasattr(value, "_fields"):
            for name in list_field_names(type(value)):
                for other in make_others(getattr(value, name)):
                    yield change_field(value, name, other)


@pytest.fixture(scope="module")
def unseen() -> dict[type, set[str]]:
    """Find fields, beside those left out, that may change without a change of the JSON."""
    missing = {kind: set(list_field_names(kind)) - set(list_left_out(kind)) for kind in CLASSES}

    def convert(report: AgreementReport, level: ReportLevel) -> JsonFields:
        return report_to_json(report, HEADER, level, include_text=True)

    for report in (rich(), rich(settings=OWN), replace(rich(), population=POPULATION)):
        before = {level: convert(report, level) for level in ReportLevel}
        for value, put in find_values(report, lambda new: new):
            for name in sorted(missing.get(type(value), ())):
                for other in make_others(getattr(value, name)):
                    try:
                        changed = put(change_field(value, name, other))
                        is_seen = any(convert(changed, each) != before[each] for each in before)
                    except (ValueError, TypeError, AttributeError, KeyError, IndexError):
                        continue  # no value that the field may have
                    if is_seen:
                        missing[type(value)].discard(name)
                        break
    return missing


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_field_stands_in_the_json_or_a_form_says_why_not(
    kind: type, unseen: dict[type, set[str]]
) -> None:
    left_out = list_left_out(kind)
    assert unseen[kind] == set()
    assert set(left_out) <= set(list_field_names(kind)), "no such field"
    assert all(left_out.values()), "a reason"


def test_a_new_field_is_written_without_a_change_of_the_writer() -> None:
    kind = make_dataclass("Wider", [("added", float)], bases=(Detection,), frozen=True)
    was = rich().claims.strict
    wider = kind(*(getattr(was, name) for name in list_field_names(Detection)), added=0.12345678)
    report = replace(rich(), claims=replace(rich().claims, strict=wider))
    detection = json.loads(report_json(report, HEADER))["detection"]
    assert detection["strict"]["added"] == 0.123457
    assert "added" not in detection["lenient"]
