"""The database of a served evaluation: append-only judgments, with their questions, runs, pool and people.

Functions take a Connection, so that whatever belongs together is one transaction; `Store.read()` and `Store.write()`
give it. An evaluation without a store never loads more of this package than this file.

    schema           the tables                             versions       brought up to date (migrations/)
    engine           opened: who reads, who writes          settings       settings, record of actions, fingerprint
    backups          copied and put back                    acts           who does what, when

    folder/          files into the store (importing), and the store as a folder, to be read (snapshot)
    people/          accounts, passwords, sessions
    development/     questions that are being written, and their publication
    pool/            runs, and the items made of them (what one screen shows)
    assignment/      who judges what, and how far they are
    judging/         what they said: appended, never overwritten; nugget lists, equivalence classes, history
    adjudication/    what all agree on (settling), where they do not, and what a person ruled
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qassay.extras import require
from qassay.formats.folder import Configuration, Folder, may_have_store

if TYPE_CHECKING:
    from qassay.store.engine import Store


def as_stored(folder: Folder, configuration: Configuration, *, store: Store | None = None) -> Folder:
    """The folder with the contents of its store; as it is where there is no store, or nothing in it yet."""
    if store is None and not may_have_store(folder, configuration):
        return folder
    require("serve", f"{folder.name()} has a store, and reading it")
    from qassay.store.folder.snapshot import existing_store, is_new, snapshot

    opened = store or existing_store(folder, configuration)
    if opened is None:
        return folder
    try:
        return folder if is_new(opened) else snapshot(opened, folder)
    finally:
        if store is None:
            opened.close()
