"""What a plan says: units for wanted differences, and units and assessors for a wanted coefficient."""

from __future__ import annotations

import math
from dataclasses import dataclass

from qassay.errors import UsageError
from qassay.meta.generalizability import Generalizability
from qassay.tables import Cell, Column, Table, plural, table

DIFFERENCES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.10, 0.15)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the test is to show: which differences, at which error rate, with which power, how stable a ranking."""

    differences: tuple[float, ...] = DIFFERENCES
    error: float = 0.05
    power: float = 0.8
    alpha: float = 0.05
    coefficient: float = 0.95

    def __post_init__(self) -> None:
        if any(not 0 < difference < math.inf for difference in self.differences):
            raise UsageError("a wanted difference is larger than 0")
        for name in ("error", "alpha", "coefficient", "power"):
            if not 0 < getattr(self, name) < 1:
                raise UsageError(f"{name} lies between 0 and 1, not {getattr(self, name)}")
        if self.power <= self.alpha:
            raise UsageError(f"power lies between the level {self.alpha} and 1, not {self.power}")


@dataclass(frozen=True, slots=True)
class UnitsFor:
    """Units needed for one difference, by each way of asking; None where that way gives no number.

    `power` and `power_hard`: a paired t test finds the difference, for a typical pair and for one that varies more
    than nine of ten. `fit` and `predicted`: the error rate of the comparison is within the wanted one, by the
    fitted curve and by the closed form. `power_now` is the power with the units at hand.
    """

    difference: float
    power: int | None
    power_hard: int | None
    fit: int | None
    predicted: int | None
    power_now: float | None


@dataclass(frozen=True, slots=True)
class UnitsForCoefficient:
    """Units needed for a coefficient with so many assessors; None where no number of units reaches it."""

    assessors: int
    e_rho2: int | None
    phi: int | None


@dataclass(frozen=True)
class Plan:
    """Units for wanted differences, and for a wanted coefficient.

    `deviation` is the standard deviation of the per-unit differences of a typical pair of runs. `detectable` is the
    smallest difference that the units at hand show with the wanted power.
    """

    measure: str
    wanted: Wanted
    runs: int | None
    units: int | None
    deviation: float | None
    deviation_hard: float | None
    detectable: float | None
    differences: tuple[UnitsFor, ...]
    study: Generalizability | None
    coefficients: tuple[UnitsForCoefficient, ...]
    notes: tuple[str, ...] = ()

    def tables(self) -> list[Table]:
        """Units for differences; where the scores vary; units for the coefficient."""
        shown = [self.table()]
        if self.study is not None:
            shown += [self.study.table(), self._coefficient_table()]
        return shown

    def table(self) -> Table:
        """Units needed for each difference; ways of asking that give no number at all are left out."""
        columns = [
            Column("difference", ".3g"),
            Column(f"power {self.wanted.power:g}"),
            Column("harder pair"),
            Column(f"error {self.wanted.error:g}, fit"),
            Column(f"error {self.wanted.error:g}, predicted"),
            Column("power now", ".2f"),
        ]
        rows: list[tuple[Cell, ...]] = [
            (row.difference, row.power, row.power_hard, row.fit, row.predicted, row.power_now)
            for row in self.differences
        ]
        kept = [i for i in range(len(columns)) if i < 2 or any(row[i] is not None for row in rows)]
        at_hand = "assumed variances"
        if self.runs is not None and self.units is not None:
            at_hand = f"{plural(self.runs, 'run')} on {plural(self.units, 'unit')}"
        return table(
            f"Units needed to see a difference, from {at_hand}",
            [columns[i] for i in kept],
            [[row[i] for i in kept] for row in rows],
            (*self._reading(), *self.notes),
        )

    def as_json(self) -> dict[str, object]:
        """The document of `plan --json`."""
        return {
            "measure": self.measure,
            "runs": self.runs,
            "units": self.units,
            "error": self.wanted.error,
            "alpha": self.wanted.alpha,
            "power": self.wanted.power,
            "coefficient": self.wanted.coefficient,
            "deviation": self.deviation,
            "deviation_hard": self.deviation_hard,
            "detectable": self.detectable,
            "differences": [
                {
                    "difference": row.difference,
                    "units": {
                        "power": row.power,
                        "power_hard": row.power_hard,
                        "fit": row.fit,
                        "predicted": row.predicted,
                    },
                    "power_now": row.power_now,
                }
                for row in self.differences
            ],
            "generalizability": None if self.study is None else self.study.as_json(),
            "units_for_coefficient": [
                {"assessors": row.assessors, "e_rho2": row.e_rho2, "phi": row.phi} for row in self.coefficients
            ],
            "notes": [*self.notes, *self._unreachable()],
        }

    def _reading(self) -> list[str]:
        """What the columns mean."""
        wanted, rows = self.wanted, self.differences
        said = [f"power: a paired t test at level {wanted.alpha:g} finds it with probability {wanted.power:g}."]
        if self.deviation_hard is not None:
            said.append("harder pair: for two runs whose differences vary more than those of nine pairs in ten.")
        if any(row.fit is not None or row.predicted is not None for row in rows):
            said.append(f"error: as many new units reverse the order of such a pair in at most {wanted.error:.1%}.")
        if self.detectable is not None:
            said.append(f"The {self.units} units at hand show a difference of {self.detectable:.3g} with that power.")
        return said

    def _unreachable(self) -> list[str]:
        """Why there is no number of units for a coefficient."""
        if self.study is None or all(row.e_rho2 is not None and row.phi is not None for row in self.coefficients):
            return []
        if not any(self.study.variances.values()):
            return ["The scores do not vary at all: there is no coefficient."]
        if self.study.variances["run"] <= 0:
            return ["The runs differ no more than chance makes them: no number of units gives such a coefficient."]
        return ["Where a number is missing, so few assessors lean too far apart for any number of units to make up."]

    def _coefficient_table(self) -> Table:
        with_assessors = self.study is not None and self.study.with_assessors
        columns = [Column("units, E-rho-squared"), Column("units, Phi")]
        rows: list[tuple[Cell, ...]] = [(row.e_rho2, row.phi) for row in self.coefficients]
        notes = ["E-rho-squared: how stable differences between runs are; Phi: how stable the scores themselves are."]
        if with_assessors:
            columns = [Column("assessors"), *columns, Column("judgments a run")]
            rows = [(c.assessors, c.e_rho2, c.phi, c.e_rho2 and c.e_rho2 * c.assessors) for c in self.coefficients]
            notes.append("judgments a run: units x assessors, for E-rho-squared.")
        notes += self._unreachable()
        return table(f"Units needed for a coefficient of {self.wanted.coefficient:g}", columns, rows, notes)
