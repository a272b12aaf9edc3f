"""Empty phrases around a statement: "It should be noted that …", "…, as mentioned above", [3].

They say nothing that a passage could hold, so whoever looks words up leaves them out. Only phrases
that stand here are left out: a bag of empty words also took "far from accurate" for one.
"""

import re
from typing import Final

from faithtui.domain.conversation import Span

_NOUNS: Final = (
    r"(?:answer|article|context|document|material|paragraph|passage|response|source|text)s?"
)
_THE_SOURCE: Final = rf"(?:the|this|these) (?:(?:above|given|provided|retrieved) )?{_NOUNS}"
_SAID: Final = (
    r"(?:added|discussed|described|emphasi[sz]ed|explained|highlighted|mentioned|noted|pointed out"
    r"|remembered|said|stated|stressed)"
)
_TO_SAY: Final = r"(?:add|emphasi[sz]e|highlight|know|mention|note|point out|remember|stress)"
_SAYING: Final = (
    r"(?:adding|emphasi[sz]ing|highlighting|keeping in mind|knowing|mentioning|noting"
    r"|pointing out|remembering|stressing)"
)
_OF_WORTH: Final = (
    rf"(?:(?:important|interesting|useful|helpful|relevant) to {_TO_SAY}|worth {_SAYING})"
)

_OPENING: Final = re.compile(
    "|".join(
        (
            # Up to "that": who says it is the text itself, or nobody.
            rf"it (?:should|must|may|can) (?:also )?be {_SAID}(?: here| at this point)? that,?\s",
            rf"it is (?:also )?{_OF_WORTH}(?: here| at this point)? that,?\s",
            r"(?:please )?(?:also )?(?:note|keep in mind|remember) that\s",
            rf"{_THE_SOURCE} (?:also )?(?:describes?|explains?|highlights?|indicates?|mentions?"
            r"|notes?|points? out|says?|shows?|states?) that\s",
            # Up to a comma.
            rf"(?:according to|based on|as (?:{_SAID} )?in) {_THE_SOURCE}(?: provided| above)?,\s",
            rf"as {_SAID}(?: above| before| earlier)?,\s",
            r"(?:generally|broadly|simply|briefly|frankly) speaking,\s",
            r"(?:to put it|put) (?:simply|briefly|plainly|another way),\s",
            r"for (?:the sake of )?completeness,\s",
            r"(?:in (?:short|summary|conclusion|essence|brief|addition|other words)|of course"
            r"|to (?:begin with|conclude|sum up|summari[sz]e)|overall|furthermore|moreover"
            r"|additionally|first|firstly|finally|lastly|notably|importantly|interestingly),\s",
        )
    ),
    re.IGNORECASE,
)
_ENDING: Final = re.compile(
    rf",\s(?:as (?:(?:was|is|has been) )?(?:already )?{_SAID}"
    rf"(?: above| before| earlier| in {_THE_SOURCE})?"
    rf"|which is (?:also )?{_OF_WORTH}(?: here)?)\s*[.!]?\s*$",
    re.IGNORECASE,
)
_BRACKET: Final = r"\s?\[\d{1,3}(?:[,;–-]\s?\d{1,3})*\]"
_CITATION: Final = re.compile(rf"{_BRACKET}(?=(?:{_BRACKET})*\s*(?:[.,;:!?]|$))")
"""Before a mark or the end: between words it is a part of the sentence, as in "[2] guests"."""


def blank_out_citations(sentence: str) -> str:
    """Give a sentence with blanks in the place of citations such as [3] and [1, 2]; offsets stay.

    Their numbers are those of a list of sources, and say nothing of what is told. A number in
    brackets between words stays.
    """
    if "[" not in sentence:
        return sentence
    blanked = _CITATION.sub(lambda found: " " * len(found[0]), sentence)
    return sentence if blanked.isspace() else blanked


def find_statement(sentence: str) -> Span:
    """Give the part of a sentence that states something, without empty phrases around it.

    All of it where there are none, or nothing else. Never empty for a sentence that is not.
    """
    start = 0
    while (opening := _OPENING.match(sentence, start)) and _has_text_from(sentence, opening.end()):
        start = opening.end()
        while sentence[start : start + 1].isspace():
            start += 1
    end = len(sentence)
    while (ending := _ENDING.search(sentence, start, end)) and ending.start() > start:
        end = ending.start()
    return Span(start, end)


def _has_text_from(sentence: str, start: int) -> bool:
    """Whether something is left from an offset on."""
    return any(each.isalnum() for each in sentence[start:])
