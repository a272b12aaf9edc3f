"""`h`: the text that says how to judge, its versions, and writing the next one in an editor."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType

from faithtui.domain.limits import GUIDELINE
from faithtui.errors import FaithtuiError
from faithtui.store.annotations.guidelines import (
    Guideline,
    find_default_guideline,
    hash_guideline_text,
)
from faithtui.tui.input_queue import hold_keys_during_worker
from faithtui.tui.review.external_editor import edit_text
from faithtui.tui.review.guideline.guideline_lines import guideline_lines
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.screen.dialogs import Dialog
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.session import Session
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    BLANK,
    FULL_TEXT_LIMIT,
    Line,
    Piece,
    escape_line,
    escape_text,
    wrap,
)
from faithtui.tui.widgets.scroll_pane import Pane


class GuidelineOpener(Controller[FaithScreen]):
    """Opens the guideline.

    Args:
        screen: The screen.
        metric: Gives the metric of what is reviewed; None: nothing is.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "h",
            "show_guideline",
            "guideline",
            show=False,
            tooltip="Read the guideline in force, or write a new version of it",
            id="review.guideline",
        ),
    ]

    def __init__(self, screen: FaithScreen, metric: Callable[[], str | None]) -> None:
        super().__init__(screen)
        self._metric = metric

    @hold_keys_during_worker(can_give_up=True)
    @run_in_worker("guideline")
    async def action_show_guideline(self) -> None:
        """Show the guideline."""
        metric = self._metric()
        versions = await self.read_in_thread(self.session.store.guidelines.list_versions, metric)
        default = None if metric is None else find_default_guideline(metric)
        self.input_queue.open_window(
            GuidelineDialog(self.session, versions, default), self._reload_if_guideline_set
        )

    def _reload_if_guideline_set(self, answer: str | None) -> None:
        """Draw what is in force by now."""
        if answer == "set":
            self.screen.reload()


class GuidelineDialog(Dialog):
    """The guideline in force; answers `set` when another one was put in force."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "e,ctrl+e",
            "write_new_version",
            "edit",
            key_display="e",
            tooltip="Write a new version in $VISUAL or $EDITOR",
            id="guideline.edit",
        ),
        Binding(
            "left_square_bracket",
            "show_other_version(-1)",
            "version before",
            key_display="[",
            tooltip="Read the version before",
            id="guideline.version-before",
        ),
        Binding(
            "right_square_bracket",
            "show_other_version(1)",
            "next version",
            key_display="]",
            tooltip="Read the next version",
            id="guideline.next-version",
        ),
        Binding(
            "h,enter",
            "close",
            "Close",
            show=False,
            tooltip="Close this window",
            id="guideline.close",
        ),
    ]

    def __init__(
        self, session: Session, versions: Sequence[Guideline], default: Guideline | None = None
    ) -> None:
        super().__init__("Guideline", self._lines)
        self._session = session
        self._default = default
        self._versions = self._prepend_default_version(versions)
        self._version_index = len(self._versions) - 1
        self._message = ""
        """What happened last."""
        self._was_set = False

    def _prepend_default_version(self, versions: Sequence[Guideline]) -> tuple[Guideline, ...]:
        return (*versions,) if self._default is None else (self._default, *versions)

    def action_close(self) -> None:
        """Close."""
        self.dismiss("set" if self._was_set else None)

    def action_show_other_version(self, by: int) -> None:
        """Read another version."""
        if self._versions:
            self._version_index = max(0, min(len(self._versions) - 1, self._version_index + by))
            self._repaint_content()

    def action_write_new_version(self) -> None:
        """Write a new version in the user's editor, beginning with the one on screen."""
        text = "" if self._version_index < 0 else self._versions[self._version_index].text
        instead = ", or use faithtui guideline set FILE"
        found = edit_text(self.app, text, name="guideline.md", limit=GUIDELINE, instead=instead)
        if isinstance(found, FaithtuiError):
            self.app.bell()
            self._message = str(found)
        elif not found.strip():
            self._message = "an empty text is no guideline: nothing was changed"
        else:
            shown = None if self._version_index < 0 else self._versions[self._version_index]
            self._save_version(found, None if shown is None else shown.metric)
            return
        self._repaint_content()

    @work(exclusive=True, exit_on_error=False, thread=True)
    def _save_version(self, text: str, metric: str | None) -> None:
        """Put a text in force, for the metric that the one it began with is for."""
        guidelines = self._session.store.guidelines
        for_metric = None if self._default is None else self._default.metric
        before = (
            guidelines.find_version_in_force()
            if for_metric is None
            else guidelines.find_version_or_default(for_metric)
        )
        try:
            if (
                before is not None
                and before.is_default
                and hash_guideline_text(text) == before.digest
            ):
                now, versions = before, guidelines.list_versions(for_metric)
            else:
                now = guidelines.add_version(text, self._session.reviewer, metric)
                versions = guidelines.list_versions(for_metric)
        except FaithtuiError as error:
            self.app.call_from_thread(self._show_save_result, str(error), None)
            return
        same = before is not None and before.digest == now.digest
        words = "the text is the same: no new version" if same else f"version {now.number} saved"
        self.app.call_from_thread(self._show_save_result, words, None if same else versions)

    def _show_save_result(self, words: str, versions: tuple[Guideline, ...] | None) -> None:
        if not self.is_mounted:
            return  # It was closed meanwhile; what was saved is saved.
        self._message = words
        if versions is not None:
            self._versions, self._was_set = self._prepend_default_version(versions), True
            self._version_index = len(self._versions) - 1
        self._repaint_content()

    def _repaint_content(self) -> None:
        self.query_one("#text", Pane).show(self._lines, keep=False)
        self.refresh_bindings()

    def _lines(self, width: int) -> Sequence[Line]:
        wrapped_message = wrap([escape_text(self._message, "human")], width - 1, first=[Piece(" ")])
        message_lines = [*wrapped_message, BLANK] if self._message else []
        if self._version_index < 0:
            words = (
                "There is no guideline yet: E writes one in your editor, and "
                "faithtui guideline set FILE takes one from a file. Labels name the version that "
                "was in force."
            )
            return [*message_lines, *wrap([Piece(words)], width - 1, first=[Piece(" ")])]
        found = self._versions[self._version_index]
        last = self._version_index == len(self._versions) - 1
        head = [
            Piece(
                _format_version_of_count(found, len(self._versions) - (self._default is not None)),
                "strong",
            ),
            Piece(" · in force" if last else " · replaced", "good" if last else "warn"),
        ]
        if found.created_at is not None:
            head += [
                Piece(f" · {fmt.format_datetime(found.created_at)} · ", "quiet"),
                escape_line(found.author, "quiet", limit=40),
            ]
        head += [
            Piece(f" · {found.digest}", "quiet"),
            Piece(f" · for {found.metric or 'every metric'}", "quiet"),
        ]
        return [
            *message_lines,
            *wrap(head, width - 1, first=[Piece(" ")]),
            BLANK,
            *guideline_lines(found.text, width, FULL_TEXT_LIMIT),
        ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the keys of versions where there is one or none."""
        return len(self._versions) > 1 if action == "show_other_version" else True


def _format_version_of_count(version: Guideline, count: int) -> str:
    return "default" if version.is_default else f"version {version.number} of {count}"
