"""`y` `n` `i` `x`, digits and marks: what the keys of the list of claims save."""

from pathlib import Path

import pytest
from textual import events
from textual.binding import Binding

from faithtui.agreement.labelled_units import LabelState
from faithtui.domain.ids import ClaimId
from faithtui.domain.labels.label_events import Action
from faithtui.tui.app import FaithApp
from faithtui.tui.review.claim_list import ClaimList
from faithtui.tui.review.labels.verdicts import Verdicts
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.session import Session
from tests.tui.driving import (
    SIZE,
    acts,
    calm,
    press,
    reviewing,
    said,
    status,
    stored,
    text_of,
)
from tests.tui.fake_screens import FakeClaimList, FakeReviewScreen
from tests.tui.review.sample_queues import open_sample_queue

_ROOM = 80 - len(" a reviewer's name · ") - 5
"""Cells of the status line of a small terminal for what happened."""


@pytest.mark.thorough
async def test_a_digit_codes_the_verdict_given_last_or_after_moving_the_chosen_one(
    app: FaithApp, store_path: Path
) -> None:
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
        await press(pilot, "2")
        mine = stored(store_path).claims[0].mine
        assert mine is not None
        assert mine.code is None, "the same digit again takes it back"
        await press(pilot, "n", "k", "k", "4")
        assert "claim 1: code retrieval" in status(app)
        await press(pilot, "end", "1")
        assert "belongs to a label of yours" in status(app)
    codes = [each.mine.code if each.mine else None for each in stored(store_path).claims]
    assert codes == ["retrieval", None, None, None, None]


@pytest.mark.thorough
async def test_low_confidence_is_kept_with_the_verdict(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "y", "c", "k")
        assert "low confidence" in text_of(app, "verdict")
        assert "1 Y~" in text_of(app, "claims")
        await press(pilot, "c")
        assert "sure again" in status(app)
    mine = stored(store_path).claims[0].mine
    assert mine is not None
    assert not mine.unsure


@pytest.mark.thorough
async def test_repeat_gives_the_last_verdict_and_its_code(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "full_stop")
        assert "nothing to repeat" in status(app)
        await press(pilot, "n", "3", "full_stop", "full_stop")
    mine = [each.mine for each in stored(store_path).claims[:3]]
    assert [(each.verdict, each.code) for each in mine if each] == [("no", "verdict")] * 3


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


