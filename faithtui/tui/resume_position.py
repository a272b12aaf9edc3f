"""Where somebody stopped in a store, so that the next start goes on there.

A small file per store outside of it: what is looked at is no fact about the data, and writing it
must not make other processes read their lists again.
"""

import asyncio
import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from faithtui.domain.ids import ClaimId, ItemId, LabelId, RunId, SampleId
from faithtui.errors import ExportError, StoreError
from faithtui.output_files import make_private_directory, write_text
from faithtui.tui import screen_catalog
from faithtui.tui.samples.queue import ClaimQueue, load_queue_position, make_sample_queue
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.session import ListState, Session

if TYPE_CHECKING:
    from faithtui.store.store import Store
    from faithtui.tui.app import FaithApp

WRITE_EVERY_S = 1.0
"""How often is written down where one is, if that has changed."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A place in a store."""

    screen: str | None = None
    run: int | None = None
    item: int | None = None
    claim: int | None = None
    sample: int | None = None
    """The drawn sample that was worked through."""
    blind: bool = False
    """The judge was hidden, and has to be when it goes on."""
    lists: tuple[tuple[str, str, str], ...] = ()
    """Name, filter and order of each list."""
    queue: bool = False
    """Claims that were chosen otherwise were worked through: they lie in a file of their own."""
    final_notes: tuple[tuple[int, str], ...] = ()
    """Claim and note, where the note waits for the final label."""

    def to_json(self) -> str:
        """Write it."""
        return json.dumps(
            {
                "screen": self.screen,
                "run": self.run,
                "item": self.item,
                "claim": self.claim,
                "sample": self.sample,
                "queue": self.queue,
                "blind": self.blind,
                "lists": [list(each) for each in self.lists],
                "final_notes": [list(each) for each in self.final_notes],
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "Bookmark":
        """Read one; whatever is not what it should be is left out."""
        try:
            stored = json.loads(text)
        except (ValueError, RecursionError):
            return cls()
        if not isinstance(stored, dict):
            return cls()

        def read_id(name: str) -> int | None:
            value = stored.get(name)
            return value if type(value) is int and 0 <= value < 1 << 62 else None

        screen, lists = stored.get("screen"), stored.get("lists")
        return cls(
            screen if isinstance(screen, str) else None,
            read_id("run"),
            read_id("item"),
            read_id("claim"),
            read_id("sample"),
            stored.get("blind") is True,
            tuple(
                (each[0], each[1], each[2])
                for each in (lists if isinstance(lists, list) else ())
                if isinstance(each, list)
                and len(each) == 3
                and all(isinstance(part, str) for part in each)
            ),
            stored.get("queue") is True,
            _read_notes(stored.get("final_notes")),
        )


def _read_notes(stored: object) -> tuple[tuple[int, str], ...]:
    return tuple(
        (each[0], each[1])
        for each in (stored if isinstance(stored, list) else ())
        if isinstance(each, list)
        and len(each) == 2
        and _read_numbers(each[:1])
        and isinstance(each[1], str)
    )


def _read_numbers(stored: object) -> tuple[int, ...]:
    return tuple(
        each
        for each in (stored if isinstance(stored, list) else ())
        if type(each) is int and 0 <= each < 1 << 62
    )


def queue_to_json(queue: ClaimQueue) -> str:
    """Write a queue that no sample of the store has."""
    return json.dumps(
        {
            "title": queue.title,
            "run": queue.run,
            "blind": queue.blind,
            "reveals_judge": queue.reveals_judge,
            "newest_act": queue.newest_act,
            "items": [item for item, _ in queue.entries],
            "claims": [claim for _, claim in queue.entries],
        }
    )


def queue_from_json(text: str) -> ClaimQueue | None:
    """Read such a queue; None where it is not whole."""
    try:
        stored = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(stored, dict):
        return None
    items, claims = _read_numbers(stored.get("items")), _read_numbers(stored.get("claims"))
    run, title = stored.get("run"), stored.get("title")
    newest = _read_numbers([stored.get("newest_act")])
    if type(run) is not int or not isinstance(title, str) or not items or len(items) != len(claims):
        return None
    entries = tuple((ItemId(i), ClaimId(c)) for i, c in zip(items, claims, strict=True))
    return ClaimQueue(
        title,
        RunId(run),
        entries,
        blind=stored.get("blind") is True,
        reveals_judge=stored.get("reveals_judge") is True,
        newest_act=LabelId(*newest) if newest else LabelId(0),
    )


@dataclass(frozen=True, slots=True)
class BookmarkTarget:
    """Where a bookmark leads."""

    screen: str | None
    blind: bool
    lists: tuple[tuple[str, str, str], ...]
    final_notes: tuple[tuple[int, str], ...] = ()
    run: RunId | None = None
    item: ItemId | None = None
    claim: ClaimId | None = None
    queue: ClaimQueue | None = None


@dataclass
class BookmarkFile:
    """The bookmark of one person in one store.

    Attributes:
        directory: Where bookmarks lie; made when the first one is written.
    """

    directory: Path
    store: Path
    reviewer: str
    written: Bookmark | None = field(default=None, init=False)
    """What was written last; None: nothing yet."""
    _written_queue: ClaimQueue | None = field(default=None, init=False)

    @property
    def path(self) -> Path:
        """The file."""
        name = f"{self.store.absolute()}\n{self.reviewer}".encode("utf-8", "surrogatepass")
        return self.directory / f"{hashlib.sha256(name).hexdigest()[:16]}.json"

    def read(self) -> Bookmark:
        """Read where this person stopped; an empty one when that is not known."""
        try:
            return Bookmark.from_json(self.path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            return Bookmark()

    def read_queue(self, bookmark: Bookmark) -> ClaimQueue | None:
        """Read the queue that was worked through and is no sample; None without one."""
        if not bookmark.queue:
            return None
        try:
            return queue_from_json(self._queue_path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError):
            return None

    @property
    def _queue_path(self) -> Path:
        return self.path.with_suffix(".queue.json")

    def write_bookmark_if_changed(
        self, bookmark: Bookmark, queue: ClaimQueue | None = None
    ) -> None:
        """Keep a bookmark if it is another one. A disk that refuses costs only the comfort.

        Args:
            bookmark: The place.
            queue: What is worked through there, where it is no sample.
        """
        if bookmark == self.written:
            return
        with suppress(OSError, ExportError):
            make_private_directory(self.directory)
            if queue is not None and queue is not self._written_queue:
                write_text(self._queue_path, [queue_to_json(queue)], force=True)
                self._written_queue = queue
            write_text(self.path, [bookmark.to_json()], force=True)
            self.written = bookmark


def make_bookmark(session: Session, screen: str, claim: ClaimId | None) -> Bookmark:
    """Say where somebody is.

    Args:
        session: What is chosen.
        screen: The main screen shown.
        claim: The claim looked at.
    """
    queue = session.claim_queue
    return Bookmark(
        screen,
        session.run,
        session.item,
        claim or session.claim,
        None if queue is None else queue.sample,
        session.is_blind,
        tuple((name, each.filter, each.sort) for name, each in sorted(session.lists.items())),
        _is_unstored_queue(queue),
        tuple(sorted(session.final_notes.items())),
    )


def _is_unstored_queue(queue: ClaimQueue | None) -> bool:
    """Whether a queue is nowhere in the store. A second look at one's labels is drawn anew."""
    return queue is not None and queue.sample is None and not queue.repeats and bool(queue.entries)


def find_bookmark_target(
    bookmark: Bookmark, store: "Store", reviewer: str, queue: ClaimQueue | None = None
) -> BookmarkTarget:
    """Look up what a bookmark names; what is not in the store any more is left out.

    Args:
        bookmark: The place.
        store: The store.
        reviewer: Who stopped there.
        queue: What was worked through, where it is no sample.
    """
    place = BookmarkTarget(bookmark.screen, bookmark.blind, bookmark.lists, bookmark.final_notes)
    try:
        if bookmark.run is None:
            return place
        run = store.runs.read_run(RunId(bookmark.run)).id
        rows = () if bookmark.item is None else store.runs.read_item_rows([ItemId(bookmark.item)])
        place = replace(place, run=run)
        if not rows or rows[0].run != run:
            return place
        claim = None if bookmark.claim is None else ClaimId(bookmark.claim)
        place = replace(place, item=rows[0].id, claim=claim)
        if bookmark.sample is None:
            queue = _drop_missing_conversations(queue, store, run)
            if queue is not None:
                queue.answered.update(_list_answered_claims_of_queue(queue, store, reviewer))
        else:
            queue = make_sample_queue(store, SampleId(bookmark.sample), reviewer)
            queue = queue if queue.run == run else None
        return _skip_answered_claim(replace(place, queue=queue), store, reviewer)
    except StoreError:
        return place


def _list_answered_claims_of_queue(
    queue: ClaimQueue, store: "Store", reviewer: str
) -> set[ClaimId]:
    """Find what of a queue was answered: the store knows it, whatever the bookmark's age."""
    claims = [claim for _, claim in queue.entries]
    return store.label_log.list_claims_labelled_after_event(reviewer, claims, queue.newest_act)


def _skip_answered_claim(place: BookmarkTarget, store: "Store", reviewer: str) -> BookmarkTarget:
    """Go on at the next open claim of a queue where the bookmark's is answered, or names none."""
    if place.queue is None:
        return place
    cursor = load_queue_position(store, place.queue, reviewer)
    if place.claim is not None and place.claim not in cursor.answered_claims:
        return place
    if place.claim is not None:
        cursor.move_to(place.claim)
    for item, claim in cursor.list_next_open_claims(1):
        return replace(place, item=item, claim=claim)
    return place


def _drop_missing_conversations(
    queue: ClaimQueue | None, store: "Store", run: RunId
) -> ClaimQueue | None:
    """Drop the conversations of a queue that the run does not have any more."""
    if queue is None or queue.run != run:
        return None
    held = set(store.runs.list_item_ids(run))
    entries = tuple(each for each in queue.entries if each[0] in held)
    if not entries:
        return None
    return (
        queue if len(entries) == len(queue.entries) else replace(queue, entries=entries, place={})
    )


def restore_session(session: Session, place: BookmarkTarget) -> None:
    """Go where somebody stopped."""
    for name, wanted, sort in place.lists:
        session.lists[name] = ListState(wanted, sort)
    session.final_notes.update({ClaimId(claim): note for claim, note in place.final_notes})
    if place.run is None:
        return
    session.switch_run(place.run)
    if place.queue is not None:
        session.start_queue(place.queue)
    if place.blind and not session.is_blind:
        session.set_judge_hidden(True)
    session.choose_conversation(place.item, place.claim)


class BookmarkKeeper:
    """Lets the app go on at a bookmark, and keeps the bookmark up to date.

    Args:
        app: The app.
        file: The bookmark; None: the app begins at its first screen, and keeps none.
    """

    def __init__(self, app: "FaithApp", file: BookmarkFile | None) -> None:
        self.app = app
        self._file = file
        self._bookmark = Bookmark()
        self._target: BookmarkTarget | None = None
        self._one_at_a_time = asyncio.Lock()

    def read_bookmark(self) -> None:
        """Read where somebody stopped. Reads a file: meant for a thread."""
        if self._file is not None:
            self._bookmark = self._file.read()

    @property
    def replaces_first_screen(self) -> bool:
        """Whether the first screen gives way, or hides the judge, once the store is open.

        Until then nothing of the store may be on it, and no key is meant for what comes instead.
        """
        mark, first = self._bookmark, self.app.screen_switcher.first_screen
        leads_away = mark.screen in screen_catalog.SCREENS and mark.screen != first
        return mark.run is not None and (mark.blind or leads_away)

    def load_bookmark_target(self, store: "Store") -> None:
        """Look up where the bookmark leads. Reads a file and the store: meant for a thread."""
        if self._file is not None:
            queue = self._file.read_queue(self._bookmark)
            reviewer = self.app.session.reviewer
            self._target = find_bookmark_target(self._bookmark, store, reviewer, queue)

    def go_to_bookmark_and_keep_updating(self) -> None:
        """Go on at the place of the bookmark, and keep it up to date from now on."""
        if self._file is None:
            return
        if self._target is not None:
            self._go_to_target_unless_moved(self._target)
        if self.replaces_first_screen:
            self.app.input_queue.drop_input_until_painted(self._say_that_keys_were_dropped)
        self.app.set_interval(WRITE_EVERY_S, self.save_current_place)

    def _go_to_target_unless_moved(self, target: BookmarkTarget) -> None:
        """Go where somebody stopped, but not away from a screen that was chosen meanwhile."""
        switcher = self.app.screen_switcher
        restore_session(self.app.session, target)
        if target.run is None or switcher.current != switcher.first_screen:
            return
        if target.screen in screen_catalog.SCREENS:
            switcher.show(target.screen)

    def _say_that_keys_were_dropped(self) -> None:
        if isinstance(self.app.screen, FaithScreen):
            self.app.screen.refuse("what was typed before this screen was shown did nothing")

    def _find_reviewed_claim(self) -> ClaimId | None:
        """Find the claim where the review is, also while another screen is shown."""
        installed = self.app.is_screen_installed("review")
        review = self.app.get_screen("review") if installed else None
        state = getattr(review, "review_state", None)
        if state is None or state.view.item.id != self.app.session.item:
            return None
        return cast("ClaimId | None", state.position.claim)

    async def save_current_place(self) -> None:
        """Keep where one is, if it is another place; keys do not wait for the disk."""
        if self._file is None:
            return
        async with self._one_at_a_time:
            claim = self._find_reviewed_claim()
            place = make_bookmark(self.app.session, self.app.current_screen_name, claim)
            if place != self._file.written:
                queue = self.app.session.claim_queue if place.queue else None
                await asyncio.to_thread(self._file.write_bookmark_if_changed, place, queue)
