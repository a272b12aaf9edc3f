"""Sentences of a text as exact character spans, and what kind of thing each sentence is.

sentencex finds the boundaries inside a line; a pass of our own before it decides which line ends
are real ones and sets list markers apart. The pass matters more than the splitter: documents come
as web pages, tables and wrapped text, answers as markdown.

A span must always be a true range of the text it came from: users see it highlighted there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from faithtui.domain.conversation import Span

_LONGEST: Final = 1_000
"""A longer sentence is cut at a blank: nobody reads it as one, and comparing costs its square."""
_PIECE: Final = 5_000
"""sentencex slows down with the square of a line that opens quotes and never closes them."""
_REMEMBERED: Final = 4_000
"""Characters up to which the sentences of a text are remembered."""
_HEADING_WORDS: Final = 8
_LEAD_IN_WORDS: Final = 12

_LINE: Final = re.compile(r"[^\r\n\v\f\x85\u2028\u2029]+")
_MARKER: Final = re.compile(
    r"\s*(?:#{1,6}\s+|>\s*|[-*+•‣◦▪·–—]\s+|\[[ xX]\]\s+"
    r"|\(?(?:\d{1,3}[.)]|[a-z][.)]|[A-Z]\)|[ivx]{1,4}[.)])\s+|\d{1,2}[.)](?=[^\W\d_]{2}))"
)
"""What stands before a list item. A capital with a full stop is none: it may be an initial."""
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
"""The first and the last line of a block of code."""
_BARE_MARKER: Final = re.compile(r"[\W_]*(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[.):][\W_]*")
"""A whole sentence that is nothing but the number or letter of a list item."""
_BARE_NUMBER: Final = re.compile(r"[\W_]*(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[\W_]*")
_INLINE_NUMBER: Final = re.compile(r"[*_]*\(?\d{1,3}[.)][*_]*\s+(?=\S)")
"""A list number that begins a sentence within a line: "1. Soak the beans. 2. Boil them."."""
_TRAILING_MARKER: Final = re.compile(r"(?::\s+(?=\(?1\b)|;\s+)(\(?\d{1,3}[.)])\Z")
"""The number of a list item, left behind at the end of what leads in the list or comes before."""
_CUT_DECIMAL: Final = re.compile(r"\d ?\.\s+\d{1,2} ?(?:%|(?:percent|per cent|[mb]illion|[mb]n)\b)")
"""A number that a tokeniser pulled apart: "$1. 3 billion"."""
_LETTER_OR_DIGIT: Final = re.compile(r"[^\W_]")
_HASHES: Final = re.compile(r"\s*(?:>\s*)*#{1,6}\s")
_UNSPLITTABLE: Final = re.compile(r"[^\S ]|[\ud800-\udfff\x00-\x1f\x7f-\x9f]")
"""Characters at which sentencex panics or which cannot be encoded: blanks that are not ASCII,
controls, lone surrogates. Each is replaced by one blank, so offsets stay."""
_ASCII_STOP: Final = re.compile(r"[.!?]")
"""Without one of these sentencex finds one sentence in a text of ASCII: titles, table rows."""
_LINE_GOES_ON: Final = re.compile(r"[^.!?:;…。！？|\s]\s*\Z|,\s*\Z")
_EMPHASIS: Final = ("***", "**", "__", "~~", "*", "_", "`")
_EMPHASIS_MARK: Final = re.compile(r"[*_~`]")


class SentenceKind(StrEnum):
    """What a sentence of an answer is. Only claims are judged."""

    CLAIM = "claim"
    QUESTION = "question"
    REFUSAL = "refusal"
    """It says that the documents, or the speaker, cannot answer."""
    CHAT = "chat"
    """Greeting, thanks, an offer to help, a bare yes or no."""
    HEADING = "heading"
    """A title, the line that leads in a list, or a list marker that stands alone."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an answer."""

    span: Span
    """Its characters, without list marker and the emphasis around it."""
    text: str
    """What the span holds, letter for letter."""
    kind: SentenceKind


