"""Whatever a server says, one of our errors comes of it, and no key is in it."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.errors import (
    JudgeAuthFailed,
    JudgeError,
    JudgeQuotaExceeded,
    JudgeRateLimited,
    JudgeUnavailable,
)
from faithtui.judges.base import OutputFormat
from faithtui.judges.providers.batch_protocol import (
    belongs_to_batch,
    check_and_make_question_wire_ids,
    parse_time_or_none,
    remove_id_prefix,
)
from faithtui.judges.providers.endpoints import parse_endpoint
from faithtui.judges.providers.http_exchange import translate_to_judge_error
from faithtui.judges.providers.provider_errors import make_judge_error
from faithtui.judges.providers.rate_limits import read_rate_limits
from faithtui.judges.providers.secret import Secret
from tests.judges.questions import KEY, question

ENDPOINT = parse_endpoint("openai:small", None)
WORDS = st.sampled_from(
    ["error", "message", "code", "type", "param", "detail", "loc", "msg", "details", "error_code"]
)
SAID = st.one_of(
    st.text(max_size=40),
    st.sampled_from([KEY, "json_schema", "tools", "context length", "content_filter", "image"]),
    st.none(),
    st.integers(),
)
BODIES = st.recursive(
    SAID,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@given(
    st.integers(300, 599),
    BODIES,
    st.sampled_from([None, *OutputFormat]),
    st.booleans(),
    st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "location"]), st.text()),
)
def test_any_answer_becomes_an_error_of_ours_without_the_key(
    status: int,
    body: object,
    output_format: OutputFormat | None,
    with_images: bool,
    headers: dict[str, str],
) -> None:
    assert ENDPOINT is not None
    error = make_judge_error(
        status,
        headers,
        json.dumps(body),
        ENDPOINT,
        Secret(KEY),
        with_images=with_images,
        output_format=output_format,
    )
    assert isinstance(error, JudgeError)
    assert KEY not in str(error)
    assert str(error).isprintable()
    if status in {401, 402, 403}:
        assert isinstance(error, JudgeAuthFailed | JudgeQuotaExceeded)
    if status == 429:
        assert isinstance(error, JudgeRateLimited | JudgeQuotaExceeded)
    if isinstance(error, JudgeRateLimited):
        assert error.retry_after_s is None or error.retry_after_s >= 0


@given(
    st.dictionaries(
        st.sampled_from(["x-ratelimit-limit-requests"]), st.text() | st.floats().map(str)
    )
)
def test_a_limit_is_a_number_of_at_least_one_or_unknown(headers: dict[str, str]) -> None:
    found = read_rate_limits(headers).requests_per_minute
    assert found is None or found >= 1


@given(
    st.from_regex(r"[A-Za-z0-9]{1,32}", fullmatch=True),
    st.lists(st.from_regex(r"[A-Za-z0-9_-]{1,31}", fullmatch=True), min_size=1, unique=True),
)
def test_names_in_a_batch_lead_back_to_their_questions(uid: str, ids: list[str]) -> None:
    wire = check_and_make_question_wire_ids(uid, [(each, question()) for each in ids], 1_000)
    assert [remove_id_prefix(each) for each in wire] == ids
    assert all(belongs_to_batch(each, uid) for each in wire)
    assert not any(belongs_to_batch(each, f"{uid}x") for each in wire)
    assert max(map(len, wire)) <= 64


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        ("2026-11-21T20:00:00Z", datetime(2026, 11, 21, 20, tzinfo=UTC)),
        ("2026-11-21T20:00:00", datetime(2026, 11, 21, 20, tzinfo=UTC)),
        (None, None),
        ("soon", None),
        (10**30, None),
        (1.5, None),
    ],
)
def test_times_of_both_providers_are_read(value: object, moment: datetime | None) -> None:
    assert parse_time_or_none(value) == moment


@pytest.mark.parametrize(
    "said",
    [
        "x" * 290 + " Invalid key Zm9v/YmFyQmF6UXV4.",
        "Invalid key Zm9v/YmFy\n  QmF6UXV4.",
    ],
)
def test_no_part_of_a_key_is_shown_however_it_is_written(said: str) -> None:
    assert ENDPOINT is not None
    body = json.dumps({"error": {"message": said}}).replace("/", "\\/")
    error = make_judge_error(500, {}, body, ENDPOINT, Secret("Zm9v/YmFyQmF6UXV4"))
    assert "Zm9v" not in str(error)
    assert "QmF6" not in str(error)


@pytest.mark.parametrize(
    ("location", "advice"),
    [
        ("https://ann:hunter2@b.example/v1?token=hunter3", "redirects to https://b.example/v1: if"),
        ("/other/chat", "redirects to https://api.openai.com/other/chat: if"),
        ("javascript:alert(1)", "no address that can be used"),
        ("http://[", "no address that can be used"),
        ("file:///etc/passwd", "no address that can be used"),
    ],
)
def test_where_a_server_redirects_to_is_told_without_a_password(location: str, advice: str) -> None:
    assert ENDPOINT is not None
    error = make_judge_error(302, {"location": location}, "", ENDPOINT, Secret(KEY))
    assert advice in str(error)
    assert "hunter" not in str(error)


def test_a_refused_connection_is_told_apart_behind_the_errors_of_others() -> None:
    assert ENDPOINT is not None
    shown = RuntimeError("Connection error.")
    shown.__cause__ = ExceptionGroup("all attempts failed", [ConnectionRefusedError(111, "no")])
    for error, expected in ((shown, True), (ConnectionResetError(), False)):
        told = translate_to_judge_error(error, ENDPOINT, Secret(KEY))
        assert isinstance(told, JudgeUnavailable)
        assert told.nothing_listens is expected
