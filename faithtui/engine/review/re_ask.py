"""One claim asked about again on purpose, outside the stored replies: does the judge stand by it?

What leads to the verdict (truths, statements) is taken from the store, so that only the verdict is
asked for anew. The answer stands beside the run and changes nothing in it.
"""

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from faithtui.domain.claims.verdicts import Claim, Verdict
from faithtui.domain.conversation import Conversation, Passage, normalise_text
from faithtui.domain.ids import ClaimId, ItemId
from faithtui.domain.judging.tasks import (
    FindEvidence,
    InferStatementList,
    InferStatements,
    JudgeClaimList,
    JudgeClaims,
    JudgeDocument,
    RelateDocument,
    SupportAnswer,
)
from faithtui.engine.calls.ask import Asker, BoundAsk
from faithtui.engine.calls.call_costs import TablePrices
from faithtui.engine.calls.image_hosts import check_image_addresses, list_address_only_images
from faithtui.engine.calls.metric_driver import drive_questions
from faithtui.engine.calls.output_format_fallback import OutputFormatFallback
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.engine.runs.run_execution import (
    load_refused_parameters_and_keep_new_ones,
    open_run_judge,
    rebuild_and_check_metric,
)
from faithtui.engine.runs.run_writer import RunWriter, StoreImages, StoreReplyCache
from faithtui.errors import StoreError
from faithtui.judges.base import Judge, OutputFormat
from faithtui.metrics.base import JudgeTraits, Question
from faithtui.store.records import ClaimView, FreshVerdict, ReviewView
from faithtui.store.store import Store

T = TypeVar("T")

FIRST_REPLICATE: Final = 100
"""Repetitions below it are questions that a run itself had to ask again."""

_VERDICTS: Final = (
    FindEvidence
    | JudgeClaims
    | JudgeClaimList
    | RelateDocument
    | JudgeDocument
    | InferStatements
    | InferStatementList
    | SupportAnswer
)
"""Questions whose answer is a verdict."""


async def re_ask_claim_and_store_verdict(
    store: Store,
    item: ItemId,
    claim: ClaimId,
    *,
    asked_by: str,
    environment: RunEnvironment | None = None,
    judge: AbstractAsyncContextManager[Judge] | None = None,
) -> FreshVerdict:
    """Ask the judge of a run about one claim again, and keep what it says beside the run.

    Args:
        store: Open store.
        item: Conversation of the run.
        claim: A claim that has a verdict there.
        asked_by: Who wants to know.
        environment: What the process shares; None: nothing.
        judge: Opened and closed here; None opens the one the run names.

    Returns:
        The new verdict, of the first window that holds the claim. Its label is None where the
        judge gave none, or did not find the statement again.

    Raises:
        StoreError: There is no such claim in the conversation, or the store cannot be written.
        ConfigError: The run's judge or prompts are not what they were.
        JudgeError: No usable answer.
        MetricError: The metric cannot apply any more.
    """
    environment = environment or RunEnvironment()
    writer = RunWriter(store)
    writer.unstored.recover_into_store(store)
    view = store.runs.read_conversation_for_review(item, asked_by)
    shown = next((each for each in view.claims if each.id == claim), None)
    if shown is None:
        raise StoreError(f"there is no claim {claim} in this conversation; reload it")
    row = view.run
    metric = rebuild_and_check_metric(store, row)
    if judge is None:
        judge = open_run_judge(
            row, environment, refused=load_refused_parameters_and_keep_new_ones(store, row)
        )
    conversation = store.conversations.get(view.item.conversation)
    check_image_addresses(
        list_address_only_images(conversation.images), row.spec.judge, environment.image_hosts
    )
    # Counted over the conversation: questions about several claims of a document are the same.
    earlier = [each.replicate for each in store.calls.list_re_asked_verdicts(item)]
    replicate = max([FIRST_REPLICATE - 1, *earlier]) + 1
    window = metric.windows(conversation)[shown.first_window_verdict.window]
    wanted = _claim_from_view(shown, view, conversation)
    given = (wanted,) if wanted.kind == "claim" else None
    if wanted.kind != "statement":
        # What comes later would be compared with it too, and paid for. A statement's question
        # stays whole: it names the messages of every window that its document meets.
        conversation = replace(conversation, turns=conversation.turns[: max(window.turns) + 1])
    async with judge as opened:
        asker = _make_asker(writer, view, opened, environment)
        try:
            ask = _ReAsk(asker.bind_to_item(item), replicate, wanted, window.position)
            findings = await drive_questions(
                metric.gather(conversation, ask.judge_traits, given), ask
            )
            assessment = metric.assess(findings, window)
        except StoreError as error:
            await asker.drain()
            raise writer.unstored.make_error_with_reply_folder(error) from error
        finally:
            await asker.aclose()
    found = next((each for each in assessment.verdicts if _is_same_claim(each.claim, wanted)), None)
    fresh = _make_fresh_verdict(item, claim, window.position, replicate, found, asked_by)
    await asyncio.wrap_future(store.submit(store.calls.add_re_asked_verdict, fresh, durable=True))
    return fresh


