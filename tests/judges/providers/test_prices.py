import math
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from genai_prices.data_snapshot import get_snapshot
from hypothesis import given
from hypothesis import strategies as st

from faithtui.errors import ConfigError
from faithtui.judges.base import Usage
from faithtui.judges.providers.prices import (
    PackagePrices,
    Price,
    PriceTable,
    compute_cost_nusd,
    compute_cost_usd,
    compute_max_cost_nusd,
    read_price_table,
)
from tests.judges.acme import install_package

MILLION = Usage(tokens_in=1_000_000, tokens_out=1_000_000)
ONE_PRICE = """
date = "2026-12-01"
[[price]]
judge = "openai:llama3:8b"
base_url = "http://LOCALHOST:8080/v1/"
input = 0.5
output = 1
"""


@pytest.mark.parametrize(
    ("judge", "dollars"),
    [
        ("openai:gpt-6-luna", 0.01 + 0.05),
        ("anthropic:claude-haiku-5-5", 0.01 + 0.05),
        ("openai:gpt-6-sol", 0.2 + 1.0),
        ("anthropic:claude-sonnet-5-5", 0.2 + 1.0),
        ("anthropic:claude-opus-5-5", 0.4 + 2.0),
        ("openai:gpt-6-astra", 1.0 + 5.0),
    ],
)
def test_a_hundred_thousand_tokens_each_way_cost_a_tenth_of_the_listed_prices(
    judge: str, dollars: float
) -> None:
    usage = Usage(tokens_in=100_000, tokens_out=100_000, tokens_cached=0)
    assert compute_cost_usd(judge, usage) == pytest.approx(dollars)


def test_cached_tokens_cost_their_own_price() -> None:
    usage = Usage(tokens_in=1_000, tokens_out=200, tokens_cached=400)
    expected = (600 * 2.0 + 400 * 0.2 + 200 * 10.0) / 1_000_000
    assert compute_cost_usd("openai:gpt-6-sol", usage) == pytest.approx(expected)


def test_more_cached_tokens_than_read_ones_are_not_subtracted() -> None:
    usage = Usage(tokens_in=10, tokens_out=0, tokens_cached=1_000)
    assert compute_cost_usd("openai:gpt-6-sol", usage) == pytest.approx(10 * 0.2 / 1_000_000)


@pytest.mark.parametrize("judge", ["offline", "replay:replies.jsonl"])
def test_a_judge_without_a_bill_costs_nothing(judge: str) -> None:
    assert compute_cost_usd(judge, Usage()) == 0.0


@pytest.mark.parametrize(
    ("judge", "usage"),
    [
        ("openai:gpt-7", MILLION),
        ("openai:gpt-6-luna-mini", Usage(1, 1)),
        # Of another company, whatever it is called.
        ("anthropic:gpt-6-luna", Usage(1, 1)),
        ("openai:gpt-6-luna", Usage(None, 1)),
        ("openai:gpt-6-luna", Usage(1, None)),
    ],
)
def test_what_is_not_known_is_not_free(judge: str, usage: Usage) -> None:
    assert compute_cost_usd(judge, usage) is None


@pytest.mark.parametrize("name", ["gpt-6-luna-2026-10-01", "gpt-6-luna-20261001"])
def test_a_dated_version_costs_what_its_model_does(name: str) -> None:
    usage = Usage(tokens_in=100, tokens_out=100)
    assert compute_cost_usd(f"openai:{name}", usage) == compute_cost_usd("openai:gpt-6-luna", usage)


def test_another_server_has_no_price_of_the_providers() -> None:
    usage = Usage(tokens_in=100, tokens_out=100)
    elsewhere = compute_cost_usd("openai:gpt-6-luna", usage, base_url="http://relay.example:8080")
    assert elsewhere is None
    official = compute_cost_usd("openai:gpt-6-luna", usage, base_url="https://eu.api.openai.com/v1")
    assert official == compute_cost_usd("openai:gpt-6-luna", usage)


