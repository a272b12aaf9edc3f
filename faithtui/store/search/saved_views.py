"""Filters and orders of lists that somebody gave a name."""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select, update

from faithtui.domain.limits import FILTER, VIEW_NAME
from faithtui.store.database import Database
from faithtui.store.records import SavedView
from faithtui.store.schema.storable_text import replace_unstorable_characters
from faithtui.store.schema.tables import saved_view


class SavedViews:
    """Saved views of a store, for all its reviewers."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def list_views(self, screen: str) -> tuple[SavedView, ...]:
        """List the views of a screen by name."""
        with self._database.open_reader() as connection:
            rows = connection.execute(
                select(saved_view.c.name, saved_view.c.filter, saved_view.c.sort)
                .where(saved_view.c.screen == screen)
                .order_by(saved_view.c.name)
            )
            return tuple(SavedView(row.name, row.filter, row.sort) for row in rows)

    def save(self, screen: str, view: SavedView) -> None:
        """Keep a view; one with the same name is replaced.

        Args:
            screen: The list it belongs to.
            view: Its name has a visible character.

        Raises:
            InputError: Its name or its filter is too long.
        """
        VIEW_NAME.check_length(view.name)
        FILTER.check_length(view.filter)
        columns = {"filter": view.filter, "sort": view.sort, "created_at": self._clock()}
        name = replace_unstorable_characters(view.name)
        same = (saved_view.c.screen == screen, saved_view.c.name == name)

        def write(connection: Connection) -> None:
            if not connection.execute(update(saved_view).where(*same).values(columns)).rowcount:
                connection.execute(insert(saved_view).values(screen=screen, name=name, **columns))

        self._database.run_in_write_transaction(write, urgent=True)

    def delete(self, screen: str, name: str) -> None:
        """Take a view away; nothing when there is none with this name."""
        statement = delete(saved_view).where(
            saved_view.c.screen == screen, saved_view.c.name == replace_unstorable_characters(name)
        )
        self._database.run_in_write_transaction(
            lambda connection: connection.execute(statement), urgent=True
        )
