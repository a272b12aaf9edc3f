import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.ids import ClaimId, LabelId
from faithtui.domain.review import (
    COUNTED,
    Action,
    HumanVerdict,
    LabelAct,
    consensus,
    effective,
    next_redo,
    next_undo,
    standing_acts,
)

ANN, BEN = "ann", "ben"
VERDICTS = ("yes", "no", "idk", "x")


class Log:
    """An append-only log, written the way the store writes it."""

    def __init__(self) -> None:
        self.acts: list[LabelAct] = []

    def add(
        self,
        claim: int = 1,
        verdict: str | None = None,
        *,
        action: Action = Action.BLIND,
        reviewer: str = ANN,
        note: str | None = None,
        target: LabelId | None = None,
    ) -> LabelAct:
        act = LabelAct(
            LabelId(len(self.acts) + 1), ClaimId(claim), reviewer, action, verdict, note, target
        )
        self.acts.append(act)
        return act

    def undo(self, reviewer: str = ANN) -> None:
        act = next_undo(self.acts, reviewer)
        if act is not None:
            self.add(act.claim, action=Action.WITHDRAWN, reviewer=reviewer, target=act.id)

    def redo(self, reviewer: str = ANN) -> None:
        act = next_redo(self.acts, reviewer)
        if act is not None:
            self.add(act.claim, action=Action.RESTORED, reviewer=reviewer, target=act.id)

    def says(self, claim: int = 1, reviewer: str = ANN) -> str | None:
        found = effective(self.acts).get((ClaimId(claim), reviewer))
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
    found = {claim: each.verdict for (claim, _), each in effective(log.acts).items()}
    assert found == expected
    assert [(act.claim, act.verdict) for act in standing_acts(log.acts)] == done


@given(steps)
def test_undo_then_redo_changes_nothing(some: list[object]) -> None:
    log = Log()
    for step in some:
        follow(log, step)
    before, top = effective(log.acts), next_undo(log.acts, ANN)
    log.undo()
    if top is not None:
        log.redo()
    assert effective(log.acts) == before
    assert next_undo(log.acts, ANN) == top


@given(steps)
def test_undoing_everything_leaves_nothing(some: list[object]) -> None:
    log = Log()
    for step in some:
        follow(log, step)
    while next_undo(log.acts, ANN) is not None:
        log.undo()
    assert effective(log.acts) == {}


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
        return [(act.claim, act.verdict) for act in standing_acts(log.acts) if act.reviewer == ANN]

    assert of_ann(together) == of_ann(alone)


def test_a_new_act_clears_redo() -> None:
    log = Log()
    log.add(1, "yes")
    log.undo()
    assert next_redo(log.acts, ANN) is not None
    log.add(2, "no")
    assert next_redo(log.acts, ANN) is None
    log.redo()
    assert log.says(1) is None
    assert log.says(2) == "no"


def test_an_empty_log_has_nothing_to_undo_or_redo() -> None:
    assert next_undo([], ANN) is None
    assert next_redo([], ANN) is None
    assert effective([]) == {}


def test_imported_acts_cannot_be_undone() -> None:
    log = Log()
    log.add(1, "no", action=Action.IMPORTED)
    assert next_undo(log.acts, ANN) is None
    own = log.add(1, "yes")
    assert next_undo(log.acts, ANN) == own
    log.undo()
    assert next_undo(log.acts, ANN) is None
    assert log.says(1) == "no"


@pytest.mark.parametrize("action", [Action.WITHDRAWN, Action.RESTORED])
@pytest.mark.parametrize("target", [None, 1, 99])
def test_a_row_that_aims_at_no_act_of_its_stack_moves_nothing(
    action: Action, target: int | None
) -> None:
    log = Log()
    act = log.add(1, "yes", reviewer=BEN)
    log.add(1, action=action, reviewer=ANN, target=None if target is None else LabelId(target))
    assert next_undo(log.acts, BEN) == act
    assert next_undo(log.acts, ANN) is None
    assert next_redo(log.acts, ANN) is None


