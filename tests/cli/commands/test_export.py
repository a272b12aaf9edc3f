"""`faithtui export` of a run: what is asked for is written, and what is left out is told."""

import csv
import json
import shutil
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from faithtui.agreement.labelled_units import UnitSettings
from faithtui.cli.commands.export.export import EXPORTS
from faithtui.domain.conversation import Conversation, Document, Rating, Turn
from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.split_rule import Split, SplitRule
from faithtui.engine.exports.run_exports import ANSWER_KINDS
from faithtui.engine.review.samples.store_split import save_store_split
from faithtui.formats.writers.flat_rows import CLAIM_COLUMNS, LABEL_COLUMNS
from faithtui.store.store import Store
from tests.cli.conftest import Cli
from tests.store.building import judged

TRACE = "2439739de9cc4d51ac8de242520e7f63"
HOSTILE = "=HYPERLINK(1)\u202e[red]<b>"
CONVERSATIONS = tuple(
    Conversation(
        "orders",
        key,
        (
            Turn("user", "When?"),
            Turn("assistant", "=1+1, or [b]Monday[/b].", (Document("It is Monday.", HOSTILE),)),
        ),
        group=key,
        metadata=metadata,
    )
    for key, metadata in (("a", {"per_turn": {"1": {"trace_id": TRACE}}}), ("b", {}))
)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two runs of one conversation each; of the first one claim has a label."""
    path = tmp_path_factory.mktemp("export") / "project.db"
    with Store.open(path) as store:
        for chat in reversed(CONVERSATIONS):
            run, item = judged(store, chat, {1: ("yes", "no")})
        claim = store.runs.read_conversation_for_review(item, "ann").claims[1]
        store.label_log.record_verdict(claim.id, HOSTILE, "yes", run=run, saw_judge=False)
        store.label_log.record_verdict(claim.id, "ben", "no", run=run, saw_judge=False)
    return path


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "project.db"))


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_claims_go_to_stdout_as_json_lines(cli: Cli, project: Path) -> None:
    result = cli("export", "claims", "--store", project)
    assert result.code == 0
    first, second = lines(result.out)
    assert list(first) == [each.name for each in CLAIM_COLUMNS]
    assert (first["conversation"], first["verdict"], second["verdict"]) == ("a", "yes", "no")
    assert second["tied"] is True
    assert [each["annotator"] for each in second["labels"]] == [HOSTILE, "ben"]
    assert first["trace_id"] == TRACE


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("otel", "opentelemetry"), ("lanfuse", "langfuse"), ("OTEL", "opentelemetry")],
)
def test_a_name_that_nobody_exports_gets_the_one_meant(cli: Cli, typed: str, meant: str) -> None:
    result = cli("export", typed)
    assert result.code == 2
    assert result.err.rstrip().endswith(f"Did you mean `{meant}`?")


def test_the_end_of_the_name_chooses_the_format(cli: Cli, project: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for name in ("c.jsonl", "c.csv", "c.parquet"):
        result = cli("export", "claims", "-o", tmp_path / name, "--store", project)
        assert (result.code, result.out.strip()) == (0, str(tmp_path / name))
    from_json = lines((tmp_path / "c.jsonl").read_text(encoding="utf-8"))
    text = (tmp_path / "c.csv").read_text(encoding="utf-8")
    from_csv = list(csv.DictReader(StringIO(text, newline="")))
    from_parquet = parquet.read_table(tmp_path / "c.parquet").to_pylist()
    for name in ("claim_id", "claim", "verdict", "reason"):
        assert [each[name] for each in from_json] == [each[name] for each in from_csv]
        assert [each[name] for each in from_json] == [each[name] for each in from_parquet]
    assert from_csv[0]["answer"] == "'=1+1, or [b]Monday[/b]."


def test_the_run_is_chosen(cli: Cli, project: Path) -> None:
    first = lines(cli("export", "claims", "1", "--store", project).out)
    last = lines(cli("export", "claims", "--run", "last", "--store", project).out)
    assert ({each["conversation"] for each in first}, {each["conversation"] for each in last}) == (
        {"b"},
        {"a"},
    )
    assert first[0]["run_id"] != last[0]["run_id"]


def test_labels_are_a_bundle_unless_rows_are_asked_for(
    cli: Cli, project: Path, tmp_path: Path
) -> None:
    bundle = lines(cli("export", "labels", "--store", project).out)
    assert bundle[0]["type"] == "faithtui-labels"
    rows = lines(cli("export", "labels", "-f", "jsonl", "--store", project).out)
    assert [list(each) for each in rows] == [[each.name for each in LABEL_COLUMNS]] * 2
    assert [(each["annotator"], each["label"]) for each in rows] == [
        (HOSTILE, "yes"),
        ("ben", "no"),
    ]
    cli("export", "labels", "--reviewer", "ben", "-o", tmp_path / "l.csv", "--store", project)
    text = (tmp_path / "l.csv").read_text(encoding="utf-8")
    assert [each["annotator"] for each in csv.DictReader(StringIO(text, newline=""))] == ["ben"]
    again = cli("export", "labels", "-f", "bundle", "--store", project)
    assert lines(again.out) == bundle


def test_a_bundle_says_which_labels_of_a_run_are_not_in_it(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    with Store.open(path) as store:
        rated = replace(CONVERSATIONS[1], ratings=(Rating(1, "ann", "x", "yes"),))
        run, item = judged(store, rated, {1: ("yes", "no")})
        claim = store.runs.read_conversation_for_review(item, "ann").claims[1]
    without_run = cli("export", "labels", "--store", path)
    assert (lines(without_run.out)[0]["claims"], without_run.err) == (1, "")
    empty = cli("export", "labels", "last", "-o", tmp_path / "l.jsonl", "--store", path)
    assert "the bundle is empty: no claim that run 1 judged has a label\n" in empty.err
    assert "left out: the labels of 1 claim that run 1 did not judge" in empty.err
    assert f"`faithtui --store {path} export labels -f jsonl`" in empty.err
    rows = lines(cli("export", "labels", "last", "-f", "jsonl", "--store", path).out)
    assert [(each["kind"], each["annotator"]) for each in rows] == [("answer", "ann")]
    with Store.open(path) as store:
        store.label_log.record_verdict(claim.id, "ben", "yes", run=run, saw_judge=False)
    of_ben = cli("export", "labels", "last", "--reviewer", "ben", "--store", path)
    assert (lines(of_ben.out)[0]["claims"], of_ben.err) == (1, "")
    of_all = cli("export", "labels", "last", "--store", path)
    assert lines(of_all.out)[0]["claims"] == 1
    assert "empty" not in of_all.err
    assert "left out: the labels of 1 claim that" in of_all.err
    of_nobody = cli("export", "labels", "--reviewer", "cleo", "--store", path)
    assert of_nobody.err == "the bundle is empty: no claim in this store has a label by cleo\n"


def test_a_dataset_is_a_folder_with_a_card(cli: Cli, project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "claims of bots"
    result = cli(
        *("export", "dataset", "-o", folder, "--license", "cc-by-4.0", "--store", project, "--json")
    )
    assert result.code == 0
    assert result.json == [
        str(folder / each) for each in ("data/claims.jsonl", "data/labels.jsonl", "README.md")
    ]
    card = (folder / "README.md").read_text(encoding="utf-8")
    head = card.split("---\n")[1]
    assert 'license: "cc-by-4.0"' in head
    assert '"num_examples": 2' in head
    assert "| claims | 2 |" in card
    assert "| no | 1 | 0 |" in card
    assert "| tie | 0 | 1 |" in card
    assert all(f"| `{each.name}` |" in card for each in (*CLAIM_COLUMNS, *LABEL_COLUMNS))
    claims = lines((folder / "data" / "claims.jsonl").read_text(encoding="utf-8"))
    assert json.loads(claims[0]["metadata"]) == CONVERSATIONS[0].metadata
    again = cli("export", "dataset", "-o", folder, "--store", project)
    assert (again.code, "--force" in again.err) == (7, True)
    assert cli("export", "dataset", "-o", folder, "--force", "--store", project).code == 0
    assert 'license: "unknown"' in (folder / "README.md").read_text(encoding="utf-8")


def test_scores_go_to_the_traces_there_are_and_the_others_are_told(cli: Cli, project: Path) -> None:
    known = cli("export", "langfuse", "--store", project)
    judge, ann, ben = lines(known.out)
    assert {each["traceId"] for each in (judge, ann, ben)} == {TRACE}
    assert [judge["value"], ann["value"], ben["value"]] == [0.5, 1.0, 0.0]
    assert known.err == "3 scores of judge and annotators written\n"
    unknown = cli("export", "langfuse", "1", "--store", project)
    assert unknown.out == ""
    assert "left out: 1 score of answers without the id of a trace or session" in unknown.err


@pytest.mark.parametrize("name", ["c.jsonl", "c.csv", "folder"])
def test_claims_and_a_dataset_are_imported_with_verdicts_and_labels(
    cli: Cli, project: Path, tmp_path: Path, name: str
) -> None:
    path, other = tmp_path / name, tmp_path / "other.db"
    what = "dataset" if name == "folder" else "claims"
    cli("export", what, "-o", path, "--store", project)
    result = cli("import", path, "--store", other)
    told = result.out + result.err
    assert (result.code, "faithtui-claims" in told) == (0, True)
    assert ("rows of labels hold no conversation" in told) == (name == "folder")

    def read(store: Path) -> list[list[Any]]:
        rows = lines(cli("export", "claims", "--store", store).out)
        same = (
            "conversation",
            "turn",
            "claim",
            "passages",
            "verdict",
            "reason",
            "tied",
            "metadata",
        )
        labels = [[(each["annotator"], each["label"]) for each in row["labels"]] for row in rows]
        return [
            [*(row[each] for each in same), said] for row, said in zip(rows, labels, strict=True)
        ]

    assert read(other) == read(project)
    (run,) = cli("runs", "--json", "--store", other).json
    assert run["judge"] == "imported:overlap baseline (offline heuristic)", (
        "as other exports have it"
    )


@pytest.fixture(scope="session")
def labelled_in_many_ways(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a label of every kind, in view of the judge and not."""
    path = tmp_path_factory.mktemp("ways") / "project.db"
    with Store.open(path) as store:
        store.guidelines.add_version("Judge by the passages alone.", "ann")
        run, item = judged(store, CONVERSATIONS[0], {1: ("yes", "no", *["yes"] * 7)})
        claims = [each.id for each in store.runs.read_conversation_for_review(item, "ann").claims]

        def give(place: int, reviewer: str, verdict: str, *, seen: bool, **more: Any) -> None:
            store.label_log.record_verdict(
                claims[place], reviewer, verdict, run=run, saw_judge=seen, **more
            )

        give(0, "ann", "yes", seen=False, seconds=0.25)
        give(1, "ann", "no", seen=True, seconds=0.5)
        give(2, "ann", "no", seen=True, seconds=8.0, code="truth")
        give(3, "ann", "x", seen=True)
        give(4, "ann", "yes", seen=True)
        give(4, "ben", "no", seen=False)
        for place, (who, action, word, seen) in enumerate(
            (
                ("lead", Action.ADJUDICATED, "no", True),
                ("lead", Action.ADJUDICATED, "yes", False),
                ("ann", Action.SKIPPED, None, False),
                ("ann", Action.BULK, "yes", True),
                ("ann", Action.ACCEPTED, "yes", True),
            ),
            start=4,
        ):
            store.label_log.append_label_event(
                claims[place], who, action, word, run=run, judge_verdict="yes", saw_judge=seen
            )
    return path


