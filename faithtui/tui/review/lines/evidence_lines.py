"""Lines of the passages behind a claim."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from threading import Event
from typing import TYPE_CHECKING, Final, Literal

from faithtui.domain.claims.verdicts import Stance
from faithtui.domain.conversation import Image, Span
from faithtui.domain.ids import TruthId
from faithtui.domain.integrity.missing_facts import MissingFact, TruthIndex, find_missing_facts
from faithtui.domain.labels.label_events import MarkedPassage
from faithtui.domain.text.passage_ranking import (
    QUOTE_MIN_SHARE,
    NamedTruth,
    Quote,
    RankedPassage,
    WordMark,
    choose_excerpt_with_needed_spans,
    find_source_sentence,
    rank_passages,
)
from faithtui.domain.text.sentence_index import is_in_ascending_list
from faithtui.domain.text.texts import TokenisedText, collect_stem_weights, tokenise_text
from faithtui.domain.text.tokens import DECISIVE
from faithtui.store.records import ClaimView, DocumentView, ReviewView, TruthView
from faithtui.tui.review.lines.image_lines import image_placeholder_lines, map_images_to_numbers
from faithtui.tui.review.lines.lazy_values import LazyMapping
from faithtui.tui.review.lines.markup import strip_markdown_and_shorten_urls
from faithtui.tui.review.lines.transcript_lines import explain_unread_context
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    BLANK,
    FULL_TEXT_LIMIT,
    PANE_TEXT_LIMIT,
    Line,
    Piece,
    escape_line,
    escape_text,
    make_line,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

_LINE_END = re.compile(r"\s*\n\s*")
MAX_TEXT_COMPARED = 60_000
"""Characters of a text that are compared; a key must not wait for more."""
_MAX_TOTAL_COMPARED = 100_000
"""The same for all texts of a conversation: the long ones give way to each other."""
_MIN_TEXT_COMPARED = 6_000
"""Characters that are compared of each text, however many there are."""
MAX_CLAIM_COMPARED = 1_000
"""Characters of a claim that are compared, for the same reason: each of its words is looked for in
every sentence of every passage. Claims have some hundred."""
LOST_FACT_MIN_SHARE = 0.2
"""A sentence that shares less with a claim has nothing to do with it, whatever it lost."""
_UNCOVERED_MIN_SHARE = 0.34
"""The same for a sentence of which no truth speaks: passages are full of those."""


@dataclass(frozen=True, slots=True)
class TokenisedView:
    """A conversation's texts cut into words once, for all its claims."""

    documents: Mapping[int, TokenisedText]
    """By P number."""
    truths: Mapping[TruthId, TokenisedText]
    turns: Mapping[int, TokenisedText] = field(default_factory=dict)
    """By position."""
    lost: Mapping[int, tuple[MissingFact, ...]] = field(default_factory=dict)
    """By P number: facts that no truth of the view covers. Not to be shown while the view is
    blind, which may lack truths."""
    places: Mapping[TruthId, int | None] = field(default_factory=dict)
    """Index of the sentence of its document that a truth was drawn from; None: there is none."""
    _filled: Event = field(default_factory=Event, compare=False)

    @property
    def is_filled(self) -> bool:
        """Whether nothing is left to be made when it is asked for."""
        return self._filled.is_set()

    def compute_lazy_parts(self) -> None:
        """Make all that is made when it is asked for. Meant for a thread."""
        for made in (self.documents, self.truths, self.turns, self.lost, self.places):
            for _ in made.values():
                pass
        self._filled.set()


Where = Literal["turn", "window", "elsewhere"]
"""Where a passage was retrieved: for the claim's turn, in its window, elsewhere in the
conversation, so that the judge did not see it."""

_GROUPS: Mapping[Where, str] = {
    "window": "in the window, not retrieved for this answer:",
    "elsewhere": "in the conversation, but not retrieved at this turn:",
}


STANCE_LOOKS: Final[tuple[tuple[Stance, str], ...]] = (
    ("contradicts", "bad"),
    ("supports", "good"),
    ("partial", "unsure"),
)
"""What truths say of a claim, in the order of drawing, each with its look."""

STANCE_WORDS: Final[Mapping[Stance, str]] = {
    "contradicts": "contradicts",
    "supports": "supports",
    "partial": "supports a part",
}


