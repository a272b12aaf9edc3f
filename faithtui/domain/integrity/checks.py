"""Looking for what seems wrong in what a judge said about a conversation. Pure checks."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import assert_never

from faithtui.domain.conversation import Turn
from faithtui.domain.ids import TruthId
from faithtui.domain.integrity.contradicting_reasons import contradicts_verdict
from faithtui.domain.integrity.findings import (
    CheckedClaim,
    CheckedTruth,
    CheckedVerdict,
    CheckResult,
    Finding,
    FindingKind,
    JudgedConversation,
)
from faithtui.domain.integrity.invented_quotes import (
    QuotableTexts,
    find_quotes,
    is_quoted_from,
)
from faithtui.domain.integrity.missing_facts import TruthIndex, find_missing_facts
from faithtui.domain.integrity.phantom_claims import (
    REWORDING_MIN_SHARE,
    trace_claim_words_to_source,
)
from faithtui.domain.integrity.prompt_echo import RUN_WORDS, ShownMaterial, split_lowercase_words
from faithtui.domain.integrity.prompt_injection import Injection, find_injections
from faithtui.domain.integrity.run_summary import TextCounts
from faithtui.domain.labels.label_sets import Polarity
from faithtui.domain.text.passage_ranking import CLASH_MIN_SHARE, compute_weighted_word_overlap
from faithtui.domain.text.texts import TokenisedText, tokenise_text
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.domain.windows import list_turns_outside_interactions, split_into_interactions

_Views = Mapping[int, frozenset[TruthId]]
"""Truths in view, by position of the window."""

MOST_COMPARED = 60_000
"""Characters of one text that are compared."""


class _TextReader:
    """Cuts texts into words, each once: the checks look at the same ones."""

    def __init__(self) -> None:
        self._read: dict[str, TokenisedText] = {}

    def __call__(self, text: str) -> TokenisedText:
        """Read a text up to `MOST_COMPARED`."""
        known = self._read.get(text)
        if known is None:
            known = self._read[text] = tokenise_text(text[:MOST_COMPARED])
        return known


def check_conversation(judged: JudgedConversation) -> CheckResult:
    """Look for everything that looks wrong, and count the texts that were looked at."""
    read = _TextReader()
    in_view = _group_truths_by_window(judged)
    material = ShownMaterial((*judged.documents, *(turn.content for turn in judged.turns)))
    found = [
        *_find_missing_or_denied_verdicts(judged),
        *_find_failed_or_missing_windows(judged),
        *_find_left_out_turns(judged),
        *_find_verdicts_against_named_truths(judged, in_view),
        *_find_verdict_flips_between_windows(judged, in_view),
        *_find_prompt_injections(judged),
        *_find_phantom_claims(judged, read),
        *_find_invented_truths(judged, read),
        *_find_prompt_echoes(judged, material, read),
        *_find_invented_quotes_in_reasons(judged),
        *_find_truths_not_copied_from_passage(judged),
        *_find_passage_facts_without_truth(judged, read),
    ]
    order = {kind: place for place, kind in enumerate(FindingKind)}
    findings = tuple(sorted(found, key=lambda each: order[each.kind]))
    return CheckResult(findings, _count_checked_and_suspect_texts(judged, findings))


def _count_checked_and_suspect_texts(
    judged: JudgedConversation, findings: Sequence[Finding]
) -> TextCounts:
    phantom = {each.claim for each in findings if each.kind is FindingKind.PHANTOM}
    claims = sum(1 for _ in _list_traceable_claims(judged))
    truths = len(judged.truths) if judged.truths_are_facts else 0
    reasons = sum(len(_map_reasons_to_first_window(claim)) for claim in judged.claims)
    return TextCounts(
        claims=claims,
        phantom=len(phantom),
        truths=len(_list_truths_with_their_passages(judged)),
        invented=sum(each.kind is FindingKind.INVENTED_TRUTH for each in findings),
        texts=claims + truths + reasons,
        echoed=sum(each.kind is FindingKind.ECHOED_PROMPT for each in findings),
    )


def _list_traceable_claims(judged: JudgedConversation) -> Iterator[CheckedClaim]:
    """Give the claims that were written by somebody, and of which it is known what they are from.

    A whole answer is judged as it stands.
    """
    for claim in judged.claims:
        is_placed = claim.kind != "statement" or claim.document is not None
        if claim.kind != "answer" and 0 <= claim.turn < len(judged.turns) and is_placed:
            yield claim


def _list_truths_with_their_passages(
    judged: JudgedConversation,
) -> list[tuple[CheckedTruth, Sequence[str]]]:
    """Give the truths of passages that are read whole, each with the passages it may be from."""
    if not judged.truths_are_facts:
        return []
    passages: dict[int | None, Sequence[str]] = {
        number: (text,)
        for number, text in enumerate(judged.documents)
        if len(text) <= MOST_COMPARED
    }
    if sum(map(len, judged.documents)) <= MOST_COMPARED:
        passages[None] = judged.documents
    return [(truth, found) for truth in judged.truths if (found := passages.get(truth.document))]


def _map_reasons_to_first_window(claim: CheckedClaim) -> dict[str, int]:
    """Give the reasons of a claim's verdicts, each with the first window that has it."""
    reasons: dict[str, int] = {}
    for verdict in claim.verdicts:
        if verdict.reason:
            reasons.setdefault(verdict.reason, verdict.window)
    return reasons


