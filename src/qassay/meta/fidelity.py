"""Does the measure measure what is meant? The ranking under other settings of the measure itself.

beta_sweep      mean F for several betas, with the rank of every run at each
two_rankings    two ways to score the same runs: by series and by type, holistic and F
moved_weights   the final ranking when the weight of a component moves
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from qassay.arrays import Floats
from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix
from qassay.meta.ranking import RankComparison, compare_rankings, mean_ranks, places, rank_runs
from qassay.results import UNREPORTED, Result, document, reported
from qassay.tables import MANUAL_RUN, Cell, Column, Table, starred, table

STEP = 0.05


@dataclass(frozen=True, slots=True)
class RunRanks:
    """The score and the rank of a run in each of several ways."""

    run: str
    scores: tuple[float, ...]
    ranks: tuple[float, ...]


@dataclass(frozen=True)
class BetaSweep(Result):
    """Mean F of every run for several betas, and its rank at each; runs by decreasing score at the largest.

    `agreement` compares the ranking at each beta with the one at the largest.
    """

    betas: tuple[float, ...]
    runs: tuple[RunRanks, ...]
    agreement: tuple[RankComparison, ...] = field(metadata=UNREPORTED)
    notes: tuple[str, ...] = ()
    manual: frozenset[str] = field(default=frozenset(), metadata=UNREPORTED)

    @reported
    def tau_with_last(self) -> tuple[float | None, ...]:
        """Kendall's tau of each ranking with the last."""
        return tuple(agreed.tau for agreed in self.agreement)

    @reported
    def swaps_with_last(self) -> tuple[int, ...]:
        """Pairs that each ranking orders differently from the last."""
        return tuple(agreed.swaps for agreed in self.agreement)

    @reported
    def concordant_with_last(self) -> tuple[int, ...]:
        """Pairs that each ranking orders as the last does."""
        return tuple(agreed.concordant for agreed in self.agreement)

    @reported
    def tied_with_last(self) -> tuple[int, ...]:
        """Pairs that are tied in either."""
        return tuple(agreed.tied for agreed in self.agreement)

    def table(self) -> Table:
        """One row per run: score and rank at each beta."""
        last = f"{self.betas[-1]:g}"
        others = zip(self.betas[:-1], self.agreement[:-1], strict=True)
        shown = [f"{beta:g}: {a.tau:.3f} (swaps: {a.swaps}, tied: {a.tied})" for beta, a in others if a.tau is not None]
        notes = [f"Kendall's tau with the ranking at beta {last}: {', '.join(shown)}."] if shown else []
        return _scores_and_ranks("Mean F by beta", [f"F({beta:g})" for beta in self.betas], self, (*notes, *self.notes))


def beta_sweep(matrices: Mapping[float, ScoreMatrix]) -> BetaSweep:
    """Mean F(beta) of all runs for each beta, with their ranks [QA03, table 6]."""
    if not matrices:
        raise UsageError("a sweep needs at least one beta")
    betas = tuple(sorted(matrices))
    tags = matrices[betas[-1]].runs
    if any(set(matrix.runs) != set(tags) for matrix in matrices.values()):
        raise UsageError("a sweep needs the same runs at every beta")
    scores = np.stack([matrices[beta].select(tags).scores() for beta in betas], axis=1)
    compared = [compare_rankings(scores[:, -1], column) for column in scores.T]
    notes = [note for matrix in matrices.values() for note in matrix.notes]
    notes += [note for comparison in compared for note in comparison.notes]
    manual = matrices[betas[-1]].manual
    return BetaSweep(betas, _ranked(tags, scores, -1), tuple(compared), tuple(dict.fromkeys(notes)), manual)


@dataclass(frozen=True)
class TwoRankings:
    """The same runs scored in two ways, and how far the rankings agree; runs by decreasing score the first way."""

    names: tuple[str, str]
    runs: tuple[RunRanks, ...]
    agreement: RankComparison
    manual: frozenset[str] = field(default=frozenset(), metadata=UNREPORTED)

    def table(self) -> Table:
        """One row per run: score and rank each way."""
        title = " and ".join(self.names)
        return _scores_and_ranks(title[:1].upper() + title[1:], self.names, self, [self.agreement.sentence()])


def two_rankings(
    runs: Sequence[str],
    first: tuple[str, ArrayLike],
    second: tuple[str, ArrayLike],
    *,
    manual: frozenset[str] = frozenset(),
) -> TwoRankings:
    """Two named lists of scores of the same runs: by series and by type [SERIES05], holistic and F [DEF03]."""
    ways = [np.asarray(scores, dtype=np.float64) for _, scores in (first, second)]
    if any(scores.shape != (len(runs),) for scores in ways):
        raise UsageError(f"two rankings of {len(runs)} runs need {len(runs)} scores each")
    both = _ranked(runs, np.stack(ways, axis=1), 0)
    return TwoRankings((first[0], second[0]), both, compare_rankings(*ways), manual)


