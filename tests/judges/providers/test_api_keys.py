import os
import subprocess
import sys
import threading
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail
from keyring.errors import KeyringLocked

from faithtui.errors import ConfigError
from faithtui.judges.providers import api_keys
from faithtui.judges.providers.api_keys import (
    VARIABLES,
    delete_key_if_in_keyring,
    find_key_source,
    save_key_in_keyring,
)
from faithtui.judges.registry import find_missing_key_variable, open_judge
from tests.judges.fake_server import FakeServer, openai_body
from tests.judges.questions import KEY, question


class MemoryKeyring(KeyringBackend):
    """A keyring that forgets, and remembers how often it was opened."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # as the library has it
        self.entries: dict[tuple[str, str], str] = {}
        self.readings = 0

    def get_password(self, service: str, username: str) -> str | None:
        self.readings += 1
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.entries[service, username]


class BrokenKeyring(MemoryKeyring):
    """A keyring that fails as real ones do: not only with the errors of the library."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def get_password(self, service: str, username: str) -> str | None:
        raise self.error

    def set_password(self, service: str, username: str, password: str) -> None:
        raise self.error


class SilentKeyring(MemoryKeyring):
    """A keyring that waits for a password nobody types."""

    def __init__(self) -> None:
        super().__init__()
        self.released = threading.Event()

    def get_password(self, service: str, username: str) -> str | None:
        self.released.wait()
        return None


@pytest.fixture
def memory() -> MemoryKeyring:
    backend = MemoryKeyring()
    keyring.set_keyring(backend)
    return backend


def test_a_stored_key_is_found_and_forgotten(memory: MemoryKeyring) -> None:
    save_key_in_keyring("OPENAI_API_KEY", f" {KEY}\n")
    assert memory.entries == {("faithtui", "OPENAI_API_KEY"): KEY}
    assert find_key_source("openai:m", None, {}) == "keyring"
    assert find_missing_key_variable("openai:m", None, {}) is None
    assert find_missing_key_variable("anthropic:m", None, {}) == "ANTHROPIC_API_KEY"
    assert delete_key_if_in_keyring("OPENAI_API_KEY")
    assert not delete_key_if_in_keyring("OPENAI_API_KEY")
    assert find_key_source("openai:m", None, {}) is None
    assert find_missing_key_variable("openai:m", None, {}) == "OPENAI_API_KEY"