def test_a_cached_token_without_a_price_of_its_own_costs_the_full_one(tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_text(ONE_PRICE)
    usage = Usage(tokens_in=1_000_000, tokens_out=0, tokens_cached=1_000_000)
    cost = compute_cost_usd(
        "openai:llama3:8b", usage, base_url="http://localhost:8080", table=table
    )
    assert cost == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("date = ", "is no TOML"),
        ("price = []", "`date` cannot be used"),
        ('date = "today"\nprice = []', "`date` cannot be used"),
        (ONE_PRICE.replace("0.5", "-1"), "`price.0.input` cannot be used"),
        (ONE_PRICE.replace("0.5", "nan"), "`price.0.input` cannot be used"),
        (ONE_PRICE.replace("output", "outputs"), "`price.0.output` cannot be used"),
        (ONE_PRICE.replace("openai:llama3:8b", "acme:llama3"), "unknown judge"),
        (ONE_PRICE.replace("http://LOCALHOST", "localhost"), "base URL"),
        ('date = "2026-12"\n[[price]]\njudge = "replay:x"\ninput = 1\noutput = 1', "no price"),
        (ONE_PRICE + ONE_PRICE.partition('01"')[2], "listed twice"),
    ],
)
def test_a_table_that_cannot_be_used_says_why(tmp_path: Path, content: str, says: str) -> None:
    table = tmp_path / "prices.toml"
    table.write_text(content)
    with pytest.raises(ConfigError) as caught:
        read_price_table(table)
    assert says in str(caught.value)
    assert str(table) in str(caught.value)


