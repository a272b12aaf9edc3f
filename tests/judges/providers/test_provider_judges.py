"""What holds for both providers: one request, no leak, one of our errors whatever happens."""

import asyncio
import socket
import traceback
from dataclasses import replace
from datetime import UTC, datetime

import httpx2
import pytest

from faithtui.errors import (
    JudgeAuthFailed,
    JudgeError,
    JudgeQuotaExceeded,
    JudgeRateLimited,
    JudgeRefused,
    JudgeRequestRejected,
    JudgeTimeout,
    JudgeUnavailable,
    JudgeUnsupported,
)
from faithtui.judges.base import ImageData, OutputFormat, StopReason, Usage
from faithtui.judges.providers import http_exchange
from faithtui.judges.providers.http_exchange import MOST_TOKENS
from faithtui.judges.providers.provider_errors import MAX_SENTENCE
from faithtui.judges.registry import open_judge
from tests.judges.fake_server import FakeServer
from tests.judges.questions import ADDRESSED, ANTHROPIC, KEY, OPENAI, PIXEL, Side, question

pytestmark = pytest.mark.parametrize("side", [OPENAI, ANTHROPIC], ids=lambda side: side.name)


async def ask(
    side: Side,
    server: FakeServer,
    *,
    timeout_s: float = 600.0,
    images: tuple[ImageData, ...] = (),
    output_format: OutputFormat | None = None,
    schema: bool = True,
) -> JudgeError:
    """Ask once, expecting an error and exactly one request on the wire."""
    asked = replace(question(), images=images, output_format=output_format)
    asked = asked if schema else replace(asked, schema=None)
    async with side.judge(server, timeout_s=timeout_s) as judge:
        with pytest.raises(JudgeError) as caught:
            await judge.send(asked)
    assert len(server.sent) == 1
    return caught.value


def refusal(sentence: str, **fields: object) -> dict[str, object]:
    return {"type": "error", "error": {"message": sentence, **fields}}


async def test_the_reply_carries_text_usage_names_and_time(side: Side, server: FakeServer) -> None:
    server.answer(side.body(), headers={"x-request-id": "req-7"})
    async with side.judge(server) as judge:
        reply = await judge.send(question())
    assert reply.text == '{"reason": "so"}'
    assert reply.stop is StopReason.OK
    assert reply.structured
    assert reply.request_id == "req-7"
    assert reply.served_model == side.body()["model"]
    assert reply.usage.tokens_in == 120
    assert reply.usage.tokens_out == 30
    assert 0 <= reply.latency_ms < 10_000


async def test_only_the_explicit_key_is_sent(
    side: Side, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "leaked-secret")
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_WORKSPACE_ID"):
        monkeypatch.setenv(name, "leaked-organization")
    custom = "X-Leak: leaked-header\nAuthorization: Bearer leaked-header\nX-Api-Key: leaked-header"
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", custom)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", custom)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/leaked")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9/leaked")
    server.answer(side.body())
    async with side.judge(server) as judge:
        await judge.send(question())
    (sent,) = server.sent
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert "leaked" not in repr(sent)
    assert not [name for name in sent.headers if "organization" in name or "project" in name]


