"""Corrections go back to the judge: split, export, run with examples, compare, open the test."""

import asyncio
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.domain.conversation import Conversation
from faithtui.domain.ids import RunId
from faithtui.domain.judging.tasks import FindEvidence
from faithtui.domain.split_rule import SPLITS, Split, SplitRule
from faithtui.engine.review.examples_from_labels import ExampleRequest, collect_examples
from faithtui.engine.review.samples.store_split import save_store_split
from faithtui.engine.runs import runner
from faithtui.formats.example_files import example_lines
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.judges.reply_recorder import hash_system_and_prompt
from faithtui.store.store import Store
from tests.cli.conftest import Cli
from tests.engine.building import (
    CountingJudge,
    conversation,
    label_claims,
    make_finished_run,
    opened,
    planned,
    store_with,
)

RULE = SplitRule(0, 60, 20, 20)
CONVERSATIONS = 24


def make_conversations() -> list[Conversation]:
    """Conversations of one answer each; every second one is wrong by what people say."""
    return [conversation(f"t{number}", 1) for number in range(CONVERSATIONS)]


def is_right(claim: str) -> bool:
    """Whether people support a claim: that of an even conversation."""
    return int(claim.split("Parcel t")[1].split("-")[0]) % 2 == 0


def decide(claim: str) -> str:
    """Say what people say of a claim."""
    return "yes" if is_right(claim) else "no"


class Learner(CountingJudge):
    """Supports everything, until it is shown examples: then it decides as people do.

    Keeps what it was asked and said in the form of a file for `replay:`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    async def send(self, request: JudgeRequest) -> JudgeReply:
        reply = await super().send(request)
        if isinstance(request.task, FindEvidence) and "How people decided" in request.prompt:
            said = json.loads(reply.text)
            claims = [claim for group in request.task.groups for claim in group.claims]
            for key, claim in zip(said, claims, strict=True):
                if not is_right(claim):
                    named = [each for truths in said[key]["sufficient"] for each in truths]
                    said[key] |= {"verdict": "no", "sufficient": [], "contradicts": named}
            reply = JudgeReply(json.dumps(said), structured=True)
        digest = hash_system_and_prompt(request.system, request.prompt)
        self.lines.append(json.dumps({"prompt_sha256": digest, "reply": reply.text}))
        return reply


def recorded(store: Path, file: Path, **order: object) -> Path:
    """Record what the judge would say to a run, in a copy of the store.

    Args:
        store: A store with conversations.
        file: Where to write; afterwards `replay:FILE` is that judge.
        order: Fields of the run's order.
    """
    copy = Path(shutil.copy(store, file.with_suffix(".copy")))
    file.write_text("", encoding="utf-8")
    with Store.open(copy) as opened_store:
        run = planned(opened_store, judge=f"replay:{file}", **order)
        judge = Learner()
        asyncio.run(runner.execute_run(opened_store, run, lambda event: None, judge=opened(judge)))
    file.write_text("\n".join(judge.lines), encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to copy from, since labels wait for the disk.

    `project.db` has a run that supports every claim, and every claim labelled blind. `taught.db` is
    split too, and has a second run whose judge was shown the corrections of the train split,
    `train.jsonl`.
    """
    folder = tmp_path_factory.mktemp("made")
    path = folder / "project.db"
    store_with(path, make_conversations()).close()
    plain = recorded(path, folder / "plain.jsonl")
    with Store.open(path) as store:
        label_claims(
            store,
            make_finished_run(store, judge=f"replay:{plain}"),
            decide,
            note="Weighed it.",
            code="verdict",
        )
    with Store.open(Path(shutil.copy(path, folder / "taught.db"))) as store:
        save_store_split(store, "ann")
        found = collect_examples(store, RunId(1), ExampleRequest(split=Split.TRAIN))
        train = folder / "train.jsonl"
        train.write_text("".join(example_lines(found.examples)), encoding="utf-8")
    taught = recorded(folder / "taught.db", folder / "taught.jsonl", examples=train)
    with Store.open(folder / "taught.db") as store:
        make_finished_run(store, judge=f"replay:{taught}", examples=train)
    return folder


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made / "project.db", tmp_path))


@pytest.fixture
def taught(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made / "taught.db", tmp_path))


