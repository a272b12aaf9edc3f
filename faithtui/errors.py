"""Every error faithtui raises on purpose.

    FaithtuiError              exit code 1
    ├── ConfigError            2   settings, options, a missing key
    │   └── ImageHostNotAllowed    addresses of images would go to a judge; nobody allowed it
    ├── InputError             3   a file we cannot read: path, line, field
    ├── StoreError             4   newer schema, no database, damaged
    │   ├── StoreBusy              locked by another process
    │   ├── StoreFull              the disk is full
    │   ├── NoSharedClaims         a run judged none of the claims that a sample or set is of
    │   └── StoreReadOnly          it can only be read here
    ├── JudgeError             5
    │   ├── JudgeUnusable          no other question can succeed now; stops a run
    │   │   ├── JudgeAuthFailed        key missing, wrong or without permission
    │   │   ├── JudgeQuotaExceeded     nothing left to spend with the provider
    │   │   ├── JudgeMustWait          the provider wants a longer wait than a run can hold
    │   │   ├── JudgeUnreachable       nothing answers at all
    │   │   ├── JudgeSpeaksNoJson      no way of asking gets a usable answer
    │   │   └── BudgetReached          the next question may cost more than is left of the budget
    │   ├── JudgeRateLimited       asked too fast; carries `retry_after_s`
    │   ├── JudgeTimeout           no answer within the deadline
    │   ├── JudgeUnavailable       connection refused or cut, 5xx, overloaded
    │   ├── JudgeRequestRejected   the provider does not take this request
    │   │   └── JudgeUnsupported       nor any other of this form; another form may do
    │   └── JudgeReplyInvalid      an answer we cannot use; keeps the raw text
    │       ├── JudgeReplyTruncated    the answer stopped at the token limit
    │       └── JudgeRefused           refusal or content filter
    ├── MetricError            6   the metric cannot apply here
    │   ├── ImagesNotSupported     there are images and the judge takes none
    │   ├── MissingParameters      the metric needs what the conversation does not have
    │   ├── ContextWindowTooSmall  the judge cannot read what the metric must show it
    │   ├── NotFaithful            the caller asked for an error instead of a failing result
    │   └── PeerFails              under a peer's rules: the peer itself fails here
    └── ExportError            7   cannot write there

A message says what happened and then what to do about it. A bug is not in this tree: it keeps its
traceback.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar


class FaithtuiError(Exception):
    """Base of all errors a user can do something about."""

    exit_code: ClassVar[int] = 1


class ConfigError(FaithtuiError):
    """A setting, an option or a key is missing or wrong."""

    exit_code = 2


class ImageHostNotAllowed(ConfigError):
    """A judge would be sent the address of an image, at a host that the user did not name."""


class InputError(FaithtuiError):
    """A file, or one line of it, cannot be read.

    Attributes:
        path: The file, None when the text did not come from one.
        line: Line number from 1, None when the whole file is meant. Of a record in an array, the
            line it begins on.
        record: Its place in an array, from 1; None: it is no element of one.
        field: Name of the field in that line, None when the whole line is meant.
        reason: What is wrong and what was expected.
    """

    exit_code = 3

    def __init__(
        self,
        reason: str,
        *,
        path: Path | None = None,
        line: int | None = None,
        record: int | None = None,
        field: str | None = None,
    ) -> None:
        self.reason = reason
        self.path = path
        self.line = line
        self.record = record
        self.field = field
        where = [
            _format_path(path) if path is not None else "",
            f"line {line}" if line is not None else "",
            f"record {record}" if record is not None else "",
            field or "",
        ]
        super().__init__(": ".join([part for part in where if part] + [reason]))


class FileUnreadable(InputError):
    """The system does not give the bytes of a file, or has no room for them; it may be good."""


class FormatUnknown(InputError):
    """A file holds records, and nobody knows in which format."""


def _format_path(path: Path) -> str:
    """Write a path, or an address with the slashes that a path drops."""
    text = re.sub(r"\A([a-z][a-z0-9+.-]+):/(?!/)", r"\1://", str(path))
    return re.sub(r"\Afile://(?!/)", "file:///", text)


class StoreError(FaithtuiError):
    """The database cannot be opened, read or written."""

    exit_code = 4


class NoSharedClaims(StoreError):
    """A run judged none of the claims that a sample or a claim set was drawn from."""


class StoreBusy(StoreError):
    """Another process holds the lock. What was to be written can be written later."""


class StoreFull(StoreError):
    """The disk is full. What was to be written can be written when there is space."""


class StoreDamaged(StoreError):
    """What is stored is not what was written."""


class StoreReadOnly(StoreError):
    """The store is open for reading alone."""


class JudgeError(FaithtuiError):
    """A judge did not give a usable answer.

    Attributes:
        status: HTTP status the provider answered with, None when there was none.
        said: The provider's own words, or why it did not answer: one line of printable characters
            without any key; "" when nobody said anything.
    """

    exit_code = 5

    def __init__(self, message: str, *, status: int | None = None) -> None:
        self.status = status
        self.provider_message = ""
        super().__init__(message)


class JudgeUnusable(JudgeError):
    """No other question can succeed now. A run stops here, and can go on later."""


class JudgeAuthFailed(JudgeUnusable):
    """The key is missing, wrong or lacks permission."""


class JudgeQuotaExceeded(JudgeUnusable):
    """The account has nothing left to spend."""


class JudgeMustWait(JudgeUnusable):
    """The provider asks for a longer wait than a run can hold.

    Attributes:
        retry_after_s: Seconds it asked for.
    """

    def __init__(self, message: str, *, retry_after_s: float, status: int | None = None) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(message, status=status)


class JudgeUnreachable(JudgeUnusable):
    """Nothing answers where the judge should be."""


class JudgeSpeaksNoJson(JudgeUnusable):
    """No way of asking for JSON got a usable answer."""


class JudgeKeepsFailing(JudgeUnusable):
    """The judge answers, and fails in the same way again and again."""


class BudgetReached(JudgeUnusable):
    """The next question may cost more than is left of the run's budget."""


