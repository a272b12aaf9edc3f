"""Checks of a run's conversations while it goes on: each as it finishes, the rest at the end.

They are made in a thread, one conversation at a time, so that answers of judges that arrive
meanwhile are read. What a stop leaves unchecked says so, and is checked when the run goes on.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from faithtui.domain.assessment import Assessment
from faithtui.domain.conversation import Conversation
from faithtui.domain.ids import ItemId, RunId
from faithtui.engine.checking import check_assessed, check_stored
from faithtui.engine.judged_conversations import CheckRules
from faithtui.errors import StoreError
from faithtui.store.records import CheckedItem, ItemState
from faithtui.store.store import Store

_log = logging.getLogger("faithtui.run")


class ItemChecks:
    """Checks conversations of a run and writes down what was found."""

    def __init__(
        self, store: Store, rules: CheckRules, write: Callable[..., Awaitable[Any]]
    ) -> None:
        """Prepare.

        Args:
            store: Where the run is.
            rules: What the checks must know of its metric.
            write: Writes on the store's own thread.
        """
        self._store = store
        self._rules = rules
        self._write = write
        self._one_at_a_time = asyncio.Lock()
        self._waiting = 0

    @property
    def is_checking(self) -> bool:
        """Whether somebody waits for a check."""
        return self._waiting > 0

    async def check_item(
        self,
        item: ItemId,
        state: ItemState,
        judged: tuple[Conversation, Sequence[Assessment]] | None,
    ) -> None:
        """Check a conversation that is judged and stored.

        Args:
            item: The conversation of the run.
            state: Its state.
            judged: What was judged and what came of it, where that is all that is stored: it need
                not be read again unless something is found. None: it is read from the store.

        Raises:
            StoreError: What was found cannot be written.
        """
        self._waiting += 1
        try:
            async with self._one_at_a_time:
                checked = await asyncio.to_thread(self._checked, item, state, judged)
        except StoreError:
            raise
        except Exception:
            # Whatever text trips a check, the run is paid for and goes on. The conversation stays
            # unchecked, which every score of the run says, and `faithtui check` fails aloud.
            _log.exception("item %d could not be checked", item)
            return
        finally:
            self._waiting -= 1
        await self._write(self._store.findings.save, [checked])

    async def check_rest(self, run: RunId) -> None:
        """Check what a stop, or an earlier version of the checks, left unchecked."""
        for item in self._store.findings.unchecked(run):
            await self.check_item(item, ItemState.DONE, None)

    def _checked(
        self,
        item: ItemId,
        state: ItemState,
        judged: tuple[Conversation, Sequence[Assessment]] | None,
    ) -> CheckedItem:
        if judged is not None:
            conversation, assessments = judged
            complete = state is ItemState.DONE
            found = check_assessed(conversation, assessments, self._rules, complete=complete)
            # Findings about claims name them by their number in the store.
            if all(each.claim is None for each in found.findings):
                return CheckedItem(item, state, len(assessments), found.findings, found.counts)
        return check_stored(self._store, item, self._rules)
