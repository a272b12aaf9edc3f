"""Ask what the peer asks, window by window: truths, claims, verdicts, reason.

Without `as_peer` the questions are the peer's and the verdicts ours: numbered claims, each verdict
naming its claim, missing ones asked for again, and the limit on truths kept per document.

Source: deepeval 4.3.1, metrics/turn_faithfulness, order and content of the questions as measured.
"""

from collections.abc import Sequence
from dataclasses import replace

from faithtui.domain.conversation import Conversation, Passage, normalised
from faithtui.domain.text.location import locate
from faithtui.domain.verdicts import Claim, Truth, Verdict
from faithtui.domain.windows import Window
from faithtui.errors import JudgeError
from faithtui.metrics.again import one_for_each
from faithtui.metrics.attribution import at_home, found_in
from faithtui.metrics.base import Ask
from faithtui.metrics.concurrency import together
from faithtui.metrics.findings import WindowFindings, has_context
from faithtui.metrics.questions import (
    claim_verdict_list,
    claim_verdicts,
    documents_of,
    pooled_claims,
    pooled_truths,
    said_by,
    texts,
    truths_by_document,
)
from faithtui.metrics.shapes import Said
from faithtui.metrics.strategies.common import (
    PEER_WORDS,
    FaithfulnessOptions,
    read_word,
    told,
    tried,
    understood,
    with_peer_reasons,
)


async def gather(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    ask: Ask,
    given: Sequence[Claim] | None = None,
) -> tuple[WindowFindings, ...]:
    """Ask about every window of a conversation; one entry per window."""
    windows = metric.windows(conversation)

    async def of_window(window: Window) -> WindowFindings | JudgeError:
        return await tried(
            _ask_window(metric, conversation, window, ask.about(window.position), given),
            metric.as_peer,
        )

    asked = await together((of_window(window) for window in windows), at_once=metric.async_mode)
    findings = [
        WindowFindings(failure=told(each)) if isinstance(each, JudgeError) else each
        for each in asked
    ]
    return await with_peer_reasons(metric, _same_turns(windows, findings), ask)


async def _ask_window(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    window: Window,
    ask: Ask,
    given: Sequence[Claim] | None,
) -> WindowFindings:
    documents = documents_of(conversation, window.turns)
    truths = await _truths(metric, documents, ask)
    claims = (
        await _claims(metric, conversation, window, ask)
        if given is None
        else tuple(each for each in given if each.turn in window.turns)
    )
    in_view = tuple(truth.text for truth in truths)
    said: Sequence[Said | None] = ()
    if claims and metric.as_peer:
        said = await ask(
            claim_verdict_list(
                metric.prompts, [claim.text for claim in claims], in_view, PEER_WORDS
            )
        )
    elif claims:
        said = await _verdicts(metric, claims, in_view, ask)
    labels = [read_word(each.word, metric.as_peer) if each else None for each in said]
    verdicts = []
    for position, claim in enumerate(claims):
        each = said[position] if position < len(said) else None
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


async def _truths(
    metric: FaithfulnessOptions, documents: Sequence[Passage], ask: Ask
) -> tuple[Truth, ...]:
    """Draw truths from a window's documents: together as the peer does, or with a limit on each."""
    limit = metric.truths_extraction_limit
    if limit is None or metric.as_peer:
        question = pooled_truths(metric.prompts, documents, limit, as_peer=metric.as_peer)
        return found_in(await ask(question), texts(documents))
    unique = tuple(dict.fromkeys(documents))
    if not unique:
        return ()
    found = await ask(truths_by_document(metric.prompts, unique, limit))
    truths: dict[str, Truth] = {}
    for document, facts in zip(unique, found, strict=True):
        for fact in facts[:limit]:
            truths.setdefault(fact, Truth(fact, document.shown, locate(fact, document.text)))
    return tuple(truths.values())


async def _claims(
    metric: FaithfulnessOptions, conversation: Conversation, window: Window, ask: Ask
) -> tuple[Claim, ...]:
    """Draw claims from all answers of the window; each belongs to the answer it repeats best."""
    turns = [turn for turn in window.turns if conversation.turns[turn].role == "assistant"]
    answers = said_by(conversation, window.turns, "assistant")
    found = await ask(
        pooled_claims(
            metric.prompts,
            answers,
            said_by(conversation, window.turns, "user"),
            as_peer=metric.as_peer,
        )
    )
    return at_home(found, turns, texts(answers))


async def _verdicts(
    metric: FaithfulnessOptions, claims: Sequence[Claim], truths: tuple[str, ...], ask: Ask
) -> tuple[Said | None, ...]:
    """Ask for one verdict per numbered claim; missing ones are asked for again, at most twice."""
    return await one_for_each(
        len(claims),
        lambda left: claim_verdicts(metric.prompts, [claims[n].text for n in left], truths),
        ask,
        lambda said: understood(said, False),
    )


def _same_turns(
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
            text = normalised(each.claim.text)
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
