"""What a judge answered for one conversation: its calls, and the reply of one word for word."""

from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from faithtui.store.records import CallRow
from faithtui.tui.navigation import ModalWindow
from faithtui.tui.replies.reply_lines import call_lines, reply_lines, reply_text
from faithtui.tui.replies.show_replies import ConversationReplies
from faithtui.tui.session import Session
from faithtui.tui.theme import layouts
from faithtui.tui.theme.lines import Line, Piece, escape_line
from faithtui.tui.widgets.bars import KeyBar, StatusLine, TitleBar
from faithtui.tui.widgets.pane import Pane, RowPane
from faithtui.tui.widgets.panes import Panes


class RepliesScreen(ModalWindow[None]):
    """The calls of a conversation beside the chosen reply.

    Args:
        session: What screens share.
        replies: The calls.
    """

    CSS_PATH = "replies.tcss"
    HELP_WORDS: ClassVar[str] = (
        "Every reply is stored as it came, those too that could not be used. A question that was "
        "asked before is answered from the store and makes no call. What serves several windows "
        "counts for the first that asked."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "other", "pane", tooltip="Go to the other pane", id="replies.pane"),
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
            self.reply.show(lambda _width: [Line()], title="Reply")
            return
        window = "" if call.window is None else f" w{call.window + 1}"
        title = f"Reply {self.calls.cursor + 1} · {escape_line(call.step, limit=40).text}{window}"
        self.reply.show(lambda width: reply_lines(call, width), title=title, keep=False)

    @on(RowPane.Chosen, "#calls")
    def focus_reply(self) -> None:
        """Go to the reply."""
        self.reply.focus()

    def action_other(self) -> None:
        """Go to the other pane."""
        (self.reply if self.calls.has_focus else self.calls).focus()

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
