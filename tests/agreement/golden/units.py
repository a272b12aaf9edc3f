"""Statistics of `evaluate` on units: how many there are, and what their table warns of."""

from collections.abc import Callable, Mapping

from faithtui.agreement.statistics.coefficients import NOTHING_COMPARED, list_table_warning_codes
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.errors import InputError
from tests.agreement.golden import inputs as read
from tests.agreement.golden.inputs import Given
from tests.agreement.golden.results import Result, undefined
from tests.agreement.golden.tables import two_raters
from tests.agreement.golden.window_rows import (
    DuplicateRule,
    JudgeRow,
    State,
    pipeline_counts,
)

_STATES: Mapping[str, State] = {
    "bulk_accept": State.BULK,
    "bulk_accepted": State.BULK,
    "blind_label": State.BLIND,
    "agreed_after_reveal": State.AGREED,
}
"""Other words for a state: the actions that bring it about."""


def _pipeline_counts(given: Given, params: Given) -> Result:
    read.kind_of(given, "judge_rows")
    categories = _categories(given)
    rule = read.word(params, "duplicate_rule", DuplicateRule, DuplicateRule.MAJORITY)
    found = pipeline_counts(map(_judge_row, read.objects(given, "rows")), categories, rule)
    result: Result = {
        "value": found.agreement,
        "units_total": found.total,
        "units_reviewed": found.reviewed,
        "units_compared": found.compared,
        "units_skipped": found.skipped,
        "units_unreviewed": found.unreviewed,
        "units_bulk_accepted": found.bulk,
        "units_stale": found.stale,
        "confusion_human_rows_judge_columns": [list(row) for row in found.confusion],
        "agreement_reviewed": found.agreement,
        "wrong_agreement_if_unreviewed_counted_as_agreed": found.wrong_if_unreviewed_counted,
        "wrong_agreement_if_windows_counted": found.wrong_if_windows_counted,
        "coverage": found.coverage,
    }
    if found.agreement is None:
        result |= undefined(WithheldReason.NO_ITEMS)
    return result


def _judge_row(given: Given) -> JudgeRow:
    return JudgeRow(
        conversation=read.text(given, "conversation"),
        claim=read.text(given, "claim_key"),
        window=read.count(given, "window"),
        judge=read.text_or_none(given, "judge"),
        state=_STATES.get(str(given.get("review"))) or read.word(given, "review", State),
        rater=read.text_or_none(given, "rater"),
        human=read.text_or_none(given, "human"),
    )


def _agreement_warnings(given: Given, _: Given) -> Result:
    table = two_raters(given)
    codes = (
        NOTHING_COMPARED if isinstance(table, WithheldReason) else list_table_warning_codes(table)
    )
    return {"value": sorted(codes)}


def _categories(given: Given) -> tuple[str, ...]:
    names = tuple(map(str, read.items(given, "categories")))
    if len(set(names)) < len(names):
        raise InputError("the same one twice", field="categories")
    return names


ENTRIES: dict[str, Callable[[Given, Given], Result]] = {
    "pipeline_counts": _pipeline_counts,
    "agreement_warnings": _agreement_warnings,
}
"""From the name of a statistic to (input, params) -> result."""
