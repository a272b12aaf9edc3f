"""Sentences that tell a way out tell one that works when it is copied into a shell."""

import shlex
from pathlib import Path

import pytest

from faithtui.cli.output import insert_store_option
from tests.cli.conftest import Cli


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["--store", "a.db", "runs"], "--store a.db "),
        (["runs", "--store", "my store.db"], "--store 'my store.db' "),
        (["runs", "--store=b.db"], "--store b.db "),
        (["--store", "a.db", "runs", "--store", "b.db"], "--store b.db "),
        (["runs"], ""),
        (["runs", "--store"], ""),
    ],
)
def test_commands_in_a_sentence_name_the_store_of_the_command_line(
    words: list[str], option: str
) -> None:
    text = "a newer faithtui made it: `faithtui run --resume 7`, or faithtui backup --restore COPY"
    expected = text.replace("faithtui run ", f"faithtui {option}run ")
    expected = expected.replace("faithtui backup ", f"faithtui {option}backup ")
    assert insert_store_option(text, words) == expected


@pytest.mark.parametrize(
    ("words", "advised"),
    [
        (["claim-set", "list"], "claim-set make NAME --sample ID"),
        (["trend", "harvest"], "claim-set list"),
        (["report", "7"], "runs"),
        (["prompts", "export", "1", "-o", "texts"], "run --prompts texts"),
    ],
)
def test_what_a_command_advises_can_be_copied_for_a_store_that_was_named(
    cli: Cli,
    judged: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    advised: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = cli(*words, "--store", judged).err
    assert f"faithtui --store {shlex.quote(str(judged))} {advised}" in printed


@pytest.mark.parametrize(
    "text",
    [
        "my faithtui export.jsonl: is JSON lines in no format",
        "there is no run 99 in /tmp/faithtui run 3/x.db",
        "faithtui exported it, and this faithtui knows version 3",
        "expected `faithtui-labels`, as `faithtui export labels` writes",
    ],
)
def test_paths_and_what_is_no_advice_stay_as_they_are(text: str) -> None:
    assert insert_store_option(text, ["runs", "--store", "a.db"]) == text


def test_the_way_out_of_a_damaged_store_does_not_lead_to_the_usual_one(
    cli: Cli, judged: Path
) -> None:
    content = bytearray(judged.read_bytes())
    content[5 * 4096 : 6 * 4096] = b"\xff" * 4096
    judged.write_bytes(content)
    option = f"--store {shlex.quote(str(judged))}"
    printed = [cli("doctor", "--offline", "--store", judged).out]
    new = judged.with_name("new.db")
    printed.append(cli("doctor", "--salvage", new, "--store", judged).err)
    for text in printed:
        assert f"faithtui {option} backup --restore" in text


def test_a_damaged_copy_is_not_restored_by_itself(cli: Cli, judged: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_bytes(judged.read_bytes()[: 3 * 4096] + b"\xff" * 4096)
    refused = cli("backup", "--restore", copy, "--store", judged)
    assert refused.code == 4
    assert f"{copy} cannot be restored: " in refused.err
    assert "take another copy" in refused.err
    assert f"with --store {copy}" in refused.err
    assert "go back to a copy" not in refused.err


@pytest.mark.skipif(not Path("/proc").exists(), reason="nothing is known where no folder can be")
def test_a_home_that_cannot_be_made_is_a_sentence(
    cli: Cli, judged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAITHTUI_HOME", "/proc/home")
    for words in (("import", judged), ("demo", "--no-app"), ("backup", "--restore", judged)):
        found = cli(*words)
        assert found.code == 4
        assert (
            "cannot be made: No such file or directory; name another file with --store" in found.err
        )


def test_an_empty_store_that_is_replaced_leaves_no_journal(
    cli: Cli, judged: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "z.db"
    empty.touch()
    assert cli("backup", "--restore", judged, "--store", empty).code == 0
    left = sorted(each.name for each in tmp_path.glob("z*"))
    assert left == ["z.before-restore.db", "z.db"]


def test_an_empty_name_is_refused_before_anything_is_done(cli: Cli, judged: Path) -> None:
    refused = cli("doctor", "--salvage", "", "--store", judged)
    assert (refused.code, refused.out) == (7, "")
    assert "is there already; name another file" in refused.err
