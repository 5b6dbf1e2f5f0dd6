"""`qassay compare`: is one system better than another, and which of many differ?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from qassay.cli.by_metric import Answer, give_answers
from qassay.cli.gate import (
    Gate,
    GateOption,
    InconclusiveOption,
    JunitOption,
    MarginOption,
    SummaryOption,
    check_gate,
    gate_line,
    together,
)
from qassay.cli.inputs import (
    CorrectWithOption,
    JsonOption,
    SampleOption,
    ScoringOptions,
    SeedOption,
    TargetOption,
    is_evaluation,
    need_two_systems,
    refuse,
    refuse_without_correction,
    takes_scoring,
)
from qassay.cli.output import Progress, print_answer, print_json, print_tables, progress
from qassay.errors import InputError, Problem, UsageError

if TYPE_CHECKING:
    from qassay.formats.scores import ScoreTables
    from qassay.matrix import ScoreMatrix
    from qassay.meta.correction import CorrectedPair, Correction
    from qassay.meta.correction.estimates import Target
    from qassay.meta.significance import AllPairs, Method, PairComparison
    from qassay.tables import Table

# Questions that make the difference, unless --top says otherwise.
TOP = 10
# The level of the tests unless --alpha says otherwise.
ALPHA = 0.05


@takes_scoring
def command(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE... [A B]",
            help="An evaluation, or scores: tables, logs, one file per system (NAME=FILE); then two systems, or none.",
        ),
    ],
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
    alpha: Annotated[float, typer.Option("--alpha", help="Level of the tests, and 1 - level of intervals.")] = ALPHA,
    gate: GateOption = False,
    margin: MarginOption = 0.0,
    summary: SummaryOption = None,
    junit: JunitOption = None,
    inconclusive: InconclusiveOption = None,
    details: Annotated[
        bool, typer.Option("--details", help="Show the tests too, and the questions that make the difference.")
    ] = False,
    top: Annotated[
        int | None,
        typer.Option("--top", min=0, metavar="N", help="Show the N questions that make the difference of A and B."),
    ] = None,
    correct_with: CorrectWithOption = None,
    target: TargetOption = None,
    sample: SampleOption = None,
    *,
    scoring: ScoringOptions,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Is one system better than another?

    The first sentence is the answer. If you name two systems, the table
    shows their difference with its interval, the chance that the same
    number of new questions would reverse it, and the number of questions
    that would show it. --details adds the tests, and the questions that
    make the difference. If you name none, all pairs of systems are
    compared, corrected for their number; systems that share a group differ
    by no more than chance alone could explain. Two files with one system
    each are two systems.

    --gate turns the answer into an exit status: ALLOW (0) if the interval
    of A - B lies above -M, REJECT (3) if it lies below, else INCONCLUSIVE
    (4); --inconclusive lets this pass (0) or fail (3). --summary and
    --junit write the decision for the pages of a pipeline; the summary is
    also added to $GITHUB_STEP_SUMMARY if that is set.

    --correct-with compares the scores of an automatic assessor (--key)
    after they are corrected with people's labels of a random sample (qassay
    sample). With --gate the corrected interval decides.

    Examples

      qassay compare my-eval new old
      qassay compare scores.csv new old --gate --margin 0.01
      qassay compare scores.csv new old --gate --summary gate.md --junit gate.xml
      qassay compare new.jsonl old.jsonl
      qassay compare new=a.jsonl old=b.jsonl --metric f1
      qassay compare scores.csv
      qassay compare scores.csv --method holm --json
      qassay compare factoids.csv --series-from '^([^.]+)'
      qassay compare my-eval new old --key gpt-4 --correct-with ada
      qassay compare my-eval new old --key gpt-4 --correct-with ada --gate
    """
    refuse_without_correction(correct_with, {"--target": target, "--sample": sample})
    options = Gate(margin, summary, junit, inconclusive)
    check_gate(gate, options)
    sources, names = split_arguments(arguments)
    tables: ScoreTables | None = None
    pair = _pair(names, scoring)
    if correct_with is not None:
        if method or permutations or details or top is not None or alpha != ALPHA:
            raise UsageError(
                "--correct-with compares corrected scores at 95%; use it without other options of the tests"
            )
        _check(pair, method, gate=gate, top=top)
        correction = _correction(sources, pair, scoring, correct_with, target, sample)
        if pair is None:
            every = correction.pairs()
            print_json(every.as_json()) if as_json else print_tables(every.tables())
            return
        _give_corrected(correction.pair(*pair), options if gate else None, as_json=as_json)
        return
    if pair is None and len(sources) == 2:
        tables = scoring.read(sources)
        pair = _two_files(tables)
    _check(pair, method, gate=gate, top=top)
    tables = tables or scoring.read(sources, pair)
    for _, matrix in tables:
        need_two_systems(matrix, sources)
    is_named = pair is not None
    if pair is None and method is None:
        pair = _only_two(tables)
    if pair is None:
        results = _all_pairs(tables, method, alpha, permutations, seed, every_metric=scoring.every_metric)
        _give(tables, results, scoring, as_json=as_json)
        return
    from qassay.meta.significance import of_pair

    top_questions = TOP if top is None else top
    compared = _two_systems(tables, pair, alpha, permutations, seed, top_questions, every_metric=scoring.every_metric)
    decisions = {name: result.gate(margin) for name, result in compared.items()} if gate else {}

    def answer(matrix: ScoreMatrix) -> Answer:
        result = compared[matrix.measure]
        decision = decisions.get(matrix.measure)
        # Two systems that nobody named are in JSON what several are: all pairs.
        document = (result if is_named else of_pair(result)).as_json()
        document |= {} if decision is None else {"gate": decision, "margin": margin}

        def show() -> None:
            if decision is not None:
                print_answer(gate_line(result, decision, margin))
            print_tables(_shown(result, details=details, top=top))

        return Answer(document, show)

    decision = together(list(decisions.values())) if gate else None
    of_all = {"correction": "holm"} | ({} if decision is None else {"gate": decision, "margin": margin})
    each = ", ".join(f"{name} {decided}" for name, decided in decisions.items())
    first = f"{decision}: {each}" if len(decisions) > 1 else ""
    give_answers(tables, answer, as_json=as_json, every_metric=scoring.every_metric, together=of_all, first=first)
    if decision is not None:
        raise typer.Exit(options.report(list(compared.values())))