async def test_later_puts_a_claim_off(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        for number, key in enumerate(("s", "space"), start=2):
            await press(pilot, key)
            assert screen.claim is not None
            assert screen.claim.number == number
        await press(pilot, "y", "k", "s")
        assert "has your verdict" in status(app), "a verdict is not lost by putting off"
    *skipped, third = stored(store_path).claims[:3]
    for claim in skipped:
        assert claim.mine is not None
        assert claim.mine.action is Action.SKIPPED
        assert claim.human is None
    assert third.mine is not None
    assert third.mine.verdict == "yes"


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


@pytest.mark.thorough
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


async def test_a_verdict_before_its_claim_is_painted_is_refused(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        screen.panes.claims._painted_claim = None
        await press(pilot, "n")
        assert "typed before the claim was drawn" in status(app)
    assert said(stored(store_path)) == [None] * 5


async def test_verdict_keys_work_in_every_pane_and_in_no_line_that_is_typed(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "tab", "n", "2")
        pane = app.focused
        assert pane is not screen.panes.claims
        await press(pilot, "tab", "i", "e", "y", "enter", "tab", "L", "s")
        assert screen.claim is not None
        assert screen.claim.number == 4
    view = stored(store_path)
    assert said(view) == ["no", "idk", None, None, None]
    mine = [claim.mine for claim in view.claims]
    assert mine[0] is not None
    assert mine[0].code == "truth"
    assert mine[2] is not None
    assert (mine[2].action, mine[2].note) == (Action.SKIPPED, "y")


async def test_a_click_on_a_verdicts_letter_gives_it(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        lines = [line.text for line in screen.panes.verdict.lines]
        y = next(n for n, line in enumerate(lines) if "[n]" in line)
        await pilot.click("#verdict", offset=(lines[y].index("[n]") + 2, y + 1))
        await calm(pilot)
        assert screen.claim is not None
        assert screen.claim.number == 2
    assert said(stored(store_path)) == ["no", None, None, None, None]


async def test_accepting_the_judges_verdict_leaves_a_label_that_counts(
    app: FaithApp, store_path: Path
) -> None:
    """At the end of a queue `a` means agreement; pressed again it took the last label out."""
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "n", "k", "a")
        assert "claim 1 has your verdict: u undoes it" in status(app)
    assert codes_of(store_path)[:2] == [("no", None), None]
    assert [each[0] for each in acts(store_path)] == ["overridden"]


@pytest.mark.thorough
async def test_accepting_the_judges_verdict_leaves_a_label_given_in_bulk(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "m", "j", "n", "k", "k", "a")
        assert "has your verdict: u undoes it" in status(app)
    assert [each[0] for each in acts(store_path)] == ["bulk", "bulk"]


async def test_a_code_after_a_refused_verdict_is_not_of_the_label_before(
    app: FaithApp, store_path: Path
) -> None:
    """The refused verdict came before its row was drawn; the code, when the refusal was read."""
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "n")
        screen.panes.claims.block_keys_until_repaint()
        await press(pilot, "y")
        assert "typed before the claim was drawn" in status(app)
        screen.repaint()
        await press(pilot, "3")
        assert "belongs to a label of yours" in status(app)
    assert codes_of(store_path)[:2] == [("no", None), None]


async def test_a_code_behind_a_flag_that_came_too_early_is_of_the_label_before(
    app: FaithApp, store_path: Path
) -> None:
    """All typed in one go at the last claim: the next conversation was not drawn yet."""
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        assert screen.view is not None
        await press(pilot, *"nnnn")
        for key in ("n", "f", "3"):
            app.post_message(events.Key(key, key))
        await calm(pilot)
    assert codes_of(store_path)[-1] == ("no", "verdict")


def codes_of(store_path: Path) -> list[tuple[str | None, str | None] | None]:
    """Give the verdict and the reason code of each claim."""
    mine = [each.mine for each in stored(store_path).claims]
    return [None if each is None else (each.verdict, each.code) for each in mine]


# On a screen that is not drawn


async def test_codes_are_about_the_verdict_given_last_until_it_is_forgotten(
    session: Session,
) -> None:
    screen = await FakeReviewScreen(session).open()
    first, second = screen.claims[:2]
    screen.give("no")
    assert screen.chosen == 1, "it went on"
    screen.press("5")
    await screen.settle()
    screen.verdicts.forget_last_verdict()
    screen.press("5")
    assert "give one first" in screen.message
    assert screen.app.bells == 1
    screen.give("yes")
    screen.press("5")
    await screen.settle()
    view = screen.view
    assert view is not None
    codes = {claim.id: claim.mine.code for claim in view.claims if claim.mine}
    assert codes == {first: "policy", second: "policy"}


async def test_a_doubt_is_taken_back_by_the_same_key_before_it_was_read_again(
    session: Session,
) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.give("no")
    screen.press("c")
    assert "low confidence" in screen.message
    screen.press("c")
    assert "sure again" in screen.message
    await screen.settle()
    assert screen.find_claim(screen.claims[0]).mine.unsure is False  # type: ignore[union-attr]  # it was given


async def test_repeating_needs_a_verdict_and_keeps_it_over_moves(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.press("full_stop")
    assert "nothing to repeat yet" in screen.message
    screen.give("idk")
    assert screen.press("j")
    screen.press("full_stop")
    await screen.settle()
    assert screen.view is not None
    given = [claim.mine.verdict if claim.mine else None for claim in screen.view.claims]
    assert given[:3] == ["idk", None, "idk"]


def _labels_and_codes(screen: FakeReviewScreen) -> list[tuple[str | None, str | None]]:
    assert screen.view is not None
    mine = [each.mine for each in screen.view.claims]
    return [(each.verdict, each.code) if each else (None, None) for each in mine]


async def test_a_verdict_on_a_range_is_repeated_without_a_code(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.give("yes")
    screen.press("3")
    screen.press("m")
    screen.press("j")
    screen.give("no")
    await screen.settle()
    assert screen.chosen == 3
    screen.press("k")
    screen.press("5")
    screen.press("j")
    screen.press("full_stop")
    await screen.settle()
    given = _labels_and_codes(screen)
    assert given[1:4] == [("no", None), ("no", "policy"), ("no", None)], "its code is its own"
    actions = [each.mine.action for each in screen.view.claims[1:4] if each.mine]  # type: ignore[union-attr]  # it was opened
    assert actions == [Action.BULK, Action.BULK, Action.OVERRIDDEN], "one claim is no bulk"


async def test_a_verdict_is_repeated_on_all_of_a_marked_range(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.give("no")
    screen.press("3")
    screen.press("m")
    screen.press("j")
    screen.press("full_stop")
    await screen.settle()
    assert "2 claims = NO contradicted, in bulk" in screen.message
    assert _labels_and_codes(screen)[:4] == [("no", "verdict"), *[("no", None)] * 2, (None, None)]


async def test_a_code_that_is_taken_back_is_not_repeated(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.give("no")
    screen.press("3")
    screen.press("full_stop")
    screen.press("3")
    screen.press("full_stop")
    await screen.settle()
    assert _labels_and_codes(screen)[:3] == [("no", "verdict"), ("no", None), ("no", None)]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (("a",), "you accepted the judge's last: give a verdict first"),
        (("u",), "nothing to repeat after an undo"),
        (("u", "ctrl+r"), "nothing to repeat after a redo"),
        (("3", "u"), "nothing to repeat after an undo"),
    ],
)
async def test_what_is_not_the_last_verdict_any_more_is_not_repeated(
    session: Session, keys: tuple[str, ...], words: str
) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.give("x")
    for key in keys:
        await screen.settle()
        assert screen.press(key)
    await screen.settle()
    before = _labels_and_codes(screen)
    assert screen.press("full_stop")
    assert words in screen.message
    assert len(screen.message) <= _ROOM
    await screen.settle()
    assert _labels_and_codes(screen) == before
    screen.give("no")
    screen.press("full_stop")
    await screen.settle()
    assert [verdict for verdict, _ in _labels_and_codes(screen)].count("no") == 2


async def test_a_skip_and_a_flag_leave_the_last_verdict_to_repeat(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.give("idk")
    for key in ("f", "s", "full_stop"):
        assert screen.press(key)
    await screen.settle()
    given = [verdict for verdict, _ in _labels_and_codes(screen)]
    assert given[:3] == ["idk", None, "idk"]


async def test_a_verdict_that_the_metric_does_not_have_is_not_repeated(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.verdicts.repeated.remember("irrelevant")
    screen.press("full_stop")
    assert "your last verdict is none of this metric" in screen.message
    assert screen.writer.in_flight == 0


async def test_a_claim_that_is_gone_is_refused_and_nothing_is_saved(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.panes.claims = FakeClaimList(lambda: ClaimId(10_000))
    for key in ("n", "f"):
        screen.message = ""
        screen.press(key)
        assert "not here any more: the key was not saved" in screen.message
    assert screen.writer.in_flight == 0


async def test_a_code_before_any_claim_was_drawn_is_refused(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.panes.claims.is_painted = False
    screen.press("5")
    assert "typed before the claim was drawn" in screen.message
    screen.panes.claims.is_painted = True
    screen.give("no")
    screen.panes.claims.is_painted = False
    screen.press("5")
    assert "claim 1: code policy" in screen.writer.last_act_words


async def test_why_a_key_did_nothing_fits_the_status_line_of_a_small_terminal(
    session: Session,
) -> None:
    """A box would lie over the verdict."""
    screen = await FakeReviewScreen(session).open()
    assert screen.press("5")
    assert "give one first" in screen.message
    refusals = [screen.message]
    screen.verdicts.was_given_in_bulk = True
    assert screen.press("5")
    refusals.append(screen.message)
    assert screen.press("v")
    refusals.append(screen.message)
    session.set_judge_hidden(True)
    assert screen.press("v")
    assert "nothing is hidden" in screen.message
    refusals.append(screen.message)
    assert [each for each in refusals if len(each) > _ROOM] == []


async def test_no_other_key_counts_before_its_claim_is_drawn(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.panes.claims.is_painted = False
    for key in ("y", "s", "f", "full_stop", "m", "a"):
        screen.message = ""
        assert screen.press(key)
        assert "typed before the claim was drawn" in screen.message, key
    assert screen.writer.in_flight == 0


def test_every_key_of_verdicts_has_its_action_on_each_node_that_lists_it(session: Session) -> None:
    panes = ReviewScreen(session).make_panes()
    claims = next(each for each in panes._pending_children if isinstance(each, ClaimList))
    for node, bindings in (
        (panes, Verdicts.PANE_BINDINGS),
        (claims, Verdicts.CLAIM_LIST_BINDINGS),
    ):
        for each in bindings:
            assert each in type(node).BINDINGS
            assert isinstance(each, Binding)
            assert callable(getattr(node, f"action_{each.action.partition('(')[0]}")), each.id


async def test_the_judge_cannot_be_accepted_while_it_is_hidden(session: Session) -> None:
    session.set_judge_hidden(True)
    screen = await FakeReviewScreen(session).open()
    screen.press("a")
    assert "the judge is hidden: v reveals it" in screen.message
    assert screen.writer.in_flight == 0


async def test_skipping_what_has_a_verdict_is_refused(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.give("no")
    await screen.settle()
    assert screen.press("k")
    screen.press("s")
    assert "claim 1 has your verdict: u undoes it" in screen.message


async def test_what_is_pending_of_flags_is_forgotten_claim_by_claim_or_at_once(
    session: Session,
) -> None:
    screen = await FakeReviewScreen(session).open()
    one, other = screen.claims[:2]
    screen.press("f")
    screen.press("j")
    screen.press("f")
    assert screen.verdicts.pending_flags == {one: True, other: True}
    screen.verdicts.discard_pending_flag(one)
    assert screen.verdicts.pending_flags == {other: True}
    await screen.settle()
    assert screen.verdicts.pending_flags == {}, "they were read back"


async def test_a_flag_is_taken_away_by_the_same_key_before_it_was_read_again(
    session: Session,
) -> None:
    screen = await FakeReviewScreen(session).open()
    for words in ("claim 1 flagged", "claim 1 no longer flagged", "claim 1 flagged"):
        screen.press("f")
        assert words in screen.writer.last_act_words
    await screen.settle()
    mine = screen.view.claims[0].mine  # type: ignore[union-attr]  # it was opened
    assert mine is not None
    assert mine.flagged
    # Read again, the key means what the store has.
    screen.press("f")
    assert "claim 1 no longer flagged" in screen.writer.last_act_words
    await screen.settle()
    mine = screen.view.claims[0].mine  # type: ignore[union-attr]  # the same
    assert mine is None or not mine.flagged


async def test_a_skipped_claim_is_stored_as_skipped_and_has_no_verdict(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.press("s")
    await screen.settle()
    claim = screen.find_claim(screen.claims[0])
    assert claim is not None
    assert claim.mine is not None
    assert (claim.mine.action, claim.mine.verdict, claim.human) == (Action.SKIPPED, None, None)


async def test_a_skip_in_a_second_blind_sample_takes_no_label_of_the_first_away(
    session: Session,
) -> None:
    """The blind view hides the label, so that the key cannot be refused for it."""
    screen, first, claims = await open_sample_queue(session, 3)
    for _ in claims:
        screen.give("no")
        await screen.settle()
    screen, second, again = await open_sample_queue(session, 6, screen=screen)
    for _ in again:
        screen.press("s")
        await screen.settle()
        screen.panes.claims.blocked = 0
    samples = session.store.samples
    assert samples.read_sample(first.id, "ann").answered == 3
    progress = samples.read_sample(second.id, "ann")
    assert (progress.answered, progress.skipped_claims) == (0, frozenset(again))
    units = session.store.labelled_units.read_claim_units(first.run)
    states = {each.claim: (each.state, each.human) for each in units}
    assert {each for each in again if each in claims}
    for each in again:
        labelled = each in claims
        state = LabelState.LABELLED if labelled else LabelState.SKIPPED
        assert states[each] == (state, "no" if labelled else None)
