"""`faithtui doctor`: is everything there that faithtui needs?"""

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from faithtui.cli.opening import open_store, store_path
from faithtui.cli.output import put, put_json
from faithtui.config import Settings, load_settings
from faithtui.domain.tasks import ExtractClaims
from faithtui.errors import ConfigError, FaithtuiError, StoreError
from faithtui.judges.base import JudgeRequest
from faithtui.judges.opening import missing_key, open_judge
from faithtui.paths import config_file

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
DEADLINE_S = 30.0
PROBE_SCHEMA = {
    "type": "object",
    "properties": {"a0": {"type": "array", "items": {"type": "string"}}},
    "required": ["a0"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    name: str
    ok: bool | None
    """None: neither right nor wrong, only so."""
    text: str
    exit_code: int = 0
    """What the command exits with when this is the worst that was found."""


def doctor(store: Path | None, judge: str | None, base_url: str | None, *, as_json: bool) -> int:
    """Check everything; 0 when sound, else the exit code of the first thing that is not."""
    settings = load_settings()
    findings = [
        Finding("faithtui", None, f"{version('faithtui')}, Python {sys.version.split()[0]}"),
        Finding("settings", None, _settings_text()),
        *_store(store, settings),
        *(_key(name) for name in KEYS),
        _judge(judge or settings.judge, base_url or (None if judge else settings.base_url)),
        _terminal(),
    ]
    if as_json:
        put_json([asdict(each) for each in findings])
    else:
        for each in findings:
            mark = {True: "ok ", False: "NO ", None: "   "}[each.ok]
            put(f"{mark} {each.name}: {each.text}")
    return next((each.exit_code for each in findings if each.ok is False), 0)


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
                text = f"{path}, {size:.1f} MB, {count} conversations"
                yield Finding("store", True, f"{text}, schema {opened.schema_version}, sound")
                yield Finding("labels", None, f"state {opened.bundles.state_digest()}")
    except StoreError as error:
        yield Finding("store", False, str(error), error.exit_code)


def _key(name: str) -> Finding:
    there = bool(os.environ.get(name, "").strip())
    return Finding(name, None, "set (not shown)" if there else "not set")


def _judge(ref: str, base_url: str | None) -> Finding:
    """Put one small question to the judge."""
    name = f"judge {ref}"
    try:
        key = missing_key(ref, base_url, os.environ)
        if key is not None:
            return Finding(name, False, f"needs a key: set {key}", ConfigError.exit_code)
        latency_ms = asyncio.run(_probe(ref, base_url))
    except FaithtuiError as error:
        return Finding(name, False, str(error), error.exit_code)
    return Finding(name, True, f"answers, {latency_ms} ms")


async def _probe(ref: str, base_url: str | None) -> int:
    answer = "Parcels leave the depot within two days."
    request = JudgeRequest(
        step="probe",
        task=ExtractClaims((answer,)),
        system="Answer with one JSON object of the requested shape.",
        prompt=f'List the claims of this answer as {{"a0": ["..."]}}: {answer}',
        schema=PROBE_SCHEMA,
        max_tokens=500,
    )
    async with open_judge(ref, base_url=base_url, timeout_s=DEADLINE_S) as judge:
        reply = await judge.send(request)
    return reply.latency_ms


def _terminal() -> Finding:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Finding("terminal", None, "none here; the app needs one, the commands do not")
    size = shutil.get_terminal_size()
    kind = os.environ.get("TERM", "unknown")
    text = f"{size.columns}×{size.lines}, TERM={kind}"
    if size.columns < 80 or size.lines < 24:
        return Finding("terminal", None, f"{text}; below 80×24 the app shows less")
    return Finding("terminal", True, text)
