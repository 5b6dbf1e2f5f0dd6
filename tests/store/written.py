"""A store, exported as a folder of its own."""

from __future__ import annotations

from pathlib import Path

from qassay.formats.exporting import make_export, write_export
from qassay.formats.folder import Folder
from qassay.store.engine import Store
from qassay.store.folder.snapshot import snapshot


def write_out(store: Store, target: Path, folder: Folder) -> None:
    write_export(make_export(snapshot(store, folder)), target, folder=folder)
