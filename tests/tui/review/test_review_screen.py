from collections.abc import Callable
from pathlib import Path

import pytest

from faithtui.domain.annotations import Action
from faithtui.errors import StoreError
from faithtui.store.records import ReviewView
from faithtui.store.store import Store
from faithtui.tui.agreement.agreement_screen import AgreementScreen
from faithtui.tui.app import FaithApp
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.screen.dialogs import PickDialog, TextDialog
from faithtui.tui.theme.lines import Piece
from faithtui.tui.widgets.bars import StatusLine
from faithtui.tui.widgets.panes import Panes
from tests.tui.driving import (
    calm,
    press,
    reviewing,
    screen_text,
    status,
    text_of,
    title,
    until,
)

SIZE = (120, 40)


def stored(path: Path, number: int = 1, reviewer: str = "ann") -> ReviewView:
    with Store.open(path) as store:
        run = store.runs.last_id()
        assert run is not None
        item = store.runs.item_ids(run)[number - 1]
        return store.runs.review_view(item, reviewer)


def focused(app: FaithApp) -> str | None:
    return app.focused.id if app.focused else None


def said(view: ReviewView) -> list[str | None]:
    return [claim.mine.verdict if claim.mine else None for claim in view.claims]


async def test_each_verdict_key_saves_its_label_and_goes_on(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        for key in "ynix":
            before = screen.claim
            await press(pilot, key)
            assert before is not None
            assert screen.claim is not None
            assert screen.claim.number == before.number + 1
        assert "saved 12:04:19" in status(app)
    view = stored(store_path)
    assert said(view) == ["yes", "no", "idk", "x", None]
    actions = [claim.mine.action for claim in view.claims if claim.mine]
    assert actions == [Action.AGREED, Action.OVERRIDDEN, Action.OVERRIDDEN, Action.OVERRIDDEN]


async def test_scores_change_with_the_verdict(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        assert "windowed 0.82" in title(app)
        await press(pilot, "n")
        assert "windowed 0.82→0.48" in title(app)
        assert "windowed 0.82→0.48" in text_of(app, "verdict")
        assert "1.00→0.50" in text_of(app, "windows")


async def test_the_last_verdict_leads_to_the_next_conversation_with_work(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, *"yyyyy")
        assert screen.view is not None
        assert screen.view.item.key == "conv-0031"
        await press(pilot, "y")
        assert "no claim without a verdict" in status(app)
        assert screen.view.item.key == "conv-0031"


async def test_a_verdict_before_its_claim_is_painted_is_refused(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        screen.panes.claims._painted_claim = None
        await press(pilot, "n")
        assert "nothing was saved" in status(app)
    assert said(stored(store_path)) == [None] * 5


async def test_undo_and_redo_have_no_limit_and_survive_a_restart(
    app: FaithApp, make_app: Callable[[Path], FaithApp], store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "y", "n", "i")
    again = make_app(store_path)
    async with again.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "u")
        assert "undone: claim 3 = IDK not addressed" in status(again)
        assert screen.claim is not None
        assert screen.claim.number == 3
        await press(pilot, "u", "u")
        assert screen.view is not None
        assert said(screen.view) == [None] * 5
        await press(pilot, "u")
        assert "nothing to be undone" in status(again)
        await press(pilot, "ctrl+r", "ctrl+r", "ctrl+r")
        assert said(screen.view) == ["yes", "no", "idk", None, None]
        assert "redone: claim 3" in status(again)
        await press(pilot, "ctrl+r")
        assert "nothing to be redone" in status(again)


async def test_undo_goes_to_the_conversation_of_the_act(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, *"yyyyy")
        assert screen.view is not None
        assert screen.view.item.key == "conv-0031"
        await press(pilot, "u")
        assert screen.view.item.key == "conv-0147"
        assert screen.claim is not None
        assert screen.claim.number == 5


async def test_a_note_is_typed_without_giving_verdicts(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "e")
        assert focused(app) == "note"
        await press(pilot, *"ynix", "enter")
        assert "saved" in status(app)
        assert focused(app) == "claims"
        assert "ynix" in text_of(app, "verdict")
        await press(pilot, "e", *"zzz", "escape")
        assert focused(app) == "claims"
    view = stored(store_path)
    assert said(view) == [None] * 5
    assert view.claims[0].mine is not None
    assert view.claims[0].mine.note == "ynix"


async def test_an_emptied_note_is_removed(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "e", "a", "enter", "e", "backspace", "enter")
    assert stored(store_path).claims[0].mine is None


async def test_windows_limit_the_claims(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "J")
        assert screen.review_position.window == 0
        assert text_of(app, "claims").count("w1-3") == 2
        assert "Return labels" not in text_of(app, "claims")
        await press(pilot, "J", "J", "J")
        assert screen.review_position.window == 2
        await press(pilot, "K", "K", "K", "K")
        assert screen.review_position.window is None


async def test_the_last_claim_of_a_window_leads_to_the_next_window(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "J", "y", "y")
        assert screen.review_position.window == 1
        assert screen.claim is not None
        assert screen.claim.number == 3


async def test_keys_move_through_the_claims(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)

        def number() -> int:
            assert screen.claim is not None
            return screen.claim.number

        for key, expected in (
            ("j", 2), ("down", 3), ("k", 2), ("up", 1), ("end", 5), ("home", 1),
            ("pagedown", 5), ("pageup", 1),
        ):  # fmt: skip
            await press(pilot, key)
            assert number() == expected, key
        await press(pilot, "j", "y", "home", "N")
        assert number() == 3
        await press(pilot, "P")
        assert number() == 1


async def test_next_unlabelled_crosses_conversations_both_ways(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "end", "N")
        assert screen.view is not None
        assert screen.view.item.key == "conv-0031"
        await press(pilot, "P")
        assert screen.view.item.key == "conv-0147"
        assert screen.claim is not None
        assert screen.claim.number == 5


async def test_passages_are_walked_and_read_in_full(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        assert text_of(app, "evidence").startswith(">P1")
        await press(pilot, "right_square_bracket")
        assert "\n>P2" in text_of(app, "evidence")
        await press(pilot, "t")
        assert isinstance(app.screen, TextDialog)
        assert "Keep the receipt until the" in text_of(app, "text")
        await press(pilot, "t", "left_square_bracket")
        assert text_of(app, "evidence").startswith(">P1")


async def test_t_shows_the_conversation_from_its_panes(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        screen.query_one("#windows").focus()
        await press(pilot, "t")
        assert "And for sale items?" in text_of(app, "text")
        await press(pilot, "q")
        assert app.screen is screen


async def test_the_same_claim_in_other_windows_can_be_visited(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "p")
        assert "w1" in text_of(app, "text")
        assert "counts for agreement" in text_of(app, "text")
        await press(pilot, "down", "down", "enter")
        assert app.screen is screen
        assert screen.review_position.window == 2
        assert screen.claim is not None
        assert screen.claim.number == 1


async def test_enter_on_a_claim_shows_its_windows(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "enter")
        assert isinstance(app.screen, PickDialog)
        await press(pilot, "escape")
        assert isinstance(app.screen, ReviewScreen)


async def test_w_switches_the_weighting_of_the_score(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "w")
        assert "per interaction 0.67" in title(app)
        await press(pilot, "w")
        assert "windowed 0.82" in title(app)


async def test_z_gives_a_pane_the_room_and_keeps_the_verdict(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "tab", "tab", "z")
        assert screen.query_one(Panes).zoomed_id == "evidence"
        evidence, verdict = screen.query_one("#evidence"), screen.query_one("#verdict")
        assert evidence.outer_size.width == 80
        assert verdict.display
        assert evidence.region.bottom == verdict.region.y
        await press(pilot, "escape")
        assert screen.query_one(Panes).zoomed_id is None
        assert screen.panes.claims.display


async def test_tab_goes_through_the_panes_and_back(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        seen = []
        for _ in range(6):
            seen.append(focused(app))
            await press(pilot, "tab")
        assert app.focused is screen.panes.claims
        assert set(seen) == {"claims", "windows", "card", "evidence", "truths", "verdict"}
        await press(pilot, "shift+tab")
        assert app.focused is not screen.panes.claims


async def test_a_window_is_chosen_in_its_pane(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        screen.query_one("#windows").focus()
        await press(pilot, "j", "j")
        assert screen.review_position.window == 1
        await press(pilot, "home")
        assert screen.review_position.window is None


async def test_truths_and_passages_name_what_the_judge_used(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "j", "j")
        evidence, truths = text_of(app, "evidence"), text_of(app, "truths")
        assert "«For other returns a fee of $5.95 is taken from" in evidence.replace("\n  ", " ")
        assert "T4 contradicts" in evidence.replace("\n     ", " ")
        assert truths.index("contradict") < truths.index("T4") < truths.index("support")


async def test_labels_given_elsewhere_show_up(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        assert screen.view is not None
        view = screen.view
        with Store.open(store_path) as other:
            other.reviews.record(
                view.claims[0].id, "cleo", Action.BLIND, "no",
                run=view.run.id, judge_verdict="yes", saw_judge=False,
            )  # fmt: skip
        app.store_watcher.poll()
        await calm(pilot)
        assert "cleo" in text_of(app, "verdict")
        assert screen.view.claims[0].human == "no"


async def test_the_agreement_screen_counts_a_verdict_at_once(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "y", "g", "a")
        assert isinstance(app.screen, AgreementScreen)
        assert app.screen.agreement is not None
        assert app.screen.agreement.report.claims.coverage.compared == 1


async def test_a_change_of_the_store_does_not_stop_a_jump(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        screen.loader.load_next(1)
        await pilot.pause(0)
        screen.handle_store_change()
        await calm(pilot)
        assert screen.view is not None
        assert screen.view.item.key == "conv-0031"


async def test_a_verdict_key_outside_the_list_of_claims_says_where_it_works(
    app: FaithApp,
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "tab", "y")
        assert "list of claims" in status(app)
        assert screen.view is not None
        assert said(screen.view) == [None] * 5


async def test_a_verdict_that_cannot_be_saved_is_taken_off_the_screen(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        screen = await reviewing(pilot)

        def full(*_: object, **__: object) -> None:
            raise StoreError("the disk is full")

        monkeypatch.setattr(app.session.store.reviews, "record_verdict", full)
        await pilot.press("n")
        await until(pilot, lambda: "not saved" in status(app))
        await until(pilot, lambda: not screen.writer.in_flight)
        await pilot.pause(0.2)
        assert screen.view is not None
        assert said(screen.view) == [None] * 5
        assert "claim 1 = NO" in status(app), "it says which one was lost"
        assert screen.claim is not None
        assert screen.claim.number == 1, "and goes back to it"
        assert "u undoes" not in screen_text(app)
        assert "the disk is full" in screen_text(app)
        assert app.is_running


async def test_where_one_is_is_never_cut_at_the_usual_size(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "n", "w")
        assert screen.claim is not None
        assert screen.view is not None
        where = f"claim {screen.claim.number}/{len(screen.view.claims)} "
        assert where in screen_text(app).splitlines()[0]


def test_what_happened_last_is_whole_and_the_other_end_gives_way() -> None:
    line = StatusLine()
    line.right = (Piece("blind sample 3/20, ETA 1 min"),)
    assert line.lay_out_line(40).text == f"{'blind sample 3/20, ETA 1 min ':>40}"
    line.left = (Piece("saved, claim 1"),)
    assert line.lay_out_line(40).text == " saved, claim 1   blind sample 3/20, E… "
    line.left = (Piece("thirty-five cells of what was done"),)
    assert line.lay_out_line(40).text.strip() == "thirty-five cells of what was done"
