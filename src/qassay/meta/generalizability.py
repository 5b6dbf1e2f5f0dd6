"""Generalizability: how much of a score is the run, how much the question, the assessor, and chance.

Every run answers every unit, and every assessor judges all of it: a crossed design with one score a cell. Its mean
squares give the variance of each source (Cronbach et al. 1972; Brennan 2001; for retrieval Bodoff and Li 2007,
Urbano et al. 2013), and the variances say how well a test with other numbers of units and assessors would separate
the runs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from qassay.arrays import Floats
from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix
from qassay.results import UNREPORTED, reported
from qassay.tables import Column, Table, counted, plural, table

Coefficient: TypeAlias = Literal["e_rho2", "phi"]

FACETS = ("run", "unit", "assessor")
RESIDUAL = "residual"
TWO_WAY = ("run", "unit", RESIDUAL)
THREE_WAY = ("run", "unit", "assessor", "run x unit", "run x assessor", "unit x assessor", RESIDUAL)

Source: TypeAlias = tuple[str, ...]


def named(source: str, unit: str = "question") -> str:
    """A source of variance as people call it: results write unit, whatever scores are averaged over.

    >>> named("run x unit"), named("unit", "series"), named("residual")
    ('run x question', 'series', 'residual')
    """
    return " x ".join(unit if facet == "unit" else facet for facet in source.split(" x "))


@dataclass(frozen=True)
class Generalizability:
    """Variance of each source, and what follows for a test of any size.

    `runs`, `units` and `assessors` are the numbers studied; None where variances were assumed. `assessors` is None
    too where the study had none, and its variance is part of the others then.
    """

    variances: Mapping[str, float]
    runs: int | None = None
    units: int | None = None
    assessors: int | None = None
    set_to_zero: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), metadata=UNREPORTED)
    unit_name: tuple[str, str] = field(default=("question", "questions"), metadata=UNREPORTED)

    @property
    def with_assessors(self) -> bool:
        """Whether assessors are a source of their own."""
        return "assessor" in self.variances

    def e_rho2(self, units: int | None = None, assessors: int | None = None) -> float | None:
        """Relative coefficient E-rho-squared: how stable differences between runs are."""
        return self.coefficient("e_rho2", units, assessors)

    def phi(self, units: int | None = None, assessors: int | None = None) -> float | None:
        """Absolute coefficient Phi (index of dependability): how stable the scores themselves are."""
        return self.coefficient("phi", units, assessors)

    def coefficient(self, which: Coefficient, units: int | None = None, assessors: int | None = None) -> float | None:
        """Variance of runs / (variance of runs + error variance) with these numbers of units and assessors.

        The error of E-rho-squared has the sources that change differences between runs (run x unit, run x
        assessor, residual), the error of Phi all sources but the run, each divided by the number of its levels.
        None where nothing varies, or no size is known.
        """
        units = self.units if units is None else units
        if units is None:
            return None
        by_unit, fixed = self._error(which, self._assessors(assessors))
        run = self.variances["run"]
        total = run + by_unit / units + fixed
        return run / total if total > 0 else None

    def units_for(self, which: Coefficient, coefficient: float, assessors: int | None = None) -> int | None:
        """The smallest number of units that reaches a coefficient; None where no number does."""
        if not 0 < coefficient < 1:
            raise UsageError(f"a coefficient lies between 0 and 1, not {coefficient}")
        by_unit, fixed = self._error(which, self._assessors(assessors))
        room = self.variances["run"] * (1 - coefficient) / coefficient - fixed
        if room <= 0:
            return None
        # The small term keeps a whole number whole.
        return max(1, math.ceil(by_unit / room - 1e-9))

    @reported
    def units_for_assessor(self) -> int | None:
        """The units more that narrow the interval of a difference as much as one more assessor does.

        A difference varies by v(Q, A) = 2 (s_pq/Q + s_pa/A + s_e/(QA)); with A assessors they reach v(Q, A + 1). None
        where no number of units does, and without assessors.
        """
        if self.units is None or self.assessors is None:
            return None
        by_unit, fixed = self._error("e_rho2", self.assessors)
        by_unit_more, fixed_more = self._error("e_rho2", self.assessors + 1)
        room = by_unit_more / self.units + fixed_more - fixed
        # The small term keeps a whole number whole.
        return max(0, math.ceil(by_unit / room - self.units - 1e-9)) if room > 0 else None

    def worth_of_assessor(self) -> str:
        """One more assessor against more units, in a sentence; empty without assessors, or where nothing varies."""
        if self.assessors is None or max(self._error("e_rho2", self.assessors)) <= 0:
            return ""
        places = ("second", "third", "fourth", "fifth")
        more = f"A {places[self.assessors - 1]}" if self.assessors <= len(places) else "One more"
        if self.units_for_assessor is None:
            return f"No number of {self.unit_name[1]} does as much as {more[0].lower()}{more[1:]} assessor."
        new = counted(self.units_for_assessor, (f"more {self.unit_name[0]}", f"more {self.unit_name[1]}"))
        return f"{more} assessor narrows the interval as much as {new}."

    @reported
    def e_rho2_(self) -> float | None:
        """E-rho-squared at the size studied."""
        return self.e_rho2()

    @reported
    def phi_(self) -> float | None:
        """Phi at the size studied."""
        return self.phi()

    @reported
    def notes_(self) -> tuple[str, ...]:
        """The notes, and which variances were estimated below 0."""
        sources = ", ".join(named(source, self.unit_name[0]) for source in self.set_to_zero)
        return (*self.notes, *([f"Estimated below 0 and set to 0: {sources}."] if sources else []))

    def table(self) -> Table:
        """The variance of each source and its share."""
        total = sum(self.variances.values())
        rows = [
            (named(name, self.unit_name[0]), value, value / total if total > 0 else None)
            for name, value in self.variances.items()
        ]
        size = "assumed"
        if self.runs is not None and self.units is not None:
            size = f"{plural(self.runs, 'run')} x {counted(self.units, self.unit_name)}"
        if self.assessors is not None:
            size += f" x {plural(self.assessors, 'assessor')}"
        coefficients = [("E-rho-squared", self.e_rho2()), ("Phi", self.phi())]
        shown = [f"{name} {value:.3f}" for name, value in coefficients if value is not None]
        notes = [f"At this size: {', '.join(shown)}."] if shown else []
        columns = [Column("source", left=True), Column("variance", ".6f"), Column("share", ".1%")]
        return table(f"Where the scores vary: {size}", columns, rows, (*notes, *self.notes_))

    def _assessors(self, assessors: int | None) -> int:
        number = assessors if assessors is not None else (self.assessors or 1)
        if number < 1:
            raise UsageError(f"a test has at least one assessor, not {number}")
        return number

    def _error(self, which: Coefficient, assessors: int) -> tuple[float, float]:
        """Error variance as (part that units divide, part that they do not)."""
        v = self.variances
        by_unit = v[RESIDUAL] / assessors + v.get("run x unit", 0.0)
        fixed = v.get("run x assessor", 0.0) / assessors
        if which == "phi":
            by_unit += v["unit"] + v.get("unit x assessor", 0.0) / assessors
            fixed += v.get("assessor", 0.0) / assessors
        return by_unit, fixed


def generalizability(matrices: ScoreMatrix | Sequence[ScoreMatrix]) -> Generalizability:
    """Variance components of one score matrix (runs x units) or of one for each assessor (runs x units x assessors).

    Sources are random and crossed, one score a cell; variances follow from expected mean squares, and a negative
    one is set to 0, with a note. Scores that are not plain means enter by the parts of the units. At least two runs and
    two units are needed, and the same runs and units in every matrix.
    """
    by_assessor = (matrices,) if isinstance(matrices, ScoreMatrix) else tuple(matrices)
    if not by_assessor:
        raise UsageError("a generalizability study needs at least one score matrix")
    if any(other.runs != by_assessor[0].runs or other.units != by_assessor[0].units for other in by_assessor[1:]):
        raise UsageError("the score matrices of several assessors must have the same runs and the same questions")
    notes = list(dict.fromkeys(note for matrix in by_assessor for note in matrix.notes))
    if not by_assessor[0].summary.is_mean:
        name = by_assessor[0].unit_name[1]
        notes.append(f"Scores are not plain means: the variances are those of the parts of the {name}.")
    scores = np.stack([matrix.summary.contributions(matrix.values) for matrix in by_assessor], axis=2)
    study = variance_components(scores if len(by_assessor) > 1 else scores[:, :, 0], notes=notes)
    return replace(study, unit_name=by_assessor[0].unit_name)


def variance_components(scores: Floats, *, notes: Sequence[str] = ()) -> Generalizability:
    """Variance components of an array of runs x units, or of runs x units x assessors."""
    if scores.ndim not in (2, 3) or min(scores.shape) < 2:
        shape = " x ".join(map(str, scores.shape))
        raise UsageError(f"variance components need at least two runs, two questions (and two assessors), not {shape}")
    squares = _mean_squares(scores)
    sizes = dict(zip(FACETS, scores.shape, strict=False))
    names = TWO_WAY if scores.ndim == 2 else THREE_WAY
    estimated = {name: _component(source, squares, sizes) for name, source in zip(names, squares, strict=True)}
    # Rounding alone is not a negative variance.
    tiny = 1e-12 * max(float((scores**2).mean()), 1e-300)
    zeroed = tuple(name for name, value in estimated.items() if value < -tiny)
    return Generalizability(
        variances={name: max(value, 0.0) for name, value in estimated.items()},
        runs=scores.shape[0],
        units=scores.shape[1],
        assessors=scores.shape[2] if scores.ndim == 3 else None,
        set_to_zero=zeroed,
        notes=tuple(notes),
    )


def assumed(variances: Mapping[str, float]) -> Generalizability:
    """Assumed variances instead of a study: run, question and residual at least; sources left out count as 0.

    People write question, results write unit; both are read.
    """
    known = {named(source): source for source in THREE_WAY}
    by_source = {known.get(name, name): value for name, value in variances.items()}
    strange = [name for name in by_source if name not in THREE_WAY]
    lacking = [named(source) for source in TWO_WAY if source not in by_source]
    if strange or lacking:
        fault = f"unknown source {strange[0]!r}" if strange else f"no variance for {', '.join(lacking)}"
        required = ", ".join(map(named, TWO_WAY))
        raise UsageError(f"{fault}; sources are {', '.join(known)}, of which {required} are required")
    if any(value < 0 or not math.isfinite(value) for value in by_source.values()):
        raise UsageError("a variance is a finite number of 0 or more")
    names = TWO_WAY if set(by_source) == set(TWO_WAY) else THREE_WAY
    return Generalizability({name: float(by_source.get(name, 0.0)) for name in names})


def _mean_squares(scores: Floats) -> dict[Source, float]:
    """Mean square of every source: main effects, then interactions, the last being the residual."""
    axes = range(scores.ndim)
    effects: dict[tuple[int, ...], Floats] = {(): np.asarray(scores.mean(keepdims=True))}
    squares: dict[Source, float] = {}
    for size in range(1, scores.ndim + 1):
        for facets in itertools.combinations(axes, size):
            effect = scores.mean(axis=tuple(a for a in axes if a not in facets), keepdims=True)
            for part in effects:
                if set(part) < set(facets):
                    effect = effect - effects[part]
            effects[facets] = effect
            freedom = math.prod(scores.shape[a] - 1 for a in facets)
            repeats = scores.size // math.prod(scores.shape[a] for a in facets)
            squares[tuple(FACETS[a] for a in facets)] = repeats * float((effect**2).sum()) / freedom
    return squares


def _component(source: Source, squares: Mapping[Source, float], sizes: Mapping[str, int]) -> float:
    """Variance of a source: alternating sum of the mean squares of the sources that contain it, per cell."""
    total = 0.0
    for other, square in squares.items():
        if set(source) <= set(other):
            total += square if (len(other) - len(source)) % 2 == 0 else -square
    return total / math.prod(size for name, size in sizes.items() if name not in source)
