"""Random cases in the format of the recorded ones."""

from typing import Any

from hypothesis import strategies as st

Json = Any

DOCUMENTS = ("", "Doc A.", "Doc B.", "Doc C.")
TRUTHS = ("t1", "t2", "t3", "t4", " t5 ")
ANSWERS = ("", "One.", "Two.", "Three.", "Four.")
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


def _conversation() -> st.SearchStrategy[Json]:
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
    return st.sampled_from(words) | st.fixed_dictionaries(
        {}, optional={"yes_if_any": some, "no_if_any": some, "else": st.sampled_from(words)}
    )


def _faults(named: bool) -> st.SearchStrategy[Json]:
    if not named:
        return st.just({})
    failing = st.just({"raise": "down"})
    return st.fixed_dictionaries(
        {},
        optional={
            step: failing for step in ("truths", "claims", "verdicts", "reason", "final_reason")
        },
    )


@st.composite
def cases(draw: st.DrawFn, *, faults: bool = False) -> Json:
    """A case whose faults, if any, are questions that fail."""
    style = draw(st.sampled_from(("schema", "json")))
    words = SLOPPY if draw(st.booleans()) else LABELS
    return {
        "id": "random",
        "metric": "turn_faithfulness",
        "options": draw(
            st.fixed_dictionaries(
                {"window_size": st.integers(-1, 5)},
                optional={
                    "threshold": st.sampled_from((None, 0, 0.5, 0.7, 1)),
                    "strict_mode": st.booleans(),
                    "penalize_ambiguous_claims": st.booleans(),
                    "include_reason": st.booleans(),
                    "async_mode": st.booleans(),
                    "truths_extraction_limit": st.sampled_from((None, -1, 0, 1, 2)),
                },
            )
        ),
        "input": {"turns": draw(_conversation())},
        "judge": {
            "truths": draw(
                st.dictionaries(
                    st.sampled_from(DOCUMENTS), st.lists(st.sampled_from(TRUTHS), max_size=4)
                )
            ),
            "claims": draw(
                st.dictionaries(
                    st.sampled_from(ANSWERS), st.lists(st.sampled_from(CLAIMS), max_size=3)
                )
            ),
            "verdicts": draw(st.dictionaries(st.sampled_from(CLAIMS), _rule(words))),
            "reply_style": style,
            "honour_limit": draw(st.booleans()),
            "faults": draw(_faults(faults)),
        },
    }


@st.composite
def scripted_cases(draw: st.DrawFn) -> Json:
    """A case whose judge gives too few, too many or fixed replies about whole windows."""
    case = draw(cases())
    # An empty window has no answer to which faithtui could attach claims that a judge makes up.
    case["options"]["window_size"] = max(1, case["options"]["window_size"])
    reply = st.sampled_from(
        (
            {},
            {"truths": ["t1"], "claims": ["k1", "k2"], "verdicts": [{"verdict": "yes"}]},
            {"truths": [], "claims": [], "verdicts": []},
            {"truths": None, "claims": None, "verdicts": None, "reason": None},
            {"verdicts": [{"verdict": "NO!"}, {"reason": "r"}, {}], "claims": ["k1"]},
            {"truths": [1], "claims": ["k1", 2], "verdicts": ["yes"], "reason": "r"},
        )
    )
    raw = st.sampled_from(
        (
            "",
            "no idea",
            "} {",
            'Sure: ```json\n{"truths": ["t1",], "claims": ["k1", "k2",], "verdicts": '
            '[{"verdict": "Yes, but"},], "reason": "r",}\n```',
            '{"truths": ["t2"], "claims": ["k3"]',
            '{"claims": ["k1"]} and {"claims": ["k2"]}',
            '{"verdicts": [{"verdict": "borderline"}, {"verdict": "no", "verdict": "yes"}]}',
            '{"truths": NaN, "claims": [], "verdicts": "", "reason": null}',
        )
    )
    fault = reply.map(lambda value: {"reply": value}) | raw.map(lambda text: {"raw": text})
    steps = ("truths", "claims", "verdicts", "reason", "final_reason")
    case["judge"]["faults"] = draw(
        st.fixed_dictionaries({}, optional={draw(st.sampled_from(steps)): fault})
    )
    change = st.fixed_dictionaries(
        {},
        optional={
            "truncate_to": st.integers(0, 2),
            "append": st.lists(st.sampled_from(("yes", "no", "idk", {"verdict": "yes"}))),
        },
    )
    place = case["judge"] if draw(st.booleans()) else case["judge"]["faults"]
    place["verdict_list"] = draw(change)
    return case
