"""What the sensitivity curves behind a plan can say, and why they say no more."""

from __future__ import annotations

import math

from qassay.meta.planning.result import Plan, UnitsFor
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
    missing: dict[tuple[str, str], list[str]] = {}
    for row in plan.differences:
        for way_and_reason in _reasons(curves, row):
            missing.setdefault(way_and_reason, []).append(f"{row.difference:g}")
    for (way, reason), which in missing.items():
        for_which = "" if len(which) == len(plan.differences) else f" for {', '.join(which)}"
        notes.append(f"No size by {way}{for_which}: {reason}.")
    return notes


def _reasons(curves: SensitivityCurves, row: UnitsFor) -> list[tuple[str, str]]:
    """Which way of reading the bin that holds the difference gives no size, and why; one entry where both say so."""
    beyond = f"it would be more than {FURTHEST * curves.units:,} units"
    not_fitted, k = why_not_fitted(curves, row.difference), curves.bin_of(row.difference)
    by_fit = (not_fitted or beyond) if row.fit is None else None
    by_closed_form = beyond if row.predicted is None else None
    if row.predicted is None and k in (0, len(curves.fits) - 1):
        by_closed_form = not_fitted
    elif row.predicted is None and math.isnan(curves.predicted_at(1)[k]):
        by_closed_form = "no two runs are expected to differ by so much"
    if by_fit is not None and by_fit == by_closed_form:
        return [("error rate", by_fit)]
    ways = (("the fitted error rate", by_fit), ("the predicted error rate", by_closed_form))
    return [(way, reason) for way, reason in ways if reason is not None]
