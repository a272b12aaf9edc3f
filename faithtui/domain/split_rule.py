"""Which conversations a judge may learn from, which it is tuned on, and which it is tested on.

The rule is a function of a seed and a conversation's group alone. So a group is never in two
parts, conversations that are imported later get their part without moving any other, and two
stores with the same rule agree. The price: the parts have their shares only about.
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

HUNDRED = 100


class Split(StrEnum):
    """A part of the conversations. Exported word for word."""

    TRAIN = "train"
    """Examples for the judge come from here."""
    DEV = "dev"
    """Judges and prompts are compared here, as often as needed."""
    TEST = "test"
    """Looked at once, at the end."""


SPLITS = tuple(Split)


@dataclass(frozen=True, slots=True)
class SplitRule:
    """How conversations are split."""

    seed: int
    train: int
    """Percent of the groups."""
    dev: int
    """Percent of the groups."""
    test: int
    """Percent of the groups; the three make 100."""

    def __post_init__(self) -> None:
        """Refuse shares that are none.

        Raises:
            ValueError: A share is below 0, or they do not make 100.
        """
        if min(self.shares) < 0 or sum(self.shares) != HUNDRED:
            raise ValueError(f"shares are {self.shares}; expected percents that make 100")

    @property
    def shares(self) -> tuple[int, int, int]:
        """Percents of train, dev and test."""
        return (self.train, self.dev, self.test)

    def get_split_of_group(self, group: str) -> Split:
        """Name the part that a group of conversations belongs to.

        SHA-256 of the seed, a line feed and the group, in UTF-8; its first 64 bits as a fraction of
        2^64 fall into the shares of train, dev and test, in this order.
        """
        text = f"{self.seed}\n{group}".encode("utf-8", "surrogatepass")
        place = int.from_bytes(hashlib.sha256(text).digest()[:8]) * HUNDRED >> 64
        if place < self.train:
            return Split.TRAIN
        return Split.DEV if place < self.train + self.dev else Split.TEST
