"""`faithtui delete`: it counts, asks, deletes, and says what it did not touch."""

import io
import json
import os
import re
import socket
import sys
from pathlib import Path

import pytest

from faithtui.clock import utc_now
from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import Action
from faithtui.engine.calls.unstored_replies import UnstoredReplies
from faithtui.store.records import CallContext, RunState, StoredReply, WorkerRow
from faithtui.store.store import Store
from tests.cli.conftest import Cli

CANARY = "xyzzycanary"


def write(folder: Path, name: str, *words: str) -> Path:
    path = folder / f"{name}.jsonl"
    lines = []
    for word in words:
        said = f"The {word} is open on Monday. It costs 5 euros."
        turns = [
            {"role": "user", "content": f"When is the {word} open?"},
            {"role": "assistant", "content": said, "retrieval_context": [said, "It is closed."]},
        ]
        labels = [{"turn": 1, "annotator": f"rater {word}", "scale": "yes-no-idk", "label": "yes"}]
        lines.append(json.dumps({"id": word, "turns": turns, "human_labels": labels}))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def store(tmp_path: Path, cli: Cli) -> Path:
    """A store with two data sets, a run over both, and labels of two people."""
    path = tmp_path / "s.db"
    for each in (write(tmp_path, "first", CANARY, f"{CANARY}2"), write(tmp_path, "second", "mill")):
        assert cli("import", each, "--store", path).code == 0
    assert cli("run", "--store", path).code == 0
    with Store.open(path) as opened:
        for item in opened.runs.list_item_ids(RunId(1)):
            for claim in opened.runs.read_conversation_for_review(item, "ann").claims:
                for reviewer in ("ann", "ben"):
                    opened.label_log.record_verdict(
                        claim.id, reviewer, "yes", run=RunId(1), saw_judge=False
                    )
    return path


def test_without_a_terminal_and_without_yes_nothing_is_deleted(cli: Cli, store: Path) -> None:
    before = store.read_bytes()
    for words in (
        ("dataset", "first"),
        ("import", store.parent / "first.jsonl"),
        ("person", "ben"),
        ("run", "1"),
    ):
        found = cli("delete", *words, "--store", store)
        assert found.code == 2
        assert "takes along: " in found.err
        assert "nothing was deleted: add --yes" in found.err
        assert found.out == ""
    assert store.read_bytes() == before


