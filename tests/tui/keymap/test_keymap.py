"""Key maps: presets, the user's own file, clashes, and keys that never fire while typing."""

import asyncio
import sqlite3
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual import events
from textual.keys import key_to_character

from faithtui.config import PRESETS, Preset
from faithtui.domain.labels.reason_codes import REASON_CODES
from faithtui.errors import ConfigError
from faithtui.tui import screen_catalog
from faithtui.tui.app import FaithApp
from faithtui.tui.keymap.declared_bindings import (
    format_keys_markdown,
    format_presets_markdown,
    list_bindings_active_together,
    list_bindings_by_class,
    list_panes,
    map_binding_ids_to_default_keys,
    normalise_key,
)
from faithtui.tui.keymap.key_names import KeyHint
from faithtui.tui.keymap.keymap import (
    add_keys_of_dependent_bindings,
    find_clashes,
    load_keymap,
    preset_keymap,
)
from faithtui.tui.keymap.presets import CHANGES
from faithtui.tui.review.claim_list import ClaimList
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.screen.go_to_dialog import GoToDialog
from faithtui.tui.widgets.plain_input import PlainInput
from faithtui.tui.widgets.zoomable_panes import Panes
from tests.tui.building import NOON
from tests.tui.driving import calm, opened, press, reviewing, text_of

KITTY = ("ctrl+enter", "shift+enter", "ctrl+tab", "shift+space", "shift+backspace")
SAME_AS_ANOTHER = ("ctrl+i", "ctrl+m", "ctrl+h", "ctrl+j", "ctrl+left_square_bracket")


def whole(preset: Preset) -> dict[str, str]:
    return add_keys_of_dependent_bindings(preset_keymap(preset), {})


def written(directory: Path, text: str) -> Path:
    file = directory / "keymap.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("preset", PRESETS)
def test_no_preset_clashes_and_each_id_exists(preset: Preset) -> None:
    keymap = whole(preset)
    assert list(find_clashes(list_bindings_active_together(), keymap)) == []
    assert set(keymap) <= set(map_binding_ids_to_default_keys())
    assert set(CHANGES[preset].ids) <= set(map_binding_ids_to_default_keys())


@pytest.mark.parametrize("preset", PRESETS)
def test_every_verdict_and_code_has_a_key_of_its_own_in_every_preset(preset: Preset) -> None:
    keymap = whole(preset)
    keys = [
        key
        for name, own in map_binding_ids_to_default_keys().items()
        if name.startswith(("review.verdict-", "review.code-"))
        and name != "review.verdict-elsewhere"
        for key in keymap.get(name, ",".join(own)).split(",")
    ]
    assert len(keys) == len(set(keys)) == 11
    if preset == "digits":
        assert keys[:4] == ["1", "2", "3", "4"]
    if preset == "left-hand":
        assert keys[:4] == ["d", "f", "s", "a"]


def test_ids_of_earlier_versions_name_the_same_reason_codes(tmp_path: Path) -> None:
    numbers = range(1, 8)
    before = written(tmp_path, "".join(f'"review.code-{each}" = "f{each}"\n' for each in numbers))
    assert load_keymap("default", before) == {
        f"review.code-{code.name}": f"f{each}"
        for each, code in zip(numbers, REASON_CODES, strict=True)
    }
    for old, new in ("1", "claim"), ("5", "policy"):
        lines = [f'"review.code-{old}" = "f1"', f'"review.code-{new}" = "f2"']
        for order in lines, lines[::-1]:
            with pytest.raises(ConfigError, match=rf"toml: line 2: .*{old}.* old id of .*{new}"):
                load_keymap("default", written(tmp_path, "\n".join(order)))


def test_bindings_that_moved_keep_their_earlier_key_where_the_new_one_is_taken(
    tmp_path: Path,
) -> None:
    mine = written(tmp_path, '"runs.archive" = "X"\n"agreement.idk" = "1"\n')
    assert load_keymap("default", mine) == {
        "runs.archive": "X",
        "runs.export": "e",
        "agreement.idk": "1",
        "agreement.people": "d",
    }
    assert load_keymap("default", written(tmp_path, '"runs.export" = "e"')) == {"runs.export": "e"}
    with pytest.raises(ConfigError, match="`X` is the key of both"):
        load_keymap("default", written(tmp_path, '"runs.archive" = "X"\n"runs.export" = "X"\n'))


