"""What the keys of review write beside a verdict: codes, marks, ranges, looks at the judge."""

import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest
from textual.pilot import Pilot

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.domain.annotations import Action
from faithtui.store.records import ReviewView
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.samples.queue import ClaimQueue, sample_queue
from faithtui.tui.screen.dialogs import ConfirmDialog
from tests.tui.driving import (
    calm,
    opened,
    press,
    reviewing,
    screen_text,
    status,
    text_of,
    title,
    until,
)

SIZES = [(80, 24), (120, 40), (200, 60)]
SIZE = (120, 40)


def stored(path: Path, number: int = 1, reviewer: str = "ann") -> ReviewView:
    with Store.open(path) as store:
        run = store.runs.last_id()
        assert run is not None
        return store.runs.review_view(store.runs.item_ids(run, "number")[number - 1], reviewer)


def acts(path: Path) -> list[tuple[str, str | None, str | None, str | None, bool]]:
    """Read the log of ann: action, verdict, code, mark, whether the judge was known."""
    with Store.open(path) as store, store._database.open_reader() as connection:
        rows = connection.exec_driver_sql(
            "SELECT action, verdict, reason_code, mark, saw_judge FROM human_label "
            "WHERE reviewer = 'ann' ORDER BY clock, uid"
        ).all()
    return [(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows]


# Codes and confidence


async def test_a_digit_codes_the_verdict_given_last(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "n", "2")
        assert screen.claim is not None
        assert screen.claim.number == 2, "the code does not move on"
        assert "claim 1: code truth extraction" in status(app)
    first, second, *_ = stored(store_path).claims
    assert first.mine is not None
    assert first.mine.code == "truth"
    assert second.mine is None


async def test_the_same_digit_again_takes_the_code_back(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "n", "2", "2")
    mine = stored(store_path).claims[0].mine
    assert mine is not None
    assert mine.code is None


async def test_after_moving_a_code_belongs_to_the_chosen_claim(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "n", "n", "k", "k", "4")
        assert "claim 1: code retrieval" in status(app)
        await press(pilot, "end", "1")
        assert "belong to a label of yours" in status(app)
    codes = [each.mine.code if each.mine else None for each in stored(store_path).claims]
    assert codes == ["retrieval", None, None, None, None]


async def test_low_confidence_is_kept_with_the_verdict(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "y", "c", "k")
        assert "low confidence" in text_of(app, "verdict")
        assert "·~" in text_of(app, "claims")
        await press(pilot, "c")
        assert "sure again" in status(app)
    mine = stored(store_path).claims[0].mine
    assert mine is not None
    assert not mine.unsure


async def test_repeat_gives_the_last_verdict_and_its_code(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "full_stop")
        assert "nothing to repeat" in status(app)
        await press(pilot, "n", "3", "full_stop", "full_stop")
    mine = [each.mine for each in stored(store_path).claims[:3]]
    assert [(each.verdict, each.code) for each in mine if each] == [("no", "verdict")] * 3


# Flag, later, accept


async def test_a_flag_is_set_and_taken_away_without_moving(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "f")
        assert screen.claim is not None
        assert screen.claim.number == 1
        assert "flagged" in text_of(app, "verdict")
        await press(pilot, "f")
        assert "flagged" not in text_of(app, "verdict").split("last")[0]
    assert [each[3] for each in acts(store_path)] == ["flag", "unflag"]


@pytest.mark.parametrize("key", ["s", "space"])
async def test_later_puts_a_claim_off(app: FaithApp, store_path: Path, key: str) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, key)
        assert screen.claim is not None
        assert screen.claim.number == 2
        await press(pilot, "y", "k", "s")
        assert "has your verdict" in status(app), "a verdict is not lost by putting off"
    first, second = stored(store_path).claims[:2]
    assert first.mine is not None
    assert first.mine.action is Action.SKIPPED
    assert first.human is None
    assert second.mine is not None
    assert second.mine.verdict == "yes"


async def test_accepting_the_judge_is_no_reading(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "a")
        assert screen.claim is not None
        assert screen.claim.number == 2
        assert "1 y" in text_of(app, "claims").replace("Y ", "") or "y" in text_of(app, "claims")
        await press(pilot, "N")
        assert screen.claim.number == 3, "an accepted claim is not open any more"
    claim = stored(store_path).claims[0]
    assert claim.mine is not None
    assert (claim.mine.action, claim.mine.verdict, claim.human) == (Action.ACCEPTED, "yes", None)


# Ranges


