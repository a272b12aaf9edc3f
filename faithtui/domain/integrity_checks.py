"""Looking for what seems wrong in what a judge said about a conversation. Pure checks."""

from collections.abc import Iterator
from itertools import pairwise
from typing import assert_never

from faithtui.domain.asking_judge import Request, requests_in
from faithtui.domain.evidence import CLASH_FROM, overlap
from faithtui.domain.integrity import (
    CheckedClaim,
    CheckedVerdict,
    Finding,
    FindingKind,
    JudgedConversation,
)
from faithtui.domain.labels import LabelSet, Polarity
from faithtui.domain.lost import DrawnTruths, lost_facts
from faithtui.domain.phantom import origin_of
from faithtui.domain.plain import visible_line
from faithtui.domain.quotes import Quotable, quotes_in
from faithtui.domain.reasons import contradicts
from faithtui.domain.windows import interactions, turns_left_out
from faithtui.domain.wording import ReadText, read_text

MOST_READ = 60_000
"""Characters of one text that are compared."""


def check(judged: JudgedConversation) -> tuple[Finding, ...]:
    """Look for everything that looks wrong.

    Returns:
        Findings by kind in the order of `FindingKind`, then as they come in the conversation; ()
        when nothing looks wrong.
    """
    found = [
        *_words(judged),
        *_windows(judged),
        *_left_out(judged),
        *_evidence(judged),
        *_flips(judged),
        *_asks(judged),
        *_phantoms(judged),
        *_invented(judged),
        *_quotes(judged),
        *_lost(judged),
    ]
    order = {kind: place for place, kind in enumerate(FindingKind)}
    return tuple(sorted(found, key=lambda each: order[each.kind]))


def _words(judged: JudgedConversation) -> Iterator[Finding]:
    """Verdicts that are missing, unreadable, or denied by their own reason."""
    for claim in judged.claims:
        for said in claim.verdicts:
            known = said.label in judged.labels.names
            if said.label is None and not (said.word or "").strip():
                yield Finding(
                    FindingKind.MISSING_VERDICT, "the judge said nothing", claim.id, said.window
                )
            elif not known:
                word = said.label if said.label is not None else said.word or ""
                detail = f"wrote “{visible_line(word, 60)}”"
                yield Finding(FindingKind.UNKNOWN_WORD, detail, claim.id, said.window)
        yield from _against_reasons(judged, claim)


def _against_reasons(judged: JudgedConversation, claim: CheckedClaim) -> Iterator[Finding]:
    """One finding per label and reason, however many windows repeat them."""
    seen: set[tuple[str, str]] = set()
    for said in claim.verdicts:
        polarity = _polarity(judged.labels, said.label)
        if said.label is None or polarity is None or not said.reason:
            continue
        if (said.label, said.reason) not in seen and contradicts(said.reason, polarity):
            seen.add((said.label, said.reason))
            detail = f"{said.label}, but: {visible_line(said.reason, 160)}"
            yield Finding(FindingKind.AGAINST_REASON, detail, claim.id, said.window)


def _windows(judged: JudgedConversation) -> Iterator[Finding]:
    """Windows that failed, are missing or misplaced, or had nothing to judge or judge by."""
    for window in judged.windows:
        at = window.position
        if window.failure is not None:
            detail = visible_line(window.failure, 160)
            yield Finding(FindingKind.FAILED_WINDOW, detail, window=at)
        elif not window.claims and not window.skipped:
            yield Finding(FindingKind.NO_CLAIMS, "nothing was judged", window=at)
        if window.without_context:
            yield Finding(FindingKind.NO_CONTEXT, "no turn of it has a document", window=at)
        if window.surplus:
            words = ", ".join(visible_line(str(word), 20) for word in window.surplus[:5])
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


def _left_out(judged: JudgedConversation) -> Iterator[Finding]:
    """Turns that no verdict looks at."""
    parts = interactions(judged.turns, answers_alone=True)
    left = dict.fromkeys(turns_left_out(judged.turns, parts), "it belongs to no exchange")
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


