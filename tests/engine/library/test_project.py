"""A store as one object: what notebooks and scripts see."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from faithtui import Project, open_store
from faithtui.domain.judging.judge_profile import JudgeProfile
from faithtui.errors import ConfigError, InputError, StoreError
from tests.judges.fake_server import answering_server

CONVERSATIONS = [
    {
        "id": f"c{number}",
        "turns": [
            {"role": "user", "content": f"When does house {number} open?"},
            {
                "role": "assistant",
                "content": f"House {number} opens in May. It is free.",
                "retrieval_context": [f"House {number} opens in May."],
            },
        ],
    }
    for number in (1, 2)
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv("FAITHTUI_HOME", str(tmp_path / "home"))
    with open_store(tmp_path / "chats.db", reviewer="ann") as opened:
        opened.import_rows(CONVERSATIONS, source="houses")
        yield opened


def test_files_are_imported_once_and_bad_lines_named(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "more.jsonl"
    good = json.dumps(CONVERSATIONS[0] | {"id": "c9"})
    file.write_text(good + "\n{}\n")
    first = project.import_file(file)
    assert (first["new"], first["unchanged"]) == (1, 0)
    refused = first["refused"]
    assert isinstance(refused, list)
    assert "line 2" in refused[0]
    assert project.import_file(str(file))["unchanged"] == 1
    assert {each["source"]: each["conversations"] for each in project.sources()} == {
        "houses": 2,
        "more": 1,
    }


def test_columns_of_a_file_are_named_and_what_nobody_understood_is_told(
    project: Project, tmp_path: Path
) -> None:
    file = tmp_path / "rows.jsonl"
    row = {"ask": "Open?", "said": "In May.", "pages": ["It opens in May."], "mood": "fine"}
    file.write_text(json.dumps(row) + "\n")
    found = project.import_file(
        file, format="rows", mapping={"question": "ask", "answer": "said", "contexts": "pages"}
    )
    assert (found["new"], found["refused"], found["formats"]) == (1, [], ["rows"])
    assert found["kept_aside"] == {"mood": 1}
    with pytest.raises(ConfigError, match="no name `asked`; known: "):
        project.import_file(file, mapping={"asked": "ask"})
    with pytest.raises(ConfigError, match="nothing"):
        project.import_file(file, format="nothing")


def test_a_run_is_executed_listed_and_gone_on_with(project: Project) -> None:
    told: list[tuple[int, int]] = []
    run = project.run(
        judge="offline",
        options={"include_reason": False, "window_size": 3},
        limit=1,
        on_progress=lambda done, of: told.append((done, of)),
    )
    assert (run["run"], run["state"], run["done"], run["metric"]) == (
        1, "done", 1, "turn-faithfulness",
    )  # fmt: skip
    assert told[-1] == (1, 1)
    options = run["options"]
    assert isinstance(options, dict)
    assert (options["include_reason"], options["window_size"]) == (False, 3)
    assert project.resume(1)["state"] == "done"
    assert [each["run"] for each in project.runs()] == [1]
    (row,) = project.conversations("last")
    assert row["conversation"] == "c1"


async def test_it_runs_where_a_loop_runs_already(project: Project) -> None:
    """As in a notebook."""
    assert project.run()["state"] == "done"


def test_claims_are_rows_and_blind_ones_say_nothing_of_the_judge(project: Project) -> None:
    project.run()
    blind = project.claims(blind=True)
    assert len(blind) == 4
    assert not {"judge", "human", "verdicts", "evidence", "people"} & blind[0].keys()
    act = project.label(1, "no", note="says who?")
    assert act == {
        "claim": 1,
        "reviewer": "ann",
        "verdict": "no",
        "judge": "yes",
        "action": "blind",
    }
    shown = {each["claim"]: each for each in project.claims(1)}
    assert (shown[1]["judge"], shown[1]["human"]) == ("yes", "no")
    assert shown[1]["people"][0]["note"] == "says who?"  # type: ignore[index]  # JSON values
    json.dumps(project.claims())


def test_whoever_listed_the_verdicts_is_not_blind_and_others_are(project: Project) -> None:
    project.run()
    project.claims()
    assert project.label(2, "no")["action"] == "overridden"
    assert project.label(2, "no", reviewer="bob")["action"] == "blind"


def test_of_a_changed_verdict_there_are_no_claims_and_no_figures(
    project: Project, tmp_path: Path
) -> None:
    project.run()
    project.label(1, "no")
    with closing(sqlite3.connect(tmp_path / "chats.db")) as connection, connection:
        connection.execute("UPDATE verdict SET label = 'yas' WHERE rowid = 2")
    for read in (project.claims, project.report, project.gate):
        with pytest.raises(StoreError, match=r"the verdict on claim 2 .* is not what was written"):
            read()


def test_what_cannot_be_labelled_is_refused(project: Project) -> None:
    with pytest.raises(ConfigError, match="there is no run yet"):
        project.claims()
    project.run()
    with pytest.raises(ConfigError, match="no label `maybe`; known: yes, no, idk, x"):
        project.label(1, "maybe")
    with pytest.raises(StoreError, match="run 1 has no claim 99"):
        project.label(99, "yes")
    with pytest.raises(StoreError, match="no run 7"):
        project.label(1, "yes", run=7)
    with pytest.raises(ConfigError, match="expected a number, or 'last'"):
        project.claims("first")
    with pytest.raises(ConfigError, match="reviewer is empty"):
        project.label(1, "yes", reviewer=" ")
    with pytest.raises(InputError, match="claim: is a text"):
        project.label("1", "yes")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="verdict: is an int"):
        project.label(1, 1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="sources: is a text; expected a list of names"):
        project.run(sources="houses")
    for budget in (float("nan"), float("inf"), -1):
        with pytest.raises(ConfigError, match="budget_usd is "):
            project.run(budget_usd=budget)
    with pytest.raises(ConfigError, match="concurrency is 0; expected 1 to"):
        project.run(concurrency=0)
    with pytest.raises(InputError, match="rows: is a text; expected a list of mappings"):
        project.import_rows(CONVERSATIONS[0], source="one")  # type: ignore[arg-type]


def test_the_report_and_the_gate_are_those_of_the_commands(
    project: Project, tmp_path: Path
) -> None:
    project.run()
    project.label(1, "no")
    report = project.report()
    assert report["schema_version"]
    assert project.format_report(form="md").startswith("# Agreement of run 1")
    written = project.write_report(tmp_path / "report", formats=("md", "json"))
    assert [each.name for each in written] == ["report.md", "report.json"]
    with pytest.raises(ConfigError, match="no format `pdf`; known: md"):
        project.format_report(form="pdf")  # type: ignore[arg-type]
    found = project.gate(min_kappa=0.5, min_labels=1)
    assert found["run"] == 1
    assert found["result"] != "passed"
    with pytest.raises(ConfigError, match="nothing is asked"):
        project.gate()


def test_a_store_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        open_store(tmp_path / "none.db", create=False)
    with pytest.raises(ConfigError, match="reviewer is empty"):
        open_store(tmp_path / "new.db", reviewer="")


def test_an_interrupted_run_keeps_its_replies_and_goes_on(project: Project) -> None:
    def interrupt(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        project.run(on_progress=interrupt)
    assert project.resume()["state"] == "done"


def test_a_run_asks_with_the_parameters_of_the_settings_or_of_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAITHTUI_HOME", str(tmp_path))
    monkeypatch.setenv("FAITHTUI_SEED", "7")
    (tmp_path / "config.toml").write_text(
        '[judges."openai:m"]\ntemperature = 0.5\nextra_headers = { X-Team = "red" }\n'
    )
    with answering_server() as server, open_store(tmp_path / "chats.db") as project:
        project.import_rows(CONVERSATIONS[:1], source="houses")
        project.run(judge="openai:m", base_url=server.url)
        asked = len(server.bodies)
        assert asked
        assert {(each["temperature"], each["seed"]) for each in server.bodies} == {(0.5, 7)}
        same = JudgeProfile(temperature=0.5, seed=7, extra_headers={"X-Team": "red"})
        project.run(judge="openai:m", base_url=server.url, profile=same)
        assert len(server.bodies) == asked, "what was paid for is not asked again"
        project.run(judge="openai:m", base_url=server.url, profile=JudgeProfile())
        assert server.bodies[-1]["temperature"] == 0
        with pytest.raises(InputError, match="profile: is a dict; expected a JudgeProfile"):
            project.run(profile={})  # type: ignore[arg-type]