def _find_missing_or_denied_verdicts(judged: JudgedConversation) -> Iterator[Finding]:
    """Verdicts that are missing, unreadable, or denied by their own reason."""
    for claim in judged.claims:
        for verdict in claim.verdicts:
            if verdict.label is None and not (verdict.word or "").strip():
                yield Finding(
                    FindingKind.MISSING_VERDICT, "the judge said nothing", claim.id, verdict.window
                )
            elif judged.labels.find_label_polarity(verdict.label) is None:
                word = verdict.label if verdict.label is not None else verdict.word or ""
                detail = f"wrote “{make_visible_line(word, 60)}”"
                yield Finding(FindingKind.UNKNOWN_WORD, detail, claim.id, verdict.window)
        yield from _find_contradicting_reasons(judged, claim)


def _find_contradicting_reasons(
    judged: JudgedConversation, claim: CheckedClaim
) -> Iterator[Finding]:
    """One finding per label and reason, however many windows repeat them."""
    seen: set[tuple[str, str]] = set()
    for verdict in claim.verdicts:
        polarity = judged.labels.find_label_polarity(verdict.label)
        if verdict.label is None or polarity is None or not verdict.reason:
            continue
        if (verdict.label, verdict.reason) in seen:
            continue
        seen.add((verdict.label, verdict.reason))
        if contradicts_verdict(verdict.reason, polarity):
            detail = f"{verdict.label}, but: {make_visible_line(verdict.reason, 160)}"
            yield Finding(FindingKind.AGAINST_REASON, detail, claim.id, verdict.window)


def _find_failed_or_missing_windows(judged: JudgedConversation) -> Iterator[Finding]:
    """Windows that failed, are missing or misplaced, or had nothing to judge or judge by."""
    for window in judged.windows:
        at = window.position
        if window.failure is not None:
            detail = make_visible_line(window.failure, 160)
            yield Finding(FindingKind.FAILED_WINDOW, detail, window=at)
        elif not window.claims and not window.skipped:
            yield Finding(FindingKind.NO_CLAIMS, "nothing was judged", window=at)
        if window.without_context:
            yield Finding(FindingKind.NO_CONTEXT, "no turn of it has a document", window=at)
        if window.surplus:
            words = ", ".join(make_visible_line(str(word), 20) for word in window.surplus[:5])
            detail = f"{len(window.surplus)} beyond the last claim: {words}"
            yield Finding(FindingKind.SURPLUS_VERDICT, detail, window=at)
    expected = 0
    for window in judged.windows:
        if window.position > expected and judged.complete:
            gap = f"{expected + 1}-{window.position}"
            gap = str(window.position) if window.position == expected + 1 else gap
            detail = f"window {gap} is missing before it"
            yield Finding(FindingKind.WINDOW_ORDER, detail, window=window.position)
        expected = window.position + 1
    for before, after in pairwise(each for each in judged.windows if each.turns):
        if after.turns[-1] <= before.turns[-1] or after.turns[0] < before.turns[0]:
            detail = f"its turns come before those of window {before.position + 1}"
            yield Finding(FindingKind.WINDOW_ORDER, detail, window=after.position)


