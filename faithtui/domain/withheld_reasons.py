"""Why a figure of a report, or its interval, is withheld or undefined: codes and their words."""

from enum import StrEnum


class WithheldReason(StrEnum):
    """Why a number, or its interval, is not there. Exported word for word."""

    NO_ITEMS = "no_items"
    """Nothing labelled."""
    NO_OVERLAP = "no_overlap"
    """No unit has two labels."""
    NO_VARIATION = "no_variation"
    """One category or one score only, 0/0; or no variation an interval could be made from."""
    ONE_CLASS_ONLY = "one_class_only"
    """One of two classes is missing where the formula needs both."""
    NO_PREDICTED_POSITIVES = "no_predicted_positives"
    """The judge flags nothing."""
    NO_REFERENCE_POSITIVES = "no_true_positives_in_reference"
    """Annotators flag nothing."""
    UNINFORMATIVE_JUDGE = "uninformative_judge"
    """Sensitivity + specificity = 1; beside a value with an interval: it may be."""
    RATE_OUT_OF_RANGE = "rate_out_of_range"
    """The judge flags less, or more, than any rate explains by its accuracy, so that it does not
    err as it did where its accuracy was measured."""
    DESIGN_NOT_RANDOM = "design_not_random"
    """The labelled units are no random sample."""
    NOT_FULLY_LABELLED = "not_fully_labelled"
    """Claims were drawn one by one."""
    TOO_FEW_CLUSTERS = "too_few_clusters"
    """Fewer groups than an interval can be made from (five; two where units were drawn from five
    and more), or one of them alone decides the figure; the point estimate stands alone."""

    @property
    def words(self) -> str:
        """The reason in a few plain words."""
        return _WORDS[self]


_WORDS = {
    WithheldReason.NO_ITEMS: "nothing to count",
    WithheldReason.NO_OVERLAP: "no unit has two labels",
    WithheldReason.NO_VARIATION: "no variation",
    WithheldReason.ONE_CLASS_ONLY: "one class only",
    WithheldReason.NO_PREDICTED_POSITIVES: "the judge flags nothing",
    WithheldReason.NO_REFERENCE_POSITIVES: "annotators flag nothing",
    WithheldReason.UNINFORMATIVE_JUDGE: "the judge is uninformative",
    WithheldReason.RATE_OUT_OF_RANGE: (
        "the judge errs otherwise than where its accuracy was measured"
    ),
    WithheldReason.DESIGN_NOT_RANDOM: "labels are not from a random sample",
    WithheldReason.NOT_FULLY_LABELLED: "no whole conversations were drawn",
    WithheldReason.TOO_FEW_CLUSTERS: "too few groups for an interval",
}
