"""Lines of the form for new runs: what the runs would ask and cost, and how the judge did."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithtui.tui.theme.lines import Line, Piece, escape_text, wrap

if TYPE_CHECKING:
    from faithtui.engine.judge_check import JudgeCheckResult

_NAME = 8
"""Cells of a name at the left."""


@dataclass(frozen=True, slots=True)
class JudgeTrial:
    """How trying the judge stands."""

    judge: str
    result: "JudgeCheckResult | None" = None
    """None: it is being asked, or the asking was cancelled."""
    is_cancelled: bool = False


def format_judge_test(trial: JudgeTrial | None, test_key: str, cancel_key: str) -> list[Piece]:
    """Say how trying the judge stands.

    Args:
        trial: The latest one of the judge that is chosen; None: there is none.
        test_key: What the key is called that tries it.
        cancel_key: What the key is called that gives it up.
    """
    if trial is None:
        return [
            Piece("judge not tested: ", "quiet"),
            Piece(test_key, "key"),
            Piece(" asks it two small questions", "quiet"),
        ]
    if trial.result is None:
        if trial.is_cancelled:
            words = "test cancelled; what it was asked already may be billed: "
            return [Piece(words, "warn"), Piece(test_key, "key"), Piece(" tests again", "quiet")]
        asking = escape_text(f"asking {trial.judge} … ")
        return [asking, Piece(cancel_key, "key"), Piece(" cancels", "quiet")]
    # Imported with the trial, on its thread.
    from faithtui.engine.judge_check import format_trial_usage

    found, usage = trial.result, format_trial_usage(trial.result)
    mark = Piece("works: ", "good strong") if found.ok else Piece("failed: ", "bad strong")
    return [mark, escape_text(found.sentence), escape_text(f" · {usage}" if usage else "", "quiet")]


def format_test_and_preview_lines(
    trial: Sequence[Piece], parts: Sequence[tuple[str, str]], width: int, *, is_stale: bool
) -> list[Line]:
    """Draw how the judge did, then what the runs would ask and cost.

    Args:
        trial: From `format_judge_test`.
        parts: Named parts of the preview.
        width: Cells of a line.
        is_stale: The form was changed since.
    """
    lines = _wrap_labelled_lines("test", trial, width)
    for name, words in parts:
        strong = name == "cost" and not is_stale
        look = "quiet" if is_stale else "strong" if strong else ""
        lines += _wrap_labelled_lines(name, [escape_text(words, look)], width)
    return lines


def _wrap_labelled_lines(name: str, pieces: Sequence[Piece], width: int) -> list[Line]:
    pad = " " * (_NAME + 1)
    return wrap(pieces, width - 1, first=[Piece(f" {name:<{_NAME}}", "quiet")], rest=[Piece(pad)])
