"""A question to put to judges, and the two providers to put it to."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from faithtui.domain.judging.tasks import ExplainScore
from faithtui.judges.base import ImageData, Judge, JudgeRequest
from faithtui.judges.registry import open_judge
from tests.judges.fake_server import FakeServer, anthropic_body, openai_body

KEY = "sk-test-0123456789abcdef"

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"reason": {"type": "string", "maxLength": 500}},
    "required": ["reason"],
    "additionalProperties": False,
}

PIXEL = ImageData(
    sha256="1" * 64, media_type="image/png", mark="[attached image 1111]", data=b"\x89PNG"
)
"""An image whose bytes are known. Nobody here looks further into it than this."""

ADDRESSED = ImageData(
    sha256="2" * 64,
    media_type="",
    mark="[attached image 2222]",
    data=None,
    url="https://example.org/plan.png",
)
"""An image the provider has to fetch itself."""


def question(
    prompt: str = "Why?", *, system: str = "You explain.", step: str = "reason"
) -> JudgeRequest:
    return JudgeRequest(
        step=step,
        task=ExplainScore(score=1.0, findings=()),
        system=system,
        prompt=prompt,
        schema=SCHEMA,
        max_tokens=300,
    )


@dataclass(frozen=True)
class Side:
    """One provider as the tests see it."""

    name: str
    key_variable: str
    body: Callable[..., dict[str, object]]

    def judge(
        self, server: FakeServer, *, timeout_s: float = 600.0, key: str = KEY
    ) -> AbstractAsyncContextManager[Judge]:
        return open_judge(
            f"{self.name}:small",
            base_url=server.url,
            timeout_s=timeout_s,
            environ={"FAITHTUI_JUDGE_KEY": key},
        )


OPENAI = Side("openai", "OPENAI_API_KEY", openai_body)
ANTHROPIC = Side("anthropic", "ANTHROPIC_API_KEY", anthropic_body)