async def test_one_verdict_for_a_range_is_one_step(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "m", "j", "j")
        assert text_of(app, "claims").count("=") == 2
        await press(pilot, "n")
        assert "3 claims = NO contradicted, in bulk" in status(app)
        assert "claim 4/" in title(app), "the first claim after the range"
        actions = [claim.mine and claim.mine.action for claim in stored(store_path).claims]
        assert actions == [Action.BULK] * 3 + [None] * 2
        await press(pilot, "u")
        assert "3 verdicts given at once" in status(app)
        assert all(claim.mine is None for claim in stored(store_path).claims)
        await press(pilot, "ctrl+r")
    assert [each.mine is not None for each in stored(store_path).claims] == [True] * 3 + [False] * 2


async def test_a_long_range_asks_first(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faithtui.tui.review.claim_range.ASK_ABOVE", 2)
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "m", "end", "y")
        assert isinstance(app.screen, ConfirmDialog)
        assert "not counted in agreement" in screen_text(app)
        await press(pilot, "n")
        assert acts(store_path) == []
        await press(pilot, "y")
        assert isinstance(app.screen, ConfirmDialog)
        await press(pilot, "y")
    assert [each[0] for each in acts(store_path)] == ["bulk"] * 5


@pytest.mark.parametrize(("moves", "asks"), [(1, False), (2, True)])
async def test_only_a_range_of_more_than_so_many_claims_asks(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch, moves: int, asks: bool
) -> None:
    monkeypatch.setattr("faithtui.tui.review.claim_range.ASK_ABOVE", 2)
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "m", *["j"] * moves, "n")
        assert isinstance(app.screen, ConfirmDialog) is asks
        if asks:
            assert acts(store_path) == [], "nothing is given before it is answered"
            await press(pilot, "escape")
            assert acts(store_path) == []
            await press(pilot, "n", "y")
        assert f"{moves + 1} claims = NO contradicted, in bulk" in status(app)
    assert [each[:2] for each in acts(store_path)] == [("bulk", "no")] * (moves + 1)


@pytest.mark.parametrize("key", ["m", "escape"])
async def test_a_range_can_be_dropped(app: FaithApp, store_path: Path, key: str) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "m", "j", key)
        assert "no range any more" in status(app)
        await press(pilot, "y")
    assert [each[0] for each in acts(store_path)] == ["agreed"]


# Notes in an editor


def editor(folder: Path, script: str) -> str:
    path = folder / "editor.sh"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


