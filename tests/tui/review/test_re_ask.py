"""`R`: the judge asked once more about a claim, against a server that answers."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.ids import ClaimId, RunId
from faithtui.engine.runs import runner
from faithtui.store.records import FreshVerdict, ItemCost, RunTotals
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.background_loop import run_in_own_loop
from faithtui.tui.review.re_ask import CallCost, estimate_call_cost
from faithtui.tui.screen.dialogs import ConfirmDialog
from faithtui.tui.session import Session
from tests.engine.building import conversation, planned, store_with
from tests.judges.fake_server import AnsweringServer, answering_server
from tests.tui.building import NOON
from tests.tui.driving import press, reviewing, status, text_of, until
from tests.tui.fake_screens import FakeReviewScreen


@pytest.fixture
def server() -> Iterator[AnsweringServer]:
    with answering_server() as answering:
        yield answering


@pytest.fixture
def served(server: AnsweringServer, tmp_path: Path) -> FaithApp:
    """An app on a run whose judge is a server on this machine, which costs nothing."""
    path = tmp_path / "served.db"
    with store_with(path, [conversation("a", 2)]) as store:
        run = planned(store, judge="openai:w", base_url=server.url)
        asyncio.run(runner.execute_run(store, run, lambda event: None))
    return FaithApp(path, reviewer="ann", now=lambda: NOON)


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_the_judge_is_asked_again_and_its_words_stand_beside_the_first(
    served: FaithApp, server: AnsweringServer, size: tuple[int, int]
) -> None:
    async with served.run_test(size=size) as pilot:
        screen = await reviewing(pilot)
        before = server.answered
        await press(pilot, "R")
        await until(pilot, lambda: "asked again: " in status(served))
        await until(pilot, lambda: "asked again: " in text_of(served, "verdict"))
        assert server.answered > before
        assert screen.review_state is not None
        (fresh,) = screen.review_state.asked_again
        assert screen.claim is not None
        assert fresh.claim == screen.claim.id
        assert (fresh.label or "no verdict") in text_of(served, "verdict")
        await press(pilot, "j")
        assert "asked again" not in text_of(served, "verdict"), "that was another claim"


def canary(store: Store) -> None:
    """Keep a second word of the judge that is told by its label."""
    view = store.runs.read_conversation_for_review(store.runs.list_item_ids(RunId(1))[0], "ann")
    verdict = FreshVerdict(view.item.id, view.claims[0].id, 0, 1, "idk", "idk", None, None, "bo")
    store.calls.add_re_asked_verdict(verdict)
    store.calls.add_re_asked_verdict(replace(verdict, replicate=2, label="no"))
    store.calls.add_re_asked_verdict(replace(verdict, replicate=3, label=None))


def verdict(app: FaithApp) -> str:
    return " ".join(text_of(app, "verdict").split())


@pytest.mark.thorough
async def test_it_is_hidden_in_blind_work_until_the_claim_is_answered(
    app: FaithApp, store_path: Path
) -> None:
    with Store.open(store_path) as store:
        canary(store)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "home")
        assert "asked again: idk, no, no verdict" in verdict(app)
        await press(pilot, "B")
        assert screen.review_state is not None
        assert screen.review_state.asked_again == ()
        assert "asked again" not in text_of(app, "verdict")
        await press(pilot, "R")
        assert "the judge is hidden" in status(app)
        await press(pilot, "y", "k")
        assert "asked again: idk, no, no verdict" in verdict(app)


async def test_what_costs_money_is_asked_about_first(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await reviewing(pilot)
        assert screen.claim is not None
        screen.re_ask.confirm_cost_and_ask_again(screen.claim.id, CallCost(False, 31_200_000, "x"))
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await until(
            pilot,
            lambda: "That costs about $0.0312, by x." in " ".join(text_of(app, "text").split()),
        )
        await press(pilot, "n")
        assert screen.re_ask.claim_being_asked is None
        screen.re_ask.confirm_cost_and_ask_again(ClaimId(99), CallCost(False, None, ""))
        await pilot.pause()
        assert app.screen is screen, "another claim is chosen by now"


@pytest.mark.parametrize(
    ("judge", "own", "cost"),
    [
        ("offline", RunTotals(), CallCost(True, 0, "the price table")),
        ("openai:unheard-of", RunTotals(), CallCost(False, None, "")),
        (
            "openai:unheard-of",
            RunTotals(3, 0, 0, 0, 200, 1),
            CallCost(False, 100, "what this conversation's calls cost"),
        ),
    ],
)
def test_the_cost_is_that_of_earlier_calls_or_not_known(
    judge: str, own: RunTotals, cost: CallCost, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(store_path) as store:
        session = Session("ann", store_path)
        session.set_store(store)
        row = store.runs.read_run(RunId(1))
        item = store.runs.list_item_ids(RunId(1))[0]
        spec = replace(row.spec, judge=judge)
        monkeypatch.setattr(store.calls, "sum_item_costs", lambda _item: ItemCost(own, {}))
        assert estimate_call_cost(session, replace(row, spec=spec), item) == cost


def test_words_say_that_a_cost_is_not_known() -> None:
    assert CallCost(False, None, "").sentence == "What that costs is not known."


async def test_an_error_of_the_judge_is_said(served: FaithApp, server: AnsweringServer) -> None:
    async with served.run_test(size=(120, 40), notifications=True) as pilot:
        screen = await reviewing(pilot)
        server.closing.set()
        with Store.open(served.session.store_path) as store:
            item = store.runs.list_item_ids(RunId(1))[0]
        assert screen.claim is not None
        screen.re_ask.ask_judge_again_and_show_verdict(item, ClaimId(10_000), "claim 1")
        await until(pilot, lambda: "was not heard again" in status(served))
        assert screen.re_ask.claim_being_asked is None
        assert any("there is no claim" in each.message for each in served._notifications)


async def test_work_apart_has_a_loop_of_its_own_and_its_errors_come_back() -> None:
    here = asyncio.get_running_loop()

    async def elsewhere() -> bool:
        return asyncio.get_running_loop() is not here

    async def fails() -> None:
        raise LookupError("gone")

    assert await run_in_own_loop(elsewhere)
    with pytest.raises(LookupError, match="gone"):
        await run_in_own_loop(fails)


# On a screen that is not drawn


async def test_what_is_hidden_is_not_asked_about_and_two_are_not_asked_at_once(
    session: Session,
) -> None:
    session.set_judge_hidden(True)
    screen = await FakeReviewScreen(session).open()
    assert screen.press("R")
    assert "the judge is hidden: answer first" in screen.message
    session.set_judge_hidden(False)
    await screen.open()
    screen.re_ask.claim_being_asked = screen.claims[1]
    assert screen.press("R")
    assert screen.message == "the judge is being asked already: one at a time"
    assert not screen.input_queue.windows


async def test_a_cost_that_comes_after_one_moved_on_asks_nothing(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    before = screen.claims[0]
    screen.press("j")
    screen.re_ask.confirm_cost_and_ask_again(before, CallCost(True, 0, "the price table"))
    assert screen.re_ask.claim_being_asked is None
    assert not screen.input_queue.windows


async def test_what_costs_money_is_asked_only_after_a_yes(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.re_ask.confirm_cost_and_ask_again(screen.claims[0], CallCost(False, None, ""))
    screen.input_queue.answer(None)
    await screen.settle()
    assert screen.re_ask.claim_being_asked is None
    assert not screen.failures
    assert "asking the judge again" not in " ".join(screen.messages)


def test_there_is_no_key_without_a_claim(session: Session) -> None:
    assert not FakeReviewScreen(session).press("R")
