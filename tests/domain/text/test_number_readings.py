"""One number in two ways of writing: the same for the pane, the check and the embedded judge."""

import pytest

from faithtui.domain.claims.claim_matcher import compute_wording_similarity
from faithtui.domain.integrity.phantom_claims import trace_claim_words_to_source
from faithtui.domain.text.number_readings import Measure
from faithtui.domain.text.passage_ranking import rank_passages
from faithtui.domain.text.texts import tokenise_text
from faithtui.domain.text.tokens import tokenise_words
from faithtui.judges.embedded import judge

EQUAL = (
    # groups of three digits, in every country's way
    ("3, 800", "3,800"),
    ("3 , 800", "3,800"),
    ("3 800", "3,800"),
    ("3\u00a0800", "3,800"),
    ("3\u202f800", "3800"),
    ("1.000.000", "1,000,000"),
    ("1'250'000", "1,250,000"),
    ("1 250 000", "1,250,000"),
    ("12, 345, 678", "12,345,678"),
    ("1,00,000", "100,000"),
    ("5 lakh", "500,000"),
    ("2 crore", "20 million"),
    # decimal numbers
    ("$1. 3 billion", "$1.3 billion"),
    ("$1. 3 billion", "1,300 million dollars"),
    ("4. 5 %", "4.5%"),
    ("3,8 %", "3.8 percent"),
    ("1,5 million", "1.5 million"),
    ("€3,50", "€3.50"),
    ("50%", "0.5"),
    # letters that multiply
    ("1.5M", "1.5 million"),
    ("2B", "two billion"),
    ("10K", "10,000"),
    # units
    ("1.5 km", "1,500 metres"),
    ("1,5 km", "1,500 m"),
    ("2 hours", "120 minutes"),
    ("90 seconds", "1.5 minutes"),
    ("2 kg", "2,000 grams"),
    ("3 tonnes", "3,000 kilograms"),
    ("50 cm", "0.5 metres"),
    ("2 litres", "2,000 ml"),
    ("two weeks", "14 days"),
    ("a day", "one day"),
    ("18 months", "1.5 years"),
    ("5 miles", "8 km"),
    ("6 feet", "1.83 metres"),
    # money
    ("USD 5 million", "$5 million"),
    ("US$40", "40 dollars"),
    ("EUR 40", "€40"),
    # clocks and years
    ("7:30 pm", "19:30"),
    ("7 p.m.", "19:00"),
    ("2007-11", "2007-2011"),
)
DIFFERENT = (
    ("3, 800", "3,900"),
    ("1.000.000", "1,000,001"),
    ("$1. 3 billion", "$1.7 billion"),
    ("1.5 km", "1,800 metres"),
    ("2 hours", "150 minutes"),
    ("5 km", "5 miles"),
    ("1.5M", "1.9 million"),
)
SENTENCE = "The northern mill of the old town counts {} today, as the keeper wrote."


def read(number: str) -> str:
    return SENTENCE.format(number)


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_numbers_clash_nowhere(one: str, other: str) -> None:
    for claim, passage in ((read(one), read(other)), (read(other), read(one))):
        verdict, _, supported = judge(claim, passage)
        assert (verdict, supported >= 0.5) == ("yes", True)
        assert (
            trace_claim_words_to_source(tokenise_text(claim), tokenise_text(passage), ()).clash
            is None
        )
        (ranked,) = rank_passages(tokenise_text(claim), [tokenise_text(passage)], [[]])
        assert not ranked.differs
        assert not any(mark.clashes for mark in ranked.marks)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_numbers_clash_everywhere(one: str, other: str) -> None:
    claim, passage = read(one), read(other)
    assert judge(claim, passage)[0] == "no"
    assert (
        trace_claim_words_to_source(tokenise_text(claim), tokenise_text(passage), ()).clash
        is not None
    )
    (ranked,) = rank_passages(tokenise_text(claim), [tokenise_text(passage)], [[]])
    assert ranked.differs


def test_two_wordings_with_one_number_are_one_claim() -> None:
    assert compute_wording_similarity(read("1.5 km"), read("1,500 metres")) > 0.6
    assert compute_wording_similarity(read("1.5 km"), read("1,800 metres")) == 0


def test_a_list_of_numbers_is_found_number_by_number() -> None:
    """Nobody can tell whether "3, 800" is one number: as two they are found as well."""
    assert judge("Rooms 3, 800 and 12 are closed.", "Rooms 12, 3 and 800 are closed.")[0] == "yes"
    assert judge("On June 3, 800 people came.", "800 people came on June 3.")[0] == "yes"


def test_a_word_keeps_its_own_value_beside_its_aliases() -> None:
    three, hundreds = (word for word in tokenise_words("3, 800 cars") if word.number is not None)
    assert (three.number, hundreds.number) == (3, 800)
    assert three.aliases == hundreds.aliases == ("#3800",)
    assert three.stem_and_aliases == ("#3", "#3800")


def test_measures_of_different_kinds_do_not_clash() -> None:
    assert not Measure("length", 5000).clashes(Measure("time", 300))
    assert Measure("length", 5000).clashes(Measure("length", 8000))
    assert Measure("length", 8046.72).is_near(Measure("length", 8000))
    assert judge("The trip takes 5 hours.", "The trip is 7 km long.")[0] != "no"
