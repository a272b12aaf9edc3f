"""Any keys, in any order, as fast as a terminal hands them over: no traceback, nothing lost."""

import os
from pathlib import Path

import pytest

from tests.tui.random_keys import Typist, listen

KEYS = int(os.environ.get("FAITHTUI_RANDOM_KEYS", "450"))
"""Keys typed in all; `.ci/wide` types more."""
SEEDS = (0, 1, 2)
"""Each begins in a terminal of another size."""


@pytest.mark.parametrize("seed", SEEDS)
async def test_random_keys_end_in_no_traceback_and_lose_nothing_that_was_called_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    typist = Typist(seed, tmp_path)
    typist.fill()
    listen(typist, monkeypatch)
    await typist.type_keys(KEYS // len(SEEDS))
    stored = typist.stored()
    assert typist.told, "some verdicts were given"
    assert not typist.told - stored, "said to be saved, and not in the store"
    assert not stored - typist.taken, "in the store, and given by no key"
