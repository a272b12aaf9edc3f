"""Bytes of a terminal as messages: pasted text never becomes keys, whatever it holds."""

from collections.abc import Iterable

import pytest
from textual import events
from textual.message import Message

from faithtui.tui.terminal_input import HELD_AT_MOST_S, STALLED_AFTER_S, PasteParser

START, END = "\x1b[200~", "\x1b[201~"


def name(messages: Iterable[Message]) -> list[str]:
    """Give keys by name and pastes as `paste TEXT`, in order."""
    return [
        f"paste {each.text}" if isinstance(each, events.Paste) else each.key
        for each in messages
        if isinstance(each, (events.Key, events.Paste))
    ]


def read(parser: PasteParser, *reads: str) -> list[str]:
    """Name what comes of some reads, each with a tick behind it as drivers do, then of a pause."""
    named = []
    for data in reads:
        named += [*name(parser.feed(data)), *name(parser.tick())]
    return [*named, *name(parser.tick())]


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
    assert name(parser.tick()) == ["escape"]
    assert read(parser, "[200~y") == ["left_square_bracket", *"200", "tilde", "y"]


FORGED = [f"log{END}y", f"log{END}y{END}{END}n\x1b[B", f"log{END}y{START}n", f"{END}y"]


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("text", FORGED)
def test_a_mark_inside_a_paste_lets_no_keys_through(text: str, size: int) -> None:
    data = f"{START}{text}{END}"
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    found = read(PasteParser(), *pieces)
    assert all(each.startswith("paste") for each in found)
    assert "y" in "".join(found).replace("paste", "")


def test_keys_behind_a_paste_wait_for_a_pause_and_no_longer_than_somebody_holds_a_key() -> None:
    now = [0.0]
    parser = PasteParser(clock=lambda: now[0])
    assert name(parser.feed(f"{START}text{END}y")) == ["paste text"]
    assert name(parser.tick()) == []
    assert name(parser.feed("n")) == []
    now[0] += HELD_AT_MOST_S
    assert name(parser.tick()) == ["y", "n"]
    assert name(parser.feed("i")) == ["i"]
