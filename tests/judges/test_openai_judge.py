from dataclasses import replace

import pytest

from faithtui.judges.base import Stop
from faithtui.judges.endpoints import endpoint_of
from faithtui.judges.openai_judge import OpenAIChat
from faithtui.judges.provider_judge import ProviderJudge
from faithtui.judges.secret import Secret
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
    }


async def test_the_official_host_gets_the_new_name_of_the_limit(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer(openai_body())
    endpoint = endpoint_of("openai:small", None)
    assert endpoint is not None
    judge = ProviderJudge(endpoint, Secret("sk-test-official"), OpenAIChat, timeout_s=5)
    # The one thing that cannot be true in a test: that this machine is the provider.
    monkeypatch.setattr(vars(vars(judge)["_dialect"])["_client"], "base_url", f"{server.url}/v1")
    await judge.send(question())
    await judge.aclose()
    (sent,) = server.sent
    assert sent.body["max_completion_tokens"] == 300
    assert "max_tokens" not in sent.body


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
        ("stop", Stop.OK),
        ("length", Stop.LENGTH),
        ("content_filter", Stop.FILTER),
        ("tool_calls", Stop.OTHER),
    ],
)
async def test_ends_are_told_apart(server: FakeServer, finish_reason: str, stop: Stop) -> None:
    server.answer(openai_body('{"reason": "ha', finish_reason=finish_reason))
    async with OPENAI.judge(server) as judge:
        reply = await judge.send(question())
    assert reply.stop is stop
    assert reply.text == '{"reason": "ha'


async def test_a_refusal_is_returned_with_its_words(server: FakeServer) -> None:
    server.answer(openai_body(message={"content": None, "refusal": "I cannot help with that."}))
    async with OPENAI.judge(server) as judge:
        reply = await judge.send(question())
    assert reply.stop is Stop.REFUSAL
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
    assert reply.stop is Stop.OK


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
