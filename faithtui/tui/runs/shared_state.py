"""What all runs of the app share, made from the settings when it is first needed."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from faithtui.config import Settings
    from faithtui.engine.runs.run_environment import RunEnvironment


class _RunSettings(NamedTuple):
    """The settings that decide about it."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    prices: Path | None = None
    redact: str | None = None
    image_hosts: tuple[str, ...] = ()
    timeout_s: float | None = None

    @property
    def rate_limits(self) -> tuple[int | None, int | None]:
        return self.requests_per_minute, self.tokens_per_minute


class RunEnvironmentCache:
    """Keeps one set of limits, prices and redaction for as long as the settings stay."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cached: tuple[_RunSettings, RunEnvironment] | None = None

    def get_environment(self, settings: "Settings | None") -> "RunEnvironment":
        """Give what runs share under these settings; None: the defaults.

        The limits of accounts are kept while the speed set stays: what was learned of a provider
        is not forgotten because prices changed. Imports what is slow: meant for a thread.

        Raises:
            ConfigError: The price table or the redaction cannot be used.
        """
        from faithtui.engine.runs.run_environment import make_run_environment

        wanted = _RunSettings()
        if settings is not None:
            wanted = _RunSettings(
                settings.requests_per_minute,
                settings.tokens_per_minute,
                settings.prices,
                settings.redact,
                settings.image_hosts,
                settings.timeout_s,
            )
        with self._lock:
            before = self._cached
            if before is not None and before[0] == wanted:
                return before[1]
            made = make_run_environment(**wanted._asdict())
            if before is not None and before[0].rate_limits == wanted.rate_limits:
                made = replace(made, rate_limiters=before[1].rate_limiters)
            self._cached = wanted, made
            return made
