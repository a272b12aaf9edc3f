"""What a person asks for when starting a run, before anything is checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from faithtui.domain.ids import RunId
from faithtui.domain.judging.failure_limit import DEFAULT_FAILURE_LIMIT, FailureLimit
from faithtui.domain.splits import Split


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
    examples: Path | None = None
    """File of examples to show where a verdict is asked for; None: none."""
    sources: tuple[str, ...] = ()
    """Data sets to run over; () means all."""
    split: Split | None = None
    """Only conversations of this part; None: all."""
    limit: int | None = None
    """At most so many conversations, in the order of import; None: all."""
    concurrency: int = 8
    """Questions in flight at once."""
    budget_nusd: int | None = None
    """What it may cost, in units of 1e-9 US dollars; None: no limit."""
    budget_tokens: int | None = None
    """Tokens it may use, read and written; None: no limit."""
    max_failures: FailureLimit = DEFAULT_FAILURE_LIMIT
    """When it stops because too much fails."""
    batch: bool = False
    """Put its questions through the provider's batches."""
    claims_run: RunId | None = None
    """Judge the claims of this run instead of extracting any; None: extract them."""
