"""A run that only seems to be on: every state that the run screen has to show, held still."""

from dataclasses import replace

from faithtui.domain.ids import ItemId, RunId
from faithtui.engine.runs.control import RunControl
from faithtui.engine.runs.events import (
    BatchRead,
    BatchSent,
    CallRetried,
    Draining,
    Gauges,
    ItemFinished,
    RunEnded,
    RunEvent,
    RunProgress,
    RunSnapshot,
    RunStarted,
    StepCount,
    StoreTroubled,
    WayChanged,
    WindowAssessed,
    WindowFailed,
)
from faithtui.store.records import ItemState, RunState

RUN = RunId(1)
SOME = RunProgress(
    conversations=40, done=12, failed=2, skipped=1, windows=121, calls=478, calls_stored=36,
    in_flight=3, retries=12, tokens_in=610_000, tokens_out=42_000, tokens_cached=190_000,
    cost_nusd=1_550_000_000, unpriced_calls=0,
)  # fmt: skip
STEPS = (
    StepCount("truths", 121, 40, 2, 3),
    StepCount("claims", 120, 40, 0, 0),
    StepCount("verdicts", 237, 36, 1, 9),
)
GAUGES = Gauges(8, 6, 2.1, False, 1_900, 6_040, STEPS)
EVENTS: tuple[tuple[float, RunEvent], ...] = (
    (0.2, RunStarted(RUN, SOME)),
    (3.0, WayChanged(RUN, "schema", "tool", SOME)),
    (20.0, WindowAssessed(RUN, ItemId(1), 0, SOME)),
    (20.1, WindowAssessed(RUN, ItemId(1), 1, SOME)),
    (20.2, WindowAssessed(RUN, ItemId(1), 2, SOME)),
    (20.3, ItemFinished(RUN, ItemId(1), ItemState.DONE, SOME)),
    (101.0, CallRetried(RUN, "verdicts", "JudgeRateLimited", 4.0, SOME)),
    (102.5, CallRetried(RUN, "verdicts", "JudgeRateLimited", 8.0, SOME)),
    (170.0, WindowFailed(RUN, ItemId(3), 0, "JudgeReplyTruncated", SOME)),
    (170.1, ItemFinished(RUN, ItemId(3), ItemState.FAILED, SOME)),
)
ON = RunSnapshot(RUN, RunState.RUNNING, None, SOME, 252.0, 400.0, EVENTS, GAUGES)
PAUSED = replace(ON, gauges=replace(GAUGES, is_paused=True))
TROUBLE = "the disk of the store has only 3 MB left; nothing more is asked until there are 16 MB"
TROUBLED = replace(
    ON, trouble=TROUBLE, recent=(*EVENTS, (250.0, StoreTroubled(RUN, TROUBLE, SOME)))
)
DRAINING = replace(ON, recent=(*EVENTS, (251.0, Draining(RUN, SOME))))
REASON = (
    "the budget of $2.0000 does not hold another question: $1.9912 is spent and the next may cost "
    "up to $0.0122. Resume the run with a higher --budget-usd"
)
STOPPED = replace(
    ON,
    state=RunState.STOPPED,
    reason=REASON,
    eta_s=None,
    recent=(*EVENTS, (252.0, RunEnded(RUN, RunState.STOPPED, REASON, SOME))),
)
WITH_PROVIDER = "812 questions are with the provider, in 1 batch"
HANDED_OVER = replace(
    ON,
    state=RunState.WAITING,
    reason=WITH_PROVIDER,
    eta_s=None,
    progress=replace(SOME, in_flight=0),
    recent=(
        *EVENTS,
        (240.0, BatchSent(RUN, 812, SOME)),
        (251.0, BatchRead(RUN, 300, 2, SOME)),
        (252.0, RunEnded(RUN, RunState.WAITING, WITH_PROVIDER, SOME)),
    ),
)
DONE = replace(
    ON,
    state=RunState.DONE,
    eta_s=None,
    progress=replace(SOME, done=37, in_flight=0),
    recent=(*EVENTS, (252.0, RunEnded(RUN, RunState.DONE, None, SOME))),
)


class StagedRun:
    """Stands in for a run of this process; keys change it as they change a real one."""

    bug = None

    def __init__(self, snapshot: RunSnapshot = ON) -> None:
        self.now = snapshot
        self.run_id = snapshot.run
        self.cancelled = 0
        self.control = RunControl(8)

    @property
    def is_finished(self) -> bool:
        return self.now.state is not RunState.RUNNING

    def snapshot(self) -> RunSnapshot:
        gauges = self.now.gauges
        if gauges is not None and not self.is_finished:
            paused = gauges.is_paused or self.control.is_paused
            gauges = replace(gauges, workers=self.control.max_in_flight, is_paused=paused)
        return replace(self.now, gauges=gauges)

    def cancel(self) -> None:
        """Drain at the first time, and end at the second."""
        self.cancelled += 1
        if self.cancelled == 1:
            self.now = replace(self.now, recent=(*self.now.recent, DRAINING.recent[-1]))
        else:
            self.end()

    def end(self) -> None:
        """Let the last answer arrive."""
        ended = (253.0, RunEnded(RUN, RunState.CANCELLED, None, SOME))
        self.now = replace(
            self.now, state=RunState.CANCELLED, recent=(*self.now.recent, ended), eta_s=None
        )

    def join(self, timeout_s: float) -> bool:
        return self.is_finished

    def yield_to_ui(self, seconds: float) -> None:
        """Nothing is done here that keys could wait for."""
