"""`faithtui export labels` and `faithtui merge`."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from faithtui.cli.output import (
    plural,
    print_document,
    print_file_name,
    print_json,
    print_text,
    print_to_stderr,
)
from faithtui.cli.stores import open_store, read_run_id
from faithtui.config import load_settings
from faithtui.domain.label_bundle import ConversationName
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.engine.review.label_bundles import (
    MergeResult,
    export_labels,
    label_lines,
    merge_files,
    suggest_remedy,
)
from faithtui.errors import ConfigError, InputError

KINDS = ("labels",)
"""What can be exported."""
MOST_PRINTED = 1_000
"""Refused lines, and conversations that are not here, that are told one by one."""
_MOST_CHARACTERS = 500
"""Characters of what is told of one of them."""
_MOST_OF_NAME = 100
"""Characters of a name in it."""


def write_label_bundle(
    store: Path | None,
    what: str,
    output: Path | None,
    *,
    force: bool,
    run: str | None,
    reviewers: Sequence[str],
    as_json: bool,
) -> int:
    """Write labels into a file, or to stdout."""
    if what not in KINDS:
        raise ConfigError(f"there is nothing called `{what}` to export; known: {', '.join(KINDS)}")
    with open_store(store, load_settings()) as opened:
        chosen = None if run is None else read_run_id(opened, run)
        if output is None:
            print_document(label_lines(opened, chosen, reviewers))
            return 0
        export_labels(opened, output, chosen, reviewers, force=force)
    print_file_name(output, as_json=as_json)
    return 0


def merge_bundles(store: Path | None, paths: Sequence[Path], *, as_json: bool) -> int:
    """Merge bundles; 0, or 3 when something in them is not in the store now."""
    with open_store(store, load_settings()) as opened:
        result = merge_files(opened, paths)
    for refusal in result.refusals[:MOST_PRINTED]:
        print_to_stderr(make_visible_line(str(refusal), _MOST_CHARACTERS))
    if len(result.refusals) > MOST_PRINTED:
        print_to_stderr(f"… and {len(result.refusals) - MOST_PRINTED} more refused")
    for each in result.merged.unmerged[:MOST_PRINTED]:
        # What to do is said at the end, which a long name must not push out.
        short = replace(each, conversation=_shorten_name(each.conversation))
        print_to_stderr(
            make_visible_line(f"not merged, {plural(each.acts, 'act')}: {suggest_remedy(short)}")
        )
    if len(result.merged.unmerged) > MOST_PRINTED:
        print_to_stderr(
            f"… and {plural(len(result.merged.unmerged) - MOST_PRINTED, 'more conversation')}"
        )
    if as_json:
        print_json(_as_json(result))
    else:
        print_text(_format_result(result))
        print_text(f"state {result.digest}")
    return 0 if result.is_complete else InputError.exit_code


def _shorten_name(name: ConversationName) -> ConversationName:
    return replace(
        name,
        source=make_visible_line(name.source, _MOST_OF_NAME),
        key=make_visible_line(name.key, _MOST_OF_NAME),
    )


def _format_result(result: MergeResult) -> str:
    merged = result.merged
    parts = [plural(merged.new, "new act"), f"{merged.known} known"]
    for count, word in (
        (merged.new_claims, "new claim"),
        (merged.new_samples, "new sample"),
        (merged.new_guidelines, "new guideline version"),
    ):
        if count:
            parts.append(plural(count, word))
    if merged.unmerged:
        parts.append(f"{merged.unmerged_acts} not merged")
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
            for each in merged.unmerged
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
