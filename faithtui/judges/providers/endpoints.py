"""Which judge a reference means, where it lives and whose key it takes. No SDK is imported here.

Both SDKs read keys, hosts, organisations and headers from the environment on their own, also when
they were pointed at another host, and would so send the key of one company to another. Here all of
that is decided once, explicitly: a provider's own environment variable counts only for the
provider's own host.
"""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from faithtui.domain.judging.judge_profile import IDENTITY_MARK, NO_PARAMETERS, JudgeProfile
from faithtui.domain.text.suggestions import find_similar_name
from faithtui.errors import ConfigError
from faithtui.judges.plugins import list_judge_plugins

OTHER_HOST_KEY = "FAITHTUI_JUDGE_KEY"
"""Environment variable with the key for any host that is not the provider's own."""


_NAME: Final = re.compile(r"[\w-]+(\.[\w-]+)*\.?")
"""A name of a host, in any script. What else a URL lets stand there, such as a backslash or a
percent sign, programs read in different ways, so that a key might go to another host than this
module decided about."""


_BEHIND_BRACKET: Final = re.compile(r"\][^:]")
"""What Python passes over after an IPv6 address: `[::1].example.com`."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A company, or everyone who speaks its protocol."""

    name: str
    protocol: Literal["openai", "anthropic"]
    """Whose protocol it is."""
    host: str | None
    """The company's own; None for programs that users run themselves."""
    base_url: str
    key_variable: str
    """Environment variable with the key for the company's own host."""
    dialect: str
    """Name and version of how a question becomes a request. Part of every fingerprint: a change
    of what is sent must change it, so that stored replies are not taken for new ones."""


_CHAT = "openai-chat/1 json-schema"
_MESSAGES = "anthropic-messages/1 json-schema"


def _make_local_provider(name: str, port: int) -> Provider:
    """A program that serves models on this machine, where it listens by default."""
    return Provider(name, "openai", None, f"http://localhost:{port}/v1", OTHER_HOST_KEY, _CHAT)


PROVIDERS = {
    provider.name: provider
    for provider in (
        Provider(
            "openai",
            "openai",
            "api.openai.com",
            "https://api.openai.com/v1",
            "OPENAI_API_KEY",
            _CHAT,
        ),
        Provider(
            "anthropic",
            "anthropic",
            "api.anthropic.com",
            "https://api.anthropic.com",
            "ANTHROPIC_API_KEY",
            _MESSAGES,
        ),
        _make_local_provider("ollama", 11434),
        _make_local_provider("vllm", 8000),
        _make_local_provider("llamacpp", 8080),
        _make_local_provider("lmstudio", 1234),
    )
}

BUILT_IN = frozenset({"offline", "replay", "nli", *PROVIDERS})
"""What no judge of a package may be called."""

