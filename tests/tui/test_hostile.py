"""Texts that attack a terminal or a markup parser, in every field that can hold one."""

import json
import unicodedata
from pathlib import Path

import pytest

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.domain.claims.verdicts import Truth
from faithtui.domain.conversation import Conversation, Document, Image, Rating, Turn
from faithtui.domain.integrity.findings import Finding, FindingKind
from faithtui.domain.labels.label_events import Action
from faithtui.store.records import ItemCheckResult, ItemState, RunState, SavedView
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.samples.queue import ClaimQueue
from faithtui.tui.session import ListState
from tests.tui.building import NOON, SPEC, Said, assessments, save, shop
from tests.tui.driving import calm, opened, press, screen_text

STRINGS = Path(__file__).parents[2] / "fixtures" / "hostile" / "strings.json"
AT_ONCE = 12


def hostile() -> list[str]:
    """Read the strings; the very long ones are made here."""
    found = json.loads(STRINGS.read_text("utf-8"))["strings"]
    return [
        each["text"] if each["text"] is not None else each["repeat"] * each["times"]
        for each in found
    ]


ALL = hostile()


def at(number: int, text: str) -> Image:
    """Make an image that is known by a hostile address alone."""
    return Image(f"{number:064x}", "", text[:2000] or "x")


def attack(path: Path, texts: list[str]) -> None:
    """Put every text into every field: as names of conversations, and as what is said in one."""
    with Store.open(path, clock=lambda: NOON) as store:
        chat = Conversation(
            texts[0][:200] or "empty",
            "all of them",
            tuple(
                turn
                for number, text in enumerate(texts)
                for turn in (
                    Turn("user", text, (Document(text, text[:2000]),), (at(number, text),)),
                    Turn("assistant", f"{text} and {text}", (Document(text, text[:2000]),)),
                )
            ),
            "group",
            ratings=tuple(
                Rating(2 * number + 1, text[:200] or "x", "yes-no", "yes", note=text[:5000])
                for number, text in enumerate(texts)
            ),
        )
        named = [
            Conversation(text[:200] or "x", f"{number} {text[:2000]}", (Turn("user", text),), "g")
            for number, text in enumerate(texts)
        ]
        store.conversations.import_batch([chat, *named])
        run = store.runs.create(SPEC, store.conversations.list_ids())
        first, *rest = store.runs.list_item_ids(run)
        said = [
            Said(2 * number + 1, text or "empty", "no", ((number, "contradicts"),), text, 0.2)
            for number, text in enumerate(texts)
        ]
        truths = [Truth(text or "empty", text) for text in texts]
        save(store, first, assessments(chat, said, truths))
        for item, text in zip(rest, texts, strict=True):
            save(store, item, [], ItemState.FAILED, text[:5000])
        for claim, text in zip(
            store.runs.read_conversation_for_review(first, "ann").claims, texts, strict=False
        ):
            for reviewer in ("ann", text[:200] or "x"):
                store.label_log.append_label_event(
                    claim.id, reviewer, Action.BLIND, "yes", text[:5000],
                    run=run, judge_verdict="no", saw_judge=False,
                )  # fmt: skip
        store.runs.set_state(run, RunState.STOPPED, texts[0][:5000])


def forbidden(text: str) -> set[str]:
    """Find what must not reach a terminal."""
    return {
        character
        for character in text
        if character != "\n"
        and (
            unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
            or 0xFE00 <= ord(character) <= 0xFE0F
        )
    }


@pytest.mark.parametrize("start", range(0, len(ALL), AT_ONCE))
async def test_nothing_hostile_reaches_the_screen(tmp_path: Path, start: int) -> None:
    texts = ALL[start : start + AT_ONCE]
    path = tmp_path / "hostile.db"
    attack(path, texts)
    app = FaithApp(path, reviewer="ann", now=lambda: NOON)
    async with app.run_test(size=(200, 60), notifications=True) as pilot:
        await opened(pilot)
        seen = [screen_text(app)]
        for keys in (("g", "p"), ("g", "a"), ("enter",), ("escape",), ("M",), ("g", "c")):
            await press(pilot, *keys)
            seen.append(screen_text(app))
        for key in ("j", "end", "home"):
            await press(pilot, key)
            seen.append(screen_text(app))
        await press(pilot, "enter")
        for number, _ in enumerate(texts):
            seen.append(screen_text(app))
            if number % 6 == 0:
                for key in ("t", "q", "enter", "q", "e", "escape", "o", "q", "M", "M"):
                    await press(pilot, key)
                    seen.append(screen_text(app))
            await pilot.press("j")
            await pilot.pause()
        for text in seen:
            assert forbidden(text) == set()


async def test_markup_is_shown_as_it_was_typed(tmp_path: Path) -> None:
    path = tmp_path / "markup.db"
    attack(path, ["[@click=app.quit]x[/] [bold]y[/bold] [note] [/nope]"])
    app = FaithApp(path, reviewer="ann", now=lambda: NOON)
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        await press(pilot, "enter", "enter")
        assert "[@click=app.quit]x[/] [bold]y[/bold] [note] [/nope]" in screen_text(app)
        await pilot.click("#claims", offset=(12, 3))
        await pilot.click("#card", offset=(3, 1))
        await calm(pilot)
        assert app.is_running


