import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.conversation import Span
from faithtui.domain.text.contradictions import ClashKind, find_clash
from faithtui.domain.text.sentence_index import (
    SentenceIndex,
    compute_lcs_length,
    index_passages,
    map_stems_to_position_bits,
)
from faithtui.domain.text.sentences import split_sentences
from faithtui.domain.text.tokens import stem, tokenise_stems, tokenise_words
from faithtui.domain.text.word_lists import IRREGULAR, OPPOSITE_PAIRS
from faithtui.judges.embedded.features import compare_claim_with_context
from faithtui.judges.embedded.overlap import (
    MAX_CLASH_PROBABILITY,
    OverlapVerdict,
    VerdictWord,
    compute_support_probability,
    judge_claim,
    recalibrate_probability,
)
from faithtui.judges.embedded.weights import FEATURES, Calibration, load_weights

LIGHTHOUSE = (
    "The lighthouse of Marrow Point was finished in 1884. It stands 41 metres above the sea. "
    "Its lamp was fuelled with oil until 1923, when the keeper installed an electric lamp. "
    "The harbour below is closed to sailing boats in winter."
)


def index(*passages: str) -> SentenceIndex:
    return index_passages(passages)


def judged(claim: str, *passages: str) -> OverlapVerdict:
    return judge_claim(claim, index(*passages))


@pytest.mark.parametrize("span", split_sentences(LIGHTHOUSE))
def test_a_copied_sentence_is_supported_by_that_very_sentence(span: Span) -> None:
    finding = judged(span.slice_text(LIGHTHOUSE), LIGHTHOUSE)
    assert finding.answer is VerdictWord.YES
    assert finding.evidence[0].span == span
    assert finding.missing == ()


def test_a_close_paraphrase_is_supported() -> None:
    finding = judged("An electric lamp was installed in 1923 by the keeper.", LIGHTHOUSE)
    assert finding.answer is VerdictWord.YES


def test_an_unrelated_claim_is_undecided() -> None:
    finding = judged("Bananas are the main export of the island nation.", LIGHTHOUSE)
    assert finding.answer is VerdictWord.IDK
    assert finding.probability < 0.3
    assert finding.evidence == ()
    assert "0 of 5 content words" in finding.reason


def test_another_number_is_a_possible_contradiction_that_is_named() -> None:
    finding = judged("It stands 47 metres above the sea.", LIGHTHOUSE)
    assert finding.answer is VerdictWord.NO
    assert finding.probability <= MAX_CLASH_PROBABILITY
    assert finding.reason == (
        'Possible contradiction: the claim says "47" where the closest sentence says "41".'
    )


def test_a_number_said_elsewhere_of_the_same_thing_is_no_contradiction() -> None:
    finding = judged("The tower has 12 floors.", "The tower has 12 floors.", "It has 9 floors.")
    assert finding.answer is VerdictWord.YES


