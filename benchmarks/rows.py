"""One line of a benchmark's table, and the processor time of whole commands."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple


class Row(NamedTuple):
    """What was measured, how long it took us and the peer, and peer / ours where both did the same work."""

    name: str
    ours: float | None
    peer: float | None
    ratio: float | None
    note: str = ""


def processor_seconds(commands: Mapping[str, list[str]], times: int = 5) -> dict[str, float]:
    """The least user and system time of each command, from start to exit.

    The commands alternate, so that what else the machine does falls on all of them.
    """
    least = dict.fromkeys(commands, float("inf"))
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    for _ in range(times):
        for name, command in commands.items():
            _, status, usage = os.wait4(os.posix_spawnp(command[0], command, os.environ, file_actions=silent), 0)
            if status:
                raise RuntimeError(f"{command[:3]} ended with status {os.waitstatus_to_exitcode(status)}")
            least[name] = min(least[name], usage.ru_utime + usage.ru_stime)
    return least
