from pathlib import Path

import pytest

from faithtui.domain.ids import RunId
from faithtui.store.store import Store
from tests.tui.building import NOON
from tests.tui.replies.test_replies_screen import CUT, GOOD, asked


@pytest.fixture
def replied(store_path: Path) -> Path:
    """A store in which two calls were made for the first conversation, one of them in vain."""
    with Store.open(store_path, clock=lambda: NOON) as store:
        first = store.runs.list_item_ids(RunId(1))[0]
        asked(store, first, GOOD)
        asked(store, first, CUT, usable=False)
    return store_path