def _correction(
    sources: Sequence[str],
    pair: tuple[str, str] | None,
    scoring: ScoringOptions,
    correct_with: str,
    target: Target | None,
    sample: str | None,
) -> Correction:
    """The scores that people's labels correct; with `pair`, those of two runs alone."""
    from qassay.evaluation import open_evaluation

    if not is_evaluation(sources):
        raise UsageError("--correct-with needs an evaluation, which has the judgments; a table has only scores")
    refuse("a folder", scoring.given_options())
    return scoring.corrected(open_evaluation(Path(sources[0])), correct_with, target, sample, pair)


def _give_corrected(result: CorrectedPair, gate: Gate | None, *, as_json: bool) -> None:
    """Two runs on corrected scores; with a gate, its decision from the corrected interval, as exit status."""
    decision = None if gate is None else result.gate(gate.margin)
    if as_json:
        print_json(result.as_json() | ({} if gate is None else {"gate": decision, "margin": gate.margin}))
    else:
        if gate is not None and decision is not None:
            print_answer(gate_line(result, decision, gate.margin))
        print_tables(result.tables())
    if gate is not None:
        raise typer.Exit(gate.report([result]))


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Sources and names of systems: what exists is a source, and so is NAME=FILE; names come last, none or two."""
    from qassay.formats.sources import SUFFIXES, is_source

    sources, names = [arguments[0]], []
    for argument in arguments[1:]:
        if not is_source(argument):
            names.append(argument)
        elif names:
            message = f"{argument!r} is a file, and comes after {names[0]!r}. Names of systems come last"
            raise UsageError(f"{message}; a system with the name of a file is named with --systems A,B")
        else:
            sources.append(argument)
    from qassay.formats.files import near_file

    absent = [name for name in names if name.endswith(SUFFIXES) or "/" in name]
    if absent and len(names) != 2:
        raise InputError(Problem("configuration", f"does not exist{near_file(Path(name))}", name) for name in absent)
    if len(names) == 1:
        if not is_source(arguments[0]):
            missing = Path(arguments[0])
            raise InputError(Problem("configuration", f"does not exist{near_file(missing)}", str(missing)))
        name, near = names[0], near_file(Path(names[0]))
        message = f"compare takes two systems, or none for all pairs; what is {name!r} to be compared with?"
        raise UsageError(f"{message} If it is a file, it does not exist{near}" if near else message)
    if len(names) > 2:
        raise UsageError(f"compare takes two systems, or none for all pairs, not {len(names)}: {', '.join(names)}")
    return sources, names


def _pair(names: Sequence[str], scoring: ScoringOptions) -> tuple[str, str] | None:
    """The two systems that were named, by arguments or by --systems."""
    systems = list(names) or scoring.system_names or []
    return (systems[0], systems[1]) if len(systems) == 2 else None


def _only_two(tables: ScoreTables) -> tuple[str, str] | None:
    """The two systems of a table that has no others, the better one first."""
    systems = {frozenset(matrix.runs) for _, matrix in tables}
    from qassay.analysis import only_pair

    return only_pair(next(iter(tables.matrices.values()))) if len(systems) == 1 else None


def _shown(result: PairComparison, *, details: bool, top: int | None) -> list[Table]:
    """The answer; with its tests and the questions that make the difference, where they are asked for."""
    answer, tests, *questions = result.tables()
    if not details and not top:
        hint = (
            "--details shows the tests, and what makes the difference." if questions else "--details shows the tests."
        )
        return [replace(answer, notes=(*answer.notes, hint))]
    return [answer, *([tests] if details else []), *(questions if top != 0 else [])]


def _two_files(tables: ScoreTables) -> tuple[str, str] | None:
    """The systems of two files that have one each."""
    systems = {matrix.runs for _, matrix in tables}
    runs = systems.pop() if len(systems) == 1 else ()
    return (runs[0], runs[1]) if len(runs) == 2 else None


def _two_systems(
    tables: ScoreTables,
    pair: tuple[str, str],
    alpha: float,
    permutations: int | None,
    seed: int,
    top: int,
    *,
    every_metric: bool,
) -> dict[str, PairComparison]:
    """The two systems under each metric; where all metrics were asked for, at the levels of Holm's correction."""
    from qassay.meta.significance import compare, holm_levels

    levels = dict.fromkeys(tables.matrices, alpha)
    adjusted: Mapping[str, float] = {}
    if every_metric:
        alone = {name: compare(matrix, *pair, permutations=permutations, seed=seed, top=0) for name, matrix in tables}
        levels, adjusted = holm_levels({name: result.p for name, result in alone.items()}, alpha)
    results = {
        name: compare(matrix, *pair, alpha=levels[name], permutations=permutations, seed=seed, top=top)
        for name, matrix in tables
    }
    return {name: result.corrected(adjusted[name]) if every_metric else result for name, result in results.items()}


