"""`qassay compare`: is one run better than another, and which of many differ?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from qassay.cli.inputs import JsonOption, ScoringOptions, SeedOption, SourceArgument, takes_scoring
from qassay.cli.output import print_json, print_tables, progress, visible
from qassay.errors import UsageError

if TYPE_CHECKING:
    from qassay.meta.significance import PairComparison

# Exit statuses of a gate.
GATE_STATUS = {"ALLOW": 0, "REJECT": 3, "INCONCLUSIVE": 4}


@takes_scoring
def command(
    source: SourceArgument,
    a: Annotated[str | None, typer.Argument(metavar="A", help="The run in question.")] = None,
    b: Annotated[str | None, typer.Argument(metavar="B", help="The run it is compared with.")] = None,
    method: Annotated[
        Literal["randomised-tukey", "tukey", "holm", "bh"] | None,
        typer.Option("--method", help="Correction for all pairs (default: randomised-tukey)."),
    ] = None,
    permutations: Annotated[
        int | None,
        typer.Option(
            "--permutations", min=1, metavar="N", help="Random permutations (default: enough for the method)."
        ),
    ] = None,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of the tests; intervals hold 1 - alpha.")] = 0.05,
    gate: Annotated[bool, typer.Option("--gate", help="Exit with 0 (ALLOW), 3 (REJECT) or 4 (INCONCLUSIVE).")] = False,
    margin: Annotated[float, typer.Option("--margin", metavar="M", help="How much worse A may be, for --gate.")] = 0.0,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", min=0, metavar="N", help="Show N units that make the difference of A and B (default: 10)."
        ),
    ] = None,
    *,
    scoring: ScoringOptions,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Is one run better than another?

    With two runs: their difference with its interval, the paired
    randomisation test and the paired t test, the error rate of such a
    comparison at this size, and the units that make the difference.
    Without: all pairs of runs, corrected for their number, and the groups
    of runs that cannot be told apart.

    --gate turns the answer into an exit status: ALLOW (0) where the
    interval of A - B lies above -M, REJECT (3) where it lies below,
    INCONCLUSIVE (4) else.

    Examples

      qassay compare my-eval new old
      qassay compare scores.csv new old --gate --margin 0.01
      qassay compare scores.csv
      qassay compare scores.csv --method holm --json
      qassay compare factoids.csv --series-from '^([^.]+)'
    """
    _check(a, b, method, gate=gate, margin=margin, top=top)
    matrix = scoring.matrix(source)
    if a is None or b is None:
        from qassay.analysis import compare_all

        with progress("permutations") as update:
            pairs = compare_all(
                matrix,
                method=method or "randomised-tukey",
                alpha=alpha,
                permutations=permutations,
                seed=seed,
                progress=update,
            )
        print_json(pairs.as_json()) if as_json else print_tables(pairs.tables())
        return
    from qassay.analysis import compare

    shown = 10 if top is None else top
    with progress("trials") as update:  # the error rate takes a while
        result = compare(matrix, a, b, alpha=alpha, permutations=permutations, seed=seed, top=shown, progress=update)
    decision = result.gate(margin) if gate else None
    if as_json:
        print_json(result.as_json() | ({} if decision is None else {"gate": decision, "margin": margin}))
    else:
        print_tables(result.tables() if shown else [result.table()])
        if decision is not None:
            print(visible(_gate_line(result, decision, margin)))
    if decision is not None:
        raise typer.Exit(GATE_STATUS[decision])


def _check(a: str | None, b: str | None, method: str | None, *, gate: bool, margin: float, top: int | None) -> None:
    """Stop at options that do not go together."""
    if a is not None and b is None:
        raise UsageError(f"compare takes two runs, or none for all pairs; what is {a!r} to be compared with?")
    if a is None and gate:
        raise UsageError("--gate compares two runs: name them after the file or folder")
    if a is None and top is not None:
        raise UsageError("--top shows units of two runs: name them after the file or folder")
    if margin and not gate:
        raise UsageError("--margin goes with --gate")
    if a is not None and method is not None:
        raise UsageError("--method is for all pairs; two runs are compared by the paired randomisation test")


def _gate_line(result: PairComparison, decision: str, margin: float) -> str:
    """The gate's decision, and what it rests on."""
    level = f"{1 - result.alpha:.0%} interval of {result.a} - {result.b}"
    if result.interval is None:
        return f"{decision}: there is no {level}"
    from qassay.meta.significance import signed

    low, high = (signed(end, -margin) for end in result.interval)
    where = {"ALLOW": "lies above", "REJECT": "lies below", "INCONCLUSIVE": "holds"}[decision]
    return f"{decision}: the {level}, {low} to {high}, {where} {-margin if margin else 0:g}"
