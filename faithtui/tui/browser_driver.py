"""The driver for an app in a browser: a server reads its frames and writes its keys."""

import contextlib
import os
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from textual.app import App
from textual.drivers import web_driver
from textual.drivers.web_driver import WebDriver

from faithtui.tui.terminal import HangupDriver
from faithtui.tui.terminal_input import PasteParser


class PageParser(PasteParser):
    """Reads what a page sends: its driver ticks after what was read, and once more at once."""

    TICKS_OF_A_READ: ClassVar[int] = 2


class BrowserDriver(WebDriver, HangupDriver):
    """Textual's driver for pages, which tells when the page is closed or its server is gone.

    Textual's own ends at once when the page is closed, whatever a run or the store still does, and
    stays for ever when the server was killed.
    """

    def __init__(
        self,
        app: App[Any],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._on_hangup: Callable[[], object] | None = None
        self._is_hung_up = self._is_detached = False
        self._write = partial(self._write_whole)

    def detach(self) -> None:
        """Write no more. Any thread."""
        self._is_detached = True

    def watch_for_hangup(
        self, on_hangup: Callable[[], object], on_timeout: Callable[[], object]
    ) -> None:
        """Call `on_hangup` once the page is closed or nothing more can come from the server."""
        self._on_hangup = on_hangup
        if self._is_hung_up:  # before the app was ready
            threading.Thread(target=on_hangup).start()

    def run_input_thread(self) -> None:
        """Read until the server goes."""
        web_driver.XTermParser = PageParser  # type: ignore[attr-defined]  # made by this name there
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._hang_up()

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """Leave in order when the page is closed: replies in flight and the store first."""
        if packet_type == "quit":
            self._hang_up()
        else:
            super().on_meta(packet_type, payload)

    def _hang_up(self) -> None:
        self._is_hung_up = True
        if self._on_hangup is not None:
            self._on_hangup()

    def _write_whole(self, data: bytes) -> int:
        """Write all of a packet: a pipe takes as much at a time as it has room for."""
        if not self._is_detached:
            with contextlib.suppress(OSError):  # the server is gone, which the input tells
                rest = data
                while rest:
                    rest = rest[os.write(self.fileno, rest) :]
        return len(data)
