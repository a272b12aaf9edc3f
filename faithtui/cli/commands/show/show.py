"""`faithtui runs` and `faithtui show`."""

import textwrap
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from faithtui.cli.commands.show.metric_comparison import (
    metric_comparison_json,
    print_metric_comparison,
)
from faithtui.cli.exposure import record_exposure
from faithtui.cli.output import Column, plural, print_json, print_table, print_text, print_to_stderr
from faithtui.cli.run_outcome import format_resume_hint
from faithtui.cli.stores import open_store, read_run_id
from faithtui.config import load_settings, load_settings_with_origins
from faithtui.domain.filters import Filter, Scope, read_filter
from faithtui.domain.ids import ItemId, TruthId
from faithtui.domain.label_sets import LabelSet
from faithtui.domain.scores import Score, ScoreSet, ScoreState, format_left_out
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.engine.integrity.judged_conversations import integrity_sentence
from faithtui.engine.integrity.run_checks import check_for_moment
from faithtui.engine.review.conversation_json import item_to_json, run_to_json, view_to_json
from faithtui.engine.runs.workers import read_run, read_runs
from faithtui.errors import ConfigError
from faithtui.metrics.base import MetricSpec
from faithtui.metrics.registry import find_metric
from faithtui.store.records import (
    ClaimView,
    ItemRow,
    ItemState,
    ReviewView,
    RunSpec,
    RunState,
    TruthView,
)
from faithtui.store.store import Store
from faithtui.tui.screen.filter_matches import find_claims, ground_for

PAGE = 500
"""Conversations fetched at a time."""


def print_runs(store: Path | None, *, archived: bool, as_json: bool) -> int:
    """List the runs, or those that were archived."""
    with open_store(store, load_settings()) as opened:
        rows = [row for row in read_runs(opened) if (row.archived_at is not None) is archived]
        out = opened.batches.sum_all_outstanding()
    if as_json:
        print_json(
            [
                {**run_to_json(row), "questions_out": out[row.id].questions if row.id in out else 0}
                for row in rows
            ]
        )
        return 0
    print_table(
        (
            Column("run", "right"),
            Column("metric"),
            Column("judge", flexible=True),
            Column("state"),
            Column("conversations", "right"),
            Column("failed", "right"),
            Column("skipped", "right"),
            Column("undefined", "right"),
            Column("incomplete", "right"),
            Column("claims", "right"),
            Column("labelled", "right"),
            Column("score", "right"),
            Column("with overrides", "right"),
            Column("integrity"),
            Column("made"),
        ),
        [
            (
                str(row.id),
                row.spec.metric,
                row.spec.judge_title,
                f"{row.state.value}: {out[row.id].questions} out"
                if row.id in out
                else row.state.value,
                f"{row.done + row.failed + row.skipped}/{row.conversations}",
                str(row.failed),
                str(row.skipped),
                str(row.undefined),
                str(row.incomplete),
                str(row.claims),
                str(row.labelled),
                _format_number(row.score),
                _format_number(row.corrected if row.labelled else None),
                integrity_sentence(row.spec.metric, row.integrity),
                f"{row.created_at:%Y-%m-%d %H:%M} UTC",
            )
            for row in rows
        ],
    )
    for row in rows:
        if row.state is RunState.INTERRUPTED or row.incomplete:
            print_to_stderr(format_resume_hint(row) or "")
    return 0


def print_run(
    store: Path | None,
    run: str,
    conversation: str | None,
    wanted: str | None = None,
    reviewer: str | None = None,
    *,
    as_json: bool,
) -> int:
    """Show a run's conversations, or one of them; only what a filter finds, if there is one.

    Raises:
        ConfigError: A part of the filter cannot be used, or there is no such conversation.
    """
    configured = load_settings_with_origins()
    settings = configured.settings
    with open_store(store, settings) as opened:
        found = read_run_id(opened, run)
        check_for_moment(opened, found)
        items = opened.runs.item_ids(found)
        run_row = read_run(opened, found)
        spec = run_row.spec
        labels = find_metric(spec.metric).spec.labels
        if conversation is None:
            if wanted is not None:
                items = opened.search.find_items(
                    found, _parse_filter(wanted, spec, Scope.CONVERSATIONS)
                )
            _print_conversations(opened, items, spec.metric, labels, as_json=as_json)
            if sentence := format_resume_hint(run_row):
                print_to_stderr(sentence)
            return 0
        claims = None if wanted is None else _parse_filter(wanted, spec, Scope.CLAIMS)
        row = _find_conversation(opened, items, conversation)
        view = opened.runs.review_view(row.id, settings.reviewer)
        if claims is not None:
            kept = find_claims(view, claims)
            view = replace(view, claims=tuple(each for each in view.claims if each.id in kept))
        compared = opened.runs.compare_view(row.conversation)
        record_exposure(opened, [row.id], configured, reviewer, in_all_runs=True)
    if as_json:
        print_json({**view_to_json(view), "metrics_compared": metric_comparison_json(compared)})
        return 0
    print_text("\n".join(_view_lines(view)))
    if len(compared.runs) > 1:
        print_text("\nmetrics compared, answer by answer")
        print_metric_comparison(compared)
    return 0


