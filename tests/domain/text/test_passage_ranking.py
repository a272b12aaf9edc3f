import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.conversation import Span
from faithtui.domain.text.passage_ranking import (
    NamedTruth,
    RankedPassage,
    choose_excerpt_with_needed_spans,
    compute_weighted_word_overlap,
    find_source_sentence,
    rank_passages,
)
from faithtui.domain.text.texts import tokenise_text
from tests.resources import times_reading

RETURNS = (
    "The window is 30 days. A return label is free for defective items. For other returns a fee "
    "of $5.95 is not refunded."
)
SHIPPING = "Labels are printed at the store. Keep the receipt."
TEXTS = st.text(alphabet=st.sampled_from("aB1 .,!?\n'。見 not5%"), max_size=80)


def rank(claim: str, *passages: str, named: int | None = None) -> tuple[RankedPassage, ...]:
    truths: list[list[NamedTruth]] = [[] for _ in passages]
    if named is not None:
        truths[named].append(
            NamedTruth(tokenise_text("The receipt must be kept."), "contradicts", None)
        )
    return rank_passages(tokenise_text(claim), [tokenise_text(text) for text in passages], truths)


def marked(text: str, found: RankedPassage) -> list[tuple[str, str]]:
    return [(text[mark.span.start : mark.span.end], mark.kind) for mark in found.marks]


def test_the_passage_that_shares_more_comes_first() -> None:
    first, second = rank("Return labels are free.", SHIPPING, RETURNS)
    assert (first.position, second.position) == (1, 0)
    assert first.match == 1.0
    assert 0 < second.match < 1


def test_a_named_passage_comes_before_a_better_match() -> None:
    first, _ = rank("Return labels are free.", SHIPPING, RETURNS, named=0)
    assert first.position == 0
    (quote,) = first.quotes
    assert SHIPPING[quote.span.start : quote.span.end] == "Keep the receipt."
    assert quote.stance == "contradicts"


def test_the_sentence_that_answers_is_quoted() -> None:
    (found,) = rank("Return labels are free.", RETURNS)
    (quote,) = found.quotes
    assert RETURNS[quote.span.start : quote.span.end] == (
        "A return label is free for defective items."
    )
    assert found.best == quote.span


def test_numbers_and_negations_of_a_quote_are_marked_though_the_claim_lacks_them() -> None:
    (found,) = rank("Other returns have a fee that is refunded.", RETURNS)
    words = marked(RETURNS, found)
    assert ("5.95", "number") in words
    assert ("not", "negation") in words


def test_numbers_and_names_of_the_claim_are_marked_anywhere() -> None:
    text = "Call us. The price is 30. Ask for Ann in Berlin."
    (found,) = rank("In Berlin the Return label of Ann takes 30 days.", text)
    assert {("30", "number"), ("Ann", "name"), ("Berlin", "name")} <= set(marked(text, found))


def test_words_match_across_case_and_common_endings() -> None:
    assert (
        compute_weighted_word_overlap(
            tokenise_text("Labels printed"), tokenise_text("PRINTING a label")
        )
        == 1.0
    )


def test_a_claim_without_telling_words_matches_nothing() -> None:
    (found,) = rank("It is.", RETURNS)
    assert found.match == 0.0
    assert found.best is None
    assert found.quotes == ()


def test_chinese_is_compared_character_by_character() -> None:
    first, _ = rank("退货标签免费", "天气很好。", "退货标签对残次品免费。")
    assert first.position == 1


def test_of_touching_quotes_the_contradiction_stays() -> None:
    whole, part = Span(0, 22), Span(4, 10)
    passage = tokenise_text(RETURNS)
    for stances in (("supports", "contradicts"), ("contradicts", "supports")):
        truths = [
            NamedTruth(tokenise_text("x"), stances[0], whole),
            NamedTruth(tokenise_text("x"), stances[1], part),
        ]
        (found,) = rank_passages(tokenise_text("x"), [passage], [truths])
        assert [quote.stance for quote in found.quotes] == ["contradicts"]


