"""Everything a report on a run is computed from: states, duplicates, scores, pairs."""

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faithtui.agreement.labelled_units import (
    ClaimUnit,
    Duplicates,
    LabelState,
    PairedClaim,
    PairedClaims,
    ScoredUnit,
    UnitScores,
    UnitSettings,
)
from faithtui.domain.conversation import Conversation, Rating
from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import FAITHFULNESS, INFERENCE
from faithtui.domain.scores import ScoreState, ScoringRule, make_empty_score
from faithtui.errors import StoreError
from faithtui.store.records import ItemState, RunSpec
from faithtui.store.store import Store
from tests.store.building import (
    FACTS,
    INFERRED,
    RULE,
    SPEC,
    assess,
    import_conversations,
    imported,
    judged,
    make_conversation,
    spec_of,
    windows_of,
)

MTRAG = "mtrag-faithfulness-1-4"
BLIND_ONLY = UnitSettings(blind_only=True)
RUN = RunId(1)
"""The first run of a store."""


@dataclass(frozen=True)
class Act:
    """Something that somebody says in a run whose judge had said `judge`."""

    action: Action
    verdict: str | None = "yes"
    who: str = "ann"
    judge: str | None = "yes"
    saw: bool = False
    run: int | None = RUN


def say(store: Store, claim: ClaimId, act: Act) -> None:
    store.label_log.append_label_event(
        claim,
        act.who,
        act.action,
        act.verdict,
        run=None if act.run is None else RunId(act.run),
        judge_verdict=act.judge,
        saw_judge=act.saw,
    )


def ids(store: Store, run: RunId = RUN) -> list[ClaimId]:
    return [each.claim for each in store.labelled_units.read_claim_units(run)]


def only(store: Store) -> ClaimId:
    (claim,) = ids(store)
    return claim


def read_one(store: Store, options: UnitSettings | None = None) -> ClaimUnit:
    (reading,) = store.labelled_units.read_report_units(RUN, options or UnitSettings()).claims
    return reading


BLIND = Act(Action.BLIND)
AGREED = Act(Action.AGREED, saw=True)
SKIPPED = Act(Action.SKIPPED, None)
BULK = Act(Action.BULK)
STALE = Act(Action.OVERRIDDEN, "yes", judge="no", saw=True)


@pytest.mark.parametrize(
    ("acts", "state"),
    [
        ([], LabelState.UNREVIEWED),
        ([Act(Action.NOTED, None)], LabelState.UNREVIEWED),
        ([Act(Action.REVEALED, None)], LabelState.UNREVIEWED),
        ([Act(Action.REPEATED)], LabelState.UNREVIEWED),
        ([BLIND], LabelState.LABELLED),
        ([Act(Action.BLIND, "x")], LabelState.LABELLED),
        ([Act(Action.BLIND, "maybe")], LabelState.LABELLED),
        ([AGREED], LabelState.LABELLED),
        ([Act(Action.OVERRIDDEN, "no")], LabelState.LABELLED),
        ([Act(Action.ADJUDICATED, "no")], LabelState.LABELLED),
        ([SKIPPED], LabelState.SKIPPED),
        ([BULK], LabelState.BULK),
        ([Act(Action.ACCEPTED)], LabelState.BULK),
        ([STALE], LabelState.STALE),
        ([Act(Action.AGREED, "no", judge="no")], LabelState.STALE),
        ([BLIND, SKIPPED], LabelState.LABELLED),
        ([BULK, SKIPPED], LabelState.SKIPPED),
        ([STALE, SKIPPED], LabelState.SKIPPED),
        ([BLIND, BULK], LabelState.BULK),
        ([SKIPPED, BLIND], LabelState.LABELLED),
        ([SKIPPED, replace(BULK, who="bob")], LabelState.SKIPPED),
        ([STALE, replace(SKIPPED, who="bob")], LabelState.STALE),
        ([STALE, replace(BULK, who="bob")], LabelState.STALE),
        ([STALE, replace(BLIND, who="bob")], LabelState.LABELLED),
        ([STALE, BLIND], LabelState.LABELLED),
    ],
)
def test_how_a_claim_stands(store: Store, acts: list[Act], state: LabelState) -> None:
    judged(store, make_conversation(), {1: ["yes"]}, spec=spec_of("turn-faithfulness", FACTS))
    (claim,) = ids(store)
    for act in acts:
        say(store, claim, act)
    reading = read_one(store)
    assert reading.state is state
    is_labelled = state is LabelState.LABELLED
    assert (reading.human is not None, bool(reading.opinions)) == (is_labelled, is_labelled)
    assert (reading.reviewers > 0, reading.blind is not None) == (is_labelled, is_labelled)