def _parse_filter(text: str, spec: RunSpec, scope: Scope) -> Filter:
    """Read a filter.

    Raises:
        ConfigError: A part of it cannot be used.
    """
    reading = read_filter(text, ground_for(spec.rule, scope))
    if reading.problem is not None:
        raise ConfigError(reading.problem)
    return reading.filter


def _print_conversations(
    store: Store, items: tuple[ItemId, ...], metric: str, labels: LabelSet, *, as_json: bool
) -> None:
    rows = [
        row
        for start in range(0, len(items), PAGE)
        for row in store.runs.item_rows(items[start : start + PAGE])
    ]
    if as_json:
        print_json([item_to_json(row, metric) for row in rows])
        return
    print_table(
        (
            Column("no", "right"),
            Column("conversation", flexible=True),
            Column("state"),
            Column("score", "right"),
            Column("with overrides", "right"),
            Column("undefined", "right"),
            *(Column(name, "right") for name in labels.names),
            Column("none", "right"),
            Column("labelled", "right"),
            Column("integrity"),
            Column("why"),
        ),
        [
            (
                str(row.number),
                f"{row.source}/{row.key}",
                _format_state(row),
                _format_number(None if row.scores is None else row.scores.windowed.value),
                _format_number(
                    None
                    if row.corrected is None or not row.labelled
                    else row.corrected.windowed.value
                ),
                f"{row.undefined_windows}/{row.windows}",
                *(str(row.labels.get(name, 0)) for name in labels.names),
                str(row.missing),
                f"{row.labelled}/{row.claims}",
                integrity_sentence(metric, row.integrity),
                row.reason or _why_unscored(row) or "",
            )
            for row in rows
        ],
    )


def _find_conversation(store: Store, items: tuple[ItemId, ...], name: str) -> ItemRow:
    """Find a conversation of a run by its id, by `source/id`, or by its number in the run."""
    for start in range(0, len(items), PAGE):
        for row in store.runs.item_rows(items[start : start + PAGE]):
            if name in (row.key, f"{row.source}/{row.key}"):
                return row
    if name.isascii() and name.isdigit() and 1 <= int(name) <= len(items):
        return store.runs.item_rows([items[int(name) - 1]])[0]
    raise ConfigError(
        f"the run has no conversation `{name}`; expected an id or a number from 1 to {len(items)}, "
        "as `faithtui show RUN` lists them"
    )


def _format_number(value: float | None) -> str:
    return "—" if value is None else f"{value:.2f}"


def _format_state(row: ItemRow) -> str:
    """Name where a conversation stands: one that lacks a verdict is not done."""
    if row.state is ItemState.DONE and row.scores is not None:
        state = row.scores.windowed.state
        if state is ScoreState.INCOMPLETE:
            return state.value
    return row.state.value


def _why_unscored(row: ItemRow) -> str | None:
    """Say why a judged conversation has no score; None where it has one, or none is stored."""
    return None if row.scores is None else row.scores.windowed.reason


def _format_score(score: Score, parts: int = 0, noun: str = "window") -> str:
    """Write a score; of a mean also what it leaves out of so many parts."""
    if score.value is None:
        return f"{score.state.value} ({score.reason})"
    left_out = format_left_out(score.undefined, score.skipped, parts, noun)
    return f"{score.value:.2f}" + (f" ({left_out})" if left_out else "")


