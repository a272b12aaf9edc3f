"""What a run would ask and cost, before anything is sent.

The metric itself is driven over a sample of the conversations, with the embedded judge in the place
of the real one. So every question counted is one the run would put, letter for letter, as long as
the answers before it are alike; what is stored is found under the real judge's own keys. Nothing is
written and nothing leaves the machine.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import pairwise
from random import Random
from typing import Any, Final

from faithtui.domain.claims.verdicts import Assessment, Claim
from faithtui.domain.conversation import Conversation
from faithtui.domain.ids import ConversationId, ItemId, RunId
from faithtui.domain.judging.tasks import ExtractPooledTruths, ExtractTruths, Task
from faithtui.engine.calls.ask import Asker
from faithtui.engine.calls.call_costs import (
    TablePrices,
    estimate_worst_cost,
    fill_in_token_counts_from_estimate,
)
from faithtui.engine.calls.image_hosts import check_image_hosts, find_image_hosts
from faithtui.engine.calls.metric_driver import drive_questions
from faithtui.engine.calls.reply_cache import QuestionContext
from faithtui.engine.preview.estimates import (
    Preview,
    PreviewQuestion,
    extrapolate_preview_from_sample,
)
from faithtui.engine.review.examples_from_labels import read_examples_file_for_run
from faithtui.engine.review.judge_description import describe_parameters
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.engine.runs.run_execution import find_claims_to_judge, rebuild_and_check_metric
from faithtui.engine.runs.run_planner import draft_run, judges_share_claims
from faithtui.engine.runs.run_writer import StoreImages
from faithtui.errors import JudgeError, MetricError
from faithtui.judges.base import JudgeReply, JudgeRequest, LocalJudge, Usage
from faithtui.judges.embedded.embedded_judge import OfflineJudge
from faithtui.judges.providers.endpoints import is_in_process_judge
from faithtui.judges.registry import is_prompt_based
from faithtui.metrics.base import Metric
from faithtui.store.records import RunRow, RunSpec, RunState, StoredReply
from faithtui.store.store import Store

SAMPLE_SIZE = 20
"""Conversations that are looked at: enough to tell tens from hundreds, and read in a moment."""

MOST_TEXT: Final = 2_000_000
"""Characters of windows after which no further conversation is looked at, however few there were:
some four seconds of a processor. No seconds: a busy machine would look at fewer, and tell another
number of questions."""

MOST_FREE_TEXT: Final = 1_000_000
"""The same for judges that are part of this program: nobody waits to hear that nothing is paid."""

MOST_COUNTED: Final = 500
"""Conversations whose windows are counted: all of a small store, and no question is made."""

_SEED: Final = 1
"""The same order has the same preview."""


@dataclass(slots=True)
class _PreviewReplyCache:
    """The replies of a preview: those of the store, and those made up so far. Keeps nothing."""

    store: Store
    stand_in: "_StandInJudge"
    count_askers: Callable[[Task | None], int]
    """Tell how many conversations of the run are known to ask about the same."""
    earlier_keys: set[str]
    """Keys that earlier runs of the same order would have answered."""
    made_up: dict[str, StoredReply] = field(default_factory=dict)
    questions: dict[str, PreviewQuestion] = field(default_factory=dict)
    answered: dict[str, int] = field(default_factory=dict)
    """Questions that need no call, by step; every step, in the order of its first question."""
    conversation: int = 0

    def find(self, key: str, *, or_cut: bool = False) -> StoredReply | None:
        """Give the reply to a question, stored or made up before."""
        known = self.questions.get(key)
        if known is not None:
            if known.conversation != self.conversation:
                known.asked_by.add(self.conversation)
            return self.made_up[key]
        made_up = self.made_up[key] if key in self.earlier_keys else None
        return self.store.calls.find_usable_reply(key, or_cut=or_cut) or made_up

    def find_unusable(self, key: str) -> StoredReply | None:
        """Give the latest stored reply to a question that could not be used, if any."""
        return self.store.calls.find_unusable_reply(key)

    async def wait_until_writable(self) -> None:
        """Nothing is kept, so there is always room."""

    async def save_reply(self, asked: QuestionContext, reply: StoredReply, *, usable: bool) -> None:
        """Note what a question would cost."""
        self.made_up[asked.key] = reply
        self.questions[asked.key] = PreviewQuestion(
            asked.step,
            self.conversation,
            reply.tokens_in or 0,
            reply.tokens_out or 0,
            reply.cost_nusd,
            # What is too long for its price at worst has a likely cost all the same.
            max(self.stand_in.worst_nusd, reply.cost_nusd or 0),
            self.count_askers(self.stand_in.task),
        )

    def on_reply(self, step: str, reply: JudgeReply, is_stored: bool) -> None:
        """Count a question that needs no call."""
        self.answered[step] = self.answered.get(step, 0) + is_stored


class _SharedQuestions:
    """Knows how many conversations of a run ask the same as one of them.

    A question about documents alone is asked by all that have these. Any other is about the turns
    up to the last one that a text in it comes from, and is asked by all that begin with these: the
    answers of several models to one conversation share all that was said before.
    """

    def __init__(self, store: Store, conversations: Sequence[ConversationId]) -> None:
        self._store = store
        self._conversations = frozenset(conversations)
        self._having: dict[str, frozenset[ConversationId]] = {}
        """Conversations that have a document, by its text."""
        self._counts: tuple[int, ...] = (1,)
        """Conversations that begin with the same turns, by the position of the last of them."""
        self._positions: dict[str, int] = {}
        """The turn that a text of the conversation, or one made from it, first comes from."""

    def begin_conversation(
        self, number: ConversationId, conversation: Conversation, claims: Sequence[Claim]
    ) -> None:
        """Turn to a conversation, with the claims of it that are given."""
        found = self._store.conversations.count_same_beginnings_by_turn(number, self._conversations)
        self._counts = found or (1,)
        self._positions = {}
        for position, turn in enumerate(conversation.turns):
            passages = turn.retrieval_context or ()
            self._map_texts_to_turn([turn.content, *(each.text for each in passages)], position)
        for claim in claims:
            self._map_texts_to_turn([claim.text], claim.turn)

    def map_reply_to_turn(self, request: JudgeRequest, text: str) -> None:
        """Note which turns the texts of an answer come from: those the question is about."""
        try:
            reply = json.loads(text)
        except ValueError:
            return
        self._map_texts_to_turn(
            _list_texts(reply), self._find_last_turn_of_task_texts(request.task)
        )

    def count_conversations_asking(self, task: Task | None) -> int:
        """Count the conversations that ask this; at least 1."""
        alike = self._counts[self._find_last_turn_of_task_texts(task)]
        if not isinstance(task, ExtractTruths | ExtractPooledTruths):
            return alike
        having = [self._find_conversations_with_document(each) for each in task.documents]
        return max(alike, len(frozenset.intersection(*having))) if having else alike

    def _map_texts_to_turn(self, texts: Iterable[str], position: int) -> None:
        for each in texts:
            self._positions.setdefault(each.strip(), position)

    def _find_last_turn_of_task_texts(self, task: Task | None) -> int:
        last = len(self._counts) - 1
        found = (self._positions.get(each.strip(), -1) for each in _list_texts(task))
        place = max(found, default=-1)
        return last if place < 0 else min(place, last)

    def _find_conversations_with_document(self, document: str) -> frozenset[ConversationId]:
        if document not in self._having:
            found = self._store.conversations.list_conversations_with_document(document)
            self._having[document] = self._conversations.intersection(found)
        return self._having[document]


def _list_texts(value: object) -> Iterator[str]:
    """List the texts in a value, however deep."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        for each in fields(value):
            yield from _list_texts(getattr(value, each.name))
    elif isinstance(value, Mapping):
        yield from _list_texts(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _list_texts(each)


class _StandInJudge(LocalJudge):
    """Answers as the embedded judge, under the name of the real one."""

    def __init__(self, spec: RunSpec, pricing: TablePrices) -> None:
        self.ref = spec.judge
        self.fingerprint = spec.judge_fingerprint
        self.takes_images = is_prompt_based(spec.judge, spec.base_url)
        self.context_window: int | None = None
        self.worst_nusd = 0
        """What the latest question may cost at most."""
        self.task: Task | None = None
        """What it is about."""
        self._pricing = pricing
        self._offline = OfflineJudge()

    async def send(self, request: JudgeRequest) -> JudgeReply:
        """Make an answer up, with the tokens that the real judge may write of it."""
        self.task = request.task
        self.worst_nusd = estimate_worst_cost(self._pricing, request).nusd
        reply = await self._offline.send(request)
        if isinstance(request.task, ExtractTruths) and '"quote"' in request.prompt:
            # A judge that is asked for the words behind each fact writes about twice as much.
            facts_by_key: dict[str, list[str]] = json.loads(reply.text)
            quoted = {
                key: [{"fact": each, "quote": each} for each in facts]
                for key, facts in facts_by_key.items()
            }
            reply = replace(reply, text=json.dumps(quoted, ensure_ascii=False))
        # By its length, but never beyond its limit; what is read is counted by who asks.
        written = (
            fill_in_token_counts_from_estimate(0, replace(reply, usage=Usage()))[0].tokens_out or 0
        )
        return replace(reply, usage=Usage(tokens_out=min(written, request.max_tokens)))

    async def aclose(self) -> None:
        """Forget what was read."""
        await self._offline.aclose()


def preview_requests(
    store: Store,
    requests: Sequence[RunRequest],
    *,
    environment: RunEnvironment | None = None,
    sample: int = SAMPLE_SIZE,
) -> tuple[Preview, ...]:
    """Say what an order would ask and cost; nothing is planned, sent or written.

    What several runs of the order ask alike is counted for the first of them. No key is needed.

    Args:
        store: Where the conversations are.
        requests: The runs, in their order. Later judges get the claims of the first one where they
            share them.
        environment: Prices and redaction; None: those of `genai-prices`, and none.
        sample: Conversations to look at.

    Raises:
        ConfigError: As `save_planned_run`, but for the key.
        InputError: The file of examples cannot be read.
    """
    environment = environment or RunEnvironment()
    jobs: list[_PreviewJob] = []
    first: dict[str, _PreviewJob] = {}
    for request in requests:
        examples = read_examples_file_for_run(store, request.examples)
        job = _PreviewJob(*draft_run(store, request, examples, environment))
        if judges_share_claims(request):
            job.claims_of = first.setdefault(job.spec.metric, job)
        job.has_examples = bool(examples)
        jobs.append(job)
    rows = store.runs.list_runs()
    return tuple(
        replace(found, same_run=_find_same_run(store, rows, job))
        for found, job in zip(_preview_jobs(store, jobs, environment, sample), jobs, strict=True)
    )


_SAME: Final = (
    *("metric", "metric_version", "options", "judge_fingerprint", "prompt_digest", "strategy"),
    *("claims_from", "claims_run", "claim_set"),
)
"""Fields of a run that say what is asked; the others say how fast, at what cost, and from where."""


def _find_same_run(store: Store, rows: Sequence[RunRow], job: "_PreviewJob") -> RunId | None:
    """Find the newest run that judges the same conversations in the same way.

    A run whose questions show examples is the same as none: a draft has no name of them yet.
    """
    if job.has_examples:
        return None
    conversations = frozenset(job.conversations)
    alike = (
        row.id
        for row in rows
        if row.conversations == len(conversations)
        and row.spec.example_set is None
        and all(getattr(row.spec, name) == getattr(job.spec, name) for name in _SAME)
    )
    for run in alike:
        if store.run_contents.list_conversation_ids(run) == conversations:
            return run
    return None


def preview_runs(
    store: Store,
    runs: Sequence[RunId],
    *,
    environment: RunEnvironment | None = None,
    sample: int = SAMPLE_SIZE,
) -> tuple[Preview, ...]:
    """Say what is left to ask in planned or interrupted runs; see `preview_requests`.

    Raises:
        ConfigError: The prompts or options of a run are not what they were, or addresses of
            images would be sent to hosts that nobody allowed.
        StoreError: There is no such run.
    """
    environment = environment or RunEnvironment()
    jobs: dict[RunId, _PreviewJob] = {}
    for run in runs:
        row = store.runs.read_run(run)
        metric = rebuild_and_check_metric(store, row)
        pending = [each.conversation for each in store.runs.list_pending_items(run)]
        unfinished = store.runs.read_item_rows(store.runs.list_failed_or_incomplete_items(run))
        pending += [each.conversation for each in unfinished]
        check_image_hosts(store, pending, row.spec.judge, environment.image_hosts)
        jobs[run] = _PreviewJob(row.spec, metric, pending)
        if row.state is not RunState.PLANNED:
            # What it was left without is asked for past the replies that are stored.
            jobs[run].asked_after = sys.maxsize
        if row.spec.claims_run in jobs:
            jobs[run].claims_of = jobs[row.spec.claims_run]
    return _preview_jobs(store, list(jobs.values()), environment, sample)


@dataclass(slots=True)
class _PreviewJob:
    """A run to preview."""

    spec: RunSpec
    metric: Metric[Any]
    conversations: Sequence[ConversationId]
    has_examples: bool = False
    """Its questions show some."""
    asked_after: int = 0
    """Newest call when what is missing is asked for again; 0: it is not."""
    claims_of: "_PreviewJob | None" = None
    """The one whose claims it judges; itself where it draws them for others."""
    extracted_claims: dict[ConversationId, tuple[Claim, ...]] = field(default_factory=dict)
    """Claims it would draw, of the conversations that were looked at."""

    def find_claims(
        self, store: Store, number: ConversationId
    ) -> tuple[tuple[Claim, ...] | None, bool]:
        """Give the claims to judge, None to draw them, and whether there is anything to judge."""
        if self.claims_of not in (None, self):
            # Where its drawing was not looked at, drawing them is what comes nearest.
            return self.claims_of.extracted_claims.get(number), True
        claims, skipped = find_claims_to_judge(store, self.spec, number)
        return claims, skipped is None

    def remember_extracted_claims(
        self, number: ConversationId, assessments: Sequence[Assessment]
    ) -> None:
        """Keep the claims of a conversation for others."""
        claims = (verdict.claim for window in assessments for verdict in window.verdicts)
        self.extracted_claims[number] = tuple(dict.fromkeys(claims))


def _preview_jobs(
    store: Store, jobs: Sequence[_PreviewJob], environment: RunEnvironment, sample: int
) -> tuple[Preview, ...]:
    made_up: dict[str, StoredReply] = {}
    found = []
    for job in jobs:
        before = set(made_up)
        found.append(asyncio.run(_preview_job(store, job, environment, sample, before, made_up)))
    return tuple(found)


async def _preview_job(
    store: Store,
    job: _PreviewJob,
    environment: RunEnvironment,
    sample: int,
    before: set[str],
    made_up: dict[str, StoredReply],
) -> Preview:
    spec, conversations = job.spec, job.conversations
    pricing = TablePrices(environment.prices, spec.judge, spec.base_url, spec.batch)
    stand_in = _StandInJudge(spec, pricing)
    shared = _SharedQuestions(store, conversations)
    notes = _PreviewReplyCache(store, stand_in, shared.count_conversations_asking, before, made_up)
    chosen = _choose_spread_indices(len(conversations), sample)
    sampled = characters = 0
    most_text = MOST_FREE_TEXT if is_in_process_judge(spec.judge) else MOST_TEXT
    asker = Asker(
        stand_in,
        notes,
        pricing=pricing,
        load_image=StoreImages(store),
        on_reply=notes.on_reply,
        on_answer=shared.map_reply_to_turn,
        answer_limit=spec.profile.max_tokens,
    )
    for place in chosen:
        conversation = store.conversations.get(conversations[place])
        characters += _count_window_characters(job.metric, conversation)
        if sampled and characters > most_text:
            break
        notes.conversation = sampled
        sampled += 1
        await _ask_about_conversation(store, job, conversations[place], conversation, asker, shared)
    await asker.aclose()
    await stand_in.aclose()
    questions = list(notes.questions.values())
    counted = _choose_spread_indices(len(conversations), MOST_COUNTED)
    windows = [_count_windows_to_judge(store, job, conversations[place]) for place in counted]
    found = extrapolate_preview_from_sample(
        spec, questions, notes.answered, sampled, len(conversations), pricing, windows
    )
    return replace(
        found,
        parameters=spec.profile.to_json(),
        asked_with=describe_parameters(store, spec),
        held_back=find_image_hosts(store, conversations, spec.judge).format_never_allowed_warning(),
    )


def _count_window_characters(metric: Metric[Any], conversation: Conversation) -> int:
    """Count what the windows of a conversation hold: what several hold, several times."""
    turns = [
        len(turn.content) + sum(len(each.text) for each in turn.retrieval_context or ())
        for turn in conversation.turns
    ]
    return sum(turns[position] for each in metric.windows(conversation) for position in each.turns)


def _count_windows_to_judge(store: Store, job: _PreviewJob, number: ConversationId) -> int:
    """Count the windows of a conversation that would be judged."""
    conversation = store.conversations.get(number)
    if job.metric.explain_skip(conversation) is not None or not job.find_claims(store, number)[1]:
        return 0
    return len(tuple(job.metric.windows(conversation)))


async def _ask_about_conversation(
    store: Store,
    job: _PreviewJob,
    number: ConversationId,
    conversation: Conversation,
    asker: Asker,
    shared: _SharedQuestions,
) -> None:
    """Let the metric ask everything about one conversation."""
    metric = job.metric
    if metric.explain_skip(conversation) is not None:
        return
    claims, is_judged = job.find_claims(store, number)
    if not is_judged:
        return
    shared.begin_conversation(number, conversation, claims or ())
    ask = asker.bind_to_item(ItemId(0), asked_after=job.asked_after)
    windows = tuple(metric.windows(conversation))
    try:
        findings = await drive_questions(metric.gather(conversation, ask.judge_traits, claims), ask)
        assessments = [metric.assess(findings, window) for window in windows]
        job.remember_extracted_claims(number, assessments)
        await drive_questions(metric.conclude(assessments), ask)
    except (JudgeError, MetricError):
        # It would fail in the run as well, after the same questions.
        pass


def _choose_spread_indices(total: int, sample: int) -> list[int]:
    """Choose places spread over a list, one at random from each of equal stretches, mixed."""
    count = min(total, sample)
    random = Random(_SEED)
    edges = [total * part // count for part in range(count + 1)] if count else []
    places = [random.randrange(low, high) for low, high in pairwise(edges)]
    # Looking may end early, and must not have seen the beginning alone then.
    random.shuffle(places)
    return places