def list_what_counts(path: Path, *, blind_only: bool) -> tuple[list[object], object]:
    """List the claims of the first run with their labels as reports take them."""
    with Store.open(path) as store:
        units = store.labelled_units.read_report_units(
            RunId(1), UnitSettings(blind_only=blind_only)
        )
        rows: list[object] = [
            (
                *(each.text, each.judge, each.human, each.state, each.blind, each.reviewers),
                sorted(
                    (one.reviewer, one.verdict, one.blind, one.seconds, one.code)
                    for one in each.opinions
                ),
            )
            for each in units.claims
        ]
        return rows, store.provenance.read_label_origins(RunId(1)).guidelines


@pytest.mark.parametrize(
    "name",
    [
        "c.jsonl",
        "c.csv",
        *(pytest.param(each, marks=pytest.mark.thorough) for each in ("c.parquet", "folder")),
    ],
)
def test_how_labels_were_given_survives_export_and_import(
    cli: Cli, labelled_in_many_ways: Path, tmp_path: Path, name: str
) -> None:
    path, other = tmp_path / name, tmp_path / "other.db"
    what = "dataset" if name == "folder" else "claims"
    assert cli("export", what, "-o", path, "--store", labelled_in_many_ways).code == 0
    assert cli("import", path, "--store", other).code == 0
    for blind_only in (False, True):
        before = list_what_counts(labelled_in_many_ways, blind_only=blind_only)
        assert list_what_counts(other, blind_only=blind_only) == before
    with Store.open(other) as store:
        assert store.label_log.undo("ann") == ()
    assert "0 new, 1 unchanged" in cli("import", path, "--store", other).out


