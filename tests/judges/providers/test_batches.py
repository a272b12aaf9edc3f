"""What holds for both providers' batches, and what differs where it must."""

import json
import re
import threading
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from faithtui.errors import (
    ConfigError,
    JudgeAuthFailed,
    JudgeError,
    JudgeRateLimited,
    JudgeRequestRejected,
    JudgeTimeout,
    JudgeUnavailable,
    JudgeUnsupported,
)
from faithtui.judges.base import JudgeReply, JudgeRequest, OutputFormat, StopReason
from faithtui.judges.providers import batch_protocol
from faithtui.judges.providers.batches import BatchClient, BatchStatus, open_batch_client
from tests.judges.fake_batches import FakeBatches, Given
from tests.judges.fake_server import FakeServer
from tests.judges.held_deadlines import HeldDeadlines
from tests.judges.questions import ANTHROPIC, KEY, OPENAI, PIXEL, Side, question

SINCE = datetime.fromtimestamp(1_800_000_000, UTC)
THREE = [(f"q{number}", question(f"{number}?")) for number in range(3)]

both = pytest.mark.parametrize("side", [OPENAI, ANTHROPIC], ids=lambda side: side.name)


def batches(
    side: Side, server: FakeServer, *, timeout_s: float = 600.0, **how: Any
) -> AbstractAsyncContextManager[BatchClient]:
    return open_batch_client(
        f"{side.name}:small",
        base_url=server.url,
        timeout_s=timeout_s,
        environ={"FAITHTUI_JUDGE_KEY": KEY},
        **how,
    )


@pytest.fixture
def fake(server: FakeServer) -> FakeBatches:
    """Batches that answer each question with its own prompt."""

    def answer(body: Any, is_openai: bool) -> tuple[int, Any]:
        text = json.dumps({"reason": body["messages"][-1]["content"]})
        return 200, (OPENAI if is_openai else ANTHROPIC).body(text)

    server.batches = FakeBatches(answer)
    return server.batches


async def read(
    client: BatchClient, batch_id: str, **how: Any
) -> dict[str, JudgeReply | JudgeError]:
    return {name: result async for name, result in client.stream_results(batch_id, **how)}


async def ended(client: BatchClient, batch_id: str) -> BatchStatus:
    while (status := await client.fetch_status(batch_id)).state == "working":
        pass
    return status


@both
async def test_a_batch_is_made_awaited_and_read(
    side: Side, server: FakeServer, fake: FakeBatches
) -> None:
    async with batches(side, server) as client:
        batch_id = await client.submit("run1", THREE)
        working = await client.fetch_status(batch_id)
        assert (working.state, working.done, working.total) == ("working", 0, 3)
        assert working.expires_at == SINCE + timedelta(days=1)
        status = await ended(client, batch_id)
        assert (status.state, status.done, status.failed, status.reason) == ("ended", 3, 0, None)
        results = await read(client, batch_id)
    assert list(results) != ["q0", "q1", "q2"], "the order is not that of the questions"
    for name, reply in sorted(results.items()):
        assert isinstance(reply, JudgeReply)
        assert json.loads(reply.text) == {"reason": f"{name[1:]}?"}
        assert reply.stop is StopReason.OK
        assert reply.structured
        assert reply.output_format is OutputFormat.SCHEMA
        assert reply.usage.tokens_in == 120
        assert reply.served_model
        assert reply.request_id
    assert {sent.headers["authorization"] for sent in server.sent} == {f"Bearer {KEY}"}


@both
async def test_a_question_in_a_batch_is_the_one_that_is_asked_singly(
    side: Side, server: FakeServer, fake: FakeBatches
) -> None:
    server.answer(side.body())
    asked = replace(question("Ü\u2028?", step="verdicts"), images=(PIXEL,))
    async with side.judge(server) as judge, batches(side, server) as client:
        await judge.send(asked)
        single = server.sent[-1].body
        # How a single question would be asked says nothing about a batch.
        await client.submit("run1", [("q0", replace(asked, output_format=OutputFormat.TEXT))])
        assert client.fingerprint == judge.fingerprint
        assert client.account == judge.account
    assert fake.batches[0].requests == {"run1-q0": single}


