"""A calibration certificate: what a judge's agreement with annotators was, and of what exactly.

It is bound to everything that could make its figures untrue of another run: judge, prompt, metric,
window size, guideline, labels and sample. What differs is named, never guessed away.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from operator import attrgetter

from faithtui.agreement.gate.accuracy_transfer import JudgeAccuracy
from faithtui.agreement.gate.threshold_checks import (
    CheckOutcome,
    Criterion,
    GateFigures,
    Thresholds,
)
from faithtui.agreement.idk_recoding import IdkRule
from faithtui.agreement.labelled_units import AnswerUnit, ClaimUnit, Opinion
from faithtui.domain.labels.label_events import Action

CERTIFICATE_SCHEMA_VERSION = 2
"""Certificates of version 1 were issued before warnings were asked about, on intervals that were
too narrow in samples by strata."""

_SILENT_OPTIONS = ("async_mode", "verbose_mode")
"""Options that change neither a question nor a score."""

_OPINION_FIELDS = attrgetter("reviewer", "verdict", "action", "blind")


@dataclass(frozen=True, slots=True)
class JudgeIdentity:
    """Who judged."""

    provider: str
    model: str
    """"" where the provider has no models; of recorded replies, the name of their file."""
    fingerprint: str
    """Everything but the question that determines a reply."""


@dataclass(frozen=True, slots=True)
class MetricIdentity:
    """What was asked, and how it was scored."""

    name: str
    version: str
    peer: str
    strategy: str
    window_size: int | None
    """None: the metric has no windows."""
    options: Mapping[str, str | int | float | bool | None]
    """All others that change a question or a score."""
    claims: str
    """`extracted` or `imported`."""
    passing: tuple[str, ...]
    """Labels that pass."""
    bar: float | None
    """What a score must reach to pass."""
    prompt: str
    """Digest of the texts of its questions."""
    examples: str | None
    """Digest of the examples shown with them; None: none."""


@dataclass(frozen=True, slots=True)
class GuidelineIdentity:
    """The text that said how to judge."""

    number: int
    digest: str


@dataclass(frozen=True, slots=True)
class ClaimSetIdentity:
    """A version of a claim set."""

    name: str
    version: int
    digest: str
    """Of its claims and their design."""


@dataclass(frozen=True, slots=True)
class PopulationIdentity:
    """Results that a sample was drawn from, where only drawn conversations are in the store."""

    results: str
    """Where they lay."""
    digest: str
    """Names what was judged, and how."""
    claims: int
    conversations: int
    """All, as in a report; figures are about those with a claim."""
    failed: int
    """Of these, those that could not be judged."""
    strata: tuple[tuple[str, int], ...]
    """Name and claims of each."""
    judged: int | None = None
    """Of the conversations, those with a claim, as in a report; None: of an earlier version."""


@dataclass(frozen=True, slots=True)
class SampleIdentity:
    """How the labelled units were chosen."""

    design: str
    uid: str | None
    """Names the sample in every store; None where nothing was drawn."""
    seed: int | None
    drawn: int | None
    """Units drawn."""
    frame: int
    """Units that could have been drawn."""
    claim_set: ClaimSetIdentity | None = None
    """The claim set that these were; None: of none."""
    population: PopulationIdentity | None = None
    """What it was drawn from; None: its run, or the claim set."""


@dataclass(frozen=True, slots=True)
class CountingRules:
    """How labels were counted."""

    idk: IdkRule = IdkRule.THREE
    blind_only: bool = False


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """The run that was certified."""

    number: int
    """In its store."""
    created_at: datetime
    conversations: str
    """Digest of the names of what it judged; the same data judged anew has the same."""
    readings: str
    """Digest of verdicts and human labels."""


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """The human labels, and where they came from. All counts but `digest` and `newest_at`."""

    digest: str
    """Of human labels alone."""
    newest_at: datetime
    """Of the verdicts at the level that was certified."""
    n: int
    """Units in the figures."""
    groups: int
    reviewers: int
    blind_share: float | None
    """Of the labels given here, those given before the judge's verdict was known; None where all
    came with the data, as nobody knows what their givers saw."""
    blind: int
    """Labels given here before the judge's verdict was known."""
    shown: int
    """Labels given here with it in view."""
    imported: int
    """Verdicts that came with the data."""
    adjudicated: int
    """Final labels after annotators differed."""
    bulk: int
    """Units labelled in bulk or by taking over the judge's verdict: not counted as labels."""
    under_guideline: int
    """Labels given here while the guideline of the certificate was in force."""
    under_others: int
    """Labels given here under another one, or under none."""


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """What one criterion came to when the certificate was issued."""

    criterion: Criterion
    threshold: float
    outcome: CheckOutcome


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was certified. `certificate_file` writes it with a digest of its own."""

    schema_version: int
    issued_at: datetime
    tool_version: str
    judge: JudgeIdentity
    metric: MetricIdentity
    guideline: GuidelineIdentity | None
    run: RunIdentity
    sample: SampleIdentity
    labels: LabelFacts
    measured: GateFigures
    accuracy: JudgeAccuracy | None
    """None where the labels that pass are told apart by no detection table."""
    thresholds: Thresholds
    results: tuple[CriterionResult, ...]
    counting: CountingRules = CountingRules()

    @property
    def earlier_of_run_and_newest_label(self) -> datetime:
        """The older of the judge's verdicts and the newest label: issuing anew makes no younger."""
        return min(self.run.created_at, self.labels.newest_at)


