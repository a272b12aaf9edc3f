"""Every field of a request is an option of `faithtui run`, is stored, read back and shown.

The fields are listed by the class itself, so a new one is tested without a line here: it needs its
option, its column, and nothing between them. What does not take a 7 is in `TYPED`.
"""

import json
import os
from dataclasses import fields
from pathlib import Path

import pytest
import typer.main

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign
from faithtui.cli.commands.judge.wanted_judge import open_typed_or_configured_judge
from faithtui.cli.commands.run import execution
from faithtui.cli.main import app
from faithtui.domain.ids import ConversationId
from faithtui.domain.judging.judge_examples import Example
from faithtui.domain.judging.judge_profile import NO_PARAMETERS
from faithtui.domain.split_rule import Split, SplitRule
from faithtui.engine.review.conversation_json import LEFT_OUT, run_settings_and_state_to_json
from faithtui.engine.review.samples.store_split import SHARES
from faithtui.engine.runs.request import RunRequest
from faithtui.errors import ConfigError
from faithtui.formats.example_files import example_lines
from faithtui.metrics import registry
from faithtui.paths import config_file
from faithtui.store.records import RunRow, RunSettings
from faithtui.store.runs.startup_list import read_startup_runs
from faithtui.store.store import Store
from tests.cli.conftest import Cli
from tests.engine.building import conversation, make_finished_run, store_with
from tests.store.runs.test_run_designs import sampled

JUDGE = "openai:gpt-6-luna"
OPTIONS = {
    "metric": "--metric",
    "options": "--option",
    "sources": "--source",
    "profile": "--temperature",
    "prompts_dir": "--prompts",
    "budget_nusd": "--budget-usd",
    "claims_run": "--judge",  # a second judge gets the claims of the first
    "claim_set": "--claims",
}
"""Options that are not called as their field."""

TYPED = {
    "metric": "ragas-faithfulness",
    "judge": "openai:gpt-6-sol",
    "base_url": "http://127.0.0.1:1/v1",
    "strategy": "window",
    "options": "window_size=3",
    "profile": "0.5",
    "claims": "imported",
    "sources": "parcels",
    "split": "train",
    "max_failures": "5%",
    "claims_run": "offline",
    "claim_set": "set:shop",
}
"""What is typed for options that take something else than a number."""

COMES_TO = {
    "metric": "metric",
    "judge": "judge",
    "options": "options",
    "claims": "claims_from",
    "as_peer": "options",
    "examples": "example_set",
    "split": "conversations",
    "limit": "conversations",
}
"""Fields that are not stored as they are set, and where the run keeps what they come to."""

TRAINED = next(
    f"c{number}"
    for number in range(12)
    if SplitRule(0, *SHARES).get_split_of_group(f"parcels/c{number}") is Split.TRAIN
)
EXAMPLE = Example(
    metric="turn-faithfulness",
    run=1,
    judge="offline",
    source="parcels",
    key=TRAINED,
    group=f"parcels/{TRAINED}",
    split=None,
    turn=1,
    claim_id=1,
    kind="claim",
    question="What does it weigh?",
    claim="It weighs a ton.",
    passages=("It weighs a kilogram.",),
    references=(),
    judge_verdict="yes",
    judge_reason=None,
    verdict="no",
    reviewers=1,
    blind=True,
    code=None,
    note=None,
)