@pytest.mark.parametrize(
    ("claim", "sentence", "kind"),
    [
        ("Revenue fell 12%.", "Revenue rose 12%.", ClashKind.OPPOSITE),
        ("Sales grew in spring.", "Sales shrank in spring.", ClashKind.OPPOSITE),
        ("The club won the cup.", "The club lost the cup.", ClashKind.OPPOSITE),
        ("The town bought the old mill.", "The town sold the old mill.", ClashKind.OPPOSITE),
        ("The strike began in May.", "The strike ended in May.", ClashKind.OPPOSITE),
        ("The fund gained 4 points.", "The fund lost 4 points.", ClashKind.OPPOSITE),
        ("Prices sank in autumn.", "Prices soared in autumn.", ClashKind.OPPOSITE),
        ("Pumps work inefficiently there.", "Pumps work efficiently there.", ClashKind.OPPOSITE),
        ("The lease runs six months.", "The lease runs six weeks.", ClashKind.OPPOSITE),
        ("It was sold to a Swedish bank.", "It was sold to a Danish bank.", ClashKind.OPPOSITE),
        ("The pier was opened in May.", "The pier was opened in July.", ClashKind.DATE),
        ("The second bridge was sold.", "The third bridge was sold.", ClashKind.DATE),
        ("It opened in 1931.", "It opened in 1930.", ClashKind.DATE),
        ("The pass is not open in winter.", "The pass is open in winter.", ClashKind.NEGATION),
        ("The pass is open in winter.", "The pass isn't open in winter.", ClashKind.NEGATION),
        (
            "The canal does not flow through Harwick.",
            "The canal flows from north to south through eastern Harwick.",
            ClashKind.NEGATION,
        ),
    ],
)
def test_explicit_differences_clash(claim: str, sentence: str, kind: ClashKind) -> None:
    finding = judged(claim, sentence)
    assert finding.clash is not None
    assert finding.clash.kind is kind
    assert finding.answer is VerdictWord.NO


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("About 3.5 million people live there.", "Some 3,482,113 people live there."),
        ("The town has 12,500 inhabitants.", "The town has 12.5 thousand inhabitants."),
        ("Three million tickets were sold.", "3,000,000 tickets were sold."),
        ("It grew by 12 percent.", "It grew by 12%."),
        ("The route is not easy to walk.", "The route is difficult to walk."),
        ("It is not at all easy to sell it.", "It is difficult to sell it, and not cheap."),
        ("It is a risk most prefer to avoid.", "It is a risk most prefer not to take."),
        ("The name doesn't match the card.", "Verify that the name matches the card."),
        ("The wall is gray.", "The wall is grey."),
        ("It is an invaluable find.", "It is a valuable find."),
        ("The result will be known on Friday.", "The result will not be known until Friday."),
        ("She is not only a pilot.", "She is a pilot."),
        ("It has 12 rooms and 40 doors.", "It has 40 doors and 12 rooms."),
        ("The fare is $40.", "The fare is €40."),
    ],
)
def test_the_same_in_other_words_does_not_clash(claim: str, sentence: str) -> None:
    assert judged(claim, sentence).clash is None


def test_a_clash_needs_the_rest_to_agree() -> None:
    finding = judged("The winery sold 300 bottles.", "The school taught 400 children.")
    assert finding.answer is VerdictWord.IDK


def test_evidence_spans_are_exact_ranges_of_their_passage() -> None:
    passages = ("🌊🌊 Waves rose. 灯塔很高。", "Nothing here.", "**Waves** hit the tall tower, é!")
    finding = judged("Waves hit the tall tower.", *passages)
    first = finding.evidence[0]
    assert first.source == 2
    assert first.span.slice_text(passages[2]) == "**Waves** hit the tall tower, é!"
    assert [span.slice_text(passages[2]) for span in first.matched] == [
        "Waves",
        "hit",
        "tall",
        "tower",
    ]


def test_evidence_covers_what_the_first_sentence_leaves_open() -> None:
    finding = judged("The lighthouse, finished in 1884, stands 41 metres high.", LIGHTHOUSE)
    quoted = {each.span.slice_text(LIGHTHOUSE) for each in finding.evidence}
    assert quoted == {
        "The lighthouse of Marrow Point was finished in 1884.",
        "It stands 41 metres above the sea.",
    }


def test_missing_words_are_ranges_of_the_claim_and_are_named() -> None:
    claim = "The lighthouse was finished by Danish monks."
    finding = judged(claim, LIGHTHOUSE)
    assert [span.slice_text(claim) for span in finding.missing] == ["Danish", "monks"]
    assert finding.reason == ("2 of 4 content words are in the context; not found: Danish, monks.")


def test_a_long_list_of_missing_words_is_cut() -> None:
    reason = judged("Red green blue brown white black pink grey birds sang.", LIGHTHOUSE).reason
    assert reason.endswith("not found: Red, green, blue, brown, white, black and 4 more.")


def test_a_claim_of_two_sentences_gets_the_mean_of_both() -> None:
    context = index(LIGHTHOUSE)
    good, bad = "It stands 41 metres above the sea.", "Seven whales live nearby."
    both = judge_claim(f"{good} {bad}", context)
    apart = [judge_claim(each, context).probability for each in (good, bad)]
    assert both.probability == pytest.approx(sum(apart) / 2)


