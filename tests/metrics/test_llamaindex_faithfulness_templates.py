"""Templates a caller brings: really used, tried before anything is asked, and kept with the run."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithtui.errors import ConfigError
from faithtui.metrics.llamaindex.templates import adapt_template
from faithtui.metrics.llamaindex_faithfulness import HOLES, LlamaIndexFaithfulness
from faithtui.metrics.registry import build, drop_default_options, metric_options_to_json
from tests.metrics.plain_replies import KEY, PlainJudge, answer, judged, metric, odd_words

EVAL = 'Is {query_str} in {context_str}? Say {{"x": YES}} or NO.'
REFINE = "{existing_answer} so far. Is {query_str} in {context_str}?"

TWO_CHUNKS = (odd_words(700, "a"), odd_words(700, "b"))
"""1400 tokens each: one chunk each where a judge reads 2600."""


class Shouting:
    """A template that computes its prompt."""

    def format(self, *, context_str: str, query_str: str) -> str:
        return f"{context_str.upper()} / {query_str}"


class Brackets:
    """A template of the peer's kind: takes anything, and its refine hole is `context_msg`."""

    def __init__(self, text: str) -> None:
        self._text = text

    def format(self, llm: object = None, **holes: str) -> str:
        text = self._text
        for name, value in holes.items():
            text = text.replace(f"[{name}]", value)
        return text


async def asked(made: LlamaIndexFaithfulness, *contexts: str, window: int = 3900) -> list[str]:
    judge = PlainJudge(context_window=window)
    await judged(made, answer("The answer.", *contexts), judge)
    return [request.system + request.prompt for request in judge.requests]


async def test_a_text_is_the_whole_prompt() -> None:
    (prompt,) = await asked(metric(eval_template=EVAL), "Context.")
    assert prompt == 'Is The answer. in Context.? Say {"x": YES} or NO.'


async def test_an_object_is_asked_to_format() -> None:
    (prompt,) = await asked(metric(eval_template=Shouting()), "Context.")
    assert prompt == "CONTEXT. / The answer."


async def test_later_questions_use_the_refine_template() -> None:
    made = metric(eval_template=EVAL, refine_template=REFINE)
    first, second = await asked(made, *TWO_CHUNKS, window=2600)
    assert first.startswith("Is The answer. in a0 a1")
    assert second.startswith("NO so far. Is The answer. in b0 b1")


async def test_one_template_leaves_the_other_question_ours() -> None:
    first, second = await asked(metric(refine_template=REFINE), *TWO_CHUNKS, window=2600)
    assert first.startswith("You check")
    assert second.startswith("NO so far.")


@pytest.mark.parametrize("name", ["context_str", "context_msg"])
@pytest.mark.parametrize("as_peer", [False, True])
async def test_a_refine_object_may_call_the_context_as_the_peer_does(
    name: str, as_peer: bool
) -> None:
    template = Brackets(f"[existing_answer] [query_str] [{name}]")
    made = metric(refine_template=template, as_peer=as_peer)
    prompts = await asked(made, odd_words(1000), window=2600)
    assert prompts[1].startswith("NO The answer. w0x")


async def test_a_refine_text_may_too() -> None:
    made = metric(refine_template="{existing_answer} {query_str} {context_msg}")
    prompts = await asked(made, *TWO_CHUNKS, window=2600)
    assert prompts[1].startswith("NO The answer. b0")


@given(st.text(max_size=40), st.text(max_size=40))
@settings(deadline=None)
def test_values_are_never_looked_into(query: str, context: str) -> None:
    template = adapt_template(
        "eval_template", "{query_str}|{context_str}", HOLES["eval_template"], strict=True
    )
    for tricky in (query, "{context_str}", "{{", "}", "{0.__class__}"):
        assert template.format(context_str=context, query_str=tricky) == f"{tricky}|{context}"


