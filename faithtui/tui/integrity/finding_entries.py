"""Findings of one kind: listed one by one, or their claims reviewed in a queue."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.integrity.explanations import EXPLANATIONS
from faithtui.domain.integrity.findings import FindingKind
from faithtui.store.records import FindingRow
from faithtui.tui.input_queue import hold_keys_during_worker
from faithtui.tui.integrity.finding_lines import format_finding_lines
from faithtui.tui.messages import ShowScreen
from faithtui.tui.samples.queue import ClaimQueue, make_found_queue_with_progress
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.screen.dialogs import PickDialog
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import BLANK, Line, Piece, make_line

if TYPE_CHECKING:
    from faithtui.tui.integrity.integrity_screen import IntegrityScreen

MOST_LISTED = 200
"""Entries in the list of a kind; `faithtui check` prints all of them."""
MOST_SUSPICIOUS = 500
"""Claims in the order by suspicion: more than anybody reviews before running it again."""


class FindingEntries(Controller["IntegrityScreen"]):
    """Opens findings in review; who has seen one is not blind there."""

    screen: "IntegrityScreen"

    @hold_keys_during_worker(can_give_up=True)
    @run_in_worker("open")
    async def load_and_offer_entries_of_kind(self, run: RunId, kind: FindingKind) -> None:
        """Read the entries of a kind for choosing one."""
        findings = self.session.store.findings
        ids = await self.read_in_thread(findings.list_ids_of_kind, run, kind)
        rows = await self.read_in_thread(findings.read_rows, ids[:MOST_LISTED])
        self.screen.call_later(self._open_entry_picker, kind, rows, len(ids))

    @hold_keys_during_worker(can_give_up=True)
    @run_in_worker("open")
    async def review_claims_with_findings(
        self, run: RunId, kind: FindingKind | None, start: ClaimId | None = None
    ) -> None:
        """Review the claims of a kind, or the most suspicious ones."""
        findings = self.session.store.findings
        entries: tuple[tuple[ItemId, ClaimId], ...]
        if kind is None:
            entries = await self.read_in_thread(
                findings.list_suspicious_claims, run, MOST_SUSPICIOUS
            )
            title = "suspicious first"
        else:
            entries = await self.read_in_thread(findings.list_claims_with_finding, run, kind)
            title = EXPLANATIONS[kind].title
        queue = ClaimQueue(title, run, entries, reveals_judge=True)
        store, reviewer = self.session.store, self.session.reviewer
        queue = await self.read_in_thread(make_found_queue_with_progress, store, reviewer, queue)
        self.screen.call_later(self._start_review_of_queue, queue, start)

    def _start_review_of_queue(self, queue: ClaimQueue, start: ClaimId | None) -> None:
        if not queue.entries:
            self.show_message(Piece("nothing is known against any claim of this run", "warn"))
            return
        self.session.start_queue(queue, start)
        self.screen.post_message(ShowScreen("review"))

    def _open_entry_picker(self, kind: FindingKind, rows: Sequence[FindingRow], total: int) -> None:
        """Let an entry be chosen and open it."""

        def entries_lines(width: int) -> list[Line]:
            lines = [
                each for at, row in enumerate(rows) for each in format_finding_lines(row, width, at)
            ]
            if total > len(rows):
                words = f" {total - len(rows)} more: faithtui check prints all of them"
                lines += [BLANK, make_line(Piece(words, "quiet"))]
            return lines

        def open_answer(answer: str | None) -> None:
            if answer is not None and int(answer) < len(rows):
                self._open_entry(kind, rows[int(answer)])

        title = (
            f"{fmt.format_count_with_noun(total, 'entry', 'entries')} · {EXPLANATIONS[kind].title}"
        )

        def record_seen(places: Sequence[int]) -> None:
            self.record_exposure([rows[place] for place in places])

        self.input_queue.open_window(
            PickDialog(title, entries_lines, seen=record_seen), open_answer
        )

    def _open_entry(self, kind: FindingKind, row: FindingRow) -> None:
        """Review the claim of an entry among those of its kind, else its conversation."""
        run = self.screen.run_id
        if run is None:
            return
        if row.finding.claim is not None:
            self.review_claims_with_findings(run, kind, row.finding.claim)
            return
        session = self.session
        session.switch_run(run)
        session.leave_queue()
        session.choose_conversation(row.item, turn=row.finding.turn)
        self.screen.post_message(ShowScreen("review"))

    def record_exposure(self, rows: Sequence[FindingRow]) -> None:
        """Remember that this reviewer knows what looks wrong here, and so the judge's verdict."""
        self.session.record_exposure([row.item for row in rows])
