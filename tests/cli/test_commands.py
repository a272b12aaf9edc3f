import csv
import io
import json
import re
import shlex
import sys
from pathlib import Path

import pytest
import typer.main

from faithtui.cli.commands.run.execution import execute_run_with_progress_and_choose_exit_code
from faithtui.cli.main import app
from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import Action
from faithtui.engine.dataset_import import import_files
from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.control import RunControl
from faithtui.engine.runs.request import RunRequest
from faithtui.errors import StoreError
from faithtui.logbook import stop_printing_log
from faithtui.output_files import make_private_directory
from faithtui.paths import get_demo_store_path
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.cli.conftest import Cli
from tests.engine.building import planned

FIXTURES = Path(__file__).parents[2] / "fixtures"
GOOD = FIXTURES / "conversations" / "good.jsonl"
BAD = FIXTURES / "conversations" / "bad.jsonl"


def test_help_lists_every_command(cli: Cli) -> None:
    result = cli("--help")
    assert result.code == 0
    for name in ("demo", "import", "run", "runs", "show", "report", "doctor"):
        assert f"\n  {name} " in result.out


def test_version_is_the_installed_one(cli: Cli) -> None:
    from importlib.metadata import version

    assert cli("--version").out.strip() == version("faithtui")


def test_import_counts_on_stdout_and_leaves_with_0(cli: Cli, tmp_path: Path) -> None:
    result = cli("--store", tmp_path / "s.db", "import", GOOD)
    assert (result.code, result.err) == (0, "")
    assert "good.jsonl as `good`: 9 new" in result.out


def test_importing_twice_changes_nothing(cli: Cli, tmp_path: Path) -> None:
    cli("import", GOOD, "--store", tmp_path / "s.db")
    result = cli("import", GOOD, "--store", tmp_path / "s.db", "--json")
    (file,) = result.json["files"]
    assert (file["new"], file["unchanged"], file["new_ratings"]) == (0, 9, 0)


def test_each_bad_line_is_told_with_line_and_field_and_the_good_ones_are_imported(
    cli: Cli, tmp_path: Path
) -> None:
    result = cli("import", BAD, "--store", tmp_path / "s.db", "--json")
    assert result.code == 3
    assert result.json["refused"] == len(result.json["refusals"]) == 46
    for refusal in result.json["refusals"]:
        assert f"line {refusal['line']}: " in result.err
    assert result.json["files"][0]["new"] == 2


