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
    from qassay.store.folder.intake import take_in
    from qassay.store.folder.snapshot import existing_store, is_new, snapshot

    store = existing_store(folder, configuration)
    if store is None:
        return folder, None
    try:
        if is_new(store):  # what the folder has comes first, or the store would hide it
            take_in(store, folder)
        return snapshot(store, folder), store
    finally:
        store.close()  # no connection waits while files are read; writing opens one again


def carry_out(plan: Plan, store: Store | None) -> None:
    """Write what an import found, into the store where there is one."""
    if store is None:
        plan.carry_out()
        return
    from qassay.store.folder import intake

    try:
        intake.carry_out(plan, store)
    finally:
        store.close()
