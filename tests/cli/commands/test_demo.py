import re
from pathlib import Path

import pytest

import faithtui
from faithtui.engine import demo
from faithtui.errors import ConfigError
from tests.cli.conftest import Cli

DEMO = Path(__file__).parents[3] / "fixtures" / "demo"


def test_the_demo_prints_a_kappa_with_an_interval_and_is_used_again(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = (tmp_path / "mtrag_model_answers.jsonl", tmp_path / "mtrag_conversations.jsonl")
    for file in files:
        lines = (DEMO / file.name).read_text(encoding="utf-8").splitlines()
        file.write_text("\n".join(lines[5::10]), encoding="utf-8")
    monkeypatch.setattr(demo, "find_demo_files", lambda: files)
    first = cli("demo", "--no-app")
    assert first.code == 0
    assert re.search(r"kappa 0\.\d\d \[-?0\.\d\d, 0\.\d\d\]", first.out)
    assert "penalize_ambiguous_claims" in first.out
    assert (tmp_path / "home" / "demo.db").exists()
    assert f"--store {tmp_path / 'home' / 'demo.db'}" in first.out
    assert "open it with: faithtui demo\n" in first.out
    own = tmp_path / "own store.db"
    (tmp_path / "home" / "demo.db").rename(own)
    assert f"open it with: faithtui demo --store '{own}'" in cli("demo", "--store", own).out
    own.rename(tmp_path / "home" / "demo.db")
    again = cli("demo", "--json")
    assert again.json["run"] == 1
    assert again.json["kappa_low"] < again.json["kappa"] < again.json["kappa_high"]
    assert again.err == "", "nothing is judged twice"
    assert cli("runs", "--store", tmp_path / "home" / "demo.db", "--json").json[0]["run"] == 1


def test_the_demo_is_not_mixed_into_another_project(
    cli: Cli, judged: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It counted conversations that nobody had rated, and called all of them MTRAG's."""
    before = cli("runs", "--store", judged).out
    refused = cli("demo", "--no-app", "--store", judged)
    assert (refused.code, refused.out) == (2, "")
    assert "the store has conversations of its own (" in refused.err
    assert cli("runs", "--store", judged).out == before
    # In a store that began as the demo's, what came later is none of it.
    file = tmp_path / "mtrag_conversations.jsonl"
    lines = (DEMO / file.name).read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join(lines[:3]), encoding="utf-8")
    monkeypatch.setattr(demo, "find_demo_files", lambda: (file,))
    own, other = tmp_path / "own.db", tmp_path / "other.jsonl"
    other.write_text(lines[5].replace("mtrag", "later"), encoding="utf-8")
    assert cli("import", file, other, "--store", own).code == 0
    shown = cli("demo", "--no-app", "--store", own)
    assert "\n3 conversations · " in shown.out
    assert cli("demo", "--no-app", "--store", own).out == shown.out, "nothing is judged twice"


def test_without_its_conversations_the_demo_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faithtui, "__file__", "/nonexistent/faithtui/__init__.py")
    with pytest.raises(ConfigError, match="install faithtui again"):
        demo.find_demo_files()
