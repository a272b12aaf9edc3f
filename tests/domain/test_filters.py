"""What people type is read without ever failing, and told in a sentence where it cannot be."""

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faithtui.domain.filters import (
    ANSWERS,
    ARCHIVED,
    NAMES_BY_SCOPE,
    QUALITIES,
    STATES,
    Filter,
    FilterContext,
    Scope,
    ScoreBounds,
    Term,
    TermName,
    describe_allowed_values,
    find_reason_code,
    list_term_names,
    parse_filter,
    parse_score_bounds,
)
from faithtui.domain.labels.label_sets import FAITHFULNESS, INFERENCE
from faithtui.domain.labels.reason_codes import REASON_CODES

FACTS = FilterContext(Scope.CONVERSATIONS, FAITHFULNESS.names, dict(FAITHFULNESS.synonyms))
INFERRED = FilterContext(Scope.CONVERSATIONS, INFERENCE.names, dict(INFERENCE.synonyms))
RUNS = FilterContext(Scope.RUNS)
PIECES = st.sampled_from(
    [" ", "-", '"', '""', ":", "verdict:", "is:", "no", "differs", "score:", "<0.5", "..", "x", "é"]
)
TYPED = st.one_of(st.text(), st.lists(PIECES).map("".join))


@given(TYPED, st.sampled_from([FACTS, INFERRED, RUNS, FilterContext(Scope.CLAIMS)]), st.booleans())
@example('-"', FACTS, False)
@example('verdict:"no', FACTS, False)
def test_any_text_is_read_and_what_is_read_can_be_written(
    text: str, context: FilterContext, blind: bool
) -> None:
    context = FilterContext(context.scope, context.labels, context.synonyms, blind)
    reading = parse_filter(text, context)
    again = parse_filter(str(reading.filter), context)
    assert again.filter == reading.filter
    assert again.problem is None
    assert reading.problem is None or "`" in reading.problem


@given(st.text(min_size=1))
def test_a_problem_stays_on_a_line_of_reasonable_length(text: str) -> None:
    problem = parse_filter(f"verdict:{text}", FACTS).problem
    assert problem is None or len(problem) < 160


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", ()),
        ("gift card", (Term(TermName.TEXT, "gift"), Term(TermName.TEXT, "card"))),
        ('"gift card"', (Term(TermName.TEXT, "gift card", quoted=True),)),
        ('-"a ""b"""', (Term(TermName.TEXT, 'a "b"', negated=True, quoted=True),)),
        ("verdict:NO", (Term(TermName.VERDICT, "NO"),)),
        ("verdict:borderline", (Term(TermName.VERDICT, "borderline"),)),
        ("-verdict:missing", (Term(TermName.VERDICT, "missing", negated=True),)),
        ("differs", (Term(TermName.IS, "disagreement"),)),
        ("-differs", (Term(TermName.IS, "disagreement", negated=True),)),
        ('"differs"', (Term(TermName.TEXT, "differs", quoted=True),)),
        ('source:"my data"', (Term(TermName.SOURCE, "my data", quoted=True),)),
        ("10:30 http://a.b", (Term(TermName.TEXT, "10:30"), Term(TermName.TEXT, "http://a.b"))),
        ("- a", None),
    ],
)
def test_a_text_is_cut_into_terms(text: str, terms: tuple[Term, ...] | None) -> None:
    reading = parse_filter(text, FACTS)
    if terms is None:
        assert reading.problem == "`-`: there is no letter or digit in it to look for"
    else:
        assert (reading.filter.terms, reading.problem) == (terms, None)


@pytest.mark.parametrize(
    ("text", "context", "sentence"),
    [
        ("verdct:no", FACTS, "`verdct:no`: there is no `verdct:`; put it in quotation marks"),
        ("verdict:maybe", FACTS, "after `verdict:` comes yes, no, idk, missing"),
        ("verdict:", FACTS, "after `verdict:` comes yes, no, idk, missing"),
        ("human:maybe", INFERRED, "after `human:` comes 1, 0, x, none"),
        ("is:blue", FACTS, "after `is:` comes disagreement, agreement, unlabelled"),
        ("score:high", FACTS, "after `score:` comes <0.5, >=0.8, 0.2..0.8, 1, none"),
        ("code:8", FACTS, "1 or claim, 2 or truth"),
        ("state:running", FACTS, "after `state:` comes pending, done, failed, skipped"),
        ("metric:ragas", FACTS, "conversations cannot be found by `metric:`; possible are"),
        ("verdict:no", RUNS, "runs cannot be found by `verdict:`; possible are metric:, judge:"),
        ("source:", FACTS, "after `source:` comes the name of a data set"),
        ("...", FACTS, "there is no letter or digit"),
    ],
)
def test_what_cannot_be_read_is_told_with_what_is_possible(
    text: str, context: FilterContext, sentence: str
) -> None:
    reading = parse_filter(f"good {text} card", context)
    assert reading.problem is not None
    assert sentence in reading.problem
    assert [term.value for term in reading.filter.terms] == ["good", "card"]


