"""What `.` gives: the verdict that was given last, or why there is none."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from faithtui.domain.ids import ClaimId


@dataclass(frozen=True, slots=True)
class GivenVerdict:
    """A verdict that was given to one claim or to a range."""

    verdict: str
    code: str | None = None
    claim: ClaimId | None = None
    """Whose reason code goes along; None: it was a range, and none goes along."""


class RepeatedVerdict:
    """The verdict given last, while nothing has come after it that puts it in doubt."""

    def __init__(self) -> None:
        self.given: GivenVerdict | None = None
        """None: there is nothing to repeat."""
        self._why_none = "nothing to repeat yet: give a verdict first"

    def remember(self, verdict: str, code: str | None = None, claim: ClaimId | None = None) -> None:
        """Let a verdict be the last one; without a claim it is that of a range."""
        self.given = GivenVerdict(verdict, code, claim)

    def set_code(self, claim: ClaimId, code: str | None) -> None:
        """Follow the reason code of a claim, if the last verdict is that claim's."""
        if self.given is not None and self.given.claim == claim:
            self.given = replace(self.given, code=code)

    def forget(self, why: str) -> None:
        """Let nothing be repeated until a verdict is given.

        Args:
            why: What came after the last one, or what became of it.
        """
        self.given, self._why_none = None, f"{why}: give a verdict first"

    def explain_refusal(self, labels: Collection[str]) -> str:
        """Say why nothing can be repeated where these labels can be given; "" when it can."""
        if self.given is None:
            return self._why_none
        return "" if self.given.verdict in labels else "your last verdict is none of this metric"
