"""Figures of runs that cost: read beside the keys, the chosen run first, kept until they change."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from faithtui.domain.ids import LabelId, RunId
from faithtui.errors import ConfigError, StoreBusy, StoreError
from faithtui.store.runs.run_records import RunRow, RunState
from faithtui.tui.metric_words import list_changed_options
from faithtui.tui.runs.lowest_scores_pane import MOST_LISTED
from faithtui.tui.runs.next_steps import QueueFacts, RunKnowledge
from faithtui.tui.runs.run_lines import MOST_CLAIMS, run_line
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.theme.lines import Line

if TYPE_CHECKING:
    from faithtui.engine.review.run_overview import RunCounts, RunTrust
    from faithtui.store.records import ItemRow
    from faithtui.tui.runs.runs_screen import RunsScreen
    from faithtui.tui.session import Session

REREAD_FACTOR = 10
"""How many times as long as computing took it is left alone, however often something changes."""


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What was read of a run beside its row."""

    row: RunRow
    newest: LabelId | None
    """The newest thing that anybody said when it was read."""
    counts: "RunCounts | None"
    trust: "RunTrust | None"
    """None: not computed, as the run is under way, nobody has said anything, or there are too
    many claims."""
    queues: QueueFacts | None
    changed_options: Mapping[str, object]
    lowest: "tuple[ItemRow, ...]"
    """Its conversations with the lowest scores, the lowest first."""
    key_prefix: str
    """What all its conversations' keys begin with."""
    rest_until_s: float
    """When it may be read again."""
    started_at: datetime | None = None
    """When the first came of it; None: nothing did."""
    failure: str | None = None
    """Why some or all of it could not be read."""


