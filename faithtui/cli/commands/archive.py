"""`faithtui archive` and `faithtui restore`: runs put out of the lists, and back."""

from collections.abc import Sequence
from pathlib import Path

from faithtui.cli.output import put, put_json
from faithtui.cli.stores import open_store, run_id
from faithtui.config import load_settings


def put_away(store: Path | None, runs: Sequence[str], *, archived: bool, as_json: bool) -> int:
    """Archive runs, or list them again.

    Raises:
        ConfigError: Something is no run.
        StoreError: There is no such run; nothing was changed.
    """
    with open_store(store, load_settings()) as opened:
        found = [run_id(opened, each) for each in dict.fromkeys(runs)]
        change = opened.runs.archive if archived else opened.runs.restore
        change(found)
    if as_json:
        put_json({"runs": found, "archived": archived})
    else:
        words = "archived" if archived else "listed again"
        put(f"{words}: " + ", ".join(map(str, found)))
    return 0
