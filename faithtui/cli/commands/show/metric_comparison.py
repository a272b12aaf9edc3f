"""One conversation as all metrics see it, for `faithtui show`."""

from faithtui.cli.output import TableColumn, print_table, print_text
from faithtui.domain.labels.label_sets import format_label_count
from faithtui.domain.scores import Score
from faithtui.engine.integrity.judged_conversations import format_integrity_sentence
from faithtui.engine.review.conversation_json import integrity_to_json
from faithtui.metrics.registry import find_metric
from faithtui.store.records import ComparisonCell, ComparisonRun, ComparisonView, ItemState

_OPENING = 40
"""Characters of an answer that are shown."""


def print_metric_comparison(view: ComparisonView) -> None:
    """Print one row per answer and one column per run."""
    print_table(
        (
            TableColumn("turn", "right"),
            TableColumn("answer", flexible=True),
            TableColumn("human"),
            *(TableColumn(f"{each.run.id} {each.run.spec.metric}") for each in view.runs),
        ),
        [
            (
                str(answer.turn + 1),
                _shorten_answer(answer.content),
                answer.human or "",
                *(
                    _format_score_with_label_counts(run, cell)
                    for run, cell in zip(view.runs, answer.cells, strict=True)
                ),
            )
            for answer in view.answers
        ],
    )
    for each in view.runs:
        found = format_integrity_sentence(each.run.spec.metric, each.item.integrity)
        if found:
            print_text(f"{each.run.id} {each.run.spec.metric}: {found}")


def _shorten_answer(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _OPENING else f"{line[: _OPENING - 1]}…"


def _format_score_with_label_counts(run: ComparisonRun, cell: ComparisonCell | None) -> str:
    """Write a score with the labels it comes from: `0.67 (2×yes, 1×no)`."""
    if cell is None:
        state = run.item.state
        return state.value if state in (ItemState.FAILED, ItemState.SKIPPED) else "not judged"
    spec = find_metric(run.run.spec.metric).spec
    counts = [
        format_label_count(name, count) if name.isdigit() else f"{count}×{name}"
        for name in spec.labels.names
        if (count := cell.labels.get(name))
    ]
    if cell.missing:
        counts.append(f"{cell.missing} without verdict")
    if not counts and cell.score.value is not None:
        return f"no {spec.units[1]}"  # A score of nothing would pass for one of something.
    score = cell.score.state.value if cell.score.value is None else f"{cell.score.value:.2f}"
    return f"{score} ({', '.join(counts)})" if counts else score


def metric_comparison_json(view: ComparisonView) -> dict[str, object]:
    """Write the comparison for programs."""
    return {
        "runs": [
            {
                "run": each.run.id,
                "metric": each.run.spec.metric,
                "judge": each.run.spec.judge,
                "judge_title": each.run.spec.judge_title,
                "integrity": integrity_to_json(each.run.spec.metric, each.item.integrity),
            }
            for each in view.runs
        ],
        "answers": [
            {
                "turn": answer.turn,
                "content": answer.content,
                "human": answer.human,
                "verdicts": [
                    None
                    if cell is None
                    else {
                        "run": run.run.id,
                        "score": _score_json(cell.score),
                        "corrected": _score_json(cell.corrected),
                        "labels": dict(cell.labels),
                        "missing": cell.missing,
                    }
                    for run, cell in zip(view.runs, answer.cells, strict=True)
                ],
            }
            for answer in view.answers
        ],
    }


def _score_json(score: Score) -> dict[str, object]:
    return {"value": score.value, "state": score.state.value, "reason": score.reason}
