"""The oracle judge of a case as the peers meet it, for working a case out by hand.

Written from what the peers do and from nothing of faithtui, so that the two can be compared.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Json = Any


class PeerError(Exception):
    """The peer ends with an exception of this kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(kind)


def known_truths(judge: Mapping[str, Json], documents: Sequence[str], limit: Json) -> list[str]:
    truths: list[str] = []
    for document in documents:
        for truth in (judge.get("truths") or {}).get(document, []):
            if truth not in truths:
                truths.append(truth)
    if limit is not None and judge.get("honour_limit"):
        truths = truths[: max(limit, 0)]
    return truths


def known_claims(judge: Mapping[str, Json], answers: Sequence[str]) -> list[str]:
    claims: list[str] = []
    for answer in answers:
        claims.extend((judge.get("claims") or {}).get(answer, []))
    return claims


def known_verdict(judge: Mapping[str, Json], claim: str, truths: Sequence[str]) -> Json:
    rule = (judge.get("verdicts") or {}).get(claim, "idk")
    if not isinstance(rule, dict):
        return rule
    for truth in rule.get("no_if_any", []):
        if truth in truths:
            return "no"
    for truth in rule.get("yes_if_any", []):
        if truth in truths:
            return "yes"
    for alternative in rule.get("yes_if_all", []):
        if all(truth in truths for truth in alternative):
            return "yes"
    return rule.get("else", "idk")


def too_few_or_many(judge: Mapping[str, Json], listed: Sequence[Json]) -> list[Json]:
    change = (judge.get("faults") or {}).get("verdict_list") or judge.get("verdict_list") or {}
    said = list(listed)
    if change.get("truncate_to") is not None:
        said = said[: change["truncate_to"]]
    return said + list(change.get("append") or [])


def fault_of(judge: Mapping[str, Json], step: str) -> Mapping[str, Json]:
    """Give what the case makes of a question; a failing one fails here."""
    fault: Mapping[str, Json] = (judge.get("faults") or {}).get(step) or {}
    if "raise" in fault:
        raise PeerError("judge_error")
    return fault
