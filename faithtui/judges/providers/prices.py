"""What a call cost: by a table of the user's, and for what it does not list by `genai-prices`.

A price we do not know is unknown and never zero: a sum that leaves a model out looks like a
saving. Nothing is fetched: the package brings its prices with it.

Money is counted in whole nano-dollars, rounded up: sums stay exact, and a budget is never passed
by what was rounded away.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from faithtui.errors import ConfigError
from faithtui.judges.base import Usage
from faithtui.judges.providers.endpoints import Endpoint, is_in_process_judge, parse_endpoint

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo

NANO: Final = 1_000_000_000
"""Nano-dollars of a dollar."""

_PICO: Final = 1_000_000
"""Pico-dollars a token costs for each dollar that a million of them cost."""

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
    cache_write: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """Of input tokens written to the provider's prompt cache; None: they cost `input`."""
    batch: Annotated[float, Field(ge=0, le=1)] | None = None
    """What all of it is multiplied by when asked through the provider's Batch API; None: 1."""
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
class PackagePrices:
    """Prices of the package `genai-prices`, which is loaded when the first one is looked up."""

    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    """Says which of several prices of a model is in force."""

    @property
    def source(self) -> str:
        """The package with its version, and the day of the newest price in it that is in force."""
        return _describe_price_package(self.clock().date().isoformat())

    def find_price(self, endpoint: Endpoint, tokens_in: int = 0, *, batch: bool) -> Price | None:
        """Find what a model costs at an address.

        Args:
            endpoint: The model and the address. A provider is recognised by it.
            tokens_in: Input tokens of the request: some models cost more beyond a length.
            batch: It is asked through the provider's Batch API.

        Returns:
            None where the package knows neither the provider nor the model.
        """
        model = _find_model_in_price_package(
            endpoint.model,
            endpoint.provider.name if endpoint.is_official else None,
            None if endpoint.is_official else endpoint.base_url,
        )
        if model is None:
            return None
        prices = model.get_prices(self.clock(), {"processing": "batch"} if batch else None)
        read = _read_highest_price(prices.input_mtok, tokens_in)
        written = _read_highest_price(prices.output_mtok, tokens_in)
        if read is None or written is None:
            return None
        return Price(
            judge=endpoint.ref,
            input=read,
            output=written,
            cached_input=_read_highest_price(prices.cache_read_mtok, tokens_in),
            cache_write=_read_highest_price(prices.cache_write_mtok, tokens_in),
        )


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices as of a date, and the package that is asked for what they do not list."""

    date: str
    """Month or day the prices are of, `2026-11` or `2026-11-20`; "" for a table without any."""
    prices: Mapping[tuple[str, str], Price] = field(repr=False)
    """By judge reference and normalised address."""
    name: str = "price table"
    """What the table is called where its date is shown."""
    package: PackagePrices | None = None
    """Asked for what is not listed; None: that has no known price."""

    def compute_cost_nusd(
        self, judge_ref: str, usage: Usage, *, base_url: str | None = None, batch: bool = False
    ) -> int | None:
        """Say what a call cost; see the function `compute_cost_nusd`."""
        read, written = usage.tokens_in, usage.tokens_out
        price = self.find_price_or_fixed_cost(judge_ref, base_url, read or 0, batch=batch)
        if not isinstance(price, Price):
            return price
        if read is None or written is None or _exceeds_price_tier(price, read):
            return None
        # Never more than was read: a server's odd count must not make the rest negative.
        cached = min(usage.tokens_cached or 0, read)
        into_cache = min(usage.tokens_cache_write or 0, read - cached)
        return _to_nano_dollars_after_batch_discount(
            (read - cached - into_cache) * _to_pico_dollars_per_token(price.input)
            + cached
            * _to_pico_dollars_per_token(_get_price_or_input_price(price.cached_input, price))
            + into_cache
            * _to_pico_dollars_per_token(_get_price_or_input_price(price.cache_write, price))
            + written * _to_pico_dollars_per_token(price.output),
            price,
            batch,
        )

    def compute_max_cost_nusd(
        self,
        judge_ref: str,
        tokens_in: int,
        max_tokens: int,
        *,
        base_url: str | None = None,
        batch: bool = False,
    ) -> int | None:
        """Say what a call can cost at most; see the function `compute_max_cost_nusd`."""
        price = self.find_price_or_fixed_cost(judge_ref, base_url, tokens_in, batch=batch)
        if not isinstance(price, Price):
            return price
        if _exceeds_price_tier(price, tokens_in):
            return None
        dearest = max(
            price.input,
            _get_price_or_input_price(price.cache_write, price),
            _get_price_or_input_price(price.cached_input, price),
        )
        return _to_nano_dollars_after_batch_discount(
            tokens_in * _to_pico_dollars_per_token(dearest)
            + max_tokens * _to_pico_dollars_per_token(price.output),
            price,
            batch,
        )

    def find_price_or_fixed_cost(
        self, judge_ref: str, base_url: str | None, tokens_in: int = 0, *, batch: bool = False
    ) -> Price | int | None:
        """Find a price, or the cost itself where there is nothing to count: 0, or unknown."""
        endpoint = parse_endpoint(judge_ref, base_url)
        if endpoint is None:
            if is_in_process_judge(judge_ref):
                return 0
            return self.prices.get((judge_ref, ""))
        listed = self._find_listed_price(endpoint)
        if listed is not None:
            return listed
        # What runs on this machine sends no bill, unless somebody put a price on it.
        if endpoint.is_local:
            return 0
        if self.package is None:
            return None
        return self.package.find_price(endpoint, tokens_in, batch=batch)

    def find_price_source(self, judge_ref: str, base_url: str | None) -> str | None:
        """Say where a judge's price is from and of which date; None where it has none, or is 0."""
        if not isinstance(self.find_price_or_fixed_cost(judge_ref, base_url), Price):
            return None
        endpoint = parse_endpoint(judge_ref, base_url)
        if endpoint is None or self._find_listed_price(endpoint) or self.package is None:
            return self.own_source
        return self.package.source

    @property
    def own_source(self) -> str:
        """The table's name and date; "" for a table without any price."""
        return f"{self.name}, {self.date}" if self.date else ""

    @property
    def sources(self) -> str:
        """All places where prices are looked up, in their order."""
        package = "" if self.package is None else self.package.source
        return "; then ".join(each for each in (self.own_source, package) if each)

    def _find_listed_price(self, endpoint: Endpoint) -> Price | None:
        # A regional address of the provider costs what the provider does.
        address = endpoint.provider.base_url if endpoint.is_official else endpoint.base_url
        names = (endpoint.ref, _SNAPSHOT.sub("", endpoint.ref))
        found = (self.prices.get((name, address)) for name in names)
        return next((price for price in found if price is not None), None)


