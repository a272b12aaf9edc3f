import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from faithtui.errors import ConfigError, InputError
from faithtui.judges.base import Usage
from faithtui.judges.providers.api_keys import load_key
from faithtui.judges.providers.endpoints import PROVIDERS, Endpoint, parse_endpoint
from faithtui.judges.providers.prices import compute_cost_usd
from faithtui.judges.providers.secret import HIDDEN, NO_KEY, Secret
from faithtui.judges.registry import find_missing_key_variable, make_judge_fingerprint, open_judge
from tests.judges.fake_server import FakeServer, openai_body
from tests.judges.questions import KEY, question

KEYS = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}


def endpoint(ref: str, base_url: str | None = None) -> Endpoint:
    found = parse_endpoint(ref, base_url)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "ref",
    [
        "",
        "gpt-6-luna",
        "openai",
        "openai:",
        "openai: ",
        "anthropic:",
        "replay:",
        "offline:x",
        "Offline",
        "mistral:large",
        "openai:a\nb",
        "openai:\udc80",
        "ollama",
        "offline:",
    ],
)
def test_a_judge_nobody_knows_is_refused_with_the_known_ones(ref: str) -> None:
    for use in (open_judge, make_judge_fingerprint):
        with pytest.raises(ConfigError, match="offline, openai:MODEL, anthropic:MODEL, replay:"):
            use(ref)
    with pytest.raises(ConfigError):
        find_missing_key_variable(ref, None, {})


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_is_named_before_anything_is_opened(provider: str, value: str | None) -> None:
    variable = PROVIDERS[provider].key_variable
    environ = {} if value is None else {variable: value}
    assert find_missing_key_variable(f"{provider}:m", None, environ) == variable
    with pytest.raises(ConfigError, match=variable):
        open_judge(f"{provider}:m", environ=environ)


def test_a_key_that_is_there_is_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_missing_key_variable("openai:m", None, KEYS) is None
    assert find_missing_key_variable("openai:m", None) == "OPENAI_API_KEY"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert find_missing_key_variable("openai:m", None) is None


@pytest.mark.parametrize("ref", ["offline", "replay:x.jsonl"])
def test_judges_on_this_machine_need_no_key_and_take_no_address(ref: str) -> None:
    assert find_missing_key_variable(ref, None, {}) is None
    with pytest.raises(ConfigError, match="no base URL"):
        open_judge(ref, base_url="http://localhost:1/v1")


def test_another_host_needs_no_key() -> None:
    assert find_missing_key_variable("openai:m", "http://localhost:1/v1", {}) is None
    assert find_missing_key_variable("anthropic:m", "https://gateway.example", {}) is None


@pytest.mark.parametrize(
    "base_url",
    [
        "http://localhost:8080/v1",
        "https://openrouter.example/api/v1",
        "https://api.openai.com.evil.example/v1",
        "https://evilapi.openai.com/v1",
        "http://api.openai.com/v1",  # in the clear: whoever listens would have the key
    ],
)
def test_the_providers_key_is_for_the_providers_host_alone(base_url: str) -> None:
    elsewhere = endpoint("openai:m", base_url)
    assert not elsewhere.is_official
    assert load_key(elsewhere, KEYS).reveal() == NO_KEY
    assert load_key(elsewhere, {**KEYS, "FAITHTUI_JUDGE_KEY": " own "}).reveal() == "own"


