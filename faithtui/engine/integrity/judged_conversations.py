"""What a judge said about a conversation, as the checks need it: from a store, or just judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypedDict

from faithtui.domain.claims.verdicts import (
    Assessment,
    Stance,
    Truth,
    Verdict,
    make_claim_identity_key,
)
from faithtui.domain.conversation import Conversation, Passage, Turn, normalise_text
from faithtui.domain.ids import ClaimId, TruthId
from faithtui.domain.integrity.findings import (
    CheckedClaim,
    CheckedTruth,
    CheckedVerdict,
    CheckedWindow,
    JudgedConversation,
)
from faithtui.domain.integrity.prompt_echo import NO_PROMPTS, PromptWords
from faithtui.domain.integrity.run_summary import IntegritySummary
from faithtui.domain.labels.label_sets import FAITHFULNESS, Label, LabelSet, Polarity
from faithtui.domain.scores import ScoreState
from faithtui.engine.review.examples_from_labels import read_stored_examples
from faithtui.errors import ConfigError
from faithtui.metrics.base import Metric, MetricSpec
from faithtui.metrics.registry import build, find_metric
from faithtui.store.records import ItemState, ReviewView, RunSpec
from faithtui.store.store import Store


@dataclass(frozen=True, slots=True)
class CheckRules:
    """What the checks must know of a metric."""

    labels: LabelSet
    """Its words."""
    facts: bool
    """What claims are held against are facts of documents; else they are messages."""
    prompts: PromptWords
    """What its questions say themselves."""
    names_evidence: bool = False
    """Its questions ask for the truths that decide."""

    @classmethod
    def from_metric(cls, metric: Metric[Any]) -> "CheckRules":
        """Take them from a metric."""
        labels, facts = _get_metric_labels_and_facts_flag(metric.spec)
        prompts = _extract_prompt_words(tuple(metric.prompts.texts.values()))
        # Messages may all be served by a statement without one being named.
        return cls(labels, facts, prompts, facts and getattr(metric, "strategy", "") == "evidence")


@lru_cache(maxsize=16)
def _extract_prompt_words(texts: tuple[str, ...]) -> PromptWords:
    """Read the prompts of a metric once for all its conversations."""
    return PromptWords.from_prompts(texts)


def get_run_labels_and_facts_flag(run: RunSpec) -> tuple[LabelSet, bool]:
    """Give the words of a run's metric, and whether what it checks against are facts of documents.

    A metric that this version does not have is known by the rule that was stored with the run.
    """
    try:
        spec = find_metric(run.metric).spec
    except ConfigError:
        rule = run.rule
        if set(rule.labels) <= set(FAITHFULNESS.names):
            return FAITHFULNESS, True
        return LabelSet(
            tuple(
                Label(
                    name,
                    name[:1],
                    name,
                    Polarity.GOOD if name in rule.passing else Polarity.BAD,
                )
                for name in rule.labels
            )
        ), True
    return _get_metric_labels_and_facts_flag(spec)


def _get_metric_labels_and_facts_flag(spec: MetricSpec) -> tuple[LabelSet, bool]:
    return spec.labels, spec.references is not None and spec.references_are_facts


def format_integrity_sentence(metric: str, found: IntegritySummary) -> str:
    """Say what stands against a score of a run, in the words of its metric; "" for nothing.

    Args:
        metric: Key of the metric; one of another version is reported in the usual words.
        found: What the checks say of the run, or of a conversation of it.
    """
    try:
        return find_metric(metric).spec.format_integrity_sentence(found)
    except ConfigError:
        return found.format_sentence()


def make_check_rules(store: Store, run: RunSpec) -> CheckRules:
    """Give what the checks must know of a run's metric, as far as it is still known here."""
    labels, facts = get_run_labels_and_facts_flag(run)
    try:
        examples = read_stored_examples(store, run.example_set)
        metric = build(run.metric, run.options, prompts_dir=run.prompts_dir, examples=examples)
    except ConfigError:  # the metric is not of this version, or its prompts are gone
        return CheckRules(labels, facts, NO_PROMPTS)
    return CheckRules.from_metric(metric)


