"""One conversation as every metric and judge sees it."""

from dataclasses import replace

import pytest
from sqlalchemy import event

from faithtui.domain.conversation import Conversation, Document, Rating, Turn
from faithtui.domain.ids import ClaimId, ConversationId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.scores import ScoreState, make_empty_score, make_score
from faithtui.errors import StoreError
from faithtui.store.records import ComparisonCell, ItemState
from faithtui.store.runs.metric_comparison import read_conversation_across_runs
from faithtui.store.store import Store
from tests.store.building import (
    FACTS,
    INFERRED,
    SUPPORTED,
    judged,
    make_conversation,
    said,
    spec_of,
)
from tests.store.runs.test_claim_kinds import answer, claim, statement

FACT_RUN = spec_of("turn-faithfulness", FACTS)
INFERENCE_RUN = spec_of("ragas-faithfulness", INFERRED)
SUPPORT_RUN = spec_of("llamaindex-faithfulness", SUPPORTED)
FAILED = make_empty_score(ScoreState.FAILED, "JudgeTimeout: late")


def only(store: Store) -> ConversationId:
    (number,) = store.conversations.list_ids()
    return number


def override(store: Store, claim_id: ClaimId, word: str) -> None:
    store.label_log.append_label_event(
        claim_id, "me", Action.OVERRIDDEN, word, run=None, judge_verdict=None, saw_judge=True
    )


def test_every_metric_has_a_cell_for_every_answer(store: Store) -> None:
    rated = make_conversation(ratings=[Rating(1, "ann", "mtrag-faithfulness-1-4", "1")])
    facts, item = said(
        store, rated, FACT_RUN, {1: [claim("yes"), claim("no", "Not so.")], 3: []}, size=10
    )
    inferred, _ = said(
        store, rated, INFERENCE_RUN, {1: [claim("1"), claim(None, "Not so.")], 3: []}
    )
    support, _ = said(store, rated, SUPPORT_RUN, {1: [answer("yes")], 3: [answer("no", 3)]})
    override(store, store.runs.read_conversation_for_review(item, "me").claims[1].id, "yes")
    view = store.runs.read_conversation_across_runs(only(store))
    assert (view.source, view.key) == ("tests", "one")
    assert [each.run.id for each in view.runs] == [facts, inferred, support]
    assert [each.item.conversation for each in view.runs] == [view.conversation] * 3
    one, two = view.answers
    assert (one.turn, one.content, one.human) == (1, "Answer 0 of one.", "no")
    assert one.cells == (
        ComparisonCell(make_score(0.5), {"yes": 1, "no": 1}, 0, make_score(1.0), 1),
        ComparisonCell(
            make_empty_score(ScoreState.INCOMPLETE, "1 of 2 claims have no verdict"),
            {"1": 1},
            1,
            make_score(1.0),
            1,
        ),
        ComparisonCell(make_score(1.0), {"yes": 1}, 0, make_score(0.0), 1),
    )
    undefined = make_empty_score(ScoreState.UNDEFINED, "nothing was judged")
    assert (two.turn, two.human) == (3, None)
    assert two.cells == (
        ComparisonCell(make_score(1.0), {}, 0, make_score(1.0)),
        ComparisonCell(undefined, {}, 0, undefined),
        ComparisonCell(make_score(0.0), {"no": 1}, 0, make_score(0.0)),
    )


def test_the_newest_run_of_each_metric_and_judge_speaks(store: Store) -> None:
    judged(store, make_conversation(), {1: ["no"]}, spec=FACT_RUN)
    newer, _ = judged(store, make_conversation(), {1: ["yes"]}, spec=FACT_RUN)
    other, _ = judged(
        store, make_conversation(), {1: ["idk"]}, spec=replace(FACT_RUN, judge="openai:a")
    )
    judged(store, make_conversation(), {}, spec=FACT_RUN, finish=None)
    judged(store, make_conversation(), {}, spec=FACT_RUN, finish=ItemState.SKIPPED)
    view = store.runs.read_conversation_across_runs(only(store))
    assert [each.run.id for each in view.runs] == [newer, other]
    assert [cell and cell.labels for cell in view.answers[0].cells] == [{"yes": 1}, {"idk": 1}]


def test_the_run_it_is_opened_from_stands_for_its_metric_and_judge(store: Store) -> None:
    older, _ = judged(store, make_conversation(), {1: ["no"]}, spec=FACT_RUN)
    judged(store, make_conversation(), {1: ["yes"]}, spec=FACT_RUN)
    other, _ = judged(
        store, make_conversation(), {1: ["idk"]}, spec=replace(FACT_RUN, judge="openai:a")
    )
    view = store.runs.read_conversation_across_runs(only(store), older)
    assert [each.run.id for each in view.runs] == [older, other]
    assert [cell and cell.labels for cell in view.answers[0].cells] == [{"no": 1}, {"idk": 1}]


