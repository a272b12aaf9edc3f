"""Undo and redo of what a reviewer said: one way for every screen on which something is said."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from textual.widgets import Input

from faithtui.domain.ids import ItemId
from faithtui.domain.labels.label_events import EventFilter, Step
from faithtui.tui.input_queue import hold_keys_during_worker
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
        is_concerned: Which label events they are about; None: all.
    """

    def __init__(
        self,
        screen: ScreenT,
        show: Callable[[UndoneStep], None],
        is_concerned: EventFilter | None = None,
    ) -> None:
        super().__init__(screen)
        self._show = show
        self._is_concerned = is_concerned
        self._is_typed_ahead = False
        """Whether the step that is being taken was typed before the one before it was shown."""
        self._is_next_typed_ahead = False
        """Whether another step was typed when this one was shown."""

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

    def finish_step(self) -> bool:
        """Say whether what was typed behind a step is about a claim nobody has seen.

        Meant to be called once, when the step is shown. One undo goes back to what was said last;
        where several are typed at once, who types does not see what each of them goes back to.

        Returns:
            True where the step was typed before the step before it was shown.
        """
        active = self.screen.active_bindings.items()
        steps = {key for key, each in active if each.binding.action in ("undo", "redo")}
        self._is_next_typed_ahead = self.input_queue.next_key in steps
        return self._is_typed_ahead

    def _submit_undo_or_redo(self, step: Callable[[str], Step], words: str) -> None:
        self._is_typed_ahead, self._is_next_typed_ahead = self._is_next_typed_ahead, False
        reviewer = self.session.reviewer
        future = self.session.store.submit(step, reviewer, urgent=True, durable=True)
        self._wait_for_undo_and_show(future, words)

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
        self.screen.call_later(self._show, UndoneStep(acts, item, words))
