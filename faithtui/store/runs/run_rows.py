"""A run as lists show it, whoever read its row. No SQLAlchemy here: it takes long to import."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from faithtui.domain.integrity.run_summary import CHECKS, IntegritySummary, TextCounts
from faithtui.domain.judging.failure_limit import DEFAULT_FAILURE_LIMIT, FailureLimit
from faithtui.domain.judging.judge_profile import (
    NO_PARAMETERS,
    JudgeProfile,
    hide_fingerprint_secrets,
)
from faithtui.domain.scores import ScoringRule
from faithtui.store.records import RunRow, RunSpec, RunState
from faithtui.store.schema.json_columns import mean_from_score_units, scoring_rule_from_json

_FROM_COLUMN: Final[Mapping[object, Callable[[Any], Any]]] = {
    bool: bool,
    JudgeProfile: JudgeProfile.from_json,
    FailureLimit: lambda text: FailureLimit.parse(text or "") or DEFAULT_FAILURE_LIMIT,
    Path | None: lambda text: None if text is None else Path(text),
    RunState: RunState,
    ScoringRule: scoring_rule_from_json,
    tuple[str, ...]: tuple,
}
"""How fields whose type is not that of their column are read."""

_COMPUTED: Final = ("spec", "missing_verdicts", "score", "corrected", "integrity")
"""Fields of a run that are no column of their name."""


def _make_column_converters(record: type[RunSpec | RunRow]) -> dict[str, Callable[[Any], Any]]:
    """Say how each field of a record is read from the column of its name."""
    return {
        each.name: _FROM_COLUMN.get(each.type, lambda value: value)
        for each in fields(record)
        if each.name not in _COMPUTED
    }


_SPEC_READERS: Final = _make_column_converters(RunSpec)
_RUN_READERS: Final = _make_column_converters(RunRow)


def run_from_row(row: Any) -> RunRow:
    """Make a run of a row of its table, whose JSON and times are values already."""
    spec = RunSpec(**{name: read(getattr(row, name)) for name, read in _SPEC_READERS.items()})
    if spec.profile.list_hidden_settings():  # the fingerprint holds the same parameters
        hidden = hide_fingerprint_secrets(spec.judge_fingerprint)
        spec = replace(spec, judge_fingerprint=hidden)
    if spec.is_imported:  # earlier versions stored the parameters of a run that asks
        spec = replace(spec, profile=NO_PARAMETERS)
    return RunRow(
        spec=spec,
        missing_verdicts=row.missing,
        score=mean_from_score_units(row.score_sum, row.scored),
        corrected=mean_from_score_units(row.corrected_sum, row.corrected_scored),
        integrity=_integrity_from_row(row),
        **{name: read(getattr(row, name)) for name, read in _RUN_READERS.items()},
    )


def _integrity_from_row(row: Any) -> IntegritySummary:
    judged = row.done + row.failed
    if row.checks != CHECKS:
        return IntegritySummary(unchecked=judged)
    return IntegritySummary(
        text_check_counts_from_row(row), row.checked, max(0, judged - row.checked)
    )


def text_check_counts_from_row(row: Any) -> TextCounts:
    """Read what the checks counted from a row of a run, or of a conversation of one."""
    return TextCounts(
        claims=row.checked_claims,
        phantom=row.phantom_claims,
        truths=row.checked_truths,
        invented=row.invented_truths,
        texts=row.checked_texts,
        echoed=row.echoed_texts,
    )