def test_the_words_of_annotations_come_out_again_as_they_came_in(cli: Cli, tmp_path: Path) -> None:
    said = [
        {"statement": text, "reason": "so", "verdict": verdict}
        for text, verdict in (("It is blue.", 1), ("It is big.", 0))
    ]
    changed = [{**each, "verdict": 1 - int(str(each["verdict"]))} for each in said]
    annotation = {
        "metric_input": {"user_input": "q", "response": "It is blue. It is big."},
        "metric_output": 0.5,
        "is_accepted": True,
        "prompts": {
            "n_l_i_statement_prompt": {
                "prompt_input": {},
                "prompt_output": {"statements": said},
                "edited_output": {"statements": changed},
            }
        },
    }
    path = tmp_path / "annotated.json"
    path.write_text(json.dumps({"faithfulness": [annotation]}))
    expected = [("0", "q2-consistent-0-1", "no"), ("1", "q2-consistent-0-1", "yes")]
    for _ in range(2):  # what is read again from the export is the same
        assert "2 new human labels" in cli("import", path, "--source", path.stem).out
        found = cli("export", "labels", "last", "-f", "jsonl").out
        rows = [json.loads(line) for line in found.splitlines()]
        assert [(row["raw_label"], row["scale"], row["label"]) for row in rows] == expected
        path = tmp_path / "claims.jsonl"
        cli("export", "claims", "last", "-o", path)


