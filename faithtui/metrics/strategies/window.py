"""Ask what the peer asks, window by window: truths, claims, verdicts, reason.

Without `as_peer` the questions are the peer's and the verdicts ours: numbered claims, each verdict
naming its claim, missing ones asked for again, and the limit on truths kept per document.

Source: deepeval 4.3.1, metrics/turn_faithfulness, order and content of the questions as measured.
"""

from collections.abc import Sequence
from dataclasses import replace

from faithtui.domain.assessment import Claim, Truth, Verdict
from faithtui.domain.conversation import Conversation, normalised
from faithtui.domain.labels import FAITHFULNESS
from faithtui.domain.location import closest, locate
from faithtui.domain.tasks import (
    ExtractPooledClaims,
    JudgeClaimList,
    JudgeClaims,
)
from faithtui.domain.windows import Window
from faithtui.errors import JudgeError
from faithtui.metrics.base import Ask, Question
from faithtui.metrics.concurrency import together
from faithtui.metrics.prompting import blocks, numbered
from faithtui.metrics.shapes import Said, one_list, verdict_list, verdicts_by_key
from faithtui.metrics.strategies.common import (
    ASKED_AGAIN,
    PEER_WORDS,
    FaithfulnessOptions,
    WindowFindings,
    has_context,
    read_word,
    told,
    tried,
    understood,
    with_peer_reasons,
)
from faithtui.metrics.strategies.questions import documents_of, pooled_truths, truths_by_document


async def gather(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    ask: Ask,
    given: Sequence[Claim] | None = None,
) -> tuple[WindowFindings, ...]:
    """Ask about every window of a conversation; one entry per window."""
    windows = metric.windows(conversation)
    asked = await together(
        (
            tried(_ask_window(metric, conversation, window, ask, given), metric.as_peer)
            for window in windows
        ),
        at_once=metric.async_mode,
    )
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
    texts = tuple(truth.text for truth in truths)
    said: Sequence[Said | None] = ()
    if claims and metric.as_peer:
        said = await ask(_verdict_list(metric, claims, texts))
    elif claims:
        said = await _verdicts(metric, claims, texts, ask)
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
    metric: FaithfulnessOptions, documents: Sequence[str], ask: Ask
) -> tuple[Truth, ...]:
    """Draw truths from a window's documents: together as the peer does, or with a limit on each."""
    limit = metric.truths_extraction_limit
    if limit is None or metric.as_peer:
        return _located(await ask(pooled_truths(metric, documents)), documents)
    unique = tuple(dict.fromkeys(documents))
    if not unique:
        return ()
    found = await ask(truths_by_document(metric, unique))
    truths: dict[str, Truth] = {}
    for document, texts in zip(unique, found, strict=True):
        for text in texts[:limit]:
            truths.setdefault(text, Truth(text, document, locate(text, document)))
    return tuple(truths.values())


def _located(texts: Sequence[str], documents: Sequence[str]) -> tuple[Truth, ...]:
    """Find out which document each truth repeats literally, if any."""
    truths = []
    for text in dict.fromkeys(texts):
        home = next((each for each in documents if locate(text, each) is not None), None)
        truths.append(Truth(text, home, locate(text, home) if home is not None else None))
    return tuple(truths)


async def _claims(
    metric: FaithfulnessOptions, conversation: Conversation, window: Window, ask: Ask
) -> tuple[Claim, ...]:
    """Draw claims from all answers of the window; each belongs to the answer it repeats best."""
    turns = [turn for turn in window.turns if conversation.turns[turn].role == "assistant"]
    answers = tuple(conversation.turns[turn].content for turn in turns)
    questions = tuple(
        conversation.turns[turn].content
        for turn in window.turns
        if conversation.turns[turn].role == "user"
    )
    texts = await ask(
        Question(
            step="claims",
            task=ExtractPooledClaims(answers, questions),
            system=metric.prompts.render("system"),
            prompt=metric.prompts.render(
                "pooled-claims",
                questions=blocks("question", "q", questions),
                answers=blocks("answer", "a", answers),
            ),
            reply=one_list("claims", as_peer=metric.as_peer),
            max_tokens=600 + sum(len(text) for text in answers),
        )
    )
    if not answers:
        return ()
    homes = _homes(texts, answers)
    return tuple(
        Claim(turns[home], text, locate(text, answers[home]))
        for text, home in zip(texts, homes, strict=True)
    )


def _homes(texts: Sequence[str], answers: Sequence[str]) -> list[int]:
    """Find the answer each claim repeats best; the nth of equal claims takes the nth that holds it.

    Args:
        texts: Claims in the order of the answers, a claim of two answers twice.
        answers: Not empty.
    """
    taken: dict[str, list[int]] = {}
    homes = []
    for text in texts:
        before = taken.setdefault(normalised(text), [])
        home = next(
            (
                position
                for position, answer in enumerate(answers)
                if before and position not in before and locate(text, answer) is not None
            ),
            None,
        )
        if home is None:
            home = before[0] if before else closest(text, answers)
        before.append(home)
        homes.append(home)
    return homes


def _verdict_list(
    metric: FaithfulnessOptions, claims: Sequence[Claim], truths: tuple[str, ...]
) -> Question[tuple[Said, ...]]:
    """Ask for an unnumbered list of verdicts, as the peer does."""
    texts = tuple(claim.text for claim in claims)
    return Question(
        step="verdicts",
        task=JudgeClaimList(texts, truths),
        system=metric.prompts.render("system"),
        prompt=metric.prompts.render(
            "verdict-list", truths=numbered("t", truths), claims=numbered("c", texts)
        ),
        reply=verdict_list(PEER_WORDS),
        max_tokens=400 + 120 * len(texts),
    )


async def _verdicts(
    metric: FaithfulnessOptions, claims: Sequence[Claim], truths: tuple[str, ...], ask: Ask
) -> tuple[Said | None, ...]:
    """Ask for one verdict per numbered claim; missing ones are asked for again, at most twice."""
    answers: dict[int, Said | None] = {}
    open_claims = list(range(len(claims)))
    for _ in range(1 + ASKED_AGAIN):
        texts = tuple(claims[position].text for position in open_claims)
        reply = await ask(
            Question(
                step="verdicts",
                task=JudgeClaims(texts, truths),
                system=metric.prompts.render("system"),
                prompt=metric.prompts.render(
                    "verdicts", truths=numbered("t", truths), claims=numbered("c", texts)
                ),
                reply=verdicts_by_key([f"c{n}" for n in range(len(texts))], FAITHFULNESS.names),
                max_tokens=400 + 120 * len(texts),
            )
        )
        answers.update(zip(open_claims, reply, strict=True))
        open_claims = [
            position for position in open_claims if not understood(answers[position], False)
        ]
        if not open_claims:
            break
    return tuple(answers[position] for position in range(len(claims)))


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
