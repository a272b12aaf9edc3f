"""How statements find their rows: those about a few claims never go through a whole run."""

from collections.abc import Callable

import pytest
from sqlalchemy import event

from faithtui.agreement.labelled_units import UnitSettings
from faithtui.domain.ids import LabelId, RunId
from faithtui.domain.labels.label_events import Action
from faithtui.store.store import Store
from tests.store.building import judged, make_conversation
from tests.store.runs.test_claim_details import claims_of, say


def passages(store: Store, run: RunId) -> None:
    assert store.claim_details.read_passages(run, claims_of(store, run))


def said_since(store: Store, run: RunId) -> None:
    assert store.labelled_units.read_labels_of_claims_changed_after(run, LabelId(0), UnitSettings())


def judges_beside_people(store: Store, run: RunId) -> None:
    assert store.raters.read_rater_records(run).claims


@pytest.mark.parametrize("read", [passages, said_since, judges_beside_people])
def test_the_run_of_named_claims_is_looked_up_by_claim(
    store: Store, read: Callable[[Store, RunId], None]
) -> None:
    """Without statistics SQLite thinks that a run is smaller than a list of names."""
    run, _ = judged(
        store, make_conversation(answers=40), {turn: ["yes"] for turn in range(1, 80, 2)}
    )
    for claim in claims_of(store, run):
        for who in ("ann", "bob"):
            say(store, claim, who, "yes" if who == "ann" else "no", Action.BLIND)
    asked: list[tuple[str, object]] = []
    event.listen(
        store._database._readers._engine,
        "before_cursor_execute",
        lambda *call: asked.append((call[2], call[3])),
    )
    read(store, run)
    plans = []
    with store._database.open_reader() as connection:
        for text, values in list(asked):
            if "verdict.claim_id IN (?" in text:
                rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", values)  # type: ignore[arg-type]
                plans.append([row[-1] for row in rows])
    assert plans
    for plan in plans:
        assert any("run_item USING INTEGER PRIMARY KEY" in step for step in plan), plan
        assert any("verdict USING INDEX ix_verdict_claim_id" in step for step in plan), plan


def test_the_verdicts_of_a_reviewed_conversation_are_read_once(store: Store) -> None:
    """A long conversation has a verdict of each claim in each window: many more than claims."""
    run, _ = judged(
        store, make_conversation(answers=6), {turn: ["yes"] for turn in range(1, 12, 2)}
    )
    (item,) = store.runs.list_item_ids(run)
    asked: list[str] = []
    event.listen(
        store._database._readers._engine,
        "before_cursor_execute",
        lambda *call: asked.append(call[2]),
    )
    view = store.runs.read_conversation_for_review(item, "ann")
    assert sum(len(each.verdicts) for each in view.claims) > len(view.claims)
    selected = [text.split("FROM")[0] for text in asked]
    assert sum("verdict.label" in text for text in selected) == 1
