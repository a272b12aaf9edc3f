"""docs/judges says what the code does."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.errors import JudgeRequestRejected
from faithtui.judges.base import OutputFormat
from faithtui.judges.providers import anthropic_batches, openai_batches
from faithtui.judges.providers.api_keys import PATIENCE_S, SERVICE, VARIABLES
from faithtui.judges.providers.endpoints import BUILT_IN, PROVIDERS
from faithtui.judges.providers.prices import Price, read_price_table
from faithtui.judges.redaction import load_and_try_redaction_hook
from faithtui.judges.registry import make_judge_fingerprint, open_judge
from tests.judges.fault_server import fault_server
from tests.judges.providers.test_fault_matrix import ASKED
from tests.judges.questions import question

PAGES = Path(__file__).parents[2] / "docs" / "judges"
PROVIDERS_PAGE = (PAGES / "providers.md").read_text(encoding="utf-8")
CUSTOM_PAGE = (PAGES / "custom.md").read_text(encoding="utf-8")


def code(page: str, language: str, which: int = 0) -> str:
    found: list[str] = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
    return found[which]


async def test_the_example_of_a_judge_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = CUSTOM_PAGE.partition('[project.entry-points."faithtui.judges"]\n')[2]
    metadata = tmp_path / "acme_judge-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-judge\nVersion: 1.0\n")
    point = points.partition("\n")[0].replace('"', "")
    (metadata / "entry_points.txt").write_text(f"[faithtui.judges]\n{point}\n")
    (tmp_path / "acme_judge.py").write_text(code(CUSTOM_PAGE, "python"))
    monkeypatch.syspath_prepend(tmp_path)
    async with open_judge("acme:small") as judge:
        reply = await judge.send(ASKED)
        assert judge.fingerprint == make_judge_fingerprint("acme:small")
        with pytest.raises(JudgeRequestRejected, match="reads 100,000 characters"):
            await judge.send(replace(ASKED, prompt="x" * 100_001))
        assert (await judge.send(replace(ASKED, schema=None))).text == "YES"
    sys.modules.pop("acme_judge")
    assert json.loads(reply.text)["c1"]["verdict"] == "yes"
    assert reply.served_model == "acme-7b"


def test_every_built_in_judge_is_listed_with_its_address() -> None:
    table = PROVIDERS_PAGE.split("\n## ")[0]
    listed = re.findall(r"^\| `([a-z]+)(?::[A-Z]+)?` \|", table, re.MULTILINE)
    assert set(listed) == BUILT_IN
    for provider in PROVIDERS.values():
        (row,) = re.findall(rf"^\| `{provider.name}:.*$", table, re.MULTILINE)
        if provider.host is None:
            assert f"`{provider.base_url}`" in row
        else:
            assert f"`{provider.key_variable}`" in row


def test_the_keys_are_those_of_the_code() -> None:
    section = PROVIDERS_PAGE.split("## Keys")[1].split("\n## ")[0]
    assert f"keyring set {SERVICE} OPENAI_API_KEY" in section
    assert f"within {PATIENCE_S:.0f} seconds" in section
    assert all(f"`{variable}`" in PROVIDERS_PAGE for variable in VARIABLES)


async def test_the_ways_to_ask_are_those_of_the_code() -> None:
    section = PROVIDERS_PAGE.split("## How a judge is asked")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([a-z]+)` \| (.*) \| (.*) \|$", section, re.MULTILINE)
    assert [name for name, _, _ in rows] == [output_format.value for output_format in OutputFormat]
    with fault_server() as server:
        for column, provider in ((1, "openai"), (2, "anthropic")):
            async with open_judge(f"{provider}:m", base_url=server.url, environ={}) as judge:
                assert [row[0] for row in rows if row[column] != "–"] == list(judge.output_formats)


def test_the_table_of_prices_is_one_that_is_read(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    section = PROVIDERS_PAGE.split("## Prices")[1].split("\n## ")[0]
    path.write_text(code(section, "toml"))
    table = read_price_table(path)
    assert table.date == "2026-11-20"
    assert len(table.prices) == 2
    cells = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
    fields = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert fields == set(Price.model_fields)


def test_the_limits_of_batches_are_those_of_the_code() -> None:
    for row in (
        ("questions in one batch", openai_batches.MOST_REQUESTS, anthropic_batches.MOST_REQUESTS),
        ("bytes", openai_batches.MOST_BYTES, anthropic_batches.MOST_BYTES),
    ):
        assert f"| {row[0]} | {row[1]:,} | {row[2]:,} |" in PROVIDERS_PAGE


def test_the_example_of_a_hook_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_hooks.py").write_text(code(PROVIDERS_PAGE, "python"))
    monkeypatch.syspath_prepend(tmp_path)
    redact = load_and_try_redaction_hook("my_hooks:without_addresses")
    sys.modules.pop("my_hooks")
    assert redact(f"{question().prompt} ann@example.org") == "Why? [address]"
