from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.judging.judge_names import OFFLINE_TITLE
from faithtui.engine.review.judge_description import describe_judge
from faithtui.judges.base import OutputFormat
from faithtui.judges.providers.prices import read_price_table
from faithtui.store.records import RunRow
from faithtui.store.store import Store
from tests.engine.building import conversation, planned, store_with

TABLE = """
date = "2026-11"
[[price]]
judge = "openai:m"
input = 0.15
output = 2.0
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_with(tmp_path / "s.db", [conversation("a", 2)]) as found:
        planned(found)
        yield found


def row_of(store: Store, judge: str, base_url: str | None = None, **changed: object) -> RunRow:
    """The stored run as another judge's."""
    (row,) = store.runs.list_runs()
    spec = replace(row.spec, judge=judge, base_url=base_url, judge_fingerprint=f"print {judge}")
    return replace(row, spec=replace(spec, **changed), calls=1_200, retries=3)  # type: ignore[arg-type]


def test_of_the_embedded_judge_what_was_measured_is_told(store: Store) -> None:
    text = describe_judge(store, row_of(store, "offline"), read_price_table())
    assert text.startswith(OFFLINE_TITLE)
    assert "Where it fails" in text
    assert "recalibrated" not in text
    changed = row_of(store, "offline", calibration={"slope": 1.1, "intercept": 0.2, "labels": 40})
    assert "recalibrated on 40 labels" in describe_judge(store, changed, read_price_table())


def test_of_another_judge_address_price_and_way_are_told(store: Store, tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_text(TABLE, encoding="utf-8")
    prices = read_price_table(table)
    row = row_of(store, "openai:m")
    text = describe_judge(store, row, prices)
    assert text.startswith("openai:m\n")
    assert "https://api.openai.com/v1" in text
    assert "$0.15 for a million tokens read, $2 written (prices of prices.toml, 2026-11)" in text
    assert "no way of asking for JSON is remembered" in text
    assert "1,200 calls in run 1, 3 of them asked again" in text
    assert "Nothing is measured" in text
    store.calls.remember_output_format(row.spec.judge_fingerprint, OutputFormat.TOOL.value)
    assert "a tool it is forced to call" in describe_judge(store, row, prices)


@pytest.mark.parametrize(
    ("judge", "base_url", "told"),
    [
        ("openai:unheard-of", None, ["api.openai.com", "price    not known"]),
        ("ollama:llama3:8b", None, ["http://localhost:11434/v1", "price    nothing"]),
        ("openai:m", "http://127.0.0.1:9/v1", ["http://127.0.0.1:9/v1", "price    nothing"]),
        ("replay:r.jsonl", None, ["read from a file", "price    nothing"]),
        ("gone:x", None, ["no such judge is installed", "price    not known"]),
    ],
)
def test_what_is_not_known_is_said(
    store: Store, judge: str, base_url: str | None, told: list[str]
) -> None:
    text = describe_judge(store, row_of(store, judge, base_url), read_price_table())
    assert all(each in text for each in told), text