@pytest.fixture
def train(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made / "train.jsonl", tmp_path))


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def keys_in(split: str) -> set[str]:
    return {
        each.key for each in make_conversations() if RULE.get_split_of_group(each.group) == split
    }


def test_a_split_is_made_once_shown_and_frozen(cli: Cli, project: Path) -> None:
    assert " split make" in cli("split", "--store", project).err
    assert cli("split", "--store", project, "--json").json is None
    made = cli("split", "make", "--reviewer", "bo", "--store", project)
    assert made.code == 0
    assert made.out.startswith("made by bo on ")
    told = cli("split", "--store", project, "--json").json
    counts = {split: len(keys_in(split)) for split in SPLITS}
    assert (told["conversations"], told["groups"]) == (counts, counts)
    assert (told["seed"], told["shares"]) == (0, {"train": 60, "dev": 20, "test": 20})
    again = cli("split", "make", "--shares", "60,20,20", "--store", project)
    assert (again.code, again.out) == (0, made.out)
    for other in (("--shares", "50,25,25"), ("--seed", "1")):
        refused = cli("split", "make", *other, "--store", project)
        assert refused.code == 4
        assert "split already, 60,20,20 with seed 0" in refused.err
    assert cli("split", "--store", project, "--json").json == told


def test_conversations_that_come_later_move_nobody(cli: Cli, project: Path) -> None:
    cli("split", "make", "--store", project)
    before = cli("export", "examples", "--all", "--store", project).out
    with Store.open(project) as store:
        store.conversations.import_batch([conversation(f"late{n}") for n in range(30)])
    assert cli("export", "examples", "--all", "--store", project).out == before
    counts = cli("split", "--store", project, "--json").json["conversations"]
    assert sum(counts.values()) == CONVERSATIONS + 30


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("make", "--shares", "60,40"), "expected percent of train, dev and test"),
        (("make", "--shares", "60,20,30"), "that make 100, such as 60,20,20"),
        (("make", "--shares", "a,b,c"), "--shares is `a,b,c`"),
        (("show", "--seed", "1"), "--shares and --seed belong to "),
        (("burn",), "known: show, make"),
        (("make", "--shares", "98,1,1"), "no conversation would be in dev: there are 24 groups"),
    ],
)
def test_a_split_that_cannot_be_is_refused(
    cli: Cli, project: Path, words: tuple[str, ...], message: str
) -> None:
    found = cli("split", *words, "--store", project)
    assert (found.code, message in found.err) == (2, True), found.err
    assert cli("split", "--store", project, "--json").json is None


def test_corrections_go_all_the_way_back(
    cli: Cli, project: Path, made: Path, tmp_path: Path
) -> None:
    """Split, export, run with them, compare: by commands alone."""
    train = tmp_path / "mine.jsonl"
    assert cli("split", "make", "--store", project).code == 0
    done = cli("export", "examples", "1", "--split", "train", "-o", train, "--store", project)
    assert (done.code, done.out) == (0, f"{train}\n")
    assert train.read_bytes() == (made / "train.jsonl").read_bytes()
    judge = f"replay:{made / 'taught.jsonl'}"
    ran = cli("run", "--judge", judge, "--examples", train, "--split", "dev", "--store", project)
    assert ran.code == 0, ran.err
    newest = cli("runs", "--store", project, "--json").json[0]
    assert newest["conversations"] == len(keys_in("dev"))
    told = cli("compare", "1", "last", "--split", "dev", "--store", project, "--json").json
    assert told["accuracy_difference"]["value"] > 0
    nothing = cli("compare", "2", "1", "--split", "train", "--store", project)
    assert (nothing.code, "have no claim in the train split" in nothing.err) == (2, True)


