"""Many questions in one file, answered within a day at half the price: the providers' Batch APIs.

A batch is bought when it is made, so none may be made twice. Whoever submits one first writes down
its `uid`; if the answer to the submission is lost, `find` says whether the batch exists.
"""

import os
from collections.abc import (
    AsyncGenerator,
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from faithtui.domain.judging.judge_profile import DEFAULT_PROFILE, JudgeProfile
from faithtui.errors import ConfigError, JudgeError, JudgeUnsupported
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.judges.deadlines import TIMEOUT_S, Deadline, time_out_after
from faithtui.judges.providers.api_keys import load_key
from faithtui.judges.providers.endpoints import Endpoint, parse_endpoint
from faithtui.judges.providers.parameters import RefusedParameters
from faithtui.judges.providers.secret import NO_KEY, Secret
from faithtui.judges.redaction import Redact

if TYPE_CHECKING:
    from faithtui.judges.providers.openai_batches import OpenAIBatches

ClientT = TypeVar("ClientT", bound="_Closable")

BatchResult = tuple[str, JudgeReply | JudgeError]
"""The id a question was given, and what came of it."""


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """How far a batch is."""

    state: Literal["working", "ended", "failed"]
    """`ended`: nothing more will come, and there are results, also after it was cancelled or ran
    out of time. `failed`: it was refused as a whole, and nothing in it was asked."""
    done: int
    """Questions answered so far. A provider may say 0 until the end."""
    failed: int
    """Questions that ended without an answer."""
    total: int
    expires_at: datetime | None = None
    """When the provider gives up what is left."""
    reason: str | None = None
    """Why it failed as a whole, in the provider's words."""


class _Closable(Protocol):
    async def aclose(self) -> None: ...


class BatchClient(Protocol):
    """A provider's Batch API, for one model."""

    @property
    def fingerprint(self) -> str:
        """That of the judge asked singly: the replies are the same."""

    @property
    def account(self) -> str:
        """Who counts; see `Judge.account`."""

    @property
    def most_requests(self) -> int:
        """Questions one batch may hold."""

    @property
    def most_bytes(self) -> int:
        """Sum of the sizes of its questions."""

    def count_question_bytes(self, request: JudgeRequest) -> int:
        """Say how many bytes a question takes in a batch.

        Raises:
            JudgeRequestRejected: The protocol has no way to say it, or the redaction hook fails.
        """

    async def submit(self, uid: str, requests: Sequence[tuple[str, JudgeRequest]]) -> str:
        """Make a batch.

        Args:
            uid: Names it for `find`: 1 to 32 letters and digits, never used before.
            requests: Questions with the ids of their results: 1 to 31 letters, digits,
                `_` and `-`, each once. They are asked by their schema, whatever
                their `output_format`.

        Returns:
            The provider's id of the batch.

        Raises:
            JudgeUnsupported: The provider has no Batch API.
            JudgeRequestRejected: Too many or too large, a bad id, or a question that cannot be
                said; no batch was made.
            JudgeError: Anything else. A batch may have been made nevertheless: see `find`.
        """

    async def fetch_status(self, batch_id: str) -> BatchStatus:
        """Ask how far a batch is.

        Raises:
            JudgeRequestRejected: The provider does not have it, or not any more.
            JudgeError: As for a question.
        """

    async def find_submitted_batch(
        self,
        uid: str,
        *,
        total: int,
        since: datetime,
        known: Collection[str] = (),
    ) -> str | None:
        """Look for a batch whose submission was never answered.

        Args:
            uid: As it was submitted.
            total: How many questions it held.
            since: When it was submitted, or some time before; with a time zone.
            known: Ids of other batches, which it cannot be.

        Returns:
            The provider's id; None when no such batch was made.

        Raises:
            JudgeUnavailable: It is not known yet: a batch is at work that may be the one, and
                only its results say what it is. Ask again later; submitting again now could buy
                everything twice.
            JudgeError: As for a question.
        """

    def stream_results(
        self, batch_id: str, *, plain: Collection[str] = (), pictured: Collection[str] = ()
    ) -> AsyncGenerator[BatchResult]:
        """Read the results of a batch that has ended, one after the other, in any order.

        Questions of the batch that do not appear were not answered. Errors are those of a single
        question; `JudgeUnavailable` also stands for one that was not asked in time.

        Args:
            batch_id: The provider's id.
            plain: Ids of questions without a schema, whose replies nothing bound.
            pictured: Ids of questions about conversations with images, which a model may not take.

        Raises:
            JudgeRequestRejected: It has not ended, or the provider does not have it any more.
            JudgeUnavailable: The results broke off, or some could not be read; what could be was
                given before, and reading again gives it again.
            JudgeError: As for a question.
        """

    async def cancel(self, batch_id: str) -> None:
        """Ask the provider to stop. What was answered until then is kept and billed.

        Raises:
            JudgeError: As for `fetch_status`.
        """

    async def aclose(self) -> None:
        """Close the connections. Safe to call twice."""


class QuestionFile(Protocol):
    """Questions and answers as lines of the files of OpenAI's Batch API, which others read too."""

    def format_question(self, wire_id: str, request: JudgeRequest) -> bytes:
        """Write a question, with its line feed.

        Raises:
            JudgeRequestRejected: The protocol has no way to say it, or the redaction hook fails.
        """

    def read_result(
        self, line: Mapping[str, object], *, is_plain: bool, with_images: bool = False
    ) -> JudgeReply | JudgeError:
        """Read what came of a question.

        Args:
            line: A JSON object.
            is_plain: The question had no schema.
            with_images: It was about a conversation with images.
        """


def open_question_file_format(
    ref: str,
    *,
    base_url: str | None = None,
    redact: Redact | None = None,
    profile: JudgeProfile = DEFAULT_PROFILE,
    refused: RefusedParameters | None = None,
) -> AbstractAsyncContextManager[QuestionFile]:
    """Write and read files for a judge, without a network and without a key.

    Args:
        ref: A judge that speaks OpenAI's protocol.
        base_url: As for `open_judge`.
        redact: As for `open_judge`.
        profile: As for `open_judge`; headers have no place in a file.
        refused: As for `open_judge`.

    Raises:
        ConfigError: It does not, or as `open_judge`.
    """
    endpoint = parse_endpoint(ref, base_url, profile)
    if endpoint is None or endpoint.provider.protocol != "openai":
        raise ConfigError(
            f"questions to {ref} cannot be written in OpenAI's form; choose a judge that speaks its"
            " protocol, such as openai:MODEL or vllm:MODEL"
        )
    return _yield_client_then_close(
        lambda: _make_openai_batches(
            endpoint,
            Secret(NO_KEY),
            timeout_s=0.0,
            redact=redact,
            deadline=time_out_after,
            refused=refused,
        )
    )


def refuse_judge_without_batches(ref: str, base_url: str | None = None) -> None:
    """Refuse a judge that certainly takes no batches, whoever serves it.

    Raises:
        ConfigError: Its questions are answered in this program or by a package; or as `open_judge`,
            but for the key.
    """
    if parse_endpoint(ref, base_url) is None:
        raise ConfigError(
            f"judge {ref} takes no batches: run without --batch, or choose openai:MODEL or"
            " anthropic:MODEL"
        )


def open_batch_client(
    ref: str,
    *,
    base_url: str | None = None,
    timeout_s: float = TIMEOUT_S,
    environ: Mapping[str, str] | None = None,
    redact: Redact | None = None,
    deadline: Deadline = time_out_after,
    profile: JudgeProfile = DEFAULT_PROFILE,
    refused: RefusedParameters | None = None,
) -> AbstractAsyncContextManager[BatchClient]:
    """Open a judge's Batch API; leaving the context closes its connections.

    Args:
        ref: `openai:MODEL` or `anthropic:MODEL`.
        base_url: As for `open_judge`. Whether another server has a Batch API it says when asked.
        timeout_s: Seconds one request may take; sending a large file gets more.
        environ: As for `open_judge`.
        redact: As for `open_judge`.
        deadline: As for `open_judge`.
        profile: As for `open_judge`.
        refused: As for `open_judge`.

    Raises:
        JudgeUnsupported: This judge has no Batch API.
        ConfigError: As `open_judge`.
    """
    endpoint = parse_endpoint(ref, base_url, profile)
    if endpoint is None or endpoint.provider.host is None:
        raise JudgeUnsupported(
            f"judge {ref} has no Batch API: run without --batch, or choose openai:MODEL or"
            " anthropic:MODEL"
        )
    environ = os.environ if environ is None else environ
    headers = profile.resolve_headers(environ)
    key = load_key(endpoint, environ)
    return _yield_client_then_close(
        lambda: _make_client(
            endpoint,
            key,
            timeout_s=timeout_s,
            redact=redact,
            deadline=deadline,
            headers=headers,
            refused=refused,
        )
    )


@asynccontextmanager
async def _yield_client_then_close(make: Callable[[], ClientT]) -> AsyncGenerator[ClientT]:
    client = make()
    try:
        yield client
    finally:
        await client.aclose()


def _make_openai_batches(endpoint: Endpoint, key: Secret, **how: Any) -> "OpenAIBatches":
    from faithtui.judges.providers.openai_batches import OpenAIBatches

    return OpenAIBatches(endpoint, key, **how)


def _make_client(endpoint: Endpoint, key: Secret, **how: Any) -> BatchClient:
    # As for single questions: an SDK is loaded when it is used.
    if endpoint.provider.protocol == "openai":
        return _make_openai_batches(endpoint, key, **how)
    from faithtui.judges.providers.anthropic_batches import AnthropicBatches

    return AnthropicBatches(endpoint, key, **how)
