"""Claims with their passages and human labels: what judges are tried on."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """One claim whose verdict is known."""

    claim: str
    """A statement, or a whole answer."""
    passages: tuple[str, ...]
    is_supported: bool
    label: str | None
    """`yes`, `no` or `idk` where annotators tell the last two apart; None elsewhere."""
    family: str
    """Kind of data it comes from: figures are given for each."""