def test_corrections_are_exported_with_all_that_they_rest_on(train: Path) -> None:
    found = read(train)
    wrong = {key for key in keys_in("train") if int(key[1:]) % 2}
    assert {each["conversation"] for each in found} == wrong
    one = next(each for each in found if each["conversation"] == min(wrong))
    fact = f"Parcel {min(wrong)}-0 weighs 1 kilograms."
    assert one == {
        "type": "faithtui-example",
        "version": 1,
        "metric": "turn-faithfulness",
        "run": 1,
        "judge": one["judge"],
        "source": "parcels",
        "conversation": min(wrong),
        "group": f"parcels/{min(wrong)}",
        "split": "train",
        "turn": 1,
        "claim_id": one["claim_id"],
        "kind": "claim",
        "question": "What does parcel 0 weigh?",
        "claim": fact,
        "passages": [f"{fact} It is blue."],
        "references": [
            {"text": fact, "stance": "supports"},
            {"text": "It is blue.", "stance": None},
        ],
        "judge_verdict": "yes",
        "judge_reason": "It says so.",
        "human_verdict": "no",
        "agrees": False,
        "reviewers": 1,
        "blind": True,
        "code": "verdict",
        "note": "Weighed it.",
    }


def test_which_examples_are_exported_can_be_chosen(cli: Cli, project: Path) -> None:
    def exported(*words: str) -> list[str]:
        found = cli("export", "examples", "1", *words, "--store", project)
        assert found.code == 0, found.err
        return found.out.splitlines()

    wrong = exported()
    assert len(wrong) == CONVERSATIONS // 2
    everything = exported("--all")
    assert len(everything) == CONVERSATIONS
    assert [line for line in everything if '"agrees": false' in line] == wrong
    five = exported("--limit", "5")
    assert len(five) == 5
    assert set(five) < set(wrong)
    assert exported("--limit", "5", "--seed", "0") == five
    assert exported("--limit", "5", "--seed", "1") != five
    assert cli("export", "examples", "--limit", "0", "--store", project).code == 2
    refused = cli("export", "examples", "--split", "dev", "--store", project)
    assert (refused.code, " split make" in refused.err) == (2, True)
    assert (
        "there is no split `exam`"
        in cli("export", "examples", "--split", "exam", "--store", project).err
    )


@pytest.mark.thorough
def test_words_of_several_people_are_put_together(cli: Cli, project: Path) -> None:
    with Store.open(project) as store:
        label_claims(
            store,
            RunId(1),
            decide,
            reviewers=("bo", "cy"),
            saw_judge=True,
            note="Seen.",
            code="truth",
        )
        label_claims(
            store, RunId(1), lambda claim: "yes", reviewers=("di",), note="No, it is right."
        )
        label_claims(
            store, RunId(1), lambda claim: None if is_right(claim) else "x", reviewers=("eve",)
        )
    found = [
        json.loads(line) for line in cli("export", "examples", "--store", project).out.splitlines()
    ]
    assert len(found) == CONVERSATIONS // 2
    for each in found:
        assert (each["human_verdict"], each["reviewers"], each["blind"]) == ("no", 5, False)
        assert each["note"].splitlines() == ["Weighed it.", "Seen."]
        assert each["code"] == "truth"


def test_options_of_another_export_are_refused(cli: Cli, project: Path, tmp_path: Path) -> None:
    for words, message in (
        (("labels", "--all"), "takes no --all; it takes --format, --reviewer"),
        (("examples", "--reviewer", "ann"), "takes no --reviewer"),
        (("ragas", "--limit", "3"), "takes no --limit; it takes --split"),
        (("ragas", "-o", str(tmp_path / "a.jsonl")), "whose name ends in .json"),
        (("labels", "1", "--run", "1"), "the run is named twice"),
        (("jokes",), "known: claims, labels"),
    ):
        found = cli("export", *words, "--store", project)
        assert (found.code, message in found.err) == (2, True), found.err


def test_reviewed_answers_are_exported_for_ragas(cli: Cli, project: Path, tmp_path: Path) -> None:
    path = tmp_path / "annotations.json"
    done = cli("export", "ragas", "1", "-o", path, "--store", project)
    assert done.code == 0
    assert f"{CONVERSATIONS} answers of which every statement has a human label" in done.err
    samples = json.loads(path.read_text(encoding="utf-8"))["faithfulness"]
    assert len(samples) == CONVERSATIONS
    first, second = samples[:2]
    fact = "Parcel t1-0 weighs 1 kilograms."
    assert second["metric_input"] == {
        "user_input": "What does parcel 0 weigh?",
        "response": fact,
        "retrieved_contexts": [f"{fact} It is blue."],
    }
    assert (first["metric_output"], second["metric_output"]) == (1.0, 0.0)
    inference = second["prompts"]["n_l_i_statement_prompt"]
    assert inference["prompt_output"]["statements"][0]["verdict"] == 1
    assert inference["edited_output"]["statements"] == [
        {"statement": fact, "reason": "Weighed it.", "verdict": 0}
    ]
    assert first["prompts"]["n_l_i_statement_prompt"]["edited_output"] is None
    cli("split", "make", "--store", project)
    part = cli("export", "ragas", "1", "--split", "dev", "--store", project).out
    assert len(json.loads(part)["faithfulness"]) == len(keys_in("dev"))


