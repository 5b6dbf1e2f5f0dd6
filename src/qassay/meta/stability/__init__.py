"""Stability: would the ranking be the same under other judgments?

    one score matrix a judgment set  ->  tau for all pairs of sets, swaps against the reference, largest change

compute     matrices -> Stability
result      Stability -> tables and JSON
"""

from qassay.meta.stability.compute import stability
from qassay.meta.stability.result import MeasureStability, ScoreChange, Stability

__all__ = ["MeasureStability", "ScoreChange", "Stability", "stability"]