def judged_conversation_from_view(
    view: ReviewView,
    surplus: Mapping[int, tuple[str | None, ...]],
    rules: CheckRules,
) -> JudgedConversation:
    """Give the checks what they need of a stored conversation of a run.

    Args:
        view: The conversation, complete: nothing of it hidden.
        surplus: Words beyond the last claim, by position of the window.
        rules: What the checks must know of the metric.
    """
    texts = {
        document.number: document.text for turn in view.turns for document in turn.documents or ()
    }
    place = {number: index for index, number in enumerate(sorted(texts))}
    return JudgedConversation(
        turns=tuple(Turn(turn.role, turn.content) for turn in view.turns),
        documents=tuple(texts[number] for number in place),
        retrieved=tuple(
            tuple(dict.fromkeys(place[document.number] for document in turn.documents or ()))
            for turn in view.turns
        ),
        # A window still to be judged has no turns; it is not stored, so there is nothing to check.
        windows=tuple(
            CheckedWindow(
                position=row.position,
                turns=row.turns,
                claims=len(row.claims),
                failure=row.score.reason or "it failed"
                if row.score.state is ScoreState.FAILED
                else None,
                without_context=row.without_context,
                skipped=row.score.state is ScoreState.SKIPPED,
                surplus=surplus.get(row.position, ()),
            )
            for row in view.windows
            if row.turns or row.claims or row.position in surplus
        ),
        claims=tuple(
            CheckedClaim(
                id=claim.id,
                kind=claim.kind,
                turn=claim.turn,
                text=claim.text,
                document=None if claim.document is None else place.get(claim.document),
                verdicts=tuple(
                    CheckedVerdict(verdict.window, verdict.label, verdict.word, verdict.reason)
                    for verdict in claim.verdicts
                ),
                **_group_evidence_by_stance(
                    [(each.truth, each.stance, each.sets) for each in claim.evidence]
                ),
            )
            for claim in view.claims
        ),
        truths=tuple(
            CheckedTruth(
                truth.id,
                truth.text,
                None if truth.document is None else place.get(truth.document),
                frozenset(truth.windows),
                truth.quote,
            )
            for truth in view.truths
        ),
        labels=rules.labels,
        truths_are_facts=rules.facts,
        complete=view.item.state is ItemState.DONE,
        prompts=rules.prompts,
        names_evidence=rules.names_evidence,
    )


def judged_conversation_from_assessments(
    conversation: Conversation,
    assessments: Sequence[Assessment],
    rules: CheckRules,
    *,
    complete: bool,
) -> JudgedConversation:
    """Give `check_unsaved_assessments` what it needs of a conversation that was just judged.

    The same as `judged_conversation_from_view` gives once it is stored, but for the ids.
    """
    place: dict[str, int] = {}
    texts: list[str] = []
    for turn in conversation.turns:
        for document in turn.retrieval_context or ():
            shown = Passage(document.text, document.images).text_with_marks
            if place.setdefault(shown, len(place)) == len(texts):
                texts.append(document.text)
    truths = _TruthCollector(place)
    claims: dict[object, list[tuple[int, Verdict]]] = {}
    windows = []
    for each in assessments:
        at = each.window.position
        truths.add_truths(each)
        here = set()
        for verdict in each.verdicts:
            key = make_claim_identity_key(verdict.claim)
            found = claims.setdefault(key, [])
            here.add(key)
            if not found or found[-1][0] != at:
                found.append((at, verdict))
        windows.append(_make_checked_window(each, len(here)))
    ordered = sorted(claims.values(), key=lambda window_verdicts: window_verdicts[0][1].claim.turn)
    return JudgedConversation(
        turns=tuple(Turn(turn.role, turn.content) for turn in conversation.turns),
        documents=tuple(texts),
        retrieved=tuple(
            tuple(
                dict.fromkeys(
                    place[Passage(document.text, document.images).text_with_marks]
                    for document in turn.retrieval_context or ()
                )
            )
            for turn in conversation.turns
        ),
        windows=tuple(windows),
        claims=tuple(
            _make_checked_claim(ClaimId(number), window_verdicts, place, truths, conversation)
            for number, window_verdicts in enumerate(ordered)
        ),
        truths=truths.list_truths(),
        labels=rules.labels,
        truths_are_facts=rules.facts,
        complete=complete,
        prompts=rules.prompts,
        names_evidence=rules.names_evidence,
    )


