"""What `faithtui export` writes is read, and sent on, by the packages it is for.

They are installed in an environment of their own, which `.ci/wide` makes of `.ci/readers.txt`.
"""

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from faithtui.domain.conversation import Conversation, Document, Rating, Turn
from faithtui.domain.ids import RunId
from faithtui.engine.exports.run_exports import RunExporter, RunExportRequest
from faithtui.formats.writers.flat_rows import CLAIM_COLUMNS, LABEL_COLUMNS
from faithtui.output_files import write_text
from faithtui.store.records import ItemState
from faithtui.store.store import Store
from tests.store.building import FACTS, SPEC, assess, import_conversations, windows_of

pytestmark = pytest.mark.thorough

READERS = "FAITHTUI_READERS"
"""Path of the Python of that environment; set, nothing is skipped."""
DEFAULT = Path(__file__).parents[2] / ".venv-readers" / "bin" / "python"
SCRIPT = Path(__file__).parent / "read_exports.py"
TRACES = ("2439739de9cc4d51ac8de242520e7f63", "5039739de9cc4d51ac8de242520e7f64")
SPAN = "0533d3abf5181ce2"


@pytest.fixture(scope="module")
def python() -> str:
    """The Python that has the packages."""
    named = os.environ.get(READERS)
    if named is None and not DEFAULT.exists():
        pytest.skip("no environment with the packages that read exports; .ci/wide makes it")
    return named or str(DEFAULT)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A run over a conversation that came from traces and one that did not, and labels."""
    documents = (
        Document("It opens at nine on Monday.", "hours.md"),
        Document("Closed | “Sunday”."),
    )
    turns = (
        Turn("user", "When does it open?"),
        Turn("assistant", 'At nine.\n"Usually" 😀.', documents),
        Turn("user", "And on Sunday?"),
        Turn("assistant", "It is closed.", ()),
    )
    details = {
        str(place): {"trace_id": trace, "span_id": SPAN, "run_id": _as_uuid(trace)}
        for place, trace in zip((1, 3), TRACES, strict=True)
    }
    chats = [
        Conversation(
            "hours",
            "with traces",
            turns,
            "g1",
            {"per_turn": details, "model": "bot"},
            (Rating(1, "zoe", "mtrag-faithfulness-1-4", "2", note="partly"),),
        ),
        Conversation(
            "hours", "without", turns[:2], "g2", {"tags": ["a", 1, None], "deep": {"x": 1}}
        ),
    ]
    with Store.open(tmp_path_factory.mktemp("readers") / "s.db") as opened:
        ids = import_conversations(opened, chats)
        run = opened.runs.create(replace(SPEC, rule=FACTS), ids)
        for item, chat in zip(opened.runs.list_item_ids(run), chats, strict=True):
            for window in windows_of(chat):
                labels = {1: ("yes", "no"), 3: ("no",)}
                opened.runs.save_window(item, assess(window, labels, rule=FACTS))
            opened.runs.score_and_finish_item(item, ItemState.DONE, None, "all in all")
            for claim in opened.runs.read_conversation_for_review(item, "ann").claims:
                opened.label_log.record_verdict(claim.id, "ann", "yes", run=run, saw_judge=False)
        yield opened


def _as_uuid(digits: str) -> str:
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


@contextmanager
def listening() -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """A server that takes what is sent and keeps it; gives its address and what came."""
    came: list[tuple[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            came.append((self.path.partition("?")[0], json.loads(body)))
            self._answer({"data": [], "accepted": 1, "rejected": 0, "errors": [], "results": []})

        def _answer(self, value: object) -> None:
            text = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", came
        server.shutdown()
        thread.join()


def export(store: Store, kind: str, folder: Path) -> Path:
    path = folder / "export.jsonl"
    exporter = RunExporter(store, RunExportRequest(RunId(1)))
    write_text(path, exporter.iter_results_for_other_tool(kind), force=False)
    return path


def read(python: str, kind: str, path: Path, *more: str) -> Any:
    """Read a file in that environment, without its settings, telemetry and network."""
    env = {
        **os.environ,
        "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
        "RAGAS_DO_NOT_TRACK": "true",
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "HF_HOME": str(path.parent / "hf"),
        "HOME": str(path.parent),
        "NO_PROXY": "*",
    }
    done = subprocess.run(
        [python, str(SCRIPT), kind, str(path), *more],
        capture_output=True,
        text=True,
        env=env,
        cwd=path.parent,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_langfuse_sends_scores_on(store: Store, python: str, tmp_path: Path) -> None:
    path = export(store, "langfuse", tmp_path)
    with listening() as (address, came):
        found = read(python, "langfuse", path, address)
    assert [each[:3] for each in found] == [
        [TRACES[0], "turn-faithfulness", 0.5],
        [TRACES[0], "turn-faithfulness-human", 1.0],
        [TRACES[0], "answer-faithfulness-human", pytest.approx(1 / 3)],
        [TRACES[1], "turn-faithfulness", 0.0],
        [TRACES[1], "turn-faithfulness-human", 1.0],
    ]
    ((route, body),) = came
    assert route == "/api/public/scores"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for sent, line in zip(body, lines, strict=True):
        at = sent.pop("timestamp"), line.pop("timestamp")
        assert at[0].rstrip("Z") == at[1].rstrip("Z")
        assert sent == line


def test_langsmith_sends_feedback_on(store: Store, python: str, tmp_path: Path) -> None:
    path = export(store, "langsmith", tmp_path)
    with listening() as (address, came):
        found = read(python, "langsmith", path, address)
    assert [each[3] for each in found] == ["model", "api", "api", "model", "api"]
    sent = [body for route, body in came if route == "/feedback"]
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(sent) == len(lines)
    for there, here in zip(sent, lines, strict=True):
        for name in ("id", "run_id", "trace_id", "key", "comment", "value", "extra"):
            assert there.get(name) == here.get(name)
        assert there["score"] == pytest.approx(here["score"], abs=1e-4)
        assert there["feedback_source"]["metadata"] == here["feedback_source"]["metadata"]


def test_phoenix_sends_annotations_on(store: Store, python: str, tmp_path: Path) -> None:
    path = export(store, "openinference", tmp_path)
    with listening() as (address, came):
        found = read(python, "openinference", path, address)
    fields = ["annotator_kind", "explanation", "identifier", "label", "metadata", "name", "score"]
    assert found[0] == fields
    sent = [body for route, body in came if route == "/v1/span_annotations"]
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert sent == [{"data": lines}]


def test_opentelemetry_parses_events(store: Store, python: str, tmp_path: Path) -> None:
    found = read(python, "opentelemetry", export(store, "opentelemetry", tmp_path))
    assert found[0] == [
        "gen_ai.evaluation.result",
        TRACES[0],
        "turn-faithfulness",
        0.5,
        "pass",
    ]
    assert [each[3] for each in found] == [0.5, 1.0, pytest.approx(1 / 3), 0.0, 1.0]


def test_deepeval_loads_a_test_run(store: Store, python: str, tmp_path: Path) -> None:
    found = read(python, "deepeval", export(store, "deepeval", tmp_path))
    first, second = found["cases"]
    assert (found["passed"], found["failed"]) == (1, 1)
    assert [first["name"], first["success"], second["success"]] == ["with traces", False, True]
    assert first["turns"][1] == ["assistant", 'At nine.\n"Usually" 😀.']
    assert first["contexts"] == [
        None,
        ["It opens at nine on Monday.", "Closed | “Sunday”."],
        None,
        [],
    ]
    assert [each[0] for each in first["metrics"]] == [
        "Turn Faithfulness",
        "Turn Faithfulness (with overrides)",
    ]
    assert first["metrics"][1][1] == 1.0
    assert first["has_log"]


def test_ragas_loads_rows(store: Store, python: str, tmp_path: Path) -> None:
    found = read(python, "ragas-rows", export(store, "ragas-rows", tmp_path))
    assert [each["user_input"] for each in found] == [
        "When does it open?",
        "And on Sunday?",
        "When does it open?",
    ]
    assert found[0]["retrieved_contexts"] == [
        "It opens at nine on Monday.",
        "Closed | “Sunday”.",
    ]
    assert found[0]["response"] == 'At nine.\n"Usually" 😀.'


def test_llamaindex_reads_results(store: Store, python: str, tmp_path: Path) -> None:
    found = read(python, "llamaindex", export(store, "llamaindex", tmp_path))
    assert found == [
        ["When does it open?", True, 0.5, False],
        ["And on Sunday?", False, 0.0, False],
        ["When does it open?", True, 0.5, False],
    ]


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_datasets_loads_a_folder(store: Store, python: str, tmp_path: Path, form: Any) -> None:
    folder = tmp_path / "hours"
    exporter = RunExporter(store, RunExportRequest(RunId(1)))
    exporter.write_hugging_face_dataset(folder, form, licence=None, force=False)
    found = read(python, "dataset", folder)
    assert found["claims"]["columns"] == [each.name for each in CLAIM_COLUMNS]
    assert found["labels"]["columns"] == [each.name for each in LABEL_COLUMNS]
    assert (found["claims"]["rows"], found["labels"]["rows"]) == (6, 6)
    assert found["default"]["rows"] == 6
    first = found["claims"]["first"]
    assert first["passages"][0]["text"] == "It opens at nine on Monday."
    assert first["labels"][0]["annotator"] == "ann"
    assert json.loads(first["metadata"])["model"] == "bot"
    assert first["span_start"] is None
