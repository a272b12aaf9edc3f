"""What a provider's refusal means for the run: status and body in, one of our errors out.

Works on the status, the headers and the body alone, so that it serves every provider and every
server that imitates one. No key survives in a message.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from faithtui.errors import (
    JudgeAuthFailed,
    JudgeError,
    JudgeQuotaExceeded,
    JudgeRateLimited,
    JudgeRequestRejected,
    JudgeTimeout,
    JudgeUnavailable,
)
from faithtui.judges.endpoints import Endpoint
from faithtui.judges.secret import Secret

MAX_SENTENCE = 300
"""Characters of a provider's message that are shown: enough for its longest, too few for a page."""

_SPENT = {
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "billing_error",
    "contract_spend_limit_reached",
    "enforced_spend_limit_reached",
    "linked_organization_spend_limit_reached",
}
"""Codes that say the money is gone. Asking again does not help, unlike with other 429s.

Source: OpenAI's guide to error codes; anthropic 2.11.0, `_error_classes.py`.
"""

_NO_IMAGES = re.compile(
    r"\b(?:image|images|image_url|vision|visual|multi-?modal\w*|modalit\w+|mmproj)\b"
    r"|\bcontent\b.{0,60}\b(?:str|string|list|array|part)s?\b|\bnot list\b",
    re.IGNORECASE,
)
"""What servers without eyes say: that they take no images, or that a content must be a text.

Source: llama.cpp's server, vLLM, Ollama and llama-cpp-python, some of which say it with a 500.
"""

_ABOUT_CONTENT = {400, 404, 415, 422}
"""Statuses with which a server refuses what a request holds."""


def failure(
    status: int,
    headers: Mapping[str, str],
    body: str,
    endpoint: Endpoint,
    key: Secret,
    *,
    with_images: bool = False,
) -> JudgeError:
    """Make the error for an answer that is no reply.

    An error of the server that speaks of images, after a question with images, is a refusal: the
    same question would fail again.

    Args:
        status: HTTP status, or what the body gave in its place.
        headers: Of the answer; looked up in lower case.
        body: Of the answer, in whatever form it came.
        endpoint: Who answered.
        key: The key that was sent, to be hidden in the message.
        with_images: The question carried images.
    """
    # Before as well: the sentence is cut to length, and half a key is recognised by nothing.
    said = key.redact(provider_sentence(key.redact(body)))
    what = f"{endpoint.host} answered {status}" + (f": {said}" if said else "")
    is_spent = bool(_SPENT.intersection(_codes(body))) or "credit balance is too low" in said
    if status == 402 or (is_spent and status in {400, 403, 429}):
        return JudgeQuotaExceeded(
            f"{what}. Add credit or raise the limit, then resume the run", status=status
        )
    if status in {401, 403}:
        return JudgeAuthFailed(f"{what}. Check the key in {endpoint.key_variable}", status=status)
    if status == 429:
        return JudgeRateLimited(what, retry_after_s=retry_after_s(headers), status=status)
    if status == 408:
        return JudgeTimeout(what, status=status)
    if with_images and (status >= 500 or status in _ABOUT_CONTENT) and _NO_IMAGES.search(said):
        return JudgeRequestRejected(
            f"{what}. The question carries images: choose a judge that takes them, of this kind "
            "and size and from where they lie",
            status=status,
        )
    if status == 409 or status >= 500:
        return JudgeUnavailable(what, status=status)
    if 300 <= status < 400:
        target = key.redact(_plain(headers.get("location", "")))
        return JudgeRequestRejected(
            f"{what}. It redirects to {target or 'nowhere'}: use that URL", status=status
        )
    advice = "Check the model name and the base URL"
    if with_images:
        advice += ", and that this judge takes images, and ones of this kind and size"
    return JudgeRequestRejected(f"{what}. {advice}", status=status)


def provider_sentence(body: str) -> str:
    """Find what a provider says in an error body: its message, else the start of the text.

    Returns:
        One line of printable characters, at most `MAX_SENTENCE` of them; empty for an empty body.
    """
    document = _decoded(body)
    found = next(_messages(document), None)
    return _plain(body if found is None else found).rstrip(".")


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Read how long a provider asks us to wait.

    Understands `retry-after-ms`, and `retry-after` in seconds or as a date. A date is compared
    with the answer's own `date`, so a wrong clock on either side does no harm.

    Returns:
        Seconds, 0 or more; None when nothing readable was said.
    """
    milliseconds = _finite(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    value = headers.get("retry-after", "")
    seconds = _finite(value)
    if seconds is not None:
        return max(0.0, seconds)
    until = _moment(value)
    if until is None:
        return None
    now = _moment(headers.get("date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def _finite(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _decoded(body: str) -> object:
    try:
        document: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return document


def _messages(document: object) -> Iterator[str]:
    """Yield what could be the message, the likeliest first.

    The forms: `{"error": {"message"}}` of both providers, `{"error"}` and `{"message"}` of small
    servers, `{"detail"}` and `{"detail": [{"msg"}]}` of FastAPI.
    """
    if isinstance(document, str) and document.strip():
        yield document
    elif isinstance(document, list):
        for entry in document[:1]:
            yield from _messages(entry)
    elif isinstance(document, dict):
        for name in ("error", "message", "detail", "msg"):
            if document.get(name) is not None:
                yield from _messages(document[name])


def _codes(body: str) -> Iterator[str]:
    """Yield every machine-readable word for the cause: type, code, and anthropic's error_code."""
    document = _decoded(body)
    error = document.get("error", document) if isinstance(document, dict) else None
    if not isinstance(error, dict):
        return
    details = error.get("details")
    found = [error.get("code"), error.get("type")]
    found.append(details.get("error_code") if isinstance(details, dict) else None)
    yield from (code for code in found if isinstance(code, str))


def _plain(text: str) -> str:
    """Fold to one printable line: what a server says is shown in terminals."""
    # Cut before the work too: the body may be a page of megabytes.
    words = "".join(c if c.isprintable() else " " for c in text[: 20 * MAX_SENTENCE]).split()
    line = " ".join(words)
    return line if len(line) <= MAX_SENTENCE else f"{line[: MAX_SENTENCE - 1]}…"
