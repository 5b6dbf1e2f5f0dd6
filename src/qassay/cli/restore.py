"""`qassay restore`: put a backup in the place of the store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qassay.cli.inputs import FolderArgument, JsonOption


def command(
    folder: FolderArgument,
    backup: Annotated[Path, typer.Argument(metavar="FILE", help="A backup made by qassay backup.")],
    force: Annotated[bool, typer.Option("--force", help="Replace what a database server holds (PostgreSQL).")] = False,
    as_json: JsonOption = False,
) -> None:
    """Put a backup in the place of the store.

    The server must be stopped. What was there is kept beside it, as
    qassay.db.before-restore-1 and so on. Everybody signs in anew; tokens
    and open invitations of the backup end, too: some may have been revoked
    or used since. Make new ones.

    A backup may come from SQLite or PostgreSQL, from this release or an
    earlier one, and goes into whichever the evaluation uses.

    Examples

      qassay restore my-eval my-eval/backups/qassay-20261115T070000000Z.db
      qassay restore my-eval monday.db --force
    """
    from qassay.formats.folder import open_folder
    from qassay.store.backups import restore

    kept = restore(open_folder(folder), backup, force=force)
    if as_json:
        from qassay.cli.output import print_json

        print_json({"restored": str(backup), "kept": None if kept is None else str(kept)})
        return
    print(f"Restored {backup}.")
    if kept is not None:
        print(f"What was there is kept as {kept}.")
