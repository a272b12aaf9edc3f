"""What a run may still spend: the worst case is set aside before each question is sent.

Costs are known only afterwards, so a run that looks at what it has spent goes over. Money is
counted in whole billionths of a dollar, because sums of fractions leave residues that never fit.
"""

import asyncio
from dataclasses import dataclass
from typing import Protocol

from faithtui.errors import BudgetReached

NUSD = 1_000_000_000
"""Units of money in a US dollar."""


@dataclass(frozen=True, slots=True)
class Expense:
    """What was spent, or may be."""

    nusd: int = 0
    tokens: int = 0

    def __add__(self, other: "Expense") -> "Expense":
        """Add up."""
        return Expense(self.nusd + other.nusd, self.tokens + other.tokens)

    def __sub__(self, other: "Expense") -> "Expense":
        """Take away."""
        return Expense(self.nusd - other.nusd, self.tokens - other.tokens)


@dataclass(frozen=True, slots=True)
class BudgetCaps:
    """What may be spent. None: no limit."""

    nusd: int | None = None
    tokens: int | None = None

    def has_room_for(self, spent: Expense) -> bool:
        """Whether so much is within them."""
        return (self.nusd is None or spent.nusd <= self.nusd) and (
            self.tokens is None or spent.tokens <= self.tokens
        )


NO_EXPENSE = Expense()


class SpendingLimit(Protocol):
    """What sets money and tokens aside before a question is sent. See `Budget`."""

    async def reserve(self, worst: Expense) -> None:
        """Set aside what a question may cost.

        Raises:
            BudgetReached: It does not fit.
        """

    def replace_reserve_by_cost(self, worst: Expense, spent: Expense = NO_EXPENSE) -> None:
        """Give back what was set aside, and count what it cost."""


class Budget:
    """The budget of one run. Belongs to one event loop."""

    def __init__(self, caps: BudgetCaps, spent: Expense = NO_EXPENSE) -> None:
        """Begin.

        Args:
            caps: What may be spent in all.
            spent: What was spent before.
        """
        self.caps = caps
        self.spent = spent
        self._reserved = NO_EXPENSE
        self._is_total_known = False
        self._changed = asyncio.Event()

    async def reserve(self, worst: Expense) -> None:
        """Set aside what a question may cost, waiting for others to cost less than they might.

        Raises:
            BudgetReached: It does not fit although nothing else is in flight.
        """
        while not self.caps.has_room_for(self.spent + self._reserved + worst):
            if self._reserved == NO_EXPENSE:
                raise BudgetReached(self._format_error(worst))
            # All of this is on one loop: nothing can change between the check and the wait.
            self._changed.clear()
            await self._changed.wait()
        self._reserved += worst

    def replace_reserve_by_cost(self, worst: Expense, spent: Expense = NO_EXPENSE) -> None:
        """Give back what was set aside, and count what it cost."""
        self._reserved -= worst
        # Else the totals of the store have it, with what other processes spent.
        if not self._is_total_known:
            self.spent += spent
        self._changed.set()

    def set_total_spent(self, spent: Expense) -> None:
        """Say what was spent in all, by other processes too; from now on nothing is added up."""
        self._is_total_known = True
        self.spent = spent

    def _format_error(self, worst: Expense) -> str:
        nusd, tokens = self.caps.nusd, self.caps.tokens
        if nusd is not None and self.spent.nusd + worst.nusd > nusd:
            return (
                f"the budget of ${nusd / NUSD:.4f} does not hold another question: "
                f"${self.spent.nusd / NUSD:.4f} is spent and the next may cost up to "
                f"${worst.nusd / NUSD:.4f}. Go on with a higher --budget-usd"
            )
        return (
            f"the budget of {tokens:,} tokens does not hold another question: "
            f"{self.spent.tokens:,} are used and the next may take up to {worst.tokens:,}. "
            "Go on with a higher --budget-tokens"
        )
