"""Texts that attack a terminal, in everything that the command line reads, prints and writes."""

import io
import json
import os
import signal
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.domain.claims.verdicts import Assessment, Claim, Evidence, Truth, Verdict
from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.integrity.findings import Finding, FindingKind
from faithtui.domain.labels.label_events import Action
from faithtui.domain.scores import ScoringRule, score_window
from faithtui.domain.windows import cut_sliding_windows, split_into_interactions
from faithtui.engine.review.label_bundles import merge_bundles_into_store
from faithtui.errors import InputError
from faithtui.formats.label_bundles import read_bundle
from faithtui.store.records import ItemCheckResult, ItemState, RunState
from faithtui.store.store import Store
from tests.cli.conftest import Cli, Result
from tests.store.building import SPEC

RULE = ScoringRule(passing=("yes", "idk"), when_empty=1.0)
STRINGS = Path(__file__).parents[2] / "fixtures" / "hostile" / "strings.json"
MOST = 20_000
"""Characters of one text here: what megabytes cost is measured elsewhere."""
Label = Callable[..., Result]


def hostile() -> list[str]:
    """Read the strings; the very long ones are made here."""
    found = json.loads(STRINGS.read_text("utf-8"))["strings"]
    return [
        each["text"]
        if each["text"] is not None
        else each["repeat"] * min(each["times"], MOST // len(each["repeat"]))
        for each in found
    ]


ALL = hostile()


def forbidden(text: str) -> set[str]:
    """Find what must not reach a terminal."""
    return {
        character
        for character in text
        if character != "\n"
        and (
            unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
            or 0xFE00 <= ord(character) <= 0xFE0F
        )
    }


def attacked(path: Path, texts: Sequence[str] = ALL) -> Path:
    """Judge a conversation for each text, which is in every field of it."""
    with Store.open(path) as store:
        chats = []
        for number, text in enumerate(texts):
            document = Document(text or " ", text[:200] or None)
            turns = (
                Turn("user", text),
                Turn("assistant", f"{text} {number}. {text}", (document,)),
            )
            chats.append(Conversation(text[:100], f"{text[:100]} {number}", turns, text[:100]))
        store.conversations.import_batch(chats)
        run = store.runs.create(SPEC, store.conversations.list_ids())
        items = store.runs.list_item_ids(run)
        for number, (item, chat, text) in enumerate(zip(items, chats, texts, strict=True)):
            (window,) = cut_sliding_windows(split_into_interactions(chat.turns), 10)
            truth = Truth(text or "empty", text or " ")
            verdict = Verdict(
                Claim(1, f"{text} {number}"), "no", text[:500], text, None,
                (Evidence(truth, "contradicts"),),
            )  # fmt: skip
            score = score_window(["no"], RULE)
            store.runs.save_window(
                item, Assessment(window, score, (verdict,), (truth,), reason=text)
            )
            store.runs.score_and_finish_item(item, ItemState.DONE, text, text)
            claim = store.runs.read_conversation_for_review(item, "bo").claims[0].id
            for who in ("ann", f"bo {text[:100]}"):
                store.label_log.append_label_event(
                    claim, who, Action.NOTED, None, text,
                    run=run, judge_verdict="no", saw_judge=False,
                )  # fmt: skip
            found = Finding(FindingKind.PHANTOM, text[:5000] or "x", claim, 0, 1)
            store.findings.replace_findings_of_conversations(
                [ItemCheckResult(item, ItemState.DONE, 1, (found,))]
            )
            store.guidelines.add_version(text or "empty", text[:200] or "nobody")
        store.runs.set_state(run, RunState.STOPPED, texts[0])
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return attacked(tmp_path_factory.mktemp("hostile") / "hostile.db")


@pytest.fixture
def label(cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch) -> Label:
    """Type lines into `faithtui label --plain`."""

    def run(typed: str | bytes, *words: str, store: Path = path) -> Result:
        raw = typed if isinstance(typed, bytes) else typed.encode(errors="surrogatepass")
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"))
        return cli("--store", store, "label", "--plain", *words)

    return run


def is_plain(result: Result) -> None:
    """Check that nothing printed is more than lines of visible characters."""
    assert forbidden(result.out) == set()
    assert forbidden(result.err) == set()
    assert "Traceback" not in result.err
    (result.out + result.err).encode("utf-8")


TEXT = ("--order", "text")


def test_line_mode_shows_every_field_as_characters(label: Label) -> None:
    typed = "".join("t\nv\n?\nf\nf\nn\n1\n" for _ in ALL) + "t\nu\nr\nq\n"
    result = label(typed, *TEXT, "--blind")
    assert result.code == 0
    is_plain(result)
    assert f"claim {len(ALL)} of {len(ALL)}" in result.out
    assert "␛]52;" in result.out
    assert "[@click=app.quit]" in result.out
    assert max(map(len, result.out.splitlines())) <= 80, "a long text goes on in the next line"


def test_what_is_named_by_people_stays_on_its_lines(label: Label, tmp_path: Path) -> None:
    path = attacked(tmp_path / "named.db", ALL[:2])
    with Store.open(path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        plan = SamplePlan(SamplingDesign.SIMPLE, 1, 1)
        numbers = [
            store.samples.save_draw_as_sample(
                run, "ann", make_sample_draw(store.samples.read_frame(run), plan), plan, name=text
            ).id
            for text in (each or "x" for each in ALL)
        ]
    for text, number in zip(ALL, numbers, strict=True):
        reviewer = text.replace("\x00", "")[:200].encode(errors="ignore").decode().strip() or "x"
        result = label("q\n", "--sample", str(number), "--reviewer", reviewer, store=path)
        assert result.code == 0
        is_plain(result)
        lines = result.out.splitlines()
        begins = [at for at, line in enumerate(lines) if not line.startswith("  ")]
        assert [lines[at].partition(":")[0] for at in begins[:3]] == ["queue", "reviewer", "judge"]


def test_garbage_that_is_typed_is_refused_or_kept_and_said_as_characters(
    label: Label, path: Path
) -> None:
    garbage = b"\xff\xfe\n\x00\n\x1b[A\x1b[B\n\xc3\x28\n" + b"\x80" * 500 + b"\ny\r"
    for text in ALL:
        line = text.replace("\n", " ").replace("\r", " ").encode(errors="surrogatepass")
        garbage += line + b"\ne " + line + b"\ne -\n"
    result = label(garbage + b"q\n", *TEXT, "--reviewer", "cyd")
    assert result.code == 0
    is_plain(result)
    assert "no such key: ␛[A␛[B; ? lists the keys" in result.out
    assert max(map(len, result.out.splitlines())) <= 100


def test_crlf_and_an_end_without_a_line_end_are_understood(label: Label, path: Path) -> None:
    result = label(b"n\r\ne a note\r\n\r\nn", *TEXT, "--reviewer", "dot")
    assert "2 verdicts saved" in result.out
    assert "note saved" in result.out
    assert "no such key" not in result.out
    assert "your note: a note" in result.out
    assert result.out.count("end of input") == 0
    assert "2 of" not in label(b"e", *TEXT, "--reviewer", "eve").out.splitlines()[-1]


def listen() -> None:
    """Let SIGINT through: who starts tests in the background of a script has it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_and_a_terminal_of_another_encoding_end_without_a_traceback(path: Path) -> None:
    home = path.parent / "home"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("FAITHTUI")},
        "FAITHTUI_HOME": str(home),
        "FAITHTUI_REVIEWER": "fay",
        "PYTHONIOENCODING": "latin-1",
    }
    command = [sys.executable, "-m", "faithtui", "--store", str(path)]
    with subprocess.Popen(
        [*command, "label", "--plain", *TEXT],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
        preexec_fn=listen,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"t\nn\n\xff\n")
        process.stdin.flush()
        while b"no such key" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (130, b"")
    assert b"1 verdict saved" in out
    written = subprocess.run(
        [*command, "export", "labels"], env=environment, capture_output=True, check=True
    )
    lines = written.stdout.decode("utf-8").split("\n")[:-1]
    assert all(json.loads(line) for line in lines), "a bundle is UTF-8 in every terminal"


def test_every_other_command_prints_characters(cli: Cli, path: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "labels.jsonl"
    assert cli("--store", path, "export", "labels", "-o", bundle).code == 0
    other = tmp_path / "other.db"
    with Store.open(other):
        pass
    commands: list[tuple[str | Path, ...]] = [
        ("runs",),
        ("show", "last"),
        ("check", "last"),
        ("check", "last", "phantom"),
        ("guideline",),
        ("guideline", "history"),
        ("report", "last", "-o", tmp_path / "\u202ereport\n\x1b]0;x"),
        ("merge", bundle),
        *(("show", "last", str(number)) for number in range(1, len(ALL) + 1)),
    ]
    for words in commands:
        for more in ((), ("--json",)):
            result = cli("--store", path, *words, *more)
            assert result.code == 0, (words, result.err)
            is_plain(result)
    elsewhere = cli("--store", other, "merge", bundle)
    assert elsewhere.code == 3
    is_plain(elsewhere)
    told = elsewhere.err.splitlines()
    assert len(told) == len(ALL)
    assert all(each.startswith("not merged, ") for each in told)
    assert all(each.endswith("then merge again") for each in told)


NAMES = (
    "", "verdict:", "human:", "is:", "reviewer:", "code:", "score:", "corrected:", "state:",
    "source:", "group:", "metric:", "judge:", "-", "--", ":", '"', "-\"", "score:<", "é:",
)  # fmt: skip


def test_garbage_as_a_filter_finds_something_or_is_explained(cli: Cli, path: Path) -> None:
    for number, text in enumerate(ALL):
        for where, name in (((), NAMES[number % len(NAMES)]), (("1",), NAMES[-number % 7])):
            wanted = (name + text.replace("\x00", ""))[:3000]
            result = cli("--store", path, "show", "last", *where, "--filter", wanted)
            assert result.code in (0, 2), (wanted, result.err)
            assert result.code == 0 or result.err.startswith("error: "), wanted
            assert len(result.err) < 1000
            is_plain(result)


ODD: tuple[object, ...] = (
    None, True, -1, 0, 1 << 31, 1 << 63, 10**400, 1.5, 1e308, "", " ", "x", "x" * 5000, [], {},
    [None], [5, 3], [0, 10**30], [{}], {"a": 1}, "0001-01-01T00:00:00+14:00", "2026-01-31",
    "9999-12-31T23:59:59-14:00", "\ud800", "\x00", "\x1b[2J\n\u202e", "withdrawn", "adjudicated",
)  # fmt: skip
"""What a field of a bundle does not expect, or hardly."""


def test_a_bundle_with_anything_in_any_field_is_merged_or_refused_with_its_line(
    cli: Cli, tmp_path: Path
) -> None:
    path = attacked(tmp_path / "a.db", ["plain", "\x1b[2J\n\u202e"])
    with Store.open(path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        plan = SamplePlan(SamplingDesign.SIMPLE, 2, 1)
        sample = store.samples.save_draw_as_sample(
            run, "ann", make_sample_draw(store.samples.read_frame(run), plan), plan, name="n"
        )
        for each in store.samples.list_claims_in_served_order(sample.id, "ann"):
            store.label_log.record_verdict(
                each.claim, "ann", "yes",
                run=run, saw_judge=False, repeats=False, seconds=1.0, sample=sample.id,
            )  # fmt: skip
        store.label_log.undo("ann")
    whole = cli("--store", path, "export", "labels").out
    lines = [json.loads(line) for line in whole.split("\n")[:-1]]
    bundle = tmp_path / "b.jsonl"
    last = {line["type"]: at for at, line in enumerate(lines)}
    with Store.open(path) as store:
        for at in last.values():
            for name in lines[at]:
                for value in (*ODD, lines[at - 1].get(name)):
                    odd = {**lines[at], name: value}
                    told = [json.dumps(each) for each in (*lines[:at], odd, *lines[at + 1 :])]
                    bundle.write_text("\n".join(told), "utf-8")
                    try:
                        refused = read_bundle(bundle).refusals
                    except InputError as error:
                        refused = (error,)
                    assert all(each.path == bundle for each in refused)
                    assert all(len(str(each)) < len(str(bundle)) + 500 for each in refused)
                    if not refused:
                        merge_bundles_into_store(store, [bundle])
        assert store.list_damage() == []
        store.samples.list_samples("ann")
        for item in store.runs.list_item_ids(run):
            store.runs.read_conversation_for_review(item, "ann")
    for end in range(0, len(whole), len(whole) // 20):
        bundle.write_text(whole[:end], "utf-8")
        cut = cli("--store", path, "merge", bundle)
        assert cut.code == 3, "a cut file is told"
        assert str(bundle) in cut.err
        is_plain(cut)
