"""The app in headless Chromium: every screen, keys, the mouse, what is copied, what is fetched."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faithtui.tui import screen_catalog
from tests.tui.building import shop

playwright = pytest.importorskip("playwright.sync_api", reason="drives the browser")
CHROMIUM = Path("/usr/bin/chromium")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_S = 300


class Page:
    """A page of the app, and all it was sent and asked for."""

    def __init__(self, browser: Any, link: str) -> None:
        self.context = browser.new_context(
            viewport={"width": 1210, "height": 850},
            permissions=["clipboard-read", "clipboard-write"],
        )
        self.page = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._received = bytearray()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on(
            "console",
            lambda line: self.complaints.append(line.text) if line.type == "error" else None,
        )
        self.page.on(
            "websocket",
            lambda socket: socket.on(
                "framereceived",
                lambda data: self._received.extend(data if isinstance(data, bytes) else b""),
            ),
        )
        self.page.goto(link)

    def wait_for(self, words: str) -> None:
        """Wait until the app has drawn some words, and forget what it drew before them."""
        for _ in range(PATIENCE_S * 20):
            if words.encode() in self._received:
                self._received.clear()
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"{words!r} was not drawn: {bytes(self._received[-2000:])!r}")


@pytest.fixture
def link(tmp_path: Path) -> Iterator[str]:
    store = tmp_path / "shop.db"
    shop(store)
    environment = {**os.environ, "FAITHTUI_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "faithtui", "--store", str(store), "serve", "--port", "0"]
    with subprocess.Popen(
        command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()
    assert not list(tmp_path.glob("faithtui-report*")), "files were written from a page"


@pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no Chromium here")
def test_all_screens_keys_mouse_and_copies_in_chromium(link: str) -> None:
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=str(CHROMIUM), args=[*QUIET])
        shown = Page(browser, link)
        shown.wait_for("turn-faithfulness")
        for name, letter in screen_catalog.LETTERS.items():
            shown.page.keyboard.type(f"g{letter}")
            shown.wait_for(screen_catalog.load_screen_class(name).TITLE_WORDS)
        shown.page.keyboard.type("gr")
        shown.wait_for("RUNS")
        shown.page.keyboard.type("e")
        shown.wait_for("--allow-files allows it")
        shown.page.keyboard.type("gv")
        shown.wait_for("contradicted")
        shown.page.keyboard.type("n")
        shown.wait_for("saved")
        shown.page.keyboard.type("u")
        shown.wait_for("undone")
        shown.page.keyboard.type("C")
        shown.wait_for("copied")
        assert shown.page.evaluate("navigator.clipboard.readText()").startswith("The return")
        box = shown.page.locator(".xterm-screen").bounding_box()
        # The third row of the list: past the window's edge and the head of the pane.
        shown.page.mouse.click(box["x"] + 100, box["y"] + box["height"] / 3)
        shown.wait_for("Claim")
        origin = link.split("/?")[0]
        assert all(each.startswith((origin, "data:")) for each in shown.requests), shown.requests
        assert not shown.complaints
        browser.close()
