from pathlib import Path

import pytest

from faithtui.domain.labels.label_events import Action
from faithtui.store.store import Store
from tests.tui.adjudication.test_adjudication_screen import DIFFER, said


@pytest.fixture
def differing(store_path: Path) -> Path:
    """Bo and zoe agree on one claim and differ on three."""
    with Store.open(store_path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        claims = said(store, store.runs.list_item_ids(run)[0])
        for place, words in {0: ("yes", "yes"), **DIFFER}.items():
            for who, word in zip(("bo", "zoe"), words, strict=True):
                store.label_log.append_label_event(
                    claims[place],
                    who,
                    Action.BLIND,
                    word,
                    f"said of [b]{place}[/b]",
                    run=run,
                    judge_verdict=None,
                    saw_judge=False,
                    code="policy",
                )
    return store_path
