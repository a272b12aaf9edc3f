"""Who has read the judge's verdicts on the command line: they are not blind there any more."""

import sys
from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING

from faithtui.errors import StoreError

if TYPE_CHECKING:
    from faithtui.config import SettingsWithOrigins
    from faithtui.domain.ids import ConversationId, ItemId, RunId
    from faithtui.store.store import Store


def record_who_saw_judge_verdicts(
    store: "Store",
    items: "Collection[ItemId]",
    configured: "SettingsWithOrigins",
    reviewer: str | None,
    *,
    in_all_runs: bool = False,
) -> None:
    """Remember who has read what the judge said of conversations, where that is known.

    It is whoever is named as the reviewer. The login name alone names nobody in a script, and the
    person who sits there on a terminal.

    Args:
        store: Where it is remembered.
        items: The conversations.
        configured: The user's settings.
        reviewer: From the command line; None: from the settings.
        in_all_runs: What the judges of all runs said of them was printed.
    """
    who = _find_viewing_reviewer(configured, reviewer)
    if items and who is not None:
        # A store that can be read only has no labels that anything could be said of either.
        with suppress(StoreError):
            store.exposures.record_many(items, who, in_all_runs=in_all_runs)


def record_who_saw_judge_verdicts_of_run(
    store: "Store",
    run: "RunId",
    conversations: "Collection[ConversationId]",
    configured: "SettingsWithOrigins",
    reviewer: str | None,
) -> None:
    """Remember the same of conversations as a run judged them.

    See `record_who_saw_judge_verdicts`.
    """
    who = _find_viewing_reviewer(configured, reviewer)
    if conversations and who is not None:
        with suppress(StoreError):
            store.exposures.record_conversations(run, conversations, who)


def _find_viewing_reviewer(configured: "SettingsWithOrigins", reviewer: str | None) -> str | None:
    """Say who reads what is printed; None: nobody knows."""
    from faithtui.config import SettingOrigin

    if reviewer is not None:
        return reviewer
    named = configured.origins["reviewer"] is not SettingOrigin.DEFAULT
    return configured.settings.reviewer if named or sys.stdout.isatty() else None
