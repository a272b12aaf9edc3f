"""The embedded judge: overlap baseline (offline heuristic).

It answers every question from the words alone, with no key, no network and no cost, so that the
whole application can be tried and tested anywhere. Nothing it says is an understanding, and every
screen and export names it for what it is.

Same question, same answer, on every machine. It computes on the loop that asks it and lets others
in between claims.
"""

import asyncio
import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from typing import Final, assert_never

from faithtui.domain.tasks import (
    ConcludeReasons,
    ExplainRelevance,
    ExplainScore,
    ExtractClaims,
    ExtractPooledClaims,
    ExtractPooledTruths,
    ExtractTruths,
    FindEvidence,
    InferStatementList,
    InferStatements,
    JudgeClaimList,
    JudgeClaims,
    JudgeDocument,
    RelateDocument,
    SplitAnswer,
    SupportAnswer,
    Task,
)
from faithtui.judges.base import JudgeReply, JudgeRequest, LocalJudge, Usage
from faithtui.judges.overlap import (
    INTERCEPT,
    PLATT_INTERCEPT,
    PLATT_SLOPE,
    VERSION,
    WEIGHTS,
    Answer,
    Finding,
    judge_claim,
)
from faithtui.judges.overlap_index import Context, ReadSentence, read_sentence
from faithtui.judges.relevance import Messages, Relation
from faithtui.judges.sentences import SentenceKind, answer_sentences, sentence_spans
from faithtui.judges.templates import conclusion, explanation, relevance

_KEPT_CONTEXTS: Final = 16
"""Indexed contexts kept for the next question; neighbouring windows share most of theirs."""
_KEPT_TRUTHS: Final = 20_000
"""Truths whose words are remembered; windows overlap, so most are read many times."""
_BREATH: Final = 50
"""Sentences indexed, about 5 ms of work, before others get a turn."""
_STATES: Final = frozenset({SentenceKind.CLAIM, SentenceKind.REFUSAL})
"""Kinds of sentences that say something which could be inferred or not."""

Reply = dict[str, object]
Related = Sequence[tuple[str, Relation]]
"""Statements of a document, in order, each with what it shares with the messages."""


