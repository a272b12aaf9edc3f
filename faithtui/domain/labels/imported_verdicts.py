"""What judges said elsewhere, as it came with a data set, before it is a run.

A judge that was run elsewhere is a judge of its own here: its verdicts are never mixed with human
labels, nor with those of a judge that was asked from here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from faithtui.domain.claims.verdicts import Stance
from faithtui.domain.conversation import Turn
from faithtui.domain.text.location import find_closest_text_index
from faithtui.domain.windows import Window


@dataclass(frozen=True, slots=True)
class ImportedMetric:
    """The metric whose verdicts they are, as an export from here names it."""

    key: str
    options: Mapping[str, object]
    """JSON values; what is not in it has its default."""


@dataclass(frozen=True, slots=True)
class ImportedEvidence:
    """A truth that a judge named for a claim."""

    truth: str
    stance: Stance
    passage: str | None = None
    """Text of the passage it came from, where that is known."""


@dataclass(frozen=True, slots=True)
class ImportedVerdict:
    """What a judge said of a whole answer."""

    judge: str
    """Its name in the file: a model, or the name of the score."""
    turn: int
    """Position of the assistant turn."""
    word: str | None = None
    """The verdict letter for letter; None where there is a score alone."""
    score: float | None = None
    """From 0 to 1; None where there is none."""
    passed: bool | None = None
    """Whether the judge let the answer pass; None where it does not say."""
    reason: str | None = None
    label: str | None = None
    """What the word means, where that is known; counts before all else."""
    confidence: float | None = None
    """Probability from 0 to 1 that the answer is supported, where the judge says."""
    metric: ImportedMetric | None = None
    """None: nobody knows which it was, or with which options."""


@dataclass(frozen=True, slots=True)
class ImportedClaim:
    """A claim that a judge extracted, and its verdict."""

    text: str
    word: str | None
    """Letter for letter; None: the judge gave no verdict on it."""
    reason: str | None = None
    turn: int | None = None
    """Position of the answer that makes it, where it is known."""
    label: str | None = None
    """What the word means, where that is known."""
    confidence: float | None = None
    """Probability from 0 to 1 that the claim is supported, where the judge says."""
    evidence: tuple[ImportedEvidence, ...] = ()
    """Truths that the judge named for it, where they are known."""


@dataclass(frozen=True, slots=True)
class ImportedWindow:
    """What a judge said of the claims of one window.

    Which window that was need not be written down: deepeval logs windows in the order in which
    they were finished. `match_logs_to_windows` finds it by what they say.
    """

    judge: str
    claims: tuple[ImportedClaim, ...] = ()
    truths: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()
    """Verdicts beyond the last claim."""
    score: float | None = None
    reason: str | None = None
    position: int | None = None
    """Of the window, where it is known."""
    state: str | None = None
    """Where its score does not follow from its claims: `failed`, `skipped` or `undefined`, with
    the reason why. Without position and claims it is that of the conversation."""
    metric: ImportedMetric | None = None
    """None: nobody knows which it was, or with which options."""

    @property
    def is_state_of_conversation(self) -> bool:
        """Whether it says of the whole conversation that it failed or was skipped."""
        return self.state is not None and self.position is None and not self.claims


ImportedJudgement = ImportedVerdict | ImportedWindow


def match_logs_to_windows(
    logged: Sequence[ImportedWindow], windows: Sequence[Window], turns: Sequence[Turn]
) -> dict[int, ImportedWindow]:
    """Find which window each log is about, by the answers its claims repeat.

    A window ends with an interaction that no window before it has, so the last answer that a claim
    repeats says which one it is. Where logs are as many as windows, they are ranked by that, then
    by their numbers of claims and truths, which grow with the window; where some are missing, each
    goes to the window that ends with its last answer.

    Args:
        logged: Logs in any order.
        windows: All windows of the conversation, in order.
        turns: Its turns.

    Returns:
        Logs by position of their window. Of two for one window the first counts, but where the
        turns of their claims are known, they are joined.
    """
    answers = [place for place, turn in enumerate(turns) if turn.role == "assistant"]
    if not answers or not windows:
        return {}
    named = [
        (each, _find_named_window(each, windows))
        for each in logged
        if not each.is_state_of_conversation
    ]
    logged = [each for each, position in named if position is None]
    placed: dict[int, ImportedWindow] = {}
    for each, position in named:
        if position is not None:
            placed[position] = merge_logs_of_same_window(placed.get(position), each)
    if placed:
        windows = [each for each in windows if each.position not in placed]
    texts = [turns[place].content for place in answers]
    if len(logged) == len(windows):
        ranked = sorted(
            logged,
            key=lambda each: (
                _find_last_repeated_answer(each, texts),
                len(each.claims),
                len(each.truths),
            ),
        )
        return placed | {
            window.position: each for window, each in zip(windows, ranked, strict=True)
        }
    ends = {window.turns[-1]: window.position for window in windows}
    for each in logged:
        position = ends.get(answers[max(0, _find_last_repeated_answer(each, texts))])
        if position is not None:
            placed.setdefault(position, each)
    return placed


def _find_named_window(logged: ImportedWindow, windows: Sequence[Window]) -> int | None:
    """Give the window that a log names, else the first that has the turns of all its claims."""
    named = {each.turn for each in logged.claims}
    turns = {each for each in named if each is not None}
    for window in windows:
        if window.position == logged.position and turns <= set(window.turns):
            return window.position
    if not turns or None in named:
        return None
    return next((each.position for each in windows if turns <= set(each.turns)), None)


def merge_logs_of_same_window(
    first: ImportedWindow | None, second: ImportedWindow
) -> ImportedWindow:
    """Put the claims of another log of the same window behind those of the first."""
    if first is None:
        return second
    if any(each.turn is None for each in (*first.claims, *second.claims)):
        return first
    return replace(
        first,
        claims=first.claims + second.claims,
        truths=first.truths or second.truths,
        surplus=first.surplus + second.surplus,
        state=first.state or second.state,
        reason=first.reason or second.reason,
    )


def _find_last_repeated_answer(logged: ImportedWindow, answers: Sequence[str]) -> int:
    """Give the last answer that a claim repeats, by its place; -1 without claims."""
    return max((find_closest_text_index(each.text, answers) for each in logged.claims), default=-1)
