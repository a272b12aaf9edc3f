"""What runs would ask and cost, and how their judge did when it was tried."""

from collections.abc import Sequence

from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.new_run.form_lines import (
    JudgeTrial,
    format_judge_test,
    format_test_and_preview_lines,
)
from faithtui.tui.theme.lines import Line
from faithtui.tui.widgets.scroll_pane import Pane

NOT_COUNTED = "not counted: "
"""What begins the reason why there are no figures."""


class PreviewPane(Pane):
    """Trial of the judge, and preview.

    Args:
        keys: What keys are called.
    """

    def __init__(self, keys: KeyNames, *, id: str) -> None:
        super().__init__(id=id, title="Before the start")
        self._keys = keys
        self._trial: JudgeTrial | None = None
        self._parts: Sequence[tuple[str, str]] = ()
        self._is_stale = True

    @property
    def trial(self) -> JudgeTrial | None:
        """The latest trial of the judge that is chosen."""
        return self._trial

    @property
    def is_testing(self) -> bool:
        """Whether the judge is being asked now."""
        trial = self._trial
        return trial is not None and trial.result is None and not trial.is_cancelled

    def on_mount(self) -> None:
        """Draw what is known."""
        self._paint_content()

    def show_judge_test(self, trial: JudgeTrial | None) -> None:
        """Draw how trying the judge stands."""
        if trial is not self._trial:
            self._trial = trial
            self._paint_content()

    def show_preview(self, parts: Sequence[tuple[str, str]]) -> None:
        """Draw what the runs would ask and cost."""
        self._parts, self._is_stale = parts, False
        self._paint_content()

    def mark_stale(self) -> None:
        """Draw the figures as those of the form before it was changed.

        Why there were none is dropped: that may be what was mended.
        """
        if not self._is_stale:
            self._is_stale = True
            self._parts = [each for each in self._parts if not each[1].startswith(NOT_COUNTED)]
            self._paint_content()

    def _paint_content(self) -> None:
        title = "Before the start · counting …" if self._is_stale else "Before the start"
        self.show(self._build_lines, title=title)

    def _build_lines(self, width: int) -> Sequence[Line]:
        keys = self._keys
        trial = format_judge_test(self._trial, keys("new-run.test"), keys("new-run.close"))
        return format_test_and_preview_lines(trial, self._parts, width, is_stale=self._is_stale)
