from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.ids import ClaimId, LabelId, SampleId
from faithtui.domain.labels.label_events import (
    COUNTED_ACTIONS,
    Action,
    HumanVerdict,
    LabelEvent,
    LabelMark,
    MarkedPassage,
    choose_majority_or_severest_verdict,
    describe_event_without_verdict,
    drop_withdrawn_events,
    find_redo_in_log_tail,
    find_undo_in_log_tail,
    list_claim_reviewer_exposures_to_judge,
    list_events_to_redo,
    list_events_to_undo,
    merge_overlapping_evidence_marks,
    replay_log_into_verdicts,
    toggle_evidence_mark,
)

ANN, BEN = "ann", "ben"
VERDICTS = ("yes", "no", "idk", "x")


class Log:
    """An append-only log, written the way the store writes it."""

    def __init__(self) -> None:
        self.acts: list[LabelEvent] = []

    def add(
        self,
        claim: int = 1,
        verdict: str | None = None,
        *,
        action: Action = Action.BLIND,
        reviewer: str = ANN,
        note: str | None = None,
        target: LabelId | None = None,
        batch: str | None = None,
        code: str | None = None,
        mark: LabelMark | None = None,
        saw_judge: bool = False,
        evidence: tuple[MarkedPassage, ...] = (),
        sample: SampleId | None = None,
    ) -> LabelEvent:
        act = LabelEvent(
            LabelId(len(self.acts) + 1),
            ClaimId(claim),
            reviewer,
            action,
            verdict,
            note,
            target,
            batch,
            code,
            mark,
            saw_judge,
            sample,
            evidence=evidence,
        )
        self.acts.append(act)
        return act

    def undo(self, reviewer: str = ANN) -> None:
        for act in reversed(list_events_to_undo(self.acts, reviewer)):
            self.add(act.claim, action=Action.WITHDRAWN, reviewer=reviewer, target=act.id)

    def redo(self, reviewer: str = ANN) -> None:
        for act in reversed(list_events_to_redo(self.acts, reviewer)):
            self.add(act.claim, action=Action.RESTORED, reviewer=reviewer, target=act.id)

    def says(self, claim: int = 1, reviewer: str = ANN) -> str | None:
        found = replay_log_into_verdicts(self.acts).get((ClaimId(claim), reviewer))
        return found.verdict if found else None


steps = st.lists(
    st.one_of(
        st.tuples(st.integers(1, 3), st.sampled_from(VERDICTS)),
        st.sampled_from(("undo", "redo")),
    ),
    max_size=30,
)


def follow(log: Log, step: object, reviewer: str = ANN) -> None:
    match step:
        case (int(claim), str(verdict)):
            log.add(claim, verdict, reviewer=reviewer)
        case "undo":
            log.undo(reviewer)
        case _:
            log.redo(reviewer)


@given(steps)
def test_any_sequence_of_acts_undos_and_redos_is_the_same_as_an_editor_keeping_stacks(
    some: list[object],
) -> None:
    log = Log()
    done: list[tuple[int, str]] = []
    undone: list[tuple[int, str]] = []
    for step in some:
        follow(log, step)
        match step:
            case (int(claim), str(verdict)):
                done.append((claim, verdict))
                undone.clear()
            case "undo" if done:
                undone.append(done.pop())
            case "redo" if undone:
                done.append(undone.pop())
    expected = dict(done)
    found = {claim: each.verdict for (claim, _), each in replay_log_into_verdicts(log.acts).items()}
    assert found == expected
    assert [(act.claim, act.verdict) for act in drop_withdrawn_events(log.acts)] == done


odd_acts = st.tuples(
    st.sampled_from(
        [Action.BLIND, Action.BLIND, Action.WITHDRAWN, Action.WITHDRAWN, Action.RESTORED,
         Action.NOTED, Action.REVEALED]
    ),
    st.sampled_from([ANN, ANN, ANN, BEN]),
    st.integers(0, 30),
    st.sampled_from([None, None, None, "a", "b"]),
)  # fmt: skip
"""Acts of merged logs: whatever stands anywhere, with targets that may not be there."""


