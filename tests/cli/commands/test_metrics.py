"""The commands hold for every metric, and know none of them."""

import json
from pathlib import Path

import pytest

from faithtui.metrics.registry import METRICS, list_option_names
from tests.cli.conftest import Cli

KEYS = [each.spec.key for each in METRICS]

CONVERSATION = {
    "id": "c1",
    "expected_outcome": "The user knows when the parcel leaves.",
    "scenario": "A customer asks.",
    "turns": [
        {
            "role": "user",
            "content": "When does it leave?",
            "retrieval_context": ["It never leaves."],
        },
        {
            "role": "assistant",
            "content": "It leaves within two days.",
            "retrieval_context": ["It leaves within two days.", "The heron is called Oskar."],
        },
        {"role": "user", "content": "Can I return it?"},
        {
            "role": "assistant",
            "content": "You can return it for a year. It leaves within two days.",
            "retrieval_context": ["You can return it for thirty days."],
        },
    ],
}


@pytest.fixture
def store(cli: Cli, tmp_path: Path) -> Path:
    path = tmp_path / "chat.jsonl"
    path.write_text(json.dumps(CONVERSATION) + "\n", encoding="utf-8")
    store = tmp_path / "s.db"
    cli("import", path, "--store", store)
    return store


def test_metrics_lists_all_of_them(cli: Cli) -> None:
    listed = cli("metrics", "--json").json
    assert [each["metric"] for each in listed] == KEYS
    table = cli("metrics").out
    for each in METRICS:
        assert each.spec.title in table
        assert each.spec.peer in table


@pytest.mark.parametrize("key", KEYS)
def test_metrics_tells_every_option_of_one(cli: Cli, key: str) -> None:
    told = cli("metrics", key, "--json").json
    assert tuple(each["option"] for each in told["options"]) == list_option_names(key)
    assert all(each["meaning"] for each in told["options"])
    table = cli("metrics", key.replace("-", "_")).out
    assert all(name in table for name in list_option_names(key))


def test_an_unknown_metric_is_one_sentence(cli: Cli) -> None:
    result = cli("metrics", "nothing")
    assert result.code == 2
    assert "there is no metric `nothing`" in result.err


def test_all_metrics_run_in_one_go_and_share_what_they_ask_alike(cli: Cli, store: Path) -> None:
    result = cli("run", "--metric", "all", "--store", store)
    assert result.code == 0, result.err
    ran = [line for line in result.out.splitlines() if line.startswith("run ")]
    assert [line.split(" by ")[0] for line in ran] == [
        f"run {number}: {key}" for number, key in enumerate(KEYS, start=1)
    ]
    calls = {each["metric"]: each["calls"] for each in cli("runs", "--json", "--store", store).json}
    alone = store.with_name("alone.db")
    cli("import", store.with_name("chat.jsonl"), "--store", alone)
    cli("run", "--metric", "deepevalex-faithfulness", "--store", alone)
    (single,) = cli("runs", "--json", "--store", alone).json
    assert calls["deepevalex-faithfulness"] < single["calls"], (
        "truths and claims of the first run are used again"
    )


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("words", [(), ("--as-peer",), ("--strategy", "window")])
def test_every_metric_runs_and_shows_its_own_labels(
    cli: Cli, store: Path, key: str, words: tuple[str, ...]
) -> None:
    ran = cli("run", "--metric", key, "--store", store, *words)
    assert ran.code == 0, ran.err
    (spec,) = (each.spec for each in METRICS if each.spec.key == key)
    table = cli("show", "last", "--store", store).out
    assert all(name in table.splitlines()[0].split() for name in spec.labels.names)
    (row,) = cli("show", "last", "--json", "--store", store).json
    assert row["state"] == "done"
    assert set(row["labels"]) <= set(spec.labels.names)
    shown = cli("show", "last", "c1", "--store", store).out
    assert "context of user turns 1 is not used: this metric reads" in shown
    view = cli("show", "last", "c1", "--json", "--store", store).json
    assert {claim["kind"] for claim in view["claims"]} == {spec.judges}


