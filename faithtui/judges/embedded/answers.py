"""The answers of the embedded judge to every kind of question, computed from words alone.

The same question gets the same answer on every machine. Everything is computed on the loop that
asks, and others are let in between claims and between sentences.
"""

from collections import OrderedDict
from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from types import coroutine
from typing import Final, assert_never

from faithtui.domain.judging.tasks import (
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
from faithtui.domain.text.sentence_index import (
    Context,
    ReadSentence,
    read_context,
    read_sentence,
)
from faithtui.domain.text.sentences import SentenceKind, answer_sentences, sentence_spans
from faithtui.judges.embedded.overlap import Answer, Finding, judge_claim
from faithtui.judges.embedded.reason_templates import conclusion, explanation, relevance
from faithtui.judges.embedded.relevance import Messages, Relation
from faithtui.judges.embedded.weights import AS_SHIPPED, Calibration

_KEPT_CONTEXTS: Final = 16
"""Indexed contexts kept for the next question; neighbouring windows share most of theirs."""
_KEPT_TRUTHS: Final = 20_000
"""Truths whose words are remembered; windows overlap, so most are read many times."""
_BREATH: Final = 50
"""Sentences indexed, a millisecond or two of work, before others get a turn."""
_STATES: Final = frozenset({SentenceKind.CLAIM, SentenceKind.REFUSAL})
"""Kinds of sentences that say something which could be inferred or not."""

Reply = dict[str, object]
Related = Sequence[tuple[str, Relation]]
"""Statements of a document, in order, each with what it shares with the messages."""


class OfflineAnswers:
    """Answers questions, and remembers what it has read.

    Args:
        calibration: Slope and intercept put on the log odds of every probability.
    """

    def __init__(self, calibration: Calibration = AS_SHIPPED) -> None:
        self._calibration = calibration
        self._contexts: OrderedDict[tuple[str, ...], Context] = OrderedDict()
        self._read_truths: dict[str, tuple[ReadSentence, ...]] = {}

    def forget(self) -> None:
        """Give the memory back."""
        self._contexts.clear()
        self._read_truths.clear()

    async def answer(self, task: Task) -> Reply | str:
        """Answer one question, in the shape described beside its task."""
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
            findings = await self._judge(group.claims, group.truths)
            for claim, finding in zip(group.claims, findings, strict=True):
                sources = tuple(dict.fromkeys(each.source for each in finding.evidence))
                sets = (
                    await self._sufficient(claim, group.truths, sources)
                    if finding.answer is Answer.YES
                    else ()
                )
                reply[f"c{len(reply)}"] = {
                    "reason": finding.reason,
                    "sufficient": [[f"t{first_truth + n}" for n in each] for each in sets],
                    "partial": [],
                    # Only the sentence that clashes says the opposite; the others merely are near.
                    "contradicts": [f"t{first_truth + n}" for n in sources[:1]]
                    if finding.answer is Answer.NO
                    else [],
                    "verdict": finding.answer.value,
                    "confidence": round(finding.probability, 4),
                }
            first_truth += len(group.truths)
        return reply

    async def _sufficient(
        self, claim: str, truths: Sequence[str], sources: tuple[int, ...]
    ) -> Sequence[tuple[int, ...]]:
        """Name the smallest sets of a supported claim's best truths that support it by themselves.

        Args:
            claim: What all truths together support.
            truths: Of its group.
            sources: Positions of the best of them, at most three.

        Returns:
            Single truths, else pairs; else all of `sources` as one set.
        """
        for size in range(1, len(sources)):
            sets = []
            for chosen in combinations(sorted(sources), size):
                context = await self._context(tuple(truths[n] for n in chosen))
                if judge_claim(claim, context, self._calibration).answer is Answer.YES:
                    sets.append(chosen)
            if sets:
                return sets
        return [tuple(sorted(sources))] if sources else []

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
                await _let_others_in()
        return list(related.items())

    async def _judge(self, claims: Sequence[str], truths: tuple[str, ...]) -> list[Finding]:
        context = await self._context(truths)
        findings: list[Finding] = []
        for claim in claims:
            findings.append(judge_claim(claim, context, self._calibration))
            await _let_others_in()
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
                await _let_others_in()
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
                await _let_others_in()
        found = tuple(sentences)
        self._read_truths[text] = found
        return found


def judge_text(claim: str, context: str) -> Finding:
    """Judge one claim against one text, outside a run."""
    return judge_claim(claim, _indexed(context))


@lru_cache(maxsize=_KEPT_CONTEXTS)
def _indexed(context: str) -> Context:
    """The sentences of a text; claims about the same one tend to come together."""
    return read_context((context,))


@coroutine
def _let_others_in() -> Generator[None]:
    """Give the loop a turn: what `asyncio.sleep(0)` does, without the time asyncio takes to import.

    Source:
        CPython 3.11, Lib/asyncio/tasks.py, `__sleep0`.
    """
    yield


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
    await _let_others_in()
    return list(found)
