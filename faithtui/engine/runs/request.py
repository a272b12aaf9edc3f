"""What a person asks for when starting a run, before anything is checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from faithtui.domain.judging.failure_limit import DEFAULT_FAILURE_LIMIT, FailureLimit
from faithtui.domain.split_rule import Split
from faithtui.store.runs.run_records import RunSettings

if TYPE_CHECKING:
    from faithtui.config import Settings

CLAIMS: Final = ("extracted", "own", "imported")
"""Extracted by the first judge of an order and judged by all; by each judge; those of the data. A
request may have `run` and `set` too, with `claims_run` and `claim_set`."""


@dataclass(frozen=True, slots=True)
class RunRequest(RunSettings):
    """A run as ordered on the command line or in the app.

    A run keeps what `RunSettings` has as it is set, and of the fields here what they come to.
    """

    metric: str = "turn-faithfulness"
    judge: str = "offline"
    options: Mapping[str, str] = field(default_factory=dict)
    """Option name to text, as typed."""
    claims: str = "extracted"
    """Which claims it judges, one of `CLAIMS`."""
    as_peer: bool = False
    examples: Path | None = None
    """File of examples to show where a verdict is asked for; None: none."""
    split: Split | None = None
    """Only conversations of this part; None: all."""
    limit: int | None = None
    """At most so many conversations, in the order of import; None: all."""

    @classmethod
    def from_settings(cls, settings: "Settings") -> Self:
        """Begin with what the user set once and for all."""
        return cls(
            judge=settings.judge,
            base_url=settings.base_url,
            concurrency=settings.concurrency,
            max_failures=FailureLimit.parse(settings.max_failures) or DEFAULT_FAILURE_LIMIT,
        )
