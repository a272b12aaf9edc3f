"""Compare claims with truths for `evidence`: every pair that shares a window, once.

What a claim needs together may be spread over two questions, and then neither shows it whole:
`ask_about_undecided_claims` asks about such claims again, window by window.

One question for two neighbouring interactions: their claims with all truths in their view, and the
earlier claims in view with their new truths. What lies in view of neighbours is mostly the same, so
asking for each interaction by itself would show every truth and have every claim answered twice as
often. The price is that some pairs at the far ends of a question never share a
window; what the judge says of them is not used.
"""

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from faithtui.domain.conversation import Conversation
from faithtui.domain.judging.tasks import EvidenceGroup, FindEvidence
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.windows import Window
from faithtui.errors import JudgeError, JudgeReplyInvalid
from faithtui.metrics.base import AGAIN_SUFFIX, AnswerCount, Question, Questions, ask, ask_branches
from faithtui.metrics.missing_verdicts import AskRounds
from faithtui.metrics.prompt_texts import format_numbered_lines
from faithtui.metrics.reply_shapes import ParsedVerdict, make_keyed_verdicts_reply_shape
from faithtui.metrics.strategies.faithfulness_labels import (
    PEER_WORDS,
    FaithfulnessOptions,
    ask_or_return_error,
    format_failure,
    has_faithfulness_label,
    read_faithfulness_label,
)
from faithtui.metrics.strategies.window_verdicts import (
    ClaimFinding,
    ConversationEvidence,
    TruthSet,
    decide_claim,
    keep_minimal_truth_sets,
)

MOST_NEIGHBOURS = 2
"""Interactions compared in one question. More would send less text in all, but each question would
be longer than the peer's, and judges skip entries in long lists."""

Groups = tuple[EvidenceGroup, ...]
Pair = tuple[int, str]
"""Position of a group and text of a claim in it."""
ComparisonOutcome = list[tuple[str, ClaimFinding]] | JudgeError | None
"""Findings by text of the claim; None when there was nothing to ask."""

RECONSIDER = (
    "Earlier answers about these claims contradict themselves. Decide anew, and let verdict and "
    "numbers say the same:"
)
"""Put before what was contradictory, after the whole question."""


class Comparisons:
    """The comparisons of one conversation, each asked as soon as its interactions are read.

    What a question asks depends on what the questions before it ask, so they are planned in order,
    whatever the order in which interactions are read.
    """

    def __init__(
        self,
        metric: FaithfulnessOptions,
        conversation: Conversation,
        windows: Sequence[Window],
        known: ConversationEvidence,
    ) -> None:
        self._metric = metric
        self._conversation = conversation
        self._known = known
        self._unplanned = deque(_group_windows_per_question(metric.window_size, windows))
        self._read: set[int] = set()
        self._met: dict[str, set[str]] = {}
        self._outcomes: dict[int, tuple[Groups, ComparisonOutcome]] = {}
        """By position of the window that asked."""

    def record_interaction_extracted(self, window: Window) -> None:
        """Note that an interaction is read."""
        self._read.add(window.position)

    def ask_ready_comparisons(self) -> Questions[None]:
        """Ask the comparisons whose interactions are all read, and that were not asked yet."""
        plans = list(self._plan_ready_comparisons())
        outcomes = yield from ask_branches(
            (
                _ask_comparison_or_return_error(self._metric, groups, window)
                for window, groups in plans
            ),
            at_once=self._metric.async_mode,
        )
        for (window, groups), outcome in zip(plans, outcomes, strict=True):
            self._outcomes[window] = groups, outcome

    def write_findings_to_evidence(self) -> None:
        """Keep what all of them found, in the order of the conversation."""
        for window in sorted(self._outcomes):
            _record_comparison_findings(*self._outcomes[window], self._known)

    def _plan_ready_comparisons(self) -> Iterator[tuple[int, Groups]]:
        while self._unplanned and all(each.position in self._read for each in self._unplanned[0]):
            stretch = self._unplanned.popleft()
            for window in stretch:
                self._known.collect_window_truths(self._conversation, window)
            groups = _group_claims_by_new_truths_and_mark_met(
                self._metric, stretch, self._known, self._met
            )
            yield stretch[-1].position, groups


