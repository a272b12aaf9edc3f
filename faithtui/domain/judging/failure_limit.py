"""How many failures a run takes before it stops: a number in a row, or a share of all."""

import re
from dataclasses import dataclass
from typing import Self

_WRITTEN = re.compile(r"(?P<number>[1-9]\d{0,8})|(?P<percent>\d{1,3}(?:\.\d+)?)\s*%")


@dataclass(frozen=True, slots=True)
class FailureLimit:
    """When a run stops because of failures: one of the two is set."""

    in_a_row: int | None = None
    """Questions that failed alike, with none of their kind answered in between."""
    share: float | None = None
    """Conversations that failed or lack a verdict, of all of a run; in [0, 1]. It stops above."""

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read `10` or `5%`; None where it is neither, or more than 100 %."""
        found = _WRITTEN.fullmatch(text.strip())
        if found is None:
            return None
        if found["number"]:
            return cls(in_a_row=int(found["number"]))
        share = float(found["percent"]) / 100
        return cls(share=share) if share <= 1 else None

    def __str__(self) -> str:
        """Write it as `read` takes it."""
        return f"{self.in_a_row}" if self.share is None else f"{100 * self.share:g}%"


DEFAULT_FAILURE_LIMIT = FailureLimit(in_a_row=10)
"""Ten questions that fail in the same way, each after all its tries, are no accident."""
