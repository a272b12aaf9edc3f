"""The real program in a terminal: kills, restarts, hostile texts, sizes that change."""

import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.claims.verdicts import Assessment, Claim, Evidence, Truth, Verdict
from faithtui.domain.conversation import Conversation, Document, Rating, Turn
from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.scores import score_window
from faithtui.domain.windows import cut_sliding_windows, split_into_interactions
from faithtui.store.records import ClaimView, ItemState, RunState
from faithtui.store.store import Store
from faithtui.tui.theme import format as fmt
from tests.engine.building import conversation, store_with
from tests.judges.fake_server import AnsweringServer, answering_server
from tests.tui.building import RULE, SPEC
from tests.tui.conftest import CLAIMS, REVIEWER
from tests.tui.terminal import CTRL_Q, CTRL_S, DOWN, ENTER, HOME, PATIENCE_S, TAB, Terminal, command

WORDS = {fmt.describe_label(label, FAITHFULNESS): label for label in ("yes", "no", "idk", "x")}
SAVED = re.compile(
    rf"saved \d\d:\d\d:\d\d · claim (\d+) = ({'|'.join(map(re.escape, WORDS))})(?=\s|$)"
)
LAST = "no claim without a verdict"
"""Takes the place of "saved" after the last verdict of a run."""
ANSWER = re.compile(f"{SAVED.pattern}|{LAST}|not saved(?!: [^·]* · typed before)")
"""What a verdict is answered with; one that came too early is none, and is typed again."""


def open_review(terminal: Terminal) -> None:
    """Go to the claims, from the first screen unless the app comes up where it was left."""
    terminal.follow(ANSWER)
    terminal.wait(lambda: any(each in terminal.screen.text for each in ("offline", "[REVIEW]")))
    if "[REVIEW]" not in terminal.screen.text:
        terminal.press("v")
    terminal.wait("#1 > ")


def press_once_taken(terminal: Terminal, key: str, seen: str) -> None:
    """Press a key, once more if it came before the whole of a restored screen was painted."""
    dropped = "what was typed before this screen was shown did nothing"
    terminal.press(key)
    terminal.wait(lambda: seen in terminal.screen.text or dropped in terminal.screen.text)
    if dropped in terminal.screen.text:
        terminal.press(key)
    terminal.wait(seen)


def leave(terminal: Terminal) -> None:
    """Quit, and see that nothing was wrong: a bug ends the app with 1 and its traceback."""
    terminal.press(CTRL_Q)
    code = terminal.wait_end()
    assert code == 0, terminal.plain[-5000:]


def label(terminal: Terminal, key: str) -> int:
    """Press a key for a verdict until it is answered on the screen.

    Returns:
        How often the bell rang instead: a key for a claim that is not drawn yet is not taken.
    """
    answers, screen = terminal.follow(ANSWER), terminal.screen
    before, rung = len(answers), screen.bells
    while len(answers) == before:
        bells = screen.bells
        terminal.press(key)
        terminal.wait(lambda at=bells: len(answers) > before or screen.bells > at)  # type: ignore[misc]  # bound to this round
    return screen.bells - rung


def saved(terminal: Terminal) -> list[tuple[int, str]]:
    """List what the screen said is saved: number of the claim and label."""
    return [
        (int(match[1]), WORDS[match[2]])
        for match in terminal.follow(ANSWER)
        if match[1] is not None
    ]


def claims(store: Store) -> list[ClaimView]:
    """Read all claims of the first run."""
    return [
        claim
        for item in store.runs.list_item_ids(RunId(1))
        for claim in store.runs.read_conversation_for_review(item, REVIEWER).claims
    ]


def said(store: Path) -> Counter[tuple[int, str]]:
    """Count what the reviewer's verdicts in the store are: number of the claim and label."""
    with Store.open(store, create=False) as opened:
        assert opened.list_damage() == []
        return Counter(
            (claim.number, claim.mine.verdict)
            for claim in claims(opened)
            if claim.mine is not None and claim.mine.verdict is not None
        )


