"""A record that cannot be read is refused by its place, and the others are read."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.conversation import Conversation
from faithtui.domain.limits import RECORD
from faithtui.errors import InputError
from faithtui.formats.files import record_groups
from faithtui.formats.files.record_files import FileKind, FileRecord, Sample
from faithtui.formats.image_reader import ImageCollector
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from faithtui.formats.readers.protocol import ReadOptions, RecordReader
from faithtui.formats.readers.values.conversation_draft import ConversationDraft
from faithtui.formats.readers.values.key_spellings import AnySpelling

FOLDER = Path(__file__).parents[2] / "fixtures" / "real_formats"


def read_all(path: Path, name: str = "auto") -> tuple[list[Conversation], list[InputError]]:
    dataset, file = open_file_and_detect_format(path, FormatChoice(name), None)
    found = [each.found for each in dataset.read(file)]
    return (
        [each for each in found if isinstance(each, Conversation)],
        [each for each in found if isinstance(each, InputError)],
    )


def write_json(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value))
    return path


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (b"q,a,too many", "line 3: has 3 cells, and there are 2 column names"),
        (b"q,caf\xe9", "line 3: byte 0xe9 is not UTF-8"),
    ],
)
def test_a_row_of_a_table_that_cannot_be_used_stops_no_other(
    tmp_path: Path, row: bytes, says: str
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"question,answer\nq1,a1\n" + row + b"\nq2,a2\n")
    found, [error] = read_all(path)
    assert [each.turns[1].content for each in found] == ["a1", "a2"]
    assert says in str(error)


@pytest.mark.parametrize(
    "cell",
    [
        "[1e999]",
        "['1', 1e999]",
        "[" * 900 + "]" * 900,
        '[{"text": "a", "text": "b"}]',
        "[{b'x'}]",
        f"[{'1' * 5000}]",
    ],
)
def test_a_cell_that_holds_what_cannot_be_kept_is_refused_by_its_column(
    tmp_path: Path, cell: str
) -> None:
    quoted = cell.replace('"', '""')
    path = tmp_path / "x.csv"
    path.write_text(f'question,answer,contexts\nq,a,"{quoted}"\nq2,a2,"[""p""]"\n')
    [found], [error] = read_all(path, "rows")
    assert found.turns[0].content == "q2"
    assert (error.line, error.field) == (2, "contexts")


def test_json_in_a_text_that_cannot_be_kept_stays_text(tmp_path: Path) -> None:
    """What a tool gave is evidence whatever it is."""
    deep = "[" * 900 + "]" * 900
    messages = [
        {"role": "user", "content": "q"},
        {"role": "tool", "name": "search", "content": deep},
        {"role": "assistant", "content": "a"},
    ]
    [found], _ = read_all(write_json(tmp_path / "x.json", [{"messages": messages}]))
    assert [each.text for each in found.turns[1].retrieval_context or ()] == [deep]


def test_a_lone_surrogate_in_json_in_a_cell_can_be_stored(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('question,answer,contexts\nq,a,"[""\\ud800""]"\n')
    [found], [] = read_all(path)
    assert [each.text for each in found.turns[1].retrieval_context or ()] == ["\ufffd"]


@pytest.mark.parametrize(
    ("document", "name", "place"),
    [
        (
            {"examples": [{"query": "q1", "reference_answer": "a"}, {"query": {}}, {"query": "q"}]},
            "llamaindex",
            "examples[1].query",
        ),
        (
            {"samples": [{"source": "s", "summary": "a"}, 1, {"source": "s", "summary": "b"}]},
            "faithbench",
            "samples[1]",
        ),
        (
            {
                "testCases": [
                    {"input": "q1", "actualOutput": "a1", "metricsData": []},
                    {"input": "q2", "actualOutput": "a2", "metricsData": {"x": 1}},
                    {"name": "empty", "metricsData": []},
                    {"input": "q3", "actualOutput": "a3", "metricsData": []},
                ]
            },
            "deepeval-run",
            "testCases[1].metricsData",
        ),
        (
            {
                "faithfulness": [
                    {"metric_input": {"user_input": "q", "response": "a"}, "prompts": {}},
                    {"metric_input": [], "prompts": {}},
                    {"metric_input": {"user_input": "q", "response": "b"}, "prompts": {}},
                ]
            },
            "ragas-annotations",
            "faithfulness[1].metric_input",
        ),
    ],
)
def test_an_element_of_a_document_that_cannot_be_read_stops_no_other(
    tmp_path: Path, document: object, name: str, place: str
) -> None:
    found, errors = read_all(write_json(tmp_path / "x.json", document), name)
    assert len(found) == 2
    assert errors[0].field == place


def test_a_span_that_cannot_be_read_stops_no_other(tmp_path: Path) -> None:
    spans: list[object] = [
        {"traceId": "t1", "spanId": "s1", "name": "x", "attributes": [
            {"key": "input.value", "value": {"stringValue": "q"}},
            {"key": "output.value", "value": {"stringValue": "a"}},
        ]},
        {"traceId": {"no": "id"}, "spanId": "s2"},
        {"spanId": "s3"},
        {"traceId": "t2", "spanId": "s4", "name": {}, "attributes": []},
        "no span",
        {"traceId": "t3", "spanId": "s5", "name": "x", "attributes": [
            {"key": "input.value", "value": {"stringValue": "q3"}},
            {"key": "output.value", "value": {"stringValue": "a3"}},
        ]},
    ]  # fmt: skip
    value = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    found, errors = read_all(write_json(tmp_path / "x.json", value))
    assert [each.key for each in found] == ["t1", "t3"]
    assert len(errors) == 4
    assert errors[-1].field == "resourceSpans[0].scopeSpans[0].spans[4]"


def test_a_task_that_cannot_be_read_stops_no_other_of_its_conversation(tmp_path: Path) -> None:
    lines = (FOLDER / "mtrag_generation_tasks.jsonl").read_text().splitlines()
    tasks = [json.loads(each) for each in lines]
    tasks[1]["targets"] = "none"
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, tasks)))
    found, [error] = read_all(path)
    assert error.line == 2
    told = json.dumps([each.metadata for each in found])
    assert [each["task_id"] in told for each in tasks] == [True, False, True, True]


@pytest.mark.parametrize("raised", [KeyError("x"), TypeError("y"), RecursionError("z")])
def test_what_a_reader_did_not_think_of_is_one_refused_record(raised: Exception) -> None:
    def convert(
        fields: AnySpelling, options: ReadOptions, collector: ImageCollector
    ) -> Iterator[ConversationDraft]:
        if fields.has_one_of_keys("bad"):
            raise raised
        draft = ConversationDraft()
        draft.add_turn("user", "q")
        yield draft

    reader = RecordReader("x", "x", lambda sample: None, convert)
    path = Path("x.jsonl")
    values: list[dict[str, object]] = [{}, {"bad": 1}, {}]
    records = [FileRecord(path, line, None, 0, 0, each) for line, each in enumerate(values, 1)]
    options = ReadOptions("x", Sample(path, FileKind.LINES, ()))
    first, second, third = (each.found for each in reader.read(records, options))
    assert isinstance(first, Conversation)
    assert isinstance(third, Conversation)
    assert isinstance(second, InputError)
    assert (second.path, second.line) == (path, 2)
    assert type(raised).__name__ in second.reason


def test_an_empty_list_around_which_an_object_stands_says_that_nothing_was_retrieved(
    tmp_path: Path,
) -> None:
    rows = [{"id": "", "question": "q", "answer": "a", "contexts": {"documents": []}}]
    [found], [] = read_all(write_json(tmp_path / "x.json", rows))
    assert found.turns[1].retrieval_context == ()
    assert len(found.key) > 20  # an empty id is none: the key is the hash of the turns


def test_an_empty_id_of_a_conversational_case_is_none(tmp_path: Path) -> None:
    case = {"id": "", "scenario": "s", "turns": [{"role": "user", "content": "q"}]}
    [found], [] = read_all(write_json(tmp_path / "x.json", [case]))
    assert len(found.key) > 20


def write_evaluations(path: Path, metric: dict[str, object], values: dict[str, object]) -> Path:
    document = json.loads((FOLDER / "mtrag_inspectorraget.json").read_text())
    document["metrics"] = [{"name": "faithfulness", "author": "human", **metric}]
    document["evaluations"] = document["evaluations"][:1]
    document["evaluations"][0]["annotations"] = {
        "faithfulness": {who: {"value": value} for who, value in values.items()}
    }
    return write_json(path, document)


@pytest.mark.parametrize(
    ("metric", "scale"),
    [
        ({"values": [{"value": str(each)} for each in range(1, 5)]}, "mtrag-faithfulness-1-4"),
        ({"range": [1, 4, 1]}, "mtrag-faithfulness-1-4"),
        ({"values": [{"value": str(each)} for each in range(1, 6)]}, "faithfulness"),
        ({"range": [1, 5, 1]}, "faithfulness"),
        ({}, "faithfulness"),
    ],
)
def test_the_levels_that_a_metric_declares_say_which_scale_it_is(
    tmp_path: Path, metric: dict[str, object], scale: str
) -> None:
    path = write_evaluations(tmp_path / "x.json", metric, {"ann": "4", "bob": None, "eve": 1})
    [found], [] = read_all(path)
    assert [(each.annotator, each.scale, each.label) for each in found.ratings] == [
        ("ann", scale, "4"),
        ("eve", scale, "1"),
    ]


def test_an_evaluation_that_cannot_be_read_stops_no_other(tmp_path: Path) -> None:
    document = json.loads((FOLDER / "mtrag_inspectorraget.json").read_text())
    before, [] = read_all(FOLDER / "mtrag_inspectorraget.json")
    document["evaluations"][0]["annotations"] = [1]
    document["evaluations"].append("none")
    found, errors = read_all(write_json(tmp_path / "x.json", document))
    assert len(found) == len(before)
    assert [each.field for each in errors] == [
        "evaluations[0].annotations",
        f"evaluations[{len(document['evaluations']) - 1}]",
    ]


def make_trace(number: int, session: str, text: str) -> dict[str, object]:
    """Make a trace of Langfuse."""
    return {
        "id": f"t{number}",
        "timestamp": f"2024-01-01T00:00:0{number}Z",
        "input": f"Is it {number}?",
        "output": "It is.",
        "sessionId": session,
        "observations": [
            {
                "id": f"o{number}",
                "traceId": f"t{number}",
                "type": "RETRIEVER",
                "startTime": "2024-01-01T00:00:00Z",
                "input": "q",
                "output": [{"page_content": text}],
            }
        ],
    }


def test_records_that_are_too_large_together_are_refused_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session of many traces, none of which is large; other sessions are read."""
    monkeypatch.setattr(record_groups, "RECORD", replace(RECORD, most=5000))
    path = tmp_path / "x.jsonl"
    traces = [make_trace(number, "long", "The depot is open. " * 40) for number in range(8)]
    traces.insert(3, make_trace(9, "short", "The depot is closed."))
    path.write_text("".join(json.dumps(each) + "\n" for each in traces))
    [found], [error] = read_all(path)
    assert found.turns[1].content == "It is."
    assert "line 1: `long` stands in 8 records; all together a record may have 5,000 bytes" in str(
        error
    )
