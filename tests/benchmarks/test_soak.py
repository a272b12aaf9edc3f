"""Labelling in a terminal that is killed again and again: what was called saved is there."""

import random
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

from faithtui.engine.runs import runner
from faithtui.store.store import Store
from tests.benchmarks.measuring import app, environment, table
from tests.engine.building import conversation, planned, store_with
from tests.tui.terminal import Terminal
from tests.tui.test_terminal import claims, label, open_review, saved

KILLS = 12
CLAIMS = 12
CONVERSATIONS = 30


async def test_kill_9_at_random_moments_loses_no_label_that_was_called_saved(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.db"
    with store_with(path, [conversation(f"c{n}", CLAIMS) for n in range(CONVERSATIONS)]) as store:
        run = planned(store)
        await runner.execute_run(store, run, lambda event: None)
    choose = random.Random(20)
    told: Counter[tuple[int, str]] = Counter()
    pressed = 0
    for number in range(KILLS):
        # A home of its own each time, or the app would go on where it stopped.
        with Terminal(app(path), environment(tmp_path / f"home{number}")) as terminal:
            open_review(terminal)
            for _ in range(choose.randint(2, 10)):
                pressed += label(terminal, choose.choice("ynix"))
            terminal.press(*choose.choices("ynix", k=4))
            terminal.read(choose.random() * 0.05)
            terminal.kill()
            told += Counter(saved(terminal))
    with Store.open(path, create=False) as store:
        assert store.list_damage() == []
        numbers = {claim.id: claim.number for claim in claims(store)}
    with closing(sqlite3.connect(path)) as connection:
        log = connection.execute("SELECT claim_id, verdict FROM human_label WHERE verdict NOTNULL")
        written = Counter((numbers[claim], verdict) for claim, verdict in log)
    lost = told - written
    table(
        f"labels over {KILLS} kills",
        ("pressed", "called saved", "in the store", "lost"),
        [(f"{pressed}+", str(told.total()), str(written.total()), str(lost.total()))],
    )
    assert lost == Counter(), "something was called saved and is not there"
    assert told.total() > 2 * KILLS