@both
async def test_each_line_fails_by_itself(side: Side, server: FakeServer, fake: FakeBatches) -> None:
    name = "rate_limit_error" if side is ANTHROPIC else "slow"
    fake.failing = {
        "q0": (400, {"error": {"type": "invalid_request_error", "message": "bad schema"}}),
        "q1": (429, {"type": "error", "error": {"type": name, "message": "too fast"}}),
        "q2": (401, {"error": {"type": "authentication_error", "message": f"bad key {KEY}"}}),
    }
    fake.unasked = {"q3": "expired", "q4": "cancelled"}
    asked = [(f"q{number}", question(f"{number}?")) for number in range(6)]
    async with batches(side, server) as client:
        batch_id = await client.submit("run1", asked)
        status = await ended(client, batch_id)
        assert (status.done, status.failed, status.total) == (1, 5, 6)
        results = await read(client, batch_id)
    assert isinstance(results["q5"], JudgeReply)
    assert {name: type(result) for name, result in results.items() if name != "q5"} == {
        "q0": JudgeUnsupported,
        "q1": JudgeRateLimited,
        "q2": JudgeAuthFailed,
        "q3": JudgeUnavailable,
        "q4": JudgeUnavailable,
    }
    assert "did not ask this question" in str(results["q3"])
    assert KEY not in str(results["q2"])


@both
async def test_a_reply_to_a_plain_question_was_bound_by_nothing(
    side: Side, server: FakeServer, fake: FakeBatches
) -> None:
    asked = [("q0", replace(question(), schema=None)), ("q1", question())]
    async with batches(side, server) as client:
        batch_id = await client.submit("run1", asked)
        await ended(client, batch_id)
        results = await read(client, batch_id, plain={"q0"})
    replies = {name: reply for name, reply in results.items() if isinstance(reply, JudgeReply)}
    assert (replies["q0"].structured, replies["q0"].output_format) == (False, None)
    assert (replies["q1"].structured, replies["q1"].output_format) == (True, OutputFormat.SCHEMA)


@both
async def test_a_lost_creation_is_found_and_not_bought_again(
    side: Side, server: FakeServer, fake: FakeBatches
) -> None:
    fake.loses_creations = 1
    async with batches(side, server) as client:
        known = []
        with pytest.raises(JudgeUnavailable):
            await client.submit("run1", THREE)
        known.append(await client.submit("run2", THREE))
        (lost, _) = fake.batches
        fake.end(lost)
        assert (
            await client.find_submitted_batch("run1", total=3, since=SINCE, known=known) == lost.id
        )
        assert await client.find_submitted_batch("run3", total=3, since=SINCE, known=known) is None
        assert set(await read(client, lost.id)) == {"q0", "q1", "q2"}


async def test_openai_finds_a_batch_that_is_still_at_work(
    server: FakeServer, fake: FakeBatches
) -> None:
    async with batches(OPENAI, server) as client:
        batch_id = await client.submit("run1", THREE)
        assert await client.find_submitted_batch("run1", total=3, since=SINCE) == batch_id
        assert await client.find_submitted_batch("run", total=3, since=SINCE) is None


async def test_anthropic_says_when_it_cannot_tell_yet(
    server: FakeServer, fake: FakeBatches
) -> None:
    async with batches(ANTHROPIC, server) as client:
        batch_id = await client.submit("run1", THREE)
        with pytest.raises(JudgeUnavailable, match=f"the batch {batch_id} may be the one"):
            await client.find_submitted_batch("run1", total=3, since=SINCE)
        # Of another size, or one that is known, it is another.
        assert await client.find_submitted_batch("run1", total=4, since=SINCE) is None
        assert (
            await client.find_submitted_batch("run1", total=3, since=SINCE, known=[batch_id])
            is None
        )
        fake.end(fake.batches[0])
        assert await client.find_submitted_batch("run1", total=3, since=SINCE) == batch_id
        assert await client.find_submitted_batch("run", total=3, since=SINCE) is None


@both
async def test_a_batch_is_looked_for_over_pages_and_back_to_its_time(
    side: Side, server: FakeServer, fake: FakeBatches
) -> None:
    fake.page_size = 2
    async with batches(side, server) as client:
        ids = [await client.submit(f"run{number}", THREE[:1]) for number in range(7)]
        for batch in fake.batches:
            fake.end(batch)
        asked = len(server.sent)
        assert await client.find_submitted_batch("run0", total=1, since=SINCE) == ids[0]
        pages = [sent for sent in server.sent[asked:] if sent.path.partition("?")[2]]
        assert len(pages) == 4
        # More than an hour before, whatever the clocks say: nothing older is looked at.
        asked = len(server.sent)
        assert (
            await client.find_submitted_batch("gone", total=1, since=SINCE + timedelta(hours=2))
            is None
        )
        pages = [sent for sent in server.sent[asked:] if sent.path.partition("?")[2]]
        assert len(pages) == 1


