"""Lines that stand for images, numbered through the conversation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from faithtui.domain.conversation import Image
from faithtui.store.records import TurnView
from faithtui.tui.theme.lines import Line, Piece, escape_line, wrap


@dataclass(frozen=True, slots=True)
class NumberedImage:
    """An image of a conversation, with the number it has on screen."""

    number: int
    """From 1, in the order of the turns; the same image has one number."""
    image: Image
    places: tuple[str, ...]
    """Where it stands: `turn 3`, `P2`."""


def number_images(turns: Sequence[TurnView]) -> tuple[NumberedImage, ...]:
    """Number the images of a conversation: of each turn, then of its passages."""
    places: dict[Image, list[str]] = {}
    for turn in turns:
        for image in turn.images:
            places.setdefault(image, []).append(f"turn {turn.position + 1}")
        for document in turn.documents or ():
            for image in document.images:
                where = places.setdefault(image, [])
                if f"P{document.number}" not in where:
                    where.append(f"P{document.number}")
    return tuple(
        NumberedImage(number, image, tuple(where))
        for number, (image, where) in enumerate(places.items(), start=1)
    )


def map_images_to_numbers(turns: Sequence[TurnView]) -> Mapping[Image, int]:
    """Give the number of each image."""
    return {each.image: each.number for each in number_images(turns)}


def image_placeholder_pieces(number: int, image: Image) -> list[Piece]:
    """Stand for an image: its kind, or the address where that is all there is."""
    what = image.url if not image.media_type and image.url is not None else image.media_type
    return [
        Piece(f"[image {number}: ", "human"),
        escape_line(what or "of an unknown kind", "human", limit=300),
        Piece(", opens outside]", "human"),
    ]


def image_placeholder_lines(
    images: Sequence[Image], numbers: Mapping[Image, int], width: int, first: Sequence[Piece]
) -> list[Line]:
    """Stand for images, one line each or more."""
    return [
        each
        for image in images
        for each in wrap(image_placeholder_pieces(numbers.get(image, 0), image), width, first=first)
    ]


def image_list_lines(images: Sequence[NumberedImage], width: int) -> list[Line]:
    """List images to choose from."""
    lines: list[Line] = []
    for row, each in enumerate(images):
        image = each.image
        kind = [escape_line(image.media_type, limit=60)] if image.media_type else []
        address = [escape_line(image.url, "quiet", limit=300)] if image.url is not None else []
        between = [Piece("  ")] if kind and address else []
        lines += wrap(
            [*kind, *between, *address, Piece(f"  {', '.join(each.places)}", "quiet")],
            width - 1,
            first=[Piece(f" image {each.number}  ", "strong")],
            row=row,
        )
    return lines
