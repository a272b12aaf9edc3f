"""What gets a verdict besides claims of answers, and one person's word under several metrics."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faithtui.agreement.labelled_units import DesignKind
from faithtui.domain.claims.verdicts import Claim, Verdict
from faithtui.domain.conversation import Conversation, Document, LabelRecord, Rating, Span, Turn
from faithtui.domain.filters import parse_filter
from faithtui.domain.ids import ClaimId, RunId
from faithtui.domain.labels.label_events import TIE, Action
from faithtui.domain.labels.label_sets import FAITHFULNESS, INFERENCE, NOT_A_CLAIM
from faithtui.domain.scores import ScoreState, ScoringRule, make_empty_score, make_score
from faithtui.store.schema.json_columns import scoring_rule_from_json, scoring_rule_to_json
from faithtui.store.search.filter_search import make_filter_context
from faithtui.store.store import Store
from tests.store.building import (
    FACTS,
    INFERRED,
    RELEVANT,
    RULE,
    SPEC,
    SUPPORTED,
    judged,
    make_conversation,
    said,
    spec_of,
)

MTRAG = "mtrag-faithfulness-1-4"

FACT_RUN = spec_of("turn-faithfulness", FACTS)
INFERENCE_RUN = spec_of("ragas-faithfulness", INFERRED)
RELEVANCE_RUN = spec_of("turn-contextual-relevancy", RELEVANT)
SUPPORT_RUN = spec_of("llamaindex-faithfulness", SUPPORTED)


def claim(label: str | None, text: str = "It is so.", turn: int = 1) -> Verdict:
    return Verdict(Claim(turn, text), label)


def statement(
    label: str | None, text: str, document: str, turn: int = 1, span: Span | None = None
) -> Verdict:
    return Verdict(Claim(turn, text, span, "statement", document), label)


def answer(label: str | None, turn: int = 1, text: str = "Answer 0 of one.") -> Verdict:
    return Verdict(Claim(turn, text, kind="answer"), label)


def say(
    store: Store,
    claim_id: ClaimId,
    verdict: str,
    who: str = "me",
    run: RunId | None = None,
    action: Action = Action.OVERRIDDEN,
    judge: str | None = None,
) -> None:
    store.label_log.append_label_event(
        claim_id, who, action, verdict, run=run, judge_verdict=judge, saw_judge=True
    )


def test_a_statement_belongs_to_its_document(store: Store) -> None:
    conversation = Conversation(
        "tests",
        "one",
        (
            Turn("user", "q"),
            Turn("assistant", "a", (Document("First."), Document("Second."))),
        ),
        group="one",
    )
    _, item = said(
        store,
        conversation,
        RELEVANCE_RUN,
        {
            1: [
                statement("yes", "The same.", "Second.", span=Span(0, 6)),
                statement("no", "The same.", "First."),
                statement("no", " the SAME. ", "First."),
                statement("yes", "Elsewhere.", "A text that nobody retrieved."),
            ]
        },
    )
    claims = store.runs.read_conversation_for_review(item, "me").claims
    assert [(each.kind, each.text, each.document, each.span) for each in claims] == [
        ("statement", "The same.", 2, Span(0, 6)),
        ("statement", "The same.", 1, None),
        ("statement", "Elsewhere.", None, None),
    ]


def test_a_statement_is_not_the_claim_with_the_same_words(store: Store) -> None:
    _, first = said(store, make_conversation(), FACT_RUN, {1: [claim("yes")]})
    _, second = said(
        store, make_conversation(), RELEVANCE_RUN, {1: [statement("no", "It is so.", "Fact 0.")]}
    )
    (one,), (two,) = (
        store.runs.read_conversation_for_review(item, "me").claims for item in (first, second)
    )
    assert one.id != two.id
    say(store, one.id, "no")
    assert store.runs.read_conversation_for_review(second, "me").claims[0].human is None


def test_statements_are_shared_by_runs(store: Store) -> None:
    verdicts = {1: [statement("yes", "So.", "Fact 0.")]}
    _, first = said(store, make_conversation(), RELEVANCE_RUN, verdicts)
    _, second = said(store, make_conversation(), RELEVANCE_RUN, verdicts)
    (one,), (two,) = (
        store.runs.read_conversation_for_review(item, "me").claims for item in (first, second)
    )
    assert one.id == two.id


def test_a_verdict_on_an_answer_and_its_imported_rating_are_about_one_claim(store: Store) -> None:
    rated = make_conversation(ratings=[Rating(1, "ann", MTRAG, "1")])
    run, item = said(store, rated, SUPPORT_RUN, {1: [answer("yes")], 3: [answer("no", 3)]})
    one, two = store.runs.read_conversation_for_review(item, "me").claims
    assert (one.kind, one.turn, one.text, one.human) == ("answer", 1, "Answer 0 of one.", "no")
    assert (two.kind, two.turn, two.text, two.human) == ("answer", 3, "Answer 1 of one.", None)
    assert [each.reviewer for each in one.others] == ["ann"]
    (row,) = store.runs.read_item_rows([item])
    assert (row.claims, row.labelled, row.overridden) == (2, 1, 1)
    assert row.corrected is not None
    assert row.corrected.pooled == make_score(0.0)
    assert store.runs.read_run(run).labelled == 1


def test_a_rating_that_comes_later_finds_the_judged_answer(store: Store) -> None:
    _, item = said(store, make_conversation(), SUPPORT_RUN, {1: [answer("yes")]})
    store.conversations.import_batch([make_conversation(ratings=[Rating(1, "ann", MTRAG, "1")])])
    (row,) = store.runs.read_item_rows([item])
    assert (row.labelled, row.overridden) == (1, 1)
    assert store.conversations.get(row.conversation).ratings == (Rating(1, "ann", MTRAG, "1"),)


def test_one_persons_word_is_heard_by_every_metric_in_its_own_words(store: Store) -> None:
    _, facts = said(store, make_conversation(), FACT_RUN, {1: [claim("yes")]})
    _, inferred = said(store, make_conversation(), INFERENCE_RUN, {1: [claim("1")]})
    (one,) = store.runs.read_conversation_for_review(facts, "me").claims
    say(store, one.id, "idk")
    views = [store.runs.read_conversation_for_review(item, "me") for item in (facts, inferred)]
    assert [view.claims[0].human for view in views] == ["idk", "0"]
    assert [view.claims[0].mine and view.claims[0].mine.verdict for view in views] == ["idk", "idk"]
    assert [view.item.overridden for view in views] == [1, 1]
    assert [view.windows[0].corrected.value for view in views] == [1.0, 0.0]
    say(store, one.id, "yes")
    rows = store.runs.read_item_rows([facts, inferred])
    assert [(row.labelled, row.overridden) for row in rows] == [(1, 0), (1, 0)]


def test_words_are_translated_before_people_are_counted(store: Store) -> None:
    run, item = said(store, make_conversation(), INFERENCE_RUN, {1: [claim("1")]})
    (one,) = store.runs.read_conversation_for_review(item, "me").claims
    for who, word in (("a", "yes"), ("b", "1"), ("c", "no"), ("d", "idk"), ("e", "0")):
        say(store, one.id, word, who)
    assert store.runs.read_conversation_for_review(item, "me").claims[0].human == "0"
    assert [each.human for each in store.labelled_units.read_claim_units(run)] == ["0"]


def test_a_tie_overrides_nothing_until_it_is_settled(store: Store) -> None:
    run, item = said(store, make_conversation(), INFERENCE_RUN, {1: [claim("1")]})
    (one,) = store.runs.read_conversation_for_review(item, "me").claims
    say(store, one.id, "1", "ann")
    say(store, one.id, "0", "bob")
    view = store.runs.read_conversation_for_review(item, "me")
    assert (view.claims[0].human, view.item.labelled, view.item.overridden) == (TIE, 1, 0)
    assert view.item.corrected == view.item.scores

    def count(text: str) -> int:
        wanted = parse_filter(text, make_filter_context(store.runs.read_run(run).spec.rule)).filter
        return len(store.search.list_matching_items(run, wanted))

    assert (count("is:labelled"), count("is:agreement"), count("is:disagreement")) == (1, 0, 0)
    say(store, one.id, "0", "cy")
    view = store.runs.read_conversation_for_review(item, "me")
    assert (view.claims[0].human, view.item.overridden) == ("0", 1)
    assert count("is:disagreement") == 1


def test_a_word_without_a_meaning_here_is_no_review_and_is_told_as_it_was(store: Store) -> None:
    run, item = said(
        store, make_conversation(), RELEVANCE_RUN, {1: [statement("yes", "So.", "Fact 0.")]}
    )
    (one,) = store.runs.read_conversation_for_review(item, "me").claims
    say(store, one.id, "idk")
    view = store.runs.read_conversation_for_review(item, "me")
    assert (view.claims[0].human, view.item.labelled, view.item.overridden) == (None, 0, 0)
    assert view.item.corrected == view.item.scores
    (reading,) = store.labelled_units.read_claim_units(run)
    assert (reading.human, reading.reviewers) == ("idk", 1)
    say(store, one.id, "no", "bob")
    (reading,) = store.labelled_units.read_claim_units(run)
    assert (reading.human, reading.reviewers) == ("no", 2)


def test_no_fair_claim_is_none_under_any_metric(store: Store) -> None:
    _, item = said(
        store, make_conversation(), INFERENCE_RUN, {1: [claim("1"), claim("0", "And so.")]}
    )
    first, second = store.runs.read_conversation_for_review(item, "me").claims
    say(store, second.id, NOT_A_CLAIM)
    view = store.runs.read_conversation_for_review(item, "me")
    assert [each.human for each in view.claims] == [None, NOT_A_CLAIM]
    assert view.item.corrected is not None
    assert view.item.corrected.pooled == make_score(1.0)
    assert first.id != second.id


def test_statements_are_read_like_claims(store: Store) -> None:
    run, item = said(
        store,
        make_conversation(),
        RELEVANCE_RUN,
        {
            1: [statement("yes", "One.", "Fact 0."), statement(None, "Two.", "Fact 0.")],
            3: [statement("no", "Three.", "Fact 1.", 3)],
        },
    )
    say(
        store,
        store.runs.read_conversation_for_review(item, "me").claims[0].id,
        "no",
        run=run,
        judge="yes",
    )
    found = [
        (each.text, each.judge, each.human, each.blind)
        for each in store.labelled_units.read_claim_units(run)
    ]
    assert found == [
        ("One.", "yes", "no", False),
        ("Two.", None, None, None),
        ("Three.", "no", None, None),
    ]


def test_ratings_of_answers_say_nothing_about_statements(store: Store) -> None:
    rated = make_conversation(ratings=[Rating(1, "ann", MTRAG, "4")])
    relevance, _ = said(store, rated, RELEVANCE_RUN, {1: [statement("yes", "So.", "Fact 0.")]})
    facts, _ = said(store, rated, FACT_RUN, {1: [claim("yes")]})
    assert store.labelled_units.read_rated_answer_units(relevance) == ()
    assert [each.turn for each in store.labelled_units.read_rated_answer_units(facts)] == [1]


def test_people_rate_answers_in_the_words_of_the_run(store: Store) -> None:
    rated = make_conversation(
        answers=3, ratings=[Rating(1, "ann", MTRAG, "4"), Rating(3, "ann", MTRAG, "1")]
    )
    run, _ = said(store, rated, INFERENCE_RUN, {1: [claim("1")], 3: [claim("1", turn=3)]})
    assert [
        (each.human, each.score) for each in store.labelled_units.read_rated_answer_units(run)
    ] == [
        ("1", make_score(1.0)),
        ("0", make_score(1.0)),
    ]


def test_a_judged_answer_is_read_once_at_each_level_and_never_with_itself(store: Store) -> None:
    rated = make_conversation(answers=2, ratings=[Rating(1, "ann", MTRAG, "1")])
    run, item = said(store, rated, SUPPORT_RUN, {1: [answer("yes")], 3: [answer("yes", 3)]})
    assert [
        (each.text, each.judge, each.human) for each in store.labelled_units.read_claim_units(run)
    ] == [
        ("Answer 0 of one.", "yes", "no"),
        ("Answer 1 of one.", "yes", None),
    ]
    (reading,) = store.labelled_units.read_rated_answer_units(run)
    assert (reading.human, reading.score, reading.passes) == ("no", make_score(1.0), True)
    assert (reading.claims, reading.raters, reading.rating) == (1, 1, 0.0)
    second = store.runs.read_conversation_for_review(item, "me").claims[1]
    say(store, second.id, "no", run=run, judge="yes")
    assert [
        (each.human, each.raters) for each in store.labelled_units.read_rated_answer_units(run)
    ] == [
        ("no", 1),
        ("no", 1),
    ]
    store.label_log.undo("me")
    assert len(store.labelled_units.read_rated_answer_units(run)) == 1


@pytest.mark.parametrize("record", [None, LabelRecord(Action.ADJUDICATED)])
def test_ratings_that_came_with_the_data_are_no_census_of_judged_answers(
    store: Store, record: LabelRecord | None
) -> None:
    rating = Rating(1, "ann", MTRAG, "4", record=record)
    rated = make_conversation(answers=1, ratings=[rating])
    run, _ = said(store, rated, SUPPORT_RUN, {1: [answer("yes")]})
    assert store.labelled_units.read_report_units(run).design.kind is DesignKind.CONVENIENCE
    here, item = said(store, make_conversation("two", answers=1), SUPPORT_RUN, {1: [answer("yes")]})
    (one,) = store.runs.read_conversation_for_review(item, "me").claims
    say(store, one.id, "yes", run=here, judge="yes")
    assert store.labelled_units.read_report_units(here).design.kind is DesignKind.CENSUS


def test_an_answer_nobody_should_be_judged_on_neither_passes_nor_fails(store: Store) -> None:
    run, item = said(store, make_conversation(), SUPPORT_RUN, {1: [answer("yes")]})
    (one,) = store.runs.read_conversation_for_review(item, "me").claims
    say(store, one.id, NOT_A_CLAIM)
    (reading,) = store.labelled_units.read_rated_answer_units(run)
    assert (reading.human, reading.raters) == (None, 1)


def test_an_answer_that_was_skipped_has_no_score(store: Store) -> None:
    rated = make_conversation(ratings=[Rating(1, "ann", MTRAG, "1")])
    missing = make_empty_score(ScoreState.SKIPPED, "no contexts")
    run, _ = said(store, rated, SUPPORT_RUN, {3: [answer("yes", 3)]}, scores={0: missing})
    (reading,) = store.labelled_units.read_rated_answer_units(run)
    assert (reading.score, reading.passes, reading.claims) == (missing, None, 0)
    assert store.run_contents.count_windows_without_claims(run) == 0


words = st.sampled_from(["yes", "no", "idk", "x", "1", "0", "borderline", "maybe"])


@pytest.mark.thorough
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 2), words), max_size=5))
def test_what_people_say_is_the_same_in_lists_review_and_readings(
    store: Store, acts: list[tuple[int, str]]
) -> None:
    key = f"k{store.conversations.count()}"
    labels = ["1", "0", None]
    verdicts = {1: [claim(label, f"Claim {place}") for place, label in enumerate(labels)]}
    run, item = said(store, make_conversation(key), INFERENCE_RUN, verdicts)
    ids = [each.id for each in store.runs.read_conversation_for_review(item, "me").claims]
    for who, (place, word) in enumerate(acts):
        say(store, ids[place], word, f"p{who}")
    view = store.runs.read_conversation_for_review(item, "me")
    human = [each.human for each in view.claims]
    known = {*INFERENCE.names, NOT_A_CLAIM, TIE}
    assert {word for word in human if word} <= known
    assert view.item.labelled == sum(word is not None for word in human)
    assert view.item.overridden == sum(
        word not in (None, TIE, label) for word, label in zip(human, labels, strict=True)
    )
    readings = [each.human for each in store.labelled_units.read_claim_units(run)]
    heard = [each if each in known else None for each in readings]
    assert [
        TIE if word == TIE and each else each for each, word in zip(heard, human, strict=True)
    ] == human


@pytest.mark.parametrize("rule", [RULE, FACTS, INFERRED, RELEVANT, SUPPORTED])
def test_a_run_remembers_its_rule(store: Store, rule: ScoringRule) -> None:
    run, _ = judged(store, make_conversation(), {}, spec=replace(SPEC, rule=rule))
    assert store.runs.read_run(run).spec.rule == rule


def test_a_rule_written_before_labels_were_named_is_of_three_way_faithfulness() -> None:
    stored = scoring_rule_to_json(FACTS)
    del stored["labels"], stored["synonyms"]
    assert scoring_rule_from_json(stored) == FACTS
    assert scoring_rule_from_json(scoring_rule_to_json(FACTS)).labels == FAITHFULNESS.names
