import json
from dataclasses import replace

import pytest

from faithtui.errors import JudgeRequestRejected, JudgeUnsupported
from faithtui.judges.base import OutputFormat, RateLimits, StopReason, Usage
from tests.judges.fake_server import FakeServer, anthropic_body
from tests.judges.questions import ADDRESSED, ANTHROPIC, PIXEL, SCHEMA, question


async def test_the_schema_is_sent_natively(server: FakeServer) -> None:
    server.answer(anthropic_body())
    async with ANTHROPIC.judge(server) as judge:
        await judge.send(question())
    (sent,) = server.sent
    assert sent.path == "/v1/messages"
    assert sent.headers["anthropic-version"]
    assert sent.body == {
        "model": "small",
        "max_tokens": 300,
        "temperature": 0.0,
        "system": [
            {"type": "text", "text": "You explain.", "cache_control": {"type": "ephemeral"}}
        ],
        "messages": [{"role": "user", "content": "Why?"}],
        "output_config": {
            "format": {
                "type": "json_schema",
                "schema": {
                    "type": "object",
                    # What the API cannot enforce becomes a hint to the model.
                    "properties": {"reason": {"type": "string", "description": "{maxLength: 500}"}},
                    "required": ["reason"],
                    "additionalProperties": False,
                },
            }
        },
    }


async def test_an_empty_system_text_is_left_out(server: FakeServer) -> None:
    server.answer(anthropic_body())
    async with ANTHROPIC.judge(server) as judge:
        await judge.send(question(system=""))
    assert "system" not in server.sent[0].body


async def test_a_long_answer_is_not_refused_by_the_sdk(server: FakeServer) -> None:
    server.answer(anthropic_body())
    # 600 s is the SDK's own default, at which it wants long answers streamed.
    async with ANTHROPIC.judge(server, timeout_s=600.0) as judge:
        reply = await judge.send(replace(question(), max_tokens=100_000))
    assert reply.stop is StopReason.OK


@pytest.mark.parametrize(
    ("stop_reason", "stop"),
    [
        ("end_turn", StopReason.OK),
        ("stop_sequence", StopReason.OK),
        ("max_tokens", StopReason.LENGTH),
        ("model_context_window_exceeded", StopReason.LENGTH),
        ("refusal", StopReason.REFUSAL),
        ("pause_turn", StopReason.OTHER),
        ("tool_use", StopReason.OTHER),
    ],
)
async def test_ends_are_told_apart(server: FakeServer, stop_reason: str, stop: StopReason) -> None:
    server.answer(anthropic_body('{"reason": "ha', stop_reason=stop_reason))
    async with ANTHROPIC.judge(server) as judge:
        reply = await judge.send(question())
    assert reply.stop is stop
    assert reply.text == '{"reason": "ha'


async def test_a_refusal_without_words_is_a_reply(server: FakeServer) -> None:
    server.answer(anthropic_body(None, stop_reason="refusal"))
    async with ANTHROPIC.judge(server) as judge:
        reply = await judge.send(question())
    assert reply.stop is StopReason.REFUSAL
    assert reply.text == ""


async def test_thinking_is_no_part_of_the_answer(server: FakeServer) -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "text": "hm"},
        {"type": "text", "text": '{"reason":'},
        {"type": "text", "text": ' "so"}'},
        {"type": "text", "text": None},
        "odd",
    ]
    server.answer(anthropic_body(content=blocks))
    async with ANTHROPIC.judge(server) as judge:
        assert (await judge.send(question())).text == '{"reason": "so"}'


async def test_all_input_is_counted(server: FakeServer) -> None:
    server.answer(anthropic_body())
    async with ANTHROPIC.judge(server) as judge:
        usage = (await judge.send(question())).usage
    assert usage == Usage(
        tokens_in=120,
        tokens_out=30,
        tokens_cached=70,
        tokens_cache_write=30,
        tokens_reasoning=5,
    )


async def test_usage_without_a_cache_is_the_fresh_input(server: FakeServer) -> None:
    server.answer(anthropic_body(usage={"input_tokens": 20, "output_tokens": 3}))
    async with ANTHROPIC.judge(server) as judge:
        assert (await judge.send(question())).usage == Usage(tokens_in=20, tokens_out=3)


async def test_the_providers_own_request_id_is_kept(server: FakeServer) -> None:
    server.answer(anthropic_body(), headers={"request-id": "req_011"})
    async with ANTHROPIC.judge(server) as judge:
        assert (await judge.send(question())).request_id == "req_011"


