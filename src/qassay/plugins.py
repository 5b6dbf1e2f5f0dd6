"""Plug-ins: assessors, systems, readers of logs and tasks of other packages, found through their entry points.

    [project.entry-points."qassay.assessors"]
    my-assessor = "my_package.assessor:open_assessor"

Nothing of another package is imported before its name is asked for. Names that are built in cannot be replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from qassay.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Kind: TypeAlias = Literal["assessor", "system", "format", "task"]
# Each kind has the group of entry points qassay.KINDs.
KINDS: Final[tuple[Kind, ...]] = ("assessor", "system", "format", "task")


class PluginError(UsageError):
    """A plug-in cannot be used; the message names its package."""


def group(kind: Kind) -> str:
    """The group of entry points of a kind.

    >>> group("assessor")
    'qassay.assessors'
    """
    return f"qassay.{kind}s"


@cache
def plugins(kind: Kind) -> Mapping[str, EntryPoint]:
    """The plug-ins of a kind by name; two packages with the same name are an error."""
    from importlib.metadata import entry_points

    entries: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group(kind)):
        other = entries.get(entry.name)
        if other is not None and other.value != entry.value:
            packages = f"{package(other)} and {package(entry)}"
            raise PluginError(f"two packages have a plug-in {kind} {entry.name!r}: {packages}. Uninstall one of them.")
        entries[entry.name] = entry
    return entries


def load_plugin(kind: Kind, name: str) -> Any:
    """The object that a plug-in's entry point names, imported; a PluginError with the package where that fails."""
    entry = plugins(kind)[name]
    try:
        return entry.load()
    except Exception as error:  # a plug-in may fail in any way
        raise broken(kind, name, f"{type(error).__name__}: {error}") from error


def broken(kind: Kind, name: str, why: str) -> PluginError:
    """The error for a plug-in that cannot be used."""
    entry = plugins(kind)[name]
    place = f"{entry.value} of the package {package(entry)}"
    return PluginError(f"the {kind} {name!r} is a plug-in ({place}) and fails: {why}. Update the package or remove it.")


def package(entry: EntryPoint) -> str:
    """Name and version of the package that an entry point comes from."""
    return "of unknown name" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