def test_one_clash_decides_a_claim_of_several_sentences() -> None:
    claim = "The lamp was electric. It stands 47 metres above the sea."
    finding = judged(claim, LIGHTHOUSE)
    assert finding.answer is VerdictWord.NO
    assert finding.probability <= MAX_CLASH_PROBABILITY
    assert finding.evidence[0].span.slice_text(LIGHTHOUSE) == "It stands 41 metres above the sea."


def test_greetings_around_a_claim_do_not_count() -> None:
    copied = "It stands 41 metres above the sea."
    chatty = judged(f"Thank you very much! {copied} I hope this helps!", LIGHTHOUSE)
    assert chatty.probability == judged(copied, LIGHTHOUSE).probability


@pytest.mark.parametrize(
    ("claim", "passages", "reason"),
    [
        ("It stands.", (), "There is no context to compare the claim with."),
        ("It stands.", ("", " \n"), "There is no context to compare the claim with."),
        ("", (LIGHTHOUSE,), "The claim holds no word to compare."),
        ("?!… 😀", (LIGHTHOUSE,), "The claim holds no word to compare."),
    ],
)
def test_nothing_to_compare_is_undecided(
    claim: str, passages: tuple[str, ...], reason: str
) -> None:
    finding = judged(claim, *passages)
    assert (finding.answer, finding.reason) == (VerdictWord.IDK, reason)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("灯塔高四十米。", "灯塔高四十米。海很蓝。"),
        ("ประภาคารสูงมาก", "ประภาคารสูงมาก ทะเลสีฟ้า"),
        ("Маяк стоит на скале.", "Маяк стоит на скале."),
        ("झील बहुत गहरी है।", "झील बहुत गहरी है।"),
    ],
    ids=["chinese", "thai", "russian", "hindi"],
)
def test_other_scripts_are_compared_but_called_unmeasured(claim: str, passage: str) -> None:
    finding = judged(claim, passage)
    assert finding.answer is VerdictWord.YES
    assert "measured on English only" in finding.reason


def test_a_language_with_latin_letters_is_noticed_too() -> None:
    passage = "Der Turm ist sehr hoch und steht auf der Klippe."
    finding = judged(passage, passage)
    assert finding.answer is VerdictWord.YES
    assert finding.reason.endswith(
        "Unmeasured language (German): this heuristic was measured on English only."
    )


def test_english_is_measured_and_says_nothing_of_it() -> None:
    assert "anguage" not in judged("It stands 41 metres above the sea.", LIGHTHOUSE).reason


@pytest.mark.parametrize(
    ("claim", "languages"),
    [
        ("Der Leuchtturm steht in 1884 auf der Klippe Marrow Point.", "German, the context as"),
        ("Маяк Marrow Point стоит над морем с 1884 года.", "Cyrillic, the context as English"),
    ],
)
def test_a_claim_in_another_language_than_the_context_is_undecided(
    claim: str, languages: str
) -> None:
    finding = judged(claim, LIGHTHOUSE)
    assert finding.answer is VerdictWord.IDK
    assert finding.probability <= MAX_CLASH_PROBABILITY
    assert f"the claim reads as {languages}" in finding.reason


def test_recalibration_moves_log_odds_and_leaves_certainty_alone() -> None:
    assert recalibrate_probability(0.7, Calibration()) == 0.7
    assert recalibrate_probability(0.5, Calibration(2.0, 1.0)) == pytest.approx(
        1 / (1 + math.exp(-1))
    )
    ends = [recalibrate_probability(end, Calibration(0.5, 3.0)) for end in (0.0, 1.0)]
    assert ends == [0.0, 1.0]


TEXTS = st.text(
    st.one_of(st.sampled_from("ab no 1,2.%$'’-\n\x00é中न\u093f\ud800😀"), st.characters()),
    max_size=60,
)


