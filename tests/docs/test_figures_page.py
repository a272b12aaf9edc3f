"""The tables of docs/figures.md are what the command prints, and its rules are the code's."""

import re
from pathlib import Path

import pytest

from faithtui.agreement.imported_scores.label_scales import (
    Pooling,
    ScaleReading,
    make_scale_convention,
)
from faithtui.agreement.rating_scales import RATING_SCALES
from faithtui.cli.main import app
from tests.docs.generate import DOCS

DEMO = Path(__file__).parents[2] / "fixtures" / "demo"
PAGE = (DOCS / "figures.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"```text\n\$ faithtui figures ([^\n]*)\n(.*?)```", PAGE, re.DOTALL))


@pytest.mark.parametrize("words", [words for words in BLOCKS if "mtrag" in words])
def test_the_tables_of_mtrag_are_printed_by_the_command(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = [word if word.startswith("--") else str(DEMO / word) for word in words.split()]
    app(["figures", *typed], standalone_mode=False)
    assert capsys.readouterr().out == BLOCKS[words]


@pytest.mark.parametrize(
    "name", [scale.name for scale in RATING_SCALES if scale.name != "faithbench-span"]
)
def test_the_order_of_each_scale_is_that_of_the_code(name: str) -> None:
    rule = make_scale_convention(name)
    failing = rule.levels[: -len(rule.passing)]
    assert f"| `{name}` | {' < '.join(failing)} | {' < '.join(rule.passing)} |" in PAGE


def test_every_reading_and_every_way_of_pooling_is_explained() -> None:
    for word in (*ScaleReading, *Pooling):
        assert f"`{word.value}`" in PAGE


def test_the_example_on_top_is_in_the_table() -> None:
    table = BLOCKS["mtrag_conversations.jsonl mtrag_model_answers.jsonl"].split("\n== ")[1]
    for shown in ("0.496 [", "0.654 [", "0.906 [", "0.800 ["):
        assert shown in table
    assert "ordinal alpha of 0.50" in PAGE
    assert "correlation of 0.65" in PAGE
    assert "AUROC of 0.91" in PAGE
