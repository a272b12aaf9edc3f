"""`faithtui merge`: label bundles of other stores."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithtui.cli.output import plural, print_json, print_text, print_to_stderr
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import StoreOption, merge_common_options
from faithtui.cli.stores import open_store
from faithtui.errors import InputError

if TYPE_CHECKING:
    from faithtui.domain.labels.label_bundle import ConversationName
    from faithtui.engine.review.label_bundles import MergeResult

MOST_PRINTED = 1_000
"""Refused lines, and conversations that are not here, that are reported one by one."""
_MOST_CHARACTERS = 500
"""Characters of what is reported of one of them."""
_MOST_OF_NAME = 100
"""Characters of a name in it."""


def merge(
    context: typer.Context,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Bundles of `faithtui export labels`.")
    ],
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Merge label bundles of other stores into this store.

    Bundles merged in any order, or twice, give the same labels and print the same state name.
    Exit code 3 if a conversation is not in this store or a line was refused; the rest is
    merged.

    Example: faithtui merge labels.jsonl
    """
    from faithtui.domain.text.visible_text import make_visible_line
    from faithtui.engine.review.label_bundles import (
        merge_bundles_into_store,
        suggest_fix_for_unmerged,
    )

    options = merge_common_options(context, store, json)
    with open_store(options.store) as opened:
        result = merge_bundles_into_store(opened, files)
    for refusal in result.refusals[:MOST_PRINTED]:
        print_to_stderr(make_visible_line(str(refusal), _MOST_CHARACTERS))
    if len(result.refusals) > MOST_PRINTED:
        print_to_stderr(f"… and {len(result.refusals) - MOST_PRINTED} more refused")
    for each in result.merged.unmerged[:MOST_PRINTED]:
        # What to do is said at the end, which a long name must not push out.
        short = replace(each, conversation=_shorten_conversation_name(each.conversation))
        print_to_stderr(
            make_visible_line(
                f"not merged, {plural(each.acts, 'act')}: {suggest_fix_for_unmerged(short)}"
            )
        )
    if len(result.merged.unmerged) > MOST_PRINTED:
        print_to_stderr(
            f"… and {plural(len(result.merged.unmerged) - MOST_PRINTED, 'more conversation')}"
        )
    if options.json:
        print_json(_merge_result_to_json(result))
    else:
        print_text(_format_result(result))
        print_text(f"state {result.digest}")
    if not result.is_complete:
        raise typer.Exit(InputError.exit_code)


def _shorten_conversation_name(name: "ConversationName") -> "ConversationName":
    from faithtui.domain.text.visible_text import make_visible_line

    return replace(
        name,
        source=make_visible_line(name.source, _MOST_OF_NAME),
        key=make_visible_line(name.key, _MOST_OF_NAME),
    )


def _format_result(result: "MergeResult") -> str:
    merged = result.merged
    parts = [plural(merged.new, "new act"), f"{merged.known} known"]
    for count, word in (
        (merged.new_claims, "new claim"),
        (merged.new_samples, "new sample"),
        (merged.new_guidelines, "new guideline version"),
    ):
        if count:
            parts.append(plural(count, word))
    if merged.samples_not_drawn:
        samples = plural(merged.samples_not_drawn, "sample")
        parts.append(f"{samples} not taken (not what the seed draws of the run)")
    if merged.unverified:
        parts.append(f"{merged.unverified} unverified, of files without a digest")
    if merged.unmerged:
        parts.append(f"{merged.unmerged_acts} not merged")
    if result.refusals:
        parts.append(f"{len(result.refusals)} refused")
    return ", ".join(parts)


def _merge_result_to_json(result: "MergeResult") -> dict[str, object]:
    merged = result.merged
    return {
        "new": merged.new,
        "known": merged.known,
        "unverified": merged.unverified,
        "new_claims": merged.new_claims,
        "new_samples": merged.new_samples,
        "samples_not_drawn": merged.samples_not_drawn,
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
