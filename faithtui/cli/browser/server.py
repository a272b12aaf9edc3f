"""The app on a page for one annotator: textual-serve behind a token, with fonts of its own.

Who has the link acts as the annotator and with the rights of this process. So it listens where it
is told to and nowhere else, and nothing is served to who has not got the token.
"""

import asyncio
import secrets
from collections.abc import Callable
from pathlib import Path

import aiohttp_jinja2
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from textual_serve.app_service import AppService
from textual_serve.server import Server

TOKEN_BYTES = 32
HEARTBEAT_S = 15.0
"""How often a page is asked whether it is still there."""
CLOSE_TIMEOUT_S = 2.0
"""How long a page may take to answer that it is closed."""
LEAVE_TIMEOUT_S = 10.0
"""How long the app may take to leave; it waits some seconds for replies in flight."""
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""Nothing is fetched from anywhere else; styles are set by the terminal of the page."""


class AppProcess(AppService):
    """The app of a page; its end is waited for, so that the store is closed."""

    async def stop(self) -> None:
        """Ask the app to leave, and see to it that it does."""
        await super().stop()
        if self._process is None:
            return
        try:
            async with asyncio.timeout(LEAVE_TIMEOUT_S):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


class AppServer(Server):
    """Serves the app to one page at a time.

    Args:
        command: Starts the app; a line for the shell.
        host: Address to listen on.
        port: Port to listen on.
        announce: Called with the link once pages can be opened.
    """

    def __init__(self, command: str, host: str, port: int, announce: Callable[[str], None]) -> None:
        super().__init__(
            command, host, port, title="faithtui", templates_path=Path(__file__).parent / "pages"
        )
        self._announce = announce
        self._token = secrets.token_urlsafe(TOKEN_BYTES)
        self._cookie = f"faithtui-{port}"
        self._session: web.WebSocketResponse | None = None
        self._has_ended = asyncio.Event()
        self._has_ended.set()

    @property
    def link(self) -> str:
        """Address with the token."""
        return f"{self.public_url}/?token={self._token}"

    def initialize_logging(self) -> None:
        """Leave the logs as they are."""

    async def on_startup(self, app: web.Application) -> None:
        """Say where the app is."""
        self._announce(self.link)

    async def on_shutdown(self, app: web.Application) -> None:
        """End the session: replies in flight are kept, and the store is closed."""
        await self._end_session()

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._make_access_check_middleware())
        app.on_response_prepare.append(_add_security_headers)
        pages = Path(__file__).parent / "pages"
        app.router.add_static("/pages", pages)
        return app

    def _make_access_check_middleware(self) -> Middleware:
        @web.middleware
        async def keep_strangers_out(request: web.Request, handler: Handler) -> web.StreamResponse:
            token = request.query.get("token")
            if request.path == "/" and token is not None and self._is_valid_token(token):
                # The token leaves the address at once: histories and pictures keep addresses.
                response: web.StreamResponse = web.Response(status=303, headers={"Location": "/"})
                response.set_cookie(self._cookie, self._token, httponly=True, samesite="Lax")
            elif not self._is_valid_token(request.cookies.get(self._cookie, "")):
                response = web.Response(
                    status=403, text="Open the link that faithtui serve printed.\n"
                )
            elif not _is_same_origin(request):
                response = web.Response(status=403, text="Not from another page.\n")
            else:
                response = await handler(request)
            return response

        return keep_strangers_out

    def _is_valid_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode("utf-8", "replace"), self._token.encode())

    async def handle_index(self, request: web.Request) -> web.StreamResponse:
        """Give the page, with addresses as the browser sees them: a tunnel has its own port."""
        scheme = "wss" if request.secure else "ws"
        context = {"socket": f"{scheme}://{request.host}/ws"}
        return aiohttp_jinja2.render_template("page.html", request, context)

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Show the app on this page; the page before it ends, so that nobody works twice."""
        await self._end_session()
        websocket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, timeout=CLOSE_TIMEOUT_S)
        await websocket.prepare(request)
        self._session = websocket
        self._has_ended.clear()

        async def close() -> None:
            await websocket.close()

        service = AppProcess(
            self.command,
            write_bytes=websocket.send_bytes,
            write_str=websocket.send_str,
            close=close,
            download_manager=self.download_manager,
        )
        try:
            size = (request.query.get(name, "") for name in ("width", "height"))
            await service.start(*(int(each) if each.isdecimal() else 80 for each in size))
            await self._process_messages(websocket, service)
        finally:
            await service.stop()
            await websocket.close()
            self._has_ended.set()
        return websocket

    async def _end_session(self) -> None:
        if self._session is not None:
            await self._session.close()
        await self._has_ended.wait()


async def _add_security_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "no-store"


def _is_same_origin(request: web.Request) -> bool:
    """Say whether a request is from a page of this server; browsers name it where it matters."""
    origin = request.headers.get("Origin")
    return origin is None or origin == f"{request.scheme}://{request.host}"
