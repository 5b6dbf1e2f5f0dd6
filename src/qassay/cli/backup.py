"""`qassay backup`: copy the store of an evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qassay.cli.inputs import FolderArgument, JsonOption


def command(
    folder: FolderArgument,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="The file to write; else one in FOLDER/backups.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Copy the store of an evaluation safely.

    The copy holds one moment of the store and is checked before it gets
    its name; a server may be running and people may be judging. It is one
    SQLite file, also where the store is in PostgreSQL. It holds accounts
    and judgments: keep it where only you can read it.

    Documents, qassay.toml and patterns.txt are files of the folder and are
    not in it.

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
    store = open_store(opened)
    try:
        back_up(store, target)
    finally:
        store.close()
    size = target.stat().st_size
    if as_json:
        from qassay.cli.output import print_json

        print_json({"to": str(target), "bytes": size})
        return
    print(f"Wrote {target} ({size:,} bytes), checked.")
