"""Replies and images in the store, for a run."""

import asyncio
from concurrent.futures import Future
from dataclasses import dataclass

from faithtui.domain.conversation import Image
from faithtui.domain.ids import ItemId, RunId
from faithtui.judges.base import ImageData
from faithtui.store.records import StoredReply
from faithtui.store.store import Store


class StoreReplies:
    """The `Replies` of a run. A repeated question is answered from any run's replies."""

    def __init__(self, store: Store, judge: str, run: RunId) -> None:
        self._store = store
        self._judge = judge
        self._run = run

    def find(self, key: str) -> StoredReply | None:
        """Give the usable reply to the question with this key, if there is one."""
        return self._store.runs.reply(key)

    async def keep(
        self, key: str, step: str, item: ItemId | None, reply: StoredReply, usable: bool
    ) -> None:
        """Commit a reply; done when the disk has it, even if the run is cancelled meanwhile."""
        future = self._store.submit(
            self._store.runs.save_reply,
            key,
            judge=self._judge,
            step=step,
            run_id=self._run,
            item_id=item,
            reply=reply,
            usable=usable,
        )
        await committed(future)


@dataclass(frozen=True, slots=True)
class StoreImages:
    """Reads the images of a run's conversations."""

    store: Store

    def __call__(self, image: Image) -> ImageData:
        """Give an image as a judge gets it.

        Raises:
            StoreError: It is not in the store.
        """
        found = self.store.conversations.image(image.sha256)
        return ImageData(image.sha256, image.media_type, image.mark, found.data, image.url)


async def committed(future: Future[None]) -> None:
    """Wait for a write that is finished even when whoever waits for it is cancelled."""
    writing = asyncio.wrap_future(future)
    # An error is marked as seen, for when nobody waits any more: the first one was told already.
    writing.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.shield(writing)
