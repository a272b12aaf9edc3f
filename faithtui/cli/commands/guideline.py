"""`faithtui guideline`: the text that says how to judge, and its versions."""

import sys
from pathlib import Path

from faithtui.cli.output import Column, print_json, print_table, print_text, print_to_stderr
from faithtui.cli.stores import open_store
from faithtui.config import load_settings
from faithtui.errors import ConfigError, InputError
from faithtui.store.annotations.guidelines import Guideline

_STDIN = Path("-")
ACTIONS = ("show", "set", "history")


def run_guideline_action(
    store: Path | None, action: str, file: Path | None, reviewer: str | None, *, as_json: bool
) -> int:
    """Show, set or list."""
    match action, file:
        case "show", None:
            return _show_current(store, as_json=as_json)
        case "history", None:
            return _list_versions(store, as_json=as_json)
        case "set", Path():
            return _set_guideline(store, file, reviewer, as_json=as_json)
        case "set", None:
            raise ConfigError("no text is named: faithtui guideline set FILE, with - for stdin")
        case "show" | "history", _:
            raise ConfigError(f"`{action}` takes no file")
    raise ConfigError(f"`{action}` is no action; known: {', '.join(ACTIONS)}")


def _show_current(store: Path | None, *, as_json: bool) -> int:
    """Print the guideline in force; 0 also where there is none, which is said."""
    with open_store(store, load_settings()) as opened:
        current = opened.guidelines.current()
    if as_json:
        print_json(None if current is None else _as_json(current))
    elif current is None:
        print_to_stderr("there is no guideline yet: faithtui guideline set FILE")
    else:
        print_text(current.text)
    return 0


def _set_guideline(store: Path | None, file: Path, reviewer: str | None, *, as_json: bool) -> int:
    """Put a text in force."""
    settings = load_settings()
    text = _read_text(file)
    if not text.strip():
        raise InputError("is empty; expected the text of a guideline", path=file)
    with open_store(store, settings) as opened:
        before = opened.guidelines.current()
        now = opened.guidelines.set(text, reviewer or settings.reviewer)
    if as_json:
        print_json(_as_json(now))
    elif before is not None and before.digest == now.digest:
        print_text(f"version {now.number} stays in force: the text is the same")
    else:
        print_text(
            f"version {now.number} is in force ({now.digest}); labels given from now on name it"
        )
    return 0


def _list_versions(store: Path | None, *, as_json: bool) -> int:
    """List all versions, the one in force first."""
    with open_store(store, load_settings()) as opened:
        versions = opened.guidelines.versions()[::-1]
    if as_json:
        print_json([_as_json(each) for each in versions])
        return 0
    print_table(
        [
            Column("VERSION", "right"),
            Column("DIGEST"),
            Column("SET"),
            Column("BY"),
            Column("BEGINS", flexible=True),
        ],
        [
            [
                str(each.number),
                each.digest,
                f"{each.created_at:%Y-%m-%d %H:%M}",
                each.author,
                next(iter(each.text.strip().splitlines()), "")[:200],
            ]
            for each in versions
        ],
    )
    return 0


def _read_text(file: Path) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == _STDIN else file.read_bytes()
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8; save it as UTF-8", path=file) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=file) from error


def _as_json(each: Guideline) -> dict[str, object]:
    return {
        "version": each.number,
        "digest": each.digest,
        "author": each.author,
        "created_at": each.created_at.isoformat(),
        "text": each.text,
    }
