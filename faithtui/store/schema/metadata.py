"""What all tables share: the registry they belong to and the names of their constraints."""

from sqlalchemy import MetaData, Table
from sqlalchemy.orm import registry
from sqlmodel import SQLModel

# A registry of our own: another program's SQLModel tables in the same process stay apart.
# The convention names every constraint, so that later revisions can refer to it.
_registry = registry(
    metadata=MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
)


class StoreTable(SQLModel, registry=_registry):
    """Base of all tables."""


METADATA: MetaData = _registry.metadata


def get_table(model: type[StoreTable]) -> Table:
    """Give the table of a model."""
    return METADATA.tables[str(model.__tablename__)]
