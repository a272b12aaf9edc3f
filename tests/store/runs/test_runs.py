"""Runs, windows, counters and stored replies."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from sqlalchemy.exc import IntegrityError

from faithtui.domain.claims.verdicts import Assessment, Claim, Evidence, Truth, Verdict
from faithtui.domain.conversation import Document, Span, Turn
from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.scores import Score, ScoreSet, ScoreState, make_empty_score, make_score
from faithtui.domain.windows import Window
from faithtui.errors import StoreError
from faithtui.store.records import (
    CallContext,
    EvidenceView,
    ItemState,
    PendingItem,
    RunState,
    StoredReply,
    WindowVerdictView,
)
from faithtui.store.store import Store
from tests.store.building import RULE, SPEC, Labels, assess, judged, make_conversation, windows_of

FAILED = make_empty_score(ScoreState.FAILED, "no answer within 60 s")


def planned(store: Store, *keys: str) -> tuple[RunId, tuple[ItemId, ...]]:
    store.conversations.import_batch([make_conversation(key) for key in keys])
    run = store.runs.create(SPEC, store.conversations.list_ids())
    return run, store.runs.list_item_ids(run)


def at_second(ticks: int) -> datetime:
    """When the clock of the store has been read so often since the conversations came."""
    return datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC) + timedelta(seconds=ticks)


def all_three(score: Score) -> ScoreSet:
    return ScoreSet(score, score, score)


def test_a_new_run_is_planned_and_everything_in_it_pending(store: Store) -> None:
    run, items = planned(store, "a", "b", "c")
    row = store.runs.read_run(run)
    assert row.spec == SPEC
    assert (row.state, row.reason, row.finished_at) == (RunState.PLANNED, None, None)
    assert (row.conversations, row.pending, row.done) == (3, 3, 0)
    assert (row.score, row.corrected, row.calls) == (None, None, 0)
    assert store.runs.list_pending_items(run) == tuple(
        PendingItem(item, conversation)
        for item, conversation in zip(items, store.conversations.list_ids(), strict=True)
    )
    for number, item in enumerate(store.runs.read_item_rows(items), start=1):
        assert (item.number, item.state, item.scores) == (number, ItemState.PENDING, None)
        assert item.opening == f"Question 0 of {item.key}?"


def test_what_is_pending_is_read_page_by_page(store: Store) -> None:
    run, items = planned(store, "a", "b", "c", "d")
    other = store.runs.create(SPEC, store.conversations.list_ids())
    (window, *_) = windows_of(make_conversation("b"))
    store.runs.save_window(items[1], assess(window, {1: ["yes"]}))
    store.runs.score_and_finish_item(items[2], ItemState.DONE, None)
    whole = store.runs.list_pending_items(run)
    first = store.runs.list_pending_items(run, limit=2)
    rest = store.runs.list_pending_items(run, after=items[1], limit=2)
    assert [each.id for each in first] == [items[0], items[1]]
    assert [each.id for each in rest] == [items[3]]
    assert (*first, *rest) == whole
    assert [bool(each.stored_windows) for each in first] == [False, True]
    assert store.runs.list_pending_items(run, after=items[3], limit=2) == ()
    assert len(store.runs.list_pending_items(other)) == 4


def test_runs_are_listed_newest_first(store: Store) -> None:
    assert store.runs.list_runs() == ()
    assert store.runs.find_newest_run_id() is None
    first, _ = planned(store, "a")
    second = store.runs.create(replace(SPEC, base_url="http://localhost", sources=()), [])
    assert [row.id for row in store.runs.list_runs()] == [second, first]
    assert store.runs.find_newest_run_id() == second
    assert store.runs.list_runs()[0].created_at > store.runs.list_runs()[1].created_at


def test_an_unknown_run_is_named(store: Store) -> None:
    with pytest.raises(StoreError, match=r"there is no run 5 in .*`faithtui runs`"):
        store.runs.read_run(RunId(5))


def test_states_set_and_clear_the_time_a_run_finished(store: Store) -> None:
    run, _ = planned(store, "a")
    store.runs.set_state(run, RunState.STOPPED, "wrong key")
    row = store.runs.read_run(run)
    assert (row.state, row.reason) == (RunState.STOPPED, "wrong key")
    assert row.finished_at is not None
    store.runs.set_state(run, RunState.RUNNING)
    row = store.runs.read_run(run)
    assert (row.state, row.reason, row.finished_at) == (RunState.RUNNING, None, None)


def test_a_window_is_stored_with_everything_in_it(store: Store) -> None:
    store.conversations.import_batch([make_conversation()])
    run = store.runs.create(SPEC, store.conversations.list_ids())
    (item,) = store.runs.list_item_ids(run)
    seen = Truth("It is so.", "Fact 0.", Span(0, 4))
    loose = Truth("It is so.")
    said = Verdict(
        Claim(1, "It is.", Span(1, 5)),
        "yes",
        "Yes!",
        "quoted",
        0.75,
        (Evidence(loose, "contradicts"), Evidence(seen, "supports")),
    )
    window = Window(0, (0,), (0, 1))
    store.runs.save_window(
        item,
        Assessment(window, make_score(1.0), (said,), (loose, seen), reason="fine"),
    )
    store.runs.score_and_finish_item(item, ItemState.DONE, None, "all fine")
    view = store.runs.read_conversation_for_review(item, "me")
    (claim,) = view.claims
    assert (claim.turn, claim.text, claim.span) == (1, "It is.", Span(1, 5))
    assert claim.verdicts == (WindowVerdictView(0, "yes", "Yes!", "quoted", 0.75),)
    first, second = view.truths
    assert (first.number, first.text, first.document, first.span) == (1, "It is so.", None, None)
    assert (second.number, second.document, second.span) == (2, 1, Span(0, 4))
    assert first.windows == second.windows == (0,)
    assert claim.evidence == (
        EvidenceView(second.id, "supports"),
        EvidenceView(first.id, "contradicts"),
    )
    (row,) = view.windows
    assert (row.position, row.turns, row.score, row.reason) == (0, (0, 1), make_score(1.0), "fine")
    assert row.claims == (claim.id,)
    assert view.reason == "all fine"


def test_sets_of_truths_are_kept_and_a_part_of_one_is_listed_once(store: Store) -> None:
    """In the first window half of a set is in view, in the second one all of it."""
    _, (item,) = planned(store, "one")
    half, other, part = (Truth(f"Truth {n}.", "Fact 0.") for n in range(3))
    claim = Claim(1, "It is.", Span(1, 5))
    named = (
        (Evidence(half, "partial"), Evidence(part, "partial")),
        (
            Evidence(half, "supports", (1, 2)),
            Evidence(other, "supports", (1,)),
            Evidence(part, "partial"),
        ),
    )
    for window, label, evidence in zip(
        windows_of(make_conversation()), ("idk", "yes"), named, strict=False
    ):
        said = Verdict(claim, label, evidence=evidence)
        store.runs.save_window(
            item, Assessment(window, make_score(1.0), (said,), (half, other, part))
        )
    (view,) = store.runs.read_conversation_for_review(item, "me").claims
    assert [(each.stance, each.sets) for each in view.evidence] == [
        ("supports", (1, 2)),
        ("supports", (1,)),
        ("partial", ()),
    ]


def test_sets_are_known_by_their_truths_however_a_window_numbers_them(store: Store) -> None:
    """A window that is judged later may know more sets, and number the old ones otherwise."""
    _, (item,) = planned(store, "one")
    a, b, c, d = (Truth(f"Truth {letter}.", "Fact 0.") for letter in "abcd")
    claim = Claim(1, "It is.", Span(1, 5))
    named = (
        [Evidence(c, "supports", (1,)), Evidence(d, "supports", (1,))],
        [
            *(Evidence(each, "supports", (1,)) for each in (a, b)),
            *(Evidence(each, "supports", (2,)) for each in (c, d)),
        ],
    )
    for window, evidence in zip(windows_of(make_conversation()), named, strict=False):
        said = Verdict(claim, "yes", evidence=tuple(evidence))
        store.runs.save_window(item, Assessment(window, make_score(1.0), (said,), (a, b, c, d)))
    view = store.runs.read_conversation_for_review(item, "me")
    texts = {truth.id: truth.text for truth in view.truths}
    sets: dict[int, set[str]] = {}
    for each in view.claims[0].evidence:
        for number in each.sets:
            sets.setdefault(number, set()).add(texts[each.truth])
    assert sets == {1: {"Truth c.", "Truth d."}, 2: {"Truth a.", "Truth b."}}


def test_saving_a_window_again_does_nothing(store: Store) -> None:
    run, (item,) = planned(store, "one")
    window = windows_of(make_conversation())[0]
    store.runs.save_window(item, assess(window, {1: ["yes"]}))
    before = store.runs.read_conversation_for_review(item, "me")
    store.runs.save_window(item, assess(window, {1: ["no", "no"]}))
    assert store.runs.read_conversation_for_review(item, "me") == before
    assert store.runs.list_pending_items(run) == (
        PendingItem(item, store.conversations.list_ids()[0], frozenset({0})),
    )


def test_of_windows_saved_together_those_that_are_there_stay_and_failed_ones_go(
    store: Store,
) -> None:
    run, (item,) = planned(store, "one")
    first, second = windows_of(make_conversation("one"))
    store.runs.save_windows(item, [assess(first, {1: ["yes"]}), assess(second, {}, score=FAILED)])
    store.runs.save_windows(item, [assess(first, {1: ["no"]}), assess(second, {3: ["no"]})])
    view = store.runs.read_conversation_for_review(item, "me")
    assert [claim.first_window_verdict.label for claim in view.claims] == ["yes", "no"]
    row = store.runs.read_run(run)
    assert (row.windows, row.failed_windows, row.claims) == (2, 0, 2)


def test_of_windows_saved_together_all_are_written_or_none(store: Store) -> None:
    run, (item,) = planned(store, "one")
    first, _ = windows_of(make_conversation("one"))
    with pytest.raises(IntegrityError, match="UNIQUE"):
        store.runs.save_windows(item, [assess(first, {1: ["yes"]})] * 2)
    row = store.runs.read_run(run)
    assert (row.windows, row.claims) == (0, 0)
    assert store.runs.read_conversation_for_review(item, "me").claims == ()


def test_counters_follow_every_window_and_ending(store: Store) -> None:
    run, (one, two, three) = planned(store, "a", "b", "c")
    first, second = windows_of(make_conversation("a"))
    labels: Labels = {1: ["yes", "no"], 3: ["idk", None]}
    store.runs.save_window(one, assess(first, labels))
    row = store.runs.read_run(run)
    assert (row.windows, row.claims, row.missing_verdicts, row.pending) == (1, 2, 0, 3)
    store.runs.save_window(one, assess(second, labels))
    row = store.runs.read_run(run)
    assert (row.windows, row.claims, row.missing_verdicts) == (2, 4, 1)
    (item,) = store.runs.read_item_rows([one])
    assert (item.windows, item.claims, item.missing) == (2, 4, 1)
    assert item.labels == {"yes": 1, "no": 1, "idk": 1}
    store.runs.score_and_finish_item(one, ItemState.DONE, None)
    store.runs.save_window(two, assess(first, {}, score=FAILED))
    store.runs.score_and_finish_item(two, ItemState.FAILED, "1 window failed")
    store.runs.score_and_finish_item(three, ItemState.SKIPPED, "no user turn")
    store.runs.score_and_finish_item(three, ItemState.SKIPPED, "no user turn")
    row = store.runs.read_run(run)
    assert (row.pending, row.done, row.failed, row.skipped) == (0, 1, 1, 1)
    assert (row.windows, row.failed_windows) == (3, 1)
    assert row.score is None
    states = [
        item.scores and item.scores.windowed for item in store.runs.read_item_rows([two, three])
    ]
    assert states == [
        make_empty_score(ScoreState.FAILED, "1 of 1 parts: no answer within 60 s"),
        make_empty_score(ScoreState.SKIPPED, "no user turn"),
    ]


def test_the_runs_score_is_the_mean_of_its_conversations(store: Store) -> None:
    run, items = planned(store, "a", "b", "c")
    for item, label in zip(items, ["yes", "no", "yes"], strict=True):
        for window in windows_of(make_conversation()):
            store.runs.save_window(item, assess(window, {1: [label], 3: [label]}))
        store.runs.score_and_finish_item(item, ItemState.DONE, None)
    assert store.runs.read_run(run).score == pytest.approx(2 / 3, abs=1e-12)
    assert store.runs.read_run(run).corrected == store.runs.read_run(run).score


def test_a_failed_conversation_has_no_score_even_when_its_windows_have(store: Store) -> None:
    _, item = judged(store, make_conversation(), {1: ["yes"]}, finish=None)
    store.runs.score_and_finish_item(item, ItemState.FAILED, "the judge went away")
    (row,) = store.runs.read_item_rows([item])
    assert row.scores == row.corrected
    assert row.scores == all_three(make_empty_score(ScoreState.FAILED, "the judge went away"))


def test_a_peer_that_loses_a_conversation_leaves_no_score(store: Store) -> None:
    spec = replace(SPEC, rule=replace(RULE, as_peer=True))
    store.conversations.import_batch([make_conversation()])
    run = store.runs.create(spec, store.conversations.list_ids())
    (item,) = store.runs.list_item_ids(run)
    store.runs.score_and_finish_item(item, ItemState.FAILED, "timeout")
    (row,) = store.runs.read_item_rows([item])
    assert row.scores == all_three(make_empty_score(ScoreState.FAILED, "timeout"))
    assert store.runs.read_run(run).score is None


def test_a_state_the_labels_do_not_explain_stays(store: Store) -> None:
    incomplete = make_empty_score(
        ScoreState.INCOMPLETE, "the reply named claims that are not there"
    )
    _, (item,) = planned(store, "one")
    for window in windows_of(make_conversation()):
        store.runs.save_window(item, assess(window, {1: ["yes"]}, score=incomplete))
    store.runs.score_and_finish_item(item, ItemState.DONE, None)
    (row,) = store.runs.read_item_rows([item])
    assert row.scores is not None
    assert row.scores.windowed.state is ScoreState.INCOMPLETE
    assert [
        each.corrected for each in store.runs.read_conversation_for_review(item, "me").windows
    ] == ([incomplete] * 2)


@pytest.mark.parametrize("at_a_time", [1, 3])
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_claims_home_is_its_first_window_whatever_is_stored_first(
    store: Store, order: tuple[int, ...], at_a_time: int
) -> None:
    conversation = make_conversation(answers=3)
    store.conversations.import_batch([conversation])
    run = store.runs.create(SPEC, store.conversations.list_ids())
    (item,) = store.runs.list_item_ids(run)
    windows = windows_of(conversation)
    said: list[Labels] = [{1: ["yes"]}, {1: ["no"], 3: ["idk"]}, {1: ["idk"], 3: ["no"], 5: [None]}]
    assessments = [assess(windows[position], said[position]) for position in order]
    for start in range(0, len(order), at_a_time):
        store.runs.save_windows(item, assessments[start : start + at_a_time])
    store.runs.score_and_finish_item(item, ItemState.DONE, None)
    view = store.runs.read_conversation_for_review(item, "me")
    assert [claim.first_window_verdict.label for claim in view.claims] == ["yes", "idk", None]
    assert [[each.label for each in claim.verdicts] for claim in view.claims] == [
        ["yes", "no", "idk"],
        ["idk", "no"],
        [None],
    ]
    assert [truth.text for truth in view.truths] == ["Truth 1", "Truth 3", "Truth 5"]
    assert (view.item.labels, view.item.missing) == ({"yes": 1, "idk": 1}, 1)
    readings = store.labelled_units.read_claim_units(run)
    assert [each.judge for each in readings] == ["yes", "idk", None]


def test_the_same_claim_twice_in_a_window_is_one_claim_with_two_verdicts(store: Store) -> None:
    run, (item,) = planned(store, "one")
    window = windows_of(make_conversation())[0]
    twice = Assessment(
        window,
        make_score(0.5),
        (Verdict(Claim(1, "So it is."), "yes"), Verdict(Claim(1, " so  IT is."), "no")),
    )
    store.runs.save_window(item, twice)
    (claim,) = store.runs.read_conversation_for_review(item, "me").claims
    assert claim.text == "So it is."
    assert claim.first_window_verdict.label == "yes"
    assert store.runs.read_run(run).claims == 1


def test_claims_are_shared_by_runs_and_truths_are_not(store: Store) -> None:
    _, first = judged(store, make_conversation(), {1: ["yes"]})
    _, second = judged(store, make_conversation(), {1: ["no"]})
    one, two = (store.runs.read_conversation_for_review(item, "me") for item in (first, second))
    assert [claim.id for claim in one.claims] == [claim.id for claim in two.claims]
    assert {truth.id for truth in one.truths}.isdisjoint(truth.id for truth in two.truths)
    assert (one.claims[0].first_window_verdict.label, two.claims[0].first_window_verdict.label) == (
        "yes",
        "no",
    )


def test_failed_windows_are_judged_again_and_the_others_are_not(store: Store) -> None:
    run, (item, done) = planned(store, "one", "two")
    first, second = windows_of(make_conversation())
    half: Labels = {1: ["yes"], 3: ["no"]}
    store.runs.save_window(item, assess(first, half, score=FAILED))
    store.runs.save_window(item, assess(second, half))
    store.runs.score_and_finish_item(item, ItemState.FAILED, "1 window failed")
    store.runs.score_and_finish_item(done, ItemState.DONE, None)
    assert store.runs.reopen_failed_or_incomplete_items(run) == 1
    assert store.runs.list_pending_items(run) == (
        PendingItem(item, store.conversations.list_ids()[0], frozenset({1})),
    )
    row = store.runs.read_run(run)
    assert (row.pending, row.failed, row.done, row.windows, row.failed_windows) == (1, 0, 1, 1, 0)
    (reopened,) = store.runs.read_item_rows([item])
    assert (reopened.scores, reopened.reason, reopened.claims) == (None, None, 2)
    view = store.runs.read_conversation_for_review(item, "me")
    assert [claim.first_window_verdict.window for claim in view.claims] == [1, 1]
    assert [window.position for window in view.windows] == [0, 1], "no gap shifts the others"
    assert view.windows[0].score.reason == "not judged yet"
    store.runs.save_window(item, assess(first, half))
    store.runs.score_and_finish_item(item, ItemState.DONE, None)
    (finished,) = store.runs.read_item_rows([item])
    assert finished.scores is not None
    assert finished.scores.windowed == make_score(0.75)
    assert [
        claim.first_window_verdict.window
        for claim in store.runs.read_conversation_for_review(item, "me").claims
    ] == [
        0,
        1,
    ]
    assert store.runs.reopen_failed_or_incomplete_items(run) == 0
    assert store.list_damage() == []


def test_reopening_takes_evidence_of_vanished_claims_away(store: Store) -> None:
    run, (item,) = planned(store, "one")
    first, second = windows_of(make_conversation())
    store.runs.save_window(item, assess(first, {1: ["yes"]}, score=FAILED))
    store.runs.save_window(item, assess(second, {3: ["yes"]}))
    store.runs.score_and_finish_item(item, ItemState.FAILED, "1 window failed")
    store.runs.reopen_failed_or_incomplete_items(run)
    with store._database.open_reader() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM evidence").scalar() == 1
    assert [claim.turn for claim in store.runs.read_conversation_for_review(item, "me").claims] == [
        3
    ]


def test_items_come_in_the_order_asked(store: Store) -> None:
    run, items = planned(store, "a", "b", "c", "d")
    said: list[Labels] = [
        {1: ["yes"]},
        {1: ["no", "no"]},
        {1: [None, None, "yes"]},
    ]
    for item, labels in zip(items, said, strict=False):
        store.runs.save_window(item, assess(windows_of(make_conversation())[0], labels))
        store.runs.score_and_finish_item(item, ItemState.DONE, None)
    a, b, c, d = items
    assert store.runs.list_item_ids(run) == (a, b, c, d)
    assert store.runs.list_item_ids(run, order="score") == (b, a, c, d)
    assert store.runs.list_item_ids(run, order="missing") == (c, a, b, d)
    assert store.runs.list_item_ids(run, order="unlabelled") == (c, b, a, d)
    claim = store.runs.read_conversation_for_review(a, "me").claims[0].id
    store.label_log.append_label_event(
        claim, "me", Action.OVERRIDDEN, "no", run=run, judge_verdict="yes", saw_judge=True
    )
    assert store.runs.list_item_ids(run, order="overridden") == (a, b, c, d)
    assert store.runs.list_item_ids(run, order="corrected") == (a, b, c, d)
    assert [row.id for row in store.runs.read_item_rows([c, a, ItemId(999), c])] == [c, a, c]
    assert store.runs.read_item_rows([]) == ()
    assert store.runs.list_item_ids(RunId(99)) == ()


def test_the_view_numbers_documents_through_the_conversation(store: Store) -> None:
    fact, other = Document("Fact.", "a.md"), Document("Other.", None)
    conversation = replace(
        make_conversation(),
        turns=(
            Turn("user", "Q"),
            Turn("assistant", "A", (other, fact, other)),
            Turn("user", "Q"),
            Turn("assistant", "A", (fact,)),
            Turn("user", "Q"),
            Turn("assistant", "A", ()),
            Turn("user", "unanswered"),
        ),
    )
    _, item = judged(store, conversation, {1: ["yes"]})
    turns = store.runs.read_conversation_for_review(item, "me").turns
    shown = [
        None if turn.documents is None else [(each.number, each.text) for each in turn.documents]
        for turn in turns
    ]
    assert shown == [
        None,
        [(1, "Other."), (2, "Fact."), (1, "Other.")],
        None,
        [(2, "Fact.")],
        None,
        [],
        None,
    ]


def test_neighbours_are_conversations_that_have_claims(store: Store) -> None:
    _, items = planned(store, "a", "b", "c", "d")
    for item in (items[0], items[2], items[3]):
        store.runs.save_window(item, assess(windows_of(make_conversation())[0], {1: ["yes"]}))
    views = [store.runs.read_conversation_for_review(item, "me") for item in items]
    assert [(view.previous, view.next) for view in views] == [
        (None, items[2]),
        (items[0], items[2]),
        (items[0], items[3]),
        (items[2], None),
    ]


def test_what_is_not_there_is_named(store: Store) -> None:
    window = windows_of(make_conversation())[0]
    for use in (
        lambda: store.runs.read_conversation_for_review(ItemId(3), "me"),
        lambda: store.runs.save_window(ItemId(3), assess(window, {})),
        lambda: store.runs.score_and_finish_item(ItemId(3), ItemState.DONE, None),
    ):
        with pytest.raises(StoreError, match="there is no conversation 3 in any run"):
            use()


REPLY = StoredReply('{"a": "\ud800"}', "ok", True, 10, 3, 2, "req-1", "model-1", 250)


def test_a_reply_is_found_again_and_its_tokens_are_counted(store: Store) -> None:
    run, (item,) = planned(store, "one")
    assert store.calls.find_usable_reply("k") is None
    for _ in range(2):
        store.calls.save_reply_release_lease_and_add_totals(
            CallContext("k", "offline", "claims", run, item), REPLY
        )
    assert store.calls.find_usable_reply("k") == replace(REPLY, text='{"a": "\ufffd"}')
    assert store.calls.find_usable_reply("other") is None
    row = store.runs.read_run(run)
    assert (row.calls, row.tokens_in, row.tokens_out) == (2, 20, 6)


def test_a_malformed_reply_is_kept_counted_and_never_a_hit(store: Store) -> None:
    run, (item,) = planned(store, "one")
    bad = replace(REPLY, text="Sorry", tokens_in=None, tokens_out=None)
    store.calls.save_reply_release_lease_and_add_totals(
        CallContext("k", "j", "claims", run, item, usable=False), bad
    )
    assert store.calls.find_usable_reply("k") is None
    assert store.runs.read_run(run).calls == 1
    good = replace(bad, text="{}")
    store.calls.save_reply_release_lease_and_add_totals(CallContext("k", "j", "claims"), good)
    assert store.calls.find_usable_reply("k") == good
    assert store.runs.read_run(run).calls == 1


def test_a_run_starts_with_its_first_question_however_long_it_was_planned(store: Store) -> None:
    run, (item,) = planned(store, "one")
    assert store.runs.read_run(run).created_at == at_second(1)
    assert store.run_contents.find_start_time(run) is None
    store.runs.set_state(run, RunState.CANCELLED)
    store.runs.set_state(run, RunState.RUNNING)
    for key in ("k", "l"):
        store.calls.save_reply_release_lease_and_add_totals(
            CallContext(key, "offline", "claims", run, item), replace(REPLY, latency_ms=250)
        )
    stored_at = store.run_contents.find_start_time(run)
    assert stored_at == at_second(3) - timedelta(milliseconds=250)


def test_a_run_that_asks_nothing_starts_with_its_first_window(store: Store) -> None:
    run, items = planned(store, "a", "b")
    store.runs.set_state(run, RunState.CANCELLED)
    (window, *_) = windows_of(make_conversation("b"))
    for item in reversed(items):
        store.runs.save_window(item, assess(window, {1: ["yes"]}))
    assert store.run_contents.find_start_time(run) == at_second(3)


def test_windows_of_a_pending_conversation_can_be_reviewed(store: Store) -> None:
    _, item = judged(store, make_conversation(), {1: ["yes"]}, finish=None)
    view = store.runs.read_conversation_for_review(item, "me")
    assert view.item.state is ItemState.PENDING
    assert [claim.id for claim in view.claims] == [ClaimId(1)]
    assert [window.corrected for window in view.windows] == [make_score(1.0), make_score(1.0)]


def test_archived_runs_stay_and_are_not_the_last_one(store: Store) -> None:
    first, second = (store.runs.create(SPEC, store.conversations.list_ids()) for _ in range(2))
    store.runs.archive([second])
    assert store.runs.find_newest_run_id() == first
    assert [row.archived_at is None for row in store.runs.list_runs()] == [False, True]
    store.runs.archive([first])
    assert store.runs.find_newest_run_id() == second, "where all are archived, the newest of them"
    store.runs.restore([first, second])
    assert all(row.archived_at is None for row in store.runs.list_runs())


def test_a_run_that_does_not_exist_archives_none(store: Store) -> None:
    run = store.runs.create(SPEC, store.conversations.list_ids())
    with pytest.raises(StoreError, match="there is no run 99"):
        store.runs.archive([run, RunId(99)])
    assert store.runs.read_run(run).archived_at is None


UNDEFINED = make_empty_score(ScoreState.UNDEFINED, "the judge drew no claims from the answer")
NOT_COMPARED = make_empty_score(ScoreState.UNDEFINED, "there is no document")
LATER = replace(SPEC, rule=replace(RULE, when_empty=None))


def test_windows_and_conversations_without_a_score_are_counted(store: Store) -> None:
    store.conversations.import_batch([make_conversation("one"), make_conversation("two")])
    run = store.runs.create(LATER, store.conversations.list_ids())
    one, two = store.runs.list_item_ids(run)
    first, second = windows_of(make_conversation(), 1)
    for item, labels in ((one, {3: ["no", "yes"]}), (two, {})):
        store.runs.save_window(item, assess(first, {}, rule=LATER.rule, score=UNDEFINED))
        score = None if labels else UNDEFINED
        store.runs.save_window(item, assess(second, labels, rule=LATER.rule, score=score))
        store.runs.score_and_finish_item(item, ItemState.DONE, None)
    row = store.runs.read_run(run)
    assert (row.score, row.scored, row.undefined) == (0.5, 1, 1)
    assert (row.windows, row.undefined_windows, row.skipped_windows) == (4, 3, 0)
    assert store.run_contents.count_unscored_conversations_by_reason(run) == {UNDEFINED.reason: 1}
    scored_item, undefined_item = store.runs.read_item_rows([one, two])
    assert scored_item.scores is not None
    assert scored_item.scores.windowed == Score(0.5, undefined=1)
    assert scored_item.scores.per_interaction == Score(0.5, undefined=1)
    assert undefined_item.scores == ScoreSet(
        replace(UNDEFINED, undefined=2), replace(UNDEFINED, undefined=2), UNDEFINED
    )


def test_where_nothing_was_compared_only_what_people_say_counts(store: Store) -> None:
    store.conversations.import_batch([make_conversation("one", answers=1)])
    run = store.runs.create(LATER, store.conversations.list_ids())
    (item,) = store.runs.list_item_ids(run)
    (only,) = windows_of(make_conversation(answers=1))
    store.runs.save_window(
        item, assess(only, {1: ["idk", "idk"]}, rule=LATER.rule, score=NOT_COMPARED)
    )
    store.runs.score_and_finish_item(item, ItemState.DONE, None)
    view = store.runs.read_conversation_for_review(item, "me")
    assert view.item.scores == view.item.corrected
    assert view.windows[0].corrected == NOT_COMPARED
    (answered,) = store.runs.read_conversation_across_runs(view.item.conversation).answers
    (cell,) = answered.cells
    assert cell is not None
    assert (cell.score, cell.corrected) == (NOT_COMPARED, NOT_COMPARED)
    store.label_log.append_label_event(
        view.claims[0].id, "me", Action.BLIND, "no", run=run, judge_verdict=None, saw_judge=False
    )
    after = store.runs.read_conversation_for_review(item, "me")
    assert after.windows[0].corrected == make_score(0.0)
    assert after.item.corrected == all_three(make_score(0.0))
    assert after.item.scores == view.item.scores
    row = store.runs.read_run(run)
    assert (row.score, row.corrected, row.corrected_scored, row.undefined) == (None, 0.0, 1, 1)
    (cell,) = store.runs.read_conversation_across_runs(view.item.conversation).answers[0].cells
    assert cell is not None
    assert (cell.score, cell.corrected) == (NOT_COMPARED, make_score(0.0))
