"""Prose that states what the code does is compared with the code."""

import ast
import re
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path

import pytest

from faithtui.agreement import confusion_matrix
from faithtui.agreement.report import settings, warnings
from faithtui.agreement.statistics import coefficients
from faithtui.domain.labels.label_events import COUNTED_ACTIONS, Action
from faithtui.domain.scores import (
    ClaimOccurrence,
    Score,
    ScoreSet,
    ScoreState,
    ScoringRule,
    WindowLabels,
    score_conversation,
)
from faithtui.formats.json_lines import read_json_lines
from faithtui.formats.readers.conversation_json import conversation_from_json
from faithtui.metrics.registry import METRICS
from faithtui.store.records import ItemState, RunState
from tests.docs.generate import DOCS, weights_of

PAGES = sorted(DOCS.rglob("*.md"))


def page(name: str) -> str:
    """Read a page."""
    return (DOCS / name).read_text(encoding="utf-8")


def codes_of(path: Path) -> Iterator[str]:
    """Find every code that the module gives a warning or a table."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        first = node.args[0]
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in ("make_warning", "ReportWarning", "append") and isinstance(first, ast.Constant):
            yield str(first.value)


def test_the_table_of_warnings_has_every_code_and_no_other() -> None:
    section = page("agreement.md").split("## Warnings")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `([a-z_]+)` \|", section, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == {
        code for module in (warnings, coefficients) for code in codes_of(Path(str(module.__file__)))
    }


def test_the_limits_in_the_warnings_are_those_of_the_code() -> None:
    text = page("agreement.md")
    assert f"fewer than {confusion_matrix.FEW_ITEMS} units compared" in text
    assert f"fewer than {warnings.FEW_GROUPS} groups" in text
    assert f"fewer than {settings.FEW_MINORITY} unfaithful units" in text
    assert f"agreement of {coefficients.HIGH_AGREEMENT:.2f} or more" in text
    assert f"at least {coefficients.KAPPA_GAP:.2f} below" in text
    assert f"above {coefficients.MARGINAL_GAP:.2f}" in text


@pytest.mark.parametrize(
    ("human", "windows"),
    [
        ({}, "0, 1/2, 2/3"),
        ({0: "yes"}, "1, 1, 1"),
        ({2: "no"}, "0, 1/2, 1/3"),
        ({0: "x"}, "undefined, then 1/1, 2/2"),
    ],
)
def test_the_example_by_hand_has_the_scores_that_the_code_gives(
    human: Mapping[Hashable, str], windows: str
) -> None:
    scores, each = scored(("no", "yes", "yes"), human)
    values = (scores.windowed.value, scores.per_interaction.value, scores.pooled.value)
    numbers = " | ".join(f"{value:.3f}" for value in values if value is not None)
    assert f"| {windows} | {numbers} |" in page("metrics/turn-faithfulness.md")
    by_hand = [
        int(top) / int(bottom or 1) for top, bottom in re.findall(r"(\d)(?:/(\d))?", windows)
    ]
    defined = [one.value for one in each if one.value is not None]
    assert defined == pytest.approx(by_hand)
    assert scores.windowed.undefined == len(each) - len(defined) == windows.count("undefined")


def test_the_same_mistake_at_the_end_passes() -> None:
    scores, _ = scored(("yes", "yes", "no"), {})
    assert f"windowed {scores.windowed.value:.3f}: passes" in page("metrics/turn-faithfulness.md")


def scored(
    labels: tuple[str, ...], human: Mapping[Hashable, str]
) -> tuple[ScoreSet, tuple[Score, ...]]:
    """Score one-claim interactions in windows that reach back to the first."""
    windows = [
        WindowLabels(
            tuple(range(last + 1)),
            tuple(ClaimOccurrence(claim, claim, labels[claim]) for claim in range(last + 1)),
        )
        for last in range(len(labels))
    ]
    return score_conversation(windows, ScoringRule(("yes", "idk"), when_empty=None), human)


@pytest.mark.parametrize(("number", "size"), [(1, 10), (3, 10), (12, 10), (12, 2), (7, 1)])
def test_weights_of_positions_sum_to_one(number: int, size: int) -> None:
    assert sum(weights_of(number, size)) == pytest.approx(1)


def test_the_weight_of_the_first_position_is_what_a_mistake_there_costs() -> None:
    scores, _ = scored(("no", "yes", "yes"), {})
    assert scores.windowed.value == pytest.approx(1 - weights_of(3, 10)[0])


def test_the_example_line_of_the_import_format_is_read(tmp_path: Path) -> None:
    example = page("data-model.md").split("```json\n")[1].split("```")[0]
    path = tmp_path / "shop.jsonl"
    path.write_text(" ".join(example.splitlines()), encoding="utf-8")
    (line,) = read_json_lines(path)
    assert isinstance(line.found, dict)
    conversation = conversation_from_json(line.found, source="shop").conversation
    first, second = conversation.ratings
    assert (first.claim, second.claim, second.label) == ("Returns are free.", None, "2")
    assert conversation.group == "conversation_id:order-17"


def test_every_state_and_every_act_is_explained() -> None:
    text = page("data-model.md")
    for state in (*RunState, *ItemState, *ScoreState):
        assert f"`{state.value}`" in text
    for action in Action:
        row = re.search(
            rf"^\|[^|]*`{action.value}`[^|]*\|[^|]*\| *([^|]*) *\|$", text, re.MULTILINE
        )
        assert row, action
        assert row[1].startswith("yes") == (action in COUNTED_ACTIONS), action


def test_every_metric_has_a_page() -> None:
    for each in METRICS:
        assert (DOCS / "metrics" / f"{each.spec.key}.md").is_file()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_links_lead_somewhere_and_no_path_is_of_one_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)", prose):
        linked = path.parent / target if target else path
        assert linked.exists(), target
        if anchor:
            assert anchor in anchors(linked), anchor
    assert not re.search(r"(?<![\w.])/(home|work|tmp|root|Users)/", text)


def anchors(path: Path) -> set[str]:
    """List the anchors of a page's headings, as repositories on the web make them."""
    heads = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def read_kappa_of_example() -> tuple[str, str, str]:
    """Read the demo's kappa with its interval from the generated part of the agreement page."""
    example = " ".join(page("agreement.md").split())
    figures = re.search(
        r"Kappa, which takes that off, is (\S+), .*? is wide: (\S+) to (\S+)\. ", example
    )
    assert figures is not None
    kappa, low, high = figures.groups()
    return kappa, low, high


def test_the_gate_page_speaks_of_the_example_of_the_agreement_page() -> None:
    kappa, low, _ = read_kappa_of_example()
    gate = " ".join(page("gate.md").split())
    assert f"a kappa of {kappa} then" in gate
    assert f"and {low} is as compatible with them as {kappa}." in gate


def test_the_decision_on_the_word_engine_gives_the_kappa_of_today() -> None:
    kappa, low, high = read_kappa_of_example()
    decision = " ".join(page("decisions/0022-one-word-engine.md").split())
    assert f"`faithtui demo --no-app` prints {kappa} [{low}, {high}]." in decision