def test_what_was_taken_back_was_never_said(store: Store) -> None:
    judged(store, make_conversation(), {1: ["yes"]})
    (claim,) = ids(store)
    say(store, claim, BLIND)
    store.label_log.undo("ann")
    assert read_one(store).state is LabelState.UNREVIEWED
    store.label_log.redo("ann")
    assert read_one(store).human == "yes"


def test_an_opinion_has_its_time_its_reason_and_its_place_in_the_log(store: Store) -> None:
    run, _ = judged(store, make_conversation(), {1: ["yes"]})
    (claim,) = ids(store)
    store.label_log.record_verdict(
        claim, "ann", "no", run=run, saw_judge=True, seconds=4.5, code="truth"
    )
    store.label_log.record_verdict(claim, "bob", "no", run=run, saw_judge=False)
    store.label_log.append_label_event(
        claim, "ann", Action.CODED, run=run, judge_verdict=None, saw_judge=True, code="data"
    )
    ann, bob = read_one(store).opinions
    assert (ann.reviewer, ann.action, ann.blind) == ("ann", Action.OVERRIDDEN, False)
    assert (ann.seconds, ann.code) == (4.5, "data")
    assert (bob.reviewer, bob.action, bob.blind) == ("bob", Action.BLIND, True)
    assert (bob.seconds, bob.code) == (None, None)
    assert ann.order < bob.order


def test_a_final_word_stands_beside_what_its_giver_had_said(store: Store) -> None:
    judged(store, make_conversation(), {1: ["yes"]})
    (claim,) = ids(store)
    say(store, claim, BLIND)
    say(store, claim, Act(Action.BLIND, "no", "bob"))
    say(store, claim, Act(Action.ADJUDICATED, "no", saw=True))
    reading = read_one(store)
    assert [(each.reviewer, each.verdict, each.action) for each in reading.opinions] == [
        ("ann", "yes", Action.BLIND),
        ("bob", "no", Action.BLIND),
        ("ann", "no", Action.ADJUDICATED),
    ]
    assert (reading.human, reading.reviewers, reading.blind) == ("no", 2, False)


def test_what_was_said_before_a_final_word_may_be_stale(store: Store) -> None:
    judged(store, make_conversation(), {1: ["yes"]})
    say(store, only(store), STALE)
    say(store, only(store), Act(Action.ADJUDICATED, "no"))
    assert [each.action for each in read_one(store).opinions] == [Action.ADJUDICATED]


def test_the_only_act_on_a_claim_has_its_reason_too(store: Store) -> None:
    run, _ = judged(store, make_conversation(), {1: ["yes"]})
    store.label_log.record_verdict(
        only(store), "ann", "no", run=run, saw_judge=False, code="policy"
    )
    assert [each.code for each in read_one(store).opinions] == ["policy"]


def test_a_rating_that_is_no_verdict_is_no_label(store: Store) -> None:
    rating = Rating(1, "ann", "made up", "Weird", "Claim 1.0")
    judged(store, make_conversation(ratings=[rating]), {1: ["yes"]})
    assert read_one(store).state is LabelState.UNREVIEWED
    say(store, only(store), replace(SKIPPED, who="bob"))
    assert read_one(store).state is LabelState.SKIPPED


@pytest.mark.parametrize(("saw", "blind"), [(True, False), (False, True)])
def test_a_final_word_is_blind_when_its_giver_did_not_know_the_judges(
    store: Store, saw: bool, blind: bool
) -> None:
    judged(store, make_conversation(), {1: ["yes"]})
    say(store, only(store), Act(Action.ADJUDICATED, "no", saw=saw))
    assert read_one(store).blind is blind