@pytest.mark.parametrize("what", ANSWER_KINDS)
def test_every_format_is_json_and_hostile_texts_stay_texts(
    cli: Cli, project: Path, tmp_path: Path, what: str
) -> None:
    path = tmp_path / "out.json"
    result = cli("export", what, "-o", path, "--store", project)
    assert result.code == 0
    text = path.read_text(encoding="utf-8")
    if what in ("deepeval", "llamaindex"):
        assert json.loads(text)
    else:
        assert all(json.loads(line) for line in text.splitlines())


def test_options_of_another_export_are_refused(cli: Cli, project: Path) -> None:
    for what, option, value in (
        ("claims", "--reviewer", "ann"),
        ("langfuse", "--format", "csv"),
        ("dataset", "--limit", "3"),
        ("labels", "--sample", "1"),
        ("examples", "--license", "mit"),
    ):
        result = cli("export", what, option, value, "--store", project)
        assert result.code == 2
        assert f"takes no {option}" in result.err
    assert cli("export", "labels", "-f", "csv", "--sample", "9", "--store", project).code == 4


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("everything",), 2, "known: claims, labels, dataset"),
        (("claims", "-f", "xml"), 2, "known: jsonl, csv, parquet"),
        (("claims", "-f", "parquet"), 2, "-o FILE"),
        (("dataset",), 2, "-o FOLDER"),
        (("dataset", "-f", "csv", "-o", "x"), 2, "jsonl or parquet"),
        (("claims", "9"), 4, "no run 9"),
        (("claims", "--sample", "9"), 4, "no sample 9"),
        (("claims", "--split", "dev"), 2, " split make"),
    ],
)
def test_what_cannot_be_is_refused(
    cli: Cli, project: Path, words: tuple[str, ...], code: int, told: str
) -> None:
    result = cli("export", *words, "--store", project)
    assert (result.code, told in result.err) == (code, True)
    assert result.out == ""


def test_opening_the_test_split_is_written_down(cli: Cli, project: Path) -> None:
    with Store.open(project) as store:
        seed = next(
            seed
            for seed in range(100)
            if SplitRule(seed, 40, 20, 40).get_split_of_group("a") is Split.TEST
            and SplitRule(seed, 40, 20, 40).get_split_of_group("b") is Split.TRAIN
        )
        # Where a part would be empty a split is refused, so more groups are there.
        store.conversations.import_batch(
            [
                Conversation("more", f"m{n}", CONVERSATIONS[0].turns, group=f"m{n}")
                for n in range(30)
            ]
        )
        save_store_split(store, "ann", (40, 20, 40), seed)
    shown = cli("export", "claims", "--split", "test", "--store", project)
    assert len(lines(shown.out)) == 2
    assert "test split opened 1 time" in shown.err
    assert lines(cli("export", "claims", "--split", "train", "--store", project).out) == []
    with Store.open(project) as store:
        (opening,) = store.splits.list_test_openings()
    assert (opening.command, opening.runs) == ("export claims", (RunId(2),))


def test_every_kind_is_in_the_help(cli: Cli) -> None:
    words = " ".join(cli("export", "--help").out.split())
    assert all(f"`{each}`" in words for each in EXPORTS)


def test_a_format_that_is_no_format_is_met_with_the_one_that_was_meant(
    cli: Cli, project: Path
) -> None:
    result = cli("export", "claims", "--format", "jsonlines", "--store", project)
    assert result.code == 2
    assert result.err.endswith("known: jsonl, csv, parquet. Did you mean `jsonl`?\n")
