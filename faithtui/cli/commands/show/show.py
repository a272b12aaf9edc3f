"""`faithtui show`: the conversations of a run, or one of them."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from faithtui.cli.import_progress import index_words_before_search
from faithtui.cli.output import (
    TableColumn,
    format_conversation_name,
    format_score_cell,
    format_score_with_overrides,
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
    from faithtui.domain.filters import Filter, Scope
    from faithtui.domain.ids import ItemId
    from faithtui.store.records import ItemRow, RunSpec
    from faithtui.store.store import Store

PAGE = 500
"""Conversations fetched at a time until the one that is looked for is found."""


def show(
    context: typer.Context,
    run: ReadRunArgument = "last",
    conversation: Annotated[
        str | None,
        typer.Argument(
            metavar="[CONVERSATION]", help="The conversation's id, or its number in the run."
        ),
    ] = None,
    filter_: Annotated[
        str | None,
        typer.Option(
            "--filter",
            metavar="TEXT",
            help="Show only what matches words, or terms such as verdict:no; docs/filters.md "
            "lists the terms.",
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show a run's conversations, or a conversation's claims.

    Claims come with their evidence and verdicts. If several runs judged the conversation,
    show all metrics side by side.

    Example: faithtui show last --filter verdict:no
    """
    from faithtui.cli.commands.show.conversation_lines import format_conversation_lines
    from faithtui.cli.commands.show.metric_comparison import (
        metric_comparison_json,
        print_metric_comparison,
    )
    from faithtui.cli.run_outcome import format_resume_hint
    from faithtui.config import load_settings_with_origins
    from faithtui.domain.filters import Scope
    from faithtui.engine.integrity.run_checks import check_and_save_run_within_time_limit
    from faithtui.engine.review.conversation_json import conversation_view_to_json
    from faithtui.engine.runs.run_liveness import read_run_marking_interrupted
    from faithtui.store.records import ItemState
    from faithtui.tui.screen.filter_matches import list_matching_claims

    options = merge_common_options(context, store, json)
    configured = load_settings_with_origins()
    with open_store(options.store, configured.settings) as opened:
        found = read_run_id(opened, run)
        check_and_save_run_within_time_limit(opened, found)
        items = opened.runs.list_item_ids(found)
        run_row = read_run_marking_interrupted(opened, found)
        spec = run_row.spec
        if conversation is None:
            if filter_ is not None:
                wanted = _parse_filter(filter_, spec, Scope.CONVERSATIONS)
                index_words_before_search(opened, found, wanted)
                items = opened.search.list_matching_items(found, wanted)
            _print_conversations(opened, items, spec.metric, as_json=options.json)
            failures = opened.run_contents.count_conversations_by_state_reason(
                found, ItemState.FAILED
            )
            if sentence := format_resume_hint(run_row, failures):
                print_to_stderr(sentence)
            return
        claims = None if filter_ is None else _parse_filter(filter_, spec, Scope.CLAIMS)
        row = _find_conversation(opened, items, conversation)
        view = opened.runs.read_conversation_for_review(row.id, configured.settings.reviewer)
        if claims is not None:
            kept = list_matching_claims(view, claims)
            view = replace(view, claims=tuple(each for each in view.claims if each.id in kept))
        compared = opened.runs.read_conversation_across_runs(row.conversation)
        record_who_saw_judge_verdicts(
            opened, [row.id], configured, options.reviewer, in_all_runs=True
        )
    if options.json:
        print_json(
            {
                **conversation_view_to_json(view),
                "metrics_compared": metric_comparison_json(compared),
            }
        )
        return
    print_text("\n".join(format_conversation_lines(view)))
    if len(compared.runs) > 1:
        print_text("\nmetrics compared, answer by answer")
        print_metric_comparison(compared)