def test_words_of_another_metric_are_translated_or_told_as_they_were(store: Store) -> None:
    judged(store, make_conversation(), {1: ["yes", "no"]}, spec=spec_of("turn-faithfulness", FACTS))
    first, second = ids(store)
    say(store, first, Act(Action.BLIND, "1"))
    say(store, first, Act(Action.BLIND, "0", "bob"))
    say(store, second, Act(Action.BLIND, "0"))
    one, two = store.labelled_units.read_report_units(RUN).claims
    assert (one.human, [each.verdict for each in one.opinions]) == ("yes", ["yes", "0"])
    assert (two.human, two.state) == ("0", LabelState.LABELLED)


def changed_its_mind(store: Store) -> tuple[RunId, ItemId, ClaimId]:
    """A run that says `no` of a claim, where an earlier window will say `yes` when it comes."""
    conversation = make_conversation()
    run = store.runs.create(SPEC, [imported(store, conversation)])
    (item,) = store.runs.list_item_ids(run)
    store.runs.save_window(item, assess(windows_of(conversation)[1], {1: ["no"]}))
    return run, item, ids(store, run)[0]


def judge_again(store: Store, item: ItemId) -> None:
    store.runs.save_window(item, assess(windows_of(make_conversation())[0], {1: ["yes"]}))


def test_a_verdict_in_sight_of_a_word_that_changed_is_stale(store: Store) -> None:
    run, item, claim = changed_its_mind(store)
    store.label_log.record_verdict(claim, "ann", "no", run=run, saw_judge=True)
    assert (read_one(store).state, read_one(store).judge) == (LabelState.LABELLED, "no")
    judge_again(store, item)
    assert (read_one(store).state, read_one(store).judge) == (LabelState.STALE, "yes")
    store.label_log.record_verdict(claim, "ann", "no", run=run, saw_judge=True)
    assert (read_one(store).state, read_one(store).human) == (LabelState.LABELLED, "no")


def test_a_blind_verdict_is_never_stale(store: Store) -> None:
    run, item, claim = changed_its_mind(store)
    store.label_log.record_verdict(claim, "ann", "no", run=run, saw_judge=False)
    judge_again(store, item)
    assert (read_one(store).state, read_one(store).blind) == (LabelState.LABELLED, True)


def test_labels_of_another_run_count_and_are_blind_only_when_they_were(store: Store) -> None:
    judged(store, make_conversation(), {1: ["yes", "yes"]})
    other, _ = judged(store, make_conversation(), {1: ["no", "no"]})
    first, second = ids(store)
    store.label_log.record_verdict(first, "ann", "no", run=other, saw_judge=True)
    store.label_log.record_verdict(second, "ann", "no", run=other, saw_judge=False)
    found = store.labelled_units.read_report_units(RUN).claims
    assert [(each.judge, each.human, each.blind) for each in found] == [
        ("yes", "no", False),
        ("yes", "no", True),
    ]


def test_blind_only_reads_the_log_as_if_nothing_had_been_in_view(store: Store) -> None:
    judged(store, make_conversation(), {1: ["yes"] * 6})
    acts = [
        [Act(Action.BLIND, "no"), AGREED],
        [AGREED],
        [BULK, replace(BULK, who="bob", saw=True)],
        [replace(BULK, saw=True)],
        [Act(Action.BLIND, "no"), Act(Action.ADJUDICATED, "yes", saw=True)],
        [Act(Action.BLIND, "no"), Act(Action.ACCEPTED, "yes", saw=True)],
    ]
    for claim, said in zip(ids(store), acts, strict=True):
        for act in said:
            say(store, claim, act)
    both = [
        store.labelled_units.read_report_units(RUN, each).claims
        for each in (UnitSettings(), BLIND_ONLY)
    ]
    assert [[(each.state, each.human) for each in found] for found in both] == [
        [
            (LabelState.LABELLED, "yes"),
            (LabelState.LABELLED, "yes"),
            (LabelState.BULK, None),
            (LabelState.BULK, None),
            (LabelState.LABELLED, "yes"),
            (LabelState.BULK, None),
        ],
        [
            (LabelState.LABELLED, "no"),
            (LabelState.IN_VIEW, None),
            (LabelState.BULK, None),
            (LabelState.BULK, None),
            (LabelState.LABELLED, "no"),
            (LabelState.LABELLED, "no"),
        ],
    ]