@given(st.lists(odd_acts, max_size=30), st.integers(0, 30))
def test_the_end_of_a_log_tells_what_the_whole_log_does_or_nothing(
    acts: list[tuple[Action, str, int, str | None]], left_out: int
) -> None:
    log = Log()
    for action, reviewer, target, batch in acts:
        refers = action in (Action.WITHDRAWN, Action.RESTORED)
        log.add(
            action=action,
            reviewer=reviewer,
            verdict="yes" if action is Action.BLIND else None,
            target=LabelId(target) if refers else None,
            batch=None if refers else batch,
        )
    end = log.acts[left_out:]
    assert find_undo_in_log_tail(end, ANN) in (None, list_events_to_undo(log.acts, ANN))
    assert find_redo_in_log_tail(end, ANN) in (None, list_events_to_redo(log.acts, ANN))


def test_the_end_of_a_log_is_enough_for_what_was_done_last() -> None:
    log = Log()
    for number in range(10):
        log.add(number, "yes")
    last = log.acts[-1]
    assert find_undo_in_log_tail(log.acts[-1:], ANN) == (last,)
    assert find_redo_in_log_tail(log.acts[-1:], ANN) == ()
    log.undo()
    assert find_undo_in_log_tail(log.acts[-1:], ANN) is None
    assert find_redo_in_log_tail(log.acts[-2:], ANN) == (last,)
    assert find_undo_in_log_tail(log.acts[-3:], ANN) == (log.acts[-3],)


@given(steps)
def test_undo_then_redo_changes_nothing(some: list[object]) -> None:
    log = Log()
    for step in some:
        follow(log, step)
    before, top = replay_log_into_verdicts(log.acts), list_events_to_undo(log.acts, ANN)
    log.undo()
    if top:
        log.redo()
    assert replay_log_into_verdicts(log.acts) == before
    assert list_events_to_undo(log.acts, ANN) == top


@given(steps)
def test_undoing_everything_leaves_nothing(some: list[object]) -> None:
    log = Log()
    for step in some:
        follow(log, step)
    while list_events_to_undo(log.acts, ANN):
        log.undo()
    assert replay_log_into_verdicts(log.acts) == {}


@given(steps, steps)
def test_reviewers_do_not_undo_each_other(ours: list[object], theirs: list[object]) -> None:
    alone, together = Log(), Log()
    for step in ours:
        follow(alone, step)
    for number in range(max(len(ours), len(theirs))):
        for some, reviewer in ((ours, ANN), (theirs, BEN)):
            if number < len(some):
                follow(together, some[number], reviewer)

    def of_ann(log: Log) -> list[tuple[int, str | None]]:
        return [
            (act.claim, act.verdict)
            for act in drop_withdrawn_events(log.acts)
            if act.reviewer == ANN
        ]

    assert of_ann(together) == of_ann(alone)


def test_a_new_act_clears_redo() -> None:
    log = Log()
    log.add(1, "yes")
    log.undo()
    assert list_events_to_redo(log.acts, ANN)
    log.add(2, "no")
    assert list_events_to_redo(log.acts, ANN) == ()
    log.redo()
    assert log.says(1) is None
    assert log.says(2) == "no"


def test_an_empty_log_has_nothing_to_undo_or_redo() -> None:
    assert list_events_to_undo([], ANN) == ()
    assert list_events_to_redo([], ANN) == ()
    assert replay_log_into_verdicts([]) == {}


def test_imported_acts_cannot_be_undone() -> None:
    log = Log()
    log.add(1, "no", action=Action.IMPORTED)
    assert list_events_to_undo(log.acts, ANN) == ()
    own = log.add(1, "yes")
    assert list_events_to_undo(log.acts, ANN) == (own,)
    log.undo()
    assert list_events_to_undo(log.acts, ANN) == ()
    assert log.says(1) == "no"


@pytest.mark.parametrize("action", [Action.WITHDRAWN, Action.RESTORED])
@pytest.mark.parametrize("target", [None, 1, 99])
def test_a_row_that_aims_at_no_act_of_its_stack_moves_nothing(
    action: Action, target: int | None
) -> None:
    log = Log()
    act = log.add(1, "yes", reviewer=BEN)
    log.add(1, action=action, reviewer=ANN, target=None if target is None else LabelId(target))
    assert list_events_to_undo(log.acts, BEN) == (act,)
    assert list_events_to_undo(log.acts, ANN) == ()
    assert list_events_to_redo(log.acts, ANN) == ()


