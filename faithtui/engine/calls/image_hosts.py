"""Addresses of images sent to a judge: only to hosts that the user named, and never others.

Checked before a run is written down and each time it goes on, over all its conversations, so that
nothing is asked or paid first. Looked at again where an image is put into a question. Images that
are in the store go as their bytes and are not concerned; nor are judges that are part of this
program, which send nothing.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from faithtui.domain.conversation import Image
from faithtui.domain.ids import ConversationId
from faithtui.domain.judging.image_addresses import (
    find_address_problem,
    find_host_of_address,
    is_host_allowed,
)
from faithtui.errors import ImageHostNotAllowed, ImagesNotSupported
from faithtui.judges.providers.endpoints import is_in_process_judge
from faithtui.store.records import RunRow
from faithtui.store.store import Store

_NAMED = 5
"""Hosts that a message names."""


@dataclass(slots=True)
class ImageHosts:
    """Where images of some conversations lie that are known by their address alone."""

    public_hosts: Counter[str] = field(default_factory=Counter)
    """Conversations by host."""
    refusal_reasons: Counter[str] = field(default_factory=Counter)
    """Conversations by the reason why an address of theirs goes to nobody."""

    def format_never_allowed_warning(self) -> str | None:
        """Say which conversations cannot be judged whatever is allowed; None: all can."""
        if not self.refusal_reasons:
            return None
        return "; ".join(
            f"{_format_conversations(count)} an image whose address {reason}, which no judge "
            "is sent: "
            "judging fails there; import the image itself, as `path` or `base64`"
            for reason, count in self.refusal_reasons.most_common(_NAMED)
        )


def find_image_hosts(
    store: Store, conversations: Sequence[ConversationId], judge: str
) -> ImageHosts:
    """Say where images lie whose addresses a judge would be sent; nowhere for one of our own.

    Args:
        store: Where the conversations are.
        conversations: Those that are to be judged.
        judge: Reference of the judge.
    """
    found = ImageHosts()
    if is_in_process_judge(judge):
        return found
    for addresses in store.images.map_conversations_to_url_only_addresses(conversations).values():
        hosts, reasons = set(), set()
        for address in addresses:
            reason = find_address_problem(address)
            if reason is None:
                hosts.add(find_host_of_address(address) or "")
            else:
                reasons.add(reason)
        found.public_hosts.update(hosts)
        found.refusal_reasons.update(reasons)
    return found


def check_image_hosts(
    store: Store,
    conversations: Sequence[ConversationId],
    judge: str,
    allowed: Collection[str],
) -> None:
    """See that a judge may be sent the addresses of all images it would be shown.

    Args:
        store: Where the conversations are.
        conversations: Those that are to be judged.
        judge: Reference of the judge.
        allowed: Hosts that the user named; `*` means all public ones.

    Raises:
        ImageHostNotAllowed: There are images at other hosts.
    """
    counts = find_image_hosts(store, conversations, judge).public_hosts
    missing = {host: count for host, count in counts.items() if not is_host_allowed(host, allowed)}
    if missing:
        raise make_image_host_error(missing, judge)


def check_image_hosts_of_unfinished_run(
    store: Store, row: RunRow, allowed: Collection[str], *, with_unfinished: bool = False
) -> None:
    """Do the same for what is left of a run.

    Args:
        store: Where it is.
        row: The run.
        allowed: As in `check_image_hosts`.
        with_unfinished: Conversations that failed or lack a verdict are judged again too.

    Raises:
        ImageHostNotAllowed: As `check_image_hosts`.
    """
    if is_in_process_judge(row.spec.judge) or not store.images.has_url_only_images():
        return
    left = [each.conversation for each in store.runs.list_pending_items(row.id)]
    if with_unfinished:
        items = store.runs.read_item_rows(store.runs.list_failed_or_incomplete_items(row.id))
        left += [each.conversation for each in items]
    check_image_hosts(store, left, row.spec.judge, allowed)


def check_image_addresses(images: Iterable[Image], judge: str, allowed: Collection[str]) -> None:
    """Refuse images of which a judge may not be sent the address, before it is asked anything.

    Args:
        images: Those of which the bytes are not at hand.
        judge: Reference of the judge.
        allowed: As in `check_image_hosts`.

    Raises:
        ImageHostNotAllowed, ImagesNotSupported: As `check_image_address`.
    """
    if not is_in_process_judge(judge):
        for image in images:
            if image.url is not None:
                check_image_address(image, judge, allowed)


def list_address_only_images(images: Iterable[Image]) -> list[Image]:
    """Choose the images of a stored conversation that are an address alone."""
    return [image for image in images if not image.media_type]


def check_image_address(image: Image, judge: str, allowed: Collection[str]) -> None:
    """Refuse to send the address of an image to a judge, unless it may be.

    Raises:
        ImageHostNotAllowed: The user did not name its host.
        ImagesNotSupported: It goes to nobody.
    """
    address = image.url or ""
    reason = find_address_problem(address)
    if reason is not None:
        raise ImagesNotSupported(
            f"the address of {image.mark} {reason}, and no judge is sent it; import the image "
            "itself, as `path` or `base64`"
        )
    host = find_host_of_address(address) or ""
    if not is_host_allowed(host, allowed):
        raise make_image_host_error({host: 1}, judge)


def make_image_host_error(missing: dict[str, int], judge: str) -> ImageHostNotAllowed:
    """Make the error that counts conversations by host and names the way out."""
    ordered = sorted(missing, key=lambda host: (-missing[host], host))
    named_hosts = ordered[:_NAMED]
    where = ", ".join(
        f"{_format_conversations(missing[host])} images at {host}" for host in named_hosts
    )
    if len(ordered) > len(named_hosts):
        where += f", and more at {len(ordered) - len(named_hosts)} other hosts"
    options = " ".join(f"--allow-image-host {host}" for host in named_hosts)
    listed = ", ".join(f'"{host}"' for host in named_hosts)
    return ImageHostNotAllowed(
        f"{where}; {judge} would be sent the addresses and its provider would fetch them. Allow "
        f"it with {options}, or with image_hosts = [{listed}], which is a setting and an argument "
        "of `measure`; or import the images themselves, as `path` or `base64`"
    )


def _format_conversations(count: int) -> str:
    return f"{count} conversation has" if count == 1 else f"{count} conversations have"
