"""What a reviewer works through: claims in an order, or the conversations of a run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from faithtui.domain.ids import ClaimId, ConversationId, ItemId, LabelId, RunId, SampleId

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
    reveals_judge: bool = False
    """They were chosen by the judge's verdict, so that nobody is blind to it here."""
    repeats: bool = False
    """One's own labelled claims once more: what is said is compared, and changes nothing."""
    newest_act: LabelId = field(default=LabelId(0), compare=False)
    """What the reviewer says after this event of the claims of a queue without a sample are its
    answers."""
    answered: set[ClaimId] = field(default_factory=set, compare=False)
    """Claims of a queue without a sample that are answered; the store does not know them as such.
    After a restart they come from the labels given since `newest_act`."""
    place: dict[ClaimId, int] = field(default_factory=dict, compare=False)
    """Place of each claim in `entries`; made here."""

    def __post_init__(self) -> None:
        """Index the claims."""
        self.place.update({claim: at for at, (_, claim) in enumerate(self.entries)})

    @property
    def is_convenience(self) -> bool:
        """Whether the order says nothing about the rest of the run."""
        return self.sample is None

    @property
    def first_open_claim(self) -> ClaimId | None:
        """The first claim that is not among `answered`; None: all are."""
        return next((claim for _, claim in self.entries if claim not in self.answered), None)

    def has_conversation(self, item: ItemId) -> bool:
        """Say whether a claim of a conversation is in it."""
        return any(each == item for each, _ in self.entries)


class QueuePosition:
    """A queue, and how far somebody is in it."""

    def __init__(
        self, queue: ClaimQueue, done: Iterable[ClaimId] = (), later: Iterable[ClaimId] = ()
    ) -> None:
        self.queue = queue
        self.answered_claims = set(done)
        """Claims that have been answered."""
        self.skipped_claims = set(later)
        """Claims that were skipped; they come again at the end."""
        self.current_place = -1
        """Place of the claim that is looked at, or was last."""
        self.is_outdated = False
        """The store knows better by now what is answered."""
        self.changes = 0
        """How many answers were noted here or taken back: a position that was read meanwhile lacks
        the last of them."""
        self.is_end_reported = False
        """What came of the queue was said, and no claim was opened again since."""

    def move_to(self, claim: ClaimId | None) -> None:
        """Note which claim is looked at; one outside the queue changes nothing."""
        if claim is not None:
            self.current_place = self.queue.place.get(claim, self.current_place)

    def mark_answered(self, claim: ClaimId) -> None:
        """Note that a claim has its verdict."""
        if claim in self.queue.place:
            self.changes += 1
            self.note_answer_in_store(claim)

    def note_answer_in_store(self, claim: ClaimId) -> None:
        """Note that the store has the answer of a claim, whichever app it was given in."""
        if claim in self.queue.place:
            self.answered_claims.add(claim)
            self.skipped_claims.discard(claim)

    def mark_open(self, claim: ClaimId) -> None:
        """Note that a claim has no answer after all: it was taken back, or could not be saved."""
        self.changes += 1
        self.answered_claims.discard(claim)
        self.skipped_claims.discard(claim)
        self.is_end_reported = False

    @property
    def is_over(self) -> bool:
        """Whether every claim is labelled or skipped."""
        return all(
            claim in self.answered_claims or claim in self.skipped_claims
            for _, claim in self.queue.entries
        )

    def mark_skipped(self, claim: ClaimId) -> None:
        """Note that a claim was skipped."""
        if claim in self.queue.place:
            self.changes += 1
            self.skipped_claims.add(claim)

    def list_next_open_claims(self, count: int) -> tuple[tuple[ItemId, ClaimId], ...]:
        """List what comes next, at most so many: open ones onwards, those before, those skipped."""
        entries = self.queue.entries
        turn = (*entries[self.current_place + 1 :], *entries[: self.current_place + 1])
        current = entries[self.current_place][1] if 0 <= self.current_place < len(entries) else None
        waiting = [
            each for each in turn if each[1] not in self.answered_claims and each[1] != current
        ]
        fresh = (each for each in waiting if each[1] not in self.skipped_claims)
        again = (each for each in waiting if each[1] in self.skipped_claims)
        return tuple(islice(chain(fresh, again), count))

    def find_previous_open_claim(self) -> tuple[ItemId, ClaimId] | None:
        """Find the nearest open claim before this one; None when there is none."""
        for entry in reversed(self.queue.entries[: max(0, self.current_place)]):
            if entry[1] not in self.answered_claims:
                return entry
        return None


def load_queue_position(store: "Store", queue: ClaimQueue, reviewer: str) -> QueuePosition:
    """Take up a queue where an annotator left it."""
    if queue.sample is None:
        cursor = QueuePosition(queue)
        cursor.answered_claims = queue.answered
        return cursor
    entries = store.samples.list_claims_in_served_order(queue.sample, reviewer)
    return QueuePosition(
        queue,
        (each.claim for each in entries if each.answered),
        (each.claim for each in entries if each.skipped),
    )


def find_next_open_claim(store: "Store", queue: ClaimQueue, reviewer: str) -> ClaimId | None:
    """Find where an annotator goes on with a queue, those skipped last; None: all are answered."""
    following = load_queue_position(store, queue, reviewer).list_next_open_claims(1)
    return following[0][1] if following else None


def make_found_queue_with_progress(store: "Store", reviewer: str, found: ClaimQueue) -> ClaimQueue:
    """Take up claims that were found by a filter or a list where an annotator left them.

    Those with a label of the reviewer are done; where all have one, they are gone through
    once more.

    Args:
        store: Where to look.
        reviewer: Whose verdicts count.
        found: The claims, as they were found.
    """
    claims = [claim for _, claim in found.entries]
    labelled = store.label_log.list_claims_labelled_after_event(reviewer, claims, LabelId(0))
    if len(labelled) < len(claims):
        return replace(found, newest_act=LabelId(0), answered=labelled, place={})
    return replace(found, newest_act=store.label_log.read_newest_event_id(), place={})


def make_sample_queue(store: "Store", sample: SampleId, reviewer: str) -> ClaimQueue:
    """Make the queue of a drawn sample, as it is served to an annotator."""
    from faithtui.agreement.sampling.draw import SampleKind

    row = store.samples.read_sample(sample, reviewer)
    entries = store.samples.list_claims_in_served_order(sample, reviewer)
    return ClaimQueue(
        title=row.name,
        run=row.run,
        entries=tuple((each.item, each.claim) for each in entries),
        blind=row.blind,
        sample=row.id,
        shown=frozenset(each.claim for each in entries if each.shown),
        repeats=row.kind is SampleKind.REPEAT,
    )


def find_nearest_open_conversation(
    store: "Store",
    reviewer: str,
    queue: Sequence[ItemId],
    after: ItemId | None,
    direction: int,
) -> ItemId | None:
    """Find the nearest conversation that has a claim without a label of the reviewer.

    Args:
        store: Where to look.
        reviewer: Whose verdicts count.
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
        own = store.runs.count_own_labels(part, reviewer)
        for row in store.runs.read_item_rows(part):
            if own[row.id] < row.claims:
                return row.id
    return None


def find_item_id_of_conversation(
    store: "Store", run: RunId, conversation: ConversationId
) -> ItemId | None:
    """Find a conversation in a run; None when the run does not hold it."""
    queue = store.runs.list_item_ids(run, "number")
    for start in range(0, len(queue), _AT_ONCE):
        for row in store.runs.read_item_rows(queue[start : start + _AT_ONCE]):
            if row.conversation == conversation:
                return row.id
    return None
