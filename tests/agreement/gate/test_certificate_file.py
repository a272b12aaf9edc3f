"""Certificates on disk: equal bytes for equal ones, and no other bytes accepted."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.gate.certificate import (
    Certificate,
    CriterionResult,
    GuidelineIdentity,
    JudgeIdentity,
    LabelFacts,
    MetricIdentity,
    RunIdentity,
    SampleIdentity,
)
from faithtui.agreement.gate.certificate_file import (
    MOST_BYTES,
    format_certificate,
    parse_certificate,
)
from faithtui.agreement.gate.threshold_checks import (
    CheckOutcome,
    Criterion,
    GateFigures,
    Thresholds,
)
from faithtui.agreement.labelled_units import DesignKind
from faithtui.agreement.report.settings import ReportLevel
from faithtui.domain.estimates import (
    Estimate,
    EstimateMethod,
    EstimateStatus,
    make_withheld_estimate,
)
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.errors import InputError

DAY = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
KAPPA = Estimate(
    0.7,
    EstimateStatus.OK,
    60,
    24,
    ci_low=0.6,
    ci_high=0.8,
    level=0.95,
    method=EstimateMethod.JACKKNIFE_ATANH,
)


def certificate(
    model: str = "judge-1", options: dict[str, str | int | float | bool | None] | None = None
) -> Certificate:
    return Certificate(
        schema_version=2,
        issued_at=DAY,
        tool_version="0.1.0",
        judge=JudgeIdentity("openai", model, f"openai/1 {model}"),
        metric=MetricIdentity(
            "turn-faithfulness", "1", "deepeval 4.3.1", "evidence", 10, options or {},
            "extracted", ("yes", "idk"), 0.5, "0" * 64, None,
        ),
        guideline=GuidelineIdentity(2, "abc"),
        run=RunIdentity(1, DAY, "1" * 64, "2" * 64),
        sample=SampleIdentity("simple_random", "uid", 3, 60, 96),
        labels=LabelFacts("3" * 64, DAY, 60, 24, 1, 1.0, 60, 0, 0, 0, 0, 60, 0),
        measured=GateFigures(
            ReportLevel.CLAIMS,
            DesignKind.SIMPLE,
            60,
            24,
            KAPPA,
            KAPPA,
            make_withheld_estimate(WithheldReason.NO_ITEMS),
        ),
        accuracy=None,
        thresholds=Thresholds(kappa=0.4),
        results=(
            CriterionResult(Criterion.LABELS, 30, CheckOutcome.PASSED),
            CriterionResult(Criterion.KAPPA, 0.4, CheckOutcome.PASSED),
        ),
    )  # fmt: skip


def test_evidence_is_as_old_as_the_older_of_verdicts_and_labels() -> None:
    made, before = certificate(), DAY - timedelta(days=9)
    judged_early = replace(made, run=replace(made.run, created_at=before))
    labelled_early = replace(made, labels=replace(made.labels, newest_at=before))
    assert (
        judged_early.earlier_of_run_and_newest_label
        == labelled_early.earlier_of_run_and_newest_label
        == before
    )


def test_what_is_written_is_read_and_written_again_byte_for_byte() -> None:
    text = format_certificate(certificate())
    read = parse_certificate(text.encode())
    assert read == certificate()
    assert format_certificate(read) == text


VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)


@given(st.text(st.characters(codec="utf-8")), st.dictionaries(st.text(max_size=5), VALUES))
def test_any_model_and_options_come_back(
    model: str, options: dict[str, str | int | float | bool | None]
) -> None:
    made = certificate(model, options)
    text = format_certificate(made)
    assert text.isascii()
    read = parse_certificate(text.encode())
    assert read.judge == made.judge
    assert list(map(repr, read.metric.options.values())) == list(map(repr, options.values()))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"thresholds": Thresholds(kappa=-1)}, "of Cohen's kappa -1 is asked, and 0.4 was"),
        ({"thresholds": Thresholds(kappa=0.4, labels=1)}, "of labels 1 is asked, and 30 was"),
        (
            {"thresholds": Thresholds(recall_no=0.4, kappa=0.4)},
            "recall of no is asked, and was not",
        ),
        ({"thresholds": Thresholds()}, "Cohen's kappa is not asked, and was when it was written"),
        (
            {
                "thresholds": Thresholds(kappa=0.65),
                "results": (
                    CriterionResult(Criterion.LABELS, 30, CheckOutcome.PASSED),
                    CriterionResult(Criterion.KAPPA, 0.65, CheckOutcome.PASSED),
                ),
            },
            "Cohen's kappa does not reach what is asked of it",
        ),
        (
            {
                "results": (
                    CriterionResult(Criterion.LABELS, 30, CheckOutcome.PASSED),
                    CriterionResult(Criterion.KAPPA, 0.4, CheckOutcome.BELOW),
                )
            },
            "Cohen's kappa did not pass",
        ),
        (
            {"labels": replace(certificate().labels, n=90)},
            "its figures and its labels are of different numbers of units or groups",
        ),
        ({"issued_at": DAY - timedelta(days=2)}, "it was issued before its labels were given"),
    ],
)
def test_a_file_with_a_new_digest_is_refused_where_it_contradicts_itself(
    changes: dict[str, Any], words: str
) -> None:
    forged = format_certificate(replace(certificate(), **changes))
    with pytest.raises(InputError, match=f"contradicts itself: {re.escape(words)}"):
        parse_certificate(forged.encode())


def test_a_certificate_of_a_newer_version_is_said_to_be_one() -> None:
    newer = format_certificate(replace(certificate(), schema_version=3))
    with pytest.raises(InputError, match=r"schema version 3, of a newer faithtui; .* update"):
        parse_certificate(newer.encode())


def edited(change: Callable[[dict[str, Any]], object]) -> bytes:
    found = json.loads(format_certificate(certificate()))
    change(found)
    return json.dumps(found).encode()


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found["measured"]["kappa"].update(value=0.99),
        lambda found: found["labels"].update(n=6000),
        lambda found: found["thresholds"].update(kappa=0.1),
        lambda found: found.update(issued_at="2027-01-01T00:00:00Z"),
        lambda found: found["judge"].update(model="judge-2"),
        lambda found: found.update(remark="added"),
        lambda found: found.pop("accuracy"),
        lambda found: found.pop("digest"),
        lambda found: found.update(digest="0" * 64),
    ],
)
def test_an_edited_file_is_told_from_a_whole_one(
    change: Callable[[dict[str, Any]], object],
) -> None:
    with pytest.raises(InputError, match="does not match its own digest"):
        parse_certificate(edited(change))


def test_order_and_white_space_are_no_change() -> None:
    found = json.loads(format_certificate(certificate()))
    turned = json.dumps(dict(reversed(found.items())), separators=(",", ":"))
    assert parse_certificate(turned.encode()) == certificate()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "no JSON object"),
        (b"{}", "no certificate of schema version 2"),
        (b'{"schema_version": 1}', "no certificate of schema version 2"),
        (b'{"schema_version": 2, "digest": 7}', "does not match its own digest"),
        (b" " * (MOST_BYTES + 1), "too large"),
    ],
)
def test_what_is_no_certificate_is_refused_with_a_sentence(content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_certificate(content)


def test_a_whole_file_of_another_shape_names_the_field() -> None:
    from faithtui.agreement.gate.certificate_file import _hash_content

    found = json.loads(format_certificate(certificate()))
    del found["digest"], found["judge"]["model"]
    with pytest.raises(InputError, match=r"judge\.model: is missing"):
        parse_certificate(json.dumps({**found, "digest": _hash_content(found)}).encode())
