"""What a metric says about one conversation outside a store, as a value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from faithtui.domain.claims.verdicts import (
    Assessment,
    Claim,
    Conclusion,
    Evidence,
    Truth,
    Verdict,
    make_claim_identity_key,
)
from faithtui.domain.conversation import Conversation
from faithtui.domain.field_types import require_type
from faithtui.domain.integrity.run_summary import EMPTY_SUMMARY, IntegritySummary
from faithtui.domain.json_values import Json, JsonFields
from faithtui.domain.labels.label_sets import NOT_A_CLAIM
from faithtui.domain.scores import (
    ClaimOccurrence,
    Score,
    ScoreSet,
    ScoreState,
    ScoringRule,
    WindowLabels,
    score_conversation,
)
from faithtui.domain.windows import split_into_interactions
from faithtui.engine.integrity.judged_conversations import CheckRules
from faithtui.engine.integrity.run_checks import check_unsaved_assessments
from faithtui.engine.library.result_tables import ResultTable, format_score_or_dash
from faithtui.engine.runs.verbose_steps import format_windows_and_score
from faithtui.errors import ConfigError
from faithtui.judges.base import JudgeReply
from faithtui.judges.providers.prices import compute_cost_usd
from faithtui.metrics.base import Metric, MetricSpec


@dataclass(frozen=True, slots=True)
class Call:
    """One reply of the judge."""

    step: str
    """Kind of question within the metric."""
    text: str
    """The reply as it came."""
    tokens_in: int | None
    """None: the provider did not say."""
    tokens_out: int | None
    tokens_cached: int | None
    latency_ms: int
    cost_usd: float | None
    """None: no price is known for the model."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a metric says about a conversation, with everything it rests on."""

    spec: MetricSpec
    """The metric: its key, title, peer and labels."""
    rule: ScoringRule
    """How its labels became scores."""
    options: Mapping[str, object]
    """All its options, defaults included."""
    judge: str
    """What the judge is called, as `provider:model`."""
    conversation: Conversation
    """What was measured."""
    scores: ScoreSet
    """Windowed (the headline), per interaction, and pooled."""
    success: bool | None
    """Whether the score meets the threshold; None without one or without a score."""
    reason: str | None
    """The final reason, where the metric asks for one."""
    windows: tuple[Assessment, ...]
    """Every window in order: its turns, truths, verdicts with evidence, score and reason."""
    calls: tuple[Call, ...]
    """Every reply, in the order of arrival; () when nothing was asked."""
    latency_ms: int
    """From the first question to the result, in milliseconds of wall time."""
    peer: tuple[Mapping[str, object], ...]
    """The result in the peer's own field names: one for a conversation, or one per answer."""
    integrity: IntegritySummary = EMPTY_SUMMARY
    """Whether what the judge wrote can be found in the conversation."""
    parameters: str = ""
    """What the judge was asked with, such as `temperature 0`; "" for nothing."""

    @property
    def score(self) -> Score:
        """The headline: the peer's definition."""
        return self.scores.windowed

    @property
    def warning(self) -> str:
        """What stands against the score, such as `suspect: 3 of 3 claims are not in the answer`.

        Empty when every claim, truth and reason was found where it must come from.
        """
        return self.spec.format_integrity_sentence(self.integrity)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The home verdict of each claim: that of the first window that holds it."""
        found: dict[object, Verdict] = {}
        for window in self.windows:
            for verdict in window.verdicts:
                found.setdefault(make_claim_identity_key(verdict.claim), verdict)
        return tuple(found.values())

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What was judged, each once, in the order of the windows."""
        return tuple(verdict.claim for verdict in self.verdicts)

    @property
    def truths(self) -> tuple[Truth, ...]:
        """What it was checked against, each once, in the order of the windows."""
        return tuple(dict.fromkeys(truth for window in self.windows for truth in window.truths))

    @property
    def evidence(self) -> Mapping[Claim, tuple[Evidence, ...]]:
        """The truths the judge named for each claim, of all windows together."""
        found: dict[object, tuple[Claim, dict[Evidence, None]]] = {}
        for window in self.windows:
            for verdict in window.verdicts:
                _, named = found.setdefault(
                    make_claim_identity_key(verdict.claim), (verdict.claim, {})
                )
                named |= dict.fromkeys(verdict.evidence)
        return {claim: tuple(named) for claim, named in found.values()}

    @property
    def tokens_in(self) -> int:
        """All input tokens; calls of which the provider did not say count 0."""
        return sum(call.tokens_in or 0 for call in self.calls)

    @property
    def tokens_out(self) -> int:
        """All output tokens, counted likewise."""
        return sum(call.tokens_out or 0 for call in self.calls)

    @property
    def cost_usd(self) -> float | None:
        """What the calls cost in US dollars; None when the price of one is not known."""
        costs = [call.cost_usd for call in self.calls]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    def score_with_overrides(self, human: Mapping[Claim, str]) -> ScoreSet:
        """Score the conversation with human labels in place of the judge's.

        Args:
            human: A label of the metric, a word that another metric has for it, or `x` for not a
                fair claim, per claim of `claims`.

        Returns:
            The three scores. Without any label they are `scores`, where there are windows.

        Raises:
            InputError: Not a mapping of claims to words.
            KeyError: A claim that was not judged.
            ValueError: A word that means nothing under this metric.
        """
        require_type(human, Mapping, "human", "a mapping such as {result.claims[0]: 'no'}")
        for claim, word in human.items():
            require_type(claim, Claim, "human", "claims of the measurement as keys")
            require_type(word, str, f"human[{claim.text!r}]", "a word for the verdict")
        known = {make_claim_identity_key(claim) for claim in self.claims}
        for claim, word in human.items():
            if make_claim_identity_key(claim) not in known:
                raise KeyError(claim)
            if self.rule.translate_word_to_label(word) is None:
                expected = ", ".join([*self.spec.labels.names, NOT_A_CLAIM])
                raise ValueError(f"{word!r} is no label of {self.spec.key}; expected {expected}")
        if not self.windows:
            return self.scores
        label_by_claim: dict[object, str] = {
            make_claim_identity_key(claim): label for claim, label in human.items()
        }
        return score_assessments(self.rule, self.conversation, self.windows, label_by_claim)

    def corrected(self, human: Mapping[Claim, str]) -> ScoreSet:
        """Call `score_with_overrides`; the old name, for one release."""
        return self.score_with_overrides(human)

    def to_dict(self) -> dict[str, Json]:
        """Give everything but the replies and the texts of the conversation, as JSON values."""
        evidence = self.evidence
        return {
            **self.to_row(),
            "options": {name: _to_json(value) for name, value in self.options.items()},
            "scores": {
                name: _score_to_json(getattr(self.scores, name))
                for name in ("windowed", "per_interaction", "pooled")
            },
            "windows": [
                {
                    "position": each.window.position,
                    "turns": list(each.window.turns),
                    "score": _score_to_json(each.score),
                    "reason": each.reason,
                    "claims": [verdict.claim.text for verdict in each.verdicts],
                    "labels": [verdict.label for verdict in each.verdicts],
                }
                for each in self.windows
            ],
            "claims": [
                {
                    "text": verdict.claim.text,
                    "turn": verdict.claim.turn,
                    "kind": verdict.claim.kind,
                    "label": verdict.label,
                    "reason": verdict.reason,
                    "evidence": [
                        {"truth": each.truth.text, "stance": each.stance, "quote": each.truth.quote}
                        for each in evidence[verdict.claim]
                    ],
                }
                for verdict in self.verdicts
            ],
            "truths": [each.text for each in self.truths],
        }

    def to_row(self) -> dict[str, str | int | float | bool | None]:
        """Give one flat row, as `pandas.DataFrame` takes a list of: no value is a list."""
        labels = [verdict.label for verdict in self.verdicts]
        return {
            "metric": self.spec.key,
            "judge": self.judge,
            "parameters": self.parameters,
            "source": self.conversation.source,
            "conversation": self.conversation.key,
            "state": self.score.state.value,
            "score": self.score.value,
            "per_interaction": self.scores.per_interaction.value,
            "pooled": self.scores.pooled.value,
            "success": self.success,
            "reason": self.reason or self.score.reason,
            "claims": len(labels),
            **{f"claims_{name}": labels.count(name) for name in self.spec.labels.names},
            "claims_without_verdict": labels.count(None),
            "warning": self.warning,
            "calls": len(self.calls),
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost_usd": self.cost_usd,
            "latency_ms": self.latency_ms,
        }

    def to_table(self) -> ResultTable:
        """Draw the claims, and the score above them."""
        state = (
            f"{self.score.state.value}: {self.score.reason}"
            if self.score.value is None
            else format_score_or_dash(self.score.value)
        )
        return ResultTable(
            f"{self.spec.title} by {self.judge}, {self.conversation.key}: {state}",
            ("label", "claim", "reason"),
            [
                (verdict.label or "none", verdict.claim.text, verdict.reason or "")
                for verdict in self.verdicts
            ],
            tuple(each for each in (self.reason, self.warning) if each),
        )

    def __str__(self) -> str:
        """Draw the claims as text."""
        return str(self.to_table())

    def __rich__(self) -> ResultTable:
        """Draw the claims on a console of rich."""
        return self.to_table()

    def _repr_html_(self) -> str:
        """Draw the claims in a notebook."""
        return self.to_table()._repr_html_()

    def steps(self) -> str:
        """Show every step of the judge in lines for readers, as `verbose_mode` does."""
        conclusion = Conclusion(self.score, self.success, self.reason)
        return format_windows_and_score(self.conversation.key, self.spec, self.windows, conclusion)


