"""What a provider's refusal means for the run: status and body in, one of our errors out.

Works on the status, the headers and the body alone, so that it serves every provider and every
server that imitates one. No key survives in a message.
"""

import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import urljoin, urlsplit

from faithtui.errors import (
    JudgeAuthFailed,
    JudgeError,
    JudgeQuotaExceeded,
    JudgeRateLimited,
    JudgeRefused,
    JudgeRequestRejected,
    JudgeTimeout,
    JudgeUnavailable,
    JudgeUnsupported,
)
from faithtui.judges.base import OutputFormat
from faithtui.judges.providers.endpoints import Endpoint
from faithtui.judges.providers.rate_limits import read_retry_after_s
from faithtui.judges.providers.secret import Secret

MAX_SENTENCE = 300
"""Characters of a provider's message that are shown: enough for its longest, too few for a page."""

_QUOTA_CODES = {
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

_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context|exceed_context|too many (?:input )?tokens"
    r"|(?:prompt|input|request) is too (?:long|large)|exceeds? the (?:available|maximum) (?:context"
    r"|number of tokens)|string_above_max_length|request_too_large|reduce the length",
    re.IGNORECASE,
)
"""What servers say of a question they cannot read to its end.

Source: OpenAI, Anthropic, vLLM, llama.cpp's server, Ollama.
"""

_FILTERED = re.compile(
    r"content_filter|content_policy_violation|content management policy|content filtering policy"
    r"|responsible_ai_policy",
    re.IGNORECASE,
)
"""What a filter in front of a model says of a question it keeps from it.

Source: OpenAI, Azure OpenAI, Anthropic.
"""

_BINDING = r"schema|grammar|guided|constrained|structured|\bstrict\b"
_FORMS: Mapping[OutputFormat, re.Pattern[str]] = {
    OutputFormat.SCHEMA: re.compile(
        rf"response_?format|json_?schema|output_?(?:config|format)|{_BINDING}", re.IGNORECASE
    ),
    OutputFormat.TOOL: re.compile(rf"\btools?(?:\b|_)|\bfunctions?\b|{_BINDING}", re.IGNORECASE),
    OutputFormat.JSON: re.compile(
        r"response_?format|json_?object|json[ _-]?mode|grammar", re.IGNORECASE
    ),
}
"""What servers name when they do not know the form of a question.

Source: OpenAI, OpenRouter, vLLM, Ollama, llama.cpp's server, llama-cpp-python.
"""

_ABOUT_FORM = _ABOUT_CONTENT | {500, 501}
"""Statuses with which servers refuse a form. llama-cpp-python says 500 to a schema."""


def make_judge_error(
    status: int,
    headers: Mapping[str, str],
    body: str,
    endpoint: Endpoint,
    key: Secret,
    *,
    with_images: bool = False,
    output_format: OutputFormat | None = None,
) -> JudgeError:
    """Make the error for an answer that is no reply.

    An error of the server that speaks of images, after a question with images, is a refusal: the
    same question would fail again. One that speaks of schemas or tools, after a question that held
    one, is about the form of the question alone: the same question in another form may be answered.

    Args:
        status: HTTP status, or what the body gave in its place.
        headers: Of the answer; looked up in lower case.
        body: Of the answer, in whatever form it came.
        endpoint: Who answered.
        key: The key that was sent, to be hidden in the message.
        with_images: The question carried images.
        output_format: How it asked for JSON; None when it did not.
    """
    message = find_provider_message(body, key)
    error = _choose_error(
        status,
        headers,
        body,
        message,
        endpoint,
        key,
        with_images=with_images,
        output_format=output_format,
    )
    error.provider_message = message
    return error


def _choose_error(
    status: int,
    headers: Mapping[str, str],
    body: str,
    message: str,
    endpoint: Endpoint,
    key: Secret,
    *,
    with_images: bool,
    output_format: OutputFormat | None,
) -> JudgeError:
    """Choose the error for what a provider said; see `make_judge_error`."""
    what = f"{endpoint.host} answered {status}" + (f": {message}" if message else "")
    is_spent = (
        bool(_QUOTA_CODES.intersection(list_error_codes(body)))
        or "credit balance is too low" in message
    )
    if status == 402 or (is_spent and status in {400, 403, 429}):
        return JudgeQuotaExceeded(
            f"{what}. Add credit or raise the limit, then ask again", status=status
        )
    if status in {401, 403}:
        advice = f"Check the key in {endpoint.key_variable}"
        if not endpoint.is_official and endpoint.provider.key_variable != endpoint.key_variable:
            advice += (
                f"; the one in {endpoint.provider.key_variable} is for {endpoint.provider.name} "
                "itself and was not sent here"
            )
        return JudgeAuthFailed(f"{what}. {advice}", status=status)
    if status == 429:
        return JudgeRateLimited(what, retry_after_s=read_retry_after_s(headers), status=status)
    if status == 408:
        return JudgeTimeout(what, status=status)
    named = " ".join(_list_codes_and_parameters(body))
    # A model may be called `vision-tools`; as a whole word, for one may be called `m` as well.
    about = re.sub(rf"(?<!\w){re.escape(endpoint.model)}(?!\w)", "", f"{message} {named}")
    if status in {400, 422} and _FILTERED.search(about):
        return JudgeRefused(f"{what}. A filter kept the question from the model", raw=message)
    if (status == 500 or status in _ABOUT_CONTENT) and _TOO_LONG.search(about):
        return _make_too_long_error(what, status)
    if with_images and (status >= 500 or status in _ABOUT_CONTENT) and _NO_IMAGES.search(message):
        return JudgeRequestRejected(
            f"{what}. The question carries images: choose a judge that takes them, of this kind "
            "and size and from where they lie",
            status=status,
        )
    if _is_output_format_refused(output_format, status, about):
        return JudgeUnsupported(
            f"{what}. It cannot be asked by {output_format}: ask in another form, or choose "
            "another model",
            status=status,
        )
    if status == 409 or status >= 500:
        return JudgeUnavailable(what, status=status)
    if 300 <= status < 400:
        advice = _describe_redirect(headers.get("location", ""), endpoint, key)
        return JudgeRequestRejected(f"{what}. {advice}", status=status)
    if status == 413 and not with_images:
        return _make_too_long_error(what, status)
    advice = "Check the model name and the base URL"
    if with_images:
        advice += ", and that this judge takes images, and ones of this kind and size"
    return JudgeRequestRejected(f"{what}. {advice}", status=status)


