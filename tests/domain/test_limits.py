"""What is too long is refused in one sentence, and nothing is cut."""

import pytest

from faithtui.domain import limits
from faithtui.domain.filters import Filter, FilterContext, Scope, parse_filter
from faithtui.domain.labels.label_sets import KNOWN_WORDS, NOT_A_CLAIM
from faithtui.domain.limits import FILTER, FILTER_TERMS, NOTE, Limit
from faithtui.errors import InputError
from faithtui.metrics.registry import METRICS

ALL = {name: value for name, value in vars(limits).items() if isinstance(value, Limit)}


@pytest.mark.parametrize("limit", ALL.values(), ids=ALL)
def test_every_limit_names_what_it_is_of_the_sizes_and_the_way_out(limit: Limit) -> None:
    assert limit.find_size_problem(limit.most) is None
    problem = limit.find_size_problem(limit.most + 1)
    assert problem == (
        f"{limit.what} may have {limit.most:,} {limit.unit}, and this has {limit.most + 1:,}; "
        f"{limit.way_out}"
    )


def test_a_text_is_refused_with_its_field() -> None:
    NOTE.check_length("x" * NOTE.most)
    with pytest.raises(InputError, match=r"^note: a note may have 100,000 characters, and this"):
        NOTE.check_length("x" * (NOTE.most + 1), field="note")


@pytest.mark.parametrize("scope", list(Scope))
def test_a_filter_of_three_thousand_words_is_one_sentence(scope: Scope) -> None:
    context = FilterContext(scope)
    words = " ".join(f"w{number}" for number in range(3_000))
    found = parse_filter(words, context)
    assert found.filter == Filter()
    assert found.problem == FILTER.find_size_problem(len(words))
    some = " ".join(["word"] * (FILTER_TERMS.most + 1))
    assert parse_filter(some, context).problem == (
        "a filter may have 100 words, and this has 101; leave some out, or put a phrase in "
        "quotation marks"
    )
    assert parse_filter(" ".join(["word"] * FILTER_TERMS.most), context).problem is None


def test_the_words_of_all_metrics_are_known() -> None:
    words = {name for each in METRICS for name in each.spec.labels.names}
    assert {*words, NOT_A_CLAIM} == set(KNOWN_WORDS)
