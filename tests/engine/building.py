"""Small stores and judges for tests of the engine."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.ids import RunId
from faithtui.domain.judging.tasks import (
    ConcludeReasons,
    ExplainScore,
    ExtractClaims,
    ExtractTruths,
    FindEvidence,
)
from faithtui.domain.labels.label_events import Action
from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.request import RunRequest
from faithtui.errors import JudgeError
from faithtui.judges.base import Judge, JudgeReply, JudgeRequest, LocalJudge, Usage
from faithtui.store.store import Store

_PIECES: Final = (
    "qu zor ith lep mun dra vex pol ash kri wen tob ulf ner gis hap jol fim rux bod",
    "ßä жо 漢 ن é 7 42 % _ # :: .. -- \\ / <| |> ",
)


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


def write_nonsense(chance: random.Random, pieces: int | None = None) -> str:
    """String 2 to 30 pieces of words together, as a model does that knows no word."""
    letters, others = (text.split() for text in _PIECES)
    drawn = (
        chance.choice(letters if chance.random() < 0.8 else others) + chance.choice(["", " "])
        for _ in range(pieces or chance.randint(2, 30))
    )
    return "".join(drawn).strip()


def fill_schema(
    schema: dict[str, Any],
    chance: random.Random,
    text: Callable[[random.Random], str] = write_nonsense,
) -> object:
    """Fill a JSON schema with whatever fits, as a grammar makes a model do."""
    if "enum" in schema:
        return chance.choice(schema["enum"])
    match schema["type"]:
        case "object":
            parts = schema["properties"].items()
            return {name: fill_schema(each, chance, text) for name, each in parts}
        case "array":
            return [fill_schema(schema["items"], chance, text) for _ in range(chance.randint(1, 3))]
        case "integer":
            return chance.randint(0, 1)
        case _:
            return text(chance)


class RandomJudge(LocalJudge):
    """Answers every question in its form, with nonsense."""

    ref = "offline"
    takes_images = False
    context_window: int | None = None

    def __init__(self, seed: int = 1) -> None:
        from faithtui.judges.registry import make_judge_fingerprint

        self.fingerprint = make_judge_fingerprint("offline")
        self._chance = random.Random(seed)

    async def send(self, request: JudgeRequest) -> JudgeReply:
        schema: Any = request.schema
        if schema is None:
            return JudgeReply(write_nonsense(self._chance, 5), usage=Usage(7, 3))
        reply = json.dumps(fill_schema(schema, self._chance, self.text_for(request)))
        return JudgeReply(reply, usage=Usage(7, 3), structured=True)

    def text_for(self, request: JudgeRequest) -> Callable[[random.Random], str]:
        """Give what writes the texts of a reply."""
        return write_nonsense

    async def aclose(self) -> None:
        pass


class CopyingJudge(RandomJudge):
    """Answers every question in its form, with lines of the question and the example of a reply."""

    def text_for(self, request: JudgeRequest) -> Callable[[random.Random], str]:
        instructions = request.prompt.partition("\n\n")[0].splitlines()
        return lambda chance: chance.choice([*instructions, "..."])


def make_finished_run(store: Store, **order: object) -> RunId:
    """Make a run from beginning to end."""
    run = planned(store, **order)
    asyncio.run(runner.execute_run(store, run, lambda event: None))
    return run


def label_claims(
    store: Store,
    run: RunId,
    verdict: Callable[[str], str | None],
    *,
    reviewers: Sequence[str] = ("ann",),
    saw_judge: bool = False,
    **columns: str,
) -> None:
    """Let people say something of every claim of a run; None: they say nothing."""
    for item in store.runs.list_item_ids(run):
        for claim in store.runs.read_conversation_for_review(item, "").claims:
            word = verdict(claim.text)
            if word is None:
                continue
            judge = claim.first_window_verdict.label
            shown = Action.AGREED if word == judge else Action.OVERRIDDEN
            for reviewer in reviewers:
                store.label_log.append_label_event(
                    claim.id,
                    reviewer,
                    shown if saw_judge else Action.BLIND,
                    word,
                    run=run,
                    judge_verdict=judge,
                    saw_judge=saw_judge,
                    **columns,  # type: ignore[arg-type]  # notes and codes
                )