def _describe_redirect(location: str, endpoint: Endpoint, key: Secret) -> str:
    """Say where a server redirects to, and whether that is an address to use."""
    line = _to_printable_line_without_key(location, key)
    try:
        target = urlsplit(urljoin(f"{endpoint.base_url}/", line))
    except ValueError:
        target = urlsplit("")
    if target.scheme not in ("http", "https") or not target.netloc:
        return "It redirects to no address that can be used: check the base URL"
    host = target.netloc.rpartition("@")[2]
    path = target.path.partition(";")[0]  # parameters may hold a secret
    return (
        f"It redirects to {target.scheme}://{host}{path}: if you trust it, use that as the base URL"
    )


def _is_output_format_refused(output_format: OutputFormat | None, status: int, about: str) -> bool:
    form = None if output_format is None else _FORMS.get(output_format)
    if form is None or status not in _ABOUT_FORM:
        return False
    # A server that takes its own failure to read a request for a failure of its own says 500.
    return bool(form.search(about)) or (status >= 500 and "validation" in about.lower())


def _make_too_long_error(what: str, status: int) -> JudgeRequestRejected:
    return JudgeRequestRejected(
        f"{what}. The question is longer than this judge can read: choose a judge with a larger"
        " context window, or cut the conversation's documents or its window smaller",
        status=status,
    )


def find_provider_message(body: str, key: Secret | None = None) -> str:
    """Find what a provider says in an error body: its message, else the start of the text.

    Args:
        body: As it came; a key in it may be written with escapes of JSON.
        key: What must not be shown.

    Returns:
        One line of printable characters, at most `MAX_SENTENCE` of them; empty for an empty body.
    """
    document = _parse_json_or_none(body)
    found = next(_iterate_possible_messages(document), None)
    return _to_printable_line_without_key(body if found is None else found, key).rstrip(".")


def _parse_json_or_none(body: str) -> object:
    try:
        document: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return document


def _iterate_possible_messages(document: object) -> Iterator[str]:
    """Yield what could be the message, the likeliest first.

    The forms: `{"error": {"message"}}` of both providers, `{"error"}` and `{"message"}` of small
    servers, `{"detail"}` and `{"detail": [{"msg"}]}` of FastAPI.
    """
    if isinstance(document, str) and document.strip():
        yield document
    elif isinstance(document, list):
        for entry in document[:1]:
            yield from _iterate_possible_messages(entry)
    elif isinstance(document, dict):
        for name in ("error", "message", "detail", "msg"):
            if document.get(name) is not None:
                yield from _iterate_possible_messages(document[name])


def list_error_codes(body: str) -> Iterator[str]:
    """Yield every machine-readable word for the cause: type, code, and anthropic's error_code."""
    error = _get_error_object(body)
    details = error.get("details")
    found = [error.get("code"), error.get("type")]
    found.append(details.get("error_code") if isinstance(details, dict) else None)
    yield from (code for code in found if isinstance(code, str))


def _list_codes_and_parameters(body: str) -> Iterator[str]:
    """Yield the codes and what the error says it is about: a parameter, or a place in the body."""
    yield from list_error_codes(body)
    error = _get_error_object(body)
    if isinstance(error.get("param"), str):
        yield str(error["param"])
    details = error.get("detail")
    for each in details[:5] if isinstance(details, list) else []:
        place = each.get("loc") if isinstance(each, dict) else None
        if isinstance(place, list):
            yield from (part for part in place if isinstance(part, str))


def find_named_parameters(body: str) -> frozenset[str]:
    """Find what an error says it is about, beside its codes: a parameter, places in the body."""
    return frozenset(_list_codes_and_parameters(body)) - frozenset(list_error_codes(body))


def _get_error_object(body: str) -> dict[str, object]:
    document = _parse_json_or_none(body)
    error = document.get("error", document) if isinstance(document, dict) else None
    return error if isinstance(error, dict) else {}


def _to_printable_line_without_key(text: str, key: Secret | None) -> str:
    """Fold to one printable line without a key: what a server says is shown in terminals."""
    # Cut before the work too: the body may be a page of megabytes.
    words = "".join(c if c.isprintable() else " " for c in text[: 20 * MAX_SENTENCE]).split()
    line = " ".join(words)
    # Before it is cut to length: half a key is recognised by nothing.
    line = line if key is None else key.redact(line)
    return line if len(line) <= MAX_SENTENCE else f"{line[: MAX_SENTENCE - 1]}…"
