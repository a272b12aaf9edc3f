import shutil
from dataclasses import astuple, replace
from datetime import UTC, datetime
from pathlib import Path

from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.store.records import (
    CallContext,
    FreshVerdict,
    ItemState,
    RunSpec,
    RunState,
    RunTotals,
    StoredReply,
    WorkerRow,
)
from faithtui.store.store import Store
from tests.store.building import SPEC, judged, make_conversation

REPLY = StoredReply(
    '{"a": 1}',
    "ok",
    structured=True,
    tokens_in=100,
    tokens_out=10,
    tokens_cached=60,
    request_id="r",
    served_model="m-1",
    latency_ms=250,
    rung="tool",
    tokens_cache_write=5,
    tokens_reasoning=7,
    cost_nusd=1_500,
    prices="2026-11",
)


def me(uid: str, beats: int = 0) -> WorkerRow:
    return WorkerRow(uid, "here", 1, beats, datetime(2026, 1, 1, tzinfo=UTC))


def planned(store: Store, key: str) -> tuple[RunId, tuple[ItemId, ...]]:
    store.conversations.import_batch([make_conversation(key)])
    run = store.runs.create(SPEC, store.conversations.list_ids())
    return run, store.runs.list_item_ids(run)


def alive(other: WorkerRow) -> bool:
    return False


def test_a_reply_comes_back_with_everything_that_was_known_of_it(store: Store) -> None:
    run, (item,) = planned(store, "one")
    totals = store.calls.save_reply_release_lease_and_add_totals(
        CallContext("k", "j", "claims", run, item, window=0), REPLY
    )
    found = store.calls.find_usable_reply("k")
    assert found == REPLY
    assert [type(each) for each in astuple(found)] == [type(each) for each in astuple(REPLY)]
    assert totals == RunTotals(1, 100, 10, 60, 1_500, 0)
    unpriced = replace(REPLY, cost_nusd=None)
    assert store.calls.save_reply_release_lease_and_add_totals(
        CallContext("k2", "j", "claims", run, item), unpriced
    ) == RunTotals(2, 200, 20, 120, 1_500, 1)
    row = store.runs.read_run(run)
    assert (row.cost_nusd, row.unpriced_calls, row.tokens_cached) == (1_500, 1, 120)


def test_a_call_outside_a_run_counts_for_none(store: Store) -> None:
    assert (
        store.calls.save_reply_release_lease_and_add_totals(CallContext("k", "j", "claims"), REPLY)
        is None
    )


def test_costs_belong_to_the_window_that_asked_first(store: Store) -> None:
    run, (item,) = planned(store, "one")
    for key, window in (("a", 0), ("b", 0), ("c", 1), ("d", None)):
        store.calls.save_reply_release_lease_and_add_totals(
            CallContext(key, "j", "claims", run, item, window=window), REPLY
        )
    costs = store.calls.sum_item_costs(item)
    assert costs.total == RunTotals(4, 400, 40, 240, 6_000, 0)
    assert {window: part.calls for window, part in costs.windows.items()} == {0: 2, 1: 1, None: 1}


def test_what_the_embedded_judge_said_before_there_were_costs_was_free(store: Store) -> None:
    run, (item,) = planned(store, "one")
    old = replace(REPLY, cost_nusd=None)
    for key, judge in (("a", "offline"), ("b", "openai:m"), ("c", "offline")):
        store.calls.save_reply_release_lease_and_add_totals(
            CallContext(key, judge, "claims", run, item), old
        )
    store.calls.save_reply_release_lease_and_add_totals(
        CallContext("d", "openai:m", "claims", run, item), REPLY
    )
    assert store.calls.sum_item_costs(item).total == RunTotals(4, 400, 40, 240, 1_500, 1)