KNOWN_REFERENCES = (
    "offline, openai:MODEL, anthropic:MODEL, replay:FILE, ollama:MODEL, vllm:MODEL,"
    " llamacpp:MODEL, lmstudio:MODEL, nli:PATH"
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model at an address."""

    provider: Provider
    model: str
    base_url: str
    """Normalised: lower-case host, no slash at the end. The form the provider's SDK expects."""
    profile: JudgeProfile = NO_PARAMETERS
    """What the model is asked with."""

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
        return (
            ours is not None
            and parts.scheme == "https"
            and (host == ours or host.endswith(f".{ours}"))
        )

    @property
    def is_local(self) -> bool:
        """Whether this is the machine itself, which a proxy must not be asked for."""
        return is_loopback(urlsplit(self.base_url).hostname or "")

    @property
    def is_tls(self) -> bool:
        """Whether it is reached by https."""
        return urlsplit(self.base_url).scheme == "https"

    @property
    def key_variable(self) -> str:
        """Environment variable that holds the key for this address."""
        return self.provider.key_variable if self.is_official else OTHER_HOST_KEY

    @property
    def fingerprint(self) -> str:
        """Everything but the question that determines a reply. Holds no secret."""
        address_and_model = f"{self.provider.dialect} {self.base_url} {self.model}"
        identity = self.profile.identity
        return f"{address_and_model}{IDENTITY_MARK}{identity}" if identity else address_and_model


def parse_endpoint(
    ref: str, base_url: str | None, profile: JudgeProfile = NO_PARAMETERS
) -> Endpoint | None:
    """Take a judge reference apart.

    Args:
        ref: `PROVIDER:MODEL`, where the provider is one of `PROVIDERS`. A model may hold colons,
            `ollama:llama3:8b`.
        base_url: Address of another server that speaks the provider's protocol. For OpenAI's
            protocol the part before `/chat/completions`; without a path, `/v1` is added. For
            `anthropic` the part before `/v1`. None: the provider itself.
        profile: What the model is asked with.

    Returns:
        None when no provider is meant: `offline`, `replay:FILE` and judges of packages.

    Raises:
        ConfigError: Unknown provider, no model or file, or an address that cannot be used.
    """
    name, colon, rest = ref.partition(":")
    if name == "offline":
        is_known = not colon
    else:
        # Unprintable includes lone surrogates, which cannot be sent.
        is_known = bool(rest.strip()) and rest.isprintable() and is_judge_prefix(name)
    if not is_known:
        raise ConfigError(_format_unknown_judge(ref))
    provider = PROVIDERS.get(name)
    if provider is None:
        if base_url is not None and name in BUILT_IN:
            raise ConfigError(f"judge {ref} runs on this machine and takes no base URL")
        return None
    address = provider.base_url if base_url is None else _normalise_base_url(base_url, provider)
    return Endpoint(provider, rest, address, profile)


def is_loopback(host: str) -> bool:
    """Whether a host can only be the machine itself. Nothing is looked up.

    Args:
        host: As a URL has it, in lower case, an IPv6 address without its brackets.

    Returns:
        True for `localhost`, names that end in `.localhost`, 127.0.0.0/8 and ::1. Other ways to
        write these, such as `127.1` or `0x7f.0.0.1`, are names to some programs, and count as such.
    """
    address = _address_or_none(host)
    if address is None:
        name = host.removesuffix(".")
        return bool(_NAME.fullmatch(host)) and (name == "localhost" or name.endswith(".localhost"))
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address.is_loopback


def is_in_process_judge(ref: str) -> bool:
    """Whether a judge is part of this program: its questions leave nothing, and nobody bills."""
    return ref == "offline" or ref.startswith(("replay:", "nli:"))


def is_judge_prefix(name: str) -> bool:
    """Whether a judge reference may begin so: a built-in name, or that of a package's judge."""
    return name in BUILT_IN or name in list_judge_plugins()


def _format_unknown_judge(ref: str) -> str:
    others = sorted(list_judge_plugins().keys() - BUILT_IN)
    installed = f"; installed: {', '.join(f'{name}:…' for name in others)}" if others else ""
    meant = _suggest_judge(ref, others)
    return f"unknown judge {ref!r}; expected one of: {KNOWN_REFERENCES}{installed}{meant}"


_FAMILIES: Final = (
    ("openai", re.compile(r"(chat)?gpt\b|o\d\b")),
    ("anthropic", re.compile(r"claude\b")),
    ("ollama", re.compile(r"(llama|mistral|qwen|gemma|phi|deepseek)")),
)
"""How models are called that users name without their provider."""


def _suggest_judge(ref: str, others: Sequence[str]) -> str:
    """Ask for the judge that is meant by a model alone, or by a provider that is misspelt."""
    name, colon, model = ref.strip().partition(":")
    if not colon or name.lower() not in PROVIDERS:
        for provider, family in _FAMILIES:
            if family.match(ref.strip().lower()):
                return f". Did you mean `{provider}:{ref.strip()}`?"
    if not colon and Path(name).suffix == ".jsonl":
        return f". Did you mean `replay:{name}`?"
    known = find_similar_name(name, (*sorted(BUILT_IN), *others))
    if ref.strip().lower() in ("embedded", "local", "builtin", "built-in"):
        known = "offline"
    if known is None:
        return ""
    if known == "offline":
        return ". Did you mean `offline`?"
    return f". Did you mean `{known}:{model or 'MODEL'}`?"


def _address_or_none(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _normalise_base_url(base_url: str, provider: Provider) -> str:
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
        or (_NAME.fullmatch(host) is None and _address_or_none(host) is None)
        or _BEHIND_BRACKET.search(parts.netloc)
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
    if provider.protocol == "openai":
        path = path.removesuffix("/chat/completions") or "/v1"
    else:
        path = path.removesuffix("/messages").removesuffix("/v1")
    shown_host = f"[{host}]" if ":" in host else host
    shown_port = "" if port is None else f":{port}"
    return f"{parts.scheme}://{shown_host}{shown_port}{path}"