@dataclass(frozen=True, slots=True)
class _ReAsk:
    """Asks for verdicts anew, and takes everything else from what is stored."""

    ask: BoundAsk
    replicate: int
    claim: Claim
    window: int
    """Position of the window that first holds it."""

    @property
    def judge_traits(self) -> JudgeTraits:
        return self.ask.judge_traits

    def hold_answer_slot(self) -> AbstractAsyncContextManager[object]:
        return self.ask.hold_answer_slot()

    async def __call__(self, question: Question[T], window: int | None = None) -> T:
        if self._asks_for_verdict(question, window):
            question = replace(question, replicate=question.replicate + self.replicate)
        return await self.ask(question, window)

    def _asks_for_verdict(self, question: Question[T], window: int | None) -> bool:
        if not isinstance(question.task, _VERDICTS):
            return False
        match question.task:
            case RelateDocument(document) | JudgeDocument(document):
                return document == self.claim.document
            case SupportAnswer():
                return window == self.window
            case _:
                return True


def _make_asker(
    writer: RunWriter, view: ReviewView, judge: Judge, environment: RunEnvironment
) -> Asker:
    row, store = view.run, writer.store
    known = store.calls.recall_output_format(judge.fingerprint) if judge.output_formats else None
    return Asker(
        judge,
        StoreReplyCache(writer, judge.ref, row.id, None),
        concurrency=row.spec.concurrency,
        format_fallback=OutputFormatFallback(
            judge.ref, judge.output_formats, known=None if known is None else OutputFormat(known)
        ),
        limiter=environment.rate_limiters.get_limiter(judge.account),
        pricing=TablePrices(environment.prices, row.spec.judge, row.spec.base_url),
        load_image=StoreImages(store, row.spec.judge, environment.image_hosts),
        answer_limit=row.spec.profile.max_tokens,
        fingerprint=row.spec.judge_fingerprint,
    )


def _claim_from_view(shown: ClaimView, view: ReviewView, conversation: Conversation) -> Claim:
    document = None
    if shown.document is not None:
        numbers = {each.number: each.text for turn in view.turns for each in turn.documents or ()}
        text = numbers.get(shown.document)
        found = (
            Passage(each.text, each.images).text_with_marks
            for turn in conversation.turns
            for each in turn.retrieval_context or ()
            if each.text == text
        )
        document = next(found, text)
    return Claim(shown.turn, shown.text, shown.span, shown.kind, document)


def _is_same_claim(one: Claim, other: Claim) -> bool:
    if (one.kind, one.turn) != (other.kind, other.turn):
        return False
    if one.kind == "answer":
        return True
    return normalise_text(one.text) == normalise_text(other.text) and one.document == other.document


def _make_fresh_verdict(
    item: ItemId,
    claim: ClaimId,
    window: int,
    replicate: int,
    found: Verdict | None,
    asked_by: str,
) -> FreshVerdict:
    if found is None:
        return FreshVerdict(
            item,
            claim,
            window,
            replicate,
            None,
            None,
            "The judge did not find this statement again.",
            None,
            asked_by,
        )
    return FreshVerdict(
        item,
        claim,
        window,
        replicate,
        found.label,
        found.word,
        found.reason,
        found.confidence,
        asked_by,
    )
