"""The journal of a shard under way: every reply as it comes, and the rows of what is finished.

A file of JSON lines that only grows. Whatever kills the worker, the next one goes on from the last
whole line: no reply in it is bought again, and no conversation in it is measured again. Nothing of
it is held in memory but where lines begin, so that a shard may be larger than memory.

Where failed conversations of a whole shard are measured again, the journal begins with what the
tables have, and a line that says so: without that line it is not all there yet.
"""

import asyncio
import shutil
from array import array
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from pydantic_core import from_json

from faithtui.domain.scores import ScoreState
from faithtui.engine.calls.budget import NO_EXPENSE, Expense
from faithtui.engine.calls.reply_cache import QuestionContext
from faithtui.engine.runs.run_writer import FLOOR_BYTES
from faithtui.engine.shards.journal_file import JournalFile, ShardTaken, format_write_error
from faithtui.engine.shards.measured_rows import MeasuredRows
from faithtui.engine.shards.reply_index import ReplyIndex
from faithtui.engine.shards.results_schema import JOURNAL, get_table_file
from faithtui.engine.shards.table_reader import iter_measured_rows, iter_stored_replies
from faithtui.errors import ExportError
from faithtui.judges.base import StopReason
from faithtui.output_files import make_private_directory
from faithtui.store.records import StoredReply

_KEY_DIGITS: Final = 15
"""Of a question's key in the index: a number of so many digits takes the memory of a small one.
The whole key stands in the line, which is read before it counts."""

_REPLY_LINE: Final = b'{"key"'
"""How the line of a reply begins."""

_LATEST: Final = 64
"""Replies that are held as they were read."""

_DISK_LOOK: Final = 64
"""Replies between two looks at how much of the disk is free."""


