"""A hook of the user's that takes out of a question what must not leave this machine.

It is applied to every text of a question that a judge is sent: the system text, the prompt, the
marks of images. Images themselves go as they are. If the hook fails, nothing is sent.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module

from faithtui.errors import ConfigError, JudgeRequestRejected
from faithtui.judges.base import Judge, JudgeReply, JudgeRequest
from faithtui.judges.judge_wrapper import JudgeWrapper

Redact = Callable[[str], str]

_SAMPLE = "Ann Lee, ann@example.org, asks when parcels leave the depot."


@dataclass(frozen=True, slots=True)
class Redaction:
    """A hook under the name it was asked for by."""

    name: str
    hook: Redact

    def __call__(self, text: str) -> str:
        """Apply the hook."""
        return self.hook(text)


def load_and_try_redaction_hook(name: str) -> Redaction:
    """Load a hook and try it on a sentence.

    Args:
        name: `package.module:function`; the function takes a text and returns one.

    Raises:
        ConfigError: There is no such function, or it fails or returns no text.
    """
    module, _, function = name.partition(":")
    if not module or not function:
        raise ConfigError(f"the redaction hook {name!r} cannot be read; expected MODULE:FUNCTION")
    try:
        hook = getattr(import_module(module), function)
    # The import runs the user's own code, which may raise anything.
    except Exception as error:
        raise ConfigError(
            f"the redaction hook {name} cannot be loaded: {format_foreign_error(error)}. It must be"
            " importable where this program is installed"
        ) from error
    try:
        redacted = hook(_SAMPLE)
    # As above.
    except Exception as error:
        raise ConfigError(
            f"the redaction hook {name} fails on a plain sentence: {format_foreign_error(error)}"
        ) from error
    if not isinstance(redacted, str):
        raise ConfigError(
            f"the redaction hook {name} returns {type(redacted).__name__}; it must return a text"
        )
    return Redaction(name, hook)


def add_redaction_to_fingerprint(fingerprint: str, redact: Redact | None) -> str:
    """Tell replies to redacted questions from all others."""
    return fingerprint if redact is None else f"{fingerprint} redact={_format_hook_name(redact)}"


def redact_request(request: JudgeRequest, redact: Redact | None) -> JudgeRequest:
    """Apply a hook to a question; None leaves it as it is.

    The task, which says the same in another form, is left alone: only judges that compute on this
    machine look at it. A verifier of a package is given pairs made from it, so `VerifierJudge`
    applies the hook to these.

    Raises:
        JudgeRequestRejected: The hook fails. Nothing may be sent then.
    """
    if redact is None:
        return request
    return replace(
        request,
        system=redact_text(redact, request.system),
        prompt=redact_text(redact, request.prompt),
        images=tuple(
            replace(image, mark=redact_text(redact, image.mark)) for image in request.images
        ),
    )


class RedactingJudge(JudgeWrapper):
    """A judge that only sees what a hook leaves of a question."""

    def __init__(self, judge: Judge, redact: Redact) -> None:
        super().__init__(judge)
        self._redact = redact

    @property
    def fingerprint(self) -> str:
        """The judge's, and the hook's name."""
        return add_redaction_to_fingerprint(self._judge.fingerprint, self._redact)

    async def send(self, request: JudgeRequest) -> JudgeReply:
        """Ask once. See `Judge.send`.

        Raises:
            JudgeRequestRejected: The hook fails; nothing was sent.
            JudgeError: As the judge does.
        """
        return await self._judge.send(redact_request(request, self._redact))


def redact_text(redact: Redact, text: str) -> str:
    """Give what a hook leaves of a text.

    Raises:
        JudgeRequestRejected: The hook fails, or returns no text.
    """
    try:
        left = redact(text)
    # The user's own code may raise anything, and nothing unredacted may be sent.
    except Exception as error:
        # Only the class: the message may quote what was to be kept from everyone.
        raise JudgeRequestRejected(
            f"the redaction hook failed: {_format_hook_name(redact)} raised {type(error).__name__}."
            " Nothing was sent; repair the hook and run again"
        ) from error
    if not isinstance(left, str):
        raise JudgeRequestRejected(
            f"the redaction hook failed: {_format_hook_name(redact)} returned "
            f"{type(left).__name__} and no"
            " text. Nothing was sent; repair the hook and run again"
        )
    return left


def _format_hook_name(redact: Redact) -> str:
    if isinstance(redact, Redaction):
        return redact.name
    return f"{redact.__module__}:{redact.__qualname__}"


def format_foreign_error(error: Exception) -> str:
    """Say in one line what another package's code raised."""
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message[:300]}" if message else type(error).__name__