async def test_a_note_can_be_written_in_an_editor(
    app: FaithApp, store_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", editor(tmp_path, 'printf "two\\nlines" > "$1"'))
    monkeypatch.delenv("VISUAL", raising=False)
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        monkeypatch.setattr(app, "suspend", nothing)
        await press(pilot, "ctrl+e")
        assert screen.claim is not None
    mine = stored(store_path).claims[0].mine
    assert mine is not None
    assert mine.note == "two\nlines"


@pytest.mark.parametrize(
    ("script", "words"), [("exit 3", "status 3"), (None, "neither VISUAL nor EDITOR")]
)
async def test_an_editor_that_fails_changes_nothing(
    app: FaithApp,
    store_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str | None,
    words: str,
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    if script is not None:
        monkeypatch.setenv("EDITOR", editor(tmp_path, script))
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        monkeypatch.setattr(app, "suspend", nothing)
        await press(pilot, "ctrl+e")
        assert words in status(app)
    assert acts(store_path) == []


class nothing:
    """Stands for leaving the terminal to another program, which needs a terminal."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: object) -> None:
        pass


# Blind


HINTS = ("supported in w", "T4", "0.97", "names a fee", "0.82", "contradicts", "No truth speaks")


async def blinded(pilot: Pilot[None], path: Path, **changes: object) -> ReviewScreen:
    """Open a blind sample of everything, in the drawn order."""
    app = pilot.app
    assert isinstance(app, FaithApp)
    await opened(pilot)
    store = app.session.store
    run = store.runs.last_id()
    assert run is not None
    share = changes.pop("shown_share", 0.0)
    assert isinstance(share, float)
    plan = SamplePlan(SamplingDesign.SIMPLE, 7, size=100, shown_share=share)
    row = store.samples.add(
        run, "ann", make_sample_draw(store.samples.read_frame(run), plan), plan, name="random"
    )
    app.session.take_queue(sample_queue(store, row.id, "ann"))
    app.show_screen("review")
    await calm(pilot)
    screen = app.screen
    assert isinstance(screen, ReviewScreen)
    await until(pilot, lambda: screen.view is not None)
    await calm(pilot)
    return screen


@pytest.mark.parametrize("size", SIZES)
async def test_a_blind_queue_holds_nothing_of_the_judge(
    app: FaithApp, store_path: Path, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        screen = await blinded(pilot, store_path)
        seen = []
        for _ in range(6):
            assert screen.view is not None
            assert screen.view.is_blind
            everything = "\n".join(
                [screen_text(app), *(text_of(app, pane.id or "") for pane in screen.panes.children)]
            )
            seen.append(everything)
            assert "BLIND" in title(app)
            answered = [claim for claim in screen.view.claims if claim.id not in screen.view.hidden]
            hints = [hint for hint in HINTS if hint in everything]
            assert answered or not hints
            await press(pilot, "tab", "shift+tab")
            await press(pilot, "s")
        assert "▒" in seen[0]


async def test_blind_labels_are_stored_as_such_with_their_probability(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot, store_path)
        size = (
            0 if screen.queue_walk.cursor is None else len(screen.queue_walk.cursor.queue.entries)
        )
        order = (
            []
            if screen.queue_walk.cursor is None
            else [claim for _, claim in screen.queue_walk.cursor.queue.entries]
        )
        done = []
        for _ in range(size):
            assert screen.claim is not None
            done.append(screen.claim.id)
            await press(pilot, "y")
        assert done == order, "served in the drawn order"
    with Store.open(store_path) as store, store._database.open_reader() as connection:
        rows = connection.exec_driver_sql(
            "SELECT action, saw_judge, probability, stratum, judge_verdict, sample_id "
            "FROM human_label WHERE reviewer = 'ann' AND verdict IS NOT NULL"
        ).all()
        row = store.samples.row(store.samples.rows("ann")[0].id, "ann")
    assert len(rows) == size
    assert {(each[0], each[1], each[2], each[3]) for each in rows} == {("blind", 0, 1.0, "")}
    assert {each[4] for each in rows} >= {"yes", "no"}, "the judge's word is kept beside it"
    assert row.answered == size


async def test_an_answered_claim_shows_the_judge(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot, store_path)
        first = screen.claim
        assert first is not None
        await press(pilot, "y", "u")
        assert screen.claim is not None
        assert screen.claim.id == first.id, "undo jumps to what changed"
        assert first.id in (screen.view.hidden if screen.view else ()), "and hides it again"
        await press(pilot, "ctrl+r")
        assert screen.view is not None
        assert first.id not in screen.view.hidden


async def test_reveal_is_recorded_and_the_label_is_not_blind(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot, store_path)
        claim = screen.claim
        assert claim is not None
        assert screen.view is not None
        await press(pilot, "v")
        assert "recorded" in status(app)
        assert claim.id not in screen.view.hidden
        await press(pilot, "v")
        assert claim.id in screen.view.hidden
        await press(pilot, "y")
    found = acts(store_path)
    assert [each[0] for each in found] == ["revealed", found[1][0]]
    assert found[1][0] in ("agreed", "overridden")
    assert found[1][4] is True


async def test_a_share_is_served_with_the_judge(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot, store_path, shown_share=1.0)
        assert screen.view is not None
        assert screen.claim is not None
        assert screen.claim.id not in screen.view.hidden
        await press(pilot, "y")
    assert acts(store_path)[0][0] in ("agreed", "overridden")


async def test_the_truths_of_an_open_claim_are_not_shown_beside_a_hidden_one(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(200, 60)) as pilot:
        screen = await blinded(pilot, store_path)
        view = screen.view
        assert view is not None
        # The other claim of the same conversation that the judge named truths for, served openly.
        whole = stored(store_path)
        opened_one = next(each for each in whole.claims if each.evidence)
        hidden_one = next(each for each in view.claims if each.id != opened_one.id)
        app.session.item = whole.item.id
        app.session.revealed.add(opened_one.id)
        app.session.claim = opened_one.id
        screen.reload()
        await calm(pilot)
        named = {each.truth for each in opened_one.evidence}
        text = next(each.text for each in whole.truths if each.id in named)
        assert text[:20] in " ".join(text_of(app, "truths").split())
        screen.update_view(replace(screen.review_position, claim=hidden_one.id))
        await calm(pilot)
        assert text[:20] not in " ".join(text_of(app, "truths").split())
        assert "hidden with the judge's verdict" in " ".join(text_of(app, "truths").split())
        await press(pilot, "T")
        assert text[:20] in " ".join(text_of(app, "truths").split())


async def test_what_was_seen_before_is_not_blind_later(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "B")
        assert "BLIND" in title(app)
        assert "▒" in text_of(app, "claims")
        await press(pilot, "y")
    assert acts(store_path)[0][0] == "agreed", "the judge was on screen before"


async def test_a_verdict_does_not_overtake_what_was_seen_before_it(
    app: FaithApp, store_path: Path
) -> None:
    hold = Event()
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        app.session.store.submit(hold.wait)
        await pilot.press("enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        await until(pilot, lambda: screen.claim is not None)
        await pilot.press("B")
        await until(pilot, lambda: "▒" in text_of(app, "claims"))
        await until(pilot, lambda: not screen.panes.claims.is_waiting)
        await pilot.press("y")
        await until(pilot, lambda: bool(screen.writer.pending_verdicts))
        hold.set()
        await calm(pilot)
    assert acts(store_path)[0][0] == "agreed", "the judge was on screen before"


async def test_a_sample_takes_no_ranges_and_stays_blind(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot, store_path)
        await press(pilot, "m")
        assert "a verdict of its own" in status(app)
        await press(pilot, "B")
        assert "is a blind queue" in status(app)
        await press(pilot, "M")
        assert app.screen is screen
        await press(pilot, "a")
        assert "the judge is hidden" in status(app)
    assert acts(store_path) == []


async def test_truths_can_be_revealed_alone(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot, store_path)
        assert screen.view is not None
        assert not len(screen.view.truths)
        await press(pilot, "T")
        assert len(screen.view.truths)
        assert screen.view.is_blind
        await press(pilot, "T")
        assert not len(screen.view.truths)
    assert {each[0] for each in acts(store_path)} == {"revealed"}


# Queues


async def test_a_convenience_queue_is_walked_in_its_order(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        store = app.session.store
        run = store.runs.last_id()
        assert run is not None
        units = store.samples.read_frame(run)
        entries = tuple((each.item, each.claim) for each in (units[4], units[5], units[0]))
        app.session.take_queue(ClaimQueue("odd ones", run, entries))
        app.show_screen("review")
        await calm(pilot)
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        await until(pilot, lambda: screen.claim is not None)
        await until(pilot, lambda: "odd ones, a convenience order 0/3" in title(app))
        walked = []
        for key in ("y", "s", "y"):
            assert screen.claim is not None
            walked.append(screen.claim.id)
            await press(pilot, key)
        assert walked == [claim for _, claim in entries]
        assert screen.claim is not None
        assert screen.claim.id == walked[1], "what was put off comes again"


async def test_a_queue_survives_a_restart(
    app: FaithApp, make_app: Callable[[Path], FaithApp], store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot, store_path)
        assert screen.queue_walk.cursor is not None
        sample, order = (
            screen.queue_walk.cursor.queue.sample,
            screen.queue_walk.cursor.queue.entries,
        )
        await press(pilot, "y", "y")
    again = make_app(store_path)
    async with again.run_test(size=SIZE) as pilot:
        await opened(pilot)
        assert sample is not None
        again.session.take_queue(sample_queue(again.session.store, sample, "ann"))
        again.show_screen("review")
        await calm(pilot)
        screen = again.screen  # type: ignore[assignment]  # the main screen of another app
        await press(pilot, "N")
        assert screen.queue_walk.cursor is not None
        assert screen.queue_walk.cursor.answered_claims == {claim for _, claim in order[:2]}
        assert screen.claim is not None
        assert screen.claim.id == order[2][1]


# Finding


async def test_find_lets_claims_stand_out_and_n_walks_through_them(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "slash")
        for key in "sale":
            await pilot.press(key)
        await until(pilot, lambda: "2 claims found here" in status(app))
        assert screen.claim is not None
        assert screen.claim.number == 4, "typing saves no verdicts and goes to the first match"
        await press(pilot, "enter", "N")
        assert screen.claim.number == 5
        await press(pilot, "N")
        assert screen.claim.number == 4, "round and round"
        await press(pilot, "P")
        assert screen.claim.number == 5
        await press(pilot, "slash", "ctrl+u", "enter")
        assert "found here" not in status(app)
        await press(pilot, "home", "N")
        assert screen.claim.number == 2, "without a filter N goes to what is open"
    assert acts(app.session.store_path) == []


async def test_a_filter_that_is_given_up_leaves_no_count_behind(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "slash", *"sale")
        assert "2 claims found here" in status(app)
        await press(pilot, "escape")
        assert "found here" not in status(app)


async def test_a_filter_that_cannot_be_read_says_so(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "slash")
        for key in ("v", "e", "r", "d", "i", "c", "t", "colon", "z"):
            await pilot.press(key)
        await until(pilot, lambda: "verdict:z" in status(app) or "z" in status(app))
        await press(pilot, "escape")
        assert app.is_running
    assert acts(app.session.store_path) == []


async def test_while_blind_nothing_is_found_by_the_judges_word(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot, app.session.store_path)
        await press(pilot, "slash")
        for key in ("v", "e", "r", "d", "i", "c", "t", "colon", "n", "o"):
            await pilot.press(key)
        await press(pilot, "enter")
        await until(pilot, lambda: "blind" in status(app))
        assert not screen.search.found_claims
