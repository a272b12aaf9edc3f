"""`faithtui measure`: what it prints, its exit codes, and its options."""

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from faithtui.cli.commands.measure.progress import ShardProgressLine
from faithtui.engine.shards.manifest import read_manifest
from faithtui.engine.shards.measure_worker import ShardOutcome
from tests.cli.conftest import Cli
from tests.engine.building import conversation
from tests.engine.shards.shard_files import CONVERSATIONS, write_lines
from tests.judges.fake_server import answering_server


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for number in range(2):
        write_lines(tmp_path / "logs" / f"{number}.jsonl", [conversation(f"{number}", 1)])
    return tmp_path / "logs"


def test_a_source_is_measured_and_then_there_is_nothing_left(cli: Cli, source: Path) -> None:
    results = source.parent / "results"
    first = cli("measure", source, "-o", results)
    assert first.code == 0
    assert "2 of 2 shards whole in" in first.out
    assert "2 conversations of 2 shards measured now" in first.out
    assert "2/2 shards · 2 conversations" in first.err
    again = cli("measure", source, "-o", results)
    assert again.code == 0
    assert "nothing was left to measure" in again.out
    assert "2 of 2 shards whole from before" in again.err


def test_a_parquet_file_without_rows_is_a_whole_shard(cli: Cli, source: Path) -> None:
    """Its row group has none, as pyarrow writes it."""
    schema = pa.schema([("question", pa.string()), ("answer", pa.string())])
    pq.write_table(schema.empty_table(), source / "empty.parquet")
    assert pq.read_metadata(source / "empty.parquet").num_row_groups == 1
    found = cli("measure", source, "-o", source.parent / "results")
    assert found.code == 0
    assert "3 of 3 shards whole in" in found.out
    assert "2 conversations of 3 shards measured now" in found.out


def test_a_store_in_place_of_the_folder_is_refused_and_stays(cli: Cli, source: Path) -> None:
    store = source.parent / "review.db"
    cli("import", source, "--store", store)
    before = store.read_bytes()
    found = cli("measure", source, "-o", store)
    assert found.code == 7
    assert "cannot be written" in found.err
    assert store.read_bytes() == before


def test_json_has_every_count_and_every_shard(cli: Cli, source: Path) -> None:
    found = cli("measure", source, "-o", source.parent / "results", "--json")
    assert found.code == 0
    assert found.json["shards"] == found.json["whole"] == found.json["conversations"] == 2
    assert [each["shard"] for each in found.json["outcomes"]] == ["0.jsonl", "1.jsonl"]
    assert found.json["calls"] == sum(each["calls"] for each in found.json["outcomes"]) > 0


def test_rows_that_failed_end_with_5_and_a_file_of_prose_is_told_too(
    cli: Cli, source: Path
) -> None:
    write_lines(source / "0.jsonl", ["{broken", CONVERSATIONS[0]])
    found = cli("measure", source, "-o", source.parent / "a")
    assert found.code == 5
    assert "1 failed, with the reason in their rows" in found.out
    assert "shard 0.jsonl: 1 failed, such as InputError: " in found.err
    assert "0.jsonl: line 1: is not JSON" in found.err
    again = cli("measure", source, "-o", source.parent / "a", "--retry-failed")
    assert "1 conversation of 1 shard measured now, 1 before; 1 failed" in again.out
    (source / "1.jsonl").write_text("prose\n")
    found = cli("measure", source, "-o", source.parent / "b")
    assert found.code == 5
    assert "shard 1.jsonl: " in found.err
    assert "2 of 2 shards whole" in found.out
    assert "the same command goes on where this one stopped" not in found.err


def test_other_settings_into_the_same_folder_end_with_2(cli: Cli, source: Path) -> None:
    cli("measure", source, "-o", source.parent / "results")
    found = cli("measure", source, "-o", source.parent / "results", "--option", "window_size=3")
    assert found.code == 2
    assert "window_size is 3 here and 10 there" in found.err


