"""The store: one SQLite file that holds everything, opened, checked and brought up to date.

Everything else reaches it through `conversations`, `runs` and `label_log`. Reads may be called from
any thread and use connections of their own. Every write method is one transaction on the one
writer thread and returns once it is committed. What is awaited from an event loop goes through
`submit`, so that the loop never waits for a disk.
"""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from faithtui.clock import utc_now
from faithtui.store.annotations.exposures import Exposures
from faithtui.store.annotations.guidelines import Guidelines
from faithtui.store.annotations.label_log import LabelLog
from faithtui.store.annotations.label_provenance import Provenance
from faithtui.store.annotations.missed_claims import MissedClaims
from faithtui.store.annotations.raters import RaterReader
from faithtui.store.annotations.unit_reader import UnitReader
from faithtui.store.bundles.bundles import Bundles
from faithtui.store.calls.batches import Batches
from faithtui.store.calls.calls import Calls
from faithtui.store.calls.example_sets import Examples
from faithtui.store.calls.prompt_sets import PromptSets
from faithtui.store.calls.question_leases import Workers
from faithtui.store.calls.recalibrations import Recalibrations
from faithtui.store.conversations import Conversations
from faithtui.store.database import Database
from faithtui.store.deletion import Deletions
from faithtui.store.equal_contents import EqualContents
from faithtui.store.images import Images
from faithtui.store.runs.claim_details import ClaimDetails
from faithtui.store.runs.export_reader import RunExports
from faithtui.store.runs.integrity_findings import Findings
from faithtui.store.runs.run_contents import RunContents
from faithtui.store.runs.runs import Runs
from faithtui.store.samples.claim_sets import ClaimSets
from faithtui.store.samples.samples import Samples
from faithtui.store.samples.splits import Splits
from faithtui.store.schema.checksums import FIGURE_TABLES, refuse_corrupted_rows
from faithtui.store.schema.row_counts import count_rows
from faithtui.store.search.filter_search import Search
from faithtui.store.search.saved_views import SavedViews
from faithtui.store.search.word_index import WordIndex

T = TypeVar("T")


