"""Which judge a reference means, where it lives and whose key it takes. No SDK is imported here.

Both SDKs read keys, hosts, organisations and headers from the environment on their own, also when
they were pointed at another host, and would so send the key of one company to another. Here all of
that is decided once, explicitly: a provider's own environment variable counts only for the
provider's own host.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from faithtui.errors import ConfigError
from faithtui.judges.secret import NO_KEY, Secret

KNOWN_REFERENCES = "offline, openai:MODEL, anthropic:MODEL, replay:FILE"

OTHER_HOST_KEY = "FAITHTUI_JUDGE_KEY"
"""Environment variable with the key for any host that is not the provider's own."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A company, or everyone who speaks its protocol."""

    name: str
    host: str
    base_url: str
    key_variable: str
    dialect: str
    """Name and version of how a question becomes a request. Part of every fingerprint: a change
    of what is sent must change it, so that stored replies are not taken for new ones."""


PROVIDERS = {
    "openai": Provider(
        "openai",
        "api.openai.com",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        "openai-chat/1 json-schema",
    ),
    "anthropic": Provider(
        "anthropic",
        "api.anthropic.com",
        "https://api.anthropic.com",
        "ANTHROPIC_API_KEY",
        "anthropic-messages/1 json-schema",
    ),
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model at an address."""

    provider: Provider
    model: str
    base_url: str
    """Normalised: lower-case host, no slash at the end. The form the provider's SDK expects."""

    @property
    def ref(self) -> str:
        """What the user calls it: `openai:gpt-6-luna`."""
        return f"{self.provider.name}:{self.model}"

    @property
    def host(self) -> str:
        """Host and, if given, port, for messages."""
        return urlsplit(self.base_url).netloc

    @property
    def is_official(self) -> bool:
        """Whether this is the provider itself, reached by https, also at a regional address."""
        parts = urlsplit(self.base_url)
        host = parts.hostname or ""
        ours = self.provider.host
        return parts.scheme == "https" and (host == ours or host.endswith(f".{ours}"))

    @property
    def is_local(self) -> bool:
        """Whether this is the machine itself, which a proxy must not be asked for."""
        host = urlsplit(self.base_url).hostname or ""
        return host in {"localhost", "::1"} or host.startswith("127.")

    @property
    def key_variable(self) -> str:
        """Environment variable that holds the key for this address."""
        return self.provider.key_variable if self.is_official else OTHER_HOST_KEY

    @property
    def fingerprint(self) -> str:
        """Everything but the question that determines a reply. Holds no secret."""
        return f"{self.provider.dialect} {self.base_url} {self.model}"

    def key(self, environ: Mapping[str, str]) -> Secret:
        """Take the key for this address from the environment.

        Args:
            environ: Environment variables; only `key_variable` is looked at.

        Raises:
            ConfigError: The provider's own host needs a key and there is none, or the key holds
                characters that no header can carry.
        """
        value = environ.get(self.key_variable, "").strip()
        if not value:
            if self.is_official:
                raise ConfigError(
                    f"judge {self.ref} needs a key: set the environment variable"
                    f" {self.key_variable}, or use --judge offline, which needs none"
                )
            return Secret(NO_KEY)
        if not (value.isascii() and value.isprintable()) or " " in value:
            raise ConfigError(
                f"the key in {self.key_variable} holds spaces or characters no key has;"
                " copy it again"
            )
        return Secret(value)


def endpoint_of(ref: str, base_url: str | None) -> Endpoint | None:
    """Take a judge reference apart.

    Args:
        ref: `openai:MODEL` or `anthropic:MODEL`. A model may hold colons, `llama3:8b`.
        base_url: Address of another server that speaks the provider's protocol. For `openai` the
            part before `/chat/completions`; without a path, `/v1` is added. For `anthropic` the
            part before `/v1`. None: the provider itself.

    Returns:
        None when no network is meant: `offline` and `replay:FILE`.

    Raises:
        ConfigError: Unknown provider, no model or file, or an address that cannot be used.
    """
    name, _, rest = ref.partition(":")
    if not _is_well_formed(name, rest):
        raise ConfigError(f"unknown judge {ref!r}; expected one of: {KNOWN_REFERENCES}")
    provider = PROVIDERS.get(name)
    if provider is None:
        if base_url is not None:
            raise ConfigError(f"judge {ref} runs on this machine and takes no base URL")
        return None
    address = provider.base_url if base_url is None else _normalised(base_url, provider)
    return Endpoint(provider, rest, address)


def _is_well_formed(name: str, rest: str) -> bool:
    if name == "offline":
        return not rest
    known = name == "replay" or name in PROVIDERS
    # Unprintable includes lone surrogates, which cannot be sent.
    return known and bool(rest.strip()) and rest.isprintable()


def _normalised(base_url: str, provider: Provider) -> str:
    try:
        parts = urlsplit(base_url.strip())
        port = parts.port
    except ValueError as error:
        raise ConfigError(f"the base URL cannot be read: {error}") from error
    host = parts.hostname or ""
    if parts.username is not None or parts.password is not None:
        # The address is stored with the run, so a password must not be part of it.
        raise ConfigError(f"the base URL must not hold a password; put the key in {OTHER_HOST_KEY}")
    if (
        parts.scheme not in {"http", "https"}
        or not host
        or parts.query
        or parts.fragment
        or not base_url.strip().isprintable()
        or " " in base_url.strip()
    ):
        raise ConfigError(
            f"the base URL {base_url!r} cannot be used; expected something like"
            " http://localhost:8080/v1"
        )
    path = parts.path.rstrip("/")
    if provider.name == "openai":
        path = path.removesuffix("/chat/completions") or "/v1"
    else:
        path = path.removesuffix("/messages").removesuffix("/v1")
    shown_host = f"[{host}]" if ":" in host else host
    shown_port = "" if port is None else f":{port}"
    return f"{parts.scheme}://{shown_host}{shown_port}{path}"