async def test_another_host_without_a_key_is_sent_the_word_none(
    side: Side, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(side.key_variable, "sk-real-key-of-the-provider")
    server.answer(side.body())
    async with open_judge(f"{side.name}:small", base_url=server.url) as judge:
        await judge.send(question())
    assert server.sent[0].headers["authorization"] == "Bearer none"


async def test_no_proxy_stands_between_us_and_this_machine(
    side: Side, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    server.answer(side.body())
    async with side.judge(server) as judge:
        assert (await judge.send(question())).text


async def test_one_judge_answers_many_questions_at_once(side: Side, server: FakeServer) -> None:
    server.answer(side.body())
    async with side.judge(server) as judge:
        replies = await asyncio.gather(*(judge.send(question(f"{n}?")) for n in range(20)))
    assert [reply.stop for reply in replies] == [StopReason.OK] * 20
    assert len(server.sent) == 20


async def test_text_that_cannot_be_encoded_is_sent_and_read(side: Side, server: FakeServer) -> None:
    server.answer(side.body("a\udc00b\0c\u202e"))
    async with side.judge(server) as judge:
        reply = await judge.send(question("half \ud83d, none \0", system="\udfff"))
    assert reply.text == "a\ufffdbc\u202e"
    assert "half \ufffd, none " in repr(server.sent[0].body)


@pytest.mark.parametrize("stop_name", ["newly_invented", None])
async def test_an_unknown_end_is_other(
    side: Side, server: FakeServer, stop_name: str | None
) -> None:
    field = "finish_reason" if side is OPENAI else "stop_reason"
    server.answer(side.body(**{field: stop_name, "novelty": {"deep": [1]}}))
    async with side.judge(server) as judge:
        reply = await judge.send(question())
    assert reply.stop is StopReason.OTHER
    assert reply.text == '{"reason": "so"}'


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        {"prompt_tokens": -1, "completion_tokens": "3", "input_tokens": -1, "output_tokens": True},
        {"prompt_tokens": 10**12, "input_tokens": MOST_TOKENS + 1, "output_tokens": 1.5},
    ],
)
async def test_usage_that_cannot_be_true_is_unknown(
    side: Side, server: FakeServer, usage: object
) -> None:
    server.answer(side.body(usage=usage))
    async with side.judge(server) as judge:
        assert (await judge.send(question())).usage == Usage()


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, JudgeRequestRejected),
        (401, JudgeAuthFailed),
        (402, JudgeQuotaExceeded),
        (403, JudgeAuthFailed),
        (404, JudgeRequestRejected),
        (408, JudgeTimeout),
        (409, JudgeUnavailable),
        (413, JudgeRequestRejected),
        (422, JudgeRequestRejected),
        (429, JudgeRateLimited),
        (500, JudgeUnavailable),
        (503, JudgeUnavailable),
        (504, JudgeUnavailable),
        (529, JudgeUnavailable),
    ],
)
async def test_every_status_becomes_one_of_our_errors(
    side: Side, server: FakeServer, status: int, expected: type[JudgeError]
) -> None:
    server.answer(refusal("The thing is wrong."), status=status)
    error = await ask(side, server)
    assert type(error) is expected
    assert "The thing is wrong" in str(error)
    assert str(status) in str(error)
    assert error.status == status
    assert error.__cause__ is not None


@pytest.mark.parametrize(
    ("status", "fields"),
    [
        (429, {"code": "insufficient_quota", "type": "insufficient_quota"}),
        (429, {"code": "billing_hard_limit_reached"}),
        (429, {"details": {"error_code": "enforced_spend_limit_reached"}}),
        (429, {"details": {"error_code": "contract_spend_limit_reached"}}),
        (400, {"message": "Your credit balance is too low to access the API."}),
        (403, {"type": "billing_error"}),
    ],
)
async def test_an_empty_account_is_not_a_rate_limit(
    side: Side, server: FakeServer, status: int, fields: dict[str, object]
) -> None:
    server.answer(refusal("no more", **fields), status=status, headers={"retry-after": "1"})
    error = await ask(side, server)
    assert type(error) is JudgeQuotaExceeded
    assert error.status == status


async def test_a_ramp_limit_is_a_rate_limit(side: Side, server: FakeServer) -> None:
    server.answer(refusal("slow", details={"error_code": "ramp_limit_exceeded"}), status=429)
    assert type(await ask(side, server)) is JudgeRateLimited


NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "3600"}, 3600.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"retry-after": "Fri, 20 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Fri, 20 Nov 2026 12:00:30 -0000"}, 30.0),
        ({"retry-after": "Fri, 20 Nov 2026 11:00:00 GMT"}, 0.0),
    ],
)
async def test_the_time_to_wait_is_read(
    side: Side, server: FakeServer, headers: dict[str, str], seconds: float | None
) -> None:
    # A date is compared with the server's own clock, not with this machine's.
    server.clock = NOON
    server.answer(refusal("slow down"), status=429, headers=headers)
    error = await ask(side, server)
    assert isinstance(error, JudgeRateLimited)
    assert error.retry_after_s == seconds


async def test_a_key_echoed_by_the_server_is_shown_nowhere(side: Side, server: FakeServer) -> None:
    padding = "x" * (MAX_SENTENCE - 40)
    server.answer(refusal(f"Wrong key $KEY {padding} $KEY"), status=401, echo_key=True)
    error = await ask(side, server)
    shown = "".join(traceback.format_exception(error)) + repr(error) + repr(error.__cause__)
    for length in range(8, len(KEY) + 1):
        assert KEY[:length] not in shown
    assert "FAITHTUI_JUDGE_KEY" in str(error)


