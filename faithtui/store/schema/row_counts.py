"""How much there is in a store: rows of each table, and nothing of what is in them."""

from sqlalchemy import func, select

from faithtui.store.database import Database
from faithtui.store.schema.metadata import METADATA


def count_rows(database: Database) -> dict[str, int]:
    """Count the rows of every table, by name.

    Raises:
        StoreError: The store cannot be read.
    """
    with database.open_reader() as connection:
        return {
            name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in sorted(METADATA.tables.items())
        }
