from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.integrity.missing_facts import MissingFact, TruthIndex, find_missing_facts
from faithtui.domain.text.texts import TokenisedText, tokenise_text

RETURNS = (
    "The window is 30 days from delivery; gold and silver members get 45 days. A prepaid return "
    "label is free for defective items. For other returns a fee of $5.95 is taken from the refund "
    "unless the customer is a gold member."
)
TRUTHS = (
    "The return window is 30 days from delivery.",
    "Gold and silver members get 45 days.",
    "A return label is free for defective items.",
    "Other returns cost a fee of $5.95.",
)
UNLESS = "A gold member pays no such fee unless."


def lost(passage: str, *truths: str) -> tuple[MissingFact, ...]:
    return find_missing_facts(tokenise_text(passage), TruthIndex(truths))


def words(passage: str, found: tuple[MissingFact, ...]) -> list[str]:
    return [passage[each.span.start : each.span.end] for each in found]


def test_a_condition_that_no_truth_has_is_lost() -> None:
    found = lost(RETURNS, *TRUTHS)
    assert words(RETURNS, found) == ["unless the customer is a gold member"]
    assert found[0].kinds == ("condition",)
    assert found[0].sentence == 2


def test_a_condition_that_a_truth_has_is_not_lost() -> None:
    kept = "Other returns cost a fee of $5.95 unless the customer is a gold member."
    assert lost(RETURNS, *TRUTHS[:3], kept) == ()


def test_a_condition_may_be_kept_by_a_truth_of_its_own() -> None:
    assert lost(RETURNS, *TRUTHS, "A customer who is a gold member pays no fee.") == ()


def test_numbers_names_dates_and_negations_that_are_dropped_are_lost() -> None:
    for passage, truth, kind in (
        ("Parcels leave the depot within 3 days.", "Parcels leave the depot quickly.", "number"),
        ("Parcels leave the depot in Berlin.", "Parcels leave the depot.", "name"),
        ("Parcels leave the depot on Monday.", "Parcels leave the depot.", "date"),
        ("Parcels do not leave the depot.", "Parcels leave the depot.", "negation"),
    ):
        (found,) = lost(passage, truth)
        assert kind in found.kinds
        assert words(passage, (found,)) == [passage]
        assert found.words


def test_a_sentence_no_truth_speaks_of_is_lost_whole() -> None:
    passage = "Parcels leave daily. The depot closes early during national holidays."
    (found,) = lost(passage, "Parcels leave daily.")
    assert words(passage, (found,)) == ["The depot closes early during national holidays."]
    assert found.kinds == ()


def test_headings_are_not_facts() -> None:
    assert lost("Opening hours\nParcels leave daily.", "Parcels leave daily.") == ()


def test_nothing_is_lost_where_nothing_was_drawn_or_everything_was() -> None:
    assert lost(RETURNS) == ()
    assert lost("", *TRUTHS) == ()
    assert lost(RETURNS, RETURNS) == ()


def test_a_number_written_in_words_is_covered() -> None:
    assert lost("It takes 30 days to return shoes.", "Returning shoes takes thirty days.") == ()


@given(
    st.text(alphabet=st.sampled_from("aB1 .,!?not unless5"), max_size=80),
    st.lists(st.text(alphabet=st.sampled_from("aB1 .not"), max_size=30), max_size=4),
)
def test_lost_facts_lie_in_the_passage_one_per_sentence(passage: str, truths: list[str]) -> None:
    found = lost(passage, *truths)
    read = tokenise_text(passage)
    assert len({each.sentence for each in found}) == len(found)
    for each in found:
        sentence = read.sentences[each.sentence]
        assert sentence.start <= each.span.start < each.span.end <= sentence.end
    assert lost(passage, *truths, passage) == () or "unless" in passage or not truths


def test_truths_are_cut_into_words_only_where_a_passage_says_something_that_none_repeats() -> None:
    read: list[str] = []

    def note(text: str) -> TokenisedText:
        read.append(text)
        return tokenise_text(text)

    literal = tuple(RETURNS.replace("; ", ". ").split(". "))
    drawn = TruthIndex(
        [span.slice_text(RETURNS) for span in tokenise_text(RETURNS).sentences], note
    )
    assert find_missing_facts(tokenise_text(RETURNS), drawn) == ()
    assert not read
    assert find_missing_facts(tokenise_text(RETURNS), TruthIndex(literal[:1], note))
    assert read == list(literal[:1])
