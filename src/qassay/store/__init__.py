"""The database of a served evaluation: append-only judgments, and what is needed to make them.

Functions take a Connection, so that whatever belongs together is one transaction; `Store.read()` and `Store.write()`
give it. An evaluation without a store never loads more of this package than this file.

    the database     schema       the tables                     engine       opened, one writer at a time
                     migrating    brought up to date             backups      copied and put back
                     settings     settings, record of actions    fingerprint  whether anything has changed
    the folder       intake       files into the store           snapshot     the store as a folder, to be read
                     incoming     files read and checked         differences  files that say something else
    people           accounts, passwords, sessions
    what is asked    questions, answers, drafts, publishing      uploads      runs
    what is judged   items        what one screen shows          parts        what takes a verdict, and its row
                     pooling      items from runs                things       names of what is judged
    by whom          assignments, spreading, progress, counting
    what they said   judgments    appended, never overwritten    judging      one decision, in one transaction
                     appending, looking                          history      from what to what
                     nuggets, nugget_changes, taking_back        classes      equivalent answers of lists
    adjudication     settling     what all agree on              disagreements, adopting, comparing
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
