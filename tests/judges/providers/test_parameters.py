"""What is set is on the wire, and what a model refuses is learned and not sent again."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

import pytest

from faithtui.domain.judging.judge_profile import NO_PARAMETERS, JudgeProfile
from faithtui.errors import ConfigError, JudgeRequestRejected
from faithtui.judges.base import Judge
from faithtui.judges.providers.parameters import RefusedParameters, find_refused_parameter
from faithtui.judges.registry import (
    check_and_adapt_judge_profile,
    make_judge_fingerprint,
    open_judge,
)
from tests.judges.fake_server import Answer, FakeServer, Sent
from tests.judges.questions import ANTHROPIC, OPENAI, Side, question

both = pytest.mark.parametrize("side", [OPENAI, ANTHROPIC], ids=lambda side: side.name)

EVERYTHING = JudgeProfile(
    temperature=0.3,
    top_p=0.9,
    seed=7,
    reasoning_effort="low",
    extra_body={"top_k": 1, "options": {"num_ctx": 8192}},
    extra_headers={"X-Team": "evals", "X-Gateway-Key": "$GATEWAY"},
)
ENVIRON = {"FAITHTUI_JUDGE_KEY": "k-1", "GATEWAY": "g4teway-secret-value"}


def judge(
    server: FakeServer,
    ref: str,
    profile: JudgeProfile,
    refused: RefusedParameters | None = None,
    environ: Mapping[str, str] = ENVIRON,
) -> AbstractAsyncContextManager[Judge]:
    return open_judge(ref, base_url=server.url, profile=profile, refused=refused, environ=environ)


def refusal(message: str, param: str | None = None, status: int = 400) -> Answer:
    error = {"type": "invalid_request_error", "message": message, "param": param}
    return Answer({"type": "error", "error": error}, status)


def script(server: FakeServer, *answers: Answer | dict[str, object]) -> None:
    server.script += [each if isinstance(each, Answer) else Answer(each) for each in answers]


async def sent_with(server: FakeServer, ref: str, profile: JudgeProfile) -> Sent:
    async with judge(server, ref, profile) as opened:
        await opened.send(question())
    return server.sent[-1]


@pytest.mark.parametrize("ref", ["openai:small", "llamacpp:small"])
async def test_every_parameter_is_sent_by_openais_protocol(server: FakeServer, ref: str) -> None:
    server.answer(OPENAI.body())
    sent = await sent_with(server, ref, EVERYTHING)
    plain = await sent_with(server, ref, NO_PARAMETERS)
    added = {name: value for name, value in sent.body.items() if name not in plain.body}
    assert added == {
        "temperature": 0.3,
        "top_p": 0.9,
        "seed": 7,
        "reasoning_effort": "low",
        "top_k": 1,
        "options": {"num_ctx": 8192},
    }
    assert {name: sent.body[name] for name in plain.body} == plain.body
    assert (sent.headers["x-team"], sent.headers["x-gateway-key"]) == ("evals", ENVIRON["GATEWAY"])
    assert sent.headers["authorization"] == "Bearer k-1"
    assert "x-team" not in plain.headers


async def test_every_parameter_is_sent_by_anthropics_protocol(server: FakeServer) -> None:
    server.answer(ANTHROPIC.body())
    sent = await sent_with(server, "anthropic:small", EVERYTHING)
    plain = await sent_with(server, "anthropic:small", NO_PARAMETERS)
    assert sent.body["output_config"] == {**plain.body["output_config"], "effort": "low"}
    added = {name: value for name, value in sent.body.items() if name not in plain.body}
    assert added == {
        "temperature": 0.3,
        "top_p": 0.9,
        "seed": 7,
        "top_k": 1,
        "options": {"num_ctx": 8192},
    }
    assert (sent.headers["x-team"], sent.headers["x-gateway-key"]) == ("evals", ENVIRON["GATEWAY"])


@both
async def test_the_temperature_is_0_where_nobody_says_otherwise(
    side: Side, server: FakeServer
) -> None:
    server.answer(side.body())
    async with side.judge(server) as opened:
        await opened.send(question())
    assert server.sent[-1].body["temperature"] == 0


@both
async def test_a_refused_parameter_is_learned_and_not_sent_again(
    side: Side, server: FakeServer
) -> None:
    told: list[str] = []
    refused = RefusedParameters(on_refused=told.append)
    profile = JudgeProfile(seed=7)
    script(server, refusal("`temperature` is deprecated for this model."), side.body())
    async with judge(server, f"{side.name}:small", profile, refused) as opened:
        await opened.send(question())
        await opened.send(question("Again?"))
    assert ["temperature" in each.body for each in server.sent] == [True, False, False]
    assert all(each.body["seed"] == 7 for each in server.sent), "the others stay"
    assert told == ["temperature"]
    again = RefusedParameters(refused.names)
    async with judge(server, f"{side.name}:small", profile, again) as opened:
        await opened.send(question())
    assert "temperature" not in server.sent[-1].body


@both
async def test_questions_in_flight_together_learn_it_once(side: Side, server: FakeServer) -> None:
    told: list[str] = []
    no = refusal("temperature: Extra inputs are not permitted", status=422)
    script(server, replace(no, after=2), replace(no, after=2), side.body())
    async with judge(
        server, f"{side.name}:small", JudgeProfile(), RefusedParameters((), told.append)
    ) as opened:
        await asyncio.gather(opened.send(question("One?")), opened.send(question("Two?")))
    assert told == ["temperature"]
    assert len(server.sent) == 4


@both
async def test_a_value_out_of_range_is_not_taken_for_a_refusal(
    side: Side, server: FakeServer
) -> None:
    script(server, refusal("temperature: Input should be less than or equal to 1"))
    async with judge(server, f"{side.name}:small", JudgeProfile(temperature=1.5)) as opened:
        with pytest.raises(JudgeRequestRejected, match="less than or equal to 1"):
            await opened.send(question())
    assert len(server.sent) == 1


@pytest.mark.parametrize(
    ("message", "param", "expected"),
    [
        (
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default "
            "(1) value is supported.",
            "temperature",
            "temperature",
        ),
        ("Unsupported parameter: 'top_p' is not supported with this model.", "top_p", "top_p"),
        ("Unrecognized request argument supplied: reasoning_effort", None, "reasoning_effort"),
        ("This model does not support the effort parameter.", None, "reasoning_effort"),
        ("`temperature` and `top_p` cannot both be specified for this model.", None, "temperature"),
        ("`temperature` may only be set to 1 when thinking is enabled.", None, "temperature"),
        ("top_k: Extra inputs are not permitted", None, "top_k"),
        ("response_format json_schema is not supported", "response_format", None),
        ("Unknown model: temperature-7b-seeds", None, None),
        ("seed is too large", "seed", None),
        ("Invalid 'seed': expected a value <= 2147483647, but got 9999999999 instead.", None, None),
        ("Unsupported value: top_p must be between 0 and 1", "top_p", None),
        (
            "Unsupported value: 'reasoning_effort' does not support 'hihg' with this model. "
            "Supported values are: 'low', 'medium', and 'high'.",
            "reasoning_effort",
            None,
        ),
        (
            "Unsupported value: 'temperature' does not support 0 with this model. Supported values "
            "are: 1.",
            "temperature",
            "temperature",
        ),
        ("tools are not supported beside temperature", "tools", None),
        ("temperature is not supported", "", "temperature"),
    ],
)
def test_what_providers_say_of_a_parameter_is_understood(
    message: str, param: str | None, expected: str | None
) -> None:
    body = str(refusal(message, param).payload("").decode())
    sent = ["temperature", "top_p", "seed", "reasoning_effort", "top_k"]
    assert find_refused_parameter(body, sent) == expected


def test_a_code_that_tells_a_range_is_no_refusal() -> None:
    error = {"message": "Use seed 1 instead.", "param": "seed", "code": "integer_above_max_value"}
    assert find_refused_parameter(json.dumps({"error": error}), ["seed"]) is None
    named = {"error": {**error, "code": "unsupported_parameter"}}
    assert find_refused_parameter(json.dumps(named), ["seed"]) == "seed"


@both
async def test_the_value_of_a_secret_header_is_in_no_message(
    side: Side, server: FakeServer
) -> None:
    script(server, refusal(f"who is {ENVIRON['GATEWAY']}?", status=404))
    async with judge(server, f"{side.name}:small", EVERYTHING) as opened:
        with pytest.raises(JudgeRequestRejected) as raised:
            await opened.send(question())
        said = f"{raised.value} {raised.value.provider_message} {raised.value.__cause__}"
        assert ENVIRON["GATEWAY"] not in said
        assert "[hidden]" in said
        assert ENVIRON["GATEWAY"] not in opened.fingerprint + opened.account


def test_a_header_whose_variable_is_not_set_is_told_before_anything_is_asked() -> None:
    with pytest.raises(ConfigError, match="X-Gateway-Key is read from the environment variable G"):
        open_judge("openai:m", profile=EVERYTHING, environ={"OPENAI_API_KEY": "k"})


def test_parameters_are_part_of_the_identity_and_a_judge_without_any_keeps_its_own() -> None:
    plain = make_judge_fingerprint("openai:m", profile=NO_PARAMETERS)
    assert plain == "openai-chat/1 json-schema https://api.openai.com/v1 m"
    profiles = [
        JudgeProfile(),
        JudgeProfile(temperature=0.5),
        JudgeProfile(seed=1),
        JudgeProfile(max_tokens=900),
        JudgeProfile(extra_body={"top_k": 1}),
        JudgeProfile(extra_headers={"X-Team": "a"}),
    ]
    told = [make_judge_fingerprint("openai:m", profile=each) for each in profiles]
    assert len({plain, *told}) == 7
    slow = JudgeProfile(timeout_s=900)
    assert make_judge_fingerprint("openai:m", profile=slow) == told[0], "it changes no answer"


def test_a_judge_that_computes_takes_no_parameters() -> None:
    assert check_and_adapt_judge_profile("offline", JudgeProfile()) == NO_PARAMETERS
    with pytest.raises(ConfigError, match=r"offline takes no parameters, and .*seed 7"):
        check_and_adapt_judge_profile("offline", JudgeProfile(seed=7))
