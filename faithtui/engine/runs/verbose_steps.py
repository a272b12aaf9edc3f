"""What `verbose_mode` shows of a conversation: every step of the judge, in lines for readers."""

from collections.abc import Iterator, Sequence

from faithtui.domain.claims.verdicts import Assessment, Conclusion
from faithtui.domain.scores import Score
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.metrics.base import MetricSpec


def format_windows_and_score(
    title: str, spec: MetricSpec, assessments: Sequence[Assessment], conclusion: Conclusion
) -> str:
    """Tell what was found in each window, in order, and what came of it.

    Args:
        title: Which conversation.
        spec: The metric.
        assessments: One per window.
        conclusion: The conversation's score.

    Returns:
        Lines safe for a terminal, without a line break at the end.
    """
    return "\n".join(
        make_visible_line(line) for line in _iter_window_lines(title, spec, assessments, conclusion)
    )


def _iter_window_lines(
    title: str, spec: MetricSpec, assessments: Sequence[Assessment], conclusion: Conclusion
) -> Iterator[str]:
    yield f"{spec.title} of {title}"
    for assessment in assessments:
        turns = ", ".join(str(turn + 1) for turn in assessment.window.turns)
        yield f"  window {assessment.window.position + 1}: turns {turns or 'none'}"
        if spec.references is not None:
            yield f"    {spec.references}: {len(assessment.truths) or 'none'}"
            for truth in assessment.truths:
                yield f"      - {truth.text}"
        yield f"    {spec.units[1]}: {len(assessment.verdicts) or 'none'}"
        for verdict in assessment.verdicts:
            reason = f" ({verdict.reason})" if verdict.reason else ""
            yield f"      - {verdict.label or 'no verdict'}: {verdict.claim.text}{reason}"
            if verdict.word is not None and verdict.word != verdict.label:
                yield f"        the judge wrote: {verdict.word}"
        yield f"    score: {format_score_or_reason(assessment.score)}"
        if assessment.reason:
            yield f"    reason: {assessment.reason}"
    outcome = {None: "", True: ", passed", False: ", not passed"}[conclusion.success]
    yield f"  score: {format_score_or_reason(conclusion.score)}{outcome}"
    if conclusion.reason:
        yield f"  reason: {conclusion.reason}"


def format_score_or_reason(score: Score) -> str:
    """Write a score, or why there is none."""
    if score.value is None:
        return f"{score.state.value}: {score.reason}"
    left_out = (
        (f"{score.undefined} undefined", score.undefined),
        (f"{score.skipped} skipped", score.skipped),
    )
    beside = ", ".join(words for words, count in left_out if count)
    return f"{score.value:.4f}" + (f" (besides {beside})" if beside else "")
