"""Review: panes, title and status line of the screen itself."""

from pathlib import Path

import pytest

from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.reason_codes import REASON_CODES
from faithtui.store.store import Store
from faithtui.tui.agreement.agreement_screen import AgreementScreen
from faithtui.tui.app import FaithApp
from faithtui.tui.metric_words import get_metric_spec
from faithtui.tui.review.lines.claim_rows import reviewer_letter_piece
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.theme.lines import Piece
from faithtui.tui.widgets.bars import StatusLine
from faithtui.tui.widgets.zoomable_panes import Panes
from tests.tui.driving import SIZE, calm, focused, press, reviewing, screen_text, status, text_of


@pytest.mark.thorough
async def test_z_gives_a_pane_the_room_and_keeps_the_verdict(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "tab", "tab", "tab", "tab", "z")
        assert screen.query_one(Panes).zoomed_id == "evidence"
        evidence, verdict = screen.query_one("#evidence"), screen.query_one("#verdict")
        assert evidence.outer_size.width == 80
        assert verdict.display
        assert evidence.region.bottom == verdict.region.y
        claim = screen.claim
        assert claim is not None
        assert claim.text in text_of(app, "card")
        assert screen.panes.card.region.height >= 3
        await press(pilot, "escape")
        assert screen.query_one(Panes).zoomed_id is None
        assert screen.panes.claims.display


