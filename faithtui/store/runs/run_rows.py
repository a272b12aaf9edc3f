"""A run as lists show it, whoever read its row. No SQLAlchemy here: it takes long to import."""

from typing import Any

from faithtui.domain.ids import RunId
from faithtui.domain.integrity.run_summary import CHECKS, IntegritySummary, TextCounts
from faithtui.store.records import RunRow, RunSpec, RunState
from faithtui.store.schema.json_columns import mean_from_units, scoring_rule_from_json


def run_from_row(row: Any) -> RunRow:
    """Make a run of a row of its table, whose JSON and times are values already."""
    return RunRow(
        id=RunId(row.id),
        spec=RunSpec(
            metric=row.metric,
            metric_version=row.metric_version,
            peer=row.peer,
            strategy=row.strategy,
            options=row.options,
            rule=scoring_rule_from_json(row.rule),
            judge=row.judge,
            judge_fingerprint=row.judge_fingerprint,
            base_url=row.base_url,
            prompt_digest=row.prompt_digest,
            prompts_dir=row.prompts_dir,
            examples=row.example_set,
            claims=row.claims_from,
            sources=tuple(row.sources),
            concurrency=row.concurrency,
            claims_run=None if row.claims_run is None else RunId(row.claims_run),
            batch=bool(row.batch),
            budget_nusd=row.budget_nusd,
            budget_tokens=row.budget_tokens,
            max_failures=row.max_failures,
            calibration=row.calibration,
        ),
        state=RunState(row.state),
        reason=row.reason,
        created_at=row.created_at,
        finished_at=row.finished_at,
        conversations=row.conversations,
        pending=row.pending,
        done=row.done,
        failed=row.failed,
        skipped=row.skipped,
        windows=row.windows,
        failed_windows=row.failed_windows,
        claims=row.claims,
        missing_verdicts=row.missing,
        labelled=row.labelled,
        score=mean_from_units(row.score_sum, row.scored),
        corrected=mean_from_units(row.corrected_sum, row.corrected_scored),
        calls=row.calls,
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
        tokens_cached=row.tokens_cached,
        cost_nusd=row.cost_nusd,
        unpriced_calls=row.unpriced_calls,
        retries=row.retries,
        archived_at=row.archived_at,
        scored=row.scored,
        corrected_scored=row.corrected_scored,
        undefined=row.undefined,
        incomplete=row.incomplete,
        undefined_windows=row.undefined_windows,
        skipped_windows=row.skipped_windows,
        integrity=_integrity_from_row(row),
    )


def _integrity_from_row(row: Any) -> IntegritySummary:
    judged = row.done + row.failed
    if row.checks != CHECKS:
        return IntegritySummary(unchecked=judged)
    return IntegritySummary(text_counts(row), row.checked, max(0, judged - row.checked))


def text_counts(row: Any) -> TextCounts:
    """Read what the checks counted from a row of a run, or of a conversation of one."""
    return TextCounts(
        claims=row.checked_claims,
        phantom=row.phantom_claims,
        truths=row.checked_truths,
        invented=row.invented_truths,
        texts=row.checked_texts,
        echoed=row.echoed_texts,
    )