async def test_a_message_is_one_short_printable_line(side: Side, server: FakeServer) -> None:
    server.answer(refusal("\x1b[31mred\x1b[0m\nline\u202e two " + "long " * 500), status=400)
    message = str(await ask(side, server))
    assert message.isprintable()
    assert len(message) < MAX_SENTENCE + 150


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"error": "model not found"}, "model not found"),
        ({"message": "no such model"}, "no such model"),
        ({"detail": [{"loc": ["body"], "msg": "field required"}]}, "field required"),
        ([{"error": {"message": "listed"}}], "listed"),
        ("plain words", "plain words"),
        ([], "[]"),
        ({"error": None, "detail": "told"}, "told"),
        ("7", "7"),
        ('{"error": ', '{"error":'),
        ("[" * 50_000, "[["),
    ],
)
async def test_the_providers_sentence_is_found_in_any_form(
    side: Side, server: FakeServer, body: object, sentence: str
) -> None:
    server.answer(body, status=422)
    assert sentence in str(await ask(side, server))


@pytest.mark.parametrize(
    "answer",
    [
        {"body": "<html><title>Welcome</title></html>", "content_type": "text/html"},
        {"body": ""},
        {"body": "", "content_type": "text/plain"},
        {"body": '{"id": "x", "choices": [{"message": {"cont'},
        {"body": "[1, 2]"},
        {"body": "[" * 50_000},
        {"body": {"id": "x", "choices": [], "content": None}},
        {"body": {"id": "x"}},
    ],
)
async def test_a_success_that_is_no_reply_is_unavailable(
    side: Side, server: FakeServer, answer: dict[str, object]
) -> None:
    server.answer(**answer)
    error = await ask(side, server)
    assert type(error) is JudgeUnavailable
    assert error.status == 200


async def test_a_status_inside_a_successful_body_counts(side: Side, server: FakeServer) -> None:
    server.answer(refusal("upstream is busy", code=429))
    error = await ask(side, server)
    assert type(error) is JudgeRateLimited
    assert error.status == 429


async def test_an_error_without_status_in_a_successful_body_is_unavailable(
    side: Side, server: FakeServer
) -> None:
    server.answer(refusal("upstream is gone", code="E7"))
    error = await ask(side, server)
    assert type(error) is JudgeUnavailable
    assert "upstream is gone" in str(error)


@pytest.mark.parametrize(
    "how", [{"cut": 20}, {"cut": 0, "reset": True}, {"cut": 20, "reset": True}]
)
async def test_a_connection_cut_is_unavailable(
    side: Side, server: FakeServer, how: dict[str, object]
) -> None:
    server.answer(side.body(), **how)
    error = await ask(side, server)
    assert type(error) is JudgeUnavailable
    assert error.status is None


async def test_a_body_that_is_not_what_its_encoding_says_is_unavailable(
    side: Side, server: FakeServer
) -> None:
    server.answer(side.body(), headers={"content-encoding": "gzip"})
    assert type(await ask(side, server)) is JudgeUnavailable


async def test_nobody_listening_is_unavailable_and_says_where(
    side: Side, server: FakeServer
) -> None:
    async with open_judge(f"{side.name}:small", base_url="http://127.0.0.1:9", environ={}) as judge:
        with pytest.raises(JudgeUnavailable, match=r"127\.0\.0\.1:9"):
            await judge.send(question())
    assert not server.sent


async def test_a_host_that_accepts_no_connection_is_given_up_before_the_deadline(
    side: Side, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_exchange, "PATIENCE", httpx2.Timeout(None, connect=0.2))
    monkeypatch.setattr(
        f"faithtui.judges.providers.{side.name}_judge.PATIENCE", http_exchange.PATIENCE
    )
    with socket.socket() as deaf, socket.socket() as first:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        first.connect(deaf.getsockname())
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        async with open_judge(f"{side.name}:small", base_url=url, environ={}) as judge:
            with pytest.raises(JudgeUnavailable, match="ConnectTimeout"):
                await judge.send(question())
    assert not server.sent


async def test_a_redirect_is_not_followed(side: Side, server: FakeServer) -> None:
    server.answer("", status=307, headers={"location": f"{server.url}/elsewhere"})
    error = await ask(side, server)
    assert type(error) is JudgeRequestRejected
    assert error.status == 307
    assert "/elsewhere" in str(error)


@pytest.mark.parametrize("how", [{"hang": True}, {"drip_s": 0.2}])
async def test_the_deadline_is_for_the_whole_exchange(
    side: Side, server: FakeServer, how: dict[str, object]
) -> None:
    # At 0.2 s a byte the body takes a minute, and no two bytes are 0.3 s apart.
    server.answer(side.body(), **how)
    error = await ask(side, server, timeout_s=0.3)
    assert type(error) is JudgeTimeout
    assert error.status is None
    assert "0.3 s" in str(error)


