"""First rows of a conversation of 500 turns, against one of 20: processor time, in turns."""

import random
import time
from pathlib import Path
from typing import Any

import pytest
from textual._compositor import Compositor
from textual.pilot import Pilot

from faithtui.domain.claims.verdicts import Truth
from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.store.records import RunState
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.review.review_screen import ReviewScreen
from tests.benchmarks.measuring import ms, table
from tests.tui.building import SPEC, Said, assessments, save
from tests.tui.driving import opened, press, until

TURNS = (20, 500)
SENTENCES = 4
"""Of an answer, each a claim."""
ROUNDS = 5
"""The best of them counts: whatever else the machine does only adds."""
BOUND = 2.6
"""Times the first rows of the short one. Reading a verdict of each claim in each window is nearly
all that the long one adds."""


def long_store(path: Path) -> Path:
    """Make a run over a conversation of each length."""
    choose = random.Random(1)
    known = [
        "".join(choose.choices("abcdefghijklmnop", k=choose.randint(3, 9))) for _ in range(1_500)
    ]

    def make_sentence(words: int) -> str:
        return " ".join(choose.choice(known) for _ in range(words)).capitalize() + "."

    with Store.open(path) as store:
        made = []
        for length in TURNS:
            turns: list[Turn] = []
            said: list[Said] = []
            truths: list[Truth] = []
            for number in range(length // 2):
                text = " ".join(make_sentence(14) for _ in range(8))
                answer = [make_sentence(14) for _ in range(SENTENCES)]
                turns.append(Turn("user", make_sentence(12)))
                turns.append(Turn("assistant", " ".join(answer), (Document(text, "long.md"),)))
                said += [
                    Said(2 * number + 1, each, "yes", ((number, "supports"),)) for each in answer
                ]
                truths.append(Truth(make_sentence(10), text))
            made.append((Conversation("long", f"{length} turns", tuple(turns), "g"), said, truths))
        store.conversations.import_batch([chat for chat, _, _ in made])
        run = store.runs.create(SPEC, store.conversations.list_ids())
        for item, (chat, said, truths) in zip(store.runs.list_item_ids(run), made, strict=True):
            save(store, item, assessments(chat, said, truths))
        store.runs.set_state(run, RunState.DONE)
    return path


async def measure(path: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> tuple[float, float]:
    """Open a conversation: processor time to its first rows, and to all that it has, in seconds."""
    app = FaithApp(path, reviewer="ann")
    painted: list[float] = []
    update = Compositor.render_update

    def update_and_note(*args: Any, **kwargs: Any) -> Any:
        done = update(*args, **kwargs)
        screen = app.screen
        if isinstance(screen, ReviewScreen) and screen.view is not None:
            painted.append(time.process_time())
        return done

    async with app.run_test(size=(120, 40)) as pilot:
        await go_to(pilot, number)
        monkeypatch.setattr(Compositor, "render_update", update_and_note)
        began = time.process_time()
        await pilot.press("enter")
        await until(pilot, lambda: bool(painted))
        screen = app.screen
        assert isinstance(screen, ReviewScreen)

        def is_whole() -> bool:
            state = screen.review_state
            return state is not None and state.tokenised.is_filled

        await until(pilot, is_whole)
        ended = time.process_time()
        monkeypatch.setattr(Compositor, "render_update", update)
    return painted[0] - began, ended - began


async def go_to(pilot: Pilot[None], number: int) -> None:
    await opened(pilot)
    await press(pilot, "enter", *("j" * number))


async def test_first_rows_of_a_long_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = long_store(tmp_path / "long.db")
    await measure(path, 0, monkeypatch)  # what is imported late is imported now
    found: list[list[tuple[float, float]]] = [[], []]
    for _ in range(ROUNDS):
        for number in range(2):
            found[number].append(await measure(path, number, monkeypatch))
    first = [min(each[0] for each in times) for times in found]
    whole = [min(each[1] for each in times) for times in found]
    rows = [
        [f"{turns} turns", ms(first[n]), f"{first[n] / first[0]:.1f}x", ms(whole[n])]
        for n, turns in enumerate(TURNS)
    ]
    table("Opening a conversation, CPU", ["", "first rows", "to 20 turns", "all of it"], rows)
    assert first[1] <= BOUND * first[0]
