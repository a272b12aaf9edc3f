import json
import uuid

import pytest

from faithtui.domain.judging.judge_profile import (
    HIDDEN,
    IDENTITY_MARK,
    NO_PARAMETERS,
    PARAMETERS,
    JudgeProfile,
    hide_fingerprint_secrets,
    normalise_fingerprint,
)
from faithtui.errors import ConfigError

FULL = {
    "temperature": 0.5,
    "top_p": 0.9,
    "seed": 7,
    "reasoning_effort": "low",
    "max_tokens": 4000,
    "timeout_s": 600.0,
    "extra_body": {"top_k": 1},
    "extra_headers": {"X-Team": "evals"},
}


def test_what_is_typed_reads_as_what_a_file_holds() -> None:
    texts = {
        name: value if isinstance(value, str) else json.dumps(value) for name, value in FULL.items()
    }
    assert set(FULL) == set(PARAMETERS)
    assert JudgeProfile.read(FULL) == JudgeProfile.read(texts)


def test_it_is_read_back_as_it_was_stored() -> None:
    profile = JudgeProfile.read(FULL)
    assert JudgeProfile.from_json(json.loads(json.dumps(profile.to_json()))) == profile
    assert JudgeProfile.from_json(JudgeProfile().to_json()) == JudgeProfile()
    assert JudgeProfile.from_json(None) == NO_PARAMETERS
    assert NO_PARAMETERS.identity == ""


def test_unset_takes_a_parameter_out_and_headers_go_beside_those_of_before() -> None:
    profile = JudgeProfile.read(FULL)
    changed = JudgeProfile.read(
        {"temperature": "unset", "extra_headers": {"X-Other": "$OTHER"}}, profile
    )
    assert changed.temperature is None
    assert changed.extra_headers == {"X-Team": "evals", "X-Other": "$OTHER"}
    assert JudgeProfile.read({"extra_headers": "unset"}, profile).extra_headers == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", 2.5),
        ("temperature", "warm"),
        ("temperature", True),
        ("temperature", "nan"),
        ("top_p", 0),
        ("seed", 1.5),
        ("reasoning_effort", "LOW; drop"),
        ("max_tokens", 0),
        ("timeout_s", 0.5),
        ("extra_body", "[1]"),
        ("extra_body", {"messages": []}),
        ("extra_body", {"api_key": "x"}),
        ("extra_body", {"top_k": float("nan")}),
        ("extra_headers", {"Authorization": "$KEY"}),
        ("extra_headers", {"X Y": "1"}),
        ("extra_headers", {"X-Team": "a\nb"}),
        ("heat", 1),
    ],
)
def test_what_cannot_be_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=name):
        JudgeProfile.read({name: value})


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("X-Api-Key", "abc"),
        ("X-Auth", "abc"),
        ("X-SecretKey", "hunter2"),
        ("X-AccessToken", "hunter2"),
        ("X-Passphrase", "hunter2"),
        ("Cookie", "abc"),
        ("X-Team", "Bearer abc"),
        ("X-Team", "sk-abcdefgh"),
        ("X-Team", "a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4"),
    ],
)
def test_a_header_that_looks_like_a_secret_is_refused_and_not_repeated(
    header: str, value: str
) -> None:
    with pytest.raises(ConfigError, match=f"{header} looks like a secret") as raised:
        JudgeProfile(extra_headers={header: value})
    assert value not in str(raised.value)
    kept = JudgeProfile(extra_headers={header: "$SECRET"})
    assert kept.resolve_headers({"SECRET": value}) == {header: value}
    assert kept.find_secrets({"SECRET": value}) == (value,)
    assert value not in kept.identity + kept.describe() + json.dumps(kept.to_json())


@pytest.mark.parametrize(
    "value", [" hunter2", "hunter2 ", "hun\tter2", "hunter2\r\nX-B: 1", "h\0r2"]
)
def test_a_value_that_no_header_can_carry_is_refused_and_not_repeated(value: str) -> None:
    kept = JudgeProfile(extra_headers={"X-A": "$FOO"})
    with pytest.raises(ConfigError, match=r"the header X-A.*FOO") as raised:
        kept.resolve_headers({"FOO": value})
    assert value not in str(raised.value)
    assert value.strip() not in str(raised.value)


