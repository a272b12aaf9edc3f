"""Replies that were paid for and that the store did not take: in files until it does.

A store that may not grow, under a quota or a limit of the file system or the process, ends a run
while answers are in flight. Each of them becomes a file of its own that appears whole or not at
all, so that a killed process leaves nothing half written. Whoever next asks on behalf of the store
reads them into it first. Nothing here may ask a judge.
"""

import contextlib
import hashlib
import json
import os
import uuid
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final

from faithtui.engine.calls.leases import is_process_there
from faithtui.errors import ExportError, StoreError
from faithtui.output_files import OWNER_ONLY, write_text
from faithtui.paths import state_dir
from faithtui.store.records import CallContext, StoredReply
from faithtui.store.store import Store

RESERVE_BYTES: Final = 1_000_000
"""Held while a run goes on, and let go of for its replies: a quota leaves no room for new files.
Hundreds of them fit."""

_RESERVE: Final = "reserve"


class UnstoredReplies:
    """The files of one store: beside it or, where that cannot be written, in the user's own folder.

    Attributes:
        kept: Where replies were put by this process; None: there were none.
        lost: Replies that could be written nowhere.
    """

    def __init__(self, store: Path) -> None:
        """Prepare; nothing is written.

        Args:
            store: Absolute path of the store.
        """
        self._reserve = f"{_RESERVE}-{os.getpid()}"
        name = hashlib.sha256(str(store).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._beside = store.with_name(f"{store.name}-replies")
        self._folders = (self._beside, state_dir() / "replies" / name)
        self.folder_used: Path | None = None
        self.lost = 0

    @contextlib.contextmanager
    def reserve_disk_space(self) -> Iterator[None]:
        """Hold room beside the store for as long as questions are asked."""
        # Without it replies are written as long as there is room, which is so nearly always.
        with contextlib.suppress(OSError, ValueError):
            self._beside.mkdir(mode=0o700, exist_ok=True)
            for path in self._beside.glob(f"{_RESERVE}-*"):
                if not is_process_there(int(path.name.removeprefix(f"{_RESERVE}-"))):
                    path.unlink(missing_ok=True)  # a kill left it
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            with os.fdopen(os.open(self._beside / self._reserve, flags, OWNER_ONLY), "wb") as file:
                file.write(bytes(RESERVE_BYTES))
        try:
            yield
        finally:
            self._delete_reserve_file()

    def save_reply_to_file(self, asked: CallContext, reply: StoredReply) -> None:
        """Keep a reply, for this user's eyes alone; what can be written nowhere is counted."""
        text = json.dumps({"asked": asdict(asked), "reply": asdict(reply)})
        for folder in (self._beside, *self._folders):
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_text(folder / f"{uuid.uuid4().hex}.json", [text], force=False)
            except (OSError, ExportError):
                self._delete_reserve_file()  # and once more at the same place
            else:
                self.folder_used = folder
                return
        self.lost += 1

    def make_error_with_reply_folder(self, error: StoreError) -> StoreError:
        """Say in an error of the store what became of the replies it did not take."""
        parts = [str(error)]
        if self.folder_used is not None:
            parts.append(
                f"Replies that were paid for are in {self.folder_used}; the next run on this "
                "store reads "
                "them from there, and --resume buys none of them again"
            )
        if self.lost:
            parts.append(f"Replies that could be written nowhere: {self.lost}")
        return type(error)(". ".join(parts))

    def _delete_reserve_file(self) -> None:
        with contextlib.suppress(OSError):
            (self._beside / self._reserve).unlink()
        for folder in self._folders:
            with contextlib.suppress(OSError):
                folder.rmdir()  # only where it is empty

    def list_files(self) -> list[Path]:
        """List the files that wait, one for each reply."""
        return [path for folder in self._folders for path in sorted(folder.glob("*.json"))]

    def recover_into_store(self, store: Store) -> int:
        """Store what is there, each reply once however often this is killed, and delete it.

        Args:
            store: The store they belong to.

        Returns:
            How many there were.

        Raises:
            StoreError: It does not take them yet, or one of them cannot be read.
        """
        count = 0
        for path in self.list_files():
            found = _read_reply_file(path)
            if found is not None:
                # Stored before it is deleted: a kill between the two repeats it, which
                # `save_late_reply` sees.
                store.calls.save_late_reply(*found)
                path.unlink(missing_ok=True)
                count += 1
        if count:
            self._delete_reserve_file()
        return count


def _read_reply_file(path: Path) -> tuple[CallContext, StoredReply] | None:
    """Read a file; None when another process was faster.

    Raises:
        StoreError: It is not one of ours.
    """
    try:
        data = path.read_bytes()
        if not data:  # its name is taken, and it is about to be filled
            return None
        found = json.loads(data)
        return CallContext(**found["asked"]), StoredReply(**found["reply"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StoreError(
            f"{path} holds a reply that was paid for and cannot be read ({error}); mend it, or "
            "delete it to ask again"
        ) from error
