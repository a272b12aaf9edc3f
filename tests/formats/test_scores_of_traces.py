"""Scores of traces belong to what they were given to, and none is lost unseen."""

import json
from pathlib import Path
from typing import Any

import pytest

from faithtui.domain.conversation import Conversation
from faithtui.domain.labels.imported_verdicts import ImportedJudgement, ImportedVerdict
from faithtui.errors import InputError
from faithtui.formats.readers.datasets import (
    DatasetFile,
    FormatChoice,
    join_trace_files_sharing_ids,
    open_file_and_detect_format,
)


def open_file(path: Path) -> DatasetFile:
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    file.close()
    return dataset


def read_records(
    path: Path, *records: object
) -> tuple[list[Conversation], list[ImportedJudgement], dict[str, int]]:
    path.write_text("\n".join(map(json.dumps, records)))
    dataset = open_file(path)
    found: list[Conversation] = []
    verdicts: list[ImportedJudgement] = []
    for each in dataset.read():
        assert not isinstance(each.found, InputError), each.found
        found.append(each.found)
        verdicts += each.verdicts
    return found, verdicts, dict(dataset.notes.remarks)


def make_score(name: str = "faithfulness", **fields: object) -> dict[str, object]:
    score = {"id": f"{name} {fields}", "traceId": "t", "name": name, "value": 1.0}
    return {**score, "dataType": "NUMERIC", "source": "EVAL", **fields}


def make_trace(**fields: object) -> dict[str, object]:
    return {
        "id": "t",
        "timestamp": "2026-03-02T09:00:00Z",
        "sessionId": None,
        "input": "When?",
        "output": "At nine.",
        "observations": [
            make_observation("rewrite", "when does it sail"),
            make_observation("answer", "At nine."),
            {**make_observation("retrieve", ["It sails at nine."]), "type": "RETRIEVER"},
        ],
        "scores": [],
        **fields,
    }


def make_observation(number: str, output: object) -> dict[str, object]:
    return {"id": number, "traceId": "t", "type": "GENERATION", "startTime": "1", "output": output}


@pytest.mark.parametrize(
    ("observation", "counts"),
    [(None, True), ("answer", True), ("rewrite", False), ("retrieve", False), ("gone", False)],
)
def test_a_score_counts_where_its_observation_gave_the_answer(
    tmp_path: Path, observation: str | None, counts: bool
) -> None:
    scores = [make_score(observationId=observation)]
    [found], verdicts, remarks = read_records(tmp_path / "x.jsonl", make_trace(scores=scores))
    assert bool(verdicts) is counts
    assert bool(remarks) is not counts
    assert observation is None or json.dumps(observation) in json.dumps(found.metadata)


def test_a_human_score_of_another_observation_is_no_label_of_the_answer(tmp_path: Path) -> None:
    score = make_score(observationId="rewrite", source="ANNOTATION", authorUserId="ann")
    [found], _, remarks = read_records(tmp_path / "x.jsonl", make_trace(scores=[score]))
    assert not found.ratings
    assert sum(remarks.values()) == 1


def test_the_only_generation_gave_the_answer_whatever_was_made_of_its_text(tmp_path: Path) -> None:
    trace = make_trace(
        observations=[make_observation("g", "at nine")], scores=[make_score(observationId="g")]
    )
    _, verdicts, _ = read_records(tmp_path / "x.jsonl", trace)
    assert len(verdicts) == 1


def test_scores_of_one_judge_on_one_answer_are_those_of_several_judges(tmp_path: Path) -> None:
    model: dict[str, object] = {"model": "m"}
    scores = [
        make_score(id="1", value=1.0, metadata=model),
        make_score(id="2", value=0.0, metadata=model),
        make_score("groundedness", id="3", value=0.5, metadata=model),
        make_score(id="4", value=0.25),
        make_score(id="4", value=0.25),
    ]
    _, verdicts, _ = read_records(tmp_path / "x.jsonl", make_trace(scores=scores))
    assert [(each.judge, each.score) for each in verdicts] == [
        ("m", 1.0),
        ("m (2)", 0.0),
        ("m (groundedness)", 0.5),
        ("langfuse faithfulness", 0.25),
    ]


