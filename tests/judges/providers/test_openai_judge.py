import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from faithtui.errors import JudgeRequestRejected, JudgeUnavailable
from faithtui.judges.base import OutputFormat, RateLimits, StopReason, Usage
from faithtui.judges.providers.endpoints import parse_endpoint
from faithtui.judges.providers.openai_judge import OpenAIChat
from faithtui.judges.providers.provider_judge import ProviderJudge
from faithtui.judges.providers.secret import Secret
from tests.judges.fake_server import FakeServer, openai_body
from tests.judges.questions import ADDRESSED, OPENAI, PIXEL, SCHEMA, question


async def test_the_schema_is_sent_natively(server: FakeServer) -> None:
    server.answer(openai_body())
    async with OPENAI.judge(server) as judge:
        await judge.send(question())
    (sent,) = server.sent
    assert sent.path == "/v1/chat/completions"
    assert sent.body == {
        "model": "small",
        "messages": [
            {"role": "system", "content": "You explain."},
            {"role": "user", "content": "Why?"},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reason", "schema": SCHEMA, "strict": True},
        },
        # Local servers ignore the new name of this limit and write without end.
        "max_tokens": 300,
        "temperature": 0.0,
    }


@pytest.fixture
async def official(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[ProviderJudge]:
    """A judge that takes the server for the provider's own host."""
    endpoint = parse_endpoint("openai:small", None)
    assert endpoint is not None
    judge = ProviderJudge(endpoint, Secret("sk-test-official"), OpenAIChat, timeout_s=600)
    # The one thing that cannot be true in a test: that this machine is the provider.
    monkeypatch.setattr(vars(vars(judge)["_dialect"])["_client"], "base_url", f"{server.url}/v1")
    yield judge
    await judge.aclose()


async def test_the_official_host_gets_the_new_name_of_the_limit(
    server: FakeServer, official: ProviderJudge
) -> None:
    server.answer(openai_body())
    await official.send(question())
    (sent,) = server.sent
    assert sent.body["max_completion_tokens"] == 300
    assert "max_tokens" not in sent.body


async def test_questions_that_begin_alike_share_a_cache_key_on_the_official_host(
    server: FakeServer, official: ProviderJudge
) -> None:
    server.answer(openai_body())
    for system, prompt in (("One.", "a"), ("One.", "b"), ("Two.", "a")):
        await official.send(question(prompt, system=system))
    first, second, third = (sent.body["prompt_cache_key"] for sent in server.sent)
    assert first == second != third
    assert str(first).startswith("faithtui-")


async def test_the_official_host_is_asked_for_one_call_of_the_tool(
    server: FakeServer, official: ProviderJudge
) -> None:
    server.answer(openai_body())
    await official.send(replace(question(), output_format=OutputFormat.TOOL))
    assert server.sent[0].body["parallel_tool_calls"] is False


async def test_an_empty_system_text_is_left_out(server: FakeServer) -> None:
    server.answer(openai_body())
    async with OPENAI.judge(server) as judge:
        await judge.send(question(system=""))
    assert server.sent[0].body["messages"] == [{"role": "user", "content": "Why?"}]


@pytest.mark.parametrize(
    ("step", "name"), [("final reason/ü", "final_reason__"), ("", "reply"), ("s" * 80, "s" * 64)]
)
async def test_any_step_makes_a_schema_name_the_provider_takes(
    server: FakeServer, step: str, name: str
) -> None:
    server.answer(openai_body())
    async with OPENAI.judge(server) as judge:
        await judge.send(question(step=step))
    response_format = server.sent[0].body["response_format"]
    assert isinstance(response_format, dict)
    assert response_format["json_schema"]["name"] == name


@pytest.mark.parametrize(
    ("finish_reason", "stop"),
    [
        ("stop", StopReason.OK),
        ("length", StopReason.LENGTH),
        ("content_filter", StopReason.FILTER),
        ("tool_calls", StopReason.OTHER),
    ],
)
async def test_ends_are_told_apart(
    server: FakeServer, finish_reason: str, stop: StopReason
) -> None:
    server.answer(openai_body('{"reason": "ha', finish_reason=finish_reason))
    async with OPENAI.judge(server) as judge:
        reply = await judge.send(question())
    assert reply.stop is stop
    assert reply.text == '{"reason": "ha'


async def test_a_refusal_is_returned_with_its_words(server: FakeServer) -> None:
    server.answer(openai_body(message={"content": None, "refusal": "I cannot help with that."}))
    async with OPENAI.judge(server) as judge:
        reply = await judge.send(question())
    assert reply.stop is StopReason.REFUSAL
    assert reply.text == "I cannot help with that."


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("", ""),
        (7, ""),
        ([{"type": "text", "text": "{"}, {"type": "text", "text": "}"}, "odd"], "{}"),
    ],
)
async def test_odd_contents_are_read_as_text(
    server: FakeServer, content: object, text: str
) -> None:
    server.answer(openai_body(message={"content": content}))
    async with OPENAI.judge(server) as judge:
        reply = await judge.send(question())
    assert reply.text == text
    assert reply.stop is StopReason.OK


