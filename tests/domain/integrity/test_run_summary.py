"""What stands beside a score: when it is suspect, and in which words."""

import pytest

from faithtui.domain.integrity.run_summary import IntegritySummary, Soundness, TextCounts

SOUND = TextCounts(claims=10, truths=20, texts=40)


def test_a_sound_run_needs_no_words() -> None:
    found = IntegritySummary(SOUND, checked=3)
    assert (found.soundness, found.format_sentence()) == (Soundness.SOUND, "")


def test_nothing_judged_needs_no_words() -> None:
    assert (IntegritySummary().soundness, IntegritySummary().format_sentence()) == (
        Soundness.UNJUDGED,
        "",
    )


def test_most_claims_made_up_is_suspect() -> None:
    found = IntegritySummary(TextCounts(claims=3, phantom=3), checked=1)
    assert found.soundness is Soundness.SUSPECT
    assert found.format_sentence() == "suspect: 3 of 3 claims are not in the answer"


def test_half_of_the_claims_is_told_and_not_suspect() -> None:
    found = IntegritySummary(TextCounts(claims=4, phantom=2), checked=1)
    assert found.soundness is Soundness.NOTED
    assert found.format_sentence() == "2 of 4 claims are not in the answer"


@pytest.mark.parametrize(
    ("counts", "suspect"),
    [
        (TextCounts(truths=5, invented=3), True),
        (TextCounts(truths=6, invented=3), False),
        (TextCounts(texts=7, echoed=2), True),
        (TextCounts(texts=8, echoed=2), False),
        (TextCounts(texts=1, echoed=1), False),
    ],
)
def test_made_up_truths_and_echoes_make_a_run_suspect(counts: TextCounts, suspect: bool) -> None:
    assert counts.is_score_suspect is suspect


def test_the_sentence_names_everything_and_uses_the_words_of_the_metric() -> None:
    counts = TextCounts(claims=1, phantom=1, truths=2000, invented=1500, texts=2002, echoed=1)
    assert IntegritySummary(counts, checked=1).format_sentence(
        ("statement", "statements"), of="passage"
    ) == (
        "suspect: 1 of 1 statement is not in the passage, "
        "1,500 of 2,000 truths are not in the passage, 1 of 2,002 texts is copied from the prompt"
    )


def test_what_is_not_checked_is_never_sound() -> None:
    none = IntegritySummary(unchecked=3)
    assert (none.soundness, none.format_sentence()) == (Soundness.UNCHECKED, "not checked yet")
    some = IntegritySummary(SOUND, checked=2, unchecked=1)
    assert some.soundness is Soundness.UNCHECKED
    assert some.format_sentence() == "1 of 3 conversations not checked yet"


def test_what_is_suspect_already_is_said_before_all_is_checked() -> None:
    found = IntegritySummary(TextCounts(claims=3, phantom=3), checked=1, unchecked=1)
    assert found.soundness is Soundness.SUSPECT
    assert found.format_sentence() == (
        "suspect: 3 of 3 claims are not in the answer, 1 of 2 conversations not checked yet"
    )
