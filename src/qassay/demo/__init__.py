"""The built-in evaluations, written for this project: see the README beside the files of each."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from qassay.errors import InputError, Problem, unknown
from qassay.formats import files

Demo: TypeAlias = Literal["series", "entailment", "rag"]
DEMOS: tuple[Demo, ...] = get_args(Demo)


def demo_folder(name: Demo = "series") -> Path:
    """The folder of a built-in evaluation (read-only: copy it to change it).

    `series` holds question series with ten runs and three assessors, `entailment` text-hypothesis pairs with
    justifications, `rag` long answers with citations.
    """
    if name not in DEMOS:
        raise unknown("built-in evaluation", name, DEMOS)
    return Path(str(resources.files(__name__) / name))


def copy_demo(to: Path, which: Demo = "series") -> list[str]:
    """Copy a built-in evaluation into a new or empty folder; the names of its files."""
    if to.exists() and not to.is_dir():
        raise InputError(Problem("configuration", "is a file; name a new folder", str(to)))
    if to.is_dir() and any(to.iterdir()):
        raise InputError(Problem("configuration", "is not empty; name a new folder", str(to)))
    source = demo_folder(which)
    names = sorted(path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file())
    files.write_all({to / name: (source / name).read_bytes() for name in names})
    return names