def test_an_excerpt_holds_what_is_needed_and_grows_around_it() -> None:
    passage = tokenise_text("One. Two. Three. Four. Five.")
    needed = [Span(10, 16)]
    texts = [
        [
            passage.text[part.start : part.end]
            for part in choose_excerpt_with_needed_spans(passage, needed, budget)
        ]
        for budget in (1, 18, 100)
    ]
    assert texts[0] == ["Three."]
    assert texts[1] == ["Two. Three. Four."]
    assert texts[2] == ["One. Two. Three. Four. Five."]


KIDS = (
    "You know kids need physical activity to grow up strong and healthy.But did you know it can "
    "help them feel better right away?Better sleepBetter moodBetter grades"
    "And when you move with your kids, you get the health benefits, too!\n\n"
    "Help your kids move more with physical activity every day.\n\n"
    "Physical activity is safe and healthy during and after pregnancy — and it can help you feel "
    "better right away.\n\nFind out how physical activity can help older adults."
)


@pytest.mark.parametrize("budget", [1, 200, 400])
def test_an_excerpt_has_the_words_of_every_part_of_a_claim(budget: int) -> None:
    claim = tokenise_text(
        "Regular physical activity can help children perform better in school, sleep better, and "
        "improve their mood."
    )
    passage = tokenise_text(KIDS)
    parts = choose_excerpt_with_needed_spans(passage, [], budget, claim)
    shown = " ".join(passage.text[part.start : part.end] for part in parts)
    assert "Better sleepBetter moodBetter grades" in shown
    pregnancy = next(
        each for each in passage.sentences if "pregnancy" in KIDS[each.start : each.end]
    )
    needed = choose_excerpt_with_needed_spans(passage, [pregnancy], 500, claim)
    shown = " ".join(passage.text[part.start : part.end] for part in needed)
    assert "pregnancy" in shown
    assert "Better sleepBetter moodBetter grades" in shown


def test_an_excerpt_without_need_begins_at_the_beginning() -> None:
    assert choose_excerpt_with_needed_spans(tokenise_text("One. Two."), [], 1) == (Span(0, 4),)
    assert choose_excerpt_with_needed_spans(tokenise_text("  "), [], 10) == ()


@given(TEXTS)
def test_words_and_sentences_stay_inside_the_text_and_in_order(text: str) -> None:
    read = tokenise_text(text)
    end = 0
    for sentence in read.sentences:
        assert end <= sentence.start < sentence.end <= len(text)
        end = sentence.end
    start = 0
    for word in read.words:  # pairs of characters overlap where a script has no blanks
        assert start <= word.start < word.end <= len(text)
        start = word.start


@given(TEXTS, st.lists(TEXTS, max_size=4), TEXTS)
def test_ranking_keeps_every_passage_and_never_leaves_its_text(
    claim: str, passages: list[str], truth: str
) -> None:
    named = [[NamedTruth(tokenise_text(truth), "supports", None)] for _ in passages]
    ranked = rank_passages(tokenise_text(claim), [tokenise_text(text) for text in passages], named)
    assert sorted(each.position for each in ranked) == list(range(len(passages)))
    for each in ranked:
        text = passages[each.position]
        assert 0 <= each.match <= 1
        for spans in ([q.span for q in each.quotes], [m.span for m in each.marks]):
            end = 0
            for span in spans:
                assert end <= span.start < span.end <= len(text)
                end = span.end


@given(TEXTS, st.integers(1, 60))
def test_an_excerpt_covers_what_it_must(text: str, budget: int) -> None:
    passage = tokenise_text(text)
    for needed in passage.sentences:
        parts = choose_excerpt_with_needed_spans(passage, [needed], budget, passage)
        assert any(part.start <= needed.start and needed.end <= part.end for part in parts)


FEES = (
    "A prepaid return label is free for defective items. Return labels are not free for others. "
    "The label costs $5.95 from May 2025 on, unless the customer is a gold member of Acme."
)


def test_what_contradicts_is_quoted_and_says_in_what_it_differs() -> None:
    (found,) = rank("Return labels are free.", FEES)
    quoted = [FEES[quote.span.start : quote.span.end] for quote in found.quotes]
    assert "Return labels are not free for others." in quoted
    assert "negation" in found.differs


