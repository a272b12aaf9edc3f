"""The app in headless Chromium: screens, windows, keys, mouse, copies, pastes, what is fetched."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faithtui.domain.labels.label_bundle import BundleEvent
from faithtui.domain.labels.label_events import Action
from faithtui.store.store import Store
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
PAUSE_MS = 500
"""Between escape or a paste and the next key, which are not read as one then."""
needs_chromium = pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no Chromium here")


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

    def click(self, x: int, share: float) -> None:
        """Click so many pixels from the left edge, at a share of the height."""
        box = self.page.locator(".xterm-screen").bounding_box()
        self.page.mouse.click(box["x"] + x, box["y"] + box["height"] * share)

    def close_window(self) -> None:
        """Press escape, and nothing at once after it: that would be read as one key with alt."""
        self.page.keyboard.press("Escape")
        self.page.wait_for_timeout(PAUSE_MS)

    def paste(self, text: str) -> None:
        """Paste from the clipboard, as a person does."""
        self.page.evaluate("text => navigator.clipboard.writeText(text)", text)
        self.page.keyboard.press("Control+Shift+V")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    store = tmp_path / "shop.db"
    shop(store)
    return store


@pytest.fixture
def link(tmp_path: Path, store: Path) -> Iterator[str]:
    environment = {**os.environ, "FAITHTUI_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "faithtui", "--store", str(store), "serve", "--port", "0"]
    with subprocess.Popen(
        command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()
    assert not list(tmp_path.glob("faithtui-report*")), "files were written from a page"


@pytest.fixture
def shown(link: str) -> Iterator[Page]:
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=str(CHROMIUM), args=[*QUIET])
        page = Page(browser, link)
        page.wait_for("turn-faithfulness")
        yield page
        assert not page.complaints
        origin = link.split("/?")[0]
        assert all(each.startswith((origin, "data:")) for each in page.requests), page.requests
        browser.close()


def list_acts(store: Path) -> list[BundleEvent]:
    """List what was done in the page: without the labels that came with the data."""
    with Store.open(store) as opened:
        acts = opened.bundles.make_label_bundle().acts
    return [each for each in acts if each.action is not Action.IMPORTED]


@needs_chromium
def test_all_screens_keys_mouse_and_copies_in_chromium(shown: Page) -> None:
    for name, letter in screen_catalog.LETTERS.items():
        shown.page.keyboard.type(f"g{letter}")
        shown.wait_for(screen_catalog.load_screen_class(name).TITLE_WORDS)
    shown.page.keyboard.type("gr")
    shown.wait_for("RUNS")
    shown.page.keyboard.type("X")
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
    # The third row of the list: past the window's edge and the head of the pane.
    shown.click(100, 1 / 3)
    shown.wait_for("Claim")


@needs_chromium
def test_windows_above_the_screens_open_and_close_in_chromium(shown: Page) -> None:
    for key, words in (("n", "Before the start"), ("?", "Help"), (":", "Search"), ("A", "judge")):
        shown.page.keyboard.type(key)
        shown.wait_for(words)
        shown.close_window()
    shown.page.keyboard.type("gv")
    shown.wait_for("contradicted")
    for key, words in (
        ("t", "P1"),
        ("p", "counts for agreement"),
        ("h", "Guideline"),
        ("+", "complete"),
        ("E", " of 2"),
        ("W", "RAW REPLIES"),
        ("L", "Windows"),
        ("?", "This screen"),
    ):
        shown.page.keyboard.type(key)
        shown.wait_for(words)
        shown.close_window()
    shown.page.set_viewport_size({"width": 800, "height": 480})
    shown.wait_for("Claim")
    shown.page.keyboard.press("Control+q")
    shown.page.get_by_text("The session has ended").wait_for(timeout=PATIENCE_S * 1000)


@needs_chromium
def test_what_is_pasted_into_a_page_gives_no_verdicts_and_goes_into_a_note(
    shown: Page, store: Path
) -> None:
    shown.page.keyboard.type("gv")
    shown.wait_for("contradicted")
    for text in ("y n x", "y\nn\n", "\x1b[31my\x1b[0m", "log \x1b[201~y\x1b[Bn", "y" * 5000):
        shown.paste(text)
    # Whatever the pastes were to do they did before this key, which begins a note.
    shown.page.keyboard.type("e")
    shown.wait_for("enter saves it")
    assert list_acts(store) == []
    shown.paste("why \x1b[201~ y")
    shown.page.wait_for_timeout(PAUSE_MS)
    shown.page.keyboard.press("Enter")
    shown.wait_for("saved")
    (act,) = list_acts(store)
    assert act.verdict is None
    assert act.note is not None
    assert act.note.startswith("why ")
