"""From what a person asks for to a run that can start: everything is checked before it begins."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from faithtui.domain.ids import ConversationId, RunId
from faithtui.engine.requests import RunRequest
from faithtui.errors import ConfigError
from faithtui.judges.opening import judge_fingerprint, missing_key
from faithtui.metrics.base import Metric
from faithtui.metrics.registry import build, options_of
from faithtui.store.records import RunSpec
from faithtui.store.store import Store

MOST_CONCURRENT = 256


def plan(store: Store, request: RunRequest, *, environ: Mapping[str, str] | None = None) -> RunId:
    """Check an order and write it down as a planned run.

    Args:
        store: Where the conversations are.
        request: The order.
        environ: Where keys are looked for; None for the process's own environment.

    Raises:
        ConfigError: Unknown metric, option, judge or source; a missing key; nothing to run over.
    """
    metric = metric_of(request)
    check_concurrency(request.concurrency)
    fingerprint = judge_fingerprint(request.judge, request.base_url)
    key = missing_key(request.judge, request.base_url, os.environ if environ is None else environ)
    if key is not None:
        raise ConfigError(
            f"{request.judge} needs a key: set {key} in the environment, "
            "or use --judge offline, which needs none"
        )
    conversations = _selection(store, request.sources, request.limit)
    spec = RunSpec(
        metric=metric.spec.key,
        metric_version=metric.spec.version,
        peer=metric.spec.peer,
        strategy=request.strategy,
        options=options_of(metric),
        rule=metric.rule,
        judge=request.judge,
        judge_fingerprint=fingerprint,
        base_url=request.base_url,
        prompt_digest=metric.prompt_digest,
        prompts_dir=None if request.prompts_dir is None else str(request.prompts_dir.absolute()),
        claims="imported" if request.imported_claims else "extracted",
        sources=request.sources,
        concurrency=request.concurrency,
    )
    return store.runs.create(spec, conversations)


def metric_of(request: RunRequest) -> Metric[Any]:
    """Build the metric an order names, with its options.

    Raises:
        ConfigError: Unknown metric or option, a value that cannot be.
    """
    options: dict[str, object] = dict(request.options)
    options["strategy"] = request.strategy
    options["as_peer"] = request.as_peer
    return build(request.metric, options, prompts_dir=request.prompts_dir)


def check_concurrency(concurrency: int) -> None:
    """Refuse a number of questions in the air that cannot be meant.

    Raises:
        ConfigError: Outside 1 to 256.
    """
    if not 1 <= concurrency <= MOST_CONCURRENT:
        raise ConfigError(f"concurrency is {concurrency}; expected 1 to {MOST_CONCURRENT}")


def _selection(
    store: Store, sources: Sequence[str], limit: int | None
) -> tuple[ConversationId, ...]:
    if limit is not None and limit < 1:
        raise ConfigError(f"limit is {limit}; expected 1 or more conversations")
    known = [row.source for row in store.conversations.sources()]
    for source in sources:
        if source not in known:
            there = ", ".join(known) or "none yet"
            raise ConfigError(f"there is no source `{source}`; imported: {there}")
    conversations = store.conversations.ids(sources, limit)
    if not conversations:
        raise ConfigError("there are no conversations yet: faithtui import FILE.jsonl")
    return conversations
