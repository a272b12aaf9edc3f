import random

import pytest

from faithtui.domain.probes.perturbations import Effect, ProbeKind, make_probes
from faithtui.domain.probes.word_pools import INJECTIONS, INVENTED_NAMES

PASSAGES = (
    "Marta Lund, who was born in Oslo, taught Erik Voss to paint in May 1923. "
    "The school has 3,800 pupils. Some visitors may not see the old tower.",
    "The keeper was paid 12 percent more than the fishermen of Bergen in 1931.",
)
CLAIM = "Some pupils of Marta Lund, who was born in Oslo, taught Erik Voss in May 1923."


def only(kind: ProbeKind, claim: str, seed: int = 0) -> str | None:
    return next((each.claim for each in make_probes(claim, PASSAGES, seed, (kind,))), None)


@pytest.mark.parametrize(
    ("kind", "claim", "changed"),
    [
        (ProbeKind.COPY, "The tower is old.", "The tower is old."),
        (
            ProbeKind.DROPPED_CLAUSE,
            CLAIM,
            "Some pupils of Marta Lund taught Erik Voss in May 1923.",
        ),
        (ProbeKind.DROPPED_CLAUSE, "The tower (a ruin) is closed.", "The tower is closed."),
        (ProbeKind.DROPPED_CLAUSE, "The tower, old as it is, is closed.", None),
        (ProbeKind.SYNONYMS, "Small boats often began there.", "Little boats frequently started"),
        (ProbeKind.SYNONYMS, "She was born in Mexico City.", None),
        (ProbeKind.NUMBER_FORMAT, "It has 3,800 pupils.", "It has 3800 pupils."),
        (ProbeKind.NUMBER_FORMAT, "It grew by 12 percent.", "It grew by 12%."),
        (ProbeKind.NUMBER_FORMAT, "It has twelve doors.", "It has 12 doors."),
        (ProbeKind.NUMBER_FORMAT, "It has 12 doors.", "It has twelve doors."),
        (ProbeKind.NUMBER_FORMAT, "The DK3 album is old.", None),
        (ProbeKind.NEGATION_ADDED, "The tower is old.", "The tower is not old."),
        (ProbeKind.NEGATION_ADDED, "The tower is not old.", None),
        (ProbeKind.NEGATION_REMOVED, "The tower is not old.", "The tower is old."),
        (ProbeKind.NEGATION_REMOVED, "The tower isn't old.", "The tower is old."),
        (ProbeKind.NEGATION_REMOVED, "The tower can't fall.", None),
        (ProbeKind.QUANTIFIER, "Some boats sank.", "All boats sank."),
        (ProbeKind.MODAL, "The boat may sink.", "The boat will sink."),
        (ProbeKind.MODAL, "She was born in May 1923.", None),
        (
            ProbeKind.EXCHANGED_NAMES,
            "In spring Lund taught Voss.",
            "In spring Voss taught Lund.",
        ),
        (ProbeKind.NAME, "The tower is old.", None),
        (ProbeKind.MONTH, "The tower is old.", None),
    ],
)
def test_each_rule_changes_what_it_names(kind: ProbeKind, claim: str, changed: str | None) -> None:
    found = only(kind, claim)
    assert (found is None) == (changed is None)
    assert found is None or found.startswith(changed or "")


def test_an_invented_name_is_in_no_passage_and_takes_the_place_of_one() -> None:
    changed = only(ProbeKind.NAME, "In May the school of Bergen opened.")
    assert changed is not None
    invented = changed.split()[5]
    assert invented in INVENTED_NAMES
    assert changed == f"In May the school of {invented} opened."
    assert not any(invented in each for each in PASSAGES)


def test_a_changed_number_is_in_no_passage_and_keeps_its_form() -> None:
    for seed in range(20):
        changed = only(ProbeKind.NUMBER, "The school has 3,800 pupils.", seed)
        assert changed is not None
        number = changed.split()[3]
        assert (len(number), number[1]) == (5, ",")
        assert abs(int(number.replace(",", "")) - 3800) > 380


