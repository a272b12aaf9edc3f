"""Images in the form providers take them: bytes as Base64 text, or the address they fetch."""

import base64

from faithtui.errors import JudgeRequestRejected
from faithtui.judges.base import ImageData
from faithtui.judges.reading import clean_text


def base64_of(image: ImageData) -> str | None:
    """Write its bytes as Base64; None when only its address is known."""
    return None if image.data is None else base64.b64encode(image.data).decode("ascii")


def address_of(image: ImageData) -> str:
    """Give the address the provider is to fetch it from.

    Raises:
        JudgeRequestRejected: There is none.
    """
    if not image.url:
        raise JudgeRequestRejected(
            f"{image.mark} has neither bytes nor an address; import it again"
        )
    return clean_text(image.url)
