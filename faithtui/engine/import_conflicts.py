"""What differs between a conversation to import and the one that has its source and key."""

from collections.abc import Sequence
from dataclasses import replace

from faithtui.domain.conversation import Conversation, Turn, content_hash
from faithtui.store.store import Store


def hash_without_names_of_passages(turns: Sequence[Turn]) -> str:
    """Give turns the same digits that are equal but for what their passages are called."""
    return content_hash([_leave_out_names_of_passages(each) for each in turns])


def list_keys_differing_in_names(store: Store, conversations: Sequence[Conversation]) -> set[str]:
    """List the conversations that are stored with the same turns, but for names of passages.

    Args:
        store: The store.
        conversations: Of one data set; their turns are not those that are stored.
    """
    if not conversations:
        return set()
    found, source = store.conversations, conversations[0].source
    given = {each.key: each for each in conversations}
    hashes = found.read_content_hashes_by_key(source)
    ids = found.map_unchanged_keys_to_ids(
        source, {key: hashes[key] for key in given if key in hashes}
    )
    return {
        key
        for key, number in ids.items()
        if hash_without_names_of_passages(found.get(number).turns)
        == hash_without_names_of_passages(given[key].turns)
    }


def _leave_out_names_of_passages(turn: Turn) -> Turn:
    if not any(each.source is not None for each in turn.retrieval_context or ()):
        return turn
    documents = tuple(replace(each, source=None) for each in turn.retrieval_context or ())
    return replace(turn, retrieval_context=documents)