async def test_names_that_people_give_are_drawn_literally(tmp_path: Path) -> None:
    path = tmp_path / "named.db"
    shop(path)
    with Store.open(path, clock=lambda: NOON) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        plan = SamplePlan(SamplingDesign.SIMPLE, 1, 1)
        for text in ALL:
            drawn = make_sample_draw(store.samples.read_frame(run), plan)
            store.samples.save_draw_as_sample(run, "ann", drawn, plan, name=text[:5000] or "x")
            store.saved_views.save(
                "conversations", SavedView(text[:200] or "x", text[:5000], text[:200])
            )
            store.guidelines.add_version(text[:5000] or "x", text[:5000] or "x")
        entries = tuple(
            (each.item, each.claim)
            for each in store.samples.list_claims_in_served_order(
                store.samples.list_samples("ann")[0].id, "ann"
            )
        )
    app = FaithApp(path, reviewer="ann", now=lambda: NOON)
    async with app.run_test(size=(160, 50), notifications=True) as pilot:
        await opened(pilot)
        seen = []
        for keys in (("g", "u"), ("end",), ("g", "c"), ("V",), ("end", "escape"), ("g", "v")):
            await press(pilot, *keys)
            seen.append(screen_text(app))
        await press(pilot, "h")
        seen.append(screen_text(app))
        await press(pilot, "escape")
        for text in ALL:
            app.session.reviewer = text[:5000] or "x"
            app.session.start_queue(ClaimQueue(text[:5000], run, entries))
            app.session.lists["conversations"] = ListState(text[:5000], text[:50])
            assert isinstance(app.screen, ReviewScreen)
            app.screen.search.filter_text = text[:5000]
            app.screen.search._show_found_count()
            app.screen.reload()
            app.screen.show_run_progress()
            await calm(pilot)
            seen.append(screen_text(app))
            assert app.screen.view is not None
        for _ in range(3):
            await press(pilot, "g", "c", "g", "v")
            seen.append(screen_text(app))
        for text in seen:
            assert forbidden(text) == set()


async def test_findings_with_hostile_details_are_drawn_literally(tmp_path: Path) -> None:
    path = tmp_path / "found.db"
    shop(path)
    kinds = tuple(FindingKind)
    with Store.open(path, clock=lambda: NOON) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        (item, *_) = store.runs.list_item_ids(run)
        view = store.runs.read_conversation_for_review(item, "ann")
        store.findings.replace_findings_of_conversations(
            [
                ItemCheckResult(
                    item,
                    view.item.state,
                    len(view.windows),
                    tuple(
                        Finding(kinds[number % len(kinds)], text[:5000] or "x", view.claims[0].id)
                        for number, text in enumerate(ALL)
                    ),
                )
            ]
        )
    app = FaithApp(path, reviewer="ann", now=lambda: NOON)
    async with app.run_test(size=(200, 60), notifications=True) as pilot:
        await opened(pilot)
        await press(pilot, "g", "i")
        seen = [screen_text(app)]
        for _ in kinds:
            for key in ("down", "l", "end", "escape"):
                await press(pilot, key)
                seen.append(screen_text(app))
        assert "[@click=app.quit]open the source[/]" in "".join(seen)
        for text in seen:
            assert forbidden(text) == set()


@pytest.mark.parametrize("note", ["one\ntwo", "x" * 100_000, "a\x1b[2Jb", "\u202eabc"])
async def test_a_note_that_a_line_cannot_hold_is_left_as_it_is(tmp_path: Path, note: str) -> None:
    path = tmp_path / "noted.db"
    shop(path)
    with Store.open(path, clock=lambda: NOON) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        item = store.runs.list_item_ids(run)[0]
        claim = store.runs.read_conversation_for_review(item, "ann").claims[0].id
        store.label_log.append_label_event(
            claim, "ann", Action.NOTED, None, note,
            run=run, judge_verdict=None, saw_judge=True,
        )  # fmt: skip
    app = FaithApp(path, reviewer="ann", now=lambda: NOON)
    async with app.run_test(size=(160, 50)) as pilot:
        await opened(pilot)
        await press(pilot, "enter", "enter", "home", "e")
        assert "opens your editor" in screen_text(app)
        await press(pilot, "Z", "enter")
    with Store.open(path) as store:
        mine = store.runs.read_conversation_for_review(item, "ann").claims[0].mine
        assert mine is not None
        assert mine.note == note


async def test_a_refusal_that_names_a_hostile_queue_is_drawn_literally(tmp_path: Path) -> None:
    path = tmp_path / "refused.db"
    shop(path)
    app = FaithApp(path, reviewer="ann", now=lambda: NOON)
    async with app.run_test(size=(160, 50)) as pilot:
        await opened(pilot)
        await press(pilot, "enter", "enter")
        run, item = app.session.run, app.session.item
        assert run is not None
        assert item is not None
        claim = app.session.store.runs.read_conversation_for_review(item, "ann").claims[0].id
        for text in ALL[::4]:
            queue = ClaimQueue(text[:5000], run, ((item, claim),), blind=True)
            app.show_screen("runs")
            await calm(pilot)
            app.session.start_queue(queue)
            app.show_screen("review")
            await calm(pilot)
            await press(pilot, "B")
            assert " is blind: " in screen_text(app)
            assert forbidden(screen_text(app)) == set()
