"""The decision of a gate: is a run good enough, from the interval of its difference to another?"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from qassay.errors import UsageError

Gate: TypeAlias = Literal["ALLOW", "REJECT", "EQUAL", "INCONCLUSIVE"]


def gate_decision(interval: tuple[float, float] | None, margin: float, within: float | None = None) -> Gate:
    """ALLOW where the interval of a - b lies above -margin, REJECT where it lies below, INCONCLUSIVE else.

    Where it asks for that, what is equal `within` a difference is EQUAL in place of INCONCLUSIVE.

    >>> gate_decision((-0.01, 0.08), 0.02), gate_decision((-0.01, 0.08), 0), gate_decision(None, 0.02)
    ('ALLOW', 'INCONCLUSIVE', 'INCONCLUSIVE')
    >>> [gate_decision(interval, 0, 0.05) for interval in ((-0.01, 0.04), (-0.01, 0.08), (0.01, 0.04))]
    ['EQUAL', 'INCONCLUSIVE', 'ALLOW']
    """
    if margin < 0 or not math.isfinite(margin):
        raise UsageError(f"the margin of a gate is 0 or more, not {margin}")
    if interval is None:
        return "INCONCLUSIVE"
    low, high = interval
    if low > -margin or high < -margin:
        return "ALLOW" if low > -margin else "REJECT"
    return "EQUAL" if is_within(interval, within) else "INCONCLUSIVE"


def is_within(interval: tuple[float, float] | None, within: float | None) -> bool:
    """Whether the whole interval lies between -within and within: what it allows is no larger difference than that."""
    return interval is not None and within is not None and -within < interval[0] and interval[1] < within
