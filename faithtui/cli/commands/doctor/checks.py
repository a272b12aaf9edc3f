"""The checks of `faithtui doctor`: is everything there that faithtui needs?"""

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from faithtui.agreement.rating_scales import is_known_scale
from faithtui.cli.output import format_row_counts_line, plural
from faithtui.cli.run_settings import make_run_environment_from_settings
from faithtui.cli.stores import choose_store_path, open_store
from faithtui.config import Settings, load_settings
from faithtui.engine.calls.unstored_replies import UnstoredReplies
from faithtui.engine.judge_check import try_judge_with_two_questions
from faithtui.engine.runs.judge_profiles import choose_profile
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.errors import ConfigError, FaithtuiError, StoreError
from faithtui.judges.providers.api_keys import VARIABLES, explain_how_to_provide_key
from faithtui.judges.providers.endpoints import is_in_process_judge
from faithtui.judges.registry import find_missing_key_variable
from faithtui.logbook import LOG_FILE
from faithtui.paths import config_file, log_dir
from faithtui.store.annotations.ratings import MisreadLabels
from faithtui.store.file.backups import find_copies, find_partial_files
from faithtui.store.file.location import find_network_drive_type, list_files_readable_by_others


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """What one check found."""

    name: str
    ok: bool | None
    """None: neither right nor wrong, only so."""
    text: str
    exit_code: int = 0
    """What the command exits with when this is the worst that was found."""


def run_checks(
    store: Path | None, judge: str | None, base_url: str | None, *, offline: bool
) -> list[DoctorCheck]:
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
    environment = make_run_environment_from_settings(settings)
    ref = judge or settings.judge
    address = base_url or (settings.base_url if ref == settings.judge else None)
    return [
        DoctorCheck("faithtui", None, f"{version('faithtui')}, Python {sys.version.split()[0]}"),
        DoctorCheck("settings", None, _format_settings_path()),
        *_check_store(store, settings),
        *(_check_api_key_is_set(name) for name in VARIABLES),
        DoctorCheck("prices", None, f"of {environment.prices.sources}"),
        _check_judge(ref, address, environment, settings, offline=offline),
        DoctorCheck("log", None, str(log_dir() / LOG_FILE)),
        _check_terminal(),
    ]


def _format_settings_path() -> str:
    path = config_file()
    return str(path) if path.exists() else f"{path} (not there: defaults)"


def _check_store(named: Path | None, settings: Settings) -> Iterator[DoctorCheck]:
    path = choose_store_path(named, settings)
    if named is not None and not path.parent.is_dir():
        text = f"there is no directory {path.parent}; make it, or name another file"
        yield DoctorCheck("store", False, text, StoreError.exit_code)
        return
    if not path.exists():
        yield DoctorCheck("store", None, f"{path} is not there yet; faithtui import makes it")
        return
    try:
        with open_store(named, settings) as opened:
            problems = opened.list_damage()
            size = path.stat().st_size / 2**20
            count = opened.conversations.count()
            for problem in problems:
                yield DoctorCheck("store", False, problem, StoreError.exit_code)
            if not problems:
                text = f"{path}, {size:.1f} MB, {plural(count, 'conversation')}"
                yield DoctorCheck("store", True, f"{text}, schema {opened.schema_version}, sound")
                yield DoctorCheck(
                    "labels", None, f"state {opened.bundles.hash_all_current_labels()}"
                )
                if unindexed := opened.word_index.count_unindexed_texts():
                    yield DoctorCheck(
                        "word index",
                        None,
                        f"does not have the words of {unindexed:,} conversations and passages yet; "
                        "the first search for words indexes them"
                        + (" where the store can be written" if opened.is_read_only else ""),
                    )
                yield from map(
                    _make_misread_labels_check, opened.conversations.list_misread_labels()
                )
                for each in opened.deletions.list_deletions():
                    when = f"{each.created_at:%Y-%m-%d %H:%M}"
                    gone = format_row_counts_line(each.counts)
                    words = f"{each.kind} by {each.deleted_by}, {when} UTC: {gone}"
                    yield DoctorCheck("deleted", None, words)
            elif not opened.is_read_only:
                text = "`faithtui backup --restore COPY`, or take over the rest: --salvage NEW"
                yield DoctorCheck("way back", None, text)
            if opened.is_read_only:
                yield DoctorCheck("store", None, "it can only be read here; nothing is saved")
    except StoreError as error:
        yield DoctorCheck("store", False, str(error), error.exit_code)
        return
    drive = find_network_drive_type(path)
    if drive is not None:
        text = f"{path} is on a network drive ({drive}), where SQLite's locks cannot be relied on"
        yield DoctorCheck("place", False, f"{text}; move it to a disk of this machine", 4)
    waiting = UnstoredReplies(path).list_files()
    if waiting:
        folder = waiting[0].parent
        text = f"{len(waiting)} that the store did not take wait in {folder}"
        yield DoctorCheck("replies", None, f"{text}; the next run on this store reads them")
    for copy in find_copies(path):
        text = f"{copy}, {copy.stat().st_size / 2**20:.1f} MB; it holds the texts of its time"
        yield DoctorCheck("copy", None, text)
    for part in find_partial_files(path):
        text = f"{part} is being written, or was left by a kill: then delete it"
        yield DoctorCheck("unfinished", None, text)
    for part in list_files_readable_by_others(path):
        mode = part.stat().st_mode & 0o777
        text = f"{part} can be read by others (rights {mode:o}); `chmod 600` it unless they shall"
        yield DoctorCheck("rights", None, text)


