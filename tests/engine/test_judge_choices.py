from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.engine.judge_choices import (
    LOCAL_PROGRAMS,
    JudgeChoice,
    LocalServer,
    describe_runs_of_judge,
    find_local_servers,
    list_judge_choices,
)
from faithtui.judges.providers.endpoints import PROVIDERS
from faithtui.judges.providers.prices import PriceTable, read_price_table
from faithtui.store.store import Store
from tests.engine.building import conversation, planned, store_with
from tests.judges.fake_server import fake_server

OFFLINE = ("offline", None)
KEY = {"OPENAI_API_KEY": "sk-nobody"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_with(tmp_path / "s.db", [conversation("c", 1)]) as made:
        yield made


def choices(
    store: Store,
    environ: dict[str, str],
    configured: tuple[str, str | None] = OFFLINE,
    servers: tuple[LocalServer, ...] = (),
    prices: PriceTable | None = None,
) -> dict[tuple[str, str | None], JudgeChoice]:
    found = list_judge_choices(
        store.runs.list_runs(), configured, prices or read_price_table(), environ, servers=servers
    )
    named = {(each.judge, each.base_url): each for each in found}
    assert len(named) == len(found)
    return named


def test_without_keys_the_embedded_judge_is_ready_and_providers_say_what_they_lack(
    store: Store,
) -> None:
    found = choices(store, {})
    assert list(found) == [OFFLINE, ("openai:MODEL", None), ("anthropic:MODEL", None)]
    assert found[OFFLINE] == JudgeChoice("offline", None, "built in: no key, no cost", True)
    openai = found["openai:MODEL", None]
    assert openai.state.startswith("no key: set OPENAI_API_KEY")
    assert not openai.is_ready


def test_models_of_a_provider_whose_key_is_set_come_with_their_prices_cheapest_first(
    store: Store,
) -> None:
    found = choices(store, KEY)
    models = [each for each in found.values() if each.judge.startswith("openai:")]
    assert [each.judge for each in models] == [
        "openai:gpt-6-luna",
        "openai:gpt-6-sol",
        "openai:gpt-6-astra",
    ]
    shown = "key set · $0.1 in, $0.5 out per 1M tokens (genai-prices "
    assert models[0].state.startswith(shown)
    assert all(each.is_ready for each in models)
    assert not found["anthropic:MODEL", None].is_ready


def test_judges_of_earlier_runs_and_of_the_settings_say_where_they_are_from(store: Store) -> None:
    for _ in range(3):
        planned(store)
    server = "http://gpu.example.org:8000/v1"
    planned(store, judge="openai:phi", base_url=server)
    found = choices(store, KEY, ("openai:gpt-6-sol", None))
    assert found[OFFLINE].state == "built in: no key, no cost · used in 3 runs, last in 3"
    assert found["openai:phi", server].state == (
        "at gpu.example.org:8000 · used in run 4 · no price known"
    )
    assert "set as the usual judge" in found["openai:gpt-6-sol", None].state
    assert list(found)[1] == ("openai:gpt-6-sol", None)


def test_the_address_of_a_provider_itself_makes_no_second_choice(store: Store) -> None:
    own = PROVIDERS["openai"].base_url
    found = choices(store, KEY, ("openai:gpt-6-luna", own))
    assert "set as the usual judge" in found["openai:gpt-6-luna", None].state


def test_a_judge_that_nobody_can_ask_any_more_is_left_out(store: Store) -> None:
    run = planned(store)
    row = store.runs.read_run(run)
    gone = replace(row, spec=replace(row.spec, judge="uninstalled:model"))
    found = list_judge_choices([gone], OFFLINE, read_price_table(), {})
    assert [each.judge for each in found] == ["offline", "openai:MODEL", "anthropic:MODEL"]


def test_models_of_servers_on_this_machine_are_offered_and_silent_ones_say_so(
    store: Store,
) -> None:
    planned(store, judge="vllm:phi")
    servers = (
        LocalServer(PROVIDERS["ollama"], ("llama3:8b", "qwen3")),
        LocalServer(PROVIDERS["vllm"], None),
    )
    found = choices(store, {}, servers=servers)
    assert found["ollama:llama3:8b", None].state == "answers at localhost:11434 · no cost"
    assert found["vllm:phi", None].state == "no answer at localhost:8000 · used in run 1 · no cost"
    assert not found["vllm:phi", None].is_ready


async def test_programs_that_answer_say_their_models() -> None:
    with fake_server() as server:
        server.models = ("llama3", "qwen3")
        program = replace(LOCAL_PROGRAMS[0], base_url=f"{server.url}/v1")
        found = await find_local_servers({}, [program])
    silent = await find_local_servers({}, [program])
    assert [each.models for each in (*found, *silent)] == [("llama3", "qwen3"), None]


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        ([3], "used in run 3"),
        ([5, 2], "used in runs 2 and 5"),
        ([9, 4, 1], "used in 3 runs, last in 9"),
    ],
)
def test_uses_are_counted(runs: list[int], words: str) -> None:
    assert describe_runs_of_judge(runs) == words