def test_a_value_with_blanks_at_its_ends_is_refused_where_it_is_typed_too() -> None:
    with pytest.raises(ConfigError, match="the value of the header X-A begins or ends"):
        JudgeProfile(extra_headers={"X-A": "evals "}).resolve_headers({})


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("api_key", {"metadata": {"api_key": "hunter2"}}),
        ("password", {"tools_of": [{"a": 1}, {"password": "hunter2"}]}),
        ("accessToken", {"accessToken": "hunter2"}),
        ("provider", {"provider": "sk-hunter2hunter2"}),
        ("route", {"route": ["Bearer hunter2"]}),
        ("note", {"metadata": {"note": "hunter2Hunter2hunter2Hunter2hunter2"}}),
    ],
)
def test_a_part_of_the_body_that_looks_like_a_secret_is_refused_and_not_repeated(
    name: str, body: dict[str, object]
) -> None:
    with pytest.raises(ConfigError, match=f"`{name}` looks like a secret") as raised:
        JudgeProfile(extra_body=body)
    assert "hunter2" not in str(raised.value)


def test_a_body_of_ordinary_parts_is_taken() -> None:
    body = {
        "provider": {"order": ["alpha", "beta"], "allow_fallbacks": False},
        "chat_template_kwargs": {"enable_thinking": False, "max_new_tokens": 5},
        "stop": ["\n\n", "END OF THE ANSWER"],
    }
    assert JudgeProfile(extra_body=body).to_json()["extra_body"] == body


@pytest.mark.parametrize(
    "secret",
    [
        "AKIA" + "IOSFODNN7" + "EXAMPLE",
        "ghp_" + "0a1B" * 9,
        "xoxb-" + "123456789012",
        "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxIn0.c2ln",
        "-----BEGIN " + "RSA PRIVATE KEY-----",
        "key=sk-" + "proj-1234",
        "0a1B" * 8,
        "sk-or-v1-" + "0123456789abcdef" * 4,
        "sk-ant-" + "api03-a_b-c",
        "sk-lf-" + "12345678-90ab-cdef-1234-567890abcdef",
        "lsv2_pt_" + "0123456789abcdef",
        "pplx-" + "0123456789abcdef",
        "r8_" + "0123456789abcdef",
        "dapi" + "0123456789abcdef" * 2,
        "Token " + "0123456789abcdef",
    ],
)
def test_a_key_is_known_by_its_form_under_any_name(secret: str) -> None:
    for values in ({"extra_body": {"note": secret}}, {"extra_headers": {"X-Note": secret}}):
        with pytest.raises(ConfigError, match="looks like a secret"):
            JudgeProfile.read(values)


@pytest.mark.parametrize(
    "word",
    [
        str(uuid.UUID(int=0x1B4E28BA2FA111D2883F0016D3CCA427)),
        str(uuid.UUID(int=0x1B4E28BA2FA111D2883F0016D3CCA427)).upper(),
        "1b4e28ba2fa111d2883f0016d3cca4271b4e28ba2fa111d2883f0016d3cca427",
        "01J9ZQ8K3M7T5X2V4B6N8P0R1S",
        "Meta-Llama-3.1-70B-Instruct-Q4_K_M.gguf",
        "experiment_2026_11_faithfulness_of_answers",
        "risk-management-2026",
        "sk-SK",
    ],
)
def test_an_id_a_hash_or_a_long_name_is_no_secret(word: str) -> None:
    body = {"metadata": {"request_id": word}, "route": [word]}
    profile = JudgeProfile(extra_body=body, extra_headers={"X-Request-Id": word})
    assert JudgeProfile.from_json(profile.to_json()) == profile


