"""The claim that line mode asks about, with no more of the judge than the annotator may see."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from faithtui.domain.ids import ClaimId, ItemId
from faithtui.metrics.base import MetricSpec
from faithtui.store.annotations.blind_view import has_given_queue_verdict, hide_judge_verdicts
from faithtui.store.records import ClaimView, ReviewView
from faithtui.store.store import Store
from faithtui.tui.metric_words import get_metric_spec
from faithtui.tui.review.lines.evidence_lines import (
    RankedPassageView,
    TokenisedView,
    find_and_rank_claim_passages,
    tokenise_view,
)
from faithtui.tui.samples.queue import ClaimQueue


@dataclass(frozen=True, slots=True)
class ServedClaim:
    """The claim that is asked about."""

    view: ReviewView
    """Blinded, if it is to be."""
    claim: ClaimView
    spec: MetricSpec
    read: TokenisedView
    number: int
    """Place in the queue, from 1."""
    of: int
    shown: bool
    """The judge may be seen."""
    is_for_influence: bool = False
    """It is one of the claims of a blind sample that show the judge to measure its influence."""

    @property
    def name(self) -> str:
        """The claim by its number, such as `claim 3`."""
        return f"{self.spec.units[0]} {self.number}"

    @property
    def has_seen_judge_verdict(self) -> bool:
        """Whether the annotator has seen the judge's verdict, here or elsewhere."""
        return self.shown or self.claim.seen

    @property
    def passages(self) -> tuple[RankedPassageView, ...]:
        """The passages, ranked."""
        return find_and_rank_claim_passages(self.view, self.claim, None, self.read)


def read_served_claim(
    store: Store,
    queue: ClaimQueue,
    reviewer: str,
    item: ItemId,
    claim: ClaimId,
    revealed: Collection[ClaimId],
) -> ServedClaim:
    """Read a claim as an annotator may see it.

    Args:
        store: Where it is.
        queue: The queue that it is served from.
        reviewer: The annotator.
        item: The conversation as a run judged it.
        claim: The claim.
        revealed: Claims whose verdicts the annotator may see though the queue is blind.
    """
    view = store.runs.read_conversation_for_review(item, reviewer)
    spec = get_metric_spec(view.run.spec)
    own = next(each.mine for each in view.claims if each.id == claim)
    if queue.blind:
        # A claim that is asked again is hidden again, however it was labelled.
        asked = _remove_own_verdict_from_view(view, claim)
        view = hide_judge_verdicts(asked, revealed=revealed, sample=queue.sample)
    found = next(each for each in view.claims if each.id == claim)
    shown = claim not in view.hidden
    if own is not None and has_given_queue_verdict(replace(found, mine=own), queue.sample):
        found = replace(found, mine=own)
    place = queue.place[claim] + 1
    return ServedClaim(
        view,
        found,
        spec,
        tokenise_view(view),
        place,
        len(queue.entries),
        shown,
        is_for_influence=queue.blind and claim in queue.shown,
    )


def _remove_own_verdict_from_view(view: ReviewView, claim: ClaimId) -> ReviewView:
    """Take out the label that the annotator gave to a claim; the note and the flag stay."""
    return replace(
        view,
        claims=tuple(
            replace(each, mine=replace(each.mine, verdict=None, action=None, code=None))
            if each.id == claim and each.mine is not None
            else each
            for each in view.claims
        ),
    )
