"""What only the command `qassay score` has: the scores as a matrix in CSV."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from qassay.cli.output import visible
from qassay.cli.studying import Own
from qassay.errors import UsageError


@dataclass(frozen=True)
class OwnOptions(Own):
    """The matrix as CSV, in place of the leaderboard."""

    as_csv: Annotated[
        bool,
        typer.Option(
            "--csv", help="The score matrix as CSV: one row per question, series or topic, one column per run."
        ),
    ] = False

    def check(self, chosen: Mapping[str, Any]) -> None:
        """Stop at results that are not a matrix of scores."""
        others = [f"--{name.replace('_', '-')}" for name in ("beta", "correct_with") if chosen[name] is not None]
        if self.as_csv and others:
            raise UsageError(f"--csv writes the scores of questions: use it without {others[0]}")

    def prints(self, result: Any) -> bool:
        """Write the matrix, where it is asked for; its notes go to stderr."""
        if self.as_csv:
            from qassay.formats.matrix import format_matrix

            matrix = result.scores.matrix
            for note in matrix.notes:
                print(visible(note), file=sys.stderr)
            print(format_matrix(matrix), end="")
        return self.as_csv