def ask_about_undecided_claims(
    metric: FaithfulnessOptions, windows: Sequence[Window], known: ConversationEvidence
) -> Questions[None]:
    """Ask about claims in the windows for which the comparisons do not decide them.

    A question shows all truths of its window, as the peer's does. Windows with the same truths
    bearing on a claim need one question; what is learned there may decide other windows, or add a
    truth to what bears on the claim, so that windows are looked at again until none is left. Every
    claim is asked about at most once for each set of truths in view.
    """
    asked: set[tuple[str, TruthSet]] = set()
    failed: set[tuple[str, TruthSet]] = set()
    while plans := _plan_questions_on_undecided_claims(metric, windows, known, asked, failed):
        compared = yield from ask_branches(
            (
                _ask_comparison_or_return_error(metric, groups, position, again=True)
                for position, groups in plans
            ),
            at_once=metric.async_mode,
        )
        for (_, groups), found in zip(plans, compared, strict=True):
            if not isinstance(found, JudgeError):
                _record_comparison_findings(groups, found, known)
                continue
            (group,) = groups
            for text in group.claims:
                known.undecided.setdefault(text, format_failure(found))
                failed.add((text, _find_relevant_truths(known, text, frozenset(group.truths))))


def _plan_questions_on_undecided_claims(
    metric: FaithfulnessOptions,
    windows: Sequence[Window],
    known: ConversationEvidence,
    asked: set[tuple[str, TruthSet]],
    failed: Collection[tuple[str, TruthSet]],
) -> list[tuple[int, Groups]]:
    """Plan one question for each window with claims that nothing decides yet.

    Args:
        metric: Options.
        windows: In order.
        known: What is known.
        asked: Claims with the truths in view for which they were asked; what is planned is added.
        failed: Claims with the truths bearing on them for which nothing came of it.

    Returns:
        Positions of windows with their questions.
    """
    plans: list[tuple[int, Groups]] = []
    planned: set[tuple[str, TruthSet]] = set()
    for window in windows:
        if known.find_window_failure(window) is not None:
            continue
        in_view = known.in_view[window.position]
        texts: dict[str, None] = {}
        for claim in known.list_claims(window):
            findings = known.findings.get(claim.text, ())
            if decide_claim(findings, in_view, as_peer=metric.as_peer) is not None:
                continue
            needed = claim.text, _find_relevant_truths(known, claim.text, in_view)
            if (claim.text, in_view) in asked or needed in planned or needed in failed:
                continue
            planned.add(needed)
            texts[claim.text] = None
        if texts:
            asked.update((text, in_view) for text in texts)
            truths = tuple(truth.text for truth in known.truths[window.position])
            plans.append((window.position, (EvidenceGroup(tuple(texts), truths),)))
    return plans


def _find_relevant_truths(known: ConversationEvidence, text: str, in_view: TruthSet) -> TruthSet:
    """Give the truths in view that bear on a claim, as far as the judge named them."""
    return frozenset(t for each in known.findings.get(text, ()) for t in each.named & in_view)


