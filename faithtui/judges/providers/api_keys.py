"""Where keys come from: the environment, then the system's keyring.

A provider's own key is for the provider's own host alone. The keyring may ask its owner to unlock
it, so it is opened only when a key is wanted and the environment has none, and never for a server
on this machine, which hardly ever asks for a key.
"""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Literal, TypeVar

from faithtui.errors import ConfigError
from faithtui.judges.providers.endpoints import OTHER_HOST_KEY, PROVIDERS, Endpoint, parse_endpoint
from faithtui.judges.providers.provider_errors import find_provider_message
from faithtui.judges.providers.secret import NO_KEY, Secret

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

T = TypeVar("T")

SERVICE = "faithtui"
"""What entries in the keyring are filed under; their user is the name of the variable."""

VARIABLES = tuple(sorted({each.key_variable for each in PROVIDERS.values()} | {OTHER_HOST_KEY}))
"""Names a key can have."""

PATIENCE_S = 30.0
"""Seconds a keyring gets. Its owner may have to type a password; a broken one never answers."""

KeySource = Literal["environment", "keyring"]


class _KeyringUnusable(Exception):
    """There is no keyring, or it does not open; says why."""


def load_key(endpoint: Endpoint, environ: Mapping[str, str]) -> Secret:
    """Take the key for an address.

    Args:
        endpoint: Who is to be asked.
        environ: Environment variables; only the endpoint's `key_variable` is looked at, and those
            that its extra headers are read from, whose values are hidden like the key.

    Raises:
        ConfigError: The provider's own host needs a key and there is none, or the key holds
            characters that no header can carry.
    """
    variable = endpoint.key_variable
    value, source = _find_key(endpoint, environ)
    if source is None:
        if endpoint.is_official:
            raise ConfigError(
                f"judge {endpoint.ref} needs a key: {explain_how_to_provide_key(variable)}, or "
                "use --judge"
                " offline, which needs none"
            )
        return Secret(NO_KEY, endpoint.profile.find_secrets(environ))
    if not _is_valid_header_value(value):
        raise ConfigError(
            f"the key in {variable} ({source}) holds spaces or characters no key has; copy it again"
        )
    return Secret(value, endpoint.profile.find_secrets(environ))


def find_key_source(ref: str, base_url: str | None, environ: Mapping[str, str]) -> KeySource | None:
    """Say where a judge's key would come from; None when there is none, or none is needed.

    Raises:
        ConfigError: `ref` is no judge, or the address cannot be used.
    """
    endpoint = parse_endpoint(ref, base_url)
    return None if endpoint is None else _find_key(endpoint, environ)[1]


def explain_how_to_provide_key(variable: str) -> str:
    """Name both ways to provide a key."""
    return (
        f"set the environment variable {variable}, or keep the key in the system's keyring"
        f" (service {SERVICE}, name {variable})"
    )


def save_key_in_keyring(variable: str, value: str) -> None:
    """Keep a key in the system's keyring, in place of an earlier one.

    Args:
        variable: One of `VARIABLES`.
        value: The key; space around it is dropped.

    Raises:
        ConfigError: No such variable, no key, or no keyring that takes it.
    """
    value = value.strip()
    if not value or not _is_valid_header_value(value):
        raise ConfigError(
            f"the key for {variable} is empty, or holds spaces or characters no key has;"
            " copy it again"
        )
    _run_with_keyring(variable, lambda: _open_keyring().set_password(SERVICE, variable, value))


def delete_key_if_in_keyring(variable: str) -> bool:
    """Remove a key from the system's keyring.

    Returns:
        Whether there was one.

    Raises:
        ConfigError: No such variable, or no keyring that opens.
    """

    def delete_password() -> bool:
        keyring = _open_keyring()
        if keyring.get_password(SERVICE, variable) is None:
            return False
        keyring.delete_password(SERVICE, variable)
        return True

    return _run_with_keyring(variable, delete_password)


def _find_key(endpoint: Endpoint, environ: Mapping[str, str]) -> tuple[str, KeySource | None]:
    variable = endpoint.key_variable
    value = environ.get(variable, "").strip()
    if value:
        return value, "environment"
    if endpoint.is_local:
        return "", None
    try:
        stored = _run_in_thread_with_timeout(
            lambda: _open_keyring().get_password(SERVICE, variable)
        )
    except _KeyringUnusable:
        # Whoever has no keyring has no key in it.
        return "", None
    value = (stored or "").strip()
    return value, "keyring" if value else None


def _is_valid_header_value(value: str) -> bool:
    return value.isascii() and value.isprintable() and " " not in value


def _run_with_keyring(variable: str, work: Callable[[], T]) -> T:
    if variable not in VARIABLES:
        raise ConfigError(
            f"no judge takes a key called {variable}; expected one of {', '.join(VARIABLES)}"
        )
    try:
        return _run_in_thread_with_timeout(work)
    except _KeyringUnusable as error:
        raise ConfigError(
            f"the system's keyring cannot be used: {error}."
            f" Set the environment variable {variable} instead"
        ) from error


def _open_keyring() -> "KeyringBackend":
    # Slow to import, and needed only by those who keep keys in it.
    import keyring

    return keyring.get_keyring()


def _run_in_thread_with_timeout(work: Callable[[], T]) -> T:
    """Let the keyring work on a thread of its own, which is left behind if it never answers.

    Raises:
        _KeyringUnusable: It failed, in whatever way, or did not answer in time.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        # Backends are third-party code over third-party services and raise what they like.
        except Exception as error:
            outcome.set_exception(error)

    threading.Thread(target=run, name="faithtui-keyring", daemon=True).start()
    try:
        return outcome.result(PATIENCE_S)
    except TimeoutError as error:
        raise _KeyringUnusable(f"it did not answer within {PATIENCE_S:g} s") from error
    # As above.
    except Exception as error:
        reason = find_provider_message(str(error)) or type(error).__name__
        raise _KeyringUnusable(reason) from error
