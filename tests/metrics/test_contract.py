"""What every metric of the registry must keep to."""

import dataclasses
import pkgutil
from importlib import resources
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faithtui.metrics
from faithtui.domain.scores import ScoreState
from faithtui.metrics.base import STOPS_THE_RUN, Question
from faithtui.metrics.registry import METRICS, Entry, build, options_of
from tests.metrics.scripted import Json, Script, ScriptedAsk, judge
from tests.parity.run_cases import conversation_of
from tests.parity.strategies import cases

FOUNDATIONS = {"base", "concurrency", "peer_reading", "prompting", "registry", "shapes"}
"""Modules of the package that are no metric."""

each_metric = pytest.mark.parametrize("entry", METRICS, ids=lambda entry: str(entry.spec.key))


def random_replies(choices: list[int]) -> Script:
    """Answer honestly, or leave things out and put nonsense in, by a list of choices."""
    left = iter(choices)

    def script(question: Question[Any], answer: Json) -> Json:
        for key in list(answer):
            match next(left, 0):
                case 1 if question.step == "verdicts":
                    del answer[key]
                case 2 if question.step == "verdicts":
                    answer[key] = {"verdict": "perhaps", "reason": "", "confidence": 7}
                case 3 if isinstance(answer[key], list):
                    answer[key] = ["x", " ", "x"]
        return answer

    return script


@each_metric
@given(case=cases(), choices=st.lists(st.integers(0, 3), max_size=20), strategy=st.booleans())
@settings(deadline=None, max_examples=60)
async def test_whatever_the_judge_says_verdicts_and_scores_keep_to_their_sets(
    entry: Entry, case: Json, choices: list[int], strategy: bool
) -> None:
    options = {"strategy": "window" if strategy else "evidence"}
    metric = build(entry.spec.key, options)
    talked = conversation_of(case["input"])
    ask = ScriptedAsk(case["judge"] | {"reply_style": "json"}, random_replies(choices))
    assessments, conclusion = await judge(metric, talked, ask)
    windows = metric.windows(talked)
    assert [found.window for found in assessments] == list(windows)
    for found in assessments:
        for verdict in found.verdicts:
            assert verdict.label in (*metric.spec.labels.names, None)
            assert verdict.claim.turn in found.window.turns
            assert all(each.truth in found.truths for each in verdict.evidence)
        assert len({truth.text for truth in found.truths}) == len(found.truths)
    for score in (*(found.score for found in assessments), conclusion.score):
        assert score.value is None or 0 <= score.value <= 1
    if any(None in [each.label for each in found.verdicts] for found in assessments):
        assert conclusion.score.state is ScoreState.INCOMPLETE
        assert conclusion.success is None


@each_metric
@given(case=cases())
@settings(deadline=None, max_examples=60)
async def test_every_claim_has_one_verdict(entry: Entry, case: Json) -> None:
    metric = build(entry.spec.key, {"window_size": 1})
    talked = conversation_of(case["input"])
    ask = ScriptedAsk({**case["judge"], "verdicts": {}})
    assessments, _ = await judge(metric, talked, ask)
    claims = case["judge"]["claims"]
    for found in assessments:
        answers = [
            talked.turns[turn].content
            for turn in found.window.turns
            if talked.turns[turn].role == "assistant"
        ]
        expected = [
            claim.strip()
            for answer in answers
            if answer.strip()
            for claim in claims.get(answer, ())
            if claim.strip()
        ]
        assert [verdict.claim.text for verdict in found.verdicts] == expected


@each_metric
async def test_every_question_is_one_of_the_steps_and_fits_its_schema(entry: Entry) -> None:
    oracle = {"truths": {"D.": ["t"]}, "claims": {"A.": ["k"]}, "verdicts": {"k": "no"}}
    talked = conversation_of(
        {
            "turns": [
                {"role": "user", "content": "Q?"},
                {"role": "assistant", "content": "A.", "retrieval_context": ["D."]},
            ]
        }
    )
    for strategy in ("evidence", "window"):
        for as_peer in (False, True):
            ask = ScriptedAsk(oracle)
            await judge(
                build(entry.spec.key, {"strategy": strategy, "as_peer": as_peer}), talked, ask
            )
            for question in ask.questions:
                assert question.step in {"truths", "claims", "verdicts", "reason", "final-reason"}
                assert question.system.strip()
                assert "$" not in question.prompt
                assert question.max_tokens > 0
                assert question.reply.schema["type"] == "object"


@each_metric
def test_there_is_a_prompt_for_every_step_and_no_other(entry: Entry) -> None:
    folder = resources.files("faithtui.metrics") / "prompts" / entry.spec.key
    assert {path.name for path in folder.iterdir()} == {f"{step}.txt" for step in entry.steps}


@each_metric
def test_a_metric_is_a_frozen_value(entry: Entry) -> None:
    metric = build(entry.spec.key, {})
    assert dataclasses.is_dataclass(entry.make)
    name = next(iter(options_of(metric)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(metric, name, None)
    assert build(entry.spec.key, {}) == metric


@each_metric
def test_the_spec_says_what_screens_and_store_need(entry: Entry) -> None:
    spec = build(entry.spec.key, {}).spec
    assert spec == entry.spec
    assert spec.key == spec.key.lower().replace("_", "-")
    assert all((spec.title, spec.version, spec.peer, spec.claims_from))
    assert set(build(entry.spec.key, {}).rule.passing) <= set(spec.labels.names)


@each_metric
def test_the_digest_of_the_prompts_is_64_digits(entry: Entry) -> None:
    assert len(build(entry.spec.key, {}).prompt_digest) == 64


def test_every_module_of_a_metric_is_registered() -> None:
    modules = {
        module.name
        for module in pkgutil.iter_modules(faithtui.metrics.__path__)
        if not module.ispkg
    }
    registered = {each.make.__module__.rsplit(".", 1)[1] for each in METRICS}
    assert modules - FOUNDATIONS == registered


def test_every_folder_of_prompts_belongs_to_a_metric() -> None:
    folders = (resources.files("faithtui.metrics") / "prompts").iterdir()
    assert {folder.name for folder in folders} == {each.spec.key for each in METRICS}


def test_errors_that_stop_a_run_are_judge_errors() -> None:
    assert [error.__name__ for error in STOPS_THE_RUN] == ["JudgeAuthFailed", "JudgeQuotaExceeded"]