def test_scores_of_a_trace_without_an_answer_are_kept_and_told(tmp_path: Path) -> None:
    scores = [make_score(), make_score("tone")]
    observations = [{**make_observation("r", ["It sails."]), "type": "RETRIEVER"}]
    trace = make_trace(output=None, observations=observations, scores=scores)
    [found], verdicts, remarks = read_records(tmp_path / "x.jsonl", trace)
    exchanges = found.metadata["exchanges_without_answer"]
    assert isinstance(exchanges, list)
    [kept] = exchanges
    assert (not verdicts, kept["trace_id"], len(kept["scores"])) == (True, "t", 2)
    assert kept["contexts"] == ["It sails."]
    assert list(remarks.values()) == [2]


def test_lists_of_traces_name_observations_and_scores_by_id(tmp_path: Path) -> None:
    trace = make_trace(observations=["a"], scores=["b"])
    [found], _, _ = read_records(tmp_path / "x.jsonl", trace)
    assert [each.content for each in found.turns] == ["When?", "At nine."]


def test_a_score_of_a_session_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    score = {**make_score(), "traceId": None, "sessionId": "s"}
    path.write_text(json.dumps(make_trace()) + "\n" + json.dumps(score))
    [error] = [each.found for each in open_file(path).read() if isinstance(each.found, InputError)]
    assert (error.line, error.field) == (2, "traceId")


def test_a_trace_that_is_there_twice_is_told(tmp_path: Path) -> None:
    _, _, remarks = read_records(tmp_path / "x.jsonl", make_trace(), make_trace())
    assert list(remarks.values()) == [1]


def make_run(number: str, kind: str, output: object, parent: str | None) -> dict[str, object]:
    return {
        "id": number,
        "trace_id": "r",
        "run_type": kind,
        "name": kind,
        "parent_run_id": parent,
        "inputs": {"question": "When?"},
        "outputs": output,
    }


@pytest.mark.parametrize(("run", "counts"), [("r", True), ("l", True), ("w", False), ("d", False)])
def test_feedback_counts_where_its_run_gave_the_answer(
    tmp_path: Path, run: str, counts: bool
) -> None:
    _, verdicts, remarks = read_records(
        tmp_path / "x.jsonl",
        make_run("r", "chain", {"answer": "At nine."}, None),
        make_run("w", "llm", {"output": "when does it sail"}, "r"),
        make_run("d", "retriever", {"documents": [{"page_content": "It sails at nine."}]}, "r"),
        make_run("l", "llm", {"output": "At nine."}, "r"),
        {"id": "f", "run_id": run, "trace_id": "r", "key": "faithfulness", "score": 1.0,
         "feedback_source": {"type": "model"}, "comment": None},
    )  # fmt: skip
    assert bool(verdicts) is counts
    assert bool(remarks) is not counts


def test_runs_without_the_id_of_their_trace_are_found_by_their_order(tmp_path: Path) -> None:
    answer = make_run("r", "chain", {"answer": "At nine."}, None)
    found = {"documents": [{"page_content": "It sails at nine."}]}
    document = make_run("d", "retriever", found, "r")
    for each, order in ((answer, "20260302T0900Zr"), (document, "20260302T0900Zr.20260302T0901Zd")):
        each["dotted_order"] = order
        del each["trace_id"]
    (conversation,), _, _ = read_records(tmp_path / "x.jsonl", document, answer)
    (passage,) = conversation.turns[1].retrieval_context or ()
    assert passage.text == "It sails at nine."
    assert conversation.key == "r"


