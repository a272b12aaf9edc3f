"""What is read of a run for the list of its conversations, beside the rows themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from faithtui.domain.filters import TermName
from faithtui.domain.ids import ItemId, LabelId, RunId
from faithtui.engine.runs.run_liveness import read_run_marking_interrupted
from faithtui.store.records import RunRow

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec
    from faithtui.store.store import Store

ListMark = tuple[RunRow, LabelId]
"""A run without its calls, and the newest thing that anybody said: as long as they are the same,
so is everything that a list of its conversations shows."""


@dataclass(frozen=True, slots=True)
class ConversationListData:
    """What is known of all conversations of a run together."""

    run: RunId | None = None
    conversations: int = 0
    """How many they were when it was read."""
    key_prefix: str = ""
    """What all their ids begin with, left out in the list."""
    answer_labels: int = 0
    """Answers that came with a label of an annotator."""
    known: Mapping[TermName, tuple[str, ...]] = field(default_factory=dict)
    """Annotators and data sets, to be offered where a filter is typed."""

    def are_about(self, run: RunRow) -> bool:
        """Whether they are of this run, with the conversations that it has now."""
        return (self.run, self.conversations) == (run.id, run.conversations)


NO_FACTS = ConversationListData()


@dataclass(frozen=True, slots=True)
class LoadedList:
    """The order of the list, as it was read."""

    run: RunRow | None
    spec: "MetricSpec | None"
    """The run's metric; None without a run."""
    ids: Sequence[ItemId]
    mark: ListMark | None = None
    """What the run was known by when they were read."""
    facts: ConversationListData = NO_FACTS


def read_run_and_change_stamp(store: "Store", run: RunId) -> tuple[RunRow, ListMark]:
    """Read a run, and what shows whether anything of it changed."""
    newest = store.label_log.read_newest_event_id()
    row = read_run_marking_interrupted(store, run)
    return row, (_clear_call_counters(row), newest)


def read_conversation_list_data(store: "Store", row: RunRow) -> ConversationListData:
    """Read what is known of all conversations of a run together."""
    run, run_contents = row.id, store.run_contents
    known = {
        TermName.REVIEWER: run_contents.list_annotators(run),
        TermName.SOURCE: run_contents.list_sources(run),
    }
    return ConversationListData(
        run,
        row.conversations,
        run_contents.find_common_key_prefix(run),
        run_contents.count_imported_answer_labels(run),
        known,
    )


def _clear_call_counters(row: RunRow) -> RunRow:
    """Leave out what changes with every call and no row of the list shows."""
    return replace(
        row,
        calls=0,
        tokens_in=0,
        tokens_out=0,
        tokens_cached=0,
        cost_nusd=0,
        unpriced_calls=0,
        retries=0,
    )
