"""What figures of the agreement screen count: lists of claims, each opened in review."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from faithtui.domain.ids import ConversationId
from faithtui.tui.agreement import matrix_lines
from faithtui.tui.agreement.export import explain_blind_refusal
from faithtui.tui.input_queue import hold_keys_during_worker
from faithtui.tui.messages import ShowScreen
from faithtui.tui.metric_words import name_units_at_level
from faithtui.tui.samples.queue import find_item_id_of_conversation
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.screen.dialogs import PickDialog
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece

if TYPE_CHECKING:
    from faithtui.tui.agreement.agreement_screen import AgreementScreen


class UnitLists(Controller["AgreementScreen"]):
    """Lists of what a cell counts and of what differs; who has seen one is not blind there."""

    screen: "AgreementScreen"

    def open_list_of_cell_units(self, row: int, column: int) -> None:
        """List what a cell counts; the chosen one opens in review."""
        if self.refuse_if_blind("the list"):
            return
        if self.screen.agreement is None or self.screen.level is None or self.screen.spec is None:
            return
        report = self.screen.agreement.report
        names = report.get_level(self.screen.level).table.categories
        human, judge = names[row], names[column]
        units = matrix_lines.list_cell_units(
            report,
            self.screen.agreement.readings,
            self.screen.level,
            (judge, human),
            self.screen.spec,
        )
        words = name_units_at_level(self.screen.level, self.screen.spec)
        if not units:
            self.show_message(Piece(f"no {words[0]} in this cell", "warn"))
            return

        finding = f"verdict:{judge} human:{human}" if names == self.screen.spec.labels.names else ""

        def open_unit_row(chosen: str | None) -> None:
            if chosen is not None:
                self.open_unit_in_review(units[int(chosen)])

        self.input_queue.open_window(
            PickDialog(
                f"judge {judge}, human {human}: {fmt.format_count_with_noun(len(units), *words)}",
                lambda width: matrix_lines.format_cell_unit_lines(units, finding, width),
                seen=lambda seen: self._record_exposure([units[at].conversation for at in seen]),
            ),
            open_unit_row,
        )

    def record_exposure_to_disagreements(self, rows: Sequence[int]) -> None:
        """Remember whose judge was in view."""
        if self.session.is_blind or self.screen.agreement is None or self.screen.level is None:
            return
        differences = self.screen.agreement.report.get_level(self.screen.level).disagreements
        self._record_exposure(
            [differences[row].conversation for row in rows if row < len(differences)]
        )

    def _record_exposure(self, conversations: Sequence[ConversationId]) -> None:
        """Remember that this reviewer has seen the judge's verdicts on claims of conversations."""
        if self.screen.agreement is not None:
            self.session.record_conversation_exposure(self.screen.agreement.row.id, conversations)

    def open_disagreement_in_review(self, row: int) -> None:
        """Open a disagreement in review."""
        if self.refuse_if_blind("the list"):
            return
        if self.screen.agreement is not None and self.screen.level is not None:
            each = self.screen.agreement.report.get_level(self.screen.level).disagreements[row]
            self.open_unit_in_review(
                matrix_lines.ListedUnit(
                    each.claim, each.conversation, each.key, each.turn, each.text
                )
            )

    @hold_keys_during_worker(can_give_up=True)
    @run_in_worker("open")
    async def open_unit_in_review(self, unit: matrix_lines.ListedUnit) -> None:
        """Find the conversation of a unit in the run and review it."""
        session = self.session
        if session.run is None:
            return
        item = await self.read_in_thread(
            find_item_id_of_conversation, session.store, session.run, unit.conversation
        )
        if item is not None:
            session.open_conversation(item, unit.claim)
            self.screen.post_message(ShowScreen("review"))

    def refuse_if_blind(self, what: str) -> bool:
        """Refuse, audibly, what shows single claims, while they are hidden."""
        if self.session.is_blind:
            self.refuse(explain_blind_refusal(self.session, what))
        return self.session.is_blind