@pytest.mark.parametrize(
    ("said", "first", "majority", "worst", "latest"),
    [
        (["yes"], "yes", "yes", "yes", "yes"),
        ([None], None, None, None, None),
        ([None, None], None, None, None, None),
        (["yes", "idk", "no", "yes"], "yes", "yes", "no", "yes"),
        (["yes", "yes", "idk", "idk"], "yes", "idk", "idk", "idk"),
        (["no", "yes", "yes"], "no", "yes", "no", "yes"),
        (["no", "idk"], "no", "no", "no", "idk"),
        ([None, "yes"], None, "yes", "yes", "yes"),
        (["idk", None, None], "idk", "idk", "idk", None),
    ],
)
def test_which_window_speaks_for_a_claim(
    store: Store, said: list[str | None], first: str, majority: str, worst: str, latest: str
) -> None:
    conversation = make_conversation(answers=len(said))
    run = store.runs.create(SPEC, [imported(store, conversation)])
    (item,) = store.runs.list_item_ids(run)
    # Windows may be stored in any order.
    for window, label in reversed(list(zip(windows_of(conversation), said, strict=True))):
        store.runs.save_window(item, assess(window, {1: [label]}))
    rules: dict[Duplicates, str] = {
        "first_window": first,
        "majority": majority,
        "worst": worst,
        "latest": latest,
    }
    for rule, expected in rules.items():
        reading = read_one(store, UnitSettings(duplicates=rule))
        assert (reading.judge, reading.windows) == (expected, len(said)), rule
        assert reading.steady is (len(set(said)) == 1)


def test_how_bad_a_label_is_may_be_told(store: Store) -> None:
    run, item = judged(store, make_conversation(answers=1), {1: ["green"]})
    store.runs.save_window(item, replace(assess(windows_of(make_conversation())[1], {1: ["red"]})))
    worst = UnitSettings(duplicates="worst")
    for severity, expected in (({"green": 1, "red": 0}, "green"), ({"red": 1}, "red")):
        (reading,) = store.labelled_units.read_report_units(run, worst, severity).claims
        assert reading.judge == expected


def test_the_severity_of_labels_follows_what_they_say_of_faithfulness() -> None:
    assert FAITHFULNESS.severity_by_label == {"yes": 0, "idk": 1, "no": 2}
    assert INFERENCE.severity_by_label == {"1": 0, "0": 2}


def test_a_claim_twice_in_a_window_is_heard_once_there(store: Store) -> None:
    conversation = make_conversation(answers=2)
    run = store.runs.create(SPEC, [imported(store, conversation)])
    (item,) = store.runs.list_item_ids(run)
    one, two = windows_of(conversation)
    double = assess(one, {1: ["yes", "no"]})
    same = [replace(each, claim=double.verdicts[0].claim) for each in double.verdicts]
    store.runs.save_window(item, replace(double, verdicts=tuple(same)))
    store.runs.save_window(item, assess(two, {1: ["yes"]}))
    reading = read_one(store, UnitSettings(duplicates="worst"))
    assert (reading.judge, reading.windows, reading.steady) == ("yes", 2, False)
    window = store.labelled_units.read_report_units(run).scores[0]
    assert (window.claims, window.judge) == (1, 0.5)


def test_the_confidence_is_that_of_the_home_window(store: Store) -> None:
    conversation = make_conversation(answers=2)
    run = store.runs.create(SPEC, [imported(store, conversation)])
    (item,) = store.runs.list_item_ids(run)
    for window, confidence in zip(windows_of(conversation), (0.25, 0.75), strict=True):
        found = assess(window, {1: ["no"]})
        sure = tuple(replace(each, confidence=confidence) for each in found.verdicts)
        store.runs.save_window(item, replace(found, verdicts=sure))
    assert read_one(store).confidence == 0.25


def test_a_run_that_is_not_there_cannot_be_read(store: Store) -> None:
    with pytest.raises(StoreError, match="there is no run 9"):
        store.labelled_units.read_report_units(RunId(9))


# Scores


def scores(store: Store, run: RunId = RUN) -> list[UnitScores]:
    return list(store.labelled_units.read_report_units(run).scores)


def values(found: Sequence[UnitScores]) -> list[tuple[float | None, float | None, int, int]]:
    return [(each.judge, each.human, each.claims, each.labelled) for each in found]


