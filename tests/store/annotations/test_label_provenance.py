"""When labels were given, and under which guideline."""

from faithtui.domain.conversation import Rating
from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import Action
from faithtui.store.annotations.guidelines import find_default_guideline
from faithtui.store.store import Store
from tests.store.building import imported, judged, make_conversation

LABELS = {1: ("yes", "no"), 3: ("yes",)}


def say(store: Store, run: RunId, place: int, verdict: str, action: Action = Action.BLIND) -> None:
    item = store.runs.list_item_ids(run)[0]
    claim = store.runs.read_conversation_for_review(item, "ann").claims[place]
    store.label_log.append_label_event(
        claim.id, "ann", action, verdict, run=run, judge_verdict="yes", saw_judge=False
    )


def test_without_labels_nothing_is_known(store: Store) -> None:
    run, _ = judged(store, make_conversation(), LABELS)
    found = store.provenance.read_label_origins(run)
    assert (found.newest_at, dict(found.guidelines)) == (None, {})


def test_verdicts_that_stand_are_counted_by_guideline(store: Store) -> None:
    run, _ = judged(store, make_conversation(), LABELS)
    say(store, run, 0, "yes")
    first = store.provenance.read_label_origins(run).newest_at
    assert first is not None
    guideline = store.guidelines.add_version("Read twice.", "ann")
    say(store, run, 1, "no")
    say(store, run, 2, "yes", Action.BULK)
    found = store.provenance.read_label_origins(run)
    default = find_default_guideline("turn-faithfulness")
    assert default is not None
    assert dict(found.guidelines) == {default.digest: 1, guideline.digest: 1}
    assert found.newest_at is not None
    assert found.newest_at > first
    store.label_log.undo("ann")
    store.label_log.undo("ann")
    after = store.provenance.read_label_origins(run)
    assert (after.newest_at, dict(after.guidelines)) == (first, {default.digest: 1})


def test_labels_that_came_with_data_have_a_time_and_no_guideline(store: Store) -> None:
    store.guidelines.add_version("Read twice.", "ann")
    rating = Rating(1, "bo", "mtrag-faithfulness-1-4", "4")
    run, _ = judged(store, make_conversation(ratings=[rating]), LABELS)
    found = store.provenance.read_label_origins(run)
    assert found.newest_at is not None
    assert dict(found.guidelines) == {}


def test_what_another_run_judged_does_not_count(store: Store) -> None:
    run, _ = judged(store, make_conversation(), LABELS)
    other, _ = judged(store, make_conversation("two"), LABELS)
    rating = Rating(1, "bo", "expertqa-support", "Complete", claim="Nobody judged this.")
    imported(store, make_conversation(ratings=[rating]))
    say(store, other, 0, "yes")
    assert store.provenance.read_label_origins(run).newest_at is None
    assert store.provenance.read_label_origins(other).newest_at is not None


def test_labels_of_a_set_count_for_the_claims_that_match_it(store: Store) -> None:
    run, _ = judged(store, make_conversation(), LABELS)
    other, _ = judged(store, make_conversation("two"), LABELS)
    say(store, run, 0, "yes")
    say(store, other, 0, "yes")
    given = {each: store.labelled_units.read_claim_units(each)[0].claim for each in (run, other)}
    # A run of the same conversation whose judge worded every claim itself.
    worded, _ = judged(store, make_conversation(), {})
    assert store.provenance.read_label_origins(worded).newest_of_judged is None
    found = store.provenance.read_label_origins(worded, list(given.values()))
    # Labels of other conversations do not count.
    assert found.newest_of_judged == store.provenance.read_label_origins(run).newest_of_judged
    assert sum(found.guidelines.values()) == 1
