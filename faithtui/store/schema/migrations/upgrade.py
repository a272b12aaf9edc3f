"""Runs the revisions a file is missing. The only module of the program that imports Alembic."""

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Bring the tables to a revision, inside the caller's transaction.

    Args:
        connection: In a transaction; rolling it back undoes everything.
        revision: Four digits, or `head` for the newest.
    """
    config = Config()
    config.set_main_option("script_location", "faithtui.store.schema:migrations")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
