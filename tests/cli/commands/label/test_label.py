"""Line mode: every act, safe at any moment, and nothing of the judge before an answer."""

import io
import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from faithtui.agreement.labelled_units import LabelState
from faithtui.cli.commands.label.line_queue import LineQueue
from faithtui.domain.claims.verdicts import Assessment, Claim, Evidence, Truth, Verdict
from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.ids import ClaimId, RunId
from faithtui.domain.labels.label_events import (
    Action,
)
from faithtui.domain.labels.reason_codes import REASON_CODES
from faithtui.domain.scores import ScoringRule, score_window
from faithtui.domain.windows import cut_sliding_windows, split_into_interactions
from faithtui.errors import StoreError
from faithtui.store.annotations.label_log import LabelLog
from faithtui.store.records import ItemState, RunState
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.samples.queue import ClaimQueue
from tests.cli.conftest import Cli, Result
from tests.store.building import SPEC

RULE = ScoringRule(passing=("yes", "idk"), when_empty=1.0)
RUN = RunId(1)
CLAIMS = 6
Label = Callable[..., Result]


def make_conversation(key: str) -> Conversation:
    answer = f"The {key} parcel is blue. The {key} parcel weighs 3 kilograms."
    document = Document(f"A {key} parcel is blue and weighs 4 kilograms.", "parcels.md")
    return Conversation(
        "tests", key, (Turn("user", f"And {key}?"), Turn("assistant", answer, (document,))), key
    )


def canary(path: Path, labels: Sequence[str]) -> Path:
    """Make a run in which everything the judge wrote can be told from the rest."""
    with Store.open(path) as store:
        chats = [make_conversation(key) for key in ("red", "old", "new")]
        store.conversations.import_batch(chats)
        run = store.runs.create(SPEC, store.conversations.list_ids())
        found = iter(labels)
        for item, each in zip(store.runs.list_item_ids(run), chats, strict=True):
            (window,) = cut_sliding_windows(split_into_interactions(each.turns), 10)
            verdicts = tuple(
                Verdict(
                    Claim(1, f"The {each.key} parcel {words}."),
                    label,
                    f"CANARYWORD {label}",
                    f"CANARYREASON {label} {words}",
                    0.987654321,
                    (Evidence(Truth(f"CANARYTRUTH {label} {words}"), "supports"),),
                )
                for words, label in zip(("is blue", "weighs 3 kilograms"), found, strict=False)
            )
            store.runs.save_window(
                item,
                Assessment(
                    window,
                    score_window([each.label for each in verdicts], RULE),
                    verdicts,
                    tuple(e.truth for v in verdicts for e in v.evidence),
                    reason="CANARYWINDOW",
                ),
            )
            store.runs.score_and_finish_item(item, ItemState.DONE, None, "CANARYFINAL")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("canary") / "canary.db"
    return canary(path, ["yes", "no", "idk", "yes", "no", "no"])


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path))


@pytest.fixture
def label(cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch) -> Label:
    """Type lines into `faithtui label --plain`."""

    def run(typed: str, *words: str, store: Path = path) -> Result:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        return cli("--store", store, "label", "--plain", *words)

    return run


NEW = ("--sample", "new", "--seed", "5", "--size", "6")


def acts(path: Path) -> list[tuple[str, str | None, bool]]:
    with Store.open(path) as store, store.samples._database.open_reader() as connection:
        rows = connection.exec_driver_sql(
            "SELECT action, verdict, saw_judge FROM human_label ORDER BY clock"
        ).all()
        return [(row[0], row[1], bool(row[2])) for row in rows]


def events(result: Result) -> list[dict[str, object]]:
    return [json.loads(line) for line in result.out.splitlines()]


@pytest.fixture(autouse=True)
def all_hidden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No claim is served with the judge in view, unless a test wants that."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text("audit_share = 0.0\n", encoding="utf-8")


def test_a_pipe_of_answers_labels_the_whole_sample(label: Label, path: Path) -> None:
    result = label("y\nn\ni\nx\nyes\nno\n", *NEW)
    assert (result.code, result.err) == (0, "")
    assert "6 verdicts saved; 0 of 6 claims left" in result.out
    assert "blind sample 6/6" in result.out
    verdicts = ["yes", "no", "idk", "x", "yes", "no"]
    assert acts(path) == [("blind", each, False) for each in verdicts]
    with Store.open(path) as store:
        (row,) = store.samples.list_samples("ann", RUN)
        assert (row.answered, row.remaining, row.blind) == (6, 0, True)


