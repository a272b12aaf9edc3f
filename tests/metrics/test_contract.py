"""What every metric of the registry must keep to."""

import dataclasses
import importlib
import json
import pkgutil
from collections.abc import Iterator, Mapping
from importlib import resources
from itertools import product
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faithtui.metrics
from faithtui.domain.claims.verdicts import ClaimKind
from faithtui.domain.conversation import Conversation, Document, Image, Turn
from faithtui.domain.scores import ScoreState
from faithtui.errors import FaithtuiError, ImagesNotSupported, JudgeError
from faithtui.metrics.base import STOPS_THE_RUN, MetricSpec, QuestionPace
from faithtui.metrics.prompt_texts import PromptSet, load_prompts
from faithtui.metrics.registry import (
    METRICS,
    MetricEntry,
    build,
    describe_options,
    list_option_names,
    metric_options_to_json,
)
from tests.metrics.scripted import (
    Json,
    Script,
    ScriptedAsk,
    anything,
    conversation,
    exchange,
    failing,
    judge,
)
from tests.parity.run_cases import STRATEGIES, conversation_of
from tests.parity.strategies import DOCUMENTS, TRUTHS, cases

PROMPTS = resources.files("faithtui.metrics") / "prompts"
COMMON_OPTIONS = {"strategy", "as_peer", "answers_alone", "verbose_mode"}

each_metric = pytest.mark.parametrize("entry", METRICS, ids=lambda entry: str(entry.spec.key))

ORACLE: Mapping[str, Json] = {
    "truths": {"D.": ["t", "u"], "E.": ["v"]},
    "claims": {"A.": ["k", "l"], "B.": ["m"]},
    "statements": {
        "D.": [{"statement": "t", "relevant_to": ["Q?"]}, {"statement": "u", "relevant_to": []}],
        "E.": [{"statement": "v", "relevant_to": "*"}],
    },
    "verdicts": {"k": {"yes_if_any": ["t"]}, "l": {"no_if_any": ["u"]}, "m": "idk"},
    "yes_if_context_has": ["D."],
}
CONVERSATION = conversation(*exchange("Q?", "A.", "D."), *exchange("R?", "B.", "D.", "E."))


def oracle_of(case: Json) -> dict[str, Json]:
    """Let the judge of a random case know statements of documents too."""
    return {
        **case["judge"],
        "reply_style": "json",
        "statements": {
            document: [{"statement": text, "relevant_to": "*"} for text in TRUTHS[:n]]
            for n, document in enumerate(DOCUMENTS)
        },
    }


def ways(entry: MetricEntry) -> Iterator[dict[str, object]]:
    """Every strategy, by our rules and by the peer's."""
    for strategy, as_peer in product(STRATEGIES, (False, True)):
        yield {"strategy": strategy, "as_peer": as_peer}


def spoilt(choices: list[int]) -> Script:
    """Answer honestly, or leave things out and put nonsense in, by a list of choices."""
    left = iter(choices)

    def spoil(value: Json) -> Json:
        match next(left, 0), value:
            case 1, dict() if value:
                return dict(list(value.items())[1:])
            case 2, {"verdict": _}:
                return value | {"verdict": "perhaps", "reason": "", "confidence": 7}
            case 3, list():
                return [*value[1:], "x", " ", "x"]
            case 4, str():
                return ""
            case _, dict():
                return {key: spoil(each) for key, each in value.items()}
            case _, list():
                return [spoil(each) for each in value]
        return value

    return lambda question, answer: spoil(answer)


# What is judged at all

WITH, WITHOUT = exchange("Q?", "A.", "D."), (Turn("user", "R?"), Turn("assistant", "B."))


@each_metric
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "turns",
    [(*WITH, *WITHOUT), (*WITHOUT, *WITH), (*WITHOUT, *WITH, *WITHOUT)],
    ids=["first", "last", "between"],
)
def test_one_turn_with_context_is_enough_to_be_judged(
    entry: MetricEntry, strategy: str, turns: tuple[Turn, ...]
) -> None:
    metric = build(entry.spec.key, {"strategy": strategy})
    assert metric.explain_skip(conversation(*turns)) is None
    assert metric.explain_skip(conversation(*WITH)) is None


# What comes out