def test_numbers_dates_and_names_that_clash_are_told() -> None:
    for claim, kind in (
        ("The label costs $7.50.", "number"),
        ("The label costs money from May 2024 on.", "date"),
        ("The customer is a gold member of Umbrella.", "name"),
    ):
        (found,) = rank(claim, FEES)
        assert kind in found.differs, claim


def test_a_condition_differs_from_a_claim_without_exception() -> None:
    (always,) = rank("The label always costs a gold member $5.95 from May 2025 on.", FEES)
    (hedged,) = rank("The label costs $5.95 from May 2025 on unless one is a gold member.", FEES)
    assert "condition" in always.differs
    assert "condition" not in hedged.differs


def test_the_same_words_do_not_differ() -> None:
    (found,) = rank("A prepaid return label is free for defective items.", FEES.split(". ")[0])
    assert found.differs == ()


def test_decisive_words_are_marked_as_matched_or_not() -> None:
    (found,) = rank("The label costs $7.50 from May 2025 on.", FEES)
    marks = {FEES[mark.span.start : mark.span.end]: mark for mark in found.marks}
    assert (marks["5.95"].kind, marks["5.95"].matched) == ("number", False)
    assert (marks["2025"].kind, marks["2025"].matched) == ("date", True)
    assert (marks["unless"].kind, marks["unless"].matched) == ("condition", False)
    assert marks["Acme"].kind == "name"


def test_rare_words_count_more_than_those_every_sentence_has() -> None:
    common = "The label is here. The label is there. The label is green."
    first, second = rank("The label has a watermark.", common, "A watermark is a mark.")
    assert first.position == 1
    assert first.match > second.match


def test_a_misspelt_word_is_found() -> None:
    (found,) = rank("The organisation is large.", "An organization exists. A cat sleeps.")
    assert found.best == Span(0, 23)
    assert 0 < found.match < 1


def test_the_place_of_a_truth_is_its_sentence() -> None:
    passage = tokenise_text(FEES)
    assert find_source_sentence(tokenise_text("Defective items have a free label."), passage) == 0
    assert find_source_sentence(tokenise_text("x"), passage, Span(60, 70)) == 1
    assert find_source_sentence(tokenise_text("Nothing of the kind."), passage) is None
    assert find_source_sentence(tokenise_text("x"), passage, Span(900, 910)) is None


def test_of_many_sentences_that_differ_a_few_are_quoted() -> None:
    many = "".join(f"The blue parcel weighs {number} kilograms. " for number in range(2_000))
    claim = "The blue parcel weighs 9000 kilograms."
    assert times_reading(many, lambda: rank(claim, many)) < 3_000
    (found,) = rank(claim, many)
    assert len(found.quotes) == 12
    assert found.differs == ("number",)


def test_a_passage_with_the_claim_word_for_word_differs_in_nothing() -> None:
    claim = "The tower does not open on Monday."
    copied = "Guides say: the tower does  not open on Monday. The tower opens on Monday at ten."
    (found,) = rank_passages(tokenise_text(claim), [tokenise_text(copied)], [()])
    assert found.differs == ()
    assert not any(mark.clashes for mark in found.marks)
    other = "The tower opens on Monday at ten."
    (found,) = rank_passages(tokenise_text(claim), [tokenise_text(other)], [()])
    assert found.differs


def test_words_of_the_claim_that_a_passage_lacks_or_contradicts_are_named() -> None:
    claim = "The tower opened in 1923."
    passages = ["The tower opened in 1932.", "Pilgrims came by boat."]
    ranked = rank_passages(tokenise_text(claim), [*map(tokenise_text, passages)], [(), ()])
    words = {
        each.position: (
            [claim[span.start : span.end] for span in each.missing],
            [claim[span.start : span.end] for span in each.contested],
        )
        for each in ranked
    }
    assert words == {0: (["1923"], ["1923"]), 1: (["tower", "opened", "1923"], [])}


def test_words_that_a_passage_has_without_the_blank_between_them_are_not_missing() -> None:
    claim = "Exercise helps children sleep better and lifts their mood."
    page = "Exercise helps children: sleepBetter moodMore energy. Our fortyFive shops are open."
    found = rank_passages(tokenise_text(claim), [tokenise_text(page)], [()])[0]
    assert [claim[span.start : span.end] for span in found.missing] == ["lifts"]
