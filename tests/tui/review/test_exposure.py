"""Wherever the judge's verdict on a claim was on the screen, a later label there is not blind."""

import shutil
import sqlite3
from pathlib import Path

import pytest
from textual.pilot import Pilot

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.domain.filters import Scope, parse_filter
from faithtui.domain.ids import ItemId
from faithtui.domain.integrity.findings import Finding, FindingKind
from faithtui.domain.labels.label_events import Action
from faithtui.store.records import ItemCheckResult
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.conversations.unanimous_rows import note_painted_list_row
from faithtui.tui.samples.queue import ClaimQueue, make_sample_queue
from faithtui.tui.samples.queues_screen import QueuesScreen
from faithtui.tui.screen.filter_matches import make_context_of_run_filter
from faithtui.tui.session import Session
from tests.tui.building import NOON
from tests.tui.driving import calm, opened, press, screen_text, status, text_of
from tests.tui.review.test_blind_leaks import planted, work_blind


@pytest.fixture(scope="module")
def planted_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("planted") / "seen.db"
    planted(path)
    return path


@pytest.fixture
def path(planted_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(planted_once, tmp_path))


@pytest.fixture
def app(path: Path) -> FaithApp:
    return FaithApp(path, reviewer="ann", report_directory=path.parent, now=lambda: NOON)


def items(path: Path) -> tuple[ItemId, ...]:
    with Store.open(path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        return store.runs.list_item_ids(run)


def knowing(path: Path, reviewer: str = "ann") -> list[bool]:
    """Say of each conversation whether a reviewer has seen the judge's words there."""
    with Store.open(path) as store:
        return [
            all(
                claim.seen
                for claim in store.runs.read_conversation_for_review(item, reviewer).claims
            )
            for item in items(path)
        ]


def found_wrong(path: Path, item: ItemId) -> None:
    """Put one finding on a conversation, which is all that looks wrong."""
    with Store.open(path) as store:
        for each in items(path):
            view = store.runs.read_conversation_for_review(each, "ann")
            finding = Finding(FindingKind.PHANTOM, "words", view.claims[0].id, 0, 1)
            found = (finding,) if each == item else ()
            store.findings.replace_findings_of_conversations(
                [ItemCheckResult(each, view.item.state, len(view.windows), found)]
            )


@pytest.mark.thorough
async def test_findings_that_were_drawn_are_known(path: Path, app: FaithApp) -> None:
    found_wrong(path, items(path)[1])
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "i")
        assert knowing(path) == [False, False, False], "a count tells of no claim"
        await press(pilot, "down")
        assert "words" in text_of(app, "detail")
        assert knowing(path) == [False, True, False]
        assert knowing(path, "dee") == [False, False, False]


async def test_findings_in_the_list_of_a_kind_are_known(path: Path, app: FaithApp) -> None:
    found_wrong(path, items(path)[2])
    async with app.run_test(size=(60, 18)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "i", "down", "l")
        assert knowing(path) == [False, False, True]


@pytest.mark.thorough
async def test_findings_that_stay_hidden_are_not_known(path: Path, app: FaithApp) -> None:
    found_wrong(path, items(path)[0])
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        await work_blind(pilot)
        await press(pilot, "g", "i", "down")
        assert knowing(path) == [False, False, False]


async def test_disagreements_that_were_drawn_are_known(path: Path, app: FaithApp) -> None:
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "a")
        seen = text_of(app, "differences")
        assert "is free." in seen
        drawn = [f"conv-{number}" in seen for number in range(3)]
        assert knowing(path) == drawn


def make_verdicts_alike(path: Path, item: ItemId) -> None:
    """Let the judge have said of all claims of one conversation the same."""
    with sqlite3.connect(path) as connection:
        told = 'UPDATE run_item SET labels = \'{"no": 2, "yes": 0}\' WHERE id = ?'
        assert connection.execute(told, (item,)).rowcount == 1
    connection.close()