def make_measurement(
    metric: Metric[Any],
    options: Mapping[str, object],
    judge: str,
    conversation: Conversation,
    assessments: Sequence[Assessment],
    conclusion: Conclusion,
    calls: Sequence[Call],
    latency_ms: int,
    parameters: str,
) -> Measurement:
    """Put together what was found of a conversation."""
    scores = (
        score_assessments(metric.rule, conversation, assessments, {})
        if assessments
        else ScoreSet(conclusion.score, conclusion.score, conclusion.score)
    )
    return Measurement(
        spec=metric.spec,
        rule=metric.rule,
        options=options,
        judge=judge,
        conversation=conversation,
        scores=scores,
        success=conclusion.success,
        reason=conclusion.reason,
        windows=tuple(assessments),
        calls=tuple(calls),
        latency_ms=latency_ms,
        peer=metric.make_peer_library_results(conversation, assessments, conclusion, latency_ms),
        integrity=_check_integrity(metric, conversation, assessments, conclusion),
        parameters=parameters,
    )


def _score_to_json(score: Score) -> JsonFields:
    return {"state": score.state.value, "value": score.value, "reason": score.reason}


def _to_json(value: object) -> Json:
    return value if isinstance(value, str | int | float | None) else str(value)


def make_call_record(step: str, reply: JudgeReply, judge: str, base_url: str | None) -> Call:
    """Make what is kept of a reply."""
    usage = reply.usage
    try:
        cost = compute_cost_usd(judge, usage, base_url=base_url)
    except ConfigError:  # a judge of the caller's own, under a name that no provider has
        cost = None
    return Call(
        step=step,
        text=reply.text,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        tokens_cached=usage.tokens_cached,
        latency_ms=reply.latency_ms,
        cost_usd=cost,
    )


