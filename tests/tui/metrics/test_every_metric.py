"""Every metric on the same screens: words, labels and panes come from its own description."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.binding import ActiveBinding
from textual.pilot import Pilot

import faithtui.tui
from faithtui.domain.conversation import Conversation, Turn
from faithtui.domain.labels.label_events import Action
from faithtui.metrics import registry
from faithtui.metrics.base import MetricSpec
from faithtui.store.records import ItemState, RunState
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.conversations.conversations_screen import ConversationsScreen
from faithtui.tui.metric_words import capitalise, get_metric_spec
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.screen.dialogs import TextDialog
from tests.tui.building import NOON, SPEC
from tests.tui.building_metrics import JUDGED, KEYS, boots
from tests.tui.driving import calm, opened, press, screen_text, status, text_of, title

SIZE = (120, 40)
SPECS = {each.spec.key: each.spec for each in registry.METRICS}
SOURCES = Path(faithtui.tui.__file__).parent


@pytest.fixture(scope="module")
def judged_boots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stores") / "boots.db"
    boots(path)
    return path


@pytest.fixture
def boots_path(judged_boots: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(judged_boots, tmp_path / "boots.db"))


@pytest.fixture
def boots_app(boots_path: Path, make_app: Callable[[Path], FaithApp]) -> FaithApp:
    return make_app(boots_path)


async def under(pilot: Pilot[None], key: str) -> ReviewScreen:
    """Review the boots under a metric."""
    app = pilot.app
    assert isinstance(app, FaithApp)
    await opened(pilot)
    rows = app.session.store.runs.list_runs()
    app.session.switch_run(next(row.id for row in rows if row.spec.metric == key))
    await press(pilot, "g", "v")
    assert isinstance(app.screen, ReviewScreen)
    return app.screen


def bound(app: FaithApp) -> list[ActiveBinding]:
    """List the keys that do something on the screen."""
    return list(app.screen.active_bindings.values())


def test_no_screen_asks_which_metric_it_is() -> None:
    for path in sorted(SOURCES.rglob("*.py")):
        text = path.read_text("utf-8")
        for key in KEYS:
            assert key not in text, path
        assert "registry.METRICS[" not in text, path


def test_every_metric_has_a_conversation_to_be_shown_with() -> None:
    assert set(JUDGED) == set(KEYS)


@pytest.mark.thorough
@pytest.mark.parametrize("key", KEYS)
async def test_panes_columns_and_agreement_speak_of_the_metrics_units_and_labels(
    boots_app: FaithApp, key: str
) -> None:
    spec = SPECS[key]
    one, many = spec.units
    async with boots_app.run_test(size=SIZE) as pilot:
        await under(pilot, key)
        for size in ((80, 24), (200, 60), SIZE):
            await pilot.resize_terminal(*size)
            await calm(pilot)
            painted = screen_text(boots_app)
            assert f"{capitalise(many)} " in painted
            assert f"{capitalise(one)} 1 · turn 2" in painted
            assert f"{one} 1/" in title(boots_app)
            if one != "claim":
                assert "laim" not in text_of(boots_app, "claims") + text_of(boots_app, "card")
        await press(pilot, "g", "c")
        screen = boots_app.screen
        assert isinstance(screen, ConversationsScreen)
        assert screen.pager is not None
        item = screen.pager.fetch_row(0)
        assert item is not None
        counts = "·".join(str(item.labels.get(each.name, 0)) for each in spec.labels.labels)
        (row,) = (line for line in screen_text(boots_app).splitlines() if ">" in line[:3])
        assert counts in row
        assert all(f" {each.name} " in screen_text(boots_app) for each in spec.labels.labels)
        assert f"all {many}" in text_of(boots_app, "detail")
        await press(pilot, "g", "v", "home", "y", "g", "a")
        assert ("switch_report_level" in [each.binding.action for each in bound(boots_app)]) == (
            spec.judges == "claim"
        ), "whole answers are a level of their own only where parts of them are judged"
        if f"{many} ·" not in title(boots_app):
            await press(pilot, "m")
        assert f" {many} ·" in title(boots_app)
        assert f"all {many}" in text_of(boots_app, "classes")
        matrix = text_of(boots_app, "matrix").splitlines()
        assert matrix[1].split("│")[0].split()[1:] == list(spec.labels.names)


@pytest.mark.thorough
@pytest.mark.parametrize("key", KEYS)
async def test_each_label_has_a_key_and_nothing_else_has(
    boots_app: FaithApp, boots_path: Path, key: str
) -> None:
    labels = SPECS[key].labels.names
    async with boots_app.run_test(size=SIZE) as pilot:
        screen = await under(pilot, key)
        keys = "yni"[: len(labels)]
        assert f"{' '.join(keys)} x verdict" in screen_text(boots_app).splitlines()[-2]
        first = screen.claim
        assert first is not None
        if len(labels) == 2:
            await press(pilot, "i")
            assert screen.claim == first, "a key without a label saves nothing"
            assert f"its keys are {' '.join(keys)} x" in status(boots_app)
        for letter, label in zip(keys, labels, strict=True):
            await press(pilot, "home", letter)
            assert screen.view is not None
            said = screen.view.claims[0].mine
            assert said is not None
            assert said.verdict == label
            word = SPECS[key].labels.get_label(label)
            assert f"{SPECS[key].units[0]} 1 = {label.upper()} {word.meaning}" in status(boots_app)


@pytest.mark.thorough
async def test_a_word_said_under_one_metric_is_understood_under_another(
    boots_app: FaithApp,
) -> None:
    async with boots_app.run_test(size=SIZE) as pilot:
        await under(pilot, "turn-faithfulness")
        await press(pilot, "end", "n")
        screen = await under(pilot, "ragas-faithfulness")
        await press(pilot, "end")
        assert screen.claim is not None
        assert screen.claim.human == "0"
        assert "3 0   Zips are covered" in text_of(boots_app, "claims")
        chosen = [
            piece.text
            for line in screen.panes.verdict.lines
            for piece in line.pieces
            if "human" in piece.look
        ]
        assert chosen[:2] == ["[n]", " cannot be inferred"]


@pytest.mark.thorough
async def test_a_word_without_a_meaning_here_is_told_and_counts_as_nothing(
    boots_app: FaithApp,
) -> None:
    async with boots_app.run_test(size=SIZE) as pilot:
        await under(pilot, "ragas-faithfulness")
        await press(pilot, "home", "n")
        screen = await under(pilot, "turn-faithfulness")
        await press(pilot, "home")
        assert screen.claim is not None
        assert screen.claim.human is None
        told = " ".join(text_of(boots_app, "verdict").split())
        assert "`0`, a word of another metric" in told
        await press(pilot, "y")
        assert "another metric" not in text_of(boots_app, "verdict")


@pytest.mark.thorough
async def test_other_peoples_words_are_translated_too(
    boots_app: FaithApp, boots_path: Path
) -> None:
    with Store.open(boots_path) as store:
        item = store.runs.list_item_ids(store.runs.list_runs()[0].id)[0]
        claim = store.runs.read_conversation_for_review(item, "ann").claims[0]
        for reviewer, word in (("cleo", "idk"), ("dan", "maybe")):
            store.label_log.append_label_event(
                claim.id, reviewer, Action.BLIND, word,
                run=None, judge_verdict=None, saw_judge=False,
            )  # fmt: skip
    async with boots_app.run_test(size=SIZE) as pilot:
        await under(pilot, "ragas-faithfulness")
        await press(pilot, "home")
        told = " ".join(text_of(boots_app, "verdict").split())
        assert "0 cleo" in told
        assert "dan `maybe`, a word of another metric" in told


@pytest.mark.thorough
async def test_statements_stand_below_their_passage_and_beside_the_messages_they_serve(
    boots_app: FaithApp,
) -> None:
    async with boots_app.run_test(size=SIZE) as pilot:
        await under(pilot, "turn-contextual-relevancy")
        for size in (SIZE, (80, 24)):
            await pilot.resize_terminal(*size)
            await press(pilot, "home")
            pane = "truths" if size == SIZE else "evidence"
            assert "no messages cited" in text_of(boots_app, pane)
            lines = text_of(boots_app, "claims").splitlines()
            heads = [number for number, line in enumerate(lines) if line.startswith(" P")]
            assert [lines[at].split()[:3] for at in heads] == [
                ["P2", "·", "warranty.md"],
                ["P3", "·", "zips.md"],
            ]
            assert "Ask in the store." in "\n".join(lines[heads[0] : heads[1]])
            await press(pilot, "j")
            evidence = text_of(boots_app, "evidence").replace("\n  ", " ")
            assert "«Scratches are wear and not covered.»" in evidence
            assert "match" not in evidence, "the passage is the statement's own, it is not ranked"
            assert "P2 · warranty.md" in text_of(boots_app, "card")
            text = " ".join(text_of(boots_app, pane).split())
            assert "messages that statement 2 serves" in text
            assert text.index("serves M1") < text.index("Is this scratch covered? turn 1")
            assert "serves M1" in text_of(boots_app, "verdict")
            assert "not in" not in text
            words = screen_text(boots_app)
            assert "Messages 2" in words if size == SIZE else "Messages · passage" in words


@pytest.mark.parametrize("key", [key for key in KEYS if SPECS[key].references is None])
async def test_a_metric_without_references_says_what_is_checked(
    boots_app: FaithApp, key: str
) -> None:
    async with boots_app.run_test(size=SIZE) as pilot:
        await under(pilot, key)
        words = " ".join(text_of(boots_app, "evidence").split())
        assert words.startswith(SPECS[key].nothing_checked)
        assert not boots_app.screen.query_one("#truths").display, "it would be empty"
        assert "Truths" not in screen_text(boots_app)


@pytest.mark.thorough
async def test_a_whole_answer_is_one_line_in_the_list_and_in_full_beside_it(
    boots_app: FaithApp,
) -> None:
    async with boots_app.run_test(size=SIZE) as pilot:
        await under(pilot, "llamaindex-faithfulness")
        assert len(text_of(boots_app, "claims").splitlines()) == 3 + 2
        assert "Scratches are not covered, but broken seams are." in " ".join(
            text_of(boots_app, "transcript").split()
        )
        assert not boots_app.screen.query_one("#card").display, "the answer is all there is"
        assert "wrote  «YES»" in text_of(boots_app, "verdict")
        await press(pilot, "j")
        verdict = " ".join(text_of(boots_app, "verdict").split())
        assert "wrote «NO. Eyes open.»" in verdict
        assert "why the letters yes occur in the reply" in verdict
        await pilot.resize_terminal(80, 24)
        await calm(pilot)
        assert "wrote «NO. Eyes open.» · the letters yes" in text_of(boots_app, "verdict")
        await press(pilot, "p")
        assert "NO. Eyes open." in text_of(boots_app, "text")


@pytest.mark.thorough
@pytest.mark.parametrize("key", KEYS)
async def test_context_of_a_user_turn_is_shown_as_not_used(boots_app: FaithApp, key: str) -> None:
    words = f"not used: this metric reads {SPECS[key].context_from}"
    async with boots_app.run_test(size=(200, 60)) as pilot:
        screen = await under(pilot, key)
        assert f"P1 {words}" in " ".join(text_of(boots_app, "transcript").split())
        assert "glossary" not in text_of(boots_app, "evidence")
        screen.query_one("#windows").focus()
        await press(pilot, "t")
        assert isinstance(boots_app.screen, TextDialog)
        whole = text_of(boots_app, "text")
        assert "P1 glossary.md: Scratch: a mark on the surface." in whole
        await press(pilot, "q", "g", "c")
        assert f"[1 passage, {words}]" in " ".join(text_of(boots_app, "detail").split())


async def test_an_answer_without_context_says_where_there_is_some(
    tmp_path: Path, make_app: Callable[[Path], FaithApp]
) -> None:
    from tests.tui.building_metrics import BOOTS

    first, answer, *rest = BOOTS.turns
    bare = replace(BOOTS, turns=(first, replace(answer, retrieval_context=()), *rest), ratings=())
    path = tmp_path / "bare.db"
    boots(path, ["llamaindex-faithfulness"], bare)
    app = make_app(path)
    async with app.run_test(size=SIZE) as pilot:
        await under(pilot, "llamaindex-faithfulness")
        words = " ".join(text_of(app, "evidence").split())
        assert "Retrieval returned nothing" in words
        assert "context on user turn 1, not used: this metric reads" in words


@pytest.mark.thorough
async def test_an_empty_cell_of_the_matrix_says_so_in_the_metrics_words(
    boots_app: FaithApp,
) -> None:
    async with boots_app.run_test(size=SIZE) as pilot:
        await under(pilot, "turn-contextual-relevancy")
        await press(pilot, "home", "y", "g", "a", "tab", "tab", "left", "up", "enter")
        assert "no statement in this cell" in status(boots_app)
        await press(pilot, "right", "enter")
        assert "judge no, human yes: 1 statement" in screen_text(boots_app)


def nothing(path: Path, key: str, state: ItemState, reason: str | None) -> None:
    """Store a run that found nothing to judge."""
    with Store.open(path, clock=lambda: NOON) as store:
        chat = Conversation("shop", "quiet", (Turn("user", "Hi"), Turn("assistant", "Hi")), "shop")
        store.conversations.import_batch([chat])
        run = store.runs.create(replace(SPEC, metric=key), store.conversations.list_ids())
        (item,) = store.runs.list_item_ids(run)
        store.runs.score_and_finish_item(item, state, reason)
        store.runs.set_state(run, RunState.DONE)


@pytest.mark.parametrize("key", KEYS)
async def test_an_empty_list_says_the_metrics_own_words(
    tmp_path: Path, make_app: Callable[[Path], FaithApp], key: str
) -> None:
    path = tmp_path / "quiet.db"
    nothing(path, key, ItemState.DONE, None)
    app = make_app(path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "g", "v")
        words = " ".join(text_of(app, "claims").split())
        assert f"No {SPECS[key].units[1]} here." in words
        assert SPECS[key].nothing_judged in words


@pytest.mark.thorough
async def test_a_metric_of_a_newer_version_is_shown_by_what_was_stored(
    tmp_path: Path, make_app: Callable[[Path], FaithApp]
) -> None:
    path = tmp_path / "newer.db"
    runs = boots(path, ["ragas-faithfulness"])
    import sqlite3

    with sqlite3.connect(path) as connection:
        connection.execute("update run set metric = 'future\x1b[31m-metric'")
    connection.close()
    app = make_app(path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        spec: MetricSpec = get_metric_spec(
            app.session.store.runs.read_run(runs["ragas-faithfulness"]).spec
        )
        assert spec.labels.names == ("1", "0")
        for keys in (("enter",), ("enter",), ("y",), ("M",), ("M",)):
            await press(pilot, *keys)
            await calm(pilot)
            assert "\x1b" not in screen_text(app)
        assert "[y] passes" in text_of(app, "verdict")
