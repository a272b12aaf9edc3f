import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from faithtui.tui import screen_catalog
from faithtui.tui.app import FaithApp
from faithtui.tui.keymap.declared_bindings import list_bindings_by_class
from faithtui.tui.keymap.key_names import PINNED, KeyHint, pack_hints
from faithtui.tui.widgets.bars import KeyBar
from tests.tui.driving import calm, opened

WORDS = st.text(alphabet="abcdef ", min_size=1, max_size=14).map(str.strip).filter(bool)
HINTS = st.lists(st.builds(KeyHint, st.sampled_from(["y", "ctrl+r", "J/K"]), WORDS), max_size=14)
ALWAYS = [KeyHint("g", "go to", "app.go"), KeyHint("q", "back", "app.back"),
          KeyHint("?", "help", "app.help")]  # fmt: skip


@given(HINTS, st.integers(10, 200))
def test_no_word_is_cut_and_help_is_never_dropped(some: list[KeyHint], width: int) -> None:
    lines = pack_hints([*some, *ALWAYS], width, 2)
    assert [cell_len(line.text) for line in lines] == [width - 1, width - 1]
    assert lines[-1].text.rstrip().endswith("? help")
    pieces = [piece.text.strip() for line in lines for piece in line.pieces if piece.look]
    known = {text for hint in [*some, *ALWAYS] for text in (hint.keys, hint.words)}
    assert set(pieces) <= known


def test_every_binding_has_an_id_a_description_and_a_tooltip() -> None:
    for scope, binding in list_bindings_by_class():
        assert binding.id, (scope, binding)
        assert "." in binding.id
        assert binding.description
        assert binding.tooltip
        assert binding.tooltip[0].isupper()


def test_an_id_means_one_action_in_one_place() -> None:
    owners: dict[str, set[tuple[str, str]]] = {}
    for _, binding in list_bindings_by_class():
        assert binding.id is not None
        owners.setdefault(binding.id, set()).add((binding.action, binding.key))
    shared = {"move.", "list.open"}
    for name, uses in owners.items():
        assert len(uses) == 1 or any(name.startswith(each) for each in shared), (name, uses)


def test_pinned_hints_exist() -> None:
    ids = {binding.id for _, binding in list_bindings_by_class()}
    assert set(PINNED) <= ids


def test_no_key_a_terminal_cannot_tell_apart_is_used_alone() -> None:
    for scope, binding in list_bindings_by_class():
        keys = set(binding.key.split(","))
        assert not keys <= {"ctrl+i", "ctrl+m", "ctrl+h", "ctrl+j", "ctrl+enter"}, (scope, keys)


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
async def test_the_footer_of_every_screen_keeps_whole_words_and_help(
    app: FaithApp, width: int
) -> None:
    async with app.run_test(size=(width, 40)) as pilot:
        await opened(pilot)
        for name in screen_catalog.SCREENS:
            app.show_screen(name)
            await calm(pilot)
            bar = app.screen.query_one(KeyBar)
            hints = bar.list_hints()
            lines = pack_hints(hints, width, 2)
            assert lines[-1].text.rstrip().endswith("? help")
            whole = {text for hint in hints for text in (hint.keys, hint.words)}
            drawn = {piece.text.strip() for line in lines for piece in line.pieces if piece.look}
            assert drawn <= whole, name
