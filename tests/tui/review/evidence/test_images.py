"""Images are named where they stand, and opened outside on a key alone."""

import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.conversation import Document, Image
from faithtui.tui.app import FaithApp
from faithtui.tui.review.evidence.external_image_viewer import (
    ImageFiles,
    explain_blocked_url,
    try_to_open_outside_app,
)
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.screen.dialogs import PickDialog, TextDialog
from tests.tui.building_metrics import ADDRESS, BOOTS, PHOTO, PNG, boots
from tests.tui.driving import opened, press, reviewing, screen_text, status, text_of, until


class Viewer:
    """Stands in for the system's viewer."""

    def __init__(self, there: bool = True) -> None:
        self.there = there
        self.opened: list[str] = []

    def __call__(self, target: str) -> bool:
        self.opened.append(target)
        return self.there


@pytest.fixture
def app(tmp_path: Path, make_app: Callable[[Path], FaithApp]) -> FaithApp:
    boots(tmp_path / "boots.db", ["turn-faithfulness"])
    return make_app(tmp_path / "boots.db")


async def test_images_are_named_where_they_stand(app: FaithApp) -> None:
    async with app.run_test(size=(200, 60)) as pilot:
        await reviewing(pilot)
        transcript = "".join(text_of(app, "transcript").split())
        assert "Isthisscratchcovered?[image1:image/png,opensoutside]" in transcript
        assert f"[image2:{ADDRESS},opensoutside]" in transcript
        assert f"[image 2: {ADDRESS}, opens outside]" in " ".join(text_of(app, "evidence").split())
        await press(pilot, "t")
        assert f"[image 2: {ADDRESS}, opens outside]" in " ".join(text_of(app, "text").split())
        await press(pilot, "q", "g", "c")
        assert "[image 1: image/png, opens outside]" in " ".join(text_of(app, "detail").split())


def check_private(path: Path) -> None:
    assert path.suffix == ".png"
    assert path.read_bytes() == PNG
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def check_gone(path: Path) -> None:
    assert not path.parent.exists(), "it goes when the app does"


@pytest.mark.thorough
async def test_o_writes_a_private_file_and_opens_it(app: FaithApp) -> None:
    viewer = app.session.open_outside = Viewer()
    async with app.run_test(size=(120, 40)) as pilot:
        await reviewing(pilot)
        await press(pilot, "o")
        assert isinstance(app.screen, PickDialog)
        listed = text_of(app, "text")
        assert "image 1  image/png  turn 1" in listed
        assert f"image 2  {ADDRESS}  P2" in listed
        assert viewer.opened == []
        await press(pilot, "enter")
        await until(pilot, lambda: bool(viewer.opened))
        await press(pilot)
        assert "image 1 opened" in status(app)
        check_private(Path(viewer.opened[0]))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app._exit)
    check_gone(Path(viewer.opened[0]))


@pytest.mark.thorough
async def test_an_address_is_opened_only_on_the_key(app: FaithApp) -> None:
    viewer = app.session.open_outside = Viewer()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await reviewing(pilot)
        screen.panes.evidence.focus()
        await press(pilot, "t")
        assert viewer.opened == []
        assert isinstance(app.screen, TextDialog)
        await press(pilot, "o")
        await until(pilot, lambda: viewer.opened == [ADDRESS])
        assert isinstance(app.screen, ReviewScreen)


async def test_the_evidence_pane_offers_the_images_of_its_passage(app: FaithApp) -> None:
    viewer = app.session.open_outside = Viewer()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await reviewing(pilot)
        screen.panes.evidence.focus()
        await press(pilot, "o")
        await until(pilot, lambda: viewer.opened == [ADDRESS])


@pytest.mark.thorough
async def test_the_list_of_conversations_opens_images_too(app: FaithApp) -> None:
    app.session.open_outside = Viewer()
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "enter", "o")
        assert isinstance(app.screen, PickDialog)


