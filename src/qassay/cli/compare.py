"""`qassay compare`: is one run better than another, and which of many differ?"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from qassay.cli.gate import (
    Gate,
    GateOption,
    InconclusiveOption,
    JunitOption,
    MarginOption,
    SummaryOption,
    check_gate,
    gate_line,
)
from qassay.cli.inputs import JsonOption, ScoringOptions, SeedOption, SourceArgument, takes_scoring
from qassay.cli.output import print_json, print_tables, progress, visible
from qassay.errors import UsageError


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
    gate: GateOption = False,
    margin: MarginOption = 0.0,
    summary: SummaryOption = None,
    junit: JunitOption = None,
    inconclusive: InconclusiveOption = None,
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
    INCONCLUSIVE (4) else; --inconclusive lets this pass (0) or fail (3).
    --summary and --junit write the decision for the pages of a pipeline;
    the summary is also added to $GITHUB_STEP_SUMMARY where that is set.

    Examples

      qassay compare my-eval new old
      qassay compare scores.csv new old --gate --margin 0.01
      qassay compare scores.csv new old --gate --summary gate.md --junit gate.xml
      qassay compare scores.csv
      qassay compare scores.csv --method holm --json
      qassay compare factoids.csv --series-from '^([^.]+)'
    """
    options = Gate(margin, summary, junit, inconclusive)
    check_gate(gate, options)
    _check(a, b, method, gate=gate, top=top)
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
            print(visible(gate_line(result, decision, margin)))
    if decision is not None:
        raise typer.Exit(options.report([result]))


def _check(a: str | None, b: str | None, method: str | None, *, gate: bool, top: int | None) -> None:
    """Stop at options that do not go together."""
    if a is not None and b is None:
        raise UsageError(f"compare takes two runs, or none for all pairs; what is {a!r} to be compared with?")
    if a is None and gate:
        raise UsageError("--gate compares two runs: name them after the file or folder")
    if a is None and top is not None:
        raise UsageError("--top shows units of two runs: name them after the file or folder")
    if a is not None and method is not None:
        raise UsageError("--method is for all pairs; two runs are compared by the paired randomisation test")
