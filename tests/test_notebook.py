"""The library in a notebook: a real kernel, a loop that runs, an interrupt in the middle."""

import json
from typing import Any

import pytest

nbclient: Any = pytest.importorskip("nbclient", reason="runs a notebook")
nbformat: Any = pytest.importorskip("nbformat", reason="writes one")

pytestmark = pytest.mark.thorough

SETUP = '''
import asyncio, json, os, signal, threading
from faithtui import Conversation, Document, Turn, evaluate, measure

def make_conversation(key):
    turns = []
    for number in range(2):
        fact = f"Parcel {key}-{number} weighs {number + 1} kilograms."
        turns += [Turn("user", f"What does parcel {number} weigh?"),
                  Turn("assistant", fact, (Document(fact + " It is blue."),))]
    return Conversation("parcels", key, tuple(turns), key)

def fill(schema):
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        return {name: fill(part) for name, part in schema["properties"].items()}
    return [fill(schema["items"])] if schema["type"] == "array" else "It is blue."

class Judge:
    """Presses the stop button of the notebook in the midst of an answer."""

    fingerprint = "notebook 1"
    asked, stop_at = 0, 20

    async def answer(self, question):
        self.asked += 1
        if self.asked == self.stop_at:
            os.kill(os.getpid(), signal.SIGINT)
            while not any(task.cancelling() for task in asyncio.all_tasks()):
                await asyncio.sleep(0)
            for _ in range(20):
                await asyncio.sleep(0)
        return json.dumps(fill(question.schema))

judge = Judge()
chats = [make_conversation(key) for key in "abcdef"]
'''

INTERRUPTED = """
found = evaluate(chats, judge=judge, concurrency=1)
print(json.dumps({
    "interrupted": found.interrupted,
    "measured": len(found),
    "asked": judge.asked,
    "loop": asyncio.get_running_loop().is_running(),
    "threads": [each.name for each in threading.enumerate() if each.name == "faithtui-measure"],
}))
"""

LATER = """
rest = evaluate(chats, judge=judge, replies=found.replies)
fresh = Judge()
fresh.stop_at = 0
evaluate(chats, judge=fresh)
print(json.dumps({
    "complete": rest.is_complete,
    "asked": judge.asked,
    "needed": fresh.asked,
    "stored": rest.calls_stored,
}))
"""

SHOWN = "rest"

ONE = """
judge.asked, judge.stop_at = 0, 3
try:
    measure(make_conversation("long"), judge=judge, concurrency=1)
except KeyboardInterrupt:
    print(json.dumps({"stopped": judge.asked}))
"""


def test_a_notebook_measures_is_interrupted_and_goes_on() -> None:
    cells = [nbformat.v4.new_code_cell(each) for each in (SETUP, INTERRUPTED, LATER, SHOWN, ONE)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    outputs = [each.outputs for each in notebook.cells]
    first = json.loads(outputs[1][0]["text"])
    assert first["interrupted"]
    assert 0 < first["measured"] < 6
    assert first["asked"] == 20
    assert first["loop"], "a loop runs in the kernel"
    assert first["threads"] == [], "nobody goes on asking"
    later = json.loads(outputs[2][0]["text"])
    assert later["complete"]
    assert later["stored"] >= 19
    assert later["asked"] == later["needed"], "each question was asked once"
    assert "<table>" in outputs[3][0]["data"]["text/html"]
    assert json.loads(outputs[4][0]["text"])["stopped"] <= 4
