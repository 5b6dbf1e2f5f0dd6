"""Every system compared with one of them, such as the one that people use now: `qassay compare --control`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from qassay.arrays import defined
from qassay.directions import HIGHER, Direction
from qassay.display import enumerated
from qassay.errors import Remedy, UsageError, unknown
from qassay.frames import ends, frame
from qassay.matrix import ScoreMatrix
from qassay.meta.blocks import Blocks, blocks
from qassay.meta.gating import gate_decision
from qassay.meta.ranking import rank_runs
from qassay.meta.significance import PairComparison, limit, percent, signed
from qassay.meta.significance.differences import Systems
from qassay.meta.significance.families import Family, families
from qassay.meta.significance.many_runs import has_same_blocks, kind_notes, repeat_notes
from qassay.meta.significance.methods import IN_WORDS, family_notes
from qassay.meta.significance.pair import Verdict
from qassay.meta.significance.power import check_test
from qassay.pages import Exhibit, Links, Page
from qassay.results import UNREPORTED, Result
from qassay.tables import MANUAL_RUN, PROBABILITY, Column, Table, decimals, plural, starred, table

if TYPE_CHECKING:
    import polars as pl

    from qassay.figures import Figure

# Systems that the first sentence names.
NAMED = 3


@dataclass(frozen=True, slots=True)
class AgainstControl:
    """One system minus the control. `not_worse`: whether its interval lies above the margin; None without a margin."""

    system: str
    difference: float
    interval: tuple[float, float] | None
    p_adjusted: float | None
    verdict: Verdict
    not_worse: bool | None


@dataclass(frozen=True, repr=False)
class ControlComparison(Result):
    """Every other system compared with the control, the best first; one decision over all of them.

    A system is better or worse exactly where its interval excludes 0 and its adjusted p-value is at most `alpha`. Of
    one system alone `pair` is the comparison that everything follows from.
    """

    control: str
    alpha: float
    against: tuple[AgainstControl, ...]
    units: int
    measure: str
    permutations: int | None
    margin: float | None = None
    near_line: int = 0
    notes: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict, metadata=UNREPORTED)
    manual: frozenset[str] = field(default=frozenset(), metadata=UNREPORTED)
    # Where several metrics are corrected together: the comparisons of all of them.
    comparisons: int = field(default=0, metadata=UNREPORTED)
    direction: Direction = field(default=HIGHER, metadata=UNREPORTED)
    pair: PairComparison | None = field(default=None, metadata=UNREPORTED)

    def sentence(self) -> str:
        """How many systems differ from the control, and which are better."""
        if self.pair is not None:
            return self.pair.sentence()
        number = len(self.against)
        better = [self._named(row) for row in self.against if row.verdict == "better"]
        worse = sum(row.verdict == "worse" for row in self.against)
        differing = len(better) + worse
        if not differing:
            return f"None of {number} systems is shown to differ from {self.control}"
        of = f"All {number}" if differing == number else f"{differing} of {number}"
        differ = f"{of} systems {'differs' if differing == 1 else 'differ'} from {self.control}"
        if not better:
            return f"{differ}; {'it is' if worse == 1 else 'all of these are'} worse"
        return f"{differ}; {enumerated(better, NAMED)} {'is' if len(better) == 1 else 'are'} better"

    def _named(self, row: AgainstControl) -> str:
        assert row.interval is not None
        low, high = (limit(end).lstrip("+") for end in row.interval)
        return f"{row.system} ({signed(row.difference)}, {low} to {high})"

    def answer(self) -> tuple[str, ...]:
        """The sentence, for how many comparisons it allows, and how many systems the margin lets pass."""
        answer = [f"{self.sentence()}."]
        if self.pair is None:
            answer.append(f"Corrected for {plural(self.comparisons or len(self.against), 'comparison')}.")
        if self.margin is not None:
            passing = sum(bool(row.not_worse) for row in self.against)
            systems = f"{passing} of {plural(len(self.against), 'system')}"
            answer.append(f"{systems} {'is' if passing == 1 else 'are'} at most {self.margin:g} worse.")
        return tuple(answer)

    def table(self) -> Table:
        """One row per system, the best first."""
        columns: list[Column | str] = [
            *("system", Column(self.measure, ".3f")),
            Column("difference", f"+.{decimals(row.difference for row in self.against)}f"),
            *(Column(name, "+.3f") for name in ("from", "to")),
            *(Column("p adjusted", PROBABILITY), "verdict"),
        ]
        rows = [
            (
                *(starred(row.system, self.manual), self.scores[row.system], row.difference),
                *(*ends(row.interval), row.p_adjusted, row.verdict),
                *(() if self.margin is None else (row.not_worse,)),
            )
            for row in self.against
        ]
        if self.margin is not None:
            columns.append("not worse")
        level = percent(1 - self.alpha)
        drawn = "" if self.permutations is None else f", {self.permutations:,} permutations"
        reading = (
            f"Differences are those to {self.control}, with {level} intervals that hold for all of them together. "
            "p adjusted: how often chance alone makes the clearest of these differences this clear "
            f"({IN_WORDS['max-t']}{drawn})."
        )
        if self.pair is not None:
            reading = f"The difference is that to {self.control}, with its {level} interval ({self.pair.test_name})."
        title = f"Compared with {starred(self.control, self.manual)} ({self.scores[self.control]:.3f})"
        return table(title, columns, rows, (reading, *self.notes, *([MANUAL_RUN] if self.manual else [])))

    def figure(self) -> Figure:
        """The differences with their intervals, beside the line of no difference."""
        from qassay import figures

        rows = [(row.system, row.difference, row.interval, row.verdict != "cannot tell") for row in self.against]
        return figures.differences_to_control(
            rows,
            control=self.control,
            measure=f"{self.measure}{self.direction.words}",
            level=1 - self.alpha,
            description=f"{self.sentence()}.",
        )

    def to_polars(self) -> pl.DataFrame:
        """One row per system."""
        columns = {"system": str, "difference": float, "low": float, "high": float, "p_adjusted": float, "verdict": str}
        rows = [(x.system, x.difference, *ends(x.interval), x.p_adjusted, x.verdict) for x in self.against]
        return frame(columns, rows)


def compare_with_control(
    matrices: Sequence[ScoreMatrix],
    control: str,
    *,
    alpha: float = 0.05,
    permutations: int | None = None,
    seed: int = 0,
    margin: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[ControlComparison]:
    """Every other system against the control, corrected for their number; under several metrics for all of them."""
    check_test(alpha, permutations)
    if not has_same_blocks(matrices):
        only_one = Remedy("metric", matrices[0].measure, "To choose one")
        raise UsageError("the metrics are on different questions: no test covers all of them", only_one)
    for matrix in matrices:
        check_control(matrix, control)
    rankings = [rank_runs(matrix.runs, matrix.scores(), matrix.direction).runs for matrix in matrices]
    ordered = [matrix.select(runs) for matrix, runs in zip(matrices, rankings, strict=True)]
    parts = [blocks(matrix) for matrix in ordered]
    pairs = [
        Systems.of(part, matrix.runs.index(control), matrix.repeats)
        for part, matrix in zip(parts, ordered, strict=True)
    ]
    tested = families(pairs, alpha=alpha, permutations=permutations, seed=seed, progress=progress)
    comparisons = sum(len(matrix.runs) - 1 for matrix in matrices)
    results = []
    for matrix, whole, part, each in zip(ordered, matrices, parts, tested, strict=True):
        scores = dict(zip(matrix.runs, matrix.scores().tolist(), strict=True))
        results.append(
            ControlComparison(
                control=control,
                alpha=alpha,
                against=tuple(_rows(matrix, control, each, margin)),
                units=len(matrix.units),
                measure=matrix.measure,
                permutations=each.flips or None,
                margin=margin,
                near_line=each.near,
                notes=(*whole.notes, *family_notes(each, part), *_about(whole, part)),
                scores=scores,
                manual=matrix.manual.intersection(matrix.runs),
                comparisons=comparisons,
                direction=matrix.direction,
            )
        )
    return results


def _about(matrix: ScoreMatrix, parts: Blocks) -> list[str]:
    return [*kind_notes(matrix, parts), *repeat_notes(matrix, "max-t")]


def _rows(matrix: ScoreMatrix, control: str, tested: Family, margin: float | None) -> list[AgainstControl]:
    systems = [run for run in matrix.runs if run != control]
    rows = []
    for place, system in enumerate(systems):
        difference, low, high = (float(x[place]) for x in (tested.differences, tested.low, tested.high))
        interval = None if defined(low) is None else (low, high)
        ahead: Verdict = "better" if matrix.direction.oriented(difference) > 0 else "worse"
        verdict: Verdict = ahead if tested.different[place] else "cannot tell"
        not_worse = _is_not_worse(interval, margin, matrix.direction)
        rows.append(AgainstControl(system, difference, interval, defined(tested.p[place]), verdict, not_worse))
    return rows


def of_one_system(result: PairComparison, margin: float | None) -> ControlComparison:
    """The only other system compared with the control: the comparison of the two."""
    p = result.p if result.p_adjusted is None else result.p_adjusted
    not_worse = _is_not_worse(result.interval, margin, result.direction)
    return ControlComparison(
        control=result.b,
        alpha=result.alpha,
        against=(AgainstControl(result.a, result.difference, result.interval, p, result.verdict, not_worse),),
        units=result.units,
        measure=result.measure,
        permutations=result.permutations,
        margin=margin,
        notes=(*result.notes, *result.remarks),
        scores={result.a: result.score_a, result.b: result.score_b},
        manual=result.manual,
        direction=result.direction,
        pair=result,
    )


def _is_not_worse(interval: tuple[float, float] | None, margin: float | None, direction: Direction) -> bool | None:
    if margin is None:
        return None
    return gate_decision(None if interval is None else direction.interval(interval), margin) == "ALLOW"


def check_control(matrix: ScoreMatrix, control: str) -> None:
    """Stop at a control that does not exist, or that is the only system."""
    if control not in matrix.runs:
        raise unknown("run", control, matrix.runs)
    if len(matrix.runs) == 1:
        raise UsageError(f"{control} is the only system: a control is compared with others")


def control_page(result: ControlComparison) -> Page:
    """Who differs from the control, and by how much."""
    shown = Exhibit(
        "control",
        result.table(),
        partial(ControlComparison.figure, result),
        links=Links("run", tuple(row.system for row in result.against)),
    )
    return Page(result.answer(), (shown,))
