"""Judges that other packages add: what such a judge looks like, and how it becomes one of ours.

A package names a factory in the entry point group `faithtui.judges`. Under the entry point's name
it can then be used like any other judge: `--judge NAME:REST`.

    [project.entry-points."faithtui.judges"]
    acme = "acme_judge:open_acme"

    def open_acme(rest: str, base_url: str | None) -> CustomJudge: ...

The factory is also called to learn the fingerprint, so it opens no connection: that is left to the
first question.
"""

import inspect
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, cast

from faithtui.errors import (
    ConfigError,
    FaithtuiError,
    JudgeRequestRejected,
    JudgeTimeout,
    JudgeUnavailable,
)
from faithtui.judges.base import (
    ImageData,
    Judge,
    JudgeReply,
    JudgeRequest,
    OutputFormat,
    StopReason,
    Usage,
)
from faithtui.judges.deadlines import Deadline, time_out_after
from faithtui.judges.plugins import list_judge_plugins
from faithtui.judges.providers.endpoints import BUILT_IN
from faithtui.judges.redaction import Redact, format_foreign_error
from faithtui.judges.reply_parser import remove_invalid_unicode

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@dataclass(frozen=True, slots=True)
class CustomQuestion:
    """One question to a judge of a package."""

    step: str
    """Kind of question within the metric, such as `truths`."""
    system: str
    prompt: str
    schema: Mapping[str, object] | None
    """JSON Schema the answer must fit; the prompt describes the same in words. None: the answer is
    plain text."""
    max_tokens: int
    """How long the answer may be."""
    replicate: int
    """Which repetition this is, when the same question is asked again on purpose; from 0."""
    images: tuple[ImageData, ...]
    """Shown after the prompt, in order; always () unless the judge says that it takes images."""


@dataclass(frozen=True, slots=True)
class CustomAnswer:
    """One answer, when its text alone does not say everything."""

    text: str
    stop: StopReason = StopReason.OK
    usage: Usage = field(default_factory=Usage)
    served_model: str | None = None
    """Which model answered, if the judge chooses among several."""


class CustomJudge(Protocol):
    """What a package has to offer.

    Two more members are used if they are there: `async def aclose(self) -> None`, called when the
    judge is no longer needed, and `takes_images: bool`, without which no question carries any.
    """

    @property
    def fingerprint(self) -> str:
        """Everything but the question that determines an answer: model, version, parameters.

        Answers are kept under it: change it whenever the same question would be answered
        differently. Holds no secret.
        """

    async def answer(self, question: CustomQuestion) -> CustomAnswer | str:
        """Answer one question.

        Raises:
            JudgeError: Whichever class of `faithtui.errors` fits: `JudgeRateLimited` is waited
                for, `JudgeUnavailable` tried again, `JudgeAuthFailed` stops a run. Any other
                exception counts as `JudgeUnavailable`.
        """


class CustomJudgeAdapter:
    """Adapts a judge with an `answer` of its own to the protocol `Judge`."""

    def __init__(
        self,
        judge: CustomJudge,
        ref: str,
        base_url: str | None = None,
        *,
        timeout_s: float,
        deadline: Deadline = time_out_after,
    ) -> None:
        """Take it as it is.

        Args:
            judge: What a package's factory returned, or what a caller made.
            ref: What it is called.
            base_url: Address it was made with, if any.
            timeout_s: Seconds one answer may take.
            deadline: Keeps the time.

        Raises:
            ConfigError: It has no `async def answer`, or no fingerprint.
        """
        self._ref = ref
        self._timeout_s = timeout_s
        self._deadline = deadline
        self._judge = judge
        if not inspect.iscoroutinefunction(getattr(judge, "answer", None)):
            raise ConfigError(
                f"the judge {ref} has no `async def answer`; report this to its author"
            )
        self._fingerprint = f"custom/1 {_make_full_fingerprint(ref, base_url, judge)}"

    @property
    def ref(self) -> str:
        """Name for users, `NAME:REST`."""
        return self._ref

    @property
    def fingerprint(self) -> str:
        """Its reference and address, and what it says of itself."""
        return self._fingerprint

    @property
    def takes_images(self) -> bool:
        """Whether it says so."""
        return getattr(self._judge, "takes_images", False) is True

    @property
    def context_window(self) -> int | None:
        """Not known."""
        return None

    @property
    def output_formats(self) -> tuple[OutputFormat, ...]:
        """None: it gets the schema and does with it what it can."""
        return ()

    @property
    def account(self) -> str:
        """Its own: whoever it asks may well count."""
        return self._fingerprint

    async def send(self, request: JudgeRequest) -> JudgeReply:
        """Ask once. See `Judge.send`."""
        question = CustomQuestion(
            step=request.step,
            system=request.system,
            prompt=request.prompt,
            schema=request.schema,
            max_tokens=request.max_tokens,
            replicate=request.replicate,
            images=request.images,
        )
        started = time.monotonic()
        returned = await self._ask_judge(question)
        answer = CustomAnswer(returned) if isinstance(returned, str) else returned
        if not isinstance(answer, CustomAnswer) or not isinstance(answer.text, str):
            raise JudgeRequestRejected(
                f"the judge {self._ref} answered with {type(returned).__name__} and not with a "
                "text or a CustomAnswer; report this to its author"
            )
        return JudgeReply(
            text=remove_invalid_unicode(answer.text),
            stop=answer.stop,
            usage=answer.usage,
            served_model=answer.served_model,
            latency_ms=round((time.monotonic() - started) * 1000),
        )

    async def aclose(self) -> None:
        """Let it close what it opened. Safe to call twice."""
        close: Callable[[], Awaitable[None]] | None = getattr(self._judge, "aclose", None)
        if close is not None:
            await close()

    async def _ask_judge(self, question: CustomQuestion) -> object:
        try:
            async with self._deadline(self._timeout_s) as deadline:
                return await self._judge.answer(question)
        except FaithtuiError:
            raise
        # It is another package's code and may raise anything; a run goes on without this answer.
        except Exception as error:
            if isinstance(error, TimeoutError) and deadline.expired():
                raise JudgeTimeout(
                    f"the judge {self._ref} gave no answer within {self._timeout_s:g} s"
                ) from error
            raise make_unavailable_error(self._ref, error) from error


