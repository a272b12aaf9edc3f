"""What is not as it was certified, each in a phrase that names it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from faithtui.agreement.gate.accuracy_transfer import JudgeAccuracy
from faithtui.agreement.gate.certificate import (
    Certificate,
    GuidelineIdentity,
    JudgeIdentity,
    MetricIdentity,
    RunIdentity,
    SampleIdentity,
)
from faithtui.agreement.gate.threshold_checks import (
    CRITERION_TITLES,
    CheckOutcome,
    Criterion,
    GateFigures,
    check_figures_against_thresholds,
)
from faithtui.domain.estimates import Estimate
from faithtui.domain.judging.judge_profile import normalise_fingerprint

_SAME_FIGURE = 0.005
"""By how much a figure may differ between two versions or machines."""


@dataclass(frozen=True, slots=True)
class CertificateBinding:
    """What a certificate is bound to, of a run that is here."""

    judge: JudgeIdentity
    metric: MetricIdentity
    guideline: GuidelineIdentity | None
    run: RunIdentity
    sample: SampleIdentity
    labels: str
    """Digest of human labels."""


_CLOCKS_DIFFER = timedelta(days=1)
"""By how much the clocks of two machines may differ."""


def list_contradictions_inside_certificate(certificate: Certificate) -> Iterator[str]:
    """Name what a certificate cannot say if it was written because everything passed.

    A certificate may be changed by hand and given a new digest. What was asked, what was measured
    and what came of it stand in it apart, so that a change of one shows.
    """
    thresholds, measured = certificate.thresholds, certificate.measured
    known = {each.criterion: each for each in certificate.results}
    for check in check_figures_against_thresholds(measured, thresholds, None):
        title, result = CRITERION_TITLES[check.criterion], known.get(check.criterion)
        if result is None:
            yield f"{title} is asked, and was not when it was written"
        elif result.threshold != check.threshold:
            yield (
                f"of {title} {check.threshold:g} is asked, and {result.threshold:g} was when it "
                "was written"
            )
        elif check.criterion is not Criterion.AGE and check.outcome is not CheckOutcome.PASSED:
            yield f"{title} does not reach what is asked of it"
    asked = {
        each.criterion for each in check_figures_against_thresholds(measured, thresholds, None)
    }
    for result in certificate.results:
        if result.criterion not in (*asked, Criterion.CHANGE):
            yield f"{CRITERION_TITLES[result.criterion]} is not asked, and was when it was written"
        if result.outcome is not CheckOutcome.PASSED:
            yield f"{CRITERION_TITLES[result.criterion]} did not pass"
    if (measured.labels, measured.groups) != (certificate.labels.n, certificate.labels.groups):
        yield "its figures and its labels are of different numbers of units or groups"
    if certificate.earlier_of_run_and_newest_label > certificate.issued_at + _CLOCKS_DIFFER:
        yield "it was issued before its labels were given"


def list_issue_date_problems(certificate: Certificate, now: datetime) -> list[str]:
    """Say that a certificate was issued after now; [] where it was not."""
    if certificate.issued_at <= now + _CLOCKS_DIFFER:
        return []
    return [
        f"time: the certificate was issued at {certificate.issued_at.isoformat()}, which is after "
        "now: one of the clocks is wrong"
    ]


def list_judge_and_metric_changes(
    certificate: Certificate, judge: JudgeIdentity, metric: MetricIdentity
) -> list[str]:
    """Name what differs in judge, prompt and metric, one phrase each; [] when nothing does."""
    return [
        *_list_judge_changes(certificate.judge, judge),
        *_list_metric_changes(certificate.metric, metric),
    ]


def is_judge_change_phrase(phrase: str) -> bool:
    """Say whether a phrase names another judge, prompt or set of examples, not another metric."""
    return phrase.startswith(("judge:", "prompt:", "examples:"))


def _list_judge_changes(was: JudgeIdentity, now: JudgeIdentity) -> Iterator[str]:
    if normalise_fingerprint(was.fingerprint) == normalise_fingerprint(now.fingerprint):
        return
    before, after = _format_judge(was), _format_judge(now)
    if before != after:
        yield f"judge: {before} was certified, {after} judged"
    else:
        yield f"judge: {before} is not what it was (its fingerprint differs)"


def _format_judge(judge: JudgeIdentity) -> str:
    return f"{judge.provider}:{judge.model}" if judge.model else judge.provider


def _list_metric_changes(was: MetricIdentity, now: MetricIdentity) -> Iterator[str]:
    parts: tuple[tuple[str, object, object], ...] = (
        ("metric", was.name, now.name),
        ("metric version", was.version, now.version),
        ("peer", was.peer, now.peer),
        ("strategy", was.strategy, now.strategy),
        ("window size", was.window_size, now.window_size),
        ("claims", was.claims, now.claims),
        ("passing labels", ", ".join(was.passing), ", ".join(now.passing)),
        ("threshold", was.bar, now.bar),
        *(
            (f"option {name}", was.options.get(name), now.options.get(name))
            for name in sorted({*was.options, *now.options})
        ),
    )
    for name, before, after in parts:
        if before != after:
            yield f"{name}: {before} was certified, here it is {after}"
    if was.prompt != now.prompt:
        yield f"prompt: the texts of the questions differ ({was.prompt[:12]}, {now.prompt[:12]})"
    if was.examples != now.examples:
        yield "examples: the judge is shown other ones"


def list_guideline_label_and_sample_changes(
    certificate: Certificate, now: CertificateBinding
) -> list[str]:
    """Name what differs in guideline, labels and sample of the certified data; [] for nothing.

    What the judge said is compared only within the certified run: judged anew, its words may vary
    and the figures are computed anew.
    """
    found = list_guideline_changes(certificate, now.guideline)
    was = certificate.sample
    if certificate.labels.digest != now.labels:
        found.append("labels: human labels are not those that were certified")
    if certificate.run.created_at == now.run.created_at:
        if was != now.sample:
            found.append(
                f"sample: {_format_sample(was)} was certified, here it is "
                f"{_format_sample(now.sample)}"
            )
        if certificate.run.readings != now.run.readings and not found:
            found.append("run: the judge's verdicts are not those that were certified")
    return found


def list_run_date_changes(certificate: Certificate, made_at: datetime) -> list[str]:
    """Say that the certified run was made at another time than the certificate has it."""
    was = certificate.run
    if was.created_at == made_at:
        return []
    return [
        f"run: the certificate has run {was.number} made at {was.created_at.isoformat()}, here it "
        f"was made at {made_at.isoformat()}"
    ]


def list_figure_changes(
    certificate: Certificate, measured: GateFigures, accuracy: JudgeAccuracy | None
) -> list[str]:
    """Name figures that the certified labels do not give: somebody wrote others into the file.

    Args:
        certificate: The certificate.
        measured: The figures of the certified run, computed anew.
        accuracy: The judge's, computed anew.
    """
    was, before = certificate.measured, certificate.accuracy
    pairs = [
        ("Cohen's kappa", was.kappa, measured.kappa),
        ("recall of no", was.recall_no, measured.recall_no),
        ("corrected score", was.score, measured.score),
    ]
    found = []
    if (before and before.positive) != (accuracy and accuracy.positive):
        names = [", ".join(each.positive) if each else "none" for each in (before, accuracy)]
        found.append(
            f"figures: the labels that the judge must find were {names[0]} in the certificate, "
            f"the certified labels give {names[1]}"
        )
    elif before is not None and accuracy is not None:
        pairs += [
            ("sensitivity", before.sensitivity, accuracy.sensitivity),
            ("specificity", before.specificity, accuracy.specificity),
        ]
    if was.labels != measured.labels:
        found.append(
            f"figures: {was.labels:,} labels were certified, {measured.labels:,} enter the figures"
        )
    return found + [
        f"figures: {name} of the certificate is {_format_figure(old)}, the certified labels give "
        f"{_format_figure(new)}"
        for name, old, new in pairs
        if not _is_same_figure(old, new)
    ]


def _is_same_figure(was: Estimate, now: Estimate) -> bool:
    ends = ((was.value, now.value), (was.ci_low, now.ci_low), (was.ci_high, now.ci_high))
    return all(
        (old is None) == (new is None)
        and (old is None or new is None or abs(old - new) <= _SAME_FIGURE)
        for old, new in ends
    )


def _format_figure(found: Estimate) -> str:
    if found.value is None:
        return "without a value"
    if found.ci_low is None or found.ci_high is None:
        return f"{found.value:.3f}"
    return f"{found.value:.3f} [{found.ci_low:.3f}, {found.ci_high:.3f}]"


def list_guideline_changes(certificate: Certificate, now: GuidelineIdentity | None) -> list[str]:
    """Say whether the guideline in force is another one; numbers differ between stores."""
    was = certificate.guideline
    if (was and was.digest) == (now and now.digest):
        return []
    names = [f"version {each.number} ({each.digest})" if each else "none" for each in (was, now)]
    return [f"guideline: {names[0]} was certified, {names[1]} is in force"]


def _format_sample(sample: SampleIdentity) -> str:
    name, owner = sample.design.replace("_", " "), sample.claim_set
    of_set = f", of claim set {owner.name}@{owner.version} ({owner.digest[:8]})" if owner else ""
    if sample.uid is None:
        return f"{name} of {sample.frame}{of_set}"
    drawn = f"{name} {sample.uid[:8]}, {sample.drawn} of {sample.frame}, seed {sample.seed}"
    return drawn + of_set
