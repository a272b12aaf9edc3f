"""What all tables share: the collection they belong to and the names of their constraints."""

from sqlalchemy import JSON, MetaData

# The convention names every constraint, so that later revisions can refer to it.
METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

JSON_OR_NULL = JSON(none_as_null=True)
