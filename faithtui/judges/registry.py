"""From what the user calls a judge to a judge that is ready to answer.

Provider SDKs take up to a second to import, so one is imported only when its judge is opened, and
never by naming, checking or fingerprinting it.
"""

import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from faithtui.domain.field_types import require_type
from faithtui.domain.judging.judge_profile import DEFAULT_PROFILE, NO_PARAMETERS, JudgeProfile
from faithtui.errors import ConfigError
from faithtui.judges.base import Judge
from faithtui.judges.deadlines import TIMEOUT_S, Deadline, time_out_after
from faithtui.judges.logging_judge import LoggingJudge
from faithtui.judges.plugin_judge import (
    is_package_verifier,
    open_package_judge,
    refuse_ambiguous_judge_name,
)
from faithtui.judges.providers.api_keys import find_key_source, load_key
from faithtui.judges.providers.endpoints import (
    BUILT_IN,
    Endpoint,
    is_in_process_judge,
    parse_endpoint,
)
from faithtui.judges.providers.parameters import RefusedParameters
from faithtui.judges.providers.secret import Secret
from faithtui.judges.redaction import Redact, RedactingJudge, add_redaction_to_fingerprint
from faithtui.paths import expand_home

if TYPE_CHECKING:
    from faithtui.judges.embedded.weights import Calibration


def is_prompt_based(ref: str, base_url: str | None = None) -> bool:
    """Whether a judge answers from the prompt's words; the embedded one works from the task.

    So do verifiers, those of packages too.

    Raises:
        ConfigError: The judge of a package cannot be opened.
    """
    if ref.partition(":")[0] in BUILT_IN:
        return ref != "offline" and not ref.startswith("nli:")
    return not is_package_verifier(ref, base_url)


def takes_parameters(ref: str) -> bool:
    """Whether a judge is a model of a provider, which is asked with parameters."""
    return parse_endpoint(ref, None) is not None


def check_and_adapt_judge_profile(ref: str, profile: JudgeProfile) -> JudgeProfile:
    """Give the parameters that a judge is asked with: none where it takes none.

    Raises:
        ConfigError: Somebody set parameters for a judge that takes none, or the profile is one that
            was stored with a secret; or as `open_judge`.
    """
    if hidden := profile.list_hidden_settings():
        raise ConfigError(
            f"the parameters of {ref} hold a secret that is not read any more: "
            f"{', '.join(hidden)}. Start a new run, and send it as a header whose value is $NAME, "
            "an environment variable"
        )
    if takes_parameters(ref):
        return profile
    if not profile.is_default:
        raise ConfigError(
            f"judge {ref} takes no parameters, and {profile.describe()} would change nothing: "
            "leave that out, or choose a model of a provider"
        )
    return replace(NO_PARAMETERS, timeout_s=profile.timeout_s)


def open_judge(
    ref: str,
    *,
    base_url: str | None = None,
    profile: JudgeProfile = DEFAULT_PROFILE,
    refused: RefusedParameters | None = None,
    timeout_s: float | None = None,
    environ: Mapping[str, str] | None = None,
    redact: Redact | None = None,
    calibration: "Calibration | None" = None,
    log_prompts: bool = False,
    before_step: Callable[[], None] = lambda: None,
    deadline: Deadline = time_out_after,
) -> AbstractAsyncContextManager[Judge]:
    """Open a judge for the run that uses it; leaving the context closes its connections.

    The reference and the key are checked at once, without a network. Enter the context on the
    event loop that will ask: SDK clients belong to their loop.

    Args:
        ref: `offline`, `PROVIDER:MODEL`, `replay:FILE`, or `NAME:REST` of a package's judge.
        base_url: Another server that speaks the provider's protocol. Such a server never gets a
            provider's own key: it gets `FAITHTUI_JUDGE_KEY`, or the word `none`.
        profile: Parameters that a provider's model is asked with; others take none.
        refused: Parameters that this model is known not to take, and where others are noted that
            it refuses; None: nobody knows.
        timeout_s: Seconds one question may take from connecting to the last byte; None: as the
            profile says, else 120.
        environ: Where keys are looked up before the keyring; None: the process environment.
        redact: Applied to every text before it leaves this process. Judges that are part of this
            program, `offline` and `replay`, do without.
        calibration: Of the embedded judge's probabilities and verdicts; None: as shipped.
            Means nothing to others.
        log_prompts: Write every question as it is sent, and every answer, into the log
            `faithtui.prompts`.
        before_step: Called before each step of the embedded judge's computations, which it may
            hold up. Means nothing to others.
        deadline: Keeps the time of each question.

    Raises:
        ConfigError: Unknown provider, no model or file, an unusable address, a name that is
            claimed twice, or a key that is missing or cannot be one.
        InputError: The reference or the address is no text.
    """
    require_type(ref, str, "judge", "a text such as offline or openai:MODEL")
    require_type(base_url, str | None, "base_url", "an address, or None")
    profile = check_and_adapt_judge_profile(ref, profile)
    seconds = next((each for each in (timeout_s, profile.timeout_s) if each), TIMEOUT_S)
    endpoint = parse_endpoint(ref, base_url, profile)
    refuse_ambiguous_judge_name(ref)
    environ = os.environ if environ is None else environ
    headers = profile.resolve_headers(environ)
    key = None if endpoint is None else load_key(endpoint, environ)

    def make_judge() -> Judge:
        if endpoint is None or key is None:
            judge = _make_local_judge(
                ref, base_url, seconds, calibration, before_step, deadline, redact
            )
        else:
            judge = _make_provider_judge(endpoint, key, seconds, deadline, headers, refused)
        if log_prompts:
            judge = LoggingJudge(judge)
        return (
            judge if redact is None or is_in_process_judge(ref) else RedactingJudge(judge, redact)
        )

    return _yield_judge_then_close(make_judge)


