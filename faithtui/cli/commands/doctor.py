"""`faithtui doctor`: is everything there that faithtui needs?"""

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from faithtui.cli.commands.delete import format_counts
from faithtui.cli.output import name_store, plural, put, put_json
from faithtui.cli.stores import open_store, store_path
from faithtui.config import Settings, load_settings
from faithtui.engine.calls.unstored_replies import UnstoredReplies
from faithtui.engine.judge_check import try_judge
from faithtui.engine.runs.environment import Circumstances, circumstances
from faithtui.errors import ConfigError, FaithtuiError, StoreError
from faithtui.judges.providers.api_keys import VARIABLES, how_to_give
from faithtui.judges.providers.endpoints import is_ours
from faithtui.judges.registry import missing_key
from faithtui.logbook import LOG_FILE
from faithtui.paths import config_file, log_dir
from faithtui.store.file.backups import copies_of, parts_left_by_kills
from faithtui.store.file.location import network_drive_of, open_to_others


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    name: str
    ok: bool | None
    """None: neither right nor wrong, only so."""
    text: str
    exit_code: int = 0
    """What the command exits with when this is the worst that was found."""


def doctor(
    store: Path | None,
    judge: str | None,
    base_url: str | None,
    *,
    offline: bool,
    as_json: bool,
) -> int:
    """Check everything; 0 when sound, else the exit code of the first thing that is not."""
    found = findings(store, judge, base_url, offline=offline)
    if as_json:
        put_json([asdict(each) for each in found])
    else:
        for each in found:
            mark = {True: "ok ", False: "NO ", None: "   "}[each.ok]
            put(f"{mark} {each.name}: {name_store(each.text)}")
    return next((each.exit_code for each in found if each.ok is False), 0)


def findings(
    store: Path | None, judge: str | None, base_url: str | None, *, offline: bool
) -> list[Finding]:
    """Look at everything.

    Args:
        store: The store; None: the one of the settings.
        judge: Who is asked a question; None: the judge of the settings.
        base_url: Its address; None: its own, or as set.
        offline: Ask nobody over a network.

    Raises:
        ConfigError: The settings cannot be read.
    """
    settings = load_settings()
    around = circumstances(prices=settings.prices, redact=settings.redact)
    ref = judge or settings.judge
    address = base_url or (settings.base_url if ref == settings.judge else None)
    return [
        Finding("faithtui", None, f"{version('faithtui')}, Python {sys.version.split()[0]}"),
        Finding("settings", None, _settings_text()),
        *_store(store, settings),
        *(_key(name) for name in VARIABLES),
        Finding("prices", None, f"of {around.prices.date}, {settings.prices or 'built in'}"),
        _judge(ref, address, around, settings.timeout_s, offline=offline),
        Finding("log", None, str(log_dir() / LOG_FILE)),
        _terminal(),
    ]


def _settings_text() -> str:
    path = config_file()
    return str(path) if path.exists() else f"{path} (not there: defaults)"


def _store(named: Path | None, settings: Settings) -> Iterator[Finding]:
    path = store_path(named, settings)
    if named is not None and not path.parent.is_dir():
        text = f"there is no directory {path.parent}; make it, or name another file"
        yield Finding("store", False, text, StoreError.exit_code)
        return
    if not path.exists():
        yield Finding("store", None, f"{path} is not there yet; faithtui import makes it")
        return
    try:
        with open_store(named, settings) as opened:
            problems = opened.check()
            size = path.stat().st_size / 2**20
            count = opened.conversations.count()
            for problem in problems:
                yield Finding("store", False, problem, StoreError.exit_code)
            if not problems:
                text = f"{path}, {size:.1f} MB, {plural(count, 'conversation')}"
                yield Finding("store", True, f"{text}, schema {opened.schema_version}, sound")
                yield Finding("labels", None, f"state {opened.bundles.state_digest()}")
                for each in opened.deletions.rows():
                    when = f"{each.created_at:%Y-%m-%d %H:%M}"
                    gone = format_counts(dict(each.counts))
                    words = f"{each.kind} by {each.deleted_by}, {when} UTC: {gone}"
                    yield Finding("deleted", None, words)
            elif not opened.is_read_only:
                text = "`faithtui backup --restore COPY`, or take over the rest: --salvage NEW"
                yield Finding("way back", None, text)
            if opened.is_read_only:
                yield Finding("store", None, "it can only be read here; nothing is saved")
    except StoreError as error:
        yield Finding("store", False, str(error), error.exit_code)
        return
    drive = network_drive_of(path)
    if drive is not None:
        text = f"{path} is on a network drive ({drive}), where SQLite's locks cannot be relied on"
        yield Finding("place", False, f"{text}; move it to a disk of this machine", 4)
    waiting = UnstoredReplies(path).files()
    if waiting:
        folder = waiting[0].parent
        text = f"{len(waiting)} that the store did not take wait in {folder}"
        yield Finding("replies", None, f"{text}; the next run on this store reads them")
    for copy in copies_of(path):
        text = f"{copy}, {copy.stat().st_size / 2**20:.1f} MB; it holds the texts of its time"
        yield Finding("copy", None, text)
    for part in parts_left_by_kills(path):
        text = f"{part} is being written, or was left by a kill: then delete it"
        yield Finding("unfinished", None, text)
    for part in open_to_others(path):
        mode = part.stat().st_mode & 0o777
        text = f"{part} can be read by others (rights {mode:o}); `chmod 600` it unless they shall"
        yield Finding("rights", None, text)


def _key(name: str) -> Finding:
    there = bool(os.environ.get(name, "").strip())
    return Finding(name, None, "set (not shown)" if there else "not set")


def _judge(
    ref: str,
    base_url: str | None,
    around: Circumstances,
    timeout_s: float | None,
    *,
    offline: bool,
) -> Finding:
    """Put two small questions to the judge, unless that needs a network there is to be none of."""
    name = f"judge {ref}"
    if offline and not is_ours(ref):
        try:
            variable = missing_key(ref, base_url, os.environ)
        except FaithtuiError as error:
            return Finding(name, False, str(error), error.exit_code)
        if variable is not None:
            text = f"it needs a key: {how_to_give(variable)}"
            return Finding(name, False, text, ConfigError.exit_code)
        return Finding(name, None, "not asked, as wanted")
    trial = asyncio.run(try_judge(ref, base_url, timeout_s=timeout_s, around=around))
    return Finding(name, trial.ok, trial.sentence, trial.exit_code)


def _terminal() -> Finding:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Finding("terminal", None, "none here; the app needs one, the commands do not")
    size = shutil.get_terminal_size()
    kind = os.environ.get("TERM", "unknown")
    text = f"{size.columns}×{size.lines}, TERM={kind}"
    if size.columns < 80 or size.lines < 24:
        return Finding("terminal", None, f"{text}; below 80×24 the app shows less")
    return Finding("terminal", True, text)
