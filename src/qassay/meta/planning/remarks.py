"""What the sensitivity curves behind a plan can say, and why they say no more."""

from __future__ import annotations

from qassay.meta.planning.result import Plan
from qassay.meta.sensitivity import SensitivityCurves, rests_on, why_not_fitted
from qassay.meta.sensitivity.curves import FURTHEST


def notes_on_curves(curves: SensitivityCurves, plan: Plan) -> list[str]:
    """On how many pairs the sizes by error rate rest, which are extrapolated, and why some are missing."""
    measured, notes = max(curves.sizes), []
    sizes = [size for row in plan.differences for size in (row.fit, row.predicted) if size is not None]
    if sizes:
        notes += rests_on(curves.pairs)
    if any(size > measured for size in sizes):
        notes.append(f"Sizes by error rate above {measured} units are extrapolated.")
    missing: dict[str, list[str]] = {}
    for row in plan.differences:
        if row.fit is None or row.predicted is None:
            missing.setdefault(_reason(curves, row.difference), []).append(f"{row.difference:g}")
    for reason, which in missing.items():
        for_which = "" if len(which) == len(plan.differences) else f" for {', '.join(which)}"
        notes.append(f"No size by error rate{for_which}: {reason}.")
    return notes


def _reason(curves: SensitivityCurves, difference: float) -> str:
    """Why the curve of the bin that holds the difference gives no size, by one way of reading or both."""
    beyond = f"by one way or both, it would be more than {FURTHEST * curves.units} units"
    return why_not_fitted(curves, difference) or beyond