def _group_windows_per_question(
    window_size: int, windows: Sequence[Window]
) -> list[Sequence[Window]]:
    """Cut the windows into those that are compared in one question.

    At most half as many as a window holds, so that most of what stands in a question shares one.
    """
    size = min(MOST_NEIGHBOURS, max(1, window_size // 2))
    return [windows[start : start + size] for start in range(0, len(windows), size)]


def _group_claims_by_new_truths_and_mark_met(
    metric: FaithfulnessOptions,
    stretch: Sequence[Window],
    known: ConversationEvidence,
    met: dict[str, set[str]],
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
            groups.setdefault(in_view, {})[text] = None
            continue
        left = tuple(truth for truth in in_view if truth not in before)
        if left:
            groups.setdefault(left, {})[text] = None
    for truths, claims in groups.items():
        for text in claims:
            met.setdefault(text, set()).update(truths)
    return tuple(EvidenceGroup(tuple(claims), truths) for truths, claims in groups.items())


def _ask_comparison_or_return_error(
    metric: FaithfulnessOptions, groups: Groups, window: int, *, again: bool = False
) -> Questions[ComparisonOutcome]:
    if not groups:
        return None
    return (
        yield from ask_or_return_error(
            _ask_until_consistent(metric, groups, window, again=again), metric.as_peer
        )
    )


def _record_comparison_findings(
    groups: Groups, compared: ComparisonOutcome, known: ConversationEvidence
) -> None:
    """Keep what a comparison found, or why it found nothing."""
    if isinstance(compared, JudgeError):
        for group in groups:
            for text in group.claims:
                lost = known.lost.setdefault(text, {})
                lost.update(dict.fromkeys(group.truths, format_failure(compared)))
                known.undecided[text] = format_failure(compared)
        return
    for text, finding in compared or ():
        known.findings.setdefault(text, []).append(finding)


def _ask_until_consistent(
    metric: FaithfulnessOptions, groups: Groups, window: int, *, again: bool
) -> Questions[list[tuple[str, ClaimFinding]]]:
    """Ask one comparison until it is complete and agrees with itself, as far as that can be had.

    Claims without a verdict are asked for again, at most twice; then claims whose verdict and
    evidence contradict each other, once. All of it shares one count of answers.

    Args:
        metric: Options.
        groups: What to compare.
        window: Position of the window that asks.
        again: These claims were compared before, in other questions.
    """
    pairs = {
        (position, claim): group for position, group in enumerate(groups) for claim in group.claims
    }
    found: dict[tuple[int, str], ClaimFinding] = {}
    count = AnswerCount()
    left = tuple(pairs)
    rounds = AskRounds(count)
    while left and rounds.has_more:
        question = _make_claims_against_truths_question(
            metric, _group_claims_by_truths(left, pairs), again=again
        )
        try:
            replies = yield from ask(
                replace(question, replicate=rounds.replicate, count=count), window
            )
        except JudgeReplyInvalid:
            if not rounds.replicate:
                raise
            break  # what came before stands, and the rest has no verdict
        found |= _read_findings(metric, left, pairs, replies)
        rounds.count_reply()
        left = tuple(pair for pair in pairs if found[pair].label is None)
        if metric.as_peer:
            break
    disputed = {pair: each for pair, each in found.items() if each.contradiction is not None}
    if disputed and not metric.as_peer:
        found |= yield from _ask_about_disputed(metric, disputed, pairs, window, count)
    return [(claim, finding) for (_, claim), finding in found.items()]


def _ask_about_disputed(
    metric: FaithfulnessOptions,
    disputed: Mapping[Pair, ClaimFinding],
    pairs: Mapping[Pair, EvidenceGroup],
    window: int,
    count: AnswerCount,
) -> Questions[dict[Pair, ClaimFinding]]:
    """Ask once more about claims whose verdict and evidence contradict each other, and say how.

    Returns:
        What the judge says now, of the claims for which it says something that can be read.
    """
    groups = _group_claims_by_truths(tuple(disputed), pairs)
    question = _make_claims_against_truths_question(metric, groups, again=True)
    remarks = "\n".join(
        f'- c{number}: the verdict was "{finding.label}", but {finding.contradiction}.'
        for number, finding in enumerate(disputed.values())
    )
    prompt = f"{question.prompt}\n\n{RECONSIDER}\n{remarks}"
    try:
        replies = yield from ask(replace(question, prompt=prompt, count=count), window)
    except JudgeReplyInvalid:
        return {}  # the first answer could be used, and stands
    now = _read_findings(metric, tuple(disputed), pairs, replies)
    return {pair: finding for pair, finding in now.items() if finding.label is not None}


def _group_claims_by_truths(left: Sequence[Pair], pairs: Mapping[Pair, EvidenceGroup]) -> Groups:
    """Group claims by the truths they are compared with, in the order of the first question."""
    claims: dict[int, list[str]] = {}
    truths: dict[int, tuple[str, ...]] = {}
    for pair in left:
        position, claim = pair
        claims.setdefault(position, []).append(claim)
        truths[position] = pairs[pair].truths
    return tuple(
        EvidenceGroup(tuple(texts), truths[position]) for position, texts in claims.items()
    )


def _read_findings(
    metric: FaithfulnessOptions,
    left: Sequence[Pair],
    pairs: Mapping[Pair, EvidenceGroup],
    replies: Sequence[ParsedVerdict | None],
) -> dict[Pair, ClaimFinding]:
    """Read the replies to a question about these claims; numbers become texts of truths."""
    texts = [truth for group in _group_claims_by_truths(left, pairs) for truth in group.truths]
    numbers = {f"t{number}": text for number, text in enumerate(texts)}
    return {
        pair: _make_finding(verdict, pairs[pair].truths, numbers, as_peer=metric.as_peer)
        for pair, verdict in zip(left, replies, strict=True)
    }


def _make_finding(
    verdict: ParsedVerdict | None,
    truths: Sequence[str],
    numbers: Mapping[str, str],
    *,
    as_peer: bool,
) -> ClaimFinding:
    """Make a finding of an entry. Numbers that do not stand above the claim name nothing.

    A set with such a number is not whole: what is left of it speaks for a part of the claim.
    """
    if verdict is None:
        return ClaimFinding(frozenset(truths), None, None)

    def list_truths_of_numbers(wanted: Sequence[str]) -> TruthSet:
        return frozenset(numbers[each] for each in wanted if numbers.get(each) in truths)

    whole = [each for each in verdict.sufficient if all(numbers.get(n) in truths for n in each)]
    broken = [each for each in verdict.sufficient if each not in whole]
    sufficient = keep_minimal_truth_sets([list_truths_of_numbers(each) for each in whole])
    contradicts = list_truths_of_numbers(verdict.contradicts)
    partial = list_truths_of_numbers(verdict.partial).union(*map(list_truths_of_numbers, broken))
    return ClaimFinding(
        truths=frozenset(truths),
        verdict=verdict,
        label=read_faithfulness_label(verdict.word, as_peer),
        sufficient=sufficient,
        partial=partial.difference(contradicts, *sufficient),
        contradicts=contradicts,
    )


def _make_claims_against_truths_question(
    metric: FaithfulnessOptions, groups: Groups, *, again: bool
) -> Question[tuple[ParsedVerdict | None, ...]]:
    parts, claims, truths = [], 0, 0
    for group in groups:
        parts.append(
            f"Truths:\n{format_numbered_lines('t', group.truths, truths)}\n"
            f"Claims:\n{format_numbered_lines('c', group.claims, claims)}"
        )
        claims += len(group.claims)
        truths += len(group.truths)
    return Question(
        step=f"verdicts{AGAIN_SUFFIX}" if again else "verdicts",
        task=FindEvidence(groups),
        system=metric.prompts.render("system"),
        prompt=metric.prompts.render("evidence", groups="\n\n".join(parts)),
        reply=make_keyed_verdicts_reply_shape(
            [f"c{n}" for n in range(claims)],
            PEER_WORDS if metric.as_peer else FAITHFULNESS.names,
            truths=[f"t{n}" for n in range(truths)],
            as_peer=metric.as_peer,
        ),
        max_tokens=400 + 120 * claims,
        says_something=lambda replies: any(
            has_faithfulness_label(each, metric.as_peer) for each in replies
        ),
    )
