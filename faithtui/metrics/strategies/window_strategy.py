"""Ask what the peer asks, window by window: truths, claims, verdicts, reason.

Without `as_peer` the questions are the peer's and the verdicts ours: numbered claims, each verdict
naming its claim, missing ones asked for again, and the limit on truths kept per document.

Source: deepeval 4.3.1, metrics/turn_faithfulness, order and content of the questions as measured.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from faithtui.domain.claims.verdicts import Claim, Truth, Verdict
from faithtui.domain.conversation import Conversation, Passage, normalise_text
from faithtui.domain.windows import Window
from faithtui.errors import JudgeError
from faithtui.metrics.attribution import attribute_claims_to_answers, attribute_truths_to_documents
from faithtui.metrics.base import Questions, ask, ask_branches
from faithtui.metrics.missing_verdicts import ask_until_complete
from faithtui.metrics.questions import (
    list_documents,
    list_messages,
    list_texts,
    make_pooled_claims_question,
    make_pooled_truths_question,
    make_truth_from_fact,
    make_truths_question,
    make_verdict_list_question,
    make_verdicts_question,
)
from faithtui.metrics.reply_shapes import ParsedVerdict
from faithtui.metrics.strategies.faithfulness_labels import (
    PEER_WORDS,
    FaithfulnessOptions,
    add_deepeval_reasons,
    ask_or_return_error,
    format_failure,
    has_faithfulness_label,
    read_faithfulness_label,
)
from faithtui.metrics.window_scores import WindowFindings, has_context


def gather_by_window(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    given: Sequence[Claim] | None = None,
) -> Questions[tuple[WindowFindings, ...]]:
    """Ask about every window of a conversation; one entry per window."""
    windows = metric.windows(conversation)

    asked = yield from ask_branches(
        (
            ask_or_return_error(_ask_window(metric, conversation, window, given), metric.as_peer)
            for window in windows
        ),
        at_once=metric.async_mode,
    )
    findings = [
        WindowFindings(failure=format_failure(each)) if isinstance(each, JudgeError) else each
        for each in asked
    ]
    return (yield from add_deepeval_reasons(metric, _unify_equal_claims(windows, findings)))


def _ask_window(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    window: Window,
    given: Sequence[Claim] | None,
) -> Questions[WindowFindings]:
    documents = list_documents(conversation, window.turns)
    truths = yield from _extract_truths(metric, documents, window.position)
    claims = (
        (yield from _extract_claims(metric, conversation, window))
        if given is None
        else tuple(each for each in given if each.turn in window.turns)
    )
    in_view = tuple(truth.text for truth in truths)
    parsed_verdicts: Sequence[ParsedVerdict | None] = ()
    if claims and metric.as_peer:
        texts = [claim.text for claim in claims]
        question = make_verdict_list_question(metric.prompts, texts, in_view, PEER_WORDS)
        parsed_verdicts = yield from ask(question, window.position)
    elif claims:
        parsed_verdicts = yield from _ask_verdicts(metric, claims, in_view, window.position)
    labels = [
        read_faithfulness_label(each.word, metric.as_peer) if each else None
        for each in parsed_verdicts
    ]
    verdicts = []
    for position, claim in enumerate(claims):
        each = parsed_verdicts[position] if position < len(parsed_verdicts) else None
        verdicts.append(
            Verdict(
                claim=claim,
                label=labels[position] if each else None,
                word=each.word if each else None,
                reason=each.reason if each else None,
                confidence=each.confidence if each else None,
            )
        )
    return WindowFindings(
        verdicts=tuple(verdicts),
        truths=truths,
        surplus=tuple(labels[len(claims) :]),
        without_context=not has_context(conversation, window),
    )


def _extract_truths(
    metric: FaithfulnessOptions, documents: Sequence[Passage], window: int
) -> Questions[tuple[Truth, ...]]:
    """Draw truths from a window's documents: together as the peer does, or with a limit on each."""
    limit = metric.truths_extraction_limit
    if limit is None or metric.as_peer:
        question = make_pooled_truths_question(
            metric.prompts, documents, limit, as_peer=metric.as_peer
        )
        pooled = yield from ask(question, window)
        return attribute_truths_to_documents(pooled, list_texts(documents))
    unique = tuple(dict.fromkeys(documents))
    if not unique:
        return ()
    found = yield from ask(make_truths_question(metric.prompts, unique, limit), window)
    truths: dict[str, Truth] = {}
    for document, facts in zip(unique, found, strict=True):
        for fact in facts[:limit]:
            truths.setdefault(fact.text, make_truth_from_fact(fact, document))
    return tuple(truths.values())


def _extract_claims(
    metric: FaithfulnessOptions, conversation: Conversation, window: Window
) -> Questions[tuple[Claim, ...]]:
    """Draw claims from all answers of the window; each belongs to the answer it repeats best."""
    turns = [turn for turn in window.turns if conversation.turns[turn].role == "assistant"]
    answers = list_messages(conversation, window.turns, "assistant")
    question = make_pooled_claims_question(
        metric.prompts,
        answers,
        list_messages(conversation, window.turns, "user"),
        as_peer=metric.as_peer,
    )
    found = yield from ask(question, window.position)
    return attribute_claims_to_answers(found, turns, list_texts(answers))


def _ask_verdicts(
    metric: FaithfulnessOptions, claims: Sequence[Claim], truths: tuple[str, ...], window: int
) -> Questions[tuple[ParsedVerdict | None, ...]]:
    """Ask for one verdict per numbered claim; missing ones are asked for again, at most twice."""
    return (
        yield from ask_until_complete(
            len(claims),
            lambda left: make_verdicts_question(
                metric.prompts, [claims[n].text for n in left], truths
            ),
            partial(ask, window=window),
            lambda verdict: has_faithfulness_label(verdict, False),
        )
    )


def _unify_equal_claims(
    windows: Sequence[Window], findings: Sequence[WindowFindings]
) -> list[WindowFindings]:
    """Keep a claim in the turn that it was found in first, so that it is one claim everywhere.

    A text that an earlier window gave to a turn of this window is the same claim. A repetition
    within one window may belong to another turn.
    """
    known: dict[str, dict[int, Claim]] = {}
    settled = []
    for window, found in zip(windows, findings, strict=True):
        taken: set[tuple[int, str]] = set()
        verdicts = []
        for each in found.verdicts:
            text = normalise_text(each.claim.text)
            homes = known.setdefault(text, {})
            claim = next(
                (
                    home
                    for turn, home in homes.items()
                    if turn in window.turns and (turn, text) not in taken
                ),
                each.claim,
            )
            claim = homes.setdefault(claim.turn, claim)
            taken.add((claim.turn, text))
            verdicts.append(replace(each, claim=claim))
        settled.append(replace(found, verdicts=tuple(verdicts)))
    return settled
