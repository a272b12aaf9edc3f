"""How far shards are, on stderr: one line that updates on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable, Mapping
from typing import TextIO

from faithtui.cli.output import is_quiet, plural
from faithtui.cli.run_progress import PLAIN_S, REDRAW_S, format_clock
from faithtui.engine.shards.measure_worker import ShardOutcome


class ShardProgressLine:
    """Called with the totals of each shard; draws those of all."""

    def __init__(
        self, out: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Prepare.

        Args:
            out: Where to write; None: stderr.
            clock: Seconds that never jump.
        """
        self._out = out or sys.stderr
        self._live = self._out.isatty()
        self._clock = clock
        self._began_at = clock()
        self._drawn_at: float | None = None
        self._drawn = ""
        self._shards = self._whole_before = 0
        self._latest: dict[str, ShardOutcome] = {}

    def set_and_print_shard_counts(self, shards: int, whole: int) -> None:
        """Take how many shards there are, and how many were whole before."""
        self._shards, self._whole_before = shards, whole
        if not is_quiet() and whole:
            self._out.write(f"{whole:,} of {plural(shards, 'shard')} whole from before\n")

    def print_left_out_files(self, counts: Mapping[str, int]) -> None:
        """Say which files among the logs are no logs, as faithtui wrote them."""
        if not is_quiet():
            for folder, files in sorted(counts.items()):
                self._out.write(
                    f"{plural(files, 'file')} of earlier results or waves left out, in {folder}\n"
                )

    def __call__(self, outcome: ShardOutcome) -> None:
        """Take the totals of a shard."""
        known = self._latest.get(outcome.shard)
        if known is None or not known.is_whole:  # a reply in flight may come later
            self._latest[outcome.shard] = outcome
        now = self._clock()
        pause = REDRAW_S if self._live else PLAIN_S
        if self._drawn_at is None:
            self._drawn_at = self._began_at
        if now - self._drawn_at >= pause:
            self._drawn_at = now
            self._write_totals_line()

    def end(self) -> None:
        """Draw the last totals, and leave the line."""
        if self._latest:
            self._write_totals_line()
            if self._live and not is_quiet():
                self._out.write("\n")
                self._out.flush()

    def _write_totals_line(self) -> None:
        if is_quiet():
            return
        text = self._format_totals()
        if text == self._drawn:
            return
        self._drawn = text
        self._out.write(f"\r\x1b[K{text}" if self._live else f"{text}\n")
        self._out.flush()

    def _format_totals(self) -> str:
        shards = self._latest.values()
        whole = self._whole_before + sum(each.is_whole for each in shards)
        conversations = sum(each.conversations for each in shards)
        calls = sum(each.calls for each in shards)
        elapsed = self._clock() - self._began_at
        parts = [
            f"{whole:,}/{self._shards:,} shards",
            plural(conversations, "conversation"),
            format_clock(elapsed),
            plural(calls, "call"),
        ]
        if elapsed >= 1:
            parts.append(f"{60 * calls / elapsed:,.0f}/min")
        costs = [each.cost_usd for each in shards]
        if any(costs):
            parts.append(f"${sum(each or 0 for each in costs):.4f}")
        if None in costs:
            parts.append("prices of some calls unknown")
        for count, what in (
            (sum(each.failed for each in shards), "failed"),
            (sum(each.incomplete for each in shards), "incomplete"),
        ):
            if count:
                parts.append(f"{count:,} {what}")
        return " · ".join(parts)