class JudgeRateLimited(JudgeError):
    """Questions came too fast.

    Attributes:
        retry_after_s: Seconds the provider asked us to wait, None when it did not say.
    """

    def __init__(
        self, message: str, *, retry_after_s: float | None = None, status: int | None = None
    ) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(message, status=status)


class JudgeTimeout(JudgeError):
    """No complete answer arrived within the deadline."""


class JudgeUnavailable(JudgeError):
    """The connection failed, or the provider answered with a server error."""

    nothing_listens: bool = False
    """Whether the connection was refused: no program has the port."""


class JudgeRequestRejected(JudgeError):
    """The provider refuses this request; the same request would be refused again."""


class JudgeUnsupported(JudgeRequestRejected):
    """The provider does not know the form of this request, such as a schema or a tool."""


class JudgeReplyInvalid(JudgeError):
    """The judge answered, and the answer cannot be used.

    Attributes:
        raw: The answer exactly as it came.
    """

    def __init__(self, message: str, *, raw: str) -> None:
        self.raw = raw
        super().__init__(message)


class JudgeReplyTruncated(JudgeReplyInvalid):
    """The answer stopped at the token limit, so what is there may be half of it."""


class JudgeAnswersUsedUp(JudgeReplyInvalid):
    """A question was answered as often as it may be, and no answer could be used."""


class JudgeRefused(JudgeReplyInvalid):
    """The judge refused to answer, or a content filter cut the answer."""


class MetricError(FaithtuiError):
    """The metric cannot be applied to this conversation."""

    exit_code = 6


class ImagesNotSupported(MetricError):
    """The conversation holds images and the judge takes none."""


class MissingParameters(MetricError):
    """The metric needs something the conversation does not have.

    Attributes:
        names: What is missing, in the peer's words and order.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        super().__init__(f"missing: {', '.join(names)}; the metric cannot do without")


class ContextWindowTooSmall(MetricError):
    """The judge's context window leaves no room for what the metric must show it."""


class NotFaithful(MetricError):
    """The answer is not supported, and the caller asked for an error then (`raise_error`)."""


class PeerFails(MetricError):
    """Under a peer's rules, an input on which the peer itself fails."""


class ExportError(FaithtuiError):
    """A report or an export cannot be written."""

    exit_code = 7
