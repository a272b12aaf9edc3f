"""Words of a text: laid out without loss, selected by keys and by the mouse."""

from hypothesis import given
from hypothesis import strategies as st
from textual import on
from textual.app import App, ComposeResult

from faithtui.domain.text.word_spans import find_word_spans
from faithtui.tui.theme.lines import Line
from faithtui.tui.widgets.component_styles import COMPONENTS
from faithtui.tui.widgets.word_picker import WordPicker, lay_out_words_on_lines

TEXT = "One two, three.\r\n\nFour (five) six seven."


class PickerApp(App[None]):
    """Shows a text."""

    COMPONENT_CLASSES = COMPONENTS
    CSS = "WordPicker { overflow-y: auto; scrollbar-size: 0 0; }"

    def __init__(self, text: str = TEXT, begin: int = 0) -> None:
        super().__init__()
        self.text = text
        self.begin = begin
        self.taken: list[str] = []

    def compose(self) -> ComposeResult:
        yield WordPicker(id="words")

    def on_mount(self) -> None:
        picker = self.query_one(WordPicker)
        picker.show_text(self.text, [], title="P1", begin=self.begin)
        picker.focus()

    @on(WordPicker.Selected)
    def take(self, event: WordPicker.Selected) -> None:
        self.taken.append(self.text[event.start : event.end])


@given(st.text(alphabet="ab .\n\r(1é東", max_size=60), st.integers(4, 30))
def test_no_word_is_lost_and_lines_break_between_words(text: str, width: int) -> None:
    words = find_word_spans(text)
    placed = lay_out_words_on_lines(text, words, width)
    found = [each for line in placed for each in line if each.word is not None]
    assert [(each.start, each.end) for each in found] == words
    assert [each.word for each in found] == list(range(len(words)))
    for line in placed:
        assert [each.x for each in line] == sorted(each.x for each in line)


def test_punctuation_stays_with_its_word() -> None:
    text = "aaa bbb, ccc"
    lines = lay_out_words_on_lines(text, find_word_spans(text), 7)
    assert ["".join(text[each.start : each.end] for each in line) for line in lines] == [
        "aaa ",
        "bbb, ",
        "ccc",
    ]


def drawn(app: PickerApp) -> list[str]:
    lines: list[Line] = list(app.query_one(WordPicker).lines)
    return [each.text for each in lines]


async def test_words_are_selected_by_keys() -> None:
    app = PickerApp()
    async with app.run_test(size=(40, 12)) as pilot:
        assert drawn(app) == [" One two, three.", "", " Four (five) six seven."]
        await pilot.press("enter", "right", "space", "right", "enter")
        assert app.taken == ["One", "two, three"]
        await pilot.press("space", "end", "left", "s", "enter")
        assert app.taken[-1] == "Four (five) six seven.", "a sentence has its full stop"
        await pilot.press("space", "home", "down", "enter")
        assert app.taken[-1] == "Four", "blank lines are passed over"
        await pilot.press("up", "space", "space", "enter")
        assert app.taken[-1] == "One", "a second space drops the selection"


async def test_words_are_selected_by_the_mouse() -> None:
    app = PickerApp()
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.click("#words", offset=(2, 0))
        assert app.taken == [], "a click goes to the word"
        await pilot.mouse_down("#words", offset=(5, 0))
        await pilot.hover("#words", offset=(12, 0))
        await pilot.mouse_up("#words", offset=(12, 0))
        assert app.taken == ["two, three"]
        await pilot.press("enter")
        assert app.taken == ["two, three"], "they were taken as the mouse let go"
        await pilot.press("left", "enter")
        assert app.taken == ["two, three", "two"]


async def test_it_begins_at_a_place_and_takes_a_text_without_words() -> None:
    app = PickerApp(begin=TEXT.index("six"))
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press("enter")
        assert app.taken == ["six"]
    app = PickerApp(" -- ")
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press("enter", "s", "right", "down", "space")
        assert app.taken == []


async def test_what_comes_behind_the_first_word_is_in_view() -> None:
    text = "\n".join(f"line{number} more" for number in range(60))
    begin = text.index("line19 ")
    app = PickerApp(text, begin)
    async with app.run_test(size=(40, 22)) as pilot:
        await pilot.pause()
        picker = app.query_one(WordPicker)
        seen = picker.scrollable_content_region.height
        assert picker.scroll_offset.y <= 19 < picker.scroll_offset.y + seen // 2