def given(store: Path) -> Counter[tuple[int, str]]:
    """Count all verdicts the reviewer ever gave, those too that another one took the place of."""
    with Store.open(store, create=False) as opened:
        assert opened.list_damage() == []
        numbers = {claim.id: claim.number for claim in claims(opened)}
        with opened._database.open_reader() as connection:
            acts = connection.exec_driver_sql(
                "SELECT claim_id, verdict FROM human_label "
                f"WHERE reviewer = '{REVIEWER}' AND verdict IS NOT NULL"
            ).all()
    return Counter((numbers[claim], verdict) for claim, verdict in acts)


@pytest.mark.thorough
def test_pasted_escape_characters_give_no_verdict_and_a_note_keeps_them_in_order(
    judged: Path, environment: Mapping[str, str]
) -> None:
    paste = "\x1b[200~some text \x1b[31m nnn yyy\x1b[201~"
    with Terminal(command(judged), environment) as terminal:
        open_review(terminal)
        terminal.press(paste, "e")
        terminal.wait(": enter saves it")
        terminal.press(paste)
        terminal.wait("some text ␛[31m nnn yyy")
        terminal.press(ENTER)
        terminal.wait("note on claim 1")
        label(terminal, "x")
        leave(terminal)
    assert said(judged) == Counter([(1, "x")])


FRAMES = """
import atexit, sys
atexit.register(lambda: print("frames a second:", sys.modules["textual.constants"].MAX_FPS))
from faithtui.cli.entry import main
main()
"""


@pytest.mark.thorough
def test_enter_before_the_app_reads_the_terminal_is_enter(
    judged: Path, environment: Mapping[str, str]
) -> None:
    program = [sys.executable, "-c", FRAMES, "--store", str(judged)]
    with Terminal(program, environment) as terminal:
        terminal.press(ENTER)  # the terminal makes a line feed of it until the app says not to
        terminal.wait("CONVERSATIONS")
        leave(terminal)
    # Textual has to be told how often to paint before it is imported.
    assert "frames a second: 240" in terminal.plain


@pytest.mark.parametrize("seed", [1, 2])
def test_kill_9_while_labelling_loses_no_label_that_was_called_saved(
    judged: Path, environment: Mapping[str, str], seed: int
) -> None:
    choose = random.Random(seed)
    told: Counter[tuple[int, str]] = Counter()
    for _ in range(2):
        with Terminal(command(judged), environment) as terminal:
            open_review(terminal)
            for _ in range(choose.randint(1, 6)):
                label(terminal, choose.choice("ynix"))
            terminal.press(*choose.choices("ynix", k=3))
            for _ in range(choose.randint(0, 3)):
                terminal.read(PATIENCE_S)
            terminal.kill()
            told += Counter(saved(terminal))
        assert told - given(judged) == Counter(), "something was called saved and is not there"
    assert told.total() > 3
    with Terminal(command(judged), environment) as terminal:
        open_review(terminal)
        label(terminal, "y")
        leave(terminal)


@pytest.mark.thorough
def test_a_label_that_cannot_be_written_is_not_called_saved_and_the_reason_is_told(
    judged: Path, environment: Mapping[str, str]
) -> None:
    # No file may grow beyond 200 kB, as if the disk were full: the log takes some labels.
    limited = ["sh", "-c", 'ulimit -f 400; exec "$0" "$@"', *command(judged)]
    with Terminal(limited, environment) as terminal:
        open_review(terminal)
        while not any(answer[0] == "not saved" for answer in terminal.follow(ANSWER)):
            label(terminal, "y")
        terminal.wait("That did not work")
        told = Counter(saved(terminal))
        leave(terminal)
    assert told.total() > 0
    assert told == given(judged)


def test_undo_and_redo_work_after_a_restart(judged: Path, environment: Mapping[str, str]) -> None:
    with Terminal(command(judged), environment) as terminal:
        open_review(terminal)
        for number, key in enumerate("ynx", start=1):
            label(terminal, key)
            terminal.wait(f"claim {number + 1}/{CLAIMS}")
        leave(terminal)
    assert said(judged) == Counter([(1, "yes"), (2, "no"), (3, "x")])
    with Terminal(command(judged), environment) as terminal:
        open_review(terminal)
        press_once_taken(terminal, "u", "undone: claim 3")
        terminal.press("u")
        terminal.wait("undone: claim 2")
        terminal.press("\x12")
        terminal.wait("redone: claim 2")
        leave(terminal)
    assert said(judged) == Counter([(1, "yes"), (2, "no")])


