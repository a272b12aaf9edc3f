"""Labels between stores, the guideline, and who reviews: the commands."""

import json
import shutil
from pathlib import Path

import pytest

from faithtui.domain.labels.label_events import Action
from faithtui.store.store import Store
from tests.cli.conftest import Cli


def label(path: Path, reviewer: str, verdict: str = "no") -> None:
    with Store.open(path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        for item in store.runs.list_item_ids(run):
            for claim in store.runs.read_conversation_for_review(item, reviewer).claims:
                store.label_log.append_label_event(
                    claim.id,
                    reviewer,
                    Action.BLIND,
                    verdict,
                    run=run,
                    judge_verdict=None,
                    saw_judge=False,
                )


@pytest.fixture
def stores(judged: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Two copies of a store: ann labelled the first, bo the second."""
    other = Path(shutil.copy(judged, tmp_path / "other.db"))
    label(judged, "ann")
    label(other, "bo", "yes")
    return judged, other


def test_labels_travel_and_the_order_does_not_matter(
    cli: Cli, stores: tuple[Path, Path], tmp_path: Path
) -> None:
    first, second = stores
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    assert cli("export", "labels", "--store", first, "-o", a).out == f"{a}\n"
    assert cli("export", "labels", "--store", second, "-o", b, "--json").json == str(b)
    one = cli("merge", a, b, "--store", first)
    assert one.code == 0
    two = cli("merge", a, "--store", second, "--json")
    assert two.json["new"] > 0
    assert (two.json["refusals"], two.json["not_merged"]) == ([], [])
    assert one.out.splitlines()[-1] == f"state {two.json['state']}"
    again = cli("merge", b, a, "--store", second)
    assert again.out.startswith("0 new acts, ")
    assert again.out.splitlines()[-1] == one.out.splitlines()[-1]
    checks = cli("doctor", "--store", first, "--json").json
    assert [each["text"] for each in checks if each["name"] == "labels"] == [
        f"state {two.json['state']}"
    ]


def test_export_goes_to_stdout_and_can_be_narrowed(cli: Cli, stores: tuple[Path, Path]) -> None:
    first, _ = stores
    label(first, "cy")
    lines = [
        json.loads(line) for line in cli("export", "labels", "--store", first).out.splitlines()
    ]
    assert {each["reviewer"] for each in lines if each["type"] == "act"} == {"ann", "cy"}
    found = cli("export", "labels", "--store", first, "--reviewer", "cy", "--run", "last")
    lines = [json.loads(line) for line in found.out.splitlines()]
    assert {each["reviewer"] for each in lines if each["type"] == "act"} == {"cy"}
    assert cli("export", "labels", "--store", first, "--run", "99").code == 4


def test_what_cannot_be_exported_is_told(cli: Cli, judged: Path, tmp_path: Path) -> None:
    found = cli("export", "judges", "--store", judged)
    assert (found.code, "known: claims, labels" in found.err) == (2, True)
    found = cli("export", "labels", "--store", judged, "-o", tmp_path / "no" / "x.jsonl")
    assert (found.code, "name another file" in found.err) == (7, True)
    assert not list(tmp_path.glob(".faithtui*"))


def read_without_digest(bundle: Path) -> list[str]:
    """Read the lines of a bundle as somebody has them who edits it all the same."""
    header, *lines = bundle.read_text(encoding="utf-8").splitlines()
    return [json.dumps({**json.loads(header), "digest": None}), *lines]


def test_an_edited_bundle_is_refused(cli: Cli, stores: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = stores
    bundle = tmp_path / "a.jsonl"
    cli("export", "labels", "--store", first, "-o", bundle)
    text = bundle.read_text(encoding="utf-8")
    assert '"verdict":"no"' in text
    bundle.write_text(text.replace('"verdict":"no"', '"verdict":"yes"', 1), encoding="utf-8")
    found = cli("merge", bundle, "--store", second)
    assert (found.code, found.out.startswith("0 new acts, 0 known, 1 refused")) == (3, True)
    assert f"{bundle}: was cut off or changed after it was exported" in found.err


def test_what_is_not_here_is_counted_with_the_way_out(
    cli: Cli, stores: tuple[Path, Path], tmp_path: Path
) -> None:
    first, _ = stores
    bundle = tmp_path / "a.jsonl"
    cli("export", "labels", "--store", first, "-o", bundle)
    empty = tmp_path / "empty.db"
    Store.open(empty).close()
    lines = read_without_digest(bundle)
    bundle.write_text("\n".join([*lines, '{"type":"act","uid":"z"}']), encoding="utf-8")
    found = cli("merge", bundle, tmp_path / "missing.jsonl", "--store", empty)
    assert found.code == 3
    assert f"{bundle}: line {len(lines) + 1}: " in found.err
    assert "missing.jsonl: cannot be read" in found.err
    assert f"import it with `faithtui --store {empty} import`, then merge again" in found.err
    assert found.out.startswith("0 new acts, 0 known, ")
    told = cli("merge", bundle, "--store", empty, "--json").json
    assert {each["why"] for each in told["not_merged"]} == {"absent"}
    acts = sum('"type":"act"' in line for line in lines)
    assert sum(each["acts"] for each in told["not_merged"]) == acts


def test_an_act_that_takes_back_what_nobody_has_names_its_line(
    cli: Cli, stores: tuple[Path, Path], tmp_path: Path
) -> None:
    first, second = stores
    with Store.open(first) as store:
        store.label_log.undo("ann")
    bundle = tmp_path / "a.jsonl"
    cli("export", "labels", "--store", first, "-o", bundle)
    lines = read_without_digest(bundle)
    last = json.loads(lines[-1])
    assert last["action"] == "withdrawn"
    kept = [line for line in lines if f'"uid":"{last["target"]}"' not in line]
    bundle.write_text("\n".join(kept), encoding="utf-8")
    found = cli("merge", bundle, "--store", second)
    assert found.code == 3
    assert f"line {len(kept)}: act {last['uid']} is about the act {last['target']}" in found.err
    assert "was cut off" in found.err


def test_a_guideline_is_set_shown_and_listed(cli: Cli, judged: Path, tmp_path: Path) -> None:
    file = tmp_path / "guideline.md"
    advised = f"faithtui --store {judged} guideline set FILE"
    assert advised in cli("guideline", "--store", judged).err
    file.write_text("Fees count.\n", encoding="utf-8")
    assert cli("guideline", "set", file, "--store", judged).out.startswith("version 1 is in force")
    assert "stays in force" in cli("guideline", "set", file, "--store", judged).out
    assert cli("guideline", "--store", judged).out == "Fees count.\n\n"
    file.write_text("\ufeffFees do not count.", encoding="utf-8")
    found = cli("guideline", "set", file, "--reviewer", "bo", "--store", judged, "--json")
    assert (found.json["version"], found.json["author"], found.json["text"]) == (
        2,
        "bo",
        "Fees do not count.",
    )
    rows = cli("guideline", "history", "--store", judged).out.splitlines()
    assert [row.split()[0] for row in rows] == ["VERSION", "2", "1"]
    told = cli("guideline", "history", "--store", judged, "--json").json
    assert [each["author"] for each in told] == ["bo", "ann"]


def test_a_guideline_that_is_none_is_refused(cli: Cli, judged: Path, tmp_path: Path) -> None:
    file = tmp_path / "guideline.md"
    file.write_text(" \n", encoding="utf-8")
    assert cli("guideline", "set", file, "--store", judged).code == 3
    file.write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in cli("guideline", "set", file, "--store", judged).err
    assert cli("guideline", "set", tmp_path / "none", "--store", judged).code == 3
    assert cli("guideline", "set", "--store", judged).code == 2
    assert cli("guideline", "show", file, "--store", judged).code == 2
    assert "known: show, set, history" in cli("guideline", "burn", "--store", judged).err


def test_an_empty_reviewer_is_refused(cli: Cli, judged: Path) -> None:
    found = cli("--store", judged, "--reviewer", " ")
    assert (found.code, "--reviewer is empty" in found.err) == (2, True)
