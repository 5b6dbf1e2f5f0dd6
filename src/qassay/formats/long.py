"""Tables with one row per answer, read as rows of scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

from qassay.errors import InputError, Problem, Remedy, few
from qassay.formats import fields
from qassay.formats.cells import (
    are_meant_numbers,
    complaint,
    is_absent,
    is_grades,
    is_too_large,
    read_numbers,
    text_among,
    too_large,
    way_out,
)
from qassay.formats.columns import (
    QUESTION,
    Columns,
    Roles,
    is_text,
    left_out_note,
    other_scores_note,
    refuse_metrics,
    summaries,
    sums_up,
)
from qassay.formats.fields import plain_name
from qassay.formats.score_rows import ScoreRows
from qassay.formats.tables.table import RawTable

# What columns of scores are, where neither a system nor a score is named: the systems, or the metrics of one system.
ColumnsAre: TypeAlias = Literal["systems", "metrics"]

_SCORES = Remedy("score_column", "NAME", "Say which has the scores")


def is_long(table: RawTable, roles: Roles, columns: Columns) -> bool:
    """Whether a table has one row per answer: its columns are named so, or its questions come several times."""
    if columns.are_given:
        return True
    if roles.question is None:
        return False
    if roles.names_scores or (roles.system is not None and is_text(table.column(roles.system))):
        return True
    if roles.system is None and roles.repeat is None and roles.metric is None:
        return False
    questions = table.column(roles.question)
    return len(set(questions)) < len(questions)


def long_rows(table: RawTable, roles: Roles, *, columns_are: ColumnsAre, stop: bool) -> ScoreRows:
    """The scores of a table. `stop`: text in place of a score is an error, not a missing score."""
    questions = _labels(table, _question(table, roles), "question")
    size = len(questions)
    systems = [""] * size if roles.system is None else _labels(table, roles.system, "system")
    repeats = [""] * size if roles.repeat is None else _labels(table, roles.repeat, "repeat")
    metrics = [""] * size if roles.metric is None else _labels(table, roles.metric, "metric")
    _check(table, roles)
    _refuse_summaries(table, questions)
    rows = ScoreRows("long table", table.file, lines=[])
    rows.notes += [*table.notes, *left_out_note(roles.left_out)]
    rows.notes += other_scores_note(roles.other_scores, table.header[roles.scores[0]])
    by_column = roles.system is None and columns_are == "systems" and not roles.names_scores
    if by_column:
        refuse_metrics(table, [table.header[place] for place in roles.scores])
    for place in roles.scores:
        name = table.header[place]
        rows.values += _scores(table, place, rows.notes, stop=stop)
        rows.questions += questions
        rows.repeats += repeats
        rows.systems += [name] * size if by_column else systems
        unnamed = by_column or (roles.names_scores and len(roles.scores) == 1 and plain_name(name) in fields.SCORE)
        rows.metrics += metrics if roles.metric is not None or unnamed else [name] * size
        assert rows.lines is not None
        rows.lines += [table.line(i) for i in range(size)]
    if table.lines is None:
        rows.lines = None
    rows.notes = list(dict.fromkeys(rows.notes))
    return rows


def _question(table: RawTable, roles: Roles) -> int:
    if roles.question is None:
        message = (
            f"there is no column of questions. The columns are {few(table.header, 20)}; usual names are "
            f"{few(QUESTION, 5)}"
        )
        option = Remedy("question_column", "NAME", "Say which it is")
        raise InputError(table.problem(message, option, line=table.header_line))
    return roles.question


def _check(table: RawTable, roles: Roles) -> None:
    if not table.size:
        raise InputError(table.problem("no scores: the table has only a header"))
    if not roles.scores:
        message = f"there is no column of scores. The columns are {few(table.header, 20)}"
        raise InputError(table.problem(message, _SCORES, line=table.header_line))
    if roles.metric is not None and len(roles.scores) > 1:
        names = few([table.header[place] for place in roles.scores])
        message = f"beside the metric column there are several columns of numbers: {names}"
        raise InputError(table.problem(message, _SCORES, line=table.header_line))


def _refuse_summaries(table: RawTable, questions: Sequence[str]) -> None:
    names = list(dict.fromkeys(questions))
    sums = {names[i] for i in summaries(names)}
    if sums:
        raise InputError(
            table.problem(sums_up("row", name), line=table.line(i)) for i, name in enumerate(questions) if name in sums
        )


def _labels(table: RawTable, place: int, noun: str) -> list[str]:
    """The names in a column, none of which is empty."""
    names = [cell.strip() for cell in table.column(place)]
    empty = [i for i, name in enumerate(names) if not name]
    if empty:
        column = table.header[place]
        raise InputError(
            Problem("syntax", f"row {i + 1}, column {column}: no {noun}", table.file, _line(table, i)) for i in empty
        )
    return names


def _line(table: RawTable, row: int) -> int | None:
    return None if table.lines is None else table.lines[row]


def _scores(table: RawTable, place: int, notes: list[str], *, stop: bool) -> list[float]:
    """The numbers of one column; NaN where there is none."""
    cells = table.column(place)
    numbers = read_numbers(dict.fromkeys(cells), grades=is_grades(cells), decimal_commas=table.decimal_commas)
    notes += numbers.notes
    wrong = [i for i, cell in enumerate(cells) if math.isnan(numbers.known[cell]) and not is_absent(cell)]
    if wrong and (stop or are_meant_numbers(cells)):
        name = table.header[place]
        raise InputError(
            table.problem(
                f"row {i + 1}, column {name}: {complaint(cells[i].strip())}", *way_out(cells[i]), line=table.line(i)
            )
            for i in wrong
        )
    large = [i for i, cell in enumerate(cells) if is_too_large(numbers.known[cell])]
    if large:
        name = table.header[place]
        raise InputError(
            table.problem(f"row {i + 1}, column {name}: {too_large(cells[i].strip())}", line=table.line(i))
            for i in large
        )
    notes += text_among(cells[i] for i in wrong)
    return [numbers.known[cell] for cell in cells]
