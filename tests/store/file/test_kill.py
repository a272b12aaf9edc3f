"""A process killed at any moment leaves a store that holds every commit and no half of one."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from faithtui.store.records import ItemState
from faithtui.store.store import Store

WORK = """
import os, signal, sys
from pathlib import Path
from sqlalchemy import event
from faithtui.domain.labels.label_events import Action
from faithtui.domain.conversation import Rating
from faithtui.store.records import CallContext, ItemState, StoredReply
from faithtui.store.store import Store
from tests.store.building import SPEC, assess, make_conversation, windows_of

path, left = Path(sys.argv[1]), int(sys.argv[2])
store = Store.open(path)

def count_down(connection):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

# The statements of the write have run by then, and nothing of it may be there afterwards.
event.listen(store._database._writer._engine, "commit", count_down)

def said(what):
    print(what, flush=True)

rating = Rating(1, "ann", "mtrag-faithfulness-1-4", "4")
both = [make_conversation("a", ratings=[rating]), make_conversation("b")]
store.conversations.import_batch(both); said("import")
run = store.runs.create(SPEC, store.conversations.list_ids()); said("run")
for item in store.runs.list_item_ids(run):
    store.calls.save_reply_release_lease_and_add_totals(
        CallContext("k%d" % item, "j", "s", run, item),
        StoredReply("{}", "ok", True, 1, 1, 0, None, None, 1)); said("reply")
    for window in windows_of(make_conversation("a")):
        judged = assess(window, {1: ["yes", "no"], 3: ["idk"]})
        store.runs.save_window(item, judged); said("window")
    store.runs.score_and_finish_item(item, ItemState.DONE, None); said("item")
    claim = store.runs.read_conversation_for_review(item, "me").claims[0].id
    store.label_log.append_label_event(claim, "me", Action.OVERRIDDEN, "no", run=run,
        judge_verdict="yes", saw_judge=True); said("label")
store.label_log.undo("me"); said("undo")
"""
COMMITS = 13


@pytest.mark.parametrize("left", range(COMMITS))
def test_a_kill_just_before_any_commit_leaves_a_consistent_store(
    store: Store, path: Path, left: int
) -> None:
    store.close()
    process = subprocess.run(
        [sys.executable, "-c", WORK, str(path), str(left)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert process.returncode == -signal.SIGKILL, process.stderr
    done = process.stdout.split()
    assert len(done) == left
    with Store.open(path, create=False) as after:
        assert after.list_damage() == []
        assert after.conversations.count() == (2 if "import" in done else 0)
        runs = after.runs.list_runs()
        assert len(runs) == done.count("run")
        if not runs:
            return
        (run,) = runs
        items = after.runs.read_item_rows(after.runs.list_item_ids(run.id))
        assert run.calls == done.count("reply")
        assert run.windows == sum(item.windows for item in items) == done.count("window")
        assert run.done == sum(item.state is ItemState.DONE for item in items) == done.count("item")
        assert run.claims == sum(item.claims for item in items)
        labels = done.count("label") - done.count("undo")
        assert run.labelled == sum(item.labelled for item in items) == labels
        for item in items:
            view = after.runs.read_conversation_for_review(item.id, "me")
            assert len(view.windows) == item.windows
            assert len(view.claims) == item.claims
            assert sum(claim.mine is not None for claim in view.claims) == item.labelled
            assert (item.scores is not None) is (item.state is ItemState.DONE)


@pytest.mark.thorough
def test_without_a_kill_all_of_it_is_done(store: Store, path: Path) -> None:
    store.close()
    process = subprocess.run(
        [sys.executable, "-c", WORK, str(path), "99"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert len(process.stdout.split()) == COMMITS
