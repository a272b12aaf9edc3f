"""Reasons that contradict the verdict they were given for. Lexical, English, and careful.

Only plain statements about support count ("the claim contradicts the passage"). One that is denied
("does not contradict", "nothing contradicts it") says the opposite, and a reason that says both
things says neither.
"""

import re
from functools import lru_cache
from typing import Literal

from faithtui.domain.labels.label_sets import Polarity

Leaning = Literal["supported", "unsupported"]

_DENIED = re.compile(
    r"(?:\b(?:not|never|nothing|no|none|neither|nor|without|hardly|cannot|fails?\s+to|lacks?)|"
    r"n['’]t)\b(?:[^\w.;]+\w+){0,4}?[^\w.;]*$",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"\b(?:contradict(?:s|ed|ing|ion|ory)?|conflicts?\s+with|inconsistent\s+with|"
    r"incompatible\s+with|the\s+opposite\s+of|refut(?:es|ed)|unsupported|unfounded|unverifiable|"
    r"hallucinat(?:ed|ion)|fabricated|irrelevant)\b",
    re.IGNORECASE,
)
_LACKS = re.compile(
    r"\b(?:no\s+(?:evidence|mention|support|basis)|"
    r"(?:not|never|nowhere|cannot)\s+(?:\w+\s+){0,2}?"
    r"(?:support(?:ed|s)?|mention(?:ed|s)?|stated?|found\s+in|addressed|confirmed|backed|inferred|"
    r"relevant|covered|grounded))\b|"
    r"n['’]t\s+(?:\w+\s+){0,2}?"
    r"(?:support(?:ed)?|mention(?:ed)?|stated?|found\s+in|address(?:ed)?|confirm(?:ed)?|relevant)\b",
    re.IGNORECASE,
)
_SUPPORTS = re.compile(
    r"\b(?:support(?:s|ed)|confirm(?:s|ed)|consistent\s+with|agrees\s+with|aligns\s+with|"
    r"backed\s+(?:up\s+)?by|matches|(?:directly|explicitly|clearly)\s+(?:stated?s?|mentioned)|"
    r"can\s+be\s+(?:directly\s+)?inferred|is\s+(?:directly\s+)?relevant)\b",
    re.IGNORECASE,
)
_NO_FAULT = re.compile(
    r"\b(?:no|without(?:\s+any)?|free\s+of)\s+(?:\w+\s+){0,2}?"
    r"(?:problems?|issues?|errors?|faults?|mistakes?|discrepanc(?:y|ies)|contradictions?)\b|"
    r"\bno(?:thing|\s+\w+)\s+(?:\w+\s+){0,2}?"
    r"(?:wrong|unsupported|irrelevant|unfaithful|contradicted|lowered)\b|"
    r"\bnothing\s+(?:contradict|lower)\w*|"
    r"\bno\s+(?:claim|statement)s?\s+(?:was|were)\s+found\b|"
    r"\b(?:all|every(?:thing)?|each|fully|entirely|completely)\b[^.;]*?"
    r"\b(?:supported|holds?|agrees?|consistent|faithful|relevant|grounded|backed)\b",
    re.IGNORECASE,
)
_EXCEPTS = re.compile(
    r"\b(?:all\s+but|almost|nearly|apart\s+from|other\s+than|only)\b", re.IGNORECASE
)
_TURN = re.compile(r"\b(?:but|however|although|though|while|yet|except|despite|whereas)\b|;", re.I)


def detect_supported_or_unsupported(reason: str) -> Leaning | None:
    """Say what a reason says about its claim; None when it says neither or both."""
    return _detect_supported_or_unsupported(reason[:2_000])


# Judges give the same reason again and again: each window has its own of a claim.
@lru_cache(maxsize=1 << 9)
def _detect_supported_or_unsupported(reason: str) -> Leaning | None:
    leanings: set[Leaning] = set()
    for part in _TURN.split(reason):
        leanings |= _list_supported_and_unsupported(part)
    return next(iter(leanings)) if len(leanings) == 1 else None


def contradicts_verdict(reason: str | None, polarity: Polarity) -> bool:
    """Say whether a reason speaks against the verdict it was given for.

    Args:
        reason: The judge's reason; None and blank contradict nothing.
        polarity: What the verdict says. An unsure one goes with anything but plain support.
    """
    leaning = detect_supported_or_unsupported(reason) if reason else None
    match polarity:
        case Polarity.GOOD:
            return leaning == "unsupported"
        case Polarity.BAD | Polarity.UNSURE:
            return leaning == "supported"


def says_nothing_was_wrong(reason: str) -> bool:
    """Say whether the reason of a score claims that nothing was wrong at all.

    "No problem was found" and "all claims are supported" do. What turns ("all but two are
    supported", "no contradiction, but …") does not: it goes on to say what was wrong.
    """
    text = reason[:2_000]
    if _TURN.search(text) or _EXCEPTS.search(text):
        return False
    return any(not _DENIED.search(text[: found.start()]) for found in _NO_FAULT.finditer(text))


def says_something_was_wrong(reason: str) -> bool:
    """Say whether the reason of a score claims that something was wrong."""
    return detect_supported_or_unsupported(reason) == "unsupported"


def _list_supported_and_unsupported(part: str) -> set[Leaning]:
    leanings: set[Leaning] = set()
    lacking = [found.span() for found in _LACKS.finditer(part)]
    if lacking:
        leanings.add("unsupported")
    for found in _AGAINST.finditer(part):
        # "nothing contradicts it" is no support either: it says nothing.
        if not _DENIED.search(part[: found.start()]):
            leanings.add("unsupported")
    for found in _SUPPORTS.finditer(part):
        if any(start <= found.start() < end for start, end in lacking):
            continue
        leanings.add("unsupported" if _DENIED.search(part[: found.start()]) else "supported")
    return leanings
