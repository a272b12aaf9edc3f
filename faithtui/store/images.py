"""Images of stored conversations, each kept once, by hash."""

from collections.abc import Sequence

from sqlalchemy import func, select

from faithtui.domain.conversation import Image
from faithtui.domain.ids import ConversationId
from faithtui.errors import StoreError
from faithtui.store.database import Database
from faithtui.store.records import StoredImage
from faithtui.store.schema.statements import split_into_chunks
from faithtui.store.schema.tables import image, turn, turn_document

_ADDRESS_ONLY = select(image.c.sha256, image.c.url).where(
    image.c.data.is_(None), image.c.url.is_not(None)
)
"""Images that are known by their address alone."""


class Images:
    """Images of a store's turns and documents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, sha256: str) -> StoredImage:
        """Read an image of a turn or of a document.

        Args:
            sha256: As the conversation's `Image` has it.

        Raises:
            StoreError: There is none.
        """
        with self._database.open_reader() as connection:
            row = connection.execute(
                select(image.c.media_type, image.c.url, image.c.data).where(
                    image.c.sha256 == sha256
                )
            ).one_or_none()
        if row is None:
            raise StoreError(
                f"there is no image {sha256[:12]} in {self._database.path}; import the "
                "conversation that has it again"
            )
        return StoredImage(Image(sha256, row.media_type, row.url), row.data)

    def has_url_only_images(self) -> bool:
        """Say whether any image is known by its address alone."""
        with self._database.open_reader() as connection:
            return connection.execute(_ADDRESS_ONLY.limit(1)).first() is not None

    def map_conversations_to_url_only_addresses(
        self, conversations: Sequence[ConversationId]
    ) -> dict[ConversationId, frozenset[str]]:
        """Give the addresses of images that are known by them alone.

        Args:
            conversations: Where to look.

        Returns:
            By conversation; those that have none are left out.
        """
        found: dict[ConversationId, set[str]] = {}
        with self._database.open_reader() as connection:
            urls = {row.sha256: row.url for row in connection.execute(_ADDRESS_ONLY)}
            if not urls:
                return {}
            for some in split_into_chunks(conversations):
                for place in (turn, turn_document):
                    for row in connection.execute(
                        select(place.c.conversation_id, place.c.images).where(
                            place.c.conversation_id.in_(some),
                            func.json_array_length(place.c.images) > 0,
                        )
                    ):
                        here = [
                            urls[each["sha256"]] for each in row.images if each["sha256"] in urls
                        ]
                        if here:
                            number = ConversationId(row.conversation_id)
                            found.setdefault(number, set()).update(here)
        return {number: frozenset(addresses) for number, addresses in found.items()}