def make_judge_identity(reference: str, fingerprint: str) -> JudgeIdentity:
    """Take a judge's reference apart, without the folder of a file."""
    provider, _, model = reference.partition(":")
    if provider == "replay":
        model = model.replace("\\", "/").rpartition("/")[2]
    return JudgeIdentity(provider, model, fingerprint)


def split_window_size_from_options(
    options: Mapping[str, object],
) -> tuple[int | None, dict[str, str | int | float | bool | None]]:
    """Split a metric's options into window size and all others that matter."""
    size = options.get("window_size")
    others = {
        name: value if isinstance(value, str | int | float | None) else str(value)
        for name, value in sorted(options.items())
        if name != "window_size" and name not in _SILENT_OPTIONS
    }
    return (size if isinstance(size, int) else None), others


def hash_human_labels(claims: Iterable[ClaimUnit], answers: Iterable[AnswerUnit]) -> str:
    """Hash the human labels, so that two label sets can be told apart; the judge does not enter.

    Neither order nor the store's keys matter.

    Returns:
        64 hexadecimal digits, SHA-256.
    """
    rows: list[tuple[object, ...]] = [
        (
            "claim",
            each.key,
            each.turn,
            each.text,
            each.human,
            *_opinions_to_sorted_json(each.opinions),
        )
        for each in claims
        if each.opinions
    ]
    rows += [
        (
            "answer",
            each.key,
            each.turn,
            each.human,
            each.rating,
            *_opinions_to_sorted_json(each.opinions),
        )
        for each in answers
    ]
    return _hash_rows(rows)


def hash_conversation_names(claims: Iterable[ClaimUnit], answers: Iterable[AnswerUnit]) -> str:
    """Hash the names of the conversations that readings are of."""
    names = {(each.group, each.key) for each in claims}
    return _hash_rows(names | {(each.group, each.key) for each in answers})


def count_verdicts_by_origin(opinions: Iterable[Opinion]) -> dict[str, int]:
    """Count labels that count by where they come from.

    Returns:
        `imported`, `adjudicated`, `blind` and `shown`, each with its count.
    """
    counts = Counter(map(_classify_verdict_origin, opinions))
    return {name: counts[name] for name in ("imported", "adjudicated", "blind", "shown")}


def _classify_verdict_origin(opinion: Opinion) -> str:
    if opinion.action is Action.IMPORTED:
        return "imported"
    if opinion.action is Action.ADJUDICATED:
        return "adjudicated"
    return "blind" if opinion.blind else "shown"


def _opinions_to_sorted_json(opinions: Iterable[Opinion]) -> list[str]:
    return sorted(json.dumps(_OPINION_FIELDS(each)) for each in opinions)


def _hash_rows(rows: Iterable[Sequence[object]]) -> str:
    return sha256("\n".join(sorted(map(json.dumps, rows))).encode()).hexdigest()
