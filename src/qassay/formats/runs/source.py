"""What goes into a parser of runs, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from qassay.errors import Problem


@dataclass(frozen=True, slots=True)
class Source:
    """One file of a run: its number among the files, its name for messages, its stem, its form and its bytes."""

    index: int
    name: str
    stem: str
    form: str
    data: bytes


@dataclass(frozen=True, eq=False, slots=True)
class Parsed:
    """Rows of a batch of files: `run` is the place of the file in the batch, `asked` the question as written."""

    rows: pl.DataFrame
    problems: tuple[Problem, ...]
    objects: bool = False