def split_sentences(text: str) -> list[Span]:
    """Cut a text into sentences.

    Spans are in order, do not overlap, begin behind list markers, neither begin nor end with a
    blank, and hold at least one letter or digit and at most 1,000 characters. Without letters and
    digits there are none.

    Source:
        Boundaries: sentencex 1.0, `get_sentence_boundaries`, read as English, whose rules for other
        scripts' full stops are the same.
    """
    return list(_split_passage(text) if len(text) <= _REMEMBERED else _split_text(text))


def _split_text(text: str) -> tuple[Span, ...]:
    return tuple(span for block in _split_blocks(text) for span in _split_block(text, block))


_split_passage: Final = lru_cache(maxsize=2048)(_split_text)
"""The same passages are retrieved for many conversations, and are read by judge and checks. Holds
some 30 MB at most."""


def split_answer(text: str) -> list[Sentence]:
    """Cut an answer into sentences and say of each what it is, in order.

    Nothing is understood here: no pronoun is resolved and no compound sentence is taken apart.
    A number or a single letter is a claim only when it is the whole answer.
    """
    blocks = _split_blocks(text)
    found: list[Sentence] = []
    for number, block in enumerate(blocks):
        spans = _split_block(text, block)
        is_title = len(spans) == 1 and _is_heading(text, block, is_last=number == len(blocks) - 1)
        for span in spans:
            bare = _strip_list_number(text, _strip_emphasis(text, span))
            is_alone = len(blocks) == 1 and len(spans) == 1
            is_number = bool(_BARE_NUMBER.fullmatch(text, bare.start, bare.end)) and not is_alone
            kind = (
                SentenceKind.HEADING
                if is_title or is_number
                else _classify_sentence(bare.slice_text(text))
            )
            found.append(Sentence(bare, bare.slice_text(text), kind))
    return found


class _Block(NamedTuple):
    """Lines that belong together."""

    start: int
    end: int
    body: int
    """Where the text begins behind the list marker."""


def _split_blocks(text: str) -> list[_Block]:
    """Join lines that only wrap; every other line end is a boundary."""
    blocks: list[_Block] = []
    last_end = 0
    has_code = "```" in text or "~~~" in text
    for line in _LINE.finditer(text):
        start, end = line.span()
        if line[0].isspace() or (has_code and _FENCE.match(line[0])):
            continue
        body = _skip_markers(text, start, end)
        if blocks and _continues_block(text, blocks[-1], last_end, start, is_marked=body > start):
            blocks[-1] = _Block(blocks[-1].start, end, blocks[-1].body)
        elif blocks and _BARE_MARKER.fullmatch(text, blocks[-1].start, blocks[-1].end):
            # A marker on a line of its own belongs to the line below it.
            blocks[-1] = _Block(blocks[-1].start, end, body)
        else:
            blocks.append(_Block(start, end, body))
        last_end = end
    return blocks


def _continues_block(
    text: str, block: _Block, last_end: int, start: int, *, is_marked: bool
) -> bool:
    """Whether the line at `start` continues the block: no empty line between, and it reads on."""
    if is_marked:
        return False
    tail = text[max(block.body, last_end - 2) : last_end]
    is_small = text[start : start + 40].lstrip()[:1].islower()
    if not is_small and not tail.rstrip().endswith(","):
        return False
    between = text[last_end:start]
    if between.count("\n") > 1 or between.count("\r") > 1:
        return False
    return _LINE_GOES_ON.search(tail) is not None


def _skip_markers(text: str, start: int, end: int) -> int:
    """Offset behind the list markers, quote marks and hashes a line begins with."""
    while (marker := _MARKER.match(text, start, end)) is not None and marker.end() < end:
        start = marker.end()
    return start


def _split_block(text: str, block: _Block) -> list[Span]:
    spans: list[Span] = []
    if block.end - block.body <= _LONGEST:
        for start, end in _find_boundaries(text, block.body, block.end):
            _append_stripped_span(spans, text, start, end)
        return spans
    for start, end in _cut_pieces(text, block.body, block.end, _PIECE):
        for sentence_start, sentence_end in _find_boundaries(text, start, end):
            for first, past in _cut_pieces(text, sentence_start, sentence_end, _LONGEST):
                _append_stripped_span(spans, text, first, past)
    return spans


def _is_cut_decimal(text: str, before: Span) -> bool:
    """Whether a number begins at the end of a sentence and ends in the next one."""
    return any(
        _CUT_DECIMAL.match(text, max(before.start, before.end - back)) is not None
        for back in (2, 3)
    )


