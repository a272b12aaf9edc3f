"""A run as exports read it: complete, in order, with ids that hold in every store."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.domain.conversation import Document, Rating
from faithtui.domain.exported_conversation import ExportConversation
from faithtui.domain.ids import ItemId, RunId, SampleId
from faithtui.domain.labels.label_events import Action, Event, LabelMark, MarkedPassage
from faithtui.errors import StoreError
from faithtui.store.runs.export_reader import (
    select_conversation_character_counts,
    split_run_into_number_ranges,
)
from faithtui.store.store import Store
from tests.store.building import (
    FACTS,
    SPEC,
    assess,
    imported,
    judged,
    make_conversation,
    windows_of,
)

LABELS = {1: ("yes", "no"), 3: (None,)}


@pytest.fixture
def run(store: Store) -> RunId:
    rating = Rating(3, "zoe", "mtrag-faithfulness-1-4", "2", note="partly")
    spec = replace(SPEC, rule=FACTS)
    run, _ = judged(store, make_conversation("one", ratings=[rating]), LABELS, spec=spec)
    return run


def only(store: Store, run: RunId, *, every_window: bool = False) -> ExportConversation:
    (found,) = store.run_exports.read_conversations(run, every_window=every_window)
    return found


def test_a_conversation_comes_whole_and_in_order(store: Store, run: RunId) -> None:
    found = only(store, run)
    assert (found.source, found.key, found.state, found.score) == ("tests", "one", "done", None)
    assert [turn.content for turn in found.turns] == [
        each.content for each in make_conversation("one").turns
    ]
    assert found.turns[0].passages is None
    assert found.turns[1].passages is not None
    assert [each.text for each in found.turns[1].passages] == ["Fact 0."]
    assert [(each.turn, each.text, each.verdict) for each in found.claims] == [
        (1, "Claim 1.0", "yes"),
        (1, "Claim 1.1", "no"),
        (3, "Claim 3.0", None),
        (3, "Answer 1 of one.", None),
    ]
    assert [each.window for each in found.claims] == [0, 0, 1, None]
    assert [each.position for each in found.windows] == [0, 1]


def test_a_claim_has_what_it_was_judged_against_and_why(store: Store, run: RunId) -> None:
    first, _, late, _ = only(store, run).claims
    assert [each.text for each in first.passages] == ["Fact 0."]
    assert [each.source for each in first.passages] == ["a.md"]
    # The home window of a later claim has the documents of the answers before it in view.
    assert [each.text for each in late.passages] == ["Fact 0.", "Fact 1."]
    assert (first.word, first.reason) == ("yes", "because 1.0")
    (evidence,) = first.evidence
    assert (evidence.truth, evidence.stance) == ("Truth 1", "supports")
    assert evidence.document == first.passages[0].document


def test_an_imported_label_of_an_answer_comes_though_the_run_judged_claims(
    store: Store, run: RunId
) -> None:
    *_, answer = only(store, run).claims
    assert (answer.kind, answer.judged, answer.human) == ("answer", False, "no")
    (label,) = answer.labels
    assert (label.annotator, label.action, label.scale, label.raw_label, label.note) == (
        "zoe",
        Action.IMPORTED,
        "mtrag-faithfulness-1-4",
        "2",
        "partly",
    )
    assert label.at is not None


def test_one_text_from_two_sources_is_two_passages(store: Store) -> None:
    plain = make_conversation("two")
    turns = list(plain.turns)
    turns[1] = replace(
        turns[1], retrieval_context=(Document("Fact 0.", "a.md"), Document("Fact 0.", "b.md"))
    )
    run, _ = judged(store, replace(plain, turns=tuple(turns)), LABELS)
    found = only(store, run)
    expected = [("Fact 0.", "a.md"), ("Fact 0.", "b.md")]
    assert found.turns[1].passages is not None
    for passages in (found.turns[1].passages, found.claims[0].passages):
        assert [(each.text, each.source) for each in passages] == expected


def test_labels_of_all_annotators_come_as_they_stand(store: Store, run: RunId) -> None:
    (item,) = store.runs.list_item_ids(run)
    first, second, _ = store.runs.read_conversation_for_review(item, "ann").claims
    store.label_log.record_verdict(first.id, "ann", "no", run=run, saw_judge=False)
    store.label_log.append_label_events_as_one_step(
        [Event(None, first.id, "ann", Action.NOTED, note="hm", run=run)]
    )
    store.label_log.record_verdict(first.id, "ben", "yes", run=run, saw_judge=True)
    store.label_log.record_verdict(second.id, "ann", "x", run=run, saw_judge=True)
    store.label_log.undo("ann")
    found = only(store, run).claims
    ann, ben = sorted(found[0].labels, key=lambda each: each.annotator)
    assert (ann.label, ann.note, ann.saw_judge, ann.is_counted) == ("no", "hm", False, True)
    assert (ben.label, ben.saw_judge, ben.judge_verdict) == ("yes", True, "yes")
    assert (found[0].tied, found[0].human) == (True, None)
    assert found[1].labels == ()


def test_marked_evidence_without_a_label_has_a_name_and_its_words(store: Store, run: RunId) -> None:
    (item,) = store.runs.list_item_ids(run)
    first = store.runs.read_conversation_for_review(item, "ann").claims[0]
    document = only(store, run).claims[0].passages[0].document
    mark = MarkedPassage(document, 0, 4)
    store.label_log.append_label_events_as_one_step(
        [Event(None, first.id, "ann", Action.EVIDENCE, run=run, evidence=(mark,))]
    )
    (label,) = only(store, run).claims[0].labels
    assert (label.label, label.is_counted) == (None, False)
    assert [each.text for each in label.evidence] == ["Fact"]
    assert label.id == only(store, run).claims[0].labels[0].id != ""


def test_ids_hold_in_another_store(store: Store, run: RunId, path: Path) -> None:
    found = only(store, run)
    copy = path.with_name("copy.db")
    with Store.open(copy) as other:
        imported(other, make_conversation("before"))  # so that numbers differ
        there, _ = judged(other, make_conversation("one"), LABELS, spec=replace(SPEC, rule=FACTS))
        again = only(other, there)
    assert again.id == found.id
    assert [each.id for each in again.claims] == [each.id for each in found.claims[:3]]
    assert len({each.id for each in found.claims}) == len(found.claims)
    store.close()
    shutil.copy(path, copy)
    with Store.open(copy) as other:
        assert (
            other.run_exports.read_run_description(run).id
            == other.run_exports.read_run_description(run).id
        )


def test_every_window_has_all_its_verdicts_where_they_are_wanted(store: Store, run: RunId) -> None:
    assert [each.verdicts for each in only(store, run).windows] == [(), ()]
    first, second = only(store, run, every_window=True).windows
    assert [each.claim for each in first.verdicts] == ["Claim 1.0", "Claim 1.1"]
    assert [each.claim for each in second.verdicts] == ["Claim 1.0", "Claim 1.1", "Claim 3.0"]
    assert second.truths == ("Truth 1", "Truth 3")


def draw(store: Store, run: RunId, size: int, name: str) -> SampleId:
    frame = store.samples.read_frame(run, ())
    plan = SamplePlan(SamplingDesign.SIMPLE, 1, size)
    return store.samples.save_draw_as_sample(
        run, "ann", make_sample_draw(frame, plan), plan, name=name
    ).id


def test_weights_are_of_the_sample_with_the_most_labels(store: Store, run: RunId) -> None:
    assert store.run_exports.read_run_description(run).sample is None
    assert all(each.probability is None for each in only(store, run).claims)
    small = draw(store, run, 1, "small")
    (entry,) = store.samples.list_claims_in_served_order(small, "ann")
    store.label_log.record_verdict(entry.claim, "ann", "no", run=run, saw_judge=False)
    all_of_it = draw(store, run, 2, "larger")
    store.label_log.record_verdict(
        store.samples.list_claims_in_served_order(all_of_it, "ann")[1].claim,
        "ann",
        "no",
        run=run,
        saw_judge=False,
    )
    chosen = store.run_exports.read_run_description(run).sample
    assert store.run_exports.read_run_description(run, small).sample == "small"
    drawn = [
        each.probability
        for each in next(store.run_exports.read_conversations(run, sample_id=small)).claims
        if each.probability is not None
    ]
    assert drawn == [pytest.approx(1 / 3)]
    assert chosen == "larger"


def test_what_is_not_there_is_refused(store: Store, run: RunId) -> None:
    with pytest.raises(StoreError, match="no run 9"):
        store.run_exports.read_run_description(RunId(9))
    with pytest.raises(StoreError, match="no run 9"):
        next(store.run_exports.read_conversations(RunId(9)))
    with pytest.raises(StoreError, match="no sample 4"):
        store.run_exports.read_run_description(run, SampleId(4))


def test_a_run_of_many_parts_is_read_as_of_one(store: Store) -> None:
    chats = [make_conversation(f"t{number:03}", answers=1) for number in range(205)]
    run = store.runs.create(SPEC, [imported(store, each) for each in chats[:1]])
    store.conversations.import_batch(chats)
    run = store.runs.create(SPEC, store.conversations.list_ids())
    for item, each in list(zip(store.runs.list_item_ids(run), chats, strict=True))[198:202]:
        save(store, item, each.key)
    found = list(store.run_exports.read_conversations(run))
    assert [each.number for each in found] == list(range(1, 206))
    assert [each.key for each in found if each.claims] == ["t198", "t199", "t200", "t201"]


def save(store: Store, item: ItemId, key: str) -> None:
    (window,) = windows_of(make_conversation(key, answers=1))
    store.runs.save_window(item, assess(window, {1: ("yes",)}))


def test_the_size_of_a_conversation_is_that_of_its_messages_and_documents(
    store: Store, run: RunId
) -> None:
    turns = make_conversation("one").turns
    texts = [each.content for each in turns]
    texts += [one.text for each in turns for one in each.retrieval_context or ()]
    with store.run_exports._database.open_reader() as connection:
        sizes = connection.execute(select_conversation_character_counts(run)).all()
    assert [tuple(each) for each in sizes] == [(1, sum(map(len, texts)))]


@given(sizes=st.lists(st.integers(0, 9_000_000) | st.just(99), max_size=400))
def test_parts_hold_everything_once_and_no_more_than_they_may(sizes: Sequence[int]) -> None:
    items = [(number * 2, size) for number, size in enumerate(sizes, start=1)]
    parts = list(split_run_into_number_ranges(items))
    held = [[each for each in items if first <= each[0] <= last] for first, last in parts]
    assert [each for part in held for each in part] == items
    assert all(last < first for (_, last), (first, _) in pairwise(parts))
    for part in held:
        assert 1 <= len(part) <= 200
        assert len(part) == 1 or sum(size for _, size in part) <= 16_000_000


def test_a_missed_claim_and_a_complete_answer_say_so_without_a_label(
    store: Store, run: RunId
) -> None:
    (item,) = store.runs.list_item_ids(run)
    missed = store.missed_claims.find_or_add_missed_claim(item, 1, "The fee is nothing.")
    answer = store.missed_claims.find_or_add_answer_claim(item, 1)
    for claim, mark in ((missed, LabelMark.MISSED), (answer, LabelMark.COMPLETE)):
        store.label_log.append_label_events_as_one_step(
            [Event(None, claim, "ann", Action.MARKED, mark=mark, run=run)]
        )
    conversation = only(store, run)
    said = {
        (claim.kind, claim.turn): [(each.label, each.declared) for each in claim.labels]
        for claim in conversation.claims
        if claim.labels
    }
    assert said == {
        ("claim", 1): [(None, "missed")],
        ("answer", 1): [(None, "complete")],
        ("answer", 3): [("no", None)],
    }