@pytest.fixture
def path(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with conversations and a split, in which runs are planned and not executed."""
    file = tmp_path / "chats.db"
    store_with(file, [conversation(f"c{number}", 1) for number in range(12)]).close()
    assert cli("split", "make", "--store", file).code == 0
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setattr(
        execution, "execute_runs_in_turn_and_choose_exit_code", lambda *args, **how: 0
    )
    return file


def words_for(name: str, folder: Path) -> list[str]:
    """Type the option of a field, with something that is not what counts without it."""
    option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
    command = typer.main.get_command(app).commands["run"]  # type: ignore[attr-defined]  # a group
    (found,) = (each for each in command.params if option in each.opts)
    if found.is_flag:
        return [option]
    if name == "prompts_dir":
        return [option, str(Path(registry.__file__).parent / "prompts")]
    if name == "claim_set":
        with Store.open(folder / "chats.db") as store:
            run = make_finished_run(store)
            row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 1, 3))
            store.claim_sets.make_claim_set_version_if_changed("shop", row.id, "ann")
    if name == "examples":
        file = folder / "examples.jsonl"
        file.write_text("".join(example_lines([EXAMPLE])), encoding="utf-8")
        return [option, str(file)]
    return [option, TYPED.get(name, "7")]


def planned_run(
    cli: Cli, path: Path, *words: str | Path
) -> tuple[RunRow, tuple[ConversationId, ...]]:
    """Plan a run by the command line; the newest run, and its conversations."""
    done = cli("run", "--store", path, *words)
    assert done.code == 0, done.err
    with Store.open(path, create=False) as store:
        rows = store.runs.list_runs()
        assert repr(read_startup_runs(path)) == repr(rows)  # 1 is no True here
        return rows[0], tuple(
            each.conversation for each in store.runs.list_pending_items(rows[0].id)
        )


def test_what_is_not_stored_as_it_is_set_is_known() -> None:
    named = {each.name for each in fields(RunRequest)} - {each.name for each in fields(RunSettings)}
    assert set(COMES_TO) == named


@pytest.mark.parametrize("name", [each.name for each in fields(RunRequest)])
def test_what_is_typed_is_stored_read_back_and_shown(
    name: str, cli: Cli, path: Path, tmp_path: Path
) -> None:
    usual = () if name == "judge" else ("--judge", JUDGE)
    plain, all_of_it = planned_run(cli, path, "--judge", JUDGE)
    row, conversations = planned_run(cli, path, *usual, *words_for(name, tmp_path))
    kept = COMES_TO.get(name, name)
    if kept == "conversations":
        assert set(conversations) < set(all_of_it)
        return
    assert getattr(row.spec, kept) != getattr(plain.spec, kept)
    shown, before = (
        json.loads(json.dumps(run_settings_and_state_to_json(each))) for each in (row, plain)
    )
    assert (kept in shown) is (kept not in LEFT_OUT)
    assert kept not in shown or shown[kept] != before[kept]


@pytest.mark.parametrize(
    ("option", "typed", "name", "kept"),
    [
        ("--temperature", "0.5", "temperature", 0.5),
        ("--top-p", "0.9", "top_p", 0.9),
        ("--seed", "7", "seed", 7),
        ("--reasoning-effort", "low", "reasoning_effort", "low"),
        ("--max-tokens", "900", "max_tokens", 900),
        ("--timeout", "600", "timeout_s", 600.0),
        ("--extra-body", '{"top_k": 1}', "extra_body", {"top_k": 1}),
        ("--extra-header", "X-Team=evals", "extra_headers", {"X-Team": "evals"}),
    ],
)
def test_a_parameter_of_the_judge_is_typed_stored_and_shown(
    cli: Cli, path: Path, option: str, typed: str, name: str, kept: object
) -> None:
    row, _ = planned_run(cli, path, "--judge", JUDGE, option, typed)
    assert getattr(row.spec.profile, name) == kept
    shown = json.loads(json.dumps(run_settings_and_state_to_json(row)))["profile"]
    assert shown[name] == kept
    assert name == "temperature" or shown["temperature"] == 0


def test_what_is_typed_goes_before_the_environment_and_that_before_the_settings(
    cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path(os.environ["FAITHTUI_HOME"])
    home.mkdir(exist_ok=True)
    config_file().parent.mkdir(parents=True, exist_ok=True)
    config_file().write_text(
        '[judges."*"]\ntop_p = 0.8\nseed = 1\n'
        f'[judges."{JUDGE}"]\nseed = 2\ntemperature = 0.2\nmax_tokens = 500\n'
        'extra_headers = { "X-Api-Key" = "$GATEWAY" }\n',
        encoding="utf-8",
    )
    monkeypatch.setenv("FAITHTUI_TEMPERATURE", "0.4")
    monkeypatch.setenv("FAITHTUI_MAX_TOKENS", "600")
    monkeypatch.setenv("GATEWAY", "s3cret-value")
    row, _ = planned_run(cli, path, "--judge", JUDGE, "--max-tokens", "700")
    assert row.spec.profile.to_json() == {
        "temperature": 0.4,
        "top_p": 0.8,
        "seed": 2,
        "max_tokens": 700,
        "extra_headers": {"X-Api-Key": "$GATEWAY"},
    }
    assert b"s3cret-value" not in path.read_bytes()
    other, _ = planned_run(cli, path, "--judge", "openai:gpt-6-sol")
    assert (other.spec.profile.seed, other.spec.profile.max_tokens) == (1, 600)
    offline, _ = planned_run(cli, path, "--judge", "offline")
    assert offline.spec.profile == NO_PARAMETERS


def test_parameters_for_a_judge_that_takes_none_are_refused(cli: Cli, path: Path) -> None:
    done = cli("run", "--store", path, "--judge", "offline", "--seed", "7")
    assert done.code == ConfigError.exit_code
    assert "offline takes no parameters, and seed would change nothing" in done.err
    done = cli("run", "--store", path, "--judge", JUDGE, "--extra-header", "X-Api-Key=hunter2")
    assert done.code == ConfigError.exit_code
    assert "hunter2" not in done.err


def test_the_json_of_a_run_has_its_keys_in_their_order_and_no_path_or_address(
    cli: Cli, path: Path
) -> None:
    row, _ = planned_run(cli, path, "--judge", JUDGE)
    shown = list(run_settings_and_state_to_json(row))
    set_up = ["run", "metric", "judge", "judge_title", "strategy", "options", "claims_from"]
    assert shown[:8] == [*set_up, "sources"]
    assert shown[shown.index("state") :] == [
        *("state", "reason", "created_at", "finished_at"),
        *("conversations", "done", "failed", "skipped", "pending"),
        *("windows", "failed_windows", "undefined_windows", "skipped_windows"),
        *("scored", "undefined", "incomplete"),
        *("claims", "missing_verdicts", "labelled", "score", "corrected", "integrity"),
        *("calls", "tokens_in", "tokens_out", "archived_at", "with_overrides"),
    ]
    assert not {"base_url", "prompts_dir"} & set(shown)


@pytest.mark.thorough
def test_a_judge_of_the_settings_that_is_none_says_where_it_stands(
    tmp_path: Path, cli: Cli
) -> None:
    said = cli("run", "--judge", "foo").err.rstrip()
    assert said.endswith("nli:PATH"), "it was typed"
    config_file().parent.mkdir(parents=True, exist_ok=True)
    config_file().write_text('judge = "foo"\n', "utf-8")
    said += f" (from `judge` in {config_file()})"
    for command in (("run",), ("judge", "test"), ("measure", tmp_path, "-o", tmp_path / "out")):
        assert cli(*command).err.rstrip() == said, command
    with pytest.raises(ConfigError, match="from `judge` in"):
        open_typed_or_configured_judge(None, None)


def test_a_judge_of_the_settings_is_told_from_a_typed_one(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAITHTUI_JUDGE", "foo")
    assert cli("run").err.rstrip().endswith("nli:PATH (from FAITHTUI_JUDGE)")
