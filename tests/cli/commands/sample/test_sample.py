"""`faithtui sample`: what it prints, and what it refuses."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui import measure_shards
from faithtui.agreement.documents.markdown_report import escape_markdown
from faithtui.cli.commands.sample.sample import _split_names_at_commas
from tests.cli.conftest import Cli
from tests.engine.building import conversation
from tests.engine.population.results import make_population, write_results
from tests.engine.shards.shard_files import write_lines


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_population(40, failed=2)
    return write_results(tmp_path_factory.mktemp("results") / "all", {"a": made})


@pytest.mark.thorough
def test_it_says_what_was_drawn_of_what_and_what_comes_next(
    cli: Cli, results: Path, tmp_path: Path
) -> None:
    store = tmp_path / "review.db"
    result = cli("sample", results, "--size", "20", "--store", store)
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0] == f"population: 120 claims of 40 conversations in {results}"
    assert lines[1].startswith("2 of 42 conversations (4.8%) could not be judged")
    assert any(each.startswith("judge yes ") for each in lines)
    assert any(each == "sample 1 of run 1: 20 claims, seed 1" for each in lines)
    assert any("is known to about ± 0." in each for each in lines)
    again = cli("sample", results, "--size", "5", "--store", store)
    assert "sample 1 of run 1: 25 claims (5 claims by this draw), seed 1" in again.out
    runs = cli("runs", "--store", store)
    assert f"only conversations drawn from 120 claims in {results} are here" in runs.err
    report = cli("report", "last", "--store", store)
    place = escape_markdown(str(results))
    assert f"The figures are about 120 claims of 40 conversations in {place}" in report.out


def test_json_has_every_stratum_with_its_chance(cli: Cli, results: Path, tmp_path: Path) -> None:
    result = cli(
        *("sample", results, "--size", "20", "--stratify", "language", "--seed", "7"),
        *("--json", "--store", tmp_path / "review.db"),
    )
    assert result.code == 0
    found = json.loads(result.out)
    assert (found["claims"], found["added"], found["seed"]) == (20, 20, 7)
    assert found["stratified_by"] == ["language"]
    assert {each["name"] for each in found["strata"]} == {"language de", "language en"}
    for each in found["strata"]:
        assert each["probability"] == each["drawn"] / each["population"]
    assert found["population"]["states"] == {"failed": 2, "scored": 40}
    plan = cli("plan", "last", "--rate", "0.1", "--store", tmp_path / "review.db")
    assert plan.code == 2
    store = tmp_path / "review.db"
    command = f"faithtui --store {store} sample {results} --precision 0.1"
    assert f"{command} plans how many more to draw" in plan.err
    for asked in (("--labels", "20"), ("--recall", "0.1")):
        plan = cli("plan", "last", *asked, "--store", tmp_path / "review.db")
        assert plan.code == 2
        assert f"faithtui --store {store} sample {results} draws more of them" in plan.err


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("", ()),
        (" verdict , team ", ("verdict", "team")),
        ('verdict, "city, country" ,team', ("verdict", "city, country", "team")),
        ('"the ""old"" key"', ('the "old" key',)),
    ],
)
def test_names_of_strata_are_written_as_in_a_line_of_csv(
    written: str, names: tuple[str, ...]
) -> None:
    assert _split_names_at_commas(written) == names


def test_a_key_of_the_metadata_may_have_a_comma(cli: Cli, tmp_path: Path) -> None:
    chats = [
        replace(conversation(f"{number}", 1), metadata={"city, country": city})
        for number, city in enumerate(["Bergen, Norway", "Oslo, Norway"] * 3)
    ]
    write_lines(tmp_path / "logs.jsonl", chats)
    measure_shards(tmp_path / "logs.jsonl", tmp_path / "results")
    options = ("--size", "4", "--store", tmp_path / "review.db", "--json")
    keys = 'verdict,"city, country"'
    first = cli("sample", tmp_path / "results", "--stratify", keys, *options)
    assert first.code == 0, first.err
    found = json.loads(first.out)
    assert found["stratified_by"] == ["verdict", "city, country"]
    assert len(found["strata"]) == 2
    second = cli("sample", tmp_path / "results", "--stratify", "verdict", *options)
    assert second.code == 2
    assert 'name "city, country" in --stratify too' in second.err


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--design", "clever"), 2, "--design is `clever`; expected one of simple, stratified"),
        (("--size", "-1"), 2, "--size is -1; expected 1 or more"),
        (("--size", "0"), 2, "--size is 0; expected 1 or more"),
        (("--stratify", "verdict,,x"), 2, "nothing between two commas"),
        (("--stratify", 'verdict,"city'), 2, "has a quotation mark that is not closed"),
        (("--stratify", "verdict,\ncity"), 2, "--stratify has a line break outside of quotation"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    cli: Cli, results: Path, tmp_path: Path, options: tuple[str, ...], code: int, words: str
) -> None:
    result = cli("sample", results, *options, "--store", tmp_path / "review.db")
    assert result.code == code
    assert words in result.err
    assert not (tmp_path / "review.db").exists()


def test_a_folder_without_results_is_refused(cli: Cli, tmp_path: Path) -> None:
    result = cli("sample", tmp_path, "--store", tmp_path / "review.db")
    assert result.code == 3
    assert "expected a folder that `faithtui measure` wrote" in result.err
