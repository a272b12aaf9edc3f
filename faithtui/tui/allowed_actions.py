"""What the app may do where it runs, and what it offers in a store that can only be read."""

from collections.abc import Mapping
from typing import Final

from textual.actions import ActionParseResult
from textual.binding import ActiveBinding
from textual.dom import DOMNode
from textual.screen import Screen

from faithtui.errors import ConfigError

ALLOWED = "FAITHTUI_BROWSER_ALLOWS"
"""Environment variable: what an app in a browser may do, by commas."""
FILES, EDITOR = "files", "editor"
"""Write files; start the user's editor."""


def is_in_browser(environment: Mapping[str, str]) -> bool:
    """Say whether a server started this process to show it on a page, as textual-serve does."""
    return environment.get("TEXTUAL_DRIVER", "").endswith(":WebDriver")


def refuse_disallowed_act_in_browser(act: str, environment: Mapping[str, str]) -> None:
    """Refuse to write files or to start an editor from a page, unless its server allows it.

    Raises:
        ConfigError: It is not allowed.
    """
    if not is_in_browser(environment) or act in environment.get(ALLOWED, "").split(","):
        return
    raise ConfigError(
        "files are not written from a browser; faithtui serve --allow-files allows it"
        if act == FILES
        else "no editor is started from a browser; faithtui serve --allow-editor allows it"
    )


WRITING_KEYS: Final = frozenset(
    (
        *("runs.new", "runs.continue", "runs.spot-check", "runs.retry", "runs.archive"),
        *("runs.undo", "runs.redo", "conversations.retry", "integrity.check"),
        *("progress.continue", "progress.retry", "progress.budget", "guideline.edit"),
        *("queues.draw", "queues.extend", "queues.spot-check", "queues.repeats"),
        *("views.save", "views.delete", "views.undo"),
        *("review.undo", "review.redo", "review.note", "review.edit-note", "review.reveal"),
        *("review.truths", "review.fresh", "review.mark-evidence", "review.missed-claims"),
        *("review.verdict-yes", "review.verdict-no", "review.verdict-idk"),
        *("review.verdict-unfair", "review.later", "review.later-too", "review.flag"),
        *("review.repeat", "review.range", "review.unsure", "review.accept"),
        *("review.codes", "review.code-claim", "review.code-truth", "review.code-verdict"),
        *("review.code-retrieval", "review.code-policy", "review.code-data", "review.code-other"),
        *("adjudicate.take-a", "adjudicate.take-b", "adjudicate.final-1", "adjudicate.final-2"),
        *("adjudicate.final-3", "adjudicate.final-unfair", "adjudicate.note"),
        *("adjudicate.discuss", "adjudicate.undo", "adjudicate.redo"),
    )
)
"""Ids of the bindings that write into the store."""

WHY_NOTHING_IS_SAVED: Final = "not saved: this store can only be read"


def drop_writing_keys(found: Mapping[str, ActiveBinding]) -> dict[str, ActiveBinding]:
    """Leave out the keys that nobody is offered in a store that can only be read."""
    return {key: each for key, each in found.items() if each.binding.id not in WRITING_KEYS}


def is_action_writing_store(
    screen: Screen[object], action: "str | ActionParseResult", node: DOMNode | None
) -> bool:
    """Say whether an action that a key of a screen stands for writes into the store.

    Args:
        screen: The screen.
        action: As its binding has it; an action that is parsed already is none of a key.
        node: Whose binding that is.
    """
    # Those of every screen, also of one that offers fewer.
    known = Screen.active_bindings.__get__(screen)
    return any(
        each.binding.id in WRITING_KEYS and each.binding.action == action and each.node is node
        for each in known.values()
    )