@pytest.mark.parametrize(
    "text", ["verdict:no", "score:<1", "With-Overrides:1", "corrected:1", "differs", "code:1"]
)
def test_a_blind_queue_takes_no_term_that_tells_what_the_judge_said(text: str) -> None:
    blind = FilterContext(Scope.CONVERSATIONS, FACTS.labels, FACTS.synonyms, blind=True)
    reading = parse_filter(text, blind)
    assert not reading.filter
    assert reading.problem is not None
    assert reading.problem.startswith("left out while you work blind: ")
    assert reading.problem.endswith("would reveal the judge's verdict")
    # Within a conversation nothing is found by the other terms alone.
    within = parse_filter(text, replace(blind, scope=Scope.CLAIMS)).problem or ""
    assert "would reveal" not in within or within.startswith("nothing is searched while you work")
    assert TermName.VERDICT not in list_term_names(blind)
    assert "disagreement" not in describe_allowed_values(TermName.IS, blind)
    assert parse_filter("is:unlabelled refund human:none", blind).problem is None


@pytest.mark.parametrize("text", ["human:yes", "-human:NO", "human:x", "is:unsure"])
def test_a_blind_list_takes_no_term_that_tells_how_others_labelled(text: str) -> None:
    blind = FilterContext(Scope.CONVERSATIONS, FACTS.labels, FACTS.synonyms, blind=True)
    reading = parse_filter(text, blind)
    assert not reading.filter
    assert reading.problem is not None
    assert reading.problem.startswith("left out while you work blind: ")
    assert reading.problem.endswith("would reveal labels of others")
    assert describe_allowed_values(TermName.HUMAN, blind) == "none"
    assert "unsure" not in describe_allowed_values(TermName.IS, blind)
    # In a conversation only what is shown is looked through.
    assert parse_filter(text, replace(blind, scope=Scope.CLAIMS)).problem is None


def test_words_of_another_vocabulary_are_understood() -> None:
    assert FACTS.find_label("1") == "yes"
    assert INFERRED.find_label("idk") == "0"
    assert parse_filter("verdict:no human:yes", INFERRED).problem is None
    assert parse_filter("verdict:perhaps", FilterContext(Scope.CONVERSATIONS)).problem is None


@pytest.mark.parametrize(
    ("value", "inside", "outside"),
    [
        ("<0.5", (0.0, 0.49), (0.5, 1.0)),
        ("<=0.5", (0.0, 0.5), (0.51,)),
        (">0.5", (0.51, 1.0), (0.5, 0.0)),
        (">=.5", (0.5, 1.0), (0.49,)),
        ("0.2..0.8", (0.2, 0.5, 0.8), (0.19, 0.81)),
        ("1", (1.0,), (0.99,)),
    ],
)
def test_bounds_hold_what_they_say(
    value: str, inside: tuple[float, ...], outside: tuple[float, ...]
) -> None:
    found = parse_score_bounds(value)
    assert isinstance(found, ScoreBounds)
    assert all(map(found.contains, inside))
    assert not any(map(found.contains, outside))


@pytest.mark.parametrize("value", ["", "<", "..", "1..", "a", "<a", "١", "1e400", "nan", "- 1"])
def test_what_is_no_bound_is_none(value: str) -> None:
    assert parse_score_bounds(value) is None


def test_reason_codes_are_known_by_number_and_by_name() -> None:
    for number, code in enumerate(REASON_CODES, start=1):
        assert find_reason_code(str(number)) == find_reason_code(code.name.upper()) == code.name
    assert [find_reason_code(each) for each in ("", "0", "8", "9" * 5000, "²")] == [None] * 5


def test_the_last_plain_word_may_be_unfinished() -> None:
    def open_word(text: str) -> str | None:
        found = parse_filter(text, FACTS).filter.unfinished_word
        return found.value if found else None

    assert open_word("gift ca") == "ca"
    assert open_word("gift ca verdict:no") == "ca"
    assert open_word('gift "ca"') == "gift"
    assert open_word("-ca") is None
    assert not Filter()


@pytest.mark.parametrize("scope", Scope)
def test_everything_offered_is_taken(scope: Scope) -> None:
    context = FilterContext(scope, FAITHFULNESS.names, dict(FAITHFULNESS.synonyms))
    values = {
        TermName.VERDICT: ("yes", "missing"),
        TermName.HUMAN: ("no", "x", "none"),
        TermName.IS: tuple(QUALITIES),
        TermName.CODE: ("1", "other"),
        TermName.SCORE: ("none",),
        TermName.WITH_OVERRIDES: ("0..1",),
        TermName.STATE: STATES[scope],
        TermName.ANSWERS: tuple(ANSWERS),
        TermName.ARCHIVED: ARCHIVED,
    }
    for name in NAMES_BY_SCOPE[scope]:
        for value in values.get(name, ("ann",)):
            assert parse_filter(f"{name}:{value}", context).problem is None
