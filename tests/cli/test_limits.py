"""What is too long or not known ends in a sentence, and nothing that was there is lost."""

import json
from pathlib import Path

import pytest

from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.limits import FILTER_TERMS, GUIDELINE, NOTE, REVIEWER
from faithtui.errors import InputError
from faithtui.store.records import SavedView
from faithtui.store.store import Store
from tests.cli.conftest import Cli


@pytest.mark.parametrize("words", [3_000, 101])
def test_a_filter_of_many_words(cli: Cli, judged: Path, words: int) -> None:
    for target in (("1",), ("1", "1")):
        found = cli("show", *target, "--filter", "word " * words, "--store", judged)
        assert found.code == 2
        assert found.err.startswith("error: a filter may have 1")
        assert len(found.err.splitlines()) == 1


def test_as_many_words_as_a_filter_may_have_are_looked_for(cli: Cli, judged: Path) -> None:
    for text in ("parcel " * FILTER_TERMS.most, "-absent " * FILTER_TERMS.most):
        found = cli("show", "1", "--filter", text, "--store", judged)
        assert found.code == 0, found.err
        assert "parcels/a" in found.out


def test_notes_guidelines_views_and_names(cli: Cli, judged: Path, tmp_path: Path) -> None:
    with Store.open(judged) as store:
        item = store.runs.list_item_ids(RunId(1))[0]
        claim = store.runs.read_conversation_for_review(item, "ann").claims[0].id

        def note(text: str, reviewer: str = "ann") -> None:
            store.label_log.append_label_event(
                claim,
                reviewer,
                Action.NOTED,
                note=text,
                run=RunId(1),
                judge_verdict=None,
                saw_judge=False,
            )

        note("kept")
        with pytest.raises(InputError, match="a note may have 100,000 characters"):
            note("x" * 5_000_000)
        with pytest.raises(InputError, match="the name of a reviewer may have 200 characters"):
            note("short", "x" * (REVIEWER.most + 1))
        with pytest.raises(InputError, match="the name of a view may have 200 characters"):
            store.saved_views.save("claims", SavedView("x" * 201, "", ""))
        mine = store.runs.read_conversation_for_review(item, "ann").claims[0].mine
        assert mine is not None
        assert mine.note == "kept"
    file = tmp_path / "guideline.md"
    file.write_text("x" * (GUIDELINE.most + 1))
    found = cli("guideline", "set", file, "--store", judged)
    assert found.code == 3
    assert "the guideline may have 1,000,000 characters, and this has 1,000,001" in found.err
    found = cli(
        "--reviewer", "x" * 201, "label", "1", "--plain", "--order", "text", "--store", judged
    )
    assert found.code == 2
    assert "the name of a reviewer may have 200 characters, and this has 201" in found.err


def test_an_import_names_the_label_that_is_too_long(cli: Cli, tmp_path: Path) -> None:
    def line(key: str, **label: object) -> str:
        turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "Yes."}]
        given = {"turn": 1, "annotator": "ann", "scale": "yes-no-idk", "label": "yes", **label}
        return json.dumps({"id": key, "turns": turns, "human_labels": [given]})

    path = tmp_path / "labels.jsonl"
    bad = [line("b", note="x" * (NOTE.most + 1)), line("c", annotator="x" * (REVIEWER.most + 1))]
    path.write_text("\n".join([line("a"), *bad, line("d")]))
    found = cli("import", path, "--store", tmp_path / "s.db")
    assert found.code == 3
    assert "2 new" in found.out
    first, second, _ = found.err.splitlines()
    assert "line 2: human_labels[0].note: a note may have 100,000 characters" in first
    assert "line 3: human_labels[0].annotator: the name of a reviewer may have 200" in second


def test_a_merge_names_what_it_cannot_take_and_takes_the_rest(
    cli: Cli, judged: Path, tmp_path: Path
) -> None:
    with Store.open(judged) as store:
        item = store.runs.list_item_ids(RunId(1))[0]
        for claim in store.runs.read_conversation_for_review(item, "ann").claims:
            store.label_log.record_verdict(claim.id, "bo", "no", run=RunId(1), saw_judge=False)
    bundle = tmp_path / "labels.jsonl"
    assert cli("export", "labels", "-o", bundle, "--store", judged).code == 0
    lines = [json.loads(each) for each in bundle.read_text().splitlines()]
    acts = [each for each in lines if each["type"] == "act"]
    assert len(acts) >= 2
    extra = [
        {**acts[0], "uid": "a1", "verdict": "maybe"},
        {**acts[0], "uid": "a2", "note": "x" * 5_000_000},
        {**acts[0], "uid": "a3", "reviewer": "x" * 300},
        {**acts[0], "uid": "a4", "reviewer": "cy", "verdict": "yes"},
        {**acts[0], "uid": "a5", "judge_verdict": "perhaps"},
    ]
    del lines[0]["digest"]
    bundle.write_text("\n".join(json.dumps(each) for each in [*lines, *extra]))
    found = cli("merge", bundle, "--store", judged)
    assert found.code == 3
    assert found.out.startswith(f"1 new act, {len(acts)} known, 1 unverified, of files without a")
    assert [each.split(": ", 2)[2] for each in found.err.splitlines()] == [
        'verdict: is "maybe", which no metric knows; expected `yes`, `no`, `idk`, `1`, `0`, `x`; '
        "update faithtui",
        "note: a note may have 100,000 characters, and this has 5,000,000; shorten it, or keep the "
        "rest in a file it names",
        "reviewer: the name of a reviewer may have 200 characters, and this has 300; choose a "
        "shorter one",
        'judge_verdict: is "perhaps", which no metric knows; expected `yes`, `no`, `idk`, `1`, '
        "`0`, `x`; update faithtui",
    ]


def test_a_long_note_in_line_mode_leaves_the_old_one(
    cli: Cli, judged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.StringIO(f"e {'x' * (NOTE.most + 1)}\nq\n"))
    found = cli("label", "1", "--plain", "--order", "text", "--store", judged)
    assert "refused: a note may have 100,000 characters, and this has 100,001" in found.out
    assert found.code == 0
