from faithtui.domain.integrity.phantom_claims import ClaimOrigin, trace_claim_words_to_source
from faithtui.domain.text.texts import tokenise_text


def origin(claim: str, answer: str, *before: str) -> ClaimOrigin:
    return trace_claim_words_to_source(
        tokenise_text(claim), tokenise_text(answer), [tokenise_text(text) for text in before]
    )


def stems(words: tuple[object, ...]) -> list[str]:
    return [str(getattr(word, "stem", "")) for word in words]


def test_a_rewording_is_no_phantom() -> None:
    found = origin("The return window is 30 days.", "Our window for returns is thirty days long.")
    assert found.added == ()
    assert not found.is_phantom


def test_a_name_from_the_question_is_resolved() -> None:
    found = origin("Einstein got the prize in 1921.", "He got the prize in 1921.", "Einstein?")
    assert stems(found.resolved) == ["einstein"]
    assert not found.is_phantom


def test_an_added_number_name_date_or_negation_makes_a_phantom() -> None:
    answer = "Labels are free for members."
    for claim in (
        "Labels are free for 5 members.",
        "Labels are free for members in Berlin.",
        "Labels are free for members since 2019.",
        "Labels are not free for members.",
    ):
        assert origin(claim, answer).is_phantom, claim


def test_one_added_word_is_style_and_many_are_not() -> None:
    answer = "Labels are free for members."
    assert not origin("Shipping labels are free for members.", answer).is_phantom
    assert origin("Parcels leave quickly overnight.", answer).is_phantom


def test_an_answer_that_denies_in_other_words_is_no_phantom() -> None:
    assert not origin("Labels are not free.", "Labels are never free.").is_phantom


def test_a_claim_without_telling_words_is_no_phantom() -> None:
    assert not origin("It is.", "Labels are free.").is_phantom


def test_a_misspelt_word_is_found() -> None:
    assert origin("The colour is red.", "The color is red.").added == ()


def test_a_claim_that_says_the_opposite_of_its_answer_is_a_phantom() -> None:
    found = origin("The museum was closed.", "The museum was opened.")
    assert found.is_phantom
    assert [word.text for word in found.suspect_words] == ["closed"]


def test_a_claim_that_leaves_a_negation_out_is_a_phantom_without_a_word_of_its_own() -> None:
    found = origin("The museum opens on Monday.", "The museum does not open on Monday.")
    assert found.is_phantom
    assert found.suspect_words == ()


def test_one_of_several_is_neither_found_nor_added() -> None:
    found = origin("It was founded in 1923.", "It was founded in 1923 or 1932.")
    assert stems(found.disputed) == ["#1923"]
    assert not found.is_phantom