def _find_left_out_turns(judged: JudgedConversation) -> Iterator[Finding]:
    """Turns that no verdict looks at."""
    parts = split_into_interactions(judged.turns, answers_alone=True)
    left = dict.fromkeys(
        list_turns_outside_interactions(judged.turns, parts), "it belongs to no exchange"
    )
    if judged.turns and judged.turns[-1].role == "user":
        last = len(judged.turns) - 1
        while last >= 0 and judged.turns[last].role == "user":
            left[last] = "nobody answered it"
            last -= 1
    seen = {turn for window in judged.windows for turn in window.turns}
    if judged.complete and judged.windows:
        for position in range(len(judged.turns)):
            if position not in seen:
                left.setdefault(position, "it is in no window")
    # An answer before the first question is judged with it, but nobody asked for it.
    first = next((at for at, turn in enumerate(judged.turns) if turn.role == "user"), None)
    for position in range(first or 0):
        left.setdefault(position, "the assistant spoke before any user did")
    for position in sorted(left):
        yield Finding(FindingKind.TURN_LEFT_OUT, left[position], turn=position)


def _group_truths_by_window(judged: JudgedConversation) -> _Views:
    """Give the truths of each window, by its position."""
    found: dict[int, set[TruthId]] = defaultdict(set)
    for truth in judged.truths:
        for window in truth.windows:
            found[window].add(truth.id)
    return defaultdict(frozenset, {window: frozenset(each) for window, each in found.items()})


def _find_verdicts_against_named_truths(
    judged: JudgedConversation, views: _Views
) -> Iterator[Finding]:
    """Verdicts that do not follow from the truths that were named."""
    for claim in judged.claims:
        for verdict in claim.verdicts:
            polarity = judged.labels.find_label_polarity(verdict.label)
            if polarity is None:
                continue
            in_view = views[verdict.window]
            if claim.named_truths.isdisjoint(in_view):
                if polarity is Polarity.GOOD and judged.names_evidence:
                    detail = f"{verdict.label}, but no truth in view was named for it"
                    yield Finding(FindingKind.AGAINST_EVIDENCE, detail, claim.id, verdict.window)
                continue
            if claim.opposes & in_view and polarity is not Polarity.BAD:
                detail = f"{verdict.label}, but a truth in view was named against it"
            elif claim.opposes & in_view:
                continue
            elif any(each <= in_view for each in claim.sufficient):
                if polarity is Polarity.GOOD:
                    continue
                detail = f"{verdict.label}, but truths in view were named as enough for it"
            elif polarity is Polarity.GOOD:
                detail = f"{verdict.label}, but truths in view were named for a part of it only"
            else:
                continue
            yield Finding(FindingKind.AGAINST_EVIDENCE, detail, claim.id, verdict.window)


