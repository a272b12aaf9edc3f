"""Readings for tests of reports, without a store."""

from collections.abc import Sequence

from faithtui.agreement.labelled_units import (
    AnswerUnit,
    ClaimUnit,
    DesignKind,
    LabelDesign,
    RunUnits,
    UnitScores,
)


def readings(
    claims: Sequence[ClaimUnit] = (),
    answers: Sequence[AnswerUnit] = (),
    scores: Sequence[UnitScores] = (),
    design: LabelDesign | None = None,
) -> RunUnits:
    """Put readings together; without a design they are a census or a convenience sample."""
    if design is None:
        labelled = [claim for claim in claims if claim.human is not None]
        kind = DesignKind.CENSUS if len(labelled) == len(claims) else DesignKind.CONVENIENCE
        design = LabelDesign(kind if labelled else DesignKind.NONE, len(claims))
    return RunUnits(tuple(claims), tuple(answers), tuple(scores), design)
