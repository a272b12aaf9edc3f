import sqlite3
from pathlib import Path

import pytest


@pytest.fixture
def broken(store_path: Path) -> Path:
    """A store in which two verdicts were changed: one is gone, one flips."""
    with sqlite3.connect(store_path) as connection:
        claims = [
            row[0]
            for row in connection.execute("SELECT DISTINCT claim_id FROM verdict ORDER BY claim_id")
        ]
        connection.execute(
            "UPDATE verdict SET label = NULL, word = NULL WHERE claim_id = ?", (claims[0],)
        )
        connection.execute(
            "UPDATE verdict SET label = 'maybe' WHERE claim_id = ? AND is_home", (claims[1],)
        )
        connection.execute("UPDATE run_item SET checked = 0")
    connection.close()
    return store_path
