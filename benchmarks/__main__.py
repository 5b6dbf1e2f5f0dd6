"""Run the benchmarks and print their table: `python -m benchmarks [NAME...]`, `make bench`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable

from benchmarks.rows import Row
from qassay.tables import Column, Table, table

# Name, module and functions; each is measured by itself and printed as soon as it is measured.
BENCHMARKS: dict[str, tuple[str, tuple[str, ...]]] = {
    "start": ("benchmarks.start", ("start",)),
    "install": ("benchmarks.start", ("install",)),
    "scoring": ("benchmarks.scoring", ("scoring", "as_json")),
    "peers": ("benchmarks.scoring", ("peers",)),
    "sensitivity": ("benchmarks.sensitivity", ("graded", "confidence", "large")),
    "compiled": ("benchmarks.sensitivity", ("compiled",)),
    "significance": ("benchmarks.significance", ("significance",)),
    "reports": ("benchmarks.reports", ("reports",)),
    "correction": ("benchmarks.correction", ("correction",)),
    "collections": ("benchmarks.collections", ("passages", "whole")),
    "systems": ("benchmarks.systems", ("systems",)),
    "assessors": ("benchmarks.assessors", ("quality", "persuasion", "reusability", "speed")),
    "models": ("benchmarks.models", ("persuasion", "speed")),
    "application": ("benchmarks.application", ("application",)),
    "scale": ("benchmarks.scale", ("scale",)),
    "counters": ("benchmarks.counters", ("counters",)),
    "growth": ("benchmarks.growth", ("growth",)),
    "million": ("benchmarks.collections", ("million",)),
}
# What takes many minutes, or the network, is run only by name.
BY_NAME_ONLY = ("million", "install", "growth")


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all; `truth` has options of its own."""
    if names[:1] == ["truth"]:
        from benchmarks.truth.running import truth_table

        print(truth_table(names[1:]))
        return 0
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"unknown benchmark {unknown[0]!r}; there is {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    for name in names or [name for name in BENCHMARKS if name not in BY_NAME_ONLY]:
        module, functions = BENCHMARKS[name]
        measures: list[Callable[[], Iterable[Row | Table]]] = [
            getattr(importlib.import_module(module), function) for function in functions
        ]
        columns: list[Column | str] = [
            "measured",
            Column("ours, s", ".3f"),
            Column("peer, s", ".3f"),
            Column("ratio", ".2f"),
            "note",
        ]
        rows: list[Row] = []
        for measure in measures:
            for measured in measure():
                if isinstance(measured, Table):  # figures that are not times
                    print(f"{measured}\n", flush=True)
                else:
                    rows.append(measured)
        if rows:
            print(f"{table(name, columns, [tuple(row) for row in rows])}\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
