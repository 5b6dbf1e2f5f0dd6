"""Extras: packages that only some commands need, and the one line that installs them.

The base scores and analyses. An import that fails because an extra is not installed becomes a `MissingExtraError`:
on the command line in one place (`qassay.cli.main`), in Python where a part that needs an extra is entered (`require`).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

from qassay.errors import UsageError

# The modules of every extra, by the name that is imported; pyproject.toml has the packages.
EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "serve": (
        "alembic",
        "anyio",
        "argon2",
        "fastapi",
        "jinja2",
        "limits",
        "pydantic",
        "python_multipart",
        "sqlalchemy",
        "starlette",
        "uvicorn",
    ),
    "search": ("nupunkt", "tantivy"),
    "figures": ("altair", "vl_convert"),
    "embed": ("onnxruntime", "tokenizers", "wordllama"),
    "excel": ("fastexcel",),
    "fast": ("numba",),
    "nlp": ("spacy",),
    "postgres": ("psycopg",),
    "ray": ("ray",),
    "sso": ("joserfc",),
    "llm": ("genai_prices", "httpx"),
}


class MissingExtraError(UsageError):
    """A part of Qassay is asked for whose packages are not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        self.extra: Final = extra
        super().__init__(f"{purpose} needs more: {install_line(extra)}")


def install_line(extra: str) -> str:
    """The line that installs an extra.

    >>> install_line("serve")
    "pip install 'qassay[serve]'"
    """
    return f"pip install 'qassay[{extra}]'"


def installed(extra: str) -> bool:
    """Whether all modules of an extra can be imported."""
    return all(find_spec(module) is not None for module in EXTRAS[extra])


def require(extra: str, purpose: str) -> None:
    """Stop with the line that installs an extra, where it is not installed; `purpose` says what needs it."""
    if not installed(extra):
        raise MissingExtraError(extra, purpose)


def missing_extra(error: ModuleNotFoundError, purpose: str) -> MissingExtraError | None:
    """The error to raise for a failed import; None where no extra has the module."""
    module = (error.name or "").partition(".")[0]
    extra = next((name for name, modules in EXTRAS.items() if module in modules), None)
    return None if extra is None else MissingExtraError(extra, purpose)