@pytest.mark.parametrize(
    ("option", "template", "message"),
    [
        ("eval_template", "{context_str}", r"eval_template: the hole {query_str} is missing"),
        ("eval_template", "{query_str}", r"the hole {context_str} is missing"),
        ("eval_template", "", "is missing"),
        ("eval_template", EVAL + "{foo}", r"{foo} is not known here; known: {context_str}, "),
        ("eval_template", EVAL + "{existing_answer}", r"{existing_answer} is not known"),
        ("eval_template", EVAL + "{}", r"the hole {} is not known"),
        ("eval_template", EVAL + "{query_str.x}", r"{query_str.x} is not known"),
        ("eval_template", EVAL + "{", "write {{ and }} for braces"),
        ("eval_template", EVAL + "{query_str!r}", r"{query_str} must stand without a format"),
        ("eval_template", "{query_str:>9}{context_str}", r"must stand without a format"),
        ("refine_template", EVAL, r"refine_template: the hole {existing_answer} is missing"),
        ("refine_template", REFINE + "{context_msg}", "are the same hole"),
        ("eval_template", 5, "is of type int; expected a text or an object"),
        ("eval_template", Brackets("[query_str]"), r"the hole {context_str} is missing"),
        ("eval_template", b"nothing", "of type bytes"),
    ],
)
def test_a_template_that_cannot_be_filled_is_refused(
    option: str, template: object, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        metric(**{option: template})
    assert message in str(caught.value)
    assert option in str(caught.value)


def test_an_object_that_wants_something_else_is_refused_by_name() -> None:
    class Wanting:
        def format(self, **holes: str) -> str:
            return holes["question"]

    with pytest.raises(ConfigError, match=r"the hole {question} is not known here"):
        metric(eval_template=Wanting())


def test_an_object_that_does_not_format_is_refused() -> None:
    class Strange:
        def format(self, first: str) -> str:
            return first

    class Silent:
        def format(self, **holes: str) -> None: ...

    with pytest.raises(ConfigError, match="eval_template: it does not format: "):
        metric(eval_template=Strange())
    with pytest.raises(ConfigError, match="a value of type NoneType, not a text"):
        metric(eval_template=Silent())


def test_options_can_be_stored_and_read_back() -> None:
    made = metric(
        eval_template=EVAL,
        refine_template=Brackets("[existing_answer] {x} [query_str] [context_msg]"),
    )
    stored = json.loads(json.dumps(metric_options_to_json(made)))
    assert stored["eval_template"] == EVAL
    assert stored["refine_template"] == "{existing_answer} {{x}} {query_str} {context_str}"
    again = build(KEY, stored)
    assert metric_options_to_json(again) == metric_options_to_json(made)
    assert again.prompt_digest == made.prompt_digest
    assert drop_default_options(KEY, stored) == {
        "eval_template": EVAL,
        "refine_template": stored["refine_template"],
    }


async def test_a_metric_with_an_object_can_be_changed() -> None:
    made = replace(metric(eval_template=Shouting()), num_output=300)
    assert await asked(made, "Context.") == ["CONTEXT. / The answer."]


def test_the_digest_changes_with_a_template_and_with_nothing_else() -> None:
    plain = metric().prompt_digest
    assert metric(query="x", num_output=9).prompt_digest == plain
    digests = {plain, metric(eval_template=EVAL).prompt_digest}
    digests.add(metric(refine_template=REFINE).prompt_digest)
    digests.add(metric(eval_template=EVAL + ".").prompt_digest)
    assert len(digests) == 4


async def test_the_peer_takes_texts_as_they_are() -> None:
    template = "{query_str} {foo} {{x}} {context_msg}"
    (prompt,) = await asked(metric(eval_template=template, as_peer=True), "Context.")
    assert prompt == "The answer. {foo} {{x}} {context_msg}"


async def test_the_peer_takes_objects_without_holes() -> None:
    made = metric(eval_template=Brackets("{x} [query_str]"), as_peer=True)
    assert await asked(made, "Context.") == ["{x} The answer."]
    again = build(KEY, metric_options_to_json(made))
    assert again.eval_template == "{x} {query_str}"  # type: ignore[attr-defined]  # this metric's
    assert await asked(again, "Context.") == ["{x} The answer."]  # type: ignore[arg-type]  # too


async def test_own_prompt_files_replace_ours(tmp_path: Path) -> None:
    (tmp_path / "question.txt").write_text("C: $context\nA: $answer", encoding="utf-8")
    made = build(KEY, {}, prompts_dir=tmp_path)
    assert isinstance(made, LlamaIndexFaithfulness)
    (prompt,) = await asked(made, "Context.")
    assert prompt.startswith("You check")
    assert "C: <context c " in prompt
