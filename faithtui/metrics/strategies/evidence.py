"""Ask about everything once, and derive the verdict of every window.

Per interaction: the truths of its new documents, the claims of its answers, and one question that
compares its claims with all truths in view and the earlier claims in view with the new truths. So
every (claim, truth) pair that shares a window is judged exactly once, in 3 questions an
interaction. `derivation` turns the evidence into each window's verdicts.

Differences from the peer (deepeval 4.3.1), stated in docs/metrics/turn-faithfulness.md: an answer
is read with the earlier turns as reference only, and `no` wins over `yes` where both kinds of truth
are in view. Under `as_peer` with a limit on truths, truths are drawn from each window as a whole,
because there the limit is one of the window.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from faithtui.domain.assessment import Claim, Truth
from faithtui.domain.conversation import Conversation, Passage
from faithtui.domain.labels import FAITHFULNESS
from faithtui.domain.location import locate
from faithtui.domain.tasks import EvidenceGroup, FindEvidence
from faithtui.domain.windows import Window
from faithtui.errors import JudgeError
from faithtui.metrics.base import Ask, Question
from faithtui.metrics.concurrency import together
from faithtui.metrics.findings import WindowFindings
from faithtui.metrics.prompting import numbered
from faithtui.metrics.questions import (
    claims_by_answer,
    documents_of,
    pooled_truths,
    said_by,
    truths_by_document,
)
from faithtui.metrics.shapes import Said, verdicts_by_key
from faithtui.metrics.strategies.common import (
    ASKED_AGAIN,
    PEER_WORDS,
    FaithfulnessOptions,
    told,
    tried,
    understood,
    with_peer_reasons,
)
from faithtui.metrics.strategies.derivation import Finding, Known, derive


async def gather(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    ask: Ask,
    given: Sequence[Claim] | None = None,
) -> tuple[WindowFindings, ...]:
    """Ask about a conversation; one entry per window."""
    windows = metric.windows(conversation)
    known = Known()
    await together(
        (
            gather_part(metric, conversation, windows, ask, known)
            for gather_part in (_gather_truths, partial(_gather_claims, given=given))
        ),
        at_once=metric.async_mode,
    )
    await _gather_evidence(metric, windows, ask, known)
    if metric.as_peer:
        await _settle(metric, windows, ask, known)
    findings = [derive(metric, conversation, window, known) for window in windows]
    return await with_peer_reasons(metric, findings, ask)


async def _gather_truths(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    windows: Sequence[Window],
    ask: Ask,
    known: Known,
) -> None:
    if metric.as_peer and metric.truths_extraction_limit is not None:
        await _truths_per_window(metric, conversation, windows, ask, known)
    else:
        await _truths_per_document(metric, conversation, windows, ask, known)


async def _truths_per_window(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    windows: Sequence[Window],
    ask: Ask,
    known: Known,
) -> None:
    questions = [
        pooled_truths(
            metric.prompts,
            documents_of(conversation, window.turns),
            metric.truths_extraction_limit,
            as_peer=True,
        )
        for window in windows
    ]
    replies = await together((ask(question) for question in questions), at_once=metric.async_mode)
    for window, facts in zip(windows, replies, strict=True):
        known.truths[window.position] = _unique([Truth(fact) for fact in facts])


async def _truths_per_document(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    windows: Sequence[Window],
    ask: Ask,
    known: Known,
) -> None:
    """Ask about the new documents of each interaction; none is asked about twice."""
    limit = metric.truths_extraction_limit
    seen: set[Passage] = set()
    asked: list[tuple[Passage, ...]] = []
    for window in windows:
        own = _own_turns(windows, window.position)
        new = tuple(
            document
            for document in dict.fromkeys(documents_of(conversation, own))
            if document not in seen and (document.shown.strip() or metric.as_peer)
        )
        seen.update(new)
        if new:
            asked.append(new)
    if metric.as_peer and windows and not asked:
        # The peer asks even without a document, and may fail there.
        asked.append(())
    replies = await together(
        (
            tried(
                ask(truths_by_document(metric.prompts, each, limit, as_peer=metric.as_peer)),
                metric.as_peer,
            )
            for each in asked
        ),
        at_once=metric.async_mode,
    )
    by_document: dict[Passage, tuple[Truth, ...] | str] = {}
    for documents, reply in zip(asked, replies, strict=True):
        for position, document in enumerate(documents):
            by_document[document] = (
                told(reply)
                if isinstance(reply, JudgeError)
                else _located(reply[position], document.text, limit)
            )
    for window in windows:
        found: list[Truth] = []
        for document in documents_of(conversation, window.turns):
            truths = by_document.get(document, ())
            if isinstance(truths, str):
                known.window_failures[window.position] = truths
            else:
                found.extend(truths)
        known.truths[window.position] = _unique(found)


async def _gather_claims(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    windows: Sequence[Window],
    ask: Ask,
    known: Known,
    given: Sequence[Claim] | None,
) -> None:
    async def of_interaction(window: Window) -> None:
        own = _own_turns(windows, window.position)
        if given is not None:
            known.claims[window.position] = tuple(each for each in given if each.turn in own)
            return
        answers = [
            turn
            for turn in own
            if conversation.turns[turn].role == "assistant"
            and (conversation.turns[turn].content.strip() or metric.as_peer)
        ]
        if not answers:
            known.claims[window.position] = ()
            return
        question = claims_by_answer(
            metric.prompts,
            said_by(conversation, answers, "assistant"),
            said_by(conversation, own, "user"),
            [
                f"{conversation.turns[turn].role}: {conversation.turns[turn].content}"
                for turn in window.turns
                if turn not in own
            ],
            as_peer=metric.as_peer,
        )
        reply = await tried(ask(question), metric.as_peer)
        if isinstance(reply, JudgeError):
            known.failures[window.position] = told(reply)
            return
        known.claims[window.position] = tuple(
            Claim(turn, text, locate(text, conversation.turns[turn].content))
            for turn, found in zip(answers, reply, strict=True)
            for text in found
        )

    await together((of_interaction(window) for window in windows), at_once=metric.async_mode)


async def _gather_evidence(
    metric: FaithfulnessOptions, windows: Sequence[Window], ask: Ask, known: Known
) -> None:
    """Plan all comparisons first, so that they can be asked at once and no pair twice."""
    compared: dict[str, set[str]] = {}
    plans: list[tuple[EvidenceGroup, ...]] = []
    for window in windows:
        if window.position in known.failures or window.position in known.window_failures:
            continue
        groups = _uncompared(metric, window, known, compared)
        for group in groups:
            for claim in group.claims:
                compared.setdefault(claim, set()).update(group.truths)
        if groups:
            plans.append(groups)
    await _ask_plans(metric, plans, ask, known)


async def _settle(
    metric: FaithfulnessOptions, windows: Sequence[Window], ask: Ask, known: Known
) -> None:
    """Ask what the judge says of a claim once every truth it named is out of view.

    Our rule is idk then. The peer's judge may have another word, and no comparison so far shows it.
    """
    plans = []
    settled: set[str] = set()
    for window in windows:
        in_view = tuple(truth.text for truth in known.truths[window.position])
        texts = dict.fromkeys(
            claim.text
            for interaction in window.interactions
            for claim in known.claims[interaction]
            if claim.text not in settled and known.is_open(claim.text, in_view)
        )
        if texts:
            settled.update(texts)
            plans.append((EvidenceGroup(tuple(texts), in_view),))
    await _ask_plans(metric, plans, ask, known)


async def _ask_plans(
    metric: FaithfulnessOptions,
    plans: Sequence[tuple[EvidenceGroup, ...]],
    ask: Ask,
    known: Known,
) -> None:
    """Ask one question per plan, and keep what was found or why it was not."""
    replies = await together(
        (tried(_compare(metric, groups, ask), metric.as_peer) for groups in plans),
        at_once=metric.async_mode,
    )
    for groups, reply in zip(plans, replies, strict=True):
        if isinstance(reply, JudgeError):
            for group in groups:
                for claim in group.claims:
                    lost = known.lost.setdefault(claim, {})
                    lost.update(dict.fromkeys(group.truths, told(reply)))
            continue
        for claim, finding in reply:
            known.findings.setdefault(claim, []).append(finding)


def _uncompared(
    metric: FaithfulnessOptions,
    window: Window,
    known: Known,
    compared: Mapping[str, set[str]],
) -> tuple[EvidenceGroup, ...]:
    """Group the claims of a window by the truths in view that they have not met."""
    in_view = tuple(truth.text for truth in known.truths[window.position])
    groups: dict[tuple[str, ...], dict[str, None]] = {}
    for interaction in window.interactions:
        for claim in known.claims.get(interaction, ()):
            met = compared.get(claim.text)
            if met is None:
                # Without any truth there is nothing to compare with, so nothing is asked; the
                # peer asks all the same.
                if in_view or metric.as_peer:
                    groups.setdefault(in_view, {})[claim.text] = None
                continue
            left = tuple(truth for truth in in_view if truth not in met)
            if left:
                groups.setdefault(left, {})[claim.text] = None
    return tuple(EvidenceGroup(tuple(claims), truths) for truths, claims in groups.items())


async def _compare(
    metric: FaithfulnessOptions, groups: tuple[EvidenceGroup, ...], ask: Ask
) -> list[tuple[str, Finding]]:
    """Ask one comparison; claims without an answer are asked for again, at most twice."""
    answers: dict[tuple[int, str], Said | None] = {}
    open_groups = list(enumerate(groups))
    for _ in range(1 if metric.as_peer else 1 + ASKED_AGAIN):
        question = _evidence(metric, tuple(group for _, group in open_groups))
        replies = iter(await ask(question))
        still_open = []
        first = 0
        for position, group in open_groups:
            numbers = {f"t{first + n}": truth for n, truth in enumerate(group.truths)}
            first += len(group.truths)
            for claim in group.claims:
                answers[position, claim] = _named(next(replies), numbers)
            missing = tuple(
                claim
                for claim in group.claims
                if not understood(answers[position, claim], metric.as_peer)
            )
            if missing:
                still_open.append((position, EvidenceGroup(missing, group.truths)))
        open_groups = still_open
        if not open_groups:
            break
    return [
        (claim, _finding(answers[position, claim], group.truths, metric.as_peer))
        for position, group in enumerate(groups)
        for claim in group.claims
    ]


def _named(said: Said | None, numbers: Mapping[str, str]) -> Said | None:
    """Replace numbers of truths by their texts; numbers that do not exist name nothing."""
    if said is None:
        return None
    return replace(
        said,
        supports=tuple(numbers[number] for number in said.supports if number in numbers),
        contradicts=tuple(numbers[number] for number in said.contradicts if number in numbers),
    )


def _finding(said: Said | None, truths: Sequence[str], as_peer: bool) -> Finding:
    return Finding(
        truths=frozenset(truths),
        said=said,
        answered=understood(said, as_peer),
        supports=frozenset(said.supports if said else ()),
        contradicts=frozenset(said.contradicts if said else ()),
    )


def _evidence(
    metric: FaithfulnessOptions, groups: tuple[EvidenceGroup, ...]
) -> Question[tuple[Said | None, ...]]:
    parts, claims, truths = [], 0, 0
    for group in groups:
        parts.append(
            f"Truths:\n{numbered('t', group.truths, truths)}\n"
            f"Claims to compare with these truths:\n{numbered('c', group.claims, claims)}"
        )
        claims += len(group.claims)
        truths += len(group.truths)
    return Question(
        step="verdicts",
        task=FindEvidence(groups),
        system=metric.prompts.render("system"),
        prompt=metric.prompts.render("evidence", groups="\n\n".join(parts)),
        reply=verdicts_by_key(
            [f"c{n}" for n in range(claims)],
            PEER_WORDS if metric.as_peer else FAITHFULNESS.names,
            truths=[f"t{n}" for n in range(truths)],
            as_peer=metric.as_peer,
        ),
        max_tokens=400 + 120 * claims,
    )


def _own_turns(windows: Sequence[Window], interaction: int) -> tuple[int, ...]:
    """Give the turns of one interaction: those that its window has and the window before lacks.

    With a window size below 1 every window is empty, and so is this.
    """
    before = set(windows[interaction - 1].turns) if interaction else set()
    return tuple(turn for turn in windows[interaction].turns if turn not in before)


def _located(facts: Sequence[str], document: str, limit: int | None) -> tuple[Truth, ...]:
    """Keep at most `limit` truths of a document, whatever the judge sent."""
    return tuple(Truth(fact, document, locate(fact, document)) for fact in facts[:limit])


def _unique(truths: Sequence[Truth]) -> tuple[Truth, ...]:
    first: dict[str, Truth] = {}
    for truth in truths:
        first.setdefault(truth.text, truth)
    return tuple(first.values())
