"""Images in the form providers take them: bytes as Base64 text, or the address they fetch."""

import base64

from faithtui.domain.judging.image_addresses import find_address_problem
from faithtui.errors import JudgeRequestRejected
from faithtui.judges.base import ImageData
from faithtui.judges.reply_parser import remove_invalid_unicode


def encode_as_base64(image: ImageData) -> str | None:
    """Write its bytes as Base64; None when only its address is known."""
    return None if image.data is None else base64.b64encode(image.data).decode("ascii")


def get_image_address(image: ImageData) -> str:
    """Give the address the provider is to fetch it from.

    Raises:
        JudgeRequestRejected: There is none, or it holds a credential, or leads into a private
            network: then nobody is handed it, whoever put it into the question.
    """
    if not image.url:
        raise JudgeRequestRejected(
            f"{image.mark} has neither bytes nor an address; import it again"
        )
    reason = find_address_problem(image.url)
    if reason is not None:
        raise JudgeRequestRejected(
            f"{image.mark} has an address that {reason}, and nobody is sent it; import the image "
            "itself, as `path` or `base64`"
        )
    return remove_invalid_unicode(image.url)