def test_only_what_people_labelled_completely_has_their_score(store: Store) -> None:
    judged(store, make_conversation(answers=2), {1: ["yes", "no"], 3: ["yes", "yes"]})
    one, two, three, four = ids(store)
    say(store, one, Act(Action.BLIND, "no"))
    assert values(scores(store)) == [
        (0.5, None, 2, 1),
        (0.75, None, 4, 1),
        (0.625, None, 4, 1),
    ]
    say(store, two, Act(Action.BLIND, "no"))
    say(store, three, Act(Action.BLIND, "no"))
    assert values(scores(store))[:2] == [(0.5, 0.0, 2, 2), (0.75, None, 4, 3)]
    say(store, four, Act(Action.BLIND, "yes"))
    found = scores(store)
    assert values(found) == [(0.5, 0.0, 2, 2), (0.75, 0.25, 4, 4), (0.625, 0.125, 4, 4)]
    window = [ScoredUnit.WINDOW, ScoredUnit.WINDOW, ScoredUnit.CONVERSATION]
    assert [each.unit for each in found] == window
    assert [(each.key, each.group, each.window) for each in found] == [
        ("one", "one", 0),
        ("one", "one", 1),
        ("one", "one", None),
    ]


def test_windows_come_before_conversations_in_the_order_of_the_run(store: Store) -> None:
    chats = [make_conversation("b", answers=2), make_conversation("a", answers=1)]
    run = store.runs.create(SPEC, import_conversations(store, chats))
    for item, each in zip(store.runs.list_item_ids(run), chats, strict=True):
        for window in windows_of(each):
            store.runs.save_window(item, assess(window, {1: ["yes"]}))
        store.runs.score_and_finish_item(item, ItemState.DONE, None)
    order = [(each.key, each.window) for each in scores(store)]
    assert order == [("b", 0), ("b", 1), ("a", 0), ("b", None), ("a", None)]


def test_what_is_no_claim_leaves_peoples_score_as_it_leaves_the_corrected_one(
    store: Store,
) -> None:
    _, item = judged(store, make_conversation(answers=1), {1: ["yes", "no", "no"]})
    for claim, word in zip(ids(store), ("no", "x", "yes"), strict=True):
        say(store, claim, Act(Action.BLIND, word))
    (window, whole) = scores(store)
    assert (window.human, whole.human, window.labelled) == (0.5, 0.5, 3)
    view = store.runs.read_conversation_for_review(item, "ann")
    assert view.windows[0].corrected.value == window.human
    assert view.item.corrected is not None
    assert view.item.corrected.windowed.value == whole.human


def test_a_word_without_a_meaning_in_the_run_is_no_label_for_a_score(store: Store) -> None:
    judged(
        store, make_conversation(answers=1), {1: ["yes"]}, spec=spec_of("turn-faithfulness", FACTS)
    )
    say(store, only(store), Act(Action.BLIND, "0"))
    assert values(scores(store)) == [(1.0, None, 1, 0), (1.0, None, 1, 0)]


def test_without_claims_there_is_no_score_of_people(store: Store) -> None:
    judged(store, make_conversation(answers=1), {})
    assert values(scores(store)) == [(1.0, None, 0, 0), (1.0, None, 0, 0)]


def test_a_window_without_claims_counts_in_its_conversation_by_the_rule(store: Store) -> None:
    judged(store, make_conversation(answers=2), {3: ["no", "yes"]})
    for claim in ids(store):
        say(store, claim, Act(Action.BLIND, "no"))
    assert values(scores(store))[-1] == (0.75, 0.5, 2, 2)


def test_people_may_give_a_score_where_the_judge_left_a_verdict_out(store: Store) -> None:
    judged(store, make_conversation(answers=1), {1: ["yes", None]})
    for claim in ids(store):
        say(store, claim, Act(Action.BLIND, "yes"))
    assert values(scores(store)) == [(None, 1.0, 2, 2), (None, 1.0, 2, 2)]


def scored_otherwise(store: Store, state: ScoreState, finish: ItemState) -> list[UnitScores]:
    """Label all of two windows of which the second has no score for a reason of its own."""
    conversation = make_conversation(answers=2)
    run = store.runs.create(SPEC, [imported(store, conversation)])
    (item,) = store.runs.list_item_ids(run)
    first, second = windows_of(conversation)
    store.runs.save_window(item, assess(first, {1: ["yes"]}))
    store.runs.save_window(item, assess(second, {1: ["yes"]}, score=make_empty_score(state, "so")))
    store.runs.score_and_finish_item(item, finish, None)
    say(store, only(store), Act(Action.BLIND, "no"))
    return scores(store)


