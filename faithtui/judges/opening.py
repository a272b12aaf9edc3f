"""From what the user calls a judge to a judge that is ready to answer.

Provider SDKs take up to a second to import, so one is imported only when its judge is opened, and
never by naming, checking or fingerprinting it.
"""

import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from faithtui.judges.base import Judge
from faithtui.judges.endpoints import Endpoint, endpoint_of
from faithtui.judges.secret import Secret

OFFLINE_TITLE = "overlap baseline (offline heuristic)"
"""What headers and exports call the embedded judge, so that nobody takes it for a model."""


def judge_title(ref: str) -> str:
    """Name a judge for people: its reference, but what it is for the embedded one."""
    return OFFLINE_TITLE if ref == "offline" else ref


def reads_prompts(ref: str) -> bool:
    """Whether a judge answers from the prompt's words; the embedded one works from the task."""
    return ref != "offline"


def open_judge(
    ref: str,
    *,
    base_url: str | None = None,
    timeout_s: float = 120.0,
    environ: Mapping[str, str] | None = None,
) -> AbstractAsyncContextManager[Judge]:
    """Open a judge for the run that uses it; leaving the context closes its connections.

    The reference and the key are checked at once, without a network. Enter the context on the
    event loop that will ask: SDK clients belong to their loop.

    Args:
        ref: `offline`, `openai:MODEL`, `anthropic:MODEL` or `replay:FILE`.
        base_url: Another server that speaks the provider's protocol. Such a server never gets a
            provider's own key: it gets `FAITHTUI_JUDGE_KEY`, or the word `none`.
        timeout_s: Seconds one question may take from connecting to the last byte.
        environ: Where keys are looked up; None: the process environment.

    Raises:
        ConfigError: Unknown provider, no model or file, an unusable address, or a key that is
            missing or cannot be one.
    """
    endpoint = endpoint_of(ref, base_url)
    key = None if endpoint is None else endpoint.key(os.environ if environ is None else environ)

    def make() -> Judge:
        if endpoint is None or key is None:
            return _local_judge(ref)
        return _provider_judge(endpoint, key, timeout_s)

    return _opened(make)


def missing_key(
    ref: str, base_url: str | None, environ: Mapping[str, str] | None = None
) -> str | None:
    """Name the environment variable that a judge needs and that is not set.

    Returns:
        None when the judge needs no key or has one. Whether a key is right only the provider
        can say.

    Raises:
        ConfigError: As `open_judge`, but for the key.
    """
    endpoint = endpoint_of(ref, base_url)
    if endpoint is None or not endpoint.is_official:
        return None
    variables = os.environ if environ is None else environ
    return None if variables.get(endpoint.key_variable, "").strip() else endpoint.key_variable


def judge_fingerprint(ref: str, base_url: str | None = None) -> str:
    """Return the `fingerprint` the opened judge would have, without a key, a network or an SDK.

    Raises:
        ConfigError: As `open_judge`, but for the key.
        InputError: The file of `replay:FILE` cannot be read.
    """
    endpoint = endpoint_of(ref, base_url)
    return _local_judge(ref).fingerprint if endpoint is None else endpoint.fingerprint


@asynccontextmanager
async def _opened(make: Callable[[], Judge]) -> AsyncGenerator[Judge]:
    judge = make()
    try:
        yield judge
    finally:
        await judge.aclose()


def _provider_judge(endpoint: Endpoint, key: Secret, timeout_s: float) -> Judge:
    from faithtui.judges.provider_judge import ProviderJudge

    if endpoint.provider.name == "openai":
        from faithtui.judges.openai_judge import OpenAIChat

        return ProviderJudge(endpoint, key, OpenAIChat, timeout_s=timeout_s)
    from faithtui.judges.anthropic_judge import AnthropicMessages

    return ProviderJudge(endpoint, key, AnthropicMessages, timeout_s=timeout_s)


def _local_judge(ref: str) -> Judge:
    if ref == "offline":
        from faithtui.judges.offline_judge import OfflineJudge

        return OfflineJudge()
    from faithtui.judges.replay_judge import ReplayJudge

    return ReplayJudge(Path(ref.removeprefix("replay:")).expanduser())
