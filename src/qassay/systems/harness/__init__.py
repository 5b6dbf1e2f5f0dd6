"""The harness: any system, driven over the questions of an evaluation, and its run written and checked.

open_system     what the user names ──> UnderTest
drive           questions, one at a time, a series in order ──> answers, each in the Log
write_run       answers ──> a checked run
"""

from __future__ import annotations

from qassay.systems.harness.driving import DriveOptions, drive
from qassay.systems.harness.log import Log
from qassay.systems.harness.opening import UnderTest, default_tag, local, open_system
from qassay.systems.harness.wire import CallError, DriveError
from qassay.systems.harness.writing import write_run

__all__ = [
    "CallError",
    "DriveError",
    "DriveOptions",
    "Log",
    "UnderTest",
    "default_tag",
    "drive",
    "local",
    "open_system",
    "write_run",
]
