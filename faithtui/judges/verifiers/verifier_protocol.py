"""Verifiers: judges that are given one claim and its evidence, and say how likely each verdict is.

The embedded judge splits answers and finds the sentences that bear on a claim; a verifier decides
in its place. A package offers one as it offers a judge, with `verify` in place of `answer`.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from faithtui.errors import JudgeReplyInvalid

_TOLERANCE = 0.01
"""By how much the three may miss 1: somebody rounds."""


class Likelihoods(NamedTuple):
    """How likely each verdict is; the three sum to 1."""

    yes: float
    """The evidence supports the claim."""
    no: float
    """It contradicts it. 0 for a verifier that cannot tell that from `idk`."""
    idk: float
    """Neither."""


class Verifier(Protocol):
    """What a package, or a model file, has to offer.

    Two more are used if they are there: `verify_all(pairs)`, the same for several pairs at once,
    and `async def aclose()`, called when it is no longer needed.
    """

    @property
    def fingerprint(self) -> str:
        """Everything but the pair that determines an answer: model, version. Holds no secret."""

    def verify(self, claim: str, evidence: str) -> Likelihoods:
        """Judge one claim by its evidence. May take its time: it is called on a thread."""


def verify_pairs(verifier: Verifier, pairs: Sequence[tuple[str, str]]) -> list[Likelihoods]:
    """Ask a verifier, and check what it says.

    Raises:
        JudgeReplyInvalid: It says something else than three shares of 1 for each pair.
    """
    ask_all = getattr(verifier, "verify_all", None)
    found = ask_all(pairs) if ask_all is not None else [verifier.verify(*pair) for pair in pairs]
    checked = [_require_valid_likelihoods(each) for each in found]
    if len(checked) != len(pairs):
        raise JudgeReplyInvalid(
            f"the verifier gave {len(checked)} answers to {len(pairs)} claims; report this to its"
            " author",
            raw="",
        )
    return checked


def _require_valid_likelihoods(found: object) -> Likelihoods:
    try:
        likelihoods = Likelihoods(*map(float, found))  # type: ignore[call-overload]
    except (TypeError, ValueError) as error:
        raise JudgeReplyInvalid(
            f"the verifier answered {str(found)[:100]!r}, not P(yes), P(no) and P(idk)", raw=""
        ) from error
    if not all(0 <= each <= 1 for each in likelihoods) or not math.isclose(
        sum(likelihoods), 1, abs_tol=_TOLERANCE
    ):
        raise JudgeReplyInvalid(
            f"the verifier answered {likelihoods}: three probabilities that sum to 1 were expected",
            raw="",
        )
    return likelihoods
