"""A run that was exported and imported again has the scores that it had, to the last digit."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faithtui.domain.conversation import Conversation, Turn
from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.labels.imported_verdicts import ImportedWindow
from faithtui.domain.scores import ScoreState, make_empty_score
from faithtui.engine.dataset_import import ImportResult, import_files
from faithtui.engine.exports.run_exports import RunExporter, RunExportRequest
from faithtui.engine.imported_runs import _choose_item_state, _judgement_to_dict
from faithtui.metrics.registry import build, metric_options_to_json
from faithtui.store.records import ItemState, RunState
from faithtui.store.store import Store
from tests.store.building import SPEC, assess, imported, make_conversation

METRIC = "turn-faithfulness"
WORDS = ("yes", "idk", "no", "idk", "yes", "idk", None)
OPTIONS: Sequence[Mapping[str, object]] = (
    {"penalize_ambiguous_claims": True, "window_size": 2, "threshold": 0.9},
    {"as_peer": True, "window_size": 3, "strategy": "window"},
    {},
    {"penalize_ambiguous_claims": True},
    {"strict_mode": True, "window_size": 1},
    {"truths_extraction_limit": 3, "threshold": None},
)
with_options = pytest.mark.parametrize(
    "options",
    [*OPTIONS[:2], *(pytest.param(each, marks=pytest.mark.thorough) for each in OPTIONS[2:])],
    ids=json.dumps,
)
thorough = [
    pytest.param(each, marks=pytest.mark.thorough) for each in ("csv", "parquet", "dataset")
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store.db") as opened:
        yield opened


def make_trace_ids(chat: int, turns: Sequence[Turn]) -> dict[str, object]:
    """Name the trace of each answer."""
    return {
        str(turn): {"trace_id": f"{chat + 1:016x}{turn:016x}"}
        for turn, each in enumerate(turns)
        if each.role == "assistant"
    }


def format_langfuse_traces(chats: Sequence[Conversation]) -> str:
    """Write conversations as Langfuse has them: a trace each answer."""
    return "".join(
        json.dumps(
            {
                "id": f"{place + 1:016x}{turn:016x}",
                "timestamp": f"2026-03-02T09:00:{turn:02}Z",
                "sessionId": chat.key,
                "input": {"messages": [{"role": "user", "content": chat.turns[turn - 1].content}]},
                "output": {"role": "assistant", "content": each.content},
                "observations": [],
            }
        )
        + "\n"
        for place, chat in enumerate(chats)
        for turn, each in enumerate(chat.turns)
        if each.role == "assistant"
    )


def save_run(store: Store, options: Mapping[str, object], metric: str = METRIC) -> RunId:
    """Judge conversations whose windows say different things of a claim, or nothing."""
    made = build(metric, options)
    chats = [make_conversation(f"t{number}", answers=number) for number in (1, 2, 4, 5, 3, 3)]
    chats = [
        replace(each, key=f"{place}", metadata={"per_turn": make_trace_ids(place, each.turns)})
        for place, each in enumerate(chats)
    ]
    spec = replace(
        SPEC,
        metric=metric,
        options=metric_options_to_json(made),
        rule=made.rule,
        strategy=str(metric_options_to_json(made).get("strategy")),
        judge_fingerprint=f"offline {json.dumps(options)}",
    )
    # Where a verdict is missing, only the peer's rules have a score.
    words: Sequence[str | None] = WORDS if made.rule.as_peer else WORDS[:-1]
    names = made.spec.labels.names
    words = words if set(words) <= {*names, None} else names
    run = store.runs.create(spec, sorted(imported(store, each) for each in chats))
    for number, item in enumerate(store.runs.list_item_ids(run)):
        _judge(store, item, made, words, number)
    return run


def _judge(store: Store, item: ItemId, metric: Any, words: Sequence[Any], number: int) -> None:
    (row,) = store.runs.read_item_rows([item])
    conversation = store.conversations.get(row.conversation)
    for window in metric.windows(conversation):
        labels = {
            turn: [
                words[(turn + place + (window.position > 2) + number) % len(words)]
                for place in range((turn + number) % 4)
            ]
            for turn in window.turns
            if turn % 2
        }
        undefined = make_empty_score(ScoreState.UNDEFINED, "the judge drew no truth")
        is_undefined = number == 3 and window.position == 1 and not metric.rule.as_peer
        score = undefined if is_undefined else None
        found = assess(window, labels, rule=metric.rule, score=score)
        if metric.rule.as_peer and window.position == 0:
            found = replace(found, surplus=("no", None))
        verdicts = (
            replace(each, confidence=0.25 if each.label == "yes" else None)
            for each in found.verdicts
        )
        store.runs.save_window(item, replace(found, verdicts=tuple(verdicts)))
    is_failed = number == 5
    state = ItemState.FAILED if is_failed else ItemState.DONE
    store.runs.score_and_finish_item(item, state, "it broke" if is_failed else None)


def read_scores(store: Store, run: RunId) -> dict[str, float | None]:
    rows = store.runs.read_item_rows(store.runs.list_item_ids(run))
    return {each.key: each.scores.windowed.value if each.scores else None for each in rows}


def export_and_import(
    store: Store, run: RunId, kind: str, folder: Path
) -> tuple[Store, ImportResult]:
    """Export a run, and import the file into a store of its own."""
    exporter = RunExporter(store, RunExportRequest(run))
    match kind:
        case "dataset":
            path = folder / "set"
            exporter.write_hugging_face_dataset(path, "jsonl", licence=None, force=False)
        case "jsonl" | "csv" | "parquet":
            path = folder / f"claims.{kind}"
            exporter.write_jsonl_or_csv_file("claims", kind, path, force=False)
        case _:
            path = folder / "results.json"
            text = "".join(exporter.iter_results_for_other_tool(kind))
            path.write_text(text, encoding="utf-8")
    into = Store.open(folder / f"{kind}.db")
    return into, import_files(into, [path], report=lambda _: None)


@with_options
@pytest.mark.parametrize("kind", ["jsonl", "deepeval", *thorough])
def test_an_imported_run_scores_as_the_one_that_was_exported(
    store: Store, tmp_path: Path, kind: str, options: Mapping[str, object]
) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    run = save_run(store, options)
    expected = read_scores(store, run)
    into, result = export_and_import(store, run, kind, tmp_path)
    with into:
        assert not result.refused
        (made,) = [each for file in result.files for each in file.runs]
        assert made.run is not None
        found = read_scores(into, made.run)
        # Conversations without any claim have no row.
        assert {name: expected[name] for name in found} == found
        assert {name for name, score in expected.items() if score is not None} <= set(found)
        assert len({each for each in expected.values()}) > 1
        (kept,), (before,) = into.runs.list_runs(), store.runs.list_runs()
        assert kept.spec.options == before.spec.options
        assert (kept.spec.rule, kept.spec.strategy) == (before.spec.rule, before.spec.strategy)
        assert (kept.score, kept.undefined_windows) == (
            before.score,
            before.undefined_windows,
        )


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_an_imported_run_has_confidence_and_evidence_of_the_one_that_was_exported(
    store: Store, tmp_path: Path, kind: str
) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow")

    def read_said(exported: Store, run: RunId, path: Path) -> dict[Any, Any]:
        exporter = RunExporter(exported, RunExportRequest(run))
        exporter.write_jsonl_or_csv_file("claims", "jsonl", path, force=False)
        rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        names = ("conversation", "turn", "claim")
        return {
            tuple(row[name] for name in names): (row["confidence"], row["evidence"]) for row in rows
        }

    run = save_run(store, {})
    expected = read_said(store, run, tmp_path / "first.jsonl")
    into, result = export_and_import(store, run, kind, tmp_path)
    with into:
        [made] = result.files[0].runs
        assert made.run is not None
        assert read_said(into, made.run, tmp_path / "again.jsonl") == expected
    said = list(expected.values())
    assert {confidence for confidence, _ in said} == {0.25, None}
    named = [each for _, evidence in said for each in evidence]
    assert {each["stance"] for each in named} == {"supports"}
    assert all(each["document"] for each in named)


@with_options
def test_scores_beside_traces_give_the_scores_of_the_run(
    store: Store, tmp_path: Path, options: Mapping[str, object]
) -> None:
    run = save_run(store, options)
    exporter = RunExporter(store, RunExportRequest(run))
    scores = "".join(exporter.iter_results_for_other_tool("langfuse"))
    chats = [
        store.conversations.get(each.conversation)
        for each in store.runs.read_item_rows(store.runs.list_item_ids(run))
    ]
    files = {"traces": format_langfuse_traces(chats), "scores": scores}
    paths = [tmp_path / f"{name}.jsonl" for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    with Store.open(tmp_path / "langfuse.db") as into:
        found = import_files(into, paths, report=lambda _: None).files[0]
        (made,) = found.runs
        assert made.run is not None
        assert read_scores(into, made.run) == read_scores(store, run)


@with_options
@pytest.mark.parametrize("kind", ["ragas-rows", "llamaindex"])
def test_answers_score_as_their_results_say(
    store: Store, tmp_path: Path, kind: str, options: Mapping[str, object]
) -> None:
    run = save_run(store, options)
    into, result = export_and_import(store, run, kind, tmp_path)
    text = (tmp_path / "results.json").read_text(encoding="utf-8")
    rows = json.loads(text) if kind == "llamaindex" else map(json.loads, text.splitlines())
    with into:
        (made,) = [each for file in result.files for each in file.runs]
        assert made.run is not None
        found = read_scores(into, made.run)
    expected = {}
    for row in rows:
        said = row["faithtui"][0]
        score = row["score"] if kind == "llamaindex" else row[METRIC]
        expected[f"{said['source']}/{said['conversation']}:{said['turn']}"] = score
    assert found == expected
    assert len(set(expected.values())) > 2


@pytest.mark.parametrize("metric", ["ragas-faithfulness", "deepevalex-faithfulness"])
def test_an_imported_run_has_the_metric_that_it_had(
    store: Store, tmp_path: Path, metric: str
) -> None:
    run = save_run(store, {}, metric)
    into, result = export_and_import(store, run, "jsonl", tmp_path)
    with into:
        (made,) = [each for file in result.files for each in file.runs]
        assert (made.metric, made.options, made.why_defaults) == (metric, {}, None)
        assert made.run is not None
        found = read_scores(into, made.run)
    assert {name: read_scores(store, run)[name] for name in found} == found


def test_options_that_are_not_known_here_are_told(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "claims.jsonl"
    run = save_run(store, {"penalize_ambiguous_claims": True})
    exporter = RunExporter(store, RunExportRequest(run))
    exporter.write_jsonl_or_csv_file("claims", "jsonl", path, force=False)
    text = path.read_text(encoding="utf-8")
    for other, why in (
        (text.replace("window_size", "hind_sight"), "has no option `hind_sight`"),
        (text.replace(METRIC, "clairvoyance"), "there is no metric `clairvoyance`"),
    ):
        path.write_text(other, encoding="utf-8")
        with Store.open(tmp_path / f"{len(why)}.db") as into:
            (made,) = import_files(into, [path], report=lambda _: None).files[0].runs
            assert made.why_defaults is not None
            assert why in made.why_defaults
            assert (made.metric, made.options, made.are_options_missed) == (METRIC, None, True)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "state",
    [
        {"window": None, "state": "undefined"},
        {"window": None, "state": "paused"},
        {"window": None, "state": None},
        {"window": "first", "state": "failed"},
        {"window": 0, "state": "paused"},
        {"window": 0, "state": ["failed"], "surplus": 5},
    ],
    ids=json.dumps,
)
def test_a_state_that_nothing_here_can_be_in_is_left_out(
    store: Store, tmp_path: Path, state: Mapping[str, object]
) -> None:
    path = tmp_path / "claims.jsonl"
    exporter = RunExporter(store, RunExportRequest(save_run(store, {})))
    exporter.write_jsonl_or_csv_file("claims", "jsonl", path, force=False)
    rows = [json.loads(each) for each in path.read_text(encoding="utf-8").splitlines()]
    stores = {}
    for name, states in (("without", []), ("with", [{**state, "reason": "why"}])):
        text = [json.dumps({**row, "window_states": states}) for row in rows]
        path.write_text("\n".join(text), encoding="utf-8")
        with Store.open(tmp_path / f"{name}.db") as into:
            import_files(into, [path], report=lambda _: None)
            [run] = into.runs.list_runs()
            stores[name] = run.state, run.score, read_scores(into, run.id)
    assert stores["with"] == stores["without"]
    assert stores["with"][0] is RunState.DONE


def test_a_state_that_no_conversation_can_be_in_ends_no_run() -> None:
    window = _judgement_to_dict(ImportedWindow("j", state="paused", reason="why"))
    assert _choose_item_state([window]) == (ItemState.DONE, None)
    failed = _judgement_to_dict(ImportedWindow("j", state="failed", reason="why"))
    assert _choose_item_state([window, failed]) == (ItemState.FAILED, "why")


@pytest.mark.parametrize("kind", ["ragas-rows", "llamaindex", "deepeval"])
@pytest.mark.parametrize("state", [ItemState.SKIPPED, ItemState.FAILED])
def test_answers_that_were_not_judged_are_not_judged_when_they_come_back(
    store: Store, tmp_path: Path, kind: str, state: ItemState
) -> None:
    run = save_run(store, {})
    spec = store.runs.read_run(run).spec
    chats = [
        replace(make_conversation("one", answers=1), key=key) for key in ("judged", "not judged")
    ]
    run = store.runs.create(spec, sorted(imported(store, each) for each in chats))
    first, second = store.runs.list_item_ids(run)
    _judge(store, first, build(METRIC, {}), WORDS[:-1], 2)
    store.runs.score_and_finish_item(second, state, "no answer of the judge")
    into, result = export_and_import(store, run, kind, tmp_path)
    with into:
        [made] = result.files[0].runs
        assert made.run is not None
        assert made.conversations == 1, "there is no verdict on the other one"
        items = into.runs.read_item_rows(into.runs.list_item_ids(made.run))
        assert {each.key.split(":")[0].rpartition("/")[2]: each.state for each in items} == {
            "judged": ItemState.DONE,
            "not judged": state,
        }


def test_the_options_of_an_import_have_the_rules_that_scores_follow(
    store: Store, tmp_path: Path
) -> None:
    into, result = export_and_import(store, save_run(store, OPTIONS[1]), "jsonl", tmp_path)
    into.close()
    [made] = result.files[0].runs
    assert made.options == OPTIONS[1]


def test_two_runs_of_one_judge_with_other_options_stay_two(store: Store, tmp_path: Path) -> None:
    text = []
    for options in OPTIONS[2:4]:
        path = tmp_path / "one.jsonl"
        exporter = RunExporter(store, RunExportRequest(save_run(store, options)))
        exporter.write_jsonl_or_csv_file("claims", "jsonl", path, force=True)
        text.append(path.read_text(encoding="utf-8"))
    path = tmp_path / "both.jsonl"
    path.write_text("".join(text), encoding="utf-8")
    with Store.open(tmp_path / "both.db") as into:
        runs = import_files(into, [path], report=lambda _: None).files[0].runs
        assert [each.options for each in runs] == [{}, {"penalize_ambiguous_claims": True}]
        again = import_files(into, [path], report=lambda _: None).files[0].runs
        assert [each.run for each in again] == [None, None]
        means = [each.score for each in into.runs.list_runs()]
    assert sorted(map(str, means)) == sorted(str(each.score) for each in store.runs.list_runs())
