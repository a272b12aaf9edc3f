"""Which judges a new run can use, and what is known of each before anything is asked.

Only servers on this machine are looked for, where programs that serve models listen. No other host
is asked anything before a judge is tested or a run is started.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from faithtui.errors import ConfigError, FaithtuiError
from faithtui.judges.plugins import list_judge_plugins
from faithtui.judges.providers.api_keys import find_key_source
from faithtui.judges.providers.endpoints import (
    BUILT_IN,
    PROVIDERS,
    Endpoint,
    Provider,
    parse_endpoint,
)
from faithtui.judges.providers.prices import Price, PriceTable
from faithtui.store.records import RunRow

LOOK_S = 1.5
"""Seconds a server on this machine gets to say which models it has."""

LOCAL_PROGRAMS: Final = tuple(each for each in PROVIDERS.values() if each.host is None)
"""Programs that serve models on this machine."""

UNNAMED_MODEL: Final = "MODEL"
"""What stands for the model where a person has to name it."""

_TYPE_MODEL: Final = "type the model"

_MOST_USED: Final = 6
"""Judges of earlier runs that are offered, newest first."""

_MOST_MODELS: Final = 12
"""Models of one server that are offered."""

_OFFERED_MODELS: Final = tuple(
    (judge, "")
    for judge in (
        "openai:gpt-6-luna",
        "openai:gpt-6-sol",
        "openai:gpt-6-astra",
        "anthropic:claude-haiku-5-5",
        "anthropic:claude-sonnet-5-5",
        "anthropic:claude-opus-5-5",
    )
)
"""Models of the two companies that are offered unasked, with their address; any other can be
typed."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A program of this machine that was asked for its models."""

    provider: Provider
    models: tuple[str, ...] | None
    """In its order; None: it does not answer."""


class _JudgeAddress(NamedTuple):
    judge: str
    base_url: str | None


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """A judge that can be chosen."""

    judge: str
    """As for `--judge`: `offline`, `openai:gpt-6-luna`."""
    base_url: str | None
    """Address of its server; None: the provider's own, or none."""
    state: str
    """Whether it can be used now, where it is known from, and its price, in words."""
    is_ready: bool
    """Nothing is known that it lacks."""


def list_judge_choices(
    runs: Iterable[RunRow],
    configured: tuple[str, str | None],
    prices: PriceTable,
    environ: Mapping[str, str],
    *,
    servers: Sequence[LocalServer] = (),
    with_keyring: bool = True,
) -> list[JudgeChoice]:
    """List judges: the embedded one, the configured one, those of runs, of providers and servers.

    Args:
        runs: All runs of the store; their judges are offered again, the newest first.
        configured: Judge and address of the settings.
        prices: Names the models of a provider whose key is there, and what they cost.
        environ: Where keys are looked for.
        servers: What `find_local_servers` found.
        with_keyring: Look for keys in the system's keyring too, whose owner may have to unlock it.
    """
    used: dict[_JudgeAddress, list[int]] = {}
    for row in sorted(runs, key=lambda each: -each.id):
        used.setdefault(_drop_official_address(row.spec.judge, row.spec.base_url), []).append(
            row.id
        )
    keys = _KeyLookup(environ, with_keyring)
    settings = _drop_official_address(*configured)
    served = {
        _JudgeAddress(f"{each.provider.name}:{model}", None): each.provider
        for each in servers
        for model in (each.models or ())[:_MOST_MODELS]
    }
    priced = {
        _drop_official_address(endpoint.ref, endpoint.base_url)
        for judge, address in (*_OFFERED_MODELS, *prices.prices)
        if (endpoint := _parse_endpoint_or_none(judge, address or None)) is not None
        and (not endpoint.is_official or keys.has_key(endpoint))
    }
    known = dict.fromkeys(
        (
            _JudgeAddress("offline", None),
            settings,
            *list(used)[:_MOST_USED],
            *sorted(served),
            *sorted(priced, key=lambda each: _make_price_sort_key(each, prices)),
        )
    )
    answering = {each.provider.name for each in servers if each.models is not None}
    silent = {each.provider.name for each in servers if each.models is None}
    found = []
    for each in known:
        words = ["set as the usual judge"] if each == settings and each.judge != "offline" else []
        words += [describe_runs_of_judge(used[each])] if each in used else []
        choice = _make_judge_choice(each, keys, prices, words, answering, silent)
        if choice is not None:
            found.append(choice)
    return [*found, *_list_providers_without_listed_models(found, keys)]


async def find_local_servers(
    environ: Mapping[str, str],
    programs: Sequence[Provider] = LOCAL_PROGRAMS,
    *,
    timeout_s: float = LOOK_S,
) -> list[LocalServer]:
    """Ask the programs that serve models on this machine, at their usual ports, which they have."""
    # Imported here because it brings the provider's side with it.
    from faithtui.judges.providers.served_models import list_served_models

    async def ask_program(provider: Provider) -> LocalServer:
        try:
            models = await list_served_models(
                f"{provider.name}:{UNNAMED_MODEL}",
                provider.base_url,
                environ=environ,
                timeout_s=timeout_s,
            )
        except FaithtuiError:
            return LocalServer(provider, None)
        return LocalServer(provider, models)

    return list(await asyncio.gather(*map(ask_program, programs)))


