"""The database of a served evaluation: schema, migrations, append-only judgments.

An evaluation without a store never loads more of this package than this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qassay.formats.folder import Configuration, Folder, may_have_store

if TYPE_CHECKING:
    from qassay.store.engine import Store


def as_stored(folder: Folder, configuration: Configuration, *, store: Store | None = None) -> Folder:
    """The folder with its contents as its store holds them; the folder as it is where it has none."""
    if store is None and not may_have_store(folder, configuration):
        return folder
    from qassay.store.snapshot import stored_folder

    return stored_folder(folder, configuration, store)
