from collections.abc import Mapping

from faithtui.agreement.imported_scores.rated_units import (
    ScoredConversation,
    UnitKind,
    group_ratings_by_scale,
)
from faithtui.domain.conversation import Conversation, Rating, Span, Turn

MTRAG = "mtrag-faithfulness-1-4"
FAITHBENCH = "faithbench-response"


def rated(
    *ratings: Rating,
    scores: Mapping[str, Mapping[int, float]] | None = None,
    assigned: frozenset[str] | None = None,
    model: str = "m",
    key: str = "k",
) -> ScoredConversation:
    """Make a conversation of two exchanges with these ratings."""
    turns = (Turn("user", "Q"), Turn("assistant", "A"), Turn("user", "Q"), Turn("assistant", "B"))
    conversation = Conversation("s", key, turns, f"s/{key}", {"model": model}, ratings)
    return ScoredConversation(conversation, scores or {}, assigned)


def test_labels_of_an_answer_stand_together_with_its_scores() -> None:
    (scale,) = group_ratings_by_scale(
        [
            rated(
                Rating(1, "ann", MTRAG, "4"),
                Rating(3, "ann", MTRAG, "2"),
                Rating(1, "bob", MTRAG, "3"),
                scores={"j": {1: 0.25, 3: 0.75}, "late": {3: 1.0}},
            )
        ]
    )
    first, second = scale.units
    assert (first.levels, first.scores) == ({"ann": "4", "bob": "3"}, {"j": 0.25})
    assert (second.levels, second.scores) == ({"ann": "2"}, {"j": 0.75, "late": 1.0})
    assert scale.annotators == ("ann", "bob")
    assert scale.judges == ("j", "late")
    assert scale.counts == {"1": 0, "2": 1, "3": 1, "4": 1}


def test_a_label_that_is_no_level_is_counted_and_makes_no_unit() -> None:
    (scale,) = group_ratings_by_scale(
        [
            rated(Rating(1, "ann", "expertqa-support", "Missing", "c"), key="a"),
            rated(Rating(1, "ann", "expertqa-support", "Complete", "c"), key="b"),
        ]
    )
    assert scale.left_out == {"Missing": 1}
    assert len(scale.units) == scale.group_count == 1


def test_labels_of_people_who_were_not_to_label_it_are_left_out_and_counted() -> None:
    ratings = (Rating(3, "ann", FAITHBENCH, "Benign"), Rating(3, "eve", FAITHBENCH, "Unwanted"))
    (scale,) = group_ratings_by_scale([rated(*ratings, assigned=frozenset({"ann"}))])
    assert [unit.levels for unit in scale.units] == [{"ann": "Benign"}]
    assert scale.not_assigned == 1


def test_claims_are_the_same_when_turn_place_and_text_are() -> None:
    def claim(turn: int, who: str, text: str, span: Span | None = None) -> Rating:
        return Rating(turn, who, "expertqa-support", "Complete", text, span)

    (scale,) = group_ratings_by_scale(
        [
            rated(
                claim(1, "ann", "c", Span(0, 1)),
                claim(1, "bob", "c", Span(0, 1)),
                claim(1, "bob", "c", Span(4, 5)),
                claim(3, "bob", "c", Span(0, 1)),
                claim(1, "bob", "d"),
            )
        ]
    )
    assert [len(unit.levels) for unit in scale.units] == [2, 1, 1, 1]
    assert scale.kind is UnitKind.CLAIM


def test_scores_of_answers_are_not_compared_with_labels_of_claims() -> None:
    label = Rating(1, "ann", "expertqa-support", "Complete", "c")
    (scale,) = group_ratings_by_scale([rated(label, scores={"j": {1: 1.0}})])
    assert (scale.judges, scale.units[0].scores, scale.has_answer_scores) == ((), {}, True)


def test_whole_answers_and_claims_on_one_scale_are_two_parts() -> None:
    parts = group_ratings_by_scale(
        [rated(Rating(1, "ann", "own", "yes"), Rating(1, "ann", "own", "no", "c"))]
    )
    assert [part.kind for part in parts] == [UnitKind.ANSWER, UnitKind.CLAIM]


def test_freely_marked_pieces_are_counted_and_make_no_units() -> None:
    label = Rating(1, "ann", "faithbench-span", "Benign", "c")
    (scale,) = group_ratings_by_scale([rated(label)])
    assert (scale.units, scale.counts["Benign"]) == ((), 1)


def test_scores_of_a_reference_answer_against_itself_are_left_out() -> None:
    label = Rating(1, "ann", MTRAG, "4")
    scores = {"rouge_l": {1: 1.0}, "rl_f": {1: 0.5}}
    (scale,) = group_ratings_by_scale(
        [rated(label, scores=scores, model="reference (human-edited)")]
    )
    assert scale.units[0].scores == {"rl_f": 0.5}
    (other,) = group_ratings_by_scale([rated(label, scores=scores, model="gpt-4o")])
    assert other.units[0].scores == {"rouge_l": 1.0, "rl_f": 0.5}
