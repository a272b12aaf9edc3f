"""What a filter finds of what is in memory: claims of a conversation, runs, words to mark. Pure."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from faithtui.domain.filters import (
    MISSING,
    NONE,
    Filter,
    FilterContext,
    Scope,
    ScoreBounds,
    Term,
    TermName,
    find_reason_code,
    parse_score_bounds,
)
from faithtui.domain.ids import ClaimId
from faithtui.domain.labels.label_events import TIE, HumanVerdict
from faithtui.domain.scores import ScoringRule
from faithtui.domain.text.search_words import contains_phrase, find_phrase_spans, list_folded_words
from faithtui.store.runs.run_records import RunRow, RunState
from faithtui.tui.theme.lines import Piece

if TYPE_CHECKING:
    # The list of runs needs this module for its first paint, and nothing of these.
    from faithtui.store.records import ClaimView, ReviewView


def make_context_of_run_filter(
    rule: ScoringRule, scope: Scope, *, blind: bool = False
) -> FilterContext:
    """Say which words a filter over something of a run may hold."""
    return FilterContext(scope, rule.labels, dict(rule.synonyms), blind)


def list_matching_claims(view: "ReviewView", wanted: Filter) -> tuple[ClaimId, ...]:
    """List the claims of a conversation that a filter finds, in their order.

    Args:
        view: The conversation.
        wanted: Read for claims; terms about anything else are met by all.
    """
    return tuple(
        claim.id
        for claim in view.claims
        if all(
            _does_claim_match(claim, term, wanted, view.run.spec.rule) is not term.negated
            for term in wanted.terms
            if term.name is TermName.TEXT or term in wanted.claim_terms
        )
    )


def list_matching_runs(rows: tuple[RunRow, ...], wanted: Filter) -> tuple[RunRow, ...]:
    """List the runs that a filter finds, in the given order; archived ones if it speaks of them."""
    put_away = bool(wanted.list_terms_with_names(TermName.ARCHIVED))
    return tuple(
        row
        for row in rows
        if (put_away or row.archived_at is None)
        and all(_does_run_match(row, term, wanted) is not term.negated for term in wanted.terms)
    )


def highlight_matches(piece: Piece, wanted: Filter) -> list[Piece]:
    """Cut a piece so that the words a filter looks for have a look of their own.

    Args:
        piece: Visible text.
        wanted: Any filter; terms that must not hold mark nothing.
    """
    text = piece.text
    spans = sorted(
        span
        for term in wanted.list_terms_with_names(TermName.TEXT)
        if not term.negated
        for span in find_phrase_spans(
            list_folded_words(term.value), text, begins=term is wanted.unfinished_word
        )
    )
    return [*_split_at_spans(piece, spans)] if spans else [piece]


def _split_at_spans(piece: Piece, spans: list[tuple[int, int]]) -> Iterator[Piece]:
    at = 0
    for start, end in spans:
        if end <= at:
            continue
        start = max(start, at)
        if start > at:
            yield Piece(piece.text[at:start], piece.look)
        yield Piece(piece.text[start:end], f"{piece.look} mark".strip())
        at = end
    if at < len(piece.text):
        yield Piece(piece.text[at:], piece.look)


def _does_claim_match(claim: "ClaimView", term: Term, wanted: Filter, rule: ScoringRule) -> bool:
    """Say whether a claim meets a term, negation left aside."""
    value = term.value.casefold()
    people: tuple[HumanVerdict, ...] = (
        *((claim.mine,) if claim.mine is not None else ()),
        *claim.others,
    )
    match term.name:
        case TermName.TEXT:
            return _does_text_match(claim.text, term, wanted)
        case TermName.VERDICT:
            label = (
                None
                if value == MISSING
                else make_context_of_run_filter(rule, Scope.CLAIMS).find_label(value)
            )
            return claim.first_window_verdict.label == label
        case TermName.HUMAN:
            return claim.human == (None if value == NONE else rule.translate_word_to_label(value))
        case TermName.REVIEWER:
            return any(each.has_content and each.reviewer.casefold() == value for each in people)
        case TermName.CODE:
            return any(each.code == find_reason_code(value) for each in people)
    match value:
        case "unlabelled":
            return claim.human is None
        case "labelled":
            return claim.human is not None
        case "agreement":
            return claim.human is not None and claim.human == claim.first_window_verdict.label
        case "disagreement":
            return claim.human not in (None, TIE, claim.first_window_verdict.label)
        case "flagged":
            return any(each.flagged for each in people)
        case "skipped":
            return any(each.is_skipped for each in people)
        case "unsure":
            return any(each.unsure for each in people)
        case _:
            return any(each.note is not None for each in people)


def _does_run_match(row: RunRow, term: Term, wanted: Filter) -> bool:
    """Say whether a run meets a term, negation left aside."""
    spec, value = row.spec, term.value.casefold()
    match term.name:
        case TermName.METRIC:
            return spec.metric.casefold().startswith(value)
        case TermName.JUDGE:
            return spec.judge.casefold().startswith(value)
        case TermName.STATE:
            counts = {"failed": row.failed, "incomplete": row.incomplete}
            return counts[value] > 0 if value in counts else row.state is RunState(value)
        case TermName.SOURCE:
            return term.value in spec.sources
        case TermName.ARCHIVED:
            return value == "any" or (row.archived_at is not None) is (value == "yes")
        case TermName.SCORE:
            return _does_score_match(row.score, value)
        case TermName.WITH_OVERRIDES:
            return _does_score_match(row.corrected, value)
        case _:
            words = " ".join((f"{row.id}", spec.metric, spec.judge, row.state, *spec.sources))
            return _does_text_match(words, term, wanted)


def _does_score_match(score: float | None, value: str) -> bool:
    if value == NONE or score is None:
        return value == NONE and score is None
    within: ScoreBounds | None = parse_score_bounds(value)
    return within is not None and within.contains(score)


def _does_text_match(text: str, term: Term, wanted: Filter) -> bool:
    return contains_phrase(
        list_folded_words(term.value), text, begins=term is wanted.unfinished_word
    )
