"""A deepeval test run of conversations is read case by case, and nothing in the file is lost."""

import json
from pathlib import Path

import pytest

from faithtui.domain.conversation import Conversation
from faithtui.errors import InputError
from faithtui.formats.files.byte_streams import HEAD_BYTES
from faithtui.formats.files.record_files import FileKind
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format

METRICS = [{"name": "Turn Faithfulness", "score": 1.0, "success": True, "evaluationModel": "m"}]


def make_case(name: str, **more: object) -> dict[str, object]:
    turns = [
        {"role": "user", "content": f"{name}?"},
        {"role": "assistant", "content": name, "retrievalContext": [f"It is {name}."]},
    ]
    return {"name": name, "turns": turns, **more}


def make_run(*names: str, **more: object) -> dict[str, object]:
    cases = [make_case(name, metricsData=METRICS) for name in names]
    return {"testCases": [], "conversationalTestCases": cases, **more}


def read(path: Path, name: str = "auto") -> tuple[list[Conversation], str]:
    """Read a file: its conversations, and why it was not read to its end ("" where it was)."""
    dataset, opened = open_file_and_detect_format(path, FormatChoice(name), "orders")
    found: list[Conversation] = []
    try:
        for each in dataset.read(opened):
            assert isinstance(each.found, Conversation), each.found
            found.append(each.found)
    except InputError as error:
        return found, error.reason
    return found, ""


def list_answers(found: list[Conversation]) -> list[str]:
    return [each.turns[-1].content for each in found]


def test_runs_on_lines_of_their_own_are_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    runs = [make_run("a", "b", metricsScores=[]), make_run("c", "d"), make_run("e")]
    for start in ("", "\ufeff", "\n\n"):
        path.write_text(start + "\n".join(map(json.dumps, runs)), encoding="utf-8")
        found, error = read(path)
        assert list_answers(found) == ["a", "b", "c", "d", "e"]
        assert not error


def test_a_long_run_on_the_first_line_of_a_file_of_lines_hides_no_other(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text(LONG + "\n" + json.dumps(make_run("c")) + "\n")
    found, error = read(path)
    assert list_answers(found) == ["a", "b", "c"]
    assert not error


def test_a_damaged_run_on_the_first_line_loses_no_other(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(make_run("a"))[:-1] + "\n" + json.dumps(make_run("b", "c")) + "\n")
    dataset, opened = open_file_and_detect_format(path, FormatChoice(), "orders")
    assert opened.kind is FileKind.LINES
    error, *found = [each.found for each in dataset.read(opened)]
    assert isinstance(error, InputError)
    assert error.line == 1
    assert list_answers([each for each in found if isinstance(each, Conversation)]) == ["b", "c"]


ONE = json.dumps(make_run("a", "b"))
INDENTED = json.dumps(make_run("a", "b"), indent=1)
OTHER = json.dumps([make_case("c")])
LONG = json.dumps(make_run("a", "b", hyperparameters={"note": "x" * HEAD_BYTES}))
BEHIND = "goes on behind the end of its test run"
CUT = "ends in the middle of what stands behind the cases"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (INDENTED + "\n" + INDENTED, BEHIND),
        (ONE + ONE, BEHIND),
        (LONG + "\n" + ONE, BEHIND),
        (ONE + " garbage", BEHIND),
        (ONE[:-1] + " garbage ]]]", "is not JSON behind the cases"),
        (ONE[:-1] + ', "x": 1]', "is not JSON behind the cases"),
        (ONE[:-1], CUT),
        (ONE[:-1] + ', "metricsScores": [', CUT),
        (ONE[:-1] + ', "identifier": "demo', CUT),
        (ONE[:-1] + ', "testCases": ' + OTHER + "}", 'has the key "testCases" twice'),
        (
            ONE[:-1] + ', "conversationalTestCases": ' + OTHER + "}",
            'has the key "conversationalTestCases" twice',
        ),
        (ONE[:-1] + ', "test_cases": ' + OTHER + "}", "has other cases, `test_cases`"),
    ],
)
def test_what_stands_behind_the_cases_is_the_end_of_the_run_or_told(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    found, error = read(path)
    assert list_answers(found) == ["a", "b"]
    assert says in error


def test_what_deepeval_writes_behind_the_cases_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    more = {"metricsScores": [{"scores": [1.0]}], "hyperparameters": {"testCases": ["]}", 1]}}
    for text in (json.dumps(make_run("a", **more)), json.dumps(make_run("a", **more), indent=2)):
        path.write_text(text + "\n \n")
        found, error = read(path)
        assert list_answers(found) == ["a"]
        assert not error


@pytest.mark.parametrize("judged", [(0, 2), (1,), ()])
@pytest.mark.parametrize("name", ["auto", "deepeval-run"])
def test_a_case_without_metrics_is_a_case(
    tmp_path: Path, judged: tuple[int, ...], name: str
) -> None:
    cases = [
        make_case(key, **({"metricsData": METRICS} if place in judged else {}))
        for place, key in enumerate("abc")
    ]
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"testCases": [], "conversationalTestCases": cases}))
    dataset, opened = open_file_and_detect_format(path, FormatChoice(name), "orders")
    read_cases = list(dataset.read(opened))
    found = [each.found for each in read_cases if isinstance(each.found, Conversation)]
    assert list_answers(found) == ["a", "b", "c"]
    assert [each.metadata["name"] for each in found] == ["a", "b", "c"]
    assert [place for place, each in enumerate(read_cases) if each.verdicts] == list(judged)


