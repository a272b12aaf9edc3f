"""The final label of a claim: given, flagged for a chat, saved, taken back."""

import sqlite3
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any, cast

import pytest

from faithtui.agreement.report.figures.rater_comparison import order_opinions_anonymously
from faithtui.domain.ids import ClaimId, RunId
from faithtui.domain.labels.label_events import Action, LabelMark
from faithtui.errors import StoreError
from faithtui.store.store import Store
from faithtui.tui.adjudication.adjudication_screen import AdjudicationScreen
from faithtui.tui.adjudication.claim_evidence import read_selected_claim
from faithtui.tui.adjudication.comparison_reader import LoadedComparison, read_comparison
from faithtui.tui.app import FaithApp
from faithtui.tui.screen.label_undo import LabelUndo, UndoneStep
from faithtui.tui.session import Session
from faithtui.tui.widgets.virtual_list import VirtualList
from tests.tui.adjudication.test_adjudication_screen import adjudicating
from tests.tui.driving import (
    acts,
    calm,
    opened,
    press,
    screen_text,
    status,
    title,
    type_ahead,
    until,
)
from tests.tui.fake_screens import FakeAdjudicateScreen


@pytest.mark.thorough
async def test_what_people_differ_on_is_settled_key_by_key(differing: Path, app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        screen = await adjudicating(app)
        assert "3 to adjudicate" in title(app)
        claims = list(screen.listed_entries)
        assert len(claims) == 3
        await press(pilot, "a", "n", "x")
        assert "0 to adjudicate" in title(app)
        assert "final 3/3" in title(app)
        with Store.open(differing) as store:
            run = store.runs.find_newest_run_id()
            assert run is not None
            found = {each.claim: each for each in store.raters.read_rater_records(run).claims}
        finals = [found[each].final for each in claims]
        first = screen.listed_entries[claims[0]]
        assert [each.verdict for each in finals if each is not None] == [
            order_opinions_anonymously(first)[0].verdict,
            "no",
            "x",
        ]
        assert {each.reviewer for each in finals if each is not None} == {"ann"}
        # What they said before is still there, whoever settles it.
        assert [each.reviewer for each in found[claims[0]].opinions] == ["bo", "zoe"]


async def test_later_flags_and_goes_on(differing: Path, app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "s")
        screen = await adjudicating(app)
        assert screen.claims.cursor == 1
        first = next(iter(screen.listed_entries.values()))
        assert first.flagged
        assert first.is_undecided
        assert len(app.session.saved_events) == 1, "review calls it no other app's"
        await press(pilot, "k", "s")
        assert not next(iter(screen.listed_entries.values())).flagged


@pytest.mark.thorough
async def test_undo_goes_back_to_the_claim_and_redo_too(differing: Path, app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        screen = await adjudicating(app)
        await press(pilot, "y")
        assert screen.claims.cursor == 1
        await press(pilot, "u")
        assert "undone: YES supported" in status(app)
        assert screen.claims.cursor == 0
        assert "3 to adjudicate" in title(app)
        await press(pilot, "ctrl+r")
        assert "2 to adjudicate" in title(app)
        await press(pilot, "u", "u")
        assert "nothing to be undone here: no final label or flag of yours" in status(app)


@pytest.mark.thorough
async def test_keys_typed_ahead_settle_no_claim_that_was_not_drawn(
    differing: Path, app: FaithApp
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        screen = await adjudicating(app)
        type_ahead(app, "y", "n", "x")
        await until(pilot, lambda: not screen.labels.in_flight)
        await calm(pilot)
        assert [verdict for _, verdict, *_ in acts(differing)] == ["yes"]
        assert status(app).startswith("not saved: n x · typed before the claim was drawn")
        assert screen.claims.cursor == 1
        await press(pilot, "n")
        assert status(app).startswith("saved")
        assert [verdict for _, verdict, *_ in acts(differing)] == ["yes", "no"]


@pytest.mark.thorough
@pytest.mark.parametrize("keys", ["g d u x", "g d ctrl+r s", "g d u y u x"])
async def test_an_undo_of_nothing_lets_no_final_label_through(
    differing: Path, app: FaithApp, keys: str
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        type_ahead(app, *keys.split())
        await calm(pilot)
        assert "typed before the claim was drawn" in status(app)
    assert not acts(differing)


@pytest.mark.thorough
async def test_a_final_label_typed_with_an_undo_whose_claim_leaves_the_list_is_refused(
    differing: Path, app: FaithApp
) -> None:
    """Undone, the claim is open, and no claim on which the judge says otherwise."""
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "x", "x", "x", "f")
        before = len(acts(differing))
        type_ahead(app, "u", "x")
        await calm(pilot)
        assert "not saved: x · typed before the claim was drawn" in status(app)
        assert [each[0] for each in acts(differing)[before:]] == ["withdrawn"]
        await press(pilot, "u")
        assert "undone: X not fair, on a claim that is not in this list" in status(app)


@pytest.mark.thorough
@pytest.mark.parametrize("keys", ["j j x", "j s"])
async def test_a_claim_is_settled_by_no_key_typed_before_it_was_drawn(
    differing: Path, app: FaithApp, keys: str
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        type_ahead(app, *keys.split())
        await calm(pilot)
        assert "typed before the claim was drawn" in status(app)
    assert not acts(differing)


@pytest.mark.thorough
@pytest.mark.parametrize("keys", ["y ] x", "y tab x", "y e o h enter x", "y y u x"])
async def test_keys_typed_ahead_settle_none_whatever_lies_between(
    differing: Path, app: FaithApp, keys: str
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        screen = await adjudicating(app)
        type_ahead(app, *keys.split())
        await until(pilot, lambda: not screen.labels.in_flight)
        await calm(pilot)
        final = [each.final and each.final.verdict for each in screen.listed_entries.values()]
        # One undo goes back to the first claim, which was seen.
        assert final == ["x" if "u" in keys else "yes", None, None]


async def test_final_labels_typed_before_the_list_settle_nothing(
    differing: Path, app: FaithApp
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        type_ahead(app, "g", "d", "x", "]", "y")
        await calm(pilot)
        assert "not saved: x y · typed before the claim was drawn" in status(app)
        assert not acts(differing)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "keys",
    [
        "u u n x",
        "u u ] x",
        "u j u x",
        "u u n u x",
        "u u e o h enter x",
        "u u d d x",
        "u u g r g d x",
    ],
)
async def test_final_labels_typed_behind_several_undos_are_refused_and_named(
    differing: Path, app: FaithApp, keys: str
) -> None:
    """Nobody has seen the claim that the second one goes back to."""
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "y", "y")
        type_ahead(app, *keys.split())
        await until(pilot, lambda: "3 to adjudicate" in title(app))
        await calm(pilot)
        screen = await adjudicating(app)
        assert "x · typed before the claim was drawn" in status(app)
        assert not any(each.final for each in screen.listed_entries.values())
        await press(pilot, "n")
        assert "2 to adjudicate" in title(app)


@pytest.mark.thorough
async def test_a_final_label_typed_while_a_second_undo_is_read_is_refused(
    differing: Path, app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "y", "y")
        reading, go_on, read = threading.Event(), threading.Event(), read_comparison
        times = list[int]()

        def read_late(*args: Any) -> LoadedComparison:
            times.append(1)
            if len(times) == 2:
                reading.set()
                go_on.wait()
            return read(*args)

        monkeypatch.setattr(f"{AdjudicationScreen.__module__}.read_comparison", read_late)
        type_ahead(app, "u", "u")
        await until(pilot, reading.is_set)
        type_ahead(app, "x")
        for _ in range(5):
            await pilot.pause()
        go_on.set()
        await until(pilot, lambda: "3 to adjudicate" in title(app))
        await calm(pilot)
        assert "not saved: x" in status(app)
        screen = await adjudicating(app)
        assert not any(each.final for each in screen.listed_entries.values())


@pytest.mark.thorough
async def test_a_verdict_typed_after_an_undo_is_about_the_claim_it_goes_back_to(
    differing: Path, app: FaithApp
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "y")
        screen = await adjudicating(app)
        claims = list(screen.listed_entries)
        type_ahead(app, "u", "n")
        await until(pilot, lambda: not screen.labels.in_flight)
        await calm(pilot)
        final = screen.listed_entries[claims[0]].final
        assert final is not None
        assert final.verdict == "no"
        assert screen.listed_entries[claims[1]].final is None


@pytest.mark.thorough
async def test_keys_typed_after_an_undo_wait_also_for_a_reading_that_takes_its_place(
    differing: Path, app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "y")
        screen = await adjudicating(app)
        claims = list(screen.listed_entries)
        reload_at, show_loaded = (
            screen.reload_and_select_claim,
            screen.show_comparison,
        )

        def reload_twice(claim: ClaimId) -> None:
            reload_at(claim)
            screen.call_later(screen.reload)  # as when the store has changed meanwhile

        def show_and_read_twice(loaded: LoadedComparison, wanted: ClaimId | None) -> None:
            show_loaded(loaded, wanted)
            screen.call_later(screen.show_claim_under_cursor)

        monkeypatch.setattr(screen, "reload_and_select_claim", reload_twice)
        monkeypatch.setattr(screen, "show_comparison", show_and_read_twice)
        type_ahead(app, "u", "n")
        await until(pilot, lambda: "saved" in status(app) and "undone" not in status(app))
        await calm(pilot)
        final = screen.listed_entries[claims[0]].final
        assert final is not None
        assert final.verdict == "no"
        assert screen.listed_entries[claims[1]].final is None


@pytest.mark.thorough
async def test_deciding_again_goes_on_and_a_note_alone_does_not(
    differing: Path, app: FaithApp
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "y", "k")
        screen = await adjudicating(app)
        assert screen.claims.cursor == 0
        await press(pilot, "n")
        assert screen.claims.cursor == 1
        first = next(iter(screen.listed_entries.values()))
        assert first.final is not None
        assert first.final.verdict == "no"
        await press(pilot, "k", "e")
        screen.note.value = "so be it"
        await press(pilot, "enter")
        assert screen.claims.cursor == 0


@pytest.mark.thorough
async def test_a_final_label_says_whether_its_giver_knew_the_judge(
    differing: Path, app: FaithApp
) -> None:
    """The first one is given with the judges hidden; once there is one, they are shown."""
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "y", "k", "n")
    assert [(verdict, saw) for _, verdict, _, _, saw in acts(differing)] == [
        ("yes", False),
        ("no", True),
    ]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.thorough
async def test_keys_save_nothing_while_the_rater_table_hides_the_claim(
    differing: Path, app: FaithApp, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "y", "d")
        screen = await adjudicating(app)
        assert "a/b take" not in screen_text(app)
        assert "esc all panes" in screen_text(app)
        assert "n i x final" not in screen_text(app)
        for key in "abynixse":
            await press(pilot, key)
            assert status(app).startswith("not saved: the claim is hidden, d shows it"), key
        assert not screen.note.display
        type_ahead(app, "a", "s", "n")
        await calm(pilot)
        assert "nor were saved: s n" in status(app)
        assert len(acts(differing)) == 1
        await press(pilot, "u")
        assert "undone: YES supported" in status(app)
        await press(pilot, "d")
        assert "n i x final" in screen_text(app)
        await press(pilot, "y")
        assert "final 1/3" in title(app)


async def test_keys_save_nothing_while_what_annotators_said_hides_the_claim(
    differing: Path, app: FaithApp
) -> None:
    """The list and the evidence show the claim also where they are enlarged."""
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "tab", "tab", "z", "y")
        assert "the claim is hidden, z shows it" in status(app)
        assert not acts(differing)
        await press(pilot, "z", "shift+tab", "z", "y")
        assert "final 1/3" in title(app)


async def test_keys_go_on_working_where_the_table_stands_beside_the_claim(
    differing: Path, app: FaithApp
) -> None:
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "tab", "tab", "tab", "y")
        assert app.focused is not None
        assert app.focused.id == "raters"
        assert "final 1/3" in title(app)


async def test_surplus_keys_leave_the_last_final_label_as_it_is(
    differing: Path, app: FaithApp
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        screen = await adjudicating(app)
        await press(pilot, "y", "n")
        type_ahead(app, *"xynixs")
        await until(pilot, lambda: "final 3/3" in title(app) and not screen.labels.in_flight)
        await calm(pilot)
        assert [verdict for _, verdict, *_ in acts(differing)] == ["yes", "no", "x"]
        await press(pilot, "a")
        said = "not saved, this list is settled: u undoes it, move to a claim to change it"
        assert status(app).startswith(said)
        await press(pilot, "j", "b")
        assert status(app).startswith(said), "there is no claim below"
        await press(pilot, "k", "i")
        assert "replacing NO contradicted" in status(app)
        await press(pilot, "y")
        assert status(app).startswith(said)
        await press(pilot, "u", "y")
        assert "final label: YES supported, replacing NO" in status(app)


@pytest.mark.thorough
async def test_surplus_keys_after_the_last_flag_settle_no_flagged_claim(
    differing: Path, app: FaithApp
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        screen = await adjudicating(app)
        await press(pilot, "y", "n")
        type_ahead(app, *"syn")
        await until(pilot, lambda: "final 2/3" in title(app) and not screen.labels.in_flight)
        await calm(pilot)
        assert "1 to adjudicate" in title(app)
        await press(pilot, "y")
        assert status(app).startswith("not saved, only flagged claims are left: move to one")
        await press(pilot, "k", "j", "y")
        assert "final 3/3" in title(app)


@pytest.mark.thorough
async def test_a_claim_that_its_label_took_from_the_list_leaves_none_to_surplus_keys(
    differing: Path, app: FaithApp
) -> None:
    """Listed are claims of which the judge says otherwise; the label agrees with the judge."""
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        screen = await adjudicating(app)
        judge = [next(iter(each.judges.values())) for each in screen.listed_entries.values()]
        key = {"yes": "y", "no": "n", "idk": "i"}
        wrong = ["n" if each == "yes" else "y" for each in judge]
        await press(pilot, *wrong, "f")
        listed = list(screen.listed_entries.values())
        here = screen.claim_at_cursor()
        assert here is not None
        assert len(listed) > 1
        (own,) = here.judges.values()
        before = len(acts(differing))
        await press(pilot, key[own or "yes"])
        await until(pilot, lambda: here.claim not in screen.listed_entries)
        await press(pilot, "x")
        assert status(app).startswith("not saved, this list is settled")
        assert len(acts(differing)) == before + 1


async def test_what_nobody_said_cannot_be_taken(differing: Path, app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        screen = await adjudicating(app)
        screen.labels.action_take_over_annotators_verdict(2)
        assert "nobody is C here" in status(app)
        screen.labels.action_give_final_label(3)
        assert "has no verdict on this key" in status(app)
        assert not screen.labels.in_flight
        screen.claims.set_reactive(VirtualList.cursor, 1)
        screen.labels.action_give_final_label(0)
        assert "before its claim was drawn: it was not saved" in status(app)
        assert not screen.labels.in_flight


# On a screen that is not drawn


async def test_a_final_label_over_another_one_is_given_knowing_the_judge(
    differing: Path, session: Session
) -> None:
    screen = FakeAdjudicateScreen(session)
    screen.labels.save_final_label_with_note(read_selected_claim(session, screen.listed[0]), "yes")
    screen.labels.save_final_label_with_note(
        read_selected_claim(session, screen.settle_claim()), "no"
    )
    assert screen.labels.in_flight == 2
    await screen.settle()
    assert screen.labels.in_flight == 0
    assert screen.message.startswith("saved 12:04:19 · final label: NO")
    assert ", replacing YES" in screen.message
    assert [(verdict, saw) for _, verdict, _, _, saw in acts(differing)] == [
        ("yes", False),
        ("no", True),
    ]


async def test_a_label_that_is_lost_is_called_so_and_everything_read_again(
    differing: Path, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = FakeAdjudicateScreen(session)
    chosen = read_selected_claim(session, screen.listed[0])

    def fail(*_args: object, **_kwargs: object) -> Future[object]:
        lost: Future[object] = Future()
        lost.set_exception(StoreError("no room"))
        return lost

    monkeypatch.setattr(session.store, "submit", fail)
    screen.labels.save_final_label_with_note(chosen, "yes")
    await screen.settle()
    assert screen.message == "not saved"
    assert screen.labels.last_act_words == ""
    assert (screen.labels.in_flight, screen.reloads) == (0, 1)
    assert [str(each) for each in screen.failures] == ["no room"]


async def test_undo_takes_back_final_labels_and_flags_for_a_talk_and_no_label_of_review(
    differing: Path, session: Session
) -> None:
    screen, shown = FakeAdjudicateScreen(session), list[UndoneStep]()
    chosen = read_selected_claim(session, screen.listed[0])
    undo = LabelUndo(
        cast(AdjudicationScreen, screen),
        shown.append,
        lambda: lambda _key: True,
        screen.labels.is_own_event,
    )
    screen.labels.save_final_label_with_note(chosen, "yes")
    await screen.settle()
    for action, verdict, mark in (
        (Action.BLIND, "no", None),
        (Action.MARKED, None, LabelMark.FLAG),
    ):
        session.store.label_log.append_label_event(
            chosen.claim.claim,
            "ann",
            action,
            verdict,
            run=RunId(1),
            judge_verdict=None,
            saw_judge=False,
            mark=mark,
        )
    screen.labels._save_event(screen.listed[1], Action.MARKED, "flag", mark=LabelMark.FLAG)
    await screen.settle()
    for _ in range(3):
        undo.action_undo()
        await screen.settle()
    undo.action_redo()
    await screen.settle()
    said = [[(act.action, act.mark, act.verdict) for act in step.acts] for step in shown]
    final = [(Action.ADJUDICATED, None, "yes")]
    assert said == [[(Action.MARKED, LabelMark.FLAG, None)], final, [], final]


async def test_seconds_count_from_when_the_claim_came_on_screen(
    differing: Path, session: Session
) -> None:
    screen = FakeAdjudicateScreen(session)
    screen.labels.start_claim_clock()
    screen.labels.save_final_label_with_note(read_selected_claim(session, screen.listed[0]), "yes")
    await screen.settle()
    with sqlite3.connect(differing) as connection:
        (seconds,) = connection.execute(
            "SELECT seconds FROM human_label WHERE reviewer = 'ann'"
        ).fetchone()
    connection.close()
    assert seconds == 1.0, "the clock of the test goes on by one"