def test_strict_imports_nothing_when_a_line_is_refused(cli: Cli, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    result = cli("import", GOOD, BAD, "--strict", "--store", store)
    assert result.code == 3
    assert "nothing was imported" in result.out
    with Store.open(store, create=False) as opened:
        assert opened.conversations.count() == 0


def test_a_missing_file_is_refused_with_its_name(cli: Cli, tmp_path: Path) -> None:
    result = cli("import", tmp_path / "nothing.jsonl", "--store", tmp_path / "s.db")
    assert result.code == 3
    assert "nothing.jsonl" in result.err


def test_an_unknown_format_is_a_setting_error(cli: Cli, tmp_path: Path) -> None:
    result = cli("import", GOOD, "--format", "xml", "--store", tmp_path / "s.db")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: there is no format `xml`")
    result = cli("import", GOOD, "--format", "ragass", "--store", tmp_path / "s.db")
    assert result.err.rstrip().endswith("Did you mean `ragas`?")


def test_run_prints_the_result_on_stdout_and_progress_on_stderr(cli: Cli, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    cli("import", GOOD, "--store", store)
    result = cli("run", "--store", store, "--option", "penalize_ambiguous_claims=true")
    assert result.code == 0
    assert result.out.startswith("run 1: turn-faithfulness by overlap baseline (offline heuristic)")
    assert result.out.count("\n") == 1
    assert "conversations" in result.err
    assert "\x1b" not in result.err, "nobody watches"


def test_run_says_why_conversations_were_skipped(cli: Cli, tmp_path: Path) -> None:
    line = {"turns": [{"role": "assistant", "content": "It weighs two kilograms."}]}
    path = tmp_path / "alone.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    store = tmp_path / "s.db"
    cli("import", path, "--store", store)
    assert "1 skipped: no user turn" in cli("run", "--store", store).out


@pytest.fixture
def resumable(tmp_path: Path) -> Path:
    """A store with a run that was planned and not begun."""
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        import_files(store, [GOOD], report=lambda progress: None)
        run_planner.save_planned_run(store, RunRequest())
    return path


def test_run_with_json_prints_one_event_a_line(cli: Cli, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    cli("import", GOOD, "--store", store)
    result = cli("--json", "--store", store, "run")
    events = [json.loads(line) for line in result.out.splitlines()]
    assert events[0]["event"] == "RunStarted"
    assert events[-1]["event"] == "RunEnded"
    assert events[-1]["state"] == "done"
    assert events[-1]["progress"]["conversations"] == 9


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--metric", "nonsense"], "there is no metric `nonsense`"),
        (["--judge", "openai:gpt"], "variable OPENAI_API_KEY"),
        (["--option", "window_size"], "expected name=value"),
        (["--claims", "guessed"], "imported, run:N or set:NAME"),
        (["--source", "nowhere"], "there is no source `nowhere`"),
        (["--resume", "seven"], "`seven` is no run"),
        (["--resume", "last"], "there is no run yet"),
        (["--concurrency", "0"], "concurrency is 0"),
    ],
)
def test_a_wrong_order_is_one_sentence_and_exit_2(
    cli: Cli, tmp_path: Path, words: list[str], message: str
) -> None:
    store = tmp_path / "s.db"
    cli("import", GOOD, "--store", store)
    result = cli("run", "--store", store, *words)
    assert result.code == 2
    assert message in result.err
    assert "Traceback" not in result.err


_REFUSED = [
    ("--source", "good"),
    ("--metric", "turn-faithfulness"),
    ("--judge", "offline"),
    ("--base-url", "http://127.0.0.1:1"),
    ("--strategy", "evidence"),  # the default, typed
    ("--option", "window_size=3"),
    ("--claims", "extracted"),
    ("--as-peer",),
    ("--prompts", "."),
    ("--examples", "good.jsonl"),
    ("--split", "dev"),
    ("--limit", "1"),
    ("--temperature", "0.5"),
    ("--top-p", "0.5"),
    ("--seed", "7"),
    ("--reasoning-effort", "low"),
    ("--max-tokens", "100"),
    ("--extra-body", "{}"),
    ("--extra-header", "X-Team=red"),
    ("--batch",),
    ("--preview", "--concurrency", "2"),
    ("--preview", "--budget-usd", "2"),
    ("--preview", "--budget-tokens", "2"),
    ("--preview", "--max-failures", "5"),
    ("--preview", "--wait"),
]


@pytest.mark.parametrize("words", _REFUSED)
def test_options_that_a_resumed_run_would_pass_over_are_refused(
    cli: Cli, resumable: Path, words: tuple[str, ...]
) -> None:
    result = cli("run", "--store", resumable, *words, "--resume", "last")
    assert (result.code, result.out) == (2, "")
    refused = next(each for each in words if each.startswith("--") and each != "--preview")
    assert refused in result.err
    assert "leave " in result.err


_TAKEN = [
    ("--concurrency", "2"),
    ("--timeout", "60"),
    ("--budget-usd", "2"),
    ("--budget-tokens", "2000000"),
    ("--max-failures", "5%"),
    ("--wait",),
    ("--log-prompts",),
    ("--record", "replies.jsonl"),
    ("--allow-image-host", "cdn.example.com"),
    ("--preview",),
    ("--json",),
    ("--quiet",),
    ("--color", "never"),
    ("--verbose",),
]


@pytest.mark.parametrize("words", _TAKEN)
def test_a_resumed_run_takes_what_says_how_to_go_on(
    cli: Cli, resumable: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(resumable.parent)
    result = cli("run", "--store", resumable, *words, "--resume", "1")
    stop_printing_log()
    assert result.code == 0, result.err
    (row,) = cli("runs", "--json", "--store", resumable).json
    assert row["state"] == ("planned" if words == ("--preview",) else "done")


def test_every_option_beside_resume_is_refused_or_taken() -> None:
    command = typer.main.get_command(app).commands["run"]  # type: ignore[attr-defined]  # a group
    options = {max(each.opts, key=len) for each in command.params}
    refused, taken = (
        {word for words in table for word in words if word.startswith("--")}
        for table in (_REFUSED, _TAKEN)
    )
    assert options - refused - taken == {"--resume", "--store"}


def test_a_resumed_run_asks_as_much_at_once_as_is_typed(
    cli: Cli, resumable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    async def executed(*_: object, control: RunControl, **__: object) -> RunState:
        seen.append(control.max_in_flight)
        return RunState.DONE

    monkeypatch.setattr(runner, "execute_run", executed)
    for words in ((), ("--concurrency", "3")):
        cli("run", "--store", resumable, *words, "--resume", "1")
    assert seen == [8, 3]
    assert cli("run", "--store", resumable, "--concurrency", "0", "--resume", "1").code == 2


def test_several_judges_and_metrics_are_several_runs(cli: Cli, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    cli("import", GOOD, "--store", store)
    words = ("--judge", "offline", "--metric", "turn_faithfulness", "--metric", "turn-faithfulness")
    result = cli("run", "--store", store, *words)
    assert result.code == 0
    assert len(cli("runs", "--json", "--store", store).json) == 2


def test_without_any_store_a_command_says_how_to_get_one(cli: Cli) -> None:
    result = cli("runs")
    assert result.code == 4
    assert "faithtui import FILE" in result.err
    assert "faithtui demo" in result.err


def test_a_store_that_is_not_there_is_a_store_error(cli: Cli, tmp_path: Path) -> None:
    result = cli("runs", "--store", tmp_path / "none.db")
    assert result.code == 4
    assert "none.db" in result.err


def test_runs_lists_scores_as_numbers_in_json_and_as_text_for_people(
    cli: Cli, judged: Path
) -> None:
    (row,) = cli("runs", "--store", judged, "--json").json
    assert (row["run"], row["state"], row["score"], row["claims"]) == (1, "done", 1.0, 3)
    lines = cli("runs", "--store", judged).out.splitlines()
    assert len(lines) == 2
    assert "turn-faithfulness" in lines[1]


def test_show_lists_conversations_and_finds_one_by_id_or_number(cli: Cli, judged: Path) -> None:
    listed = cli("show", "last", "--store", judged, "--json").json
    assert [row["conversation"] for row in listed] == ["a", "b"]
    by_key = cli("show", "1", "b", "--store", judged, "--json").json
    by_number = cli("show", "1", "2", "--store", judged, "--json").json
    assert by_key == by_number
    assert by_key["claims"][0]["judge"] == "yes"
    text = cli("show", "1", "parcels/b", "--store", judged).out
    assert "Parcel b-0 weighs 1 kilograms." in text
    assert "supports T1 (P1)" in text


def test_show_tells_evidence_that_only_later_windows_have(cli: Cli, tmp_path: Path) -> None:
    chat = {
        "id": "late",
        "turns": [
            {"role": "user", "content": "How much does the parcel weigh?"},
            {
                "role": "assistant",
                "content": "The parcel weighs seven kilograms.",
                "retrieval_context": ["Gold members get a free umbrella."],
            },
            {"role": "user", "content": "Is that sure?"},
            {
                "role": "assistant",
                "content": "The parcel weighs seven kilograms.",
                "retrieval_context": ["The parcel weighs seven kilograms."],
            },
        ],
    }
    (tmp_path / "late.jsonl").write_text(json.dumps(chat), encoding="utf-8")
    store = tmp_path / "late.db"
    cli("import", tmp_path / "late.jsonl", "--store", store)
    cli("run", "--store", store)
    text = cli("show", "1", "late", "--store", store).out
    assert "supports T2 (P2) in view only in window 2: The parcel weighs seven" in text
    assert "supports T2 (P2): The parcel weighs seven kilograms." in text


def test_show_says_what_is_wrong_with_a_name(cli: Cli, judged: Path) -> None:
    result = cli("show", "last", "c", "--store", judged)
    assert result.code == 2
    assert "no conversation `c`" in result.err
    assert cli("show", "7", "--store", judged).code == 4


def test_report_goes_to_stdout_in_one_format_and_to_files_in_several(
    cli: Cli, judged: Path, tmp_path: Path, store: Store
) -> None:
    claim = store.runs.read_conversation_for_review(store.runs.list_item_ids(1)[0], "ann").claims[0]  # type: ignore[arg-type]  # a number
    store.label_log.append_label_event(
        claim.id, "ann", Action.OVERRIDDEN, "no", run=None, judge_verdict="yes", saw_judge=True
    )
    text = cli("report", "last", "--store", judged)
    assert text.code == 0
    assert text.out.startswith("#")
    document = cli("report", "last", "--store", judged, "--json").json
    assert document["coverage"]["reviewed"] == 1
    rows = list(csv.DictReader(io.StringIO(cli("report", "1", "-f", "csv", "--store", judged).out)))
    assert [(row["judge"], row["human"]) for row in rows] == [
        ("yes", "no"),
        ("yes", ""),
        ("yes", ""),
    ]
    folder = tmp_path / "out" / "deep"
    written = cli("report", "1", "-f", "json,csv,md", "-o", folder, "--store", judged)
    assert sorted(path.name for path in folder.iterdir()) == [
        "claims.csv",
        "report.json",
        "report.md",
    ]
    assert written.out.splitlines() == [
        str(folder / name) for name in ("report.json", "claims.csv", "report.md")
    ]


def test_a_report_that_cannot_be_written_is_an_export_error(
    cli: Cli, judged: Path, tmp_path: Path
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("x", encoding="utf-8")
    result = cli("report", "1", "-o", in_the_way, "--store", judged)
    assert result.code == 7
    assert cli("report", "1", "-f", "pdf", "--store", judged).code == 2
    assert cli("report", "1", "-f", "md,csv", "--store", judged).code == 2
    alone, twice = (
        cli("report", "1", "-f", each, "--store", judged) for each in ("md", "md,markdown")
    )
    assert twice.out.splitlines()[0] == alone.out.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--level", "95"), "level is 95"),
        (("--target", "0"), "target is 0"),
        (("--resamples", "3"), "resamples is 3"),
        (("--seed", "-1"), "seed is -1"),
        (("--duplicates", "best"), "known: first_window, majority, worst, latest"),
        (("--idk", "loose"), "known: three, pass, fail, live, exclude"),
        (("--interval", "guess"), "known: jackknife, bootstrap"),
        (("--compare", "1"), "both are run 1"),
    ],
)
def test_a_report_that_cannot_be_asked_for_says_what_can(
    cli: Cli, judged: Path, words: tuple[str, str], told: str
) -> None:
    result = cli("report", "1", *words, "--store", judged)
    assert result.code == 2
    assert told in result.err


def test_what_a_report_is_asked_for_stands_in_it(cli: Cli, judged: Path) -> None:
    result = cli(
        *("report", "1", "--json", "--level", "0.9", "--interval", "bootstrap", "--seed", "4"),
        *("--resamples", "150", "--duplicates", "worst", "--ordinal", "--blind-only"),
        *("--target", "0.2", "--idk", "pass", "--store", judged),
    )
    document = result.json
    assert document["settings"] == {
        "level": 0.9,
        "interval": "cluster_bootstrap_percentile",
        "cluster": "group",
        "seed": 4,
        "resamples": 150,
        "duplicate_rule": "worst",
        "consensus_rule": "majority_else_adjudicate",
        "blind_only": True,
    }
    assert document["scope"]["categories"] == ["faithful", "unfaithful"]
    assert document["scope"]["scale"] == "ordinal"
    assert document["progress"]["target_half_width"] == 0.2


def drop_time(report: str) -> str:
    """Take the time off its last line: a minute may end between two reports."""
    return re.sub(r"\d\d\d\d-\d\d-\d\d \d\d:\d\d UTC\.", "", report)


@pytest.mark.parametrize(("earlier", "word"), [("strict", "pass"), ("lenient", "fail")])
def test_the_earlier_words_of_idk_give_the_same_report_and_a_note(
    cli: Cli, judged: Path, earlier: str, word: str
) -> None:
    words = ("report", "1", "--store", judged, "--idk")
    before, now = cli(*words, earlier), cli(*words, word)
    assert (before.code, drop_time(before.out)) == (now.code, drop_time(now.out))
    assert f"--idk {earlier} is now called --idk {word}" in before.err
    assert "is now called" not in now.err
    assert f"(--idk {word})" in now.out


def test_help_shows_only_the_present_words_of_idk(cli: Cli) -> None:
    for command in ("report", "gate"):
        text = cli(command, "--help").out
        assert "fail" in text.split("--idk")[1][:300]
        assert not re.search("strict|lenient", text)


def test_the_page_is_a_format_too(cli: Cli, judged: Path) -> None:
    page = cli("report", "1", "-f", "html", "--store", judged)
    assert page.code == 0
    assert page.out.startswith("<!DOCTYPE html>")


def test_doctor_tells_about_store_keys_and_judge_without_showing_a_key(
    cli: Cli, judged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    result = cli("doctor", "--store", judged)
    assert result.code == 0
    assert "sound" in result.out
    assert "OPENAI_API_KEY: set (not shown)" in result.out
    assert "sk-very" not in result.out + result.err
    assert "judge offline: answers" in result.out


def test_doctor_prints_only_what_is_wrong_when_quiet(
    cli: Cli, judged: Path, tmp_path: Path
) -> None:
    result = cli("-q", "doctor", "--offline", "--store", judged)
    assert (result.code, result.out) == (0, "")
    broken = tmp_path / "broken.db"
    broken.write_text("no store")
    lines = cli("-q", "doctor", "--offline", "--store", broken).out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["NO  store"]


def test_commands_that_read_a_run_take_the_last_one(cli: Cli, judged: Path, tmp_path: Path) -> None:
    for command in ("show", "plan", "check", "report"):
        named = cli(command, "last", "--store", judged)
        assert named.out
        assert drop_time(cli(command, "--store", judged).out) == drop_time(named.out)
        assert "no store at" in cli(command, "--store", tmp_path / "none.db").err


def test_doctor_exits_with_the_kind_of_what_is_wrong(cli: Cli, tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_text("this is no database at all, but long enough to look", encoding="utf-8")
    assert cli("doctor", "--store", broken).code == 4
    assert cli("doctor", "--store", tmp_path / "nowhere" / "s.db").code == 4
    assert cli("doctor", "--judge", "openai:gpt").code == 2
    unreachable = ("--judge", "openai:gpt", "--base-url", "http://127.0.0.1:9/v1")
    result = cli("doctor", *unreachable, "--json")
    assert result.code == 5
    assert [each["ok"] for each in result.json if each["name"].startswith("judge")] == [False]


def test_the_app_says_that_it_needs_a_terminal(cli: Cli) -> None:
    result = cli()
    assert result.code == 2
    assert "needs a terminal" in result.err


def test_texts_of_files_never_reach_the_terminal_as_commands(cli: Cli, tmp_path: Path) -> None:
    hostile = json.loads((FIXTURES / "hostile" / "strings.json").read_text(encoding="utf-8"))
    path = tmp_path / "hostile.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, string in enumerate(hostile["strings"]):
            text = string["text"]
            if text is None:
                text = string["repeat"] * min(string["times"], 2000)
            line = {
                "id": f"{number} {text[:200]}",
                "turns": [
                    {"role": "user", "content": text},
                    {
                        "role": "assistant",
                        "content": f"{text} Parcels weigh two kilograms.",
                        "retrieval_context": [text],
                    },
                ],
            }
            file.write(json.dumps(line) + "\n")
    store = tmp_path / "s.db"
    assert cli("import", path, "--store", store, "--source", "\x1b]0;title\x07").code == 0
    printed = cli("run", "--store", store)
    outputs = [printed.out, printed.err, cli("runs", "--store", store).out]
    outputs.append(cli("show", "last", "--store", store).out)
    outputs += [
        cli("show", "last", str(number), "--store", store).out
        for number in range(1, len(hostile["strings"]) + 1)
    ]
    outputs.append(cli("show", "last", "\x1b[2J", "--store", store).err)
    for output in outputs:
        assert not set(output) & {
            chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))
        }
        output.encode("utf-8")


def test_a_run_that_the_store_stops_says_how_to_go_on(
    judged: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stopped(*args: object, **kwargs: object) -> RunState:
        raise StoreError("the file is damaged")

    with Store.open(judged) as store:
        run = planned(store)
        monkeypatch.setattr("faithtui.engine.runs.runner.execute_run", stopped)
        with pytest.raises(StoreError, match="damaged"):
            execute_run_with_progress_and_choose_exit_code(store, run, as_json=False)
    assert f"faithtui run --resume {run}" in capsys.readouterr().err


def test_who_watches_is_told_what_comes_next(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make_conversation(name: str, *, context: bool = True) -> Path:
        path = tmp_path / f"{name}.jsonl"
        answer = {"role": "assistant", "content": "Two kilograms."}
        seen = {"retrieval_context": ["2 kg."]} if context else {}
        turns = [{"role": "user", "content": "How heavy?"}, {**answer, **seen}]
        path.write_text(json.dumps({"id": name, "turns": turns}) + "\n", encoding="utf-8")
        return path

    store = tmp_path / "s.db"
    told = [
        cli("import", make_conversation("a"), "--store", store).err,
        cli("run", "--store", store).err,
    ]
    assert "next:" not in "".join(told), "only people are told, and no pipe"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    program = f"faithtui --store {store}"
    assert f"next: `{program} run`" in cli("import", make_conversation("b"), "--store", store).err
    assert "next:" not in cli("import", make_conversation("b"), "--store", store).err, (
        "nothing is new"
    )
    assert f"next: `{program}`" in cli("run", "--store", store).err
    bare = tmp_path / "bare.db"
    cli("import", make_conversation("c", context=False), "--store", bare)
    assert "next:" not in cli("run", "--store", bare).err, "nothing was judged"
    assert "1 conversations" not in cli("doctor", "--store", store).out


def test_a_score_with_overrides_says_how_much_is_reviewed_and_is_never_called_corrected(
    cli: Cli, judged: Path
) -> None:
    with Store.open(judged) as store:
        run = store.runs.read_run(RunId(1))
        (first, *_) = store.labelled_units.read_claim_units(run.id)
        store.label_log.record_verdict(first.claim, "ann", "no", run=run.id, saw_judge=False)
    counts = f"1 of {run.claims} reviewed"
    table = cli("runs", "--store", judged).out
    shown = cli("show", "last", first.key, "--store", judged).out
    assert counts in table
    assert f"{first.key}" in cli("show", "last", "--store", judged).out
    assert re.search(r"^with overrides, 1 of \d+ reviewed: mean of windows", shown, re.MULTILINE)
    assert "corrected" not in table + shown
    told = cli("runs", "--json", "--store", judged).json[0]
    assert told["with_overrides"] == told["corrected"] is not None


def test_without_a_store_the_demo_is_named_where_it_is(cli: Cli) -> None:
    assert "faithtui demo shows one" in cli("runs").err
    demo = get_demo_store_path()
    make_private_directory(demo.parent)
    Store.open(demo, create=True).close()
    assert f"--store {shlex.quote(str(demo))}" in cli("runs").err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (
            ("gate", "1", "--min-kappa", "abc"),
            3,
            "'--min-kappa': abc is no number. Minimum of Cohen's kappa, -1 to 1.",
        ),
        (("gate", "1", "--min-kappa", ""), 3, "'--min-kappa': '' is no number. Minimum of"),
        (("gate", "1", "--min-kappa", " "), 3, "'--min-kappa': ' ' is no number. Minimum of"),
        (
            ("plan", "--design-effect", "abc"),
            2,
            "of independent claims, such as 1.5.",
        ),
        (
            ("gate", "1", "--min-labels", "3.5"),
            3,
            "'--min-labels': 3.5 is no whole number. Minimum of labelled units.",
        ),
        (
            ("run", "--timeout", "a\x1b[31m"),
            2,
            "a\N{SYMBOL FOR ESCAPE}[31m is no number. How long one question may take, 1 to 86400.",
        ),
        (("judge", "probe", "--limit", "0"), 2, "'--limit': 0 is less than 1. Maximum number of"),
        (("serve", "--port", "70000"), 2, "'--port': 70000 is more than 65535. Port to listen on"),
    ],
)
def test_a_number_that_is_refused_is_named_with_what_is_taken(
    cli: Cli, words: tuple[str, ...], code: int, says: str
) -> None:
    done = cli(*words)
    assert done.code == code
    assert says in " ".join(done.err.split())