def test_answers_that_are_reviewed_in_part_are_left_out_for_ragas(cli: Cli, judged: Path) -> None:
    with Store.open(judged) as store:
        label_claims(store, RunId(1), lambda claim: None if "a-1" in claim else "x")
        first, _ = store.runs.list_item_ids(RunId(1))
        claim, _ = store.runs.read_conversation_for_review(first, "").claims
        assert "a-0" in claim.text
    found = cli("export", "ragas", "--store", judged)
    assert json.loads(found.out) == {"faithfulness": []}
    assert "0 answers of which every statement" in found.err
    assert "left out: 2 answers without any fair statement" in found.err


def test_ragas_takes_no_run_that_judged_something_else(cli: Cli, judged: Path) -> None:
    ran = cli("run", "--metric", "llamaindex-faithfulness", "--store", judged)
    assert ran.code == 0, ran.err
    found = cli("export", "ragas", "last", "--store", judged)
    assert (found.code, "judged answers" in found.err) == (2, True)


def test_the_embedded_judge_takes_no_examples(cli: Cli, project: Path, train: Path) -> None:
    refused = cli("run", "--judge", "offline", "--examples", train, "--store", project)
    assert refused.code == 2
    assert "offline computes its answers and reads no prompt" in refused.err
    assert len(cli("runs", "--store", project, "--json").json) == 1


def test_examples_of_other_splits_are_refused(cli: Cli, taught: Path, tmp_path: Path) -> None:
    leaked = tmp_path / "dev.jsonl"
    cli("export", "examples", "1", "--split", "dev", "-o", leaked, "--store", taught)
    refused = cli("run", "--judge", "openai:m", "--examples", leaked, "--store", taught)
    assert refused.code == 2
    assert "example 1 is of the dev split" in refused.err
    assert "export with --split train" in refused.err
    missing = cli("run", "--judge", "offline", "--examples", tmp_path / "no", "--store", taught)
    assert (missing.code, "cannot be read" in missing.err) == (3, True)


def test_a_run_with_examples_is_its_own_run_and_can_be_resumed(
    cli: Cli, taught: Path, train: Path
) -> None:
    with Store.open(taught) as store:
        after, before = (row.spec for row in store.runs.list_runs())
        assert after.prompt_digest != before.prompt_digest
        assert (before.example_set, after.metric_version) == (None, before.metric_version)
        assert after.example_set is not None
        assert list(store.examples.read_set(after.example_set)) == read(train)
    # The file is not needed: the store has them.
    assert cli("run", "--resume", "2", "--store", taught).code == 0


def test_the_paired_change_is_printed(cli: Cli, taught: Path) -> None:
    found = cli("compare", "1", "2", "--split", "dev", "--store", taught)
    assert (found.code, found.err) == (0, "")
    lines = found.out.splitlines()
    assert lines[0].startswith("A is run 1: turn-faithfulness by replay:")
    assert lines[1].endswith(", shown examples")
    assert "Intervals of a difference are the wider of two" in found.out
    assert lines[2] == (
        f"{len(keys_in('dev'))} claims of the dev split in {len(keys_in('dev'))} groups of "
        "conversations, judged by both and labelled by annotators"
    )
    told = cli("compare", "1", "2", "--split", "dev", "--store", taught, "--json").json
    wrong = sum(int(key[1:]) % 2 for key in keys_in("dev"))
    number = len(keys_in("dev"))
    assert told["claims"] == told["groups"] == number
    assert told["accuracy_a"]["value"] == pytest.approx(1 - wrong / number)
    assert told["accuracy_b"]["value"] == pytest.approx(1)
    assert told["accuracy_difference"]["value"] == pytest.approx(wrong / number)
    assert told["kappa_difference"]["value"] == pytest.approx(1)
    assert (told["only_a_right"], told["only_b_right"]) == (0, wrong)
    assert told["signflip_p"] == pytest.approx(0.5 ** (wrong - 1))
    assert told["mcnemar_mid_p_if_independent"] == pytest.approx(0.5**wrong)
    assert told["test_openings"] is None
    assert "if claims were independent" in found.out


