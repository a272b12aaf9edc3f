"""How much a run may cost from now on: dollars, tokens, or as much as it takes."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, Vertical
from textual.content import Content
from textual.widgets import Input, Label

from faithtui.engine.calls.budget import BudgetCaps
from faithtui.errors import ConfigError
from faithtui.store.records import RunRow
from faithtui.tui.input_queue import ModalWindow
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.amounts import (
    format_typed_dollars,
    format_typed_tokens,
    parse_typed_dollars,
    parse_typed_tokens,
)
from faithtui.tui.widgets.bars import KeyBar
from faithtui.tui.widgets.plain_input import PlainInput


class BudgetDialog(ModalWindow[BudgetCaps | None]):
    """Two limits of a run; answers with what they are to be.

    Args:
        row: The run.
    """

    CSS_PATH = "budget_dialog.tcss"
    HELP_WORDS: ClassVar[str] = (
        "Before each question the most that it may cost is set aside; where that does not fit, the "
        "run stops and nothing is lost. A blank field is no limit. Calls whose price is not known "
        "count against the tokens alone."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+s",
            "answer_with_budget",
            "save",
            tooltip="Let this be the budget",
            id="budget.save",
        ),
        Binding("escape", "close", "close", tooltip="Leave the budget as it is", id="budget.close"),
    ]

    def __init__(self, row: RunRow) -> None:
        super().__init__()
        self._row = row

    def compose(self) -> ComposeResult:
        """Stack what was spent, the two fields, and the keys."""
        row, spec = self._row, self._row.spec
        used = row.tokens_in + row.tokens_out
        spent = f"so far {fmt.format_money(row.cost_nusd)} and {fmt.format_count(used)} tokens"
        if row.unpriced_calls:
            spent += (
                f"; no price known for {fmt.format_count_with_noun(row.unpriced_calls, 'call')}"
            )
        with Vertical(id="dialog") as dialog:
            dialog.border_title = Content(f"Budget of run #{row.id}")
            yield Label(Content(spent), id="spent")
            with Grid(id="form"):
                yield Label("dollars")
                yield PlainInput(
                    value=format_typed_dollars(spec.budget_nusd), id="usd", compact=True
                )
                yield Label("tokens")
                yield PlainInput(
                    value=format_typed_tokens(spec.budget_tokens), id="tokens", compact=True
                )
            yield Label("", id="problem")
            yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Begin in the field that is a limit already."""
        spec = self._row.spec
        tokens_alone = spec.budget_nusd is None and spec.budget_tokens is not None
        self.query_one("#tokens" if tokens_alone else "#usd").focus()

    @on(Input.Submitted)
    def answer_on_enter(self) -> None:
        """Save on enter."""
        self.action_answer_with_budget()

    def action_answer_with_budget(self) -> None:
        """Answer with the budget."""
        try:
            self.dismiss(self._read_caps_from_fields())
        except ConfigError as error:
            self.query_one("#problem", Label).update(Content(str(error)))

    def _read_caps_from_fields(self) -> BudgetCaps:
        """Read the fields.

        Raises:
            ConfigError: One cannot be read, or is less than what was spent.
        """
        row = self._row
        wanted = BudgetCaps(
            parse_typed_dollars(self.query_one("#usd", Input).value),
            parse_typed_tokens(self.query_one("#tokens", Input).value),
        )
        if wanted.nusd is not None and wanted.nusd < row.cost_nusd:
            raise ConfigError(
                f"{fmt.format_money(row.cost_nusd)} is spent already: give more, or blank"
            )
        used = row.tokens_in + row.tokens_out
        if wanted.tokens is not None and wanted.tokens < used:
            raise ConfigError(f"{fmt.format_count(used)} tokens are used: give more, or blank")
        return wanted

    def action_close(self) -> None:
        """Close without an answer."""
        self.dismiss(None)
