"""Checks of a run's conversations while it goes on: each as it finishes, the rest at the end.

They are made in a thread, one conversation at a time, so that answers of judges that arrive
meanwhile are read. What a stop leaves unchecked says so, and is checked when the run goes on.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from faithtui.domain.claims.verdicts import Assessment
from faithtui.domain.conversation import Conversation
from faithtui.domain.ids import ItemId, RunId
from faithtui.engine.integrity.judged_conversations import CheckRules
from faithtui.engine.integrity.run_checks import (
    check_stored_conversation,
    check_unsaved_assessments,
)
from faithtui.errors import StoreError
from faithtui.store.records import ItemCheckResult, ItemState
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

    async def check_unsaved_assessments(
        self,
        item: ItemId,
        state: ItemState,
        conversation: Conversation,
        assessments: Sequence[Assessment],
    ) -> ItemCheckResult | None:
        """Check a conversation that was just judged and is not stored yet.

        Args:
            item: The conversation of the run.
            state: The state it is about to have.
            conversation: What was judged.
            assessments: All its windows.

        Returns:
            What to store with it. None where only what is stored can be checked: findings about
            claims name them by their number in the store.
        """
        complete = state is ItemState.DONE

        def check() -> ItemCheckResult | None:
            found = check_unsaved_assessments(
                conversation, assessments, self._rules, complete=complete
            )
            if any(each.claim is not None for each in found.findings):
                return None
            return ItemCheckResult(item, state, len(assessments), found.findings, found.counts)

        return await self._check_in_thread(item, check)

    async def check_stored_conversation_and_save_findings(self, item: ItemId) -> None:
        """Check a conversation as it is stored, and keep what was found.

        Raises:
            StoreError: The store cannot be read or written.
        """
        checked = await self._check_in_thread(
            item, lambda: check_stored_conversation(self._store, item, self._rules)
        )
        if checked is not None:
            await self._write(self._store.findings.replace_findings_of_conversations, [checked])

    async def check_and_save_remaining_conversations(self, run: RunId) -> None:
        """Check what a stop, or an earlier version of the checks, left unchecked."""
        for item in self._store.findings.list_unchecked_conversations(run):
            await self.check_stored_conversation_and_save_findings(item)

    async def _check_in_thread(
        self, item: ItemId, check: Callable[[], ItemCheckResult | None]
    ) -> ItemCheckResult | None:
        try:
            async with self._one_at_a_time:
                return await asyncio.to_thread(check)
        except StoreError:
            raise
        except Exception:
            # Whatever text trips a check, the run is paid for and goes on. The conversation stays
            # unchecked, which every score of the run says, and `faithtui check` fails aloud.
            _log.exception("item %d could not be checked", item)
            return None
