"""Output streams that take every character, whatever the terminal, the locale or the file they go to."""

from __future__ import annotations

import codecs
import io
import os
import sys

# Characters of tables and messages, for encodings without them.
_PLAIN = {"−": "-", "–": "-", "—": "-", "…": "...", "‘": "'", "’": "'", "“": '"', "”": '"', "·": "."}


def prepare(*, as_json: bool) -> None:
    """Open streams that are closed, and have characters replaced that an encoding such as ASCII or cp1252 lacks.

    In JSON they are escaped, so that nothing is lost; elsewhere similar characters, or question marks, stand for them.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller: `>&-`
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123  # open to the end
        elif isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors="qassay-json" if as_json and name == "stdout" else "qassay-plain")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN.get(each, "?") for each in error.object[error.start : error.end]), error.end


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    pairs = (units[place : place + 2].hex() for place in range(0, len(units), 2))
    return "".join(f"\\u{pair}" for pair in pairs), error.end


codecs.register_error("qassay-plain", _plain)
codecs.register_error("qassay-json", _escaped)
