"""The command line: one file a verb.

`main` is the door. It answers `--version` without importing anything, loads only the verb that was asked for,
and turns errors into messages and exit statuses: 0 done, 1 the input has errors, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == ["--version"]:
        from qassay._version import __version__

        print(f"qassay {__version__}")
        return 0
    from qassay.cli.app import run

    return run(arguments)
