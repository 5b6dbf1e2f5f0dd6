"""What only the command `qassay compare` has: names of systems after the sources, and its gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qassay.cli.gate import Gate
from qassay.cli.inputs import TableOptions
from qassay.errors import InputError, Problem, UsageError
from qassay.meta.significance import refuse_itself

if TYPE_CHECKING:
    from qassay.formats.scores import ScoreTables


@dataclass(frozen=True)
class OwnOptions(Gate):
    """The gate; two systems are named after the sources, by --systems, or by two files with one system each."""

    def named(self, arguments: Sequence[str], chosen: dict[str, Any], reading: TableOptions | None) -> list[str]:
        """The sources; the two systems that arguments or --systems name are among what is chosen."""
        sources, names = split_arguments(arguments)
        systems = names or (reading.system_names if reading is not None else None) or []
        if chosen["control"]:
            if names:
                raise UsageError("--control compares every system with one: leave out the two names, or --control")
            if self.margin:
                chosen["margin"] = self.margin
        elif len(systems) == 2:
            refuse_itself(*systems)
            chosen["a"], chosen["b"] = systems
        if self.history is not None:
            if chosen["correct_with"] is not None:
                raise UsageError("--history keeps looks at scores; the sample that people judge has its own plan")
            if chosen["planned"] is None and chosen["looks"] is None:
                chosen["anytime"] = True
        return sources

    def read(self, tables: ScoreTables, sources: Sequence[str], chosen: dict[str, Any]) -> None:
        """Two files with one system each are two systems."""
        systems = {matrix.runs for _, matrix in tables}
        runs = systems.pop() if len(systems) == 1 else ()
        if chosen["a"] is None and chosen["control"] is None and len(sources) == 2 == len(runs):
            chosen["a"], chosen["b"] = runs


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Sources and names of systems: what exists is a source, and so is NAME=FILE; names come last, none or two."""
    from qassay.formats.sources import SUFFIXES, is_source

    sources, names = [arguments[0]], []
    for argument in arguments[1:]:
        if not is_source(argument):
            names.append(argument)
        elif names:
            message = f"{argument!r} is a file, and comes after {names[0]!r}. Names of systems come last"
            raise UsageError(f"{message}; a system with the name of a file is named with --systems A,B")
        else:
            sources.append(argument)
    from qassay.formats.files import near_file

    absent = [name for name in names if name.endswith(SUFFIXES) or "/" in name]
    if absent and len(names) != 2:
        raise InputError(Problem("configuration", f"does not exist{near_file(Path(name))}", name) for name in absent)
    if len(names) == 1:
        if not is_source(arguments[0]):
            missing = Path(arguments[0])
            raise InputError(Problem("configuration", f"does not exist{near_file(missing)}", str(missing)))
        name, near = names[0], near_file(Path(names[0]))
        message = f"compare takes two systems, or none for all pairs; what is {name!r} to be compared with?"
        raise UsageError(f"{message} If it is a file, it does not exist{near}" if near else message)
    if len(names) > 2:
        raise UsageError(f"compare takes two systems, or none for all pairs, not {len(names)}: {', '.join(names)}")
    return sources, names