class Store:
    """An open store. Thread-safe; a context manager that closes itself.

    Attributes:
        conversations: Imported conversations, their documents and ratings.
        images: Images of their turns and documents.
        runs: Runs, their windows and verdicts.
        run_contents: What the conversations of a run hold, taken together.
        calls: Replies of judges.
        workers: Processes that are asking at this moment.
        batches: What was handed to providers and has not come back.
        label_log: What annotators say about claims.
        exposures: Which verdicts of the judge annotators have seen.
        labelled_units: What agreement is computed from.
        samples: Drawn queues.
        missed_claims: Claims that judges did not extract.
        guidelines: The text that says how to judge, and its versions.
        findings: What looks wrong in runs.
        search: Finds conversations and claims.
        word_index: Which texts a search for words has still to take up.
        saved_views: Filters and orders of lists that have a name.
        bundles: Human labels, for other stores and from them.
        raters: Judges and annotators on the same claims.
        details: What stands beside the claims of a run: passages, notes, second labels.
        splits: Which conversations are for learning, tuning and testing.
        examples: What runs show to their judge.
        prompts: What runs ask, word for word.
        provenance: When and under which guideline labels were given.
        deletions: What was deleted on purpose.
        recalibrations: How human labels moved the probabilities of a judge.
        run_exports: Runs with everything that was said of them, some conversations at a time.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self.conversations = Conversations(database, clock)
        self.equal_contents = EqualContents(database)
        self.images = Images(database)
        self.runs = Runs(database, clock)
        self.run_contents = RunContents(database)
        self.calls = Calls(database, clock)
        self._is_checked = False
        self.workers = Workers(database, clock)
        self.batches = Batches(database, self.calls, clock)
        self.label_log = LabelLog(database, clock)
        self.exposures = Exposures(database, clock)
        self.labelled_units = UnitReader(database)
        self.samples = Samples(database, clock)
        self.guidelines = Guidelines(database, clock)
        self.findings = Findings(database)
        self.search = Search(database)
        self.word_index = WordIndex(database)
        self.saved_views = SavedViews(database, clock)
        self.bundles = Bundles(database)
        self.raters = RaterReader(database)
        self.claim_details = ClaimDetails(database)
        self.splits = Splits(database, clock)
        self.examples = Examples(database, clock)
        self.prompts = PromptSets(database, clock)
        self.provenance = Provenance(database)
        self.deletions = Deletions(database, clock)
        self.missed_claims = MissedClaims(database)
        self.claim_sets = ClaimSets(database, clock)
        self.recalibrations = Recalibrations(database, clock)
        self.run_exports = RunExports(database)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        create: bool = True,
        clock: Callable[[], datetime] = utc_now,
        busy_timeout_s: float = 5.0,
        read_only: bool = False,
    ) -> Self:
        """Open a store, making or upgrading its tables where needed.

        Args:
            path: The file. Its directory must exist.
            create: Make the file when there is none.
            clock: Tells the time, timezone-aware.
            busy_timeout_s: How long to wait, in seconds, while another process holds the lock.
            read_only: Write nothing. A file that cannot be written is opened so in any case.

        Raises:
            StoreError: There is no file and `create` is False, the directory is missing or a new
                file cannot be made there, the file is empty, no database, belongs to another
                program, to a newer faithtui, cannot be read or stays locked, the disk is full, or
                it is of an older faithtui and cannot be written. The file is as it was before.
        """
        database = Database.open(
            path, create=create, busy_timeout_s=busy_timeout_s, read_only=read_only
        )
        return cls(database, clock)

    @property
    def path(self) -> Path:
        """The file."""
        return self._database.path

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be written: every write raises `StoreReadOnly`."""
        return self._database.is_read_only

    @property
    def before_upgrade(self) -> Path | None:
        """The copy of the file made before its tables were changed; None: they were not."""
        return self._database.before_upgrade

    @property
    def schema_version(self) -> str:
        """Revision of the tables, such as `0001`."""
        return self._database.schema_version

    def read_change_number(self) -> int:
        """Give a number that changes with every commit, of this process or of another one."""
        return self._database.read_change_number()

    def list_damage(self) -> list[str]:
        """List what is wrong inside the file, one sentence each; [] when it is sound.

        Reads the whole file, so it takes seconds on a large store.
        """
        return self._database.list_damage()

    def refuse_corrupted_rows(self) -> None:
        """Keep figures and exports from labels that nobody gave and verdicts that no judge gave.

        Reads every label and verdict: 4 s for a million of each.

        Raises:
            StoreError: One is not what was written.
        """
        with self._database.open_reader() as connection:
            refuse_corrupted_rows(connection, FIGURE_TABLES)
        self._is_checked = True

    def refuse_corrupted_rows_unless_checked_before(self) -> None:
        """Do the same, unless all was as it was written when it was looked at before.

        For figures that are drawn anew with every label.

        Raises:
            StoreError: A label or verdict is not what was written.
        """
        if not self._is_checked:
            self.refuse_corrupted_rows()

    def count_rows(self) -> dict[str, int]:
        """Count the rows of every table, by name; nothing of what is in them is shown."""
        return count_rows(self._database)

    def wait_for_urgent_writes(self) -> None:
        """Wait while a label, or something else that is urgent, waits for the disk.

        For threads with much to compute, which would keep the processor from it. Cheap when there
        is nothing urgent.
        """
        self._database.wait_for_urgent_work()

    def tune_for_bulk_writes(self) -> AbstractContextManager[Callable[[], None]]:
        """Write much in less time while the context is open; what is durable is as before.

        Takes 64 MB of memory, and the log beside the file may grow to 16 MB and a transaction. At
        the end it is folded in. What the context gives lets go of the memory, and no more is taken
        from then on.

        Raises:
            StoreError: Closed, or read-only.
        """
        return self._database.tune_for_bulk_writes()

    def delay_non_urgent_writes(self, seconds: float) -> None:
        """Let what is queued and not urgent wait for so long, because somebody waits for the app.

        It waits `write_queue.LONGEST_REST_S` at a time at most, however often this is called.
        """
        self._database.delay_non_urgent_writes(seconds)

    def submit(
        self,
        fn: Callable[..., T],
        *args: object,
        urgent: bool = False,
        durable: bool = False,
        shares: bool = False,
        **kwargs: object,
    ) -> Future[T]:
        """Run a function on the writer thread, without waiting for it.

        Meant for write methods of this store: `await asyncio.wrap_future(store.submit(
        store.runs.save_window, item, assessment))`. Each write method it calls is a transaction
        of its own. A future that is cancelled before its turn is dropped; one that runs is
        finished.

        Args:
            fn: What to run.
            args: Its positional arguments.
            urgent: Go before everything that is queued and not urgent.
            durable: Wait for the disk at each commit. Labels and replies always do.
            shares: `fn` is one write that reads through its own connection alone. It may be in one
                durable transaction with others that wait; it still fails or succeeds by itself.
            kwargs: Its keyword arguments.

        Returns:
            Resolves when the function has returned, so after its commits, or raises what it
            raised.

        Raises:
            StoreError: The store is closed.
        """
        return self._database.submit(
            fn, *args, urgent=urgent, durable=durable, shares=shares, **kwargs
        )

    def close(self) -> None:
        """Finish all queued writes, fold the log file into the store and close it.

        Safe to call twice. Must not be called on the writer thread.
        """
        self._database.close()

    def __enter__(self) -> Self:
        """Hand out the store."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the store."""
        self.close()
