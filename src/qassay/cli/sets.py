"""How commands name judgment sets: `--sets first,second`, or the option repeated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, TypeAlias

import typer

from qassay.errors import UsageError, unknown

SetsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--sets", metavar="A,B,...", help="Judgment sets to compare, separated by commas."),
]


def named_sets(given: Sequence[str] | None, known: Iterable[str]) -> list[str] | None:
    """The sets that the option names, in its order, each once; None where it was not given."""
    if not given:
        return None
    names = list(dict.fromkeys(part.strip() for text in given for part in text.split(",") if part.strip()))
    everything = list(known)
    for name in names:
        if name not in everything:
            raise unknown("judgment set", name, everything)
    if len(names) < 2:
        raise UsageError("--sets takes two judgment sets or more, such as --sets first,second")
    return names
