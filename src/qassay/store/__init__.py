"""The database of a served evaluation: append-only judgments, with their questions, runs, pool and people.

Functions take a Connection, so that whatever belongs together is one transaction; `Store.read()` and `Store.write()`
give it. An evaluation without a store never loads more of this package than this file.

    schema           the tables                             versions       brought up to date (migrations/)
    engine           opened: who reads, who writes          settings       settings, record of actions, fingerprint
    backups          copied and put back                    acts           who does what, when

    folder/          files into the store (importing), and the store as the contents of its folder (snapshot)
    people/          accounts, passwords, sessions
    development/     questions that are being written, and their publication
    pool/            runs, and the items made of them (what one screen shows)
    assignment/      who judges what, and how far they are
    judging/         what they said: appended, never overwritten; nugget lists, equivalence classes, history
    adjudication/    what all agree on (settling), where they do not, and what a person ruled
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from qassay.errors import InputError
from qassay.extras import installed, require
from qassay.formats.folder import (
    ANSWERS,
    INFORMATION,
    Configuration,
    Folder,
    may_have_store,
    open_folder,
    read_configuration,
)
from qassay.formats.parts import Contents, part_of

if TYPE_CHECKING:
    from qassay.errors import Problem
    from qassay.formats.importing import ImportPlan
    from qassay.store.engine import Store

# The parts of an evaluation that a store takes.
PATTERNS = ("questions.*", ANSWERS, INFORMATION, "runs/*", "judgments/*", "nuggets/*")


def as_stored(folder: Folder, configuration: Configuration, *, store: Store | None = None) -> Folder:
    """The folder with the contents of its store; as it is where there is no store, or nothing in it yet."""
    return _with_store(folder, configuration, store)[0]


def writable(path: Path) -> tuple[Folder, Store | None]:
    """The folder and, where the evaluation has one, its store: then the folder's contents are the store's."""
    folder = open_folder(path)
    return _with_store(folder, read_configuration(folder), writes=True)


def _with_store(
    folder: Folder, configuration: Configuration, store: Store | None = None, *, writes: bool = False
) -> tuple[Folder, Store | None]:
    """The folder with the contents of its store, which is left without a connection unless it was given."""
    if store is None and not may_have_store(folder, configuration):
        return folder, None
    require("serve", f"{folder.name()} has a store, and {'changing' if writes else 'reading'} it")
    from qassay.store.folder.snapshot import existing_store, is_new, snapshot

    opened = store or existing_store(folder, configuration)
    if opened is None:
        return folder, None
    try:
        if is_new(opened):
            if not writes:
                return folder, opened
            from qassay.store.folder.importing import import_folder

            import_folder(opened, folder)  # the files of the folder come first, or the store would hide them
        return snapshot(opened, folder, close=store is None), opened
    finally:
        if store is None:
            opened.close()


def import_plan(plan: ImportPlan, store: Store | None, *, own: bool = False) -> None:
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


def _refuse_what_serve_refuses(plan: ImportPlan) -> None:
    """Stop at an import after which `serve` could not bring the files into a store, and could before."""
    folder = plan.folder
    parts = {part.name: part for pattern in PATTERNS for part in folder.parts(pattern)}
    changes = plan.changes()
    parts = {name: part for name, part in parts.items() if name not in changes}
    parts |= {name: part_of(name, data) for name, data in changes.items() if data is not None}
    if faults := _faults_for_store(replace(folder, stored=Contents(parts)), plan):
        before = set(_faults_for_store(folder, plan))
        if new := [fault for fault in faults if fault not in before]:
            raise InputError(new)


def _faults_for_store(folder: Folder, plan: ImportPlan) -> list[Problem]:
    """The reason why the files of a folder cannot go into a store."""
    from qassay.store.folder.importing import read_folder

    try:
        read_folder(folder, plan.configuration, {}, {})
    except InputError as error:
        return list(error.problems)
    return []
