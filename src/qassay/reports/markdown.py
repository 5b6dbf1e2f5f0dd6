"""A report in Markdown: sentences, tables, methods and commands, for wikis and pull requests."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from qassay.display import safe_text
from qassay.tables import pipes

if TYPE_CHECKING:
    from qassay.reports.document import Report
    from qassay.tables import Table

MOST_ROWS = 60
# What Markdown, or the HTML inside it, would take for markup.
_MARKUP = re.compile(r"([\\`*_\[\]<>|#~$])")


def report_markdown(report: Report) -> str:
    """The whole document."""
    lead, *rest = report.answer
    parts = [f"# {_plain(report.title)}", _plain(report.subtitle), f"**{_plain(lead)}**", _plain(" ".join(rest))]
    if report.facts:
        parts.append(
            "\n".join(f"- {_plain(f.label)}: **{_plain(f.value)}** ({_plain(f.meaning)})" for f in report.facts)
        )
    for section in report.drawn:
        parts += [f"## {_plain(section.title)}", _plain(safe_text(" ".join(section.answer)))]
        parts += [_table(exhibit.numbers) for exhibit in section.exhibits if len(exhibit.numbers.columns) <= 16]
    parts += ["## How was it done?", "\n".join(f"- {_plain(paragraph)}" for paragraph in report.methods)]
    if report.commands:
        parts.append("## Do it again")
        parts += [f"{_plain(purpose)}\n\n{_code(command)}" for purpose, command in report.commands.items()]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(table: Table) -> str:
    """The first rows of a table, with its title above and its notes below."""
    columns = table.columns
    lines = [
        pipes(_cell(column.header) for column in columns),
        pipes(":--" if column.left else "--:" for column in columns),
        *(pipes(map(_cell, row)) for row in replace(table, rows=table.rows[:MOST_ROWS]).cells()),
    ]
    left = len(table.rows) - MOST_ROWS
    notes = [f"{left:,} more rows: report --format csv writes all of them."] if left > 0 else []
    notes += list(table.notes)
    title = [f"**{_plain(table.title)}**"] if table.title else []
    return "\n\n".join([*title, "\n".join(lines), *map(_plain, notes)])


def _cell(cell: str) -> str:
    return _plain(safe_text(cell)).replace("\n", " ")


def _plain(prose: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> _plain("a_b <script>")
    'a\\_b \\<script\\>'
    """
    return _MARKUP.sub(r"\\\1", prose)


def _code(command: str) -> str:
    """A block of code, fenced by more backticks than the command has in a row."""
    longest = max((len(run) for run in re.findall("`+", command)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{safe_text(command)}\n{fence}"