def test_acts_without_a_target_withdraw_and_restore_nothing() -> None:
    log = Log()
    act = log.add(1, "yes")
    log.add(1, action=Action.WITHDRAWN)
    log.add(1, action=Action.RESTORED)
    assert act in drop_withdrawn_events(log.acts)
    assert list_events_to_undo(log.acts, ANN) == (act,)


def test_the_last_standing_verdict_of_a_claim_counts() -> None:
    log = Log()
    log.add(1, "yes")
    log.add(1, "no", action=Action.OVERRIDDEN)
    assert replay_log_into_verdicts(log.acts)[ClaimId(1), ANN] == HumanVerdict(
        ClaimId(1), ANN, "no", Action.OVERRIDDEN
    )
    log.undo()
    assert log.says() == "yes"


def test_a_note_keeps_the_verdict_and_a_verdict_keeps_the_note() -> None:
    log = Log()
    log.add(1, "yes")
    log.add(1, action=Action.NOTED, note="see page 3")
    log.add(1, "no")
    assert replay_log_into_verdicts(log.acts)[ClaimId(1), ANN] == HumanVerdict(
        ClaimId(1), ANN, "no", Action.BLIND, "see page 3"
    )


def test_a_note_alone_is_no_verdict() -> None:
    log = Log()
    log.add(1, action=Action.NOTED, note="later")
    found = replay_log_into_verdicts(log.acts)[ClaimId(1), ANN]
    assert (found.verdict, found.action, found.note) == (None, None, "later")
    assert not found.is_counted


def test_an_empty_note_removes_the_note() -> None:
    log = Log()
    log.add(1, "yes", note="why?")
    log.add(1, action=Action.NOTED, note="")
    assert replay_log_into_verdicts(log.acts)[ClaimId(1), ANN].note is None
    assert log.says() == "yes"


def test_a_claim_with_a_removed_note_and_no_verdict_is_not_there() -> None:
    log = Log()
    log.add(1, action=Action.NOTED, note="why?")
    log.add(1, action=Action.NOTED, note="")
    assert replay_log_into_verdicts(log.acts) == {}


@pytest.mark.parametrize("sample", [None, SampleId(1), SampleId(2)])
def test_skipping_takes_no_earlier_verdict_away(sample: SampleId | None) -> None:
    """The label may be hidden from whoever skips: of another sample, or of another app just now."""
    log = Log()
    log.add(1, "no", code="truth", sample=SampleId(1))
    log.add(1, action=Action.SKIPPED, note="hm", sample=sample)
    found = replay_log_into_verdicts(log.acts)[ClaimId(1), ANN]
    assert (found.verdict, found.action, found.code) == ("no", Action.BLIND, "truth")
    assert (found.sample, found.note) == (SampleId(1), "hm")
    assert found.is_counted
    assert found.skipped_since
    assert not found.is_skipped


@pytest.mark.parametrize("action", [Action.BULK, Action.ACCEPTED])
def test_a_claim_whose_label_does_not_count_is_skipped_all_the_same(action: Action) -> None:
    log = Log()
    log.add(1, "no", action=action)
    log.add(1, action=Action.SKIPPED)
    found = replay_log_into_verdicts(log.acts)[ClaimId(1), ANN]
    assert (found.verdict, found.action, found.is_skipped) == ("no", action, True)
    log.add(1, "yes")
    assert not replay_log_into_verdicts(log.acts)[ClaimId(1), ANN].skipped_since


def test_a_skip_stands_once_the_label_before_it_is_taken_back() -> None:
    log = Log()
    log.add(1, "no")
    log.add(1, action=Action.SKIPPED)
    log.add(1, action=Action.WITHDRAWN, target=log.acts[0].id)
    found = replay_log_into_verdicts(log.acts)[ClaimId(1), ANN]
    assert (found.verdict, found.action, found.is_skipped) == (None, Action.SKIPPED, True)


@pytest.mark.parametrize("action", list(Action))
def test_only_a_reading_of_the_claim_counts(action: Action) -> None:
    given_by_hand = HumanVerdict(ClaimId(1), ANN, "x", action)
    assert given_by_hand.is_counted == (action in COUNTED_ACTIONS)
    assert (Action.BULK in COUNTED_ACTIONS, Action.BLIND in COUNTED_ACTIONS) == (False, True)


