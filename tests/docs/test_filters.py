"""The page about filters has the whole language, and every example on it is read."""

import re

import pytest

from faithtui.domain.filters import (
    NAMES_BY_SCOPE,
    QUALITIES,
    STATES,
    FilterContext,
    Scope,
    parse_filter,
)
from faithtui.domain.labels.label_sets import FAITHFULNESS
from tests.docs.generate import DOCS

PAGE = (DOCS / "filters.md").read_text(encoding="utf-8")
SECTIONS = {
    "## Terms about claims": Scope.CLAIMS,
    "## Terms about conversations": Scope.CONVERSATIONS,
    "## Terms about runs": Scope.RUNS,
}


def section(title: str) -> str:
    return PAGE.split(title)[1].split("\n## ")[0]


@pytest.mark.parametrize(("title", "scope"), SECTIONS.items())
def test_every_term_of_a_table_is_read(title: str, scope: Scope) -> None:
    terms = re.findall(r"^\| `([^`]+)` \|", section(title), re.MULTILINE)
    assert terms
    for term in terms:
        assert parse_filter(term, FilterContext(scope, FAITHFULNESS.names)).problem is None


def test_every_name_and_word_is_on_the_page() -> None:
    for title, scope in SECTIONS.items():
        text = section(title)
        known = set() if scope is not Scope.CONVERSATIONS else set(NAMES_BY_SCOPE[Scope.CLAIMS])
        for name in set(NAMES_BY_SCOPE[scope]) - known:
            assert f"`{name}:" in text
        for state in STATES[scope]:
            assert state in text
    for quality, meaning in QUALITIES.items():
        assert f"`is:{quality}` | {meaning}" in PAGE


def test_what_is_refused_in_a_blind_queue_is_what_the_page_says() -> None:
    told = re.findall(r"`([a-z-]+:[a-z]*)`", section("## Blind"))
    assert len(told) == 9
    for term in told:
        values = {"verdict:": "no", "human:": "no", "code:": "1", "answers:": "differ"}
        whole = f"{term}{values.get(term, '')}"
        whole = f"{term}1" if term in ("score:", "with-overrides:") else whole
        ground = FilterContext(Scope.CONVERSATIONS, FAITHFULNESS.names, blind=True)
        assert "blind" in (parse_filter(whole, ground).problem or "")