@given(TEXTS, st.lists(TEXTS, max_size=4))
def test_a_finding_keeps_its_promises_on_any_text(claim: str, passages: list[str]) -> None:
    finding = judged(claim, *passages)
    assert 0 <= finding.probability <= 1
    assert len(finding.evidence) <= 3
    assert (finding.answer is VerdictWord.NO) == (finding.clash is not None)
    assert (finding.answer is VerdictWord.YES) == (
        finding.clash is None and finding.probability >= 0.5
    )
    assert finding.reason
    for each in finding.evidence:
        passage = passages[each.source]
        assert 0 <= each.span.start < each.span.end <= len(passage)
        for word in each.matched:
            assert each.span.start <= word.start < word.end <= each.span.end
    for span in finding.missing:
        assert 0 <= span.start < span.end <= len(claim)


@given(TEXTS)
def test_words_are_ranges_of_their_text_in_order(text: str) -> None:
    words = tokenise_words(text)
    assert all(0 <= word.start < word.end <= len(text) for word in words)
    assert [word.start for word in words] == sorted(word.start for word in words)


@given(TEXTS, st.integers(0, 5))
def test_stems_read_alone_are_those_of_the_words(text: str, start: int) -> None:
    stems = tokenise_stems(text, start, len(text))
    words = tokenise_words(text, start)
    if stems is None:
        assert any(word.number is not None or not word.text.isascii() for word in words) or any(
            word.text in ["percent", "percentage", "pct", "k", "mn", "bn"] for word in words
        )
    else:
        assert list(stems) == [word.stem for word in words]
        assert all(word.number is None for word in words)


@given(TEXTS, TEXTS)
def test_words_of_a_range_are_those_of_the_cut_text(before: str, text: str) -> None:
    shift = len(before) + 1
    ranged = tokenise_words(f"{before} {text} 9", shift, shift + len(text))
    assert ranged == [
        word._replace(start=word.start + shift, end=word.end + shift)
        for word in tokenise_words(text)
    ]


@given(TEXTS, TEXTS)
def test_common_length_is_that_of_the_plain_algorithm(left: str, right: str) -> None:
    one = [word.stem for word in tokenise_words(left)]
    other = [word.stem for word in tokenise_words(right)]
    row = [0] * (len(other) + 1)
    for mine in one:
        before, row = row, [0]
        for column, theirs in enumerate(other):
            same = mine == theirs
            row.append(before[column] + 1 if same else max(before[column + 1], row[column]))
    assert compute_lcs_length(map_stems_to_position_bits(one), len(one), other) == row[-1]


@given(TEXTS)
def test_nothing_clashes_with_itself(text: str) -> None:
    assert find_clash(tokenise_words(text), tokenise_words(text)) is None


def test_a_text_of_a_hundred_thousand_characters_is_judged() -> None:
    passage = "\n".join(
        f"Barrel {number} was rolled to the {number} quay." for number in range(2_500)
    )
    assert len(passage) > 80_000
    finding = judged("Barrel 2112 was rolled to the 2112 quay.", passage)
    assert (
        finding.evidence[0].span.slice_text(passage) == "Barrel 2112 was rolled to the 2112 quay."
    )


def test_the_probability_is_the_calibrated_logistic_of_the_features() -> None:
    part = compare_claim_with_context("It stands 41 metres above the cold sea.", index(LIGHTHOUSE))
    weights = load_weights()
    raw = weights.intercept + sum(
        w * x for w, x in zip(weights.weights, part.features, strict=True)
    )
    slope, intercept = weights.calibration
    assert math.isclose(
        compute_support_probability([part], weights), 1 / (1 + math.exp(-(slope * raw + intercept)))
    )


@pytest.mark.parametrize(
    ("claim", "feature"),
    [
        ("It stands 41 metres above 19 rocks.", "numbers_missing"),
        ("It stands above Dover.", "names_missing"),
        (
            "It stands 41 metres above the sea, closed to boats in winter, its electric lamp "
            "installed by a keeper at Marrow.",
            "names_far",
        ),
        ("It stands above my sea.", "first_person"),
    ],
)
def test_each_weakness_shows_in_its_feature(claim: str, feature: str) -> None:
    place = FEATURES.index(feature)
    context = index(LIGHTHOUSE)
    assert compare_claim_with_context(claim, context).features[place] > 0
    assert (
        compare_claim_with_context("It stands 41 metres above the sea.", context).features[place]
        == 0
    )


