"""The commands of pages for newcomers are run as they stand, in a home of their own."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.docs.generate import DOCS, ROOT

BASH = shutil.which("bash")
PAGES = ("quickstart.md", "team.md")
FIXTURES = ROOT / "fixtures"
FILES = {
    "test_run.json": "real_formats/deepeval_test_run.json",
    "ragas.jsonl": "real_formats/ragas_single_turn.jsonl",
    "chats.jsonl": "real_formats/openai_chat.jsonl",
    "answers.csv": "real_formats/ragas_single_turn.csv",
    "traces.json": "real_formats/langfuse_traces.json",
    "conversations.jsonl": "demo/mtrag_conversations.jsonl",
}
"""Files that the pages name, and what stands for them."""

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(BASH is None, reason="there is no bash here"),
]


class Block(NamedTuple):
    """Commands that are run one after the other."""

    section: str
    commands: str
    typed: str
    """Lines for stdin, from a comment `<!-- input: y n -->` before the block."""


def blocks_of(page: str) -> Iterator[Block]:
    """Find the shell blocks of a page, with the heading each is under."""
    section = ""
    text = (DOCS / page).read_text(encoding="utf-8")
    pattern = (
        r"^## (?P<title>[^\n]+)$|(?:<!-- input: (?P<typed>[^\n]+) -->\n)?^```sh\n(?P<sh>.*?)^```$"
    )
    for found in re.finditer(pattern, text, re.MULTILINE | re.DOTALL):
        if found["title"] is not None:
            section = found["title"]
        else:
            yield Block(section, found["sh"], (found["typed"] or "").replace(" ", "\n") + "\n")


def run_blocks(blocks: list[Block], folder: Path) -> str:
    """Run blocks in a folder that holds the files they name; give what they printed."""
    commands = "\n".join(each.commands for each in blocks)
    for name, fixture in FILES.items():
        if name in commands:
            if not (FIXTURES / fixture).exists():
                pytest.skip(f"fixtures/{fixture} is not there")
            shutil.copyfile(FIXTURES / fixture, folder / name)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    printed = ""
    for each in blocks:
        done = subprocess.run(
            [str(BASH), "-euo", "pipefail", "-c", each.commands],
            cwd=folder,
            env=kept | {"PATH": path, "FAITHTUI_HOME": str(folder / "home")},
            input=each.typed,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, (each, done.stdout[-2000:], done.stderr[-2000:])
        printed += done.stdout
    return printed


@pytest.mark.parametrize(
    "section", list(dict.fromkeys(each.section for each in blocks_of("quickstart.md")))
)
def test_each_way_to_begin_comes_to_a_judged_store(section: str, tmp_path: Path) -> None:
    blocks = [each for each in blocks_of("quickstart.md") if each.section == section]
    printed = run_blocks(blocks, tmp_path)
    assert re.search(r"[1-9]\d* of \d+ conversations judged|kappa", printed), printed


def test_a_team_comes_from_a_sample_to_a_report(tmp_path: Path) -> None:
    printed = run_blocks(list(blocks_of("team.md")), tmp_path)
    assert "4 verdicts saved; 0 of 4 claims left" in printed
    assert "4 new acts, 0 known" in printed
    report = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "ann" in report
    assert "bob" in report


def test_every_page_that_is_run_has_blocks() -> None:
    for page in PAGES:
        assert len(list(blocks_of(page))) >= 6, page
