"""docs/back-to-the-judge.md says what the code does."""

import re
from dataclasses import replace

from faithtui.domain.estimates import FEWEST_GROUPS
from faithtui.domain.split_rule import SPLITS
from faithtui.engine.review.samples.store_split import SHARES
from faithtui.formats.example_files import FORMAT, VERSION, example_to_json
from faithtui.formats.writers.ragas_annotations import (
    INFERENCE,
    METRIC,
    STATEMENTS,
)
from faithtui.metrics.prompt_examples import MOST_LETTERS, MOST_REFERENCES, format_examples
from faithtui.metrics.registry import find_metric
from tests.docs.generate import DOCS
from tests.metrics.test_prompt_examples import EXAMPLE

PAGE = (DOCS / "back-to-the-judge.md").read_text(encoding="utf-8")


def test_the_table_of_fields_has_every_field_in_order() -> None:
    section = PAGE.split("## Examples")[1].split("\n## ")[0]
    first_cells = re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE)
    listed = [name for cell in first_cells for name in re.findall(r"`([a-z_]+)`", cell)]
    assert listed == list(example_to_json(EXAMPLE))
    assert f"`{FORMAT}`, {VERSION} |" in section


def test_the_shares_are_those_of_the_code() -> None:
    for split, share in zip(SPLITS, SHARES, strict=True):
        assert re.search(rf"^\| `{split}` \|.*\| {share} % \|$", PAGE, re.MULTILINE)
    assert f"A figure needs {FEWEST_GROUPS}\ngroups" in PAGE


def test_the_shown_example_is_what_a_judge_sees() -> None:
    note = "The page says that they are free."
    example = replace(EXAMPLE, references=EXAMPLE.references[:1], note=note)
    shown = format_examples([example], find_metric("turn-faithfulness").spec)
    digest = re.compile(r"[0-9a-f]{8}(?=>)")
    in_page = PAGE[PAGE.index("    How people decided") :].split("\n\n")[0]
    lines = [line.removeprefix("    ") for line in in_page.splitlines()]
    assert digest.sub("#", "\n".join(lines)) == digest.sub("#", shown)


def test_the_limits_and_the_names_of_ragas_are_those_of_the_code() -> None:
    assert f"an example shows {MOST_REFERENCES} of them at most" in PAGE
    assert f"up to {MOST_LETTERS:,} characters" in PAGE
    for name in (METRIC, STATEMENTS, INFERENCE):
        assert f'"{name}": ' in PAGE
