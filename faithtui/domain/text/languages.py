"""Which language a text is probably in, from its script and its most frequent small words.

Only good enough to notice that a claim and its context cannot be compared word by word, or that the
figures measured on English say nothing about them. Silence beats a guess: a short text, a list of
names or a mixture has no language here.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from faithtui.domain.text.word_lists import STOP_WORDS

_LOOKED_AT: Final = 1_000
"""Characters of a text that are looked at; small words come often."""
_LEAST_HITS: Final = 2
"""Small words a language must show at least."""
_LEAST_SHARE: Final = 0.12
"""Share of all words that must be its small words; running text has 30 % and more."""
_LEAST_LEAD: Final = 1.5
"""How many times the small words of the next language it must have."""

_WORD: Final = re.compile(r"[^\W\d_]++(?:['’][^\W\d_]++)*+")
_ASCII_WORD: Final = re.compile(r"[A-Za-z]++(?:'[A-Za-z]++)*+", re.ASCII)
"""What `_WORD` finds in a text of ASCII, in a third of the time."""
_LATIN_END: Final = "\u024f"
_SCRIPTS: Final = (
    ("Greek", "\u0370\u03ff"),
    ("Cyrillic", "\u0400\u052f"),
    ("Armenian", "\u0530\u058f"),
    ("Hebrew", "\u0590\u05ff"),
    ("Arabic", "\u0600\u06ff\u0750\u077f\u08a0\u08ff\ufb50\ufdff\ufe70\ufeff"),
    ("Devanagari", "\u0900\u097f"),
    ("Bengali", "\u0980\u09ff"),
    ("Gurmukhi", "\u0a00\u0a7f"),
    ("Gujarati", "\u0a80\u0aff"),
    ("Tamil", "\u0b80\u0bff"),
    ("Telugu", "\u0c00\u0c7f"),
    ("Kannada", "\u0c80\u0cff"),
    ("Malayalam", "\u0d00\u0d7f"),
    ("Sinhala", "\u0d80\u0dff"),
    ("Thai", "\u0e00\u0e7f"),
    ("Lao", "\u0e80\u0eff"),
    ("Burmese", "\u1000\u109f"),
    ("Georgian", "\u10a0\u10ff"),
    ("Ethiopic", "\u1200\u137f"),
    ("Khmer", "\u1780\u17ff"),
    ("Hangul", "\u1100\u11ff\u3130\u318f\uac00\ud7af"),
    # One script for both: Japanese is written with Chinese characters too, and they do compare.
    ("Chinese or Japanese", "\u3040\u30ff\u3400\u9fff\uf900\ufaff\U00020000\U0003ffff"),
)
"""Scripts and the ranges of their letters, each range as its two ends."""
_SMALL_WORDS: Final = {
    "German": "der die das und ist nicht ein eine einer einen dem den des mit von zu auf für im "
    "sich auch wird wurde werden als an bei nach aus sind war oder hat haben wie es er sie ich zum",
    "French": "le la les des et est une du dans que qui pour pas sur au avec ce il elle sont par "
    "plus aux été ont cette ses être mais comme nous vous leur d'un d'une c'est l'on était",
    "Spanish": "el la los las y es una del que con por para se un no su al como más fue está son "
    "pero sus ha sobre entre cuando también hay muy desde todo donde lo este esta",
    "Italian": "il la le gli di e è un una che per con non del della dei delle sono si nel nella "
    "anche più come da alla dal questo questa stato ma ha lo al suo essere dopo",
    "Portuguese": "o a os as e é um uma do da dos das que com para não em no na por se mais como "
    "foi ao ser são está mas também pela pelo sua seu ele ela entre muito",
    "Dutch": "de het een en van is dat op te zijn met voor niet aan er om ook als bij uit naar "
    "door werd worden heeft hij zij wordt maar nog over deze dit wat waren",
    "Swedish": "och att det som är en på för av med den till inte har om ett var han hon de från "
    "men också eller när hade vid kan ska blev efter",
    "Danish or Norwegian": "og det er som en på for av af med den til ikke har om et var han hun "
    "de fra men også eller når ble blev etter efter kan skal ved",
    "Polish": "i w na z się nie jest do to że jak o od po przez dla za są był była oraz ale tym "
    "jego który która które roku może",
    "Czech or Slovak": "a v na je se sa že to s z do jako i pro který která které byl byla jsou "
    "po od také ale ve roku jeho",
    "Turkish": "ve bir bu için ile de da olarak en çok daha olan gibi kadar sonra ne var değil "
    "ise her o ya",
    "Indonesian or Malay": "yang dan di dari untuk dengan ini itu pada adalah tidak dalam akan ke "
    "juga oleh sebagai ada telah atau",
    "Finnish": "ja on ei että se oli hän mutta ovat kun myös sen joka tai niin kuin ole ovat voi "
    "mukaan",
    "Hungarian": "a az és hogy nem is egy volt ez meg van csak már vagy mint de ki azt el után",
    "Romanian": "și în de la cu că pe un o este nu din care pentru a fost mai sunt se au prin "
    "lui ale",
    "Vietnamese": "và của là có được trong cho một những các với không này đã người để khi từ",
}
MEASURED_LANGUAGE: Final = "English"
"""The language the words were measured on."""


def detect_language(text: str) -> str | None:
    """Name the language of a text, or its script where that is all that is known.

    Returns:
        None for a text without letters and for one whose small words do not tell.
    """
    looked_at = text[:_LOOKED_AT]
    if looked_at.isascii():
        return _detect_latin_language(_ASCII_WORD.findall(looked_at))
    words = _WORD.findall(looked_at.replace("’", "'"))
    if not words:
        return None
    foreign = [word for word in words if word[0] > _LATIN_END]
    letters = sum(map(len, words))
    if 2 * sum(map(len, foreign)) <= letters:
        return _detect_latin_language(words)
    counts: dict[str, int] = {}
    for word in foreign:
        if (script := _find_script(word[0])) is not None:
            counts[script] = counts.get(script, 0) + len(word)
    return max(counts, key=lambda script: (counts[script], script), default=None)


def are_comparable_languages(one: str | None, other: str | None) -> bool:
    """Whether texts in two languages may share words; True when one of the two is not known."""
    return one is None or other is None or one == other


@lru_cache(maxsize=1)
def _map_words_to_languages() -> dict[str, list[str]]:
    """Small word to the languages it is a small word of.

    What is one in English too ("do", "he", "to") tells of no other language, nor does one letter.
    All are lower-case, and so is what is looked up: "De La" is a part of a name.
    """
    found = {word: [MEASURED_LANGUAGE] for word in STOP_WORDS}
    for language, words in _SMALL_WORDS.items():
        for word in words.split():
            if word not in STOP_WORDS and not (len(word) == 1 and word.isascii()):
                found.setdefault(word, []).append(language)
    return found


def _detect_latin_language(words: Sequence[str]) -> str | None:
    hits: dict[str, int] = {}
    for languages in map(_map_words_to_languages().get, words):
        for language in languages or ():
            hits[language] = hits.get(language, 0) + 1
    first, second = (*sorted(hits.values(), reverse=True), 0, 0)[:2]
    if first < max(_LEAST_HITS, _LEAST_SHARE * len(words)) or first < _LEAST_LEAD * second:
        return None
    return max(hits, key=lambda language: (hits[language], language))


def _find_script(character: str) -> str | None:
    return next(
        (
            name
            for name, ranges in _SCRIPTS
            if any(ranges[end] <= character <= ranges[end + 1] for end in range(0, len(ranges), 2))
        ),
        None,
    )