def describe_runs_of_judge(runs: Sequence[int]) -> str:
    """Say which runs used a judge.

    Args:
        runs: Numbers of runs, newest first, at least one.
    """
    if len(runs) == 1:
        return f"used in run {runs[0]}"
    if len(runs) == 2:
        return f"used in runs {runs[1]} and {runs[0]}"
    return f"used in {len(runs)} runs, last in {runs[0]}"


class _KeyLookup:
    """Whether judges have the key they need; looks each key up once."""

    def __init__(self, environ: Mapping[str, str], with_keyring: bool) -> None:
        self._environ = environ
        self._with_keyring = with_keyring
        self._found: dict[str, str | None] = {}

    def has_key(self, endpoint: Endpoint) -> bool:
        """Whether a key is set or kept for an address."""
        return self.find_source(endpoint) is not None

    def find_source(self, endpoint: Endpoint) -> str | None:
        """Say where the key of an address comes from; None: there is none."""
        variable = endpoint.key_variable
        if variable not in self._found:
            source: str | None = None
            if self._environ.get(variable, "").strip():
                source = "environment"
            elif self._with_keyring:
                source = find_key_source(endpoint.ref, endpoint.base_url, self._environ)
            self._found[variable] = source
        return self._found[variable]


def _drop_official_address(judge: str, base_url: str | None) -> _JudgeAddress:
    """Leave out an address that is the provider's own."""
    endpoint = _parse_endpoint_or_none(judge, base_url)
    if endpoint is None:
        return _JudgeAddress(judge, base_url)
    is_own = endpoint.base_url == endpoint.provider.base_url
    return _JudgeAddress(judge, None if is_own else endpoint.base_url)


def _parse_endpoint_or_none(judge: str, base_url: str | None) -> Endpoint | None:
    try:
        return parse_endpoint(judge, base_url)
    except ConfigError:
        return None


def _make_judge_choice(
    judge: _JudgeAddress,
    keys: _KeyLookup,
    prices: PriceTable,
    words: list[str],
    answering: set[str],
    silent: set[str],
) -> JudgeChoice | None:
    """Put into words what is known of a judge; None where nobody can ask it any more."""
    if judge.judge == "offline":
        return JudgeChoice(
            "offline", None, _join_with_dots("built in: no key, no cost", *words), True
        )
    try:
        endpoint = parse_endpoint(*judge)
    except ConfigError:
        return None
    if endpoint is None:
        is_plugin = judge.judge.partition(":")[0] not in BUILT_IN
        origin = "from an installed package" if is_plugin else "recorded replies"
        return JudgeChoice(*judge, _join_with_dots(origin, *words), True)
    is_ready = True
    if endpoint.is_official:
        is_ready = keys.has_key(endpoint)
        state = _describe_key(endpoint, keys)
    elif endpoint.is_local:
        name = endpoint.provider.name
        usual = endpoint.base_url == endpoint.provider.base_url
        is_ready = not (usual and name in silent)
        state = "on this machine"
        if usual and name in answering | silent:
            state = f"{'answers' if is_ready else 'no answer'} at {endpoint.host}"
        elif not usual:
            state = f"at {endpoint.host} on this machine"
    else:
        state = f"at {endpoint.host}"
        if keys.has_key(endpoint):
            state += f", {_describe_key(endpoint, keys)}"
    return JudgeChoice(
        *judge, _join_with_dots(state, *words, _describe_price(endpoint, prices)), is_ready
    )


def _describe_key(endpoint: Endpoint, keys: _KeyLookup) -> str:
    match keys.find_source(endpoint):
        case None:
            return f"no key: set {endpoint.key_variable}"
        case "keyring":
            return "key in the keyring"
        case _:
            return "key set"


def _describe_price(endpoint: Endpoint, prices: PriceTable) -> str:
    found = prices.find_price_or_fixed_cost(endpoint.ref, endpoint.base_url)
    if found is None:
        return "no price known"
    if not isinstance(found, Price):
        return "no cost"
    source = prices.find_price_source(endpoint.ref, endpoint.base_url)
    return f"${found.input:g} in, ${found.output:g} out per 1M tokens ({source})"


def _make_price_sort_key(judge: _JudgeAddress, prices: PriceTable) -> tuple[str, float, str]:
    found = prices.find_price_or_fixed_cost(*judge)
    price = found.output if isinstance(found, Price) else 0.0
    return judge.judge.partition(":")[0], price, judge.judge


def _list_providers_without_listed_models(
    found: Sequence[JudgeChoice], keys: _KeyLookup
) -> Iterable[JudgeChoice]:
    """Name providers none of whose models is listed, with what it takes to use them."""
    listed = {each.judge.partition(":")[0] for each in found}
    for provider in PROVIDERS.values():
        endpoint = _parse_endpoint_or_none(f"{provider.name}:{UNNAMED_MODEL}", None)
        if provider.host is None or provider.name in listed or endpoint is None:
            continue
        state = _join_with_dots(_describe_key(endpoint, keys), _TYPE_MODEL)
        yield JudgeChoice(endpoint.ref, None, state, keys.has_key(endpoint))
    for name in sorted(list_judge_plugins().keys() - BUILT_IN - listed):
        state = _join_with_dots("from an installed package", _TYPE_MODEL)
        yield JudgeChoice(f"{name}:{UNNAMED_MODEL}", None, state, True)


def _join_with_dots(*words: str) -> str:
    return " · ".join(word for word in words if word)
