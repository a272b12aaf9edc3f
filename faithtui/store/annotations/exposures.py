"""Who has had a judge's verdicts in view, on which conversation of a run.

A label that is given afterwards is not blind.
"""

from collections.abc import Callable, Collection
from datetime import datetime

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from faithtui.domain.ids import ConversationId, ItemId, RunId
from faithtui.domain.labels.label_events import NewEvent
from faithtui.store.database import Database
from faithtui.store.schema.statements import split_into_chunks
from faithtui.store.schema.storable_text import replace_unstorable_characters
from faithtui.store.schema.tables import claim, exposure, run_item


class Exposures:
    """What annotators have seen of the judges of a store."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def record(self, item: ItemId, reviewer: str) -> None:
        """Remember that an annotator has had the judge's verdicts on a conversation in view."""
        self.record_many([item], reviewer)

    def record_many(
        self, items: Collection[ItemId], reviewer: str, *, in_all_runs: bool = False
    ) -> None:
        """Remember the same of several conversations of runs.

        Args:
            items: The conversations.
            reviewer: Who has seen the words.
            in_all_runs: What the judges of all runs said of them was in view.
        """
        now = self._clock()
        reviewer = replace_unstorable_characters(reviewer)

        def insert_exposures(connection: Connection) -> None:
            found = set(items)
            if in_all_runs:
                same = run_item.alias()
                for some in split_into_chunks(list(items)):
                    found |= set(
                        connection.scalars(
                            select(run_item.c.id)
                            .join(same, same.c.conversation_id == run_item.c.conversation_id)
                            .where(same.c.id.in_(some))
                        )
                    )
            rows = [{"run_item_id": item, "reviewer": reviewer, "at": now} for item in found]
            if rows:
                connection.execute(sqlite_insert(exposure).on_conflict_do_nothing(), rows)

        self._database.run_in_write_transaction(insert_exposures)

    def record_conversations(
        self, run_id: RunId, conversations: Collection[ConversationId], reviewer: str
    ) -> None:
        """Remember the same of conversations as a run judged them."""
        items: list[ItemId] = []
        with self._database.open_reader() as connection:
            for some in split_into_chunks(list(set(conversations))):
                items += connection.scalars(
                    select(run_item.c.id).where(
                        run_item.c.run_id == run_id, run_item.c.conversation_id.in_(some)
                    )
                )
        self.record_many(items, reviewer)


def has_exposure(connection: Connection, act: NewEvent) -> bool:
    """Whether who labels had the judge of the run in view, on the conversation of the claim."""
    found = connection.execute(
        select(exposure.c.at)
        .join(run_item, run_item.c.id == exposure.c.run_item_id)
        .join(claim, claim.c.conversation_id == run_item.c.conversation_id)
        .where(
            run_item.c.run_id == act.run,
            claim.c.id == act.claim,
            exposure.c.reviewer == act.reviewer,
        )
    ).first()
    return found is not None