def _make_misread_labels_check(found: MisreadLabels) -> DoctorCheck:
    raw, stored, meant = found.example
    way = (
        "delete the data set and import the file again"
        if is_known_scale(found.scale)
        else f"import the file again with `--scale {found.scale}=SCALE`, whose labels count then"
    )
    text = (
        f"{plural(found.count, 'label')} of `{found.source}` on the scale `{found.scale}` had "
        f"another meaning in an earlier version, such as {raw!r} as {stored or 'no verdict'}, "
        f"which is {meant or 'no verdict'} now; {way}"
    )
    return DoctorCheck("labels", None, text)


def _check_api_key_is_set(name: str) -> DoctorCheck:
    there = bool(os.environ.get(name, "").strip())
    return DoctorCheck(name, None, "set (not shown)" if there else "not set")


def _check_judge(
    ref: str,
    base_url: str | None,
    environment: RunEnvironment,
    settings: Settings,
    *,
    offline: bool,
) -> DoctorCheck:
    """Put two small questions to the judge, unless that needs a network there is to be none of."""
    name = f"judge {ref}"
    if offline and not is_in_process_judge(ref):
        try:
            variable = find_missing_key_variable(ref, base_url, os.environ)
        except FaithtuiError as error:
            return DoctorCheck(name, False, str(error), error.exit_code)
        if variable is not None:
            text = f"it needs a key: {explain_how_to_provide_key(variable)}"
            return DoctorCheck(name, False, text, ConfigError.exit_code)
        return DoctorCheck(name, None, "not asked, as wanted")
    try:
        profile = choose_profile(ref, settings.judges, os.environ)
    except FaithtuiError as error:
        return DoctorCheck(name, False, str(error), error.exit_code)
    trying = try_judge_with_two_questions(
        ref,
        base_url,
        profile=profile,
        timeout_s=profile.timeout_s or settings.timeout_s,
        environment=environment,
    )
    trial = asyncio.run(trying)
    return DoctorCheck(name, trial.ok, trial.sentence, trial.exit_code)


def _check_terminal() -> DoctorCheck:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return DoctorCheck("terminal", None, "none here; the app needs one, the commands do not")
    size = shutil.get_terminal_size()
    kind = os.environ.get("TERM", "unknown")
    text = f"{size.columns}×{size.lines}, TERM={kind}"
    if size.columns < 80 or size.lines < 24:
        return DoctorCheck("terminal", None, f"{text}; below 80×24 the app shows less")
    return DoctorCheck("terminal", True, text)
