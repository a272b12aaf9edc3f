"""The labels that a judge or an annotator can give to a claim."""

from dataclasses import dataclass
from enum import StrEnum


class Polarity(StrEnum):
    """What a label says about faithfulness; decides colour and detection, never a score."""

    GOOD = "good"
    BAD = "bad"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Label:
    """One word of a vocabulary."""

    name: str
    """The word that is stored and exported."""
    letter: str
    """One character for lists."""
    meaning: str
    """What it says, in a few words for the screen."""
    polarity: Polarity
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelSet:
    """The closed vocabulary of a metric, in the order screens list it."""

    labels: tuple[Label, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all labels, in order."""
        return tuple(label.name for label in self.labels)

    @property
    def synonyms(self) -> tuple[tuple[str, str], ...]:
        """Words of other vocabularies, each with the name of the label it stands for."""
        return tuple((alias, label.name) for label in self.labels for alias in label.aliases)

    @property
    def severity_by_label(self) -> dict[str, int]:
        """How bad each label is, for ties and worst-of rules: larger is worse."""
        order = (Polarity.GOOD, Polarity.UNSURE, Polarity.BAD)
        return {label.name: order.index(label.polarity) for label in self.labels}

    def find_label_name_for_word(self, word: str) -> str | None:
        """Find the label a word stands for.

        White space around it and case do not matter, aliases are accepted, anything else is None:
        no label is guessed from a word that merely contains it.
        """
        folded = word.strip().casefold()
        for label in self.labels:
            if folded == label.name or folded in label.aliases:
                return label.name
        return None

    def find_label_polarity(self, name: str | None) -> Polarity | None:
        """Say what the label with this name says; None where no label of the set has it."""
        for label in self.labels:
            if label.name == name:
                return label.polarity
        return None

    def get_label(self, name: str) -> Label:
        """Give the label with this name.

        Raises:
            KeyError: No label of the set has this name.
        """
        for label in self.labels:
            if label.name == name:
                return label
        raise KeyError(name)


FAITHFULNESS = LabelSet(
    (
        Label("yes", "Y", "supported", Polarity.GOOD, ("1",)),
        Label("no", "N", "contradicted", Polarity.BAD),
        Label("idk", "?", "not addressed", Polarity.UNSURE, ("borderline",)),
    )
)
"""Three-way faithfulness. deepeval 4.3.1 says `borderline` where 4.1.10 says `idk`."""

RELEVANCE = LabelSet(
    (
        Label("yes", "Y", "relevant", Polarity.GOOD),
        Label("no", "N", "not relevant", Polarity.BAD),
    )
)
"""Whether a statement of a document serves a message of the user."""

INFERENCE = LabelSet(
    (
        Label("1", "1", "can be inferred", Polarity.GOOD, ("yes",)),
        Label("0", "0", "cannot be inferred", Polarity.BAD, ("no", "idk", "borderline")),
    )
)
"""ragas: what the context contradicts and what it does not mention are both 0."""

SUPPORT = LabelSet(
    (
        Label("yes", "Y", "supported", Polarity.GOOD, ("1",)),
        Label("no", "N", "not supported", Polarity.BAD, ("idk", "borderline", "0")),
    )
)
"""LlamaIndex: an answer as a whole, supported or not."""

NOT_A_CLAIM = "x"
"""An annotator's label for a claim that should not be judged: phantom, opinion, bad split."""

_VOCABULARIES = (FAITHFULNESS, RELEVANCE, INFERENCE, SUPPORT)

KNOWN_WORDS = (
    *dict.fromkeys(name for each in _VOCABULARIES for name in each.names),
    NOT_A_CLAIM,
)
"""Every label that an annotator can give under some metric."""

SEVERITY = {"yes": 0, "1": 0, "idk": 1, "no": 2, "0": 2}
"""Order for ties and worst-of rules: no before idk before yes, 0 before 1."""


def format_label_count(name: str, count: int) -> str:
    """Say how often a label was given: `8 yes`; `8 with verdict 1`, as two numbers would run on."""
    return f"{count:,} with verdict {name}" if name.isdigit() else f"{count:,} {name}"


def format_label_before_count(name: str) -> str:
    """Name a label before its count: `yes`; `1:`, as two numbers would run on."""
    return f"{name}:" if name.isdigit() else name