def _ranked(runs: Sequence[str], scores: Floats, first: int) -> tuple[RunRanks, ...]:
    """The runs by decreasing score in one column, with their scores and ranks in all of them."""
    ranks = np.stack([mean_ranks(column) for column in scores.T], axis=1)
    order = [list(runs).index(run) for run in rank_runs(runs, scores[:, first]).runs]
    return tuple(RunRanks(runs[i], tuple(scores[i].tolist()), tuple(ranks[i].tolist())) for i in order)


def _scores_and_ranks(title: str, names: Sequence[str], result: BetaSweep | TwoRankings, notes: Sequence[str]) -> Table:
    """One row per run: its score and its rank each way."""
    columns: list[Column | str] = ["run"]
    for name in names:
        columns += [Column(name, ".3f"), Column("rank")]
    rows: list[list[Cell]] = []
    shown = zip(*(places(ranks) for ranks in zip(*(row.ranks for row in result.runs), strict=True)), strict=True)
    for row, ranks in zip(result.runs, shown, strict=True):
        pairs = zip(row.scores, ranks, strict=True)
        rows.append([starred(row.run, result.manual), *(cell for pair in pairs for cell in pair)])
    star = [MANUAL_RUN] if any(row.run in result.manual for row in result.runs) else []
    return table(title, columns, rows, [*notes, *star])


@dataclass(frozen=True, slots=True)
class WeightMove:
    """The final ranking with one weight moved and the others scaled to fill up 1, against the one as it is."""

    component: str
    weight: float
    weights: Mapping[str, float]
    agreement: RankComparison

    def as_json(self) -> dict[str, object]:
        """The weights, and how far the rankings agree, under one another's names."""
        return {"component": self.component, "weight": self.weight, "weights": self.weights, **document(self.agreement)}


@dataclass(frozen=True)
class MovedWeights:
    """Rankings with moved weights, compared with the ranking under the weights as they are."""

    weights: Mapping[str, float]
    step: float
    moves: tuple[WeightMove, ...]
    notes: tuple[str, ...] = ()

    def table(self) -> Table:
        """One row a move."""
        columns: list[Column | str] = ["component", Column("weight", ".2f")]
        columns += [Column(name, ".3f") for name in self.weights] + [Column("tau", ".3f")]
        columns += [Column("concordant"), Column("swaps"), Column("tied")]
        rows = [
            (move.component, move.weight, *move.weights.values(), a.tau, a.concordant, a.swaps, a.tied)
            for move in self.moves
            for a in [move.agreement]
        ]
        notes = dict.fromkeys(note for move in self.moves for note in move.agreement.notes)
        return table(f"The final ranking when a weight moves by {self.step:g}", columns, rows, (*notes, *self.notes))


def moved_weights(components: Mapping[str, ArrayLike], weights: Mapping[str, float]) -> MovedWeights:
    """Kendall's tau of the final ranking when each weight moves by STEP either way ([SERIES05] left it open).

    `components` has each component's scores, one per run. The other weights are scaled in proportion so that the
    sum stays 1; a move below 0 or above 1 is left out, with a note.
    """
    names = tuple(components)
    if set(names) != set(weights) or len(names) < 2:
        raise UsageError("moved weights need two components or more, each with scores and a weight")
    scores = np.stack([np.asarray(components[name], dtype=np.float64) for name in names])
    base = np.array([weights[name] for name in names], dtype=np.float64)
    if (base < 0).any() or base.sum() <= 0:
        raise UsageError("weights are 0 or more, and not all 0")
    base = base / base.sum()
    moves, notes = [], []
    for i, name in enumerate(names):
        for sign in (-1, 1):
            moved = float(base[i]) + sign * STEP
            if not -1e-9 <= moved <= 1 + 1e-9 or base[i] >= 1:
                notes.append(f"The weight of {name} cannot move to {moved:.2f}.")
                continue
            moves.append(_move(scores, base, names, i, moved))
    return MovedWeights(dict(zip(names, base.tolist(), strict=True)), STEP, tuple(moves), tuple(notes))


def _move(scores: Floats, base: Floats, names: Sequence[str], which: int, moved: float) -> WeightMove:
    weights = base * (1 - moved) / (1 - base[which])
    weights[which] = moved
    compared = compare_rankings(base @ scores, weights @ scores)
    return WeightMove(names[which], moved, dict(zip(names, weights.tolist(), strict=True)), compared)