@both
async def test_the_search_for_a_lost_batch_ends(
    side: Side, server: FakeServer, fake: FakeBatches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_protocol, "MOST_PAGES", 2)
    fake.page_size = 1
    async with batches(side, server) as client:
        for number in range(4):
            await client.submit(f"run{number}", THREE[:1])
            fake.end(fake.batches[-1])
        with pytest.raises(JudgeUnavailable, match="too many to look for one"):
            await client.find_submitted_batch("gone", total=1, since=SINCE)


@both
async def test_results_that_break_off_give_what_came_and_then_say_so(
    side: Side, server: FakeServer, fake: FakeBatches
) -> None:
    fake.spoilt_line = b'{"custom_id": "run1-q0", "resp\n'
    async with batches(side, server) as client:
        batch_id = await client.submit("run1", THREE)
        await ended(client, batch_id)
        came: list[str] = []

        async def keep_all() -> None:
            async for name, _ in client.stream_results(batch_id):
                came.append(name)

        with pytest.raises(JudgeUnavailable, match="1 line of the results"):
            await keep_all()
    assert sorted(came) == ["q0", "q1", "q2"]


@both
async def test_reading_may_stop_early(side: Side, server: FakeServer, fake: FakeBatches) -> None:
    async with batches(side, server) as client:
        batch_id = await client.submit("run1", THREE)
        await ended(client, batch_id)
        results = client.stream_results(batch_id)
        async with aclosing(results) as open_results:
            async for _ in open_results:
                break
        assert len(await read(client, batch_id)) == 3


@both
async def test_results_are_not_read_before_the_end(
    side: Side, server: FakeServer, fake: FakeBatches
) -> None:
    fake.polls_until_end = 9
    async with batches(side, server) as client:
        batch_id = await client.submit("run1", THREE)
        with pytest.raises(JudgeRequestRejected, match="still at work"):
            await read(client, batch_id)


@both
async def test_a_batch_nobody_knows_says_what_to_do(
    side: Side, server: FakeServer, fake: FakeBatches
) -> None:
    async with batches(side, server) as client:
        for ask in (client.fetch_status, client.cancel, lambda name: read(client, name)):
            with pytest.raises(JudgeRequestRejected, match="does not have the batch gone") as info:
                await ask("gone")
            assert info.value.status == 404


@both
async def test_a_batch_is_cancelled(side: Side, server: FakeServer, fake: FakeBatches) -> None:
    async with batches(side, server) as client:
        batch_id = await client.submit("run1", THREE)
        await client.cancel(batch_id)
        assert fake.batches[0].cancelled
        assert (await client.fetch_status(batch_id)).state == "working"
        assert (await ended(client, batch_id)).state == "ended"


async def test_a_batch_refused_as_a_whole_has_failed(server: FakeServer, fake: FakeBatches) -> None:
    fake.refusal = "Enqueued token limit reached."
    async with batches(OPENAI, server) as client:
        batch_id = await client.submit("run1", THREE)
        status = await client.fetch_status(batch_id)
        assert (status.state, status.reason) == ("failed", "Enqueued token limit reached.")
        assert await read(client, batch_id) == {}


@both
async def test_a_server_without_batches_is_told_from_one_that_fails(
    side: Side, server: FakeServer
) -> None:
    async with batches(side, server) as client:
        with pytest.raises(JudgeUnsupported, match=r"no Batch API .*run without --batch"):
            await client.submit("run1", THREE)
        with pytest.raises(JudgeUnsupported):
            await client.find_submitted_batch("run1", total=3, since=SINCE)


@pytest.mark.parametrize("ref", ["ollama:m", "vllm:m", "offline", "replay:x.jsonl"])
def test_judges_without_batches_say_so_at_once(ref: str) -> None:
    with pytest.raises(JudgeUnsupported, match=re.escape(ref)):
        open_batch_client(ref, environ={})