def _find_verdict_flips_between_windows(
    judged: JudgedConversation, views: _Views
) -> Iterator[Finding]:
    """Claims whose verdict changes from window to window."""
    turns = {window.position: frozenset(window.turns) for window in judged.windows}
    for claim in judged.claims:
        known = [
            verdict
            for verdict in claim.verdicts
            if judged.labels.find_label_polarity(verdict.label)
        ]
        changes = [
            (before, after) for before, after in pairwise(known) if before.label != after.label
        ]
        if not changes:
            continue
        unexplained = [
            pair
            for pair in changes
            if not _is_verdict_change_explained(judged, claim, *pair, turns, views)
        ]
        story = " → ".join(
            f"w{verdict.window + 1} {verdict.label}"
            for verdict in (known[0], *(after for _, after in changes))
        )
        if unexplained:
            detail = f"{story}, and nothing new explains it"
            yield Finding(FindingKind.FLIP, detail, claim.id, unexplained[0][1].window)
        else:
            detail = f"{story}, with what came into view or left it"
            yield Finding(FindingKind.CHANGED, detail, claim.id, changes[0][1].window)


def _is_verdict_change_explained(
    judged: JudgedConversation,
    claim: CheckedClaim,
    before: CheckedVerdict,
    after: CheckedVerdict,
    turns: dict[int, frozenset[int]],
    views: _Views,
) -> bool:
    """Say whether what is in view changed so that the verdict may change as it did."""
    came = views[after.window] - views[before.window]
    left = views[before.window] - views[after.window]
    earlier = turns.get(before.window, frozenset())
    later = turns.get(after.window, frozenset())
    named = claim.named_truths
    moved_on = not earlier <= later
    polarity = judged.labels.find_label_polarity(after.label)
    match polarity:
        case Polarity.BAD:
            return bool(came & claim.opposes) or (not named and moved_on)
        case Polarity.GOOD:
            # Context only grew: what was not addressed may be supported now.
            grew = not named and before.label is not None and not later <= earlier
            unsure = judged.labels.find_label_polarity(before.label) is Polarity.UNSURE
            enough = claim.partial.union(*claim.sufficient)
            return bool(came & enough or left & claim.opposes) or (grew and unsure)
        case Polarity.UNSURE:
            return bool(left & named) or (not named and moved_on)
        case None:
            return False
        case _:
            assert_never(polarity)


def _find_prompt_injections(judged: JudgedConversation) -> Iterator[Finding]:
    """Messages and passages that speak to the judge, each text once."""
    for position, turn in enumerate(judged.turns):
        for request in find_injections(turn.content)[:1]:
            yield Finding(FindingKind.ASKS_JUDGE, _format_injection_finding(request), turn=position)
    turns = _map_documents_to_retrieving_turn(judged)
    for document, text in enumerate(judged.documents):
        for request in find_injections(text)[:1]:
            detail = f"P{document + 1} {_format_injection_finding(request)}"
            yield Finding(FindingKind.ASKS_JUDGE, detail, turn=turns.get(document))


def _format_injection_finding(request: Injection) -> str:
    return f"asks the judge to {request.kind.value}: “{make_visible_line(request.quote, 160)}”"


def _find_phantom_claims(judged: JudgedConversation, read: _TextReader) -> Iterator[Finding]:
    """Claims whose words are not in their answer."""
    for claim in _list_traceable_claims(judged):
        before: Sequence[Turn] = ()
        if claim.document is None:
            source_text, before = judged.turns[claim.turn].content, judged.turns[: claim.turn]
        else:
            source_text = judged.documents[claim.document]
        why = _find_phantom_words(claim.text, source_text, [turn.content for turn in before], read)
        if why is None and _repeats_user_not_answer(claim.text, source_text, before, read):
            why = "it repeats what the user said"
        if why is not None:
            where = "answer" if claim.document is None else "passage"
            detail = f"not in the {where}: {make_visible_line(why, 120)}"
            yield Finding(FindingKind.PHANTOM, detail, claim.id, turn=claim.turn)


