"""What tests of the review screen have in common: what is stored, and a blind queue."""

from pathlib import Path

from textual.pilot import Pilot

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.store.records import ReviewView
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.samples.queue import make_sample_queue
from tests.tui.driving import (
    calm,
    opened,
    until,
)

SIZES = [(80, 24), (120, 40), (200, 60)]
SIZE = (120, 40)
HINTS = ("supported in w", "T4", "0.97", "names a fee", "0.82", "contradicts", "No truth speaks")


def stored(path: Path, number: int = 1, reviewer: str = "ann") -> ReviewView:
    with Store.open(path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        return store.runs.read_conversation_for_review(
            store.runs.list_item_ids(run, "number")[number - 1], reviewer
        )


def focused(app: FaithApp) -> str | None:
    return app.focused.id if app.focused else None


def said(view: ReviewView) -> list[str | None]:
    return [claim.mine.verdict if claim.mine else None for claim in view.claims]


def acts(path: Path) -> list[tuple[str, str | None, str | None, str | None, bool]]:
    """Read the log of ann: action, verdict, code, mark, whether the judge was known."""
    with Store.open(path) as store, store._database.open_reader() as connection:
        rows = connection.exec_driver_sql(
            "SELECT action, verdict, reason_code, mark, saw_judge FROM human_label "
            "WHERE reviewer = 'ann' ORDER BY clock, uid"
        ).all()
    return [(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows]


async def blinded(pilot: Pilot[None], path: Path, **changes: object) -> ReviewScreen:
    """Open a blind sample of everything, in the drawn order."""
    app = pilot.app
    assert isinstance(app, FaithApp)
    await opened(pilot)
    store = app.session.store
    run = store.runs.find_newest_run_id()
    assert run is not None
    share = changes.pop("shown_share", 0.0)
    assert isinstance(share, float)
    plan = SamplePlan(SamplingDesign.SIMPLE, 7, size=100, shown_share=share)
    row = store.samples.save_draw_as_sample(
        run, "ann", make_sample_draw(store.samples.read_frame(run), plan), plan, name="random"
    )
    app.session.start_queue(make_sample_queue(store, row.id, "ann"))
    app.show_screen("review")
    await calm(pilot)
    screen = app.screen
    assert isinstance(screen, ReviewScreen)
    await until(pilot, lambda: screen.view is not None)
    await calm(pilot)
    return screen
