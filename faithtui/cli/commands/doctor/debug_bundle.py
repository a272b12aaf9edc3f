"""`faithtui doctor --bundle FILE.zip`: what a report of an error needs, and nothing else.

No key, no text of a conversation, of a judge or of a person. Settings go in by name alone where
their value is somebody's own. The log names judges and their addresses.
"""

import json
import os
import platform
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib.metadata import distributions
from pathlib import Path
from typing import Final

from faithtui.cli.commands.doctor.checks import run_checks
from faithtui.cli.output import print_text, print_to_stderr
from faithtui.cli.stores import choose_store_path, open_store
from faithtui.config import SettingOrigin, SettingsWithOrigins, load_settings_with_origins
from faithtui.errors import ConfigError, FaithtuiError
from faithtui.logbook import LOG_FILE, make_secret_filter
from faithtui.output_files import write_atomically
from faithtui.paths import log_dir

_SAFE_SETTINGS: Final = (
    "concurrency",
    "max_failures",
    "theme",
    "keys",
    "ascii",
    "blind",
    "audit_share",
    "auto_advance",
    "timer",
    "requests_per_minute",
    "tokens_per_minute",
    "timeout_s",
)
"""Settings whose values are shown; of the others only where they come from."""

_PACKAGES: Final = re.compile(
    r"^(faithtui|textual|rich|sqlmodel|sqlalchemy|alembic|pydantic(-core)?|typer|openai|anthropic"
    r"|httpx2?|httpcore2?|anyio|keyring|rapidfuzz|sentencex|tomlkit|platformdirs|numpy)$",
    re.IGNORECASE,
)
"""What has a part in errors. Which other packages there are is nobody's business."""


def write_debug_bundle_and_print_contents(file: Path, store: Path | None, *, force: bool) -> int:
    """Write the zip file, and say what is in it.

    Nothing is asked over a network. What cannot be read is left out, with the reason in its place.

    Args:
        file: Where to.
        store: The store; None: the one of the settings.
        force: Replace a file that is there already.

    Raises:
        ExportError: The file is a store, is there already, or cannot be written.
    """
    parts = dict(_iter_bundle_file_names_and_texts(store))
    with (
        write_atomically(file, force=force) as new,
        zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, text in parts.items():
            archive.writestr(name, text)
    for name, text in parts.items():
        print_text(f"{name}  {len(text):,} characters")
    print_to_stderr(f"{file}: look into it before you send it")
    return 0


def _iter_bundle_file_names_and_texts(store: Path | None) -> Iterator[tuple[str, str]]:
    """Make each file of the bundle."""
    clean = make_secret_filter(os.environ).redact_line
    home = str(Path.home())

    def redact_text(text: str) -> str:
        """Take keys out, and the name of whoever's home it is."""
        return "\n".join(clean(line).replace(home, "~") for line in text.splitlines())

    def dump_json(value: object) -> str:
        return redact_text(json.dumps(value, indent=1, ensure_ascii=True))

    yield "versions.json", dump_json(_collect_versions())
    yield "environment.json", dump_json(sorted(os.environ))
    try:
        configured = load_settings_with_origins()
    except ConfigError as error:
        yield "settings.json", dump_json({"cannot be read": str(error)})
        return
    yield "settings.json", dump_json(_collect_safe_settings(configured))
    yield "store.json", dump_json(_collect_store_facts(store, configured))
    named = [
        asdict(each) | {"name": each.name.partition(" ")[0]}
        for each in run_checks(store, "offline", None, offline=True)
    ]
    yield "doctor.json", dump_json(named)
    for number, path in enumerate(_list_log_files()):
        text = path.read_text(encoding="utf-8", errors="replace")
        yield f"log/{number}-{path.name}", redact_text(text)


def _collect_versions() -> dict[str, object]:
    return {
        "python": sys.version,
        "platform": platform.platform(),
        "terminal": os.environ.get("TERM", ""),
        "encoding": sys.stdout.encoding,
        "packages": {
            each.name: each.version
            for each in sorted(distributions(), key=lambda each: each.name.lower())
            if _PACKAGES.match(each.name)
        },
    }


def _collect_safe_settings(configured: SettingsWithOrigins) -> Mapping[str, object]:
    return {
        name: getattr(configured.settings, name)
        if name in _SAFE_SETTINGS
        else f"(not told; from {origin.value})"
        for name, origin in configured.origins.items()
        if name in _SAFE_SETTINGS or origin is not SettingOrigin.DEFAULT
    }


def _collect_store_facts(named: Path | None, configured: SettingsWithOrigins) -> dict[str, object]:
    path = choose_store_path(named, configured.settings)
    try:
        with open_store(named, configured.settings) as store:
            return {
                "schema": store.schema_version,
                "bytes": path.stat().st_size,
                "rows": store.count_rows(),
            }
    except FaithtuiError as error:
        return {"cannot be read": f"{type(error).__name__}"}


def _list_log_files() -> list[Path]:
    """List the log files, the newest first. That of prompts is none of them."""
    found = [path for path in log_dir().glob(f"{LOG_FILE}*") if path.is_file()]
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)