def test_every_line_has_a_name_and_no_terminal_code(label: Label) -> None:
    out = label("t\n?\ny\nq\n", *NEW).out
    assert "\x1b" not in out
    assert "\r" not in out
    assert max(map(len, out.splitlines())) <= 80
    for name in ("queue", "reviewer", "judge", "conversation", "question", "answer", "claim",
                 "passage P1, parcels.md, turn 2", "keys"):  # fmt: skip
        assert re.search(rf"^{re.escape(name)}", out, re.MULTILINE), name
    assert "claim 1 of 6, blind" in out


def test_the_answer_marks_the_claim_in_its_own_words(label: Label, path: Path) -> None:
    out = label("", "--order", "text").out
    assert "claim: The red parcel is blue." in out
    assert "no sample" not in out


@pytest.mark.parametrize("typed", ["", "s\ns\ns\n", "f\ne a note\nt\n?\n\n7\nc\nu\n", "zz\n"])
def test_nothing_of_the_judge_is_printed_before_an_answer(label: Label, typed: str) -> None:
    for more in ((), ("--json",)):
        result = label(typed, *NEW, *more)
        assert "CANARY" not in result.out + result.err
        assert "0.98" not in result.out


def test_how_like_a_passage_is_to_a_blind_claim_is_not_said_of_the_embedded_judge(
    label: Label, path: Path
) -> None:
    """It decides by little else; a similarity of 1.00 told its verdict of claims called blind."""
    assert "similarity" not in label("t\n", *NEW).out
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE run SET judge = 'openai:gpt'")
    connection.close()
    assert "similarity" in label("", "--sample", "1").out


@pytest.mark.thorough
def test_nothing_of_the_judge_is_printed_through_a_whole_blind_queue(
    label: Label, path: Path
) -> None:
    typed = "y\n3\nc\nn\nu\nu\nr\nf\ne blue\ns\ni\nx\ny\nn\nu\ny\ns\nn\nu\nr\n"
    for more in ((), ("--json",)):
        result = label(typed, *NEW, *more)
        assert result.code == 0
        assert "CANARY" not in result.out + result.err
    assert not any(saw for _, _, saw in acts(path))


def test_what_the_judge_said_changes_nothing_of_what_is_printed_while_blind(
    label: Label, tmp_path: Path
) -> None:
    typed = "y\nn\n3\nc\ni\nu\nu\nr\nx\ns\nf\ne word\ny\nn\ny\n"
    stores = [
        canary(tmp_path / f"{name}.db", labels)
        for name, labels in (("a", ["yes"] * 6), ("b", ["no"] * 6), ("c", ["idk", "no"] * 3))
    ]
    outs = {label(typed, *NEW, store=store).out for store in stores}
    assert len(outs) == 1
    found = {label(typed, "--sample", "new", "--json", store=store).out for store in stores}
    assert len({re.sub(r'"pace_s": [^,]*', "", each) for each in found}) == 1


def test_revealing_prints_the_judge_and_is_recorded(label: Label, path: Path) -> None:
    result = label("v\nn\ny\nq\n", "--order", "text", "--blind")
    assert result.out.count("CANARYREASON") == 1
    assert "judge: YES supported" in result.out
    assert "supports T1: CANARYTRUTH yes is blue" in result.out
    assert acts(path) == [
        ("revealed", None, True),
        ("overridden", "no", True),
        ("blind", "yes", False),
    ]


def test_what_was_seen_before_is_not_called_blind(label: Label, path: Path) -> None:
    words = "not blind: you have had the judge's verdicts"
    with Store.open(path) as store:
        first = store.runs.list_item_ids(RUN)[0]
        assert words not in label("q\n", "--order", "text", "--blind").out
        store.exposures.record(first, "ann")
    assert words in label("q\n", "--order", "text", "--blind").out


def test_shown_prints_the_judge_and_records_that_it_was_known(label: Label, path: Path) -> None:
    result = label("y\ny\nq\n", "--order", "text", "--shown")
    assert "claim 1 of 6, judge shown" in result.out
    assert "CANARYREASON" in result.out
    assert "audit_share" not in result.out, "nobody asked for a blind sample"
    assert [each[0] for each in acts(path)] == ["agreed", "overridden"]
    assert "not a random sample" in result.out


def test_a_claim_served_with_the_judge_says_so(label: Label, path: Path, tmp_path: Path) -> None:
    (tmp_path / "home" / "config.toml").write_text("audit_share = 1.0\n", encoding="utf-8")
    result = label("y\nq\n", *NEW)
    assert "claim 1 of 6, judge shown\njudge shown: on purpose, " in result.out
    assert "setting audit_share" in " ".join(result.out.split())
    assert acts(path)[0][2] is True


