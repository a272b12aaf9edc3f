"""What an unsure verdict counts as: a switch that needs no new labels."""

from enum import StrEnum

from faithtui.domain.label_sets import LabelSet, Polarity

FAITHFUL, UNFAITHFUL = "faithful", "unfaithful"


class IdkRule(StrEnum):
    """How labels are read. Exported word for word."""

    THREE = "three"
    """As they were given."""
    STRICT = "strict"
    """Unfaithful is only what contradicts; unsure counts as faithful."""
    LENIENT = "lenient"
    """Unfaithful is whatever is not supported, unsure included."""
    LIVE = "live"
    """As the run's score counts it: faithful are the labels that pass."""


def recode(label: str, rule: IdkRule, labels: LabelSet, passing: tuple[str, ...]) -> str:
    """Read a label by a rule.

    Args:
        label: Of the set; what is no label of it, such as `x`, has to be left out before.
        rule: How.
        labels: The metric's vocabulary.
        passing: Labels that pass under the run's rule; matters under `LIVE`.

    Returns:
        One of `recoded_labels`.

    Raises:
        KeyError: No label of the set has this name.
    """
    polarity = labels.label(label).polarity
    match rule:
        case IdkRule.THREE:
            return label
        case IdkRule.STRICT:
            good = polarity is not Polarity.BAD
        case IdkRule.LENIENT:
            good = polarity is Polarity.GOOD
        case IdkRule.LIVE:
            good = label in passing
    return FAITHFUL if good else UNFAITHFUL


def recoded_labels(rule: IdkRule, labels: LabelSet) -> tuple[str, ...]:
    """Name the labels there are under a rule, in the order of tables."""
    return labels.names if rule is IdkRule.THREE else (FAITHFUL, UNFAITHFUL)
