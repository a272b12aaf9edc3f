"""Undo and redo of what a reviewer said: one way for every screen on which something is said."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from textual.widgets import Input

from faithtui.domain.ids import ItemId
from faithtui.domain.labels.label_events import EventFilter, Step
from faithtui.tui.input_queue import KeyCheck, hold_keys_during_worker
from faithtui.tui.screen.controller import Controller, ScreenT, run_in_worker


@dataclass(frozen=True, slots=True)
class UndoneStep:
    """An undo or a redo that is in the store."""

    acts: Step
    """(): there was nothing left."""
    item: ItemId | None
    """Conversation of the run that holds the claim of the first one; None: not in this run."""
    words: str
    """`undone` or `redone`."""


class LabelUndo(Controller[ScreenT]):
    """Undo and redo of this reviewer's events; a screen binds `undo` and `redo` to keys of its own.

    Args:
        screen: The screen.
        show: Shows what changed, in the screen's turn.
        make_key_check: Makes what refuses keys about a claim that nobody has seen.
        is_concerned: Which label events they are about; None: all.
    """

    def __init__(
        self,
        screen: ScreenT,
        show: Callable[[UndoneStep], None],
        make_key_check: Callable[[], KeyCheck],
        is_concerned: EventFilter | None = None,
    ) -> None:
        super().__init__(screen)
        self._show = show
        self._make_key_check = make_key_check
        self._is_concerned = is_concerned
        self._check: KeyCheck | None = None
        """What is asked of keys typed before the step taken last is shown; None: there is none."""
        self._is_first = False
        """Whether no other undo or redo was typed at once with that step and before it."""

    def action_undo(self) -> None:
        """Take back the last step of this reviewer."""
        # A label that was given blind has shown the judge: the next one on its claim is not blind.
        unshown = self.session.list_labelled_without_judge()
        undo = partial(
            self.session.store.label_log.undo,
            judge_not_shown_on=unshown,
            is_concerned=self._is_concerned,
        )
        self._submit_undo_or_redo(undo, "undone")

    def action_redo(self) -> None:
        """Do again what was taken back last."""
        redo = partial(self.session.store.label_log.redo, is_concerned=self._is_concerned)
        self._submit_undo_or_redo(redo, "redone")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide both without a store, and where somebody types: there they are about the text."""
        return self.session.is_open and not isinstance(self.screen.focused, Input)

    def _submit_undo_or_redo(self, step: Callable[[str], Step], words: str) -> None:
        early = self.input_queue.early_inputs
        self._is_first, early.has_undone = not early.has_undone, True
        self.refuse_keys_behind_step()
        reviewer = self.session.reviewer
        future = self.session.store.submit(step, reviewer, urgent=True, durable=True)
        self._wait_for_undo_and_show(future, words)

    @property
    def is_under_way(self) -> bool:
        """Whether what the step taken last goes back to is not on the screen yet."""
        return self._check is not None and self.input_queue.early_inputs.next_check is self._check

    def refuse_keys_behind_step(self) -> None:
        """Refuse keys about a claim that come before what is on screen next."""
        self._ask_of_keys_behind_step(self._make_key_check())

    def _ask_of_keys_behind_step(self, check: KeyCheck) -> None:
        self._check = check
        self.input_queue.check_early_keys(check)

    def _show_step(self, step: UndoneStep) -> None:
        """Show what changed, and let a verdict typed behind a first step be about its claim.

        One step goes back to what was said last. Behind several typed at once a verdict would be
        about a claim that nobody has seen, as where another app, or an earlier session, said it.
        """
        is_known = all(act.id in self.session.saved_events for act in step.acts)
        if self._is_first and step.acts and step.item is not None and is_known:
            self._ask_of_keys_behind_step(lambda _key: False)
        self._show(step)

    # A verdict typed after it is meant for the claim that it goes back to.
    @hold_keys_during_worker(can_give_up=False)
    @run_in_worker("save", exclusive=False)
    async def _wait_for_undo_and_show(self, future: Future[Step], words: str) -> None:
        """Wait for the disk and find where the claim is."""
        acts = await asyncio.wrap_future(future)
        store, item = self.session.store, None
        if acts and self.session.run is not None:
            item = await self.read_in_thread(
                store.label_log.find_item_id_of_claim, self.session.run, acts[0].claim
            )
        self.screen.call_later(self._show_step, UndoneStep(acts, item, words))
