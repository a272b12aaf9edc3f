"""Looking through what is stored of a run for what looks wrong, and keeping what was found.

Conversations that are checked already are not read again, so checks can stop anywhere and go on
later, in this process or in another one.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from faithtui.domain.claims.verdicts import Assessment
from faithtui.domain.conversation import Conversation
from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.integrity.checks import check_conversation
from faithtui.domain.integrity.findings import CheckResult
from faithtui.engine.integrity.judged_conversations import (
    CheckRules,
    judged_conversation_from_assessments,
    judged_conversation_from_view,
    make_check_rules,
)
from faithtui.errors import FaithtuiError, StoreError
from faithtui.store.records import ItemCheckResult
from faithtui.store.store import Store

_log = logging.getLogger("faithtui.run")

_BATCH = 16
"""Conversations per transaction: what a stop may lose is a second's work."""
MOMENT_S = 2.0
"""How long somebody who asked for something else waits for checks."""
_REST_S = 0.001
"""Pause after each conversation in the background, so that whoever answers keys gets a turn."""


@dataclass(frozen=True, slots=True)
class CheckSnapshot:
    """How far the checks of a run are."""

    run: RunId
    done: int
    total: int
    """Conversations that were to be checked."""
    elapsed_s: float
    finished: bool
    """Nothing more will happen."""
    error: str | None
    """What stopped it; None otherwise."""

    @property
    def eta_s(self) -> float | None:
        """Seconds left, None before anything is done."""
        return self.elapsed_s / self.done * (self.total - self.done) if self.done else None


def check_and_save_remaining_conversations(
    store: Store,
    run: RunId,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
    *,
    stopped: Callable[[], bool] = lambda: False,
    breath_s: float = 0.0,
) -> int:
    """Check the conversations of a run that are judged and not checked; save what is found.

    Args:
        store: The store.
        run: The run.
        on_progress: Called with how many are done, and of how many, after each batch and at the
            start.
        stopped: Is asked before each conversation whether to stop; what was checked is kept.
        breath_s: Pause after each conversation, in seconds.

    Returns:
        How many conversations were checked.

    Raises:
        StoreError: The store cannot be read or written.
    """
    waiting = store.findings.list_unchecked_conversations(run)
    if not waiting:
        return 0
    rules = make_check_rules(store, store.runs.read_run(run).spec)
    done = 0
    on_progress(0, len(waiting))
    for some in _split_into_batches(waiting):
        checked = _check_conversations_until_stopped(
            store, some, rules, stopped=stopped, breath_s=breath_s
        )
        store.findings.replace_findings_of_conversations(checked)
        done += len(checked)
        on_progress(done, len(waiting))
        if len(checked) < len(some):
            break
    return done


def _check_conversations_until_stopped(
    store: Store,
    items: Sequence[ItemId],
    rules: CheckRules,
    *,
    stopped: Callable[[], bool],
    breath_s: float,
) -> list[ItemCheckResult]:
    checked = []
    for item in items:
        if stopped():
            break
        checked.append(check_stored_conversation(store, item, rules))
        if breath_s:
            time.sleep(breath_s)
    return checked


def check_and_save_run_within_time_limit(
    store: Store, run: RunId, seconds: float = MOMENT_S
) -> None:
    """Finish the checks of a run before it is shown, as far as a moment goes.

    What is left, for want of time, because the store cannot be written or because a text trips a
    check, stays unchecked, and every score of the run says so. `faithtui check` fails aloud.
    """
    end = time.monotonic() + seconds
    try:
        check_and_save_remaining_conversations(store, run, stopped=lambda: time.monotonic() > end)
    except StoreError:
        return
    except Exception:  # no text of a conversation may keep its run from being shown
        _log.exception("run %d could not be checked", run)


class BackgroundCheck:
    """Checks of a run in a thread of their own, for an app that must answer keys meanwhile."""

    def __init__(self, store: Store, run: RunId) -> None:
        self.run_id = run
        self._store = store
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._began = time.monotonic()
        self._ended: float | None = None
        self._done = self._total = 0
        self._error: str | None = None
        self.bug: BaseException | None = None
        """An error that is not one of ours; the app must let it be seen."""
        self._thread = threading.Thread(
            target=self._run_checks, name=f"faithtui-check-{run}", daemon=True
        )

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def cancel(self) -> None:
        """Ask it to stop. What was checked is kept; the rest can be checked later."""
        self._stop.set()

    def join(self, timeout_s: float) -> bool:
        """Wait for the end; False when it did not come in time."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def snapshot(self) -> CheckSnapshot:
        """Describe the checks at this moment. Cheap; any thread."""
        with self._lock:
            return CheckSnapshot(
                run=self.run_id,
                done=self._done,
                total=self._total,
                elapsed_s=(self._ended or time.monotonic()) - self._began,
                finished=self._ended is not None,
                error=self._error,
            )

    def _run_checks(self) -> None:
        try:
            check_and_save_remaining_conversations(
                self._store,
                self.run_id,
                self._on_progress,
                stopped=self._stop.is_set,
                breath_s=_REST_S,
            )
        except FaithtuiError as error:
            self._error = str(error)
        except BaseException as error:  # whatever it is, the app decides in its own thread
            self.bug = error
            self._error = f"{type(error).__name__}: {error}"
        with self._lock:
            self._ended = time.monotonic()

    def _on_progress(self, done: int, total: int) -> None:
        with self._lock:
            self._done, self._total = done, total


def check_stored_conversation(store: Store, item: ItemId, rules: CheckRules) -> ItemCheckResult:
    """Check a conversation of a run as it is stored; nothing is written."""
    view = store.runs.read_conversation_for_review(item, "")
    found = check_conversation(
        judged_conversation_from_view(view, store.findings.read_surplus_verdicts(item), rules)
    )
    return ItemCheckResult(item, view.item.state, view.item.windows, found.findings, found.counts)


def check_unsaved_assessments(
    conversation: Conversation,
    assessments: Sequence[Assessment],
    rules: CheckRules,
    *,
    complete: bool,
) -> CheckResult:
    """Check a conversation that was just judged, without reading it from a store.

    Claims and truths are known by their place here: findings name no claim of a store.

    Args:
        conversation: What was judged.
        assessments: What the judge said about each window.
        rules: What the checks must know of the metric.
        complete: Nothing of it failed.
    """
    return check_conversation(
        judged_conversation_from_assessments(conversation, assessments, rules, complete=complete)
    )


def _split_into_batches(items: Sequence[ItemId]) -> Iterable[Sequence[ItemId]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]
