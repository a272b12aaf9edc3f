"""Images of a conversation: files, base64 and addresses become values, with their bytes beside.

Only what a data file names in its `images` lists, or a caller hands in, is ever read. A path must
lie inside the folder it is relative to, an address is kept and never fetched, and nothing inside a
text is taken for an image.
"""

import base64
import binascii
import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from faithtui.domain.conversation import Image
from faithtui.domain.judging.image_addresses import find_host_of_address, has_credential
from faithtui.domain.limits import IMAGES
from faithtui.errors import InputError

MAX_BYTES = 20 * 2**20
"""Of one image: more than any provider takes."""

MAX_IMAGES = 50
"""Different images of one conversation."""

_KINDS = "PNG, JPEG, GIF or WebP"

_DATA_URI = "data:"

_SAME_TYPE = {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png"}
"""Names in use for media types that have a registered one."""


STDIN = Path("-")


def find_image_folder(path: Path | None) -> Path | None:
    """Give the folder that paths of images start at; None where a file of data has none."""
    return None if path is None or path == STDIN else path.parent


def read_image(path: Path) -> tuple[Image, bytes]:
    """Read an image file.

    Args:
        path: A PNG, JPEG, GIF or WebP of at most `MAX_BYTES`; its first bytes say which.

    Returns:
        The image as conversations refer to it, and its bytes.

    Raises:
        InputError: It cannot be read, is no regular file, too large, or something else.
    """
    try:
        # Opening a pipe or a device would wait for somebody to write into it.
        if not path.is_file():
            raise InputError("is no regular file" if path.exists() else "is not there", path=path)
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {_format_os_error(error)}", path=path) from error
    try:
        return image_from_bytes(data)
    except InputError as error:
        raise InputError(error.reason, path=path) from error


def image_from_bytes(data: bytes, media_type: str | None = None) -> tuple[Image, bytes]:
    """Take bytes as an image.

    Args:
        data: A PNG, JPEG, GIF or WebP of at most `MAX_BYTES`.
        media_type: What it is said to be, such as `image/png`; None: whatever it is.

    Returns:
        The image as conversations refer to it, and the bytes.

    Raises:
        InputError: It is too large, something else, or not what it is said to be.
    """
    if len(data) > MAX_BYTES:
        raise InputError(f"is larger than {MAX_BYTES // 2**20} MB; make it smaller")
    found = _sniff_media_type(data)
    if found is None:
        raise InputError(f"is none of the images faithtui knows; expected {_KINDS}")
    _refuse_wrong_media_type(found, media_type)
    return Image(hashlib.sha256(data).hexdigest(), found), data


def image_from_base64(text: str, media_type: str | None = None) -> tuple[Image, bytes]:
    """Take base64, or a `data:` URI that holds it, as an image.

    White space in the text is passed over. Both a media type in the URI and `media_type` must
    agree with the bytes.

    Raises:
        InputError: It is not base64, or not an image `image_from_bytes` takes.
    """
    in_uri = None
    if text[: len(_DATA_URI)].lower() == _DATA_URI:
        head, comma, text = text[len(_DATA_URI) :].partition(",")
        named, *parameters = [part.strip().lower() for part in head.split(";")]
        if not comma or "base64" not in parameters:
            raise InputError("is a `data:` URI without base64; expected `data:image/…;base64,…`")
        in_uri = named or None
    if len(text) > 2 * MAX_BYTES:  # base64 is a third longer than its bytes, and may be indented
        raise InputError(f"is larger than {MAX_BYTES // 2**20} MB; make it smaller")
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError("is not base64; expected the image's bytes as base64") from error
    image, data = image_from_bytes(data, media_type)
    _refuse_wrong_media_type(image.media_type, in_uri)
    return image, data


def image_from_address(url: str) -> Image:
    """Refer to an image by its address, which is never fetched.

    Raises:
        InputError: It is no `http` or `https` address, or holds a password, a key or a signature.
            Without them it would be another address, which may show nothing or something else,
            and with them it would lie in the store and go to whoever judges: so it is refused.
    """
    expected = "expected an `http` or `https` address, or a `data:` URI"
    if has_credential(url):
        raise InputError(
            "holds a password, a key or a signature, which are never stored; expected a public "
            "address, or the image itself as `path` or `base64`"
        )
    try:
        parts = urlsplit(url)
        digest = hashlib.sha256(url.encode()).hexdigest()
    except ValueError as error:
        raise InputError(f"is no address; {expected}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"is no address of the web; {expected}")
    if not url.isprintable() or " " in url or "\\" in url:
        raise InputError(f"holds spaces, backslashes or control characters; {expected}")
    if find_host_of_address(url) is None:
        raise InputError(f"has a host that is no name and no number; {expected}")
    return Image(digest, "", url)


@dataclass(slots=True)
class ImageCollector:
    """Collects the images of one conversation while it is read."""

    folder: Path | None
    """Where paths start and must end; None: there is none, and paths are refused."""
    data: dict[str, bytes] = field(default_factory=dict)
    """Bytes by SHA-256 of the images that have some."""
    _seen: set[str] = field(default_factory=set)
    _size: int = 0
    _by_path: dict[Path, Image] = field(default_factory=dict)

    def add_path(self, name: str, media_type: str | None = None) -> Image:
        """Read a file of the folder.

        Raises:
            InputError: It lies outside the folder, links followed, or is no image `read_image`
                takes.
        """
        if self.folder is None:
            raise InputError("names a file, and there is no folder to find it in; expected base64")
        try:
            folder = self.folder.resolve(strict=True)
            path = (folder / name).resolve()
        except RuntimeError as error:  # a link to itself; later Pythons find nothing at its end
            raise InputError("is not there") from error
        except (OSError, ValueError) as error:
            raise InputError(f"cannot be read: {_format_os_error(error)}") from error
        if not path.is_relative_to(folder):
            raise InputError("leads out of the folder of the file; expected a path inside it")
        image = self._by_path.get(path)
        if image is None:
            image = self._by_path[path] = self._keep_image_bytes_within_limit(*read_image(path))
        _refuse_wrong_media_type(image.media_type, media_type)
        return image

    def add_base64(self, text: str, media_type: str | None = None) -> Image:
        """Take base64 or a `data:` URI; see `image_from_base64`."""
        return self._keep_image_bytes_within_limit(*image_from_base64(text, media_type))

    def add_url(self, url: str, media_type: str | None = None) -> Image:
        """Take an address, or a `data:` URI as `image_from_base64` does."""
        if url[: len(_DATA_URI)].lower() == _DATA_URI:
            return self.add_base64(url, media_type)
        image = image_from_address(url)
        self._count_and_limit_images(image)
        return image

    def _keep_image_bytes_within_limit(self, image: Image, data: bytes) -> Image:
        self._count_and_limit_images(image)
        if image.sha256 not in self.data:
            self._size += len(data)
            problem = IMAGES.find_size_problem(self._size)
            if problem is not None:
                raise InputError(problem)
        self.data[image.sha256] = data
        return image

    def _count_and_limit_images(self, image: Image) -> None:
        self._seen.add(image.sha256)
        if len(self._seen) > MAX_IMAGES:
            raise InputError(f"is one too many; expected at most {MAX_IMAGES} in a conversation")


def _sniff_media_type(data: bytes) -> str | None:
    """Tell the media type from the first bytes; None: not an image we know."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def _refuse_wrong_media_type(found: str, declared: str | None) -> None:
    """Refuse an image that is said to be something else than it is."""
    folded = found if declared is None else declared.strip().lower()
    if _SAME_TYPE.get(folded, folded) != found:
        raise InputError(f"is {found} and said to be {folded[:40]!r}; expected the same")


def _format_os_error(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
