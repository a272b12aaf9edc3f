"""What has no score is counted beside the mean, wherever a mean is printed."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

NO_CLAIMS = "the judge drew no claims from the answer"
NO_DOCUMENT = "there is no document, so no claim was compared with anything"


def exchange(question: str, answer: str, *documents: str) -> list[dict[str, object]]:
    return [
        {"role": "user", "content": question},
        {"role": "assistant", "content": answer, "retrieval_context": list(documents)},
    ]


@pytest.fixture
def store(cli: Cli, tmp_path: Path) -> Path:
    """A run over small talk alone, small talk before an answer, and an answer from nothing."""
    opens = "The shop opens at nine."
    chats = [
        ("small-talk", exchange("Thanks!", "You're welcome!", opens)),
        ("mixed", [*exchange("Hi!", "Hello!", opens), *exchange("When?", opens, opens)]),
        ("bare", exchange("When?", opens)),
    ]
    lines = tmp_path / "shop.jsonl"
    lines.write_text(
        "".join(json.dumps({"id": key, "turns": turns}) + "\n" for key, turns in chats)
    )
    path = tmp_path / "shop.db"
    assert cli("import", "--store", path, lines).code == 0
    return path


def run_over(cli: Cli, store: Path, *words: str) -> str:
    result = cli("run", "--store", store, "--judge", "offline", "--option", "window_size=1", *words)
    assert result.code == 0
    return result.out


def test_the_summary_of_a_run_counts_what_its_mean_leaves_out(cli: Cli, store: Path) -> None:
    out = run_over(cli, store)
    assert "mean score 1.00 over 1 of 3 conversations · 3 of 4 windows undefined" in out
    assert f"1 undefined: {NO_CLAIMS}" in out
    assert f"1 undefined: {NO_DOCUMENT}" in out


def test_nothing_but_small_talk_is_no_mean_score(cli: Cli, store: Path, tmp_path: Path) -> None:
    lines = tmp_path / "chat.jsonl"
    chat = {"id": "1", "turns": exchange("Thanks!", "You're welcome!", "The shop opens at nine.")}
    lines.write_text(json.dumps(chat))
    cli("import", "--store", store, lines)
    out = run_over(cli, store, "--source", "chat")
    assert "0 claims · no score · 1 of 1 window undefined" in out
    assert "mean score" not in out


def test_the_peers_rules_keep_their_1(cli: Cli, store: Path) -> None:
    out = run_over(cli, store, "--as-peer")
    assert "mean score 1.00" in out
    assert "undefined" not in out


def test_lists_and_json_count_windows_and_conversations_without_a_score(
    cli: Cli, store: Path
) -> None:
    run_over(cli, store)
    (run,) = cli("runs", "--store", store, "--json").json
    assert (run["score"], run["scored"], run["undefined"]) == (1.0, 1, 2)
    assert (run["windows"], run["undefined_windows"], run["skipped_windows"]) == (4, 3, 0)
    heads, row = cli("runs", "--store", store).out.splitlines()
    assert heads.split().index("undefined") > 0
    assert " 2 " in row
    small_talk, mixed, bare = cli("show", "--store", store, "1", "--json").json
    assert small_talk["judge"]["windowed"] == {
        "value": None,
        "state": "undefined",
        "reason": NO_CLAIMS,
        "undefined": 1,
        "skipped": 0,
    }
    assert (mixed["judge"]["windowed"]["value"], mixed["undefined_windows"]) == (1.0, 1)
    assert mixed["judge"]["per_interaction"]["undefined"] == 1
    assert bare["judge"]["pooled"]["reason"] == NO_DOCUMENT
    listed = cli("show", "--store", store, "1").out
    assert NO_CLAIMS in listed
    assert "1/2" in listed


def test_a_conversation_says_which_windows_have_no_score_and_why(cli: Cli, store: Path) -> None:
    run_over(cli, store)
    out = cli("show", "--store", store, "1", "mixed").out
    assert "mean of windows 1.00 (1 of 2 windows undefined)" in out
    assert f"window 1: undefined ({NO_CLAIMS})" in out
    assert "final reason: The conversation scored 1.00, which passes." in out
    nothing = cli("show", "--store", store, "1", "small-talk").out
    assert f"judge: undefined ({NO_CLAIMS})" in nothing
    assert "final reason" not in nothing


def test_a_report_says_how_many_windows_no_mean_counts(cli: Cli, store: Path) -> None:
    run_over(cli, store)
    out = cli("report", "--store", store, "1", "-f", "md").out
    assert "4 windows in the run, 3 of them without a score" in out
    assert "there was nothing to judge in 2." in out


def test_a_run_that_skips_all_is_no_failure_and_says_that_nothing_was_judged(
    cli: Cli, tmp_path: Path
) -> None:
    lines, path = tmp_path / "chat.jsonl", tmp_path / "chat.db"
    chat = [{"role": "user", "content": "Hi!"}, {"role": "assistant", "content": "Hello!"}]
    lines.write_text(json.dumps({"id": "1", "turns": chat}))
    cli("import", "--store", path, lines)
    for words in (("--judge", "offline"), ("--judge", "offline", "--json"), ("--resume", "1")):
        done = cli("run", "--store", path, *words)
        assert done.code == 0
        assert "judged nothing: 1 skipped: no retrieval context. That is no failure" in done.err
    assert "run 1 was done before: nothing was left to ask\n" in done.err
    cli("archive", "--store", path, "1", "2")
    refused = cli("report", "--store", path)
    assert "`last` is none of the runs: all are archived; name one, or faithtui" in refused.err


def test_stdout_of_a_run_is_one_line_and_the_rule_for_idk_stands_on_stderr(
    cli: Cli, tmp_path: Path
) -> None:
    lines, path = tmp_path / "shop.jsonl", tmp_path / "shop.db"
    said = exchange("When?", "The museum sells tickets for trains to Berlin.", "Cats sleep.")
    lines.write_text(json.dumps({"id": "1", "turns": said}))
    cli("import", "--store", path, lines)
    done = cli("run", "--store", path, "--judge", "offline")
    assert done.out.count("\n") == 1
    assert "run 1: idk counts as a pass in the score" in done.err
    assert cli("run", "--store", path, "--judge", "offline", "-q").err == ""


def test_a_conversation_without_an_id_is_listed_and_found_by_the_first_digits_of_its_hash(
    cli: Cli, tmp_path: Path
) -> None:
    lines, path = tmp_path / "shop.jsonl", tmp_path / "shop.db"
    opens = "The shop opens at nine."
    said = [exchange("When?", opens, opens), exchange("And when?", opens, opens)]
    lines.write_text("".join(json.dumps({"turns": turns}) + "\n" for turns in said))
    cli("import", "--store", path, lines)
    cli("run", "--store", path, "--judge", "offline")
    keys = [row["conversation"] for row in cli("show", "--store", path, "--json").json]
    assert [len(key) for key in keys] == [64, 64]
    _, *rows = cli("show", "--store", path).out.splitlines()
    names = [row.split()[1] for row in rows]
    assert names == [f"shop/{key[:12]}" for key in keys]
    for name in (names[1], names[1].removeprefix("shop/"), keys[1]):
        assert f"shop/{keys[1]}" in cli("show", "--store", path, "1", name).out