def test_a_secret_that_an_earlier_version_stored_is_read_hidden() -> None:
    stored = {
        "extra_body": {
            "metadata": {"api_key": "hunter2", "team": "evals"},
            "routes": [{"password": ["hunter2"]}, "Bearer hunter2"],
            "top_k": 1,
        },
        "extra_headers": {"X-Gateway-Key": "$GATEWAY", "X-Team": "sk-hunter2"},
    }
    profile = JudgeProfile.from_json(stored)
    assert profile.extra_body == {
        "metadata": {"api_key": HIDDEN, "team": "evals"},
        "routes": [{"password": HIDDEN}, HIDDEN],
        "top_k": 1,
    }
    assert profile.extra_headers == {"X-Gateway-Key": "$GATEWAY", "X-Team": HIDDEN}
    assert profile.list_hidden_settings() == ("api_key", "routes", "password", "X-Team")
    assert JudgeProfile(extra_headers={"X-Gateway-Key": "$GATEWAY"}).list_hidden_settings() == ()
    assert "hunter2" not in profile.identity + profile.describe() + json.dumps(profile.to_json())
    identity = json.dumps(stored, sort_keys=True, separators=(",", ":"))
    fingerprint = f"openai-chat/1 m{IDENTITY_MARK}{identity} redact=pii:hide"
    hidden = hide_fingerprint_secrets(fingerprint)
    assert "hunter2" not in hidden
    assert hidden.startswith("openai-chat/1 m")
    assert hidden.endswith(" redact=pii:hide")


def test_what_an_earlier_version_stored_too_deep_is_read_without_its_depths() -> None:
    body = json.loads('{"a":' * 60 + "1" + "}" * 60)
    assert HIDDEN in JudgeProfile.from_json({"extra_body": body}).identity


@pytest.mark.parametrize(
    "text",
    ["", "offline/3", "openai-chat/1 m", f"m{IDENTITY_MARK}no JSON", f"m{IDENTITY_MARK}[1]"],
)
def test_a_fingerprint_without_parameters_stays_as_it_is(text: str) -> None:
    assert normalise_fingerprint(text) == hide_fingerprint_secrets(text) == text


def test_a_fingerprint_of_an_earlier_version_is_written_as_those_of_today() -> None:
    profile = JudgeProfile(temperature=0, top_p=1, seed=7, extra_headers={"X-Team": "a"})
    earlier = '{"extra_headers":{"X-Team":"a"},"seed":7,"temperature":0,"top_p":1}'
    assert earlier != profile.identity
    for end in ("", " redact=pii:hide"):
        today = f"m{IDENTITY_MARK}{profile.identity}{end}"
        assert normalise_fingerprint(f"m{IDENTITY_MARK}{earlier}{end}") == today
        assert normalise_fingerprint(today) == today


@pytest.mark.parametrize("levels", [60, 100_000])
def test_a_body_of_too_many_levels_is_refused(levels: int) -> None:
    with pytest.raises(ConfigError, match="extra_body"):
        JudgeProfile.read({"extra_body": '{"a":' * levels + "1" + "}" * levels})
    circle: dict[str, object] = {}
    circle["a"] = circle
    with pytest.raises(ConfigError, match="expected values of JSON"):
        JudgeProfile(extra_body=circle)


@pytest.mark.parametrize("zero", [0, 0.0, -0.0])
def test_equal_wishes_are_one_identity(zero: float) -> None:
    assert JudgeProfile(temperature=zero).identity == JudgeProfile().identity
    assert JudgeProfile(temperature=zero).is_default
    assert JudgeProfile(top_p=1).identity == JudgeProfile(top_p=1.0).identity
    upper, lower = (JudgeProfile(extra_headers={name: "a"}) for name in ("X-Team", "x-team"))
    assert upper.identity == lower.identity
    assert upper.to_json() != lower.to_json(), "it is sent as it was typed"


def test_it_is_told_on_one_line_with_what_the_model_refused() -> None:
    assert JudgeProfile().describe() == "temperature 0"
    assert JudgeProfile(seed=7).describe(("temperature",)) == (
        "temperature 0 (refused by the model, not sent), seed 7"
    )
    assert JudgeProfile.read(FULL).describe() == (
        "temperature 0.5, top_p 0.9, seed 7, reasoning_effort low, max_tokens 4000, "
        "timeout_s 600, top_k 1, header X-Team: evals"
    )
    assert NO_PARAMETERS.describe() == ""
