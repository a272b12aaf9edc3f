"""What the runs of one process share: limits of speed, prices, and what is redacted."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from faithtui.domain.judging.judge_profile import JudgeProfile
from faithtui.engine.calls.rate_limiter import RateLimiters, SpeedLimit
from faithtui.judges.deadlines import TIMEOUT_S
from faithtui.judges.providers.prices import PriceTable, read_price_table
from faithtui.judges.redaction import Redact, load_and_try_redaction_hook
from faithtui.judges.reply_recorder import ReplyRecorder


@dataclass(frozen=True, slots=True)
class RunEnvironment:
    """What a run shares with the process it is in."""

    rate_limiters: RateLimiters = field(default_factory=RateLimiters)
    """Limits of accounts, over all runs of the process."""
    redact: Redact | None = None
    """Applied to every text before it leaves the process; None: nothing is."""
    prices: PriceTable = field(default_factory=read_price_table)
    """What calls cost."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits for seconds between two tries of a question."""
    timeout_s: float = TIMEOUT_S
    """Seconds one question may take. No part of what names a question: it changes no answer."""
    typed_timeout_s: float | None = None
    """The same, typed for this process: goes before that of a run's own profile."""
    log_prompts: bool = False
    """Questions and answers go into a log of their own."""
    image_hosts: tuple[str, ...] = ()
    """Hosts whose images a judge may be sent by address; `*`: all public ones."""
    recorder: ReplyRecorder | None = None
    """Writes down every reply that is used; None: nobody does."""

    def choose_timeout(self, profile: JudgeProfile) -> float:
        """Say how many seconds a question to a judge with this profile may take."""
        return self.typed_timeout_s or profile.timeout_s or self.timeout_s


def make_run_environment(
    *,
    requests_per_minute: int | None = None,
    tokens_per_minute: int | None = None,
    prices: Path | None = None,
    redact: str | None = None,
    image_hosts: tuple[str, ...] = (),
    timeout_s: float | None = None,
) -> RunEnvironment:
    """Make what runs share, from limits, prices and what redacts.

    Args:
        requests_per_minute: Most requests per account; None: what the provider takes.
        tokens_per_minute: Most tokens per account; None: what the provider takes.
        prices: A table that counts before the prices of `genai-prices`; None: those alone.
        redact: `package.module:function`, which every text goes through; None: none does.
        image_hosts: Hosts whose images a judge may be sent by address.
        timeout_s: Seconds one question may take; None: the usual ones.

    Raises:
        ConfigError: The table or the function cannot be used.
    """
    return RunEnvironment(
        RateLimiters(SpeedLimit(requests_per_minute, tokens_per_minute)),
        None if redact is None else load_and_try_redaction_hook(redact),
        read_price_table(prices),
        image_hosts=image_hosts,
        timeout_s=TIMEOUT_S if timeout_s is None else timeout_s,
    )