@pytest.mark.parametrize(
    "forms",
    [
        ("install", "installs", "installed", "installing"),
        ("bake", "bakes", "baked", "baking"),
        ("stop", "stops", "stopped", "stopping"),
        ("city", "cities"),
        ("rise", "rose", "risen"),
        ("keeper", "keepers", "keeper's"),
        ("child", "children", "child's", "children's"),
    ],
)
def test_forms_of_a_word_share_a_stem(forms: tuple[str, ...]) -> None:
    assert all(stem(one) == stem(other) for one, other in combinations(forms, 2))


def test_irregular_forms_lead_to_a_form_that_is_not_irregular_itself() -> None:
    assert [form for form, base in IRREGULAR.items() if base in IRREGULAR] == []


def test_opposites_have_different_stems() -> None:
    assert [pair for pair in OPPOSITE_PAIRS if stem(pair[0]) == stem(pair[1])] == []


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("3,000,000", 3e6, ""),
        ("three million", 3e6, ""),
        ("$2.5bn", 2.5e9, "$"),
        ("twenty-five percent", 25, "%"),
        ("40 %", 40, "%"),
        ("3rd", 3, "th"),
        ("1990s", 1990, ""),
        ("two dozen", 24, ""),
        ("١٢", 12, ""),
    ],
)
def test_numbers_are_read_to_values(text: str, value: float, unit: str) -> None:
    word = tokenise_words(text)[0]
    assert (word.number, word.unit) == (value, unit)


def test_one_is_a_number_only_before_a_scale() -> None:
    assert [word.number for word in tokenise_words("one of one million")] == [None, None, 1e6]


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Over 3,000 fans sang in Oslo.", "Exactly 3,125 fans sang in Oslo."),
        ("It weighs 12 km.", "It weighs 12 kg."),
        ("It rained 3.4 litres.", "It rained 3.41 litres."),
        ("No, the gate opens at dawn.", "The gate opens at dawn."),
        ("The gate does not in any weather open.", "The gate does open."),
    ],
    ids=["hedged", "same number", "cut-off decimals", "negation in front", "words between"],
)
def test_doubtful_differences_are_let_pass(claim: str, sentence: str) -> None:
    assert judged(claim, sentence).clash is None


def test_years_are_never_rounded() -> None:
    assert judged("About 1900 it opened.", "About 1904 it opened.").clash is not None


def test_a_clash_with_a_sentence_about_something_else_is_dropped() -> None:
    claim = "The winery near the old railway bridge sold 300 bottles."
    assert judged(claim, "The school sold 400 bottles of juice to parents.").clash is None


def test_a_rounded_number_is_not_missing() -> None:
    place = FEATURES.index("numbers_missing")
    context = index("The lake holds 4,871,000 litres and 208 fish.")
    assert (
        compare_claim_with_context(
            "It holds 4.9 million litres and about 200 fish.", context
        ).features[place]
        == 0
    )
    assert compare_claim_with_context("It holds 5.9 million litres.", context).features[place] > 0


def test_a_negated_sentence_is_named_in_the_reason() -> None:
    reason = judged("The pass is open in winter.", "The pass is not open in winter.").reason
    assert reason == 'Possible contradiction: only the closest sentence is negated ("not").'


def test_a_negated_claim_is_named_in_the_reason() -> None:
    reason = judged("The pass is NOT open in winter.", "The pass is open in winter.").reason
    assert reason == 'Possible contradiction: only the claim is negated ("NOT").'


def test_words_scattered_over_the_context_do_not_support() -> None:
    passages = ("Bears eat.", "Fish swim.", "Poland is flat.", "He sold it.")
    finding = judged("Poland sold bears we fish.", *passages)
    assert finding.answer is VerdictWord.IDK
    assert finding.reason == "All 4 content words are in the context, but not close together."


def test_words_that_share_their_beginning_are_half_found() -> None:
    place = FEATURES.index("covered")
    assert (
        compare_claim_with_context("Photographers", index("A photography show.")).features[place]
        == 0.7
    )


def test_missing_pairs_of_characters_are_named_as_one_run() -> None:
    assert "not found: 灯塔很高" in judged("灯塔很高", "大海").reason