def test_a_letter_acts_alike_on_all_screens() -> None:
    """What writes, asks again or labels has one letter, and the letter nothing else of the kind."""
    meant = {
        "e": {"note", "change", "write", "edit"},
        "X": {"export"},
        "R": {"retry", "fresh", "repeats"},
        "x": {"verdict-unfair", "final-unfair", "verdict-elsewhere"},
        "r": {"continue"},
        "u": {"undo", "remove"},
        "A": {"judge", "close"},
        "B": {"blind"},
    }
    for key, acts in meant.items():
        held = {
            name.split(".")[1]
            for name, keys in map_binding_ids_to_default_keys().items()
            if key in keys and not name.startswith("go.")
        }
        assert held == acts, key


def test_what_asks_a_judge_has_keys_that_never_only_look() -> None:
    """A reviewer must not spend money with a letter that opens a text elsewhere."""
    keys = map_binding_ids_to_default_keys()
    asks = {name for name in keys if name.endswith((".retry", ".fresh", ".test", ".test-judge"))}
    asks |= {"new-run.start", "runs.continue", "progress.continue"}
    assert len(asks) == 9
    held = {key for name in asks for key in keys[name]}
    assert held == {"R", "r", "ctrl+s", "ctrl+t"}
    # Labelling own claims again, drawing a sample and saving a budget write too, and ask nobody.
    others = {name for name, own in keys.items() if held & set(own)} - asks
    assert others == {
        "queues.repeats", "draw.draw", "extend.draw", "budget.save", "go.runs",
    }  # fmt: skip


SHARED_LETTERS = {
    "A": {"about the judge", "Close"},
    "C": {"copy", "copy reply"},
    "E": {"mark evidence", "Close"},
    "M": {"metrics", "back to review"},
    "Q": {"queue of claims", "leave queue"},
    "R": {"retry errors", "ask again", "self-agreement"},
    "W": {"raw replies", "close"},
    "X": {"export report", "export"},
    # Labels in review and adjudication, where nothing else is on these letters and `u` undoes.
    "a": {"agreement", "take A", "accept"},
    "b": {"compare both", "blind only", "budget", "take B"},
    "i": {"verdict", "final", "third label", "how idk counts"},
    "n": {"verdict", "final", "second label", "no", "new run", "draw"},
    "x": {"verdict", "final", "not fair"},
    "y": {"verdict", "final", "first label", "yes"},
    # Marks that the same key, or `u`, takes off; elsewhere they look.
    "c": {"spot-check", "check/stop", "check store", "complete or not", "unsure"},
    "d": {"archive", "raters", "default", "adjudicate", "delete"},
    "f": {"failing", "failed", "list other", "flag"},
    "m": {"units/answers", "mark to here", "range"},
    "s": {"suspicious first", "discuss", "order", "skip", "save this one", "sentence"},
    # Write, in other words.
    "e": {"note", "change", "type a claim", "edit"},
    "u": {"undo", "remove last"},
    "v": {"review", "reveal"},
    # More of what the screen is about.
    "plus": {"missed claims", "more workers", "draw more", "Close"},
    # They only look, or move.
    "h": {"guideline", "metric before", "Close", "Word"},
    "j": {"next claim", "down", "Down"},
    "k": {"claim before", "up", "Up"},
    "l": {"entries", "next metric", "word"},
    "p": {"progress", "all windows", "pause"},
    "q": {"back", "close", "quit"},
    "t": {"source", "Close"},
    "[": {"passage before", "version before"},
    "]": {"next passage", "next version"},
}
"""What a letter means by the words of the footer, where these are several, and why they may be."""


def test_a_letter_gets_no_other_meaning_unseen() -> None:
    """Another meaning is written into the table above, beside what the letter already does."""
    meanings: dict[str, set[str]] = {}
    for title, binding in list_bindings_by_class():
        for key in binding.key.split(","):
            name = {"left_square_bracket": "[", "right_square_bracket": "]"}.get(key, key)
            if (
                title != "Go to dialog"
                and (len(name) == 1 or name == "plus")
                and not name.isdigit()
            ):
                meanings.setdefault(name, set()).add(binding.description)
    assert {key: words for key, words in meanings.items() if len(words) > 1} == SHARED_LETTERS


def test_what_stands_on_several_screens_has_one_letter() -> None:
    """A word of the footer names one act, and the act has one key wherever it is offered.

    Not held: windows close by the key that opened them too, one word may stand for keys in a row
    (digits, verdicts, arrows), and `draw` begins a form that `ctrl+s` ends.
    """
    families = {"close", "code", "down", "draw", "filters", "final", "page down", "up", "word"}
    families |= {"Close", "commands", "metrics", "quit", "skip"}
    keys: dict[str, set[str]] = {}
    for _, binding in list_bindings_by_class():
        if binding.description not in families and binding.id != "filter.leave":
            keys.setdefault(binding.description, set()).add(binding.key)
    assert {"export", "note", "resume", "review", "spot-check"} <= set(keys)
    assert {words: held for words, held in keys.items() if len(held) > 1} == {}