async def test_cancelling_goes_through_and_hangs_up(side: Side, server: FakeServer) -> None:
    server.answer(hang=True)
    async with side.judge(server) as judge:
        asking = asyncio.create_task(judge.send(question()))
        assert await asyncio.to_thread(server.asked.wait, 300.0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await asyncio.to_thread(server.gone.wait, 300.0)
    assert len(server.sent) == 1


async def test_a_question_after_a_failure_is_answered(side: Side, server: FakeServer) -> None:
    server.answer(side.body(), cut=5)
    server.answer(side.body())
    async with side.judge(server) as judge:
        with pytest.raises(JudgeUnavailable):
            await judge.send(question())
        assert (await judge.send(question())).stop is StopReason.OK


async def test_closing_twice_is_safe(side: Side, server: FakeServer) -> None:
    async with side.judge(server) as judge:
        await judge.aclose()
        await judge.aclose()
    assert not server.sent


async def test_no_frame_or_object_of_a_judge_shows_the_key(side: Side, server: FakeServer) -> None:
    async with side.judge(server) as judge:
        dialect = vars(judge)["_dialect"]
        client = vars(dialect)["_client"]
        shown = repr(vars(judge)) + repr(vars(dialect)) + repr(vars(client))
    assert KEY not in shown


async def test_both_take_images_and_nobody_knows_their_context_window(
    side: Side, server: FakeServer
) -> None:
    async with side.judge(server) as judge:
        assert judge.takes_images
        assert judge.context_window is None
    assert not server.sent


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (500, "image input is not supported - hint: you may need to provide the mmproj"),
        (500, "can only concatenate str (not list) to str, in content part"),
        (400, "small is not a multimodal model"),
        (400, "messages.0.content: Input should be a valid string"),
        (404, "No endpoints found that support image input"),
        (422, "this model has no vision"),
    ],
)
async def test_a_judge_without_eyes_refuses_images_for_good(
    side: Side, server: FakeServer, status: int, sentence: str
) -> None:
    server.answer(refusal(sentence), status=status)
    error = await ask(side, server, images=(PIXEL,))
    assert type(error) is JudgeRequestRejected
    assert error.status == status
    assert "The question carries images: choose a judge that takes them" in str(error)


async def test_a_server_that_fails_for_another_reason_may_be_asked_again(
    side: Side, server: FakeServer
) -> None:
    server.answer(refusal("internal error, try again"), status=500)
    assert type(await ask(side, server, images=(PIXEL,))) is JudgeUnavailable


async def test_the_word_image_means_nothing_without_images(side: Side, server: FakeServer) -> None:
    server.answer(refusal("the disk image is full"), status=500)
    assert type(await ask(side, server)) is JudgeUnavailable


async def test_a_refusal_for_no_reason_given_reminds_of_the_images(
    side: Side, server: FakeServer
) -> None:
    server.answer(refusal("too large"), status=413)
    error = await ask(side, server, images=(PIXEL, ADDRESSED))
    assert type(error) is JudgeRequestRejected
    assert "takes images, and ones of this kind and size" in str(error)


async def test_an_image_without_bytes_and_address_is_not_sent(
    side: Side, server: FakeServer
) -> None:
    async with side.judge(server) as judge:
        with pytest.raises(JudgeRequestRejected, match=r"image 2222.*neither bytes nor an address"):
            await judge.send(replace(question(), images=(replace(ADDRESSED, url=None),)))
    assert not server.sent


@pytest.mark.parametrize(
    ("output_format", "status", "body"),
    [
        (
            OutputFormat.SCHEMA,
            400,
            refusal("Invalid parameter: 'response_format' of type 'json_schema'"),
        ),
        (OutputFormat.SCHEMA, 400, refusal("no", param="response_format")),
        (OutputFormat.SCHEMA, 400, refusal("output_config.format: Extra inputs are not permitted")),
        (
            OutputFormat.SCHEMA,
            422,
            {"detail": [{"loc": ["body", "response_format"], "msg": "bad"}]},
        ),
        (OutputFormat.SCHEMA, 400, refusal("failed to parse grammar")),
        (OutputFormat.SCHEMA, 500, refusal("[{'loc': ('body', 'response_format', 'type')}]")),
        (OutputFormat.SCHEMA, 500, refusal("2 validation errors for CreateChatCompletion")),
        (OutputFormat.SCHEMA, 501, refusal("structured output is not implemented")),
        (OutputFormat.TOOL, 404, refusal("No endpoints found that support tool use")),
        (OutputFormat.TOOL, 400, refusal("tools: small does not support tools")),
        (OutputFormat.TOOL, 400, refusal("no", param="tool_choice")),
        (OutputFormat.TOOL, 415, refusal("functions are not available here")),
    ],
)
async def test_a_form_the_server_does_not_know_is_told_from_a_bad_request(
    side: Side,
    server: FakeServer,
    output_format: OutputFormat,
    status: int,
    body: dict[str, object],
) -> None:
    server.answer(body, status=status)
    error = await ask(side, server, output_format=output_format)
    assert type(error) is JudgeUnsupported
    assert error.status == status
    assert f"cannot be asked by {output_format}" in str(error)