def test_later_comes_again_at_the_end(label: Label) -> None:
    out = label("s\ny\ny\ny\ny\ny\nn\n", *NEW).out
    asked = re.findall(r"^claim (\d) of 6", out, re.MULTILINE)
    assert asked == ["1", "2", "3", "4", "5", "6", "1"]
    assert "nothing more is open in this queue" in out


def test_undo_goes_back_and_redo_on_again(label: Label, path: Path) -> None:
    out = label("y\nu\nn\nu\nr\nq\n", *NEW).out
    asked = re.findall(r"^claim (\d) of 6", out, re.MULTILINE)
    assert asked == ["1", "2", "1", "2", "1", "2"]
    assert "1 verdict saved; 5 of 6 claims left" in out
    assert [each[0] for each in acts(path)] == [
        "blind", "withdrawn", "blind", "withdrawn", "restored",
    ]  # fmt: skip


class LabelledMeanwhile(io.StringIO):
    """Input during which the same annotator labels every claim elsewhere."""

    def __init__(self, typed: str, path: Path) -> None:
        super().__init__(typed)
        self._path: Path | None = path

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]  # as in typeshed
        path, self._path = self._path, None
        if path is not None:
            with Store.open(path) as store:
                for number in range(1, CLAIMS + 1):
                    store.label_log.record_verdict(
                        ClaimId(number), "ann", "no", run=RUN, saw_judge=False
                    )
        return super().readline(size)


