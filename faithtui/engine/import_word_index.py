"""The words of what an import writes: taken up for search beside it, or left to a search."""

from collections.abc import Callable

from faithtui.store.search.word_index import LOT_ROWS
from faithtui.store.store import Store


class ImportIndexing:
    """Takes up words in lots, which are larger than the transactions of an import.

    Args:
        store: Where the import writes.
        is_deferred: Leave all words to the first search for words.
    """

    def __init__(self, store: Store, *, is_deferred: bool) -> None:
        self._store = store
        self._is_deferred = is_deferred
        self._waited_before = store.word_index.count_unindexed_texts()

    def index_full_lots(self) -> None:
        """Take up words while there are enough for a lot.

        As many wait on as did before the import, so that an import after a deferred one does not
        begin with words of others, which nobody could see the progress of.
        """
        words = self._store.word_index
        while not self._is_deferred and (
            words.count_unindexed_texts() >= self._waited_before + LOT_ROWS
        ):
            words.index_next_lot()
            self._store.wait_for_urgent_writes()

    def finish(self, report: Callable[[int], None]) -> int:
        """Take up the words that wait, those of before among them.

        Args:
            report: Called before each lot with how many texts are left, and at the end with 0.

        Returns:
            How many texts are left to a search.
        """
        left = self._store.word_index.count_unindexed_texts()
        if self._is_deferred:
            return left
        while left:
            report(left)
            left = self._store.word_index.index_next_lot()
            self._store.wait_for_urgent_writes()
        report(0)
        return 0