@pytest.mark.parametrize(
    ("size", "keys"),
    [((80, 24), ("enter",)), pytest.param((200, 60), (), marks=pytest.mark.thorough)],
)
async def test_rows_whose_counts_tell_each_verdict_are_known(
    path: Path, app: FaithApp, size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    make_verdicts_alike(path, items(path)[1])
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        await press(pilot, *keys)
        assert "0·2·0" in screen_text(app)
        assert "1·1·0" in screen_text(app)
        assert knowing(path) == [False, False, False], "nobody remembers all rows of a list"
        app.session.set_judge_hidden(True)
        first, told, _ = items(path)
        app.session.open_conversation(first)
        assert knowing(path) == [False, False, False], "two labels tell of no single claim"
        app.session.open_conversation(told)
        app.session.store.submit(lambda: None).result()
        assert knowing(path) == [False, True, False]


def test_a_row_tells_nothing_while_it_is_hidden_and_is_known_to_who_had_it_in_view(
    path: Path,
) -> None:
    told = items(path)[1]
    make_verdicts_alike(path, told)
    with Store.open(path) as store:
        session = Session("ann", path)
        session.set_store(store)
        (row,) = store.runs.read_item_rows([told])
        session.set_judge_hidden(True)
        note_painted_list_row(session, row)
        session.open_conversation(told)
        store.submit(lambda: None).result()
        assert knowing(path) == [False, False, False]
        session.set_judge_hidden(False)
        note_painted_list_row(session, row)
        session.open_conversation(told)
        store.submit(lambda: None).result()
    assert knowing(path) == [False, True, False]
    assert knowing(path, "dee") == [False, False, False]


@pytest.mark.thorough
async def test_disagreements_are_not_known_while_they_are_hidden(path: Path, app: FaithApp) -> None:
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        await work_blind(pilot)
        await press(pilot, "g", "a", "enter")
        assert knowing(path) == [False, False, False]


async def test_what_a_cell_lists_is_known_when_it_is_listed(path: Path, app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "a")
        assert not app.screen.query_one("#differences").display
        assert knowing(path) == [False, False, False]
        # The judge said yes three times, and people that they do not know.
        app.screen.query_one("#matrix").focus()
        await press(pilot, "down", "down", "enter")
        assert "It is red." in screen_text(app)
        assert knowing(path) == [True, True, True]


async def test_the_judge_beside_a_final_word_is_known_and_before_it_is_not(
    path: Path, app: FaithApp
) -> None:
    first = items(path)[0]
    with Store.open(path) as store:
        run = store.runs.find_newest_run_id()
        (claim, _) = store.runs.read_conversation_for_review(first, "ann").claims
        store.label_log.append_label_event(
            claim.id, "cy", Action.BLIND, "no", run=run, judge_verdict=None, saw_judge=False
        )
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        assert "1 to adjudicate" in screen_text(app)
        assert knowing(path) == [False, False, False]
        await press(pilot, "y")
        assert "judges:" in screen_text(app)
        assert knowing(path) == [True, False, False]


async def test_nobody_is_blind_in_a_queue_chosen_by_what_the_judge_said(
    path: Path, app: FaithApp
) -> None:
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        run = app.session.store.runs.find_newest_run_id()
        assert run is not None
        app.session.is_judge_hidden = True
        first = items(path)[0]
        view = app.session.store.runs.read_conversation_for_review(first, "ann")
        entries = ((first, view.claims[0].id),)
        app.session.start_queue(ClaimQueue("judge said no", run, entries, reveals_judge=True))
        app.show_screen("review")
        await calm(pilot)
        assert not app.session.is_blind
        await press(pilot, "B")
        assert "chosen by the judge's verdict" in status(app)
        assert not app.session.is_blind


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("verdict:no", True),
        ("-verdict:yes", True),
        ("is:disagreement", True),
        ("differs", True),
        ("score:<0.5", True),
        ("refund", False),
        ("is:unlabelled", False),
        ("human:no", False),
    ],
)
def test_a_filter_tells_the_judge_or_does_not(path: Path, text: str, tells: bool) -> None:
    with Store.open(path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        filter_context = make_context_of_run_filter(
            store.runs.read_run(run).spec.rule, Scope.CONVERSATIONS
        )
        assert parse_filter(text, filter_context).filter.reveals_judge is tells


async def drawn_by(pilot: Pilot[None], *strata: str) -> QueuesScreen:
    """Draw a blind sample by strata, answer its first claim, and look at the list of queues."""
    app = pilot.app
    assert isinstance(app, FaithApp)
    store, run = app.session.store, app.session.store.runs.find_newest_run_id()
    assert run is not None
    plan = SamplePlan(SamplingDesign.STRATIFIED, 1, 6)
    row = store.samples.save_draw_as_sample(
        run, "ann", make_sample_draw(store.samples.read_frame(run, strata), plan), plan,
        name="strata", stratified_by=strata,
    )  # fmt: skip
    first = store.samples.list_claims_in_served_order(row.id, "ann")[0]
    store.label_log.record_verdict(
        first.claim, "ann", "yes",
        run=run, saw_judge=False, repeats=False, seconds=1.0, sample=row.id,
    )  # fmt: skip
    app.session.start_queue(make_sample_queue(store, row.id, "ann"))
    await press(pilot, "g", "u")
    assert isinstance(app.screen, QueuesScreen)
    return app.screen


async def test_how_far_a_stratum_of_verdicts_is_is_told_when_nothing_is_left(
    app: FaithApp,
) -> None:
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        await drawn_by(pilot, "verdict")
        text = text_of(app, "detail")
        assert "judge no" in text
        rows = [each.split() for each in text.splitlines() if " judge " in f" {each} "]
        strata = [each for each in rows if each[0] == "judge" and each[1] in ("yes", "no")]
        assert strata
        assert all(each[4] == "▒" for each in strata)
        assert "hidden until all is" in " ".join(text.split())


async def test_how_far_a_stratum_of_turns_is_may_be_told(app: FaithApp) -> None:
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        await drawn_by(pilot, "turn")
        assert "▒" not in text_of(app, "detail")
