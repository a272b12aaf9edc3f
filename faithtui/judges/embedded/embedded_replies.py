"""The answers of the embedded judge to every kind of question, computed from words alone.

The same question gets the same answer on every machine. Everything is computed on the loop that
asks, and others are let in between claims and between sentences.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Sequence
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
    SentenceIndex,
    TokenisedSentence,
    index_passages,
    tokenise_sentence,
)
from faithtui.domain.text.sentences import SentenceKind, split_answer, split_sentences
from faithtui.judges.embedded.overlap import OverlapVerdict, VerdictWord, judge_claim
from faithtui.judges.embedded.reason_templates import (
    explain_conversation_score,
    explain_relevance,
    explain_turn_window_score,
)
from faithtui.judges.embedded.relevance import MessageMatcher, MessageRelation
from faithtui.judges.embedded.weights import NO_RECALIBRATION, Calibration

_KEPT_CONTEXTS: Final = 16
"""Indexed contexts kept for the next question; neighbouring windows share most of theirs."""
_KEPT_TRUTHS: Final = 2_000
"""Truths whose words are remembered; windows overlap, so most are read many times."""
_YIELD_EVERY: Final = 50
"""Sentences indexed, a millisecond or two of work, before others get a turn."""
_STATING_KINDS: Final = frozenset({SentenceKind.CLAIM, SentenceKind.REFUSAL})
"""Kinds of sentences that say something which could be inferred or not."""

ReplyObject = dict[str, object]
DocumentRelations = Sequence[tuple[str, MessageRelation]]
"""Statements of a document, in order, each with what it shares with the messages."""


JudgeOfClaims = Callable[[Sequence[str], SentenceIndex], Awaitable[list[OverlapVerdict]]]
"""Judges claims by the sentences of a context."""


class OfflineAnswers:
    """Answers questions, and remembers what it has read.

    Args:
        calibration: What moves probabilities, and where `yes` begins.
        before_step: Called before each step of a computation, which it may hold up.
        judge: Gives the verdicts; None: the overlap baseline.
    """

    def __init__(
        self,
        calibration: Calibration = NO_RECALIBRATION,
        before_step: Callable[[], None] = lambda: None,
        judge: JudgeOfClaims | None = None,
    ) -> None:
        self._judge = judge or self._judge_by_overlap
        self._calibration = calibration
        self._before_step = before_step
        self._contexts: OrderedDict[tuple[str, ...], SentenceIndex] = OrderedDict()
        self._tokenised_truths: OrderedDict[str, tuple[TokenisedSentence, ...]] = OrderedDict()

    def clear_caches(self) -> None:
        """Give the memory back."""
        self._contexts.clear()
        self._tokenised_truths.clear()

    async def answer(self, task: Task) -> ReplyObject | str:
        """Answer one question, in the shape described beside its task."""
        match task:
            case ExtractTruths(documents, limit):
                return {
                    f"d{position}": await self._list_first_distinct_texts(
                        _split_document_sentences(document), limit
                    )
                    for position, document in enumerate(documents)
                }
            case ExtractPooledTruths(documents, limit):
                pooled = (
                    truth for document in documents for truth in _split_document_sentences(document)
                )
                return {"truths": await self._list_first_distinct_texts(pooled, limit)}
            case ExtractClaims(answers):
                return {
                    f"a{position}": await self._list_first_distinct_texts(
                        _split_claims(answer), None
                    )
                    for position, answer in enumerate(answers)
                }
            case ExtractPooledClaims(answers):
                pooled = (claim for answer in answers for claim in _split_claims(answer))
                return {"claims": await self._list_first_distinct_texts(pooled, None)}
            case FindEvidence():
                return await self._make_evidence_reply(task)
            case JudgeClaims(claims, truths):
                return _make_verdicts_reply(await self._judge_claims(claims, truths))
            case JudgeClaimList(claims, truths):
                return _make_verdict_list_reply(await self._judge_claims(claims, truths))
            case ExplainScore():
                return {"reason": explain_turn_window_score(task)}
            case ConcludeReasons():
                return {"reason": explain_conversation_score(task)}
            case RelateDocument(document, messages):
                return _make_statement_relevance_reply(
                    await self._match_sentences_to_messages(document, messages)
                )
            case JudgeDocument(document, messages):
                return _make_statement_relevance_list_reply(
                    await self._match_sentences_to_messages(document, messages)
                )
            case ExplainRelevance():
                return {"reason": explain_relevance(task)}
            case SplitAnswer(answer=answer):
                return {
                    "statements": await self._list_first_distinct_texts(
                        _split_statements(answer), None
                    )
                }
            case InferStatements(statements, contexts):
                return _make_inferences_reply(await self._judge_claims(statements, contexts))
            case InferStatementList(statements, contexts):
                return _make_inference_list_reply(
                    statements, await self._judge_claims(statements, contexts)
                )
            case SupportAnswer():
                return await self._judge_support_yes_or_no(task)
            case _:
                assert_never(task)

    async def _make_evidence_reply(self, task: FindEvidence) -> ReplyObject:
        reply: ReplyObject = {}
        first_truth = 0
        for group in task.groups:
            findings = await self._judge_claims(group.claims, group.truths)
            for claim, finding in zip(group.claims, findings, strict=True):
                sources = tuple(dict.fromkeys(each.source for each in finding.evidence))
                sets = (
                    await self._find_smallest_supporting_truth_sets(claim, group.truths, sources)
                    if finding.answer is VerdictWord.YES
                    else ()
                )
                reply[f"c{len(reply)}"] = {
                    "reason": finding.reason,
                    "sufficient": [[f"t{first_truth + n}" for n in each] for each in sets],
                    "partial": [],
                    # Only the sentence that clashes says the opposite; the others merely are near.
                    "contradicts": [f"t{first_truth + n}" for n in sources[:1]]
                    if finding.answer is VerdictWord.NO
                    else [],
                    "verdict": finding.answer.value,
                    "confidence": round(finding.probability, 4),
                }
            first_truth += len(group.truths)
        return reply

    async def _find_smallest_supporting_truth_sets(
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
                context = await self._get_sentence_index(tuple(truths[n] for n in chosen))
                [finding] = await self._judge((claim,), context)
                if finding.answer is VerdictWord.YES:
                    sets.append(chosen)
            if sets:
                return sets
        return [tuple(sorted(sources))] if sources else []

    async def _judge_support_yes_or_no(self, task: SupportAnswer) -> str:
        """`YES` or `NO`. A chunk that says nothing of an answer does not unsay an earlier one."""
        if task.earlier is not None and task.earlier.strip().casefold().startswith("yes"):
            return "YES"
        [finding] = await self._judge_claims((task.answer,), (task.context,))
        return "YES" if finding.answer is VerdictWord.YES else "NO"

    async def _match_sentences_to_messages(
        self, document: str, messages: Sequence[str]
    ) -> DocumentRelations:
        """Each different sentence of a document, in order, beside the messages."""
        context = await self._get_sentence_index((document,))
        wanted = MessageMatcher(messages, context)
        related: dict[str, MessageRelation] = {}
        for number, unit in enumerate(context.units):
            statement = unit.span.slice_text(document)
            if statement not in related:
                related[statement] = wanted.find_messages_sentence_serves(number)
            if number % _YIELD_EVERY == 0:
                await self._let_others_run()
        return list(related.items())

    async def _judge_claims(
        self, claims: Sequence[str], truths: tuple[str, ...]
    ) -> list[OverlapVerdict]:
        return await self._judge(claims, await self._get_sentence_index(truths))

    async def _judge_by_overlap(
        self, claims: Sequence[str], context: SentenceIndex
    ) -> list[OverlapVerdict]:
        findings: list[OverlapVerdict] = []
        for claim in claims:
            findings.append(judge_claim(claim, context, self._calibration))
            await self._let_others_run()
        return findings

    async def _get_sentence_index(self, truths: tuple[str, ...]) -> SentenceIndex:
        """The truths, indexed; the same ones only once."""
        if (kept := self._contexts.get(truths)) is not None:
            self._contexts.move_to_end(truths)
            return kept
        context = SentenceIndex()
        for source, text in enumerate(truths):
            for sentence in await self._split_into_tokenised_sentences(text):
                context.add_sentence(source, sentence)
            if len(context.units) % _YIELD_EVERY == 0:
                await self._let_others_run()
        self._contexts[truths] = context
        while len(self._contexts) > _KEPT_CONTEXTS:
            self._contexts.popitem(last=False)
        return context

    async def _split_into_tokenised_sentences(self, text: str) -> tuple[TokenisedSentence, ...]:
        """The sentences of a truth, or of a whole document, with their words."""
        if (kept := self._tokenised_truths.get(text)) is not None:
            self._tokenised_truths.move_to_end(text)
            return kept
        sentences: list[TokenisedSentence] = []
        for number, span in enumerate(split_sentences(text), start=1):
            sentences.append(tokenise_sentence(text, span))
            if number % _YIELD_EVERY == 0:
                await self._let_others_run()
        found = tuple(sentences)
        self._tokenised_truths[text] = found
        while len(self._tokenised_truths) > _KEPT_TRUTHS:
            self._tokenised_truths.popitem(last=False)
        return found

    async def _list_first_distinct_texts(
        self, texts: Iterable[str], limit: int | None
    ) -> list[str]:
        """The first `limit` different texts, in order; None: all. Lets others in while it works."""
        found: dict[str, None] = {}
        for text in texts:
            if limit is not None and len(found) >= limit:
                break
            if text not in found:
                found[text] = None
        await self._let_others_run()
        return list(found)

    async def _let_others_run(self) -> None:
        """Let others in before the next step."""
        await _yield_to_loop()
        self._before_step()


def judge_claim_against_text(claim: str, context: str) -> OverlapVerdict:
    """Judge one claim against one text, outside a run."""
    return judge_claim(claim, _index_sentences_cached(context))


@lru_cache(maxsize=_KEPT_CONTEXTS)
def _index_sentences_cached(context: str) -> SentenceIndex:
    """The sentences of a text; claims about the same one tend to come together."""
    return index_passages((context,))


@coroutine
def _yield_to_loop() -> Generator[None]:
    """Give the loop a turn: what `asyncio.sleep(0)` does, without the time asyncio takes to import.

    Source:
        CPython 3.11, Lib/asyncio/tasks.py, `__sleep0`.
    """
    yield


def _split_document_sentences(document: str) -> Iterator[str]:
    """Sentences of a document, letter for letter."""
    return (span.slice_text(document) for span in split_sentences(document))


def _split_claims(answer: str) -> Iterator[str]:
    """Sentences of an answer that state something, letter for letter."""
    return (each.text for each in split_answer(answer) if each.kind is SentenceKind.CLAIM)


def _split_statements(answer: str) -> Iterator[str]:
    """Sentences of an answer that state something, its refusals too, letter for letter."""
    return (each.text for each in split_answer(answer) if each.kind in _STATING_KINDS)


def _make_verdicts_reply(findings: Sequence[OverlapVerdict]) -> ReplyObject:
    return {
        f"c{position}": {
            "reason": finding.reason,
            "verdict": finding.answer.value,
            "confidence": round(finding.probability, 4),
        }
        for position, finding in enumerate(findings)
    }


def _make_verdict_list_reply(findings: Sequence[OverlapVerdict]) -> ReplyObject:
    return {
        "verdicts": [
            {"verdict": finding.answer.value, "reason": finding.reason} for finding in findings
        ]
    }


def _make_statement_relevance_reply(statements: DocumentRelations) -> ReplyObject:
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


def _make_statement_relevance_list_reply(statements: DocumentRelations) -> ReplyObject:
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


def _make_inferences_reply(findings: Sequence[OverlapVerdict]) -> ReplyObject:
    return {
        f"s{position}": {
            "reason": finding.reason,
            "verdict": str(_encode_verdict_as_0_or_1(finding)),
        }
        for position, finding in enumerate(findings)
    }


def _make_inference_list_reply(
    statements: Sequence[str], findings: Sequence[OverlapVerdict]
) -> ReplyObject:
    return {
        "statements": [
            {
                "statement": statement,
                "reason": finding.reason,
                "verdict": _encode_verdict_as_0_or_1(finding),
            }
            for statement, finding in zip(statements, findings, strict=True)
        ]
    }


def _encode_verdict_as_0_or_1(finding: OverlapVerdict) -> int:
    """1 when supported. The other verdicts are one and the same to whoever asks to infer."""
    return int(finding.answer is VerdictWord.YES)
