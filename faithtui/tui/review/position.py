"""Where a reviewer is inside a conversation, and where a key takes them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from faithtui.domain.ids import ClaimId
from faithtui.domain.labels.label_events import Action, HumanVerdict, choose_action_of_verdict_event
from faithtui.store.records import ClaimView, ReviewView, WindowVerdictView


@dataclass(frozen=True, slots=True)
class ReviewPosition:
    """What is looked at."""

    window: int | None = None
    """Position of the window that the claims are limited to; None: the whole conversation."""
    claim: ClaimId | None = None
    passage: int = 0
    """Place of the passage in the ranking, from 0."""


def list_claims_of_window(view: ReviewView, window: int | None) -> tuple[ClaimView, ...]:
    """List the claims of a window, or of the whole conversation."""
    if window is None or not 0 <= window < len(view.windows):
        return view.claims
    held = set(view.windows[window].claims)
    return tuple(claim for claim in view.claims if claim.id in held)


def has_no_reviewer_verdict(claim: ClaimView) -> bool:
    """Say whether the reviewer gave no label yet; one in bulk or taken over is one."""
    return claim.mine is None or claim.mine.verdict is None


def find_claim(view: ReviewView, claim: ClaimId | None) -> ClaimView | None:
    """Find a claim of the conversation."""
    return next((each for each in view.claims if each.id == claim), None)


def get_judge_verdict(claim: ClaimView, window: int | None) -> WindowVerdictView:
    """Give the judge's verdict in a window, or the home verdict."""
    for verdict in claim.verdicts:
        if verdict.window == window:
            return verdict
    return claim.first_window_verdict


def translate_label(view: ReviewView, verdict: str | None) -> str | None:
    """Say what a human label means under the run's metric.

    Returns:
        A label of the metric or `x`; None for no word, and for one without a meaning here.
    """
    return None if verdict is None else view.run.spec.rule.translate_word_to_label(verdict)


def fit_position_to_view(view: ReviewView, focus: ReviewPosition) -> ReviewPosition:
    """Fit a focus to a view: a claim that is listed, a window that exists."""
    window = focus.window
    if window is not None and window >= len(view.windows):
        window = None
    claims = list_claims_of_window(view, window)
    if not claims:
        window, claims = None, view.claims
    if any(claim.id == focus.claim for claim in claims):
        return replace(focus, window=window)
    start = next(
        (claim for claim in claims if has_no_reviewer_verdict(claim)), claims[0] if claims else None
    )
    return ReviewPosition(window, start.id if start else None)


def move_by_claims(view: ReviewView, focus: ReviewPosition, by: int) -> ReviewPosition:
    """Go some claims further in the list, as far as there are any."""
    claims = list_claims_of_window(view, focus.window)
    here = _find_index(claims, focus.claim)
    if not claims:
        return focus
    claim = claims[max(0, min(len(claims) - 1, here + by))]
    return focus if claim.id == focus.claim else ReviewPosition(focus.window, claim.id)


def move_by_windows(view: ReviewView, focus: ReviewPosition, by: int) -> ReviewPosition:
    """Limit the claims to the next or the previous window that holds any; before the first: all."""
    steps = [None, *(row.position for row in view.windows if row.claims)]
    here = steps.index(focus.window) if focus.window in steps else 0
    window = steps[max(0, min(len(steps) - 1, here + by))]
    if window == focus.window:
        return focus
    return fit_position_to_view(view, ReviewPosition(window, focus.claim, focus.passage))


def find_position_after_verdict(view: ReviewView, focus: ReviewPosition) -> ReviewPosition | None:
    """Go on after a verdict: the next claim, else the first open one of a later window.

    Returns:
        None when the conversation has nothing further.
    """
    claims = list_claims_of_window(view, focus.window)
    here = _find_index(claims, focus.claim)
    if here + 1 < len(claims):
        return ReviewPosition(focus.window, claims[here + 1].id)
    if focus.window is None:
        return None
    for row in view.windows:
        if row.position > focus.window:
            for claim in list_claims_of_window(view, row.position):
                if has_no_reviewer_verdict(claim) and claim.id != focus.claim:
                    return ReviewPosition(row.position, claim.id)
    return None


def find_next_open_claim_position(
    view: ReviewView, focus: ReviewPosition, direction: int
) -> ReviewPosition | None:
    """Go to the next (1) or previous (-1) claim without a verdict; None when there is none."""
    claims = list_claims_of_window(view, focus.window)
    here = _find_index(claims, focus.claim)
    order = claims[here + 1 :] if direction > 0 else claims[:here][::-1]
    found = next((claim for claim in order if has_no_reviewer_verdict(claim)), None)
    return ReviewPosition(focus.window, found.id) if found else None


def find_first_or_last_open_claim(view: ReviewView, direction: int) -> ReviewPosition | None:
    """Find the first (1) or last (-1) claim without a verdict; None when there is none."""
    order = view.claims if direction > 0 else view.claims[::-1]
    found = next((claim for claim in order if has_no_reviewer_verdict(claim)), None)
    return ReviewPosition(None, found.id) if found else None


def overlay_pending_verdicts(
    view: ReviewView, reviewer: str, pending: dict[ClaimId, str]
) -> ReviewView:
    """Show labels that are not saved yet as if they were."""
    if not pending:
        return view
    claims = tuple(
        replace(
            claim,
            mine=HumanVerdict(
                claim.id,
                reviewer,
                pending[claim.id],
                choose_verdict_action(pending[claim.id], view, claim),
                claim.mine.note if claim.mine else None,
            ),
            human=claim.human or pending[claim.id],
        )
        if claim.id in pending
        else claim
        for claim in view.claims
    )
    return replace(view, claims=claims)


def copy_human_labels(view: ReviewView, before: Sequence[ClaimView]) -> ReviewView:
    """Show human labels of some claims as they were before."""
    known = {claim.id: claim for claim in before}
    claims = tuple(
        replace(claim, mine=known[claim.id].mine, human=known[claim.id].human)
        if claim.id in known
        else claim
        for claim in view.claims
    )
    return replace(view, claims=claims)


def choose_verdict_action(verdict: str, view: ReviewView, claim: ClaimView) -> Action:
    """Name the label event of giving a label, as far as the screen knows what was seen."""
    saw = claim.seen or claim.id not in view.hidden
    return choose_action_of_verdict_event(verdict, claim.first_window_verdict.label, saw_judge=saw)


def list_claims_in_range(
    view: ReviewView, focus: ReviewPosition, anchor: ClaimId | None
) -> tuple[ClaimView, ...]:
    """List the claims from a marked one to the chosen one, both included, in the list's order.

    Returns:
        () when nothing is marked, or what is marked is not listed now.
    """
    claims = list_claims_of_window(view, focus.window)
    ends = sorted((_find_index(claims, anchor), _find_index(claims, focus.claim)))
    return () if anchor is None or ends[0] < 0 else claims[ends[0] : ends[1] + 1]


def _find_index(claims: Sequence[ClaimView], claim: ClaimId | None) -> int:
    return next((index for index, each in enumerate(claims) if each.id == claim), -1)
