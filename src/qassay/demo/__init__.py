"""The built-in evaluations, written for this project: see the README beside the files of each."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from qassay.errors import unknown

Demo: TypeAlias = Literal["series", "entailment", "rag"]
DEMOS: tuple[Demo, ...] = get_args(Demo)


def demo_folder(name: Demo = "series") -> Path:
    """The folder of a built-in evaluation (read-only: copy it to change it).

    `series` holds question series with ten runs and three assessors, `entailment` text-hypothesis pairs with
    justifications, `rag` long answers with citations.
    """
    if name not in DEMOS:
        raise unknown("built-in evaluation", name, DEMOS)
    return Path(str(resources.files(__name__) / name))
