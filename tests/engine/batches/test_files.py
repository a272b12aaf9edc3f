"""Questions in files, and answers from them: joined to the same rows as those of a provider."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from faithtui.domain.ids import RunId
from faithtui.engine.batches import batch_run
from faithtui.engine.batches.batch_driver import AT_ONCE
from faithtui.engine.batches.files import (
    AnswerImport,
    export_questions,
    import_answers_and_finish_conversations,
)
from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.errors import ConfigError, ExportError, InputError
from faithtui.store.calls.batch_records import BY_FILE
from faithtui.store.records import ItemState, RunState
from faithtui.store.store import Store
from tests.engine.batch_provider import come_back, judged, provider
from tests.engine.building import conversation, store_with
from tests.judges.fake_server import openai_body
from tests.judges.question_answers import answer_to, read_question

CONVERSATIONS = [conversation("a", 2), conversation("b", 1)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_with(tmp_path / "s.db", CONVERSATIONS) as found:
        yield found


def plan(store: Store, **how: object) -> RunId:
    request = RunRequest(judge="vllm:w", **how)  # type: ignore[arg-type]  # checked by the class
    return run_planner.save_planned_run(store, request, environ={})


def served(line: str) -> dict[str, Any]:
    """Answer one line as a server of batches does."""
    asked = json.loads(line)
    assert (asked["method"], asked["url"]) == ("POST", "/v1/chat/completions")
    answer = openai_body(json.dumps(answer_to(read_question(asked["body"], is_openai=True))))
    response = {"status_code": 200, "request_id": "r", "body": answer}
    return {"id": "x", "custom_id": asked["custom_id"], "response": response, "error": None}


def serve(
    questions: Path, answers: Path, twist: Callable[[dict[str, Any]], Any] = lambda line: line
) -> Path:
    """Answer a file, last line first."""
    lines = reversed(questions.read_text().splitlines())
    answers.write_text("".join(json.dumps(twist(served(line))) + "\n" for line in lines))
    return answers


def bodies(questions: Path) -> list[dict[str, Any]]:
    """What a file asks, line by line."""
    return [json.loads(line)["body"] for line in questions.read_text().splitlines()]


async def through_files(store: Store, run: RunId, directory: Path) -> list[int]:
    """Take a run from file to file; say how many questions each held."""
    counts: list[int] = []
    while True:
        name = f"{run}-{len(counts)}"
        count = await export_questions(store, run, directory / f"{name}.q.jsonl")
        if not count:
            return counts
        counts.append(count)
        answers = serve(directory / f"{name}.q.jsonl", directory / f"{name}.a.jsonl")
        brought = await import_answers_and_finish_conversations(store, run, answers)
        assert brought == AnswerImport(answered=count)


async def undisturbed(path: Path) -> list[object]:
    with provider("openai") as sound, store_with(path, CONVERSATIONS) as store:
        run = sound.plan(store)
        await come_back(store, run)
        return judged(store, run)


@pytest.mark.parametrize("batch", [True, False])
async def test_a_run_goes_from_file_to_file_to_its_end(
    store: Store, tmp_path: Path, batch: bool
) -> None:
    run = plan(store, batch=batch)
    counts = await through_files(store, run, tmp_path)
    assert len(counts) == 3
    row = store.runs.read_run(run)
    assert (row.state, row.calls, row.done) == (RunState.DONE, sum(counts), 2)
    assert judged(store, run) == await undisturbed(tmp_path / "u.db")


@pytest.mark.thorough
@pytest.mark.parametrize("chats", [1, 2 * AT_ONCE + 1])
async def test_the_next_file_holds_as_many_questions_as_were_told(
    tmp_path: Path, chats: int
) -> None:
    # More than are driven together, and some of their reasons are asked for in the same words.
    them = [conversation(f"c{number}", 1) for number in range(chats)]
    with store_with(tmp_path / "many.db", them) as store:
        run, told = plan(store, metric="deepevalex-faithfulness"), ""
        for number in range(3):
            questions = tmp_path / f"{number}.jsonl"
            count = await export_questions(store, run, questions)
            assert len({json.dumps(each) for each in bodies(questions)}) == count
            words = f"{count} more questions are" if count > 1 else "1 more question is"
            assert not told or told.startswith(f"{words} to be asked; ")
            words = f"{count} questions are in files" if count > 1 else "1 question is in a file"
            assert (store.runs.read_run(run).reason or "").startswith(f"{words}; import the repl")
            await import_answers_and_finish_conversations(
                store, run, serve(questions, tmp_path / f"{number}.a.jsonl")
            )
            told = store.runs.read_run(run).reason or ""
        assert store.runs.read_run(run).state is RunState.DONE


async def test_what_is_in_a_file_counts_as_asked(store: Store, tmp_path: Path) -> None:
    run, other = plan(store), plan(store, options={"include_reason": "false"})
    count = await export_questions(store, run, tmp_path / "q.jsonl")
    row = store.runs.read_run(run)
    assert row.state is RunState.WAITING
    assert row.reason == (
        f"{count} questions are in files; import the replies with faithtui batch import {run} FILE"
    )
    (batch,) = store.batches.list_open_batches(run)
    assert (batch.provider_id, batch.requests) == (BY_FILE, count)
    assert await export_questions(store, run, tmp_path / "again.jsonl") == 0
    assert await export_questions(store, other, tmp_path / "other.jsonl") == 0
    assert not (tmp_path / "again.jsonl").exists()
    with pytest.raises(ExportError, match="is there already"):
        await export_questions(store, other, tmp_path / "q.jsonl")
    # Lost, it is given up, and its questions can be asked again.
    await batch_run.cancel_batches_of_run(store, run)
    assert store.runs.read_run(run).state is RunState.CANCELLED
    assert await export_questions(store, run, tmp_path / "again.jsonl") == count


async def test_answers_may_come_in_parts_twice_and_from_several_files(
    store: Store, tmp_path: Path
) -> None:
    run = plan(store)
    count = await export_questions(store, run, tmp_path / "q.jsonl")
    answers = serve(tmp_path / "q.jsonl", tmp_path / "a.jsonl")
    lines = answers.read_text().splitlines(keepends=True)
    part = tmp_path / "part.jsonl"
    part.write_text("".join(lines[:1]))
    assert await import_answers_and_finish_conversations(store, run, part) == AnswerImport(
        answered=1
    )
    assert store.batches.sum_outstanding_of_run(run).questions == count - 1
    odd = '{"custom_id": "elsewhere-1", "response": null}\n[]\n\n{"cut\n{"custom_id": 7}\n'
    answers.write_text("".join(lines) + odd)
    brought = await import_answers_and_finish_conversations(store, run, answers)
    assert (brought.answered, brought.ignored, brought.refused) == (count - 1, 3, 2)
    assert str(brought.first_refused).endswith(f"line {count + 2}: is no JSON object")
    assert await import_answers_and_finish_conversations(store, run, part) == AnswerImport(
        ignored=1
    )
    assert store.runs.read_run(run).calls == count
    assert store.batches.list_open_batches(run) == ()


async def test_a_line_that_failed_goes_into_the_next_file_and_a_bad_one_fails(
    store: Store, tmp_path: Path
) -> None:
    run = plan(store)

    def spoil(line: dict[str, Any]) -> dict[str, Any]:
        if line["custom_id"].endswith("-0"):
            line["response"] = None
            line["error"] = {"code": "oops", "message": "out of memory"}
        if line["custom_id"].endswith("-1"):
            line["response"]["status_code"] = 400
            line["response"]["body"] = {"error": {"message": "too odd"}}
        return line

    count = await export_questions(store, run, tmp_path / "q.jsonl")
    answers = serve(tmp_path / "q.jsonl", tmp_path / "a.jsonl", spoil)
    assert await import_answers_and_finish_conversations(store, run, answers) == AnswerImport(
        answered=count - 2, failed=2
    )
    row = store.runs.read_run(run)
    assert row.state is RunState.WAITING
    assert "more questions are to be asked; `faithtui batch export" in (row.reason or "")
    first = bodies(tmp_path / "q.jsonl")[0]
    await export_questions(store, run, tmp_path / "next.jsonl")
    assert first in bodies(tmp_path / "next.jsonl")
    await import_answers_and_finish_conversations(
        store, run, serve(tmp_path / "next.jsonl", tmp_path / "b.jsonl")
    )
    await through_files(store, run, tmp_path)
    items = store.runs.read_item_rows(store.runs.list_item_ids(run))
    assert sorted(item.state for item in items) == [ItemState.DONE, ItemState.FAILED]
    assert any("too odd" in (item.reason or "") for item in items)


async def test_a_plain_answer_was_bound_by_nothing(store: Store, tmp_path: Path) -> None:
    run = plan(store, metric="llamaindex-faithfulness")
    await export_questions(store, run, tmp_path / "q.jsonl")

    def yes(line: str) -> str:
        asked = json.loads(line)
        assert "response_format" not in asked["body"]
        response = {"status_code": 200, "request_id": "r", "body": openai_body("YES")}
        return json.dumps({"custom_id": asked["custom_id"], "response": response, "error": None})

    lines = (tmp_path / "q.jsonl").read_text().splitlines()
    (tmp_path / "a.jsonl").write_text("\n".join(map(yes, lines)))
    brought = await import_answers_and_finish_conversations(store, run, tmp_path / "a.jsonl")
    assert brought.answered == len(lines)
    (item, *_) = store.runs.list_item_ids(run)
    assert {call.reply.structured for call in store.calls.list_item_calls(item)} == {False}
    assert store.runs.read_run(run).state is RunState.DONE
    assert store.runs.read_run(run).score == 1.0


async def test_answers_of_a_file_serve_a_run_that_is_resumed_singly(
    store: Store, tmp_path: Path
) -> None:
    with provider("openai") as live:
        run = run_planner.save_planned_run(
            store, RunRequest(judge="openai:w", base_url=live.server.url), environ={}
        )
        await export_questions(store, run, tmp_path / "q.jsonl")
        await import_answers_and_finish_conversations(
            store, run, serve(tmp_path / "q.jsonl", tmp_path / "a.jsonl")
        )
        bought = {body["messages"][-1]["content"] for body in bodies(tmp_path / "q.jsonl")}
        for _ in range(20):
            live.server.answer(status=503)
        await runner.execute_run(
            store, run, lambda event: None, environment=RunEnvironment(sleep=hardly)
        )
        asked = {sent.body["messages"][-1]["content"] for sent in live.server.sent}
        assert asked
        assert not asked & bought


async def hardly(seconds: float) -> None:
    """Do not wait."""


async def test_only_judges_that_speak_openais_protocol_have_files(
    store: Store, tmp_path: Path
) -> None:
    request = RunRequest(judge="anthropic:w", base_url="http://localhost:1")
    for run in (
        run_planner.save_planned_run(store, request, environ={}),
        run_planner.save_planned_run(store, RunRequest(judge="offline"), environ={}),
    ):
        with pytest.raises(ConfigError, match="cannot be written in OpenAI's form"):
            await export_questions(store, run, tmp_path / "q.jsonl")
        (tmp_path / "a.jsonl").write_text("")
        with pytest.raises(ConfigError, match="cannot be written in OpenAI's form"):
            await import_answers_and_finish_conversations(store, run, tmp_path / "a.jsonl")


async def test_files_that_cannot_be_are_named(store: Store, tmp_path: Path) -> None:
    run = plan(store)
    with pytest.raises(ExportError, match=r"cannot be written: No such file"):
        await export_questions(store, run, tmp_path / "nowhere" / "q.jsonl")
    assert store.batches.list_open_batches(run) == (), "what is in no file is not asked"
    with pytest.raises(InputError, match=r"none\.jsonl: cannot be read"):
        await import_answers_and_finish_conversations(store, run, tmp_path / "none.jsonl")
    assert await export_questions(store, run, tmp_path / "q.jsonl") > 0
