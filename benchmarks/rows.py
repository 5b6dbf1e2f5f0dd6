"""One line of a benchmark's table."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """What was measured, how long it took us and the peer, and peer / ours where both did the same work."""

    name: str
    ours: float | None
    peer: float | None
    ratio: float | None
    note: str = ""