async def test_the_stored_key_is_the_one_that_is_sent(
    memory: MemoryKeyring, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_key_in_keyring("FAITHTUI_JUDGE_KEY", KEY)
    server.answer(openai_body())
    # A server in a network and not on this machine, as far as the judge knows.
    monkeypatch.setattr("faithtui.judges.providers.endpoints.Endpoint.is_local", False)
    async with open_judge("vllm:m", base_url=server.url, environ={}) as judge:
        await judge.send(question())
    assert server.sent[0].headers["authorization"] == f"Bearer {KEY}"


def test_the_environment_comes_first_and_leaves_the_keyring_closed(memory: MemoryKeyring) -> None:
    save_key_in_keyring("OPENAI_API_KEY", KEY)
    environ = {"OPENAI_API_KEY": "sk-from-the-environment"}
    assert find_key_source("openai:m", None, environ) == "environment"
    open_judge("openai:m", environ=environ)
    assert memory.readings == 0


@pytest.mark.parametrize(
    ("ref", "base_url"),
    [("ollama:m", None), ("openai:m", "http://127.0.0.1:1"), ("offline", None), ("replay:f", None)],
)
def test_the_keyring_stays_closed_where_no_key_is_needed(
    memory: MemoryKeyring, ref: str, base_url: str | None
) -> None:
    assert find_key_source(ref, base_url, {}) is None
    assert find_missing_key_variable(ref, base_url, {}) is None
    open_judge(ref, base_url=base_url, environ={})
    assert memory.readings == 0


def test_a_provider_s_stored_key_is_for_its_own_host_alone(memory: MemoryKeyring) -> None:
    save_key_in_keyring("OPENAI_API_KEY", KEY)
    assert find_key_source("openai:m", "https://relay.example/v1", {}) is None
    save_key_in_keyring("FAITHTUI_JUDGE_KEY", KEY)
    assert find_key_source("openai:m", "https://relay.example/v1", {}) == "keyring"


@pytest.mark.parametrize(
    "error", [KeyringLocked("it is locked"), OSError("no bus"), ValueError("odd\nlines")]
)
def test_a_keyring_that_fails_holds_no_key(error: Exception) -> None:
    keyring.set_keyring(BrokenKeyring(error))
    assert find_key_source("openai:m", None, {}) is None
    with pytest.raises(ConfigError, match=r"set the environment.*OPENAI_API_KEY.*keyring"):
        open_judge("openai:m", environ={})
    with pytest.raises(ConfigError, match=r"keyring cannot be used: .*OPENAI_API_KEY") as caught:
        save_key_in_keyring("OPENAI_API_KEY", KEY)
    assert str(caught.value).isprintable()
    assert KEY not in str(caught.value)
    with pytest.raises(ConfigError, match="keyring cannot be used"):
        delete_key_if_in_keyring("OPENAI_API_KEY")


def test_a_machine_without_a_keyring_has_no_key_in_it() -> None:
    keyring.set_keyring(fail.Keyring())  # type: ignore[no-untyped-call]  # as the library has it
    assert find_missing_key_variable("openai:m", None, {}) == "OPENAI_API_KEY"
    with pytest.raises(ConfigError, match="keyring cannot be used: No recommended backend"):
        save_key_in_keyring("OPENAI_API_KEY", KEY)


def test_a_keyring_that_never_answers_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_keys, "PATIENCE_S", 0.05)
    silent = SilentKeyring()
    keyring.set_keyring(silent)
    assert find_key_source("openai:m", None, {}) is None
    with pytest.raises(ConfigError, match=r"did not answer within 0\.05 s"):
        delete_key_if_in_keyring("OPENAI_API_KEY")
    silent.released.set()


def test_a_stored_key_no_header_can_carry_is_refused_by_its_place(memory: MemoryKeyring) -> None:
    memory.entries["faithtui", "OPENAI_API_KEY"] = "two words"
    with pytest.raises(ConfigError, match=r"OPENAI_API_KEY \(keyring\)") as caught:
        open_judge("openai:m", environ={})
    assert "two words" not in str(caught.value)


@pytest.mark.parametrize("value", ["", "  ", "two words", "schlüssel", "line\nbreak"])
def test_what_can_be_no_key_is_not_stored(memory: MemoryKeyring, value: str) -> None:
    with pytest.raises(ConfigError, match="copy it again"):
        save_key_in_keyring("OPENAI_API_KEY", value)
    assert not memory.entries


def test_only_names_that_a_judge_looks_for_are_stored(memory: MemoryKeyring) -> None:
    assert VARIABLES == ("ANTHROPIC_API_KEY", "FAITHTUI_JUDGE_KEY", "OPENAI_API_KEY")
    for use in (
        lambda: save_key_in_keyring("OPENAI_KEY", KEY),
        lambda: delete_key_if_in_keyring("OPENAI_KEY"),
    ):
        with pytest.raises(ConfigError, match="expected one of ANTHROPIC_API_KEY, FAITHTUI"):
            use()
    assert not memory.entries


PROGRAM = """
import sys
from faithtui.judges.providers.api_keys import find_key_source
find_key_source("openai:m", None, {"OPENAI_API_KEY": "k"}), find_key_source("ollama:m", None, {})
assert "keyring" not in sys.modules
find_key_source("openai:m", None, {})
assert "keyring" in sys.modules
"""


def test_the_keyring_is_loaded_only_when_it_is_asked(tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, env=environ
    )
    assert ended.stderr == ""
    assert ended.returncode == 0