def test_what_failed_or_was_skipped_is_not_judged(store: Store) -> None:
    found = scored_otherwise(store, ScoreState.FAILED, ItemState.FAILED)
    assert values(found) == [(1.0, 0.0, 1, 1)]


def test_a_skipped_window_is_left_out_of_its_conversation(store: Store) -> None:
    found = scored_otherwise(store, ScoreState.SKIPPED, ItemState.DONE)
    assert values(found) == [(1.0, 0.0, 1, 1), (1.0, 0.0, 1, 1)]


def test_people_cannot_complete_what_is_incomplete_beyond_its_verdicts(store: Store) -> None:
    found = scored_otherwise(store, ScoreState.INCOMPLETE, ItemState.DONE)
    assert values(found) == [(1.0, 0.0, 1, 1), (None, None, 1, 1), (None, None, 1, 1)]


def test_labels_beyond_the_last_claim_are_none_of_peoples(store: Store) -> None:
    spec = replace(SPEC, rule=replace(RULE, as_peer=True))
    conversation = make_conversation(answers=1)
    run = store.runs.create(spec, [imported(store, conversation)])
    (item,) = store.runs.list_item_ids(run)
    (window,) = windows_of(conversation)
    store.runs.save_window(item, replace(assess(window, {1: ["yes"]}), surplus=("no",)))
    say(store, only(store), Act(Action.BLIND, "yes"))
    (found,) = scores(store, run)
    assert found.human == 1.0


# Answers


def test_an_answer_carries_the_opinions_on_it_as_a_whole(store: Store) -> None:
    ratings = [Rating(1, "ann", MTRAG, "4"), Rating(1, "bob", MTRAG, "1")]
    judged(store, make_conversation(ratings=ratings), {1: ["yes"]}, spec=spec_of("ragas", INFERRED))
    (answer,) = store.labelled_units.read_report_units(RUN).answers
    assert [(each.reviewer, each.verdict, each.blind) for each in answer.opinions] == [
        ("ann", "1", True),
        ("bob", "0", True),
    ]
    assert (answer.raters, answer.human) == (2, "0")


def test_the_parts_are_what_is_read_alone(store: Store) -> None:
    judged(store, make_conversation(ratings=[Rating(1, "ann", MTRAG, "4")]), {1: ["yes", "no"]})
    say(store, ids(store)[0], BLIND)
    found = store.labelled_units.read_report_units(RUN)
    assert found.claims == store.labelled_units.read_claim_units(RUN)
    assert found.answers == store.labelled_units.read_rated_answer_units(RUN)


# Pairs


def test_two_runs_are_compared_on_the_claims_that_both_judged(store: Store) -> None:
    first, _ = judged(store, make_conversation(), {1: ["yes", "no", "idk"], 3: ["yes"]})
    second, _ = judged(store, make_conversation(), {1: ["no", None], 5: ["no"]}, spec=other_spec())
    third = store.runs.create(SPEC, [imported(store, make_conversation("more"))])
    one, two = ids(store)[:2]
    say(store, one, BLIND)
    say(store, one, Act(Action.BLIND, "x", "bob"))
    about = partial(PairedClaim, conversation=store.conversations.list_ids()[0], group="one")
    assert store.labelled_units.read_paired_units(first, second) == PairedClaims(
        (
            # One says yes and one says x.
            about(one, first="yes", second="no", human=None, blind=True),
            about(two, first="no", second=None, human=None, blind=None),
        ),
        only_first=2,
        only_second=0,
    )
    back = store.labelled_units.read_paired_units(second, first)
    assert [(each.first, each.second) for each in back.claims] == [("no", "yes"), (None, "no")]
    assert (back.only_first, back.only_second) == (0, 2)
    assert store.labelled_units.read_paired_units(first, third) == PairedClaims((), 4, 0)


def other_spec() -> RunSpec:
    return replace(SPEC, judge="other")