@pytest.mark.parametrize(("span", "counts"), [("s", True), ("l", True), ("w", False), ("d", False)])
def test_an_evaluation_counts_where_its_span_gave_the_answer(
    tmp_path: Path, span: str, counts: bool
) -> None:
    def make_span(number: str, kind: str, output: str, parent: str | None) -> dict[str, Any]:
        event = {
            "name": "gen_ai.evaluation.result",
            "attributes": {
                "gen_ai.evaluation.name": "faithfulness",
                "gen_ai.evaluation.score.value": 1.0,
            },
        }
        return {
            "context": {"trace_id": "t", "span_id": number},
            "parent_id": parent,
            "attributes": {
                "openinference.span.kind": kind,
                "input.value": "When?",
                "output.value": output,
            },
            "events": [event] if number == span else [],
        }

    _, verdicts, remarks = read_records(
        tmp_path / "x.jsonl",
        make_span("s", "CHAIN", "At nine.", None),
        make_span("w", "LLM", "when does it sail", "s"),
        make_span("d", "RETRIEVER", "It sails at nine.", "s"),
        make_span("l", "LLM", "At nine.", "s"),
    )
    assert bool(verdicts) is counts
    assert bool(remarks) is not counts


def write_traces(path: Path, *ids: str, session: str | None = None) -> DatasetFile:
    records = [make_trace(id=each, sessionId=session, observations=[]) for each in ids]
    path.write_text("\n".join(map(json.dumps, records)))
    return open_file(path)


def test_files_of_traces_are_one_data_set_where_they_share_ids(tmp_path: Path) -> None:
    first = write_traces(tmp_path / "first.jsonl", "a", "b")
    second = write_traces(tmp_path / "second.jsonl", "c", "d")
    scores = tmp_path / "scores.jsonl"
    scores.write_text(json.dumps({**make_score(), "traceId": "d"}))
    of_second = open_file(scores)
    joined = join_trace_files_sharing_ids([first, second, of_second])
    assert [[path.name for path in each.paths] for each in joined] == [
        ["first.jsonl"],
        ["second.jsonl", "scores.jsonl"],
    ]
    assert len(join_trace_files_sharing_ids([first, second], are_one=True)) == 1
    assert len(join_trace_files_sharing_ids([first, second], pipes={second.path})) == 1


def test_files_that_share_a_session_are_one_data_set(tmp_path: Path) -> None:
    first = write_traces(tmp_path / "first.jsonl", "a", session="s")
    second = write_traces(tmp_path / "second.jsonl", "b", session="s")
    [joined] = join_trace_files_sharing_ids([first, second])
    [found] = [each.found for each in joined.read()]
    assert isinstance(found, Conversation)
    assert len(found.turns) == 4


def test_a_refusal_names_the_file_it_is_in(tmp_path: Path) -> None:
    first = write_traces(tmp_path / "first.jsonl", "a", session="s")
    second = tmp_path / "second.jsonl"
    bad = make_trace(id="b", sessionId="s", observations=[{"type": {}}])
    second.write_text(json.dumps(bad))
    third = write_traces(tmp_path / "third.jsonl", "c", session="s")
    [joined] = join_trace_files_sharing_ids([first, open_file(second), third])
    [error] = [each.found for each in joined.read() if isinstance(each.found, InputError)]
    assert error.path == second


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"passing": True, "score": 1.0, "feedback": "YES"}, (True, 1.0, "YES")),
        ({"passing": None, "score": 1.0, "feedback": "no idea"}, (None, None, "no idea")),
        ({"passing": False, "score": 0.0, "invalid_result": True}, (None, None, None)),
        ({"passing": None, "score": 0.5, "pairwise_source": "original"}, None),
    ],
)
def test_a_result_of_llamaindex_is_a_verdict_where_its_judge_gave_one(
    tmp_path: Path, result: dict[str, object], said: tuple[object, ...] | None
) -> None:
    row = {"query": "q", "response": "a", "contexts": ["c"], "invalid_reason": None, **result}
    [found], verdicts, remarks = read_records(tmp_path / "x.jsonl", {"passing": None, **row})
    if said is None:
        assert not verdicts
        assert sum(remarks.values()) == 1
        assert found.metadata["result"] == {"score": 0.5, "pairwise_source": "original"}
    else:
        [verdict] = verdicts
        assert isinstance(verdict, ImportedVerdict)
        assert (verdict.passed, verdict.score, verdict.word) == said
