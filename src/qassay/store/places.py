"""Where a command writes: the files of a folder, or the store of an evaluation that has one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from qassay.extras import installed, require

if TYPE_CHECKING:
    from qassay.errors import Problem
    from qassay.formats.folder import Folder
    from qassay.formats.importing import Plan
    from qassay.store.engine import Store

# Folders of an evaluation whose files a store imports.
PARTS = ("runs", "judgments", "nuggets")


def writable(path: Path) -> tuple[Folder, Store | None]:
    """The folder and, where the evaluation has one, its store: then the folder's contents are the store's."""
    from qassay.formats.folder import may_have_store, open_folder, read_configuration

    folder = open_folder(path)
    configuration = read_configuration(folder)
    if not may_have_store(folder, configuration):
        return folder, None
    require("serve", f"{folder.name()} has a store, and changing it")
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


def import_plan(plan: Plan, store: Store | None, *, own: bool = False) -> None:
    """Carry out an import: into the store where there is one, else into the files of the folder.

    Judgments of Qassay's `own` assessors are checked already; anything else must be what `serve` takes, too.
    """
    if store is None:
        if installed("serve") and not own:
            _refuse_what_serve_refuses(plan)
        plan.write_files()
        return
    from qassay.store.folder import importing

    try:
        importing.import_plan(store, plan)
    finally:
        store.close()


def _refuse_what_serve_refuses(plan: Plan) -> None:
    """Stop at an import after which `serve` could not bring the files into a store, and could before.

    The files as they would be are read the way `serve` reads them; files that do not change are links.
    """
    from qassay.errors import InputError
    from qassay.formats.files import TemporaryFolder
    from qassay.formats.folder import Folder
    from qassay.formats.links import CONFIGURATION, refuse_way_out

    contents = plan.folder.contents
    trial = TemporaryFolder("qassay-import-")
    for path in [*contents.glob("*.*"), *(path for name in PARTS for path in (contents / name).glob("*"))]:
        if path.is_file() and path.name != CONFIGURATION:  # which is read in the folder itself
            refuse_way_out(path)
            (trial.path / path.relative_to(contents)).parent.mkdir(exist_ok=True)
            (trial.path / path.relative_to(contents)).symlink_to(path.resolve())

    def moved(path: Path) -> Path:
        return trial.path / path.relative_to(contents) if path.is_relative_to(contents) else path

    folder = Folder(plan.folder.path, trial)
    replace(
        plan,
        folder=folder,
        appended={moved(path): lines for path, lines in plan.appended.items()},
        replaced={moved(path): text for path, text in plan.replaced.items() if path != plan.folder.configuration},
        removed={moved(path) for path in plan.removed},
    ).write_files()
    if faults := _faults_for_store(folder, plan):
        before = set(_faults_for_store(plan.folder, plan))
        if new := [fault for fault in faults if fault not in before]:
            raise InputError(new)


def _faults_for_store(folder: Folder, plan: Plan) -> list[Problem]:
    """The reason why the files of a folder cannot go into a store."""
    from qassay.errors import InputError
    from qassay.store.folder.importing import read_folder

    try:
        read_folder(folder, plan.configuration, {}, {})
    except InputError as error:
        return list(error.problems)
    return []
