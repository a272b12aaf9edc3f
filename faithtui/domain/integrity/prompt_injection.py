"""Texts that speak to whoever judges them: finding instructions in what is only to be read.

A passage or a message that says "ignore your instructions" does nothing to the form of a reply:
its claims are numbered, its verdicts come from a fixed set. A model may still be swayed by it, so
that a person should see it. What is found is a manner of speaking, in English, never a proof: a
passage about such attacks is found as well.
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from typing import Final

from faithtui.domain.conversation import Span

MOST_SEARCHED: Final = 1_000_000
"""Characters of one text that are looked through."""

_REMEMBERED: Final = 4_000
"""Characters up to which it is remembered what was found in a text."""

_MOST_QUOTED: Final = 160
"""Characters around what was found that are quoted."""

_TAGS: Final = range(0xE0020, 0xE007F)
"""Invisible doubles of ASCII: a model reads them, a person does not see them."""
_TAG_BASE: Final = 0xE0000


class InjectionKind(StrEnum):
    """What a text asks of its judge, in words that follow "asks the judge to"."""

    FORGET = "forget what it was told"
    VERDICT = "give a certain verdict"
    LISTEN = "take it for its own instructions"
    FORM = "take it for a part of the prompt or of the reply"
    REVEAL = "show its instructions"


@dataclass(frozen=True, slots=True)
class Injection:
    """A place in a text that speaks to its judge."""

    kind: InjectionKind
    span: Span
    """What was found."""
    quote: str
    """That, with some of the line around it, as it stands in the text."""


def find_injections(text: str) -> tuple[Injection, ...]:
    """Find where a text speaks to its judge, the first place of each kind.

    Letters count whatever their case, width and invisible characters between them. The first
    `MOST_SEARCHED` characters are looked through.

    Returns:
        In the order of the text; () for nearly every text.
    """
    return _find_in_passage(text) if len(text) <= _REMEMBERED else _search_injection_patterns(text)


def _search_injection_patterns(text: str) -> tuple[Injection, ...]:
    read = text[:MOST_SEARCHED]
    folded = _fold_text(read)
    found = []
    for asked, pattern in _PATTERNS.items():
        match = pattern.search(folded)
        if match is not None:
            span = _find_original_span(read, match.start(), match.end())
            found.append(Injection(asked, span, _quote_line(text, span)))
    return tuple(sorted(found, key=lambda each: each.span.start))


_find_in_passage: Final = lru_cache(maxsize=2048)(_search_injection_patterns)
"""The same passages are retrieved for many conversations. Holds 16 MB at most."""


def _compile_pattern(*alternatives: str) -> re.Pattern[str]:
    """Compile ways of saying something; a blank stands for any white space."""
    return re.compile("|".join(f"(?:{each})" for each in alternatives).replace(" ", r"\s+"))


_TOLD: Final = (
    r"(?:instructions?|prompts?|directives?|guidelines?|rubrics?|criteria|system message)"
)
_FORGET: Final = r"(?:ignore|disregard|forget|override|bypass|discard)"
_ANSWER: Final = r"(?:answer|say|output|return|print|write|respond|reply)"
_WORD: Final = (
    r"[\"'“‘`*]{0,2}(?:yes|no|true|idk|supported|faithful|entailed|relevant|grounded|pass(?:ed)?"
    r"|1(?:\.0)?)[\"'”’`*]{0,2}"
)
_EACH: Final = r"(?:for|to|on) (?:all|every|each|any|everything)\b"
_OBJECT: Final = (
    r"(?:this|these|the|every|each|all|my|its)(?: \w+){0,3}"
    r" (?:claims?|answers?|statements?|responses?|repl(?:y|ies)|verdicts?|outputs?)"
)
_GOOD: Final = r"(?:supported|faithful|correct|true|grounded|entailed|relevant|accurate|verified)"
_MACHINE: Final = r"(?:ai|llm|gpt|automated|automatic|(?:large )?language[- ]model)"
_CHECKER: Final = (
    r"(?:evaluators?|judges?|graders?|raters?|assessors?|verifiers?|fact[- ]?checkers?)"
)

_PATTERNS: Final = {
    InjectionKind.FORGET: _compile_pattern(
        rf"\b{_FORGET} (?:\w+ ){{0,3}}?"
        rf"(?:previous|prior|above|earlier|preceding|foregoing|your|system)(?: \w+){{0,2}}?"
        rf" {_TOLD}\b",
        rf"\b{_FORGET} (?:all|any)(?: (?:of )?(?:the|your|other))? {_TOLD}\b",
        r"\b(?:ignore|disregard|forget) (?:everything|all|anything) (?:\w+ ){0,3}?"
        r"(?:above|before this|(?:you (?:were|have been) )told)\b",
        r"\b(?:ignore|disregard) the (?:above|documents?|passages?|truths|context) and"
        rf" {_ANSWER}\b",
    ),
    InjectionKind.VERDICT: _compile_pattern(
        r"\b(?:you (?:must|should|have to|need to|shall|are to|will)|always|please|simply)"
        rf" (?:\w+ )?{_ANSWER}(?: only)?(?: with)?(?: only)?"
        rf"(?: the (?:word|verdict|label))? {_WORD}(?=\s*(?:$|[.!;:\n])| {_EACH})",
        rf"\b{_ANSWER}(?: with)?(?: the (?:word|verdict|label))? {_WORD} {_EACH}",
        rf"\b(?:mark|rate|label|score|grade|judge|classify|treat|count) {_OBJECT}"
        rf" as (?:\w+ ){{0,2}}?{_GOOD}\b",
        r"\bgive (?:this|it|me|every|each|all|the)(?: \w+){0,3} (?:an? |the )?"
        r"(?:full|highest|maximum|perfect|top|passing) (?:scores?|marks?|ratings?|grades?)\b",
        rf"\bverdicts? (?:must|should|has to|have to) (?:always )?be {_WORD}",
    ),
    InjectionKind.LISTEN: _compile_pattern(
        r"\b(?:as|you are|dear|attention|(?:note|message|instructions?) (?:to|for)|hello|hey)[,:]?"
        rf" (?:an? |the |any |all )?{_MACHINE}[- ]{_CHECKER}\b",
        rf"\b(?:note|message|instructions?|attention) (?:to|for|of) (?:the |any |all )?"
        rf"(?:{_MACHINE}|{_CHECKER}|assistant|model|chatbot)(?: \w+)?\s*[:!—–-]",
        rf"\bif you(?: are|['’]re) (?:an? )?(?:{_MACHINE}|chatbot)\b",
        r"\b(?:new|updated|real|actual|additional|special|hidden) (?:system )?instructions?\s*:"
        r"(?=\s*\S)(?=.{0,120}?\b(?:you|answer|output|ignore|respond|reply|verdict)\b)",
        r"\byou are now (?:dan\b|in (?:developer|debug|admin) mode|an? unrestricted)",
        r"\bfrom now on,? (?:you (?:must|will|shall|should) |always )(?:only )?"
        r"(?:answer|respond|reply|output|say)\b",
    ),
    InjectionKind.FORM: _compile_pattern(
        r"\{\s*[\"'](?:verdicts?|claims|truths|statements)[\"']\s*:",
        r"[\"']c\d{1,3}[\"']\s*:\s*\{",
        r"[\"']verdict[\"']\s*:\s*[\"'](?:yes|no|idk|borderline)",
        r"<\|(?:im_start|im_end|system|assistant|user|endoftext|eot_id|start_header_id)\|>",
        r"\[/?inst\]|<</?sys>>",
        r"</[0-9a-f]{8}>|<(?:document|answer|question|passage|context|message|earlier|reply|case)"
        r" [a-z]\d{0,3} [0-9a-f]{8}>",
        r"(?m:^)\s*#{1,4}\s*(?:system|instruction)(?: prompt)?\s*:",
        r"\b(?:begin|end|start) (?:of )?(?:the )?(?:new )?system (?:prompt|message)\b",
    ),
    InjectionKind.REVEAL: _compile_pattern(
        r"\b(?:reveal|print|repeat|show|output|leak|disclose)(?: me)?(?: all(?: of)?)? (?:your|the)"
        r" (?:system prompt|hidden instructions|initial instructions|instructions above"
        r"|prompt above|original instructions)\b",
    ),
}


def _fold_text(text: str) -> str:
    """Write a text in plain small letters, without what nobody sees."""
    if text.isascii():
        return text.lower()
    return _NOT_ASCII.sub(lambda found: _fold_character(found[0]), text.lower())


_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")


@cache
def _fold_character(character: str) -> str:
    if ord(character) in _TAGS:
        return chr(ord(character) - _TAG_BASE).lower()
    if unicodedata.category(character) == "Cf":
        return ""
    return unicodedata.normalize("NFKC", character).lower()


def _find_original_span(text: str, start: int, end: int) -> Span:
    """Find the characters of a text that a range of its folded form stands for."""
    if text.isascii():
        return Span(start, end)
    places = [
        place
        for place, character in enumerate(text)
        for _ in (character.lower() if character.isascii() else _fold_text(character))
    ]
    return Span(places[start], places[end - 1] + 1)


def _quote_line(text: str, span: Span) -> str:
    """Give what was found with the rest of its line, as much of it as is shown."""
    line_start = text.rfind("\n", 0, span.start) + 1
    line_end = text.find("\n", span.end)
    line_end = len(text) if line_end < 0 else line_end
    room = max(0, _MOST_QUOTED - (span.end - span.start)) // 2
    start, end = max(line_start, span.start - room), min(line_end, span.end + room)
    before, after = "…" if start > line_start else "", "…" if end < line_end else ""
    return f"{before}{text[start:end].strip()}{after}"
