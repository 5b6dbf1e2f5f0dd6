"""Assignments count decisions where they counted items: a list of ten elements takes ten.

The tables and triggers stay. Only the kinds of judgment know which decisions an item takes, so that the counts are made
by `qassay.store.engine.migrate`, in the same transaction. The version keeps earlier releases out, which count items.
"""

from __future__ import annotations

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing: see above."""
