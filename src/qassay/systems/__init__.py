"""Systems under test: the reference systems, and the harness that drives any system.

records      Asked, Answer, Item: what goes in, what comes out
reference/   the reference systems, one file each
spelling     factoid(threshold=0.3): how systems are named
harness/     questions one at a time, time-outs, retries, the log, the run
"""

from __future__ import annotations

from qassay.systems.records import Answer, Asked, Documents, Item, System
from qassay.systems.spelling import SYSTEMS, make_reference

__all__ = ["SYSTEMS", "Answer", "Asked", "Documents", "Item", "System", "make_reference"]
