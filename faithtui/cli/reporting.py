"""`faithtui report`."""

import sys
from pathlib import Path
from typing import get_args

from faithtui.cli.opening import open_store, run_id
from faithtui.cli.output import put, put_json
from faithtui.config import load_settings
from faithtui.domain.plain import visible
from faithtui.engine.reporting import FILES, Format, render, run_agreement, write_report
from faithtui.errors import ConfigError


def report(
    store: Path | None,
    run: str,
    *,
    formats: str | None,
    output: Path | None,
    text: bool,
    as_json: bool,
) -> int:
    """Write a run's agreement report to files, or one format of it to stdout."""
    default = "json" if as_json and output is None else "md" if output is None else ",".join(FILES)
    chosen = _formats(formats or default)
    with open_store(store, load_settings()) as opened:
        found = run_id(opened, run)
        if output is not None:
            written = write_report(opened, found, chosen, output, include_text=text)
            if as_json:
                put_json([str(path) for path in written])
            else:
                for path in written:
                    put(str(path))
            return 0
        if len(chosen) > 1:
            raise ConfigError("stdout takes one format; name a folder for several with -o DIR")
        document = render(run_agreement(opened, found), chosen[0], include_text=text)
        # Into a pipe or a file a report goes byte for byte; on a terminal its texts are only shown.
        sys.stdout.write(visible(document) if sys.stdout.isatty() else document)
    return 0


def _formats(text: str) -> tuple[Format, ...]:
    known = {name: name for name in get_args(Format)}
    chosen = [part.strip().lower() for part in text.split(",") if part.strip()]
    for name in chosen:
        if name not in known:
            raise ConfigError(f"there is no format `{name}`; known: {', '.join(known)}")
    if not chosen:
        raise ConfigError(f"no format is named; known: {', '.join(known)}")
    return tuple(known[name] for name in dict.fromkeys(chosen))
