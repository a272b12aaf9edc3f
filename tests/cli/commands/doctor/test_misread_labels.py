"""Labels that an earlier version read in another way are named, with the way out."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from faithtui.store.annotations import ratings
from tests.cli.conftest import Cli


def make_store(tmp_path: Path, cli: Cli) -> Path:
    path = tmp_path / "store.db"
    chat = {
        "id": "1",
        "turns": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "a", "retrieval_context": ["c"]},
        ],
        "human_labels": [
            {"turn": 1, "annotator": "ann", "label": "1", "scale": "stars"},
            {"turn": 1, "annotator": "bob", "label": "5", "scale": "stars"},
        ],
    }
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps(chat))
    assert cli("import", data, "--store", path).code == 0
    return path


def list_label_lines(cli: Cli, store: Path) -> list[str]:
    found = cli("doctor", "--store", store, "--offline", "--json").out
    return [each["text"] for each in json.loads(found) if each["name"] == "labels"]


def test_labels_that_mean_what_they_meant_are_not_named(cli: Cli, tmp_path: Path) -> None:
    [state] = list_label_lines(cli, make_store(tmp_path, cli))
    assert state.startswith("state ")


def test_labels_that_were_read_otherwise_are_named_with_the_way_out(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(
            ratings, "translate_to_verdict", lambda scale, label: "yes" if label == "1" else None
        )
        store = make_store(tmp_path, cli)
    _, text = list_label_lines(cli, store)
    assert "1 label of `data` on the scale `stars`" in text
    assert "'1' as yes, which is no verdict now" in text
    assert "--scale stars=SCALE" in text
    way = ("import", tmp_path / "data.jsonl", "--store", store)
    assert cli(*way, "--scale", "stars=mtrag-faithfulness-1-4").code == 0
    with closing(sqlite3.connect(store)) as connection:
        labels = connection.execute(
            "SELECT verdict FROM human_label WHERE raw_label = '1' ORDER BY clock"
        ).fetchall()
    assert labels == [("yes",), ("no",)]  # the last one with a verdict counts