class FigureReader(Controller["RunsScreen"]):
    """Reads figures of the listed runs in a worker, one run after the other."""

    def __init__(self, screen: "RunsScreen") -> None:
        super().__init__(screen)
        self._known: dict[RunId, RunFigures] = {}
        self._newest: LabelId | None = None
        self._is_reading = False

    def get_known_figures(self, run: RunId) -> RunFigures | None:
        """Give what is known of a run; it may be older than the run's row."""
        return self._known.get(run)

    def format_run_line(self, row: RunRow, width: int, here: bool) -> Line:
        """Draw a run in the list, with what is known of it."""
        found = self._known.get(row.id)
        return run_line(
            row,
            width,
            here,
            None if found is None else found.trust,
            blind=self.session.is_blind,
            at_start=self.screen.is_at_start,
            is_read=found is not None,
            has_failed=found is not None and found.failure is not None,
        )

    def make_run_knowledge(self, row: RunRow) -> RunKnowledge:
        """Say what is known of a run, for what can be done next."""
        found = self._known.get(row.id)
        knowledge = RunKnowledge(
            is_under_way=self.screen.is_under_way(row.id),
            has_sibling=any(
                each.id != row.id and each.spec.metric == row.spec.metric
                for each in self.screen.all_runs
            ),
            blind=self.session.is_blind,
        )
        if found is None:
            return knowledge
        return replace(knowledge, counts=found.counts, trust=found.trust, queues=found.queues)

    def start_reading_outdated_figures(self) -> None:
        """Begin to read what is not known, or not any more; nothing where that is under way."""
        if not self._is_reading and self.session.is_open:
            self._is_reading = True
            self._read_outdated_runs()

    @run_in_worker("figures", exclusive=False)
    async def _read_outdated_runs(self) -> None:
        try:
            while self.screen.is_current and self.session.is_open:
                try:
                    self._newest = await self.read_in_thread(
                        self.session.store.label_log.read_newest_event_id
                    )
                except StoreBusy:
                    raise
                except StoreError as error:
                    self._show_failure_of_all(str(error))
                    return
                row = next(self._list_outdated(), None)
                if row is None:
                    self._schedule_refresh()
                    return
                known = await self.read_in_thread(self._read_figures, row, self._newest)
                self._known[row.id] = known
                self.screen.call_later(self.screen.show_figures, row.id)
        finally:
            self._is_reading = False

    def _show_failure_of_all(self, failure: str) -> None:
        """Say of each run that its figures could not be read."""
        for row in self._list_rows_chosen_first():
            options = list_changed_options(row.spec)
            self._known[row.id] = RunFigures(
                row, None, None, None, None, options, (), "", self.session.seconds(), None, failure
            )
            self.screen.call_later(self.screen.show_figures, row.id)

    def _list_outdated(self) -> Iterator[RunRow]:
        """List the runs whose figures are to be read, the chosen one first."""
        now = self.session.seconds()
        for row in self._list_rows_chosen_first():
            found = self._known.get(row.id)
            if found is None or (now >= found.rest_until_s and not self._has_current_figures(row)):
                yield row

    def _has_current_figures(self, row: RunRow) -> bool:
        found = self._known.get(row.id)
        return found is not None and (found.row, found.newest) == (row, self._newest)

    def _schedule_refresh(self) -> None:
        """Read again later what may not be read again yet."""
        resting = [
            self._known[row.id].rest_until_s
            for row in self._list_rows_chosen_first()
            if row.id in self._known and not self._has_current_figures(row)
        ]
        if resting:
            rest = max(0.1, min(resting) - self.session.seconds())
            self.screen.set_timer(rest, self.start_reading_outdated_figures)

    def _list_rows_chosen_first(self) -> Sequence[RunRow]:
        chosen = self.screen.run_at_cursor
        others = [row for row in self.screen.rows or () if chosen is None or row.id != chosen.id]
        return others if chosen is None else [chosen, *others]

    def _is_judged_now(self, row: RunRow) -> bool:
        return row.state is RunState.RUNNING or self.screen.is_under_way(row.id)

    def _read_figures(self, row: RunRow, newest: LabelId | None) -> RunFigures:
        """Read what is known of a run; meant for a thread."""
        from faithtui.engine.review.run_overview import compute_run_trust, count_verdicts_and_scores

        store, began = self.session.store, self.session.seconds()
        queues = counts = trust = started_at = failure = None
        lowest: tuple[ItemRow, ...] = ()
        key_prefix = ""
        try:
            started_at = store.run_contents.find_start_time(row.id)
            lowest = self._read_lowest(row.id)
            key_prefix = store.run_contents.find_common_key_prefix(row.id)
            queues = _read_queue_facts(self.session, row.id)
            counts = count_verdicts_and_scores(store, row)
            # Where nobody has said anything yet there is nothing to compute, and numpy is 15 MB.
            has_labels = bool(newest) or queues.has_samples
            if has_labels and row.claims <= MOST_CLAIMS and not self._is_judged_now(row):
                trust = compute_run_trust(store, row.id)
        except StoreBusy:
            raise  # It passes: read again at the next occasion.
        except (StoreError, ConfigError) as error:
            # The file is damaged, the run was deleted meanwhile, its readings cannot carry a
            # report, or its metric is of a newer version.
            failure = str(error)
        ended = self.session.seconds()
        return RunFigures(
            row,
            newest,
            counts,
            trust,
            queues,
            list_changed_options(row.spec),
            lowest,
            key_prefix,
            ended + REREAD_FACTOR * (ended - began),
            started_at,
            failure,
        )

    def _read_lowest(self, run: RunId) -> "tuple[ItemRow, ...]":
        store = self.session.store
        items = store.runs.list_item_ids(run, "score")[:MOST_LISTED]
        rows = store.runs.read_items_with_list_marks(items, self.session.reviewer)
        return tuple(
            each for each in rows if each.scores and each.scores.windowed.value is not None
        )


def _read_queue_facts(session: "Session", run: RunId) -> QueueFacts:
    """Read what was drawn from a run."""
    from faithtui.agreement.sampling.stopping_rules import SPOT_CHECK_SIZE
    from faithtui.engine.review.run_overview import find_open_sample
    from faithtui.engine.review.samples.sample_queues import estimate_seconds_per_claim

    samples = session.store.samples.list_samples(session.reviewer, run)
    return QueueFacts(
        find_open_sample(samples, session.reviewer),
        bool(samples),
        SPOT_CHECK_SIZE,
        estimate_seconds_per_claim(samples),
    )
