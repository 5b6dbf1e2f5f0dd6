"""`qassay backup` and `qassay restore`: copy the store of an evaluation, and put a copy in its place."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from qassay.cli.inputs import FolderArgument, JsonOption
from qassay.cli.output import print_json


def command(
    folder: FolderArgument,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="The file to write; else one in FOLDER/backups.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Copy the store of an evaluation safely.

    The store is the database of a served evaluation. You can make a backup
    while the server is running and people judge: it contains the store as
    it was at one moment, and is checked before it gets its name. It is one
    SQLite file, also if the store is in PostgreSQL. It contains accounts
    and judgments: keep it where only you can read it.

    It does not contain the files of the folder: documents, qassay.toml,
    patterns.txt. Copy these too.

    Examples

      qassay backup my-eval
      qassay backup my-eval --to monday.db
      qassay restore my-eval monday.db
    """
    from qassay.formats.folder import open_folder
    from qassay.store.backups import back_up, default_place
    from qassay.store.engine import open_store

    opened = open_folder(folder)
    target = default_place(opened) if to is None else to
    with closing(open_store(opened)) as store:
        back_up(store, target)
    size = target.stat().st_size
    if as_json:
        print_json({"to": str(target), "bytes": size})
        return
    print(f"Wrote {target} ({size:,} bytes), checked.")


def restore(
    folder: FolderArgument,
    backup: Annotated[Path, typer.Argument(metavar="FILE", help="A backup made by qassay backup.")],
    force: Annotated[bool, typer.Option("--force", help="Replace an evaluation on a database server.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Replace the store by a backup.

    Stop the server first. The present store is kept in the same folder, as
    qassay.db.before-restore-1 and so on. Everybody has to sign in again.
    Tokens and open invitations of the backup no longer work, because some
    may have been revoked or used since: make new ones.

    A backup may come from SQLite or PostgreSQL, from this release or an
    earlier one, and goes into whichever the evaluation uses.

    Examples

      qassay restore my-eval my-eval/backups/qassay-20261115T070000000Z.db
      qassay restore my-eval monday.db --force
    """
    from qassay.formats.folder import open_folder
    from qassay.store import backups

    old_file = backups.restore(open_folder(folder), backup, force=force)
    if as_json:
        print_json({"restored": str(backup), "kept": None if old_file is None else str(old_file)})
        return
    print(f"Restored {backup}.")
    if old_file is not None:
        print(f"What was there is kept as {old_file}.")
