"""Shards judged wave by wave, through files that a program like vLLM's run-batch answers."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faithtui import measure_shards
from faithtui.engine.shards.measure_shards import MeasureSummary
from faithtui.engine.shards.results_schema import get_table_file
from faithtui.engine.shards.shard_source import list_shards
from faithtui.errors import ConfigError, InputError
from tests.engine.building import conversation
from tests.engine.shards.shard_files import read_rows, read_tables, write_lines
from tests.judges.fake_server import answering_server, openai_body
from tests.judges.question_answers import answer_to, read_question

Json = Any


def answer_files(wave: Path, change: Callable[[Json], Json] = lambda line: line) -> Counter[str]:
    """Answer every file of questions as `vllm run-batch` does: one line each, in the same order.

    Returns:
        How often each question was asked.
    """
    asked: Counter[str] = Counter()
    for path in sorted((wave / "questions").glob("*.jsonl")):
        lines = []
        for text in path.read_text().splitlines():
            question = json.loads(text)
            assert (question["method"], question["url"]) == ("POST", "/v1/chat/completions")
            asked[question["custom_id"]] += 1
            answer = make_answer(question["custom_id"], question["body"])
            lines.append(json.dumps(change(answer)))
        (wave / "answers" / path.name).write_text("\n".join(lines) + "\n")
    return asked


def make_answer(name: str, body: Json) -> Json:
    text = json.dumps(answer_to(read_question(body, is_openai=True)))
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return {
        "id": f"vllm-{name[:8]}",
        "custom_id": name,
        "response": {
            "status_code": 200,
            "request_id": f"vllm-batch-{name[:8]}",
            "body": openai_body(text, model=body["model"], usage=usage),
        },
        "error": None,
    }


def write_source(folder: Path) -> Path:
    for number in range(2):
        chats = [conversation(f"{number}-{n}", 2) for n in range(3)]
        write_lines(folder / f"{number}.jsonl", chats)
    return folder


def measure_wave(tmp_path: Path, judge: str = "openai:m") -> MeasureSummary:
    return measure_shards(
        tmp_path / "s",
        tmp_path / "r",
        judge=judge,
        base_url="http://127.0.0.1:9/v1",
        wave=tmp_path / "w",
    )


def test_waves_come_to_what_a_server_comes_to_and_ask_nothing_twice(tmp_path: Path) -> None:
    source = write_source(tmp_path / "s")
    with answering_server() as server:
        measure_shards(source, tmp_path / "asked", judge="openai:m", base_url=server.url)
        expected = len(server.answers), server.answers.total()
    asked: Counter[str] = Counter()
    waves = 0
    while (summary := measure_wave(tmp_path)).waiting:
        assert summary.whole < 2
        names = sorted(each.name for each in (tmp_path / "w" / "questions").iterdir())
        assert set(names) <= {"0.jsonl.jsonl", "1.jsonl.jsonl"}
        asked += answer_files(tmp_path / "w")
        waves += 1
    assert summary.is_whole
    assert waves >= 3, "claims, evidence and reasons follow from each other"
    assert (len(asked), asked.total()) == expected
    assert not list((tmp_path / "w" / "questions").iterdir())
    waves_tables, server_tables = read_tables(tmp_path / "r"), read_tables(tmp_path / "asked")
    for table in ("conversations", "windows", "claims"):
        assert waves_tables[table] == server_tables[table]
    texts = [
        sorted(each["text"] for each in found["replies"]) for found in (waves_tables, server_tables)
    ]
    assert texts[0] == texts[1]


def test_part_of_the_answers_brings_on_what_it_can(tmp_path: Path) -> None:
    write_source(tmp_path / "s")
    first = measure_wave(tmp_path)
    answer_files(tmp_path / "w")
    answers = tmp_path / "w" / "answers" / "0.jsonl.jsonl"
    lines = answers.read_text().splitlines(keepends=True)
    answers.write_text("".join(lines[:2]))
    (tmp_path / "w" / "answers" / "1.jsonl.jsonl").unlink()
    second = measure_wave(tmp_path)
    asked = [
        json.loads(line)["custom_id"]
        for line in (tmp_path / "w" / "questions" / "0.jsonl.jsonl").read_text().splitlines()
    ]
    known = {json.loads(line)["custom_id"] for line in lines[:2]}
    assert not known & set(asked)
    assert first.waiting
    assert second.waiting


def test_an_answer_that_failed_for_a_moment_is_asked_again_and_a_rejected_one_is_a_row(
    tmp_path: Path,
) -> None:
    write_lines(tmp_path / "s" / "0.jsonl", [conversation("a", 1), conversation("b", 1)])
    measure_wave(tmp_path)
    seen: list[str] = []

    def fail(line: Json) -> Json:
        seen.append(line["custom_id"])
        status = {1: 500, 2: 400}.get(len(seen))
        if status is None:
            return line
        body = {"error": {"message": "no", "type": "error", "param": None, "code": None}}
        return {**line, "response": {**line["response"], "status_code": status, "body": body}}

    answer_files(tmp_path / "w", fail)
    measure_wave(tmp_path)
    questions = (tmp_path / "w" / "questions" / "0.jsonl.jsonl").read_text()
    assert seen[0] in questions
    assert seen[1] not in questions
    while measure_wave(tmp_path).waiting:
        answer_files(tmp_path / "w")
    states = Counter(each["state"] for each in read_rows(tmp_path / "r", "conversations"))
    assert states["failed"] == 1


def test_a_file_of_answers_that_is_none_is_told_with_its_line(tmp_path: Path) -> None:
    write_source(tmp_path / "s")
    measure_wave(tmp_path)
    (tmp_path / "w" / "answers" / "0.jsonl.jsonl").write_text('{"custom_id": "a"}\n{"custom')
    found = measure_wave(tmp_path)
    problems = {each.shard: each.problem or "" for each in found.outcomes}
    assert (
        "0.jsonl.jsonl: line 2: is no answer in the form of OpenAI's Batch API"
        in problems["0.jsonl"]
    )
    assert not problems["1.jsonl"]


def test_a_judge_that_reads_no_such_files_is_refused(tmp_path: Path) -> None:
    write_source(tmp_path / "s")
    found = measure_shards(tmp_path / "s", tmp_path / "r", wave=tmp_path / "w")
    assert "cannot be written in OpenAI's form" in found.problems[0]
    assert ConfigError.exit_code == found.outcomes[0].error_code


def test_a_wave_and_earlier_results_among_the_logs_are_no_logs(tmp_path: Path) -> None:
    logs = write_source(tmp_path / "logs")
    measure_shards(logs, logs / "old")
    results = logs / "r"
    wave = results / "w"
    write_lines(wave / "mine.jsonl")  # not written by the program

    def measure() -> MeasureSummary:
        return measure_shards(
            logs, results, judge="openai:m", base_url="http://127.0.0.1:9/v1", wave=wave
        )

    names = ["0.jsonl", "1.jsonl", "r__w__mine.jsonl"]
    for _ in range(2):
        summary = measure()
        assert [each.shard for each in summary.outcomes] == names
        assert answer_files(wave)
    for scheme in ("", "file://"):
        left_out: dict[str, int] = {}
        shards = list_shards(f"{scheme}{logs}", on_left_out=left_out.update)
        assert [each.name for each in shards] == names, "also by a command that names neither"
        counts = {logs / "old": 9, results: 4, wave: 7}
        assert left_out == {f"{scheme}{folder}": count for folder, count in counts.items()}
        with pytest.raises(InputError, match=re.escape(f"in {scheme}{wave} are no source")):
            list_shards(f"{scheme}{wave}/questions")
        assert list_shards(f"{scheme}{wave}/wave-manifest.json"), "what is named is read"
    assert [each.name for each in list_shards(f"file://{logs}/**")] == names, "hidden files too"


def test_one_folder_for_results_and_wave_is_left_out_as_both(tmp_path: Path) -> None:
    logs = write_source(tmp_path / "logs")
    both = logs / "x"

    def measure(results: Path) -> MeasureSummary:
        return measure_shards(
            logs, results, judge="openai:m", base_url="http://127.0.0.1:9/v1", wave=both
        )

    for _ in range(2):
        assert [each.shard for each in measure(both).outcomes] == ["0.jsonl", "1.jsonl"]
        assert answer_files(both)
    assert list((both / "journal").glob("*.jsonl"))
    for address in (str(logs), f"file://{logs}"):
        assert [each.name for each in list_shards(address)] == ["0.jsonl", "1.jsonl"]
    (both / "wave-manifest.json").unlink()
    (both / "manifest.json").unlink()
    for address in (str(logs), f"file://{logs}"):
        named = list_shards(address, results=both, wave=both)
        assert [each.name for each in named] == ["0.jsonl", "1.jsonl"], "without a manifest"


def test_a_manifest_of_somebody_else_in_the_folder_of_a_wave_is_a_log(tmp_path: Path) -> None:
    logs = write_source(tmp_path / "logs")
    (logs / "w").mkdir()
    (logs / "w" / "manifest.json").write_text("{}")
    for whole in (1, 1):
        summary = measure_shards(
            logs,
            tmp_path / "r",
            judge="openai:m",
            base_url="http://127.0.0.1:9/v1",
            wave=logs / "w",
        )
        assert (summary.shards, summary.whole) == (3, whole)
        assert get_table_file(tmp_path / "r", "conversations", "w__manifest.json").exists()
