"""A judge that decides by the examples it is shown, and what people say to it."""

import asyncio
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from faithtui.domain.conversation import Conversation
from faithtui.domain.ids import RunId
from faithtui.domain.judging.tasks import FindEvidence
from faithtui.domain.labels.label_events import Action
from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.request import RunRequest
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.judges.reply_recorder import hash_system_and_prompt
from faithtui.store.store import Store
from tests.engine.building import CountingJudge, conversation, opened

CONVERSATIONS = 24


def make_conversations() -> list[Conversation]:
    """Conversations of one answer each; every second one is wrong by what people say."""
    return [conversation(f"t{number}", 1) for number in range(CONVERSATIONS)]


def is_right(claim: str) -> bool:
    """Whether people support a claim: that of an even conversation."""
    return int(claim.split("Parcel t")[1].split("-")[0]) % 2 == 0


class Learner(CountingJudge):
    """Supports everything, until it is shown examples: then it decides as people do.

    Keeps what it was asked and said in the form of a file for `replay:`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    async def send(self, request: JudgeRequest) -> JudgeReply:
        reply = await super().send(request)
        if isinstance(request.task, FindEvidence) and "How people decided" in request.prompt:
            said = json.loads(reply.text)
            claims = [claim for group in request.task.groups for claim in group.claims]
            for key, claim in zip(said, claims, strict=True):
                if not is_right(claim):
                    named = [each for truths in said[key]["sufficient"] for each in truths]
                    said[key] |= {"verdict": "no", "sufficient": [], "contradicts": named}
            reply = JudgeReply(json.dumps(said), structured=True)
        digest = hash_system_and_prompt(request.system, request.prompt)
        self.lines.append(json.dumps({"prompt_sha256": digest, "reply": reply.text}))
        return reply


def recorded(store: Path, file: Path, **order: object) -> Path:
    """Record what the judge would say to a run, in a copy of the store.

    Args:
        store: A store with conversations.
        file: Where to write; afterwards `replay:FILE` is that judge.
        order: Fields of the run's order.
    """
    copy = Path(shutil.copy(store, file.with_suffix(".copy")))
    file.write_text("", encoding="utf-8")
    with Store.open(copy) as opened_store:
        request = RunRequest(judge=f"replay:{file}", **order)  # type: ignore[arg-type]  # tests
        run = run_planner.save_planned_run(opened_store, request, environ={})
        judge = Learner()
        asyncio.run(runner.execute_run(opened_store, run, lambda event: None, judge=opened(judge)))
    file.write_text("\n".join(judge.lines), encoding="utf-8")
    return file


def judged(store: Store, **order: object) -> RunId:
    """Make a run from beginning to end."""
    request = RunRequest(**order)  # type: ignore[arg-type]  # tests
    run = run_planner.save_planned_run(store, request, environ={})
    asyncio.run(runner.execute_run(store, run, lambda event: None))
    return run


def label(
    store: Store,
    run: RunId,
    verdict: Callable[[str], str | None] = lambda claim: "yes" if is_right(claim) else "no",
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