def _append_stripped_span(spans: list[Span], text: str, start: int, end: int) -> None:
    """Append a stripped span.

    What holds no letter and no digit goes to the sentence before it, a list number to the one
    behind it.
    """
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if _LETTER_OR_DIGIT.search(text, start, end):
        if (
            spans
            and end - spans[-1].start <= _LONGEST
            and (
                _BARE_MARKER.fullmatch(text, spans[-1].start, spans[-1].end)
                or (text[start].isdecimal() and _is_cut_decimal(text, spans[-1]))
            )
        ):
            spans[-1] = Span(spans[-1].start, end)
        elif spans and (left := _find_trailing_marker(text, spans[-1])) is not None:
            spans[-1] = Span(spans[-1].start, left.start() + 1)
            _append_stripped_span(spans, text, left.start(1), end)
        else:
            spans.append(Span(start, end))
    elif spans and start < end and end - spans[-1].start <= _LONGEST:
        spans[-1] = Span(spans[-1].start, end)


def _find_trailing_marker(text: str, sentence: Span) -> re.Match[str] | None:
    if text[sentence.end - 1] not in ".)":  # nearly all sentences have no digit there either
        return None
    if not text[max(sentence.start, sentence.end - 2)].isdecimal():
        return None
    return _TRAILING_MARKER.search(text, sentence.start, sentence.end)


