"""`faithtui archive` and `faithtui restore`: runs put out of the lists, and back."""

from collections.abc import Sequence
from pathlib import Path

from faithtui.cli.output import print_json, print_text
from faithtui.cli.stores import open_store, read_run_id
from faithtui.config import load_settings


def set_archived(store: Path | None, runs: Sequence[str], *, archived: bool, as_json: bool) -> int:
    """Archive runs, or list them again.

    Raises:
        ConfigError: Something is no run.
        StoreError: There is no such run; nothing was changed.
    """
    with open_store(store, load_settings()) as opened:
        found = [read_run_id(opened, each) for each in dict.fromkeys(runs)]
        change = opened.runs.archive if archived else opened.runs.restore
        change(found)
    if as_json:
        print_json({"runs": found, "archived": archived})
    else:
        words = "archived" if archived else "listed again"
        print_text(f"{words}: " + ", ".join(map(str, found)))
    return 0
