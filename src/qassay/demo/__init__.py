"""The built-in evaluation, written for this project: see the README beside its files."""

from __future__ import annotations

from importlib import resources
from pathlib import Path


def demo_folder() -> Path:
    """The folder of the built-in evaluation (read-only: copy it to change it)."""
    return Path(str(resources.files(__name__) / "evaluation"))