async def test_images_follow_the_prompt_each_behind_its_mark(server: FakeServer) -> None:
    server.answer(anthropic_body())
    async with ANTHROPIC.judge(server) as judge:
        await judge.send(replace(question(), images=(PIXEL, ADDRESSED)))
    png = {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}
    address = {"type": "url", "url": "https://example.org/plan.png"}
    assert server.sent[0].body["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Why?"},
                {"type": "text", "text": "[attached image 1111]"},
                {"type": "image", "source": png},
                {"type": "text", "text": "[attached image 2222]"},
                {"type": "image", "source": address},
            ],
        }
    ]


@pytest.mark.parametrize(("media_type", "says"), [("image/bmp", "image/bmp"), ("", "unknown kind")])
async def test_a_kind_of_image_the_api_does_not_take_is_not_sent(
    server: FakeServer, media_type: str, says: str
) -> None:
    async with ANTHROPIC.judge(server) as judge:
        with pytest.raises(JudgeRequestRejected, match=f"image 1111.*{says}.*image/png"):
            await judge.send(replace(question(), images=(replace(PIXEL, media_type=media_type),)))
    assert not server.sent


async def test_a_plain_text_question_binds_the_model_to_nothing(server: FakeServer) -> None:
    server.answer(anthropic_body("YES"))
    async with ANTHROPIC.judge(server) as judge:
        reply = await judge.send(replace(question(), schema=None))
    assert "output_config" not in server.sent[0].body
    assert reply.text == "YES"
    assert not reply.structured


def tool_call(stop_reason: str = "tool_use") -> dict[str, object]:
    block = {"type": "tool_use", "id": "t1", "name": "reason", "input": {"reason": "sö"}}
    return anthropic_body(content=[block], stop_reason=stop_reason)


async def test_a_tool_is_forced_and_its_input_is_the_reply(server: FakeServer) -> None:
    server.answer(tool_call())
    async with ANTHROPIC.judge(server) as judge:
        reply = await judge.send(replace(question(), output_format=OutputFormat.TOOL))
    body = server.sent[0].body
    assert "output_config" not in body
    assert body["tool_choice"] == {
        "type": "tool",
        "name": "reason",
        "disable_parallel_tool_use": True,
    }
    (tool,) = body["tools"]
    assert tool["name"] == "reason"
    assert tool["strict"] is True
    assert tool["input_schema"]["required"] == ["reason"]
    assert reply.text == '{"reason": "sö"}'
    assert reply.stop is StopReason.OK
    assert reply.structured
    assert reply.output_format is OutputFormat.TOOL


async def test_a_call_cut_off_by_the_limit_of_tokens_is_not_whole(server: FakeServer) -> None:
    server.answer(tool_call(stop_reason="max_tokens"))
    async with ANTHROPIC.judge(server) as judge:
        reply = await judge.send(replace(question(), output_format=OutputFormat.TOOL))
    assert reply.stop is StopReason.LENGTH


async def test_words_in_place_of_the_call_are_the_reply(server: FakeServer) -> None:
    server.answer(anthropic_body())
    async with ANTHROPIC.judge(server) as judge:
        reply = await judge.send(replace(question(), output_format=OutputFormat.TOOL))
    assert reply.text == '{"reason": "so"}'


async def test_the_schema_stands_in_the_prompt_where_nothing_else_binds(
    server: FakeServer,
) -> None:
    server.answer(anthropic_body())
    async with ANTHROPIC.judge(server) as judge:
        reply = await judge.send(replace(question(), output_format=OutputFormat.TEXT))
    (sent,) = server.sent
    assert set(sent.body) == {"model", "max_tokens", "temperature", "system", "messages"}
    (message,) = sent.body["messages"]
    assert message["content"].startswith("Why?\n\nAnswer with one JSON object")
    assert json.loads(message["content"].rpartition("\n")[2]) == SCHEMA
    assert not reply.structured
    assert reply.output_format is OutputFormat.TEXT


async def test_json_without_a_schema_is_no_way_of_this_api(server: FakeServer) -> None:
    async with ANTHROPIC.judge(server) as judge:
        assert judge.output_formats == (OutputFormat.SCHEMA, OutputFormat.TOOL, OutputFormat.TEXT)
        with pytest.raises(JudgeUnsupported, match="no way to ask by json"):
            await judge.send(replace(question(), output_format=OutputFormat.JSON))
    assert not server.sent


async def test_the_limits_beside_a_reply_are_read(server: FakeServer) -> None:
    headers = {
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-tokens-limit": "90000",
        "anthropic-ratelimit-input-tokens-limit": "40000",
    }
    server.answer(anthropic_body(), headers=headers)
    async with ANTHROPIC.judge(server) as judge:
        assert (await judge.send(question())).limits == RateLimits(50, 40_000)