@pytest.mark.parametrize("preset", PRESETS)
def test_no_action_needs_a_key_that_not_every_terminal_sends(preset: Preset) -> None:
    keymap = whole(preset)
    for name, own in map_binding_ids_to_default_keys().items():
        keys = set(keymap.get(name, ",".join(own)).split(","))
        poor = {
            key
            for key in keys
            if key in KITTY or key in SAME_AS_ANOTHER or key.startswith(("ctrl+shift+", "super+"))
        }
        assert keys - poor, name


def test_keys_that_work_everywhere_are_never_hidden_by_a_screen() -> None:
    for *inner, app in list_bindings_active_together():
        # The screen of a refused store has nothing to go back to: there q quits.
        if app.title == "Everywhere" and inner[-1].title != "Store error":
            everywhere = {key for key, ids in app.keys.items() if ids}
            for node in inner:
                assert not everywhere & {key for key, ids in node.keys.items() if ids}, node.title


def test_no_file_is_no_change(tmp_path: Path) -> None:
    assert load_keymap("default", tmp_path / "keymap.toml") == {}


@pytest.mark.parametrize(
    "text", ['"review.undo" = "u,ctrl+z"', 'review.undo = "u, ctrl+z"', '[review]\nundo="u,ctrl+z"']
)
def test_a_binding_gets_other_keys_however_the_file_nests_them(tmp_path: Path, text: str) -> None:
    assert load_keymap("default", written(tmp_path, text)) == {"review.undo": "u,ctrl+z"}


def test_the_users_own_keys_go_on_top_of_the_preset(tmp_path: Path) -> None:
    keymap = load_keymap("digits", written(tmp_path, 'review.verdict-yes = "Y"'))
    assert keymap["review.verdict-yes"] == "Y"
    assert keymap["review.verdict-no"] == "2"
    assert keymap["review.verdict-elsewhere"] == "Y,2,3,4"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('review.undoo = "u"', ("`review.undoo`", "review.undo", "did you mean")),
        ('review.undo = "pagedwn"', ("`review.undo`", "`pagedwn`", "pagedown")),
        ('review.undo = "ctrl+Z"', ("`ctrl+Z`", "`ctrl+z`")),
        ('review.undo = "foo+z"', ("`foo+z`",)),
        ('review.undo = "ctrl+m"', ("`ctrl+m`", "enter")),
        ("review.undo = 3", ("`review.undo`", "needs keys")),
        ('review.undo = ""', ("`review.undo`", "needs keys")),
        ('app.quit = "Q"', ("`app.quit`", "while you type")),
        ("review.undo", ("is not TOML",)),
        ('review.undo = "n"', ("`n`", "`review.undo`", "`review.verdict-no`")),
        ('app.help = "j"', ("`j`", "`app.help`")),
    ],
)
def test_what_is_wrong_is_named_with_the_file(
    tmp_path: Path, text: str, words: tuple[str, ...]
) -> None:
    file = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_keymap("default", file)
    assert caught.value.exit_code == 2
    for word in (str(file), *words):
        assert word in str(caught.value)


IDS = sorted(map_binding_ids_to_default_keys())
KEYS = ["a", "j", "n", "x", "g", "Q", "question_mark", "space", "enter", "f5", "ctrl+z", "up"]


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.dictionaries(
        st.sampled_from(IDS), st.lists(st.sampled_from(KEYS), min_size=1, max_size=3), max_size=4
    ),
    st.sampled_from(PRESETS),
)
def test_a_random_key_map_loads_without_clash_or_names_both(
    tmp_path: Path, wanted: dict[str, list[str]], preset: Preset
) -> None:
    file = written(
        tmp_path, "\n".join(f'"{name}" = "{",".join(keys)}"' for name, keys in wanted.items())
    )
    try:
        keymap = load_keymap(preset, file)
    except ConfigError as error:
        told = str(error)
        named = [name for name in IDS if f"`{name}`" in told]
        if "works while you type" in told:
            assert named == ["app.quit"]
            return
        assert len(named) >= 2, told
        assert any(
            f"`{key}`" in told
            for key in (*KEYS, *sum(map_binding_ids_to_default_keys().values(), ()))
        )
        return
    # No node of any chain has a key twice: independent of how the check goes about it.
    for chain in list_bindings_active_together():
        for node in chain:
            taken: dict[str, str] = {}
            for name in dict.fromkeys(each for ids in node.keys.values() for each in ids):
                own = [key for key, ids in node.keys.items() if name in ids]
                for key in set(keymap[name].split(",") if name in keymap else own):
                    assert taken.setdefault(key, name) == name


