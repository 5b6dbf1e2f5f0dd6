"""Links that lead out of an evaluation: nothing is read and nothing is written through them.

The folder may come from a stranger, and the server reads more than its visitors may. A link that stays in the folder is
followed, and the folder itself may be a link.
"""

from __future__ import annotations

import os
from io import BufferedReader
from pathlib import Path

from qassay.errors import InputError, Problem

# What makes a folder an evaluation.
CONFIGURATION = "qassay.toml"


def stays_inside(path: Path, folder: Path) -> bool:
    """Whether a path in a folder leads out of it by no link."""
    return path.resolve().is_relative_to(folder.resolve())


def refuse_way_out(path: Path) -> Path:
    """The path to read or write at; an error where a link leads out of an evaluation that the path is in."""
    _real_path(path)
    return path


def open_inside(path: Path) -> BufferedReader:
    """A file opened for reading; an error where a link leads out of an evaluation that the file is in.

    The file that was checked is opened: a link that takes its place meanwhile is not followed.
    """
    real = _real_path(path)
    if real is None:
        return path.open("rb")
    return os.fdopen(os.open(real, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)), "rb")


def _real_path(path: Path) -> Path | None:
    """Where a path in an evaluation leads to; None where it is in none.

    An evaluation in another one, or one that a link leads to, stays in both: every folder above counts.
    """
    place = _spelled_out(path)
    homes = [folder for folder in place.parents if (folder / CONFIGURATION).is_file()]
    if not homes:
        return None
    real = path.resolve()
    for home in homes:
        if not real.is_relative_to(home.resolve()):
            way = (part for part in (*reversed(place.parents), place) if part.is_relative_to(home))
            # The link alone is named, and nothing that is behind it.
            link = next((part for part in way if not stays_inside(part, home)), place)
            message = (
                "leads out of the evaluation by a link, and nothing is read or written there. Put what it leads to in "
                "its place"
            )
            raise InputError(Problem("configuration", message, str(link.relative_to(home))))
    return real


def _spelled_out(path: Path) -> Path:
    """The path from the root on, without `..`; no link is followed."""
    return Path(os.path.normpath(path.absolute()))
