"""Messages that cross screens. What stays inside a screen is nested in its widget."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from faithtui.domain.ids import RunId

if TYPE_CHECKING:
    from faithtui.config import SettingsWithOrigins
    from faithtui.store.records import RunRow


@dataclass
class StoreOpened(Message):
    """The store is there; screens may read."""


@dataclass
class FirstRunsRead(Message):
    """The list of runs was read before the store is open."""

    rows: tuple["RunRow", ...]


@dataclass
class ShowScreen(Message):
    """Another main screen is wanted."""

    screen: str
    """Name of the screen."""
    back: bool = False
    """Return there: `q` does not lead here again."""


@dataclass
class NewRunRequested(Message):
    """The form for a new run is wanted."""


@dataclass
class ResumeRequested(Message):
    """A run is to be taken up."""

    run: RunId
    then: tuple[RunId, ...] = ()
    """Runs to take up afterwards, one after the other."""


@dataclass
class WorkerFailed(Message):
    """A worker of a screen failed."""

    error: BaseException


@dataclass
class SettingsChanged(Message):
    """Settings were changed in the app."""

    configured: "SettingsWithOrigins"
    keymap: Mapping[str, str] | None
    """Keys by id where they are not the default ones; None: as before."""
    ascii: bool
    """Draw with ASCII alone."""