def test_a_verdict_says_which_label_it_replaced(
    cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", LabelledMeanwhile("y\nn\nq\n", path))
    found = cli("--store", path, "label", "--plain", "--reviewer", "ann", *NEW).out
    assert "= YES supported, replaced NO contradicted: u brings it back" in found
    assert found.count("replaced") == 1, "the second label is the one that was there"


def test_undo_with_nothing_done_says_so(label: Label) -> None:
    assert "nothing to be undone" in label("u\nq\n", *NEW).out
    assert "nothing to be redone" in label("r\nq\n", *NEW).out


def test_codes_doubts_and_notes_are_stored(label: Label, path: Path) -> None:
    out = label("3\nc\nn\n3\nc\ne\nblue, not red\nf\nf\ne -\nq\n", *NEW).out
    assert out.count("refused:") == 2
    assert "reason code 3 (verdict) saved with your last verdict: the facts were there" in out
    assert "flagged: claim 2" in out
    assert "no longer flagged: claim 2" in out
    with Store.open(path) as store:
        (row,) = store.samples.list_samples("ann")
        first, second, *_ = store.samples.list_claims_in_served_order(row.id, "ann")
        view = store.runs.read_conversation_for_review(first.item, "ann")
        mine = next(each.mine for each in view.claims if each.id == first.claim)
        assert mine is not None
        assert (mine.verdict, mine.code, mine.unsure) == ("no", REASON_CODES[2].name, True)
        view = store.runs.read_conversation_for_review(second.item, "ann")
        mine = next(each.mine for each in view.claims if each.id == second.claim)
        assert mine is None or (mine.note, mine.flagged) == (None, False)


def test_evidence_is_marked_by_quoting_and_undone(label: Label, path: Path) -> None:
    typed = "E blue and\nE weighs  4 Kilograms\nE not in any passage\nu\nE BLUE AND\nE -\n"
    result = label(typed, *NEW, "--json")
    told = events(result)
    marks = [each["marks"] for each in told if each["event"] == "evidence"]
    assert [len(each) for each in marks if isinstance(each, list)] == [1, 2, 0, 0]
    (refused,) = (each for each in told if each["event"] == "refused")
    assert "no passage has these words" in str(refused["reason"])
    said = [each[0] for each in acts(path)]
    assert said == ["evidence", "evidence", "withdrawn", "evidence", "evidence"]


def test_json_says_why_something_was_refused(label: Label) -> None:
    told = events(label(f"1\nc\ne {'x' * 5_000_000}\n", *NEW, "--json"))
    reasons = [each["reason"] for each in told if each["event"] == "refused"]
    assert reasons == [
        "a reason code belongs to a label; give one first",
        "low confidence belongs to a label; give one first",
        "a note may have 100,000 characters, and this has 5,000,000; shorten it, or keep the rest "
        "in a file it names",
    ]


def test_evidence_that_is_marked_is_read_out_again(label: Label) -> None:
    out = label("E blue and\n\n", *NEW).out
    assert "1 stretch marked as evidence" in out
    assert "your evidence in P1: blue and" in out


def test_missed_claims_and_complete_answers_are_said_of_the_answer(
    label: Label, path: Path
) -> None:
    typed = "+ The parcel is heavy.\n+ parcel weighs 3\n+ all\n\n+ all\n+ ...\nu\n"
    out = label(typed, *NEW).out
    assert "claim added to turn 2, in your words" in out
    assert "claim added to turn 2, in the answer's words" in out
    assert "its claims are all known" in out
    assert "you added the claim: The parcel is heavy." in out
    assert "its claims may not be all" in out
    assert "not saved" in out
    assert "undone: an answer no longer complete" in out
    assert [each[0] for each in acts(path)] == ["marked"] * 4 + ["withdrawn"]


def test_the_last_verdict_can_still_be_coded_and_taken_back_at_the_end(
    label: Label, path: Path
) -> None:
    out = label("y\ny\ny\ny\ny\nn\n4\nu\nu\nq\n", *NEW).out
    assert "reason code 4 (retrieval) saved with your last verdict" in out
    assert "undone: the verdict no" in out
    assert "5 verdicts saved; 1 of 6 claims left" in out


def test_the_next_session_goes_on_where_this_one_ended(label: Label) -> None:
    label("y\nn\n", *NEW)
    out = label("y\n").out
    assert re.findall(r"^claim (\d) of 6", out, re.MULTILINE) == ["3", "4"]
    assert "3 of 6 claims left" in out


def test_labels_that_count_in_no_figure_are_no_answers_in_the_order_of_the_text(
    label: Label, path: Path
) -> None:
    with Store.open(path) as store:
        claims = [each.claim for each in store.samples.read_frame(RUN)]
        for claim, action in zip(claims, (Action.BULK, Action.ACCEPTED), strict=False):
            store.label_log.append_label_event(
                claim, "ann", action, "no", run=RUN, judge_verdict=None, saw_judge=True
            )
    out = label("q\n", "--order", "text").out
    assert "claim 1 of 6" in out


@pytest.mark.parametrize(
    ("typed", "order", "place"),
    [
        ("y\nn\n", NEW, 2),
        ("s\nn\n", NEW, 2),
        ("y\nn\n", ("--order", "text"), 2),
    ],
    ids=["labelled", "skipped", "text"],
)
def test_the_app_goes_on_where_the_session_before_ended(
    label: Label,
    cli: Cli,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    order: Sequence[str],
    place: int,
) -> None:
    """It began with the first claim, answered and with its judge in view: a key replaced that."""
    began = list[tuple[ClaimQueue, ClaimId | None]]()

    def run(app: FaithApp) -> None:
        assert app.session.claim_queue is not None
        began.append((app.session.claim_queue, app.session.claim))

    monkeypatch.setattr("faithtui.cli.stores.has_terminal", lambda: True)
    monkeypatch.setattr(FaithApp, "run", run)
    label(typed, *order)
    cli("--store", path, "label", "last", *(order if order != NEW else ("--sample", "1")))
    ((queue, claim),) = began
    assert queue.entries[place][1] == claim


@pytest.mark.parametrize(
    ("order", "again", "said"),
    [
        (NEW, ("--sample", "1"), "sample 1 has nothing left for ann"),
        (("--order", "text"), ("--order", "text"), "run 1 has nothing left for ann"),
        (("--sample", "repeats"), ("--sample", "2"), "sample 2 has nothing left for ann"),
    ],
    ids=["sample", "text", "repeats"],
)
def test_the_app_does_not_open_a_queue_without_an_open_claim(
    label: Label,
    cli: Cli,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    order: Sequence[str],
    again: Sequence[str],
    said: str,
) -> None:
    """It began with the first claim, whose blind label one key replaced."""
    monkeypatch.setattr("faithtui.cli.stores.has_terminal", lambda: True)
    monkeypatch.setattr(FaithApp, "run", lambda app: pytest.fail("the app is open"))
    is_repeats = "repeats" in order
    if is_repeats:
        label("y\n" * 6, *NEW)
    label("y\n" * 6, *order)
    result = cli("--store", path, "label", "last", "--reviewer", "ann", *again)
    assert result.code == 2
    assert said in result.err
    assert ("--reviewer ann` opens the app" in result.err) is not is_repeats


@pytest.mark.parametrize("which", ["new", "simple", "spot-check"])
@pytest.mark.parametrize(
    ("has_terminal", "said"),
    [(False, "the app needs a terminal"), (True, "keymap.toml")],
    ids=["terminal", "keys"],
)
def test_no_sample_is_drawn_for_an_app_that_cannot_be_opened(
    cli: Cli,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    which: str,
    has_terminal: bool,
    said: str,
) -> None:
    """Each refused start left a sample behind, which the next `faithtui label` took up."""
    monkeypatch.setattr("faithtui.cli.stores.has_terminal", lambda: has_terminal)
    keys = path.with_name("keymap.toml")
    keys.write_text("nothing = [")
    monkeypatch.setattr("faithtui.paths.keymap_file", lambda _: keys)
    result = cli("--store", path, "label", "last", "--sample", which)
    assert result.code == 2
    assert said in result.err
    with Store.open(path) as store:
        assert not store.samples.list_samples("ann", RUN)


@pytest.mark.parametrize("key", ["yy", "Y", "8", "0", "-", "y n", "quit"])
def test_other_lines_are_refused_and_nothing_is_saved(label: Label, path: Path, key: str) -> None:
    assert "no such key" in label(f"{key}\nq\n", *NEW).out
    assert acts(path) == []


class Typed:
    """A stdin of some lines, which says when a line is asked for.

    Args:
        lines: What is typed.
        asked: Called before each line.
    """

    def __init__(self, lines: str, asked: Callable[[], object]) -> None:
        self._lines = io.StringIO(lines)
        self._asked = asked

    def isatty(self) -> bool:
        return False

    def readline(self) -> str:
        self._asked()
        return self._lines.readline()


def test_ctrl_c_loses_nothing(cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = iter(range(2))

    def stop_after_two() -> None:
        if next(asked, None) is None:
            raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdin", Typed("y\nn\ny\n", stop_after_two))
    result = cli("--store", path, "label", "--plain", *NEW)
    assert result.code == 130
    assert "2 verdicts saved; 4 of 6 claims left" in result.out
    assert [each[1] for each in acts(path)] == ["yes", "no"]


def test_every_answer_is_on_the_disk_before_the_next_prompt(
    cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    typed = Typed("y\nn\ni\n", lambda: seen.append(len(acts(path))))
    monkeypatch.setattr("sys.stdin", typed)
    cli("--store", path, "label", "--plain", *NEW)
    assert seen == [0, 1, 2, 3]


Act = Callable[[Store, Sequence[ClaimId]], object]
"""What another open app does with the claims of the sample, in the order of serving."""


@pytest.fixture
def label_beside_window(
    cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """Type lines while another open app of the same annotator acts before each of them."""

    def run(typed: str, *acts_before: Act | None, order: Sequence[str] = NEW) -> Result:
        following = iter(acts_before)

        def act() -> None:
            if (given := next(following, None)) is not None:
                with Store.open(path) as store:
                    rows = store.samples.list_samples("ann")
                    entries = [
                        each.claim
                        for row in rows
                        for each in store.samples.list_claims_in_served_order(row.id, "ann")
                    ]
                    given(store, entries)

        monkeypatch.setattr("sys.stdin", Typed(typed, act))
        return cli("--store", path, "label", "--json", "--reviewer", "ann", *order)

    return run


def label_there(place: int, verdict: str = "no") -> Act:
    def act(store: Store, claims: Sequence[ClaimId]) -> None:
        (row,) = store.samples.list_samples("ann")
        store.label_log.record_verdict(
            claims[place], "ann", verdict, run=RUN, saw_judge=False, sample=row.id
        )

    return act


def undo_there(store: Store, claims: Sequence[ClaimId]) -> None:
    store.label_log.undo("ann")


def list_verdicts_in_served_order(path: Path) -> list[str | None]:
    with Store.open(path) as store:
        (row,) = store.samples.list_samples("ann")
        entries = store.samples.list_claims_in_served_order(row.id, "ann")
        labels = store.samples.read_human_and_judge_labels(row.id, "ann")
    by_claim = {each.event.claim: each.event.verdict for each in labels}
    return [by_claim.get(each.claim) for each in entries]


def test_what_another_app_labels_is_not_asked_and_what_it_undoes_is(
    label_beside_window: Callable[..., Result], path: Path
) -> None:
    result = label_beside_window("y\n" * 5, label_there(1), None, undo_there)
    served = [each["number"] for each in events(result) if each["event"] == "claim"]
    assert served == [1, 3, 4, 5, 6, 3], "the undone one is the first that is open again"
    assert list_verdicts_in_served_order(path) == ["yes", "no", None, "yes", "yes", "yes"]


def test_what_another_app_undoes_is_asked_again_in_the_order_of_the_text(
    label_beside_window: Callable[..., Result],
) -> None:
    typed = "y\n" * 6
    result = label_beside_window(typed, None, None, undo_there, order=("--order", "text"))
    served = [each["number"] for each in events(result) if each["event"] == "claim"]
    assert served == [1, 2, 3, 4, 5, 6, 2]


def test_a_label_that_another_app_gave_meanwhile_stands(
    label_beside_window: Callable[..., Result], path: Path
) -> None:
    result = label_beside_window("y\n1\ny\ns\ny\n", label_there(0), None, None, label_there(2))
    opening, *found = events(result)
    assert opening["event"] == "queue"
    assert [each["event"] for each in found] == [
        "claim", "labelled-elsewhere", "claim", "refused", "saved", "claim",
        "labelled-elsewhere", "claim", "saved", "claim", "end-of-input", "done", "status",
    ]  # fmt: skip
    assert (found[1]["claim"], found[1]["verdict"], found[1]["typed"]) == (
        found[0]["claim"], "no", "yes",
    )  # fmt: skip
    assert found[6]["typed"] is None, "a skip takes no label away"
    assert list_verdicts_in_served_order(path) == ["no", "yes", "no", "yes", None, None]
    assert (found[-2]["saved"], found[-2]["left"]) == (2, 2)


@pytest.mark.parametrize("key", ["3", "c"])
@pytest.mark.parametrize("act", [label_there(0), undo_there], ids=["replaced", "undone"])
def test_codes_and_doubts_are_of_no_label_that_another_app_changed(
    label_beside_window: Callable[..., Result], path: Path, act: Act, key: str
) -> None:
    """They were saved on the label that was given there, or with none."""
    result = label_beside_window(f"y\n{key}\nq\n", None, act)
    assert "refused" in [each["event"] for each in events(result)]
    assert not [each for each in acts(path) if each[0] in ("coded", "marked")]


def test_a_code_after_a_skip_is_of_no_label_before_it(label: Label, path: Path) -> None:
    label("y\ns\n3\n", *NEW)
    assert [each[0] for each in acts(path)] == ["blind", "skipped"]


def test_a_skip_in_a_second_sample_takes_no_label_of_the_first_away(
    label: Label, path: Path
) -> None:
    label("n\n" * 6, *NEW)
    label("s\n" * 6, *NEW)
    with Store.open(path) as store:
        progress = [(each.answered, each.skipped) for each in store.samples.list_samples("ann")]
        units = store.labelled_units.read_claim_units(RUN)
    assert sorted(progress) == [(0, 6), (6, 0)]
    assert [each.human for each in units if each.state is not LabelState.UNREVIEWED] == ["no"] * 6


def test_the_queue_is_read_again_only_when_somebody_else_acted(
    label_beside_window: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    before = LineQueue.reload_reviewer_position_in_queue

    def reload(self: LineQueue) -> None:
        read.append(1)
        before(self)

    monkeypatch.setattr(LineQueue, "reload_reviewer_position_in_queue", reload)
    label_beside_window("y\ns\ny\n")
    assert len(read) == 1, "own answers are known"


def test_what_cannot_be_saved_is_said_and_asked_again(
    label: Label, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = LabelLog.record_verdict
    failures = iter([True, False])

    def answer(self: LabelLog, *args: object, **kwargs: object) -> object:
        if next(failures):
            raise StoreError("the disk is full")
        return before(self, *args, **kwargs)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(LabelLog, "record_verdict", answer)
    result = label("y\nn\nq\n", *NEW)
    assert result.code == StoreError.exit_code
    assert "not saved: the disk is full" in result.out
    assert [each[1] for each in acts(path)] == ["no"]


def test_events_are_json_lines(label: Label) -> None:
    found = events(label("y\nv\nn\nq\n", *NEW, "--json"))
    assert [each["event"] for each in found] == [
        "queue", "claim", "saved", "claim", "judge", "saved", "claim", "done", "status",
    ]  # fmt: skip
    assert found[1]["blind"] is True
    assert "judge" not in found[1]
    assert "action" not in found[2]
    assert found[5]["action"] in ("agreed", "overridden")
    assert (found[-1]["answered"], found[-1]["size"]) == (2, 6)
    assert (found[-1]["needed"], found[-1]["needed_for"]) == (4, "pass_rate")
    assert found[-1]["needed_is_enough"] is True, "the rate of all is known"
    assert found[-1]["rate_at_every_look"] is None  # it would tell of the judge
    shown = events(label("y\n", "--sample", "simple", "--size", "6", "--shown", "--json"))[-1]
    assert shown["rate_at_every_look"] is not None
    assert shown["recall_at_every_look"] is not None
    # Blind now, in a sample that shows the judge: its intervals would tell of a skipped claim.
    blind = events(label("s\nq\n", "--sample", "2", "--blind", "--json"))[-1]
    assert blind["answered"] == shown["answered"] == 1
    assert (blind["rate_at_every_look"], blind["recall_at_every_look"]) == (None, None)


def test_a_spot_check_ends_with_a_decision_that_is_stored(label: Label, path: Path) -> None:
    out = label("n\n" * 6, "--sample", "spot-check").out
    assert "decision: " in out
    with Store.open(path) as store:
        (row,) = store.samples.list_samples("ann")
    assert row.decision in ("pass", "unclear", "fail")
    assert row.closed_at is not None
    assert f"decision: {row.decision}" in out


def test_an_unfinished_spot_check_tells_no_decision(label: Label, path: Path) -> None:
    found = events(label("n\nq\n", "--sample", "spot-check", "--json"))
    assert found[-1]["decision"] is None
    assert (found[-1]["needed"], found[-1]["needed_is_enough"]) == (None, None)
    with Store.open(path) as store:
        assert store.samples.list_samples("ann")[0].decision is None


def test_repeats_hide_the_first_verdict_and_change_nothing(label: Label, path: Path) -> None:
    label("n\n" * 6, *NEW)
    out = label("y\n" * 6, "--sample", "repeats").out
    assert "your verdict" not in out
    assert "CANARY" not in out
    assert [each[0] for each in acts(path)[6:]] == [Action.REPEATED.value] * 6
    with Store.open(path) as store:
        assert {each.human for each in store.labelled_units.read_claim_units(RUN)} == {"no"}


def test_another_reviewer_has_a_progress_of_their_own(label: Label, path: Path) -> None:
    label("n\n" * 6, *NEW)
    out = label("y\n", "--reviewer", "bo").out
    assert "reviewer: bo" in out
    assert "5 of 6 claims left" in out
    with Store.open(path) as store:
        (row,) = store.samples.list_samples("bo")
    assert row.answered == 1


def test_strata_and_seeds_are_taken_from_the_options(label: Label, path: Path) -> None:
    label("", "--stratify", "verdict,turn", "--size", "3", "--seed", "9")
    label("", "--sample", "conversations", "--size", "1")
    label("", "--sample", "simple", "--shown")
    with Store.open(path) as store:
        shown, whole, first = store.samples.list_samples("ann")
    assert (first.stratified_by, first.seed, first.size) == (("verdict", "turn"), 9, 3)
    assert (whole.design.value, whole.size, whole.seed) == ("conversations", 2, 10)
    assert (shown.blind, shown.shown_share, shown.size) == (False, 0.0, 6)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "no sample of run 1 has anything left for you; of run 1 --sample new draws one"),
        (("--sample", "7"), "or the number of a sample of this run"),
        (("--sample", "soon"), "expected new, simple"),
        (("--size", "0"), "--size takes a number above 0"),
        (("--stratify", "colour"), "--stratify colour; expected verdict"),
        (("--order", "worst"), "--order worst; expected drawn or text"),
        (("--order", "text", "--size", "5"), "leave out what draws a sample"),
        (("--sample", "spot-check", "--size", "5"), "a spot-check has its own size"),
        (("--sample", "repeats", "--shown"), "is simple random and blind"),
        (("--sample", "conversations", "--stratify", "turn"), "does not go with"),
        (("--reviewer", " "), "--reviewer is empty"),
    ],
)
def test_options_that_cannot_be_are_explained(
    label: Label, path: Path, words: tuple[str, ...], says: str
) -> None:
    result = label("y\n", *words)
    assert result.code == 2
    assert says in result.err
    assert acts(path) == []


def test_samples_of_other_runs_are_named(label: Label, cli: Cli, path: Path) -> None:
    """After a second run over the same claims nothing led to the half-done sample."""
    label("y\n" * 4, *NEW)
    again = cli("--store", path, "run", "--claims", "run:1", "--judge", "offline")
    assert again.code == 0, again.err
    result = label("")
    assert result.code == 2
    assert "no sample of run 2 has anything left for you; sample 1 of run 1 has 2 claims" in (
        " ".join(result.err.split())
    )
    assert "label 1; of run 2 --sample new draws one" in " ".join(result.err.split())
    assert "label 1 --reviewer ann; of run 2" in " ".join(
        label("", "--reviewer", "ann").err.split()
    )
    result = label("", "--sample", "1", "--reviewer", "ann")
    assert result.code == 2
    assert "--sample 1 is a sample of run 1: faithtui" in result.err
    assert "--sample 1 --reviewer ann" in result.err


@pytest.mark.parametrize(
    "words", [(), ("--sample", "new"), ("--sample", "spot-check"), ("--order", "text")]
)
def test_a_run_without_verdicts_names_the_command_that_gets_them(
    label: Label, path: Path, words: tuple[str, ...]
) -> None:
    with Store.open(path) as store:
        planned = store.runs.create(SPEC, store.conversations.list_ids())
    result = label("y\n", str(planned), *words)
    assert result.code == 2
    assert f"run {planned} has no verdicts yet; faithtui" in result.err
    assert f" run --resume {planned}" in result.err
    with Store.open(path) as store:
        for item in store.runs.list_item_ids(planned):
            store.runs.score_and_finish_item(item, ItemState.DONE, None)
        store.runs.set_state(planned, RunState.DONE)
    assert f"run {planned} found no claims" in label("y\n", str(planned), *words).err


def test_a_blind_sample_is_not_opened_with_the_judge_shown(label: Label) -> None:
    label("", *NEW)
    result = label("", "--sample", "1", "--shown")
    assert result.code == 2
    assert "drawn blind" in result.err


def known(path: Path, reviewer: str = "ann") -> list[bool]:
    """Say of each conversation whether a reviewer has seen the judge's words there."""
    with Store.open(path) as store:
        return [
            all(
                claim.seen
                for claim in store.runs.read_conversation_for_review(item, reviewer).claims
            )
            for item in store.runs.list_item_ids(RUN)
        ]


def test_whoever_labels_with_the_judge_shown_knows_it_afterwards(label: Label, path: Path) -> None:
    label("q\n", *NEW)
    assert known(path) == [False] * 3
    label("q\n", "--order", "text", "--shown")
    assert known(path) == [True, False, False]


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (("show", "last"), [False] * 3),
        (("show", "last", "2"), [False, True, False]),
        (("show", "last", "2", "--json"), [False, True, False]),
        (("check", "last"), [False] * 3),
        (("report", "last"), [False] * 3),
        (("export", "labels"), [False] * 3),
    ],
)
def test_reading_a_conversation_is_remembered_of_a_reviewer_who_is_named(
    cli: Cli, path: Path, words: tuple[str, ...], seen: list[bool]
) -> None:
    assert cli("--store", path, *words).code == 0
    assert known(path) == seen
    assert known(path, "bo") == [False] * 3


def test_reading_a_list_of_findings_is_remembered(cli: Cli, path: Path) -> None:
    result = cli("--store", path, "check", "last", "--json")
    told = {each["conversation"] for each in result.json["findings"]}
    assert told
    assert known(path) == [key in told for key in ("red", "old", "new")]


def test_reading_in_a_script_is_remembered_of_nobody(
    cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FAITHTUI_REVIEWER")
    monkeypatch.setattr("getpass.getuser", lambda: "ann")
    assert cli("--store", path, "show", "last", "1").code == 0
    assert known(path) == [False] * 3
    assert cli("--store", path, "--reviewer", "cy", "show", "last", "1").code == 0
    assert known(path, "cy") == [True, False, False]


def test_hostile_text_is_printed_as_characters(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "hostile.db"
    nasty = "\x1b]52;c;eA==\x07 \u202eabc [red]x[/red] \x9b2J\r\n" + "a" * 5000
    with Store.open(path) as store:
        each = Conversation(
            "tests", nasty[:40],
            (Turn("user", nasty), Turn("assistant", nasty, (Document(nasty, nasty[:30]),))), "g",
        )  # fmt: skip
        store.conversations.import_batch([each])
        run = store.runs.create(SPEC, store.conversations.list_ids())
        (item,) = store.runs.list_item_ids(run)
        (window,) = cut_sliding_windows(split_into_interactions(each.turns), 10)
        verdict = Verdict(Claim(1, nasty), "no", nasty, nasty)
        store.runs.save_window(
            item, Assessment(window, score_window(["no"], RULE), (verdict,), reason=nasty)
        )
        store.runs.score_and_finish_item(item, ItemState.DONE, None, None)
    monkeypatch.setattr("sys.stdin", io.StringIO("t\nv\ne \x1b[31m\nn\nq\n"))
    result = cli("--store", path, "label", "--plain", "--order", "text", "--shown")
    assert result.code == 0
    for code in ("\x1b", "\x07", "\x9b", "\u202e", "\r"):
        assert code not in result.out
    assert "[red]x[/red]" in result.out
