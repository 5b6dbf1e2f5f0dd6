"""Servers that start at once: forked from a process that has imported the installed package already.

To import what a server needs takes two seconds of a processor, and there are more than a hundred servers in the tests.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from pathlib import Path

from qassay.web.pages import MODULES

NEEDED = ["qassay.cli.serve", "qassay.web.application", "qassay.store.folder.importing", "uvicorn", "alembic"]
NEEDED += [f"qassay.web.pages.{name}" for name in MODULES]


def nursery(site: Path) -> ForkServerContext:
    """A context whose processes run the package as it is installed in this folder."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(NEEDED)
    if not _runs(context, site):
        # Earlier tests of this process had their servers from another installation.
        forkserver._forkserver._stop()  # type: ignore[attr-defined]
        if not _runs(context, site):
            raise RuntimeError("the servers would not run what is installed")
    return context


def _runs(context: ForkServerContext, site: Path) -> bool:
    """Whether processes run the package in this folder; the first one starts the one that others are forked from."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(site)
    try:
        check = context.Process(target=installed_in, args=(str(site),))
        check.start()
        check.join()
    finally:
        os.environ.pop("PYTHONPATH")
        if before is not None:
            os.environ["PYTHONPATH"] = before
    return check.exitcode == 0


def installed_in(site: str) -> None:
    """End with an error where the package is another one than that in this folder."""
    import qassay

    if not Path(qassay.__file__).is_relative_to(site):
        sys.exit(1)


def call(arguments: list[str], log: str) -> None:
    """The command with these arguments; what it prints goes to a file."""
    with Path(log).open("ab") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    from qassay.cli import main

    sys.exit(main(arguments))
