"""What the outputs of a classifier mean: its label names, or a known order where it has none."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from faithtui.errors import ConfigError

Meaning = Literal["yes", "no", "idk"]

LABEL_MEANINGS: Final[Mapping[str, Meaning]] = {
    "entailment": "yes",
    "entailed": "yes",
    "supported": "yes",
    "supports": "yes",
    "consistent": "yes",
    "attributable": "yes",
    "contradiction": "no",
    "contradictory": "no",
    "refuted": "no",
    "refutes": "no",
    "neutral": "idk",
    "not_entailment": "idk",
    "unsupported": "idk",
    "not supported": "idk",
    "hallucinated": "idk",
    "inconsistent": "idk",
    "extrapolatory": "idk",
}
"""Lower-case label names of classifiers. Who has two labels cannot tell `no` from `idk`."""

LABEL_ORDERS: Final[Mapping[str, tuple[Meaning, ...]]] = {
    "mnli": ("no", "idk", "yes"),
    "cross-encoder": ("no", "yes", "idk"),
    "minicheck": ("idk", "yes"),
    "hhem": ("idk", "yes"),
}
"""Orders of outputs by name, for classifiers whose labels are called LABEL_0, LABEL_1 ..."""


def map_classifier_outputs_to_verdicts(
    labels: Sequence[str], order: str | None, file: str
) -> tuple[Meaning, ...]:
    """Say what each output of a classifier means.

    Args:
        labels: Names of its outputs, in order.
        order: A key of `LABEL_ORDERS`; None: the names tell.
        file: Where the names stand, for messages.

    Raises:
        ConfigError: The names are not known, or do not go with the order.
    """
    known = ", ".join(LABEL_ORDERS)
    if order is not None and order not in LABEL_ORDERS:
        raise ConfigError(f"unknown order of labels {order!r}; expected one of: {known}")
    names = [label.lower().strip() for label in labels]
    if order is not None:
        expected = LABEL_ORDERS[order]
        if len(expected) != len(names):
            raise ConfigError(
                f"{file}: id2label has {len(names)} labels, but #{order} means {len(expected)}"
            )
        for name, meaning in zip(names, expected, strict=True):
            if LABEL_MEANINGS.get(name, meaning) != meaning:
                raise ConfigError(
                    f"{file}: id2label calls an output {name!r}, which is not what #{order} means;"
                    " leave the order out"
                )
        return expected
    unknown = [name for name in names if name not in LABEL_MEANINGS]
    if unknown:
        raise ConfigError(
            f"{file}: id2label has the unknown label {unknown[0]!r}; write what the outputs mean"
            f" there (entailment, neutral, contradiction, supported, unsupported), or name their"
            f" order behind the path: one of {', '.join('#' + each for each in LABEL_ORDERS)}"
        )
    meanings = tuple(LABEL_MEANINGS[name] for name in names)
    if len(set(meanings)) != len(meanings) or "yes" not in meanings:
        raise ConfigError(
            f"{file}: id2label must have one label that supports and no two that mean the same;"
            f" it has {', '.join(names)}"
        )
    return meanings