@pytest.mark.parametrize(
    ("output_format", "status", "body", "expected"),
    [
        (
            OutputFormat.TEXT,
            400,
            refusal("json_schema and tools are unknown"),
            JudgeRequestRejected,
        ),
        (
            OutputFormat.SCHEMA,
            401,
            refusal("no tools or json_schema for this key"),
            JudgeAuthFailed,
        ),
        (OutputFormat.SCHEMA, 402, refusal("response_format costs more"), JudgeQuotaExceeded),
        (OutputFormat.SCHEMA, 429, refusal("too many json_schema requests"), JudgeRateLimited),
        (OutputFormat.SCHEMA, 503, refusal("json_schema workers are busy"), JudgeUnavailable),
        (OutputFormat.SCHEMA, 500, refusal("something went wrong"), JudgeUnavailable),
        (
            OutputFormat.SCHEMA,
            400,
            refusal("1 validation error for messages"),
            JudgeRequestRejected,
        ),
        (OutputFormat.TOOL, 404, refusal("model 'small' not found"), JudgeRequestRejected),
        (
            OutputFormat.TOOL,
            400,
            refusal("maximum context length is 8192 tokens, 99 of them in the functions"),
            JudgeRequestRejected,
        ),
    ],
)
async def test_what_is_no_matter_of_form_is_not_taken_for_one(
    side: Side,
    server: FakeServer,
    output_format: OutputFormat,
    status: int,
    body: dict[str, object],
    expected: type[JudgeError],
) -> None:
    server.answer(body, status=status)
    assert type(await ask(side, server, output_format=output_format)) is expected


async def test_a_question_without_a_form_cannot_have_the_wrong_one(
    side: Side, server: FakeServer
) -> None:
    server.answer(refusal("unknown field response_format"), status=400)
    assert type(await ask(side, server, schema=False)) is JudgeRequestRejected


async def test_a_model_with_a_telling_name_is_no_matter_of_form(
    side: Side, server: FakeServer
) -> None:
    server.answer(refusal("model 'json_schema-7b' not found"), status=404)
    ref = f"{side.name}:json_schema-7b"
    async with open_judge(ref, base_url=server.url, environ={}) as judge:
        with pytest.raises(JudgeRequestRejected) as caught:
            await judge.send(question())
    assert type(caught.value) is JudgeRequestRejected


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, refusal("This model's maximum context length is 8192 tokens")),
        (400, refusal("no", code="context_length_exceeded")),
        (400, refusal("prompt is too long: 210000 tokens > 200000 maximum")),
        (400, refusal("no", type="exceed_context_size_error")),
        (413, refusal("Request exceeds the maximum size", type="request_too_large")),
        (413, refusal("no")),
        (500, refusal("the request exceeds the available context size")),
    ],
)
async def test_a_question_too_long_says_what_to_do(
    side: Side, server: FakeServer, status: int, body: dict[str, object]
) -> None:
    server.answer(body, status=status)
    error = await ask(side, server)
    assert type(error) is JudgeRequestRejected
    assert "longer than this judge can read: choose a judge with a larger" in str(error)


@pytest.mark.parametrize(
    "body",
    [
        refusal("The response was filtered due to the prompt", code="content_filter"),
        refusal("Output blocked by content filtering policy"),
    ],
)
async def test_a_filter_in_front_of_the_model_is_a_refusal(
    side: Side, server: FakeServer, body: dict[str, object]
) -> None:
    server.answer(body, status=400)
    error = await ask(side, server)
    assert type(error) is JudgeRefused
    assert error.raw
    assert "A filter kept the question from the model" in str(error)


async def test_how_it_was_asked_is_no_part_of_who_was_asked(side: Side, server: FakeServer) -> None:
    server.answer(side.body())
    async with side.judge(server) as judge:
        before = judge.fingerprint
        for output_format in judge.output_formats:
            await judge.send(replace(question(), output_format=output_format))
        assert judge.fingerprint == before
