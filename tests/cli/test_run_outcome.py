"""What a run is called in the list is what its exit code says."""

from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.cli.run_outcome import (
    DONE,
    INCOMPLETE,
    choose_exit_code,
    format_pass_of_unsure_claims,
    format_run_state,
)
from faithtui.store.records import LabelCount, RunState
from tests.engine.building import conversation, planned, store_with


@pytest.mark.parametrize(
    ("failed", "incomplete", "state", "code"),
    [(0, 0, "done", DONE), (1, 0, "incomplete", INCOMPLETE), (0, 1, "incomplete", INCOMPLETE)],
)
def test_state_and_exit_code_agree(
    tmp_path: Path, failed: int, incomplete: int, state: str, code: int
) -> None:
    with store_with(tmp_path / "s.db", [conversation("a", 1)]) as store:
        row = store.runs.read_run(planned(store))
    ended = replace(row, state=RunState.DONE, failed=failed, incomplete=incomplete)
    assert (format_run_state(ended), choose_exit_code(ended)) == (state, code)
    assert format_run_state(replace(ended, state=RunState.CANCELLED)) == "cancelled"


def test_a_run_with_unsure_claims_says_that_they_pass_and_how_to_change_it(tmp_path: Path) -> None:
    with store_with(tmp_path / "s.db", [conversation("a", 1)]) as store:
        row = store.runs.read_run(planned(store))
    labels = {"yes": LabelCount(1, 0), "idk": LabelCount(2, 0)}
    assert format_pass_of_unsure_claims(row, labels) == (
        "idk counts as a pass in the score; as a fail: --option penalize_ambiguous_claims=true"
    )
    assert format_pass_of_unsure_claims(row, {"yes": labels["yes"]}) is None
    fails = replace(row.spec, rule=replace(row.spec.rule, passing=("yes",)))
    assert format_pass_of_unsure_claims(replace(row, spec=fails), labels) is None