def test_a_changed_year_stays_in_its_century() -> None:
    changed = {only(ProbeKind.NUMBER, "It opened in 1923.", seed) for seed in range(20)}
    assert len(changed) > 3
    assert all(each is not None and each.startswith("It opened in 19") for each in changed)


def test_another_month_is_no_verb() -> None:
    changed = {only(ProbeKind.MONTH, "She was born in March 1923.", seed) for seed in range(30)}
    assert len(changed) > 5
    assert not any(" May " in str(each) or " March " in str(each) for each in changed)


def test_a_splice_says_of_one_thing_what_is_said_of_another() -> None:
    changed = {only(ProbeKind.SPLICE, "The harbour of Tromso was old.", seed) for seed in range(9)}
    assert changed == {
        "The harbour of Tromso was paid 12 percent more than the fishermen of Bergen in 1931.",
        "The harbour of Tromso was born in Oslo, taught Erik Voss to paint in May 1923.",
    }


def test_padding_holds_the_claim_and_keeps_its_names() -> None:
    changed = only(ProbeKind.VERBOSITY, "Marta Lund taught Erik Voss.")
    assert changed is not None
    assert "Marta Lund taught Erik Voss" in changed
    assert ", the tower is old, " in str(only(ProbeKind.VERBOSITY, "The tower is old."))


@pytest.mark.parametrize(
    ("claim", "inside"),
    [
        ("Paris is old.", "Paris is old"),
        ("Lund's boats sank.", "Lund's boats sank"),
        ("May was cold.", "May was cold"),
        ("March was cold.", "March was cold"),
        ("Will Smith sang.", "Will Smith sang"),
        ("I'm old.", "I'm old"),
        ("UN troops left.", "UN troops left"),
        ("In Paris it rained.", "in Paris it rained"),
        ("Fishermen sailed.", "fishermen sailed"),  # as a passage writes it
    ],
)
def test_padding_takes_no_capital_from_a_name(claim: str, inside: str) -> None:
    assert f" {inside}," in str(only(ProbeKind.VERBOSITY, claim))


def test_passages_change_order_and_take_an_instruction_but_the_claim_stays() -> None:
    kinds = (ProbeKind.PASSAGE_ORDER, ProbeKind.INJECTION)
    order, injection = make_probes(CLAIM, PASSAGES, kinds=kinds)
    assert (order.claim, injection.claim) == (CLAIM, CLAIM)
    assert order.passages == PASSAGES[::-1]
    (longer,) = (each for each in injection.passages if each not in PASSAGES)
    assert any(longer.endswith(f"\n\n{each}") for each in INJECTIONS)
    assert not list(make_probes(CLAIM, PASSAGES[:1], kinds=(ProbeKind.PASSAGE_ORDER,)))


def test_the_same_seed_gives_the_same_probes_whatever_else_is_drawn() -> None:
    first = list(make_probes(CLAIM, PASSAGES, 7))
    random.seed(99)
    assert list(make_probes(CLAIM, PASSAGES, 7)) == first
    assert list(make_probes(CLAIM, PASSAGES, 7, tuple(ProbeKind)[::-1])) == first[::-1]
    assert list(make_probes(CLAIM, PASSAGES, 8)) != first
    assert len(first) >= 10


def test_nothing_is_made_of_nothing() -> None:
    assert [each.kind for each in make_probes("", ())] == [ProbeKind.COPY]


def test_a_kind_either_keeps_or_breaks_a_claim() -> None:
    assert {each.effect for each in ProbeKind} == {Effect.KEEPS, Effect.BREAKS}
    assert ProbeKind.SYNONYMS.effect is Effect.KEEPS
    assert ProbeKind.NAME.effect is Effect.BREAKS