def test_a_label_that_is_stale_for_one_of_two_runs_counts_for_neither(store: Store) -> None:
    run, item, claim = changed_its_mind(store)
    other, _ = judged(store, make_conversation(), {1: ["yes"]}, spec=other_spec())
    store.label_log.record_verdict(claim, "ann", "no", run=run, saw_judge=True)
    for pair in ((run, other), (other, run)):
        (reading,) = store.labelled_units.read_paired_units(*pair).claims
        assert (reading.human, reading.blind) == ("no", False)
    judge_again(store, item)
    for pair in ((run, other), (other, run)):
        (reading,) = store.labelled_units.read_paired_units(*pair).claims
        assert (reading.human, reading.blind) == (None, None)


def test_two_runs_may_be_compared_on_blind_labels_alone(store: Store) -> None:
    first, _ = judged(store, make_conversation(), {1: ["yes", "no"]})
    second, _ = judged(store, make_conversation(), {1: ["no", "no"]})
    one, two = ids(store)
    say(store, one, BLIND)
    say(store, two, Act(Action.AGREED, "no", judge="no"))
    found = store.labelled_units.read_paired_units(first, second, BLIND_ONLY)
    assert [each.human for each in found.claims] == ["yes", None]


def test_runs_with_other_labels_are_no_pair(store: Store) -> None:
    first, _ = judged(
        store, make_conversation(), {1: ["yes"]}, spec=spec_of("turn-faithfulness", FACTS)
    )
    second, _ = judged(store, make_conversation(), {1: ["1"]}, spec=spec_of("ragas", INFERRED))
    with pytest.raises(StoreError, match=r"different labels \(yes/no/idk and 1/0\), so that"):
        store.labelled_units.read_paired_units(first, second)
    with pytest.raises(StoreError, match="there is no run 9"):
        store.labelled_units.read_paired_units(first, RunId(9))


# Against a slow reading of the log


@dataclass(frozen=True)
class Undo:
    """A reviewer takes the last step back, or takes that back."""

    who: str
    again: bool


GIVEN = [
    *(Action.BLIND, Action.AGREED, Action.OVERRIDDEN, Action.ADJUDICATED, Action.ACCEPTED),
    *(Action.SKIPPED, Action.BULK, Action.REPEATED, Action.NOTED, Action.REVEALED),
]
REVIEWERS = ["ann", "bob", "cyd"]
RANK = {"yes": 0, "idk": 1, "no": 2, "0": 2, "x": 3}
HEARD = {"yes": "yes", "no": "no", "idk": "idk", "x": "x", "1": "yes"}

words = st.sampled_from(["yes", "no", "idk", "x", "1", "0", "maybe"])
acts = st.builds(
    Act,
    st.sampled_from(GIVEN),
    words,
    st.sampled_from(REVIEWERS),
    st.sampled_from(["yes", "no"]),
    st.booleans(),
    st.sampled_from([None, 0, 1]),
)
undos = st.builds(Undo, st.sampled_from(REVIEWERS), st.booleans())


def replay(
    store: Store, claim: ClaimId, events: Sequence[Act | Undo], runs: Sequence[RunId], mark: str
) -> None:
    """Say it all; `mark` keeps reviewers of several examples apart, since undo knows no claims."""
    for event in events:
        if isinstance(event, Undo):
            (store.label_log.redo if event.again else store.label_log.undo)(f"{event.who}{mark}")
            continue
        silent = event.action in (Action.SKIPPED, Action.NOTED, Action.REVEALED)
        say(
            store,
            claim,
            replace(
                event,
                verdict=None if silent else event.verdict,
                who=f"{event.who}{mark}",
                run=None if event.run is None else runs[event.run],
            ),
        )