class OfflineJudge(LocalJudge):
    """Answers by word overlap.

    Args:
        clock: Seconds on any steady clock, for the latency of a reply.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._contexts: OrderedDict[tuple[str, ...], Context] = OrderedDict()
        self._read_truths: dict[str, tuple[ReadSentence, ...]] = {}
        trained = repr((WEIGHTS, INTERCEPT, PLATT_SLOPE, PLATT_INTERCEPT)).encode()
        self._fingerprint = (
            f"offline:overlap-baseline/{VERSION}"
            f";weights={hashlib.sha256(trained).hexdigest()[:12]}"
            f";sentencex={version('sentencex')}"
        )

    @property
    def ref(self) -> str:
        """`offline`."""
        return "offline"

    @property
    def fingerprint(self) -> str:
        """Version of the heuristic, its weights and the sentence splitter."""
        return self._fingerprint

    @property
    def takes_images(self) -> bool:
        """False: it compares words."""
        return False

    @property
    def context_window(self) -> int | None:
        """Not known."""
        return None

    async def send(self, request: JudgeRequest) -> JudgeReply:
        """Compute the answer to `request.task`; the prompt is not read.

        Replies keep to the shapes described beside the tasks and are pure ASCII, JSON unless the
        task wants a text. Nothing is bought, so all token counts are 0. Never raises a
        `JudgeError`.
        """
        began = self._clock()
        reply = await self._answer(request.task)
        return JudgeReply(
            text=reply if isinstance(reply, str) else json.dumps(reply),
            usage=Usage(tokens_in=0, tokens_out=0, tokens_cached=0),
            structured=request.schema is not None,
            latency_ms=round((self._clock() - began) * 1000),
        )

    async def aclose(self) -> None:
        """Forget the indexed contexts. Safe to call twice."""
        self._contexts.clear()
        self._read_truths.clear()

    async def _answer(self, task: Task) -> Reply | str:
        match task:
            case ExtractTruths(documents, limit):
                return {
                    f"d{position}": await _distinct(_truths(document), limit)
                    for position, document in enumerate(documents)
                }
            case ExtractPooledTruths(documents, limit):
                pooled = (truth for document in documents for truth in _truths(document))
                return {"truths": await _distinct(pooled, limit)}
            case ExtractClaims(answers):
                return {
                    f"a{position}": await _distinct(_claims(answer), None)
                    for position, answer in enumerate(answers)
                }
            case ExtractPooledClaims(answers):
                pooled = (claim for answer in answers for claim in _claims(answer))
                return {"claims": await _distinct(pooled, None)}
            case FindEvidence():
                return await self._find_evidence(task)
            case JudgeClaims(claims, truths):
                return _judged(await self._judge(claims, truths))
            case JudgeClaimList(claims, truths):
                return _judged_in_order(await self._judge(claims, truths))
            case ExplainScore():
                return {"reason": explanation(task)}
            case ConcludeReasons():
                return {"reason": conclusion(task)}
            case RelateDocument(document, messages):
                return _related(await self._relate(document, messages))
            case JudgeDocument(document, messages):
                return _related_or_not(await self._relate(document, messages))
            case ExplainRelevance():
                return {"reason": relevance(task)}
            case SplitAnswer(answer=answer):
                return {"statements": await _distinct(_statements(answer), None)}
            case InferStatements(statements, contexts):
                return _inferred(await self._judge(statements, contexts))
            case InferStatementList(statements, contexts):
                return _inferred_in_order(statements, await self._judge(statements, contexts))
            case SupportAnswer():
                return await self._support(task)
            case _:
                assert_never(task)

    async def _find_evidence(self, task: FindEvidence) -> Reply:
        reply: Reply = {}
        first_truth = 0
        for group in task.groups:
            for finding in await self._judge(group.claims, group.truths):
                truths = [
                    f"t{first_truth + source}"
                    for source in dict.fromkeys(each.source for each in finding.evidence)
                ]
                reply[f"c{len(reply)}"] = {
                    "reason": finding.reason,
                    "supports": truths if finding.answer is Answer.YES else [],
                    # Only the sentence that clashes says the opposite; the others merely are near.
                    "contradicts": truths[:1] if finding.answer is Answer.NO else [],
                    "verdict": finding.answer.value,
                    "confidence": round(finding.probability, 4),
                }
            first_truth += len(group.truths)
        return reply

    async def _support(self, task: SupportAnswer) -> str:
        """`YES` or `NO`. A chunk that says nothing of an answer does not unsay an earlier one."""
        if task.earlier is not None and task.earlier.strip().casefold().startswith("yes"):
            return "YES"
        [finding] = await self._judge((task.answer,), (task.context,))
        return "YES" if finding.answer is Answer.YES else "NO"

    async def _relate(self, document: str, messages: Sequence[str]) -> Related:
        """Each different sentence of a document, in order, beside the messages."""
        context = await self._context((document,))
        wanted = Messages(messages, context)
        related: dict[str, Relation] = {}
        for number, unit in enumerate(context.units):
            statement = unit.span.of(document)
            if statement not in related:
                related[statement] = wanted.relation(number)
            if number % _BREATH == 0:
                await asyncio.sleep(0)
        return list(related.items())

    async def _judge(self, claims: Sequence[str], truths: tuple[str, ...]) -> list[Finding]:
        context = await self._context(truths)
        findings: list[Finding] = []
        for claim in claims:
            findings.append(judge_claim(claim, context))
            await asyncio.sleep(0)
        return findings

    async def _context(self, truths: tuple[str, ...]) -> Context:
        """The truths, indexed; the same ones only once."""
        if (kept := self._contexts.get(truths)) is not None:
            self._contexts.move_to_end(truths)
            return kept
        context = Context()
        for source, text in enumerate(truths):
            for sentence in await self._read(text):
                context.add(source, sentence)
            if len(context.units) % _BREATH == 0:
                await asyncio.sleep(0)
        self._contexts[truths] = context
        while len(self._contexts) > _KEPT_CONTEXTS:
            self._contexts.popitem(last=False)
        return context

    async def _read(self, text: str) -> tuple[ReadSentence, ...]:
        """The sentences of a truth, or of a whole document, with their words."""
        if (kept := self._read_truths.get(text)) is not None:
            return kept
        if len(self._read_truths) >= _KEPT_TRUTHS:
            self._read_truths.clear()
        sentences: list[ReadSentence] = []
        for number, span in enumerate(sentence_spans(text), start=1):
            sentences.append(read_sentence(text, span))
            if number % _BREATH == 0:
                await asyncio.sleep(0)
        found = tuple(sentences)
        self._read_truths[text] = found
        return found


def judge(claim: str, context: str) -> tuple[str, float, float]:
    """Judge one claim against one text, outside a run.

    Returns:
        The verdict (`yes`, `no` or `idk`), the confidence in that verdict and the probability that
        the claim is supported, both in [0, 1].
    """
    index = Context()
    for span in sentence_spans(context):
        index.add(0, read_sentence(context, span))
    finding = judge_claim(claim, index)
    supported = finding.probability
    confidence = supported if finding.answer is Answer.YES else 1 - supported
    return finding.answer.value, confidence, supported


def _truths(document: str) -> Iterator[str]:
    """Sentences of a document, letter for letter."""
    return (span.of(document) for span in sentence_spans(document))


def _claims(answer: str) -> Iterator[str]:
    """Sentences of an answer that state something, letter for letter."""
    return (each.text for each in answer_sentences(answer) if each.kind is SentenceKind.CLAIM)


def _statements(answer: str) -> Iterator[str]:
    """Sentences of an answer that state something, its refusals too, letter for letter."""
    return (each.text for each in answer_sentences(answer) if each.kind in _STATES)


def _judged(findings: Sequence[Finding]) -> Reply:
    return {
        f"c{position}": {
            "reason": finding.reason,
            "verdict": finding.answer.value,
            "confidence": round(finding.probability, 4),
        }
        for position, finding in enumerate(findings)
    }


def _judged_in_order(findings: Sequence[Finding]) -> Reply:
    return {
        "verdicts": [
            {"verdict": finding.answer.value, "reason": finding.reason} for finding in findings
        ]
    }


def _related(statements: Related) -> Reply:
    return {
        "statements": [
            {
                "statement": statement,
                "reason": relation.reason,
                "serves": [f"q{position}" for position in relation.serves],
                "verdict": "yes" if relation.serves else "no",
            }
            for statement, relation in statements
        ]
    }


def _related_or_not(statements: Related) -> Reply:
    return {
        "verdicts": [
            {
                "statement": statement,
                "verdict": "yes" if relation.serves else "no",
                "reason": relation.reason,
            }
            for statement, relation in statements
        ]
    }


def _inferred(findings: Sequence[Finding]) -> Reply:
    return {
        f"s{position}": {"reason": finding.reason, "verdict": str(_is_inferred(finding))}
        for position, finding in enumerate(findings)
    }


def _inferred_in_order(statements: Sequence[str], findings: Sequence[Finding]) -> Reply:
    return {
        "statements": [
            {"statement": statement, "reason": finding.reason, "verdict": _is_inferred(finding)}
            for statement, finding in zip(statements, findings, strict=True)
        ]
    }


def _is_inferred(finding: Finding) -> int:
    """1 when supported. The other verdicts are one and the same to whoever asks to infer."""
    return int(finding.answer is Answer.YES)


async def _distinct(texts: Iterable[str], limit: int | None) -> list[str]:
    """The first `limit` different texts, in order; None: all. Lets others in while it works."""
    found: dict[str, None] = {}
    for text in texts:
        if limit is not None and len(found) >= limit:
            break
        if text not in found:
            found[text] = None
    await asyncio.sleep(0)
    return list(found)
