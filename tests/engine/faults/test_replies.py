"""F12 to F19 and F21 to F24: replies that are not what was asked for, or oddly put."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from faithtui.domain.scores import ScoreSet, ScoreState
from faithtui.engine.calls.answers_per_question import MOST_ANSWERS, REPAIRS
from faithtui.engine.calls.ask import DOUBLINGS
from faithtui.metrics.missing_verdicts import MOST_REPEATS
from faithtui.store.records import ItemState, RunState
from tests.engine.faulty_runs import (
    STEPS,
    calls_of,
    filled,
    in_every_way,
    judged,
    verdicts_of,
)
from tests.judges.fault_server import FaultServer, Rule, fault_server
from tests.judges.faults import FAULTS, Fault

CONVERSATIONS = 6
FIRST_TRY = (1,)
PROVED = Rule((Fault("extra_fields"),), most=3)
"""The first replies are sound, or a judge that spoils every reply would be given up."""


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as running:
        yield running


@in_every_way
@pytest.mark.parametrize("row", ["F12", "F14", "F16", "F17"])
async def test_what_cannot_be_read_is_asked_for_again_and_changes_no_score(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str, row: str
) -> None:
    server.config.rules = (PROVED, Rule(FAULTS[row], attempts=FIRST_TRY))
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
        calls = calls_of(store, ran)
    assert ran.state is RunState.DONE
    assert ran.scores == clean
    spoiled = [entry for entry in ran.entries if entry.kind not in {"ok", "extra_fields"}]
    assert {entry.kind for entry in spoiled} <= {fault.name for fault in FAULTS[row]}
    assert spoiled
    assert len(ran.entries) <= CONVERSATIONS * STEPS + len(spoiled)
    assert len(calls) == len(ran.entries), "what was paid for is kept, whatever it is"
    assert {call.usable for call in calls} == {True, False}


@in_every_way
async def test_f12_half_an_answer_never_becomes_a_verdict(
    tmp_path: Path, server: FaultServer, provider: str
) -> None:
    server.config.rules = (PROVED, Rule((Fault("truncated_content"),), contains="Parcel c2-"))
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
        assert verdicts_of(store, ran.items[2].id) == []
    assert (ran.state, ran.row.done, ran.row.failed) == (RunState.DONE, CONVERSATIONS - 1, 1)
    tries = [entry for entry in ran.entries if entry.kind == "truncated_content"]
    assert max(entry.attempt for entry in tries) <= 1 + REPAIRS
    assert any(entry.is_repair for entry in tries)


@in_every_way
async def test_f13_an_answer_without_end_fails_with_its_limit_named_and_can_be_tried_again(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str
) -> None:
    server.config.rules = (PROVED, Rule((Fault("max_tokens"),), contains="Parcel c2-"))
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
        assert verdicts_of(store, ran.items[2].id) == []
        server.config.rules = ()
        again = await judged(store, server, provider, run=ran.run, retry_unfinished=True)
    assert (ran.row.done, ran.row.failed) == (CONVERSATIONS - 1, 1)
    assert "ran into the limit of tokens" in (ran.items[2].reason or "")
    for question in {entry.question for entry in ran.entries if entry.kind == "max_tokens"}:
        limits = [entry.max_tokens for entry in ran.entries if entry.question == question]
        assert limits == [limits[0] * 2**n for n in range(1 + DOUBLINGS)]
        tried = [entry.max_tokens for entry in again.entries if entry.question == question]
        assert tried == limits[-1:], "lower limits are known to be too low"
    assert again.scores == clean
    assert len(again.entries) == STEPS


@in_every_way
async def test_f13_an_answer_that_needs_more_room_gets_it(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str
) -> None:
    server.config.rules = (Rule((Fault("max_tokens"),), attempts=(1, 2)),)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
    assert ran.scores == clean
    assert len(ran.entries) == 3 * CONVERSATIONS * STEPS


@pytest.mark.parametrize(
    ("first", "second"), [("openai", "openai batch"), ("openai batch", "openai")]
)
async def test_f13_what_was_cut_is_known_to_a_later_run_in_either_way(
    tmp_path: Path,
    server: FaultServer,
    clean: list[ScoreSet | None],
    first: str,
    second: str,
) -> None:
    server.config.rules = (Rule((Fault("max_tokens"),), attempts=FIRST_TRY),)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        bought = await judged(store, server, first)
        later = await judged(store, server, second)
    assert bought.scores == later.scores == clean
    assert len(bought.entries) == 2 * CONVERSATIONS * STEPS
    assert later.entries == []


@in_every_way
async def test_a_question_is_answered_eight_times_at_most(
    tmp_path: Path, server: FaultServer, provider: str
) -> None:
    """What cannot be read as an answer at all, but may be billed, counts as well."""
    server.config.rules = (
        PROVED,
        Rule((Fault("max_tokens"),), attempts=(3,), contains="Parcel c2-"),
        Rule((Fault("truncated_content"),), attempts=(6,), contains="Parcel c2-"),
        Rule((Fault("no_choices"),), contains="Parcel c2-"),
    )
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
    assert (ran.row.done, ran.row.failed) == (CONVERSATIONS - 1, 1)
    assert max(server.billed.values()) == MOST_ANSWERS
    assert "was answered 8 times" in (ran.items[2].reason or "")
    limits = [entry.max_tokens for entry in ran.entries if entry.kind == "truncated_content"]
    assert set(limits) == {2 * entry.max_tokens for entry in ran.entries if entry.attempt == 3}


@in_every_way
async def test_f14_another_spelling_of_a_verdict_needs_no_second_question(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str
) -> None:
    server.config.rules = (Rule((Fault("upper_enum"),)),)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
    assert ran.scores == clean
    assert len(ran.entries) == CONVERSATIONS * STEPS
    assert ran.kinds["upper_enum"] == CONVERSATIONS


@in_every_way
async def test_f15_a_verdict_that_never_comes_leaves_one_conversation_without_a_score(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str
) -> None:
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        sound = await judged(store, server, provider)
        claim = verdicts_of(store, sound.items[2].id)[-1].text
    server.config.rules = (PROVED, Rule((Fault("missing_verdict"),), contains=claim))
    with filled(tmp_path / "other.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
    assert ran.state is RunState.DONE
    assert ran.kinds["missing_verdict"] == 1 + MOST_REPEATS
    lost = ran.scores[2]
    assert lost is not None
    assert (lost.windowed.state, lost.windowed.value) == (ScoreState.INCOMPLETE, None)
    assert ran.row.missing_verdicts == 1
    assert [*ran.scores[:2], *ran.scores[3:]] == [*clean[:2], *clean[3:]]
    known = [each.windowed.value for each in ran.scores if each and each.windowed.value is not None]
    assert len(known) == CONVERSATIONS - 1
    assert ran.row.score == pytest.approx(sum(known) / len(known)), "it is left out, not taken as 1"


@in_every_way
async def test_f15_a_verdict_nobody_asked_for_is_nobodys(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str
) -> None:
    server.config.rules = (Rule((Fault("extra_verdict"),)),)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
    assert ran.scores == clean
    assert ran.kinds["extra_verdict"] == CONVERSATIONS
    assert len(ran.entries) == CONVERSATIONS * STEPS


@in_every_way
@pytest.mark.parametrize("fault", FAULTS["F18"], ids=lambda fault: fault.kind)
async def test_f18_a_refusal_is_asked_once_and_is_no_score(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str, fault: Fault
) -> None:
    server.config.rules = (PROVED, Rule((fault,), contains="Parcel c2-"))
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
        failed = store.run_contents.count_conversations_by_state_reason(ran.run, ItemState.FAILED)
    assert (ran.state, ran.row.done, ran.row.failed) == (RunState.DONE, CONVERSATIONS - 1, 1)
    refused = [entry for entry in ran.entries if entry.kind == fault.name]
    assert {entry.attempt for entry in refused} == {1}
    assert "JudgeRefused: the judge refused" in next(iter(failed))
    assert [*ran.scores[:2], *ran.scores[3:]] == [*clean[:2], *clean[3:]]


@in_every_way
@pytest.mark.parametrize("row", ["F19", "F24"])
async def test_courtesies_and_novelties_cost_nothing(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str, row: str
) -> None:
    server.config.seed = 1  # under which every kind comes
    server.config.rules = (Rule(FAULTS[row]),)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
    assert ran.scores == clean
    assert len(ran.entries) == CONVERSATIONS * STEPS
    assert ran.kinds.keys() >= {fault.name for fault in FAULTS[row]}


@in_every_way
async def test_f21_what_no_text_may_hold_is_readable_by_everyone_afterwards(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str
) -> None:
    path = tmp_path / "s.db"
    server.config.seed = 1  # under which every kind comes
    server.config.rules = (Rule(FAULTS["F21"]),)
    with filled(path, CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
        reasons = [
            verdict.reason or ""
            for item in ran.items
            for claim in verdicts_of(store, item.id)
            for verdict in claim.verdicts
        ]
    assert ran.scores == clean
    assert ran.kinds.keys() >= {fault.name for fault in FAULTS["F21"]}
    assert any("\ufffd" in reason for reason in reasons)
    assert not any("\0" in reason for reason in reasons)
    with closing(sqlite3.connect(path)) as connection:
        for (text,) in connection.execute("SELECT text FROM judge_call"):
            assert text.encode("utf-8")
            assert "\0" not in text


@in_every_way
async def test_f23_odd_counts_of_tokens_are_estimated_and_the_sum_stays_a_sum(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str
) -> None:
    with filled(tmp_path / "a.db", CONVERSATIONS) as store:
        sound = await judged(store, server, provider)
    server.config.rules = (Rule(FAULTS["F23"]),)
    with filled(tmp_path / "b.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
        calls = calls_of(store, ran)
    assert ran.scores == clean
    assert ran.kinds.keys() == {fault.name for fault in FAULTS["F23"]}
    assert all(call.reply.estimated for call in calls)
    total, true = (each.row.tokens_in + each.row.tokens_out for each in (ran, sound))
    assert true / 2 < total < 4 * true


@in_every_way
async def test_f16_verdicts_belong_to_their_claims_wherever_they_stand(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str
) -> None:
    server.config.rules = (Rule((Fault("reorder"), Fault("bad_index"))),)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
        truths = [
            store.runs.read_conversation_for_review(item.id, "ann").truths for item in ran.items
        ]
        claims = [claim for item in ran.items for claim in verdicts_of(store, item.id)]
    assert ran.scores == clean
    assert ran.kinds.keys() >= {"reorder", "bad_index"}
    assert len(ran.entries) == CONVERSATIONS * STEPS
    known = {truth.id for each in truths for truth in each}
    assert {evidence.truth for claim in claims for evidence in claim.evidence} <= known


@in_every_way
async def test_f22_words_that_stand_nowhere_change_no_verdict_and_are_marked_as_found_nowhere(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str
) -> None:
    server.config.rules = (Rule((Fault("fake_quote"),)),)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
        view = store.runs.read_conversation_for_review(ran.items[0].id, "ann")
    assert ran.scores == clean
    assert ran.kinds["fake_quote"] == CONVERSATIONS
    assert all(
        "The moon is a lamp." in (claim.first_window_verdict.reason or "") for claim in view.claims
    )
    # This judge's truths stand in no document either.
    assert [truth.span for truth in view.truths] == [None] * len(view.truths) != []
