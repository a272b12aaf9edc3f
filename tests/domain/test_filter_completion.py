"""Terms are completed while they are typed, and suggested where words find nothing."""

from dataclasses import replace

import pytest

from faithtui.domain.filter_completion import complete_filter, list_completions, suggest_terms
from faithtui.domain.filters import FilterContext, Scope, TermName, parse_filter

GROUND = FilterContext(Scope.CONVERSATIONS, ("yes", "no", "idk"))
BLIND = FilterContext(Scope.CONVERSATIONS, ("yes", "no", "idk"), blind=True)
RUNS = FilterContext(Scope.RUNS)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("ver", ("verdict:",)),
        ("verdict:", ("verdict:yes", "verdict:no", "verdict:idk", "verdict:missing")),
        ("refund -verdict:n", ("-verdict:no",)),
        ("is:unl", ("is:unlabelled",)),
        ("dif", ("differs",)),
        ("reviewer:a", ()),
        ('"verd', ()),
        ("nobody", ()),
        ("unr", ()),
        ("unre", ("is:unlabelled",)),
        ("disagreements", ("is:disagreement",)),
        ("-unreviewed", ("-is:unlabelled",)),
        ("disag", ("is:disagreement",)),
        ("flag", ("is:flagged",)),
    ],
)
def test_the_last_word_is_completed_to_a_term(text: str, terms: tuple[str, ...]) -> None:
    assert list_completions(text, GROUND) == terms


def test_values_that_are_known_are_offered_where_any_word_may_follow() -> None:
    known = {
        TermName.JUDGE: ("offline", "openai:gpt-6-luna", "openai:Phi", 'odd "one"'),
        TermName.METRIC: ("turn-faithfulness",),
    }
    runs = replace(RUNS, known=known)
    assert list_completions("judge:", runs) == (
        "judge:offline",
        "judge:openai:gpt-6-luna",
        "judge:openai:Phi",
    )
    assert list_completions("-judge:OPENAI:p", runs) == ("-judge:openai:Phi",)
    assert complete_filter("state:done metric:t", runs) == "state:done metric:turn-faithfulness"
    assert list_completions("source:", runs) == ()
    assert parse_filter("judge:openai:gpt-6-luna", runs).problem is None


def test_an_empty_word_may_become_any_term_and_completes_none() -> None:
    assert "is:" in list_completions("", GROUND)
    assert complete_filter("refund ", GROUND) is None


def test_what_stands_before_the_word_stays() -> None:
    assert complete_filter("refund is:unl", GROUND) == "refund is:unlabelled"


def test_a_blind_reviewer_is_offered_no_term_that_tells_of_the_judge() -> None:
    assert list_completions("disag", BLIND) == ()
    assert list_completions("unre", BLIND) == ("is:unlabelled",)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("unreviewed", "is:unlabelled"),
        ("disagreements", "is:disagreement"),
        ("flaged", "is:flagged"),
        ("unrev", "is:unlabelled"),
        ("-unreviewed", "-is:unlabelled"),
    ],
)
def test_a_word_that_finds_nothing_suggests_the_term_that_was_meant(text: str, term: str) -> None:
    found = suggest_terms(text, GROUND)
    assert found[0] == term
    assert parse_filter(found[0], GROUND).problem is None


def test_nothing_is_offered_that_tells_a_blind_reviewer_what_the_judge_said() -> None:
    for text in ("", "verdict:", "human:", "is:", "disagreements", "differ", "low"):
        offered = (*list_completions(text, BLIND), *suggest_terms(text, BLIND))
        whole = [each for each in offered if not each.endswith(":")]
        assert all(parse_filter(each, BLIND).problem is None for each in whole)


def test_runs_have_terms_of_their_own() -> None:
    assert suggest_terms("interupted", RUNS) == ("state:interrupted",)
