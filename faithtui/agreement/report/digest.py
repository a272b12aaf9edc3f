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


def _dump_claim(each: ClaimUnit) -> str:
    # Python's own way of writing constants leaves no two readings alike, and is the fastest.
    opinions = each.opinions
    said = (
        [_dump_opinion(opinions[0])] if len(opinions) == 1 else sorted(map(_dump_opinion, opinions))
    )
    return (
        f"{each.turn} {each.text!r} {each.judge!r} {each.human!r} {each.reviewers} {each.windows} "
        f"{each.steady} {each.blind} {each.state} {each.confidence} {each.stratum!r} "
        f"{each.position} {said}"
    )


def _dump_opinion(each: Opinion) -> str:
    return (
        f"{each.reviewer!r} {each.verdict!r} {each.action} {each.blind} {each.seconds} "
        f"{each.code!r}"
    )
