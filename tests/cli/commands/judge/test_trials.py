import asyncio
import json
from pathlib import Path

import pytest

from faithtui.cli.commands.judge.wanted_judge import open_typed_or_configured_judge
from faithtui.engine.runs import runner
from faithtui.errors import JudgeAuthFailed, JudgeUnreachable, JudgeUnusable
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.judges.embedded.embedded_judge import OfflineJudge
from tests.cli.conftest import Cli
from tests.engine.building import opened, planned, store_with
from tests.engine.review.test_recalibration import label, make_conversation
from tests.judges.fake_server import answering_server


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Six labelled claims of two families."""
    file = tmp_path / "rows.jsonl"
    passage = "In spring Lund painted 40 boats in the old harbour. Some boats may sink there."
    file.write_text(
        "\n".join(
            json.dumps({"claim": claim, "context": passage, "label": label, "family": family})
            for claim, label, family in (
                ("In spring Lund painted 40 boats in the old harbour.", "yes", "one"),
                ("Some boats may sink there.", "yes", "one"),
                ("In spring Lund painted 90 boats in the old harbour.", "no", "one"),
                ("Whales sing at night.", "idk", "one"),
                ("In spring Lund painted boats.", "supported", "two"),
                ("Bread is baked from flour.", "unsupported", "two"),
            )
        )
    )
    return file


def test_a_judge_is_compared_with_labels(cli: Cli, rows: Path) -> None:
    result = cli("judge", "evaluate", rows, "--judge", "offline")
    assert result.code == 0
    lines = result.out.splitlines()
    assert " ".join(lines[0].split()) == (
        "family claims supported accuracy balanced AUROC ECE said no of these right"
    )
    assert lines[1].split()[:6] == ["one", "4", "50%", "1.000", "1.000", "1.000"]
    assert lines[1].split()[-2:] == ["1", "1.000"]
    assert [each.split()[:3] for each in lines[2:]] == [["two", "2", "50%"], ["all", "6", "50%"]]
    assert "offline on 6 claims" in result.err
    shown = cli("judge", "evaluate", rows, "--judge", "offline", "--json").json
    assert shown["judge"] == "offline"
    assert [each["family"] for each in shown["families"]] == ["one", "two"]
    assert (shown["all"]["family"], shown["all"]["claims"]) == ("all", 6)


def test_claims_of_one_family_need_no_total(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "plain.jsonl"
    file.write_text('{"claim": "It opens.", "context": "It opens.", "label": "yes"}\n')
    lines = cli("judge", "evaluate", file, "--judge", "offline").out.splitlines()
    assert [each.split()[0] for each in lines] == ["family", "(none)"]


@pytest.mark.parametrize("command", ["evaluate", "probe"])
@pytest.mark.parametrize("kind", [JudgeAuthFailed, JudgeUnreachable])
def test_a_judge_that_cannot_answer_ends_in_one_sentence(
    cli: Cli, rows: Path, monkeypatch: pytest.MonkeyPatch, command: str, kind: type[JudgeUnusable]
) -> None:
    async def refuse(self: OfflineJudge, request: JudgeRequest) -> JudgeReply:
        raise kind("nobody answers")

    monkeypatch.setattr(OfflineJudge, "send", refuse)
    result = cli("judge", command, rows, "--judge", "offline")
    assert result.code == 5
    assert result.err.splitlines() == ["error: nobody answers"]


@pytest.mark.parametrize("command", ["evaluate", "probe"])
def test_a_judge_in_place_of_the_file_is_noticed(cli: Cli, command: str) -> None:
    result = cli("judge", command, "offline")
    assert result.code == 3
    assert "cannot be read" in result.err
    assert "a judge is named by --judge offline" in result.err
    assert "--judge" not in cli("judge", command, "none.jsonl").err


def test_a_judge_is_probed(cli: Cli, rows: Path) -> None:
    result = cli("judge", "probe", rows, "--judge", "offline")
    assert result.code == 0
    assert result.out.splitlines()[0].startswith("change")
    shown = {
        each["kind"]: each
        for each in cli("judge", "probe", rows, "--judge", "offline", "--json").json["probes"]
    }
    assert shown["number"]["share"] == 1.0
    assert shown["injected instruction"]["share"] == 0.0
    assert shown["number"]["effect"] == "breaks"


def test_a_bad_file_and_no_file_are_named(cli: Cli, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"claim": "x", "context": "y", "label": "maybe"}\n')
    result = cli("judge", "evaluate", bad)
    assert result.code == 3
    assert "bad.jsonl: line 1: label: expected one of" in result.err
    assert "give either FILE.jsonl or --run RUN" in cli("judge", "probe").err
    assert "give either FILE.jsonl or --run RUN" in cli("judge", "probe", bad, "--run", "1").err


@pytest.mark.thorough
def test_labelled_claims_of_a_run_are_probed(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "labelled.db"
    with store_with(path, [make_conversation(number) for number in range(15)]) as store:
        run = planned(store)
        judge = opened(OfflineJudge())
        asyncio.run(runner.execute_run(store, run, lambda event: None, judge=judge))
        label(store, run, "yes")
    result = cli("--store", path, "judge", "probe", "--run", "last", "--limit", "5", "--json")
    assert result.code == 0
    assert result.json["claims"] == 5
    assert any(each["kind"] == "verbosity" for each in result.json["probes"])
    file = tmp_path / "probes.json"
    file.write_text(result.out)
    wanted = ("--store", path, "report", "last", "--probes", file)
    found = cli(*wanted, "-f", "json").json["probes"]
    assert (found["judge"], found["claims"], found["same_judge"]) == ("offline", 5, True)
    assert found["figures"] == [
        {
            name: round(value, 6) if isinstance(value, float) else value
            for name, value in each.items()
        }
        for each in result.json["probes"]
    ]
    page = cli(*wanted)
    assert "## Probes" in page.out
    assert "5 labelled claims changed a little (seed 0) and put to offline." in page.out
    assert "| verbosity | stay | 5 |" in page.out
    assert "another version" not in page.out
    file.write_text(result.out.replace("overlap-baseline/", "overlap-baseline/0"))
    assert "judged by another version of this judge" in cli(*wanted, "-f", "html").out
    file.write_text(result.out.replace('"judge": "offline"', '"judge": "openai:m"'))
    refused = cli(*wanted)
    assert refused.code == 2
    assert "the probes are of openai:m, and run 1 was judged by offline" in refused.err


def test_the_limits_of_the_settings_hold_for_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "limited"
    home.mkdir()
    (home / "config.toml").write_text("requests_per_minute = 30\n")
    monkeypatch.setenv("FAITHTUI_HOME", str(home))
    limiter = open_typed_or_configured_judge(
        "openai:m", "http://127.0.0.1:9/v1"
    ).limiters.get_limiter("any")
    assert limiter is not None
    assert limiter.requests_per_second == 0.5


def test_a_judge_is_asked_with_the_parameters_of_a_run(
    cli: Cli, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAITHTUI_TEMPERATURE", "0.5")
    monkeypatch.setenv("FAITHTUI_SEED", "7")
    with answering_server() as server:
        how = ("--judge", "openai:m", "--base-url", server.url)
        assert cli("judge", "evaluate", rows, *how).code == 0
    assert server.bodies
    assert {(each["temperature"], each["seed"]) for each in server.bodies} == {(0.5, 7)}
