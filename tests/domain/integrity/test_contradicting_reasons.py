import pytest

from faithtui.domain.integrity.contradicting_reasons import (
    contradicts_verdict,
    detect_supported_or_unsupported,
    says_nothing_was_wrong,
    says_something_was_wrong,
)
from faithtui.domain.labels.label_sets import Polarity

UNSUPPORTED = [
    "The claim contradicts the passage.",
    "The passage does not support this.",
    "There is no evidence for it in the retrieval context.",
    "The context makes no mention of a fee.",
    "The claim says 30 days, which is inconsistent with the 14 days in the context.",
    "This is not mentioned anywhere.",
    "This cannot be inferred from the context.",
    "The statement is not directly supported by the truths.",
    "The figure is fabricated.",
    "It isn't stated in the passage.",
    "The truths never mention cash.",
    "Nothing in the passage supports it.",
    "The statement is irrelevant: it conflicts with what was asked.",
]
SUPPORTED = [
    "It is supported by T1.",
    "The retrieval context confirms it directly.",
    "This is consistent with the passage.",
    "The claim matches the third sentence.",
    "It is explicitly stated in the second document.",
    "The passage supports this, and nothing contradicts it.",
    "This can be directly inferred from the context.",
]
NEITHER = [
    "Nothing in the passage contradicts this.",
    "The claim is not contradicted by the context.",
    "No truth contradicts it.",
    "None of the truths contradicts the claim.",
    "The claim doesn't contradict the context.",
    "No truth speaks of cash.",
    "The passage supports the first half, but it does not mention the fee.",
    "It is not unsupported.",
    "5 of 6 content words are in the context; not found: academic.",
    "All 7 content words are in the context.",
    "A truth in view supports it; one that contradicts it is out of view.",
    "The window is 30 days.",
    "",
]


@pytest.mark.parametrize("reason", UNSUPPORTED)
def test_reasons_that_deny_support(reason: str) -> None:
    assert detect_supported_or_unsupported(reason) == "unsupported"
    assert contradicts_verdict(reason, Polarity.GOOD)
    assert not contradicts_verdict(reason, Polarity.BAD)
    assert not contradicts_verdict(reason, Polarity.UNSURE)


@pytest.mark.parametrize("reason", SUPPORTED)
def test_reasons_that_tell_of_support(reason: str) -> None:
    assert detect_supported_or_unsupported(reason) == "supported"
    assert not contradicts_verdict(reason, Polarity.GOOD)
    assert contradicts_verdict(reason, Polarity.BAD)
    assert contradicts_verdict(reason, Polarity.UNSURE)


@pytest.mark.parametrize("reason", NEITHER)
def test_reasons_that_say_neither_or_both_contradict_nothing(reason: str) -> None:
    assert detect_supported_or_unsupported(reason) is None
    for polarity in Polarity:
        assert not contradicts_verdict(reason, polarity)


def test_no_reason_contradicts_nothing() -> None:
    assert not contradicts_verdict(None, Polarity.GOOD)


def test_a_very_long_reason_is_answered_at_once() -> None:
    assert detect_supported_or_unsupported("not " * 100_000) is None


@pytest.mark.parametrize(
    "reason",
    [
        "No problem was found.",
        "No problems were found in any window.",
        "The conversation is free of issues.",
        "There are no contradictions.",
        "All claims are supported by the documents.",
        "Every answer agrees with its documents.",
        "The answers are fully consistent with the context.",
        "Nothing irrelevant was found.",
        "Nothing contradicts the documents.",
        "The score is 0.50: no claim was found to depart from the context.",
    ],
)
def test_a_reason_may_find_no_fault_at_all(reason: str) -> None:
    assert says_nothing_was_wrong(reason)


@pytest.mark.parametrize(
    "reason",
    [
        "",
        "Two claims are not addressed.",
        "Not all claims are supported.",
        "All but two claims are supported.",
        "No contradictions were found, but two claims are not addressed.",
        "Almost every answer agrees with its documents.",
        "Only one claim is fully supported.",
        "The price contradicts the second document.",
    ],
)
def test_a_reason_that_names_a_fault_or_none_in_particular_is_not_one_without(reason: str) -> None:
    assert not says_nothing_was_wrong(reason)


def test_a_reason_of_a_score_finds_fault_where_it_speaks_of_lacking_support() -> None:
    assert says_something_was_wrong("One claim contradicts the documents.")
    assert not says_something_was_wrong("Nothing contradicts the documents.")
    assert not says_something_was_wrong("All claims are supported.")