def test_undo_and_redo_find_their_act_in_a_long_session() -> None:
    log = [LabelEvent(LabelId(n), ClaimId(n), ANN, Action.BLIND, "yes") for n in range(10_000)]
    log += [
        LabelEvent(LabelId(20_000 + n), ClaimId(n), ANN, Action.WITHDRAWN, target=LabelId(n))
        for n in reversed(range(5_000, 10_000))
    ]
    (undo,), (redo,) = list_events_to_undo(log, ANN), list_events_to_redo(log, ANN)
    assert (undo.id, redo.id) == (4_999, 5_000)


# Steps of many acts, codes, marks


def test_what_was_given_at_once_is_undone_and_redone_at_once() -> None:
    log = Log()
    log.add(1, "yes")
    for claim in (1, 2, 3):
        log.add(claim, "no", action=Action.BULK, batch="b")
    assert [act.claim for act in list_events_to_undo(log.acts, ANN)] == [1, 2, 3]
    log.undo()
    assert [log.says(claim) for claim in (1, 2, 3)] == ["yes", None, None]
    log.redo()
    assert [log.says(claim) for claim in (1, 2, 3)] == ["no", "no", "no"]
    log.undo()
    log.undo()
    assert replay_log_into_verdicts(log.acts) == {}


def state(log: Log, claim: int = 1) -> HumanVerdict:
    return replay_log_into_verdicts(log.acts)[ClaimId(claim), ANN]


def test_a_code_and_a_doubt_belong_to_the_verdict_and_go_with_it() -> None:
    log = Log()
    log.add(1, "no")
    log.add(1, action=Action.CODED, code="truth")
    log.add(1, action=Action.MARKED, mark=LabelMark.UNSURE)
    assert (state(log).verdict, state(log).code, state(log).unsure) == ("no", "truth", True)
    log.add(1, "yes")
    assert (state(log).verdict, state(log).code, state(log).unsure) == ("yes", None, False)
    log.undo()
    log.undo()
    assert (state(log).code, state(log).unsure) == ("truth", False)
    log.add(1, action=Action.CODED)
    assert state(log).code is None


def test_a_flag_and_a_note_stay_with_the_claim() -> None:
    log = Log()
    log.add(1, action=Action.MARKED, mark=LabelMark.FLAG)
    log.add(1, action=Action.NOTED, note="odd")
    log.add(1, "yes")
    assert (state(log).flagged, state(log).note, state(log).verdict) == (True, "odd", "yes")
    log.add(1, action=Action.MARKED, mark=LabelMark.UNFLAG)
    assert not state(log).flagged


def test_a_second_verdict_of_ones_own_changes_nothing() -> None:
    log = Log()
    log.add(1, "yes")
    before = state(log)
    log.add(1, "no", action=Action.REPEATED)
    assert state(log) == before


def test_having_looked_cannot_be_undone() -> None:
    log = Log()
    log.add(1, action=Action.REVEALED)
    log.add(2, "yes", action=Action.AGREED, saw_judge=True)
    log.undo()
    assert list_events_to_undo(log.acts, ANN) == ()
    assert list_claim_reviewer_exposures_to_judge(log.acts) == {
        (ClaimId(1), ANN),
        (ClaimId(2), ANN),
    }
    assert replay_log_into_verdicts(log.acts) == {}


@pytest.mark.parametrize("action", [Action.ACCEPTED, Action.BULK])
def test_what_was_taken_over_or_given_in_bulk_is_no_reading(action: Action) -> None:
    log = Log()
    log.add(1, "yes", action=action)
    assert state(log).verdict == "yes"
    assert not state(log).is_counted


# Consensus


def said(*verdicts: str, action: Action = Action.BLIND) -> list[HumanVerdict]:
    return [
        HumanVerdict(ClaimId(1), f"r{n}", verdict, action) for n, verdict in enumerate(verdicts)
    ]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([], None),
        (["yes"], "yes"),
        (["yes", "yes", "no"], "yes"),
        (["yes", "no"], "no"),
        (["yes", "idk"], "idk"),
        (["idk", "no"], "no"),
        (["no", "x"], "x"),
        (["yes", "no", "idk", "x"], "x"),
        (["no", "no", "x"], "no"),
        (["odd", "yes"], "yes"),
    ],
)
def test_the_majority_wins_and_a_tie_goes_to_the_most_severe(
    verdicts: list[str], expected: str | None
) -> None:
    assert choose_majority_or_severest_verdict(said(*verdicts)) == expected
    assert choose_majority_or_severest_verdict(said(*verdicts)[::-1]) == expected


