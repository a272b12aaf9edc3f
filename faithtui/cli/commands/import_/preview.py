"""The first conversation of an import in lines, as it would come in."""

import textwrap

from faithtui.cli.output import format_conversation_name, plural
from faithtui.domain.conversation import Conversation, Turn
from faithtui.domain.text.visible_text import make_visible_line

_WIDTH = 96
_MOST_TURNS = 20
_MOST_CHARACTERS = 400
"""Of one text: a preview is to show what was understood, not to be read through."""


def preview_lines(conversation: Conversation) -> list[str]:
    """Draw a conversation: its turns, what was retrieved for each, its labels and metadata."""
    name = format_conversation_name(conversation.source, conversation.key)
    count = plural(len(conversation.turns), "turn")
    lines = [make_visible_line(f"first conversation: {name} · {count}")]
    for position, turn in enumerate(conversation.turns[:_MOST_TURNS]):
        lines += _turn_lines(position, turn)
    if len(conversation.turns) > _MOST_TURNS:
        lines.append(f"  … and {len(conversation.turns) - _MOST_TURNS} more turns")
    for rating in conversation.ratings[:_MOST_TURNS]:
        about = "the answer" if rating.claim is None else f"“{rating.claim}”"
        label = f"{rating.label} ({rating.scale})" if rating.label else "skipped"
        lines.append(
            _shorten_to_width(
                f"  label of {rating.annotator} on turn {rating.turn + 1}, {about}: {label}"
            )
        )
    if conversation.metadata:
        lines.append(_shorten_to_width(f"  metadata: {', '.join(map(str, conversation.metadata))}"))
    return lines


def _turn_lines(position: int, turn: Turn) -> list[str]:
    lines = _wrap(f"{position + 1} {turn.role}: {turn.content}", "  ")
    if turn.role == "assistant" and turn.retrieval_context is None:
        lines.append("      passages: not known")
    elif turn.retrieval_context is not None:
        found = turn.retrieval_context
        lines.append(f"      passages: {len(found) or 'none were retrieved'}")
        for number, document in enumerate(found, start=1):
            source = "" if document.source is None else f" ({document.source})"
            lines.append(_shorten_to_width(f"      {number}{source} {document.text}"))
    if turn.images:
        lines.append(f"      images: {len(turn.images)}")
    return lines


def _shorten_to_width(text: str) -> str:
    return make_visible_line(text, _WIDTH)


def _wrap(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        make_visible_line(text, _MOST_CHARACTERS),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
    )