class ShardJournal:
    """A `ReplyCache` on the disk, and what is finished. Belongs to one event loop."""

    def __init__(
        self,
        results: Path,
        shard: str,
        fingerprint: str,
        *,
        durable: bool,
        retry_failed: bool = False,
    ) -> None:
        """Open the journal of a shard, or begin it, and lock it.

        Args:
            results: The results folder.
            shard: Name of the shard.
            fingerprint: Of the judge that answers.
            durable: Replies are on the disk before they are used. Where they cost nothing, as those
                of the embedded judge, it is enough that the system has them.
            retry_failed: A whole shard is taken up again: all but its failed conversations is
                taken over from its tables, and what failed since then is not finished.

        Raises:
            ShardTaken: Another worker has it.
            ExportError: It cannot be written.
        """
        self.path = results / JOURNAL / f"{shard}.jsonl"
        self.is_whole = False
        """Another worker made the shard whole before this one had the lock."""
        self.states: Counter[ScoreState] = Counter()
        """How many conversations are finished, by what became of them."""
        self._fingerprint = fingerprint
        self._durable = durable
        self._usable = ReplyIndex()
        self._unusable = ReplyIndex()
        self._rejected: dict[str, str] = {}
        self._latest: OrderedDict[int, tuple[str, StoredReply]] = OrderedDict()
        """Replies with their keys, by their place: windows ask what the one before them asked."""
        self._places = array("q")
        """Of each conversation, where its rows stand; -1: it is not finished."""
        self._has_taken_over = False
        try:
            make_private_directory(self.path.parent)
            self._file = JournalFile(self.path)
            self.is_whole = get_table_file(results, "conversations", shard).exists()
            if not self.is_whole:
                self._index_lines()
                if retry_failed:
                    self._forget_failed()
            elif retry_failed:
                self._restore_from_tables_for_retry(results, shard)
            else:
                self.delete()
        except OSError as error:
            raise ExportError(format_write_error(self.path, error)) from error

    def __enter__(self) -> Self:
        """Give the journal."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it; the lock goes with it."""
        self._file.close()

    @property
    def finished_count(self) -> int:
        """How many conversations are finished."""
        return self.states.total()

    def is_finished(self, number: int) -> bool:
        """Say whether a conversation is finished."""
        return number < len(self._places) and self._places[number] >= 0

    def append_finished_conversation(self, number: int, rows: MeasuredRows) -> None:
        """Note that a conversation is finished, with its rows.

        Raises:
            ExportError: It cannot be written.
        """
        place = self._file.append_line_and_get_place(
            {
                "done": number,
                "state": rows.state.value,
                "rows": [rows.conversation, rows.windows, rows.claims],
            }
        )
        self._index_finished(number, rows.state, place)

    def iter_finished_rows(self) -> Iterator[MeasuredRows]:
        """Give the rows of what is finished, in the order of the shard."""
        for place in self._places:
            if place >= 0:
                yield MeasuredRows(*self._file.read_line(place)["rows"])

    def iter_reply_rows(self, shard: str) -> Iterator[dict[str, Any]]:
        """Give the rows of the replies, in the order in which they came."""
        for line in self._file.iter_lines_starting_with(_REPLY_LINE):
            reply = line["reply"]
            cost = reply["cost_nusd"]
            yield {
                "shard": shard,
                "key": line["key"],
                "step": line["step"],
                "fingerprint": self._fingerprint,
                "usable": line["usable"],
                "cost_usd": None if cost is None else cost / 1e9,
                **{
                    name: reply[name]
                    for name in (
                        "text",
                        "stop",
                        "structured",
                        "tokens_in",
                        "tokens_out",
                        "tokens_cached",
                        "latency_ms",
                        "served_model",
                    )
                },
            }

    def find(self, key: str, *, or_cut: bool = False) -> StoredReply | None:
        """Give the usable reply to the question with this key, or one that was cut."""
        reply = self._find_reply_in_index(self._usable, key)
        if reply is not None or not or_cut:
            return reply
        cut = self._find_reply_in_index(self._unusable, key)
        return cut if cut is not None and cut.stop == StopReason.LENGTH.value else None

    def find_unusable(self, key: str) -> StoredReply | None:
        """Give the latest reply to the question with this key that could not be used, if any."""
        return self._find_reply_in_index(self._unusable, key)

    def find_rejection_reason(self, key: str) -> str | None:
        """Say why the question with this key will never be answered; None: it may be."""
        return self._rejected.get(key)

    def add_rejection(self, key: str, reason: str) -> None:
        """Note that a question will never be answered.

        Raises:
            ExportError: It cannot be written.
        """
        self._file.append_line_and_get_place({"rejected": key, "reason": reason})
        self._rejected[key] = reason

    async def wait_until_writable(self) -> None:
        """See that a reply can be kept: none is bought that has nowhere to go.

        Raises:
            ExportError: The disk is full.
        """
        if self._file.written % _DISK_LOOK:
            return
        free = shutil.disk_usage(self.path.parent).free
        if free < FLOOR_BYTES:
            raise ExportError(
                f"the disk of {self.path.parent} has only {free // 1_000_000} MB left; make room "
                "and give the same command again, which goes on where this one stopped"
            )

    async def save_reply(self, asked: QuestionContext, reply: StoredReply, *, usable: bool) -> None:
        """Write a reply down before it is used.

        Raises:
            ExportError: It cannot be written.
        """
        place = self._append_reply(asked.key, asked.step, reply, usable=usable)
        if self._durable:
            # Whoever waits may be given up; the reply is written all the same.
            await asyncio.shield(self._file.sync_up_to(self._file.end))
        self._index_reply(asked.key, place, usable=usable)

    def delete(self) -> None:
        """Delete it: its shard is whole."""
        self._file.delete()

    def _index_lines(self) -> None:
        """Note what every line says."""
        for place, found in self._file.read_lines_and_cut_off_partial_one():
            if "done" in found:
                self._index_finished(found["done"], ScoreState(found["state"]), place)
            elif "taken_over" in found:
                self._has_taken_over = True
            elif "rejected" in found:
                self._rejected[found["rejected"]] = found["reason"]
            else:
                self._index_reply(found["key"], place, usable=found["usable"])

    def _index_reply(self, key: str, place: int, *, usable: bool) -> None:
        (self._usable if usable else self._unusable).add(_key_to_int(key), place)

    def _index_finished(self, number: int, state: ScoreState, place: int) -> None:
        if number >= len(self._places):
            self._places.extend([-1] * (number + 1 - len(self._places)))
        if self._places[number] >= 0:  # it failed, and was measured again
            self._forget_finished(number)
        self._places[number] = place
        self.states[state] += 1

    def _forget_finished(self, number: int) -> None:
        state = ScoreState(self._file.read_line(self._places[number])["state"])
        self._places[number] = -1
        self.states -= Counter({state: 1})

    def _forget_failed(self) -> None:
        """Measure again what failed since the tables were taken over; before that all is kept."""
        if not self._has_taken_over or not self.states[ScoreState.FAILED]:
            return
        for number, place in enumerate(self._places):
            if place >= 0 and self._file.read_line(place)["state"] == ScoreState.FAILED.value:
                self._forget_finished(number)

    def _restore_from_tables_for_retry(self, results: Path, shard: str) -> None:
        """Take over what the tables of a whole shard have, but for failed conversations.

        Raises:
            InputError: A table cannot be read.
        """
        self._index_lines()
        if self._has_taken_over:
            self._forget_failed()
            return  # a kill left it; what was answered since is in it
        self._delete_all_lines()
        for usable, step, key, reply in iter_stored_replies(results, shard):
            self._index_reply(
                key, self._append_reply(key, step, reply, usable=usable), usable=usable
            )
        for rows in iter_measured_rows(results, shard):
            if rows.state is not ScoreState.FAILED:
                self.append_finished_conversation(rows.conversation["number"], rows)
        self._file.append_line_and_get_place({"taken_over": True})
        self._has_taken_over = True
        self._file.sync()

    def _delete_all_lines(self) -> None:
        self._file.delete_all_lines()
        self._usable, self._unusable = ReplyIndex(), ReplyIndex()
        self._rejected.clear()
        self._latest.clear()
        self._places = array("q")
        self.states.clear()

    def _find_reply_in_index(self, index: ReplyIndex, key: str) -> StoredReply | None:
        place = index.find(_key_to_int(key))
        if place is None:
            return None
        found = self._latest.get(place)
        if found is None:
            line = self._file.read_line(place)
            found = self._latest[place] = line["key"], StoredReply(**line["reply"])
            if len(self._latest) > _LATEST:
                self._latest.popitem(last=False)
        return found[1] if found[0] == key else None

    def _append_reply(self, key: str, step: str, reply: StoredReply, *, usable: bool) -> int:
        return self._file.append_line_and_get_place(
            {"key": key, "step": step, "usable": usable, "reply": reply}
        )


def sum_reply_costs_of_journal(path: Path) -> Expense:
    """Add up what the replies of a journal cost. It may grow meanwhile, or be gone."""
    spent = NO_EXPENSE
    with suppress(FileNotFoundError), path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n") and line.startswith(_REPLY_LINE):
                reply = from_json(line)["reply"]
                tokens = (reply["tokens_in"] or 0) + (reply["tokens_out"] or 0)
                spent += Expense(reply["cost_nusd"] or 0, tokens)
    return spent


def delete_leftover_journal(results: Path, shard: str) -> None:
    """Delete the journal of a whole shard that a kill left when its tables had all of it.

    One that is younger than the tables is kept: it has replies that they have not.

    Raises:
        ExportError: It cannot be deleted.
    """
    path = results / JOURNAL / f"{shard}.jsonl"
    with suppress(FileNotFoundError, ShardTaken):
        table = get_table_file(results, "conversations", shard)
        if path.stat().st_mtime_ns <= table.stat().st_mtime_ns:
            ShardJournal(results, shard, "", durable=False).__exit__()


def _key_to_int(key: str) -> int:
    return int(key[:_KEY_DIGITS], 16)
