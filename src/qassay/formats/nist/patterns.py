"""Answer patterns: regular expressions, and the documents that support what they match."""

from __future__ import annotations

import re
import warnings as python_warnings
from collections.abc import Container, Iterable, Mapping
from typing import Any

from qassay.errors import InputError, Problem
from qassay.formats import lines
from qassay.formats.jsonl import Numbered
from qassay.formats.nist.writing import Writer

# NYT19980619.0373, APW_ENG_20050101.0001; AP880212-0001; BLOG06-20051206-000-0000000001.
_DOC = re.compile(
    r"[A-Z]{2,5}(?:_[A-Z]{3}_)?[0-9]{8}\.[0-9]{4}|[A-Z]{2,5}[0-9]{6}-[0-9]{4}|BLOG06-[0-9]{8}-[0-9]{3}-[0-9]+"
)
# Longer ones take seconds to compile, and nobody writes them.
LONGEST_PATTERN = 10_000
_FIELD = re.compile(r"[^ \t]+")


def looks_like_doc(field: str) -> bool:
    """Whether a field looks like a doc-id of the collections TREC used.

    >>> looks_like_doc("NYT19980619.0373"), looks_like_doc("B-52")
    (True, False)
    """
    return _DOC.fullmatch(field) is not None


def parse_patterns(
    text: str, *, file: str, documents: Container[str] = (), warnings: list[Problem] | None = None
) -> list[Numbered]:
    """Rows of `qid regex` and `qid regex docid docid ...`: question, pattern, docs.

    Doc-ids are the last fields that look like one or are in `documents`; at least one field stays the pattern. A
    pattern that Python cannot compile is an error.
    """
    rows: list[Numbered] = []
    problems = lines.unprintable(text, file=file)
    for number, line in lines.numbered(text):
        parts = lines.fields(line, 1)
        question = parts[0]
        if len(parts) < 2:
            message = f"question {question}: a line is: qid regex, or: qid regex docid docid ..."
            problems.append(Problem("syntax", message, file, number, question))
            continue
        pattern, docs = _split(parts[1], documents)
        if fault := _fault(pattern):
            message = f"question {question}: {pattern[:60]!r} is not a regular expression: {fault}"
            problems.append(Problem("syntax", message, file, number, question))
        rows.append((number, {"question": question, "pattern": pattern, "docs": docs}))
    if problems:
        raise InputError(problems)
    return rows


def format_patterns(rows: Iterable[Mapping[str, Any]], *, file: str) -> str:
    """The text of patterns, with documents where there are any."""
    writer = Writer(file)
    for row in rows:
        writer.line(row["question"], [row["question"]], " ".join([row["pattern"], *row.get("docs", ())]))
    return writer.text()


def _split(rest: str, documents: Container[str]) -> tuple[str, list[str]]:
    """The pattern, and the doc-ids behind it."""
    fields = list(_FIELD.finditer(rest))
    first = len(fields)
    while first > 1 and (looks_like_doc(fields[first - 1][0]) or fields[first - 1][0] in documents):
        first -= 1
    return rest[: fields[first - 1].end()], [field[0] for field in fields[first:]]


def _fault(pattern: str) -> str | None:
    if len(pattern) > LONGEST_PATTERN:
        return f"it has {len(pattern):,} characters; at most {LONGEST_PATTERN:,} are allowed"
    try:
        with python_warnings.catch_warnings():
            python_warnings.simplefilter("ignore")  # of sets such as [[a]: what they mean may change, they compile
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)
    return None
