"""What an export says of windows beside their claims, so that an import scores them alike."""

from collections.abc import Collection, Sequence

from faithtui.domain.exported_conversation import ExportClaim, ExportConversation, ExportWindow
from faithtui.domain.scores import ScoreState


def list_window_states(
    conversation: ExportConversation, positions: Collection[int] | None = None
) -> list[dict[str, object]]:
    """List the windows whose score does not follow from the verdicts of their claims alone.

    Args:
        conversation: The conversation.
        positions: Of the windows that are asked about; None: all, and the conversation itself.

    Returns:
        `window`, `state`, `reason` of each, and `surplus` where there is any. `window` is None of
        a conversation that failed or was skipped, whatever its windows say.
    """
    with_claims = {each.window for each in conversation.claims if each.judged}
    with_claims |= {repeat.window for each in conversation.claims for repeat in each.repeats}
    found = [
        _make_state(each, each.position)
        for each in conversation.windows
        if positions is None or each.position in positions
        if each.surplus
        or each.position not in with_claims
        or each.state not in (ScoreState.SCORED, ScoreState.INCOMPLETE)
    ]
    if conversation.state in (ScoreState.FAILED, ScoreState.SKIPPED):
        found.append(_make_state(conversation, None))
    return found


def _make_state(of: ExportWindow | ExportConversation, window: int | None) -> dict[str, object]:
    made: dict[str, object] = {"window": window, "state": of.state, "reason": of.reason}
    if isinstance(of, ExportWindow) and of.surplus:
        made["surplus"] = list(of.surplus)
    return made


def list_repeats(claim: ExportClaim) -> Sequence[dict[str, object]]:
    """List what later windows say of a claim; what is the same as at home is not repeated."""
    at_home = (claim.verdict, claim.word, claim.reason)
    return [
        {"window": each.window} if each[1:] == at_home else each._asdict() for each in claim.repeats
    ]
