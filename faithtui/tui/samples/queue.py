"""What a reviewer works through: claims in an order, or the conversations of a run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING

from faithtui.domain.ids import ClaimId, ConversationId, ItemId, RunId, SampleId

if TYPE_CHECKING:
    from faithtui.store.store import Store

_AT_ONCE = 128


@dataclass(frozen=True)
class ClaimQueue:
    """Claims of a run, in the order in which they are to be looked at."""

    title: str
    """What they have in common, for the title: `random sample`, `judge said no`."""
    run: RunId
    entries: tuple[tuple[ItemId, ClaimId], ...]
    """Conversation of the run and claim; each claim once."""
    blind: bool = False
    """The judge is hidden until a claim has its verdict."""
    sample: SampleId | None = None
    """The sample they were drawn as; None: found by a search, a filter or a list, so that labels
    given here are a convenience sample."""
    shown: frozenset[ClaimId] = frozenset()
    """Claims of a blind queue that are served with the judge in view."""
    tells: bool = False
    """They were chosen by the judge's verdict, so that nobody is blind to it here."""
    repeats: bool = False
    """One's own labelled claims once more: what is said is compared, and changes nothing."""
    place: dict[ClaimId, int] = field(default_factory=dict, compare=False)
    """Place of each claim in `entries`; made here."""

    def __post_init__(self) -> None:
        """Index the claims."""
        self.place.update({claim: at for at, (_, claim) in enumerate(self.entries)})

    @property
    def convenience(self) -> bool:
        """Whether the order says nothing about the rest of the run."""
        return self.sample is None


class Walk:
    """A queue, and how far somebody is in it."""

    def __init__(
        self, queue: ClaimQueue, done: Iterable[ClaimId] = (), later: Iterable[ClaimId] = ()
    ) -> None:
        self.queue = queue
        self.done = set(done)
        """Claims that have been answered."""
        self.later = set(later)
        """Claims that were skipped; they come again at the end."""
        self.here = -1
        """Place of the claim that is looked at, or was last."""
        self.outdated = False
        """The store knows better by now what is answered."""

    def follow(self, claim: ClaimId | None) -> None:
        """Note which claim is looked at; one outside the queue changes nothing."""
        if claim is not None:
            self.here = self.queue.place.get(claim, self.here)

    def answered(self, claim: ClaimId) -> None:
        """Note that a claim has its verdict."""
        if claim in self.queue.place:
            self.done.add(claim)
            self.later.discard(claim)

    def reopened(self, claim: ClaimId) -> None:
        """Note that a claim has no answer after all: it was taken back, or could not be saved."""
        self.done.discard(claim)
        self.later.discard(claim)

    @property
    def is_over(self) -> bool:
        """Whether every claim is answered or put off."""
        return all(claim in self.done or claim in self.later for _, claim in self.queue.entries)

    def put_off(self, claim: ClaimId) -> None:
        """Note that a claim was put off."""
        if claim in self.queue.place:
            self.later.add(claim)

    def ahead(self, count: int) -> tuple[tuple[ItemId, ClaimId], ...]:
        """List what comes next, at most so many: open ones onwards, those before, those put off."""
        entries = self.queue.entries
        turn = (*entries[self.here + 1 :], *entries[: self.here + 1])
        current = entries[self.here][1] if 0 <= self.here < len(entries) else None
        waiting = [each for each in turn if each[1] not in self.done and each[1] != current]
        fresh = (each for each in waiting if each[1] not in self.later)
        again = (each for each in waiting if each[1] in self.later)
        return tuple(islice(chain(fresh, again), count))

    def before(self) -> tuple[ItemId, ClaimId] | None:
        """Find the nearest open claim before this one; None when there is none."""
        for entry in reversed(self.queue.entries[: max(0, self.here)]):
            if entry[1] not in self.done:
                return entry
        return None


def begun(store: "Store", queue: ClaimQueue, reviewer: str) -> Walk:
    """Take up a queue where a person left it."""
    if queue.sample is None:
        return Walk(queue)
    entries = store.samples.entries(queue.sample, reviewer)
    return Walk(
        queue,
        (each.claim for each in entries if each.answered),
        (each.claim for each in entries if each.later),
    )


def sample_queue(store: "Store", sample: SampleId, reviewer: str) -> ClaimQueue:
    """Make the queue of a drawn sample, as it is served to a person."""
    from faithtui.agreement.sampling.draw import SampleKind

    row = store.samples.row(sample, reviewer)
    entries = store.samples.entries(sample, reviewer)
    return ClaimQueue(
        title=row.name,
        run=row.run,
        entries=tuple((each.item, each.claim) for each in entries),
        blind=row.blind,
        sample=row.id,
        shown=frozenset(each.claim for each in entries if each.shown),
        repeats=row.kind is SampleKind.REPEAT,
    )


def open_item(
    store: "Store", queue: Sequence[ItemId], after: ItemId | None, direction: int
) -> ItemId | None:
    """Find the nearest conversation that has a claim without a verdict.

    Args:
        store: Where to look.
        queue: Conversations in the order of the list.
        after: Where to begin, itself left out; None: at the beginning.
        direction: 1 onwards, -1 back.

    Returns:
        The conversation, None when there is none on that side.
    """
    at = queue.index(after) if after in queue else -1
    ahead = queue[at + 1 :] if direction > 0 else queue[: max(at, 0)][::-1]
    for start in range(0, len(ahead), _AT_ONCE):
        part = ahead[start : start + _AT_ONCE]
        rows = {row.id: row for row in store.runs.item_rows(part)}
        for item in part:
            row = rows.get(item)
            if row is not None and row.labelled < row.claims:
                return item
    return None


def item_of(store: "Store", run: RunId, conversation: ConversationId) -> ItemId | None:
    """Find a conversation in a run; None when the run does not hold it."""
    queue = store.runs.item_ids(run, "number")
    for start in range(0, len(queue), _AT_ONCE):
        for row in store.runs.item_rows(queue[start : start + _AT_ONCE]):
            if row.conversation == conversation:
                return row.id
    return None
