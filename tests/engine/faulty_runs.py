"""Runs through the whole engine against a provider that fails as it is told to."""

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.scores import ScoreSet
from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.control import RunControl
from faithtui.engine.runs.events import CallRetried, RunEvent
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.judges.base import Judge
from faithtui.judges.deadlines import Deadline, time_out_after
from faithtui.judges.registry import open_judge
from faithtui.store.records import CallRow, ClaimView, ItemRow, RunRow, RunState
from faithtui.store.store import Store
from tests.engine.building import conversation, store_with
from tests.judges.fault_server import Entry, FaultServer
from tests.judges.questions import KEY

NO_REASONS = {"include_reason": "false"}

STEPS = 3
"""Questions of a conversation of one exchange without a final reason: truths, claims, verdicts."""

providers = pytest.mark.parametrize(
    "provider", ["openai", pytest.param("anthropic", marks=pytest.mark.thorough)]
)

in_every_way = pytest.mark.parametrize(
    "provider",
    [
        "openai",
        "openai batch",
        pytest.param("anthropic", marks=pytest.mark.thorough),
        pytest.param("anthropic batch", marks=pytest.mark.thorough),
    ],
)
"""For faults of a reply, which are the same however it was asked for."""


async def hardly(seconds: float) -> None:
    """Wait a twentieth of the time between two tries, so that tests end soon."""
    await asyncio.sleep(seconds / 20)


def soon() -> RunEnvironment:
    """Make the circumstances of a process of its own that waits little."""
    return RunEnvironment(sleep=hardly)


@dataclass(frozen=True)
class Ran:
    """What came of a run, or of one turn at it."""

    run: RunId
    state: RunState
    row: RunRow
    items: tuple[ItemRow, ...]
    events: list[RunEvent]
    entries: list[Entry]
    """What the provider noted meanwhile, in the order in which the requests ended."""

    @property
    def scores(self) -> list[ScoreSet | None]:
        return [item.scores for item in self.items]

    @property
    def kinds(self) -> Counter[str]:
        return Counter(entry.kind for entry in self.entries)

    @property
    def retries(self) -> list[CallRetried]:
        return [event for event in self.events if isinstance(event, CallRetried)]

    @property
    def questions(self) -> set[str]:
        return {entry.question for entry in self.entries}


def filled(path: Path, count: int, exchanges: int = 1) -> Store:
    """Open a store of so many conversations."""
    return store_with(path, [conversation(f"c{n}", exchanges) for n in range(count)])


def ordered(
    store: Store,
    server: FaultServer,
    provider: str = "openai",
    *,
    environment: RunEnvironment | None = None,
    **changes: object,
) -> RunId:
    """Plan a run over everything, without final reasons unless they are asked for."""
    name, _, way = provider.partition(" ")
    request = RunRequest(
        judge=f"{name}:m", base_url=server.url, options=NO_REASONS, batch=way == "batch"
    )
    return run_planner.save_planned_run(
        store,
        replace(request, **changes),  # type: ignore[arg-type]  # fields of the order
        environ={},
        environment=environment,
    )


def judge_of(
    server: FaultServer,
    provider: str = "openai",
    *,
    timeout_s: float = 600.0,
    deadline: Deadline = time_out_after,
    key: str = KEY,
) -> AbstractAsyncContextManager[Judge]:
    """Make the judge of such a run."""
    return open_judge(
        f"{provider}:m",
        base_url=server.url,
        timeout_s=timeout_s,
        deadline=deadline,
        environ={"FAITHTUI_JUDGE_KEY": key},
    )


async def judged(
    store: Store,
    server: FaultServer,
    provider: str = "openai",
    *,
    run: RunId | None = None,
    timeout_s: float = 600.0,
    deadline: Deadline = time_out_after,
    environment: RunEnvironment | None = None,
    control: RunControl | None = None,
    retry_unfinished: bool = False,
    on_event: Callable[[RunEvent], None] = lambda event: None,
    **changes: object,
) -> Ran:
    """Plan a run, unless there is one, and execute it.

    Args:
        store: Where the conversations are.
        server: The provider.
        provider: `openai` or `anthropic`; `openai batch` is come back to until it is done.
        run: One to go on with; None plans one.
        timeout_s: Deadline of one request.
        deadline: Keeps the time of requests.
        environment: What the run shares with others; None: nothing, and it waits little.
        control: Handles.
        retry_unfinished: Take up failed conversations again.
        on_event: Told of every event besides.
        changes: Of the order.
    """
    environment = environment or soon()
    if run is None:
        run = ordered(store, server, provider, environment=environment, **changes)
    events: list[RunEvent] = []
    before = len(server.entries)

    def heard(event: RunEvent) -> None:
        events.append(event)
        on_event(event)

    server.batches.polls_until_end = 0
    is_batch = provider.endswith("batch")
    state = None
    while state is None or state is RunState.WAITING:
        state = await runner.execute_run(
            store,
            run,
            heard,
            judge=None
            if is_batch
            else judge_of(server, provider, timeout_s=timeout_s, deadline=deadline),
            environment=environment,
            control=control,
            retry_unfinished=retry_unfinished and state is None,
        )
    # The server notes a request when it is done with it, a moment after the answer is here.
    assert await asyncio.to_thread(server.wait_until_idle)
    return Ran(
        run,
        state,
        store.runs.read_run(run),
        items_of(store, run),
        events,
        server.entries[before:],
    )


def items_of(store: Store, run: RunId) -> tuple[ItemRow, ...]:
    """Read the conversations of a run."""
    return tuple(store.runs.read_item_rows(store.runs.list_item_ids(run)))


def environment(home: Path) -> dict[str, str]:
    """Give a program an environment without anybody's settings and keys."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("FAITHTUI") and not name.endswith("_API_KEY")
    }
    return {**kept, "FAITHTUI_HOME": str(home), "NO_PROXY": "*"}


def calls_of(store: Store, ran: Ran) -> list[CallRow]:
    """Read the calls that were made for the conversations of a run."""
    return [call for item in ran.items for call in store.calls.list_item_calls(item.id)]


def verdicts_of(store: Store, item: ItemId) -> list[ClaimView]:
    """Read the claims of a conversation of a run that got a verdict."""
    claims = store.runs.read_conversation_for_review(item, "ann").claims
    return [claim for claim in claims if claim.first_window_verdict.label is not None]