def compute_cost_nusd(
    judge_ref: str,
    usage: Usage,
    *,
    base_url: str | None = None,
    batch: bool = False,
    table: Path | None = None,
) -> int | None:
    """Say what a call cost, in nano-dollars.

    Args:
        judge_ref: What the user calls the judge: `offline`, `openai:MODEL`, `replay:FILE`, ….
        usage: Tokens of the call.
        base_url: Address the judge was opened with; None: the provider's own.
        batch: It was asked through the provider's Batch API.
        table: A TOML file whose prices count before the package's, see `read_price_table`.

    Returns:
        0 for judges that cost nothing by their nature, `offline` and `replay`, and for servers on
        this machine that the table does not list. None when the cost is not known: model or
        address in neither place, tokens not known, or a request longer than its price holds for.

    Raises:
        ConfigError: `judge_ref` is no judge, or the table cannot be used.
    """
    return read_price_table(table).compute_cost_nusd(
        judge_ref, usage, base_url=base_url, batch=batch
    )


def compute_max_cost_nusd(
    judge_ref: str,
    tokens_in: int,
    max_tokens: int,
    *,
    base_url: str | None = None,
    batch: bool = False,
    table: Path | None = None,
) -> int | None:
    """Say what a call can cost at most, in nano-dollars: nothing cached, and all tokens written.

    Args:
        judge_ref: As for `compute_cost_nusd`.
        tokens_in: Input tokens, 0 or more; an estimate must not be below what they will be.
        max_tokens: The limit of output tokens.
        base_url: As for `compute_cost_nusd`.
        batch: It is asked through the provider's Batch API.
        table: As for `compute_cost_nusd`.

    Returns:
        0 and None as `compute_cost_nusd`.

    Raises:
        ConfigError: As `compute_cost_nusd`.
    """
    found = read_price_table(table)
    return found.compute_max_cost_nusd(
        judge_ref, tokens_in, max_tokens, base_url=base_url, batch=batch
    )


