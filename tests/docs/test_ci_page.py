"""The commands of docs/ci.md and docs/gate.md do what the pages say, without a network."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import pytest

from faithtui.agreement.gate.certificate import Certificate
from faithtui.agreement.gate.certificate_file import parse_certificate
from faithtui.agreement.gate.threshold_checks import EXIT_CODES, Thresholds
from faithtui.domain.judging.tasks import ExtractClaims, FindEvidence
from faithtui.engine.dataset_import import import_files
from faithtui.engine.review.gate.gate import MANY_FAILED
from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.request import RunRequest
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.judges.reply_recorder import hash_system_and_prompt
from faithtui.store.store import Store
from tests.docs.generate import DOCS
from tests.engine.building import CountingJudge, opened

PAGE = (DOCS / "ci.md").read_text(encoding="utf-8")
GATE = (DOCS / "gate.md").read_text(encoding="utf-8")
SHELL = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
(YAML,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def steps(yaml: str) -> list[str]:
    """List what the steps of a workflow run, but for the installation, which the tests have."""
    found = re.findall(r"^ +(?:- )?run: (?:\|\n((?: {10}.*\n)+)|(.*)\n)", yaml, re.MULTILINE)
    return [
        step
        for block, line in found
        if not (step := textwrap.dedent(block) or line).startswith("pip install")
    ]


class Weigher(CountingJudge):
    """Contradicts every sentence that says red; keeps its replies as a file for `replay:`."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    async def send(self, request: JudgeRequest) -> JudgeReply:
        reply = await super().send(request)
        said: object = None
        match request.task:
            case ExtractClaims(answers):
                said = {f"a{n}": sentences(text) for n, text in enumerate(answers)}
            case FindEvidence(groups):
                claims = [claim for group in groups for claim in group.claims]
                said = {
                    f"c{n}": {
                        "reason": "It says so.",
                        "sufficient": [] if "red" in claim else [["t0"]],
                        "partial": [],
                        "contradicts": ["t0"] if "red" in claim else [],
                        "verdict": "no" if "red" in claim else "yes",
                    }
                    for n, claim in enumerate(claims)
                }
        if said is not None:
            reply = JudgeReply(json.dumps(said), structured=True)
        digest = hash_system_and_prompt(request.system, request.prompt)
        self.lines.append(json.dumps({"prompt_sha256": digest, "reply": reply.text}))
        return reply


def sentences(text: str) -> list[str]:
    return [f"{part.strip()}." for part in text.split(".") if part.strip()]


def conversation(key: str, answer: str, labels: Sequence[str] = ()) -> dict[str, object]:
    """Make a line of an import file, each sentence of the answer with a label."""
    return {
        "id": key,
        "turns": [
            {"role": "user", "content": f"What about parcel {key}?"},
            {"role": "assistant", "content": answer,
             "retrieval_context": [f"Parcel {key} is blue and light."]},
        ],
        "human_labels": [
            {"turn": 1, "annotator": "ann", "scale": "ours", "label": label, "span": {"text": text}}
            for text, label in zip(sentences(answer), labels, strict=False)
        ],
    }  # fmt: skip


def labelled() -> list[dict[str, object]]:
    """People agree with the judge, but on every seventh conversation."""
    return [
        conversation(
            f"l{n}",
            f"Parcel l{n} is blue. Parcel l{n} is light. Parcel l{n} is red. It is dark red {n}.",
            ("no" if n % 7 == 0 else "yes", "yes", "no", "yes" if n % 7 == 3 else "no"),
        )
        for n in range(28)
    ]


def answers(red: int) -> list[dict[str, object]]:
    """What nobody labelled; so many of 30 answers are wrong in their second sentence."""
    return [
        conversation(
            f"n{n}", f"Parcel n{n} is light. Parcel n{n} is {'red' if n < red else 'blue'}."
        )
        for n in range(30)
    ]