@pytest.mark.thorough
async def test_tab_goes_through_the_panes_and_back(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        seen = []
        for _ in range(6):
            seen.append(focused(app))
            await press(pilot, "tab")
        assert app.focused is screen.panes.claims
        assert set(seen) == {"claims", "transcript", "card", "evidence", "truths", "verdict"}
        await press(pilot, "shift+tab")
        assert app.focused is not screen.panes.claims


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
@pytest.mark.parametrize("blind", [False, True])
async def test_question_answer_and_claim_are_on_the_screen_for_every_claim(
    app: FaithApp, size: tuple[int, int], blind: bool
) -> None:
    async with app.run_test(size=size) as pilot:
        screen = await reviewing(pilot)
        if blind:
            await press(pilot, "B")
        assert screen.view is not None
        asked = {turn.position: turn.content for turn in screen.view.turns}
        for claim in screen.view.claims:
            assert screen.claim == claim
            box = screen.panes.transcript.region
            lines = [line[box.x : box.right] for line in screen_text(app).splitlines()]
            words = " ".join(" ".join(lines[box.y : box.bottom]).replace("│", " ").split())
            assert asked[claim.turn - 1] in words
            assert "«" in words or "‹" in words
            assert screen.panes.card.display
            await press(pilot, "j")


@pytest.mark.thorough
async def test_the_chosen_claim_stays_in_view_when_its_list_gets_less_room(app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "end")
        await pilot.resize_terminal(80, 24)
        await calm(pilot)
        box = screen.panes.claims.region
        lines = screen_text(app).splitlines()[box.y : box.bottom]
        assert any("> 5" in line or ">5" in line for line in lines)


@pytest.mark.thorough
async def test_after_a_resize_all_is_drawn_for_the_new_layout(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await reviewing(pilot)
        claims, evidence = screen.panes.claims, screen.panes.evidence
        assert "J you" in str(claims.border_title)
        await pilot.resize_terminal(120, 40)
        await calm(pilot)
        assert "J you" not in str(claims.border_title), "the columns have heads of their own"
        assert "user" not in evidence.lines[0].text
        await pilot.resize_terminal(44, 16)
        await calm(pilot)
        assert "user" in evidence.lines[0].text, "the question has no pane"
        await pilot.resize_terminal(80, 24)
        await calm(pilot)
        assert "user" not in evidence.lines[0].text


@pytest.mark.thorough
async def test_scrolling_an_answer_keeps_its_question(app: FaithApp) -> None:
    async with app.run_test(size=(60, 21)) as pilot:
        screen = await reviewing(pilot)
        pane = screen.panes.transcript
        pane.focus()
        first = pane.get_line_and_style_at(0)[0]
        assert "user Can I" in first.text
        await press(pilot, "down", "down")
        assert pane.scroll_offset.y > 0
        assert pane.get_line_and_style_at(0)[0] is first


@pytest.mark.thorough
async def test_the_agreement_screen_counts_a_verdict_at_once(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "y", "g", "a")
        assert isinstance(app.screen, AgreementScreen)
        assert app.screen.agreement is not None
        assert app.screen.agreement.report.claims.coverage.compared == 1


async def test_where_one_is_is_never_cut_at_the_usual_size(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "n", "w")
        assert screen.claim is not None
        assert screen.view is not None
        where = f"claim {screen.claim.number}/{len(screen.view.claims)} "
        assert where in screen_text(app).splitlines()[0]


async def test_that_a_claim_was_copied_goes_with_the_claim(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await reviewing(pilot)
        await press(pilot, "C")
        assert "claim 1 copied" in status(app)
        await press(pilot, "tab", "shift+tab")
        assert "claim 1 copied" in status(app), "it is the same claim"
        await press(pilot, "j")
        assert "copied" not in status(app)
        await press(pilot, "C", "y")
        assert "saved" in status(app), "what came after it stays"


def test_what_happened_last_is_whole_and_the_other_end_gives_way() -> None:
    line = StatusLine()
    line.right = (Piece("blind sample 3/20, 1 min left"),)
    assert line.lay_out_line(40).text == f"{'blind sample 3/20, 1 min left ':>40}"
    line.left = (Piece("saved, claim 1"),)
    assert line.lay_out_line(40).text.strip() == "saved, claim 1", "no figure is cut"
    line.left = (Piece("thirty-five cells of what was done"),)
    assert line.lay_out_line(40).text.strip() == "thirty-five cells of what was done"


def test_whole_parts_of_the_status_line_give_way() -> None:
    line = StatusLine()
    line.left = (Piece("saved, claim 1"),)
    line.right = (Piece("3 left here · 9 s a claim · 3 min to go", "quiet"),)
    line.who = (Piece("ann"),)
    seen = {
        line.lay_out_line(width).text.partition("claim 1")[2].strip() for width in range(38, 80)
    }
    assert seen == {
        "3 left here · ann",
        "3 left here · 9 s a claim · ann",
        "3 left here · 9 s a claim · 3 min to go · ann",
    }


def test_a_warning_pushes_aside_how_it_goes_on() -> None:
    line = StatusLine()
    line.right = (Piece("passing 0-100%, recall 0-68% · 9 s a claim", "quiet"),)
    line.who = (Piece("gil"),)
    words = "not saved: y y y y y · typed before the claim was drawn"
    line.left = (Piece(words, "warn"), Piece(" · "), Piece("saved 12:04:19", "good"))
    assert line.lay_out_line(80).text.split("  ")[0] == f" {words} · saved 12:04:19"
    line.left = (Piece("what was done, " * 6),)
    assert "passing 0-100%" in line.lay_out_line(80).text, "what is no warning leaves it a place"


@pytest.mark.parametrize("width", [44, 80, 120, 200])
def test_a_long_message_is_cut_and_not_the_name_of_who_reviews(width: int) -> None:
    line = StatusLine()
    line.left = (Piece("what was refused, and why, " * 12),)
    line.right = (Piece("3 left here · 9 s a claim"),)
    for name in ("ann", "a name of forty characters, or nearly so"):
        line.who = (Piece(name),)
        text = line.lay_out_line(width).text
        shown = name if len(name) <= width // 3 else f"{name[: width // 3 - 1]}…"
        assert len(text) == width
        # Half of the line is for what happened; how it goes on may have the rest.
        has_room = width - width // 2 - len(shown) - 8 >= len("3 left here")
        assert text.endswith(f"… {'3 left here · ' * has_room}{shown} ")


@pytest.mark.thorough
@pytest.mark.parametrize("width", [180, 200])
async def test_each_reason_code_stands_behind_its_key(app: FaithApp, width: int) -> None:
    async with app.run_test(size=(width, 60)) as pilot:
        await reviewing(pilot)
        await press(pilot, "y")
        said = text_of(app, "verdict")
        assert "1 claim extraction" in said
        for number, code in enumerate(REASON_CODES, start=1):
            assert f"{number} {code.title}" in said


@pytest.mark.parametrize(
    ("action", "mark", "labelled"), [(Action.BLIND, "·", 1), (Action.BULK, " ", 0)]
)
def test_a_dot_stands_for_what_the_title_of_conversations_counts(
    store_path: Path, action: Action, mark: str, labelled: int
) -> None:
    with Store.open(store_path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        item = store.runs.list_item_ids(run, "number")[0]
        claim = store.runs.read_conversation_for_review(item, "ann").claims[0].id
        store.label_log.append_label_event(
            claim, "bo", action, "no", run=run, judge_verdict=None, saw_judge=False
        )
        view = store.runs.read_conversation_for_review(item, "ann")
        assert store.runs.read_run(run).labelled == labelled
    spec = get_metric_spec(view.run.spec)
    assert reviewer_letter_piece(view, view.claims[0], spec.labels).text == mark
    assert "gave one that is counted" in ReviewScreen.HELP_WORDS
