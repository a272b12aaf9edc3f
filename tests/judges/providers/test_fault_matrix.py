"""Every fault a server can cause, as one question sees it: an error of ours, or a reply to check.

What a run makes of it is the engine's; here stands what it is told.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest

from faithtui.errors import (
    JudgeAuthFailed,
    JudgeError,
    JudgeQuotaExceeded,
    JudgeRateLimited,
    JudgeReplyInvalid,
    JudgeRequestRejected,
    JudgeTimeout,
    JudgeUnavailable,
    JudgeUnsupported,
)
from faithtui.judges.base import Judge, JudgeReply, JudgeRequest, OutputFormat, StopReason, Usage
from faithtui.judges.registry import open_judge
from faithtui.judges.reply_parser import parse_reply
from tests.judges.fault_server import FaultConfig, FaultServer, Rule, fault_server
from tests.judges.faults import FAULTS, LASTING, PASSING, Fault
from tests.judges.questions import KEY, question

VERDICT = {
    "type": "object",
    "properties": {
        "reason": {"type": "string"},
        "sufficient": {"type": "array", "items": {"type": "string"}},
        "verdict": {"type": "string", "enum": ["yes", "no", "idk"]},
    },
    "required": ["reason", "sufficient", "verdict"],
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "properties": {"c0": VERDICT, "c1": VERDICT},
    "required": ["c0", "c1"],
    "additionalProperties": False,
}
ASKED = replace(
    question("Judge.\n[c0] The parcel is blue.\n[c1] It weighs a ton.", step="verdicts"),
    schema=SCHEMA,
)

TEXTS = {
    "type": "object",
    "properties": {"d0": {"type": "array", "items": {"type": "string"}}},
    "required": ["d0"],
    "additionalProperties": False,
}
LISTED = replace(question("List.\n[d0] The parcel is blue.", step="truths"), schema=TEXTS)

ERRORS: Mapping[str, type[JudgeError]] = MappingProxyType(
    {
        "F01": JudgeRateLimited,
        "F02": JudgeRateLimited,
        "F03": JudgeRateLimited,
        "F04": JudgeQuotaExceeded,
        "F05": JudgeAuthFailed,
        "F06": JudgeUnavailable,
        "F07": JudgeUnavailable,
        "F08": JudgeUnavailable,
        "F09": JudgeTimeout,
        "F10": JudgeTimeout,
        "F11": JudgeUnavailable,
    }
)
"""Rows that bring no reply."""

UNREADABLE = frozenset(
    {
        *("truncated_content", "max_tokens", "empty_content", "null_content"),
        *("whitespace_content", "nan", "dup_keys", "dup_ids", "deep", "huge", "prose_only"),
        *("refusal",),
    }
)
"""Kinds whose reply holds no JSON object that may be taken for the answer."""

CASES = [
    pytest.param(row, fault, id=f"{row}-{fault.name}")
    for row, faults in FAULTS.items()
    for fault in faults
]
providers = pytest.mark.parametrize("provider", ["openai", "anthropic"])


async def send(judge: Judge, request: JudgeRequest = ASKED) -> JudgeReply | JudgeError:
    try:
        return await judge.send(request)
    except JudgeError as error:
        return error


async def ask(
    provider: str, server: FaultServer, request: JudgeRequest = ASKED, *, timeout_s: float = 600.0
) -> JudgeReply | JudgeError:
    async with open_judge(
        f"{provider}:m",
        base_url=server.url,
        timeout_s=timeout_s,
        environ={"FAITHTUI_JUDGE_KEY": KEY},
    ) as judge:
        return await send(judge, request)


@providers
@pytest.mark.parametrize(("row", "fault"), CASES)
async def test_every_fault_has_its_outcome(provider: str, row: str, fault: Fault) -> None:
    asked = LISTED if fault.kind == "empty_list" else ASKED
    with fault_server() as server:
        sound = await ask(provider, server, asked)
        server.config.rules = (Rule((fault,)),)
        timeout_s = 0.4 if row in {"F09", "F10"} else 600.0
        result = await ask(provider, server, asked, timeout_s=timeout_s)
        assert await asyncio.to_thread(server.wait_for, 2)
        assert [entry.kind for entry in server.entries] == ["ok", fault.name]
    assert isinstance(sound, JudgeReply)
    true = parse_reply(sound.text)
    if row in ERRORS:
        assert type(result) is ERRORS[row]
        assert KEY not in str(result)
        return
    assert isinstance(result, JudgeReply)
    _check_end(provider, fault, result)
    _check_usage(fault, result)
    if fault.kind in UNREADABLE:
        with pytest.raises(JudgeReplyInvalid):
            parse_reply(result.text)
        return
    read = parse_reply(result.text)
    if row in {"F19", "F23", "F24"} or fault.kind in {"content_filter", "reorder", "nul"}:
        assert read == true, "what is said once courtesies are gone"
    else:
        assert read != true
        assert "\0" not in str(read)
        str(read).encode()


def _check_end(provider: str, fault: Fault, reply: JudgeReply) -> None:
    expected = {
        "max_tokens": StopReason.LENGTH,
        "refusal": StopReason.REFUSAL,
        "content_filter": StopReason.FILTER if provider == "openai" else StopReason.REFUSAL,
        "unknown_finish": StopReason.OTHER,
    }
    assert reply.stop is expected.get(fault.kind, StopReason.OK)


def _check_usage(fault: Fault, reply: JudgeReply) -> None:
    if fault.kind in {"no_usage", "bad_usage", "huge_usage"}:
        assert reply.usage == Usage()
    else:
        assert reply.usage.tokens_in
        assert reply.usage.tokens_out is not None


@providers
@pytest.mark.parametrize("status", [400, 500])
async def test_a_form_that_is_not_known_is_told_and_the_next_one_works(
    provider: str, status: int
) -> None:
    config = FaultConfig(knows=("text",), unsupported_status=status)
    with fault_server(config) as server:
        async with open_judge(f"{provider}:m", base_url=server.url, environ={}) as judge:
            results = [
                await send(judge, replace(ASKED, output_format=output_format))
                for output_format in judge.output_formats
            ]
    *refused, last = results
    assert {type(each) for each in refused} == {JudgeUnsupported}
    assert isinstance(last, JudgeReply)
    assert set(parse_reply(last.text)) == {"c0", "c1"}
    assert all(entry.kind == "unsupported" for entry in server.entries[:-1])


@providers
async def test_a_form_that_is_ignored_shows_in_the_reply(provider: str) -> None:
    with fault_server(FaultConfig(ignores=("schema",))) as server:
        ignored = await ask(provider, server)
        kept = await ask(provider, server, replace(ASKED, output_format=OutputFormat.TOOL))
    assert isinstance(ignored, JudgeReply)
    with pytest.raises(JudgeReplyInvalid, match="no JSON object"):
        parse_reply(ignored.text)
    assert isinstance(kept, JudgeReply)
    assert parse_reply(kept.text)


@providers
async def test_every_way_of_asking_gets_the_same_answer(provider: str) -> None:
    with fault_server() as server:
        async with open_judge(f"{provider}:m", base_url=server.url, environ={}) as judge:
            replies = [
                await judge.send(replace(ASKED, output_format=output_format))
                for output_format in judge.output_formats
            ]
        repaired = f"{ASKED.prompt}\n\nAn earlier answer could not be used: it was empty."
        other = await ask(provider, server, replace(ASKED, prompt=repaired))
    assert isinstance(other, JudgeReply)
    first = parse_reply(replies[0].text)
    assert all(parse_reply(reply.text) == first for reply in [*replies, other])
    assert len({entry.question for entry in server.entries}) == 1
    assert [entry.attempt for entry in server.entries] == list(range(1, len(replies) + 2))
    assert [entry.is_repair for entry in server.entries] == [False] * len(replies) + [True]


async def test_a_server_that_hangs_is_left_at_the_deadline() -> None:
    with fault_server(FaultConfig(rules=(Rule((Fault("hang"),)),))) as server:
        assert isinstance(await ask("openai", server, timeout_s=0.3), JudgeTimeout)


async def test_a_question_for_an_unknown_model_is_no_matter_of_form() -> None:
    missing = Fault("status", 404, message="the model `m` does not exist")
    with fault_server(FaultConfig(rules=(Rule((missing,)),))) as server:
        assert type(await ask("openai", server)) is JudgeRequestRejected


def test_every_row_that_a_server_can_cause_is_there() -> None:
    assert list(FAULTS) == [f"F{number:02}" for number in range(1, 27)]
    assert not {fault for row in LASTING for fault in FAULTS[row]} & set(PASSING)
    assert len(PASSING) > 35
