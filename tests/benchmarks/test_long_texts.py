"""How long a key takes where every text has a megabyte, against an ordinary conversation."""

import random
import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from faithtui.domain.claims.verdicts import Truth
from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.labels.label_events import Action
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.benchmarks.measuring import answer, app, environment, ms, ratio, table
from tests.tui.building import SPEC, Said, assessments, save
from tests.tui.terminal import ENTER, Terminal

SIZE = 1 << 20
TURNS = 3
CLAIMS = 3
"""Of a turn."""
ROUNDS = 5
BOUND = 20
"""Times an ordinary key: a text that is drawn or compared to its end takes hundreds."""
BOUND_OPEN = 40
"""The same for opening, where all texts are read from the disk."""


def ordinary(seed: int) -> str:
    return f"Parcel {seed} weighs 3 kilograms and is blue. It was sent to Berlin."


def one_word(seed: int) -> str:
    return f"{seed}{'x' * SIZE}"[:SIZE]


def many_words(seed: int) -> str:
    choose = random.Random(seed)
    known = ["".join(choose.choices("abcdefghij", k=choose.randint(2, 9))) for _ in range(2_000)]
    words = [
        f"{choose.choice(known)}{choose.choice(['', '', '', '', '.', ' not', ' 30', ' Berlin'])}"
        for _ in range(SIZE // 5)
    ]
    return " ".join(words)[:SIZE]


def many_lines(seed: int) -> str:
    return (f"line {seed} of the text\n" * (SIZE // 10))[:SIZE]


KINDS: Mapping[str, Callable[[int], str]] = {
    "ordinary": ordinary,
    "one word": one_word,
    "many words": many_words,
    "many lines": many_lines,
}


def long_store(path: Path) -> Path:
    """Make a conversation of each kind, whose texts are all of that kind."""
    with Store.open(path) as store:
        chats = [
            Conversation(
                "long",
                name,
                tuple(
                    turn
                    for number in range(TURNS)
                    for turn in (
                        Turn("user", text(10 + number)),
                        Turn("assistant", text(number), (Document(text(20 + number), "long.md"),)),
                    )
                ),
                "group",
            )
            for name, text in KINDS.items()
        ]
        store.conversations.import_batch(chats)
        run = store.runs.create(SPEC, store.conversations.list_ids())
        for item, chat in zip(store.runs.list_item_ids(run), chats, strict=True):
            text = KINDS[chat.key]
            said = [
                Said(
                    2 * number + 1,
                    text(number) if place == 0 else f"Claim {place} of turn {number} is blue.",
                    "no",
                    ((number, "contradicts"),),
                    text(50),
                )
                for number in range(TURNS)
                for place in range(CLAIMS)
            ]
            truths = [Truth(text(30 + number), text(20 + number)) for number in range(TURNS)]
            save(store, item, assessments(chat, said, truths))
            for claim in store.runs.read_conversation_for_review(item, "ann").claims[:2]:
                store.label_log.append_label_event(
                    claim.id, "ann", Action.NOTED, None, text(60),
                    run=run, judge_verdict="no", saw_judge=False,
                )  # fmt: skip
        store.runs.set_state(run, RunState.DONE)
    return path


@contextmanager
def reviewing(store: Path, home: Path, number: int) -> Iterator[tuple[Terminal, float]]:
    """Open a conversation; gives how long that took, in seconds."""
    with Terminal(app(store), environment(home)) as terminal:
        terminal.wait("offline")
        terminal.press(ENTER)
        terminal.wait("CONVERSATIONS  #1")
        terminal.wait(">   1 ")
        for place in range(number):
            terminal.press("j")
            terminal.wait(f">   {place + 2} ")
        terminal.settle(0.3)
        took = answer(terminal, ENTER, f"claim 1/{TURNS * CLAIMS}")
        terminal.settle(0.3)
        yield terminal, took


def timed(store: Path, home: Path, number: int) -> dict[str, list[float]]:
    """Time the keys of one conversation."""
    of = f"/{TURNS * CLAIMS}"
    found: dict[str, list[float]] = {}

    def time(name: str, key: str, seen: str, terminal: Terminal) -> None:
        found.setdefault(name, []).append(answer(terminal, key, seen))
        terminal.settle(0.1)

    with reviewing(store, home, number) as (terminal, opened):
        found["open"] = [opened]
        for _ in range(ROUNDS):
            time("next claim", "j", f"claim 2{of}", terminal)
            time("claim before", "k", f"claim 1{of}", terminal)
        for _ in range(ROUNDS):
            time("source", "t", "esc/q close", terminal)
            start = len(terminal.painted)
            terminal.press("\x1b[6~")
            terminal.settle(0.1)
            assert len(terminal.painted) >= start
            terminal.press("q")
            terminal.settle(0.2)
        for place in range(2, 2 + ROUNDS):
            time("verdict", "y", f"claim {place}{of}", terminal)
        terminal.press("/")
        terminal.settle(0.1)
        time("find", "b", "found here", terminal)
        for letter in "lue":
            time("find", letter, "found here", terminal)
    return found


def test_keys_where_every_text_has_a_megabyte(tmp_path: Path) -> None:
    store = long_store(tmp_path / "long.db")
    found = {
        name: timed(store, tmp_path / f"home{number}", number) for number, name in enumerate(KINDS)
    }
    base = found["ordinary"]
    rows = [
        (
            f"{key}, {name}",
            ms(statistics.median(values)),
            ms(max(values)),
            ratio(statistics.median(values), statistics.median(base[key])),
        )
        for name, keys in found.items()
        for key, values in keys.items()
    ]
    table("keys, 120x40", ("", "p50", "worst", "to ordinary"), rows)
    for name, keys in found.items():
        for key, values in keys.items():
            bound = BOUND_OPEN if key == "open" else BOUND
            middle = statistics.median(values)
            assert middle < bound * statistics.median(base[key]), f"{key}, {name}"
