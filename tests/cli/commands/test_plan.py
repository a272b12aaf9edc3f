"""`faithtui plan`, and the sample that its command draws."""

import io
import math
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.ids import RunId
from faithtui.store.store import Store
from tests.cli.conftest import Cli
from tests.store.building import (
    FACTS,
    SPEC,
    assess,
    import_conversations,
    imported,
    make_conversation,
    windows_of,
)

ROOT = Path(__file__).parents[3]
KEYS = "abcdefghijklmnopqrst"
VERDICTS = ("yes",) * 7 + ("no", "no", "idk")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty conversations: 140 claims that the judge supports, 40 `no` and 20 `idk`."""
    found = tmp_path_factory.mktemp("planned") / "planned.db"
    with Store.open(found) as store:
        chats = [make_conversation(key, answers=1) for key in KEYS]
        run = store.runs.create(SPEC, import_conversations(store, chats))
        for item, each in zip(store.runs.list_item_ids(run), chats, strict=True):
            store.runs.save_window(item, assess(windows_of(each)[0], {1: VERDICTS}))
    return found


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path))


def label_some(path: Path, *, wrong: int, shown_share: float = 0.0) -> None:
    """Draw and label forty claims; of the first `judge yes` so many are no."""
    from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw

    with Store.open(path) as store:
        sizes = {"judge yes": 40}
        plan = SamplePlan(SamplingDesign.STRATIFIED, 3, sizes=sizes, shown_share=shown_share)
        drawn = make_sample_draw(store.samples.read_frame(RunId(1), ("verdict",)), plan)
        row = store.samples.save_draw_as_sample(
            RunId(1), "ann", drawn, plan, name="s", stratified_by=("verdict",)
        )
        for number, each in enumerate(store.samples.list_claims_in_served_order(row.id, "ann")):
            store.label_log.record_verdict(
                each.claim,
                "ann",
                "no" if number < wrong else "yes",
                run=RunId(1),
                saw_judge=False,
                sample=row.id,
            )


def test_a_plan_says_what_is_assumed_what_it_gives_and_how_to_draw_it(cli: Cli, path: Path) -> None:
    result = cli("plan", "last", "--rate", "0.05", "--store", path)
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0].startswith("run 1: ")
    assert "of 200 claims, strata by verdict" in lines[0]
    assert [each.split()[:5] for each in lines[3:6]] == [
        ["judge", "idk", "20", "20%", "assumed"],
        ["judge", "no", "40", "50%", "assumed"],
        ["judge", "yes", "140", "5%", "assumed"],
    ]
    assert "however often you look" in result.out
    command = f"faithtui --store {shlex.quote(str(path))} label 1 --stratify verdict --sizes "
    assert lines[-1].startswith(f"{command}'judge idk=")
    assert "± 0.050 (wanted ± 0.05)" in result.out
    # 20 of 31 that are expected to be unfaithful are flagged: 4 are idk, and 7 yes.
    assert "expected: the judge finds 65% of the claims that are no" in result.out


def test_a_plan_says_which_recall_it_means_where_idk_fails_too(
    cli: Cli, path: Path, tmp_path: Path
) -> None:
    assert "--idk live" not in cli("plan", "last", "--store", path).out
    assert cli("plan", "last", "--store", path, "--json").json["recall_with_idk"] == "three"
    broad = tmp_path / "broad.db"
    with Store.open(broad) as store:
        spec = replace(SPEC, rule=replace(FACTS, passing=("yes",)))
        run = store.runs.create(spec, [imported(store, make_conversation("a", answers=1))])
        (item,) = store.runs.list_item_ids(run)
        store.runs.save_window(
            item, assess(windows_of(make_conversation("a", answers=1))[0], {1: VERDICTS})
        )
    told = cli("plan", "last", "--store", broad)
    assert "recall of no or idk" in told.out
    assert (
        "no or idk is what fails in this run: gate --min-recall-no asks for the recall of these "
        "with --idk live, and without it of no alone" in told.out
    )
    assert cli("plan", "last", "--store", broad, "--json").json["recall_with_idk"] == "live"


def test_a_run_that_is_labelled_throughout_needs_no_plan(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "one.db"
    with Store.open(path) as store:
        each = make_conversation("a", answers=1)
        run = store.runs.create(SPEC, import_conversations(store, [each]))
        [item] = store.runs.list_item_ids(run)
        store.runs.save_window(item, assess(windows_of(each)[0], {1: ("yes", "no")}))
        first, last = store.runs.read_conversation_for_review(item, "ann").claims
        store.label_log.record_verdict(first.id, "ann", "yes", run=run, saw_judge=False)
        assert cli("plan", "--store", path).out.startswith("run 1: ")
        assert "all labelled" not in cli("plan", "--store", path).out
        store.label_log.record_verdict(last.id, "ann", "no", run=run, saw_judge=False)
    out = cli("plan", "--store", path).out
    assert out.startswith("run 1: 2 claims, all labelled, so there is none to draw. ")
    assert f"faithtui --store {path} label 1 --sample repeats" in out


def test_a_plan_of_few_conversations_says_what_no_label_gives(cli: Cli, tmp_path: Path) -> None:
    """A report gives recall, kappa and future conversations no interval there."""
    few = tmp_path / "few.db"
    with Store.open(few) as store:
        chats = [make_conversation(key, answers=1) for key in KEYS[:4]]
        run = store.runs.create(SPEC, import_conversations(store, chats))
        for item, each in zip(store.runs.list_item_ids(run), chats, strict=True):
            store.runs.save_window(item, assess(windows_of(each)[0], {1: VERDICTS}))
    told = cli("plan", "last", "--store", few)
    words = " ".join(told.out.split())
    assert "the claims are of 4 conversations: below 5 reports give recall, kappa and" in words
    assert "future conversations no interval, whatever is labelled" in words
    assert re.search(r"future conversations +cannot be foreseen", told.out)
    widths = cli("plan", "last", "--store", few, "--json").json["half_widths"]
    assert widths["rate_future_at_best"] is None


@pytest.mark.parametrize(
    ("verdict", "why"), [("yes", "no claim, so that it finds none"), ("no", "every claim, so that")]
)
def test_a_judge_of_one_verdict_has_no_recall_to_plan_for(
    cli: Cli, tmp_path: Path, verdict: str, why: str
) -> None:
    path = tmp_path / "one.db"
    with Store.open(path) as store:
        chats = [make_conversation(key, answers=1) for key in "ab"]
        run = store.runs.create(SPEC, import_conversations(store, chats))
        for item, each in zip(store.runs.list_item_ids(run), chats, strict=True):
            store.runs.save_window(item, assess(windows_of(each)[0], {1: (verdict,) * 4}))
    told = cli("plan", "--labels", "4", "--store", path)
    assert re.search(rf"recall of no, .*cannot be foreseen: the judge flags {why}", told.out)
    assert "expected: the judge finds" not in told.out
    widths = cli("plan", "--labels", "4", "--store", path, "--json").json["half_widths"]
    assert (widths["recall"], widths["recall_at_every_look"]) == (None, None)
    assert widths["rate_at_every_look"] >= widths["rate"]
    refused = cli("plan", "--recall", "0.1", "--store", path)
    assert f"--recall cannot be planned for: the judge flags {why}" in refused.err


def test_the_command_of_a_plan_draws_it(
    cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = cli("plan", "last", "--labels", "60", "--store", path, "--json").json
    sizes = {each["name"]: each["to_draw"] for each in planned["strata"]}
    assert sum(each["labels"] for each in planned["strata"]) == planned["labels"] == 60
    # A fifth shows the judge, and is in no figure.
    assert all(
        each["to_draw"] == min(each["claims"], math.ceil(each["labels"] / 0.8))
        for each in planned["strata"]
    )
    assert sum(sizes.values()) == planned["to_draw"] > 60
    words = shlex.split(planned["command"])[1:]
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert cli(*words, "--plain").code == 0
    with Store.open(path) as store:
        (row,) = store.samples.list_samples("ann")
    assert {each.name: each.drawn for each in row.strata} == sizes


def test_shares_are_those_of_the_labels_so_far_unless_they_are_given(cli: Cli, path: Path) -> None:
    label_some(path, wrong=8)
    strata = cli("plan", "last", "--store", path, "--json").json["strata"]
    found = {each["name"]: each for each in strata}
    # Eight of forty, and two more labels with what is assumed.
    assert found["judge yes"]["expected_share"] == pytest.approx((8 + 2 * 0.05) / 42)
    assert found["judge yes"]["expected_from_labels"] == 40
    assert found["judge no"]["expected_share"] == 0.5
    given = cli("plan", "last", "--expect", "judge yes=0.3", "--store", path, "--json").json
    assert given["strata"][-1]["expected_share"] == 0.3
    assert given["strata"][-1]["expected_from_labels"] == 0


def label_all_strata(path: Path) -> None:
    """Draw and label 70 claims by verdict: of 20 that are flagged 8 are `x` and 4 faithful, of 40
    that pass 4 are not, and of 10 `idk` none."""
    from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw

    said = {"judge no": ["x"] * 8 + ["no"] * 8 + ["yes"] * 4, "judge yes": ["no"] * 4}
    with Store.open(path) as store:
        sizes = {"judge yes": 40, "judge no": 20, "judge idk": 10}
        plan = SamplePlan(SamplingDesign.STRATIFIED, 3, sizes=sizes)
        drawn = make_sample_draw(store.samples.read_frame(RunId(1), ("verdict",)), plan)
        row = store.samples.save_draw_as_sample(
            RunId(1), "ann", drawn, plan, name="s", stratified_by=("verdict",)
        )
        for each in drawn.claims:
            left = said.get(each.stratum)
            store.label_log.record_verdict(
                each.unit.claim,
                "ann",
                left.pop() if left else "yes",
                run=RunId(1),
                saw_judge=False,
                sample=row.id,
            )


def test_a_plan_says_why_it_expects_another_recall_than_reports_show(cli: Cli, path: Path) -> None:
    label_all_strata(path)
    report = cli("report", "last", "-f", "json", "--store", path).json
    shown = report["detection"]["strict"]["recall"]["value"]
    # A flagged claim stands for 2, `x` or not, and one that passes for 3.5.
    assert shown == pytest.approx(8 * 2 / (8 * 2 + 4 * 3.5))
    found = cli("plan", "last", "--store", path, "--json").json
    assert found["recall_of_labels_so_far"] == pytest.approx(shown)
    assert [each["expected_unfair_share"] for each in found["strata"]] == [0, 0.4, 0]
    flagged, passed, unsure = 24 * (8 + 1) / 14, 140 * (4 + 0.1) / 42, 20 * (0 + 0.4) / 12
    expected = flagged / (flagged + passed + unsure)
    assert found["expected_recall"] == pytest.approx(expected)
    told = cli("plan", "last", "--store", path).out
    assert f"expected: the judge finds {expected:.0%} of the claims that are no" in told
    assert (
        f"reports show {shown:.0%}, of the labels so far alone; here each stratum has two" in told
    )
    assert "x, not a fair claim, is in no figure; expected no is the share among the others" in told
    # The example of the page is this run.
    shown = cli("plan", "last", "--rate", "0.06", "--store", path).out
    shown = shown.replace(f" --store {shlex.quote(str(path))}", "").rstrip()
    page = (ROOT / "docs" / "sampling.md").read_text(encoding="utf-8")
    assert f"```console\n$ faithtui plan last --rate 0.06\n{shown}\n```\n" in page


def test_labels_of_other_strata_are_weighted_as_in_reports(cli: Cli, path: Path) -> None:
    """Drawn by verdict and planned by turn, where all claims are one stratum."""
    label_all_strata(path)
    (turn,) = cli("plan", "last", "--stratify", "turn", "--store", path, "--json").json["strata"]
    # Of 200 claims 16 are `x`; of 184 fair ones 30 are unfaithful.
    assert turn["expected_unfair_share"] == pytest.approx(16 / 200)
    assumed = (140 * 0.05 + 40 * 0.5 + 20 * 0.2) / 200
    assert turn["expected_share"] == pytest.approx((62 * 30 / 184 + 2 * assumed) / 64)


def test_recall_takes_strata_by_verdict(cli: Cli, path: Path) -> None:
    both = cli("plan", "last", "--recall", "0.2", "--rate", "0.05", "--store", path, "--json").json
    assert both["half_widths"]["recall"] <= 0.2
    assert both["half_widths"]["rate"] <= 0.05
    turns = cli("plan", "last", "--stratify", "turn", "--store", path, "--json").json
    assert turns["half_widths"]["recall"] is None
    assert turns["strata"][0]["flagged"] is None
    never = cli("plan", "last", "--recall", "0.01", "--store", path)
    assert "± 0.01 of recall cannot be reached: all labels that can count give ± 0." in never.out


def test_claims_without_a_verdict_are_planned_for_as_the_rate_counts_them(
    cli: Cli, tmp_path: Path
) -> None:
    """A stratum without a label leaves the corrected share undefined."""
    path = tmp_path / "missing.db"
    with Store.open(path) as store:
        chats = [make_conversation(key, answers=1) for key in KEYS]
        run = store.runs.create(SPEC, import_conversations(store, chats))
        for item, each in zip(store.runs.list_item_ids(run), chats, strict=True):
            store.runs.save_window(item, assess(windows_of(each)[0], {1: ("yes", None)}))
    found = cli("plan", "last", "--labels", "20", "--store", path, "--json").json
    assert [(each["name"], each["labels"]) for each in found["strata"]] == [
        ("judge without a verdict", 10),
        ("judge yes", 10),
    ]
    assert found["half_widths"]["rate"] > 0
    turns = cli("plan", "last", "--stratify", "turn", "--store", path, "--json").json
    assert turns["strata"][0]["flagged"] is False
    # The judge flags none of those with a verdict, so that there is no recall to foresee.
    assert turns["half_widths"]["recall_at_every_look"] is None


def test_the_recall_that_is_expected_leaves_out_claims_without_a_verdict(
    cli: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "missing.db"
    with Store.open(path) as store:
        chats = [make_conversation(key, answers=1) for key in KEYS]
        run = store.runs.create(SPEC, import_conversations(store, chats))
        for item, each in zip(store.runs.list_item_ids(run), chats, strict=True):
            store.runs.save_window(item, assess(windows_of(each)[0], {1: ("yes", "no", None)}))
    shares = [f"--expect={name}" for name in ("judge yes=0.5", "judge no=0.5")]
    out = cli("plan", "last", *shares, "--store", path).out
    assert "expected: the judge finds 50% of the claims that are no" in out


def test_claims_that_show_the_judge_leave_a_stratum_open(cli: Cli, path: Path) -> None:
    """A fifth of each stratum gives no label that counts, with everything drawn."""
    words = ("plan", "last", "--rate", "0.001", "--store", path)
    found = cli(*words, "--json").json
    assert [(each["claims"], each["labels"]) for each in found["strata"]] == [
        (20, 16),
        (40, 32),
        (140, 112),
    ]
    assert found["cannot_be_reached"] == ["the share that passes"]
    assert "± 0.001 of the share that passes cannot be reached" in cli(*words).out
    some = cli("plan", "last", "--labels", "500", "--store", path).out
    assert "of 500 labels no more than 160 can count" in some
    settings = path.parent / "home" / "config.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("audit_share = 0.0\n", encoding="utf-8")
    whole = cli(*words, "--json").json
    assert (whole["labels"], whole["half_widths"]["rate"]) == (200, 0)
    assert whole["cannot_be_reached"] == []
    settings.write_text("audit_share = 1.0\n", encoding="utf-8")
    assert "no label counts" in cli(*words).err


def test_every_stratum_gives_the_least_in_every_plan(cli: Cli, path: Path) -> None:
    wide = cli("plan", "last", "--recall", "0.5", "--store", path, "--json").json
    assert [each["labels"] for each in wide["strata"]] == [10, 10, 10]
    all_there_are = cli("plan", "last", "--least", "10000", "--store", path, "--json").json
    assert [each["labels"] for each in all_there_are["strata"]] == [16, 32, 112]


def test_shares_may_be_given_one_by_one(cli: Cli, path: Path) -> None:
    given = ("--expect", "judge yes=0.3", "--expect", "judge no=0.9,judge idk=0.1")
    strata = cli("plan", "last", *given, "--store", path, "--json").json["strata"]
    assert [each["expected_share"] for each in strata] == [0.1, 0.9, 0.3]
    twice = cli("plan", "last", *given, "--expect", "judge no=0.5", "--store", path)
    assert "--expect: judge no stands twice" in twice.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--rate", "0"), "--rate 0; expected a half width above 0"),
        (("--recall", "0.7"), "--recall 0.7; expected a half width"),
        (("--labels", "0"), "--labels takes a number above 0"),
        (("--labels", "9", "--rate", "0.1"), "leave out --rate and --recall"),
        (("--least", "0"), "--least takes a number above 0"),
        (("--design-effect", "0.5"), "expected 1 (none) to 100"),
        (("--expect", "judge yes=2"), "expected a share from 0 to 1"),
        (("--expect", "judge yes"), "expected NAME=NUMBER"),
        (("--expect", "judge maybe=0.1"), "there is no stratum `judge maybe`; known: judge idk"),
        (("--recall", "0.1", "--stratify", "turn"), "add verdict to --stratify"),
        (("--stratify", "colour"), "--stratify colour; expected verdict"),
    ],
)
def test_options_that_cannot_be_are_explained(
    cli: Cli, path: Path, words: tuple[str, ...], says: str
) -> None:
    result = cli("plan", "last", *words, "--store", path)
    assert result.code == 2
    assert says in result.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--sizes", "judge maybe=3"), "there is no stratum `judge maybe`; known: judge idk"),
        (("--sizes", "judge no=1.5"), "--sizes judge no=1.5; expected a whole number"),
        (("--sizes", "judge no=0"), "--sizes draws nothing"),
        (("--sizes", "judge no=3", "--size", "9"), "leave out --size"),
        (("--sizes", "judge no=3", "--sample", "simple"), "--sizes does not go with"),
        (("--sizes", "judge no=3", "--order", "text"), "leave out what draws a sample"),
    ],
)
def test_sizes_that_cannot_be_are_explained(
    cli: Cli, path: Path, words: tuple[str, ...], says: str
) -> None:
    result = cli("label", "last", "--plain", *words, "--store", path)
    assert result.code == 2
    assert says in result.err


def test_names_of_strata_may_hold_commas() -> None:
    from faithtui.cli.shared_options import read_named_numbers

    assert read_named_numbers(["a, b=2,c=3", "d=4"], "--sizes") == {"a, b": 2, "c": 3, "d": 4}


def test_labels_given_with_the_judge_in_view_are_no_evidence(cli: Cli, path: Path) -> None:
    label_some(path, wrong=40, shown_share=1.0)
    strata = cli("plan", "last", "--store", path, "--json").json["strata"]
    assert {each["expected_from_labels"] for each in strata} == {0}