def list_joint_truth_sets(
    claim: ClaimView, by_id: Mapping[TruthId, TruthView]
) -> list[list[TruthView]]:
    """List the sets of truths that support a claim only together, each by its numbers."""
    sets: dict[int, list[TruthView]] = {}
    for each in claim.evidence:
        for number in each.sets if each.truth in by_id else ():
            sets.setdefault(number, []).append(by_id[each.truth])
    return [sorted(sets[number], key=lambda truth: truth.number) for number in sorted(sets)]


def format_other_windows(truths: Sequence[TruthView], window: int) -> str:
    """Say in which windows truths are all in view, unless they are in this one: ` in w4-6`."""
    common = frozenset.intersection(*(frozenset(truth.windows) for truth in truths))
    return (
        f" in {fmt.format_window_ranges(tuple(common))}" if common and window not in common else ""
    )


@dataclass(frozen=True, slots=True)
class RankedPassageView:
    """A passage, ranked for a claim."""

    document: DocumentView
    turn: int
    """The turn that retrieved it: the claim's own where several did."""
    where: Where
    read: TokenisedText
    ranked: RankedPassage
    truths: tuple[tuple[int, Stance], ...]
    """T numbers the judge named for the claim in this passage, each with its stance."""
    together_only: frozenset[int] = frozenset()
    """Those of them that support the claim only together with others."""
    is_ranked: bool = True
    """How well it matches says something; a statement's own passage is just the passage."""
    lost_count: int = 0
    """Facts of it that no truth covers; 0 while the judge is hidden."""
    marked: tuple[Span, ...] = ()
    """What the reviewer marked in it as evidence, in order."""


def add_reviewer_evidence(
    passages: Sequence[RankedPassageView], marks: Sequence[MarkedPassage]
) -> tuple[RankedPassageView, ...]:
    """Put what a reviewer marked into the passages it stands in."""
    if not marks:
        return tuple(passages)
    return tuple(
        replace(
            each,
            marked=tuple(
                Span(mark.start, mark.end) for mark in marks if mark.document == each.document.hash
            ),
        )
        for each in passages
    )


TURNS_AT_ONCE: Final = 60
"""Turns of a conversation all of whose texts are compared before anything of it is shown."""


def tokenise_view(view: ReviewView, *, at_once: bool = True) -> TokenisedView:
    """Cut the texts of a conversation into words. Slow for long ones: meant for a thread.

    Args:
        view: The conversation.
        at_once: Do it now; else of a long conversation what is asked for, and
            `TokenisedView.compute_lazy_parts` does the rest.
    """
    texts = {
        document.number: document.text for turn in view.turns for document in turn.documents or ()
    }
    turn_texts = {turn.position: turn.content for turn in view.turns}
    drawn = {truth.id: truth for truth in view.truths}
    most = _compute_compared_length_limit(
        [*map(len, texts.values()), *map(len, turn_texts.values())]
    )
    documents = LazyMapping(texts, lambda number: tokenise_text(texts[number][:most]))
    truths = LazyMapping(drawn, lambda each: tokenise_text(drawn[each].text[:PANE_TEXT_LIMIT]))

    @cache
    def index_facts() -> TruthIndex:
        if _are_references_user_messages(view):
            return TruthIndex(())
        numbers = {each.text[:PANE_TEXT_LIMIT]: number for number, each in drawn.items()}
        return TruthIndex(numbers, lambda text: truths[numbers[text]])

    def find_place(each: TruthId) -> int | None:
        truth = drawn[each]
        source = None if truth.document is None else documents.get(truth.document)
        return None if source is None else find_source_sentence(truths[each], source, truth.span)

    tokenised = TokenisedView(
        documents,
        truths,
        LazyMapping(turn_texts, lambda position: tokenise_text(turn_texts[position][:most])),
        LazyMapping(texts, lambda number: find_missing_facts(documents[number], index_facts())),
        LazyMapping(drawn, find_place),
    )
    if at_once or len(view.turns) <= TURNS_AT_ONCE:
        tokenised.compute_lazy_parts()
    return tokenised


def tokenise_claim(claim: ClaimView) -> TokenisedText:
    """Cut a claim into words, as far as it is compared."""
    return tokenise_text(claim.text[:MAX_CLAIM_COMPARED])


def _compute_compared_length_limit(lengths: Iterable[int]) -> int:
    """Say how many characters of each text are compared, so that all together are not too many."""
    ordered = sorted(lengths)
    room = _MAX_TOTAL_COMPARED
    for place, length in enumerate(ordered):
        share = room // (len(ordered) - place)
        if length > share:
            return max(_MIN_TEXT_COMPARED, min(MAX_TEXT_COMPARED, share))
        room -= length
    return MAX_TEXT_COMPARED


