"""From what was typed after `faithtui run` to planned runs."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from faithtui.cli.output import print_to_stderr
from faithtui.cli.stores import read_id_of_run_with_verdicts
from faithtui.domain.ids import RunId
from faithtui.domain.judging.failure_limit import FailureLimit
from faithtui.domain.text.suggestions import format_suggestion
from faithtui.engine.calls.budget import NUSD
from faithtui.engine.calls.image_hosts import find_image_hosts
from faithtui.engine.runs import run_planner
from faithtui.engine.runs.judge_profiles import choose_profiles
from faithtui.engine.runs.request import CLAIMS, RunRequest
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.errors import ConfigError
from faithtui.judges.providers.endpoints import is_in_process_judge
from faithtui.metrics.registry import METRICS
from faithtui.store.store import Store

ALL_METRICS = "all"
"""The word for every metric."""
_OF_RUN = "run:"
_OF_SET = "set:"


def make_requests(
    common: RunRequest,
    metrics: Sequence[str],
    judges: Sequence[str],
    options: Sequence[str],
    parameters: Mapping[str, Mapping[str, object]],
    typed: Mapping[str, object],
) -> tuple[RunRequest, ...]:
    """Make a request for each metric and judge that was typed.

    Args:
        common: What they have in common; its metric and judge where none was typed.
        metrics: As typed.
        judges: As typed.
        options: As typed, `name=value` each.
        parameters: Of judges, as the settings have them.
        typed: Parameters that were typed, by name.

    Raises:
        ConfigError: An option cannot be used.
    """
    if common.claims not in CLAIMS and not common.claims.startswith((_OF_RUN, _OF_SET)):
        raise ConfigError(
            f"--claims is `{common.claims}`; expected {', '.join(CLAIMS)}, run:N or set:NAME"
            f"{format_suggestion(common.claims, CLAIMS)}"
        )
    values = dict(_split_option(text) for text in options)
    if ALL_METRICS in metrics:
        metrics = tuple(each.spec.key for each in METRICS)
    metrics = metrics or (common.metric,)
    judges = judges or (common.judge,)
    profiles = choose_profiles(judges, parameters, os.environ, typed)
    return tuple(
        replace(
            common,
            metric=metric,
            judge=judge,
            profile=profiles[judge],
            options=run_planner.select_metric_options(metric, values, metrics),
        )
        for metric, judge in product(metrics, judges)
    )


def read_typed_judge_parameters(
    *, extra_headers: Sequence[str] | None, **texts: str | None
) -> dict[str, object]:
    """Read the parameters of judges that were typed, by name; the values are read later.

    Args:
        extra_headers: As typed, `name=value` each; None: none.
        **texts: Values by name; None: not typed.

    Raises:
        ConfigError: A header is none.
    """
    typed: dict[str, object] = {name: text for name, text in texts.items() if text is not None}
    headers: dict[str, str] = {}
    for each in extra_headers or ():
        name, equals, value = each.partition("=")
        if not equals:
            # A header may hold a secret: it stays out of the message.
            raise ConfigError("--extra-header is not valid; expected NAME=VALUE")
        headers[name.strip()] = value.strip()
    return {**typed, "extra_headers": headers} if headers else typed


def resolve_claims_option(store: Store, requests: Sequence[RunRequest]) -> tuple[RunRequest, ...]:
    """Find what `--claims run:N` or `--claims set:NAME` names.

    Raises:
        ConfigError: It is no number of a run.
        StoreError: There is no such run or claim set.
    """

    def replace_claims_option(request: RunRequest) -> RunRequest:
        kind, colon, name = request.claims.partition(":")
        if not colon:
            return request
        if kind == "set":
            return replace(
                request, claims=kind, claim_set=store.claim_sets.find_version_by_name(name).id
            )
        return replace(request, claims=kind, claims_run=read_id_of_run_with_verdicts(store, name))

    return tuple(map(replace_claims_option, requests))


def warn_of_blocked_images(store: Store, runs: Sequence[RunId]) -> None:
    """Say on stderr which conversations will fail because of where their images lie."""
    for run in runs:
        judge = store.runs.read_run(run).spec.judge
        if is_in_process_judge(judge) or not store.images.has_url_only_images():
            continue
        pending = [each.conversation for each in store.runs.list_pending_items(run)]
        held_back = find_image_hosts(store, pending, judge).format_never_allowed_warning()
        if held_back is not None:
            print_to_stderr(f"run {run}: {held_back}")


def update_limits_of_resumed_run(
    store: Store,
    run: RunId,
    environment: RunEnvironment,
    *,
    concurrency: int | None,
    budget_nusd: int | None,
    budget_tokens: int | None,
    max_failures: FailureLimit | None,
) -> None:
    """Give a run that goes on other limits, where some were typed.

    Raises:
        ConfigError: One of them cannot be used.
    """
    if concurrency is not None:
        run_planner.check_concurrency(concurrency)
    if max_failures is not None:
        store.runs.set_max_failures(run, max_failures)
    if budget_nusd is None and budget_tokens is None:
        return
    spec = store.runs.read_run(run).spec
    nusd = spec.budget_nusd if budget_nusd is None else budget_nusd
    tokens = spec.budget_tokens if budget_tokens is None else budget_tokens
    run_planner.check_budget(nusd, tokens, spec.judge, spec.base_url, environment)
    store.runs.set_budget(run, nusd, tokens)


def parse_budget_in_nano_dollars(dollars: float | None) -> int | None:
    """Read what was typed after `--budget-usd`, in units of 1e-9 US dollars; None: nothing was.

    Raises:
        ConfigError: It is no amount.
    """
    if dollars is None:
        return None
    if not math.isfinite(dollars):
        raise ConfigError("--budget-usd is no amount of money; expected something like 2.50")
    return round(dollars * NUSD)


def read_failure_limit(text: str) -> FailureLimit:
    """Read what was typed after `--max-failures`.

    Raises:
        ConfigError: It is no limit.
    """
    limit = FailureLimit.parse(text)
    if limit is None:
        raise ConfigError(
            f"--max-failures is `{text}`; expected a number from 1, such as 10, or a share of the "
            "conversations, such as 5%"
        )
    return limit


def _split_option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ConfigError(f"--option is `{text}`; expected name=value, such as window_size=5")
    return name.strip(), value.strip()