class _TruthCollector:
    """Truths of a conversation, each once, numbered as the windows bring them up."""

    def __init__(self, place: Mapping[str, int]) -> None:
        self._place = place
        self._ids: dict[tuple[int | None, str], TruthId] = {}
        self._texts: list[str] = []
        self._quotes: list[str | None] = []
        self._windows: list[list[int]] = []
        """Of each truth the positions of its windows, in order."""
        # Windows share their truths; to fold a text again takes most of the time.
        self._ids_of_objects: dict[int, TruthId] = {}

    def add_truths(self, assessment: Assessment) -> None:
        known, windows, position = self._ids_of_objects, self._windows, assessment.window.position
        for truth in assessment.truths:
            number = known.get(id(truth))
            windows[self.get_or_add_id(truth) if number is None else number].append(position)

    def get_or_add_id(self, truth: Truth) -> TruthId:
        """Number a truth; its object must live as long as this collection."""
        known = self._ids_of_objects.get(id(truth))
        if known is None:
            known = self._ids_of_objects[id(truth)] = self._get_or_add_id_by_text(truth)
        return known

    def _get_or_add_id_by_text(self, truth: Truth) -> TruthId:
        document = None if truth.document is None else self._place.get(truth.document)
        key = (document, normalise_text(truth.text))
        if key not in self._ids:
            self._ids[key] = TruthId(len(self._ids))
            self._texts.append(truth.text)
            self._quotes.append(truth.quote)
            self._windows.append([])
        return self._ids[key]

    def list_truths(self) -> tuple[CheckedTruth, ...]:
        return tuple(
            CheckedTruth(
                each,
                self._texts[each],
                document,
                frozenset(self._windows[each]),
                self._quotes[each],
            )
            for (document, _), each in self._ids.items()
        )


def _make_checked_window(assessment: Assessment, claims: int) -> CheckedWindow:
    score = assessment.score
    return CheckedWindow(
        position=assessment.window.position,
        turns=assessment.window.turns,
        claims=claims,
        failure=score.reason or "it failed" if score.state is ScoreState.FAILED else None,
        without_context=assessment.without_context,
        skipped=score.state is ScoreState.SKIPPED,
        surplus=assessment.surplus,
    )


def _make_checked_claim(
    number: ClaimId,
    verdicts: Sequence[tuple[int, Verdict]],
    place: Mapping[str, int],
    truths: _TruthCollector,
    conversation: Conversation,
) -> CheckedClaim:
    claim = verdicts[0][1].claim
    named = [each for _, verdict in verdicts for each in verdict.evidence]
    return CheckedClaim(
        id=number,
        kind=claim.kind,
        turn=claim.turn,
        text=conversation.turns[claim.turn].content if claim.kind == "answer" else claim.text,
        document=None if claim.document is None else place.get(claim.document),
        verdicts=tuple(
            CheckedVerdict(window, verdict.label, verdict.word, verdict.reason)
            for window, verdict in verdicts
        ),
        **_group_evidence_by_stance(
            [(truths.get_or_add_id(each.truth), each.stance, each.sets) for each in named]
        ),
    )


class _EvidenceFields(TypedDict):
    """The fields of `CheckedClaim` that say which truths the judge named for it."""

    sufficient: tuple[frozenset[TruthId], ...]
    partial: frozenset[TruthId]
    opposes: frozenset[TruthId]


def _group_evidence_by_stance(
    evidence: Sequence[tuple[TruthId, Stance, tuple[int, ...]]],
) -> _EvidenceFields:
    """Sort what was named by what it says of the claim.

    Args:
        evidence: Truths with their stance and the numbers of the sets they belong to.
    """
    alone = [truth for truth, stance, sets in evidence if stance == "supports" and not sets]
    several: dict[int, set[TruthId]] = {}
    for truth, _, sets in evidence:
        for number in sets:
            several.setdefault(number, set()).add(truth)
    found = [frozenset({truth}) for truth in dict.fromkeys(alone)]
    sufficient = (*found, *map(frozenset, several.values()))
    return _EvidenceFields(
        sufficient=sufficient,
        partial=frozenset(truth for truth, stance, _ in evidence if stance == "partial").difference(
            *sufficient
        ),
        opposes=frozenset(truth for truth, stance, _ in evidence if stance == "contradicts"),
    )