def describe_truncated_comparison(
    claim: ClaimView, passages: Sequence[RankedPassageView]
) -> str | None:
    """Say how much of long texts is compared; None when all of all of them is."""
    parts = []
    if len(claim.text) > MAX_CLAIM_COMPARED:
        parts.append(f"the first {MAX_CLAIM_COMPARED:,} characters of this text")
    cut = [
        len(each.read.text) for each in passages if len(each.read.text) < len(each.document.text)
    ]
    if cut:
        parts.append(f"the first {max(cut):,} of each long passage")
    return f"compared: {' and '.join(parts)}" if parts else None


def _are_references_user_messages(view: ReviewView) -> bool:
    """Whether what is checked against are messages: nothing of a passage is lost in those."""
    asked = {turn.content for turn in view.turns if turn.role == "user"}
    return all(
        truth.document is None and (truth.text in asked or truth.text.split("\n[")[0] in asked)
        for truth in view.truths
    )


def find_and_rank_claim_passages(
    view: ReviewView, claim: ClaimView, window: int | None, read: TokenisedView
) -> tuple[RankedPassageView, ...]:
    """Rank the passages of a claim.

    Those of its turn come first, then the others of its window, then those of the rest of the
    conversation that speak of the same things. A statement of a passage has that passage alone,
    with the statement marked in it.
    """
    if claim.kind == "statement":
        return _find_passage_of_statement(view, claim, read)
    home = window if window is not None else claim.first_window_verdict.window
    turns = set(view.windows[home].turns) if home < len(view.windows) else set()
    groups: dict[Where, dict[int, tuple[DocumentView, int]]] = {
        "turn": {},
        "window": {},
        "elsewhere": {},
    }
    for turn in view.turns:
        where: Where = "elsewhere"
        if turn.position == claim.turn:
            where = "turn"
        elif turn.role != "assistant":
            continue  # no metric reads the context of user turns
        elif turn.position in turns:
            where = "window"
        if where == "elsewhere" and not read.is_filled:
            continue  # Comparing all of a long conversation would hold up its first rows.
        for document in turn.documents or ():
            groups[where].setdefault(document.number, (document, turn.position))
    seen: set[int] = set()
    for group in groups.values():
        for number in seen & group.keys():
            del group[number]
        seen |= group.keys()
    truths = {truth.id: truth for truth in view.truths}
    named: dict[int, list[NamedTruth]] = {}
    numbers: dict[int, list[tuple[int, Stance]]] = {}
    for each in claim.evidence:
        truth = truths.get(each.truth)
        if truth is None or truth.document is None:
            continue
        named.setdefault(truth.document, []).append(
            NamedTruth(read.truths[truth.id], each.stance, truth.span)
        )
        numbers.setdefault(truth.document, []).append((truth.number, each.stance))
    joined = frozenset(
        truth.number
        for together in list_joint_truth_sets(claim, {truth.id: truth for truth in view.truths})
        for truth in together
    )
    tokenised_claim = tokenise_claim(claim)
    found: list[RankedPassageView] = []
    for where, group in groups.items():
        keys = list(group)
        ranking = rank_passages(
            tokenised_claim,
            [read.documents[key] for key in keys],
            [named.get(key, []) for key in keys],
        )
        for ranked in ranking:
            key = keys[ranked.position]
            # What was not in view is only worth a look where it would have settled the claim.
            if where == "elsewhere" and ranked.match < QUOTE_MIN_SHARE and key not in named:
                continue
            lost = list_uncovered_facts(view, claim, key, read) if where == "turn" else ()
            found.append(
                RankedPassageView(
                    *group[key],
                    where,
                    read.documents[key],
                    _add_quotes_of_uncovered_facts(ranked, lost, read.documents[key]),
                    tuple(numbers.get(key, ())),
                    joined,
                    lost_count=len(lost),
                )
            )
    return tuple(found)


