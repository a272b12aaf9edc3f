"""Which conversations a run judges."""

from faithtui.domain.ids import ConversationId
from faithtui.domain.text.suggestions import format_suggestion
from faithtui.engine.review.samples.store_split import read_split_conversations
from faithtui.engine.runs.request import RunRequest
from faithtui.errors import ConfigError
from faithtui.store.store import Store


def select_conversations(store: Store, request: RunRequest) -> tuple[ConversationId, ...]:
    """Select the conversations of a run: those of data sets, of a split, or of given claims.

    Args:
        store: Where they are.
        request: What is asked for.

    Returns:
        In the order of the store, at most as many as the request's limit.

    Raises:
        ConfigError: There is no such data set, nothing is left, or the limit is below 1.
    """
    sources, split, limit = request.sources, request.split, request.limit
    if limit is not None and limit < 1:
        raise ConfigError(f"limit is {limit}; expected 1 or more conversations")
    known = [row.source for row in store.conversations.list_sources()]
    for source in sources:
        if source not in known:
            names = ", ".join(known) or "none yet"
            meant = format_suggestion(source, known)
            raise ConfigError(f"there is no source `{source}`; imported: {names}{meant}")
    conversations = store.conversations.list_ids(sources, limit if split is None else None)
    judged, owner = None, ""
    if request.claim_set is not None:
        judged, owner = store.claim_sets.list_conversation_ids(request.claim_set), "the claim set"
    elif request.claims == "run" and request.claims_run is not None:
        judged = store.run_contents.list_conversation_ids(request.claims_run)
        owner = f"run {request.claims_run}"
    if judged is not None:
        conversations = tuple(
            each for each in store.conversations.list_ids(sources) if each in judged
        )
        if not conversations:
            raise ConfigError(f"{owner} has no conversation that is asked for")
    if split is not None:
        within = read_split_conversations(store, split)
        conversations = tuple(each for each in conversations if each in within)
        if not conversations:
            raise ConfigError(f"no conversation that is asked for is in the {split} split")
    conversations = conversations[:limit]
    if not conversations:
        raise ConfigError("there are no conversations yet: faithtui import FILE.jsonl")
    return conversations
