"""A conversation with its claims, verdicts and evidence in lines, for a terminal of any width."""

import textwrap
from collections.abc import Mapping

from faithtui.cli.output import plural
from faithtui.domain.ids import TruthId
from faithtui.domain.judging.error_sentences import format_failure_reason
from faithtui.domain.scores import Score, ScoreSet, ScoreState, format_parts_left_out_of_mean
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.engine.integrity.judged_conversations import format_integrity_sentence
from faithtui.metrics.base import MetricSpec
from faithtui.metrics.registry import find_metric
from faithtui.store.records import ClaimView, ReviewView, TruthView


def _format_score(score: Score, parts: int = 0, noun: str = "window") -> str:
    """Write a score; of a mean also what it leaves out of so many parts."""
    if score.value is None:
        return f"{score.state.value} ({score.reason})"
    left_out = format_parts_left_out_of_mean(score.undefined, score.skipped, parts, noun)
    return f"{score.value:.2f}" + (f" ({left_out})" if left_out else "")


def format_conversation_lines(view: ReviewView) -> list[str]:
    """Write a conversation and its claims."""
    item, unit_plural = view.item, find_metric(view.run.spec.metric).spec.units[1]
    lines = [
        f"run {view.run.id} · {view.run.spec.metric} by {view.run.spec.judge_title}",
        make_visible_line(
            f"{item.source}/{item.key} · {plural(item.turns, 'turn')} · "
            f"{plural(item.windows, 'window')}"
        ),
    ]
    if item.reason:
        lines.append(f"{item.state.value}: {make_visible_line(format_failure_reason(item.reason))}")
    # What has no score for the reason above needs no second mention of it.
    if item.scores is not None and (item.scores.windowed.value is not None or not item.reason):
        lines.append(
            f"judge: {_format_conversation_scores(item.scores, item.windows, unit_plural)}"
        )
    if item.corrected is not None and item.labelled:
        lines.append(
            f"with overrides, {item.labelled} of {item.claims} reviewed: "
            f"{_format_conversation_scores(item.corrected, item.windows, unit_plural)}"
        )
    lines += [
        make_visible_line(f"window {each.position + 1}: {_format_score(each.score)}")
        for each in view.windows
        if each.score.state in (ScoreState.UNDEFINED, ScoreState.SKIPPED)
    ]
    if found := format_integrity_sentence(view.run.spec.metric, item.integrity):
        lines.append(found)
    lines += _format_unused_context_and_image_lines(view)
    truths = {truth.id: truth for truth in view.truths}
    spec = find_metric(view.run.spec.metric).spec
    labels = spec.labels
    for claim in view.claims:
        judge = claim.first_window_verdict
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
        lines += _format_evidence_lines(claim, truths, spec)
    if view.reason:
        lines += ["", *_wrap_text(f"final reason: {view.reason}", "")]
    return lines


def _format_unused_context_and_image_lines(view: ReviewView) -> list[str]:
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


def _format_evidence_lines(
    claim: ClaimView, truths: Mapping[TruthId, TruthView], spec: MetricSpec
) -> list[str]:
    lines = []
    for each in claim.evidence:
        truth = truths.get(each.truth)
        if truth is None:
            continue
        if spec.references_are_facts:
            where = "" if truth.document is None else f" (P{truth.document})"
            if claim.first_window_verdict.window not in truth.windows:
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


def _format_conversation_scores(scores: ScoreSet, windows: int, unit_plural: str) -> str:
    if scores.windowed.reason and scores.windowed.reason == scores.per_interaction.reason:
        return _format_score(scores.windowed)
    # There is one window for each interaction.
    return (
        f"mean of windows {_format_score(scores.windowed, windows)} · "
        f"per interaction {_format_score(scores.per_interaction, windows, 'interaction')} · "
        f"all {unit_plural} {_format_score(scores.pooled)}"
    )
