"""Replies in files, as an earlier version wrote them."""

import json
from pathlib import Path

from faithtui.engine.calls.unstored_replies import UnstoredReplies
from faithtui.store.store import Store

ASKED = {"key": "k", "judge": "openai:m", "step": "claims", "usable": True}
REPLY = {
    "text": "{}",
    "stop": "ok",
    "structured": True,
    "tokens_in": 3,
    "tokens_out": 4,
    "tokens_cached": 0,
    "request_id": None,
    "served_model": "m",
    "latency_ms": 5,
    "rung": "tool",
}


def test_a_file_of_an_earlier_version_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    folder = tmp_path / "s.db-replies"
    folder.mkdir()
    file = folder / "0.json"
    file.write_text(json.dumps({"asked": ASKED, "reply": REPLY}))
    with Store.open(path) as store:
        assert UnstoredReplies(path).recover_into_store(store) == 1
        found = store.calls.find_usable_reply("k")
    assert found is not None
    assert (found.text, found.rung, found.tokens_out) == ("{}", "tool", 4)
    assert not file.exists()
