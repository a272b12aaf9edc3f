"""What a judge was asked for one conversation and what it answered: its calls, and one of them."""

from typing import ClassVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from faithtui.store.records import CallRow
from faithtui.tui.input_queue import ModalWindow
from faithtui.tui.replies.claim_entry import ClaimEntry, ClaimInWindow, find_call_deciding_claim
from faithtui.tui.replies.reply_lines import (
    TextLines,
    format_call_table_lines,
    format_prompt_lines,
    get_reply_for_clipboard,
    reply_lines,
)
from faithtui.tui.replies.show_replies import ConversationReplies
from faithtui.tui.session import Session
from faithtui.tui.theme import layouts
from faithtui.tui.theme.lines import Line, Piece, escape_line
from faithtui.tui.widgets.bars import KeyBar, StatusLine, TitleBar
from faithtui.tui.widgets.scroll_pane import Pane, RowPane
from faithtui.tui.widgets.zoomable_panes import Panes

_LINES_ABOVE = 2
"""Lines above the claim that is looked for, when a call is shown."""


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
        "asked before is answered from the store and makes no call: the stored reply stands below "
        "the calls, with the run and the conversation it was asked for, and costs nothing here. "
        "What serves several windows "
        "counts for the first that asked. Opened from a claim, it begins at the call that decided "
        "that claim in the window shown, with the claim marked in question and reply; claims and "
        "truths are numbered anew in each question, and the last line says which is which. "
        "Where there is no room for both, {replies.pane} changes between question and reply."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "tab",
            "go_to_next_pane",
            "pane",
            tooltip="Go to the next pane: calls, question, reply",
            id="replies.pane",
        ),
        Binding(
            "C",
            "copy_reply",
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
        self._entry = (
            None
            if replies.claim is None
            else find_call_deciding_claim(replies.calls, replies.questions.requests, replies.claim)
        )

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
                layout_function=layouts.lay_out_replies,
            )
            yield StatusLine(id="status")
            yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Begin with the call that decided the claim, else with the first that failed."""
        replies = self._replies
        reused = sum(each.is_reused for each in replies.calls)
        count = f"{len(replies.calls)}" + (
            f": {len(replies.calls) - reused} made here, {reused} from the store" if reused else ""
        )
        self.query_one(TitleBar).left = (
            Piece("RAW REPLIES", "strong"),
            Piece("  "),
            escape_line(replies.key, limit=80),
        )
        self.calls.show(self._build_call_table_lines, title=f"Calls {count}")
        bad = next((row for row, each in enumerate(replies.calls) if not each.usable), 0)
        self.calls.move_to(bad if self._entry is None else self._entry.row)
        self.calls.focus()
        self.paint_call()
        if replies.claim is not None and replies.calls:
            self._show_deciding_call(replies.claim)

    def _build_call_table_lines(self, width: int) -> list[Line]:
        """Give the table of calls; what its columns are stays in view."""
        self.calls.set_pinned_and_scroll_lines(1 if self._replies.calls else 0, 0)
        return format_call_table_lines(self._replies.calls, self._replies.cost, width)

    @on(RowPane.Moved, "#calls")
    def paint_call(self) -> None:
        """Draw question and reply of the chosen call."""
        call = self.selected_call
        if call is None:
            for pane in (self.question, self.reply):
                pane.show(lambda _width: [Line()])
            return
        number = self.calls.cursor + 1
        window = "" if call.window is None else f" w{call.window + 1}"
        step = escape_line(call.step, limit=40).text
        asked, problem = self._replies.questions, self._replies.questions.problem
        request = asked.requests.get(call.id)
        entry = self._entry
        if entry is not None and entry.row != self.calls.cursor:
            entry = None

        def build_question(width: int) -> list[Line]:
            return _scroll_to_claim_and_get_lines(
                self.question, format_prompt_lines(request, problem, width, entry), entry
            )

        def build_reply(width: int) -> list[Line]:
            return _scroll_to_claim_and_get_lines(
                self.reply, reply_lines(call, width, entry), entry
            )

        self.question.show(build_question, title=f"Question {number}", keep=False)
        self.reply.show(build_reply, title=f"Reply {number} · {step}{window}", keep=False)

    @on(RowPane.Chosen, "#calls")
    def focus_reply(self) -> None:
        """Go to the reply."""
        self._go_to_pane(self.reply)

    @on(events.DescendantFocus)
    def show_focused_question_or_reply(self) -> None:
        """Show question or reply, where there is room for one, and say what the next key shows."""
        panes = (self.calls, self.question, self.reply)
        at = next((place for place, pane in enumerate(panes) if pane.has_focus), None)
        if at is None:
            return
        self._set_layout_for_pane(panes[at])
        key = self._session.keys("replies.pane")
        for place, pane in enumerate(panes):
            following = str(panes[(place + 1) % len(panes)].id)
            pane.hint = f"{key}: {following}" if place == at else ""

    def action_go_to_next_pane(self) -> None:
        """Go to the next pane."""
        panes = (self.calls, self.question, self.reply)
        at = next((place for place, pane in enumerate(panes) if pane.has_focus), -1)
        self._go_to_pane(panes[(at + 1) % len(panes)])

    def action_copy_reply(self) -> None:
        """Copy the reply, control characters made visible: what is pasted does nothing."""
        call = self.selected_call
        if call is not None:
            self.app.copy_to_clipboard(get_reply_for_clipboard(call))
            words = "reply copied, control characters made visible"
            self.query_one(StatusLine).left = (Piece(words, "good"),)

    def action_close(self) -> None:
        """Close."""
        self.dismiss(None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what needs a reply while there is none."""
        return bool(self._replies.calls) if action == "copy_reply" else True

    def _go_to_pane(self, pane: Pane) -> None:
        self._set_layout_for_pane(pane)
        pane.focus()

    def _set_layout_for_pane(self, pane: Pane) -> None:
        """Give the question the place of the reply while it is read."""
        is_question = pane is self.question
        self.query_one(Panes).set_layout_function(
            layouts.lay_out_replies_question if is_question else layouts.lay_out_replies
        )

    def _show_deciding_call(self, claim: ClaimInWindow) -> None:
        entry = self._entry
        if entry is None:
            words = Piece(f"no call is seen to ask about {claim.name}", "warn")
        else:
            name = "" if entry.name is None else f", as {entry.name}"
            call = f"call {entry.row + 1}{name}"
            numbers = f" ({entry.truths} in review)" if entry.truths else ""
            asked_for = self._replies.calls[entry.row].window
            if asked_for not in (None, claim.window):
                numbers += f"; one question serves w{claim.window + 1} and w{asked_for + 1}"
            words = (
                Piece(f"{claim.name} was decided in {call}{numbers}")
                if entry.is_deciding
                else Piece(
                    f"no single reply has the verdict on {claim.name} in w{claim.window + 1}; "
                    f"the nearest is {call}{numbers}",
                    "warn",
                )
            )
        self.query_one(StatusLine).left = (words,)


def _scroll_to_claim_and_get_lines(
    pane: Pane, drawn: TextLines, entry: ClaimEntry | None
) -> list[Line]:
    """Scroll to the claim that is looked for, when a call is shown."""
    if entry is not None and drawn.entry is not None:
        pane.set_pinned_and_scroll_lines(0, max(0, drawn.entry - _LINES_ABOVE))
    return drawn.lines