class Terminal(io.StringIO):
    """Somebody who answers."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "code", "left"), [("yes\n", 0, 1), ("y\n", 1, 3), ("", 1, 3)])
def test_on_a_terminal_it_asks(
    cli: Cli, store: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, left: int
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys.stderr.__class__, "isatty", lambda self: True, raising=False)
    found = cli("delete", "dataset", "first", "--store", store)
    assert found.code == code
    assert "Type yes to delete it" in found.err
    assert ("nothing was deleted" in found.err) is (code == 1)
    with Store.open(store) as opened:
        assert opened.conversations.count() == left


@pytest.mark.parametrize("words", [("dataset", "first"), ("import", "first.jsonl")])
def test_a_data_set_goes_and_everything_else_goes_on(
    cli: Cli, store: Path, words: tuple[str, str]
) -> None:
    what = words[1] if words[0] == "dataset" else store.parent / words[1]
    found = cli("delete", words[0], what, "--yes", "--store", store)
    assert found.code == 0, found.err
    assert found.out.startswith("deleted ")
    assert "takes along: conversations: 2, " in found.err
    assert "it comes back with a later import of the file" in found.err
    assert "--accept exposures_deleted" not in found.err
    assert CANARY.encode() not in store.read_bytes()
    doctor = cli("doctor", "--offline", "--store", store)
    assert "1 conversation, schema" in doctor.out
    assert "sound" in doctor.out
    assert f"deleted: {words[0]} by ann, " in doctor.out
    for after in (("report", "1"), ("show", "1"), ("runs",), ("check", "1"), ("export", "labels")):
        found = cli(*after, "--store", store)
        assert found.code == 0, (after, found.err)
        assert CANARY not in found.out
    assert cli("run", "--store", store).code == 0


def test_a_person_goes_and_agreement_is_that_of_the_others(cli: Cli, store: Path) -> None:
    found = cli("delete", "person", "ben", "--yes", "--json", "--store", store)
    assert found.code == 0
    assert found.json["kind"] == "person"
    assert found.json["remains"] is None
    report = cli("report", "1", "--store", store)
    assert report.code == 0
    bundle = cli("export", "labels", "--store", store).out
    people = {json.loads(line).get("reviewer") for line in bundle.splitlines()}
    assert "ben" not in people
    assert "ann" in people
    again = cli("delete", "person", "ben", "--yes", "--store", store)
    assert (again.code, "nothing in this store is by `ben`" in again.err) == (4, True)


def test_a_merge_brings_labels_back_and_that_is_said(cli: Cli, store: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "labels.jsonl"
    assert cli("export", "labels", "-o", bundle, "--store", store).code == 0
    assert cli("delete", "person", "ben", "--yes", "--store", store).code == 0
    merged = cli("merge", bundle, "--store", store)
    assert merged.code == 0
    assert "new act" in merged.out
    assert cli("doctor", "--offline", "--store", store).code == 0


def test_a_run_goes_and_labels_stay(cli: Cli, store: Path) -> None:
    with Store.open(store) as opened:
        opened.exposures.record_many(opened.runs.list_item_ids(RunId(1)), "ann")
    deleted = cli("delete", "run", "last", "--yes", "--store", store)
    assert deleted.code == 0
    assert "--accept exposures_deleted" in deleted.err
    assert cli("runs", "--json", "--store", store).json == []
    bundle = cli("export", "labels", "--store", store).out
    acts = [json.loads(line) for line in bundle.splitlines()]
    assert sum(each.get("action") == Action.BLIND.value for each in acts) > 0


def test_what_is_not_there_is_told_with_what_is(cli: Cli, store: Path, tmp_path: Path) -> None:
    found = cli("delete", "dataset", "third", "--yes", "--store", store)
    assert (found.code, found.err) == (
        4,
        "error: there is no data set `third` in this store; imported: first, second\n",
    )
    other = write(tmp_path, "other", "pier")
    found = cli("delete", "import", other, "--yes", "--store", store)
    assert found.code == 4
    assert "none of the conversations of" in found.err
    assert cli("delete", "run", "9", "--yes", "--store", store).code == 4


def test_a_run_that_is_on_is_not_deleted_under(cli: Cli, store: Path) -> None:
    with Store.open(store) as opened:
        opened.runs.set_state(RunId(1), RunState.RUNNING)
        now = utc_now()
        here = WorkerRow("here", socket.gethostname(), os.getpid(), 0, now, RunId(1), None, now)
        opened.workers.add_worker(here)
    for words in (("dataset", "second"), ("import", store.parent / "first.jsonl"), ("run", "1")):
        found = cli("delete", *words, "--yes", "--store", store)
        assert found.code == 4
        assert "run 1 is on, so nothing of it is deleted: stop it first" in found.err
    with Store.open(store) as opened:
        assert opened.conversations.count() == 3


def test_copies_that_keep_the_texts_are_named(cli: Cli, store: Path) -> None:
    copies = [
        store.with_name(name)
        for name in ("s.before-restore.db", "s.schema-0009-2.db", "s.schema-0009.db")
    ]
    others = [store.with_name(name) for name in ("t.schema-0009.db", "s.schema-x.db", "s2.db")]
    unfinished = store.with_name(".faithtui-abc")
    for path in (*copies, *others, unfinished):
        path.write_bytes(b"")
    UnstoredReplies(store).save_reply_to_file(
        CallContext("k" * 64, "openai:m", "claims", worker="somebody"),
        StoredReply('{"claims": []}', "ok", True, 10, 3, None, "r1", None, 5),
    )
    doctor = cli("doctor", "--store", store, "--offline").out
    deleted = cli("delete", "run", "1", "--yes", "--store", store).err
    assert re.findall(r"copy: (.*?),", doctor) == [str(each) for each in copies]
    assert f"unfinished: {unfinished} is being written" in doctor
    assert f"replies: 1 that the store did not take wait in {store}-replies" in doctor
    assert f"may still be in {', '.join(map(str, copies))}" in deleted
