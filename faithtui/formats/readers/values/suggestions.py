"""What a key that nobody understood may have meant."""

import re
from functools import lru_cache
from typing import Final

from faithtui.domain.text.near_spellings import find_nearest_word
from faithtui.domain.text.suggestions import format_suggestion
from faithtui.errors import ConfigError
from faithtui.formats.readers.values.key_spellings import normalise_key_spelling

_MEANT: Final = {
    **dict.fromkeys(
        (
            "contexts",
            "retrieved_contexts",
            "retrieved_context",
            "documents",
            "passages",
            "chunks",
            "retrieved_documents",
            "source_documents",
            "evidence",
        ),
        "retrieval_context",
    ),
    **dict.fromkeys(("text", "message", "body", "utterance", "value"), "content"),
    **dict.fromkeys(("speaker", "from", "author", "sender"), "role"),
    **dict.fromkeys(("messages", "conversation", "dialogue", "dialog", "chat"), "turns"),
    **dict.fromkeys(("labels", "annotations", "human_annotations", "ratings"), "human_labels"),
    **dict.fromkeys(("question_text", "user_message", "ask", "prompt_text"), "question"),
    **dict.fromkeys(("answer_text", "assistant_message", "bot_answer", "result"), "answer"),
}
_BY_FOLDED: Final = {normalise_key_spelling(key): meant for key, meant in _MEANT.items()}

NAMES: Final = (
    "id",
    "turns",
    "messages",
    "role",
    "content",
    "retrieval_context",
    "images",
    "metadata",
    "human_labels",
    "reference_judges",
    "question",
    "answer",
    "contexts",
    "reference",
    "label",
    "annotator",
    "note",
    "faithfulness",
    "judge",
    "chat_history",
    "conversation_id",
)
"""Names that a key can be mapped to."""

_LEAST: Final = 80
"""Of 100: below this a likeness of two names is chance."""
_LONG: Final = 8
"""Letters from which a word that is no name here is likely to be meant when it is nearly there."""
_TURN: Final = "turn"
"""A position, unless it holds a list."""
_ABOUT_PASSAGES: Final = re.compile(
    r"context|document|docs|passage|chunk|evidence|retriev|snippet|knowledge|sources"
)
_NO_TEXT: Final = re.compile(
    r"[^a-z](?:ids?|counts?|scores?|index|number|size)$|[a-z](?:Ids?|Count)$"
)
"""How names of keys end that hold numbers or ids."""


@lru_cache(maxsize=1024)  # a key comes once a record
def suggest_key(key: str) -> str | None:
    """Suggest the name that a key may have meant; None when nothing is near."""
    last = key.rpartition(".")[2]
    folded = normalise_key_spelling(last)
    if folded in _BY_FOLDED:
        return _BY_FOLDED[folded]
    by_folded = {normalise_key_spelling(name): name for name in NAMES}
    if folded in by_folded:
        return by_folded[folded]
    if folded == _TURN:
        return None
    # A name of another library may be misspelt as well.
    by_folded |= {name: meant for name, meant in _BY_FOLDED.items() if len(name) >= _LONG}
    nearest = find_nearest_word(folded, by_folded, _LEAST)
    return None if nearest is None else by_folded[nearest]


def suggest_key_for_value(key: str, value: object) -> str | None:
    """Suggest the name that a key may have meant, where it holds what the name stands for."""
    if normalise_key_spelling(key) == _TURN and isinstance(value, list):
        return "turns"
    meant = suggest_key(key)
    if meant in ("turns", "retrieval_context", "contexts"):
        return meant if isinstance(value, list | dict | str) else None
    return meant


def may_hold_passages(key: str) -> bool:
    """Say whether a key is called as one that holds passages may be."""
    last = key.rpartition(".")[2]
    if _NO_TEXT.search(last):
        return False
    return suggest_key(key) == "retrieval_context" or bool(_ABOUT_PASSAGES.search(last.lower()))


def parse_map_options(options: list[str]) -> dict[str, str]:
    """Read `--map OURS=THEIRS` into the name of each key of theirs.

    Raises:
        ConfigError: One has another form, or names nothing that is known here.
    """
    renames: dict[str, str] = {}
    for each in options:
        ours, mark, theirs = each.partition("=")
        ours, theirs = ours.strip(), theirs.strip()
        if not mark or not ours or not theirs:
            raise ConfigError(f"--map {each}: expected NAME=COLUMN, such as question=user_input")
        if ours not in NAMES:
            turned = f"; did you mean --map {theirs}={ours}?" if theirs in NAMES else ""
            meant = _BY_FOLDED.get(normalise_key_spelling(ours))
            if not turned and meant is not None:
                turned = f"; did you mean --map {meant}={theirs}?"
            known = ", ".join(NAMES) + (turned or format_suggestion(ours, NAMES))
            raise ConfigError(f"--map {each}: there is no name `{ours}`; known: {known}")
        renames[theirs] = ours
    return renames