@each_metric
@given(case=cases(), choices=st.lists(st.integers(0, 9), max_size=30), data=st.data())
@settings(deadline=None, max_examples=30)
async def test_whatever_the_judge_says_verdicts_and_scores_keep_to_their_sets(
    entry: MetricEntry, case: Json, choices: list[int], data: st.DataObject
) -> None:
    metric = build(entry.spec.key, {"strategy": data.draw(st.sampled_from(STRATEGIES))})
    talked = conversation_of(case["input"])
    assessments, conclusion = await judge(
        metric, talked, ScriptedAsk(oracle_of(case), spoilt(choices))
    )
    assert [found.window for found in assessments] == list(metric.windows(talked))
    for found in assessments:
        for verdict in found.verdicts:
            assert verdict.label in (*metric.spec.labels.names, None)
            assert verdict.claim.kind == metric.spec.judges
            assert (verdict.claim.document is not None) == (metric.spec.judges == "statement")
            assert talked.turns[verdict.claim.turn].role == "assistant"
            if metric.spec.judges == "statement":
                # It belongs to the first turn that has its document, here or before.
                assert verdict.claim.turn <= found.window.turns[-1]
            else:
                assert verdict.claim.turn in found.window.turns
            assert all(each.truth in found.truths for each in verdict.evidence)
        assert len({truth.text for truth in found.truths}) == len(found.truths)
    for score in (*(found.score for found in assessments), conclusion.score):
        assert score.value is None or 0 <= score.value <= 1
    if any(None in [each.label for each in found.verdicts] for found in assessments):
        assert conclusion.score.value is None
        assert conclusion.success is None


@each_metric
@given(case=cases())
@settings(deadline=None, max_examples=30)
async def test_every_claim_has_one_verdict(entry: MetricEntry, case: Json) -> None:
    options = {"window_size": 1} if "window_size" in list_option_names(entry.spec.key) else {}
    metric = build(entry.spec.key, options)
    talked = conversation_of(case["input"])
    claims = {text: found for text, found in case["judge"]["claims"].items() if text.strip()}
    oracle = oracle_of(case) | {"verdicts": {}, "claims": claims}
    assessments, _ = await judge(metric, talked, ScriptedAsk(oracle))
    for found in assessments:
        texts = [verdict.claim.text for verdict in found.verdicts]
        assert None not in [verdict.label for verdict in found.verdicts]
        if found.score.state is ScoreState.SKIPPED:
            assert texts == []
            continue
        answers = [turn for turn in found.window.turns if talked.turns[turn].role == "assistant"]
        match metric.spec.judges:
            case "claim":
                assert texts == [
                    claim.strip()
                    for turn in answers
                    for claim in claims.get(talked.turns[turn].content, ())
                    if claim.strip()
                ]
            case "statement":
                documents = {
                    document.text
                    for turn in answers
                    for document in talked.turns[turn].retrieval_context or ()
                    if document.text.strip()
                }
                # A document that was retrieved twice is judged once or twice, as the metric wants.
                assert set(texts) == {
                    each["statement"].strip()
                    for document in documents
                    for each in oracle["statements"][document]
                }
            case "answer":
                assert len(texts) == any(talked.turns[turn].content.strip() for turn in answers)


@each_metric
async def test_the_same_answers_give_the_same_result(entry: MetricEntry) -> None:
    for options in ways(entry):
        first, again = [
            await judge(build(entry.spec.key, options), CONVERSATION, ScriptedAsk(ORACLE))
            for _ in range(2)
        ]
        assert first == again


@each_metric
async def test_the_result_in_the_peers_words_is_json(entry: MetricEntry) -> None:
    for options in ways(entry):
        metric = build(entry.spec.key, options)
        for talked in (CONVERSATION, conversation(*exchange("Q?", "A."))):
            try:
                assessments, conclusion = await judge(metric, talked, ScriptedAsk(ORACLE))
            except FaithtuiError:
                # Under the peer's rules a conversation may be refused; it has no result then.
                assert options["as_peer"]
                continue
            results = metric.make_peer_library_results(talked, assessments, conclusion, 12)
            assert len(results) in (1, len(assessments))
            assert json.loads(json.dumps(results, allow_nan=False)) == [dict(r) for r in results]


# What is asked