def find_missing_key_variable(
    ref: str, base_url: str | None, environ: Mapping[str, str] | None = None
) -> str | None:
    """Name the environment variable that a judge needs and that neither it nor the keyring has.

    Returns:
        None when the judge needs no key or has one. Whether a key is right only the provider
        can say.

    Raises:
        ConfigError: As `open_judge`, but for the key.
    """
    endpoint = parse_endpoint(ref, base_url)
    if endpoint is None or not endpoint.is_official:
        return None
    has_key = find_key_source(ref, base_url, os.environ if environ is None else environ) is not None
    return None if has_key else endpoint.key_variable


def make_judge_fingerprint(
    ref: str,
    base_url: str | None = None,
    *,
    profile: JudgeProfile = DEFAULT_PROFILE,
    redact: Redact | None = None,
    calibration: "Calibration | None" = None,
) -> str:
    """Return the `fingerprint` the opened judge would have, without a key, a network or an SDK.

    Raises:
        ConfigError: As `open_judge`, but for the key.
        InputError: The file of `replay:FILE` cannot be read.
    """
    endpoint = parse_endpoint(ref, base_url, check_and_adapt_judge_profile(ref, profile))
    if endpoint is not None:
        return add_redaction_to_fingerprint(endpoint.fingerprint, redact)
    fingerprint = _make_local_judge(ref, base_url, calibration=calibration).fingerprint
    return (
        fingerprint
        if is_in_process_judge(ref)
        else add_redaction_to_fingerprint(fingerprint, redact)
    )


@asynccontextmanager
async def _yield_judge_then_close(make: Callable[[], Judge]) -> AsyncGenerator[Judge]:
    judge = make()
    try:
        yield judge
    finally:
        await judge.aclose()


def _make_provider_judge(
    endpoint: Endpoint,
    key: Secret,
    timeout_s: float,
    deadline: Deadline,
    headers: Mapping[str, str],
    refused: RefusedParameters | None,
) -> Judge:
    from faithtui.judges.providers.provider_judge import Dialect, ProviderJudge

    speak: Callable[..., Dialect]
    if endpoint.provider.protocol == "openai":
        from faithtui.judges.providers.openai_judge import OpenAIChat as speak
    else:
        from faithtui.judges.providers.anthropic_judge import AnthropicMessages as speak
    return ProviderJudge(
        endpoint,
        key,
        speak,
        timeout_s=timeout_s,
        deadline=deadline,
        headers=headers,
        refused=refused,
    )


def _make_local_judge(
    ref: str,
    base_url: str | None,
    timeout_s: float = 0.0,
    calibration: "Calibration | None" = None,
    before_step: Callable[[], None] = lambda: None,
    deadline: Deadline = time_out_after,
    redact: Redact | None = None,
) -> Judge:
    """Open what needs no provider: our own judges and those of packages."""
    if ref == "offline":
        from faithtui.judges.embedded.embedded_judge import OfflineJudge

        return OfflineJudge(calibration=calibration, before_step=before_step)
    if ref.startswith("replay:"):
        from faithtui.judges.replay_judge import ReplayJudge

        return ReplayJudge(expand_home(ref.removeprefix("replay:")))
    if ref.startswith("nli:"):
        from faithtui.judges.verifiers.nli import open_nli_verifier
        from faithtui.judges.verifiers.verifier_judge import VerifierJudge

        verifier = open_nli_verifier(ref.removeprefix("nli:"))
        return VerifierJudge(ref, verifier, before_step=before_step)
    return open_package_judge(ref, base_url, timeout_s=timeout_s, deadline=deadline, redact=redact)
