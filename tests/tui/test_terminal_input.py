"""Bytes of a terminal as messages: pasted text never becomes keys, whatever it holds."""

import pytest
from textual import events

from faithtui.tui.terminal_input import STALLED_AFTER_S, PasteParser

START, END = "\x1b[200~", "\x1b[201~"


def read(parser: PasteParser, *reads: str) -> list[str]:
    """Give keys by name and pastes as `paste TEXT`, in order."""
    return [
        f"paste {each.text}" if isinstance(each, events.Paste) else each.key
        for data in reads
        for each in parser.feed(data)
        if isinstance(each, (events.Key, events.Paste))
    ]


TEXT = "some text \x1b[31m nnn \x1b\x1b[<0;1;1M\x1b[20 yyy\x1b"
SHOWN = "paste " + TEXT.replace("\x1b", "␛")


def test_escape_characters_in_a_paste_are_no_keys() -> None:
    assert read(PasteParser(), f"a{START}{TEXT}{END}b") == ["a", SHOWN, "b"]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_a_paste_may_come_in_pieces(size: int) -> None:
    data = f"a{START}{TEXT}{END}{START}line\nnext{END}b"
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert read(PasteParser(), *pieces) == ["a", SHOWN, "paste line\nnext", "b"]


def test_a_paste_without_an_end_gives_way_to_the_first_key_after_a_pause() -> None:
    now = [0.0]
    parser = PasteParser(clock=lambda: now[0])
    assert read(parser, START + "text", "y") == []
    now[0] += STALLED_AFTER_S
    assert read(parser, "the rest of it, late") == []
    now[0] += STALLED_AFTER_S
    assert read(parser, "\x1b[B", "y") == ["paste textythe rest of it, late", "down", "y"]


def test_a_slow_paste_stays_one() -> None:
    now = [0.0]
    parser = PasteParser(clock=lambda: now[0])
    read(parser, START + "nnn")
    now[0] += 10
    assert read(parser, END) == ["paste nnn"]


def test_a_line_feed_is_enter_and_stays_one_in_a_paste() -> None:
    assert read(PasteParser(), f"\n\r{START}a\nb{END}") == ["enter", "enter", "paste a\nb"]


def test_a_key_cut_short_does_not_begin_a_paste(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("textual._parser.get_time", lambda: now[0])
    parser = PasteParser()
    assert read(parser, "\x1b") == []
    now[0] += 1
    assert [each.key for each in parser.tick() if isinstance(each, events.Key)] == ["escape"]
    assert read(parser, "[200~y") == ["left_square_bracket", *"200", "tilde", "y"]
