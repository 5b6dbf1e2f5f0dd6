"""Runs the migrations on the connection that `qassay.store.engine` hands over, in its transaction."""

from __future__ import annotations

from alembic import context

from qassay.store.engine import VERSION_TABLE
from qassay.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    compare_type=True,
    compare_server_default=True,
    # SQLite alters a table by making it again.
    render_as_batch=True,
)
context.run_migrations()
