"""A text of which words can be selected, by keys and by the mouse."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from faithtui.domain.text.sentences import split_sentences
from faithtui.domain.text.word_spans import find_word_spans
from faithtui.tui.theme.lines import BLANK, FULL_TEXT_LIMIT, Line, Piece, escape_line
from faithtui.tui.widgets.scroll_pane import Pane

_NO_BLANKS = re.compile(r"[^\w\s]{0,8}")


class PlacedText(NamedTuple):
    """A word, or what stands between words, on a line."""

    x: int
    cells: int
    start: int
    """First character."""
    end: int
    """The character after the last."""
    word: int | None
    """Place among the words of the text; None: it is between words."""


def lay_out_words_on_lines(
    text: str, words: Sequence[tuple[int, int]], width: int
) -> list[list[PlacedText]]:
    """Put a text on lines that break between words.

    Args:
        text: The text; its line ends stay.
        words: Of the text, in order.
        width: Cells of a line.
    """
    lines: list[list[PlacedText]] = [[]]
    x = at = 0

    def place_text(start: int, end: int, word: int | None) -> None:
        nonlocal x
        cells = cell_len(_make_visible_piece(text[start:end]).text)
        # What stands right behind a word, such as a full stop, stays with it.
        behind = _NO_BLANKS.match(text, end) if word is not None else None
        room = cells if behind is None else cells + cell_len(behind[0])
        if word is not None and x and x + room > width:
            lines.append([])
            x = 0
        if not x and text[start:end].isspace():
            return  # A line does not begin with a blank.
        lines[-1].append(PlacedText(x, cells, start, end, word))
        x += cells

    for number, (start, end) in enumerate([*words, (len(text), len(text))]):
        for place, part in enumerate(text[at:start].split("\n")):
            if place:
                at += 1
                lines.append([])
                x = 0
            if part:
                place_text(at, at + len(part), None)
                at += len(part)
        if start < end:
            place_text(start, end, number)
        at = end
    return lines


class WordPicker(Pane):
    """Words of which a range is selected; some are marked already.

    Enter selects the word at the cursor or, after space, all words from there to the cursor; so
    does a drag of the mouse. Knows nothing of what becomes of it.
    """

    ALLOW_SELECT = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "right,l",
            "move_by_words(1)",
            "word",
            key_display="←→↑↓",
            tooltip="Next word",
            id="words.next",
        ),
        Binding(
            "left,h",
            "move_by_words(-1)",
            "Word",
            show=False,
            tooltip="Word before",
            id="words.before",
        ),
        Binding(
            "space",
            "start_or_drop_selection",
            "from here",
            tooltip="Begin a selection at this word, or drop it",
            id="words.from",
        ),
        Binding(
            "s", "select_sentence", "sentence", tooltip="Select the sentence", id="words.sentence"
        ),
        Binding(
            "enter",
            "report_selection",
            "take words",
            tooltip="Take the selected words, or the word at the cursor",
            id="words.select",
        ),
    ]

    @dataclass
    class Selected(Message):
        """Words were selected."""

        pane: "WordPicker"
        start: int
        """First character."""
        end: int
        """The character after the last."""

        @property
        def control(self) -> "WordPicker":
            """The text."""
            return self.pane

    def __init__(self, *, id: str, title: str = "") -> None:
        super().__init__(id=id, title=title)
        self._text = ""
        self._words: list[tuple[int, int]] = []
        self._placed: list[list[PlacedText]] = []
        self._marks: Sequence[tuple[int, int]] = ()
        self._cursor = 0
        self._anchor: int | None = None
        self._sentence: tuple[int, int] | None = None
        """A selected sentence, with its full stop; None once the selection is another one."""
        self._is_dragging = False
        self._is_drag_taken = False
        """Words were taken as the mouse let go, and nothing was chosen since."""

    def show_text(
        self, text: str, marks: Sequence[tuple[int, int]], *, title: str, begin: int = 0
    ) -> None:
        """Show a text.

        Args:
            text: Foreign text; what is beyond `FULL_TEXT_LIMIT` is left out.
            marks: Stretches that are marked: first character and the one after the last.
            title: For the frame, already made visible.
            begin: Character at which the cursor begins.
        """
        self._text = text[:FULL_TEXT_LIMIT]
        self._words = find_word_spans(self._text)
        self._marks = marks
        self._anchor = self._sentence = None
        self._is_drag_taken = False
        behind = (place for place, (_, end) in enumerate(self._words) if end > begin)
        self._cursor = next(behind, 0)
        self.show(self._build_lines, title=title, keep=False)
        # A pane that is not laid out yet has no lines to scroll to.
        self.call_after_refresh(self._scroll_cursor_near_top)

    def show_marks(self, marks: Sequence[tuple[int, int]]) -> None:
        """Show other marks in the same text."""
        self._marks = marks
        self._anchor = self._sentence = None
        self._repaint_content()

    @property
    def selection(self) -> tuple[int, int] | None:
        """The selected stretch, or the word at the cursor; None in a text without words."""
        if self._sentence is not None:
            return self._sentence
        if not self._words:
            return None
        anchor = self._cursor if self._anchor is None else self._anchor
        first, last = sorted((anchor, self._cursor))
        return self._words[first][0], self._words[last][1]

    def action_move_by_words(self, by: int) -> None:
        """Go to another word."""
        self._move_cursor_to_word(self._cursor + by)

    def action_down(self) -> None:
        """Go to the line below."""
        self._move_cursor_by_lines(1)

    def action_up(self) -> None:
        """Go to the line above."""
        self._move_cursor_by_lines(-1)

    def action_page_down(self) -> None:
        """Go a page down."""
        self._move_cursor_by_lines(self._page_height)

    def action_page_up(self) -> None:
        """Go a page up."""
        self._move_cursor_by_lines(-self._page_height)

    def action_home(self) -> None:
        """Go to the first word."""
        self._move_cursor_to_word(0)

    def action_end(self) -> None:
        """Go to the last word."""
        self._move_cursor_to_word(len(self._words) - 1)

    def action_start_or_drop_selection(self) -> None:
        """Begin a selection here, or drop the one there is."""
        self._anchor = self._cursor if self._anchor is None else None
        self._sentence = None
        self._is_drag_taken = False
        self._repaint_content()

    def action_select_sentence(self) -> None:
        """Select the sentence at the cursor, with the punctuation that ends it."""
        if not self._words:
            return
        at = self._words[self._cursor][0]
        spans = split_sentences(self._text)
        sentence = next((each for each in spans if each.start <= at < each.end), None)
        if sentence is None:
            return
        inside = [
            place
            for place, (start, _) in enumerate(self._words)
            if sentence.start <= start < sentence.end
        ]
        self._anchor, self._cursor = inside[0], inside[-1]
        self._sentence = sentence.start, sentence.end
        self._is_drag_taken = False
        self._repaint_content()

    def action_report_selection(self) -> None:
        """Report what is selected; nothing where the mouse has just taken it."""
        found = None if self._is_drag_taken else self.selection
        if found is not None:
            self.post_message(self.Selected(self, *found))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin a selection at the word under the mouse."""
        word = self._find_word_under_mouse(event)
        if word is not None:
            event.stop()
            self.capture_mouse()
            self._is_dragging, self._anchor = True, None
            self._move_cursor_to_word(word)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Select up to the word under the mouse."""
        if not self._is_dragging:
            return
        word = self._find_word_under_mouse(event)
        if word is not None and word != self._cursor:
            if self._anchor is None:
                self._anchor = self._cursor
            self._move_cursor_to_word(word)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Take what was dragged over; a click alone only goes to the word."""
        if not self._is_dragging:
            return
        event.stop()
        self.release_mouse()
        self._is_dragging = False
        if self._anchor is not None:
            self.action_report_selection()
            self._is_drag_taken = True

    def _find_word_under_mouse(self, event: events.MouseEvent) -> int | None:
        """Find the word under the mouse, or the nearest one on its line."""
        where = event.get_content_offset(self)
        if where is None:
            return None
        line = self.get_line_index_at(where.y)
        placed = self._placed[line] if 0 <= line < len(self._placed) else []
        return _find_nearest_word(placed, where.x - 1)

    def _move_cursor_by_lines(self, by: int) -> None:
        line, x = self._get_word_position(self._cursor)
        step = 1 if by > 0 else -1
        target = max(0, min(len(self._placed) - 1, line + by))
        while 0 <= target < len(self._placed):
            word = _find_nearest_word(self._placed[target], x)
            if word is not None:
                self._move_cursor_to_word(word)
                return
            target += step

    def _move_cursor_to_word(self, word: int) -> None:
        if self._words:
            self._cursor = max(0, min(len(self._words) - 1, word))
            self._sentence = None
            self._is_drag_taken = False
            self._repaint_content()

    def _get_word_position(self, word: int) -> tuple[int, int]:
        for number, line in enumerate(self._placed):
            for each in line:
                if each.word == word:
                    return number, each.x
        return 0, 0

    def _repaint_content(self) -> None:
        self.show(self._build_lines)
        self._scroll_cursor_into_view()

    def _scroll_cursor_near_top(self) -> None:
        """Scroll so that most of what is seen comes behind the cursor: selections go on there."""
        line, _ = self._get_word_position(self._cursor)
        height = self.scrollable_content_region.height
        if line >= height * 2 // 3:
            self.scroll_to(y=line - height // 3, animate=False)

    def _scroll_cursor_into_view(self) -> None:
        """Scroll so that the cursor is seen, and where there is room the line behind it."""
        line, _ = self._get_word_position(self._cursor)
        self.scroll_to_lines(line, line + 1)

    def _build_lines(self, width: int) -> Sequence[Line]:
        self._placed = lay_out_words_on_lines(self._text, self._words, max(1, width - 2))
        chosen = self.selection if self._anchor is not None else None
        return [self._format_placed_line(line, chosen) if line else BLANK for line in self._placed]

    def _format_placed_line(
        self, line: Sequence[PlacedText], chosen: tuple[int, int] | None
    ) -> Line:
        pieces = [Piece(" ")]
        for each in line:
            looks = []
            if any(start <= each.start and each.end <= end for start, end in self._marks):
                looks.append("human quote")
            # What ends a sentence stands in one part with the blank behind it.
            if each.word == self._cursor or (
                chosen is not None and chosen[0] <= each.start < chosen[1]
            ):
                looks.append("mark")
            piece = _make_visible_piece(self._text[each.start : each.end])
            pieces.append(piece._replace(look=" ".join(looks)))
        return Line(tuple(pieces))


def _make_visible_piece(text: str) -> Piece:
    """Make a part of a line visible; half of a line end of Windows is nothing to see."""
    return escape_line(text.replace("\r", ""), limit=len(text) + 1)


def _find_nearest_word(line: Sequence[PlacedText], x: int) -> int | None:
    words = [each for each in line if each.word is not None]
    nearest = min(
        words, key=lambda each: max(each.x - x, x - each.x - each.cells + 1, 0), default=None
    )
    return None if nearest is None else nearest.word
