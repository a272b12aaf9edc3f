import os
from collections.abc import Iterator

import keyring
import pytest
from keyring.backends import null

from tests.judges.fake_server import FakeServer, fake_server


@pytest.fixture(autouse=True)
def _no_provider_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the developer's own keys, hosts and proxies out of the tests."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "ANTHROPIC_", "FAITHTUI_")) or name.lower().endswith(
            "_proxy"
        ):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _no_keyring() -> Iterator[None]:
    """Keep the developer's own keyring out of the tests."""
    before = keyring.get_keyring()
    keyring.set_keyring(null.Keyring())  # type: ignore[no-untyped-call]  # as the library has it
    yield
    keyring.set_keyring(before)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with fake_server() as fake:
        yield fake
