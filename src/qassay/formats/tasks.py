"""Tasks by name: the built-in ones, and those of plug-ins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qassay import tasks
from qassay.errors import InputError, unknown
from qassay.plugins import broken, load_plugin, plugins
from qassay.tasks import Task


def task_names() -> list[str]:
    """Names of all tasks, those of plug-ins too."""
    return sorted({*tasks.names(), *plugins("task")})


def task_definition(name: str) -> dict[str, Any]:
    """The definition of a task: its TOML file, or the table that a plug-in has."""
    if name in tasks.names():
        return tasks.definition(name)
    if name not in plugins("task"):
        raise unknown("task", name, task_names())
    definition = load_plugin("task", name)
    if not isinstance(definition, Mapping):
        raise broken("task", name, f"it is {type(definition).__name__}, not the table of a task")
    return {"name": name, **definition}


def named_task(name: str) -> Task:
    """A task by name; a plug-in's is checked like any other."""
    if name in tasks.names():
        return tasks.task(name)
    try:
        return tasks.from_definition(task_definition(name), file=name)
    except InputError as error:
        raise broken("task", name, str(error)) from None