@pytest.mark.parametrize(
    ("ref", "base_url"),
    [
        ("openai:m", None),
        ("openai:m", "https://api.openai.com/v1/"),
        ("openai:m", "https://EU.api.openai.com/v1"),
        ("anthropic:m", None),
        ("anthropic:m", "https://api.anthropic.com/v1"),
    ],
)
def test_the_providers_host_gets_the_providers_key(ref: str, base_url: str | None) -> None:
    official = endpoint(ref, base_url)
    assert official.is_official
    assert load_key(official, {**KEYS, "FAITHTUI_JUDGE_KEY": "other"}).reveal() == KEY


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel", "tab\tkey"])
def test_a_key_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY") as caught:
        open_judge("openai:m", environ={"OPENAI_API_KEY": key})
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("ref", "given", "used"),
    [
        ("openai:m", "http://localhost:8080", "http://localhost:8080/v1"),
        ("openai:m", "http://LocalHost:8080/v1/", "http://localhost:8080/v1"),
        ("openai:m", " http://h/api/v1/chat/completions ", "http://h/api/v1"),
        ("openai:m", "http://[::1]:9/v1", "http://[::1]:9/v1"),
        ("anthropic:m", "http://localhost:8080", "http://localhost:8080"),
        ("anthropic:m", "http://localhost:8080/v1/", "http://localhost:8080"),
        ("anthropic:m", "http://h/proxy/v1/messages", "http://h/proxy"),
    ],
)
def test_addresses_are_brought_into_one_form(ref: str, given: str, used: str) -> None:
    assert endpoint(ref, given).base_url == used


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "localhost:8080",
        "ftp://host/v1",
        "http://",
        "http://host:port/v1",
        "http://host:99999/v1",
        "http://[::1/v1",
        "http://host/v1?key=1",
        "http://host/v1#x",
        "http://ho st/v1",
        "http://host/\nv1",
        # Programs do not agree on which host these are.
        "http://evil.example\\.localhost",
        "https://evil.example\\.api.openai.com/v1",
        "http://evil.example%2f.localhost",
        "http://evil.example;.localhost",
        "http://evil.example#.localhost",
        "http://evil.example?.localhost",
        "http://.localhost",
        "http://localhost..",
        "http://[::1].evil.example",
        "http://[localhost]",
    ],
)
def test_an_address_that_cannot_be_one_is_refused(base_url: str) -> None:
    with pytest.raises(ConfigError, match="base URL"):
        open_judge("openai:m", base_url=base_url, environ=KEYS)


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigError, match="FAITHTUI_JUDGE_KEY") as caught:
        open_judge("openai:m", base_url="http://me:hunter2@host/v1", environ={})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("ref", "base_url"),
    [
        ("offline", None),
        ("openai:gpt-6-luna", None),
        ("openai:llama3:8b", "http://localhost:11434"),
        ("anthropic:claude-haiku-5-5", None),
        ("anthropic:m", "http://localhost:8080/v1"),
        ("ollama:llama3:8b", None),
    ],
)
async def test_names_and_fingerprints_are_those_of_the_open_judge(
    ref: str, base_url: str | None
) -> None:
    async with open_judge(ref, base_url=base_url, environ=KEYS) as judge:
        assert judge.ref == ref
        assert judge.fingerprint == make_judge_fingerprint(ref, base_url)
        assert KEY not in judge.fingerprint
        assert judge.takes_images is (ref != "offline")


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("ollama", "http://localhost:11434/v1"),
        ("vllm", "http://localhost:8000/v1"),
        ("llamacpp", "http://localhost:8080/v1"),
        ("lmstudio", "http://localhost:1234/v1"),
    ],
)
def test_programs_that_serve_models_are_found_where_they_listen(name: str, address: str) -> None:
    preset = endpoint(f"{name}:org/model:8b")
    assert preset.ref == f"{name}:org/model:8b"
    assert preset.base_url == address
    assert preset.is_local
    assert not preset.is_official
    assert load_key(preset, KEYS).reveal() == NO_KEY
    assert load_key(preset, {"FAITHTUI_JUDGE_KEY": "own"}).reveal() == "own"
    assert find_missing_key_variable(preset.ref, None, {}) is None
    # However the same model at the same address is called, its replies are the same.
    assert preset.fingerprint == endpoint("openai:org/model:8b", address).fingerprint


def test_a_program_elsewhere_is_given_by_its_address() -> None:
    elsewhere = endpoint("vllm:m", "http://gpu.example:9000")
    assert elsewhere.base_url == "http://gpu.example:9000/v1"
    assert not elsewhere.is_local
    assert not endpoint("vllm:m", "https://api.openai.com/v1").is_official


LOCAL = [
    "http://localhost",
    "http://LOCALHOST:8080/v1",
    "http://localhost.:8080",
    "http://models.localhost",
    "http://Models.LocalHost.",
    "http://127.0.0.1",
    "http://127.255.255.254:9",
    "http://[::1]:9",
    "http://[0:0:0:0:0:0:0:1]",
    "http://[::ffff:127.0.0.1]",
    "http://[::FFFF:7f00:1]",
]
ELSEWHERE = [
    "http://127.example.com",
    "http://127.0.0.1.example.com",
    "http://127.0.0.1.",
    "http://localhost.example.com",
    "http://xlocalhost",
    "http://notlocal.host",
    "http://localhost-models",
    "http://0x7f.1",
    "http://0x7f000001",
    "http://2130706433",
    "http://017700000001",
    "http://127.1",
    "http://127.0.0.01",
    "http://127.0.0.256",
    "http://127.0.0.1.1",
    "http://\uff11\uff12\uff17.0.0.1",
    "http://0.0.0.0",
    "http://128.0.0.1",
    "http://10.0.0.1",
    "http://169.254.169.254",
    "http://[::]",
    "http://[::2]",
    "http://[::127.0.0.1]",
    "http://[::ffff:10.0.0.1]",
    "http://[fe80::1]",
]


@pytest.mark.parametrize("base_url", LOCAL)
def test_the_machine_itself_is_known_by_its_names_and_addresses(base_url: str) -> None:
    assert endpoint("openai:m", base_url).is_local
    assert compute_cost_usd("openai:m", Usage(1_000, 1_000), base_url=base_url) == 0


@pytest.mark.parametrize("base_url", ELSEWHERE)
def test_nothing_else_counts_as_the_machine_itself(base_url: str) -> None:
    """A bill may come from there, and a proxy may be needed to get there."""
    assert not endpoint("openai:m", base_url).is_local
    assert not endpoint("openai:m", base_url).is_official
    assert compute_cost_usd("openai:m", Usage(1_000, 1_000), base_url=base_url) is None