def test_a_failed_or_skipped_answer_keeps_its_state(store: Store) -> None:
    skipped = make_empty_score(ScoreState.SKIPPED, "no contexts")
    said(
        store,
        make_conversation(answers=3),
        INFERENCE_RUN,
        {5: [claim("1", turn=5)]},
        scores={0: FAILED, 1: skipped},
        finish=ItemState.FAILED,
    )
    cells = [
        each.cells[0] for each in store.runs.read_conversation_across_runs(only(store)).answers
    ]
    assert cells == [
        ComparisonCell(FAILED, {}, 0, FAILED),
        ComparisonCell(skipped, {}, 0, skipped),
        ComparisonCell(make_score(1.0), {"1": 1}, 0, make_score(1.0)),
    ]


def test_an_answer_of_several_turns_is_shown_at_the_turn_it_was_judged_at(store: Store) -> None:
    turns = (Turn("user", "q"), Turn("assistant", "a"), Turn("assistant", "and b"))
    conversation = Conversation("tests", "one", turns, "one")
    said(store, conversation, SUPPORT_RUN, {2: [answer("yes", 2)]})
    cells = [each.cells for each in store.runs.read_conversation_across_runs(only(store)).answers]
    assert cells == [(None,), (ComparisonCell(make_score(1.0), {"yes": 1}, 0, make_score(1.0)),)]


def test_a_conversation_that_failed_before_any_window_has_no_cells(store: Store) -> None:
    run = store.runs.create(SUPPORT_RUN, [_imported(store)])
    (item,) = store.runs.list_item_ids(run)
    store.runs.score_and_finish_item(item, ItemState.FAILED, "ImagesNotSupported: no eyes")
    view = store.runs.read_conversation_across_runs(only(store))
    assert [each.item.reason for each in view.runs] == ["ImagesNotSupported: no eyes"]
    assert [each.cells for each in view.answers] == [(None,), (None,)]


def _imported(store: Store) -> ConversationId:
    store.conversations.import_batch([make_conversation()])
    return only(store)


def test_claims_are_counted_once_by_the_label_of_their_first_window(store: Store) -> None:
    _, item = judged(store, make_conversation(answers=3), {1: ["yes", "idk"]}, spec=FACT_RUN)
    view = store.runs.read_conversation_across_runs(only(store))
    assert view.answers[0].cells == (
        ComparisonCell(make_score(1.0), {"yes": 1, "idk": 1}, 0, make_score(1.0)),
    )
    assert store.runs.read_item_rows([item])[0].windows == 3


def test_a_peers_missing_verdicts_leave_an_answer_without_a_score(store: Store) -> None:
    spec = replace(FACT_RUN, rule=replace(FACTS, as_peer=True))
    said(store, make_conversation(), spec, {1: [claim("yes"), claim(None, "And?")]})
    cell = store.runs.read_conversation_across_runs(only(store)).answers[0].cells[0]
    assert cell is not None
    assert cell.score.state is ScoreState.INCOMPLETE


def test_statements_are_counted_at_every_answer_that_has_their_document(store: Store) -> None:
    documents = (Document("Shared."),)
    conversation = Conversation(
        "tests",
        "one",
        (
            Turn("user", "q"),
            Turn("assistant", "a", documents),
            Turn("user", "r"),
            Turn("assistant", "b", documents),
        ),
        group="one",
    )
    first, later = (statement(label, "So.", "Shared.") for label in ("no", "yes"))
    said(store, conversation, spec_of("relevancy", FACTS), {1: [first], 3: [later, later]})
    one, two = store.runs.read_conversation_across_runs(only(store)).answers
    assert [cell and cell.labels for cell in (*one.cells, *two.cells)] == [{"no": 1}, {"yes": 1}]


def test_a_conversation_without_runs_or_answers_is_compared_all_the_same(store: Store) -> None:
    store.conversations.import_batch([Conversation("tests", "one", (Turn("user", "q"),), "one")])
    view = store.runs.read_conversation_across_runs(only(store))
    assert (view.runs, view.answers) == ((), ())
    with pytest.raises(StoreError, match="no conversation 99"):
        store.runs.read_conversation_across_runs(ConversationId(99))


@pytest.mark.thorough
def test_a_long_conversation_is_compared_with_as_few_queries_as_a_short_one(store: Store) -> None:
    counts = []
    for answers in (1, 50):
        conversation = make_conversation(str(answers), answers=answers)
        verdicts = {turn: [claim("yes", turn=turn)] for turn in range(1, 2 * answers, 2)}
        for spec in (FACT_RUN, INFERENCE_RUN, SUPPORT_RUN):
            said(store, conversation, spec, verdicts)
        asked: list[str] = []
        connection = store._database._readers._engine.connect()
        event.listen(
            connection, "before_cursor_execute", lambda *call, to=asked: to.append(call[2])
        )
        with connection:
            view = read_conversation_across_runs(connection, store.conversations.list_ids()[-1])
        assert len(view.answers) == answers
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 13