def _all_pairs(
    tables: ScoreTables,
    method: Method | None,
    alpha: float,
    permutations: int | None,
    seed: int,
    *,
    every_metric: bool,
) -> dict[str, AllPairs]:
    """All pairs under each metric; where all metrics were asked for, corrected over all of them."""
    from qassay.meta.significance import compare_all, flips_for, holm_over

    if every_metric and method not in (None, "holm"):
        raise UsageError("--metric all corrects over all metrics with --method holm")
    if every_metric:
        method = "holm"
        permutations = permutations or flips_for(sum(matrix.pairs for _, matrix in tables), alpha)

    def compared(matrix: ScoreMatrix, update: Progress) -> AllPairs:
        return compare_all(matrix, method=method, alpha=alpha, permutations=permutations, seed=seed, progress=update)

    with progress("permutations") as update:
        results = {name: compared(matrix, update) for name, matrix in tables}
    return dict(zip(results, holm_over(list(results.values())), strict=True)) if every_metric else results


def _give(tables: ScoreTables, results: Mapping[str, AllPairs], scoring: ScoringOptions, *, as_json: bool) -> None:
    def answer(matrix: ScoreMatrix) -> Answer:
        result = results[matrix.measure]
        return Answer(result.as_json(), lambda: print_tables(result.tables()))

    correction = {"correction": "holm"}
    give_answers(tables, answer, as_json=as_json, every_metric=scoring.every_metric, together=correction)


def _check(pair: tuple[str, str] | None, method: str | None, *, gate: bool, top: int | None) -> None:
    """Stop at options that do not go together."""
    if pair is None and gate:
        raise UsageError("--gate compares two systems: name them after the file or folder")
    if pair is None and top is not None:
        raise UsageError("--top shows questions of two systems: name them after the file or folder")
    if pair is not None:
        from qassay.meta.significance import refuse_itself

        refuse_itself(*pair)
    if pair is not None and method is not None:
        raise UsageError("--method is for all pairs; two systems are compared by the paired randomisation test")
