"""`faithtui judge test`, `list` and `key`: whether a judge works, which there are, their keys."""

import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from faithtui.cli.output import Column, print_json, print_table, print_text, print_to_stderr
from faithtui.config import load_settings
from faithtui.engine.judge_check import JudgeCheckResult, try_judge
from faithtui.engine.preview.estimates import format_usd
from faithtui.engine.runs.environment import make_run_environment
from faithtui.errors import ConfigError, FaithtuiError
from faithtui.judges.deadlines import check_timeout
from faithtui.judges.plugins import find_plugins
from faithtui.judges.providers.api_keys import (
    SERVICE,
    VARIABLES,
    find_key_source,
    forget_key,
    store_key,
)
from faithtui.judges.providers.endpoints import BUILT_IN, OTHER_HOST_KEY, PROVIDERS

LOOK_S = 1.5
"""Seconds a server on this machine gets to say which models it has."""

_MOST_MODELS = 4
"""Models of a server that are named in a table."""


@dataclass(frozen=True, slots=True)
class JudgeListing:
    """A judge that can be named."""

    judge: str
    what: str
    state: str
    """Whether it can be used now."""


def print_judge_check(
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
    around = make_run_environment(prices=settings.prices, redact=settings.redact)
    trial = asyncio.run(
        try_judge(judge, address, timeout_s=timeout_s or settings.timeout_s, around=around)
    )
    if as_json:
        print_json({"judge": judge, "base_url": address, **asdict(trial)})
    else:
        print_text(f"{judge}: {trial.sentence}")
        details = format_trial_usage(trial)
        if details:
            print_text(f"  {details}")
    return trial.exit_code


def format_trial_usage(trial: JudgeCheckResult) -> str:
    """Say in a line what a trial used; "" when nothing was answered."""
    if not trial.calls:
        return ""
    parts = [f"{trial.calls} {'answer' if trial.calls == 1 else 'answers'}"]
    parts.append(f"{trial.tokens_in} tokens read and {trial.tokens_out} written")
    parts.append(
        "cost not known" if trial.cost_nusd is None else f"cost {format_usd(trial.cost_nusd)}"
    )
    if trial.served_model:
        parts.append(f"served by {trial.served_model}")
    return ", ".join(parts)


def print_judges(*, as_json: bool) -> int:
    """List every judge that can be named, with what runs on this machine now."""
    listed = [
        JudgeListing("offline", "built-in heuristic: no key, no network", "ready"),
        *_list_companies(),
        *asyncio.run(_list_local_servers()),
        JudgeListing("replay:FILE", "recorded replies in a file", "ready"),
        *_list_plugins(),
    ]
    if as_json:
        print_json([asdict(each) for each in listed])
        return 0
    print_table(
        (Column("judge"), Column("what"), Column("now", flexible=True)),
        [(each.judge, each.what, each.state) for each in listed],
    )
    print_to_stderr("faithtui judge test JUDGE asks one a question")
    return 0


def set_key(name: str) -> int:
    """Ask for a key and keep it in the system's keyring.

    Raises:
        ConfigError: There is no such key, it cannot be one, or there is no keyring.
    """
    variable = read_key_variable(name)
    store_key(variable, _read_key(variable))
    print_to_stderr(f"{variable} is in the system's keyring (service {SERVICE})")
    if os.environ.get(variable, "").strip():
        print_to_stderr(f"{variable} is set in the environment too, which goes before the keyring")
    return 0


def drop_key(name: str) -> int:
    """Remove a key from the system's keyring.

    Raises:
        ConfigError: There is no such key, or there is no keyring.
    """
    variable = read_key_variable(name)
    there = forget_key(variable)
    print_to_stderr(f"{variable} is {'no longer' if there else 'not'} in the system's keyring")
    return 0


def read_key_variable(name: str) -> str:
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


def _read_key(variable: str) -> str:
    """Read a key without showing it; a line of a pipe where nobody sits in front of it."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    from getpass import getpass

    return getpass(f"{variable} (not shown): ")


def _list_companies() -> list[JudgeListing]:
    found = []
    for provider in PROVIDERS.values():
        if provider.host is None:
            continue
        source = find_key_source(f"{provider.name}:MODEL", None, os.environ)
        state = f"no key: {provider.key_variable}" if source is None else f"key from {source}"
        found.append(JudgeListing(f"{provider.name}:MODEL", f"{provider.host}, paid", state))
    return found


async def _list_local_servers() -> list[JudgeListing]:
    """Look at the ports where programs that serve models listen."""
    programs = [provider for provider in PROVIDERS.values() if provider.host is None]
    states = await asyncio.gather(
        *(_format_server_state(f"{each.name}:MODEL") for each in programs)
    )
    return [
        JudgeListing(f"{each.name}:MODEL", each.base_url, state)
        for each, state in zip(programs, states, strict=True)
    ]


async def _format_server_state(ref: str) -> str:
    from faithtui.judges.providers.served_models import list_served_models

    try:
        models = await list_served_models(ref, environ=os.environ, timeout_s=LOOK_S)
    except FaithtuiError:
        return "does not answer"
    return f"runs: {format_model_names(models)}" if models else "runs, without a model"


def format_model_names(models: Sequence[str]) -> str:
    """Name models, the first few of many."""
    more = len(models) - _MOST_MODELS
    named = ", ".join(models[:_MOST_MODELS])
    return f"{named} and {more} more" if more > 0 else named


def _list_plugins() -> list[JudgeListing]:
    found = []
    for name, points in sorted(find_plugins().items()):
        packages = ", ".join(sorted({point.dist.name for point in points if point.dist}))
        what = f"added by {packages}" if packages else "added by a package"
        state = "ready"
        if name in BUILT_IN:
            state = "cannot be used: the name is built in"
        elif len(points) > 1:
            state = "cannot be used: several packages claim the name"
        found.append(JudgeListing(f"{name}:…", what, state))
    return found
