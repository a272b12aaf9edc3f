"""The figures of a preview: from a sample of the conversations to all of them, and into words."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import stdev
from typing import Final

from faithtui.domain.ids import RunId
from faithtui.domain.judging.judge_names import judge_title
from faithtui.engine.calls.call_costs import TablePrices
from faithtui.store.records import RunSpec

EXPENSIVE_NUSD: Final = 1_000_000_000
"""What runs may cost, in units of 1e-9 US dollars, before somebody is asked: a dollar."""

_WIDTH: Final = 2.1
"""Half the width of a 95 % interval, in standard errors, for samples of about 20."""


@dataclass(frozen=True, slots=True)
class EstimatedCount:
    """A number that was estimated from a sample, with its 95 % interval."""

    value: int
    low: int
    high: int
    is_exact: bool = True
    """Whether everything was looked at. Conversations of a sample that are all alike give an
    interval without width, but no exact number."""

    @property
    def has_range(self) -> bool:
        """Whether the interval has a width."""
        return self.low < self.high


@dataclass(frozen=True, slots=True)
class StepPreview:
    """Questions of one step, over all conversations, rounded."""

    step: str
    calls: int
    """That would be put to the judge."""
    stored: int
    """That are answered by what is stored, or by what this or an earlier run of the order asks."""
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class Preview:
    """What a run would ask and cost."""

    metric: str
    judge: str
    conversations: int
    """To be judged."""
    sampled: int
    """Of them, looked at."""
    calls: EstimatedCount
    """Questions that would be put to the judge, without any that are asked again."""
    calls_stored: int
    """Questions that need no call, rounded: their answers are stored."""
    tokens_in: EstimatedCount
    """Read by the judge, by the length of the texts."""
    tokens_out: EstimatedCount
    """Written by it, if it writes as much as the embedded judge does."""
    cost_nusd: EstimatedCount | None
    """In units of 1e-9 US dollars; None: the price is not known."""
    worst_nusd: int | None
    """The most it may cost if every answer were as long as its limit; None as above."""
    prices: str
    """Where the price is from and of which date, or all places that were looked at in vain; ""
    where nothing is to be paid."""
    steps: tuple[StepPreview, ...]
    """In the order of their first question."""
    windows: EstimatedCount = EstimatedCount(0, 0, 0)
    """Windows to be judged."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    """What the judge is asked with beside the question, by name."""
    asked_with: str = ""
    """The same in words, with what the model refuses; "" for nothing."""
    held_back: str | None = None
    """Which of them cannot be judged because of where their images lie; None: all can."""
    same_run: RunId | None = None
    """The newest run there is that judges the same in the same way; None: there is none."""

    @property
    def is_free(self) -> bool:
        """Whether nothing it may ask costs anything."""
        # The most it may cost leaves out questions that are longer than their price holds for.
        return self.worst_nusd == 0 and self.cost_nusd is not None and not self.cost_nusd.high


@dataclass(slots=True)
class PreviewQuestion:
    """A question that would be put to the judge."""

    step: str
    conversation: int
    """Who asks it first, as a place in the sample."""
    tokens_in: int
    tokens_out: int
    cost_nusd: int | None
    worst_nusd: int
    sharers: int = 1
    """Conversations of the run, in the sample or not, that are known to ask it."""
    asked_by: set[int] = field(default_factory=set)
    """Conversations of the sample that ask it too, as places in it."""


def format_preview_line(previewed: Sequence[Preview]) -> str:
    """Say in one line what runs of one judge would ask and cost.

    Args:
        previewed: At least one.
    """
    judge, prices = judge_title(previewed[0].judge), previewed[0].prices
    calls = sum_estimates([each.calls for each in previewed])
    read = sum_estimates([each.tokens_in for each in previewed])
    written = sum_estimates([each.tokens_out for each in previewed])
    stored = sum(each.calls_stored for each in previewed)
    about = "" if calls.is_exact else "about "
    words = [
        f"{about}{_format_count(calls.value)} {'question' if calls.value == 1 else 'questions'}"
    ]
    words[0] += f" to {judge}"
    if calls.has_range:
        words[0] += f" ({_format_count(calls.low)} to {_format_count(calls.high)})"
    words.append(
        f"{_format_tokens(read.value)} tokens read and {_format_tokens(written.value)} written"
    )
    if stored:
        words.append(f"{_format_count(stored)} more need no call")
    costs = [each.cost_nusd for each in previewed]
    known = [each for each in costs if each is not None]
    worst = [each.worst_nusd for each in previewed if each.worst_nusd is not None]
    if len(known) < len(costs):
        words.append(f"cost not known: no price in {prices}")
    elif all(each.is_free for each in previewed):
        words.append("costs nothing")
    else:
        cost = sum_estimates(known)
        words.append(
            f"about {format_usd(cost.value)}, at most {format_usd(sum(worst))} (prices of {prices})"
        )
    return "; ".join(words)


def list_preview_fields(previewed: Sequence[Preview]) -> list[tuple[str, str]]:
    """Say in named parts what runs of one judge would judge, ask and cost.

    Args:
        previewed: At least one.
    """
    windows = sum_estimates([each.windows for each in previewed])
    calls = sum_estimates([each.calls for each in previewed])
    stored = sum(each.calls_stored for each in previewed)
    conversations = max(each.conversations for each in previewed)
    judged = f"{conversations:,} {'conversation' if conversations == 1 else 'conversations'}, "
    judged += _format_with_range(windows, "window")
    is_sample = any(each.sampled < each.conversations for each in previewed)
    about = "about " if is_sample else ""
    parts = [("judged", judged), ("asks", _describe_questions(calls, stored, about))]
    if calls.high:
        read = sum_estimates([each.tokens_in for each in previewed])
        written = sum_estimates([each.tokens_out for each in previewed])
        tokens = f"about {_format_tokens(read.value)} read, {_format_tokens(written.value)} written"
        parts.append(("tokens", tokens))
    parts.append(("cost", _describe_cost(previewed)))
    same = [f"#{each.same_run}" for each in previewed if each.same_run is not None]
    if same:
        named = f"{'run' if len(same) == 1 else 'runs'} {' '.join(same)}"
        parts.insert(0, ("same as", f"{named}: metric, judge, options and conversations"))
    return parts


def _format_with_range(found: EstimatedCount, one: str) -> str:
    words = format_estimated_count(found, one)
    return f"{words} ({found.low:,} to {found.high:,})" if found.has_range else words


def _describe_questions(calls: EstimatedCount, stored: int, about: str) -> str:
    """Say how many questions are put, and how many need no call."""
    if not calls.high:
        count = f"all {about and 'of ' + about}{stored:,} questions"
        return f"nothing: {count} are answered already" if stored else "nothing"
    words = _format_with_range(calls, "question")
    if stored:
        words += f"; {about}{stored:,} more need{'' if stored > 1 else 's'} no call"
    return words


def _describe_cost(previewed: Sequence[Preview]) -> str:
    origin = f"prices of {previewed[0].prices}"
    known = [each.cost_nusd for each in previewed if each.cost_nusd is not None]
    if len(known) < len(previewed):
        return f"not known: the {origin} have none for this judge"
    if all(each.is_free for each in previewed):
        return "nothing"
    cost = sum_estimates(known)
    words = f"about {format_usd(cost.value)}"
    if cost.has_range:
        words += f" ({format_usd(cost.low)} to {format_usd(cost.high)})"
    worst = sum(each.worst_nusd or 0 for each in previewed)
    return f"{words}, at most {format_usd(worst)} · {origin}"


def explain_why_to_confirm_cost(
    previewed: Sequence[Preview], budget_nusd: int | None = None
) -> str:
    """Say why somebody should agree before runs start; "" where they cost little.

    Args:
        previewed: At least one.
        budget_nusd: The most that each may cost; None: no limit.
    """
    calls = sum_estimates([each.calls for each in previewed])
    if not calls.high or all(each.is_free for each in previewed):
        return ""
    asked = format_estimated_count(calls, "question")
    judge = judge_title(previewed[0].judge)
    known = [each.cost_nusd for each in previewed if each.cost_nusd is not None]
    if len(known) < len(previewed):
        return f"The price of {judge} is not known: nobody can say what {asked} will cost."
    limits = [each.high if budget_nusd is None else min(each.high, budget_nusd) for each in known]
    if sum(limits) < EXPENSIVE_NUSD:
        return ""
    cost = sum_estimates(known)
    words = f"{asked.capitalize()} to {judge} cost about {format_usd(cost.value)}"
    if cost.has_range:
        words += f" ({format_usd(cost.low)} to {format_usd(cost.high)})"
    if budget_nusd is None:
        return f"{words}. There is no budget."
    return f"{words}. Each run stops at its budget of {format_usd(budget_nusd)}."


def format_estimated_count(found: EstimatedCount, one: str) -> str:
    """Write a number with its noun: `about 1,234 questions`."""
    about = "" if found.is_exact else "about "
    return f"{about}{found.value:,} {one}{'' if found.value == 1 else 's'}"


def format_usd(nusd: int) -> str:
    """Write an amount of money with as many digits as tell something."""
    usd = nusd / 1e9
    if usd >= 100:
        return f"${usd:,.0f}"
    if usd >= 0.095 or not nusd:
        return f"${usd:.2f}"
    return f"${usd:.2g}" if usd >= 1e-4 else "<$0.0001"


def extrapolate_preview_from_sample(
    spec: RunSpec,
    questions: Sequence[PreviewQuestion],
    answered: Mapping[str, int],
    sampled: int,
    total: int,
    pricing: TablePrices,
    windows: Sequence[int] = (),
) -> Preview:
    """Go from the sample to all conversations.

    What one conversation asks alone grows with their number. Of a question that m of them are known
    to ask, each brings 1/m: on average that is right, however they share. What is shared otherwise
    is taken as it is, once: on average that is never too little, and too much where it is
    shared by few, which is better than the other way round when it is about money.

    Args:
        spec: The run.
        questions: What the sample would put to the judge, each question once.
        answered: Questions of the sample that need no call, by step; every step is there, in the
            order of its first question.
        sampled: Conversations that were looked at.
        total: All of them.
        pricing: What calls cost.
        windows: Windows of each conversation whose windows were counted, at random among all.
    """

    def estimate_sum(
        size: Callable[[PreviewQuestion], int], step: str | None = None
    ) -> EstimatedCount:
        alone = [0.0] * sampled
        shared = seen = 0
        for each in questions:
            if step not in (None, each.step):
                continue
            seen += size(each)
            if each.sharers > 1:
                for place in {each.conversation, *each.asked_by}:
                    alone[place] += size(each) / each.sharers
            elif each.asked_by:
                shared += size(each)
            else:
                alone[each.conversation] += size(each)
        return _estimate_total(alone, shared, seen, total)

    def estimate_stored_answers(count: int, step: str | None = None) -> int:
        # Whoever has a question and does not put it finds its answer stored.
        had = count + sum(step in (None, each.step) for each in questions)
        calls = estimate_sum(_return_one, step).value
        return max(0, round(had * total / sampled) - calls) if sampled else 0

    is_priced = pricing.compute_max_cost_nusd(1, 1) is not None and all(
        each.cost_nusd is not None for each in questions
    )
    cost = estimate_sum(lambda each: each.cost_nusd or 0)
    worst = estimate_sum(lambda each: each.worst_nusd)
    return Preview(
        metric=spec.metric,
        judge=spec.judge,
        conversations=total,
        sampled=sampled,
        calls=estimate_sum(_return_one),
        calls_stored=estimate_stored_answers(sum(answered.values())),
        tokens_in=estimate_sum(_get_tokens_in),
        tokens_out=estimate_sum(_get_tokens_out),
        cost_nusd=cost if is_priced else None,
        worst_nusd=max(worst.high, cost.high) if is_priced else None,
        prices=pricing.price_source_or_sources_asked,
        steps=tuple(
            StepPreview(
                step,
                estimate_sum(_return_one, step).value,
                estimate_stored_answers(count, step),
                estimate_sum(_get_tokens_in, step).value,
                estimate_sum(_get_tokens_out, step).value,
            )
            for step, count in answered.items()
        ),
        windows=_estimate_total(windows, 0, sum(windows), total)
        if windows
        else EstimatedCount(0, 0, 0),
    )


def sum_estimates(parts: Sequence[EstimatedCount]) -> EstimatedCount:
    """Add estimates up. Runs go over the same sample, so that their errors go together."""
    return EstimatedCount(
        value=sum(each.value for each in parts),
        low=sum(each.low for each in parts),
        high=sum(each.high for each in parts),
        is_exact=all(each.is_exact for each in parts),
    )


def _format_count(number: int) -> str:
    return f"{number:,}"


def _format_tokens(number: int) -> str:
    if number >= 1_000_000:
        return f"{number / 1_000_000:.1f}M"
    return f"{number / 1_000:.0f}k" if number >= 10_000 else f"{number:,}"


def _return_one(question: PreviewQuestion) -> int:
    return 1


def _get_tokens_in(question: PreviewQuestion) -> int:
    return question.tokens_in


def _get_tokens_out(question: PreviewQuestion) -> int:
    return question.tokens_out


def _estimate_total(alone: Sequence[float], shared: int, seen: int, total: int) -> EstimatedCount:
    """Estimate a total over `total` conversations from what each of a sample brings to it.

    `shared` is part of it once; `seen` is what the sample has in all, which it cannot be less than.

    Source: the mean of a simple random sample without replacement, with the correction for a
    finite population; Cochran, Sampling Techniques, 3rd edition, 2.5.
    """
    sampled = len(alone)
    if sampled >= total:
        return EstimatedCount(seen, seen, seen)
    mean = sum(alone) / sampled
    # One conversation tells nothing about how different they are.
    spread = stdev(alone) if sampled > 1 else mean
    half = _WIDTH * spread * total * math.sqrt((1 - sampled / total) / sampled)
    value = max(seen, mean * total + shared)
    low = max(seen, round(value - half))
    return EstimatedCount(round(value), low, round(value + half), is_exact=False)