def _find_boundaries(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Sentences between two offsets, end to end."""
    piece = text[start:end]
    if not (piece.isascii() and piece.isprintable()):
        piece = _UNSPLITTABLE.sub(" ", piece)
    elif _ASCII_STOP.search(piece) is None:
        return [(start, end)]
    import sentencex  # type: ignore[import-untyped]  # it ships no types, and takes long to import

    try:
        found = sentencex.get_sentence_boundaries("en", piece)
    except BaseException as error:  # a panic in Rust is a BaseException whose class has no import
        if type(error).__name__ != "PanicException":
            raise
        return [(start, end)]
    return [(start + each["start_index"], start + each["end_index"]) for each in found]


def _cut_pieces(text: str, start: int, end: int, longest: int) -> Iterator[tuple[int, int]]:
    """Cut a range into ranges of at most `longest` characters, behind a blank if there is one."""
    while end - start > longest:
        blank = text.rfind(" ", start + longest // 2, start + longest)
        cut = blank + 1 if blank >= 0 else start + longest
        yield start, cut
        start = cut
    yield start, end


def _strip_emphasis(text: str, span: Span) -> Span:
    """Take off markdown emphasis that wraps the span, or is left over at one of its ends."""
    start, end = span.start, span.end
    changed = _EMPHASIS_MARK.search(text, start, end) is not None
    while changed and end - start > 2:
        changed = False
        for mark in _EMPHASIS:
            inner = text[start:end]
            opens, closes = inner.startswith(mark), inner.endswith(mark)
            count = inner.count(mark)
            if opens and closes and count == 2:
                start, end, changed = start + len(mark), end - len(mark), True
            elif opens and count % 2 == 1:
                start, changed = start + len(mark), True
            elif closes and count % 2 == 1:
                end, changed = end - len(mark), True
            if changed:
                break
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end) if any(c.isalnum() for c in text[start:end]) else span


def _strip_list_number(text: str, span: Span) -> Span:
    """Take off the list number a sentence within a line begins with."""
    marker = _INLINE_NUMBER.match(text, span.start, span.end)
    return span if marker is None else Span(marker.end(), span.end)


def _is_heading(text: str, block: _Block, *, is_last: bool) -> bool:
    """Whether a line of one sentence is a heading: marked as one, or short and followed by more."""
    body = text[block.body : block.end].strip()
    if _HASHES.match(text, block.start, block.end):
        return True
    words = len(body.split())
    if body.rstrip("*_ ").endswith((":", "：")):
        return words <= _LEAD_IN_WORDS
    is_bold = body.startswith(("**", "__")) and body.endswith(("**", "__"))
    is_marked = block.body > block.start
    is_open = body.rstrip("*_ ")[-1:].isalnum() or body.rstrip("*_ ").endswith(")")
    return not is_last and not is_marked and is_bold and is_open and words <= _HEADING_WORDS


_CLOSERS: Final = "\"'”’»)]}*_`~ "
_QUESTION_MARKS: Final = ("?", "？", "؟", "\u037e")
_SOURCES: Final = (
    r"(?:documents?|contexts?|passages?|texts?|articles?|sources?|excerpts?|"
    r"information|materials?|snippets?|content|data|search results)"
)
_REFUSAL: Final = re.compile(
    rf"\b{_SOURCES}\b[^.]{{0,60}}?\b(?:do|does|did)(?: not|n['’]t)\s+(?:\w+ly\s+)?"
    r"(?:mention|contain|provide|say|specify|state|include|give|address|discuss|cover|indicate|"
    r"offer|have|answer|reveal|describe|explain)\b"
    r"|\b(?:not|never)\s+(?:\w+ly\s+)?(?:mentioned|specified|stated|provided|given|discussed|"
    r"covered|addressed|included|found|available)\s+(?:in|by)\s+(?:the|this|these|your|any)\b"
    rf"[^.]{{0,40}}?\b{_SOURCES}\b"
    r"|\bthere (?:is|was|are)(?: no|n['’]t any| not any)\s+(?:\w+\s+)?"
    r"(?:mention|information|details?|indication)\b"
    r"|\bI (?:do not|don['’]t|did not|didn['’]t) (?:\w+ly )?(?:have|know|see|find)\b"
    r"|\bI(?: am|['’]m)?\s+(?:cannot|can['’]t|can not|could not|couldn['’]t|not able|unable|"
    r"not sure|not certain|afraid|sorry(?! to hear))\b"
    r"|\b(?:no|not enough|insufficient)\s+(?:relevant\s+|specific\s+|further\s+)?information\b"
    r"|^(?:unfortunately,?\s+)?(?:I apologi[sz]e|my apologies|sorry)\b",
    re.IGNORECASE,
)
_IN_REFUSALS: Final = (
    "no", "n't", "n’t", "never", "unable", "afraid", "sorry", "insufficient", "apolog"
)  # fmt: skip
"""What every refusal holds at least one of; most sentences need not be searched for the rest."""
_GOES_ON: Final = re.compile(r"[,;]\s*(?:but|however|yet|it|they|he|she|you)\b", re.IGNORECASE)
"""Behind a refusal: "the text gives no date, but it names the place" states something after all."""
_CHAT: Final = re.compile(
    r"^(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings|thanks|thank you|"
    r"you(?:['’]re| are) welcome|welcome|sure|certainly|of course|absolutely|okay|ok|yes|yeah|yep|"
    r"no|nope|right|exactly|great|wow|cool|nice|goodbye|bye|got it|understood|i see|indeed|"
    r"no problem|my pleasure)"
    r"(?:\s+(?:there|thing|again|everyone|all|you|so much|very much|question|to hear that|"
    r"for asking))*"
    r"|(?:i['’]d|i would) (?:be )?(?:happy|glad|love)\b.*|i hope (?:this|that|it|you)\b.*"
    r"|i['’]m sorry to hear\b.*|(?:please )?(?:let me know|feel free)\b.*"
    r"|(?:that|this)(?:['’]s| is) a (?:great|good) question"
    r"|(?:please )?(?:could|can) you (?:please )?(?:clarify|provide|specify)\b.*"
    r"|here(?:['’]s| is| are)\b[^.]*:)\s*[.!,…]*$",
    re.IGNORECASE | re.DOTALL,
)


def _classify_sentence(sentence: str) -> SentenceKind:
    bare = sentence.strip().strip(_CLOSERS)
    if sentence.rstrip(_CLOSERS).endswith(_QUESTION_MARKS):
        return SentenceKind.QUESTION
    lower = bare.lower()
    may_refuse = any(each in lower for each in _IN_REFUSALS)
    refusals = list(_REFUSAL.finditer(bare)) if may_refuse else []
    if refusals and not _GOES_ON.search(bare, refusals[-1].end()):
        return SentenceKind.REFUSAL
    if bare.endswith((":", "：")) and len(bare.split()) <= _LEAD_IN_WORDS and not _CHAT.match(bare):
        return SentenceKind.HEADING
    if _CHAT.match(bare):
        return SentenceKind.CHAT
    return SentenceKind.CLAIM
