"""Budgets as people type them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.errors import ConfigError
from faithtui.tui.theme.amounts import (
    format_typed_dollars,
    format_typed_tokens,
    parse_typed_dollars,
    parse_typed_tokens,
)


@given(st.integers(1, 10**15))
def test_an_amount_comes_back_as_it_was_typed(nusd: int) -> None:
    assert parse_typed_dollars(format_typed_dollars(nusd)) == nusd


@given(st.integers(1, 10**12 - 1))
def test_a_number_of_tokens_does_too(count: int) -> None:
    assert parse_typed_tokens(format_typed_tokens(count)) == count


@pytest.mark.parametrize(
    ("text", "nusd"),
    [
        ("5", 5_000_000_000),
        ("$2.50", 2_500_000_000),
        (" 0.05 ", 50_000_000),
        ("", None),
        ("$1,234.50", 1_234_500_000_000),
    ],
)
def test_dollars_are_read(text: str, nusd: int | None) -> None:
    assert parse_typed_dollars(text) == nusd


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("800k", 800_000),
        ("1.5M", 1_500_000),
        ("12 000", 12_000),
        ("1,200,000", 1_200_000),
        (" ", None),
    ],
)
def test_tokens_are_read(text: str, count: int | None) -> None:
    assert parse_typed_tokens(text) == count


@pytest.mark.parametrize("text", ["0", "-1", "five", "1e3", "nan", "2000000", "1.2.3", "5 usd"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="dollars are"):
        parse_typed_dollars(text)


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5G", "0.1"])
def test_what_is_no_number_of_tokens_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="tokens are"):
        parse_typed_tokens(text)


@pytest.mark.parametrize("text", ["1,5", "1,5M", "1,50", "1,2000"])
def test_a_comma_that_groups_no_digits_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="tokens are"):
        parse_typed_tokens(text)
    with pytest.raises(ConfigError, match="dollars are"):
        parse_typed_dollars(text)
