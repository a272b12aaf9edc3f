"""Any keys, in any order, as fast as a terminal hands them over: no traceback, nothing lost."""

import asyncio
import contextlib
import itertools
import os
import random
import re
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from faithtui.config import load_settings_with_origins
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.engine.runs import run_execution
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.store.store import Store
from faithtui.tui import screen_catalog
from faithtui.tui.app import FaithApp
from faithtui.tui.input_queue import ModalWindow
from faithtui.tui.keymap.declared_bindings import map_binding_ids_to_default_keys
from faithtui.tui.review.labels.label_writer import LabelWriter
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece
from tests.engine.building import CountingJudge, conversation, opened, planned
from tests.tui.building import NOON, shop
from tests.tui.driving import has_settled, type_ahead

KEYS = int(os.environ.get("FAITHTUI_RANDOM_KEYS", "450"))
"""Keys typed in all; `.ci/wide` types more."""
SEEDS = (0, 1, 2)
"""Each begins in a terminal of another size."""


SIZES = ((80, 24), (120, 40), (200, 60))
SESSION = 700
"""Keys after which the app is started anew."""
OWN = frozenset({Action.BLIND, Action.AGREED, Action.OVERRIDDEN, Action.REPEATED})
"""What a verdict of one's own is stored as."""
GIVEN = re.compile(r"saved \d\d:\d\d:\d\d · (claim \d+ = (?:(?!in bulk| · | in ).)+)")
"""What the status line says of a verdict that is saved, and of nothing else. Elsewhere it is said
once more, with the name of the conversation it was made in."""
Said = Counter[str]
"""How often something was said, by its words on the status line."""


