"""Logs of other evaluation tools, read as scores: one file per tool.

A module here is one tool. It has

    NAME                      what people call it: "Inspect"
    VERSIONS                  the released versions whose files were tried
    looks_like(path, head)    whether a file with this name and these first bytes is one of its logs
    read(path, content)       its scores, as `ScoreRows`; an InputError with place and remedy where it is broken

A new tool is a new module and nothing else: readers are found by listing this package, and, for plug-ins, the entry
points of the group `qassay.formats`.
"""

from __future__ import annotations

from pathlib import Path

from qassay.formats.score_rows import ScoreRows


def read_log(path: Path) -> ScoreRows | None:
    """The scores of a tool's log; None where the file is not the log of a known tool."""
    return None