def _find_phantom_words(
    text: str, origin_text: str, before: Sequence[str], read: _TextReader
) -> str | None:
    """Give the words of a text that are not where they must be; None when it may be from there.

    Args:
        text: What the judge wrote.
        origin_text: Where it should be from.
        before: Texts whose words it may use, too.
        read: Reads texts.
    """
    if _contains_verbatim(text, origin_text[:MOST_COMPARED]):
        return None
    written = read(text)
    origin = trace_claim_words_to_source(
        written, read(origin_text), [read(each) for each in before]
    )
    if origin.is_phantom:
        words = dict.fromkeys(written.get_word_text(word) for word in origin.suspect_words)
        return ", ".join(words) or f"it leaves a negation out: {text}"
    if not origin.has_telling_words and not ShownMaterial(
        (origin_text, *before)
    ).contains_word_sequence(split_lowercase_words(text)):
        return text
    return None


def _repeats_user_not_answer(
    text: str, answer: str, before: Sequence[Turn], read: _TextReader
) -> bool:
    """Whether a claim repeats what the user said, and not what the answer says."""
    if _contains_verbatim(text, answer[:MOST_COMPARED]):
        return False
    words = split_lowercase_words(text)
    if len(words) < RUN_WORDS:
        return False
    origin = trace_claim_words_to_source(read(text), read(answer), ())
    if len(origin.found) >= REWORDING_MIN_SHARE * (len(origin.found) + len(origin.added)):
        return False
    return ShownMaterial(
        [turn.content for turn in before if turn.role == "user"]
    ).contains_word_sequence(words)


def _contains_verbatim(text: str, whole: str) -> bool:
    """Whether a text stands somewhere letter for letter, between two words."""
    start = whole.find(text)
    if start < 0:
        return False
    end = start + len(text)
    return not whole[max(0, start - 1) : start].isalnum() and not whole[end : end + 1].isalnum()


def _find_invented_truths(judged: JudgedConversation, read: _TextReader) -> Iterator[Finding]:
    """Truths whose words are not in the passage they were drawn from."""
    turns = _map_documents_to_retrieving_turn(judged)
    sentences: dict[int | None, frozenset[str]] = {}
    for truth, passages in _list_truths_with_their_passages(judged):
        if truth.document not in sentences:
            sentences[truth.document] = _collect_sentences(passages, read)
        if truth.text in sentences[truth.document]:
            continue
        why = _find_phantom_words(truth.text, passages[0], passages[1:], read)
        if why is not None:
            at = truth.document
            where = "no passage has" if at is None else f"P{at + 1} has no"
            detail = f"{where} {make_visible_line(why, 80)}: “{make_visible_line(truth.text, 120)}”"
            turn = None if at is None else turns.get(at)
            window = min(truth.windows, default=None) if at is None else None
            yield Finding(FindingKind.INVENTED_TRUTH, detail, window=window, turn=turn)


def _collect_sentences(texts: Iterable[str], read: _TextReader) -> frozenset[str]:
    return frozenset[str]().union(*(read(each).sentence_texts for each in texts))


def _find_prompt_echoes(
    judged: JudgedConversation, material: ShownMaterial, read: _TextReader
) -> Iterator[Finding]:
    """Claims, truths and reasons that repeat the prompt."""
    prompts, kind = judged.prompts, FindingKind.ECHOED_PROMPT
    # What stands in a passage is no echo of the prompt.
    shown = _collect_sentences(judged.documents, read)
    for claim in _list_traceable_claims(judged):
        if prompts.are_repeated_by(claim.text, material):
            detail = f"the claim repeats the prompt: “{make_visible_line(claim.text, 120)}”"
            yield Finding(kind, detail, claim.id, turn=claim.turn)
    for truth in judged.truths if judged.truths_are_facts else ():
        if truth.text not in shown and prompts.are_repeated_by(truth.text, material):
            detail = f"a truth repeats the prompt: “{make_visible_line(truth.text, 120)}”"
            yield Finding(kind, detail, window=min(truth.windows, default=None))
    for claim in judged.claims:
        for reason, window in _map_reasons_to_first_window(claim).items():
            if prompts.are_repeated_by_reason(reason, material, judged.labels.names):
                detail = f"the reason repeats the prompt: “{make_visible_line(reason, 120)}”"
                yield Finding(kind, detail, claim.id, window)


