"""What calls cost and may cost at most, for one judge."""

from dataclasses import dataclass
from typing import Final, Protocol

from faithtui.engine.calls.budget import Expense
from faithtui.judges.base import JudgeReply, JudgeRequest, Usage
from faithtui.judges.providers.prices import PriceTable

_CHARACTERS: Final = 4
"""Characters of a token, on average, in English. Used where a judge does not say its tokens."""

_CHARACTERS_AT_WORST: Final = 2
"""The same where nothing must come out more expensive: other scripts take more tokens."""

_OVERHEAD: Final = 200
"""Tokens of a request that are not its text: roles, schema, formatting."""

_IMAGE: Final = 2_000
"""Tokens of an image, at most."""


class Pricing(Protocol):
    """Prices of a judge."""

    @property
    def price_source(self) -> str | None:
        """Where the price is from and of which date; None without any."""

    def compute_cost_nusd(self, usage: Usage) -> int | None:
        """What a call cost, in units of 1e-9 US dollars; None: not known."""

    def compute_max_cost_nusd(self, tokens_in: int, max_tokens: int) -> int | None:
        """What a call may cost at most; None: not known."""


class NoPrices:
    """For judges whose costs nobody counts."""

    price_source = None

    def compute_cost_nusd(self, usage: Usage) -> int | None:
        """Not known."""
        return None

    def compute_max_cost_nusd(self, tokens_in: int, max_tokens: int) -> int | None:
        """Not known."""
        return None


@dataclass(frozen=True, slots=True)
class TablePrices:
    """Prices of one judge, each with its source and date."""

    table: PriceTable
    judge: str
    base_url: str | None
    batch: bool = False
    """At the rate of batches."""

    @property
    def price_source(self) -> str | None:
        """Where its price is from and of which date; None where it has none, or costs nothing."""
        return self.table.find_price_source(self.judge, self.base_url)

    @property
    def price_source_or_sources_asked(self) -> str:
        """The source, or all that were asked in vain; "" for a judge that costs nothing."""
        if self.table.find_price_or_fixed_cost(self.judge, self.base_url) == 0:
            return ""
        return self.price_source or self.table.sources

    def compute_cost_nusd(self, usage: Usage) -> int | None:
        """What a call cost, in units of 1e-9 US dollars; None: not known."""
        return self.table.compute_cost_nusd(
            self.judge, usage, base_url=self.base_url, batch=self.batch
        )

    def compute_max_cost_nusd(self, tokens_in: int, max_tokens: int) -> int | None:
        """What a call may cost at most; None: not known."""
        return self.table.compute_max_cost_nusd(
            self.judge, tokens_in, max_tokens, base_url=self.base_url, batch=self.batch
        )


def estimate_worst_cost(pricing: Pricing, request: JudgeRequest) -> Expense:
    """What a request may use and cost at most.

    An unknown price counts as nothing: whoever set a budget in money was warned before.
    """
    tokens_in = _estimate_tokens_by_characters(request, _CHARACTERS_AT_WORST)
    nusd = pricing.compute_max_cost_nusd(tokens_in, request.max_tokens)
    return Expense(nusd or 0, tokens_in + request.max_tokens)


def estimate_tokens_in(request: JudgeRequest) -> int:
    """Tokens a request reads, by its length."""
    return _estimate_tokens_by_characters(request, _CHARACTERS)


def fill_in_missing_token_counts(request: JudgeRequest, reply: JudgeReply) -> tuple[Usage, bool]:
    """Fill in the tokens a judge did not say, by the length of what was read and written.

    Returns:
        The tokens, and whether any of them are ours.
    """
    return fill_in_token_counts_from_estimate(estimate_tokens_in(request), reply)


def fill_in_token_counts_from_estimate(likely: int, reply: JudgeReply) -> tuple[Usage, bool]:
    """Do as `fill_in_missing_token_counts`, where the request is not at hand any more.

    Args:
        likely: Its `estimate_tokens_in`.
        reply: What it was answered with.
    """
    usage = reply.usage
    if usage.tokens_in is not None and usage.tokens_out is not None:
        return usage, False
    read = likely if usage.tokens_in is None else usage.tokens_in
    written = len(reply.text) // _CHARACTERS + 1 if usage.tokens_out is None else usage.tokens_out
    return (
        Usage(read, written, usage.tokens_cached, usage.tokens_cache_write, usage.tokens_reasoning),
        True,
    )


def _estimate_tokens_by_characters(request: JudgeRequest, characters: int) -> int:
    text = len(request.system) + len(request.prompt)
    return _OVERHEAD + text // characters + _IMAGE * len(request.images)
