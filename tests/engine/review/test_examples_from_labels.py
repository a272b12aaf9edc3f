"""Examples of every metric: out of the store, and into a question of the same metric."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.ids import RunId
from faithtui.domain.judging.judge_examples import Example
from faithtui.domain.limits import NOTE
from faithtui.domain.scores import score_window
from faithtui.engine.dataset_import import import_files
from faithtui.engine.exports.ragas_annotations import collect_fully_reviewed_answers
from faithtui.engine.review.examples_from_labels import (
    ExampleRequest,
    collect_examples,
    read_stored_examples,
    store_examples_and_get_digest,
)
from faithtui.errors import ConfigError, StoreError
from faithtui.formats.example_files import example_lines, read_examples
from faithtui.formats.writers.ragas_annotations import format_annotations_json
from faithtui.metrics.prompt_examples import MOST_LETTERS, format_examples
from faithtui.metrics.registry import METRICS, MetricEntry, build
from faithtui.output_files import write_text
from faithtui.store.schema.storable_text import replace_unstorable_characters
from faithtui.store.store import Store
from tests.engine.building import label_claims, make_finished_run, store_with

each_metric = pytest.mark.parametrize("entry", METRICS, ids=lambda entry: str(entry.spec.key))
HOSTILE = Path(__file__).parents[3] / "fixtures" / "hostile" / "strings.json"
ALL = ExampleRequest(everything=True)

CONVERSATION = Conversation(
    "shop",
    "returns",
    (
        Turn("user", "Hello."),
        Turn("user", "How long can I return a parcel?"),
        Turn(
            "assistant",
            "A parcel can be returned within thirty days.",
            (Document("A parcel can be returned within thirty days."), Document("We are closed.")),
        ),
        Turn("user", "What does returning a parcel cost?"),
        Turn(
            "assistant",
            "Returning a parcel costs five euros.",
            (Document("Returning a parcel costs nine euros."), Document("We are closed.")),
        ),
        Turn("assistant", "Shipping a parcel is free.", (Document("Shipping a parcel is free."),)),
    ),
    "shop/returns",
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_with(tmp_path / "store.db", [CONVERSATION]) as found:
        yield found


def examples(store: Store, entry: MetricEntry) -> tuple[RunId, tuple[Example, ...]]:
    """Judge with the embedded judge, and let somebody call everything bad."""
    run = make_finished_run(store, metric=entry.spec.key)
    label_claims(store, run, lambda text: entry.spec.labels.names[1])
    return run, collect_examples(store, run, ALL).examples


@each_metric
def test_what_a_metric_judged_can_be_shown_to_it(store: Store, entry: MetricEntry) -> None:
    run, found = examples(store, entry)
    assert found
    assert {each.kind for each in found} == {entry.spec.judges}
    assert {each.verdict for each in found} == {entry.spec.labels.names[1]}
    assert build(entry.spec.key, {}, examples=found).spec is entry.spec
    assert read_stored_examples(store, store_examples_and_get_digest(store, found)) == found
    for each in found:
        assert each.passages
        assert bool(each.references) is (entry.spec.references is not None)
        assert (each.run, each.source, each.key, each.split) == (run, "shop", "returns", None)
        if each.kind == "statement":
            (passage,) = each.passages
            assert each.claim.rstrip(".") in passage


def test_an_answer_is_shown_with_the_message_before_it_and_the_passages_in_view(
    store: Store,
) -> None:
    _, found = examples(store, METRICS[0])
    early, late = found[0], found[-1]
    assert early.question == "Hello.\nHow long can I return a parcel?"
    assert early.passages == ("A parcel can be returned within thirty days.", "We are closed.")
    assert (late.turn, late.question) == (5, "What does returning a parcel cost?")
    assert len(late.passages) == 4, "what is in view twice stands there once"


def test_a_whole_answer_is_its_own_text(store: Store) -> None:
    (entry,) = (each for each in METRICS if each.spec.judges == "answer")
    _, found = examples(store, entry)
    assert found[0].claim == "A parcel can be returned within thirty days."


def test_the_words_of_another_metric_are_translated(store: Store) -> None:
    facts, inferred = METRICS[0], next(each for each in METRICS if each.spec.labels.names[0] == "1")
    run = make_finished_run(store, metric=inferred.spec.key)
    label_claims(store, run, lambda text: "idk", note="Not there.")
    found = collect_examples(store, run, ALL).examples
    assert {(each.verdict, each.note) for each in found} == {("0", "Not there.")}
    with pytest.raises(ConfigError, match="`0` means nothing to turn-faithfulness"):
        build(facts.spec.key, {}, examples=found)


def test_replies_to_one_message_are_one_answer_for_ragas(store: Store) -> None:
    run = make_finished_run(store)
    label_claims(store, run, lambda text: "no", code="verdict")
    found = collect_fully_reviewed_answers(store, run)
    assert (found.unfinished, found.unfair) == (0, 0)
    first, second = found.answers
    assert first.question == "Hello.\nHow long can I return a parcel?"
    assert second.answer == "Returning a parcel costs five euros.\nShipping a parcel is free."
    assert [each.human for each in second.statements] == [False, False]
    assert second.statements[-1].human_reason == "the facts were there and the judge misread them"


def test_what_annotators_are_evenly_split_on_is_no_example(store: Store) -> None:
    run = make_finished_run(store)
    label_claims(store, run, lambda text: "yes" if "cost" in text else "no")
    label_claims(store, run, lambda text: "no", reviewers=("bo",))
    found = collect_examples(store, run, ALL).examples
    assert found
    assert not any("cost" in each.claim for each in found)
    corrections = collect_examples(store, run, ExampleRequest()).examples
    assert {each.claim for each in corrections} <= {each.claim for each in found}
    assert collect_fully_reviewed_answers(store, run).unfinished == 1
    label_claims(store, run, lambda text: "yes" if "cost" in text else None, reviewers=("cy",))
    settled = collect_examples(store, run, ALL).examples
    assert {each.verdict for each in settled if "cost" in each.claim} == {"yes"}


def test_an_answer_that_is_reviewed_in_part_is_counted_and_left_out(store: Store) -> None:
    run = make_finished_run(store)
    label_claims(store, run, lambda text: "yes" if "cost" in text else None)
    found = collect_fully_reviewed_answers(store, run)
    assert (found.answers, found.unfinished, found.unfair) == ((), 1, 0)


def test_a_run_that_is_not_there_is_told(store: Store) -> None:
    with pytest.raises(StoreError, match="no run 9"):
        collect_examples(store, RunId(9), ALL)
    assert collect_examples(store, make_finished_run(store), ALL).examples == ()


def test_what_people_wrote_is_text_all_the_way(store: Store, tmp_path: Path) -> None:
    run = make_finished_run(store)
    path = tmp_path / "examples.jsonl"
    for each in json.loads(HOSTILE.read_text(encoding="utf-8"))["strings"]:
        text = each["repeat"] * each["times"] if each["text"] is None else each["text"]
        text = text[: NOTE.most]
        label_claims(store, run, lambda claim: "no" if "cost" in claim else None, note=text)
        (one,) = collect_examples(store, run, ALL).examples
        assert one.note == (replace_unstorable_characters(text) or None), each["id"]
        write_text(path, example_lines([one]), force=True)
        assert read_examples(path) == (one,), each["id"]
        written = format_examples([one], METRICS[0].spec)
        assert len(written) < 2 * MOST_LETTERS, each["id"]
        shown = written.splitlines()
        for beginning in ("<case", "Claim:", "Verdict:", "</"):
            assert sum(line.startswith(beginning) for line in shown) == 1, each["id"]


def test_answers_for_ragas_come_back_with_the_options_and_words_of_their_run(
    store: Store, tmp_path: Path
) -> None:
    """A judge says idk, which ragas cannot, and the run counts it as unfaithful."""
    run = make_finished_run(store, options={"penalize_ambiguous_claims": True, "window_size": 1})
    label_claims(store, run, lambda text: "yes")
    answers = collect_fully_reviewed_answers(store, run).answers
    path = tmp_path / "annotations.json"
    path.write_text(format_annotations_json(answers), encoding="utf-8")
    with Store.open(tmp_path / "back.db") as back:
        [file] = import_files(back, [path], report=lambda progress: None).files
        [imported] = file.runs
        assert imported.why_defaults is None
        assert not imported.are_options_missed
        assert imported.run is not None
        spec, own = back.runs.read_run(imported.run).spec, store.runs.read_run(run).spec
        assert (spec.metric, spec.options) == (own.metric, own.options)
        assert sorted(list_words(back, imported.run)) == sorted(list_words(store, run))
        rows = back.runs.read_item_rows(back.runs.list_item_ids(imported.run))
        expected = [
            score_window([said.verdict for said in each.statements], own.rule).value
            for each in answers
        ]
        assert [row.scores.windowed.value for row in rows if row.scores] == expected


def list_words(store: Store, run: RunId) -> list[tuple[str, str | None, str | None]]:
    """Each claim of a run with the judge's label and word."""
    return [
        (each.text, each.first_window_verdict.label, each.first_window_verdict.word)
        for item in store.runs.list_item_ids(run)
        for each in store.runs.read_conversation_for_review(item, "ann").claims
    ]