def _find_invented_quotes_in_reasons(judged: JudgedConversation) -> Iterator[Finding]:
    """Quotations in reasons of words that nobody wrote, each once a claim."""
    quotable: QuotableTexts | None = None
    for claim in judged.claims:
        seen: set[str] = set()
        for verdict in claim.verdicts:
            for quote in find_quotes(verdict.reason or ""):
                if quote in seen:
                    continue
                seen.add(quote)
                if quotable is None:
                    quotable = QuotableTexts(_list_texts_reasons_may_quote(judged))
                if not quotable.contains_quote(quote):
                    detail = f"“{make_visible_line(quote, 160)}” stands nowhere"
                    yield Finding(FindingKind.INVENTED_QUOTE, detail, claim.id, verdict.window)


def _find_truths_not_copied_from_passage(judged: JudgedConversation) -> Iterator[Finding]:
    """Truths whose words, as the judge copied them, are not in their passage."""
    turns = _map_documents_to_retrieving_turn(judged)
    for truth in judged.truths:
        if not truth.quote or truth.document is None:
            continue
        if not is_quoted_from(truth.quote, judged.documents[truth.document]):
            detail = f"“{make_visible_line(truth.quote, 120)}” is not in P{truth.document + 1}"
            yield Finding(FindingKind.INVENTED_QUOTE, detail, turn=turns.get(truth.document))


def _list_texts_reasons_may_quote(judged: JudgedConversation) -> Iterator[str]:
    """Give all texts a judge was shown or wrote down before its reasons."""
    yield from judged.documents
    yield from (turn.content for turn in judged.turns)
    yield from (truth.text for truth in judged.truths)
    yield from (claim.text for claim in judged.claims)
    # A reason that is ours and not the judge's quotes what the judge wrote.
    yield from (
        verdict.word for claim in judged.claims for verdict in claim.verdicts if verdict.word
    )


def _map_documents_to_retrieving_turn(judged: JudgedConversation) -> dict[int, int]:
    """Give the first turn that retrieved each document."""
    turns: dict[int, int] = {}
    for position, documents in enumerate(judged.retrieved):
        for document in documents:
            turns.setdefault(document, position)
    return turns


def _find_passage_facts_without_truth(
    judged: JudgedConversation, read: _TextReader
) -> Iterator[Finding]:
    """Claims about which a passage of their turn says something that no truth does."""
    if not judged.truths_are_facts or not judged.truths:
        return
    # Of all documents: what another one says as well reached the judge all the same.
    drawn: TruthIndex | None = None
    lost: dict[int, list[tuple[TokenisedText, str]]] = {}

    def list_missing_facts_of_document(document: int) -> list[tuple[TokenisedText, str]]:
        nonlocal drawn
        if document not in lost:
            text = judged.documents[document]
            passage = read(text)
            drawn = drawn or TruthIndex((each.text for each in judged.truths), read)
            lost[document] = [
                (read(sentence.slice_text(passage.text)), fact.span.slice_text(passage.text))
                for fact in find_missing_facts(passage, drawn)
                for sentence in [passage.sentences[fact.sentence]]
            ]
        return lost[document]

    for claim in judged.claims:
        if claim.kind != "claim" or not 0 <= claim.turn < len(judged.retrieved):
            continue
        for document in judged.retrieved[claim.turn]:
            fact = next(
                (
                    words
                    for sentence, words in list_missing_facts_of_document(document)
                    if compute_weighted_word_overlap(read(claim.text), sentence) >= CLASH_MIN_SHARE
                ),
                None,
            )
            if fact is not None:
                detail = f"P{document + 1}: {make_visible_line(fact, 160)}"
                yield Finding(FindingKind.LOST_FACT, detail, claim.id, turn=claim.turn)
                break
