"""What runs of one app share stays the same as long as the settings do."""

from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.config import Settings
from faithtui.errors import ConfigError
from faithtui.tui.runs.shared_state import RunEnvironmentCache

SETTINGS = Settings(reviewer="ann", store=Path("s.db"))
TABLE = """
date = "2026-11"
[[price]]
judge = "openai:mine"
input = 1.0
output = 2.0
"""


def test_it_is_made_once() -> None:
    sharing = RunEnvironmentCache()
    assert sharing.get_environment(None) is sharing.get_environment(SETTINGS)


def test_what_was_learned_of_a_provider_outlives_a_change_of_prices(tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_text(TABLE)
    sharing = RunEnvironmentCache()
    before = sharing.get_environment(SETTINGS)
    after = sharing.get_environment(replace(SETTINGS, prices=table))
    assert after.rate_limiters is before.rate_limiters
    assert after.prices.date == "2026-11"
    assert after.prices is not before.prices


def test_another_speed_counts_for_the_runs_that_begin_then() -> None:
    sharing = RunEnvironmentCache()
    before = sharing.get_environment(SETTINGS)
    after = sharing.get_environment(replace(SETTINGS, requests_per_minute=60))
    assert after.rate_limiters is not before.rate_limiters
    limiter = after.rate_limiters.get_limiter("an account")
    assert limiter is not None
    assert limiter.requests_per_second == pytest.approx(1.0)


def test_a_table_that_cannot_be_used_is_said_and_the_next_one_counts(tmp_path: Path) -> None:
    sharing = RunEnvironmentCache()
    with pytest.raises(ConfigError, match="cannot be read"):
        sharing.get_environment(replace(SETTINGS, prices=tmp_path / "none.toml"))
    assert sharing.get_environment(SETTINGS).redact is None