def test_parts_and_names_of_shards_choose_what_is_measured(cli: Cli, source: Path) -> None:
    results = source.parent / "results"
    assert cli("measure", source, "-o", results, "--list-shards").out == "0.jsonl\n1.jsonl\n"
    assert not results.exists()
    assert "1 of 1 shard whole" in cli("measure", source, "-o", results, "--shard", "2/2").out
    assert [each.name for each in (results / "claims").iterdir()] == ["1.jsonl.parquet"]
    assert "1 of 1 shard whole" in cli("measure", source, "-o", results, "--shard", "0.jsonl").out
    found = cli("measure", source, "-o", results, "--shard", "2.jsonl")
    assert found.code == 2
    assert "no shard `2.jsonl`; known: 0.jsonl, 1.jsonl" in found.err


def test_files_of_faithtui_among_the_logs_are_left_out_and_told(cli: Cli, source: Path) -> None:
    measured = cli("measure", source, "-o", source / "old")
    assert "left out" not in measured.err
    found = cli("measure", source, "-o", source.parent / "results")
    assert f"9 files of earlier results or waves left out, in {source / 'old'}\n" in found.err
    assert "2 of 2 shards whole" in found.out
    found = cli("measure", f"file://{source}", "-o", source.parent / "again")
    assert f"9 files of earlier results or waves left out, in file://{source}/old\n" in found.err
    assert "2 of 2 shards whole" in found.out


def test_results_at_an_address_are_refused_with_the_way(cli: Cli, source: Path) -> None:
    found = cli("measure", source, "-o", "s3://bucket/results")
    assert found.code == 2
    assert "copy it when its shards are whole, such as by `aws s3 sync`" in found.err


def test_what_is_typed_reaches_the_judge_and_the_manifest(cli: Cli, source: Path) -> None:
    results = source.parent / "results"
    with answering_server() as server:
        found = cli(
            "measure", source, "-o", results,
            "--judge", "openai:m", "--base-url", server.url, "--temperature", "0.5",
            "--seed", "7", "--max-tokens", "900", "--extra-body", '{"top_k": 1}',
            "--metric", "ragas-faithfulness", "--source", "july", "--concurrency", "1",
        )  # fmt: skip
        assert found.code in (0, 5), found.err
        body = server.bodies[0]
    assert (body["temperature"], body["seed"], body["top_k"]) == (0.5, 7, 1)
    assert body["max_tokens"] == 900
    settings = read_manifest(results).settings
    assert (settings["metric"], settings["judge"]) == ("ragas-faithfulness", "openai:m")
    rows = pq.read_table(results / "conversations").to_pylist()
    assert {each["source"] for each in rows} == {"july"}
    assert server.most_in_flight == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--max-failures", "5%"), "give a number of questions in a row"),
        (("--workers", "0"), "there are 0 workers"),
        (("--on", "slurm"), "known: local, ray"),
        (("--shard-size", "0"), "expected 1 or more rows"),
        (("--format", "xml"), "there is no format `xml`"),
        (("--option", "depth=3"), "has no option `depth`"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    cli: Cli, source: Path, words: tuple[str, ...], says: str
) -> None:
    found = cli("measure", source, "-o", source.parent / "results", *words)
    assert found.code == 2
    assert says in found.err


def test_progress_adds_up_shards_and_a_late_report_counts_for_nothing() -> None:
    out, now = io.StringIO(), [0.0]
    line = ShardProgressLine(out, lambda: now[0])
    line.set_and_print_shard_counts(4, 1)
    now[0] = 10.0
    line(ShardOutcome("a", is_whole=False, conversations=3, calls=10, cost_usd=0.5))
    line(ShardOutcome("b", is_whole=True, conversations=2795, failed=1, calls=20, cost_usd=0.25))
    line(ShardOutcome("b", is_whole=False, conversations=4, calls=19, cost_usd=0.2))
    now[0] = 20.0
    line.end()
    line.end()  # nothing is new
    assert out.getvalue().splitlines() == [
        "1 of 4 shards whole from before",
        "1/4 shards · 3 conversations · 0:10 · 10 calls · 60/min · $0.5000",
        "2/4 shards · 2,798 conversations · 0:20 · 30 calls · 90/min · $0.7500 · 1 failed",
    ]


def test_of_many_files_that_cannot_be_read_the_first_say_why(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for number in range(13):
        (tmp_path / "logs" / f"{number:02}.jsonl").write_bytes(b"\x00\xff not text")
    found = cli("measure", tmp_path / "logs", "-o", tmp_path / "results")
    assert found.code == 5
    assert found.err.count("shard 0") == 10
    assert "3 more shards with a problem; --json has the reason of each" in found.err
