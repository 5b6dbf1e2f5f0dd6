"""How many questions, and assessors, does a wanted difference need?

Three answers stand side by side, since they answer different questions: the error rate of a comparison (the
sensitivity curves), the power of a test (noncentral t), and the stability of a ranking (generalizability). They come
from pilot scores, or from assumed variances.
"""

from qassay.meta.planning.compute import differences_for, plan, plan_from_variances
from qassay.meta.planning.remarks import notes_on_curves
from qassay.meta.planning.result import DIFFERENCES, Plan, UnitsFor, UnitsForCoefficient, Wanted

__all__ = [
    "DIFFERENCES",
    "Plan",
    "UnitsFor",
    "UnitsForCoefficient",
    "Wanted",
    "differences_for",
    "notes_on_curves",
    "plan",
    "plan_from_variances",
]