@pytest.mark.parametrize("ref", ["openai:m", "anthropic:m"])
def test_a_missing_key_is_named_at_once(ref: str) -> None:
    with pytest.raises(ConfigError, match="API_KEY"):
        open_batch_client(ref, environ={})


@both
@pytest.mark.parametrize(
    ("uid", "asked", "says"),
    [
        ("run1", [], "holds 1 to"),
        ("run-1", THREE, "'run-1' cannot name"),
        ("", THREE, "'' cannot name"),
        ("r" * 33, THREE, "cannot name"),
        ("run1", [("a b", question())], "'a b' cannot name"),
        ("run1", [("x" * 32, question())], "cannot name"),
        ("run1", [("a", question()), ("a", question("b"))], "the same id"),
        (
            "run1",
            [("a", replace(question(), images=(replace(PIXEL, data=None),)))],
            "neither bytes nor an address",
        ),
    ],
)
async def test_a_batch_that_cannot_be_made_is_not_sent(
    side: Side,
    server: FakeServer,
    fake: FakeBatches,
    uid: str,
    asked: list[tuple[str, JudgeRequest]],
    says: str,
) -> None:
    async with batches(side, server) as client:
        with pytest.raises(JudgeRequestRejected, match=says):
            await client.submit(uid, asked)
    assert not server.sent


