"""How the label `idk` is treated: a switch that needs no new labels."""

from enum import StrEnum

from faithtui.domain.labels.label_sets import LabelSet, Polarity

FAITHFUL, UNFAITHFUL = "faithful", "unfaithful"
EXCLUDED = "excluded"
"""What `idk` is read as where it is left out: no label of any table."""


class IdkRule(StrEnum):
    """How `idk` is treated in agreement figures.

    The values are those of stored reports and certificates. What users type and read is
    `option_word`; `IdkRule("pass")` and `IdkRule("strict")` are the same member.
    """

    THREE = "three"
    """`idk` stays a label of its own."""
    PASS = "strict"
    """`idk` counts as faithful: unfaithful is only what contradicts."""
    FAIL = "lenient"
    """`idk` counts as unfaithful: faithful is only what is supported."""
    LIVE = "live"
    """As the run's score counts it: faithful are the labels that pass."""
    EXCLUDE = "exclude"
    """Claims that judge or annotators call `idk` are left out."""
    STRICT = "strict"
    """The earlier name of `PASS`; peers use `strict` for the opposite."""
    LENIENT = "lenient"
    """The earlier name of `FAIL`."""

    @property
    def option_word(self) -> str:
        """The word for `--idk`: three, pass, fail, live or exclude."""
        return self.name.lower()

    @classmethod
    def _missing_(cls, value: object) -> "IdkRule | None":
        """Accept the words of the option beside the stored ones."""
        return next((each for each in cls if each.option_word == value), None)


def recode_label(label: str, rule: IdkRule, labels: LabelSet, passing: tuple[str, ...]) -> str:
    """Read a label by a rule.

    Args:
        label: Of the set; what is no label of it, such as `x`, has to be left out before.
        rule: How.
        labels: The metric's vocabulary.
        passing: Labels that pass under the run's rule; matters under `LIVE`.

    Returns:
        One of `list_label_names_under_rule`, or `EXCLUDED`.

    Raises:
        KeyError: No label of the set has this name.
    """
    polarity = labels.get_label(label).polarity
    match rule:
        case IdkRule.THREE:
            return label
        case IdkRule.PASS:
            good = polarity is not Polarity.BAD
        case IdkRule.FAIL:
            good = polarity is Polarity.GOOD
        case IdkRule.LIVE:
            good = label in passing
        case IdkRule.EXCLUDE:
            if polarity is Polarity.UNSURE:
                return EXCLUDED
            good = polarity is Polarity.GOOD
    return FAITHFUL if good else UNFAITHFUL


def list_label_names_under_rule(rule: IdkRule, labels: LabelSet) -> tuple[str, ...]:
    """Name the labels there are under a rule, in the order of tables."""
    return labels.names if rule is IdkRule.THREE else (FAITHFUL, UNFAITHFUL)