def _parse_filter(text: str, spec: "RunSpec", scope: "Scope") -> "Filter":
    """Read a filter.

    Raises:
        ConfigError: A part of it cannot be used.
    """
    from faithtui.domain.filters import parse_filter
    from faithtui.tui.screen.filter_matches import make_context_of_run_filter

    reading = parse_filter(text, make_context_of_run_filter(spec.rule, scope))
    if reading.problem is not None:
        raise ConfigError(reading.problem)
    return reading.filter


def _print_conversations(
    store: "Store", items: "tuple[ItemId, ...]", metric: str, *, as_json: bool
) -> None:
    from faithtui.domain.judging.error_sentences import format_failure_reason
    from faithtui.engine.integrity.judged_conversations import format_integrity_sentence
    from faithtui.engine.review.conversation_json import conversation_row_to_json
    from faithtui.metrics.registry import find_metric

    labels = find_metric(metric).spec.labels
    rows = store.runs.read_item_rows(items)
    if as_json:
        print_json([conversation_row_to_json(row, metric) for row in rows])
        return
    print_table(
        (
            TableColumn("no", "right"),
            TableColumn("conversation", flexible=True),
            TableColumn("state"),
            TableColumn("score", "right"),
            TableColumn("with overrides", "right"),
            TableColumn("undefined", "right"),
            *(TableColumn(name, "right") for name in labels.names),
            TableColumn("none", "right"),
            TableColumn("labelled", "right"),
            TableColumn("integrity"),
            TableColumn("why"),
        ),
        [
            (
                str(row.number),
                format_conversation_name(row.source, row.key),
                _format_conversation_state(row),
                format_score_cell(None if row.scores is None else row.scores.windowed.value),
                format_score_with_overrides(
                    row.corrected.windowed.value if row.corrected is not None else None,
                    row.labelled if row.corrected is not None else 0,
                    row.claims,
                ),
                f"{row.undefined_windows}/{row.windows}",
                *(str(row.labels.get(name, 0)) for name in labels.names),
                str(row.missing),
                f"{row.labelled}/{row.claims}",
                format_integrity_sentence(metric, row.integrity),
                format_failure_reason(row.reason or "")
                or _explain_missing_score(row)
                or _format_skipped_windows(row),
            )
            for row in rows
        ],
    )


def _find_conversation(store: "Store", items: "tuple[ItemId, ...]", name: str) -> "ItemRow":
    """Find a conversation of a run by its id, `source/id` or number, or as the list names it."""
    shortened = []
    for start in range(0, len(items), PAGE):
        for row in store.runs.read_item_rows(items[start : start + PAGE]):
            if name in (row.key, f"{row.source}/{row.key}"):
                return row
            listed = format_conversation_name(row.source, row.key)
            if name in (listed, listed.removeprefix(f"{row.source}/")):
                shortened.append(row)
    if len(shortened) == 1:
        return shortened[0]
    if name.isascii() and name.isdigit() and 1 <= int(name) <= len(items):
        return store.runs.read_item_rows([items[int(name) - 1]])[0]
    raise ConfigError(
        f"the run has no conversation `{name}`; expected an id or a number from 1 to {len(items)}; "
        "`faithtui show RUN` lists them"
    )


def _format_conversation_state(row: "ItemRow") -> str:
    """Name where a conversation stands: one that lacks a verdict is not done."""
    from faithtui.domain.scores import ScoreState
    from faithtui.store.records import ItemState

    if row.state is ItemState.DONE and row.scores is not None:
        state = row.scores.windowed.state
        if state is ScoreState.INCOMPLETE:
            return state.value
    return row.state.value


def _explain_missing_score(row: "ItemRow") -> str | None:
    """Say why a judged conversation has no score; None where it has one, or none is stored."""
    return None if row.scores is None else row.scores.windowed.reason


def _format_skipped_windows(row: "ItemRow") -> str:
    """Say how many windows the metric skipped, such as answers without a context; "" for none."""
    from faithtui.domain.scores import format_parts_left_out_of_mean

    return format_parts_left_out_of_mean(0, row.skipped_windows, row.windows)
