"""What a confusion table alone warns of."""

from faithtui.agreement.statistics.coefficients import (
    cohen_kappa,
    marginal_distance,
    percent_agreement,
)
from faithtui.agreement.statistics.tables import Counted
from faithtui.domain.estimates import Reason

FEW_ITEMS = 30
"""Units below which figures say little."""
HIGH_AGREEMENT = 0.80
KAPPA_GAP = 0.40
"""How far below a high agreement kappa is when one label prevails."""
MARGINAL_GAP = 0.10
NOTHING_COMPARED = ("few_items", "undefined")
"""Codes where there is no unit with two labels."""
_ROUNDING = 1e-12


def table_codes(table: Counted) -> tuple[str, ...]:
    """Name what a confusion table alone warns of.

    Returns:
        Codes in alphabetical order; (): nothing. `kappa_prevalence`: agreement of 0.80 or more and
        kappa at least 0.40 below it. `marginal_bias`: half the L1 distance of the margins above
        0.10. `few_items`: fewer than 30 units. `undefined`: kappa has no value.

    Source:
        Feinstein & Cicchetti 1990, J Clin Epidemiol 43:543-549, for the paradox behind the first.
    """
    percent, kappa, gap = percent_agreement(table), cohen_kappa(table), marginal_distance(table)
    codes = []
    if table.n < FEW_ITEMS:
        codes.append("few_items")
    if (
        not isinstance(percent, Reason)
        and not isinstance(kappa, Reason)
        and percent >= HIGH_AGREEMENT - _ROUNDING
        and percent - kappa >= KAPPA_GAP - _ROUNDING
    ):
        codes.append("kappa_prevalence")
    if not isinstance(gap, Reason) and gap > MARGINAL_GAP + _ROUNDING:
        codes.append("marginal_bias")
    if isinstance(kappa, Reason):
        codes.append("undefined")
    return tuple(codes)