@pytest.mark.thorough
def test_the_panes_of_every_screen_are_known_to_the_check(app: FaithApp) -> None:
    """What the check derives from the code covers what is on the screens."""

    async def look() -> None:
        async with app.run_test(size=(200, 60)) as pilot:
            await opened(pilot)
            for name in screen_catalog.SCREENS:
                app.show_screen(name)
                await calm(pilot)
                known = list_panes(type(app.screen))
                for pane in app.screen.query_one(Panes).children:
                    assert type(pane) in known or not pane.can_focus, (name, pane)

    asyncio.run(look())


@pytest.fixture
def with_keys(store_path: Path) -> Callable[[Preset], FaithApp]:
    def make(preset: Preset) -> FaithApp:
        return FaithApp(store_path, reviewer="ann", now=lambda: NOON, keymap=whole(preset))

    return make


@pytest.mark.thorough
@pytest.mark.parametrize("preset", PRESETS)
async def test_every_key_that_types_something_is_typed_into_a_note_and_the_footer_says_so(
    with_keys: Callable[[Preset], FaithApp], preset: Preset, store_path: Path
) -> None:
    app = with_keys(preset)
    keys = {key for own in map_binding_ids_to_default_keys().values() for key in own}
    keys |= {normalise_key(key) for own in whole(preset).values() for key in own.split(",")}
    typed = sorted(key for key in keys if (key_to_character(key) or "").isprintable())
    typed = [key for key in typed if key_to_character(key)]
    assert len(typed) > 30
    with sqlite3.connect(store_path) as connection:
        before = connection.execute(
            "select count(*) from human_label where reviewer = 'ann'"
        ).fetchone()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await reviewing(pilot)
        words = [hint.words for hint in KeyHint.list_for_screen(screen)]
        assert words[:5] == ["verdict", "skip", "flag", "repeat", "range"]
        assert words.index("undo") < words.index("note") < words.index("redo")
        await press(pilot, "e")
        assert isinstance(screen.focused, PlainInput)
        hints = KeyHint.list_for_screen(screen)
        assert hints
        assert all(len(hint.keys) > 1 and "/" not in hint.keys.split() for hint in hints)
        for key in typed:
            app.post_message(events.Key(key, key_to_character(key)))
        await calm(pilot)
        assert screen.focused.value == "".join(key_to_character(key) or "" for key in typed)
        assert app.screen is screen
    with sqlite3.connect(store_path) as connection:
        acts = connection.execute("select count(*) from human_label where reviewer = 'ann'")
        assert acts.fetchone() == before


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("preset", "keys"),
    [("default", "ynx"), ("vim", "ynx"), ("digits", "124"), ("left-hand", "dfa")],
)
async def test_verdicts_are_given_with_the_keys_of_the_preset(
    with_keys: Callable[[Preset], FaithApp], preset: Preset, keys: str
) -> None:
    app = with_keys(preset)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await reviewing(pilot)
        assert all(f"[{key}]" in text_of(app, "verdict") for key in keys)
        assert isinstance(screen.focused, ClaimList)
        for number, key in enumerate(keys):
            before = screen.view
            assert before is not None
            chosen = screen.review_position.claim
            await press(pilot, key)
            assert screen.view is not None
            given = next((each for each in screen.view.claims if each.id == chosen), None)
            if given is None:
                break  # the next conversation came
            assert given.mine is not None, (preset, key, number)
            assert given.mine.verdict is not None


@pytest.mark.thorough
async def test_gg_and_G_go_to_the_ends_in_vim_keys(
    with_keys: Callable[[Preset], FaithApp],
) -> None:
    app = with_keys("vim")
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await reviewing(pilot)
        claims = screen.panes.claims
        await press(pilot, "G")
        assert claims.cursor == claims.row_count - 1 > 0
        await press(pilot, "g")
        assert isinstance(app.screen, GoToDialog)
        await press(pilot, "g")
        assert isinstance(app.screen, ReviewScreen)
        assert claims.cursor == 0
        before = screen.focused
        await press(pilot, "l")
        assert screen.focused is not before
        await press(pilot, "h")
        assert screen.focused is before


def test_the_tables_of_keys_name_every_binding() -> None:
    table = format_keys_markdown()
    for _, binding in list_bindings_by_class():
        assert f"`{binding.id}`" in table
    presets = format_presets_markdown({name: whole(name) for name in PRESETS[1:]})
    assert "`review.verdict-yes`" in presets
    for one, other in combinations(PRESETS[1:], 2):
        assert whole(one) != whole(other)