def _view_lines(view: ReviewView) -> list[str]:
    """Write a conversation's claims with verdicts and evidence for a terminal of any width."""
    item = view.item
    lines = [
        f"run {view.run.id} · {view.run.spec.metric} by {view.run.spec.judge_title}",
        make_visible_line(
            f"{item.source}/{item.key} · {plural(item.turns, 'turn')} · "
            f"{plural(item.windows, 'window')}"
        ),
    ]
    if item.reason:
        lines.append(f"{item.state.value}: {make_visible_line(item.reason)}")
    # What has no score for the reason above needs no second telling of it.
    if item.scores is not None and (item.scores.windowed.value is not None or not item.reason):
        lines.append(f"judge: {_format_scores(item.scores, item.windows)}")
    if item.corrected is not None and item.labelled:
        lines.append(f"with overrides: {_format_scores(item.corrected, item.windows)}")
    lines += [
        make_visible_line(f"window {each.position + 1}: {_format_score(each.score)}")
        for each in view.windows
        if each.score.state in (ScoreState.UNDEFINED, ScoreState.SKIPPED)
    ]
    if found := integrity_sentence(view.run.spec.metric, item.integrity):
        lines.append(found)
    lines += _format_notes(view)
    truths = {truth.id: truth for truth in view.truths}
    spec = find_metric(view.run.spec.metric).spec
    labels = spec.labels
    for claim in view.claims:
        judge = claim.home_verdict
        letter = "-" if judge.label is None else labels.get_label(judge.label).letter
        human = "" if claim.human is None else f"  human: {claim.human}"
        windows = ", ".join(str(each.window + 1) for each in claim.verdicts)
        windows = f"window{'s' if len(claim.verdicts) > 1 else ''} {windows}"
        document = "" if claim.document is None else f" P{claim.document},"
        lines += [
            "",
            f"{claim.number:>3} [{letter}]{human}  turn {claim.turn + 1},{document} {windows}",
            *_wrap_text(claim.text, "    "),
        ]
        if judge.word is not None and judge.word.strip().lower() != judge.label:
            lines += _wrap_text(f"the judge wrote: {judge.word}", "      ")
        if judge.reason:
            lines += _wrap_text(f"judge: {judge.reason}", "      ")
        lines += _evidence_lines(claim, truths, spec)
    if view.reason:
        lines += ["", *_wrap_text(f"final reason: {view.reason}", "")]
    return lines


def _format_notes(view: ReviewView) -> list[str]:
    """Say what is there and not read, or not shown here."""
    spec = find_metric(view.run.spec.metric).spec
    lines = []
    unread = [turn.position + 1 for turn in view.turns if turn.role == "user" and turn.documents]
    if unread:
        turns = ", ".join(map(str, unread))
        lines.append(
            f"context of user turns {turns} is not used: this metric reads {spec.context_from}"
        )
    for turn in view.turns:
        images = [*turn.images, *(each for doc in turn.documents or () for each in doc.images)]
        lines += [
            f"turn {turn.position + 1}: image {image.media_type or image.url} {image.sha256[:12]}"
            for image in images
        ]
    return [make_visible_line(line) for line in lines]


def _evidence_lines(
    claim: ClaimView, truths: Mapping[TruthId, TruthView], spec: MetricSpec
) -> list[str]:
    lines = []
    for each in claim.evidence:
        truth = truths.get(each.truth)
        if truth is None:
            continue
        if spec.references_are_facts:
            where = "" if truth.document is None else f" (P{truth.document})"
            if claim.home_verdict.window not in truth.windows:
                windows = ", ".join(str(window + 1) for window in truth.windows)
                where += f" in view only in window{'s' * (len(truth.windows) > 1)} {windows}"
            stance: str = "supports a part" if each.stance == "partial" else each.stance
            if each.sets:
                sets = (
                    "+".join(
                        f"T{truths[other.truth].number}"
                        for other in claim.evidence
                        if number in other.sets and other.truth in truths
                    )
                    for number in each.sets
                )
                stance += f" (only together: {', '.join(sets)})"
            words = f"{stance} T{truth.number}{where}: {truth.text}"
        else:
            words = f"serves: {truth.text}"
        lines += _wrap_text(words, "      ")
    return lines


def _wrap_text(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        make_visible_line(text),
        width=96,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
    )


def _format_scores(scores: ScoreSet, windows: int) -> str:
    if scores.windowed.reason and scores.windowed.reason == scores.per_interaction.reason:
        return _format_score(scores.windowed)
    # There is one window for each interaction.
    return (
        f"windowed {_format_score(scores.windowed, windows)} · "
        f"per interaction {_format_score(scores.per_interaction, windows, 'interaction')} · "
        f"pooled {_format_score(scores.pooled)}"
    )
