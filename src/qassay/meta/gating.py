"""The decision of a gate: is a run good enough, from the interval of its difference to another?"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from qassay.errors import UsageError

Gate: TypeAlias = Literal["ALLOW", "REJECT", "INCONCLUSIVE"]


def gate_decision(interval: tuple[float, float] | None, margin: float) -> Gate:
    """ALLOW where the interval of a - b lies above -margin, REJECT where it lies below, INCONCLUSIVE else.

    >>> gate_decision((-0.01, 0.08), 0.02), gate_decision((-0.01, 0.08), 0), gate_decision(None, 0.02)
    ('ALLOW', 'INCONCLUSIVE', 'INCONCLUSIVE')
    """
    if margin < 0 or not math.isfinite(margin):
        raise UsageError(f"the margin of a gate is 0 or more, not {margin}")
    if interval is None:
        return "INCONCLUSIVE"
    low, high = interval
    return "ALLOW" if low > -margin else "REJECT" if high < -margin else "INCONCLUSIVE"
