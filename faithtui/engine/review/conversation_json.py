"""Runs and their conversations as JSON, the same for commands and for files of the app."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from datetime import datetime
from enum import StrEnum
from json import dumps
from typing import Final

from faithtui.domain.ids import ItemId
from faithtui.domain.integrity.run_summary import IntegritySummary
from faithtui.domain.judging.judge_profile import JudgeProfile
from faithtui.domain.labels.label_events import MarkedPassage
from faithtui.domain.scores import Score, ScoreSet
from faithtui.engine.integrity.judged_conversations import format_integrity_sentence
from faithtui.store.records import ClaimView, DocumentView, ItemRow, ReviewView, RunRow, RunSpec
from faithtui.store.store import Store


def conversation_json_lines(store: Store, items: Iterable[ItemId], reviewer: str) -> Iterator[str]:
    """Write conversations of a run, one a line, as `faithtui show RUN CONVERSATION --json` does.

    Args:
        store: Where they are.
        items: Which ones, in this order; each is read when its line is wanted.
        reviewer: Whose labels come first among those of annotators.
    """
    for item in items:
        yield (
            dumps(
                conversation_view_to_json(store.runs.read_conversation_for_review(item, reviewer)),
                allow_nan=False,
            )
            + "\n"
        )


_RUN_KEYS: Final = (
    *("metric", "judge", "judge_title", "strategy", "options", "claims_from", "sources"),
    *(each.name for each in fields(RunSpec)),
)
"""What is shown of how a run is set, `LEFT_OUT` aside; each once, where it comes first."""

LEFT_OUT: Final = frozenset(
    (
        # How its questions are asked, not what is asked.
        *("base_url", "concurrency", "budget_nusd", "budget_tokens", "max_failures", "batch"),
        # What tells runs apart that are set alike: reports and certificates hold it.
        *("metric_version", "peer", "rule", "judge_fingerprint", "prompt_digest", "calibration"),
        # Names of what only this machine, or this store, has.
        *("prompts_dir", "prompt_set", "example_set", "claims_run", "claim_set"),
    )
)
"""What is not shown of how a run is set."""

_STATE_KEYS: Final = (
    *("state", "reason", "created_at", "finished_at"),
    *("conversations", "done", "failed", "skipped", "pending"),
    *("windows", "failed_windows", "undefined_windows", "skipped_windows"),
    *("scored", "undefined", "incomplete"),
    *("claims", "missing_verdicts", "labelled", "score", "corrected", "integrity"),
    *("calls", "tokens_in", "tokens_out", "archived_at"),
)
"""What is shown of how far a run is."""


def run_settings_and_state_to_json(row: RunRow) -> dict[str, object]:
    """Describe a run: how it is set, `LEFT_OUT` aside, and how far it is."""
    spec = row.spec
    return {
        "run": row.id,
        **{name: _to_json(getattr(spec, name)) for name in _RUN_KEYS if name not in LEFT_OUT},
        **{name: _to_json(getattr(row, name)) for name in _STATE_KEYS},
        "with_overrides": row.corrected,  # its earlier name, `corrected`, stays for one release
        "integrity": integrity_to_json(spec.metric, row.integrity),  # stays in its place above
    }


def _to_json(value: object) -> object:
    match value:
        case datetime():
            return value.isoformat()
        case StrEnum():
            return value.value
        case JudgeProfile():
            return value.to_json()
        case Mapping():
            return dict(value)
        case tuple():
            return list(value)
        case _:
            return value


def conversation_row_to_json(row: ItemRow, metric: str) -> dict[str, object]:
    """Describe a conversation of a run in a list.

    Args:
        row: The conversation.
        metric: Key of the run's metric.
    """
    return {
        "number": row.number,
        "source": row.source,
        "conversation": row.key,
        "state": row.state.value,
        "reason": row.reason,
        "turns": row.turns,
        "windows": row.windows,
        "undefined_windows": row.undefined_windows,
        "skipped_windows": row.skipped_windows,
        "judge": _scores_to_json(row.scores),
        "corrected": _scores_to_json(row.corrected),
        "claims": row.claims,
        "labels": dict(row.labels),
        "missing": row.missing,
        "labelled": row.labelled,
        "overridden": row.overridden,
        "integrity": integrity_to_json(metric, row.integrity),
    }


def integrity_to_json(metric: str, found: IntegritySummary) -> dict[str, object]:
    """Describe whether what a judge wrote can be found where it must come from.

    Args:
        metric: Key of the metric.
        found: What the checks say.
    """
    return {
        "state": found.soundness.value,
        "sentence": format_integrity_sentence(metric, found),
        "checked": found.checked,
        "unchecked": found.unchecked,
        **asdict(found.counts),
    }


def conversation_view_to_json(view: ReviewView) -> dict[str, object]:
    """Describe a conversation of a run with all its verdicts and human labels."""
    documents = {each.hash: each for turn in view.turns for each in turn.documents or ()}
    return {
        "run": run_settings_and_state_to_json(view.run),
        "conversation": conversation_row_to_json(view.item, view.run.spec.metric),
        "reason": view.reason,
        "windows": [
            {
                "position": window.position,
                "turns": list(window.turns),
                "judge": _score_to_json(window.score),
                "corrected": _score_to_json(window.corrected),
                "reason": window.reason,
                "without_context": window.without_context,
            }
            for window in view.windows
        ],
        "claims": [_claim_to_json(claim, documents) for claim in view.claims],
        "missed_claims": [
            {
                "turn": each.turn,
                "text": each.text,
                "span": None if each.span is None else [each.span.start, each.span.end],
                "people": list(each.reviewers),
            }
            for each in view.missed
        ],
        "complete_answers": [
            {"turn": each.turn, "people": list(each.reviewers)} for each in view.complete
        ],
        "truths": [
            {
                "truth": f"T{truth.number}",
                "text": truth.text,
                "document": truth.document,
                "windows": list(truth.windows),
            }
            for truth in view.truths
        ],
    }


def _score_to_json(score: Score | None) -> dict[str, object] | None:
    if score is None:
        return None
    return {"value": score.value, "state": score.state.value, "reason": score.reason}


def _mean_to_json(score: Score) -> dict[str, object]:
    """Describe a mean, with what it leaves out."""
    return {**(_score_to_json(score) or {}), "undefined": score.undefined, "skipped": score.skipped}


def _scores_to_json(scores: ScoreSet | None) -> dict[str, object] | None:
    if scores is None:
        return None
    return {
        "windowed": _mean_to_json(scores.windowed),
        "per_interaction": _mean_to_json(scores.per_interaction),
        "pooled": _score_to_json(scores.pooled),
    }


def _claim_to_json(claim: ClaimView, documents: Mapping[str, DocumentView]) -> dict[str, object]:
    return {
        "claim": claim.id,
        "number": claim.number,
        "turn": claim.turn,
        "kind": claim.kind,
        "document": claim.document,
        "text": claim.text,
        "span": None if claim.span is None else [claim.span.start, claim.span.end],
        "judge": claim.first_window_verdict.label,
        "human": claim.human,
        "verdicts": [
            {
                "window": verdict.window,
                "label": verdict.label,
                "word": verdict.word,
                "reason": verdict.reason,
                "confidence": verdict.confidence,
            }
            for verdict in claim.verdicts
        ],
        "evidence": [
            {"truth_id": each.truth, "stance": each.stance, "sets": list(each.sets)}
            for each in claim.evidence
        ],
        "people": [
            {
                "reviewer": opinion.reviewer,
                "verdict": opinion.verdict,
                "action": None if opinion.action is None else opinion.action.value,
                "note": opinion.note,
                "evidence": [
                    _marked_passage_to_json(mark, documents[mark.document])
                    for mark in opinion.evidence
                    if mark.document in documents
                ],
            }
            for opinion in (claim.mine, *claim.others)
            if opinion is not None
        ],
    }


def _marked_passage_to_json(mark: MarkedPassage, document: DocumentView) -> dict[str, object]:
    """Describe a stretch of a document, by the number that truths name it by too."""
    return {
        "document": document.number,
        "span": [mark.start, mark.end],
        "text": document.text[mark.start : mark.end],
    }
