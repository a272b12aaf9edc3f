"""What a person asks for when starting a run, before anything is checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run as ordered on the command line or in the app."""

    metric: str = "turn-faithfulness"
    judge: str = "offline"
    base_url: str | None = None
    strategy: str = "evidence"
    options: Mapping[str, str] = field(default_factory=dict)
    """Option name to text, as typed."""
    imported_claims: bool = False
    """Judge the claims that came with the data instead of extracting any."""
    as_peer: bool = False
    prompts_dir: Path | None = None
    sources: tuple[str, ...] = ()
    """Data sets to run over; () means all."""
    limit: int | None = None
    """At most so many conversations, in the order of import; None: all."""
    concurrency: int = 8
    """Questions in the air at once."""
