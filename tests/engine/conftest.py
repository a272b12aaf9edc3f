import asyncio

import pytest

from faithtui.domain.scores import ScoreSet
from tests.engine.faulty_runs import filled, judged
from tests.judges.fault_server import fault_server


@pytest.fixture(scope="session")
def clean(tmp_path_factory: pytest.TempPathFactory) -> list[ScoreSet | None]:
    """Say the scores of `filled(path, 6)` by a provider that never fails."""
    path = tmp_path_factory.mktemp("clean") / "s.db"
    with fault_server() as server, filled(path, 6) as store:
        ran = asyncio.run(judged(store, server))
    assert ran.row.done == 6
    assert len({scores.windowed.value for scores in ran.scores if scores}) > 1, "one of a kind"
    return ran.scores