def slowly(
    rows: list[sqlite3.Row], run: RunId, home: str, blind_only: bool
) -> tuple[LabelState, str | None, list[tuple[str, str, str, bool]]]:
    """Say how a claim stands, its consensus and the opinions, straight from the rows."""
    seen = ("agreed", "overridden", "accepted")
    kept = [
        row
        for row in rows
        if not any(
            last["action"] == "withdrawn"
            for last in [each for each in rows if each["target_id"] == row["id"]][-1:]
        )
        and row["action"] not in ("withdrawn", "restored")
        and not (
            blind_only
            and (
                row["action"] in seen
                or (row["saw_judge"] and row["action"] in ("bulk", "adjudicated"))
            )
        )
    ]
    giving = ("blind", "agreed", "overridden", "adjudicated", "accepted", "skipped", "bulk")

    def last_of(who: str, but: str = "") -> sqlite3.Row | None:
        own = [row for row in kept if row["reviewer"] == who and row["action"] in giving]
        left = [row for row in own if row["action"] != but]
        # A skip takes no label away.
        return next((row for row in reversed(left) if row["verdict"]), left[-1] if left else None)

    def is_skipped(who: str) -> bool:
        own = [row for row in kept if row["reviewer"] == who and row["action"] in giving]
        return bool(own) and own[-1]["action"] == "skipped"

    def counts(row: sqlite3.Row | None) -> bool:
        return row is not None and row["action"] in giving[:4]

    def stale(row: sqlite3.Row) -> bool:
        if row["action"] not in ("agreed", "overridden") or row["run_id"] != run:
            return False
        return bool(row["judge_verdict"] != home)

    people = list(dict.fromkeys(row["reviewer"] for row in kept))
    stand = [row for who in people if (row := last_of(who)) is not None]
    fresh = [row for row in stand if counts(row) and not stale(row)]
    if not fresh:
        actions = {row["action"] for row in stand}
        if any(counts(row) and not is_skipped(row["reviewer"]) for row in stand):
            return LabelState.STALE, None, []
        if any(is_skipped(who) for who in people):
            return LabelState.SKIPPED, None, []
        if actions:
            return LabelState.BULK, None, []
        state = slowly(rows, run, home, False)[0] if blind_only else LabelState.UNREVIEWED
        in_view = state in (LabelState.LABELLED, LabelState.STALE)
        return (LabelState.IN_VIEW if in_view else state), None, []
    earlier = [
        row
        for each in fresh
        if each["action"] == "adjudicated"
        and (row := last_of(each["reviewer"], "adjudicated")) is not None
        and counts(row)
        and not stale(row)
    ]
    heard = [(row, HEARD[row["verdict"]]) for row in fresh if row["verdict"] in HEARD]
    said = heard or [(row, row["verdict"]) for row in fresh]
    finals = [word for row, word in said if row["action"] == "adjudicated"]
    votes = Counter(word for _, word in said)
    human = finals[-1] if finals else max(votes, key=lambda w: (votes[w], RANK.get(w, -1)))
    opinions = [
        (
            row["reviewer"],
            HEARD.get(row["verdict"], row["verdict"]),
            row["action"],
            row["action"] == "blind" or (row["action"] == "adjudicated" and not row["saw_judge"]),
        )
        for row in kept
        if row in [*fresh, *earlier]
    ]
    return LabelState.LABELLED, human, opinions


def log_rows(path: Path, claim: ClaimId) -> list[sqlite3.Row]:
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    found = connection.execute(
        "SELECT * FROM human_label WHERE claim_id = ? ORDER BY clock, uid", (claim,)
    ).fetchall()
    connection.close()
    return found


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(acts | undos, max_size=9), st.sampled_from(["yes", "no"]), st.booleans())
def test_what_counts_is_what_a_slow_reading_of_the_log_finds(
    store: Store, path: Path, events: list[Act | Undo], home: str, blind_only: bool
) -> None:
    rule: ScoringRule = FACTS
    mark = str(store.conversations.count())
    spec, labels = spec_of("turn-faithfulness", rule), {1: [home, "yes"]}
    conversation: Conversation = make_conversation(f"k{mark}", answers=1)
    runs = [judged(store, conversation, each, spec=spec)[0] for each in (labels, {1: ["idk"]})]
    claim, _ = ids(store, runs[0])
    replay(store, claim, events, runs, mark)
    found = store.labelled_units.read_report_units(runs[0], UnitSettings(blind_only=blind_only))
    reading, untouched = found.claims
    state, human, opinions = slowly(log_rows(path, claim), runs[0], home, blind_only)
    assert (reading.state, reading.human) == (state, human)
    assert [
        (each.reviewer, each.verdict, each.action, each.blind) for each in reading.opinions
    ] == opinions
    assert reading.reviewers == len({who for who, *_ in opinions})
    assert untouched.state is LabelState.UNREVIEWED
    usable = human if human in HEARD else None
    assert [each.labelled for each in found.scores] == [int(usable is not None)] * 2


def test_nothing_judged_gives_nothing_to_read(store: Store) -> None:
    run = store.runs.create(SPEC, [])
    found = store.labelled_units.read_report_units(run)
    assert (found.claims, found.answers, found.scores) == ((), (), ())
