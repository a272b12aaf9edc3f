"""What all workers of one command share: limits of accounts, the budget, and how far they are.

Workers in this process use it directly. Those of other processes and machines send it what they
would have called, through a socket or through an actor of Ray; each is known by a name, so that
what a lost worker held can be given back.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Protocol

from faithtui.engine.calls.budget import NO_EXPENSE, Budget, BudgetCaps, Expense, SpendingLimit
from faithtui.engine.calls.rate_limiter import RateLimiters, RequestLimiter, SpeedLimit
from faithtui.errors import BudgetReached
from faithtui.judges.base import RateLimits

_NO_LIMITS: Final = RateLimits()


class CallLimits(Protocol):
    """What a worker asks under. See `LocalCallLimits`."""

    was_answered: bool
    """The judge has answered this worker, in whichever shard."""

    @property
    def budget(self) -> SpendingLimit:
        """What may be spent."""

    def get_limiter(self, account: str) -> RequestLimiter | None:
        """Give the limiter of a provider's account; None for judges that nobody limits."""


class LocalCallLimits:
    """Limits and budget of one process. Belongs to one event loop."""

    def __init__(self, limit: SpeedLimit, caps: BudgetCaps, spent: Expense = NO_EXPENSE) -> None:
        """Begin.

        Args:
            limit: What a person allows, for each account.
            caps: What may be spent in all.
            spent: What was spent before.
        """
        self.was_answered = False
        self.budget: SpendingLimit = Budget(caps, spent)
        self.get_limiter: Callable[[str], RequestLimiter | None] = RateLimiters(limit).get_limiter


@dataclass(slots=True)
class _Holdings:
    """What a worker has at present."""

    requests: dict[str, int] = field(default_factory=dict)
    """Requests in flight, by account."""
    reserved: list[Expense] = field(default_factory=list)


class CallLimitsServer:
    """Keeps limits and budget for workers elsewhere. Belongs to one event loop."""

    def __init__(self, limit: SpeedLimit, caps: BudgetCaps, spent: Expense = NO_EXPENSE) -> None:
        """Begin; the arguments are those of `LocalCallLimits`."""
        self._limiters = RateLimiters(limit)
        self._budget = Budget(caps, spent)
        self._held: dict[str, _Holdings] = {}
        self._stop = asyncio.Event()
        self._was_answered = False
        self.progress: dict[str, dict[str, Any]] = {}
        """The latest totals of each shard, as its worker reported them."""

    async def handle_calls(
        self,
        holder: str,
        notes: Sequence[tuple[str, Sequence[Any]]],
        method: str | None = None,
        arguments: Sequence[Any] = (),
    ) -> Any:
        """Take what a worker collected, in order, and answer what it asks for.

        Args:
            holder: The worker.
            notes: Methods and arguments of calls that it does not wait for.
            method: What it waits for; None: nothing.
            arguments: Of that.
        """
        for name, values in notes:
            await getattr(self, name)(holder, *values)
        return None if method is None else await getattr(self, method)(holder, *arguments)

    async def start_request(self, holder: str, account: str, tokens: int) -> float:
        """Wait until a request of an account may start, and say when it did."""
        limiter = self._limiters.get_limiter(account)
        assert limiter is not None  # a worker asks only for accounts that have one
        started = await limiter.start_request(tokens)
        requests = self._get_or_add_holdings(holder).requests
        requests[account] = requests.get(account, 0) + 1
        return started

    async def end_request(
        self, holder: str, account: str, outcome: str, started: float, limits: Mapping[str, Any]
    ) -> None:
        """Note how a request ended: `success`, `refusal` or `failure`."""
        requests = self._get_or_add_holdings(holder).requests
        if not requests.get(account):
            return  # it was given back when its worker was taken for lost
        requests[account] -= 1
        self._was_answered |= outcome in ("success", "refusal")
        limiter = self._limiters.get_limiter(account)
        assert limiter is not None
        match outcome:
            case "success":
                limiter.record_success(RateLimits(**limits))
            case "refusal":
                limiter.record_refusal(started)
            case _:
                limiter.record_failure()

    async def reserve(self, holder: str, nusd: int, tokens: int) -> str | None:
        """Set aside what a question may cost; a sentence says why it does not fit."""
        worst = Expense(nusd, tokens)
        try:
            await self._budget.reserve(worst)
        except BudgetReached as error:
            return str(error)
        self._get_or_add_holdings(holder).reserved.append(worst)
        return None

    async def charge(
        self, holder: str, nusd: int, tokens: int, spent_nusd: int, spent_tokens: int
    ) -> None:
        """Give back what was set aside, and count what it cost."""
        worst = Expense(nusd, tokens)
        reserved = self._get_or_add_holdings(holder).reserved
        if worst in reserved:
            reserved.remove(worst)
        else:
            worst = NO_EXPENSE  # it was given back already
        self._budget.replace_reserve_by_cost(worst, Expense(spent_nusd, spent_tokens))

    async def report_progress(self, holder: str, totals: Mapping[str, Any]) -> None:
        """Note how far a shard is."""
        self.progress[holder] = dict(totals)

    async def release_holdings(self, holder: str) -> None:
        """Give back all that a worker held: it is gone, or begins anew."""
        held = self._held.pop(holder, _Holdings())
        for worst in held.reserved:
            self._budget.replace_reserve_by_cost(worst)
        for account, count in held.requests.items():
            limiter = self._limiters.get_limiter(account)
            assert limiter is not None
            for _ in range(count):
                limiter.record_failure()

    async def stop_workers(self) -> None:
        """Tell every worker, of now and later, that it is to stop asking."""
        self._stop.set()

    async def wait_for_stop(self, holder: str) -> None:
        """Wait until the worker is to stop asking."""
        await self._stop.wait()

    async def check_was_answered(self, holder: str) -> bool:
        """Say whether the judge has answered any worker."""
        return self._was_answered

    async def list_progress(self) -> list[dict[str, Any]]:
        """Give the latest totals of all shards."""
        return list(self.progress.values())

    def _get_or_add_holdings(self, holder: str) -> _Holdings:
        return self._held.setdefault(holder, _Holdings())