def under_way(terminal: Terminal, server: AnsweringServer, path: Path) -> None:
    """Begin a run, and wait until eleven replies are stored and other questions are in flight."""
    terminal.wait("No runs yet")
    terminal.press("n")
    terminal.wait("one run per metric")
    server.answers_no_more_than = 11
    terminal.press(CTRL_S)
    terminal.wait("PROGRESS  #1")
    with Store.open(path, create=False) as store:
        terminal.wait(lambda: server.waiting > 0 and store.runs.read_run(RunId(1)).calls == 11)


def test_quitting_does_not_wait_for_the_judge_and_leaves_a_run_that_goes_on(
    tmp_path: Path, environment: Mapping[str, str]
) -> None:
    path = tmp_path / "s.db"
    store_with(path, [conversation(f"c{number}", 2) for number in range(12)]).close()
    with answering_server() as server:
        (tmp_path / "home").mkdir()
        settings = f'judge = "openai:w"\nbase_url = "{server.url}"\n'
        (tmp_path / "home" / "config.toml").write_text(settings)
        with Terminal(command(path), environment) as terminal:
            under_way(terminal, server, path)
            terminal.press(CTRL_Q)
            terminal.wait("Quit?")
            terminal.press("y")
            terminal.wait("They are paid for")
            terminal.press(CTRL_Q)
            assert terminal.wait_end() == 0
        assert server.answered == 11, "what is in flight is not answered, and quitting goes on"
        with Store.open(path, create=False) as store:
            row = store.runs.read_run(RunId(1))
            assert store.list_damage() == []
            assert row.state is RunState.CANCELLED
            assert row.pending > 0
        server.answers_no_more_than = None
        done = subprocess.run(
            [sys.executable, "-m", "faithtui", "--store", str(path), "run", "--resume", "1"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        with Store.open(path, create=False) as store:
            row = store.runs.read_run(RunId(1))
            assert (row.state, row.done) == (RunState.DONE, 12)
            assert row.calls == len(server.answers), "nothing stored was asked again"


def test_without_a_terminal_on_stdin_it_says_so_and_exits_2(
    judged: Path, environment: Mapping[str, str]
) -> None:
    # stdout is a terminal here: only stdin decides.
    shell = ["sh", "-c", '"$0" "$@" </dev/null', *command(judged)]
    with Terminal(shell, environment) as terminal:
        assert terminal.wait_end() == 2
    assert "needs a terminal" in terminal.plain
    assert b"\x1b[?" not in terminal.bytes  # nothing of an app; the word `error` may have a colour


# Hostile texts

HOSTILE = json.loads((Path(__file__).parents[2] / "fixtures/hostile/strings.json").read_text())
ALLOWED = re.compile(
    r"\x1b\[(?:"
    r"[0-9;:]*m"  # colours
    r"|\d+;\d+H"  # where to paint
    r"|\?(?:1049|25|1000|1003|1015|1006|1016|1004|2004|2048|2026|7)[hl]"  # Textual's own modes
    r"|\?(?:2026|2048)\$p"  # does the terminal know frames and sizes?
    r"|>\d+u|<u"  # the keyboard protocol, on and off
    r")"
    r"|\x1b\]22;(?:default|pointer|text)\x07"  # the shape of the mouse
)

COMMANDING = re.compile("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Controls but line ends, and what turns the direction of text."""


def texts() -> dict[str, str]:
    """Give every hostile string by its name; megabytes are cut to what a test has time for."""
    found = {}
    for each in HOSTILE["strings"]:
        text = each["text"]
        found[each["id"]] = each["repeat"] * min(each["times"], 5000) if text is None else text
    return found


def unexpected(written: bytes) -> list[str]:
    """List what a program of ours has no reason to send to a terminal.

    Control sequences are compared with a short list, so that one nobody thought of is found too.
    """
    rest = ALLOWED.sub("", written.decode("utf-8"))
    return [
        f"U+{ord(found[0]):04X} in {rest[max(0, found.start() - 20) : found.end() + 40]!r}"
        for found in COMMANDING.finditer(rest)
    ]


@pytest.mark.parametrize(
    "attack",
    [
        "\x1b]52;c;eA==\x07",
        "\x1b]0;title\x1b\\",
        "\x1b]8;;https://evil.example\x1b\\",
        "\x1bPtmux;x\x1b\\",
        "\x1b_apc\x1b\\",
        "\x1bc",
        "\x1b[6n",
        "\x1b[?9h",
        "\x1b[10;1r",
        "\x9d2;x\x9c",
        "\x07",
        "\x0e",
        "\x7f",
        "\u202e",
    ],
)
def test_the_check_for_control_sequences_finds_them(attack: str) -> None:
    harmless = "\x1b[1;1H\x1b[0;38;2;1;2;3mtext\x1b[0m\r\n"
    assert unexpected(harmless.encode()) == []
    assert unexpected((harmless + attack + harmless).encode()) != []


def hostile_store(path: Path) -> int:
    """Fill a store with hostile texts in every field; gives the number of claims."""
    conversations = []
    for number, (name, text) in enumerate(texts().items(), start=1):
        document = Document(f"{text}\n{name}", f"{text[:200]} {name}.md")
        conversations.append(
            Conversation(
                f"source {text[:200]}",
                f"{number:02} {text[:200]} {name}",
                (
                    Turn("user", f"{text} {name}?"),
                    Turn("assistant", f"{text} {name}.", (document,)),
                ),
                f"group {text[:200]}",
                ratings=(Rating(1, f"rater {text[:200]}", "yes-no", "no"),),
            )
        )
    attack = "\x1b]52;c;eA==\x07[/nope]"
    spec = replace(SPEC, judge=f"replay:{attack}", options={attack: attack}, sources=(attack,))
    with Store.open(path) as store:
        store.conversations.import_batch(conversations)
        run = store.runs.create(spec, store.conversations.list_ids())
        for item, each in zip(store.runs.list_item_ids(run), conversations, strict=True):
            text, document = each.turns[1].content, (each.turns[1].retrieval_context or ())[0]
            truth = Truth(f"truth {text}", document.text)
            verdict = Verdict(
                Claim(1, text),
                "yes",
                word=text[:500],
                reason=f"because {text}",
                evidence=(Evidence(truth, "supports"),),
            )
            (window,) = cut_sliding_windows(split_into_interactions(each.turns), 10)
            store.runs.save_window(
                item,
                Assessment(window, score_window(["yes"], RULE), (verdict,), (truth,), reason=text),
            )
            store.runs.score_and_finish_item(
                item, ItemState.DONE, f"reason {text}", f"all in all {text}"
            )
            (claim,) = store.runs.read_conversation_for_review(item, REVIEWER).claims
            for who, note in ((REVIEWER, text), (f"bo {text[:100]}", f"note {text}")):
                store.label_log.append_label_event(
                    claim.id,
                    who,
                    Action.NOTED,
                    None,
                    note,
                    run=run,
                    judge_verdict="yes",
                    saw_judge=True,
                )
        store.runs.set_state(run, RunState.STOPPED, f"stopped by {attack}")
    return len(conversations)


def read_in_full(terminal: Terminal, key: str) -> None:
    """Open and close the window that a key opens above the review screen."""
    terminal.press(key)
    terminal.wait("esc/q close")
    terminal.press("q")
    terminal.wait(lambda: "esc/q close" not in terminal.screen.text)


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (200, 60)])
def test_no_text_reaches_the_terminal_as_a_command(
    tmp_path: Path, environment: Mapping[str, str], columns: int, rows: int
) -> None:
    path = tmp_path / "evil \x1b]2;title\x07[@click=app.quit]x[bold.db"
    count = hostile_store(path)
    with Terminal(command(path), environment, columns=columns, rows=rows) as terminal:
        attacks = terminal.follow(re.compile(re.escape("␛]52;")))
        terminal.wait(f"{count} conversations: {count} done")
        terminal.press("n")
        terminal.wait("one run per metric")
        terminal.press(CTRL_S)
        terminal.wait("PROGRESS  #2")
        terminal.wait(f"{count} / {count}")
        terminal.press("gr")
        terminal.wait(">#2")
        terminal.press(DOWN)
        terminal.wait(">#1")
        terminal.press(ENTER)
        terminal.wait("CONVERSATIONS  #1")
        for number in range(count):
            terminal.wait(f"─ {number + 1:02} ")
            terminal.press(DOWN)
        terminal.press(HOME)
        terminal.wait("─ 01 ")
        terminal.press("gv")
        terminal.wait("REVIEW")
        refused = 0
        for number in range(count):
            terminal.wait(f"  #1 > {number + 1:02} ")
            if number % 8 == 0:
                read_in_full(terminal, "p" if number % 16 else "t")
            refused += label(terminal, "i")
        for keys, title in (
            ("gm", "METRICS"),
            ("ga", "AGREEMENT"),
            ("gp", "PROGRESS"),
            ("gr", "RUNS"),
        ):
            terminal.press(keys)
            terminal.wait(title)
            for key in (TAB, "z", "z"):
                terminal.press(key)
            read_in_full(terminal, "?")
        leave(terminal)
    found = unexpected(bytes(terminal.bytes))
    assert [each for each in found if not each.startswith("U+0007")] == []
    assert len(found) == refused, "the bell rings for refused keys alone"
    assert attacks, "the strings were on screen"


def test_a_refused_store_with_a_hostile_name_is_told_as_text(
    tmp_path: Path, environment: Mapping[str, str]
) -> None:
    path = tmp_path / "evil \x1b]2;title\x07[nope].db"
    path.write_bytes(b"no database " * 100)
    with Terminal(command(path), environment) as terminal:
        terminal.wait("is no database")
        terminal.press(CTRL_Q)
        terminal.wait_end()
    assert unexpected(bytes(terminal.bytes)) == []


# Sizes

SIZES = [(20, 5), (250, 80), (21, 40), (80, 24), (250, 5), (59, 16), (120, 40)]


def test_no_size_crashes_any_screen(judged: Path, environment: Mapping[str, str]) -> None:
    screens = {
        "v": "REVIEW",
        "m": "METRICS",
        "c": "CONVERSATIONS",
        "a": "AGREEMENT",
        "p": "PROGRESS",
        "r": "RUNS",
    }
    with Terminal(command(judged), environment) as terminal:
        terminal.wait("offline")
        for letter, title in screens.items():
            terminal.press("g", letter)
            terminal.wait(title)
            for key in ("", "?", "z") if letter == "v" else ("", "z"):
                terminal.press(key)
                for columns, rows in SIZES:
                    frames = terminal.screen.frames
                    terminal.resize(columns, rows)
                    terminal.wait(lambda before=frames: terminal.screen.frames > before)  # type: ignore[misc]  # bound to this size
                    terminal.wait(lambda: terminal.screen.text.strip() != "")
                if key == "?":
                    terminal.press("q")
            terminal.wait(title)
            terminal.press("z")
        leave(terminal)


COLOURED = re.compile(r"\x1b\[[0-9;]*\b(?:38|48);2;(\d+);(\d+);(\d+)")


@pytest.mark.thorough
def test_no_colour_reaches_a_terminal_that_wants_none(
    judged: Path, environment: Mapping[str, str]
) -> None:
    with Terminal(command(judged), {**environment, "NO_COLOR": "1"}) as terminal:
        open_review(terminal)
        label(terminal, "y")
        terminal.wait("claim 1 = YES supported")
        painted = terminal.bytes.decode(errors="replace")
        leave(terminal)
    shades = {tuple(int(part) for part in match.groups()) for match in COLOURED.finditer(painted)}
    assert shades
    assert all(max(shade) - min(shade) <= 2 for shade in shades), "greys only"
    assert re.search(r"\x1b\[1[;m]", painted), "what colours tell is told by weight and signs"
