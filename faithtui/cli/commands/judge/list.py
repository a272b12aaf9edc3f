"""`faithtui judge list`: the judges that can be named, and whether they can be used now."""

import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import NamedTuple

import typer

from faithtui.cli.output import TableColumn, print_hint, print_json, print_table
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import merge_common_options

_MOST_MODELS = 4
"""Models of a server that are named in a table."""


class JudgeListing(NamedTuple):
    """A judge that can be named."""

    judge: str
    what: str
    state: str
    """Whether it can be used now."""


def list_judges(context: typer.Context, json: JsonOption = False) -> None:
    """List the judges that can be used.

    They are built in, run on this machine, or come from installed packages.

    Example: faithtui judge list
    """
    import asyncio

    listed = [
        JudgeListing("offline", "built-in heuristic: no key, no network", "ready"),
        *_list_provider_judges(),
        *asyncio.run(_list_local_servers()),
        JudgeListing("nli:PATH", "a classifier in a file of this machine", _describe_nli_support()),
        JudgeListing("replay:FILE", "recorded replies in a file", "ready"),
        *_list_plugins(),
    ]
    if merge_common_options(context, None, json).json:
        print_json([each._asdict() for each in listed])
        return
    print_table(
        (TableColumn("judge"), TableColumn("what"), TableColumn("now", flexible=True)), listed
    )
    print_hint("faithtui judge test JUDGE asks one a question")


def _list_provider_judges() -> list[JudgeListing]:
    from faithtui.judges.providers.api_keys import find_key_source
    from faithtui.judges.providers.endpoints import PROVIDERS

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
    from faithtui.engine.judge_choices import find_local_servers

    return [
        JudgeListing(
            f"{each.provider.name}:MODEL", each.provider.base_url, _format_server_state(each.models)
        )
        for each in await find_local_servers(os.environ)
    ]


def _describe_nli_support() -> str:
    is_installed = all(map(find_spec, ("onnxruntime", "tokenizers")))
    return "ready" if is_installed else "not installed: pip install 'faithtui[nli]'"


def _format_server_state(models: Sequence[str] | None) -> str:
    if models is None:
        return "does not answer"
    return f"runs: {format_model_names(models)}" if models else "runs, without a model"


def format_model_names(models: Sequence[str]) -> str:
    """Name models, the first few of many."""
    more = len(models) - _MOST_MODELS
    named = ", ".join(models[:_MOST_MODELS])
    return f"{named} and {more} more" if more > 0 else named


def _list_plugins() -> list[JudgeListing]:
    from faithtui.judges.plugins import list_judge_plugins
    from faithtui.judges.providers.endpoints import BUILT_IN

    found = []
    for name, points in sorted(list_judge_plugins().items()):
        packages = ", ".join(sorted({point.dist.name for point in points if point.dist}))
        what = f"added by {packages}" if packages else "added by a package"
        state = "ready"
        if name in BUILT_IN:
            state = "cannot be used: the name is built in"
        elif len(points) > 1:
            state = "cannot be used: several packages claim the name"
        found.append(JudgeListing(f"{name}:…", what, state))
    return found
