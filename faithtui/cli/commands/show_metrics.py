"""One conversation as all metrics see it, for `faithtui show`."""

from faithtui.cli.output import Column, put, put_table
from faithtui.domain.scores import Score
from faithtui.engine.integrity.judged_conversations import integrity_sentence
from faithtui.engine.review.conversation_json import integrity_json
from faithtui.metrics.registry import entry
from faithtui.store.records import ComparedCell, ComparedRun, CompareView, ItemState

_OPENING = 40
"""Characters of an answer that are shown."""


def put_compared(view: CompareView) -> None:
    """Print one row per answer and one column per run."""
    put_table(
        (
            Column("turn", "right"),
            Column("answer", flexible=True),
            Column("human"),
            *(Column(f"{each.run.id} {each.run.spec.metric}") for each in view.runs),
        ),
        [
            (
                str(answer.turn + 1),
                _opening(answer.content),
                answer.human or "",
                *(_cell(run, cell) for run, cell in zip(view.runs, answer.cells, strict=True)),
            )
            for answer in view.answers
        ],
    )
    for each in view.runs:
        found = integrity_sentence(each.run.spec.metric, each.item.integrity)
        if found:
            put(f"{each.run.id} {each.run.spec.metric}: {found}")


def _opening(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _OPENING else f"{line[: _OPENING - 1]}…"


def _cell(run: ComparedRun, cell: ComparedCell | None) -> str:
    """Write a score with the labels it comes from: `0.67 (2×yes, 1×no)`."""
    if cell is None:
        state = run.item.state
        return state.value if state in (ItemState.FAILED, ItemState.SKIPPED) else "not judged"
    spec = entry(run.run.spec.metric).spec
    counts = [f"{cell.labels[name]}×{name}" for name in spec.labels.names if cell.labels.get(name)]
    if cell.missing:
        counts.append(f"{cell.missing} without verdict")
    if not counts and cell.score.value is not None:
        return f"no {spec.units[1]}"  # A score of nothing would pass for one of something.
    score = cell.score.state.value if cell.score.value is None else f"{cell.score.value:.2f}"
    return f"{score} ({', '.join(counts)})" if counts else score


def compared_json(view: CompareView) -> dict[str, object]:
    """Write the comparison for programs."""
    return {
        "runs": [
            {
                "run": each.run.id,
                "metric": each.run.spec.metric,
                "judge": each.run.spec.judge,
                "judge_title": each.run.spec.judge_title,
                "integrity": integrity_json(each.run.spec.metric, each.item.integrity),
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
