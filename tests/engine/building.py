"""Small stores and judges for tests of the engine."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.ids import RunId
from faithtui.domain.judging.tasks import (
    ConcludeReasons,
    ExplainScore,
    ExtractClaims,
    ExtractTruths,
    FindEvidence,
)
from faithtui.engine.runs import run_planner
from faithtui.engine.runs.request import RunRequest
from faithtui.errors import JudgeError
from faithtui.judges.base import Judge, JudgeReply, JudgeRequest, LocalJudge, Usage
from faithtui.store.store import Store


def conversation(key: str, exchanges: int = 2) -> Conversation:
    """Make a conversation whose answers repeat their only document, each with its own facts."""
    turns = []
    for number in range(exchanges):
        fact = f"Parcel {key}-{number} weighs {number + 1} kilograms."
        turns += [
            Turn("user", f"What does parcel {number} weigh?"),
            Turn("assistant", fact, (Document(f"{fact} It is blue."),)),
        ]
    return Conversation("parcels", key, tuple(turns), f"parcels/{key}")


def store_with(path: Path, conversations: Sequence[Conversation]) -> Store:
    """Open a store that holds these conversations."""
    store = Store.open(path)
    store.conversations.import_batch(conversations)
    return store


def planned(store: Store, **changes: object) -> RunId:
    """Plan a run over everything in the store."""
    return run_planner.save_planned_run(store, RunRequest(**changes), environ={})  # type: ignore[arg-type]  # tests


class CountingJudge(LocalJudge):
    """Supports every claim with the first truth, and remembers what it was asked.

    `before` runs before each answer: it may wait, or raise a JudgeError to fail the question.
    """

    ref = "offline"
    takes_images = False
    context_window: int | None = None

    def __init__(self, before: Callable[[JudgeRequest], None] = lambda request: None) -> None:
        from faithtui.judges.registry import make_judge_fingerprint

        self.fingerprint = make_judge_fingerprint("offline")
        self.asked: list[JudgeRequest] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self._before = before
        self.closed = False

    async def send(self, request: JudgeRequest) -> JudgeReply:
        self.asked.append(request)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(0)
            self._before(request)
        finally:
            self.in_flight -= 1
        return JudgeReply(json.dumps(_answer(request)), usage=Usage(7, 3), structured=True)

    async def aclose(self) -> None:
        self.closed = True


def _answer(request: JudgeRequest) -> object:
    match request.task:
        case ExtractTruths(documents):
            return {
                f"d{n}": [f"{part.strip()}." for part in text.split(".") if part.strip()]
                for n, text in enumerate(documents)
            }
        case ExtractClaims(answers):
            return {f"a{n}": [text] for n, text in enumerate(answers)}
        case FindEvidence(groups):
            reply: dict[str, object] = {}
            first = 0
            for group in groups:
                for _ in group.claims:
                    reply[f"c{len(reply)}"] = {
                        "reason": "It says so.",
                        "sufficient": [[f"t{first}"]] if group.truths else [],
                        "partial": [],
                        "contradicts": [],
                        "verdict": "yes" if group.truths else "idk",
                    }
                first += len(group.truths)
            return reply
        case ExplainScore() | ConcludeReasons():
            return {"reason": "All of it holds."}
        case other:
            raise AssertionError(f"not asked here: {other}")


@asynccontextmanager
async def opened(judge: Judge) -> AsyncIterator[Judge]:
    """Lend a judge the way `open_judge` does."""
    try:
        yield judge
    finally:
        await judge.aclose()


def failing(error: JudgeError, when: Callable[[JudgeRequest], bool]) -> CountingJudge:
    """Make a judge that fails on some questions."""

    def before(request: JudgeRequest) -> None:
        if when(request):
            raise error

    return CountingJudge(before)