def objects_in(schema: Json) -> Iterator[Json]:
    """Find every object that a schema describes."""
    match schema:
        case {"type": "object"}:
            yield schema
            for part in schema["properties"].values():
                yield from objects_in(part)
        case {"type": "array"}:
            yield from objects_in(schema["items"])


@each_metric
async def test_questions_are_whole_and_their_schemas_closed(entry: MetricEntry) -> None:
    for options in ways(entry):
        ask = ScriptedAsk(ORACLE)
        await judge(build(entry.spec.key, options), CONVERSATION, ask)
        assert ask.questions
        for question in ask.questions:
            assert question.step.strip()
            assert question.system.strip()
            assert question.prompt.strip()
            assert "$" not in question.prompt
            assert question.max_tokens > 0
            if question.reply.schema is not None:
                assert question.reply.schema["type"] == "object"
            for each in objects_in(question.reply.schema):
                assert each["required"] == list(each["properties"])
                assert each["additionalProperties"] is False


@each_metric
async def test_a_step_asks_for_one_kind_of_reply(entry: MetricEntry) -> None:
    for options in ways(entry):
        ask = ScriptedAsk(ORACLE)
        await judge(build(entry.spec.key, options), CONVERSATION, ask)
        kinds = {(question.step, type(question.task)) for question in ask.questions}
        assert len(kinds) == len({step for step, _ in kinds})


@each_metric
async def test_a_failure_of_any_question_is_kept_in_the_result(entry: MetricEntry) -> None:
    for strategy in STRATEGIES:
        metric = build(entry.spec.key, {"strategy": strategy})
        asked = ScriptedAsk(ORACLE)
        _, whole = await judge(metric, CONVERSATION, asked)
        for step in asked.steps:
            ask = ScriptedAsk(ORACLE, failing(step, anything))
            assessments, conclusion = await judge(metric, CONVERSATION, ask)
            failed = [found.score.state is ScoreState.FAILED for found in assessments]
            if any(failed):
                assert conclusion.score.value is None
            else:
                assert conclusion.score == whole.score  # only a reason was lost


@each_metric
@pytest.mark.parametrize("error", STOPS_THE_RUN)
async def test_what_stops_a_run_is_let_through(entry: MetricEntry, error: type[JudgeError]) -> None:
    for options in ways(entry):
        metric = build(entry.spec.key, options)
        asked = ScriptedAsk(ORACLE)
        await judge(metric, CONVERSATION, asked)
        for step in asked.steps:
            with pytest.raises(error):
                await judge(
                    metric,
                    CONVERSATION,
                    ScriptedAsk(ORACLE, failing(step, anything, error("no more"))),
                )


SHOWN = Image("1" * 64, "image/png")


@pytest.mark.parametrize(
    "turns",
    [
        (Turn("user", "Q?", images=(SHOWN,)), Turn("assistant", "A.", (Document("D."),))),
        (Turn("user", "Q?"), Turn("assistant", "A.", (Document("D.", images=(SHOWN,)),))),
    ],
)
@each_metric
async def test_images_are_refused_before_any_question_by_a_judge_that_takes_none(
    entry: MetricEntry, turns: tuple[Turn, ...]
) -> None:
    talked = Conversation("test", "1", turns, "1")
    for options in ways(entry):
        metric = build(entry.spec.key, options)
        blind = ScriptedAsk(ORACLE)
        with pytest.raises(ImagesNotSupported):
            await judge(metric, talked, blind)
        assert blind.questions == []
        seeing = ScriptedAsk(ORACLE, takes_images=True)
        await judge(metric, talked, seeing)
        for question in seeing.questions:
            assert all(image.mark in question.prompt for image in question.images)


# Prompts


class HeardPrompts(PromptSet):
    """Texts that remember which of them were used."""

    used: set[str]

    def render(self, step: str, **holes: str) -> str:
        self.used.add(step)
        return super().render(step, **holes)


