"""A whole source into a results folder: the manifest, parts, and several processes."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from faithtui import measure_shards
from faithtui.engine.shards.manifest import read_manifest
from faithtui.engine.shards.measure_shards import sum_reply_costs_of_results
from faithtui.engine.shards.measure_worker import ShardOutcome
from faithtui.engine.shards.shard_source import Shard, list_shards, select_shards
from faithtui.errors import ConfigError, ExportError, FileUnreadable, InputError
from faithtui.formats.readers.datasets import FormatChoice
from faithtui.formats.readers.protocol import ParsedRecord
from tests.engine.building import conversation
from tests.engine.shards.shard_files import CONVERSATIONS, read_rows, read_tables, write_lines
from tests.judges.fake_server import answering_server


def write_source(folder: Path, files: int = 3) -> Path:
    for number in range(files):
        chats = [conversation(f"{number}-{each.key}", 1) for each in CONVERSATIONS[:2]]
        write_lines(folder / f"{number}.jsonl", chats)
    return folder


def test_the_manifest_says_by_what_was_measured_and_how_the_source_was_cut(
    tmp_path: Path,
) -> None:
    source = write_source(tmp_path / "s")
    summary = measure_shards(source, tmp_path / "r", options={"window_size": 3})
    assert summary.is_whole
    assert (summary.shards, summary.whole, summary.conversations) == (3, 3, 6)
    manifest = read_manifest(tmp_path / "r")
    assert manifest.settings["metric"] == "turn-faithfulness"
    assert manifest.settings["options"]["window_size"] == 3  # type: ignore[index,call-overload]  # JSON
    assert manifest.settings["judge"] == "offline"
    assert [each["name"] for each in manifest.shards] == ["0.jsonl", "1.jsonl", "2.jsonl"]
    assert {each["shard"] for each in read_rows(tmp_path / "r", "claims")} == {
        "0.jsonl",
        "1.jsonl",
        "2.jsonl",
    }


def test_other_settings_into_the_same_folder_are_refused_with_both_named(tmp_path: Path) -> None:
    source = write_source(tmp_path / "s", 1)
    measure_shards(source, tmp_path / "r")
    before = (tmp_path / "r" / "manifest.json").read_bytes()
    with pytest.raises(
        ConfigError, match=r"metric is ragas-faithfulness here and turn-faithfulness there"
    ):
        measure_shards(source, tmp_path / "r", "ragas-faithfulness")
    with pytest.raises(ConfigError, match="window_size is 2 here and 10 there"):
        measure_shards(source, tmp_path / "r", options={"window_size": 2})
    with pytest.raises(ConfigError, match="shard size is 7 here and not set there"):
        measure_shards(source, tmp_path / "r", shard_size=7)
    with pytest.raises(ConfigError, match="judge is openai:m here and offline there"):
        measure_shards(source, tmp_path / "r", judge="openai:m", base_url="http://127.0.0.1:1/v1")
    assert (tmp_path / "r" / "manifest.json").read_bytes() == before


def test_files_that_come_later_are_new_shards_and_changed_ones_are_refused(
    tmp_path: Path,
) -> None:
    source = write_source(tmp_path / "s", 1)
    measure_shards(source, tmp_path / "r")
    write_source(source, 2)
    summary = measure_shards(source, tmp_path / "r", concurrency=2)
    assert (summary.shards, summary.whole) == (2, 2)
    assert [each.shard for each in summary.outcomes] == ["1.jsonl"]
    write_lines(source / "0.jsonl", CONVERSATIONS)
    with pytest.raises(ConfigError, match=r"the file of shard 0.jsonl has bytes: \d+ here and"):
        measure_shards(source, tmp_path / "r")


def test_a_file_is_measured_once_whatever_folder_above_it_is_named(tmp_path: Path) -> None:
    july = write_lines(tmp_path / "logs" / "july" / "a b.jsonl", CONVERSATIONS[:2])
    assert measure_shards(july.parent, tmp_path / "r").conversations == 2
    write_lines(tmp_path / "logs" / "july" / "a#b.jsonl", CONVERSATIONS[2:3])
    write_lines(tmp_path / "logs" / "a_b.jsonl", CONVERSATIONS[3:])
    found = measure_shards(tmp_path / "logs", tmp_path / "r")
    assert (found.shards, found.whole, found.conversations) == (3, 3, 3)
    rows = read_rows(tmp_path / "r", "conversations")
    assert sorted(each["key"] for each in rows) == [each.key for each in CONVERSATIONS]
    assert measure_shards(tmp_path / "logs", tmp_path / "r").conversations == 0
    assert measure_shards(july, tmp_path / "r").shards == 1


def test_another_metric_is_told_without_all_that_follows_from_it(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl")
    measure_shards(tmp_path, tmp_path / "r")
    with pytest.raises(ConfigError) as refused:
        measure_shards(tmp_path, tmp_path / "r", "turn-contextual-relevancy")
    said = str(refused.value)
    assert "metric is turn-contextual-relevancy here and turn-faithfulness there. Name" in said


def test_a_manifest_of_a_later_version_or_of_somebody_else_is_refused(tmp_path: Path) -> None:
    source = write_source(tmp_path / "s", 1)
    measure_shards(source, tmp_path / "r")
    path = tmp_path / "r" / "manifest.json"
    found = json.loads(path.read_text())
    path.write_text(json.dumps({**found, "settings": {**found["settings"], "format": 9}}))
    with pytest.raises(InputError, match="is of format 9; this version reads 1"):
        measure_shards(source, tmp_path / "r")
    path.write_text('{"packages": []}')
    with pytest.raises(InputError, match="cannot be read as the manifest"):
        measure_shards(source, tmp_path / "r")
    with pytest.raises(InputError, match="name a folder that `faithtui measure` wrote"):
        read_manifest(tmp_path)


def test_parts_of_a_source_are_disjoint_and_make_up_the_whole(tmp_path: Path) -> None:
    shards = list_shards(write_source(tmp_path / "s", 7))
    parts = [select_shards(shards, f"{n}/3") for n in (1, 2, 3)]
    assert sorted(each.name for part in parts for each in part) == [each.name for each in shards]
    assert [len(part) for part in parts] == [3, 2, 2]
    assert select_shards(shards, "4.jsonl") == (shards[4],)
    with pytest.raises(ConfigError, match="expected N/M with N from 1 to M"):
        select_shards(shards, "4/3")


def test_one_part_after_another_gives_what_one_command_gives(tmp_path: Path) -> None:
    source = write_source(tmp_path / "s")
    measure_shards(source, tmp_path / "at once")
    first = measure_shards(source, tmp_path / "parts", shard="1/2")
    assert (first.shards, first.whole) == (2, 2)
    measure_shards(source, tmp_path / "parts", shard="2/2")
    assert read_tables(tmp_path / "parts") == read_tables(tmp_path / "at once")


def test_a_shard_that_cannot_be_read_leaves_the_others_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_source(tmp_path / "s", 2)
    read = Shard.read

    def read_or_refuse(shard: Shard, choice: FormatChoice) -> Iterator[ParsedRecord]:
        if shard.name == "0.jsonl":
            raise FileUnreadable("cannot be read: Permission denied", path=Path(shard.address))
        return read(shard, choice)

    monkeypatch.setattr(Shard, "read", read_or_refuse)
    summary = measure_shards(source, tmp_path / "r")
    assert (summary.shards, summary.whole, summary.is_whole) == (2, 1, False)
    (problem,) = summary.problems
    assert "0.jsonl" in problem
    assert [each.error_code for each in summary.outcomes] == [3, 0]


def test_a_file_of_prose_is_whole_and_the_command_says_what_is_wrong_with_it(
    tmp_path: Path,
) -> None:
    source = write_source(tmp_path / "s", 2)
    (source / "0.jsonl").write_text("prose and nothing else\n")
    summary = measure_shards(source, tmp_path / "r")
    assert (summary.shards, summary.whole, summary.failed) == (2, 2, 1)
    (problem,) = summary.problems
    assert "0.jsonl" in problem
    assert measure_shards(source, tmp_path / "r").outcomes == ()


def test_an_empty_file_is_a_whole_shard_only_where_its_format_has_such(tmp_path: Path) -> None:
    write_lines(tmp_path / "s" / "a.jsonl")
    (tmp_path / "s" / "b.jsonl").write_text("")
    (tmp_path / "s" / "c.parquet").write_text("")
    summary = measure_shards(tmp_path / "s", tmp_path / "r")
    assert (summary.shards, summary.whole, summary.failed) == (3, 3, 1)
    assert "c.parquet: is empty, as no Parquet or Arrow file is" in summary.problems[0]


def test_a_budget_counts_what_was_spent_before(tmp_path: Path) -> None:
    source = write_source(tmp_path / "s", 2)
    with answering_server() as server:

        def measure(tokens: int | None, results: str = "r") -> tuple[str, ...]:
            return measure_shards(
                source,
                tmp_path / results,
                judge="openai:m",
                base_url=server.url,
                concurrency=1,
                budget_tokens=tokens,
            ).problems

        assert measure(None, "without") == ()
        without = dict(server.answers)
        server.answers.clear()
        assert "the budget of 3,000 tokens" in measure(3_000)[0]
        spent = server.answered
        assert spent > 0
        # What is spent is not there a second time, although this is another process for it.
        server_saw = server.answered
        assert "are used and the next may take" in measure(3_000)[0]
        assert server.answered == server_saw
        assert measure(10_000_000) == ()
        assert dict(server.answers) == without, "nothing was bought twice"


@pytest.mark.thorough  # starts four processes, each of which loads the program
def test_two_processes_give_what_one_gives_under_one_budget(tmp_path: Path) -> None:
    source = write_source(tmp_path / "s", 4)
    progress: list[ShardOutcome] = []
    with answering_server() as server:

        def measure(results: str, workers: int, tokens: int | None = None) -> tuple[str, ...]:
            return measure_shards(
                source,
                tmp_path / results,
                judge="openai:m",
                base_url=server.url,
                workers=workers,
                concurrency=2,
                budget_tokens=tokens,
                on_progress=progress.append,
            ).problems

        assert measure("one", 1) == ()
        asked = dict(server.answers)
        server.answers.clear()
        problems = measure("two", 2, 3_000)
        assert problems, "a budget for all that is too small for all"
        assert "budget of 3,000 tokens" in problems[0]
        assert 0 < 110 * server.answered <= 3_000
        assert measure("two", 2, 10_000_000) == ()
        assert dict(server.answers) == asked, "nothing was bought twice"
    assert read_tables(tmp_path / "two") == read_tables(tmp_path / "one")
    assert {each.shard for each in progress} == {f"{n}.jsonl" for n in range(4)}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"workers": 0}, "there are 0 workers"),
        ({"on": "slurm"}, "there is no engine `slurm`; known: local, ray"),
        ({"metric": "bleu"}, "bleu"),
        ({"format": "parquet3"}, "there is no format `parquet3`"),
        ({"concurrency": 0}, "concurrency is 0"),
        ({"judge": "openai:m"}, "key"),
        ({"results": "s3://bucket/results"}, "is an address"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], says: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    source = write_source(tmp_path / "s", 1)
    with pytest.raises(ConfigError, match=says):
        measure_shards(source, **{"results": tmp_path / "r", **changes})  # type: ignore[arg-type]  # wrong on purpose
    assert not (tmp_path / "r").exists()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("a file")
    with pytest.raises(ExportError, match="cannot be written"):
        measure_shards(write_source(tmp_path / "s", 1), tmp_path / "r")


def test_failed_rows_of_any_shard_are_retried_under_a_budget_that_counts_each_reply_once(
    tmp_path: Path,
) -> None:
    source, results = write_source(tmp_path / "s", 2), tmp_path / "r"
    write_lines(source / "2.jsonl", ["{broken", CONVERSATIONS[0]])
    with answering_server() as server:
        first = measure_shards(source, results, judge="openai:m", base_url=server.url)
        assert (first.failed, first.is_whole) == (1, True)
        asked = server.answered
        again = measure_shards(
            source,
            results,
            judge="openai:m",
            base_url=server.url,
            retry_failed=True,
            budget_tokens=110 * asked,
        )
        assert server.answered == asked
    assert [each.shard for each in again.outcomes] == ["2.jsonl"]
    assert (again.failed, again.is_whole) == (1, True)
    assert sum_reply_costs_of_results(results).tokens == 110 * asked


def test_results_beside_their_source_are_gone_on_with(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "logs.jsonl")
    assert measure_shards(source, tmp_path).is_whole
    again = measure_shards(source, tmp_path)
    assert (again.is_whole, again.outcomes) == (True, ())


def test_a_broken_table_keeps_no_other_shard_from_its_retry(tmp_path: Path) -> None:
    source, results = tmp_path / "s", tmp_path / "r"
    for name in "012":
        write_lines(source / f"{name}.jsonl", ["{broken", CONVERSATIONS[0]])
    measure_shards(source, results)
    (results / "conversations" / "1.jsonl.parquet").write_bytes(b"broken")
    one = measure_shards(source, results, shard="0.jsonl", retry_failed=True)
    assert [(each.shard, each.problem) for each in one.outcomes] == [("0.jsonl", None)]
    every = measure_shards(source, results, retry_failed=True)
    first, broken, last = every.outcomes
    assert (first.problem, last.problem) == (None, None)
    assert broken.shard == "1.jsonl"
    assert "1.jsonl.parquet" in (broken.problem or "")


def test_a_journal_that_a_kill_left_goes_unless_it_is_younger_than_the_tables(
    tmp_path: Path,
) -> None:
    source, results = write_source(tmp_path / "s", 1), tmp_path / "r"
    (outcome,) = measure_shards(source, results).outcomes
    table = results / "conversations" / f"{outcome.shard}.parquet"
    journal = results / "journal" / f"{outcome.shard}.jsonl"
    journal.write_bytes(b"")
    written = table.stat().st_mtime_ns
    os.utime(journal, ns=(written, written + 1))
    measure_shards(source, results)
    assert journal.exists()
    os.utime(journal, ns=(written, written))
    measure_shards(source, results)
    assert not journal.exists()


def test_a_results_address_with_a_key_is_refused_without_it(tmp_path: Path) -> None:
    source = write_source(tmp_path / "s", 1)
    with pytest.raises(ConfigError) as caught:
        measure_shards(source, "s3://KEY:SECRET@bucket/r")
    assert "SECRET" not in str(caught.value)


@pytest.fixture
def dealt(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the shards that several workers are given, in order; none is measured."""
    names: list[str] = []

    async def note_order(settings: object, shards: Sequence[Shard], *_: object) -> list[object]:
        names.extend(each.name for each in shards)
        return []

    monkeypatch.setattr(
        "faithtui.engine.shards.measure_shards.measure_shards_in_processes", note_order
    )
    return names