def compute_cost_usd(
    judge_ref: str, usage: Usage, *, base_url: str | None = None, table: Path | None = None
) -> float | None:
    """Say what a call cost, in US dollars; see the function `compute_cost_nusd`."""
    cost = compute_cost_nusd(judge_ref, usage, base_url=base_url, table=table)
    return None if cost is None else cost / NANO


@cache
def read_price_table(table: Path | None = None) -> PriceTable:
    """Read a table of prices, once per process.

    Args:
        table: A TOML file, whose form docs/judges/prices.md shows; it counts before the prices of
            `genai-prices`. None: those alone.

    Raises:
        ConfigError: The file cannot be read, has another form, or lists a price twice.
    """
    if table is None:
        return PriceTable("", MappingProxyType({}), package=PackagePrices())
    name = str(table)
    try:
        found = _TableFile.model_validate(tomllib.loads(table.read_bytes().decode()))
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{name}: `{place}` cannot be used: {first['msg']}") from error
    except ValueError as error:  # no UTF-8, or no TOML
        raise ConfigError(f"{name}: is no TOML: {error}") from error
    return PriceTable(found.date, _index_by_judge(found.price, name), table.name, PackagePrices())


def _index_by_judge(listed: tuple[Price, ...], name: str) -> dict[tuple[str, str], Price]:
    prices: dict[tuple[str, str], Price] = {}
    for price in listed:
        try:
            endpoint = parse_endpoint(price.judge, price.base_url)
        except ConfigError as error:
            raise ConfigError(f"{name}: {error}") from error
        if endpoint is None and is_in_process_judge(price.judge):
            raise ConfigError(f"{name}: {price.judge} costs nothing and takes no price")
        key = (price.judge, "") if endpoint is None else (endpoint.ref, endpoint.base_url)
        if key in prices:
            raise ConfigError(f"{name}: {price.judge} is listed twice; keep one")
        prices[key] = price
    return prices


def _get_price_or_input_price(price: float | None, of: Price) -> float:
    return of.input if price is None else price


def _exceeds_price_tier(price: Price, tokens_in: int) -> bool:
    return price.up_to is not None and tokens_in > price.up_to


def _to_pico_dollars_per_token(dollars_per_million: float) -> int:
    """Say what one token costs, in pico-dollars: whole numbers down to a millionth of a dollar."""
    return round(dollars_per_million * _PICO)


def _to_nano_dollars_after_batch_discount(pico: int, price: Price, batch: bool) -> int:
    if batch and price.batch is not None:
        # In thousandths, so that the sum stays whole.
        pico = -(-pico * round(price.batch * 1000) // 1000)
    return -(-pico // 1000)


@cache
def _find_model_in_price_package(
    name: str, provider: str | None, address: str | None
) -> "ModelInfo | None":
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider_model(name, None, provider, address)[1]
    except LookupError:
        return None


@cache
def _describe_price_package(today: str) -> str:
    """Name the package, its version, and the newest day up to `today` from which a price counts."""
    from importlib.metadata import version

    from genai_prices.data_snapshot import get_snapshot
    from genai_prices.types import StartDateConstraint

    days = {
        price.constraint.start_date.isoformat()
        for provider in get_snapshot().providers
        for model in provider.models
        if isinstance(model.prices, list)
        for price in model.prices
        if isinstance(price.constraint, StartDateConstraint)
    }
    newest = max((day for day in days if day <= today), default="without dates")
    return f"genai-prices {version('genai-prices')}, {newest}"


def _read_highest_price(price: object, tokens_in: int) -> float | None:
    """Read the highest price of those up to a length, so that an estimate is never too low."""
    from genai_prices.types import TieredPrices

    if isinstance(price, TieredPrices):
        in_force = [each.price for each in price.tiers if tokens_in > each.start]
        return float(max([price.base, *in_force]))
    return float(price) if isinstance(price, Decimal) else None