def test_compare_and_report_weigh_labels_alike(cli: Cli, taught: Path, tmp_path: Path) -> None:
    with Store.open(taught) as store:
        frame = store.samples.read_frame(RunId(1), ("verdict",))
        plan = SamplePlan(SamplingDesign.STRATIFIED, 1, 10)
        drawn = make_sample_draw(frame, plan)
        row = store.samples.save_draw_as_sample(
            RunId(1), "ann", drawn, plan, name="s", stratified_by=("verdict",)
        )
    assert cli("compare", "1", "2", "--store", taught).code == 0  # every claim is labelled
    with sqlite3.connect(taught) as connection:
        chosen = "SELECT claim_id FROM sample_claim"
        connection.execute(f"DELETE FROM human_label WHERE claim_id NOT IN ({chosen})")
    connection.close()
    shown = cli("compare", "1", "2", "--store", taught)
    assert "by the sample «s» of run 1: each claim counts for as many as it stands for" in shown.out
    for a, b in (("1", "2"), ("2", "1")):
        told = cli("compare", a, b, "--store", taught, "--json").json
        asked = cli("compare", a, b, "--sample", row.id, "--store", taught, "--json").json
        assert asked == told
        assert (told["sample"], told["weighted"]) == ("s", True)
        cli("report", a, "--compare", b, "-f", "json", "-o", tmp_path / a, "--store", taught)
        report = json.loads((tmp_path / a / "report.json").read_text())["comparison"]
        assert report["n_common"] == told["claims"]
        for mine, its in (
            ("accuracy_a", "accuracy_a"),
            ("accuracy_b", "accuracy_b"),
            ("accuracy_difference", "difference"),
        ):
            for part in ("value", "ci_low", "ci_high"):
                written = report[its][part]
                assert written == pytest.approx(told[mine][part], abs=5e-7), (mine, part)
        assert report["signflip_p"] == pytest.approx(told["signflip_p"], abs=5e-7)


def test_what_a_judge_was_shown_is_not_what_it_is_compared_on(cli: Cli, taught: Path) -> None:
    told = cli("compare", "1", "2", "--store", taught, "--json").json
    shown = sum(int(key[1:]) % 2 for key in keys_in("train"))
    assert told["left_out"]["shown_as_examples"] == shown
    assert told["claims"] == CONVERSATIONS - shown
    refused = cli("compare", "1", "1", "--store", taught)
    assert (refused.code, "both are run 1" in refused.err) == (2, True)


def test_claims_without_a_word_are_left_out_and_counted(cli: Cli, taught: Path) -> None:
    with Store.open(taught) as store:
        label_claims(
            store, RunId(1), lambda claim: "x" if "t0-" in claim else None, reviewers=("ann",)
        )
        for _ in range(2):
            store.label_log.undo("ann")
    found = cli("compare", "1", "2", "--store", taught)
    assert "left out: 1 claim without a human label that counts" in found.out
    with Store.open(taught) as store:
        label_claims(store, RunId(1), lambda claim: "x" if "t2-" in claim else None, saw_judge=True)
    found = cli("compare", "1", "2", "--store", taught)
    assert "left out: 1 claim labelled x, not a fair claim" in found.out


def test_labels_given_with_a_judge_in_view_are_told(cli: Cli, taught: Path) -> None:
    with Store.open(taught) as store:
        label_claims(
            store, RunId(1), lambda claim: "yes" if "t0-" in claim else None, saw_judge=True
        )
    found = cli("compare", "1", "2", "--store", taught)
    assert "labelled with a judge's verdict shown, which favours that judge: " in found.out


