"""Tags of runs and names of judgment sets, and the file names they become."""

from __future__ import annotations

import unicodedata
from pathlib import Path, PurePath
from urllib.parse import quote, unquote

LONGEST_NAME = 200
# The longest file name that the usual file systems take, in bytes.
LONGEST_FILE_NAME = 255

# Endings of the names of tables.
TABLE_SUFFIXES = (".jsonl", ".json", ".ndjson", ".tsv", ".csv", ".parquet", ".arrow", ".feather", ".xlsx")


def file_name(name: str) -> str:
    """A tag or set name as a file name: every character outside `A-Za-z0-9._-` becomes %XX.

    >>> file_name("llm:gpt 4"), file_name("..")
    ('llm%3Agpt%204', '%2E%2E')
    """
    escaped = quote(name, safe="", encoding="utf-8").replace("~", "%7E")
    # A leading dot would hide the file, or name a folder above.
    return "%2E" * (len(escaped) - len(escaped.lstrip("."))) + escaped.lstrip(".")


def set_name(path: str | Path) -> str:
    """The tag or set name that a file name stands for: without extensions, %XX undone.

    Extensions are that of a compression and that of a form, once each: a name may end in what looks like one.

    >>> set_name("judgments/llm%3Agpt.jsonl.gz"), set_name("v1.txt.jsonl")
    ('llm:gpt', 'v1.txt')
    """
    stem = PurePath(path).name.removesuffix(".gz").removesuffix(".zst")
    for suffix in (*TABLE_SUFFIXES, ".txt", ".run", ".rte", ".xml", ".sgml", ".jl"):
        if stem.endswith(suffix) and stem != suffix:
            stem = stem.removesuffix(suffix)
            break
    return unquote(stem)


def name_fault(name: str) -> str | None:
    """The fault of a tag or set name, or None."""
    if not name:
        return "is empty"
    if len(name) > LONGEST_NAME:
        return f"has {len(name)} characters; at most {LONGEST_NAME} are allowed"
    for character in name:
        if character.isspace() or character == "/" or unicodedata.category(character) in ("Cc", "Cs"):
            return f"contains {character!r}; white space, slashes and control characters are not allowed"
    return None
