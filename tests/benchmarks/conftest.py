from pathlib import Path

import pytest

from faithtui.store.records import ItemState, RunState
from faithtui.store.store import Store
from tests.store.building import SPEC, assess, make_conversation, windows_of

SIZES = (10, 10_000)
LABELS = {1: ("yes", "no"), 3: ("yes", "idk")}


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Make stores of several sizes, each with one finished run over all its conversations."""
    folder = tmp_path_factory.mktemp("stores")
    return {size: _filled(folder / f"{size}.db", size) for size in SIZES}


def _filled(path: Path, size: int) -> Path:
    chats = [make_conversation(f"c{number:05}") for number in range(size)]

    def fill(store: Store) -> None:
        run = store.runs.create(SPEC, store.conversations.list_ids())
        for item, each in zip(store.runs.list_item_ids(run), chats, strict=True):
            for window in windows_of(each):
                store.runs.save_window(item, assess(window, LABELS))
            store.runs.score_and_finish_item(item, ItemState.DONE, None)
        store.runs.set_state(run, RunState.DONE)

    with Store.open(path) as store:
        for start in range(0, size, 200):
            store.conversations.import_batch(chats[start : start + 200])
        store.submit(fill, store).result()
    return path