def test_a_case_with_a_scenario_leaves_no_question_of_format(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    cases = [make_case("a", scenario="A customer asks.", metricsData=METRICS)]
    path.write_text(json.dumps({"testCases": [], "conversationalTestCases": cases}))
    assert list_answers(read(path)[0]) == ["a"]


def test_cases_on_lines_of_their_own_are_cases_without_metrics_too(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    cases = [make_case("a", metricsData=METRICS), make_case("b")]
    path.write_text("\n".join(map(json.dumps, cases)))
    found, error = read(path)
    assert list_answers(found) == ["a", "b"]
    assert not error


def test_a_key_of_a_run_that_nobody_understood_is_told_as_dropped(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    case = {"input": "q", "actualOutput": "a", "metricsData": []}
    path.write_text(json.dumps({"testCases": [case], "zzz": 1, "hyperparameters": {}}))
    dataset, opened = open_file_and_detect_format(path, FormatChoice(), None)
    [record] = dataset.read(opened)
    assert isinstance(record.found, Conversation)
    assert "extra" not in record.found.metadata
    assert (dict(dataset.notes.unknown_keys), dict(dataset.notes.dropped_keys)) == ({}, {"zzz": 1})


RESULT: dict[str, object] = {
    "name": "test_case_0",
    "success": True,
    "metrics_data": [{"name": "Faithfulness", "score": 1.0, "evaluation_model": "m"}],
    "conversational": False,
    "multimodal": False,
    "input": "q",
    "actual_output": "a",
    "retrieval_context": ["p"],
    "turns": None,
    "additional_metadata": None,
    "index": 0,
}
CHAT: dict[str, object] = {**RESULT, "conversational": True, "input": None, "actual_output": None}
CHAT["turns"] = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]


@pytest.mark.parametrize(
    "file",
    [
        {"test_results": [RESULT, CHAT], "confident_link": None, "test_run_id": "r"},
        [RESULT, CHAT],
        {"testRunData": {"testCases": [RESULT], "conversationalTestCases": [CHAT]}},
    ],
    ids=["EvaluationResult", "TestResults", "latest run"],
)
def test_what_evaluate_gives_and_keeps_is_a_finished_run(tmp_path: Path, file: object) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(file))
    dataset, opened = open_file_and_detect_format(path, FormatChoice(), None)
    records = list(dataset.read(opened))
    found = [each.found for each in records if isinstance(each.found, Conversation)]
    assert [[turn.content for turn in each.turns] for each in found] == [["q", "a"]] * 2
    assert [len(each.verdicts) for each in records] == [1, 1]
    assert not dataset.notes.unknown_keys + dataset.notes.dropped_keys


def test_keys_beside_the_latest_run_are_told(tmp_path: Path) -> None:
    path = tmp_path / "latest.json"
    path.write_text(json.dumps({"testRunData": {"testCases": [RESULT], "yyy": 2}, "zzz": 1}))
    dataset, opened = open_file_and_detect_format(path, FormatChoice(), None)
    assert len(list(dataset.read(opened))) == 1
    assert dataset.notes.dropped_keys == {"zzz": 1, "yyy": 1}