def test_the_calls_of_a_conversation_are_listed_with_the_unusable_ones(store: Store) -> None:
    run, (item,) = planned(store, "one")
    bad = replace(REPLY, text="Sorry")
    store.calls.save_reply_release_lease_and_add_totals(
        CallContext("k", "j", "claims", run, item, window=1, usable=False), bad
    )
    store.calls.save_reply_release_lease_and_add_totals(
        CallContext("k", "j", "claims", run, item, window=1, replicate=2), REPLY
    )
    first, second = store.calls.list_item_calls(item)
    assert (first.usable, first.reply.text, first.window) == (False, "Sorry", 1)
    assert (second.usable, second.reply, second.replicate) == (True, REPLY, 2)


def test_what_works_with_a_judge_is_remembered_until_it_is_forgotten(store: Store) -> None:
    assert store.calls.recall_output_format("f") is None
    store.calls.remember_output_format("f", "tool")
    store.calls.remember_output_format("f", "json")
    assert store.calls.recall_output_format("f") == "json"
    store.calls.remember_output_format("f", None)
    assert store.calls.recall_output_format("f") is None


def test_a_lease_keeps_others_off_until_the_reply_is_there(store: Store) -> None:
    store.workers.add_worker(me("a"))
    store.workers.add_worker(me("b"))
    assert store.workers.try_to_take_lease("k", "a", alive)
    assert not store.workers.try_to_take_lease("k", "b", alive)
    store.calls.save_reply_release_lease_and_add_totals(
        CallContext("k", "j", "s", worker="a"), REPLY
    )
    assert store.workers.try_to_take_lease("k", "b", alive)
    store.workers.release_lease("k", "b")
    assert store.workers.try_to_take_lease("k", "a", alive)


def test_a_lease_of_somebody_who_is_gone_is_taken_over(store: Store) -> None:
    asked: list[WorkerRow] = []

    def is_gone(other: WorkerRow) -> bool:
        asked.append(other)
        return True

    store.workers.add_worker(me("a"))
    assert store.workers.try_to_take_lease("k", "a", is_gone)
    assert asked == [], "nobody has it, so nobody is asked about"
    assert store.workers.try_to_take_lease("k", "b", is_gone)
    assert [each.uid for each in asked] == ["a"]
    store.workers.add_worker(me("b"))
    assert not store.workers.try_to_take_lease("k", "a", alive), "it is another one's now"


def test_only_the_holder_gives_a_lease_back(store: Store) -> None:
    store.workers.add_worker(me("a"))
    store.workers.try_to_take_lease("k", "a", alive)
    store.workers.release_lease("k", "b")
    assert not store.workers.try_to_take_lease("k", "b", alive)


def test_a_dead_process_holds_nothing(store: Store) -> None:
    store.workers.add_worker(me("a"))
    store.workers.try_to_take_lease("k", "a", alive)
    seen: list[WorkerRow] = []

    def is_dead(other: WorkerRow) -> bool:
        seen.append(other)
        return True

    store.workers.record_heartbeat("a")
    assert store.workers.try_to_take_lease("k", "b", is_dead)
    assert [(each.uid, each.beats) for each in seen] == [("a", 1)]


def test_whoever_ends_gives_all_its_leases_back(store: Store) -> None:
    store.workers.add_worker(me("a"))
    for key in "kl":
        store.workers.try_to_take_lease(key, "a", alive)
    store.workers.remove_worker_and_leases("a")
    assert store.workers.try_to_take_lease("k", "b", alive)
    assert store.workers.try_to_take_lease("l", "b", alive)


def test_retries_are_counted_in_the_run(store: Store) -> None:
    run, _ = planned(store, "one")
    store.calls.add_to_run_retry_count(run, 3)
    store.calls.add_to_run_retry_count(run, 2)
    assert store.runs.read_run(run).retries == 5


