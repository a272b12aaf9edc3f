"""Conversations cut into answers."""

from faithtui.domain.conversation import Conversation, Turn
from faithtui.metrics.questions import HISTORY_MESSAGES
from faithtui.metrics.single_answers import cut_answer_windows, read_interaction


def test_an_answer_holds_no_more_of_what_went_before_than_is_shown() -> None:
    """All earlier messages with each answer would be gigabytes in a long conversation."""
    chat = Conversation.of(
        *(Turn(role, f"{role} {n}") for n in range(40) for role in ("user", "assistant"))
    )
    first, *_, last = (
        read_interaction(chat, window) for window in cut_answer_windows(chat, answers_alone=False)
    )
    assert first.history == ()
    assert last.history == (
        "user: user 37",
        "assistant: assistant 37",
        "user: user 38",
        "assistant: assistant 38",
    )
    assert len(last.history) == HISTORY_MESSAGES
