"""The app on a page: who gets it, how its session ends, and what it may not do."""

import asyncio
import shlex
import sys
from pathlib import Path

import pytest
from aiohttp import ClientSession, CookieJar, WSMsgType
from aiohttp.test_utils import TestServer

from faithtui.cli.browser.server import AppServer
from faithtui.store.store import Store
from tests.tui.building import shop

FOREIGN = {"Origin": "http://other.example"}


def make_server(command: str = "false") -> AppServer:
    return AppServer(command, "127.0.0.1", 8000, lambda link: None)


async def test_nothing_is_served_without_the_token() -> None:
    server = make_server()
    token = server.link.partition("token=")[2]
    async with (
        TestServer(await server._make_app()) as running,
        ClientSession(cookie_jar=CookieJar(unsafe=True)) as browser,
    ):
        address = f"http://{running.host}:{running.port}"
        for path in ("/", "/ws", "/static/js/textual.js", "/pages/page.js", "/?token=guess"):
            async with browser.get(address + path) as refused:
                assert refused.status == 403, path
        async with browser.get(f"{address}/ws?token={token}") as refused:
            assert refused.status == 403, "a token in an address opens the page alone"
        async with browser.get(f"{address}/?token={token}") as page:
            assert page.status == 200
            assert str(page.url) == f"{address}/", "the token leaves the address"
            assert "default-src 'none'" in page.headers["Content-Security-Policy"]
            assert f"ws://{running.host}:{running.port}/ws" in await page.text()
        for path in ("/static/js/textual.js", "/pages/page.css", "/pages/page.js"):
            async with browser.get(address + path) as found:
                assert found.status == 200, path
        async with browser.get(f"{address}/ws", headers=FOREIGN) as refused:
            assert refused.status == 403, "a page of another server"


async def test_a_page_holds_nothing_from_elsewhere() -> None:
    pages = Path(sys.modules[AppServer.__module__].__file__ or "").parent / "pages"
    for file in pages.iterdir():
        assert "http" not in file.read_text("utf-8"), file.name
    styles = (pages / "page.css").read_text("utf-8")
    server = make_server()
    for name in ("RobotoMono-VariableFont_wght.ttf", "RobotoMono-Italic-VariableFont_wght.ttf"):
        assert f"/static/fonts/{name}" in styles
        assert (server.statics_path / "fonts" / name).is_file()


@pytest.mark.thorough
async def test_the_app_is_shown_and_a_second_page_ends_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "shop.db"
    shop(store)
    monkeypatch.setenv("FAITHTUI_HOME", str(tmp_path / "home"))
    command = [sys.executable, "-m", "faithtui", "--store", str(store), "--reviewer", "ann"]
    server = make_server(shlex.join(command))
    async with (
        TestServer(await server._make_app()) as running,
        ClientSession(cookie_jar=CookieJar(unsafe=True)) as browser,
    ):
        address = f"http://{running.host}:{running.port}"
        async with browser.get(f"{address}/?token={server.link.partition('token=')[2]}"):
            pass
        async with browser.ws_connect(f"{address}/ws?width=120&height=40") as first:

            async def read_until(words: bytes) -> bytes:
                seen = b""
                while words not in seen:
                    message = await first.receive()
                    assert message.type is WSMsgType.BINARY, (message, seen[-500:])
                    seen += message.data
                return seen

            await read_until(b"RUNS")
            await read_until(b"turn-faithfulness")
            await first.send_json(["stdin", "gv"])
            await read_until(b"supported")
            await first.send_json(["stdin", "n"])
            while b"not saved" in await read_until(b"saved"):  # it came too early
                await first.send_json(["stdin", "n"])
            async with browser.ws_connect(f"{address}/ws?width=80&height=24") as second:
                assert (await second.receive()).type is WSMsgType.BINARY
                while (await first.receive()).type is WSMsgType.BINARY:
                    pass
                assert first.closed
    with Store.open(store) as opened:
        assert opened.list_damage() == []
        run = opened.runs.list_runs()[0]
        assert run.labelled == 1


async def test_the_app_leaves_when_its_server_is_gone(tmp_path: Path) -> None:
    store = tmp_path / "shop.db"
    shop(store)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "faithtui",
        "--store",
        str(store),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={
            "TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver",
            "FAITHTUI_HOME": str(tmp_path / "home"),
            "HOME": str(tmp_path),
            "COLUMNS": "80",
            "ROWS": "24",
        },
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert await process.stdout.readline() == b"__GANGLION__\n"
    process.stdin.close()
    while await process.stdout.read(4096):
        pass
    assert await process.wait() == 129
