"""What runs of one app share stays the same as long as the settings do."""

from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.config import Settings
from faithtui.errors import ConfigError
from faithtui.tui.runs.shared_state import Sharing

SETTINGS = Settings(reviewer="ann", store=Path("s.db"))
TABLE = """
date = "2026-11"
[[price]]
judge = "openai:mine"
input = 1.0
output = 2.0
"""


def test_it_is_made_once() -> None:
    sharing = Sharing()
    assert sharing.of(None) is sharing.of(SETTINGS)


def test_what_was_learned_of_a_provider_outlives_a_change_of_prices(tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_text(TABLE)
    sharing = Sharing()
    before = sharing.of(SETTINGS)
    after = sharing.of(replace(SETTINGS, prices=table))
    assert after.traffic is before.traffic
    assert after.prices.date == "2026-11"
    assert after.prices is not before.prices


def test_another_speed_counts_for_the_runs_that_begin_then() -> None:
    sharing = Sharing()
    before = sharing.of(SETTINGS)
    after = sharing.of(replace(SETTINGS, requests_per_minute=60))
    assert after.traffic is not before.traffic
    limiter = after.traffic.limiter("an account")
    assert limiter is not None
    assert limiter.pace == pytest.approx(1.0)


def test_a_table_that_cannot_be_used_is_said_and_the_next_one_counts(tmp_path: Path) -> None:
    sharing = Sharing()
    with pytest.raises(ConfigError, match="cannot be read"):
        sharing.of(replace(SETTINGS, prices=tmp_path / "none.toml"))
    assert sharing.of(SETTINGS).redact is None
