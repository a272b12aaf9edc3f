"""`faithtui delete`: count, ask, delete, and say what is left to do elsewhere."""

import sys
from collections.abc import Callable
from pathlib import Path

from faithtui.cli.opening import open_store, run_id
from faithtui.cli.output import put, put_json, say
from faithtui.config import Settings, load_settings
from faithtui.engine import deleting
from faithtui.engine.deleting import Deletion
from faithtui.errors import ConfigError, StoreError
from faithtui.logbook import PROMPTS_FILE
from faithtui.paths import log_dir
from faithtui.store.store import Store

Meant = Callable[[Store, str], Deletion]


def dataset(
    store: Path | None, name: str, reviewer: str | None, *, yes: bool, as_json: bool
) -> int:
    """Delete a data set."""
    return _delete(
        store, reviewer, lambda opened, by: deleting.dataset(opened, name, by), yes, as_json
    )


def imported_file(
    store: Path | None,
    file: Path,
    source: str | None,
    reviewer: str | None,
    *,
    yes: bool,
    as_json: bool,
) -> int:
    """Delete what a file brought."""
    return _delete(
        store,
        reviewer,
        lambda opened, by: deleting.imported_file(opened, file, source, by),
        yes,
        as_json,
    )


def person(store: Path | None, name: str, reviewer: str | None, *, yes: bool, as_json: bool) -> int:
    """Delete what a person said."""
    return _delete(
        store, reviewer, lambda opened, by: deleting.person(opened, name, by), yes, as_json
    )


def run(store: Path | None, run: str, reviewer: str | None, *, yes: bool, as_json: bool) -> int:
    """Delete a run."""
    return _delete(
        store,
        reviewer,
        lambda opened, by: deleting.run(opened, run_id(opened, run), by),
        yes,
        as_json,
    )


def counted(counts: dict[str, int]) -> str:
    """Write counts of a deletion in a line, what people know best first."""
    first = ("conversations", "runs", "labels")
    ordered = [
        *(each for each in first if each in counts),
        *(each for each in counts if each not in first),
    ]
    return ", ".join(f"{what}: {counts[what]:,}" for what in ordered) or "nothing"


def _delete(
    store: Path | None, reviewer: str | None, meant: Meant, yes: bool, as_json: bool
) -> int:
    """Delete something; 0, 1 when the answer is no, 4 when bytes of it may be left."""
    settings = load_settings()
    by = reviewer or settings.reviewer
    with open_store(store, settings) as opened:
        deletion = meant(opened, by)
        counts = deletion.count()
        say(f"deleting {deletion.title} from {opened.path} takes along: {counted(counts)}")
        if not _is_meant(yes=yes):
            say("nothing was deleted")
            return 1
        done = deletion.delete()
    if as_json:
        put_json({"kind": deletion.kind, "counts": dict(done.counts), "remains": done.remains})
    else:
        put(f"deleted: {counted(dict(done.counts))}")
    say(_elsewhere(settings))
    if done.remains is not None:
        say(done.remains)
        return StoreError.exit_code
    return 0


def _is_meant(*, yes: bool) -> bool:
    """Ask on a terminal whether it is meant.

    Raises:
        ConfigError: Nobody can be asked.
    """
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ConfigError(
            "nobody can be asked here, so nothing was deleted: add --yes to delete all the same"
        )
    say("this cannot be undone. Type yes to delete it:")
    try:
        return input().strip().casefold() == "yes"
    except EOFError:
        return False


def _elsewhere(settings: Settings) -> str:
    words = (
        "it can come back: from a later import of the file, and from a label bundle that is "
        "merged. Copies of the store, exported files, the log and what was sent to a judge are "
        "not touched"
    )
    prompts = log_dir() / PROMPTS_FILE
    if prompts.exists():
        words += f"; questions that were logged with --log-prompts are in {prompts}"
    return words