class CallLimitsLink(Protocol):
    """How a worker reaches the server. The first argument of each method is added on the way."""

    async def request(self, method: str, *arguments: Any) -> Any:
        """Call a method of the server and wait for what it returns."""

    def notify(self, method: str, *arguments: Any) -> None:
        """Call a method of the server and do not wait."""


class RemoteCallLimits:
    """Limits and budget that a server elsewhere holds. Some `CallLimits`."""

    def __init__(
        self, link: CallLimitsLink, *, has_budget: bool, was_answered: bool = False
    ) -> None:
        """Prepare.

        Args:
            link: The way to the server.
            has_budget: Whether anything limits what may be spent; else nothing is asked for it.
            was_answered: The judge has answered some worker.
        """
        self._link = link
        self.was_answered = was_answered
        self.budget: SpendingLimit = _RemoteBudget(link) if has_budget else Budget(BudgetCaps())

    def get_limiter(self, account: str) -> RequestLimiter | None:
        """Give the limiter of a provider's account; None for judges that nobody limits."""
        return _RemoteLimiter(self._link, account) if account else None


class _RemoteBudget:
    def __init__(self, link: CallLimitsLink) -> None:
        self._link = link

    async def reserve(self, worst: Expense) -> None:
        reason = await _await_or_give_back_if_cancelled(
            self._link.request("reserve", worst.nusd, worst.tokens),
            lambda refused: None if refused else self.replace_reserve_by_cost(worst),
        )
        if reason is not None:
            raise BudgetReached(reason)

    def replace_reserve_by_cost(self, worst: Expense, spent: Expense = NO_EXPENSE) -> None:
        self._link.notify("charge", worst.nusd, worst.tokens, spent.nusd, spent.tokens)


class _RemoteLimiter:
    def __init__(self, link: CallLimitsLink, account: str) -> None:
        self._link = link
        self._account = account

    async def start_request(self, tokens: int) -> float:
        started: float = await _await_or_give_back_if_cancelled(
            self._link.request("start_request", self._account, tokens),
            lambda started: self._end_request("failure", started),
        )
        return started

    def record_success(self, limits: RateLimits = _NO_LIMITS) -> None:
        self._end_request("success", 0.0, limits)

    def record_refusal(self, started: float) -> None:
        self._end_request("refusal", started)

    def record_failure(self) -> None:
        self._end_request("failure", 0.0)

    def _end_request(self, outcome: str, started: float, limits: RateLimits = _NO_LIMITS) -> None:
        fields = {} if limits == _NO_LIMITS else asdict(limits)
        self._link.notify("end_request", self._account, outcome, started, fields)


async def _await_or_give_back_if_cancelled(
    asked: Awaitable[Any], give_back: Callable[[Any], None]
) -> Any:
    """Wait for what was asked for; whoever is cancelled meanwhile gives it back when it comes."""
    task = asyncio.ensure_future(asked)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:

        def on_done(done: "asyncio.Future[Any]") -> None:
            if not done.cancelled() and done.exception() is None:
                give_back(done.result())

        task.add_done_callback(on_done)
        raise
