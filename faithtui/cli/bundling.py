"""`faithtui export labels` and `faithtui merge`."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from faithtui.cli.opening import open_store, run_id
from faithtui.cli.output import plural, put, put_json, say
from faithtui.config import load_settings
from faithtui.domain.plain import visible
from faithtui.engine.bundling import (
    MergeResult,
    export_labels,
    label_lines,
    merge_files,
    way_out,
)
from faithtui.errors import ConfigError, InputError

KINDS = ("labels",)
"""What can be exported."""
TOLD = 1_000
"""Refused lines, and conversations that are not here, that are told one by one."""


def export(
    store: Path | None,
    what: str,
    output: Path | None,
    *,
    run: str | None,
    reviewers: Sequence[str],
    as_json: bool,
) -> int:
    """Write labels into a file, or to stdout."""
    if what not in KINDS:
        raise ConfigError(f"there is nothing called `{what}` to export; known: {', '.join(KINDS)}")
    with open_store(store, load_settings()) as opened:
        chosen = None if run is None else run_id(opened, run)
        if output is None:
            on_terminal = sys.stdout.isatty()
            for line in label_lines(opened, chosen, reviewers):
                # Into a pipe or a file it goes byte for byte; on a terminal it is only shown.
                sys.stdout.write(visible(line) if on_terminal else line)
            return 0
        export_labels(opened, output, chosen, reviewers)
    if as_json:
        put_json(str(output))
    else:
        put(str(output))
    return 0


def merge(store: Path | None, paths: Sequence[Path], *, as_json: bool) -> int:
    """Merge bundles; 0, or 3 when something in them is not in the store now."""
    with open_store(store, load_settings()) as opened:
        result = merge_files(opened, paths)
    for refusal in result.refusals[:TOLD]:
        say(str(refusal))
    if len(result.refusals) > TOLD:
        say(f"… and {len(result.refusals) - TOLD} more refused")
    for each in result.merged.elsewhere[:TOLD]:
        say(f"not merged, {plural(each.acts, 'act')}: {way_out(each)}")
    if len(result.merged.elsewhere) > TOLD:
        say(f"… and {len(result.merged.elsewhere) - TOLD} more conversations")
    if as_json:
        put_json(_as_json(result))
    else:
        put(_line(result))
        put(f"state {result.digest}")
    return 0 if result.complete else InputError.exit_code


def _line(result: MergeResult) -> str:
    merged = result.merged
    parts = [plural(merged.new, "new act"), f"{merged.known} known"]
    for count, word in (
        (merged.new_claims, "new claim"),
        (merged.new_samples, "new sample"),
        (merged.new_guidelines, "new guideline version"),
    ):
        if count:
            parts.append(plural(count, word))
    if merged.elsewhere:
        parts.append(f"{merged.acts_elsewhere} not merged")
    if result.refusals:
        parts.append(f"{len(result.refusals)} refused")
    return ", ".join(parts)


def _as_json(result: MergeResult) -> dict[str, object]:
    merged = result.merged
    return {
        "new": merged.new,
        "known": merged.known,
        "new_claims": merged.new_claims,
        "new_samples": merged.new_samples,
        "new_guidelines": merged.new_guidelines,
        "not_merged": [
            {**asdict(each.conversation), "why": each.why, "acts": each.acts}
            for each in merged.elsewhere
        ],
        "refusals": [
            {
                "path": None if each.path is None else str(each.path),
                "line": each.line,
                "field": each.field,
                "reason": each.reason,
            }
            for each in result.refusals
        ],
        "state": result.digest,
    }