def test_large_shards_are_dealt_out_first(tmp_path: Path, dealt: list[str]) -> None:
    source = tmp_path / "s"
    for name, chats in (("a", 1), ("b", 3), ("c", 2)):
        write_lines(source / f"{name}.jsonl", CONVERSATIONS[:1] * chats)
    measure_shards(source, tmp_path / "r", workers=2)
    assert dealt == ["b.jsonl", "c.jsonl", "a.jsonl"]


def test_pieces_of_a_file_are_dealt_out_by_their_own_size(tmp_path: Path, dealt: list[str]) -> None:
    source = tmp_path / "s"
    source.mkdir()
    table = pa.table({"question": ["What?"] * 70, "answer": [f"It is {n}." for n in range(70)]})
    with pq.ParquetWriter(source / "cut.parquet", table.schema) as writer:
        for first, rows in ((0, 10), (10, 40), (50, 20)):
            writer.write_table(table.slice(first, rows))
    size = (source / "cut.parquet").stat().st_size
    write_lines(source / "whole.json", ["x" * (size // 2)])
    measure_shards(source, tmp_path / "r", workers=2, shard_size=20)
    pieces = [f"cut.parquet.row-{first:010}" for first in (10, 50, 0)]
    assert dealt == [pieces[0], "whole.json", *pieces[1:]]
