"""Labels that another open app of the same annotator gives to the claim on screen.

Two apps, or an app and line mode, may work through one queue. What the other one labels is said,
and no single key replaces it: the annotator typed it for a claim without that label.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithtui.domain.ids import ClaimId, LabelId
from faithtui.domain.labels.label_events import Action, HumanVerdict, LabelEvent
from faithtui.domain.labels.label_sets import LabelSet
from faithtui.errors import StoreError
from faithtui.store.annotations.blind_view import has_given_queue_verdict
from faithtui.store.records import ClaimView, ReviewView
from faithtui.tui.review import position
from faithtui.tui.review.labels.verdict_keys import drop_keys_typed_ahead
from faithtui.tui.samples.queue import ClaimQueue, QueuePosition, load_queue_position
from faithtui.tui.screen.controller import Controller
from faithtui.tui.screen.early_keys import list_typed_keys
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece
from faithtui.tui.widgets.bars import StatusLine

if TYPE_CHECKING:
    from faithtui.tui.review.conversation_loader import LoadedConversation
    from faithtui.tui.review.labels.verdicts import LastVerdict
    from faithtui.tui.review.review_screen import ReviewScreen


@dataclass(frozen=True, slots=True)
class OutdatedVerdict:
    """A verdict that was given here, and replaced or taken back in another app."""

    given: "LastVerdict"
    label: str | None
    """The label of its claim by now."""


class OtherAppLabels(Controller["ReviewScreen"]):
    """Takes over what another app labelled, and refuses the first key that would replace it."""

    def __init__(self, screen: "ReviewScreen") -> None:
        super().__init__(screen)
        self._unconfirmed: set[ClaimId] = set()
        """Claims with a label of another app on which no key was refused yet."""
        self._newest_at_first: LabelId | None = None
        """The newest event when the first conversation was read: what is older is no other app's,
        though it may be hidden here."""

    def read_queue_position(self, queue: ClaimQueue | None) -> tuple[QueuePosition | None, int]:
        """Read how far the annotator is in a queue, if that is not known. Meant for a thread.

        Returns:
            The position, and `changes` of the one there was.
        """
        if self._newest_at_first is None:
            self._newest_at_first = self.session.store.label_log.read_newest_event_id()
        known = self.screen.queue_navigator.cursor
        changes = 0 if known is None else known.changes
        if queue is None:
            return None, changes
        # The store lacks what is being saved; the last save reads again.
        is_outdated = known is not None and known.is_outdated and not self.screen.writer.in_flight
        if known is None or known.queue is not queue or is_outdated:
            known = load_queue_position(self.session.store, queue, self.session.reviewer)
        return known, changes

    def switch_queue_and_find_label(
        self, loaded: "LoadedConversation", view: ReviewView, claim_id: ClaimId | None
    ) -> ClaimView | None:
        """Go on in the queue as it was read, with the labels that its conversation shows.

        Args:
            loaded: What was read; the screen still shows what was read before.
            view: Its conversation, with labels that are being saved.
            claim_id: The claim to be shown.

        Returns:
            The claim to be shown if another open app has labelled it since; None otherwise.
        """
        labelled = self._find_claim_labelled_there(loaded, view, claim_id)
        self._forget_outdated_verdict(loaded.outdated_verdict)
        navigator = self.screen.queue_navigator
        read, known = loaded.queue_position, navigator.cursor
        if read is not None and known is not None and read.queue is known.queue:
            # What was read lacks an answer given here meanwhile: it is read once more.
            read = read if known.changes == loaded.position_changes else known
        navigator.switch_queue(read, loaded.view.item.id)
        if read is not None and read.queue.sample is not None:
            for claim in loaded.view.claims:
                if has_given_queue_verdict(claim, read.queue.sample):
                    read.note_answer_in_store(claim.id)
        return labelled

    def find_outdated_verdict(self) -> OutdatedVerdict | None:
        """Look whether the claim of the verdict given last has another by now, for a thread.

        Returns:
            None where it has not, or where the store lacks what is being saved.
        """
        given, queue = self.screen.verdicts.last_verdict, self.session.claim_queue
        if given is None or self.screen.writer.in_flight:
            return None
        if queue is not None and queue.repeats:
            return None  # What is said again changes no label.
        found = self.session.store.label_log.find_label(self.session.reviewer, given.claim)
        label = None if found is None else found.verdict
        return None if label == given.verdict else OutdatedVerdict(given, label)

    def _forget_outdated_verdict(self, outdated: OutdatedVerdict | None) -> None:
        """Let codes and repeats be about no verdict that another app replaced or took back."""
        verdicts = self.screen.verdicts
        if outdated is None or verdicts.last_verdict is not outdated.given:
            return
        verdicts.forget_last_verdict()
        repeated = verdicts.repeated.given
        if outdated.label is None and repeated and repeated.claim == outdated.given.claim:
            verdicts.repeated.forget("your last verdict was undone in another app")

    def warn_of_label_if_any(self, claim: ClaimView | None) -> None:
        """Say that a claim got a label in another app; the next verdict on it is refused."""
        if claim is None:
            return
        self._unconfirmed.add(claim.id)
        key = self.keys("review.next-unlabelled")
        writer, saved = self.screen.writer, self.screen.query_one(StatusLine).left
        if writer.in_flight or saved != writer.last_message:
            saved = ()  # What is being saved is said when it is saved.
        self.show_message(
            Piece(f"{self._describe_label(claim)} in another app", "warn"),
            Piece(f" · {key} goes on" + " · " * bool(saved)),
            *saved,
        )

    def confirm_labels(self, claims: Iterable[ClaimId]) -> None:
        """Refuse no key for labels on claims that get one of this app."""
        self._unconfirmed.difference_update(claims)

    def refuse_first_verdict(self, claim: ClaimView, *, replaces_label: bool = True) -> bool:
        """Refuse a verdict, once, or a skip on a claim that got its label in another app.

        Args:
            claim: The claim.
            replaces_label: Whether the key does so, pressed again.

        Returns:
            Whether it was refused; that was said.
        """
        if claim.id not in self._unconfirmed or self.screen.claim_range.start is not None:
            return False  # Which labels a range replaces is said.
        if replaces_label:
            self._unconfirmed.discard(claim.id)
        cursor = self.screen.queue_navigator.cursor
        is_answered = cursor is not None and claim.id in cursor.answered_claims
        if _get_verdict(claim) is None and not is_answered:
            return False  # It was taken back there.
        key = self.keys("review.next-unlabelled")
        words = f"not saved: {self._describe_label(claim)} in another app; "
        words += f"{'the key again replaces it, ' * replaces_label}{key} goes on"
        # A code that follows is not about the label before it.
        self.screen.verdicts.forget_last_verdict()
        # Those behind it were typed for the claims further down.
        if dropped := drop_keys_typed_ahead(self.screen, self.input_queue.last_key or ""):
            words += f"; nor were saved: {list_typed_keys(dropped)}"
        self.refuse(words)
        self.screen.repaint()
        return True

    async def describe_label_met(
        self, step: Sequence[LabelEvent], shown: Mapping[ClaimId, Collection[str | None]]
    ) -> tuple[Piece, ...]:
        """Say which label of another open app a verdict replaced, or a skip left as it is.

        Args:
            step: What was saved.
            shown: Labels that were given or seen here, by claim.

        Returns:
            () where there was none that was not seen.
        """
        is_skip = any(act.action is Action.SKIPPED for act in step)
        if not step or not (is_skip or all(act.verdict for act in step)):
            return ()
        label_log = self.session.store.label_log
        try:
            before = await self.read_in_thread(
                label_log.find_labels_before_step, step, self._newest_at_first or LabelId(0)
            )
        except StoreError:
            return ()  # it is saved all the same
        if is_skip:
            # Of another sample it is hidden here, and nobody else's.
            (act,) = step
            met = before.get(act.claim)
            if met is None or (act.sample is not None and met.sample != act.sample):
                return ()
            self.screen.call_later(self._note_answer_there, act.claim)
            found = [met.verdict]
        else:
            found = [
                mine.verdict
                for mine in before.values()
                if mine.verdict not in shown.get(mine.claim, ()) and not self._is_saved_here(mine)
            ]
        words = [each for each in found if each is not None]
        if not words:
            return ()
        state = self.screen.review_state
        label = describe_replaced_labels(words, state.label_set if state else None)
        if is_skip:
            return (Piece(f"{label} of another app stays", "warn"), Piece(" · "))
        key = self.keys("review.undo")
        return (
            Piece(f"replaced {label} of another app, {key} brings it back", "warn"),
            Piece(" · "),
        )

    def _note_answer_there(self, claim: ClaimId) -> None:
        """Let a claim that was skipped here be answered: it has its label."""
        if (cursor := self.screen.queue_navigator.cursor) is not None:
            cursor.note_answer_in_store(claim)
            self.screen.repaint()

    def _find_claim_labelled_there(
        self, loaded: "LoadedConversation", view: ReviewView, claim_id: ClaimId | None
    ) -> ClaimView | None:
        claim, known = position.find_claim(view, claim_id), self.screen.queue_navigator.cursor
        following = loaded.queue_position
        if claim is None or loaded.undone is not None:
            return None
        if (known and known.queue) is not (following and following.queue):
            return None  # What one queue hides another one shows.
        sample = None if known is None else known.queue.sample
        is_labelled = has_given_queue_verdict(claim, sample)
        if is_labelled and self._is_labelled_here(claim):
            return None
        if known is not None and following is not None and sample is not None:
            # What was said a second time is no verdict of the claim: only the queue knows it.
            is_answered = is_labelled or claim.id in following.answered_claims
            if is_answered and claim.id not in known.answered_claims:
                return claim
        shown = self.screen.find_claim(claim.id)
        is_new = shown is not None and _get_verdict(shown) != _get_verdict(claim)
        return claim if is_labelled and is_new else None

    def _is_labelled_here(self, claim: ClaimView) -> bool:
        """Say whether the label of a claim is one that this app saves or has saved."""
        is_saved = claim.mine is not None and self._is_saved_here(claim.mine)
        return is_saved or claim.id in self.screen.writer.pending_verdicts

    def _is_saved_here(self, mine: HumanVerdict) -> bool:
        return mine.event is not None and mine.event.id in self.session.saved_events

    def _describe_label(self, claim: ClaimView) -> str:
        state, verdict = self.screen.review_state, _get_verdict(claim)
        name = self.screen.format_claim_name(claim)
        if state is None or verdict is None:
            return f"{name} was labelled"
        word = position.translate_label(state.view, verdict) or verdict
        return f"{name} = {fmt.describe_label(word, state.label_set)}"


def _get_verdict(claim: ClaimView) -> str | None:
    return None if claim.mine is None else claim.mine.verdict


def describe_replaced_labels(words: Sequence[str], labels: LabelSet | None) -> str:
    """Name labels that were replaced: one by its name, several by how many there are of each."""
    counts = Counter(fmt.describe_label(each, labels) if labels else each for each in words)
    if len(words) == 1:
        return next(iter(counts))
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())
