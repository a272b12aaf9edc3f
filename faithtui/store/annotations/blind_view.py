"""Taking the judge out of what a reviewer is shown. Pure.

Whoever shows claims to an annotator who must not know the judge's verdict passes the view through
here first, and keeps nothing else: what is not in the view cannot reach a screen, a clipboard, an
export or a log.
"""

from collections.abc import Collection
from dataclasses import replace

from faithtui.domain.ids import ClaimId, SampleId
from faithtui.domain.scores import ScoreState, make_empty_score
from faithtui.store.records import (
    ClaimView,
    ItemRow,
    ReviewView,
    RunRow,
    WindowRow,
    WindowVerdictView,
)

HIDDEN = make_empty_score(ScoreState.INCOMPLETE, "hidden while blind")
"""Stands for a score that would reveal the verdict."""


def has_given_queue_verdict(claim: ClaimView, sample: SampleId | None) -> bool:
    """Say whether a reviewer has given the label that the queue asks for.

    Args:
        claim: The claim.
        sample: The sample it is served from; None: any verdict will do.
    """
    mine = claim.mine
    if mine is None or mine.verdict is None:
        return False
    return sample is None or mine.sample == sample


def hide_judge_verdicts(
    view: ReviewView,
    *,
    revealed: Collection[ClaimId] = (),
    sample: SampleId | None = None,
    truths: bool = False,
) -> ReviewView:
    """Hide the judge's verdict on every claim that the reviewer has not answered yet.

    Hidden with it: evidence and truths that the judge named for it, the labels of other annotators
    and, in a sample, what the reviewer said before. While any claim is hidden, so are all scores,
    counts and reasons of windows and of the whole, which would reveal it.

    Args:
        view: A conversation, complete.
        revealed: Claims on which the judge may be seen: revealed now, or served with it in view.
        sample: The sample that claims are served from; an answer outside it is none.
        truths: Leave the truths, though not what they say about which claim.

    Returns:
        The view without what is hidden; itself when nothing is.
    """
    hidden = frozenset(
        claim.id
        for claim in view.claims
        if claim.id not in revealed and not has_given_queue_verdict(claim, sample)
    )
    if not hidden:
        return view
    claims = tuple(
        _blind_claim(each, sample) if each.id in hidden else each for each in view.claims
    )
    named = {each.truth for claim in claims for each in claim.evidence}
    return replace(
        view,
        run=_blind_run(view.run),
        item=_blind_item(view.item),
        windows=tuple(_blind_window(each) for each in view.windows),
        claims=claims,
        truths=view.truths if truths else tuple(t for t in view.truths if t.id in named),
        reason=None,
        hidden=hidden,
        truths_whole=truths,
        missed=tuple(each for each in view.missed if each.is_mine),
        complete=tuple(each for each in view.complete if each.is_mine),
    )


def _blind_claim(claim: ClaimView, sample: SampleId | None) -> ClaimView:
    mine = claim.mine
    if mine is not None and sample is not None:
        # The note and the flag are one's own work; an earlier verdict would anchor.
        mine = replace(
            mine, verdict=None, action=None, code=None, unsure=False, skipped_since=False
        )
    return replace(
        claim,
        verdicts=tuple(
            WindowVerdictView(each.window, None, None, None, None) for each in claim.verdicts
        ),
        evidence=(),
        mine=mine if mine is not None and mine.has_content else None,
        others=(),
        human=None,
    )


def _blind_run(run: RunRow) -> RunRow:
    return replace(run, score=None, corrected=None, missing_verdicts=0, incomplete=0)


def _blind_item(item: ItemRow) -> ItemRow:
    return replace(
        item, scores=None, corrected=None, labels={}, missing=0, overridden=0, reason=None
    )


def _blind_window(window: WindowRow) -> WindowRow:
    return replace(window, score=HIDDEN, corrected=HIDDEN, reason=None)
