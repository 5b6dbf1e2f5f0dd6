"""Runs the migrations on the connection that `qassay.store.engine` hands over, in its transaction."""

from __future__ import annotations

from alembic import context

from qassay.store.schema import metadata
from qassay.store.versions import VERSION_TABLE

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
