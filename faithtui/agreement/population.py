"""What a sample stands for where only drawn claims are in the store: a results folder, in counts.

A population may have ten million conversations. What figures need of those that were not drawn is
how many claims there are of each stratum and verdict, and how far conversations differ in that.
Groups of conversations are dealt into bundles at random for the second: sums of bundles vary as
much between each other as sums of so many single groups would.

Source: Wolter, Introduction to Variance Estimation (2007), chapter 2, the method of random groups.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self, cast

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

BUNDLES: Final = 64
"""Parts that the groups of a population are dealt into: so many that the spread between them is
known to a tenth, and so few that they are a few thousand numbers."""


@dataclass(frozen=True, slots=True)
class PopulationStratum:
    """A stratum of a population."""

    name: str
    values: tuple[str, ...]
    """Of what strata are made of, in that order; () where they are made of nothing."""
    drawn: int
    """Claims, or conversations, that were ever drawn of it; some may be deleted since."""


@dataclass(frozen=True, slots=True)
class Population:
    """Everything that was judged and that a sample was drawn from."""

    results: str
    """Where it lies: a folder or the address of one."""
    digest: str
    """Names what was judged, and how: equal for the same results in another place."""
    states: Mapping[str, int]
    """Conversations by what became of them: `scored`, `undefined`, `skipped`, `failed`,
    `incomplete`."""
    judged: int
    """Conversations with a claim."""
    scores: Mapping[str, float | None]
    """Mean of each score of the judge over the conversations that have it; None: none has."""
    passed: int
    """Conversations whose score meets the threshold."""
    labels: tuple[str | None, ...]
    """What `counts` are by; None: no verdict."""
    stratified_by: tuple[str, ...]
    """What strata are made of, as it was typed."""
    strata: tuple[PopulationStratum, ...]
    """In the order of `counts`."""
    counts: tuple[tuple[tuple[int, ...], ...], ...]
    """Claims by bundle, stratum and label."""
    open_shards: int = 0
    """Shards that were not whole when it was counted, and are no part of it."""
    groups: int | None = None
    """Groups of conversations with a claim; a conversation without a group is one. None: nobody
    counted them."""

    @property
    def conversation_count(self) -> int:
        """All conversations, judged or not."""
        return sum(self.states.values())

    @property
    def failed_conversation_count(self) -> int:
        """Conversations of which nothing is known, as judging them failed."""
        return self.states.get("failed", 0)

    @property
    def failed_share(self) -> float:
        """Share of the conversations of which nothing is known, in [0, 1]."""
        return (
            self.failed_conversation_count / self.conversation_count
            if self.conversation_count
            else 0.0
        )

    @property
    def claim_count(self) -> int:
        """All claims."""
        return sum(count for bundle in self.counts for row in bundle for count in row)

    @property
    def claim_counts_by_stratum(self) -> tuple[int, ...]:
        """Claims of each stratum."""
        return tuple(
            sum(sum(bundle[place]) for bundle in self.counts) for place in range(len(self.strata))
        )

    def count_claims_by_stratum_and_label(self, names: Sequence[str]) -> "npt.NDArray[np.int64]":
        """Count claims.

        Args:
            names: Labels to tell apart.

        Returns:
            By stratum, label and bundle; the last label is every other one, and none.
        """
        # Loads numpy, which lists of samples have no use for.
        import numpy as np

        counts = np.array(self.counts, np.int64).reshape(-1, len(self.strata), len(self.labels))
        found = np.zeros((len(self.strata), len(names) + 1, len(counts)), np.int64)
        place = {name: number for number, name in enumerate(names)}
        for column, label in enumerate(self.labels):
            found[:, place.get(label or "", len(names))] += counts[:, :, column].T
        return found

    def recode_labels(self, words: Mapping[str, str]) -> "Population":
        """Read its labels as other ones; those that are not named stay what they are."""
        return replace(
            self,
            labels=tuple(None if each is None else words.get(each, each) for each in self.labels),
        )

    def bound_share_if_failed_judged(self, share: float) -> tuple[float, float]:
        """Say what a share of the claims would be if failed conversations had been judged.

        Args:
            share: Of the claims of judged conversations, in [0, 1].

        Returns:
            If none of their claims, and if all of them, were of that share; each conversation with
            as many claims as those which were judged have in the mean.
        """
        known = self.conversation_count - self.failed_conversation_count
        part = (
            self.failed_conversation_count / (known + self.failed_conversation_count)
            if known
            else 0.0
        )
        return share * (1 - part), share * (1 - part) + part

    def to_json(self) -> dict[str, object]:
        """Write it as JSON values."""
        return {
            "results": self.results,
            "digest": self.digest,
            "states": dict(self.states),
            "judged": self.judged,
            "scores": dict(self.scores),
            "passed": self.passed,
            "labels": list(self.labels),
            "stratified_by": list(self.stratified_by),
            "open_shards": self.open_shards,
            "groups": self.groups,
            "strata": [
                {"name": each.name, "values": list(each.values), "drawn": each.drawn}
                for each in self.strata
            ],
            "counts": [[list(row) for row in bundle] for bundle in self.counts],
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote.

        Raises:
            ValueError: It is something else.
        """
        try:
            groups = found.get("groups")
            read = cls(
                results=_read_text(found["results"]),
                digest=_read_text(found["digest"]),
                states={name: _read_count(count) for name, count in found["states"].items()},
                judged=_read_count(found["judged"]),
                scores={name: _read_mean(mean) for name, mean in found["scores"].items()},
                passed=_read_count(found["passed"]),
                open_shards=_read_count(found["open_shards"]),
                groups=None if groups is None else _read_count(groups),
                labels=tuple(
                    None if each is None else _read_text(each) for each in found["labels"]
                ),
                stratified_by=_read_texts(found["stratified_by"]),
                strata=tuple(
                    PopulationStratum(
                        _read_text(each["name"]),
                        _read_texts(each["values"]),
                        _read_count(each["drawn"]),
                    )
                    for each in found["strata"]
                ),
                counts=tuple(
                    tuple(tuple(map(_read_count, row)) for row in bundle)
                    for bundle in found["counts"]
                ),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"is no population ({type(error).__name__}: {error})") from error
        shapes = (
            {len(bundle) for bundle in read.counts},
            {len(row) for bundle in read.counts for row in bundle},
        )
        if shapes != ({len(read.strata)}, {len(read.labels)}):
            raise ValueError("is no population: its counts do not fit its strata and labels")
        return read


def _read_count(found: object) -> int:
    if type(found) is not int or found < 0:  # True is no count
        raise ValueError(f"is no population: {found!r} is no count")
    return found


def _read_mean(found: object) -> float | None:
    if found is not None and type(found) not in (int, float):
        raise TypeError(f"{found!r} is no mean")
    return cast("float | None", found)


def _read_text(found: object) -> str:
    if not isinstance(found, str):
        raise TypeError(f"{found!r} is no text")
    return found


def _read_texts(found: object) -> tuple[str, ...]:
    if not isinstance(found, list):
        raise TypeError(f"{found!r} is no list")
    return tuple(map(_read_text, found))
