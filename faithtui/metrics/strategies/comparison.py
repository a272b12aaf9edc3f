"""Compare claims with truths for `evidence`: every pair that shares a window, exactly once.

One question for two neighbouring interactions: their claims with all truths in their view, and the
earlier claims in view with their new truths. What lies in view of neighbours is mostly the same, so
asking for each interaction by itself would show every truth and have every claim answered twice as
often. The price is that some pairs at the far ends of a question never share a
window; what the judge says of them is not used.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from faithtui.domain.conversation import Conversation
from faithtui.domain.labels import FAITHFULNESS
from faithtui.domain.tasks import EvidenceGroup, FindEvidence
from faithtui.domain.windows import Window
from faithtui.errors import JudgeError
from faithtui.metrics.again import ASKED_AGAIN
from faithtui.metrics.base import Ask, Question
from faithtui.metrics.concurrency import together
from faithtui.metrics.prompting import numbered
from faithtui.metrics.shapes import Said, verdicts_by_key
from faithtui.metrics.strategies.common import (
    PEER_WORDS,
    FaithfulnessOptions,
    told,
    tried,
    understood,
)
from faithtui.metrics.strategies.derivation import Finding, Known

MOST_NEIGHBOURS = 2
"""Interactions compared in one question. More would send less text in all, but each question would
be longer than the peer's, and judges skip entries in long lists."""

Groups = tuple[EvidenceGroup, ...]
Compared = list[tuple[str, Finding]] | JudgeError | None
"""Findings by text of the claim; None when there was nothing to ask."""


async def compare(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    windows: Sequence[Window],
    ask: Ask,
    known: Known,
    is_read: Sequence[asyncio.Event],
) -> None:
    """Ask every comparison as soon as its interactions are read.

    What a question asks depends on what the questions before it ask, so plans are made in order,
    whatever the order in which interactions are read.
    """
    met: dict[str, set[str]] = {}
    stretches = _stretches(metric.window_size, windows)
    is_planned = [asyncio.Event() for _ in stretches]

    async def of_stretch(position: int, stretch: Sequence[Window]) -> tuple[Groups, Compared]:
        if position:
            await is_planned[position - 1].wait()
        for window in stretch:
            await is_read[window.position].wait()
            known.look(conversation, window)
        groups = _unmet(metric, stretch, known, met)
        is_planned[position].set()
        return groups, await _tried(metric, groups, ask.about(stretch[-1].position))

    asked = await together(
        (of_stretch(position, stretch) for position, stretch in enumerate(stretches)),
        at_once=metric.async_mode,
    )
    for groups, compared in asked:
        _keep(groups, compared, known)


async def settle(
    metric: FaithfulnessOptions, windows: Sequence[Window], ask: Ask, known: Known
) -> None:
    """Ask what the judge says of a claim once every truth it named is out of view.

    Our rule is idk then. The peer's judge may have another word, and no comparison so far shows it.
    """
    plans: list[tuple[int, Groups]] = []
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
            plans.append((window.position, (EvidenceGroup(tuple(texts), in_view),)))
    asked = await together(
        (_tried(metric, groups, ask.about(window)) for window, groups in plans),
        at_once=metric.async_mode,
    )
    for (_, groups), compared in zip(plans, asked, strict=True):
        _keep(groups, compared, known)


def _stretches(window_size: int, windows: Sequence[Window]) -> list[Sequence[Window]]:
    """Cut the windows into those that are compared in one question.

    At most half as many as a window holds, so that most of what stands in a question shares one.
    """
    size = min(MOST_NEIGHBOURS, max(1, window_size // 2))
    return [windows[start : start + size] for start in range(0, len(windows), size)]


def _unmet(
    metric: FaithfulnessOptions, stretch: Sequence[Window], known: Known, met: dict[str, set[str]]
) -> Groups:
    """Group claims by the truths in view that they have not met, and let them meet.

    Windows that cannot be judged anyway ask for nothing.
    """
    judged = [
        window
        for window in stretch
        if window.position not in known.failures and window.position not in known.window_failures
    ]
    in_view = tuple(
        dict.fromkeys(truth.text for window in judged for truth in known.truths[window.position])
    )
    texts = dict.fromkeys(
        claim.text
        for window in judged
        for interaction in window.interactions
        for claim in known.claims.get(interaction, ())
    )
    groups: dict[tuple[str, ...], dict[str, None]] = {}
    for text in texts:
        before = met.get(text)
        if before is None:
            # Without any truth there is nothing to compare with, so nothing is asked; the peer
            # asks all the same.
            if in_view or metric.as_peer:
                groups.setdefault(in_view, {})[text] = None
            continue
        left = tuple(truth for truth in in_view if truth not in before)
        if left:
            groups.setdefault(left, {})[text] = None
    for truths, claims in groups.items():
        for text in claims:
            met.setdefault(text, set()).update(truths)
    return tuple(EvidenceGroup(tuple(claims), truths) for truths, claims in groups.items())


async def _tried(metric: FaithfulnessOptions, groups: Groups, ask: Ask) -> Compared:
    return await tried(_answered(metric, groups, ask), metric.as_peer) if groups else None


def _keep(groups: Groups, compared: Compared, known: Known) -> None:
    """Keep what a comparison found, or why it found nothing."""
    if isinstance(compared, JudgeError):
        for group in groups:
            for text in group.claims:
                lost = known.lost.setdefault(text, {})
                lost.update(dict.fromkeys(group.truths, told(compared)))
        return
    for text, finding in compared or ():
        known.findings.setdefault(text, []).append(finding)


async def _answered(
    metric: FaithfulnessOptions, groups: Groups, ask: Ask
) -> list[tuple[str, Finding]]:
    """Ask one comparison; claims without an answer are asked for again, at most twice."""
    answers: dict[tuple[int, str], Said | None] = {}
    open_groups = list(enumerate(groups))
    for times in range(1 if metric.as_peer else 1 + ASKED_AGAIN):
        question = _question(metric, tuple(group for _, group in open_groups))
        replies = iter(await ask(replace(question, replicate=times)))
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


def _question(metric: FaithfulnessOptions, groups: Groups) -> Question[tuple[Said | None, ...]]:
    parts, claims, truths = [], 0, 0
    for group in groups:
        parts.append(
            f"Truths:\n{numbered('t', group.truths, truths)}\n"
            f"Claims:\n{numbered('c', group.claims, claims)}"
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
