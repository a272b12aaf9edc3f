"""Samples of the newest run as queues of `ann`, which another open app of hers answers too."""

from collections.abc import Sequence

from faithtui.agreement.sampling.draw import SamplingDesign
from faithtui.domain.ids import ClaimId
from faithtui.engine.review.samples.sample_queues import SampleRequest, draw_and_save_run_sample
from faithtui.store.samples.sample_records import SampleRow
from faithtui.store.store import Store
from faithtui.tui.samples.queue import make_sample_queue
from faithtui.tui.session import Session
from tests.tui.fake_screens import FakeReviewScreen


async def open_sample_queue(
    session: Session, size: int, *, blind: bool = True, screen: FakeReviewScreen | None = None
) -> tuple[FakeReviewScreen, SampleRow, Sequence[ClaimId]]:
    """Draw a sample and begin with it; gives its claims in the order in which they are served."""
    store = session.store
    run = store.runs.find_newest_run_id()
    assert run is not None
    request = SampleRequest("", design=SamplingDesign.SIMPLE, size=size, blind=blind)
    row = draw_and_save_run_sample(store, run, "ann", request)
    session.start_queue(make_sample_queue(store, row.id, "ann"))
    screen = FakeReviewScreen(session) if screen is None else screen
    screen.loader.reload()
    await screen.settle()
    screen.panes.claims.blocked = 0
    entries = store.samples.list_claims_in_served_order(row.id, "ann")
    return screen, row, [each.claim for each in entries]


def label_in_other_app(store: Store, row: SampleRow, claim: ClaimId, verdict: str = "no") -> None:
    """Label a claim of a sample as another process of `ann` does."""
    store.label_log.record_verdict(
        claim, "ann", verdict, run=row.run, saw_judge=False, sample=row.id
    )
