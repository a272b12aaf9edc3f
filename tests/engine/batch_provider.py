"""A provider with a Batch API, and what a run by batches is held against."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from faithtui.domain.ids import RunId
from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.events import RunEvent
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.judges.base import JudgeReply, JudgeRequest, LocalJudge, Usage
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.judges.fake_batches import FakeBatches
from tests.judges.fake_server import FakeServer, anthropic_body, fake_server, openai_body
from tests.judges.question_answers import answer_to, read_question, read_request

Json = Any

Twist = Callable[[str], "str | tuple[int, Json] | None"]
"""From a question's prompt to another text, or a status and a body, in place of the answer; None
leaves it."""


class AnsweringJudge(LocalJudge):
    """Answers as the provider below does, question by question."""

    ref = "answering"
    fingerprint = "answering"
    takes_images = True
    context_window: int | None = None

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def send(self, request: JudgeRequest) -> JudgeReply:
        self.asked.append(request.prompt)
        text = json.dumps(answer_to(read_request(request)))
        return JudgeReply(text, usage=Usage(120, 30), structured=True)

    async def aclose(self) -> None:
        pass


class Provider:
    """A server of batches and what it sold."""

    def __init__(self, name: str, server: FakeServer) -> None:
        self.name = name
        self.server = server
        self.batches = FakeBatches(self._answer, polls_until_end=0)
        self.sold: Counter[str] = Counter()
        """How often each prompt was answered with status 200."""
        self.asked: Counter[str] = Counter()
        """How often each prompt was looked at at all."""
        self.twist: Twist = lambda prompt: None
        self.usage: Json = {"prompt_tokens": 120, "completion_tokens": 30}
        """What OpenAI says of tokens."""
        server.batches = self.batches

    def plan(
        self, store: Store, *, environment: RunEnvironment | None = None, **how: object
    ) -> RunId:
        request = RunRequest(
            judge=f"{self.name}:w",
            base_url=self.server.url,
            batch=True,
            **how,  # type: ignore[arg-type]  # checked by the class
        )
        return run_planner.save_planned_run(store, request, environ={}, environment=environment)

    def _answer(self, body: Json, is_openai: bool) -> tuple[int, Json]:
        asked = read_question(body, is_openai=is_openai)
        self.asked[asked.prompt] += 1
        twisted = self.twist(asked.prompt)
        if isinstance(twisted, tuple):
            return twisted
        self.sold[asked.prompt] += 1
        text = json.dumps(answer_to(asked)) if twisted is None else twisted
        if is_openai:
            return 200, openai_body(text, usage=self.usage)
        return 200, anthropic_body(text)

    @property
    def sold_twice(self) -> list[str]:
        """Prompts that somebody paid for more than once."""
        return [prompt for prompt, count in self.sold.items() if count > 1]


@contextmanager
def provider(name: str) -> Iterator[Provider]:
    """Serve until the context is left."""
    with fake_server() as server:
        yield Provider(name, server)


async def come_back(
    store: Store,
    run: RunId,
    times: int = 20,
    *,
    events: list[RunEvent] | None = None,
    environment: RunEnvironment | None = None,
) -> list[RunState]:
    """Advance a run until it does not wait any more, at most so often; say where it stood."""
    states: list[RunState] = []
    heard: list[RunEvent] = [] if events is None else events
    for _ in range(times):
        states.append(await runner.execute_run(store, run, heard.append, environment=environment))
        if states[-1] is not RunState.WAITING:
            break
    return states


def judged(store: Store, run: RunId) -> list[Json]:
    """Say everything a run found, without what tells runs apart."""
    found: list[Json] = []
    for item in store.runs.list_item_ids(run):
        view = store.runs.read_conversation_for_review(item, "ann")
        windows = [(each.position, each.score) for each in view.windows]
        claims = [
            (each.turn, each.text, [(said.label, said.reason) for said in each.verdicts])
            for each in view.claims
        ]
        row = view.item
        found.append([row.conversation, row.state, row.reason, row.scores, windows, claims])
        found[-1].append(view.reason)
    return found