def test_the_last_adjudicated_verdict_wins_over_any_majority() -> None:
    votes = said("no", "no", "no")
    final = said("yes", "idk", action=Action.ADJUDICATED)
    assert choose_majority_or_severest_verdict([final[0], *votes]) == "yes"
    assert choose_majority_or_severest_verdict([*final, *votes]) == "idk"


def test_verdicts_that_do_not_count_are_left_out() -> None:
    bulk = said("no", "no", action=Action.BULK)
    skipped = HumanVerdict(ClaimId(1), ANN, None, Action.SKIPPED)
    assert choose_majority_or_severest_verdict([*bulk, skipped]) is None
    assert choose_majority_or_severest_verdict([*bulk, skipped, *said("yes")]) == "yes"


@given(st.lists(st.sampled_from(VERDICTS), min_size=1))
def test_a_consensus_is_one_of_the_most_frequent_verdicts(verdicts: list[str]) -> None:
    found = choose_majority_or_severest_verdict(said(*verdicts))
    assert found is not None
    assert verdicts.count(found) == max(verdicts.count(each) for each in verdicts)


MARKS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 8), st.integers(1, 4)).map(
        lambda drawn: MarkedPassage(drawn[0], drawn[1], drawn[1] + drawn[2])
    ),
    max_size=6,
)


def marked_characters(marks: Iterable[MarkedPassage]) -> set[tuple[str, int]]:
    return {(each.document, at) for each in marks for at in range(each.start, each.end)}


@given(MARKS)
def test_marks_that_meet_become_one(marks: list[MarkedPassage]) -> None:
    merged = merge_overlapping_evidence_marks(marks)
    assert marked_characters(merged) == marked_characters(marks)
    assert list(merged) == sorted(merged)
    for one, other in pairwise(merged):
        assert one.document != other.document or one.end < other.start


@given(MARKS.map(merge_overlapping_evidence_marks), MARKS.filter(bool))
def test_to_mark_what_is_marked_takes_the_mark_away(
    marks: tuple[MarkedPassage, ...], more: list[MarkedPassage]
) -> None:
    before, stretch = marked_characters(marks), marked_characters(more[:1])
    after = marked_characters(toggle_evidence_mark(marks, more[0]))
    assert after == (before - stretch if stretch <= before else before | stretch)
    assert toggle_evidence_mark(marks, more[0]) == merge_overlapping_evidence_marks(
        toggle_evidence_mark(marks, more[0])
    )


def test_evidence_stands_beside_the_verdict_whichever_came_first() -> None:
    log, first, second = Log(), MarkedPassage("a", 0, 3), MarkedPassage("b", 1, 2)
    log.add(action=Action.EVIDENCE, evidence=(first,))
    (found,) = replay_log_into_verdicts(log.acts).values()
    assert (found.verdict, found.is_counted, found.has_content) == (None, False, True)
    log.add(verdict="no")
    log.add(action=Action.EVIDENCE, evidence=(first, second))
    (found,) = replay_log_into_verdicts(log.acts).values()
    assert (found.verdict, found.evidence) == ("no", (first, second))
    log.undo()
    (found,) = replay_log_into_verdicts(log.acts).values()
    assert (found.verdict, found.evidence) == ("no", (first,))
    log.add(action=Action.EVIDENCE)
    (found,) = replay_log_into_verdicts(log.acts).values()
    assert found.evidence == ()


def test_every_act_without_a_verdict_has_words_and_no_name_of_the_code() -> None:
    for mark in LabelMark:
        words = describe_event_without_verdict(Action.MARKED, mark)
        assert words not in ("marked", "unflag", "not-missed")
    assert describe_event_without_verdict(Action.NOTED, None) == "note"
    assert describe_event_without_verdict(Action.SKIPPED, None) == "skip"
