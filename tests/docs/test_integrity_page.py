"""docs/integrity.md explains every kind of finding in the words of the screens."""

import re

from faithtui.domain.integrity.explanations import EXPLANATIONS
from faithtui.domain.integrity.findings import WEIGHTS
from tests.docs.generate import DOCS

PAGE = (DOCS / "integrity.md").read_text(encoding="utf-8")


def test_every_kind_has_its_row_in_order() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
    expected = [
        (kind.value, words.title, words.meaning, words.to_do)
        for kind, words in EXPLANATIONS.items()
    ]
    assert rows == expected


def test_the_weights_are_those_of_the_code() -> None:
    section = PAGE.split("## Suspicious first")[1].split("\n## ")[0]
    told = dict(re.findall(r"`([a-z-]+)`\s+(\d+)", section))
    assert told == {kind.value: str(weight) for kind, weight in WEIGHTS.items()}
