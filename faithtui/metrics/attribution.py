"""Where claims and truths belong when several answers or documents were read at once."""

from collections.abc import Sequence

from faithtui.domain.claims.verdicts import Claim, Truth
from faithtui.domain.conversation import normalise_text
from faithtui.domain.text.location import find_closest_text_index, find_span


def attribute_truths_to_documents(
    facts: Sequence[str], documents: Sequence[str]
) -> tuple[Truth, ...]:
    """Find out which document each fact repeats literally, if any; repeats are dropped."""
    truths = []
    for text in dict.fromkeys(facts):
        home = next((each for each in documents if find_span(text, each) is not None), None)
        truths.append(Truth(text, home, find_span(text, home) if home is not None else None))
    return tuple(truths)


def attribute_claims_to_answers(
    claims: Sequence[str], turns: Sequence[int], answers: Sequence[str]
) -> tuple[Claim, ...]:
    """Give each claim to the answer it repeats best.

    Args:
        claims: Texts in the order of the answers; repeats are kept.
        turns: Position of each answer's turn.
        answers: Their texts; without any, claims belong nowhere and are dropped.
    """
    if not answers:
        return ()
    return tuple(
        Claim(turns[home], text, find_span(text, answers[home]))
        for text, home in zip(
            claims, _find_answer_position_of_each_claim(claims, answers), strict=True
        )
    )


def _find_answer_position_of_each_claim(texts: Sequence[str], answers: Sequence[str]) -> list[int]:
    """Find the answer each claim repeats best; the nth of equal claims takes the nth that holds it.

    Args:
        texts: Claims in the order of the answers, a claim of two answers twice.
        answers: Not empty.
    """
    taken: dict[str, list[int]] = {}
    homes = []
    for text in texts:
        before = taken.setdefault(normalise_text(text), [])
        home = next(
            (
                position
                for position, answer in enumerate(answers)
                if before and position not in before and find_span(text, answer) is not None
            ),
            None,
        )
        if home is None:
            home = before[0] if before else find_closest_text_index(text, answers)
        before.append(home)
        homes.append(home)
    return homes
