"""`o`: images are opened outside, because a terminal draws none."""

from collections.abc import Callable
from io import BytesIO

from textual.binding import Binding

from faithtui.domain.judging.image_addresses import format_address_without_secrets
from faithtui.tui.review.evidence.external_image_viewer import SUFFIXES, explain_blocked_url
from faithtui.tui.review.lines.image_lines import NumberedImage, image_list_lines
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.screen.dialogs import PickDialog
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.theme.lines import Piece, escape_line

OPEN_IMAGE = Binding(
    "o",
    "open_image",
    "open image",
    tooltip="Open an image outside the terminal, or its address in the browser",
    id="review.open-image",
)


class ImageOpener(Controller[FaithScreen]):
    """Opens images of the conversation that a screen shows. The screen binds `OPEN_IMAGE`.

    Args:
        screen: The screen.
        list_images: Gives the images to choose from.
    """

    def __init__(
        self, screen: FaithScreen, list_images: Callable[[], tuple[NumberedImage, ...]]
    ) -> None:
        super().__init__(screen)
        self._list_images = list_images

    def action_open_image(self) -> None:
        """Open the image, or let one be chosen where there are several."""
        self.choose_and_open_image(self._list_images())

    def choose_and_open_image(self, images: tuple[NumberedImage, ...]) -> None:
        """Open one of some images."""
        if not images:
            self.refuse("there is no image in this conversation")
            return
        if len(images) == 1:
            self.open_image(images[0])
            return

        def open_row(row: str | None) -> None:
            if row is not None:
                self.open_image(images[int(row)])

        self.input_queue.open_window(
            PickDialog(f"Images {len(images)}", lambda width: image_list_lines(images, width)),
            open_row,
        )

    @run_in_worker("image")
    async def open_image(self, chosen: NumberedImage) -> None:
        """Write an image into a private file and open that, or open its address."""
        session, name = self.session, f"image {chosen.number}"
        stored = await self.read_in_thread(session.store.images.read, chosen.image.sha256)
        if stored.data is None:
            url = chosen.image.url or ""
            reason = explain_blocked_url(url)
            if reason is not None:
                self.show_message(
                    Piece(f"{name} not opened: its address {reason}: ", "warn"),
                    escape_line(format_address_without_secrets(url) or "no address", limit=200),
                )
                return
            if self.app.is_web:
                self.app.open_url(url)
                return
            await self._open_in_viewer(name, url, is_file=False)
            return
        kind = stored.image.media_type
        if self.app.is_web and kind in SUFFIXES:
            self.app.deliver_binary(
                BytesIO(stored.data),
                save_filename=f"{chosen.image.sha256[:12]}{SUFFIXES[kind]}",
                open_method="browser",
                mime_type=kind,
            )
            return
        path = await self.read_in_thread(
            session.image_files.write, chosen.image.sha256[:12], stored.data, kind
        )
        if kind not in SUFFIXES:
            self.show_message(
                Piece(f"{name} is no kind that is opened: ", "warn"),
                escape_line(str(path)),
                Piece(" until you quit", "quiet"),
            )
            return
        await self._open_in_viewer(name, str(path), is_file=True)

    async def _open_in_viewer(self, name: str, target: str, *, is_file: bool) -> None:
        if await self.read_in_thread(self.session.open_outside, target):
            self.show_message(
                Piece(f"{name} opened: ", "good"), escape_line(target, "quiet", limit=200)
            )
        else:
            self.show_message(
                Piece(f"no viewer for {name}", "warn"),
                Piece("; until you quit it is in " if is_file else ": ", "quiet"),
                escape_line(target, limit=200),
            )

    def is_key_shown(self, action: str) -> bool:
        """Name the key where there is an image; without one it says so."""
        return bool(self._list_images())
