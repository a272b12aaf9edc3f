"""Undo and redo of what a reviewer said: one way for every screen on which something is said."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from textual import work
from textual.message import Message

from faithtui.domain.annotations import Step
from faithtui.domain.ids import ItemId
from faithtui.tui.navigation import holds_keys
from faithtui.tui.screen.main_screen import FaithScreen


class UndoScreen(FaithScreen):
    """A screen with `undo` and `redo`, which subclasses bind to keys. They show what changed."""

    @dataclass
    class TakenBack(Message):
        """An undo or a redo is in the store."""

        acts: Step
        """(): there was nothing left."""
        item: ItemId | None
        """Conversation of the run that holds the claim of the first one; None: not in this run."""
        words: str
        """`undone` or `redone`."""

    def action_undo(self) -> None:
        """Take back the last step of this reviewer."""
        self._submit_step(self.session.store.reviews.undo, "undone")

    def action_redo(self) -> None:
        """Do again what was taken back last."""
        self._submit_step(self.session.store.reviews.redo, "redone")

    def _submit_step(self, step: Callable[[str], Step], words: str) -> None:
        reviewer = self.session.reviewer
        future = self.session.store.submit(step, reviewer, urgent=True, durable=True)
        self.wait_taken_back(future, words)

    # A verdict typed after it is meant for the claim that it goes back to.
    @holds_keys(can_give_up=False)
    @work(group="save", exit_on_error=False)
    async def wait_taken_back(self, future: Future[Step], words: str) -> None:
        """Wait for the disk and find where the claim is."""
        acts = await asyncio.wrap_future(future)
        store, item = self.session.store, None
        if acts and self.session.run is not None:
            item = await self.read(store.reviews.find_item, self.session.run, acts[0].claim)
        self.post_message(self.TakenBack(acts, item, words))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done without a store."""
        if action in ("undo", "redo"):
            return self.session.is_open
        return super().check_action(action, parameters)
