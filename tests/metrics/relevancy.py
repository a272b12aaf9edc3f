"""What the tests of turn contextual relevancy share: a conversation, an oracle and random ones."""

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.metrics.base import Metric
from faithtui.metrics.registry import build
from tests.metrics.scripted import conversation

Json = Any

KEY = "turn-contextual-relevancy"


def relevancy(**options: object) -> Metric[Any]:
    return build(KEY, options)


def statement(text: str, *serves: str, **more: Json) -> Json:
    """A statement and the messages it serves; `*` is all of them."""
    return {"statement": text, "relevant_to": "*" if "*" in serves else list(serves), **more}


def served(count: int) -> dict[str, Json]:
    """What the judge knows of `chat`: of each document a statement for its own question, one for
    the next question, and one for none."""
    return {
        "statements": {
            f"D{n}.": [
                statement(f"own {n}", f"Q{n}?"),
                statement(f"next {n}", f"Q{n + 1}?"),
                statement(f"none {n}"),
            ]
            for n in range(count)
        }
    }


# Random conversations

DOCUMENTS = ("", " ", "Doc A.", "Doc B.", "Doc C.")
MESSAGES = ("Why?", "Where?", "When?", " ", "")
TEXTS = ("One.", "Two.", " two. ", "Three.", " ")
CLEAR = ("yes", "no")
SLOPPY = (*CLEAR, "Yes, clearly", " NO: other", "idk", "borderline", "", "**yes**", None, 1, True)

Oracle = Mapping[str, Sequence[Mapping[str, Json]]]


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """Exchanges with several messages and answers, in which texts and documents come back."""
    turns: list[Turn] = []
    for _ in range(draw(st.integers(1, 8))):
        for _ in range(draw(st.integers(1, 2))):
            turns.append(Turn("user", draw(st.sampled_from(MESSAGES))))
        for _ in range(draw(st.sampled_from((1, 1, 2)))):
            documents = draw(st.none() | st.lists(st.sampled_from(DOCUMENTS), max_size=3))
            context = None if documents is None else tuple(map(Document, documents))
            turns.append(Turn("assistant", "A.", context))
    return conversation(*turns)


def _statements(words: Sequence[Json] | None) -> st.SearchStrategy[Json]:
    serves = st.just("*") | st.lists(st.sampled_from(MESSAGES), max_size=3)
    one = st.fixed_dictionaries({"statement": st.sampled_from(TEXTS), "relevant_to": serves})
    if words is None:
        return one
    said = st.fixed_dictionaries(
        {"statement": st.sampled_from(TEXTS), "verdict": st.sampled_from(words)}
    )
    return one | said


def oracles(words: Sequence[Json] | None = CLEAR) -> st.SearchStrategy[dict[str, list[Json]]]:
    """Statements of documents.

    Args:
        words: Verdicts a statement may have whatever is asked; None: every statement serves
            messages or does not.
    """
    return st.dictionaries(
        st.sampled_from(DOCUMENTS), st.lists(_statements(words), max_size=4), max_size=5
    )
