"""`faithtui check`: what looks wrong in a run."""

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from faithtui.cli.output import (
    TableColumn,
    format_conversation_name,
    is_quiet,
    plural,
    print_hint,
    print_json,
    print_table,
    print_text,
    print_to_stderr,
)
from faithtui.cli.output_options import JsonOption
from faithtui.cli.seen_verdicts import record_who_saw_judge_verdicts
from faithtui.cli.shared_options import (
    ReadRunArgument,
    StoreOption,
    merge_common_options,
)
from faithtui.cli.stores import open_store, read_run_id
from faithtui.errors import ConfigError

if TYPE_CHECKING:
    from faithtui.domain.ids import RunId
    from faithtui.domain.integrity.findings import FindingKind
    from faithtui.store.records import FindingRow, FindingSummary

_SAY_EVERY_S = 2.0


def check(
    context: typer.Context,
    run: ReadRunArgument = "last",
    kind: Annotated[
        str | None,
        typer.Argument(metavar="[KIND]", help="List the entries of one kind, such as flip."),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Find suspect replies: missing verdicts, flips, made-up claims.

    Conversations judged since the last check are checked first. Ctrl-C stops, and the next
    call continues. --json prints the entries too.

    Example: faithtui check last flip
    """
    from faithtui.config import load_settings_with_origins
    from faithtui.engine.integrity.run_checks import check_and_save_remaining_conversations

    options = merge_common_options(context, store, json)
    wanted = None if kind is None else _parse_finding_kind(kind)
    configured = load_settings_with_origins()
    with open_store(options.store, configured.settings) as opened:
        found = read_run_id(opened, run)
        check_and_save_remaining_conversations(opened, found, _CheckProgress())
        summary = opened.findings.summarise_run(found)
        if options.json:
            kinds = list(summary.counts) if wanted is None else [wanted]
            ids = [
                number for each in kinds for number in opened.findings.list_ids_of_kind(found, each)
            ]
            rows = opened.findings.read_rows(ids)
            print_json(_findings_to_json(found, summary, rows))
        elif wanted is not None:
            rows = opened.findings.read_rows(opened.findings.list_ids_of_kind(found, wanted))
            _print_findings(rows)
        else:
            rows = ()
            _print_finding_counts(summary)
        record_who_saw_judge_verdicts(
            opened, [row.item for row in rows], configured, options.reviewer
        )


class _CheckProgress:
    """Says on stderr how far it is, for runs that take longer than a moment."""

    def __init__(self) -> None:
        self._printed_at = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if not is_quiet() and done < total and now - self._printed_at >= _SAY_EVERY_S:
            self._printed_at = now
            print_to_stderr(f"checked {done} of {plural(total, 'conversation')}")


def _parse_finding_kind(name: str) -> "FindingKind":
    from faithtui.domain.integrity.findings import FindingKind
    from faithtui.domain.text.suggestions import format_known_names

    folded = name.strip().lower().replace("_", "-")
    for kind in FindingKind:
        if kind.value == folded:
            return kind
    known = format_known_names(folded, (kind.value for kind in FindingKind))
    raise ConfigError(f"there is no kind of finding `{name}`; known: {known}")


def _print_finding_counts(summary: "FindingSummary") -> None:
    from faithtui.domain.integrity.explanations import EXPLANATIONS

    if not summary.checked:
        print_text("nothing was checked: no conversation of the run is judged yet")
        return
    if not summary.counts:
        print_text(f"nothing looks wrong in {plural(summary.checked, 'checked conversation')}")
        return
    print_table(
        (
            TableColumn("kind"),
            TableColumn("entries", "right"),
            TableColumn("claims", "right"),
            TableColumn("conversations", "right"),
            TableColumn("what", flexible=True),
        ),
        [
            (
                kind.value,
                str(count.entries),
                str(count.claims) if count.claims else "",
                str(count.conversations),
                EXPLANATIONS[kind].title,
            )
            for kind, count in summary.counts.items()
        ],
    )
    if sys.stdout.isatty():
        print_hint("faithtui check RUN KIND lists the entries of a kind")


def _print_findings(rows: "Sequence[FindingRow]") -> None:
    print_table(
        (
            TableColumn("no", "right"),
            TableColumn("conversation"),
            TableColumn("where"),
            TableColumn("seen", flexible=True),
            TableColumn("claim"),
        ),
        [
            (
                str(row.number),
                format_conversation_name(row.source, row.key),
                _format_finding_location(row),
                row.finding.detail,
                (row.text or "the whole answer") if row.text is not None else "",
            )
            for row in rows
        ],
    )


def _format_finding_location(row: "FindingRow") -> str:
    found = row.finding
    parts = []
    if found.turn is not None:
        parts.append(f"turn {found.turn + 1}")
    if found.window is not None:
        parts.append(f"window {found.window + 1}")
    return " ".join(parts)


def _findings_to_json(
    run: "RunId", summary: "FindingSummary", rows: "Sequence[FindingRow]"
) -> dict[str, object]:
    return {
        "run": run,
        "checked": summary.checked,
        "unchecked": summary.waiting,
        "counts": {
            kind.value: {
                "entries": count.entries,
                "claims": count.claims,
                "conversations": count.conversations,
            }
            for kind, count in summary.counts.items()
        },
        "findings": [
            {
                "kind": row.finding.kind.value,
                "number": row.number,
                "source": row.source,
                "conversation": row.key,
                "claim": row.finding.claim,
                "text": row.text,
                "window": row.finding.window,
                "turn": row.finding.turn,
                "detail": row.finding.detail,
            }
            for row in rows
        ],
    }
