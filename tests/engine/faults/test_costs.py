"""F34 to F37: what a run costs, what it may cost, and what it must not cost twice."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.scores import ScoreSet
from faithtui.engine.calls.budget import NUSD
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.errors import ConfigError
from faithtui.judges.providers.prices import read_price_table
from faithtui.metrics import prompt_texts
from faithtui.store.records import RunState
from tests.engine.building import conversation, store_with
from tests.engine.faulty_runs import (
    NO_REASONS,
    STEPS,
    calls_of,
    filled,
    hardly,
    judged,
    ordered,
    providers,
)
from tests.judges.fault_server import FaultServer, Rule, fault_server
from tests.judges.faults import FAULTS

CONVERSATIONS = 6
CONCURRENCY = 32
PRICES = """
date = "2026-11"

[[price]]
judge = "{provider}:m"
base_url = "{url}"
input = 2.0
output = 10.0
"""


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as running:
        yield running


def priced(folder: Path, provider: str, server: FaultServer) -> RunEnvironment:
    """Make the circumstances of a process that knows what this judge costs."""
    table = folder / "prices.toml"
    table.write_text(PRICES.format(provider=provider, url=server.url))
    return RunEnvironment(prices=read_price_table(table), sleep=hardly)


@providers
async def test_f34_a_budget_is_used_up_and_never_passed(
    tmp_path: Path, server: FaultServer, provider: str
) -> None:
    environment = priced(tmp_path, provider, server)
    server.config.latency_s = 0.05
    with filled(tmp_path / "whole.db", 12) as store:
        whole = await judged(
            store, server, provider, environment=environment, concurrency=CONCURRENCY
        )
    assert whole.row.unpriced_calls == 0
    cap = whole.row.cost_nusd // 2
    with filled(tmp_path / "s.db", 12) as store:
        ran = await judged(
            store,
            server,
            provider,
            environment=environment,
            concurrency=CONCURRENCY,
            budget_nusd=cap,
        )
        assert ran.state is RunState.STOPPED
        reason = ran.row.reason or ""
        worst = re.search(r"the next may cost up to \$(\d+\.\d+)", reason)
        assert worst is not None
        # Sentences round to a hundredth of a cent.
        assert cap - float(worst[1]) * NUSD - NUSD / 10_000 <= ran.row.cost_nusd <= cap
        assert (ran.row.failed, ran.row.failed_windows) == (0, 0)
        assert ran.row.pending > 0

        store.runs.set_budget(ran.run, 2 * cap + NUSD, None)
        later = await judged(store, server, provider, run=ran.run, environment=environment)
    assert (later.state, later.row.done) == (RunState.DONE, 12)
    assert later.scores == whole.scores
    assert later.row.cost_nusd == whole.row.cost_nusd, "nothing was bought twice"


async def test_f34_a_cap_of_tokens_holds_through_faults_and_odd_counts(
    tmp_path: Path, server: FaultServer
) -> None:
    odd = (*FAULTS["F08"], *FAULTS["F23"])
    server.config.rules = (Rule(odd, probability=0.5, attempts=(1, 2)),)
    with filled(tmp_path / "s.db", 20) as store:
        ran = await judged(store, server, budget_tokens=15_000, concurrency=CONCURRENCY)
    assert ran.state is RunState.STOPPED
    assert "--budget-tokens" in (ran.row.reason or "")
    assert 0 < ran.row.tokens_in + ran.row.tokens_out <= 15_000


async def test_f35_what_nobody_knows_the_price_of_is_not_free(
    tmp_path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    # An address of this machine that does not say so: it may be anybody's, who sends a bill.
    server.url = server.url.replace("127.0.0.1", "0.0.0.0")
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        with pytest.raises(ConfigError, match="price"):
            ordered(store, server, budget_nusd=NUSD)
        assert store.runs.find_newest_run_id() is None, "it was refused before it began"
        ran = await judged(store, server)
        calls = calls_of(store, ran)
    assert ran.row.cost_nusd == 0
    assert ran.row.unpriced_calls == ran.row.calls == CONVERSATIONS * STEPS
    assert {call.reply.cost_nusd for call in calls} == {None}


@pytest.mark.thorough
@providers
async def test_f36_what_many_conversations_share_is_asked_once(
    tmp_path: Path, server: FaultServer, provider: str
) -> None:
    server.config.latency_s = 0.05
    contexts = 5
    chats = [
        Conversation(
            "shared",
            f"c{n}",
            (
                Turn("user", "What does it weigh?"),
                Turn(
                    "assistant",
                    f"Parcel {n} weighs a ton.",
                    (Document(f"Parcels of kind {n % contexts} weigh a ton."),),
                ),
            ),
            f"shared/c{n}",
        )
        for n in range(60)
    ]
    with store_with(tmp_path / "s.db", chats) as store:
        ran = await judged(store, server, provider, concurrency=CONCURRENCY)
        steps = [call.step for call in calls_of(store, ran)]
    assert ran.row.done == 60
    assert steps.count("truths") == contexts
    assert steps.count("claims") == 60
    assert max(server.billed.values()) == 1


@pytest.mark.thorough
@providers
async def test_f36_the_same_pair_a_hundred_times_is_one_question(
    tmp_path: Path, server: FaultServer, provider: str
) -> None:
    server.config.latency_s = 0.05
    chats = [replace(conversation("same", 1), key=f"c{n}") for n in range(100)]
    with store_with(tmp_path / "s.db", chats) as store:
        ran = await judged(store, server, provider, concurrency=CONCURRENCY)
    assert ran.row.done == 100
    assert len(ran.entries) == STEPS
    assert ran.row.calls == STEPS
    assert len({str(scores) for scores in ran.scores}) == 1


@providers
async def test_f37_a_second_run_asks_nothing_and_finds_the_same(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str
) -> None:
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        await judged(store, server, provider)
        again = await judged(store, server, provider)
        assert (again.state, again.entries, again.row.calls) == (RunState.DONE, [], 0)
        assert again.scores == clean

        # Another wording of one question: only that step is asked anew.
        own = tmp_path / "prompts"
        own.mkdir()
        text = (
            Path(prompt_texts.__file__).parent / "prompts" / "shared" / "claims.txt"
        ).read_text()
        (own / "claims.txt").write_text(f"{text}\nBe brief.\n")
        changed = await judged(store, server, provider, prompts_dir=own, options=NO_REASONS)
        steps = {call.step for call in calls_of(store, changed)}
    assert changed.state is RunState.DONE
    assert steps == {"claims"}
    assert len(changed.entries) == CONVERSATIONS
