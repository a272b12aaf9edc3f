import json
import zipfile
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

KEY = "0a1b2c3d4e5f-no-known-form"
SECRETS = (
    KEY,
    "sk-or-secret-777777",
    "Zanzibar",
    "blue whale",
    "reviewer-ann",
    "what was asked",
    "note of a person",
)


def content(file: Path) -> dict[str, str]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


@pytest.fixture
def store(tmp_path: Path, cli: Cli) -> Path:
    """Make a store with texts, a run and a label that must stay where they are."""
    path = tmp_path / "private.db"
    chat = {
        "id": "Zanzibar-1",
        "turns": [
            {"role": "user", "content": "What weighs a blue whale in Zanzibar?"},
            {
                "role": "assistant",
                "content": "A blue whale weighs 150 tonnes.",
                "retrieval_context": ["Zanzibar: a blue whale weighs 150 tonnes."],
            },
        ],
    }
    data = tmp_path / "Zanzibar.jsonl"
    data.write_text(json.dumps(chat) + "\n", encoding="utf-8")
    assert cli("import", data, "--store", path).code == 0
    assert cli("run", "--store", path, "--log-prompts").code == 0
    return path


def test_it_holds_what_a_report_needs_and_nobodys_texts(
    cli: Cli, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    with (home / "logs" / "faithtui.log").open("a", encoding="utf-8") as log:
        log.write(f"2026-01-01 1 WARNING run 1: bad key {KEY}, or sk-or-secret-777777\n")
    monkeypatch.setenv("ACME_API_KEY", KEY)
    monkeypatch.setenv("FAITHTUI_REVIEWER", "reviewer-ann")
    (home / "config.toml").write_text('concurrency = 3\nbase_url = "https://zanzibar.example/v1"\n')
    file = tmp_path / "report.zip"
    result = cli("doctor", "--bundle", file, "--store", store)
    assert result.code == 0
    assert "look into it before you send it" in result.err
    found = content(file)
    assert {"versions.json", "environment.json", "settings.json", "store.json", "doctor.json"} <= {
        *found
    }
    assert any(name.startswith("log/") for name in found)
    assert not any("prompts" in name for name in found)
    for name, text in found.items():
        for secret in SECRETS:
            assert secret.lower() not in text.lower().replace("private.db", ""), (name, secret)
    assert "ACME_API_KEY" in json.loads(found["environment.json"])
    settings = json.loads(found["settings.json"])
    assert settings["concurrency"] == 3
    assert settings["base_url"] == "(not told; from file)"
    census = json.loads(found["store.json"])
    assert census["rows"]["conversation"] == 1
    assert census["rows"]["turn"] == 2
    assert "run 1: started" in "".join(found.values())
    assert json.loads(found["versions.json"])["packages"]["faithtui"]


def test_prompts_were_there_to_be_left_out(store: Path, tmp_path: Path) -> None:
    written = (tmp_path / "home" / "logs" / "faithtui-prompts.log").read_text(encoding="utf-8")
    assert "Zanzibar" in written


def test_nothing_is_written_over(cli: Cli, store: Path, tmp_path: Path) -> None:
    file = tmp_path / "there.zip"
    file.write_text("mine")
    assert cli("doctor", "--bundle", file, "--store", store).code == 7
    assert file.read_text() == "mine"
    assert cli("doctor", "--bundle", tmp_path / "no" / "x.zip", "--store", store).code == 7


def test_a_store_and_settings_that_cannot_be_read_are_no_reason_for_none(
    cli: Cli, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.db"
    broken.write_text("no database at all, but long enough to look like something of the kind")
    assert cli("doctor", "--bundle", tmp_path / "a.zip", "--store", broken).code == 0
    assert json.loads(content(tmp_path / "a.zip")["store.json"]) == {"cannot be read": "StoreError"}
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("this is = = no TOML")
    assert cli("doctor", "--debug", tmp_path / "b.zip").code == 0
    assert "cannot be read" in content(tmp_path / "b.zip")["settings.json"]