async def test_cached_tokens_are_part_of_the_input(server: FakeServer) -> None:
    server.answer(openai_body())
    async with OPENAI.judge(server) as judge:
        usage = (await judge.send(question())).usage
    assert usage.tokens_cached == 100
    assert usage.tokens_in == 120


async def test_without_a_header_the_reply_names_itself(server: FakeServer) -> None:
    server.answer(openai_body())
    async with OPENAI.judge(server) as judge:
        assert (await judge.send(question())).request_id == "chatcmpl-1"


async def test_images_follow_the_prompt_each_behind_its_mark(server: FakeServer) -> None:
    server.answer(openai_body())
    async with OPENAI.judge(server) as judge:
        await judge.send(replace(question(), images=(PIXEL, ADDRESSED)))
    assert server.sent[0].body["messages"] == [
        {"role": "system", "content": "You explain."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Why?"},
                {"type": "text", "text": "[attached image 1111]"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
                {"type": "text", "text": "[attached image 2222]"},
                {"type": "image_url", "image_url": {"url": "https://example.org/plan.png"}},
            ],
        },
    ]


async def test_a_plain_text_question_binds_the_model_to_nothing(server: FakeServer) -> None:
    server.answer(openai_body("YES"))
    async with OPENAI.judge(server) as judge:
        reply = await judge.send(replace(question(), schema=None))
    assert "response_format" not in server.sent[0].body
    assert reply.text == "YES"
    assert not reply.structured


def tool_call(*arguments: object, finish_reason: str = "tool_calls") -> dict[str, object]:
    calls = [{"id": "c1", "function": {"name": "reason", "arguments": each}} for each in arguments]
    message = {"content": None, "tool_calls": [*calls, "odd"]}
    return openai_body(message=message, finish_reason=finish_reason)


async def test_a_function_is_forced_and_its_arguments_are_the_reply(server: FakeServer) -> None:
    server.answer(tool_call('{"reason": "so"}'))
    async with OPENAI.judge(server) as judge:
        assert judge.output_formats == (
            OutputFormat.SCHEMA,
            OutputFormat.TOOL,
            OutputFormat.JSON,
            OutputFormat.TEXT,
        )
        reply = await judge.send(replace(question(), output_format=OutputFormat.TOOL))
    body = server.sent[0].body
    assert "response_format" not in body
    assert "parallel_tool_calls" not in body, "small servers do not know it"
    assert body["tool_choice"] == {"type": "function", "function": {"name": "reason"}}
    (tool,) = body["tools"]
    assert tool["function"]["parameters"] == SCHEMA
    assert tool["function"]["strict"] is True
    assert reply.text == '{"reason": "so"}'
    assert reply.stop is StopReason.OK
    assert reply.structured
    assert reply.output_format is OutputFormat.TOOL


@pytest.mark.parametrize(
    ("body", "text", "stop"),
    [
        (tool_call({"reason": "ä"}), '{"reason": "ä"}', StopReason.OK),
        (tool_call('{"a": 1}', '{"b": 2}'), '{"a": 1}\n{"b": 2}', StopReason.OK),
        (tool_call("{}", finish_reason="stop"), "{}", StopReason.OK),
        (tool_call('{"rea', finish_reason="length"), '{"rea', StopReason.LENGTH),
        (openai_body("words"), "words", StopReason.OK),
        (openai_body(message={"content": "words", "tool_calls": 7}), "words", StopReason.OK),
    ],
)
async def test_odd_calls_are_read_as_text(
    server: FakeServer, body: dict[str, object], text: str, stop: StopReason
) -> None:
    server.answer(body)
    async with OPENAI.judge(server) as judge:
        reply = await judge.send(replace(question(), output_format=OutputFormat.TOOL))
    assert (reply.text, reply.stop) == (text, stop)


