import io
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest

from faithtui.cli.commands.judge import list as judge_list
from faithtui.cli.commands.judge.key import parse_key_variable
from faithtui.cli.commands.judge.list import format_model_names
from faithtui.errors import ConfigError
from tests.cli.conftest import Cli
from tests.judges.fake_server import FakeServer, fake_server, openai_body
from tests.judges.providers.test_api_keys import MemoryKeyring

KEY = "sk-typed-by-hand-123"


@pytest.fixture
def memory() -> Iterator[MemoryKeyring]:
    before = keyring.get_keyring()
    backend = MemoryKeyring()
    keyring.set_keyring(backend)
    yield backend
    keyring.set_keyring(before)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with fake_server() as fake:
        yield fake


def test_the_embedded_judge_is_tested_by_default(cli: Cli) -> None:
    result = cli("judge", "test")
    assert result.code == 0
    assert result.out.startswith("offline: answers in ")
    assert "no cost" in result.out


def test_a_judge_that_cannot_be_asked_has_its_exit_code_and_a_sentence(cli: Cli) -> None:
    result = cli("judge", "test", "openai:m", "--json")
    assert result.code == 2
    assert result.json["ok"] is False
    assert "OPENAI_API_KEY" in result.json["sentence"]


def test_a_judge_at_an_address_is_asked_there(cli: Cli, server: FakeServer) -> None:
    server.answer(openai_body('{"c0": {"reason": "", "verdict": "yes"}}'))
    result = cli("judge", "test", "openai:m", "--base-url", server.url)
    assert result.code == 5
    assert "left 2 of 3 claims without a verdict" in result.out
    assert "1 answer, 120 tokens read and 30 written, no cost, served by gpt" in result.out


def test_the_list_says_what_runs_and_what_has_a_key(
    cli: Cli, server: FakeServer, monkeypatch: pytest.MonkeyPatch, memory: MemoryKeyring
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    memory.set_password("faithtui", "OPENAI_API_KEY", KEY)
    result = cli("judge", "list", "--json")
    assert result.code == 0
    states = {each["judge"]: each["state"] for each in result.json}
    assert states["offline"] == "ready"
    assert states["openai:MODEL"] == "key from keyring"
    assert states["anthropic:MODEL"] == "key from environment"
    assert set(states) >= {"ollama:MODEL", "vllm:MODEL", "llamacpp:MODEL", "lmstudio:MODEL"}
    assert KEY not in result.out + result.err
    table = cli("judge", "list")
    assert "replay:FILE" in table.out


@pytest.mark.parametrize(
    ("found", "state"),
    [(object(), "ready"), (None, "not installed: pip install 'faithtui[nli]'")],
    ids=["installed", "not installed"],
)
def test_the_list_names_classifiers_in_files(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, found: object, state: str
) -> None:
    monkeypatch.setattr(judge_list, "find_spec", lambda name: found)
    states = {each["judge"]: each["state"] for each in cli("judge", "list", "--json").json}
    assert states["nli:PATH"] == state


async def test_a_program_that_runs_is_listed_with_its_models(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from faithtui.judges.providers.served_models import list_served_models

    server.models = ("a", "b", "c", "d", "e", "f")
    assert await list_served_models("openai:x", server.url, environ={}) == server.models
    assert format_model_names(server.models) == "a, b, c, d and 2 more"


def test_a_key_is_typed_kept_and_forgotten_without_being_shown(
    cli: Cli, memory: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
    kept = cli("judge", "key", "set", "openai")
    assert kept.code == 0
    assert memory.entries == {("faithtui", "OPENAI_API_KEY"): KEY}
    assert "OPENAI_API_KEY is in the system's keyring" in kept.err
    assert KEY not in kept.out + kept.err
    assert "no longer in" in cli("judge", "key", "forget", "openai_api_key").err
    assert memory.entries == {}
    assert "not in the" in cli("judge", "key", "forget", "openai").err


def test_a_variable_that_goes_before_the_keyring_is_told(
    cli: Cli, memory: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "another-key-12345")
    monkeypatch.setattr("sys.stdin", io.StringIO(KEY))
    assert "goes before the keyring" in cli("judge", "key", "set", "openai").err


def test_what_is_no_key_is_refused(
    cli: Cli, memory: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    assert cli("judge", "key", "set", "openai").code == 2
    assert cli("judge", "key", "set", "nobody").code == 2
    assert memory.entries == {}


def test_names_of_keys() -> None:
    assert parse_key_variable("anthropic") == "ANTHROPIC_API_KEY"
    assert parse_key_variable("ollama") == "FAITHTUI_JUDGE_KEY"
    assert parse_key_variable("openai:gpt-6-luna") == "OPENAI_API_KEY"
    with pytest.raises(ConfigError, match="`acme` has no key; expected openai, anthropic"):
        parse_key_variable("acme")


def test_doctor_asks_nobody_when_it_is_to_stay_offline(
    cli: Cli, server: FakeServer, tmp_path: Path
) -> None:
    words = ("--judge", "openai:m", "--base-url", server.url, "--offline", "--json")
    result = cli("doctor", *words)
    assert result.code == 0
    (judge,) = (each for each in result.json if each["name"].startswith("judge"))
    assert (judge["ok"], judge["text"]) == (None, "not asked, as wanted")
    assert server.sent == []
    assert cli("doctor", "--judge", "openai:m", "--offline").code == 2
    assert cli("doctor", "--judge", "nobody:m", "--offline").code == 2
