"""What scale the human labels of an import are on, and which of them nobody can read.

A number means nothing without its scale. The one exception is a score that is 0 or 1 wherever it
occurs in the files of an import, which takes a look at all of them.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from faithtui.agreement.rating_scales import (
    BINARY_SCALE,
    RATING_SCALES,
    is_known_scale,
    translate_to_verdict,
)
from faithtui.domain.conversation import Conversation, Rating, normalise_text
from faithtui.domain.labels.label_events import COUNTED_ACTIONS, VERDICT_ACTIONS
from faithtui.errors import InputError
from faithtui.formats.readers.datasets import DatasetFile
from faithtui.formats.readers.protocol import ParsedRecord, ReadNotes
from faithtui.store.store import Store

_BINARY: Final = frozenset(("0", "1"))
_UNCOUNTED: Final = VERDICT_ACTIONS - COUNTED_ACTIONS
_MOST_VALUES: Final = 100
"""Different labels of one scale that are kept: a scale with more has no levels."""


@dataclass(frozen=True, slots=True)
class UnreadLabels:
    """Labels of an unlisted scale that have no verdict and count in no figure."""

    scale: str
    count: int
    """Of them."""
    total: int
    """Of all labels on the scale."""
    values: tuple[str, ...]
    """Different ones, in order; the first `_MOST_VALUES`."""

    def suggest_scale(self) -> str | None:
        """Name a listed scale that has all these labels; None where 0 and 1 are all there is."""
        given = set(self.values)
        if given <= _BINARY:
            return None
        return next((each.name for each in RATING_SCALES if given <= each.verdicts.keys()), None)


class LabelScales:
    """Names the scale of each label of a data set, and counts those that nobody can read.

    Args:
        dataset: The data set.
        find_binary: Finds the scores of the import that are 0 or 1 everywhere; called only where
            it matters, as it reads all files.
    """

    def __init__(self, dataset: DatasetFile, find_binary: Callable[[], frozenset[str]]) -> None:
        self._dataset = dataset
        self._find_binary = find_binary
        self._totals: Counter[str] = Counter()
        self._unread: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def assign_rating_scales(self, record: ParsedRecord) -> ParsedRecord:
        """Name the scales of the labels of a record."""
        found = record.found
        if isinstance(found, InputError) or not found.ratings:
            return record
        ratings = tuple(map(self._assign_scale, found.ratings))
        if ratings == found.ratings:
            return record
        return replace(record, found=replace(found, ratings=ratings))

    def list_labels_without_verdict(self) -> Iterator[UnreadLabels]:
        """List the labels without a verdict, a scale at a time."""
        for scale, values in self._unread.items():
            yield UnreadLabels(scale, values.total(), self._totals[scale], tuple(sorted(values)))

    def _assign_scale(self, rating: Rating) -> Rating:
        rating = _use_chosen_scale(self._dataset, rating)
        if is_known_scale(rating.scale):
            return rating
        if rating.label in _BINARY and rating.scale in self._find_binary():
            self._dataset.notes.remarks[
                f"`{rating.scale}` is 0 or 1 in all files, so it is read by the scale "
                f"`{BINARY_SCALE}`: 1 yes, 0 no"
            ] += 1
            return replace(rating, scale=BINARY_SCALE)
        self._totals[rating.scale] += 1
        if translate_to_verdict(rating.scale, rating.label) is None:
            values = self._unread[rating.scale]
            is_new = rating.label not in values and len(values) > _MOST_VALUES
            values["…" if is_new else rating.label] += 1
        return rating


class NewLabelCounter:
    """Counts the labels that an import would add, without one.

    Args:
        store: Where it would write; None: nothing is there yet.
    """

    def __init__(self, store: Store | None) -> None:
        self._store = store
        self._known: set[int] = set()
        """Hashes of labels with source and key of their conversation."""

    def count_new_labels(
        self, batch: Sequence[tuple[Conversation, str]], new: Container[tuple[str, str]]
    ) -> int:
        """Count the labels that conversations would get; a skip is none.

        Args:
            batch: Who brings them, and the key of the conversation of its source that gets them.
            new: Sources and keys of conversations that are not in the store.
        """
        given: set[int] = set()
        stored: defaultdict[str, set[str]] = defaultdict(set)
        for conversation, key in batch:
            source = conversation.source
            is_stored = (source, key) not in new
            labels = {
                _hash_label(source, key, each)
                for each in conversation.ratings
                # These would take the place of a label that counts, and are left out.
                if each.label
                and not (is_stored and each.record and each.record.action in _UNCOUNTED)
            }
            if labels and is_stored:
                stored[source].add(key)
            given |= labels
        if self._store is not None:
            for source, keys in stored.items():
                read = self._store.conversations.read_ratings_with_keys(source, keys)
                self._known |= {_hash_label(source, key, each) for key, each in read}
        count = len(given - self._known)
        self._known |= given
        return count


def _hash_label(source: str, key: str, label: Rating) -> int:
    claim = None if label.claim is None else normalise_text(label.claim)
    return hash(
        (source, key, label.turn, label.annotator, label.scale, label.label, label.note, claim)
    )


def find_binary_scores(datasets: Sequence[DatasetFile]) -> frozenset[str]:
    """Find the scores on no listed scale that have no label but 0 and 1; reads all files."""
    seen: dict[str, bool] = {}
    for dataset in datasets:
        with suppress(InputError):  # of a damaged file counts what came before, as in the import
            for record in replace(dataset, notes=ReadNotes()).read():
                if isinstance(record.found, InputError):
                    continue
                for each in record.found.ratings:
                    rating = _use_chosen_scale(dataset, each)
                    if not is_known_scale(rating.scale):
                        is_binary = rating.label in _BINARY
                        seen[rating.scale] = seen.get(rating.scale, True) and is_binary
    return frozenset(scale for scale, is_binary in seen.items() if is_binary)


def _use_chosen_scale(dataset: DatasetFile, rating: Rating) -> Rating:
    """Take the scale the user named for a score, in formats that call the score a scale."""
    dataset.notes.scores.add(rating.scale)
    scale = dataset.choice.scales.get(rating.scale)
    return rating if scale is None else replace(rating, scale=scale)
