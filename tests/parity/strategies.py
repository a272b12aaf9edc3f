"""Random cases in the format of the recorded ones."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

Json = Any

DOCUMENTS = ("", "Doc A.", "Doc B.", "Doc C.")
TRUTHS = ("t1", "t2", "t3", "t4", " t5 ")
ANSWERS = ("", "One.", "Two.", "Three.", "Four.")
MESSAGES = ("Why?", "And?", "")
CLAIMS = ("k1", "k2", "k3", "k4", " k5", "")
LABELS = ("yes", "no", "idk", "borderline")
SLOPPY = (*LABELS, "Yes, clearly", " NO: other", "yes-ish", "maybe", "", "**yes**", "not", None, 1)


def _turn() -> st.SearchStrategy[Json]:
    user = st.fixed_dictionaries(
        {"role": st.just("user"), "content": st.sampled_from(("Why?", ""))},
        optional={"retrieval_context": st.lists(st.sampled_from(DOCUMENTS), max_size=1)},
    )
    assistant = st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": st.sampled_from(ANSWERS)},
        optional={
            "retrieval_context": st.none() | st.lists(st.sampled_from(DOCUMENTS), max_size=3)
        },
    )
    return user | assistant


def random_conversation() -> st.SearchStrategy[Json]:
    exchange = st.tuples(_turn(), _turn(), _turn()).map(
        lambda turns: [{"role": "user", "content": "And?"}, *turns]
    )
    return st.one_of(
        st.lists(_turn(), min_size=1, max_size=12),
        st.lists(exchange, min_size=1, max_size=5).map(
            lambda parts: [turn for part in parts for turn in part]
        ),
    )


def _rule(words: tuple[Json, ...]) -> st.SearchStrategy[Json]:
    some = st.lists(st.sampled_from(TRUTHS), max_size=3)
    together = st.lists(st.sampled_from(TRUTHS), min_size=1, max_size=3, unique=True)
    return st.sampled_from(words) | st.fixed_dictionaries(
        {},
        optional={
            "yes_if_any": some,
            "yes_if_all": st.lists(together, max_size=3),
            "part_of": some,
            "no_if_any": some,
            "else": st.sampled_from(words),
        },
    )


def failing_steps(steps: Sequence[str]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries({}, optional={step: st.just({"raise": "down"}) for step in steps})


def random_truths() -> st.SearchStrategy[Json]:
    return st.dictionaries(
        st.sampled_from(DOCUMENTS), st.lists(st.sampled_from(TRUTHS), max_size=4)
    )


def random_claims() -> st.SearchStrategy[Json]:
    return st.dictionaries(st.sampled_from(ANSWERS), st.lists(st.sampled_from(CLAIMS), max_size=3))


def random_verdicts(words: tuple[Json, ...]) -> st.SearchStrategy[Json]:
    return st.dictionaries(st.sampled_from(CLAIMS), _rule(words))


def random_options(**more: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries(
        {"window_size": st.integers(-1, 5)},
        optional={
            "threshold": st.sampled_from((None, 0, 0.5, 0.7, 1)),
            "strict_mode": st.booleans(),
            "include_reason": st.booleans(),
            "async_mode": st.booleans(),
            **more,
        },
    )


@st.composite
def cases(draw: st.DrawFn, *, faults: bool = False) -> Json:
    """A case of turn faithfulness whose faults, if any, are questions that fail."""
    style = draw(st.sampled_from(("schema", "json")))
    words = SLOPPY if draw(st.booleans()) else LABELS
    steps = ("truths", "claims", "verdicts", "reason", "final_reason")
    return {
        "id": "random",
        "metric": "turn_faithfulness",
        "options": draw(
            random_options(
                penalize_ambiguous_claims=st.booleans(),
                truths_extraction_limit=st.sampled_from((None, -1, 0, 1, 2)),
            )
        ),
        "input": {"turns": draw(random_conversation())},
        "judge": {
            "truths": draw(random_truths()),
            "claims": draw(random_claims()),
            "verdicts": draw(random_verdicts(words)),
            "reply_style": style,
            "honour_limit": draw(st.booleans()),
            "faults": draw(failing_steps(steps)) if faults else {},
        },
    }


def any_reply() -> st.SearchStrategy[Json]:
    return st.sampled_from(
        (
            {},
            {"truths": ["t1"], "claims": ["k1", "k2"], "verdicts": [{"verdict": "yes"}]},
            {"truths": [], "claims": [], "verdicts": []},
            {"truths": None, "claims": None, "verdicts": None, "reason": None},
            {"verdicts": [{"verdict": "NO!"}, {"reason": "r"}, {}], "claims": ["k1"]},
            {"verdicts": [{"verdict": "no", "statement": "s"}, {"verdict": "yes", "reason": 5}]},
            {"verdicts": [{"verdict": "no", "statement": "s"}, {"verdict": "hm", "reason": 5}]},
            {"truths": [1], "claims": ["k1", 2], "verdicts": ["yes"], "reason": "r"},
            {"truths": "t1", "claims": {"k1": 1}, "verdicts": 0, "reason": 5},
        )
    )


def any_text() -> st.SearchStrategy[Json]:
    return st.sampled_from(
        (
            "",
            "no idea",
            "} {",
            'Sure: ```json\n{"truths": ["t1",], "claims": ["k1", "k2",], "verdicts": '
            '[{"verdict": "Yes, but", "statement": "s"},], "reason": "r",}\n```',
            '{"truths": ["t2"], "claims": ["k3"]',
            '{"claims": ["k1"]} and {"claims": ["k2"]}',
            '{"verdicts": [{"verdict": "borderline"}, {"verdict": "no", "verdict": "yes"}]}',
            '{"truths": NaN, "claims": [], "verdicts": "", "reason": null}',
        )
    )


def fixed_replies(
    steps: Sequence[str], replies: st.SearchStrategy[Json], raws: st.SearchStrategy[Json]
) -> st.SearchStrategy[Json]:
    """One kind of question gets a fixed reply."""
    fault = replies.map(lambda value: {"reply": value}) | raws.map(lambda text: {"raw": text})
    return st.dictionaries(st.sampled_from(steps), fault, max_size=1)


def wrong_counts(*entries: Json) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries(
        {},
        optional={
            "truncate_to": st.integers(0, 2),
            "append": st.lists(st.sampled_from(entries), max_size=4),
        },
    )