def get_ref_or_class_name(judge: object) -> str:
    """Name a judge that a caller made: its `ref`, else the name of its class."""
    ref = getattr(judge, "ref", None)
    return ref if isinstance(ref, str) and ref else type(judge).__name__


def make_unavailable_error(ref: str, error: Exception) -> JudgeUnavailable:
    """Make our error of whatever the code of somebody else raised."""
    return JudgeUnavailable(f"the judge {ref} failed: {format_foreign_error(error)}")


def refuse_ambiguous_judge_name(ref: str) -> None:
    """Refuse a reference whose name is claimed twice: it could ask a judge nobody meant.

    Raises:
        ConfigError: A package took a built-in name, or two packages took the same.
    """
    name = ref.partition(":")[0]
    claims = list_judge_plugins().get(name, ())
    packages = ", ".join(_package_name(claim) for claim in claims)
    if claims and name in BUILT_IN:
        raise ConfigError(
            f"the package {packages} adds a judge called {name}, which is the name of a built-in"
            " one; uninstall it, or ask its author for another name"
        )
    if len(claims) > 1:
        raise ConfigError(
            f"several packages add a judge called {name}: {packages}; uninstall all but one"
        )


def open_package_judge(
    ref: str,
    base_url: str | None,
    *,
    timeout_s: float,
    deadline: Deadline = time_out_after,
    redact: Redact | None = None,
) -> Judge:
    """Load a judge, or a verifier, from its package.

    Args:
        ref: `NAME:REST`, where an installed package adds `NAME`.
        base_url: Handed on as it is.
        timeout_s: Seconds one answer may take.
        deadline: Keeps the time.
        redact: Applied to what a verifier is given. What a judge reads, the questions, is redacted
            by `RedactingJudge`, around either.

    Raises:
        ConfigError: Several packages add it, or the package's factory fails.
    """
    found = _load_judge(ref, base_url)
    if _is_verifier(found):
        from faithtui.judges.verifiers.verifier_judge import VerifierJudge
        from faithtui.judges.verifiers.verifier_protocol import Verifier

        identity = _make_full_fingerprint(ref, base_url, found)
        return VerifierJudge(
            ref,
            cast(Verifier, found),
            identity=identity,
            timeout_s=timeout_s,
            deadline=deadline,
            redact=redact,
        )
    return CustomJudgeAdapter(
        cast(CustomJudge, found), ref, base_url, timeout_s=timeout_s, deadline=deadline
    )


def is_package_verifier(ref: str, base_url: str | None = None) -> bool:
    """Whether a reference names a verifier of an installed package; its factory is called.

    Raises:
        ConfigError: As `open_package_judge`.
    """
    name, _, rest = ref.partition(":")
    return bool(rest) and name in list_judge_plugins() and _is_verifier(_load_judge(ref, base_url))


def _is_verifier(found: object) -> bool:
    return callable(getattr(found, "verify", None))


def _make_full_fingerprint(ref: str, base_url: str | None, judge: object) -> str:
    """Put together what the user asked for and what the judge says of itself."""
    fingerprint = getattr(judge, "fingerprint", None)
    if not isinstance(fingerprint, str) or not fingerprint:
        raise ConfigError(
            f"the judge {ref} has no fingerprint, so its answers cannot be kept apart from"
            " others; report this to its author"
        )
    return f"{ref} {base_url or '-'} {fingerprint}"


def _load_judge(ref: str, base_url: str | None) -> object:
    name, _, rest = ref.partition(":")
    refuse_ambiguous_judge_name(ref)
    point = list_judge_plugins()[name][0]
    try:
        factory: Callable[[str, str | None], object] = point.load()
        judge = factory(rest, base_url)
    except FaithtuiError:
        raise
    # As above: another package's code.
    except Exception as error:
        raise ConfigError(
            f"the judge {ref} of the package {_package_name(point)} cannot be opened:"
            f" {format_foreign_error(error)}"
        ) from error
    is_judge = inspect.iscoroutinefunction(getattr(judge, "answer", None))
    if not is_judge and not _is_verifier(judge):
        raise ConfigError(
            f"the judge {ref} of the package {_package_name(point)} has no `async def answer`"
            " and no `def verify`; report this to its author"
        )
    return judge


def _package_name(point: "EntryPoint") -> str:
    return point.value if point.dist is None else point.dist.name
