"""`faithtui judge test`, `list` and `key`: whether a judge works, which there are, their keys."""

import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from faithtui.cli.output import Column, put, put_json, put_table, say
from faithtui.config import load_settings
from faithtui.engine.judge_check import Trial, try_judge
from faithtui.engine.preview.estimates import dollars
from faithtui.engine.runs.environment import circumstances
from faithtui.errors import ConfigError, FaithtuiError
from faithtui.judges.deadlines import check_timeout
from faithtui.judges.plugins import plugged_in
from faithtui.judges.providers.api_keys import SERVICE, VARIABLES, forget_key, key_source, store_key
from faithtui.judges.providers.endpoints import BUILT_IN, OTHER_HOST_KEY, PROVIDERS

LOOK_S = 1.5
"""Seconds a server on this machine gets to say which models it has."""

_MOST_MODELS = 4
"""Models of a server that are named in a table."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A judge that can be named."""

    judge: str
    what: str
    state: str
    """Whether it can be used now."""


def try_out(
    ref: str | None, base_url: str | None, timeout_s: float | None, *, as_json: bool
) -> int:
    """Ask a judge one question; 0 when it can be used.

    Args:
        ref: The judge; None: the one of the settings.
        base_url: Its address; None: its own, or as set.
        timeout_s: Seconds one answer may take; None: 30, or as set.
        as_json: Print JSON.
    """
    settings = load_settings()
    if timeout_s is not None:
        check_timeout(timeout_s, "--timeout")
    address = base_url or (settings.base_url if ref in (None, settings.judge) else None)
    judge = ref or settings.judge
    around = circumstances(prices=settings.prices, redact=settings.redact)
    trial = asyncio.run(
        try_judge(judge, address, timeout_s=timeout_s or settings.timeout_s, around=around)
    )
    if as_json:
        put_json({"judge": judge, "base_url": address, **asdict(trial)})
    else:
        put(f"{judge}: {trial.sentence}")
        details = said_besides(trial)
        if details:
            put(f"  {details}")
    return trial.exit_code


def said_besides(trial: Trial) -> str:
    """Say in a line what a trial used; "" when nothing was answered."""
    if not trial.calls:
        return ""
    parts = [f"{trial.calls} {'answer' if trial.calls == 1 else 'answers'}"]
    parts.append(f"{trial.tokens_in} tokens read and {trial.tokens_out} written")
    parts.append(
        "cost not known" if trial.cost_nusd is None else f"cost {dollars(trial.cost_nusd)}"
    )
    if trial.served_model:
        parts.append(f"served by {trial.served_model}")
    return ", ".join(parts)


def list_judges(*, as_json: bool) -> int:
    """List every judge that can be named, with what runs on this machine now."""
    listed = [
        Listed("offline", "built-in heuristic: no key, no network", "ready"),
        *_companies(),
        *asyncio.run(_programs()),
        Listed("replay:FILE", "recorded replies in a file", "ready"),
        *_installed(),
    ]
    if as_json:
        put_json([asdict(each) for each in listed])
        return 0
    put_table(
        (Column("judge"), Column("what"), Column("now", flexible=True)),
        [(each.judge, each.what, each.state) for each in listed],
    )
    say("faithtui judge test JUDGE asks one a question")
    return 0


def set_key(name: str) -> int:
    """Ask for a key and keep it in the system's keyring.

    Raises:
        ConfigError: There is no such key, it cannot be one, or there is no keyring.
    """
    variable = variable_named(name)
    store_key(variable, _typed(variable))
    say(f"{variable} is in the system's keyring (service {SERVICE})")
    if os.environ.get(variable, "").strip():
        say(f"{variable} is set in the environment too, which goes before the keyring")
    return 0


def drop_key(name: str) -> int:
    """Remove a key from the system's keyring.

    Raises:
        ConfigError: There is no such key, or there is no keyring.
    """
    variable = variable_named(name)
    there = forget_key(variable)
    say(f"{variable} is {'no longer' if there else 'not'} in the system's keyring")
    return 0


def variable_named(name: str) -> str:
    """Read the name of a key: a variable, or a provider that has one of its own.

    Raises:
        ConfigError: Neither.
    """
    plain = name.strip()
    if plain.upper() in VARIABLES:
        return plain.upper()
    provider = PROVIDERS.get(plain.lower().partition(":")[0])
    if provider is not None:
        return provider.key_variable
    known = ", ".join(each.name for each in PROVIDERS.values() if each.host is not None)
    raise ConfigError(
        f"`{name}` has no key; expected {known}, or one of {', '.join(VARIABLES)} "
        f"({OTHER_HOST_KEY} is for every other server)"
    )


def _typed(variable: str) -> str:
    """Read a key without showing it; a line of a pipe where nobody sits in front of it."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    from getpass import getpass

    return getpass(f"{variable} (not shown): ")


def _companies() -> list[Listed]:
    found = []
    for provider in PROVIDERS.values():
        if provider.host is None:
            continue
        source = key_source(f"{provider.name}:MODEL", None, os.environ)
        state = f"no key: {provider.key_variable}" if source is None else f"key from {source}"
        found.append(Listed(f"{provider.name}:MODEL", f"{provider.host}, paid", state))
    return found


async def _programs() -> list[Listed]:
    """Look at the ports where programs that serve models listen."""
    programs = [provider for provider in PROVIDERS.values() if provider.host is None]
    states = await asyncio.gather(*(_state(f"{each.name}:MODEL") for each in programs))
    return [
        Listed(f"{each.name}:MODEL", each.base_url, state)
        for each, state in zip(programs, states, strict=True)
    ]


async def _state(ref: str) -> str:
    from faithtui.judges.providers.served_models import models_served

    try:
        models = await models_served(ref, environ=os.environ, timeout_s=LOOK_S)
    except FaithtuiError:
        return "does not answer"
    return f"runs: {some(models)}" if models else "runs, without a model"


def some(models: Sequence[str]) -> str:
    """Name models, the first few of many."""
    more = len(models) - _MOST_MODELS
    named = ", ".join(models[:_MOST_MODELS])
    return f"{named} and {more} more" if more > 0 else named


def _installed() -> list[Listed]:
    found = []
    for name, points in sorted(plugged_in().items()):
        packages = ", ".join(sorted({point.dist.name for point in points if point.dist}))
        what = f"added by {packages}" if packages else "added by a package"
        state = "ready"
        if name in BUILT_IN:
            state = "cannot be used: the name is built in"
        elif len(points) > 1:
            state = "cannot be used: several packages claim the name"
        found.append(Listed(f"{name}:…", what, state))
    return found
