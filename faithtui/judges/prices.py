"""What a call cost, from a dated table of prices.

A price we do not know is unknown and never zero: a sum that leaves a model out looks like a
saving.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from faithtui.errors import ConfigError
from faithtui.judges.base import Usage
from faithtui.judges.endpoints import Endpoint, endpoint_of

_PER: Final = 1_000_000
"""Tokens a price is for."""

_SNAPSHOT: Final = re.compile(r"-(?:20\d{6}|20\d\d-\d\d-\d\d)\Z")
"""The date both providers put behind a model's name for one fixed version of it."""


class Price(BaseModel):
    """What one model costs, in US dollars per million tokens."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    judge: Annotated[str, Field(pattern=r"^[a-z]+:\S")]
    """Reference of the judge, such as `openai:gpt-6-luna`. Dated versions cost the same unless
    they are listed themselves."""
    input: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    output: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    cached_input: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """Of input tokens read from the provider's prompt cache; None: they cost `input`."""
    up_to: Annotated[int, Field(gt=0)] | None = None
    """Input tokens of one request up to which this holds; None: always."""
    base_url: str | None = None
    """The address it holds for; None: the provider's own."""


class _TableFile(BaseModel):
    """A table as its file has it."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    date: Annotated[str, Field(pattern=r"^20\d\d-\d\d(-\d\d)?$")]
    price: tuple[Price, ...] = Field(strict=False)


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices as of a date."""

    date: str
    """Month or day the prices are of, `2026-11` or `2026-11-20`."""
    prices: Mapping[tuple[str, str], Price] = field(repr=False)
    """By judge reference and normalised address."""

    def cost_usd(
        self, judge_ref: str, usage: Usage, *, base_url: str | None = None
    ) -> float | None:
        """Say what a call cost; see `cost_usd`."""
        endpoint = endpoint_of(judge_ref, base_url)
        if endpoint is None:
            return 0.0
        price = self._listed(endpoint)
        if price is None or usage.tokens_in is None or usage.tokens_out is None:
            return None
        if price.up_to is not None and usage.tokens_in > price.up_to:
            return None
        # Never more than was read: a server's odd count must not make the rest negative.
        cached = min(usage.tokens_cached or 0, usage.tokens_in)
        per_cached = price.input if price.cached_input is None else price.cached_input
        return (
            (usage.tokens_in - cached) * price.input
            + cached * per_cached
            + usage.tokens_out * price.output
        ) / _PER

    def _listed(self, endpoint: Endpoint) -> Price | None:
        # A regional address of the provider costs what the provider does.
        address = endpoint.provider.base_url if endpoint.is_official else endpoint.base_url
        names = (endpoint.ref, _SNAPSHOT.sub("", endpoint.ref))
        found = (self.prices.get((name, address)) for name in names)
        return next((price for price in found if price is not None), None)


def cost_usd(
    judge_ref: str, usage: Usage, *, base_url: str | None = None, table: Path | None = None
) -> float | None:
    """Say what a call cost, in US dollars.

    Standard prices: no batch or priority rates, and what a provider asks on top for writing to
    its prompt cache is not counted.

    Args:
        judge_ref: `offline`, `openai:MODEL`, `anthropic:MODEL` or `replay:FILE`.
        usage: Tokens of the call.
        base_url: Address the judge was opened with; None: the provider's own.
        table: A TOML file that replaces the built-in prices, see `read_prices`.

    Returns:
        0.0 for judges that cost nothing by their nature, `offline` and `replay`. None when the
        cost is not known: model or address not listed, tokens not told, or a request longer than
        its price holds for.

    Raises:
        ConfigError: `judge_ref` is no judge, or the table cannot be used.
    """
    return read_prices(table).cost_usd(judge_ref, usage, base_url=base_url)


@cache
def read_prices(table: Path | None = None) -> PriceTable:
    """Read a table of prices, once per process.

    Args:
        table: A TOML file in the form of `prices.toml` beside this module; None: that one.

    Raises:
        ConfigError: The file cannot be read, has another form, or lists a price twice.
    """
    name = "the built-in prices" if table is None else str(table)
    try:
        content = (
            files("faithtui.judges").joinpath("prices.toml").read_bytes()
            if table is None
            else table.read_bytes()
        )
        found = _TableFile.model_validate(tomllib.loads(content.decode()))
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{name}: `{place}` cannot be used: {first['msg']}") from error
    except ValueError as error:  # no UTF-8, or no TOML
        raise ConfigError(f"{name}: is no TOML: {error}") from error
    return PriceTable(found.date, _by_judge(found.price, name))


def _by_judge(listed: tuple[Price, ...], name: str) -> dict[tuple[str, str], Price]:
    prices: dict[tuple[str, str], Price] = {}
    for price in listed:
        try:
            endpoint = endpoint_of(price.judge, price.base_url)
        except ConfigError as error:
            raise ConfigError(f"{name}: {error}") from error
        if endpoint is None:
            raise ConfigError(f"{name}: {price.judge} costs nothing and takes no price")
        key = (endpoint.ref, endpoint.base_url)
        if key in prices:
            raise ConfigError(f"{name}: {price.judge} is listed twice; keep one")
        prices[key] = price
    return prices
