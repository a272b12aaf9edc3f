"""What a report says of people: each against the judge, each other, blind against shown."""

from dataclasses import dataclass

from faithtui.agreement.report.values.levels import Agreement
from faithtui.domain.estimates import Estimate


@dataclass(frozen=True, slots=True)
class RaterReport:
    """One person, and the judge against them."""

    reviewer: str
    labels: int
    """Verdicts that count, on units of this run."""
    blind: int
    """Of those, given before the judge's word was known."""
    overrides: int
    """Of the compared ones, those that differ from the judge."""
    median_s: float | None
    """Median of the seconds a unit was on screen; None where none were taken."""
    agreement: Agreement
    """The person is the reference."""


@dataclass(frozen=True, slots=True)
class PairReport:
    """Two people on the same units; the first of them is the reference."""

    first: str
    second: str
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class HumanReport:
    """How far people agree among themselves: what can be asked of a judge at most."""

    raters: int
    units: int
    """Units with verdicts of two or more people."""
    percent: Estimate
    krippendorff_alpha: Estimate
    gwet_ac1: Estimate
    fleiss_kappa: Estimate
    pairs: tuple[PairReport, ...]


@dataclass(frozen=True, slots=True)
class AnchoringReport:
    """Whether seeing the judge's word pulls people towards it."""

    blind: Agreement
    """Judge against people's verdicts given before its word was known."""
    shown: Agreement
    """Judge against verdicts given with its word in view."""
    difference: Estimate
    """Agreement shown minus agreement blind, in [-1, 1]."""