@pytest.mark.parametrize(
    "base_url",
    [
        "http://localhost@evil.example/",
        "http://127.0.0.1:80@evil.example/",
        "http://localhost:pass@evil.example",
        "http://@localhost",
    ],
)
def test_what_stands_before_an_at_sign_is_no_host(base_url: str) -> None:
    with pytest.raises(ConfigError, match="must not hold a password"):
        parse_endpoint("openai:m", base_url)


@pytest.mark.parametrize(
    "base_url",
    [
        "https://api.openai.com.evil.example/v1",
        "https://evil-api.openai.com/v1",
        "https://xapi.openai.com/v1",
        "https://openai.com/v1",
        "http://api.openai.com/v1",
        "https://api.openai.com./v1",
    ],
)
def test_a_host_that_only_looks_like_the_providers_gets_no_key_of_it(base_url: str) -> None:
    elsewhere = endpoint("openai:m", base_url)
    assert not elsewhere.is_official
    assert load_key(elsewhere, KEYS).reveal() == NO_KEY


async def test_a_program_is_asked_in_openais_protocol(server: FakeServer) -> None:
    server.answer(openai_body())
    async with open_judge("ollama:small", base_url=server.url, environ={}) as judge:
        assert (await judge.send(question())).text == '{"reason": "so"}'
    assert server.sent[0].path == "/v1/chat/completions"


async def test_a_replay_has_the_fingerprint_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text('{"prompt_sha256": "x", "reply": "y"}\n')
    async with open_judge(f"replay:{path}") as judge:
        assert judge.ref == f"replay:{path}"
        assert judge.fingerprint == make_judge_fingerprint(f"replay:{path}")
    with pytest.raises(InputError):
        make_judge_fingerprint(f"replay:{tmp_path}/gone.jsonl")


def test_fingerprints_tell_judges_apart() -> None:
    prints = [
        make_judge_fingerprint("openai:m"),
        make_judge_fingerprint("openai:n"),
        make_judge_fingerprint("anthropic:m"),
        make_judge_fingerprint("openai:m", "http://localhost:1/v1"),
        make_judge_fingerprint("openai:m", "http://localhost:2/v1"),
    ]
    assert len(set(prints)) == len(prints)


FRESH = """
import sys
from faithtui.judges.providers.api_keys import load_key
from faithtui.judges.registry import find_missing_key_variable, make_judge_fingerprint
make_judge_fingerprint("openai:m"), make_judge_fingerprint("anthropic:m", "http://localhost:1")
find_missing_key_variable("openai:m", None, {"OPENAI_API_KEY": "k"})
loaded = {"openai", "anthropic", "httpx2", "pydantic", "importlib.metadata"} & set(sys.modules)
sys.exit(", ".join(sorted(loaded)) or 0)
"""

FRESH_OPENAI = """
import asyncio, sys
from faithtui.judges.providers.api_keys import load_key
from faithtui.judges.registry import open_judge
async def main():
    async with open_judge("openai:m", environ={"OPENAI_API_KEY": "k"}):
        loaded = {"openai", "anthropic"} & set(sys.modules)
        sys.exit(0 if loaded == {"openai"} else ", ".join(loaded))
asyncio.run(main())
"""


@pytest.mark.thorough
@pytest.mark.parametrize("program", [FRESH, FRESH_OPENAI])
def test_an_sdk_is_loaded_only_when_its_judge_is_opened(program: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ended.stderr.strip() == ""
    assert ended.returncode == 0


def test_a_secret_shows_nothing() -> None:
    secret = Secret(KEY)
    for shown in (str(secret), repr(secret), f"{secret}", f"{[secret]}", "%s" % secret):  # noqa: UP031 - one way to print among others
        assert KEY[:6] not in shown
    assert secret.reveal() == KEY
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    with pytest.raises(TypeError):
        copy.deepcopy(secret)


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        (f"key {KEY} is wrong", f"key {HIDDEN} is wrong"),
        (f"{KEY}{KEY}", f"{HIDDEN}{HIDDEN}"),
        ("key sk-ab***wxyz is wrong", f"key {HIDDEN} is wrong"),
        ("Authorization: Bearer abc.def-1", f"Authorization: Bearer {HIDDEN}"),
        ('{"a": "bearer tok"}', f'{{"a": "bearer {HIDDEN}"}}'),
        ("a risk-free ask, none taken", "a risk-free ask, none taken"),
    ],
)
def test_redaction_hides_keys_and_little_else(text: str, redacted: str) -> None:
    secret = Secret(KEY)
    assert secret.redact(text) == redacted
    assert secret.redact(redacted) == redacted


def test_a_secret_is_hidden_as_python_writes_it_too() -> None:
    secret = Secret(KEY, (r"super\secret'\"",))
    for told in (r"super\secret'\"", repr(r"super\secret'\""), str(rb"super\secret'\"")):
        assert "super" not in secret.redact(f"Illegal header value {told}")


def test_the_word_that_stands_for_no_key_is_not_redacted() -> None:
    assert Secret(NO_KEY).redact("none of these models") == "none of these models"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("embedded", "offline"), ("gpt-4o", "openai:gpt-4o"), ("olama:x", "ollama:x")],
)
def test_a_judge_by_another_name_is_asked_for(typed: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=f"Did you mean `{meant}`"):
        parse_endpoint(typed, None)
