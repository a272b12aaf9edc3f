"""What Alembic runs to get at the database; see `upgrade`.

Developers make a new revision from the difference between tables.py and a fresh store; the steps
stand in docs/contributing.md.
"""

from alembic import context

from faithtui.store.schema import judge_tables, tables  # noqa: F401  # they fill METADATA
from faithtui.store.schema.metadata import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
)
context.run_migrations()
