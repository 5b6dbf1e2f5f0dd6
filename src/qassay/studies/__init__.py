"""The studies: one file for each question that people ask of scores and judgments.

    facts   the test set and its key in numbers      reuse   are the judgments fair to new systems?
    score   who is best?                             compare is it real?
    agree   how far judgment sets agree              people  who is out of line
    plan    how many questions does it take?         sample  which questions should people judge?
    trust   does a program judge like people?        reporting  all of them in one document
    sensitivity  which gaps would new questions repeat?
    stability    would the ranking be the same under other judgments?
    control      the part of compare that has a control

A file has the options, the call of the formulas, the record that it gives, and the page: what is said first, figures
and tables in order. The command of its name, Python, the pages of results and the report render that and add nothing.
Its docstring is the help of the command.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from qassay.errors import InputError
from qassay.options import Offered, options_of
from qassay.pages import BEST, JUDGES, MORE, REAL, WHERE, Page

__all__ = ["BEST", "COMMANDS", "JUDGES", "MORE", "REAL", "WHERE", "Study", "study"]

# The studies that are commands.
COMMANDS = (
    "agree",
    "compare",
    "describe",
    "facts",
    "plan",
    "reuse",
    "sample",
    "score",
    "sensitivity",
    "stability",
    "trust",
)


class NothingYetError(InputError):
    """What the study is about does not exist so far: its page says so, in place of results."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """One study, as every door renders it.

    `compute` gives a record from its source; `page` shows the record, and its own options say how much of it. A study
    of `scores` takes score tables too, and one of `judges` the tables of two judges or more, by name. `doing` is the
    work that takes long. `documents` are the types of its JSON, or where they are, if they load what the study can do
    without.
    """

    name: str
    compute: Callable[..., Any]
    page: Callable[..., Page]
    documents: tuple[type | str, ...]
    source: Literal["evaluation", "scores", "judges"] = "evaluation"
    doing: str = "computing"
    # How many systems scores from elsewhere need; whether one record is about all metrics of a table.
    systems: int = 1
    together: bool = False
    # The same of a program's scores, corrected by the people who judged its sample: pages show it beside the record.
    corrected: Callable[..., Any] | None = None
    # The name of its page in addresses, where that is not its own.
    page_name: str = ""
    # Its page of results: the heading, the name of its tab, the question of the tab (None: the study has no page).
    heading: str = ""
    label: str = ""
    tab: str | None = None
    # Whether its page gives way to others, and whether it is shown while people judge: it scores nothing.
    slow: bool = False
    is_open: bool = False

    @cached_property
    def options(self) -> list[Offered]:
        """What can be chosen: how it is computed."""
        return options_of(self.compute)

    @cached_property
    def shown_options(self) -> list[Offered]:
        """What can be chosen: how much of it is shown."""
        return options_of(self.page)

    @property
    def help(self) -> str:
        """The help of its command."""
        return inspect.cleandoc(sys.modules[self.compute.__module__].__doc__ or "")

    @property
    def reports_progress(self) -> bool:
        """Whether it takes a callback for progress."""
        return "progress" in inspect.signature(self.compute).parameters


def study(name: str) -> Study:
    """The study of this name; its file is loaded now."""
    found: Study = importlib.import_module(f"qassay.studies.{name}").STUDY
    return found
