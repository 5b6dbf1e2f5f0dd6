"""Tables for papers, in the form of the TREC overviews: submitter, run, score, components. Needs booktabs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qassay.display import called, safe_text
from qassay.tables import Cell, Column, Table, show, table

if TYPE_CHECKING:
    from qassay.reports.document import Report
    from qassay.scoring import RunScore, Scores

_ESCAPES = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "\n": " ",
    "\t": " ",
    "–": "--",
    "τ": r"$\tau$",
    "−": "$-$",
}


def report_latex(report: Report, *, top: int | None = None) -> str:
    """All runs, the best run of each organisation where organisations are known, and the first two runs compared."""
    parts = [
        "% Needs \\usepackage{booktabs}; compile with LuaLaTeX or XeLaTeX where names are not ASCII.",
        f"% {_comment(report.title)}. {_comment(report.subtitle)}. Made with Qassay {report.version}.",
    ]
    if report.scores is None:
        board = next(exhibit.numbers for exhibit in report.exhibits() if exhibit.name == "scores")
        parts.append(tabular(_first(board, top), "Scores of all runs." if top is None else f"The {top} best runs."))
        return "\n".join([*parts, *_differences(report)]) + "\n"
    every = report.scores
    parts.append(tabular(_first(overview(every), top), _caption(every, "Scores of all runs", top)))
    if any(about.organisation for about in every.information.values()):
        best = every.best_per_organisation()
        caption = _caption(every, "Best run of each organisation", top)
        parts.append(tabular(_first(overview(best), top), caption))
    return "\n".join([*parts, *_differences(report)]) + "\n"


def _differences(report: Report) -> list[str]:
    """The first two runs compared."""
    shown = [exhibit.numbers for exhibit in report.exhibits() if exhibit.name == "first-two"]
    return [tabular(table, f"{table.title}.") for table in shown]


def _caption(scores: Scores, title: str, top: int | None) -> str:
    first = "" if top is None else f", the first {top}"
    manual = any(scores.information[row.run].manual for row in scores.runs)
    star = " A star marks a manual run." if manual else ""
    return f"{title}{first}, by {scores.measure}; judgments: {called(scores.key)}.{star}"


def overview(scores: Scores) -> Table:
    """Submitter, run, score and components, as the TREC overviews print them."""
    parts = list(dict.fromkeys(name for row in scores.runs for name in row.components if name != scores.measure))
    columns: list[Column | str] = ["Submitter", "Run", Column("Score", ".3f")]
    columns += [Column(name, ".3f") for name in parts]
    return table("", columns, [_row(scores, row, parts) for row in scores.runs])


def _row(scores: Scores, row: RunScore, parts: Sequence[str]) -> tuple[Cell, ...]:
    about = scores.information[row.run]
    star = "*" if about.manual else ""
    return (about.organisation or "–", row.run + star, row.score, *(row.components.get(name) for name in parts))


def _first(board: Table, top: int | None) -> Table:
    return Table(board.title, board.columns, board.rows[:top], board.notes)


def tabular(shown: Table, caption: str) -> str:
    """A table with rules above, below and under its header."""
    form = "".join("l" if column.left else "r" for column in shown.columns)
    header = " & ".join(escape(column.header) for column in shown.columns)
    rows = [
        " & ".join(escape(show(cell, column.spec)) for cell, column in zip(row, shown.columns, strict=True))
        for row in shown.rows
    ]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape(caption)}}}",
            rf"\begin{{tabular}}{{{form}}}",
            r"\toprule",
            header + r" \\",
            r"\midrule",
            *(_safe_start(row) + r" \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def escape(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    >>> escape("a_b & 50% \\x")
    'a\\_b \\& 50\\% \\textbackslash{}x'
    """
    return "".join(_ESCAPES.get(character, character) for character in safe_text(text))


def _safe_start(row: str) -> str:
    r"""A row of a table after another one, whose `\\` would take a bracket or a star that follows for its own.

    >>> _safe_start("[x] & 1"), _safe_start("x & 1")
    ('{}[x] & 1', 'x & 1')
    """
    return "{}" + row if row.startswith(("[", "*")) else row


def _comment(text: str) -> str:
    return safe_text(text).replace("\n", " ").replace("\r", " ")