@pytest.mark.thorough
async def test_without_a_viewer_it_says_where_the_file_is(app: FaithApp) -> None:
    viewer = app.session.open_outside = Viewer(there=False)
    async with app.run_test(size=(200, 60)) as pilot:
        await reviewing(pilot)
        await press(pilot, "o", "enter")
        await until(pilot, lambda: "no viewer for image 1" in status(app))
        await until(pilot, lambda: viewer.opened[0] in status(app))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("image", "words"),
    [
        (Image("a" * 64, "", "file:///etc/passwd"), "is no address of the web"),
        (Image("b" * 64, "", "javascript:alert(1)"), "is no address of the web"),
        (Image("c" * 64, "", "http://192.168.1.1/off?key=hunter2"), "holds a password, a key"),
        (
            Image("d" * 64, "", "http://192.168.1.1/off"),
            "leads into a private network (192.168.1.1)",
        ),
        (replace(PHOTO, media_type="image/svg+xml"), "no kind that is opened"),
    ],
)
async def test_what_may_be_more_than_a_picture_is_not_opened(
    tmp_path: Path, make_app: Callable[[Path], FaithApp], image: Image, words: str
) -> None:
    first, *rest = BOOTS.turns
    path = tmp_path / "odd.db"
    answer = replace(rest[0], retrieval_context=(Document(rest[0].retrieval_context[0].text),))  # type: ignore[index]  # it has one
    boots(
        path,
        ["turn-faithfulness"],
        replace(BOOTS, turns=(replace(first, images=(image,)), answer, *rest[1:])),
    )
    app = make_app(path)
    viewer = app.session.open_outside = Viewer()
    async with app.run_test(size=(200, 60)) as pilot:
        await reviewing(pilot)
        await press(pilot, "o")
        await until(pilot, lambda: words in status(app))
        assert viewer.opened == []


async def test_without_images_there_is_no_key(app: FaithApp, store_path: Path) -> None:
    shop = FaithApp(store_path, reviewer="ann")
    async with shop.run_test(size=(200, 60)) as pilot:
        await reviewing(pilot)
        assert "open image" not in screen_text(shop)
        await press(pilot, "o")
        assert isinstance(shop.screen, ReviewScreen)
        assert "there is no image in this conversation" in status(shop)
        await press(pilot, "Q")
        assert "there is no queue to leave" in status(shop)


@pytest.mark.parametrize(
    ("url", "good"),
    [
        ("https://shop.example/a.png", True),
        ("http://shop.example:8080/a?b=c", True),
        ("file:///etc/passwd", False),
        ("-o /tmp/x", False),
        ("https://", False),
        ("https://shop.example/a b", False),
        ("https://shop.example/\x1b[31m", False),
        ("https://[broken", False),
        ("https://ann:hunter2@shop.example/a.png", False),
        ("https://shop.example/a.png?X-Amz-Signature=f00", False),
        ("http://192.168.1.1/reboot", False),
        ("http://localhost:9200/_shutdown", False),
        ("", False),
    ],
)
def test_only_plain_web_addresses_are_opened(url: str, good: bool) -> None:
    assert (explain_blocked_url(url) is None) is good


def test_a_machine_without_a_viewer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert try_to_open_outside_app("https://shop.example/a.png") is False


@pytest.mark.parametrize(("status_", "found"), [(0, True), (3, False)])
def test_a_launcher_says_whether_there_is_a_viewer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status_: int, found: bool
) -> None:
    launcher = tmp_path / "xdg-open"
    launcher.write_text(f"#!/bin/sh\necho \"$1\" > '{tmp_path}/seen'\nexit {status_}\n")
    launcher.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("sys.platform", "linux")
    assert try_to_open_outside_app("/some/picture.png") is found
    assert (tmp_path / "seen").read_text() == "/some/picture.png\n"


def test_pictures_leave_nothing_behind() -> None:
    pictures = ImageFiles()
    path = pictures.write("x", b"bytes", "text/html")
    assert path.suffix == ".bin", "nothing that a browser would read"
    pictures.remove_files()
    pictures.remove_files()
    assert not path.parent.exists()
