"""`faithtui claim-set`: from a labelled sample to another judge in another store, by commands."""

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign
from faithtui.domain.ids import RunId
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.cli.conftest import Cli
from tests.engine.review.reports.test_trend import (
    KEYS,
    done,
    doubted_set,
    set_of_conversations,
    set_without_misses,
)
from tests.store.building import FACTS, SPEC
from tests.store.runs.test_run_designs import FIVE, drawn, judged_all, label, sampled


@pytest.fixture
def labelled(judged: Path) -> Path:
    """A store with a run of three claims, two of them drawn and labelled."""
    with Store.open(judged) as store:
        row = sampled(store, RunId(1), SamplePlan(SamplingDesign.SIMPLE, 1, 2))
        label(store, RunId(1), drawn(store, row))
    return judged


def test_labels_of_one_store_measure_a_judge_in_another(
    cli: Cli, labelled: Path, tmp_path: Path
) -> None:
    made = cli("claim-set", "make", "shop", "--sample", "1", "--store", labelled)
    assert (made.code, made.out) == (0, "shop version 1: 2 drawn claims of 3\n")
    again = cli("claim-set", "make", "shop", "--store", labelled)
    assert (again.out, "nothing changed" in again.err) == (made.out, True)
    file, other = tmp_path / "shop.jsonl", tmp_path / "other.db"
    assert cli("claim-set", "export", "shop", "-o", file, "--store", labelled).out == f"{file}\n"
    assert cli("claim-set", "export", "shop", "-o", file, "--store", labelled).code == 7
    taken = cli("claim-set", "import", file, "--store", other, "--json").json
    assert (taken["name"], taken["new"], taken["new_conversations"]) == ("shop", True, 2)
    assert not taken["labels_changed_since"]
    ran = cli("run", "--claims", "set:shop", "--store", other)
    assert ran.code == 0, ran.err
    with Store.open(other) as store:
        assert len(store.labelled_units.read_report_units(RunId(1)).claims) == 3
        assert store.runs.read_run(RunId(1)).spec.claims_from == "set"
    asked = cli("report", "1", "--set", "shop", "--store", other)
    assert "claim set «shop version 1»" in asked.out
    certificate = tmp_path / "certificate.json"
    words = ("--min-labels", "2", "--min-score", "0", "--point", "--level", "claims")
    written = ("--write-certificate", certificate, "--store", other)
    made = cli("gate", "1", "--set", "shop", *words, *written)
    assert made.code == 0, made.out
    assert '"name": "shop"' in certificate.read_text()
    assert cli("gate", "1", "--certificate", certificate, "--store", other).code == 0
    listed = cli("claim-set", "list", "--store", other)
    assert listed.out.splitlines()[1].split()[:5] == ["shop", "1", "turn-faithfulness", "2", "3"]
    assert (
        cli("claim-set", "delete", "shop", "--store", other).out == "deleted: 1 version of shop\n"
    )
    assert "there is no claim set yet" in cli("claim-set", "list", "--store", other).err


def test_a_set_that_cannot_be_used_is_said(cli: Cli, labelled: Path) -> None:
    cli("claim-set", "make", "shop", "--sample", "1", "--store", labelled)
    for words, code, message in (
        (("run", "--claims", "set:x"), 4, "there is no claim set x"),
        (("run", "--claims", "set:shop", "--metric", "llamaindex-faithfulness"), 2, "judge those"),
        (("report", "1", "--set", "x"), 4, "there is no claim set x"),
        (("report", "1", "--set", "shop", "--sample", "1"), 2, "name two designs"),
        (("compare", "1", "1", "--set", "shop", "--sample", "1"), 2, "name two designs"),
        (("gate", "1", "--min-kappa", "0", "--set", "shop", "--sample", "1"), 3, "two designs"),
        (("claim-set", "make", "[b]", "--sample", "1"), 4, "cannot be called so"),
        (("claim-set", "import", labelled), 3, "is a SQLite database"),
    ):
        found = cli(*words, "--store", labelled)
        assert (found.code, message in found.err) == (code, True), found.err


def test_a_trend_is_a_table_json_and_a_picture(cli: Cli, labelled: Path, tmp_path: Path) -> None:
    cli("claim-set", "make", "shop", "--sample", "1", "--store", labelled)
    with Store.open(labelled) as store:
        store.runs.set_state(RunId(1), RunState.DONE)
    assert cli("run", "--claims", "set:shop", "--store", labelled).code == 0
    picture = tmp_path / "trend.svg"
    shown = cli("trend", "shop", "--svg", picture, "--store", labelled)
    assert shown.code == 0, shown.err
    head, columns, first, second, *rest = shown.out.splitlines()
    assert head == "shop version 1: 2 drawn claims of 3"
    assert columns.split()[:4] == ["RUN", "MADE", "JUDGE", "PROMPTS"]
    assert (first.split()[0], second.split()[0], rest) == ("1", "2", [str(picture)])
    assert picture.read_text(encoding="utf-8").startswith("<svg ")
    assert cli("trend", "shop", "--svg", picture, "--store", labelled).code == 7
    told = cli("trend", "shop@1", "--run", "2", "--store", labelled, "--json").json
    assert (told["set"], told["version"], [each["run"] for each in told["runs"]]) == (
        *("shop", 1),
        [2],
    )
    assert told["runs"][0]["claims_from"] == "set"
    assert told["runs"][0]["change"] is None
    gate = ("gate", "2", "--max-drop", "0.1", "--against", "1", "--min-labels", "2", "--level")
    result = cli(*gate, "claims", "--store", labelled)
    assert "change of accuracy" in result.out
    alone = cli("gate", "2", "--against", "1", "--store", labelled)
    assert (alone.code, "for --max-drop" in alone.err) == (3, True)
    missing = cli("trend", "x", "--store", labelled)
    assert (missing.code, "there is no claim set x" in missing.err) == (4, True)