def write(path: Path, lines: Sequence[object]) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with data and the judge's recorded replies."""
    made = tmp_path_factory.mktemp("ci")
    files = [write(made / "labelled.jsonl", labelled())]
    files += [write(made / f"answers{red}.jsonl", answers(red)) for red in (3, 30)]
    judge, replies = Weigher(), made / "replies.jsonl"
    replies.write_text("")
    for file in files:
        with Store.open(made / f"{file.stem}.db") as store:
            import_files(store, [file], report=lambda progress: None)
            order = RunRequest(judge=f"replay:{replies}")
            run = run_planner.save_planned_run(store, order, environ={})
            asyncio.run(runner.execute_run(store, run, lambda event: None, judge=opened(judge)))
    replies.write_text("\n".join(judge.lines), encoding="utf-8")
    shutil.copy(made / "answers3.jsonl", made / "answers.jsonl")
    return made


@pytest.fixture
def checkout(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "checkout"))


def shell(script: str, checkout: Path) -> subprocess.CompletedProcess[str]:
    """Run a step as the service does: stop at the first command that fails."""
    bin_ = Path(sys.executable).parent
    environment = {
        "PATH": os.pathsep.join([str(bin_), os.environ["PATH"]]),
        "FAITHTUI_HOME": str(checkout / "home"),
        "JUDGE": "replay:replies.jsonl",
    }
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_steps_are_found() -> None:
    assert len(SHELL) == 1
    assert [len(step.splitlines()) for step in steps(YAML)] == [2, 1]


@pytest.mark.thorough
def test_the_workflow_passes_a_good_version_and_fails_a_bad_one(checkout: Path) -> None:
    collector = shell(SHELL[0], checkout)
    assert collector.returncode == 0, collector.stderr
    certificate = parse_certificate((checkout / "certificate.json").read_bytes())
    assert certificate.labels.n == 112
    assert "Parcel" not in (checkout / "certificate.json").read_text()
    judge, gate = steps(YAML)
    assert shell(judge, checkout).returncode == 0
    passed = shell(gate, checkout)
    assert passed.returncode == 0, passed.stderr
    found = json.loads((checkout / "gate.json").read_text())
    assert (found["result"], found["exit_code"]) == ("passed", 0)

    shutil.copy(checkout / "answers30.jsonl", checkout / "answers.jsonl")
    (checkout / "ci.db").unlink()
    assert shell(judge, checkout).returncode == 0
    assert shell(gate, checkout).returncode == 1

    other = judge.replace("run --judge", "run --option window_size=3 --judge")
    assert shell(other.splitlines()[1], checkout).returncode == 0
    stale = shell(gate, checkout)
    assert stale.returncode == 3
    assert "window size: 10 was certified, here it is 3" in stale.stderr

    offline = "faithtui run --judge offline --store ci.db && " + gate
    replaced = shell(offline, checkout)
    assert replaced.returncode == 3
    assert "judge: replay:replies.jsonl was certified, offline judged" in replaced.stderr


def test_the_codes_and_limits_of_the_page_are_those_of_the_code() -> None:
    for outcome, code in EXIT_CODES.items():
        name = "stale or broken" if code == 3 else outcome.value
        assert f"| {code} | {name} |" in GATE
    assert (
        f"| `--min-labels N` | units that judge and annotators both labelled and that enter the "
        f"figures | {Thresholds().labels} |" in GATE
    )
    assert f"more than {MANY_FAILED:.0%} of the conversations".replace("%", " %") in GATE
    for field in fields(Certificate):
        assert f"`{field.name}`" in GATE


@pytest.mark.thorough
def test_the_example_on_top_is_the_demo(tmp_path: Path) -> None:
    script, *shown = re.findall(r"```text\n\$ (faithtui gate[^\n]*)\n(.*?)\$ echo \$\?\n(\d)\n```",
                                GATE, re.DOTALL)[0]  # fmt: skip
    made = shell("faithtui demo --no-app --store demo.db", tmp_path)
    assert made.returncode == 0, made.stderr
    ran = shell(f"{script} --store demo.db", tmp_path)
    assert [ran.stdout, str(ran.returncode)] == shown
