"""Claims of a run for notebooks and scripts: list them, label one."""

from typing import TYPE_CHECKING, Final

from faithtui.domain.ids import ClaimId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import NOT_A_CLAIM
from faithtui.domain.limits import REVIEWER
from faithtui.engine.library.project_rows import Row
from faithtui.engine.library.project_runs import find_id_of_run_with_verdicts
from faithtui.engine.review.conversation_json import conversation_view_to_json
from faithtui.errors import ConfigError, StoreError
from faithtui.metrics.registry import find_metric

if TYPE_CHECKING:
    from faithtui.store.store import Store

_BLIND: Final = frozenset(("claim", "number", "turn", "kind", "document", "text", "span"))
"""What of a claim says nothing of what anybody thinks of it."""


def list_claims(store: "Store", named: int | str, reviewer: str, *, blind: bool) -> list[Row]:
    """List the claims of a run; see `Project.claims`.

    Raises:
        StoreError: A label or verdict is not what was written.
    """
    run = find_id_of_run_with_verdicts(store, named)
    store.refuse_corrupted_rows_unless_checked_before()
    items = store.runs.list_item_ids(run)
    rows: list[Row] = []
    for item in items:
        view = store.runs.read_conversation_for_review(item, reviewer)
        texts = {turn.position: turn.content for turn in view.turns}
        written = conversation_view_to_json(view)
        claims = written["claims"]
        assert isinstance(claims, list)
        for claim in claims:
            place = {
                "run": run,
                "source": view.item.source,
                "conversation": view.item.key,
                "answer": texts.get(claim["turn"]),
            }
            rows.append(place | {k: v for k, v in claim.items() if not blind or k in _BLIND})
    if not blind and items:
        store.exposures.record_many(items, reviewer)
    return rows


def label_claim(
    store: "Store", named: int | str, claim: int, verdict: str, reviewer: str, note: str | None
) -> Row:
    """Label a claim; see `Project.label`.

    Raises:
        ConfigError: The metric has no such label, or the name is none.
        StoreError: The run has no such claim.
    """
    run = find_id_of_run_with_verdicts(store, named)
    labels = find_metric(store.runs.read_run(run).spec.metric).spec.labels.names
    if verdict not in (*labels, NOT_A_CLAIM):
        known = ", ".join((*labels, NOT_A_CLAIM))
        raise ConfigError(f"there is no label `{verdict}`; known: {known}")
    if not reviewer.strip():
        raise ConfigError("reviewer is empty; expected a name")
    REVIEWER.check_length(reviewer, field="reviewer")
    number = ClaimId(claim)
    if store.label_log.find_item_id_of_claim(run, number) is None:
        raise StoreError(f"run {run} has no claim {claim}; claims() lists them")
    act = store.label_log.record_verdict(number, reviewer, verdict, run=run, saw_judge=False)
    if note is not None:
        store.label_log.append_label_event(
            number,
            reviewer,
            Action.NOTED,
            note=note,
            run=run,
            judge_verdict=act.judge_verdict,
            saw_judge=act.saw_judge,
        )
    return {
        "claim": claim,
        "reviewer": reviewer,
        "verdict": verdict,
        "judge": act.judge_verdict,
        "action": act.action.value,
    }
