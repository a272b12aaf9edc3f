"""What a judge was asked for one conversation and what it answered: its calls, and one of them."""

from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from faithtui.store.records import CallRow
from faithtui.tui.navigation import ModalWindow
from faithtui.tui.replies.reply_lines import (
    call_lines,
    question_lines,
    reply_lines,
    reply_text,
)
from faithtui.tui.replies.show_replies import ConversationReplies
from faithtui.tui.session import Session
from faithtui.tui.theme import layouts
from faithtui.tui.theme.lines import BLANK, Line, Piece, escape_line, make_line
from faithtui.tui.widgets.bars import KeyBar, StatusLine, TitleBar
from faithtui.tui.widgets.pane import Pane, RowPane
from faithtui.tui.widgets.panes import Panes


class RepliesScreen(ModalWindow[None]):
    """The calls of a conversation beside question and reply of the chosen one.

    Args:
        session: What screens share.
        replies: The calls.
    """

    CSS_PATH = "replies.tcss"
    HELP_WORDS: ClassVar[str] = (
        "Every reply is stored as it came, those too that could not be used; JSON is drawn with "
        "indents, and {replies.copy} copies it as it came. Questions are not stored: they are put "
        "together again from the run's prompts, and shown only where they are word for word what "
        "was asked. A question that was "
        "asked before is answered from the store and makes no call. What serves several windows "
        "counts for the first that asked."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "other", "pane", tooltip="Go to the next pane", id="replies.pane"),
        Binding(
            "C",
            "copy",
            "copy reply",
            tooltip="Copy the reply to the clipboard, where the terminal allows it",
            id="replies.copy",
        ),
        Binding(
            "escape,q,W",
            "close",
            "close",
            key_display="esc/q",
            tooltip="Close this window",
            id="replies.close",
        ),
    ]

    calls = getters.query_one("#calls", RowPane)
    question = getters.query_one("#question", Pane)
    reply = getters.query_one("#reply", Pane)

    def __init__(self, session: Session, replies: ConversationReplies) -> None:
        super().__init__()
        self._session = session
        self._replies = replies

    @property
    def selected_call(self) -> CallRow | None:
        """The chosen call; None: there are none."""
        calls = self._replies.calls
        return calls[min(self.calls.cursor, len(calls) - 1)] if calls else None

    def compose(self) -> ComposeResult:
        """Stack title, panes, status and keys."""
        with Vertical(id="replies"):
            yield TitleBar(id="title")
            yield Panes(
                RowPane(id="calls", title="Calls"),
                Pane(id="question", title="Question"),
                Pane(id="reply", title="Reply"),
                planner=layouts.plan_replies,
            )
            yield StatusLine(id="status")
            yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Begin with the last call: where something failed, it is the one to read."""
        replies = self._replies
        count = len(replies.calls)
        self.query_one(TitleBar).left = (
            Piece("RAW REPLIES", "strong"),
            Piece("  "),
            escape_line(replies.key, limit=80),
        )
        self.calls.show(
            lambda width: call_lines(replies.calls, replies.cost, width), title=f"Calls {count}"
        )
        bad = next((row for row, each in enumerate(replies.calls) if not each.usable), 0)
        self.calls.move_to(bad)
        self.calls.focus()
        self.draw_reply()

    @on(RowPane.Moved, "#calls")
    def draw_reply(self) -> None:
        """Draw the chosen reply."""
        call = self.selected_call
        if call is None:
            for pane in (self.question, self.reply):
                pane.show(lambda _width: [Line()])
            return
        window = "" if call.window is None else f" w{call.window + 1}"
        title = f"Reply {self.calls.cursor + 1} · {escape_line(call.step, limit=40).text}{window}"
        asked, problem = self._replies.questions, self._replies.questions.problem
        request = asked.requests.get(call.id)

        def build_reply(width: int) -> list[Line]:
            lines = reply_lines(call, width)
            if self.question.display:
                return lines
            heading = make_line(Piece(" the question", "strong"))
            return [*lines, BLANK, heading, BLANK, *question_lines(request, problem, width)]

        self.question.show(
            lambda width: question_lines(request, problem, width),
            title=f"Question {self.calls.cursor + 1}",
            keep=False,
        )
        self.reply.show(build_reply, title=title, keep=False)

    @on(RowPane.Chosen, "#calls")
    def focus_reply(self) -> None:
        """Go to the reply."""
        self.reply.focus()

    def action_other(self) -> None:
        """Go to the next pane."""
        shown = [pane for pane in (self.calls, self.question, self.reply) if pane.display]
        at = next((place for place, pane in enumerate(shown) if pane.has_focus), -1)
        shown[(at + 1) % len(shown)].focus()

    def action_copy(self) -> None:
        """Copy the reply, control characters made visible: what is pasted does nothing."""
        call = self.selected_call
        if call is not None:
            self.app.copy_to_clipboard(reply_text(call))
            words = "reply copied, control characters made visible"
            self.query_one(StatusLine).left = (Piece(words, "good"),)

    def action_close(self) -> None:
        """Close."""
        self.dismiss(None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what needs a reply while there is none."""
        return bool(self._replies.calls) if action == "copy" else True