@pytest.mark.thorough
def test_trend_and_compare_name_labels_that_nothing_vouches_for(cli: Cli, tmp_path: Path) -> None:
    path = doubted_set(tmp_path)
    said = "2 of 30 compared claims rest on unverified labels, of a bundle without a digest"
    picture = tmp_path / "trend.svg"
    told = cli("trend", "shop", "--svg", picture, "--store", path).err
    assert told.count(said) == told.count(f"runs 1 and 2: {said}") == 1
    root = ET.fromstring(picture.read_text(encoding="utf-8"))  # our own file
    drawn = " ".join(each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text"))
    assert drawn.count(f"runs 1 and 2: {said}") == 1
    places = [float(each.get("y", "0")) for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert max(places) < float(root.get("height", "0"))
    runs = cli("trend", "shop", "--json", "--store", path).json["runs"]
    assert [each["unverified"] for each in runs] == [2, 2]
    assert said in cli("compare", "1", "2", "--store", path).out
    assert cli("compare", "1", "2", "--json", "--store", path).json["unverified"] == 2


def test_a_trend_says_once_what_its_figures_leave_out(cli: Cli, tmp_path: Path) -> None:
    path, picture = tmp_path / "s.db", tmp_path / "trend.svg"
    with Store.open(path) as store:
        set_without_misses(store)
    told = cli("trend", "shop", "--svg", picture, "--store", path).err
    for sentence in (
        "runs 1, 2 and 4: 5 drawn claims skipped, in no figure",
        "runs 1, 2 and 4: 5 of 18 claims of «judge yes» were skipped: if they are the hard ones, "
        "the figures are too good.",
        "runs 1, 2 and 4: 1 claim left out because annotators labelled them x, not a fair claim.",
        "run 3: 3 drawn claims skipped, in no figure",
    ):
        assert told.splitlines().count(sentence) == 1, told
    root = ET.fromstring(picture.read_text(encoding="utf-8"))  # our own file
    texts = [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "runs 1, 2 and 4: 5 drawn claims skipped, in no figure" in texts
    assert "the figures are too good." in " ".join(texts)
    runs = cli("trend", "shop", "--json", "--store", path).json["runs"]
    assert [(each["skipped"], each["not_a_claim"]) for each in runs] == [
        *((5, 1), (5, 1), (3, 0), (5, 1)),
    ]
    assert ("skipped_many", "caution") in {
        (each["code"], each["severity"]) for each in runs[0]["warnings"]
    }


@pytest.mark.thorough
def test_compare_counts_claims_that_match_none_of_the_set(cli: Cli, tmp_path: Path) -> None:
    path = doubted_set(tmp_path)
    with Store.open(path) as store:
        done(store, labels={**FIVE, 1: (*FIVE[1], "no")}, judge="l")
    words = ("compare", "1", "3", "--set", "shop", "--store", path)
    assert "match none of the claim set: 0 claims of A, 12 of B" in cli(*words).out
    found = cli(*words, "--json").json
    assert (found["a_beyond_claim_set"], found["b_beyond_claim_set"]) == (0, 12)


@pytest.mark.thorough
def test_a_trend_has_no_figures_of_a_run_that_passed_drawn_claims_over(
    cli: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        _, keys = set_of_conversations(store)
        done(store, keys)
        done(store, keys[:5])
        done(store, [f"{each}1" for each in KEYS])
    shown = cli("trend", "shop", "--store", path)
    assert shown.code == 0, shown.err
    _, _, _, drawn, part, last = shown.out.splitlines()
    assert [each.count("–") for each in (drawn, part, last)] == [0, 4, 0]
    assert "*" not in shown.out
    assert "run 3: it judged claims because they were drawn, or passed them over" in shown.err
    runs = cli("trend", "shop", "--store", path, "--json").json["runs"]
    assert [each["judged_some_drawn"] for each in runs] == [False, False, True, False]
    # Of the claims that it judged the run before has weights.
    assert [each["change"] is None for each in runs] == [True, False, False, False]


def test_a_trend_says_of_which_runs_other_labels_pass(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        set_of_conversations(store)
        keys = [f"{each}{number}" for number in (1, 2) for each in KEYS]
        done(store, keys)
        strict = replace(FACTS, passing=("yes",))
        run = judged_all(store, keys, spec=replace(SPEC, judge_fingerprint="k", rule=strict))
        store.runs.set_state(run, RunState.DONE)
    told = cli("trend", "shop", "--store", path).err
    assert "corrected scores of run 3 are not comparable with those of run 1" in told
    assert "of run 2 are" not in told
