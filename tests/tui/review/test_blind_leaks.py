"""What a store holds of the judge and of other people, hunted on every screen while blind."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.domain.claims.verdicts import Truth
from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.labels.label_events import Action
from faithtui.store.records import ItemState, RunState
from faithtui.store.store import Store
from faithtui.tui import screen_catalog
from faithtui.tui.app import FaithApp
from faithtui.tui.conversations.conversations_screen import ConversationsScreen
from faithtui.tui.review.lines.claim_rows import HEADED_FROM
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.samples.queue import make_sample_queue
from faithtui.tui.widgets.bars import StatusLine, TitleBar
from faithtui.tui.widgets.scroll_pane import Pane
from tests.tui.building import NOON, SPEC, Said, assessments, save
from tests.tui.driving import calm, opened, press, reviewing, screen_text, status, text_of, until

CANARY = "zanzibar"
"""In everything that the judge or other people said, and nowhere else."""
SIZES = [(80, 24), (200, 60)]


def planted(path: Path) -> None:
    """Make a run of three conversations in which all of the judge's words can be told."""
    with Store.open(path, clock=lambda: NOON) as store:
        chats = [
            Conversation(
                "shop",
                f"conv-{number}",
                (
                    Turn("user", "Is the label free?"),
                    Turn("assistant", f"Label {number} is free. It is red.", (Document("Red."),)),
                ),
                "shop",
            )
            for number in range(3)
        ]
        store.conversations.import_batch(chats)
        run = store.runs.create(SPEC, store.conversations.list_ids())
        for number, (item, chat) in enumerate(
            zip(store.runs.list_item_ids(run), chats, strict=True)
        ):
            said = [
                Said(1, f"Label {number} is free.", "no", ((0, "contradicts"),), CANARY, 0.4242),
                Said(1, "It is red.", "yes", ((0, "supports"),), f"{CANARY} too", 0.4242),
            ]
            save(
                store,
                item,
                assessments(chat, said, [Truth(f"Labels of {CANARY}.", "Red.")]),
                ItemState.DONE,
                f"{CANARY} at the end",
            )
            for claim in store.runs.read_conversation_for_review(item, "bo").claims:
                store.label_log.append_label_event(
                    claim.id, "bo", Action.OVERRIDDEN, "idk", CANARY,
                    run=run, judge_verdict=claim.first_window_verdict.label, saw_judge=True,
                )  # fmt: skip
        store.runs.set_state(run, RunState.DONE)
        plan = SamplePlan(SamplingDesign.SIMPLE, 6, 1)
        store.samples.save_draw_as_sample(
            run, "ann", make_sample_draw(store.samples.read_frame(run), plan), plan, name="blind"
        )


@pytest.fixture
def canaries(tmp_path: Path) -> FaithApp:
    path = tmp_path / "canaries.db"
    planted(path)
    return FaithApp(path, reviewer="ann", report_directory=tmp_path / "reports", now=lambda: NOON)


def held(app: FaithApp) -> Iterator[str]:
    """Give every text in every widget of every screen, the hidden ones too."""
    made = [
        app.get_screen(name) for name in screen_catalog.SCREENS if app.is_screen_installed(name)
    ]
    for screen in dict.fromkeys((*made, *app.screen_stack)):
        for widget in screen.walk_children(Widget, with_self=True):
            yield f"{widget.border_title} {widget.border_subtitle} {widget.tooltip}"
            if isinstance(widget, Pane):
                yield "\n".join(line.text for line in widget.lines)
            if isinstance(widget, Input):
                yield widget.value
            if isinstance(widget, TitleBar | StatusLine):
                yield "".join(piece.text for piece in (*widget.left, *widget.right))
            if isinstance(widget, StatusLine):
                yield "".join(piece.text for piece in widget.who)
    yield screen_text(app)
    yield app.clipboard
    yield f"{app.title} {app.sub_title}"
    yield from (f"{each.title} {each.message}" for each in app._notifications)


def leaks(app: FaithApp) -> list[str]:
    return [text for text in held(app) if CANARY in text or "0.42" in text]


async def work_blind(pilot: Pilot[None]) -> ReviewScreen:
    """Begin the blind sample as the screen of queues does."""
    app = pilot.app
    assert isinstance(app, FaithApp)
    store = app.session.store
    app.session.start_queue(
        make_sample_queue(store, store.samples.list_samples("ann")[0].id, "ann")
    )
    app.show_screen("review")
    await calm(pilot)
    assert isinstance(app.screen, ReviewScreen)
    return app.screen


async def everywhere(pilot: Pilot[None]) -> None:
    """Look at every screen."""
    for entry in screen_catalog.SCREENS.values():
        await press(pilot, "g", entry.letter)


@pytest.mark.parametrize("size", [SIZES[0], pytest.param(SIZES[1], marks=pytest.mark.thorough)])
async def test_no_screen_holds_a_word_of_the_judge_while_blind(
    canaries: FaithApp, size: tuple[int, int]
) -> None:
    async with canaries.run_test(size=size, notifications=True) as pilot:
        await opened(pilot)
        await press(pilot, "enter")
        await everywhere(pilot)
        assert leaks(canaries), "the canaries are seen while nothing is hidden"
        await work_blind(pilot)
        assert leaks(canaries) == []
        for entry in screen_catalog.SCREENS.values():
            await press(pilot, "g", entry.letter)
            assert leaks(canaries) == [], entry.words
            for key in ("down", "enter", "escape", "C"):
                await press(pilot, key)
                assert leaks(canaries) == [], f"{entry.words}: {key}"
            canaries.show_screen("runs")
            await calm(pilot)


