"""Which way of asking for JSON works with a judge: tried from the most binding one down.

A server may refuse a way, answer it with an error of its own, or take it and ignore it. So the next
one is tried because of what comes back, never because of what a server says it can do. What works
is remembered for the next run.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence

from faithtui.errors import JudgeSpeaksNoJson, JudgeUnsupported
from faithtui.judges.base import OutputFormat

TRIAL = 3
"""The first replies in an output format, which decide whether it is kept."""

_BAD_AT_FIRST, _BAD_LATER = 2, 1
"""Unusable ones among them that are too many: fewer below the first format, so that the last one
has its turn before the judge is given up."""

MOST_WASTED = 6
"""Unusable replies since the last usable one, none of the ways having proved itself, after which
the judge is given up."""


class OutputFormatFallback:
    """The output formats of one judge. Belongs to one event loop."""

    def __init__(
        self,
        ref: str,
        output_formats: Sequence[OutputFormat],
        *,
        known: OutputFormat | None = None,
        on_known: Callable[[OutputFormat], None] = lambda known: None,
        on_step: Callable[[OutputFormat, OutputFormat], None] = lambda previous, current: None,
    ) -> None:
        """Begin at the top, or where an earlier run ended.

        Args:
            ref: The judge, for messages.
            output_formats: Its ways, the most binding first; () when it needs none.
            known: The one that worked before; None: nobody has asked yet.
            on_known: Called once an output format has proved to work and was not known to.
            on_step: Called for every step down.
        """
        self._ref = ref
        self._formats = tuple(output_formats)
        self._format_index = self._formats.index(known) if known in self._formats else 0
        self._is_proved = known in self._formats or not output_formats
        self._is_one_at_a_time = not self._is_proved
        """One request at a time."""
        self._on_known = on_known
        self._on_step = on_step
        self._seen = self._bad = self._wasted = 0
        self._probing = asyncio.Lock()

    @property
    def output_format(self) -> OutputFormat | None:
        """The way to ask now; None for a judge that needs none."""
        return self._formats[self._format_index] if self._formats else None

    @contextlib.asynccontextmanager
    async def acquire_format(self) -> AsyncIterator[OutputFormat | None]:
        """Give the format of one request; until one has proved to work, one request at a time.

        A request that ends without a word about its format, such as one never answered, lets all
        others go: one after the other, they would wait for a deadline each.
        """
        async with contextlib.AsyncExitStack() as alone:
            if self._is_one_at_a_time:
                await alone.enter_async_context(self._probing)
            if not self._is_one_at_a_time:  # by now
                await alone.aclose()
            before = self._format_index, self._seen
            try:
                yield self.output_format
            finally:
                if (self._format_index, self._seen) == before:
                    self._is_one_at_a_time = False

    def record_success(self, output_format: OutputFormat | None) -> None:
        """Note a usable reply."""
        if output_format is None or output_format is not self.output_format:
            return
        self._seen += 1
        self._wasted = 0
        if not self._is_proved:
            self._is_proved = True
            self._is_one_at_a_time = False
            self._on_known(output_format)

    def record_failure_worth_retrying(self, output_format: OutputFormat) -> bool:
        """Note a reply that is no usable JSON.

        Returns:
            Whether there is another format to ask the same in.

        Raises:
            JudgeSpeaksNoJson: No format is left and nothing is usable any more.
        """
        # Asked before the format was given up: the same may succeed in the present one.
        if output_format is not self.output_format:
            return True
        self._seen += 1
        self._bad += 1
        self._wasted += 1
        too_many = _BAD_LATER if self._format_index else _BAD_AT_FIRST
        if (
            self._seen <= TRIAL
            and self._bad >= too_many
            and self._format_index + 1 < len(self._formats)
        ):
            self._switch_to_next_format()
            return True
        if not self._is_proved and self._wasted >= MOST_WASTED:
            raise JudgeSpeaksNoJson(
                f"{self._ref} did not return usable JSON in any of its last {self._wasted} "
                "answers, however it was asked; choose another model"
            )
        return False

    def record_refusal(self, output_format: OutputFormat | None, error: JudgeUnsupported) -> None:
        """Note that the judge does not take a request of this form.

        Requests that were refused together step down once.

        Raises:
            JudgeSpeaksNoJson: There is no other form.
        """
        if output_format is not self.output_format:
            return
        if self._format_index + 1 >= len(self._formats):
            raise JudgeSpeaksNoJson(
                f"{self._ref} takes no form of request that asks for JSON: {error}",
                status=error.status,
            ) from error
        self._switch_to_next_format()

    def _switch_to_next_format(self) -> None:
        previous = self._formats[self._format_index]
        self._format_index += 1
        self._seen = self._bad = 0
        self._is_proved = False
        self._is_one_at_a_time = True
        self._on_step(previous, self._formats[self._format_index])
