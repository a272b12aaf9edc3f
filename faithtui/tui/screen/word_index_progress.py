"""Words that wait for the index are taken up before a list is searched, with how far that is."""

from faithtui.domain.filters import Filter, TermName
from faithtui.domain.ids import RunId
from faithtui.store.search.filter_search import SearchStop
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.theme.lines import Piece


async def index_words_and_show_progress(
    screen: FaithScreen, run: RunId, wanted: Filter, stop: SearchStop
) -> None:
    """Take up the words that an import left to the first search for words.

    Args:
        screen: Says how far it is, in its status line.
        run: What is searched; nothing is taken up where all its words are in the index.
        wanted: What is searched for; nothing is taken up for a filter without words.
        stop: Of the search.

    Raises:
        SearchStopped: Somebody stopped it. What was taken up stays.
    """
    store = screen.session.store
    if store.is_read_only or not wanted.list_terms_with_names(TermName.TEXT):
        return  # the search says that it cannot
    if await screen.read_in_thread(store.word_index.is_run_indexed, run):
        return
    left = total = await screen.read_in_thread(store.word_index.count_unindexed_texts)
    while left:
        stop.raise_if_stopped()
        done = f"{total - left:,} of {total:,}"
        screen.show_message(Piece(f"indexing words for search: {done} conversations and passages"))
        left = await screen.read_in_thread(store.word_index.index_next_lot)
        total = max(total, left)
    if total:
        screen.show_message()