@each_metric
async def test_every_prompt_is_used(entry: MetricEntry) -> None:
    heard = HeardPrompts(load_prompts(entry.spec.key, entry.steps, None).texts)
    object.__setattr__(heard, "used", set())  # frozen, and no text of its own
    long = exchange("Q?", "A.", *(f"D{n}. {'word ' * 600}" for n in range(4)))
    for options in ways(entry):
        metric = dataclasses.replace(build(entry.spec.key, options), prompts=heard)  # type: ignore[type-var]  # every metric is a dataclass, see below
        await judge(metric, CONVERSATION, ScriptedAsk(ORACLE))
        await judge(metric, conversation(*long), ScriptedAsk(ORACLE))
    assert heard.used == set(entry.steps)


@each_metric
def test_no_prompt_file_is_left_over(entry: MetricEntry) -> None:
    folder = PROMPTS / entry.spec.key
    if folder.is_dir():
        names = {path.name for path in folder.iterdir()}
        assert names
        assert names <= {f"{step}.txt" for step in entry.steps}


def test_every_shared_prompt_is_used_by_a_metric() -> None:
    shared = {path.name for path in (PROMPTS / "shared").iterdir()}
    used = {
        f"{step}.txt"
        for each in METRICS
        for step in each.steps
        if not (PROMPTS / each.spec.key / f"{step}.txt").is_file()
    }
    assert shared == used


def test_every_folder_of_prompts_belongs_to_a_metric() -> None:
    folders = {folder.name for folder in PROMPTS.iterdir()}
    assert folders <= {each.spec.key for each in METRICS} | {"shared", "version-1"}


@each_metric
def test_the_digest_of_the_prompts_is_64_digits(entry: MetricEntry) -> None:
    assert len(build(entry.spec.key, {}).prompt_digest) == 64


# The value


@each_metric
def test_a_metric_is_a_frozen_value(entry: MetricEntry) -> None:
    metric = build(entry.spec.key, {})
    assert dataclasses.is_dataclass(entry.make)
    name = next(iter(metric_options_to_json(metric)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(metric, name, None)
    assert build(entry.spec.key, {}) == metric


@each_metric
def test_options_come_back_through_json(entry: MetricEntry) -> None:
    for options in ways(entry):
        metric = build(entry.spec.key, options)
        kept = json.loads(json.dumps(metric_options_to_json(metric)))
        assert build(entry.spec.key, kept) == metric
        assert metric_options_to_json(build(entry.spec.key, kept)) == kept


@each_metric
def test_every_option_is_explained_and_the_common_ones_are_there(entry: MetricEntry) -> None:
    told = describe_options(entry.spec.key)
    assert all(option.meaning.endswith(".") for option in told)
    names = {option.name for option in told}
    assert names >= COMMON_OPTIONS
    assert names & {"model", "llm"}


@each_metric
def test_the_spec_says_what_screens_and_store_need(entry: MetricEntry) -> None:
    metric = build(entry.spec.key, {})
    spec = metric.spec
    assert spec == entry.spec
    assert spec.key == spec.key.lower().replace("_", "-")
    assert all((spec.title, spec.version, spec.peer, spec.context_from, *spec.units))
    assert spec.nothing_judged.endswith(".")
    assert spec.nothing_checked.endswith(".")
    assert spec.judges in get_args(ClaimKind)
    assert spec.references is None or spec.references.strip()
    assert metric.rule.labels == spec.labels.names
    assert set(metric.rule.passing) < set(spec.labels.names)
    assert set(dict(metric.rule.synonyms).values()) <= set(spec.labels.names)


@each_metric
def test_without_options_nothing_is_slowed_down_told_or_asked_of_another_judge(
    entry: MetricEntry,
) -> None:
    metric = build(entry.spec.key, {})
    assert isinstance(metric.pace, QuestionPace)
    assert not metric.pace.one_call
    assert metric.pace.pause_s == 0
    assert metric.judge is None
    assert metric.verbose_mode is False
    assert build(entry.spec.key, {"verbose_mode": True}).verbose_mode is True


# The table


def test_every_module_of_a_metric_is_registered() -> None:
    found = set()
    for module in pkgutil.walk_packages(faithtui.metrics.__path__, "faithtui.metrics."):
        spec = getattr(importlib.import_module(module.name), "SPEC", None)
        if isinstance(spec, MetricSpec):
            found.add(spec.key)
    assert found == {each.spec.key for each in METRICS}


def test_errors_that_stop_a_run_are_judge_errors() -> None:
    assert [error.__name__ for error in STOPS_THE_RUN] == ["JudgeUnusable"]
