"""A hundred claims, a hundred keys: nothing else is pressed, and each key is one label."""

from collections.abc import Callable
from pathlib import Path

import pytest

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.engine.runs.runner import execute_run
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.samples.queue import make_sample_queue
from faithtui.tui.samples.queue_end_dialog import QueueEndDialog
from tests.engine.building import conversation, planned, store_with
from tests.tui.driving import acts, calm, opened, until

KEYS = "ynix"
WORDS = {"y": "yes", "n": "no", "i": "idk", "x": "x"}


@pytest.fixture
async def large(tmp_path: Path) -> Path:
    path = tmp_path / "large.db"
    with store_with(path, [conversation(f"c{number}", 12) for number in range(10)]) as store:
        await execute_run(store, planned(store), lambda event: None)
    return path


@pytest.mark.parametrize("blind", [True, False])
async def test_a_hundred_claims_take_a_hundred_keys(
    large: Path, make_app: Callable[[Path], FaithApp], blind: bool
) -> None:
    app = make_app(large)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        store: Store = app.session.store
        run = store.runs.find_newest_run_id()
        assert run is not None
        plan = SamplePlan(SamplingDesign.SIMPLE, 3, size=100, shown_share=0.2 if blind else 0.0)
        drawn = make_sample_draw(store.samples.read_frame(run), plan)
        row = store.samples.save_draw_as_sample(
            run, "ann", drawn, plan, name="hundred", blind=blind
        )
        app.session.start_queue(make_sample_queue(store, row.id, "ann"))
        app.show_screen("review")
        await calm(pilot)
        pressed = [KEYS[number % 4] for number in range(100)]
        for key in pressed:
            # Pilot waits until the key's row is painted, as eyes do; it does not wait for disks.
            await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, QueueEndDialog))
        asked = [entry.claim for entry in store.samples.list_claims_in_served_order(row.id, "ann")]
    given = [each for each in acts(large) if each[1] is not None]
    assert [each[1] for each in given] == [WORDS[key] for key in pressed]
    with Store.open(large) as store, store._database.open_reader() as connection:
        labelled = connection.exec_driver_sql(
            "SELECT claim_id FROM human_label WHERE verdict IS NOT NULL ORDER BY clock"
        ).scalars()
        assert list(labelled) == asked, "each claim once, in the drawn order"
