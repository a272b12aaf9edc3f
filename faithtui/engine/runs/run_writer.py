"""What a run writes: replies, images and windows in the store, whatever the disk is doing.

A reply that was paid for is held in memory until the store takes it. While it does not, because
another process holds the lock or the disk is full, nothing more is bought.
"""

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable, Collection
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from faithtui.domain.conversation import Image
from faithtui.domain.ids import RunId
from faithtui.engine.calls.image_hosts import check_image_address
from faithtui.engine.calls.reply_cache import QuestionContext
from faithtui.engine.calls.unstored_replies import UnstoredReplies
from faithtui.errors import StoreBusy, StoreFull
from faithtui.judges.base import ImageData
from faithtui.judges.providers.endpoints import is_in_process_judge
from faithtui.store.records import CallContext, RunTotals, StoredReply
from faithtui.store.store import Store

T = TypeVar("T")

FLOOR_BYTES = 16 * 1024 * 1024
"""Free space below which no question is sent: the answers in flight must fit."""

_LOOK_S: Final = 1.0
"""Seconds between two looks at a disk or a lock."""


class RunWriter:
    """Writes to a store, and waits where it cannot be written for now."""

    def __init__(
        self,
        store: Store,
        *,
        on_trouble: Callable[[str | None], None] = lambda sentence: None,
        floor_bytes: int = FLOOR_BYTES,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare.

        Args:
            store: The store.
            on_trouble: Called with what keeps it from being written, and None once it is again.
            floor_bytes: Free space that must be left on its disk before a question is sent.
            sleep: Waits for seconds.
            clock: Seconds that never jump.
        """
        self.store = store
        self.unstored = UnstoredReplies(store.path)
        """Where replies go that the store does not take."""
        self._on_trouble = on_trouble
        self._floor_bytes = floor_bytes
        self._sleep = sleep
        self._clock = clock
        self._disk_checked_at = -_LOOK_S
        self._waiting = 0
        self._sentence: str | None = None

    async def write(self, write: Callable[..., T], *args: Any, shares: bool = False) -> T:
        """Write on the store's own thread, however long it takes.

        A write that has begun is finished even when whoever waits for it is cancelled.

        Args:
            write: A write method of the store.
            args: Its arguments.
            shares: As `Store.submit` takes it.

        Raises:
            StoreError: It cannot be written, and waiting will not change that.
        """
        self._waiting += 1
        try:
            while True:
                try:
                    result = await wait_for_commit(self.store.submit(write, *args, shares=shares))
                except (StoreBusy, StoreFull) as error:
                    self._report_trouble(str(error))
                    # As long as it takes: the reply is paid for, and the lock may come free.
                    await self._sleep(_LOOK_S)
                else:
                    self._report_trouble(None)
                    return result
        finally:
            self._waiting -= 1

    async def write_in_shared_transaction(self, write: Callable[..., T], *args: Any) -> T:
        """Write together with what others write: what comes at every call of a judge."""
        return await self.write(write, *args, shares=True)

    async def wait_until_writable(self) -> None:
        """Wait until what is bought can be kept.

        Raises:
            OSError: The disk cannot be looked at.
        """
        # Whoever waits with a write tries it again and again: no second one need find out.
        while self._sentence is not None and self._waiting:
            await self._sleep(_LOOK_S / 4)
        if self._clock() - self._disk_checked_at < _LOOK_S:
            return
        while (free := shutil.disk_usage(self.store.path.parent).free) < self._floor_bytes:
            self._report_trouble(
                f"the disk of the store has only {free // 1_000_000} MB left; nothing more is "
                f"asked until there are {self._floor_bytes // 1_000_000} MB"
            )
            await self._sleep(_LOOK_S)
        self._disk_checked_at = self._clock()
        self._report_trouble(None)

    def _report_trouble(self, sentence: str | None) -> None:
        if sentence != self._sentence:
            self._sentence = sentence
            self._on_trouble(sentence)


class StoreReplyCache:
    """The `ReplyCache` of a run. A repeated question is answered from any run's replies."""

    def __init__(
        self,
        writer: RunWriter,
        judge: str,
        run: RunId,
        worker: str | None,
        on_totals: Callable[[RunTotals], None] = lambda totals: None,
    ) -> None:
        """Prepare.

        Args:
            writer: Writes.
            judge: What the user calls the judge.
            run: The run that asks.
            worker: Whose leases the replies end; None: there are none.
            on_totals: Called with what the run came to, by all processes, after each reply.
        """
        self._writer = writer
        self._judge = judge
        self._run = run
        self._worker = worker
        self._on_totals = on_totals

    def find(self, key: str, *, or_cut: bool = False) -> StoredReply | None:
        """Give the usable reply to the question with this key, or one that was cut."""
        return self._writer.store.calls.find_usable_reply(key, or_cut=or_cut)

    def find_unusable(self, key: str) -> StoredReply | None:
        """Give the latest reply to the question with this key that could not be used, if any."""
        return self._writer.store.calls.find_unusable_reply(key)

    async def wait_until_writable(self) -> None:
        """Wait until what is bought can be kept."""
        await self._writer.wait_until_writable()

    async def save_reply(self, asked: QuestionContext, reply: StoredReply, *, usable: bool) -> None:
        """Commit a reply; done when the disk has it, even if the run is cancelled meanwhile.

        Raises:
            StoreError: The store does not take it, and waiting will not change that. It is in a
                file until the store does.
        """
        meant = CallContext(
            key=asked.key,
            judge=self._judge,
            step=asked.step,
            run=self._run,
            item=asked.item,
            window=asked.window,
            replicate=asked.replicate,
            # The same process asks again after a reply that cannot be used.
            worker=self._worker if usable else None,
            usable=usable,
        )
        try:
            totals = await self._writer.write_in_shared_transaction(
                self._writer.store.calls.save_reply_release_lease_and_add_totals, meant, reply
            )
        except BaseException:
            # Whatever ended it, the reply was paid for. Given up while it waited, it may be stored
            # nevertheless; it is never counted twice.
            self._writer.unstored.save_reply_to_file(meant, reply)
            raise
        if totals is not None:
            self._on_totals(totals)


@dataclass(frozen=True, slots=True)
class StoreImages:
    """Reads the images of a run's conversations."""

    store: Store
    judge: str = "offline"
    """Who is shown them."""
    hosts: Collection[str] = ()
    """Whose addresses it may be sent; see `image_hosts`."""

    def __call__(self, image: Image) -> ImageData:
        """Give an image as a judge gets it.

        Raises:
            StoreError: It is not in the store.
            ImageHostNotAllowed: Its address alone is, and the judge may not be sent it.
            ImagesNotSupported: Its address alone is, and nobody is sent it.
        """
        found = self.store.images.read(image.sha256)
        if found.data is None and not is_in_process_judge(self.judge):
            check_image_address(found.image, self.judge, self.hosts)
        return ImageData(image.sha256, image.media_type, image.mark, found.data, image.url)


async def wait_for_commit(future: Future[T]) -> T:
    """Wait for a write that is finished even when whoever waits for it is cancelled."""
    writing = asyncio.wrap_future(future)
    # An error is marked as seen, for when nobody waits any more: the first one is reported.
    writing.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(writing)
