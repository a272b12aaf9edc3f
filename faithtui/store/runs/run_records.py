"""Records that the app's first list needs, apart from all others.

Frozen classes are compiled when they are imported, and the first paint waits for it. Everybody else
takes them from `records`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from faithtui.domain.ids import ClaimSetId, RunId
from faithtui.domain.integrity.run_summary import EMPTY_SUMMARY, IntegritySummary
from faithtui.domain.judging.failure_limit import DEFAULT_FAILURE_LIMIT, FailureLimit
from faithtui.domain.judging.judge_names import judge_title
from faithtui.domain.judging.judge_profile import JudgeProfile
from faithtui.domain.scores import ScoringRule

IMPORTED_FINGERPRINT: Final = "imported/"
"""What the fingerprint of a judge begins with whose verdicts came with a data set."""


class RunState(StrEnum):
    """Where a run stands."""

    PLANNED = "planned"
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    """The store says it is running, and the process that ran it is gone. Never stored."""
    WAITING = "waiting"
    """Its questions were handed to a provider; see the reason."""
    DONE = "done"
    CANCELLED = "cancelled"
    STOPPED = "stopped"
    """Something made going on pointless, such as a wrong key; see the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """What a user sets for a run, and what is stored of it as it was set.

    Each field is a column of `RunTable` under its own name, and a field of `RunRequest`.
    """

    strategy: str = "evidence"
    base_url: str | None = None
    profile: JudgeProfile = field(default_factory=JudgeProfile)
    """Parameters its judge is asked with."""
    prompts_dir: Path | None = None
    """The user's own prompts, stored as an absolute path; None for the packaged ones."""
    sources: tuple[str, ...] = ()
    """Data sets it runs over; () means all."""
    concurrency: int = 8
    """Questions in flight at once."""
    budget_nusd: int | None = None
    """What it may cost, in units of 1e-9 US dollars; None: no limit."""
    budget_tokens: int | None = None
    """Tokens it may use, read and written; None: no limit."""
    max_failures: FailureLimit = DEFAULT_FAILURE_LIMIT
    """When it stops because too much fails."""
    batch: bool = False
    """Its questions go through the provider's batches."""
    claims_run: RunId | None = None
    """The run whose claims it judges instead of extracting any; None: none, or it was deleted."""
    claim_set: ClaimSetId | None = None
    """The version of a claim set whose claims it judges; None: none, or it was deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec(RunSettings):
    """Everything needed to repeat a run: what was set, and what that came to.

    Each field is a column of `RunTable` under its own name.
    """

    metric: str
    metric_version: str
    peer: str
    options: Mapping[str, object]
    """All options of the metric, JSON values."""
    rule: ScoringRule
    judge: str
    judge_fingerprint: str
    prompt_digest: str
    claims_from: str
    """`extracted`, `imported`, `run` or `set`."""
    prompt_set: str | None = None
    """Digest of its prompt texts without examples; None: it was begun before they were kept."""
    example_set: str | None = None
    """Names the examples its questions show, see `Examples`; None: they show none."""
    calibration: Mapping[str, object] | None = None
    """How the embedded judge was recalibrated: `slope`, `intercept`, `labels`, and `threshold`
    where its verdicts do not begin at 0.5."""

    @property
    def is_imported(self) -> bool:
        """Whether its verdicts came with a data set: nothing was asked for it."""
        return self.judge_fingerprint.startswith(IMPORTED_FINGERPRINT)

    @property
    def judge_title(self) -> str:
        """The judge, named for users."""
        return judge_title(self.judge, self.calibration)


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in a list."""

    id: RunId
    spec: RunSpec
    state: RunState
    reason: str | None
    """Why it stopped, what it waits for, or of which population it has drawn conversations alone;
    None otherwise."""
    created_at: datetime
    """UTC."""
    finished_at: datetime | None
    conversations: int
    pending: int
    done: int
    failed: int
    skipped: int
    windows: int
    """Windows stored so far."""
    failed_windows: int
    claims: int
    """Unique claims with or without a verdict."""
    missing_verdicts: int
    """Unique claims without one."""
    labelled: int
    """Unique claims of the run with a human label."""
    score: float | None
    """Mean of the conversations' windowed scores; None when none has one."""
    corrected: float | None
    """The same with human labels in place."""
    calls: int
    """Judge calls stored for this run."""
    tokens_in: int
    tokens_out: int
    tokens_cached: int = 0
    cost_nusd: int = 0
    """In units of 1e-9 US dollars, of the calls whose price was known."""
    unpriced_calls: int = 0
    retries: int = 0
    archived_at: datetime | None = None
    """When it was put away; None: it is listed."""
    scored: int = 0
    """Conversations in the mean `score`."""
    corrected_scored: int = 0
    """Conversations in the mean `corrected`."""
    undefined: int = 0
    """Conversations without a score because nothing was judged or compared."""
    incomplete: int = 0
    """Judged conversations without a score because they lack a verdict."""
    undefined_windows: int = 0
    """The same of windows; those of scored conversations are left out of their means."""
    skipped_windows: int = 0
    """Windows to which the metric does not apply."""
    integrity: IntegritySummary = EMPTY_SUMMARY
    """Whether what the judge wrote can be found where it must come from."""


@dataclass(frozen=True, slots=True)
class SavedView:
    """A filter and an order of a list under a name."""

    name: str
    filter: str
    """As it is typed; "" for none."""
    sort: str