@pytest.mark.parametrize("seed", SEEDS)
async def test_random_keys_end_in_no_traceback_and_lose_nothing_that_was_called_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    typist = Typist(seed, tmp_path)
    typist.fill()
    listen(typist, monkeypatch)
    await typist.type_keys(KEYS // len(SEEDS))
    stored = typist.stored()
    assert typist.told, "some verdicts were given"
    assert not typist.told - stored, "said to be saved, and not in the store"
    assert not stored - typist.taken, "in the store, and given by no key"


class GatedJudge(CountingJudge):
    """Answers as many questions as it is allowed to."""

    def __init__(self) -> None:
        super().__init__()
        self._held: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()
        self._is_open = False

    async def send(self, request: JudgeRequest) -> JudgeReply:
        if not self._is_open:
            loop = asyncio.get_running_loop()
            held = loop.create_future()
            self._held.append((loop, held))
            await held
        return await super().send(request)

    def let_through(self, count: int = 1) -> None:
        """Answer some questions. Any thread."""
        for _ in range(count):
            if not self._held:
                return
            loop, held = self._held.popleft()
            with contextlib.suppress(RuntimeError):  # its run is over
                loop.call_soon_threadsafe(_release, held)

    def open_for_good(self) -> None:
        """Answer whatever comes."""
        self._is_open = True
        self.let_through(len(self._held))


def _release(held: asyncio.Future[None]) -> None:
    if not held.done():
        held.set_result(None)


@dataclass
class Typist:
    """Types keys that depend on the seed alone, and remembers what it was told.

    Args:
        seed: Decides which keys, and how many before the app may do anything.
        folder: Where store, settings and reports are.
    """

    seed: int
    folder: Path
    typed: int = 0
    taken: Said = field(default_factory=Counter)
    """Verdicts that were handed to the store."""
    told: Said = field(default_factory=Counter)
    """Verdicts of which the app said that they are saved."""
    visited: Counter[str] = field(default_factory=Counter)
    """Screens and windows on which keys were typed."""

    def __post_init__(self) -> None:
        self._choose = random.Random(self.seed)
        self._keys = sorted(
            {key for keys in map_binding_ids_to_default_keys().values() for key in keys}
            - {"ctrl+q"}
        )
        self._verdicts = 0
        """Bursts of verdicts that are still to come."""
        self.judge = GatedJudge()

    @property
    def store_path(self) -> Path:
        """The store."""
        return self.folder / "shop.db"

    def fill(self) -> None:
        """Make a store with a judged run, and one that is still to begin."""
        shop(self.store_path)
        with Store.open(self.store_path) as store:
            store.conversations.import_batch([conversation(key, 3) for key in "abcd"])
            planned(store)
        (self.folder / "config.toml").write_text('reviewer = "ann"\n', "utf-8")

    def burst(self) -> list[str]:
        """Choose what is typed without a pause: anything, or some verdicts now and then."""
        choose = self._choose
        keys: list[str] = []
        if self._verdicts:
            self._verdicts -= 1
            return choose.choices("ynix", k=choose.choice((1, 1, 1, 4)))
        if choose.random() < 0.06:
            self._verdicts = choose.randrange(1, 8)
            return ["escape", "escape", "g", "v"]
        for _ in range(choose.choice((1, 1, 1, 2, 3, 6))):
            way = choose.random()
            if way < 0.15:
                keys += ["g", choose.choice([*screen_catalog.LETTERS.values()])]
            elif way < 0.25:
                keys += [choose.choice(("escape", "enter"))]
            elif way < 0.252:
                keys += ["ctrl+q", choose.choice("yn")]
            else:
                keys += [choose.choice(self._keys)]
        return keys

    async def type_into(self, app: FaithApp, end: int) -> None:
        """Type until that many keys are typed in all, or the app is left."""
        while self.typed < end and app.is_running and app._exception is None:
            keys = self.burst()
            self.typed += len(keys)
            self.visited[type(app.screen).__name__] += len(keys)
            type_ahead(app, *keys)
            self.judge.let_through(self._choose.choice((0, 0, 1)))
            match self._choose.randrange(4):
                case 0:
                    pass  # the next burst comes before a single key of this one was looked at
                case 1:
                    for _ in range(self._choose.randrange(12)):
                        await asyncio.sleep(0)
                case 2:
                    await until_settled(app)
                case _:
                    await self.until_calm(app)
        await self.until_calm(app)

    async def give_a_verdict(self, app: FaithApp) -> None:
        """Open the run that is judged and press a verdict, where chance has given none so far."""
        tries = 0
        while not self.told and tries < 10 and app.is_running and app._exception is None:
            tries += 1
            for keys in (
                ("escape", "escape"),
                ("g", "r"),
                ("end", "enter"),
                ("home", "enter"),
                ("tab",) * tries,
                ("n",),
            ):
                type_ahead(app, *keys)
                await self.until_calm(app)

    async def type_keys(self, count: int) -> None:
        """Type that many keys, in terminals of each size in turn."""
        sizes = itertools.cycle((*SIZES[self.seed % 3 :], *SIZES[: self.seed % 3]))
        while self.typed < count:
            await self.session(next(sizes), min(count, self.typed + SESSION))
        if not self.told:  # the last keys may have left the app before a verdict was given
            await self.session(next(sizes), self.typed)

    async def session(self, size: tuple[int, int], end: int) -> None:
        """Start the app beside a run, type until that many keys are typed in all, and leave."""
        app = FaithApp(
            self.store_path,
            reviewer="ann",
            report_directory=self.folder / "reports",
            now=lambda: NOON,
            configured=load_settings_with_origins(self.folder / "config.toml", {"LANG": "C.UTF-8"}),
        )
        app.session.open_outside = lambda target: True
        async with app.run_test(size=size, notifications=True):
            while not app.session.is_open:  # noqa: ASYNC110 - there is no event to wait for
                await asyncio.sleep(0.001)
            await self.until_calm(app)
            begin_run_beside(app)
            await self.type_into(app, end)
            await self.give_a_verdict(app)
            if app.is_running and app._exception is None:
                stands_in_order(app)
            self.judge.open_for_good()
            for run in app.session.process_runs:
                run.cancel()
                assert run.join(20)
                assert run.bug is None, run.bug
            await self.until_calm(app)
        app.session.store.close()
        self.judge = GatedJudge()

    async def until_calm(self, app: FaithApp) -> None:
        """Wait until every key was handled, and nothing is read or saved any more."""
        while app.is_running and app._exception is None:
            await until_settled(app)
            if all(each.is_finished for each in app.workers):
                return
            self.judge.let_through()  # quitting waits for answers, and whoever asks again does
            await asyncio.sleep(0.001)

    def stored(self) -> Said:
        """Read the verdicts of one's own, in the words of the status line."""
        found: Said = Counter()
        with Store.open(self.store_path) as store:
            assert store.list_damage() == []
            numbers = {
                claim.id: claim.number
                for row in store.runs.list_runs()
                for item in store.runs.list_item_ids(row.id)
                for claim in store.runs.read_conversation_for_review(item, "ann").claims
            }
            with store._database.open_reader() as connection:
                rows = connection.exec_driver_sql(
                    "SELECT claim_id, action, verdict FROM human_label WHERE reviewer = 'ann'"
                ).all()
        for claim, action, verdict in rows:
            if action in OWN:
                found[f"claim {numbers[claim]} = {fmt.describe_label(verdict, FAITHFULNESS)}"] += 1
        return found


def begin_run_beside(app: FaithApp) -> None:
    """Take up the run that was not through, as somebody does who goes on with it."""
    runs = [row.id for row in app.session.store.runs.list_runs() if row.pending]
    if runs:
        app.background_runs.begin_or_resume_run(runs[0], follow=False)


def stands_in_order(app: FaithApp) -> None:
    """See that a main screen lies below, windows alone above it, and that each has its panes."""
    bottom, main, *above = app.screen_stack
    assert not isinstance(bottom, FaithScreen | ModalWindow)
    assert isinstance(main, FaithScreen)
    assert main is app.get_screen(app.current_screen_name)
    assert all(each.is_modal for each in above)
    assert all(each.is_mounted for each in app.screen_stack)


async def until_settled(app: FaithApp) -> None:
    """Wait until every key was handled."""
    while not has_settled(app):  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0.001)


def listen(typist: Typist, patch: pytest.MonkeyPatch) -> None:
    """Let a typist hear what becomes of verdicts, and let its judge answer all runs."""
    say, hand = FaithScreen.show_message, LabelWriter.save_verdict

    def heard(screen: FaithScreen, *pieces: Piece) -> None:
        words = "".join(piece.text for piece in pieces)
        verdict = GIVEN.fullmatch(words)
        if isinstance(screen, ReviewScreen) and verdict is not None:
            typist.told[verdict[1]] += 1
        say(screen, *pieces)

    def taken(writer: LabelWriter, claim: object, verdict: str, code: str | None = None) -> None:
        number = claim.number  # type: ignore[attr-defined]  # a ClaimView
        typist.taken[f"claim {number} = {fmt.describe_label(verdict, FAITHFULNESS)}"] += 1
        hand(writer, claim, verdict, code)  # type: ignore[arg-type]  # the same

    patch.setattr(FaithScreen, "show_message", heard)
    patch.setattr(LabelWriter, "save_verdict", taken)
    patch.setattr(run_execution, "open_judge", lambda *args, **kwargs: opened(typist.judge))
    patch.delenv("VISUAL", raising=False)
    patch.delenv("EDITOR", raising=False)
