from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.errors import ConfigError
from faithtui.judges.base import Usage
from faithtui.judges.prices import cost_usd, read_prices

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
    assert cost_usd(judge, usage) == pytest.approx(dollars)


def test_cached_tokens_cost_their_own_price() -> None:
    usage = Usage(tokens_in=1_000, tokens_out=200, tokens_cached=400)
    expected = (600 * 2.0 + 400 * 0.2 + 200 * 10.0) / 1_000_000
    assert cost_usd("openai:gpt-6-sol", usage) == pytest.approx(expected)


def test_more_cached_tokens_than_read_ones_are_not_subtracted() -> None:
    usage = Usage(tokens_in=10, tokens_out=0, tokens_cached=1_000)
    assert cost_usd("openai:gpt-6-sol", usage) == pytest.approx(10 * 0.2 / 1_000_000)


@pytest.mark.parametrize("judge", ["offline", "replay:replies.jsonl"])
def test_a_judge_without_a_bill_costs_nothing(judge: str) -> None:
    assert cost_usd(judge, Usage()) == 0.0


@pytest.mark.parametrize(
    ("judge", "usage"),
    [
        ("openai:gpt-7", MILLION),
        ("openai:gpt-6-luna-mini", Usage(1, 1)),
        # Of another company, whatever it is called.
        ("anthropic:gpt-6-luna", Usage(1, 1)),
        ("openai:gpt-6-luna", Usage(None, 1)),
        ("openai:gpt-6-luna", Usage(1, None)),
        # Beyond this length the provider asks more for every token.
        ("openai:gpt-6-luna", Usage(272_001, 1)),
        ("anthropic:claude-haiku-5-5", Usage(100_001, 1)),
    ],
)
def test_what_is_not_known_is_not_free(judge: str, usage: Usage) -> None:
    assert cost_usd(judge, usage) is None


@pytest.mark.parametrize("name", ["gpt-6-luna-2026-10-01", "gpt-6-luna-20261001"])
def test_a_dated_version_costs_what_its_model_does(name: str) -> None:
    usage = Usage(tokens_in=100, tokens_out=100)
    assert cost_usd(f"openai:{name}", usage) == cost_usd("openai:gpt-6-luna", usage)


def test_another_server_has_no_price_of_the_providers() -> None:
    usage = Usage(tokens_in=100, tokens_out=100)
    at_home = cost_usd("openai:gpt-6-luna", usage, base_url="http://localhost:8080")
    assert at_home is None
    official = cost_usd("openai:gpt-6-luna", usage, base_url="https://eu.api.openai.com/v1")
    assert official == cost_usd("openai:gpt-6-luna", usage)


def test_a_table_of_ones_own_replaces_the_built_in_prices(tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_text(ONE_PRICE)
    assert read_prices(table).date == "2026-12-01"
    local = cost_usd("openai:llama3:8b", MILLION, base_url="http://localhost:8080", table=table)
    assert local == pytest.approx(1.5)
    assert cost_usd("openai:llama3:8b", MILLION, table=table) is None
    assert cost_usd("openai:gpt-6-luna", Usage(1, 1), table=table) is None
    assert cost_usd("offline", MILLION, table=table) == 0.0


def test_a_cached_token_without_a_price_of_its_own_costs_the_full_one(tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_text(ONE_PRICE)
    usage = Usage(tokens_in=1_000_000, tokens_out=0, tokens_cached=1_000_000)
    cost = cost_usd("openai:llama3:8b", usage, base_url="http://localhost:8080", table=table)
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
        read_prices(table)
    assert says in str(caught.value)
    assert str(table) in str(caught.value)


def test_a_table_in_another_encoding_is_no_toml(tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_bytes(b'date = "\xff"')
    with pytest.raises(ConfigError, match="is no TOML"):
        read_prices(table)


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml: cannot be read"):
        read_prices(tmp_path / "gone.toml")


def test_the_built_in_prices_are_dated() -> None:
    assert read_prices().date == "2026-11"


COUNTS = st.integers(min_value=0, max_value=90_000)


@given(COUNTS, COUNTS, COUNTS)
def test_cost_is_never_negative_and_grows_with_every_token(
    read: int, written: int, cached: int
) -> None:
    def cost(usage: Usage) -> float:
        dollars = cost_usd("anthropic:claude-haiku-5-5", usage)
        assert dollars is not None
        return dollars

    here = cost(Usage(read, written, cached))
    assert here >= 0
    assert cost(Usage(read + 1, written, cached)) > here
    assert cost(Usage(read, written + 1, cached)) > here
    assert here <= cost(Usage(read, written, 0))