def _add_quotes_of_uncovered_facts(
    ranked: RankedPassage, lost: Sequence[MissingFact], passage: TokenisedText
) -> RankedPassage:
    """Quote lost conditions too, where nothing else is quoted; sentences would be too much."""
    quotes, marks = list(ranked.quotes), {mark.span: mark for mark in ranked.marks}
    for fact in lost:
        span = fact.span
        free = all(span.end <= each.span.start or each.span.end <= span.start for each in quotes)
        if "condition" not in fact.kinds or not free:
            continue
        quotes.append(Quote(span, None))
        for word in passage.get_sentence_words(fact.sentence):
            if word.kind in DECISIVE and span.start <= word.start < span.end:
                marks.setdefault(word.span, WordMark(word.span, word.kind, False))
    return replace(
        ranked,
        quotes=tuple(sorted(quotes, key=lambda each: each.span.start)),
        marks=tuple(sorted(marks.values(), key=lambda each: each.span.start)),
    )


def list_uncovered_facts(
    view: ReviewView, claim: ClaimView, document: int, read: TokenisedView
) -> tuple[MissingFact, ...]:
    """List the facts of a passage that no truth covers and that bear on a claim, nearest first.

    Returns:
        () while a long conversation is still being compared, and while anything is hidden: what
        looks wrong would reveal what the judge may have got wrong.
    """
    facts = () if view.is_blind or not read.is_filled else read.lost.get(document, ())
    if not facts:
        return ()
    holders = read.documents[document].index.holders
    weights = collect_stem_weights(tokenise_claim(claim).words)
    total = sum(weights.values()) or 1
    near: list[tuple[float, MissingFact]] = []
    for fact in facts:
        share = (
            sum(
                weight
                for stem, weight in weights.items()
                if is_in_ascending_list(holders.get(stem, ()), fact.sentence)
            )
            / total
        )
        if share >= (LOST_FACT_MIN_SHARE if fact.kinds else _UNCOVERED_MIN_SHARE):
            near.append((share, fact))
    near.sort(key=lambda each: (-each[0], each[1].sentence))
    return tuple(fact for _, fact in near)


def _find_passage_of_statement(
    view: ReviewView, claim: ClaimView, read: TokenisedView
) -> tuple[RankedPassageView, ...]:
    """Find the passage a statement belongs to."""
    for turn in view.turns:
        for document in turn.documents or ():
            if turn.position == claim.turn and document.number == claim.document:
                quotes = (Quote(claim.span, None),) if claim.span is not None else ()
                ranked = RankedPassage(0, 1.0, claim.span, quotes, (), ())
                text = read.documents[document.number]
                return (
                    RankedPassageView(
                        document, turn.position, "turn", text, ranked, (), is_ranked=False
                    ),
                )
    return ()


