"""The curve of one bin of differences."""

from __future__ import annotations

from dataclasses import dataclass

from qassay.meta.sensitivity.fitting import Fit


@dataclass(frozen=True, slots=True)
class BinCurve:
    """The error rate of one bin of differences, by size and at the target.

    `error_rate[i]` is None where no comparison fell into the bin at size i. `fit` is None where there is no curve,
    and `not_fitted` says why.
    """

    low: float
    high: float | None
    error_rate: tuple[float | None, ...]
    comparisons: tuple[int, ...]
    interval: tuple[tuple[float, float] | None, ...] | None
    predicted: tuple[float | None, ...]
    fit: Fit | None
    not_fitted: str | None
    extrapolated: float | None
    predicted_at_target: float | None

    def as_json(self) -> dict[str, object]:
        """The row of `bins`."""
        return {
            "low": self.low,
            "high": self.high,
            "error_rate": list(self.error_rate),
            "comparisons": list(self.comparisons),
            "interval": None if self.interval is None else [None if i is None else list(i) for i in self.interval],
            "predicted": list(self.predicted),
            "fit": None if self.fit is None else self.fit.as_json(),
            "not_fitted": self.not_fitted,
            "extrapolated": self.extrapolated,
            "predicted_at_target": self.predicted_at_target,
        }