def test_acts_without_a_target_withdraw_and_restore_nothing() -> None:
    log = Log()
    act = log.add(1, "yes")
    log.add(1, action=Action.WITHDRAWN)
    log.add(1, action=Action.RESTORED)
    assert act in standing_acts(log.acts)
    assert next_undo(log.acts, ANN) == act


def test_the_last_standing_verdict_of_a_claim_counts() -> None:
    log = Log()
    log.add(1, "yes")
    log.add(1, "no", action=Action.OVERRIDDEN)
    assert effective(log.acts)[ClaimId(1), ANN] == HumanVerdict(
        ClaimId(1), ANN, "no", Action.OVERRIDDEN
    )
    log.undo()
    assert log.says() == "yes"


def test_a_note_keeps_the_verdict_and_a_verdict_keeps_the_note() -> None:
    log = Log()
    log.add(1, "yes")
    log.add(1, action=Action.NOTED, note="see page 3")
    log.add(1, "no")
    assert effective(log.acts)[ClaimId(1), ANN] == HumanVerdict(
        ClaimId(1), ANN, "no", Action.BLIND, "see page 3"
    )


def test_a_note_alone_is_no_verdict() -> None:
    log = Log()
    log.add(1, action=Action.NOTED, note="later")
    found = effective(log.acts)[ClaimId(1), ANN]
    assert (found.verdict, found.action, found.note) == (None, None, "later")
    assert not found.counts


def test_an_empty_note_removes_the_note() -> None:
    log = Log()
    log.add(1, "yes", note="why?")
    log.add(1, action=Action.NOTED, note="")
    assert effective(log.acts)[ClaimId(1), ANN].note is None
    assert log.says() == "yes"


def test_a_claim_with_a_removed_note_and_no_verdict_is_not_there() -> None:
    log = Log()
    log.add(1, action=Action.NOTED, note="why?")
    log.add(1, action=Action.NOTED, note="")
    assert effective(log.acts) == {}


def test_skipping_takes_an_earlier_verdict_back() -> None:
    log = Log()
    log.add(1, "yes")
    log.add(1, action=Action.SKIPPED)
    found = effective(log.acts)[ClaimId(1), ANN]
    assert (found.verdict, found.action) == (None, Action.SKIPPED)
    assert not found.counts


@pytest.mark.parametrize("action", list(Action))
def test_only_a_reading_of_the_claim_counts(action: Action) -> None:
    given_by_hand = HumanVerdict(ClaimId(1), ANN, "x", action)
    assert given_by_hand.counts == (action in COUNTED)
    assert (Action.BULK in COUNTED, Action.BLIND in COUNTED) == (False, True)


def test_undo_and_redo_find_their_act_in_a_long_session() -> None:
    log = [LabelAct(LabelId(n), ClaimId(n), ANN, Action.BLIND, "yes") for n in range(10_000)]
    log += [
        LabelAct(LabelId(20_000 + n), ClaimId(n), ANN, Action.WITHDRAWN, target=LabelId(n))
        for n in reversed(range(5_000, 10_000))
    ]
    undo, redo = next_undo(log, ANN), next_redo(log, ANN)
    assert undo is not None
    assert redo is not None
    assert (undo.id, redo.id) == (4_999, 5_000)


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
    assert consensus(said(*verdicts)) == expected
    assert consensus(said(*verdicts)[::-1]) == expected


def test_the_last_adjudicated_verdict_wins_over_any_majority() -> None:
    votes = said("no", "no", "no")
    final = said("yes", "idk", action=Action.ADJUDICATED)
    assert consensus([final[0], *votes]) == "yes"
    assert consensus([*final, *votes]) == "idk"


def test_verdicts_that_do_not_count_are_left_out() -> None:
    bulk = said("no", "no", action=Action.BULK)
    skipped = HumanVerdict(ClaimId(1), ANN, None, Action.SKIPPED)
    assert consensus([*bulk, skipped]) is None
    assert consensus([*bulk, skipped, *said("yes")]) == "yes"


@given(st.lists(st.sampled_from(VERDICTS), min_size=1))
def test_a_consensus_is_one_of_the_most_frequent_verdicts(verdicts: list[str]) -> None:
    found = consensus(said(*verdicts))
    assert found is not None
    assert verdicts.count(found) == max(verdicts.count(each) for each in verdicts)
