"""Files of other tools become the conversation they hold."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from faithtui.domain.conversation import Conversation
from faithtui.domain.labels.imported_verdicts import ImportedJudgement, ImportedVerdict
from faithtui.errors import InputError
from faithtui.formats.readers.datasets import (
    FormatChoice,
    join_trace_files_sharing_ids,
    open_file_and_detect_format,
)

FOLDER = Path(__file__).parents[2] / "fixtures" / "real_formats"
LANGSMITH = ("langsmith_runs.jsonl", "langsmith_feedback.jsonl")
Read = tuple[list[Conversation], list[ImportedJudgement]]


def read(*paths: Path, choice: FormatChoice | None = None) -> Read:
    """Read files that are one data set, without any refusal."""
    found = []
    for path in paths:
        dataset, file = open_file_and_detect_format(path, choice or FormatChoice(), None)
        file.close()
        found.append(dataset)
    [dataset] = join_trace_files_sharing_ids(found)
    conversations: list[Conversation] = []
    verdicts: list[ImportedJudgement] = []
    for each in dataset.read():
        assert not isinstance(each.found, InputError), each.found
        conversations.append(each.found)
        verdicts += each.verdicts
    return conversations, verdicts


def read_fixture(*names: str, choice: FormatChoice | None = None) -> Read:
    return read(*(FOLDER / name for name in names), choice=choice)


[NEUTRAL] = read_fixture("neutral.jsonl")[0]


def texts(conversations: Sequence[Conversation]) -> list[tuple[str, str]]:
    return [(turn.role, turn.content) for each in conversations for turn in each.turns]


def contexts(conversations: Sequence[Conversation]) -> list[list[str] | None]:
    """The passages of each answer; None where nobody knows."""
    return [
        None
        if turn.retrieval_context is None
        else [document.text for document in turn.retrieval_context]
        for each in conversations
        for turn in each.turns
        if turn.role == "assistant"
    ]


@pytest.mark.parametrize(
    "names",
    [
        ("deepeval_conversational_test_cases.json",),
        ("deepeval_conversational_goldens.json",),
        ("deepeval_conversational_goldens.jsonl",),
        ("deepeval_conversational_goldens.csv",),
        ("ragas_multi_turn.jsonl",),
        LANGSMITH,
        ("langfuse_traces.json",),
        ("openinference_spans.jsonl",),
        ("deepeval_goldens.json",),
        ("deepeval_goldens.csv",),
        ("ragas_single_turn.jsonl",),
        ("ragas_single_turn.csv",),
        ("llamaindex_labelled_rag_dataset.json",),
        ("llamaindex_evaluation_results.json",),
    ],
    ids=lambda names: names[0],
)
def test_every_format_gives_the_same_ten_turns_and_five_lists_of_passages(
    names: tuple[str, ...],
) -> None:
    conversations, _ = read_fixture(*names)
    assert texts(conversations) == texts([NEUTRAL])
    assert contexts(conversations) == contexts([NEUTRAL])


def test_chat_messages_have_the_passages_that_their_tools_gave() -> None:
    plain, with_tools = read_fixture("openai_chat.jsonl")[0]
    assert texts([plain]) == texts([with_tools]) == texts([NEUTRAL])
    assert contexts([plain]) == [None] * 5
    assert contexts([with_tools]) == contexts([NEUTRAL])
    first = with_tools.turns[1].retrieval_context
    assert first is not None
    assert {each.source for each in first} == {"retrieve"}
    assert with_tools.metadata["system"] == [
        "Answer from the retrieved passages. Say so when they hold no answer."
    ]


def test_evaluations_of_three_models_are_the_reference_as_a_whole_and_tasks_of_the_others() -> None:
    conversations, _ = read_fixture("mtrag_inspectorraget.json")
    [reference] = [each for each in conversations if each.metadata["model"] == "reference"]
    assert texts([reference]) == texts([NEUTRAL])
    assert contexts([reference]) == contexts([NEUTRAL])
    assert reference.ratings
    assert set(reference.ratings) == set(NEUTRAL.ratings)
    others = [each for each in conversations if each is not reference]
    assert len(others) == 10
    # Ten answers to one history are not ten independent conversations.
    assert {each.group for each in others} == {reference.group}
    for each in others:
        assert {rating.turn for rating in each.ratings} == {len(each.turns) - 1}


def test_tasks_with_predictions_are_conversations_of_one_group() -> None:
    conversations, _ = read_fixture("mtrag_generation_tasks.jsonl")
    assert [len(each.turns) for each in conversations] == [2, 4, 6, 8]
    assert len({each.group for each in conversations}) == 1
    last = conversations[-1]
    assert last.key == "dd6b6ffd177f2b311abe676261279d2f::4"
    # Earlier answers have the passages of their own tasks.
    assert contexts([last])[1] == contexts([conversations[1]])[1]


def test_spans_that_annotators_marked_become_labels_of_claims() -> None:
    first, second = read_fixture("faithbench_batch.json")[0]
    wrong, benign, unsure = first.ratings
    assert (wrong.label, wrong.scale, wrong.annotator) == (
        "Unwanted",
        "faithbench-span",
        "Annotator 1",
    )
    assert wrong.span is not None
    assert wrong.span.slice_text(first.turns[0].content) == wrong.claim == "built in 1832"
    assert benign.label == "Benign"
    assert (unsure.label, unsure.span) == ("Questionable", None)  # the worst; no literal piece
    assert not second.ratings
    assert first.group == "passage_group:7"


@pytest.mark.parametrize("names", [LANGSMITH, ("langfuse_traces.json",)])
def test_scores_of_people_are_labels_and_those_of_judges_verdicts(names: tuple[str, ...]) -> None:
    choice = FormatChoice(scales={"faithfulness": "mtrag-faithfulness-1-4"})
    [conversation], verdicts = read_fixture(*names, choice=choice)
    assert set(conversation.ratings) == set(NEUTRAL.ratings)
    assert len(verdicts) == 5
    scores = NEUTRAL.metadata["reference_judges"]
    assert isinstance(scores, dict)
    assert {each.turn: each.score for each in verdicts if isinstance(each, ImportedVerdict)} == {
        int(turn): score for turn, score in scores["rl_f"].items()
    }


def test_ids_of_traces_are_kept_with_their_turn() -> None:
    [conversation], _ = read_fixture("langfuse_traces.json")
    details = conversation.metadata["per_turn"]
    assert isinstance(details, dict)
    assert list(details) == ["1", "3", "5", "7", "9"]
    assert details["1"]["trace_id"] == "ec1424ad599a4088ebabe266d2f4f8e3"
    assert details["1"]["tags"] == ["mtrag"]
    assert [each["id"] for each in details["1"]["passages"]] == [
        "825986711_374-788-0-414",
        "825986711_2085-2489-0-404",
    ]
    assert len(details["1"]["scores"]) == 4


def test_what_a_person_changed_is_the_label_and_what_the_judge_said_the_verdict() -> None:
    scale = "q2-consistent-0-1"
    choice = FormatChoice(scales={"answer_correctness": scale})
    conversations, verdicts = read_fixture("ragas_annotated_answer_correctness.json", choice=choice)
    rows = json.loads((FOLDER / "ragas_annotated_answer_correctness.json").read_text())
    for conversation, verdict, row in zip(
        conversations, verdicts, rows["answer_correctness"], strict=True
    ):
        [prompt] = row["prompts"].values()
        edited = prompt["edited_output"] or prompt["prompt_output"]
        [rating] = conversation.ratings
        flips = not row["is_accepted"] and not prompt["edited_output"]
        assert rating.label == ("1" if bool(edited["verdict"]) is not flips else "0")
        assert rating.scale == scale
        assert isinstance(verdict, ImportedVerdict)
        assert verdict.word == str(prompt["prompt_output"]["verdict"])


@pytest.mark.parametrize("metric", ["helpfulness", "answer_correctness", "summary_accuracy"])
def test_annotations_of_another_metric_are_metadata(metric: str) -> None:
    path = FOLDER / f"ragas_annotated_{metric}.json"
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    records = list(dataset.read(file))
    assert not any(each.verdicts for each in records)
    for each in records:
        assert not isinstance(each.found, InputError)
        assert not each.found.ratings
        assert "prompts" in each.found.metadata
    [(remark, count)] = dataset.notes.remarks.items()
    assert f"--scale {metric}=q2-consistent-0-1" in remark
    assert count == len(records)


def test_annotations_of_faithfulness_are_labels(tmp_path: Path) -> None:
    path = tmp_path / "annotated.json"
    text = (FOLDER / "ragas_annotated_answer_correctness.json").read_text()
    path.write_text(text.replace('"answer_correctness"', '"faithfulness"', 1))
    conversations, verdicts = read(path)
    labels = {(each.scale, each.label) for found in conversations for each in found.ratings}
    assert labels == {("q2-consistent-0-1", "1"), ("q2-consistent-0-1", "0")}
    assert len(verdicts) == len(conversations)


@pytest.mark.parametrize(
    ("verdict", "edited", "accepted", "named", "label"),
    [
        (1, 0, False, None, ("q2-consistent-0-1", "0")),
        (0, 1.0, False, None, ("q2-consistent-0-1", "1")),
        (1, None, True, None, ("q2-consistent-0-1", "1")),
        ("0", None, False, None, ("q2-consistent-0-1", "1")),
        ("yes", "Borderline", False, None, ("faithfulness", "Borderline")),
        ("yes", None, False, None, ("faithfulness", "no")),
        (True, None, True, None, ("faithfulness", "true")),
        (True, None, False, None, ("faithfulness", "false")),
        (1, 0, False, "begin-3", ("begin-3", "0")),
        ("yes", "No", False, "q2-consistent-0-1", ("q2-consistent-0-1", "0")),
        ("maybe", None, False, None, None),
    ],
)
def test_a_label_of_an_annotation_keeps_its_word(
    tmp_path: Path,
    verdict: object,
    edited: object,
    accepted: bool,
    named: str | None,
    label: tuple[str, str] | None,
) -> None:
    prompt = {
        "prompt_input": {},
        "prompt_output": {"verdict": verdict, "reason": "so"},
        "edited_output": None if edited is None else {"verdict": edited, "reason": "not so"},
    }
    annotation = {
        "metric_input": {"user_input": "q", "response": "a"},
        "metric_output": 1,
        "is_accepted": accepted,
        "prompts": {"p": prompt},
    }
    path = tmp_path / "annotated.json"
    path.write_text(json.dumps({"faithfulness": [annotation]}))
    choice = FormatChoice(scales={} if named is None else {"faithfulness": named})
    dataset, file = open_file_and_detect_format(path, choice, None)
    [record] = dataset.read(file)
    assert isinstance(record.found, Conversation)
    found = [(each.scale, each.label) for each in record.found.ratings]
    assert found == ([] if label is None else [label])
    [judged] = record.verdicts
    assert isinstance(judged, ImportedVerdict)
    assert judged.word == str(verdict)


def test_results_keep_score_and_word_of_the_judge() -> None:
    _, verdicts = read_fixture("llamaindex_evaluation_results.json")
    assert [(each.word, each.passed) for each in verdicts if isinstance(each, ImportedVerdict)][
        1:3
    ] == [("YES", True), ("NO", False)]


def test_a_finished_test_run_gives_its_verdict_and_the_passages_of_its_trace() -> None:
    [conversation], [verdict] = read_fixture("deepeval_test_run.json")
    assert isinstance(verdict, ImportedVerdict)
    assert (verdict.judge, verdict.score, verdict.passed) == ("gpt-5.4", 0.45, False)
    found = conversation.turns[1].retrieval_context
    assert found is not None
    assert [each.source for each in found[:3]] == ["knowledge_base_lookup"] * 3
    assert found[3].source == "web_search"
    assert conversation.metadata["trace_id"] == "abf91011-1111-4111-8111-111111111111"


def test_goldens_of_the_repository_are_the_same_from_json_and_csv() -> None:
    from_json, _ = read_fixture("deepeval_repo_convo_goldens.json")
    from_csv, _ = read_fixture("deepeval_repo_convo_goldens.csv")
    assert len(from_json) == 15
    assert [each.turns for each in from_json] == [each.turns for each in from_csv]


@pytest.mark.parametrize(
    ("name", "key", "told"),
    [
        ("openai_chat.jsonl", '"text": ', "their text"),
        ("ragas_annotated_summary_accuracy.json", '"is_accepted":', "accepted by"),
        ("mtrag_inspectorraget.json", '"value":', "scores of an answer without `value`"),
    ],
)
def test_a_key_that_holds_what_counts_is_told_where_it_has_another_name(
    tmp_path: Path, name: str, key: str, told: str
) -> None:
    text = (FOLDER / name).read_text()
    path = tmp_path / name
    path.write_text(text.replace(key, f'"{told}":'))
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    file.close()
    found = [each.found for each in dataset.read()]
    assert any(
        each.startswith(told) for each in (*dataset.notes.unknown_keys, *dataset.notes.remarks)
    )
    is_kept = [told in str(each.metadata) for each in found if isinstance(each, Conversation)]
    assert any(is_kept) or told not in dataset.notes.unknown_keys


def _upper_case_keys(value: object) -> object:
    if isinstance(value, dict):
        return {key.upper(): _upper_case_keys(each) for key, each in value.items()}
    return [_upper_case_keys(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "name", ["faithbench_batch.json", "mtrag_inspectorraget.json", "neutral.jsonl"]
)
def test_keys_in_upper_case_are_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(json.dumps(_upper_case_keys(json.loads((FOLDER / name).read_text()))))
    read_, _ = read(path)
    expected, _ = read_fixture(name)
    assert [each.turns for each in read_] == [each.turns for each in expected]
    assert [each.ratings for each in read_] == [each.ratings for each in expected]


def test_attributes_in_another_case_are_named_beside_what_was_expected(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    span = json.loads((FOLDER / "openinference_spans.jsonl").read_text().splitlines()[0])
    path.write_text(json.dumps(_upper_case_keys(span)))
    told = "`OPENINFERENCE.SPAN.KIND`; of spans, `openinference.span.kind` was expected"
    with pytest.raises(InputError, match=told):
        open_file_and_detect_format(path, FormatChoice(), None)
    path.write_text(json.dumps({key.upper(): value for key, value in span.items()}))
    [conversation], _ = read(path)
    assert len(conversation.turns) == 2


def test_keys_inside_labels_and_documents_that_are_not_read_are_told(tmp_path: Path) -> None:
    label = {"turn": 1, "annotator": "a", "label": "yes", "scale": "s", "remark": "r"}
    document = {"Text": "d", "rank": 1}
    turns = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "a", "retrieval_context": [document]},
    ]
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"turns": turns, "human_labels": [label]}))
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    [found] = [each.found for each in dataset.read(file)]
    assert isinstance(found, Conversation)
    told = {"turns[].retrieval_context[].rank": 1, "human_labels[].remark": 1}
    assert dict(dataset.notes.dropped_keys) == told


def test_a_key_of_an_annotation_of_faithbench_that_is_not_read_is_told(tmp_path: Path) -> None:
    name = "faithbench_batch.json"
    path = tmp_path / name
    path.write_text((FOLDER / name).read_text().replace('"label":', '"verdict":'))
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    list(dataset.read(file))
    assert list(dataset.notes.unknown_keys) == ["verdict"]


def test_metrics_whose_names_differ_by_spelling_alone_keep_their_own_scales(tmp_path: Path) -> None:
    name = "mtrag_inspectorraget.json"
    value = json.loads((FOLDER / name).read_text())
    other = {"name": "Faithfulness", "author": "human", "values": [{"value": "no"}]}
    value["metrics"].append(other)
    for each in value["evaluations"]:
        each["annotations"]["Faithfulness"] = {"b": {"value": "no"}}
    path = tmp_path / name
    path.write_text(json.dumps(value))
    conversations, _ = read(path, choice=FormatChoice(scales={"Faithfulness": "q2-consistent-0-1"}))
    expected, _ = read_fixture(name)
    for found, before in zip(conversations, expected, strict=True):
        scales = {rating.annotator: rating.scale for rating in found.ratings}
        assert scales.pop("b") == "q2-consistent-0-1"
        assert scales == {rating.annotator: rating.scale for rating in before.ratings}


@pytest.mark.parametrize("turns", [("turns", "Turns"), ("Turns", "turns"), ("TURNS", "Turns")])
def test_the_first_spelling_of_a_key_that_holds_something_is_read(
    tmp_path: Path, turns: tuple[str, str]
) -> None:
    record = json.loads((FOLDER / "neutral.jsonl").read_text().splitlines()[0])
    given = record.pop("turns")
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({**record, turns[0]: None, turns[1]: given}))
    [conversation], _ = read(path)
    assert len(conversation.turns) == len(given)