def test_a_table_in_another_encoding_is_no_toml(tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_bytes(b'date = "\xff"')
    with pytest.raises(ConfigError, match="is no TOML"):
        read_price_table(table)


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml: cannot be read"):
        read_price_table(tmp_path / "gone.toml")


def at(day: str) -> PackagePrices:
    return PackagePrices(lambda: datetime.fromisoformat(day).replace(tzinfo=UTC))


def test_a_longer_request_costs_what_the_package_says_of_its_length() -> None:
    def cost(tokens: int) -> float | None:
        return compute_cost_usd("openai:gpt-6-luna", Usage(tokens, 0))

    assert cost(272_000) == pytest.approx(272_000 * 0.1 / 1_000_000)
    assert cost(272_001) == pytest.approx(272_001 * 0.2 / 1_000_000)


def test_a_price_says_where_it_is_from_and_of_which_day() -> None:
    table = read_price_table()
    source = table.find_price_source("openai:gpt-6-luna", None)
    assert source is not None
    assert re.fullmatch(r"genai-prices \d+\.\d+\.\d+, 20\d\d-\d\d-\d\d", source)
    assert source[-10:] <= datetime.now(UTC).date().isoformat()
    assert table.sources == source
    assert table.find_price_source("offline", None) is None
    assert table.find_price_source("openai:gpt-7", None) is None


def test_the_day_of_the_package_is_not_after_today() -> None:
    assert at("2026-03-01").source[-10:] <= "2026-03-01" < at("2026-11-24").source[-10:]


def test_a_table_of_ones_own_counts_before_the_package(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    own = ONE_PRICE + '[[price]]\njudge = "openai:gpt-6-luna"\ninput = 7\noutput = 9\n'
    path.write_text(own)
    table = read_price_table(path)
    local = compute_cost_usd(
        "openai:llama3:8b", MILLION, base_url="http://localhost:8080", table=path
    )
    assert local == pytest.approx(1.5)
    assert compute_cost_usd("openai:gpt-6-luna", MILLION, table=path) == pytest.approx(16)
    assert table.find_price_source("openai:gpt-6-luna", None) == "prices.toml, 2026-12-01"
    # What it does not list is the package's.
    assert compute_cost_usd("openai:gpt-6-sol", MILLION, table=path) == compute_cost_usd(
        "openai:gpt-6-sol", MILLION
    )
    from_package = table.find_price_source("openai:gpt-6-sol", None) or ""
    assert from_package.startswith("genai-prices ")
    assert table.sources == f"prices.toml, 2026-12-01; then {from_package}"
    assert compute_cost_usd("openai:llama3:8b", MILLION, table=path) is None
    assert compute_cost_usd("offline", MILLION, table=path) == 0.0


def test_a_provider_is_recognised_by_its_address() -> None:
    groq = compute_cost_usd(
        "openai:llama-3.3-70b-versatile", MILLION, base_url="https://api.groq.com/openai/v1"
    )
    assert groq is not None
    assert groq > 0
    # The same model of nobody in particular has no price.
    assert compute_cost_usd("openai:llama-3.3-70b-versatile", MILLION) is None


def test_every_price_of_the_package_can_be_counted_with() -> None:
    table = PriceTable("", {}, package=at("2026-11-24"))
    counted = 0
    for provider in get_snapshot().providers:
        if provider.id not in ("openai", "anthropic"):
            continue
        for model in provider.models:
            judge = f"{provider.id}:{model.id}"
            for batch in (False, True):
                price = table.find_price_or_fixed_cost(judge, None, batch=batch)
                if isinstance(price, Price):
                    counted += 1
                    cost = table.compute_cost_nusd(judge, Usage(1_000, 1_000), batch=batch)
                    assert cost == math.ceil((price.input + price.output) * 1e6 - 1e-6), judge
    assert counted > 200


def test_nothing_is_fetched_and_the_package_is_loaded_when_a_price_is_wanted() -> None:
    code = """
import socket, sys
def refuse(*words):
    raise AssertionError("a price was asked for over a network")
socket.socket.connect = socket.getaddrinfo = refuse
from faithtui.judges.providers.prices import read_price_table
table = read_price_table()
assert table.find_price_or_fixed_cost("offline", None) == 0
assert table.find_price_or_fixed_cost("ollama:llama3", None) == 0
assert "genai_prices" not in sys.modules
assert table.find_price_or_fixed_cost("openai:gpt-6-luna", None).input == 0.1
assert "genai_prices" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


COUNTS = st.integers(min_value=0, max_value=90_000)


@given(COUNTS, COUNTS, COUNTS)
def test_cost_is_never_negative_and_grows_with_every_token(
    read: int, written: int, cached: int
) -> None:
    def cost(usage: Usage) -> float:
        dollars = compute_cost_usd("anthropic:claude-haiku-5-5", usage)
        assert dollars is not None
        return dollars

    here = cost(Usage(read, written, cached))
    assert here >= 0
    assert cost(Usage(read + 1, written, cached)) > here
    assert cost(Usage(read, written + 1, cached)) > here
    assert here <= cost(Usage(read, written, 0))


@pytest.mark.parametrize(
    ("judge", "base_url"),
    [
        ("ollama:llama3:8b", None),
        ("vllm:m", None),
        ("openai:gpt-6-luna", "http://localhost:8080"),
        ("anthropic:claude-haiku-5-5", "http://127.0.0.1:8080"),
    ],
)
def test_a_server_on_this_machine_sends_no_bill(judge: str, base_url: str | None) -> None:
    # Not even one that tells no tokens.
    assert compute_cost_nusd(judge, Usage(), base_url=base_url) == 0
    assert compute_max_cost_nusd(judge, 10**6, 10**6, base_url=base_url) == 0


def test_a_server_in_the_network_has_no_known_price() -> None:
    assert compute_cost_nusd("ollama:m", Usage(1, 1), base_url="http://gpu.example:11434") is None


def test_cost_is_counted_in_whole_nano_dollars() -> None:
    # 2.00 $/M are 2,000 nano-dollars a token, 0.20 are 200, 10.00 are 10,000.
    cost = compute_cost_nusd("openai:gpt-6-sol", Usage(1_000, 7, tokens_cached=400))
    assert cost == 600 * 2_000 + 400 * 200 + 7 * 10_000


def test_what_is_written_to_the_cache_has_its_own_price() -> None:
    usage = Usage(1_000, 10, tokens_cached=200, tokens_cache_write=300)
    cost = compute_cost_nusd("anthropic:claude-sonnet-5-5", usage)
    assert cost == 500 * 2_000 + 200 * 100 + 300 * 2_500 + 10 * 10_000
    # Where no such price is known, it is that of any other input.
    assert compute_cost_nusd("openai:gpt-4o", usage) == 800 * 2_500 + 200 * 1_250 + 10 * 10_000


def test_odd_counts_of_the_cache_never_exceed_what_was_read() -> None:
    usage = Usage(10, 0, tokens_cached=7, tokens_cache_write=10**6)
    assert compute_cost_nusd("anthropic:claude-sonnet-5-5", usage) == 7 * 100 + 3 * 2_500


def test_a_batch_costs_half() -> None:
    usage = Usage(1_001, 3, tokens_cached=100)
    single = compute_cost_nusd("openai:gpt-6-luna", usage)
    assert single is not None
    assert compute_cost_nusd("openai:gpt-6-luna", usage, batch=True) == -(-single // 2)


def test_a_batch_without_a_price_of_its_own_costs_the_same(tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_text(ONE_PRICE)
    cost = compute_cost_nusd(
        "openai:llama3:8b",
        Usage(3, 5),
        base_url="http://localhost:8080",
        batch=True,
        table=table,
    )
    assert cost == 3 * 500 + 5 * 1_000


def test_a_fraction_of_a_nano_dollar_is_rounded_up(tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_text(ONE_PRICE.replace("0.5", "0.0004"))
    cost = compute_cost_nusd(
        "openai:llama3:8b", Usage(1, 0), base_url="http://localhost:8080", table=table
    )
    assert cost == 1


def test_the_worst_case_is_everything_written_and_nothing_cached() -> None:
    assert compute_max_cost_nusd("openai:gpt-6-sol", 1_000, 300) == 1_000 * 2_500 + 300 * 10_000
    assert (
        compute_max_cost_nusd("anthropic:claude-sonnet-5-5", 1_000, 300)
        == 1_000 * 2_500 + 300 * 10_000
    )
    half = compute_max_cost_nusd("openai:gpt-6-sol", 1_000, 300, batch=True)
    assert half == 500 * 2_500 + 150 * 10_000
    assert compute_max_cost_nusd("openai:gpt-7", 1, 1) is None
    assert compute_max_cost_nusd("offline", 10**9, 10**9) == 0


@given(COUNTS, COUNTS, COUNTS, COUNTS, st.booleans())
def test_no_call_costs_more_than_its_worst_case(
    read: int, written: int, cached: int, into_cache: int, batch: bool
) -> None:
    for judge in ("anthropic:claude-haiku-5-5", "openai:gpt-6-astra"):
        cost = compute_cost_nusd(judge, Usage(read, written, cached, into_cache), batch=batch)
        worst = compute_max_cost_nusd(judge, read, written, batch=batch)
        assert cost is not None
        assert worst is not None
        assert 0 <= cost <= worst


def test_a_judge_of_a_package_costs_what_the_table_says_and_is_never_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_package(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert compute_cost_nusd("parrot:plain", Usage(1, 1)) is None
    table = tmp_path / "prices.toml"
    table.write_text('date = "2026-12"\n[[price]]\njudge = "parrot:plain"\ninput = 1\noutput = 2\n')
    assert compute_cost_nusd("parrot:plain", Usage(3, 5), table=table) == 3 * 1_000 + 5 * 2_000


def test_a_judge_nobody_knows_has_no_price() -> None:
    with pytest.raises(ConfigError, match="unknown judge"):
        compute_cost_nusd("parrot:plain", Usage(1, 1))