@pytest.mark.parametrize(
    ("output_format", "response_format"),
    [(OutputFormat.JSON, {"type": "json_object"}), (OutputFormat.TEXT, None)],
)
async def test_the_schema_stands_in_the_prompt_where_nothing_else_binds(
    server: FakeServer, output_format: OutputFormat, response_format: object
) -> None:
    server.answer(openai_body())
    async with OPENAI.judge(server) as judge:
        reply = await judge.send(replace(question(), output_format=output_format))
    body = server.sent[0].body
    assert body.get("response_format") == response_format
    assert "tools" not in body
    prompt = body["messages"][-1]["content"]
    assert prompt.startswith("Why?\n\nAnswer with one JSON object")
    assert json.loads(prompt.rpartition("\n")[2]) == SCHEMA
    assert not reply.structured
    assert reply.output_format is output_format


async def test_a_plain_text_question_has_no_form(server: FakeServer) -> None:
    server.answer(openai_body("YES"))
    async with OPENAI.judge(server) as judge:
        reply = await judge.send(replace(question(), schema=None, output_format=OutputFormat.TOOL))
    assert set(server.sent[0].body) == {"model", "messages", "max_tokens", "temperature"}
    assert reply.output_format is None


NO_OLD_NAME = {
    "error": {
        "message": "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        "code": "unsupported_parameter",
    }
}


async def test_a_limit_refused_by_name_is_sent_by_its_other_name_from_then_on(
    server: FakeServer,
) -> None:
    server.answer(NO_OLD_NAME, status=400)
    server.answer(openai_body())
    async with OPENAI.judge(server) as judge:
        assert (await judge.send(question("1?"))).text
        assert (await judge.send(question("2?"))).text
    limits = [{name for name in sent.body if name.startswith("max_")} for sent in server.sent]
    assert limits == [{"max_tokens"}, {"max_completion_tokens"}, {"max_completion_tokens"}]


async def test_questions_in_the_air_together_change_the_name_once(server: FakeServer) -> None:
    for _ in range(4):
        # All four leave before the first answer arrives.
        server.answer(NO_OLD_NAME, status=400, after=4)
    server.answer(openai_body())
    async with OPENAI.judge(server) as judge:
        replies = await asyncio.gather(*(judge.send(question(f"{n}?")) for n in range(4)))
    assert all(reply.stop is StopReason.OK for reply in replies)
    assert [("max_tokens" in sent.body) for sent in server.sent] == [True] * 4 + [False] * 4


async def test_a_server_that_knows_neither_name_is_asked_twice_at_most(server: FakeServer) -> None:
    either = {"error": {"message": "unknown: max_tokens, max_completion_tokens"}}
    server.answer(either, status=400)
    async with OPENAI.judge(server) as judge:
        with pytest.raises(JudgeRequestRejected, match="unknown"):
            await judge.send(question())
        assert len(server.sent) == 2
        with pytest.raises(JudgeRequestRejected):
            await judge.send(question())
    assert len(server.sent) == 3


@pytest.mark.parametrize(
    ("status", "sentence"),
    [(400, "max_tokens is too large: 300, at most 100"), (503, "max_tokens not supported")],
)
async def test_a_limit_refused_for_another_reason_keeps_its_name(
    server: FakeServer, status: int, sentence: str
) -> None:
    server.answer({"error": {"message": sentence}}, status=status)
    async with OPENAI.judge(server) as judge:
        with pytest.raises((JudgeRequestRejected, JudgeUnavailable)):
            await judge.send(question())
    assert len(server.sent) == 1


async def test_all_tokens_are_read(server: FakeServer) -> None:
    usage = {
        "prompt_tokens": 120,
        "completion_tokens": 30,
        "prompt_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 20},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    server.answer(openai_body(usage=usage))
    async with OPENAI.judge(server) as judge:
        assert (await judge.send(question())).usage == Usage(120, 30, 100, 20, 5)


@pytest.mark.parametrize(
    ("headers", "limits"),
    [
        ({}, RateLimits()),
        (
            {"x-ratelimit-limit-requests": "500", "x-ratelimit-limit-tokens": "200000"},
            RateLimits(500, 200_000),
        ),
        ({"x-ratelimit-limit-requests": "many", "x-ratelimit-limit-tokens": "-5"}, RateLimits()),
        ({"x-ratelimit-limit-requests": "0", "x-ratelimit-limit-tokens": "1e99"}, RateLimits()),
    ],
)
async def test_the_limits_beside_a_reply_are_read(
    server: FakeServer, headers: dict[str, str], limits: RateLimits
) -> None:
    server.answer(openai_body(), headers=headers)
    async with OPENAI.judge(server) as judge:
        assert (await judge.send(question())).limits == limits
