"""Readings for tests of reports, without a store."""

from collections.abc import Sequence

from faithtui.agreement.labelled_units import (
    AnswerReading,
    ClaimReading,
    DesignKind,
    DesignReading,
    RunReadings,
    ScoreReading,
)


def readings(
    claims: Sequence[ClaimReading] = (),
    answers: Sequence[AnswerReading] = (),
    scores: Sequence[ScoreReading] = (),
    design: DesignReading | None = None,
) -> RunReadings:
    """Put readings together; without a design they are a census or a convenience sample."""
    if design is None:
        labelled = [claim for claim in claims if claim.human is not None]
        kind = DesignKind.CENSUS if len(labelled) == len(claims) else DesignKind.CONVENIENCE
        design = DesignReading(kind if labelled else DesignKind.NONE, len(claims))
    return RunReadings(tuple(claims), tuple(answers), tuple(scores), design)
