"""Where a command writes: the files of a folder, or the store of an evaluation that has one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qassay.formats.folder import Folder
    from qassay.formats.importing import Plan
    from qassay.store.engine import Store


def writable(path: Path) -> tuple[Folder, Store | None]:
    """The folder and, where the evaluation has one, its store: then the folder's contents are the store's."""
    from qassay.formats.folder import may_have_store, open_folder, read_configuration

    folder = open_folder(path)
    configuration = read_configuration(folder)
    if not may_have_store(folder, configuration):
        return folder, None
    from qassay.store.folder.importing import import_folder
    from qassay.store.folder.snapshot import existing_store, is_new, snapshot

    store = existing_store(folder, configuration)
    if store is None:
        return folder, None
    try:
        if is_new(store):  # the files of the folder come first, or the store would hide them
            import_folder(store, folder)
        return snapshot(store, folder), store
    finally:
        store.close()  # no connection waits while files are read; writing opens one again


def import_plan(plan: Plan, store: Store | None) -> None:
    """Carry out an import: into the store where there is one, else into the files of the folder."""
    if store is None:
        plan.write_files()
        return
    from qassay.store.folder import importing

    try:
        importing.import_plan(store, plan)
    finally:
        store.close()