def test_show_puts_all_metrics_of_an_answer_side_by_side(cli: Cli, store: Path) -> None:
    cli("run", "--metric", "all", "--store", store)
    shown = cli("show", "1", "c1", "--store", store).out
    table = shown.split("metrics compared, answer by answer")[1].strip().splitlines()
    assert all(key in table[0] for key in KEYS)
    assert len(table) == 3, "a head and two answers"
    compared = cli("show", "1", "c1", "--json", "--store", store).json["metrics_compared"]
    assert [each["metric"] for each in compared["runs"]] == KEYS
    assert [each["turn"] for each in compared["answers"]] == [1, 3]
    for answer in compared["answers"]:
        assert len(answer["verdicts"]) == len(KEYS)
        assert all(0 <= cell["score"]["value"] <= 1 for cell in answer["verdicts"])


def test_nothing_is_compared_while_there_is_one_run(cli: Cli, store: Path) -> None:
    cli("run", "--store", store)
    assert "metrics compared" not in cli("show", "1", "c1", "--store", store).out


def test_verbose_mode_tells_steps_on_stderr_and_keeps_stdout_for_the_result(
    cli: Cli, store: Path
) -> None:
    result = cli("run", "--option", "verbose_mode=true", "--store", store)
    assert result.out.count("\n") == 1
    assert "Turn faithfulness of chat/c1" in result.err
    assert "      - yes: It leaves within two days." in result.err


def test_fields_of_a_test_case_that_no_metric_reads_change_nothing(
    cli: Cli, store: Path, tmp_path: Path
) -> None:
    bare = {key: CONVERSATION[key] for key in ("id", "turns")}
    path = tmp_path / "bare.jsonl"
    path.write_text(json.dumps(bare) + "\n", encoding="utf-8")
    other = tmp_path / "bare.db"
    cli("import", path, "--store", other)
    for each in (store, other):
        cli("run", "--metric", "all", "--store", each)
    scores = [
        [(run["metric"], run["score"]) for run in cli("runs", "--json", "--store", each).json]
        for each in (store, other)
    ]
    assert scores[0] == scores[1]


def test_several_runs_say_on_stderr_which_is_on(cli: Cli, store: Path) -> None:
    told = cli("run", "--metric", "all", "--store", store).err.splitlines()
    heads = [line for line in told if line.endswith(" …")]
    assert [head.split()[2] for head in heads] == KEYS
    assert " …" not in cli("run", "--store", store).err


def test_what_failed_says_why_once(cli: Cli, tmp_path: Path) -> None:
    chat = json.loads(json.dumps(CONVERSATION)) | {"id": "p1"}
    chat["turns"][0]["images"] = [{"url": "https://example.org/sign.png"}]
    path = tmp_path / "pictures.jsonl"
    path.write_text(json.dumps(chat) + "\n", encoding="utf-8")
    store = tmp_path / "p.db"
    cli("import", path, "--store", store)
    result = cli("run", "--metric", "all", "--store", store)
    assert result.code == 5
    assert "1 conversation failed; see" in result.err
    shown = cli("show", "last", "p1", "--store", store).out
    assert shown.count("holds images and this judge takes none") == 1
    assert "image https://example.org/sign.png" in shown
    table = shown.split("metrics compared, answer by answer")[1].strip().splitlines()
    assert table[1].split()[-len(KEYS) :] == ["failed"] * len(KEYS)


def test_a_corrected_score_is_shown_once_people_said_something(cli: Cli, store: Path) -> None:
    cli("run", "--store", store)
    shown = cli("show", "1", "c1", "--store", store).out
    assert "judge: mean of windows" in shown
    assert "corrected:" not in shown
    assert "window 2\n" in shown