async def test_what_was_painted_before_is_gone_when_a_blind_queue_begins(
    canaries: FaithApp,
) -> None:
    async with canaries.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        await press(pilot, "enter", "enter")
        assert leaks(canaries)
        await press(pilot, "g", "u")
        store = canaries.session.store
        queue = make_sample_queue(store, store.samples.list_samples("ann")[0].id, "ann")
        canaries.session.start_queue(queue)
        canaries.show_screen("review")
        screen = canaries.screen_stack[-1]
        for _ in range(1000):  # turns of the loop
            if isinstance(screen, ReviewScreen):
                break
            await asyncio.sleep(0)
            screen = canaries.screen_stack[-1]
        assert isinstance(screen, ReviewScreen)
        # Before anything could be read.
        assert screen.view is None
        assert leaks(canaries) == []
        await calm(pilot)
        assert screen.view is not None


@pytest.mark.parametrize("name", ["metrics", "adjudicate"])
async def test_screens_that_tell_of_claims_are_refused_while_blind(
    canaries: FaithApp, name: str
) -> None:
    async with canaries.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await work_blind(pilot)
        await press(pilot, "g", screen_catalog.LETTERS[name])
        assert canaries.current_screen_name == "review"
        assert "would show" in status(canaries)


async def test_agreement_has_only_totals_while_blind(canaries: FaithApp, tmp_path: Path) -> None:
    async with canaries.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        await work_blind(pilot)
        await press(pilot, "g", "a")
        assert "Label 0 is free." not in screen_text(canaries)
        assert "conv-0" not in screen_text(canaries)
        await press(pilot, "enter")
        assert "Label 0 is free." not in screen_text(canaries)
        await press(pilot, "X")
        assert "would show" in status(canaries)
        assert not (tmp_path / "reports").exists()


async def test_what_was_read_before_the_judge_was_hidden_is_not_shown(canaries: FaithApp) -> None:
    async with canaries.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        screen = await work_blind(pilot)
        session = canaries.session
        assert session.item is not None
        # Read as it was before the queue began; it arrives only now.
        queue, session.claim_queue = session.claim_queue, None
        before = screen.loader.read_conversation(session.item, None, 0)
        session.claim_queue = queue
        assert CANARY in repr(before.view)
        screen.loader.show_loaded_if_still_wanted(before)
        assert leaks(canaries) == []
        screen.queue_navigator.store_conversation_read_ahead(before)
        assert all(
            CANARY not in repr(each.view)
            for each in screen.queue_navigator.conversations_ahead.values()
        )


async def test_the_conversation_beside_the_list_is_stripped(canaries: FaithApp) -> None:
    async with canaries.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        await work_blind(pilot)
        await press(pilot, "g", "c")
        assert isinstance(canaries.screen, ConversationsScreen)
        assert canaries.screen.preview.turns
        assert CANARY not in repr(canaries.screen.preview.turns)
        assert leaks(canaries) == []


@pytest.mark.thorough
async def test_a_filter_by_the_judge_from_before_finds_nothing_while_blind(
    canaries: FaithApp,
) -> None:
    async with canaries.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        await press(pilot, "enter", "slash", *"verdict:no", "enter")
        await work_blind(pilot)
        await press(pilot, "g", "c")
        assert "Conversations 3" in str(canaries.screen.query_one("#list").border_title)
        assert "hidden" in status(canaries) or "blind" in status(canaries)


async def test_truths_that_are_hidden_are_not_said_to_be_none(canaries: FaithApp) -> None:
    async with canaries.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await work_blind(pilot)
        assert not canaries.screen.query_one("#truths").display, "it would be empty"
        words = " ".join(text_of(canaries, "verdict").split())
        assert "v shows it, T the truths; both are recorded" in words
        assert "no truth" not in screen_text(canaries)
        await press(pilot, "T")
        assert canaries.screen.query_one("#truths").display


async def test_what_is_read_twice_on_the_way_to_a_claim_of_the_queue_comes_to_that_claim(
    canaries: FaithApp,
) -> None:
    async with canaries.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        screen = await work_blind(pilot)
        store, run = canaries.session.store, canaries.session.run
        assert run is not None
        item = next(x for x in store.runs.list_item_ids(run) if x != canaries.session.item)
        claim = store.runs.read_conversation_for_review(item, "ann").claims[-1].id
        screen.queue_navigator.forget_read_ahead()
        screen.queue_navigator.go_to_queued_claim((item, claim))
        screen.reload()
        await until(pilot, lambda: screen.view is not None and screen.view.item.id == item)
        assert screen.claim is not None
        assert screen.claim.id == claim


async def test_a_low_list_names_its_letters_and_hides_the_judge_on_open_claims(
    app: FaithApp,
) -> None:
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "B", "y")
        claims = screen.panes.claims
        assert 0 < claims.scrollable_content_region.height < HEADED_FROM
        assert str(claims.border_title).strip().endswith("J you")
        rows = [line for line in text_of(app, "claims").split("\n") if line.strip()]
        assert screen.view is not None
        assert sum(" ▒ " in row for row in rows) == len(screen.view.hidden) == len(rows) - 1
