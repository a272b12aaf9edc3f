from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.engine import planner
from faithtui.engine.requests import RunRequest
from faithtui.errors import ConfigError
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.engine.building import conversation, store_with


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_with(tmp_path / "s.db", [conversation("a"), conversation("b")]) as found:
        yield found


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (RunRequest(metric="nonsense"), "there is no metric `nonsense`"),
        (RunRequest(options={"window": "3"}), "has no option `window`"),
        (RunRequest(options={"window_size": "many"}), "option window_size"),
        (RunRequest(options={"window_size": "0"}), "window_size is 0"),
        (RunRequest(strategy="guess"), "option strategy"),
        (RunRequest(judge="oracle:x"), "oracle"),
        (RunRequest(judge="openai:gpt-x"), "set OPENAI_API_KEY"),
        (RunRequest(judge="anthropic:claude-x"), "set ANTHROPIC_API_KEY"),
        (RunRequest(sources=("nowhere",)), "there is no source `nowhere`; imported: parcels"),
        (RunRequest(limit=0), "limit is 0"),
        (RunRequest(concurrency=0), "concurrency is 0"),
        (RunRequest(prompts_dir=Path("/nonexistent")), "no prompt of turn-faithfulness"),
    ],
)
def test_an_order_that_cannot_be_is_refused_before_anything_is_written(
    store: Store, request_: RunRequest, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        planner.plan(store, request_, environ={})
    assert store.runs.rows() == ()


def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    with (
        Store.open(tmp_path / "s.db") as store,
        pytest.raises(ConfigError, match="faithtui import"),
    ):
        planner.plan(store, RunRequest(), environ={})


def test_a_planned_run_holds_everything_needed_to_repeat_it(store: Store) -> None:
    order = RunRequest(options={"threshold": "none", "window_size": "3"}, limit=1)
    row = store.runs.row(planner.plan(store, order, environ={}))
    assert row.state is RunState.PLANNED
    assert row.conversations == 1
    assert row.spec.options["window_size"] == 3
    assert row.spec.options["threshold"] is None
    assert row.spec.rule.threshold is None
    assert len(row.spec.prompt_digest) == 64
    assert row.spec.peer == "deepeval 4.3.1"


def test_a_compatible_server_needs_no_key(store: Store) -> None:
    order = RunRequest(judge="openai:llama", base_url="http://127.0.0.1:1/v1")
    assert planner.plan(store, order, environ={}) == 1
