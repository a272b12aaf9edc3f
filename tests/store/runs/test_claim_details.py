"""What stands beside the claims of a run: passages, remarks, and second verdicts."""

from dataclasses import replace

import pytest

from faithtui.domain.conversation import Document
from faithtui.domain.ids import ClaimId, RunId
from faithtui.domain.labels.label_events import Action
from faithtui.errors import StoreError
from faithtui.store.store import Store
from tests.store.building import judged, make_conversation


def claims_of(store: Store, run: RunId) -> list[ClaimId]:
    return [each.claim for each in store.labelled_units.read_claim_units(run)]


def say(
    store: Store, claim: ClaimId, who: str, verdict: str, action: Action, note: str = ""
) -> None:
    store.label_log.append_label_event(
        claim,
        who,
        action,
        verdict,
        note=note or None,
        run=None,
        judge_verdict=None,
        saw_judge=False,
    )


def test_passages_are_those_in_view_of_the_home_window(store: Store) -> None:
    run, _ = judged(store, make_conversation(answers=2), {1: ["yes"], 3: ["no"]})
    first, second = claims_of(store, run)
    found = store.claim_details.read_passages(run, [first, second])
    # Windows hold the interactions before, too: the second answer was judged with both.
    assert found == {first: ("Fact 0.",), second: ("Fact 0.", "Fact 1.")}
    assert store.claim_details.read_passages(run, [second]) == {second: found[second]}
    assert store.claim_details.read_passages(run, []) == {}


def test_a_passage_that_comes_twice_is_given_once(store: Store) -> None:
    plain = make_conversation(answers=2)
    same = Document("Fact 0.", "b.md")
    turns = [
        replace(each, retrieval_context=(same,)) if each.role == "assistant" else each
        for each in plain.turns
    ]
    run, _ = judged(store, replace(plain, turns=tuple(turns)), {1: ["yes"], 3: ["no"]})
    assert set(store.claim_details.read_passages(run, claims_of(store, run)).values()) == {
        ("Fact 0.",)
    }


def test_passages_of_a_run_are_not_those_of_another(store: Store) -> None:
    one, _ = judged(store, make_conversation("one"), {1: ["yes"], 3: ["no"]})
    two, _ = judged(store, make_conversation("two"), {1: ["yes"], 3: ["no"]})
    assert store.claim_details.read_passages(one, claims_of(store, two)) == {}


def test_notes_are_what_people_stand_by(store: Store) -> None:
    run, _ = judged(store, make_conversation(answers=2), {1: ["yes"], 3: ["no"]})
    first, second = claims_of(store, run)
    assert store.claim_details.read_notes(run) == {}
    say(store, first, "ann", "no", Action.BLIND, "It is the other way round.")
    say(store, first, "bob", "no", Action.BLIND, "It is the other way round.")
    say(store, second, "ann", "no", Action.BLIND)
    assert store.claim_details.read_notes(run) == {first: ("It is the other way round.",)}
    store.label_log.undo("ann")
    store.label_log.undo("ann")
    store.label_log.undo("bob")
    assert store.claim_details.read_notes(run) == {}


def test_second_verdicts_come_with_their_group_and_the_time_between(store: Store) -> None:
    run, _ = judged(store, make_conversation(answers=2), {1: ["yes"], 3: ["no"]})
    first, second = claims_of(store, run)
    assert store.claim_details.read_second_verdicts(run) == ()
    say(store, first, "ann", "no", Action.BLIND)
    say(store, second, "ann", "yes", Action.BLIND)
    say(store, first, "ann", "yes", Action.REPEATED)
    (repeat,) = store.claim_details.read_second_verdicts(run)
    assert (repeat.reviewer, repeat.group, repeat.first, repeat.second) == (
        "ann",
        "one",
        "no",
        "yes",
    )
    assert repeat.gap_s > 0
    # The same that a comparison of all raters reads.
    assert (
        store.claim_details.read_second_verdicts(run)
        == store.raters.read_rater_records(run).repeats
    )


def test_repeats_of_no_run_are_an_error(store: Store) -> None:
    with pytest.raises(StoreError, match="there is no run 9"):
        store.claim_details.read_second_verdicts(RunId(9))
