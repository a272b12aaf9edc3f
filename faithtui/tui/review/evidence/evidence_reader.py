"""Reading around a claim: passages, sources, images, its windows. Nothing here is written."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from faithtui.domain.text.visible_text import make_visible
from faithtui.tui.metric_words import capitalise
from faithtui.tui.review import position
from faithtui.tui.review.evidence.image_opener import OPEN_IMAGE
from faithtui.tui.review.lines import claim_lines, evidence_lines
from faithtui.tui.review.lines.image_lines import (
    NumberedImage,
    map_images_to_numbers,
    number_images,
)
from faithtui.tui.review.lines.transcript_lines import transcript_lines
from faithtui.tui.review.panes import ReviewState
from faithtui.tui.review.position import ReviewPosition
from faithtui.tui.screen.controller import Controller
from faithtui.tui.screen.dialogs import PickDialog, TextDialog
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import FULL_TEXT_LIMIT, Piece
from faithtui.tui.widgets.bars import StatusLine

if TYPE_CHECKING:
    from faithtui.tui.review.review_screen import ReviewScreen

PASSAGE = Binding.Group("passage", compact=True)


class EvidenceReader(Controller["ReviewScreen"]):
    """Reads all that belongs to the chosen claim of the review screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "left_square_bracket",
            "choose_passage(-1)",
            "passage before",
            group=PASSAGE,
            key_display="[",
            tooltip="Passage before",
            id="review.previous-passage",
        ),
        Binding(
            "right_square_bracket",
            "choose_passage(1)",
            "next passage",
            group=PASSAGE,
            key_display="]",
            tooltip="Next passage",
            id="review.next-passage",
        ),
        Binding(
            "t",
            "show_full_text",
            "source",
            tooltip="Read the passage, or the conversation, in full",
            id="review.source",
        ),
        OPEN_IMAGE,
        Binding(
            "p",
            "list_windows_of_claim",
            "all windows",
            tooltip="The judge's verdict in every window; {list.open} goes to one",
            id="review.same-claim",
        ),
        Binding(
            "L",
            "zoom_next_pane",
            "windows, truths",
            tooltip="All windows with their questions and scores; again: the truths; again: back",
            id="review.windows",
        ),
        Binding(
            "w",
            "switch_score_weighting",
            "weighting",
            show=False,
            tooltip="Switch between the mean of windows and the score per interaction",
            id="review.weighting",
        ),
        Binding(
            "C",
            "copy_claim",
            "copy",
            show=False,
            tooltip="Copy the claim to the clipboard, where the terminal allows it",
            id="review.copy",
        ),
    ]

    def __init__(self, screen: "ReviewScreen") -> None:
        super().__init__(screen)
        self.per_interaction = False
        """Show scores in which each interaction counts once."""
        self._copied: tuple[Piece, ...] = ()
        """What was said of the claim that was copied last, while one has not moved since."""

    def action_choose_passage(self, by: int) -> None:
        """Choose another passage and show where it begins."""
        state = self.screen.review_state
        if state is None or not state.passages:
            return
        chosen = max(0, min(len(state.passages) - 1, state.position.passage + by))
        state = replace(state, position=replace(state.position, passage=chosen))
        self.screen.set_review_state(state)
        self.screen.panes.paint_evidence(state, moved=False)
        self.screen.panes.scroll_to_passage(state)

    def action_show_full_text(self) -> None:
        """Show the chosen passage, or from the transcript the conversation, in full."""
        state = self.screen.review_state
        if state is None:
            return
        view, claim, spec = state.view, state.claim, state.spec
        numbers = map_images_to_numbers(view.turns)
        in_text = self.screen.focused is not None and self.screen.focused.id in (
            "transcript",
            "windows",
            "card",
        )
        if state.passages and not in_text:
            passage = state.passages[min(state.position.passage, len(state.passages) - 1)]
            has_match = not evidence_lines.is_match_hidden(claim, view)
            self._open_text_dialog(
                TextDialog(
                    f"P{passage.document.number} · turn {passage.turn + 1}",
                    lambda width: evidence_lines.full_passage_lines(
                        passage, numbers, width, has_match=has_match
                    ),
                    has_images=bool(passage.document.images),
                ),
                self._list_passage_images(state),
            )
            return
        start = transcript_lines(view, claim, spec, 100, whole=True)[1]
        self._open_text_dialog(
            TextDialog(
                "Conversation",
                lambda width: transcript_lines(
                    view, claim, spec, width, FULL_TEXT_LIMIT, whole=True
                )[0],
                start=start,
                has_images=bool(numbers),
            ),
            number_images(view.turns),
        )

    def _open_text_dialog(self, dialog: TextDialog, images: tuple[NumberedImage, ...]) -> None:
        """Show a text, and open its images when they are wanted."""

        def open_images_if_wanted(answer: str | None) -> None:
            if answer == "image":
                self.screen.images.choose_and_open_image(images)

        self.input_queue.open_window(dialog, open_images_if_wanted)

    def list_images(self) -> tuple[NumberedImage, ...]:
        """Give the images of the chosen passage from its pane, else all of the conversation."""
        state = self.screen.review_state
        if state is None:
            return ()
        own = (
            self._list_passage_images(state)
            if self.screen.focused is self.screen.panes.evidence
            else ()
        )
        return own or number_images(state.view.turns)

    def _list_passage_images(self, state: ReviewState) -> tuple[NumberedImage, ...]:
        if not state.passages:
            return ()
        chosen = state.passages[min(state.position.passage, len(state.passages) - 1)]
        own = chosen.document.images
        return tuple(each for each in number_images(state.view.turns) if each.image in own)

    def action_list_windows_of_claim(self) -> None:
        """Show the same claim in other windows."""
        state = self.screen.review_state
        claim = None if state is None else state.claim
        if state is None or claim is None:
            return

        def go_to_window(row: str | None) -> None:
            if row is not None and self.screen.view is not None:
                window = claim.verdicts[int(row)].window
                self.screen.paint_at_position(
                    position.fit_position_to_view(
                        self.screen.view, ReviewPosition(window, claim.id)
                    )
                )

        name = f"{capitalise(state.spec.units[0])} {claim.number}"
        self.input_queue.open_window(
            PickDialog(
                f"{name} in {fmt.format_count_with_noun(len(claim.verdicts), 'window')}",
                lambda width: claim_lines.claim_verdict_by_window_lines(
                    claim, state.view, state.label_set, width
                ),
            ),
            go_to_window,
        )

    def action_zoom_next_pane(self) -> None:
        """Give the windows all the room, then the truths, then each pane its own."""
        panes, state = self.screen.panes, self.screen.review_state
        panes.cycle_zoom_through_panes(("windows", "truths"))
        if panes.zoomed_id is None:
            panes.claims.focus()
        elif panes.zoomed_id == "windows" and state is not None and state.claim is not None:
            window = position.get_judge_verdict(state.claim, state.position.window).window
            panes.windows.move_to(window + 1)

    def action_switch_score_weighting(self) -> None:
        """Show the other score; not where scores are hidden, as nobody would see which it is."""
        if self.screen.view is not None and self.screen.view.is_blind:
            self.refuse("scores are hidden while you work blind: nothing was switched")
            return
        self.per_interaction = not self.per_interaction
        if self.screen.review_state is not None:
            self.screen.paint_at_position(self.screen.review_state.position)

    def action_copy_claim(self) -> None:
        """Copy the words of the claim, made visible: what is pasted does nothing."""
        claim = self.screen.claim
        if claim is not None:
            self.app.copy_to_clipboard(make_visible(claim.text))
            name = self.screen.format_claim_name(claim)
            self._copied = (Piece(f"{name} copied, control characters made visible"),)
            self.show_message(*self._copied)

    def clear_copied_message(self) -> None:
        """Take away that a claim was copied, where the status line says so still: one moved on."""
        if self._copied and self.screen.query_one(StatusLine).left == self._copied:
            self.show_message()
        self._copied = ()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done without a conversation."""
        return action == "choose_passage" or self.screen.view is not None