def passage_lines(
    view: ReviewView,
    claim: ClaimView | None,
    passages: Sequence[RankedPassageView],
    chosen: int,
    spec: "MetricSpec",
    width: int,
    height: int,
) -> tuple[list[Line], list[int]]:
    """Show passages with what matters in them marked, the chosen one at more length.

    Returns:
        The lines, and for each passage the index of its first line.
    """
    if claim is None:
        return [], []
    if not passages:
        return _no_passages_lines(view, claim, spec, width), []
    numbers = map_images_to_numbers(view.turns)
    lines: list[Line] = []
    starts: list[int] = []
    part = describe_truncated_comparison(claim, passages)
    read_claim = tokenise_text(claim.text[:MAX_CLAIM_COMPARED])
    if part is not None:
        lines += wrap([Piece(part, "quiet")], width, first=[Piece(" ")])
    for number, passage in enumerate(passages):
        if passage.where in _GROUPS and (
            number == 0 or passages[number - 1].where != passage.where
        ):
            words = _GROUPS[passage.where]
            lines += wrap([Piece(words, "quiet")], width, first=[Piece(" ")])
        starts.append(len(lines))
        mark, *heading = _passage_heading(
            passage, number == chosen, has_match=not is_match_hidden(claim, view)
        )
        lines += wrap(heading, width, first=[mark], rest=[Piece("     ")])
        budget = width * (max(6, height // 2) if number == chosen else max(3, height // 8))
        excerpt = excerpt_passage(passage, budget, read_claim if passage.is_ranked else None)
        lines += wrap(excerpt, width - 1, first=[Piece("  ")])
        lines += image_placeholder_lines(passage.document.images, numbers, width - 1, [Piece("  ")])
        if number == 0 and passage.is_ranked and claim.id not in view.hidden:
            lines += missing_word_lines(claim, passages, width)
        lines.append(BLANK)
    return lines, starts


def missing_word_lines(
    claim: ClaimView, passages: Sequence[RankedPassageView], width: int
) -> list[Line]:
    """Say which words of a claim the best passage lacks, and which of them no passage has.

    Not to be shown while the judge is hidden: some judges go by nothing else.
    """
    best, *others = passages
    words: dict[str, list[str]] = {"": []}
    contested = {span for each in passages for span in each.ranked.contested}
    for span in best.ranked.missing:
        if span in contested:
            continue
        holder = next((each for each in others if span not in each.ranked.missing), None)
        name = "" if holder is None else f"P{holder.document.number}"
        words.setdefault(name, []).append(claim.text[span.start : span.end])
    lines: list[Line] = []
    for name, listed in words.items():
        if listed:
            head = f"not in P{best.document.number} but in {name}: "
            first = (
                Piece(head, "quiet") if name else Piece("MISSING in all passages: ", "warn strong")
            )
            text = escape_line(", ".join(dict.fromkeys(listed)), "" if name else "warn", limit=300)
            lines += wrap([first, text], width - 1, first=[Piece("  ")], most=2)
    return lines


def highlight_unsupported_words(claim: ClaimView, best: RankedPassageView | None) -> list[Piece]:
    """Give a claim with the words marked that its best passage contradicts, or does not have."""
    looks: dict[Span, str] = {}
    if best is not None and best.is_ranked:
        looks = dict.fromkeys(best.ranked.missing, "warn strong")
        looks |= dict.fromkeys(best.ranked.contested, "bad strong mark")
    pieces = []
    at = 0
    for span in sorted(looks, key=lambda each: each.start):
        if span.start >= at:
            pieces.append(escape_text(claim.text[at : span.start], "claim strong"))
            pieces.append(escape_text(claim.text[span.start : span.end], looks[span]))
            at = span.end
    return [*pieces, escape_text(claim.text[at:], "claim strong")]


def is_match_hidden(claim: ClaimView | None, view: ReviewView) -> bool:
    """Whether what a passage has of a claim would reveal its hidden verdict.

    The embedded judge decides by little else.
    """
    return claim is not None and claim.id in view.hidden and view.run.spec.judge == "offline"


def _passage_heading(
    passage: RankedPassageView, chosen: bool, *, has_match: bool = True
) -> list[Piece]:
    document = passage.document
    pieces = [
        Piece(">" if chosen else " "),
        Piece(f"P{document.number}", "strong key" if chosen else "strong"),
    ]
    if document.source:
        pieces += [Piece(" · "), escape_line(document.source, limit=60)]
    pieces.append(Piece(f" · turn {passage.turn + 1}", "quiet"))
    if passage.is_ranked and has_match:
        pieces.append(Piece(f" · similarity {passage.ranked.match:.2f}", "quiet"))
    if passage.ranked.differs and has_match:
        kinds = ", ".join(passage.ranked.differs)
        pieces.append(Piece(f" · differs: {kinds}", "warn"))
    if passage.lost_count:
        pieces.append(
            Piece(
                f" · {fmt.format_count_with_noun(passage.lost_count, 'fact')} in no truth", "warn"
            )
        )
    if passage.marked:
        pieces.append(Piece(" · {marked}", "human strong"))
    looks = dict(STANCE_LOOKS)
    for number, stance in passage.truths:
        words = STANCE_WORDS[stance]
        if number in passage.together_only:
            words = "supports with others"
        pieces.append(Piece(f" · T{number} {words}", looks[stance]))
    return pieces


def excerpt_passage(
    passage: RankedPassageView, budget: int, claim: TokenisedText | None = None
) -> list[Piece]:
    """Cut a passage down to what surrounds its quotes and has the words of the claim.

    Args:
        passage: The passage.
        budget: About how many characters.
        claim: The claim; None: its words say nothing of the passage.
    """
    needed = [*(quote.span for quote in passage.ranked.quotes), *passage.marked]
    if not needed and claim is None and passage.ranked.best is not None:
        needed = [passage.ranked.best]
    parts = choose_excerpt_with_needed_spans(passage.read, needed, budget, claim)
    if not parts:
        return [Piece("(empty)", "quiet")]
    pieces: list[Piece] = []
    for number, part in enumerate(parts):
        if number or passage.read.text[: part.start].strip():
            pieces.append(Piece("… " if number == 0 else " … ", "quiet"))
        pieces += highlight_passage_quotes(passage, part, one_line=True)
    if parts[-1].end < len(passage.document.text.rstrip()):
        pieces.append(Piece(" …", "quiet"))
    return pieces


def highlight_passage_quotes(
    passage: RankedPassageView, part: Span, *, one_line: bool = False
) -> list[Piece]:
    """Give a stretch of a passage with quotes between « » and telling words marked."""
    text = passage.document.text
    make = _make_shortened_text_piece if one_line else _escape_up_to_full_text_limit
    looks = {
        None: "quote",
        "partial": "quote",
        "supports": "quote-good",
        "contradicts": "quote-bad",
    }
    edges = {part.start, part.end}
    for span in (
        *(quote.span for quote in passage.ranked.quotes),
        *(mark.span for mark in passage.ranked.marks),
        *passage.marked,
    ):
        edges |= {edge for edge in (span.start, span.end) if part.start < edge < part.end}
    ordered = sorted(edges)
    opening = {quote.span.start: looks[quote.stance] for quote in passage.ranked.quotes}
    closing = {quote.span.end: looks[quote.stance] for quote in passage.ranked.quotes}
    marks = {mark.span.start: mark for mark in passage.ranked.marks}
    quotes = iter(passage.ranked.quotes)
    current = next(quotes, None)
    begins = {span.start for span in passage.marked}
    ends = {span.end for span in passage.marked}
    pieces: list[Piece] = []
    for start, end in pairwise(ordered):
        while current is not None and current.span.end <= start:
            current = next(quotes, None)
        inside = current is not None and current.span.start <= start < current.span.end
        look = looks[current.stance] if inside and current is not None else ""
        if start in begins:
            pieces.append(Piece("{", "human strong"))
        if start in opening:
            pieces.append(Piece("«", f"{opening[start]} strong"))
        mark = marks.get(start)
        if mark is not None:
            # What matches is quiet: only what says otherwise calls for a look.
            look = f"{look} mark" if mark.clashes else look
        if any(span.start <= start < span.end for span in passage.marked):
            look = f"human {look}"
        pieces.append(make(text[start:end], look.strip()))
        if end in closing:
            pieces.append(Piece("»", f"{closing[end]} strong"))
        if end in ends:
            pieces.append(Piece("}", "human strong"))
    return pieces


def full_passage_lines(
    passage: RankedPassageView, numbers: Mapping[Image, int], width: int, *, has_match: bool = True
) -> list[Line]:
    """Show a whole passage, line ends and all; `has_match`: with how like the claim it is."""
    length = len(passage.document.text)
    heading = wrap(_passage_heading(passage, False, has_match=has_match), width)
    images = image_placeholder_lines(passage.document.images, numbers, width - 1, [Piece(" ")])
    if not length:
        return [*heading, BLANK, make_line(Piece(" (empty)", "quiet")), *images]
    pieces = highlight_passage_quotes(passage, Span(0, min(length, FULL_TEXT_LIMIT)))
    if length > FULL_TEXT_LIMIT:
        pieces.append(Piece(f"… ({length - FULL_TEXT_LIMIT:,} more characters)", "quiet"))
    return [*heading, BLANK, *wrap(pieces, width - 1, first=[Piece(" ")]), *images]


def _escape_up_to_full_text_limit(text: str, look: str) -> Piece:
    return escape_text(text, look, FULL_TEXT_LIMIT)


def _make_shortened_text_piece(text: str, look: str) -> Piece:
    return make_one_line_piece(strip_markdown_and_shorten_urls(text), look)


def make_one_line_piece(text: str, look: str = "") -> Piece:
    """Draw an excerpt on one line; line ends become blanks, `t` shows them."""
    return escape_line(_LINE_END.sub(" ", text), look, limit=FULL_TEXT_LIMIT)


def _no_passages_lines(
    view: ReviewView, claim: ClaimView, spec: "MetricSpec", width: int
) -> list[Line]:
    turn = next((each for each in view.turns if each.position == claim.turn), None)
    if turn is None or turn.documents is None:
        words = "Nothing is known of what the assistant was shown for this answer."
    else:
        words = "Retrieval returned nothing for this answer, nor for its window."
    lines = [BLANK, *wrap([Piece(words, "warn")], width - 1, first=[Piece(" ")])]
    unused = [each for each in view.turns if each.role == "user" and each.documents]
    if unused:
        turns = ", ".join(str(each.position + 1) for each in unused)
        words = f"There is context on user turn {turns}, {explain_unread_context(spec)}."
        lines += wrap([Piece(words, "quiet")], width - 1, first=[Piece(" ")])
    return lines