def test_fresh_verdicts_stand_beside_the_run_in_order(store: Store) -> None:
    _, item = judged(store, make_conversation(), {1: ["yes"]})
    claim = store.runs.read_conversation_for_review(item, "me").claims[0].id
    fresh = FreshVerdict(item, ClaimId(claim), 0, 1, "no", "No", "why", 0.5, "ann")
    store.calls.add_re_asked_verdict(fresh)
    store.calls.add_re_asked_verdict(replace(fresh, replicate=2, label="yes", confidence=None))
    assert [each.label for each in store.calls.list_re_asked_verdicts(item)] == ["no", "yes"]
    assert store.calls.list_re_asked_verdicts(item)[0] == fresh


def test_a_budget_can_be_changed(store: Store) -> None:
    run, _ = planned(store, "one")
    assert store.runs.read_run(run).spec.budget_nusd is None
    store.runs.set_budget(run, 5, 6)
    spec = store.runs.read_run(run).spec
    assert (spec.budget_nusd, spec.budget_tokens) == (5, 6)


def test_the_claims_of_a_run_are_listed_in_the_order_of_the_text(store: Store) -> None:
    run, item = judged(store, make_conversation(), {1: ["yes", "no"], 3: ["idk"]})
    conversation = store.runs.read_item_rows([item])[0].conversation
    claims = store.run_contents.list_claims(run, conversation)
    view = store.runs.read_conversation_for_review(item, "me")
    assert [(each.turn, each.text) for each in claims] == [
        (each.turn, each.text) for each in view.claims
    ]


def test_a_store_of_an_older_version_has_no_costs(tmp_path: Path) -> None:

    fixture = Path(__file__).parents[3] / "fixtures" / "databases" / "v6.sqlite"
    shutil.copy(fixture, tmp_path / "s.db")
    with Store.open(tmp_path / "s.db") as store:
        row = store.runs.list_runs()[-1]
        assert (row.cost_nusd, row.tokens_cached, row.retries, row.archived_at) == (0, 0, 0, None)
        assert row.spec.budget_nusd is None
        found = store.calls.find_usable_reply("key")
        assert found is not None
        assert (found.cost_nusd, found.rung, found.estimated) == (None, None, False)


def run_asking(
    store: Store, keys: dict[str, str | None], spec: RunSpec = SPEC, served: str = "m-1"
) -> RunId:
    """A run whose conversations each ask one question; None: the stored reply answered it."""
    store.conversations.import_batch([make_conversation(key) for key in keys])
    run = store.runs.create(spec, store.conversations.list_ids())
    for item, question in zip(store.runs.list_item_ids(run), keys.values(), strict=True):
        if question is not None:
            store.calls.save_reply_release_lease_and_add_totals(
                CallContext(question, "j", "claims", run, item), replace(REPLY, served_model=served)
            )
        store.runs.score_and_finish_item(item, ItemState.DONE, None)
    store.runs.set_state(run, RunState.DONE)
    return run


def test_a_run_of_stored_replies_was_answered_by_the_model_that_gave_them(store: Store) -> None:
    bought = run_asking(store, {"one": "k1", "two": "k2"})
    reused = run_asking(store, {"one": None, "two": None})
    assert store.calls.list_served_models(bought) == ("m-1",)
    assert store.calls.list_served_models(reused) == ("m-1",)
    # One of two conversations was asked anew, of a model that the provider has put in its place.
    mixed = run_asking(store, {"one": "k3", "two": None}, served="m-2")
    assert store.calls.list_served_models(mixed) == ("m-1", "m-2")
    # What came later than a run, or a second time, answered nothing in it.
    assert store.calls.list_served_models(reused) == ("m-1",)
    run_asking(store, {"one": "k1", "two": "k2"}, served="m-3")
    assert store.calls.list_served_models(run_asking(store, {"one": "k4", "two": None})) == ("m-1",)


def test_replies_to_another_judge_or_other_prompts_answered_nothing(store: Store) -> None:
    run_asking(store, {"one": "k1"}, replace(SPEC, judge_fingerprint="other"))
    run_asking(store, {"one": "k2"}, replace(SPEC, prompt_digest="other"))
    assert store.calls.list_served_models(run_asking(store, {"one": None})) == ()
