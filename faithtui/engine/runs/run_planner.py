"""From what a person asks for to a run that can start: everything is checked before it begins."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from faithtui.domain.ids import ConversationId, RunId
from faithtui.domain.judging.judge_examples import Example
from faithtui.domain.text.suggestions import format_known_names
from faithtui.engine.calls.image_hosts import check_image_hosts
from faithtui.engine.review.examples_from_labels import (
    read_examples_file_for_run,
    store_examples_and_get_digest,
)
from faithtui.engine.review.recalibration import make_calibration_of_new_run, read_run_calibration
from faithtui.engine.runs.control import MOST_CONCURRENT
from faithtui.engine.runs.conversation_selection import select_conversations
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.errors import ConfigError
from faithtui.judges.providers.api_keys import explain_how_to_provide_key
from faithtui.judges.providers.batches import refuse_judge_without_batches
from faithtui.judges.registry import (
    check_and_adapt_judge_profile,
    find_missing_key_variable,
    is_prompt_based,
    make_judge_fingerprint,
)
from faithtui.metrics.base import Metric
from faithtui.metrics.registry import build, find_metric, list_option_names, metric_options_to_json
from faithtui.store.records import RunSettings, RunSpec
from faithtui.store.store import Store


def save_planned_runs(
    store: Store, requests: Sequence[RunRequest], environment: RunEnvironment
) -> list[RunId]:
    """Plan all runs of an order before the first begins, so that a slip in the last costs nothing.

    Args:
        store: Where the conversations are.
        requests: The runs. Later judges get the claims of the first one where they share them.
        environment: What they share.

    Raises:
        ConfigError: One of them cannot be run.
        InputError: The file of examples cannot be read.
    """
    for request in requests:
        check_given_claims(store, request, build_request_metric(request))
    planned: list[RunId] = []
    first: dict[str, RunId] = {}
    for request in requests:
        key = find_metric(request.metric).spec.key
        if judges_share_claims(request):
            request = replace(request, claims_run=first.get(key))
        planned.append(save_planned_run(store, request, environment=environment))
        first.setdefault(key, planned[-1])
    return planned


def judges_share_claims(request: RunRequest) -> bool:
    """Whether the judges of an order judge the same claims, those that the first one extracts."""
    return (
        request.claims == "extracted"
        and request.claims_run is None
        and request.claim_set is None
        and not request.as_peer
        and find_metric(request.metric).spec.judges == "claim"
    )


def save_planned_run(
    store: Store,
    request: RunRequest,
    *,
    environ: Mapping[str, str] | None = None,
    environment: RunEnvironment | None = None,
) -> RunId:
    """Check an order and write it down as a planned run.

    Args:
        store: Where the conversations are.
        request: The order.
        environ: Where keys are looked for; None for the process's own environment.
        environment: What the run shares with others of the process; None: nothing.

    Raises:
        ConfigError: Unknown metric, option, judge or source; a missing key; nothing to run over;
            examples that the judge or the metric cannot use, or that it must not see; parameters
            for a judge that takes none, or a header whose variable is not set; a budget in
            money for a judge whose price is not known; claims of a run that has none; images whose
            addresses the judge may not be sent.
        ExportError: The recording of its replies is another judge's.
        InputError: The file of examples cannot be read.
    """
    examples = read_examples_file_for_run(store, request.examples)
    environment = environment or RunEnvironment()
    spec, metric, conversations = draft_run(store, request, examples, environment)
    environ = os.environ if environ is None else environ
    spec.profile.resolve_headers(environ)
    refuse_missing_key(spec.judge, spec.base_url, environ)
    if environment.recorder is not None:
        environment.recorder.refuse_other_judge_than_recorded(spec.judge, spec.judge_fingerprint)
    if examples:
        spec = replace(spec, example_set=store_examples_and_get_digest(store, examples))
    prompts = metric.prompts.without_examples
    store.prompts.store_set(prompts.digest, spec.metric, prompts.version, prompts.texts)
    return store.runs.create(spec, conversations)


def refuse_missing_key(judge: str, base_url: str | None, environ: Mapping[str, str]) -> None:
    """Refuse a judge that needs a key that there is not; may ask the keyring.

    Raises:
        ConfigError: There is no key, with the ways to give one; or no such judge.
    """
    key = find_missing_key_variable(judge, base_url, environ)
    if key is not None:
        raise ConfigError(
            f"{judge} needs a key: {explain_how_to_provide_key(key)}, "
            "or use --judge offline, which needs none"
        )


def draft_run(
    store: Store, request: RunRequest, examples: Sequence[Example], environment: RunEnvironment
) -> tuple[RunSpec, Metric[Any], tuple[ConversationId, ...]]:
    """Check an order as `save_planned_run` does, and write nothing down. A key is not looked for.

    Args:
        store: Where the conversations are.
        request: The order.
        examples: What its file of examples holds.
        environment: What the run shares with others of the process.

    Returns:
        The run, whose examples have no name before they are kept; its metric; what it runs over.

    Raises:
        ConfigError: As `save_planned_run`, but for the key.
    """
    metric = build_request_metric(request, examples)
    check_concurrency(request.concurrency)
    judge = metric.judge or request.judge
    if examples and not is_prompt_based(judge, request.base_url):
        raise ConfigError(
            f"{judge} computes its answers and reads no prompt, so examples would change nothing; "
            "choose another judge with --judge"
        )
    profile = check_and_adapt_judge_profile(judge, request.profile)
    request = replace(request, profile=profile)
    calibration = make_calibration_of_new_run(store, judge)
    fingerprint = make_judge_fingerprint(
        judge,
        request.base_url,
        profile=profile,
        redact=environment.redact,
        calibration=read_run_calibration(calibration),
    )
    if request.batch:
        refuse_judge_without_batches(judge, request.base_url)
    check_budget(request.budget_nusd, request.budget_tokens, judge, request.base_url, environment)
    check_given_claims(store, request, metric)
    conversations = select_conversations(store, request)
    check_image_hosts(store, conversations, judge, environment.image_hosts)
    if request.prompts_dir is not None:
        request = replace(request, prompts_dir=request.prompts_dir.absolute())
    spec = RunSpec(
        **{each.name: getattr(request, each.name) for each in fields(RunSettings)},
        metric=metric.spec.key,
        metric_version=metric.spec.version,
        peer=metric.spec.peer,
        options=metric_options_to_json(metric),
        rule=metric.rule,
        judge=judge,
        judge_fingerprint=fingerprint,
        prompt_digest=metric.prompt_digest,
        prompt_set=metric.prompts.without_examples.digest,
        claims_from=_name_claims_origin(request),
        calibration=calibration,
    )
    return spec, metric, conversations


def _name_claims_origin(request: RunRequest) -> str:
    """Say where the claims of a run come from, as its row has it."""
    if request.claim_set is not None:
        return "set"
    if request.claims_run is not None:
        return "run"
    return "imported" if request.claims == "imported" else "extracted"


def build_request_metric(request: RunRequest, examples: Sequence[Example] = ()) -> Metric[Any]:
    """Build the metric an order names, with its options.

    Args:
        request: The order.
        examples: What its file of examples holds.

    Raises:
        ConfigError: Unknown metric or option, a value that cannot be.
    """
    options: dict[str, object] = dict(request.options)
    options["strategy"] = request.strategy
    options["as_peer"] = request.as_peer
    metric = build(request.metric, options, prompts_dir=request.prompts_dir, examples=examples)
    if request.claims == "imported" and metric.spec.judges != "claim":
        raise ConfigError(
            f"{metric.spec.key} judges {metric.spec.units[1]}, not claims of answers; "
            "run it without imported claims"
        )
    return metric


def select_metric_options(
    metric: str, options: Mapping[str, str], ordered: Sequence[str]
) -> dict[str, str]:
    """Choose, from options typed for several metrics, those of one.

    `name=value` goes to every metric that has the option; `metric.name=value` to that one alone.

    Args:
        metric: The metric.
        options: All that was typed, by name.
        ordered: All metrics that were ordered.

    Raises:
        ConfigError: An option that none of the metrics has, or a metric that was not ordered.
    """
    known = {find_metric(each).spec.key: list_option_names(each) for each in ordered}
    here = find_metric(metric).spec.key
    chosen: dict[str, str] = {}
    for typed, value in options.items():
        owner, dot, name = typed.rpartition(".")
        name = name.strip().replace("-", "_")
        if dot:
            if find_metric(owner).spec.key not in known:
                raise ConfigError(f"option {typed}: {owner} is not among the metrics of this run")
            if find_metric(owner).spec.key == here:
                chosen[name] = value
        elif name in known[here]:
            chosen.setdefault(name, value)
        elif not any(name in names for names in known.values()):
            every = sorted({each for names in known.values() for each in names})
            raise ConfigError(
                f"{' and '.join(known)} has no option `{typed}`; known: "
                f"{format_known_names(typed, every)}"
            )
    return chosen


def check_concurrency(concurrency: int) -> None:
    """Refuse a number of questions in flight that cannot be meant.

    Raises:
        ConfigError: Outside 1 to 256.
    """
    if not 1 <= concurrency <= MOST_CONCURRENT:
        raise ConfigError(f"concurrency is {concurrency}; expected 1 to {MOST_CONCURRENT}")


def check_budget(
    nusd: int | None,
    tokens: int | None,
    judge: str,
    base_url: str | None,
    environment: RunEnvironment,
) -> None:
    """Refuse a budget that cannot be kept.

    Args:
        nusd: What may be spent, in units of 1e-9 US dollars; None: anything.
        tokens: Tokens that may be used; None: any number.
        judge: Reference of the judge.
        base_url: Its address; None: the provider's own.
        environment: The prices.

    Raises:
        ConfigError: It is nothing or less, or in money for a judge whose price is not known.
    """
    if nusd is not None and nusd <= 0:
        raise ConfigError("--budget-usd is not above 0; leave it out for no limit")
    if tokens is not None and tokens <= 0:
        raise ConfigError("--budget-tokens is not above 0; leave it out for no limit")
    prices = environment.prices
    if nusd is not None and prices.compute_max_cost_nusd(judge, 1, 1, base_url=base_url) is None:
        raise ConfigError(
            f"the price of {judge} is not known (looked up in {prices.sources}), so --budget-usd "
            "cannot be kept; use --budget-tokens, or write the price into a table of your own and "
            "name it in the settings as `prices`"
        )


def check_given_claims(store: Store, request: RunRequest, metric: Metric[Any]) -> None:
    """Refuse to judge claims that a metric cannot judge, or that are not there yet.

    Raises:
        ConfigError: The metric, or that of the run whose claims are to be judged, judges something
            else; or that run has not judged all its conversations.
        StoreError: There is no such run or claim set.
    """
    if request.claim_set is not None:
        found = store.claim_sets.read_version(request.claim_set)
        for spec in (metric.spec, find_metric(found.metric).spec):
            if spec.judges != "claim":
                raise ConfigError(
                    f"{spec.key} judges {spec.units[1]}, not claims of answers, so that it cannot "
                    f"judge those of the claim set {found.title}; run it without --claims and "
                    f"name the set in `report --set`"
                )
    if request.claims_run is None:
        return
    row = store.runs.read_run(request.claims_run)
    for spec in (metric.spec, find_metric(row.spec.metric).spec):
        if spec.judges != "claim":
            raise ConfigError(
                f"{spec.key} judges {spec.units[1]}, not claims of answers, so runs cannot share "
                "them"
            )
    if request.claims == "run" and row.pending:
        raise ConfigError(
            f"run {row.id} has not judged {row.pending} of its conversations, so that its claims "
            f"are not all there: faithtui run --resume {row.id}"
        )