def _evidence(judged: JudgedConversation) -> Iterator[Finding]:
    """Verdicts that do not follow from the truths that were named."""
    for claim in judged.claims:
        for said in claim.verdicts:
            polarity = _polarity(judged.labels, said.label)
            in_view = {truth.id for truth in judged.truths if said.window in truth.windows}
            if polarity is None:
                continue
            if claim.named.isdisjoint(in_view):
                if polarity is Polarity.GOOD and judged.names_evidence:
                    detail = f"{said.label}, but no truth in view was named for it"
                    yield Finding(FindingKind.AGAINST_EVIDENCE, detail, claim.id, said.window)
                continue
            if claim.opposes & in_view and polarity is not Polarity.BAD:
                detail = f"{said.label}, but a truth in view was named against it"
            elif claim.opposes & in_view:
                continue
            elif any(each <= in_view for each in claim.sufficient):
                if polarity is Polarity.GOOD:
                    continue
                detail = f"{said.label}, but truths in view were named as enough for it"
            elif polarity is Polarity.GOOD:
                detail = f"{said.label}, but truths in view were named for a part of it only"
            else:
                continue
            yield Finding(FindingKind.AGAINST_EVIDENCE, detail, claim.id, said.window)


def _flips(judged: JudgedConversation) -> Iterator[Finding]:
    """Claims whose verdict changes from window to window."""
    turns = {window.position: frozenset(window.turns) for window in judged.windows}
    for claim in judged.claims:
        known = [said for said in claim.verdicts if said.label in judged.labels.names]
        changes = [
            (before, after) for before, after in pairwise(known) if before.label != after.label
        ]
        if not changes:
            continue
        unexplained = [pair for pair in changes if not _is_explained(judged, claim, *pair, turns)]
        story = " → ".join(
            f"w{said.window + 1} {said.label}"
            for said in (known[0], *(after for _, after in changes))
        )
        if unexplained:
            detail = f"{story}, and nothing new explains it"
            yield Finding(FindingKind.FLIP, detail, claim.id, unexplained[0][1].window)
        else:
            detail = f"{story}, with what came into view or left it"
            yield Finding(FindingKind.CHANGED, detail, claim.id, changes[0][1].window)


def _is_explained(
    judged: JudgedConversation,
    claim: CheckedClaim,
    before: CheckedVerdict,
    after: CheckedVerdict,
    turns: dict[int, frozenset[int]],
) -> bool:
    """Say whether what is in view changed so that the verdict may change as it did."""
    seen = [
        {truth.id for truth in judged.truths if each.window in truth.windows}
        for each in (before, after)
    ]
    came, left = seen[1] - seen[0], seen[0] - seen[1]
    earlier = turns.get(before.window, frozenset())
    later = turns.get(after.window, frozenset())
    named = claim.named
    moved_on = not earlier <= later
    polarity = _polarity(judged.labels, after.label)
    match polarity:
        case Polarity.BAD:
            return bool(came & claim.opposes) or (not named and moved_on)
        case Polarity.GOOD:
            # Context only grew: what was not addressed may be supported now.
            grew = not named and before.label is not None and not later <= earlier
            unsure = _polarity(judged.labels, before.label) is Polarity.UNSURE
            enough = claim.partial.union(*claim.sufficient)
            return bool(came & enough or left & claim.opposes) or (grew and unsure)
        case Polarity.UNSURE:
            return bool(left & named) or (not named and moved_on)
        case None:
            return False
        case _:
            assert_never(polarity)


def _asks(judged: JudgedConversation) -> Iterator[Finding]:
    """Messages and passages that speak to the judge, each text once."""
    for position, turn in enumerate(judged.turns):
        for request in requests_in(turn.content)[:1]:
            yield Finding(FindingKind.ASKS_JUDGE, _asked(request), turn=position)
    turns = _retrieving(judged)
    for document, text in enumerate(judged.documents):
        for request in requests_in(text)[:1]:
            detail = f"P{document + 1} {_asked(request)}"
            yield Finding(FindingKind.ASKS_JUDGE, detail, turn=turns.get(document))


def _asked(request: Request) -> str:
    return f"asks the judge to {request.asked.value}: “{visible_line(request.quote, 160)}”"


