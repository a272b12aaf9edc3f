"""The line that says how far an import has come, of files and of the demo, and its words."""

import sys
from typing import TYPE_CHECKING

from faithtui.cli.output import is_quiet, print_to_stderr

if TYPE_CHECKING:
    from faithtui.domain.filters import Filter
    from faithtui.domain.ids import RunId
    from faithtui.engine.dataset_import import ImportProgress
    from faithtui.store.store import Store


class ImportProgressLine:
    """How far an import has come, on stderr, where somebody watches."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty() and not is_quiet()

    def __call__(self, progress: "ImportProgress") -> None:
        """Draw it."""
        if not self._live:
            return
        if progress.unindexed:
            _draw_words_left(progress.unindexed)
            return
        share = 100 * progress.bytes_done // max(1, progress.bytes_total)
        doing = "checking" if progress.checking else "importing"
        sys.stderr.write(f"\r\x1b[K{doing} {share} % · {progress.lines:,} lines of this file")
        if progress.bytes_done >= progress.bytes_total:
            sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def index_words_before_search(store: "Store", run: "RunId", wanted: "Filter") -> None:
    """Take up the words that an import left to the first search for words, and say so on stderr.

    Args:
        store: May be read-only: then the search says that it cannot.
        run: What is searched; nothing is taken up where all its words are in the index.
        wanted: What is searched for; nothing is taken up for a filter without words.

    Raises:
        StoreError: Another process keeps the store locked, or the disk is full.
    """
    from faithtui.domain.filters import TermName

    if store.is_read_only or not wanted.list_terms_with_names(TermName.TEXT):
        return
    if store.word_index.is_run_indexed(run):
        return
    left = store.word_index.count_unindexed_texts()
    is_live = sys.stderr.isatty() and not is_quiet()
    if not is_live and not is_quiet():
        print_to_stderr(f"indexing the words of {left:,} conversations and passages for search")
    while left:
        if is_live:
            _draw_words_left(left)
        left = store.word_index.index_next_lot()
    if is_live:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _draw_words_left(left: int) -> None:
    sys.stderr.write(
        f"\r\x1b[Kindexing words for search · {left:,} conversations and passages to go"
    )
    sys.stderr.flush()
