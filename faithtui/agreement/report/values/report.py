"""The values an agreement report is made of; `report` computes them.

Two levels, never mixed: unique claims (people's verdicts against the judge's) and answers (people's
label of a whole answer against its pass or fail). Unreviewed is not agreed: a unit without a
person's verdict is counted in the coverage and enters no figure.
"""

from dataclasses import dataclass

from faithtui.agreement.report.self_consistency import Steadiness
from faithtui.agreement.report.values.annotators import AnchoringReport, HumanReport, RaterReport
from faithtui.agreement.report.values.levels import LevelReport
from faithtui.agreement.report.values.parts import Breakdown, ComparisonReport, ProgressReport
from faithtui.agreement.report.values.scores import (
    CalibrationReport,
    Consistency,
    ScoreReport,
    UnitScoreReport,
)
from faithtui.agreement.report.values.settings import Caution, ReportSettings


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """Everything a run's agreement screen and report files say."""

    headline: str
    """One plain sentence: the level, n, and what may be concluded."""
    warnings: tuple[Caution, ...]
    """Most severe first."""
    claims: LevelReport
    answers: LevelReport
    scores: ScoreReport
    """Answers against people's ratings of them."""
    unit_scores: tuple[UnitScoreReport, ...]
    """Windows and conversations; those without any unit are left out."""
    consistency: Consistency
    raters: tuple[RaterReport, ...]
    """By name."""
    humans: HumanReport | None
    """None unless two people labelled the same unit."""
    anchoring: AnchoringReport | None
    """None unless some verdicts were blind and some were not."""
    repeats: tuple[Steadiness, ...]
    """How steady each person is who judged units again."""
    calibration: CalibrationReport | None
    """None when the judge gives no confidence, or nothing with one is labelled."""
    breakdowns: tuple[Breakdown, ...]
    comparison: ComparisonReport | None
    progress: ProgressReport
    settings: ReportSettings
    passing: tuple[str, ...]
    """People's labels that count as a pass for an answer; all other labels fail it."""
    bar: float | None
    """What an answer's score must reach to pass; None: no threshold."""

    @property
    def level(self) -> float:
        """Confidence level of the intervals, in (0, 1)."""
        return self.settings.level

    @property
    def primary(self) -> LevelReport:
        """The level the headline speaks of, see `primary_level`."""
        return primary_level(self.claims, self.answers)

    @property
    def levels(self) -> tuple[LevelReport, LevelReport]:
        """Both levels, claims first."""
        return (self.claims, self.answers)


def primary_level(claims: LevelReport, answers: LevelReport) -> LevelReport:
    """Pick the level to speak of first.

    Claims, unless only answers were compared, or nothing was compared and only answers labelled.
    """
    for weight in ("compared", "reviewed"):
        for level in (claims, answers):
            if getattr(level.coverage, weight):
                return level
    return claims