@both
async def test_a_batch_that_is_too_large_is_not_sent(
    side: Side, server: FakeServer, fake: FakeBatches, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with batches(side, server) as client:
        assert client.most_bytes > 100_000_000
        size = client.count_question_bytes(question())
        assert 300 < size < 1_000
        monkeypatch.setattr(type(client), "most_bytes", size + 10)
        with pytest.raises(JudgeRequestRejected, match="make smaller ones"):
            await client.submit("run1", THREE)
        monkeypatch.setattr(type(client), "most_requests", 2)
        assert client.most_requests == 2
        with pytest.raises(JudgeRequestRejected, match="holds 1 to 2 questions and not 3"):
            await client.submit("run1", THREE)
        assert not server.sent
        await client.submit("run1", THREE[:1])


@both
async def test_sizes_add_up_to_what_is_sent(
    side: Side, server: FakeServer, fake: FakeBatches
) -> None:
    asked = [("x" * 31, question("Ü" * 500)), ("b" * 31, question())]
    async with batches(side, server) as client:
        counted = sum(client.count_question_bytes(each) for _, each in asked)
        await client.submit("r" * 32, asked)
    if side is OPENAI:
        assert counted == len(fake.files["file-0"])
    else:
        sent = int(server.sent[0].headers["content-length"])
        assert sent <= counted + len('{"requests":[]}'), "what counts is no less than what is sent"


def hidden(text: str) -> str:
    return text.replace("?", "!")


def broken(text: str) -> str:
    raise ValueError(text)


@both
async def test_questions_in_a_batch_are_redacted_too(
    side: Side, server: FakeServer, fake: FakeBatches
) -> None:
    async with batches(side, server, redact=hidden) as client:
        await client.submit("run1", THREE)
        assert client.fingerprint.endswith(f"redact={__name__}:hidden")
    assert "?" not in str(fake.batches[0].requests)
    async with batches(side, server, redact=broken) as client:
        with pytest.raises(JudgeRequestRejected, match="redaction hook failed"):
            await client.submit("run2", THREE)
    assert len(fake.batches) == 1


class Hanging(FakeBatches):
    """Batches of a server that says nothing."""

    def __init__(self, closing: threading.Event) -> None:
        super().__init__(lambda body, is_openai: (200, {}))
        self.closing = closing

    def handle(self, *request: object) -> tuple[int, bytes]:
        self.closing.wait()
        return 200, b"{}"


@both
async def test_a_server_that_hangs_is_given_up(side: Side, server: FakeServer) -> None:
    server.batches = Hanging(server.closing)
    async with batches(side, server, timeout_s=0.1) as client:
        with pytest.raises(JudgeTimeout):
            await client.fetch_status("any")


@both
@pytest.mark.parametrize(("breaks", "error"), [("cut", JudgeUnavailable), ("stall", JudgeTimeout)])
async def test_a_file_that_breaks_off_gives_whole_results_only(
    side: Side, server: FakeServer, fake: FakeBatches, breaks: str, error: type[JudgeError]
) -> None:
    fake.breaks = breaks
    deadlines = HeldDeadlines()
    async with batches(side, server, deadline=deadlines) as client:
        batch_id = await client.submit("run1", THREE)
        await ended(client, batch_id)
        came: list[object] = []

        async def keep_all() -> None:
            async for _, result in client.stream_results(batch_id):
                came.append(result)
                deadlines.is_over = breaks == "stall"

        with pytest.raises(error):
            await keep_all()
        assert len(came) == 1
        assert isinstance(came[0], JudgeReply)
        fake.breaks, deadlines.is_over = "", False
        assert len(await read(client, batch_id)) == 3


@both
async def test_an_answer_without_a_message_fails_by_itself(
    side: Side, server: FakeServer, fake: FakeBatches
) -> None:
    fake.failing = {"q1": (200, {"id": "odd"})}
    async with batches(side, server) as client:
        batch_id = await client.submit("run1", THREE)
        await ended(client, batch_id)
        results = await read(client, batch_id)
    assert type(results["q1"]) is JudgeUnavailable
    assert isinstance(results["q0"], JudgeReply)


@both
async def test_results_that_were_thrown_away_say_so(
    side: Side, server: FakeServer, fake: FakeBatches
) -> None:
    async with batches(side, server) as client:
        batch_id = await client.submit("run1", THREE)
        await ended(client, batch_id)
        server.batches = Forgetful(fake)
        with pytest.raises(JudgeRequestRejected, match="its questions have to be asked again"):
            await read(client, batch_id)


@both
async def test_a_batch_without_a_name_is_not_taken_for_made(side: Side, server: FakeServer) -> None:
    server.batches = Nameless(lambda body, is_openai: (200, {}))
    async with batches(side, server) as client:
        with pytest.raises(JudgeUnavailable, match="answered without an id"):
            await client.submit("run1", THREE)


@both
async def test_a_line_without_end_is_no_result(
    side: Side, server: FakeServer, fake: FakeBatches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_protocol, "MAX_LINE", 50_000)
    fake.spoilt_line = b"x" * 5_000_000
    async with batches(side, server) as client:
        batch_id = await client.submit("run1", THREE)
        await ended(client, batch_id)
        with pytest.raises(JudgeUnavailable, match="longer than 50,000 bytes"):
            await read(client, batch_id)


@both
async def test_a_refused_key_is_told_when_results_are_read(
    side: Side, server: FakeServer, fake: FakeBatches
) -> None:
    async with batches(side, server) as client:
        batch_id = await client.submit("run1", THREE)
        await ended(client, batch_id)
        server.batches = Locked(fake)
        with pytest.raises(JudgeAuthFailed) as caught:
            await read(client, batch_id)
    assert KEY not in str(caught.value)


class Locked(FakeBatches):
    """Batches whose results a key may not read."""

    def __init__(self, other: FakeBatches) -> None:
        super().__init__(other.answer, batches=other.batches, files=other.files)

    def handle(self, method: str, path: str, headers: Any, body: bytes) -> Given:
        if self.is_file(path):
            said = {"error": {"message": f"not for {headers['authorization']}"}}
            return 403, json.dumps(said).encode()
        return super().handle(method, path, headers, body)


class Forgetful(Locked):
    """Batches whose results are there no more."""

    def handle(self, method: str, path: str, headers: Any, body: bytes) -> Given:
        status, payload = super().handle(method, path, headers, body)
        return (404 if status == 403 else status), payload


class Nameless(FakeBatches):
    """A server that does not say what it made."""

    def handle(self, *request: object) -> Given:
        return 200, b'{"id": null}'


@both
async def test_a_parameter_that_a_batch_refuses_is_not_in_the_next_one(
    side: Side, server: FakeServer, fake: FakeBatches
) -> None:
    said = "`temperature` is deprecated for this model."
    fake.failing = {"q0": (400, {"error": {"type": "invalid_request_error", "message": said}})}
    async with batches(side, server) as client:
        first = await client.submit("run1", THREE)
        await ended(client, first)
        results = await read(client, first)
        assert isinstance(results["q0"], JudgeRequestRejected)
        await client.submit("run2", THREE[:1])
    assert "temperature" in json.dumps(fake.batches[0].requests)
    assert "temperature" not in json.dumps(fake.batches[1].requests)