def test_the_test_split_is_opened_once_and_every_look_counted(cli: Cli, taught: Path) -> None:
    first = cli("compare", "1", "2", "--split", "test", "--store", taught)
    assert first.code == 0
    assert "test split opened 1 time: this is the look it was kept for" in first.err
    second = cli("--reviewer", "bo", "compare", "1", "2", "--split", "test", "--store", taught)
    assert "test split opened 2 times: it is no longer untouched" in second.err
    third = cli("export", "examples", "2", "--split", "test", "--all", "--store", taught)
    assert "test split opened 3 times" in third.err
    told = cli("split", "--store", taught, "--json").json["test_openings"]
    assert [(each["by"], each["command"], each["runs"]) for each in told] == [
        ("ann", "compare", [1, 2]),
        ("bo", "compare", [1, 2]),
        ("ann", "export examples", [2]),
    ]
    assert "test split opened 3 times" in cli("split", "--store", taught).out


def test_a_report_can_be_of_one_split(cli: Cli, taught: Path, tmp_path: Path) -> None:
    def report(*words: str | Path) -> Any:
        found = cli("report", "2", "-f", "json", *words, "--store", taught)
        assert found.code == 0, found.err
        return json.loads(found.out), found.err

    whole, _ = report()
    parts = {split: report("--split", split, "--compare", "1") for split in SPLITS}
    for split, (found, told) in parts.items():
        coverage, (scope,) = found["coverage"], found["scope"]["runs"]
        assert (coverage["units"], coverage["windows"]) == (len(keys_in(split)),) * 2
        assert scope["name"].startswith(f"the {split} split of all sources; ")
        shown = sum(int(key[1:]) % 2 for key in keys_in("train")) if split == "train" else 0
        assert found["comparison"]["n_common"] == len(keys_in(split)) - shown
        assert ("test split opened 1 time" in told) is (split == "test")
    assert whole["coverage"]["units"] == CONVERSATIONS
    folder = tmp_path / "report"
    again = cli("report", "2", "--split", "test", "-f", "md", "-o", folder, "--store", taught)
    assert "test split opened 2 times: it is no longer untouched" in again.err
    written = (folder / "report.md").read_text(encoding="utf-8")
    assert "over the test split of all sources" in written
    told = cli("split", "--store", taught, "--json").json["test_openings"]
    assert [(each["command"], each["runs"]) for each in told] == [
        ("report", [2, 1]),
        ("report", [2]),
    ]


def test_a_report_of_a_split_that_there_is_not_counts_nothing(cli: Cli, project: Path) -> None:
    refused = cli("report", "1", "--split", "test", "--store", project)
    assert (refused.code, "not split yet" in refused.err) == (2, True)
    cli("split", "make", "--store", project)
    assert cli("split", "--store", project, "--json").json["test_openings"] == []


def test_a_look_at_everything_is_a_look_at_the_test_part_too(cli: Cli, taught: Path) -> None:
    assert "test split opened 1 time" in cli("compare", "1", "2", "--store", taught).err
    assert cli("compare", "1", "2", "--split", "dev", "--store", taught).err == ""


def test_a_report_that_looks_at_the_test_part_unasked_says_so(cli: Cli, taught: Path) -> None:
    within = len(keys_in("test"))
    whole = cli("report", "2", "--store", taught)
    assert f"{within} labelled conversation" in whole.err
    assert "of the test split" in whole.err
    assert "this use is not counted" in whole.err
    assert cli("report", "2", "--split", "dev", "--store", taught).err == ""
    assert cli("split", "--store", taught, "--json").json["test_openings"] == []


def test_an_export_with_nothing_to_write_says_why(cli: Cli, project: Path, tmp_path: Path) -> None:
    """No labels, and labels that all agree with the judge, are told apart."""
    plain = tmp_path / "plain.db"
    store_with(plain, [conversation("new")]).close()
    assert cli("run", "--store", plain).code == 0
    for what in ("examples", "ragas"):
        unlabelled = cli("export", what, "--store", plain)
        assert unlabelled.code == 0
        assert "no claim of run 1 has a human label that counts here" in unlabelled.err
    with Store.open(plain) as store:
        label_claims(store, RunId(1), lambda claim: "yes")
        agreeing = {each.judge for each in store.labelled_units.read_claim_units(RunId(1))}
    assert agreeing == {"yes"}
    found = cli("export", "examples", "--store", plain)
    assert (found.code, found.out) == (0, "")
    assert "annotators agree with the judge on 2 labelled claims; add such claims with --all" in (
        found.err
    )
    told = cli("export", "examples", "1", "--store", project).err
    assert "nothing to write" not in told
