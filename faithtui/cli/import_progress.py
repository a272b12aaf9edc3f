"""The line that says how far an import has come, of files and of the demo."""

import sys
from typing import TYPE_CHECKING

from faithtui.cli.output import is_quiet

if TYPE_CHECKING:
    from faithtui.engine.dataset_import import ImportProgress


class ImportProgressLine:
    """How far an import has come, on stderr, where somebody watches."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty() and not is_quiet()

    def __call__(self, progress: "ImportProgress") -> None:
        """Draw it."""
        if not self._live:
            return
        share = 100 * progress.bytes_done // max(1, progress.bytes_total)
        doing = "checking" if progress.checking else "importing"
        sys.stderr.write(f"\r\x1b[K{doing} {share} % · {progress.lines:,} lines of this file")
        if progress.bytes_done >= progress.bytes_total:
            sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
