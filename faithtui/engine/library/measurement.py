"""One conversation measured outside a store: the same metrics, judges and scoring as in a run.

Nothing is written. Equal questions are asked once within a measurement.
"""

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from faithtui.domain.claims.verdicts import Claim
from faithtui.domain.conversation import Conversation
from faithtui.domain.field_types import require_items, require_type
from faithtui.domain.judging.judge_profile import DEFAULT_PROFILE, JudgeProfile
from faithtui.engine.interrupts import run_until_done_or_interrupted
from faithtui.engine.library.judge_session import (
    CONCURRENCY,
    AnyJudge,
    AskingOptions,
    SharedLimits,
    check_image_hosts_allowed,
    check_judge_protocol,
    open_session,
)
from faithtui.engine.library.measurement_result import Measurement
from faithtui.errors import ConfigError
from faithtui.metrics.base import Metric
from faithtui.metrics.registry import build


def measure(
    conversation: Conversation,
    metric: str | Metric[Any] = "turn-faithfulness",
    judge: AnyJudge = "offline",
    *,
    options: Mapping[str, object] | None = None,
    claims: Sequence[Claim] | None = None,
    images: Mapping[str, bytes] | None = None,
    base_url: str | None = None,
    concurrency: int = CONCURRENCY,
    image_hosts: Collection[str] = (),
    timeout_s: float | None = None,
    profile: JudgeProfile | None = None,
) -> Measurement:
    """Measure one conversation, and wait for the result.

    Works in a notebook too, where an event loop is running already: the questions are then asked
    on a thread of their own. An interrupt ends the asking.

    Args:
        conversation: What to measure; see `Conversation.of` and `single_turn`.
        metric: Key of a metric, hyphens or underscores, or one that `build` made.
        judge: `offline`, `openai:MODEL`, `anthropic:MODEL`, `replay:FILE`, or a judge of your own:
            an object with `fingerprint` and `answer`, as a package's entry point returns, or with
            the protocol `Judge`. It stays open.
        options: Options of the metric by the peer's names, when `metric` is a key.
        claims: Judge these instead of extracting any; None extracts.
        images: Bytes of the conversation's images, by SHA-256.
        base_url: Another server that speaks the judge's protocol.
        concurrency: Questions in flight at once, 1 or more.
        image_hosts: Hosts whose images a judge may be sent by address, so that its provider
            fetches them; `*`: all public ones. Images in `images` go as their bytes.
        timeout_s: Seconds one question may take, from connecting to the last byte, 1 to 86,400;
            None: as the profile says, else 120. Means nothing to an object with the protocol
            `Judge`.
        profile: Parameters that a provider's model is asked with; None: temperature 0.

    Returns:
        The result. Where the metric does not apply, its score is `skipped` with a reason; where a
        question failed for good, the window and the score are `failed`.

    Raises:
        ConfigError: Unknown metric, option or judge, a key that is missing, or an image whose
            address the judge may not be sent.
        InputError: Something is of another type; the message names it and what to give instead.
        MetricError: The judge takes no images, `raise_error` and the answer is not supported, or
            `as_peer` and the peer itself fails here.
        JudgeAuthFailed, JudgeQuotaExceeded: No question can succeed.
        JudgeUnreachable: Nothing was answered; whatever a judge of your own raised is the cause.
        JudgeError: Under `as_peer`, where one failure loses the conversation.
        KeyboardInterrupt: It was interrupted.

    Example:
        >>> from faithtui import measure, single_turn
        >>> conversation = single_turn(
        ...     "How long can I return it?",
        ...     "You can return it within thirty days.",
        ...     ["A purchase can be returned within thirty days."],
        ... )
        >>> result = measure(conversation, "turn-faithfulness", "offline")
        >>> result.score.value, result.success
        (1.0, True)
        >>> [(verdict.label, verdict.claim.text) for verdict in result.verdicts]
        [('yes', 'You can return it within thirty days.')]
        >>> result.score_with_overrides({result.claims[0]: "no"}).windowed.value
        0.0
    """
    return run_until_done_or_interrupted(
        lambda: measure_async(
            conversation,
            metric,
            judge,
            options=options,
            claims=claims,
            images=images,
            base_url=base_url,
            concurrency=concurrency,
            image_hosts=image_hosts,
            timeout_s=timeout_s,
            profile=profile,
        )
    )


async def measure_async(
    conversation: Conversation,
    metric: str | Metric[Any] = "turn-faithfulness",
    judge: AnyJudge = "offline",
    *,
    options: Mapping[str, object] | None = None,
    claims: Sequence[Claim] | None = None,
    images: Mapping[str, bytes] | None = None,
    base_url: str | None = None,
    concurrency: int = CONCURRENCY,
    image_hosts: Collection[str] = (),
    timeout_s: float | None = None,
    profile: JudgeProfile | None = None,
) -> Measurement:
    """Measure one conversation on the running event loop; see `measure`."""
    made = "a Conversation, as Conversation.of and single_turn make it"
    require_type(conversation, Conversation, "conversation", made)
    asking = AskingOptions(
        images={} if images is None else images,
        base_url=base_url,
        profile=DEFAULT_PROFILE if profile is None else profile,
        concurrency=concurrency,
        image_hosts=image_hosts,
        timeout_s=timeout_s,
    )
    check_judge_protocol(judge)
    asking.check()
    if claims is not None:
        require_items(claims, Sequence, Claim, "claims", "a list of Claim, or None")
    built = build_metric(metric, options)
    wanted = built.judge or judge
    check_image_hosts_allowed(conversation, wanted, asking)
    async with open_session(wanted, asking, SharedLimits(asking)) as session:
        found = await session.measure(built, conversation, claims)
    if built.verbose_mode:
        print(found.steps(), file=sys.stderr)
    return found


def build_metric(metric: str | Metric[Any], options: Mapping[str, object] | None) -> Metric[Any]:
    """Make a metric of its key and options; one that is made already has its own.

    Raises:
        ConfigError: Unknown metric or option, or options for a metric that is made already.
        InputError: Something is of another type.
    """
    if isinstance(metric, type) or not hasattr(metric, "gather"):
        require_type(metric, str, "metric", "the key of a metric, or what build makes of one")
    require_type(options, Mapping | None, "options", "a mapping such as {'window_size': 5}")
    if isinstance(metric, str):
        return build(metric, options or {})
    if options:
        raise ConfigError("options go with the name of a metric; this one is built already")
    return metric
