"""What a report was computed from, as one short word: equal for equal labels and verdicts."""

from collections.abc import Iterable
from hashlib import sha256
from operator import attrgetter

from faithtui.agreement.labelled_units import AnswerUnit, ClaimUnit, Opinion

_ANSWER_PARTS = attrgetter(
    *("key", "group", "turn", "score.value", "score.state.value", "claims", "passes", "human"),
    *("rating", "raters"),
)


def hash_units(claims: Iterable[ClaimUnit], answers: Iterable[AnswerUnit]) -> str:
    """Hash readings, so that two reports can tell whether they speak of the same labels.

    Neither order nor the store's keys matter: they differ between machines.

    Returns:
        64 hexadecimal digits, SHA-256.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for each in claims:
        # Claims of a conversation are sorted among themselves: short lists are sorted fastest.
        found.setdefault((each.group, each.key), []).append(_dump_claim(each))
    hashed = sha256()
    for name in sorted(found):
        hashed.update(ascii((name, sorted(found[name]))).encode())
    for row in sorted(ascii(_ANSWER_PARTS(answer)) for answer in answers):
        hashed.update(f"answer {row}".encode())
    return hashed.hexdigest()


def _dump_claim(claim: ClaimUnit) -> str:
    # Python's own way of writing constants leaves no two readings alike, and is the fastest.
    opinions = claim.opinions
    opinion_texts = (
        [_dump_opinion(opinions[0])] if len(opinions) == 1 else sorted(map(_dump_opinion, opinions))
    )
    return (
        f"{claim.turn} {claim.text!r} {claim.judge!r} {claim.human!r} {claim.reviewers} "
        f"{claim.windows} {claim.steady} {claim.blind} {claim.state} {claim.confidence} "
        f"{claim.stratum!r} {claim.position} {opinion_texts}"
    )


def _dump_opinion(opinion: Opinion) -> str:
    return (
        f"{opinion.reviewer!r} {opinion.verdict!r} {opinion.action} {opinion.blind} "
        f"{opinion.seconds} {opinion.code!r}"
    )