def _phantoms(judged: JudgedConversation) -> Iterator[Finding]:
    """Claims whose words are not in their answer."""
    turns: dict[int, ReadText] = {}
    documents: dict[int, ReadText] = {}

    def said_in(position: int) -> ReadText:
        if position not in turns:
            turns[position] = read_text(judged.turns[position].content[:MOST_READ])
        return turns[position]

    for claim in judged.claims:
        if claim.kind == "answer" or not 0 <= claim.turn < len(judged.turns):
            continue
        if claim.kind == "statement":
            if claim.document is None:
                continue
            if claim.document not in documents:
                text = judged.documents[claim.document][:MOST_READ]
                documents[claim.document] = read_text(text)
            source, before = documents[claim.document], []
        else:
            source = said_in(claim.turn)
            before = [said_in(position) for position in range(claim.turn)]
        read = read_text(claim.text)
        origin = origin_of(read, source, before)
        if origin.is_phantom:
            words = ", ".join(dict.fromkeys(read.said(word) for word in origin.added))
            where = "passage" if claim.kind == "statement" else "answer"
            detail = f"not in the {where}: {visible_line(words, 120)}"
            yield Finding(FindingKind.PHANTOM, detail, claim.id, turn=claim.turn)


def _invented(judged: JudgedConversation) -> Iterator[Finding]:
    """Truths whose words are not in the passage they were drawn from."""
    if not judged.truths_are_facts:
        return
    passages: dict[int, ReadText] = {}
    turns = _retrieving(judged)
    for truth in judged.truths:
        document = truth.document
        if document is None or len(judged.documents[document]) > MOST_READ:
            # Nobody knows where it should be, or what was not read may hold it.
            continue
        if document not in passages:
            passages[document] = read_text(judged.documents[document])
        read = read_text(truth.text)
        origin = origin_of(read, passages[document], ())
        if origin.is_phantom:
            words = ", ".join(dict.fromkeys(read.said(word) for word in origin.added))
            detail = f"P{document + 1} has no {visible_line(words, 80)}: "
            detail += f"“{visible_line(truth.text, 120)}”"
            yield Finding(FindingKind.INVENTED_TRUTH, detail, turn=turns.get(document))


def _quotes(judged: JudgedConversation) -> Iterator[Finding]:
    """Quotations in reasons of words that nobody wrote, each once a claim."""
    quotable: Quotable | None = None
    for claim in judged.claims:
        seen: set[str] = set()
        for said in claim.verdicts:
            for quote in quotes_in(said.reason or ""):
                if quote in seen:
                    continue
                seen.add(quote)
                if quotable is None:
                    quotable = Quotable(_everything(judged))
                if not quotable.holds(quote):
                    detail = f"“{visible_line(quote, 160)}” stands nowhere"
                    yield Finding(FindingKind.INVENTED_QUOTE, detail, claim.id, said.window)


def _everything(judged: JudgedConversation) -> Iterator[str]:
    """Give all texts a judge was shown or wrote down before its reasons."""
    yield from judged.documents
    yield from (turn.content for turn in judged.turns)
    yield from (truth.text for truth in judged.truths)
    yield from (claim.text for claim in judged.claims)


def _retrieving(judged: JudgedConversation) -> dict[int, int]:
    """Give the first turn that retrieved each document."""
    turns: dict[int, int] = {}
    for position, documents in enumerate(judged.retrieved):
        for document in documents:
            turns.setdefault(document, position)
    return turns


def _lost(judged: JudgedConversation) -> Iterator[Finding]:
    """Claims about which a passage of their turn says something that no truth does."""
    if not judged.truths_are_facts or not judged.truths:
        return
    # Of all documents: what another one says as well reached the judge all the same.
    truths = DrawnTruths.of(read_text(each.text) for each in judged.truths)
    lost: dict[int, list[tuple[ReadText, str]]] = {}

    def lost_of(document: int) -> list[tuple[ReadText, str]]:
        if document not in lost:
            passage = read_text(judged.documents[document][:MOST_READ])
            lost[document] = [
                (
                    read_text(passage.text[sentence.start : sentence.end]),
                    passage.text[fact.span.start : fact.span.end],
                )
                for fact in lost_facts(passage, truths)
                for sentence in [passage.sentences[fact.sentence]]
            ]
        return lost[document]

    for claim in judged.claims:
        if claim.kind != "claim" or not 0 <= claim.turn < len(judged.retrieved):
            continue
        read = read_text(claim.text)
        for document in judged.retrieved[claim.turn]:
            fact = next(
                (
                    words
                    for sentence, words in lost_of(document)
                    if overlap(read, sentence) >= CLASH_FROM
                ),
                None,
            )
            if fact is not None:
                detail = f"P{document + 1}: {visible_line(fact, 160)}"
                yield Finding(FindingKind.LOST_FACT, detail, claim.id, turn=claim.turn)
                break


def _polarity(labels: LabelSet, label: str | None) -> Polarity | None:
    return labels.label(label).polarity if label is not None and label in labels.names else None