def score_assessments(
    rule: ScoringRule,
    conversation: Conversation,
    assessments: Sequence[Assessment],
    human: Mapping[object, str],
) -> ScoreSet:
    """Score windows, with human labels per claim identity in place of the judge's."""
    parts = split_into_interactions(conversation.turns, answers_alone=True)
    interaction_of = {turn: part.position for part in parts for turn in part.turns}
    scores, _ = score_conversation(
        [
            WindowLabels(
                interactions=each.window.interactions,
                occurrences=tuple(
                    ClaimOccurrence(
                        make_claim_identity_key(verdict.claim),
                        interaction_of.get(verdict.claim.turn, -1),
                        verdict.label,
                    )
                    for verdict in each.verdicts
                ),
                surplus=each.surplus,
                failure=each.score
                if each.score.state in (ScoreState.FAILED, ScoreState.SKIPPED)
                else None,
                undefined=each.score.reason
                if each.score.state is ScoreState.UNDEFINED
                and all(verdict.label is not None for verdict in each.verdicts)
                else None,
            )
            for each in assessments
        ],
        rule,
        human,
    )
    return scores


def _check_integrity(
    metric: Metric[Any],
    conversation: Conversation,
    assessments: Sequence[Assessment],
    conclusion: Conclusion,
) -> IntegritySummary:
    if not assessments:
        return EMPTY_SUMMARY
    complete = conclusion.score.state is not ScoreState.FAILED
    rules = CheckRules.from_metric(metric)
    found = check_unsaved_assessments(conversation, assessments, rules, complete=complete)
    return IntegritySummary(found.counts, checked=1)
