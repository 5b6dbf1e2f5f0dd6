"""A wide table of scores: one row per unit and one column per run, or the transpose. (FORMATS 5 and 7)

Every cell that cannot be a score is reported, with its row and column, before anything is computed; decimals are read
as they are written, so that sums of them are exact.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import Floats
from qassay.errors import MOST_KEPT, InputError, Problem, Problems, Remedy, UsageError, few, unknown
from qassay.formats.cells import (
    COUNTED_AS_ZERO,
    GRADES,
    LARGEST_SCORE,
    Numbers,
    are_meant_numbers,
    complaint,
    is_absent,
    is_grades,
    meant_number,
    number,
    read_numbers,
    text_among,
    too_large,
    way_out,
)
from qassay.formats.columns import (
    RUN_HEADERS,
    UNIT_HEADERS,
    id_column,
    is_blank,
    is_index,
    left_out_note,
    refuse_metrics,
    summaries,
    sums_up,
    unit_name,
)
from qassay.formats.fields import plain_name
from qassay.formats.files import path_of
from qassay.formats.metrics import is_cost, with_direction
from qassay.formats.tables import read_table
from qassay.formats.tables.table import RawTable
from qassay.matrix import Repeats, ScoreMatrix
from qassay.tables import counted, plural

Missing: TypeAlias = Literal["stop", "zero", "skip"]
Booleans: TypeAlias = NDArray[np.bool_]

# Integers up to here, and their sums, are exact in double precision.
EXACT = 2**53
# Different texts, and characters of a text, that may still be grades.
_MOST_GRADES = 12
_LONGEST_GRADE = 20


def read_matrix(
    path: str | Path,
    *,
    runs_as_rows: bool = False,
    missing: Missing = "stop",
    series_from: str | None = None,
    measure: str = "score",
) -> ScoreMatrix:
    """Read a score matrix from a wide table: CSV, TSV, Parquet, Arrow, Excel or JSON rows.

    A cell that is empty or not a number stops the reading, and all of them are reported; with `missing="zero"`
    it counts as 0, with `"skip"` its unit is left out for every run. A column of text is not a run, and is left out.
    `series_from` is a regular expression whose first group, found in a unit's id, names its series: the units of the
    matrix are then the series, each with the mean of its units. The notes of the matrix say what was applied.
    `qassay.scores` reads every other form as well.
    """
    file = path_of(path, "read_matrix", "For scores in memory: qassay.scores(frame)")
    matrix = wide_matrix(read_table(file).in_text(), runs_as_rows=runs_as_rows, missing=missing, measure=measure)
    matrix = with_direction(matrix, ())
    return matrix if series_from is None else average_series(matrix, series_from)


def wide_matrix(
    table: RawTable,
    *,
    runs_as_rows: bool = False,
    missing: Missing = "stop",
    measure: str = "score",
    question: str | None = None,
    systems: Sequence[str] | None = None,
) -> ScoreMatrix:
    """The score matrix of a wide table.

    `question` names the column of the ids of the units; `systems` are the columns, or rows, to take, where not all are.
    """
    question = question or table.ids
    table, costs = (_chosen_rows(table, systems), []) if runs_as_rows else _chosen_columns(table, question, systems)
    labelled = _label(table, runs_as_rows=runs_as_rows, question=question)
    numbers = _numbers(table, labelled)
    values, bad = _parse(table, labelled, numbers)
    keeps_empty = runs_as_rows or systems is not None
    labelled, values, bad, texts = _without_text(
        table, labelled, values, bad, runs_as_rows=runs_as_rows, keeps_empty=keeps_empty
    )
    if systems is None and not runs_as_rows:
        refuse_metrics(table, labelled.names)
    _refuse(table, labelled, bad, complaint, stop=missing == "stop")
    _refuse(table, labelled, np.abs(values) > LARGEST_SCORE, too_large)
    scores, holes = (values, bad) if runs_as_rows else (values.T, bad.T)
    runs, units = labelled.rows, labelled.names
    if not runs_as_rows:
        runs, units = units, runs
        if systems is None and id_column(table, question) is None:
            _refuse_ids(table, runs, scores, holes)
    matrix = ScoreMatrix(
        runs=runs,
        units=units,
        values=np.ascontiguousarray(np.where(holes, 0.0, scores)),
        measure=measure,
        denominator=common_denominator(values[~bad], numbers.digits, units=len(units)),
        notes=(*table.notes, *left_out_note([*costs, *texts]), *numbers.notes),
        unit_name=("question", "questions") if runs_as_rows else labelled.unit_name,
    )
    if holes.any():
        notes_on_text = text_among(table.columns[labelled.places[j]][i] for i, j in np.argwhere(bad).tolist())
        matrix = _fill(matrix, holes, missing, table.file)
        matrix = replace(matrix, notes=(*matrix.notes, *notes_on_text))
    return matrix


def average_series(matrix: ScoreMatrix, pattern: str) -> ScoreMatrix:
    """The matrix whose units are series: the first group of `pattern` in a unit's id names its series.

    Exactness survives where it can: means over n units are whole numbers of 1/(n * denominator).
    """
    names = _series_names(matrix.units, pattern)
    series = tuple(dict.fromkeys(names))
    index = {name: i for i, name in enumerate(series)}
    which = np.array([index[name] for name in names])
    sizes = np.bincount(which)
    exact = matrix.numerators()
    source = matrix.values if exact is None else exact.astype(np.float64)
    sums: Floats = np.stack([np.bincount(which, weights=row, minlength=len(series)) for row in source])
    denominator = None
    if matrix.denominator is not None:
        denominator = matrix.denominator * math.lcm(*map(int, sizes))
        sums = sums / matrix.denominator
        if denominator * max(1.0, float(np.abs(sums / sizes).max(initial=0.0))) * len(series) >= EXACT:
            denominator = None
    note = f"{len(names)} {matrix.unit_name[1]} averaged into {len(series)} series."
    return replace(
        matrix,
        units=series,
        values=sums / sizes,
        denominator=denominator,
        notes=(*matrix.notes, note),
        clusters=None,
        right_or_wrong=False,
        repeats=None if matrix.repeats is None else _series_repeats(matrix.repeats, which, sizes),
        unit_name=("series", "series"),
    )


def _series_repeats(repeats: Repeats, which: NDArray[np.int64], sizes: NDArray[np.int64]) -> Repeats:
    """The repeats of series: in each repeat, the mean of the units of a series."""
    means = []
    for scores in repeats.values:
        sums = [np.bincount(which, weights=column, minlength=len(sizes)) for column in scores.T]
        means.append(np.ascontiguousarray((np.stack(sums) / sizes).T))
    return Repeats(tuple(means))


def format_matrix(matrix: ScoreMatrix) -> str:
    """The matrix as CSV text: one row per unit, every number at full precision."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["unit", *matrix.runs])
    for unit, column in zip(matrix.units, matrix.values.T.tolist(), strict=True):
        writer.writerow([unit, *(int(v) if v.is_integer() else repr(v) for v in column)])
    return text.getvalue()


def write_matrix(matrix: ScoreMatrix, path: str | Path) -> None:
    """Write the matrix as a CSV file that `read_matrix` reads back unchanged."""
    Path(path).write_text(format_matrix(matrix), encoding="utf-8", newline="")


@dataclass(frozen=True)
class _Labelled:
    """Where the names are: those of the rows, those of the columns of scores, and the places of these columns."""

    rows: tuple[str, ...]
    names: tuple[str, ...]
    places: tuple[int, ...]
    unit_name: tuple[str, str]


def _chosen_columns(table: RawTable, question: str | None, systems: Sequence[str] | None) -> tuple[RawTable, list[str]]:
    """The table with its ids first and without columns of costs, or with the chosen systems alone."""
    header = table.header
    ids = id_column(table, question)
    # Beside a column of ids, a first column without a name is the running number that pandas writes.
    running = 0 if ids not in (0, None) and is_index(plain_name(header[0])) else None
    scores = [place for place in range(len(header)) if place not in (ids, running)]
    costs: list[str] = []
    if systems is not None:
        for name in systems:
            if name not in header:
                raise unknown("system", name, [header[place] for place in scores])
        scores = [header.index(name) for name in systems]
    else:
        costs = [header[place] for place in scores if is_cost(header[place])]
        scores = [place for place in scores if not is_cost(header[place])] or scores
    return table.with_columns([*([] if ids is None else [ids]), *scores]), costs


def _chosen_rows(table: RawTable, systems: Sequence[str] | None) -> RawTable:
    """The table of one row per system with the chosen systems alone."""
    if systems is None:
        return table
    names = [name.strip() for name in table.column(0)]
    for name in systems:
        if name not in names:
            raise unknown("system", name, names)
    return table.with_rows([row for row, name in enumerate(names) if name in systems])


def _label(table: RawTable, *, runs_as_rows: bool, question: str | None) -> _Labelled:
    """Names of rows and columns, checked: none empty, none twice."""
    header = table.header
    if not runs_as_rows:
        _refuse_scores_as_names(table, header)
    has_names = plain_name(header[0]) in (RUN_HEADERS if runs_as_rows else UNIT_HEADERS) or (
        question is not None and header[0] == question
    )
    if runs_as_rows and not has_names:
        message = f"the first column is {header[0]!r}; with runs as rows its header is empty, run, tag or system"
        raise InputError(table.problem(message))
    rows = [name.strip() for name in table.column(0)] if has_names else [str(i + 1) for i in range(table.size)]
    columns = header[1:] if has_names else header
    problems = Problems(_names(table, columns, "column", runs=not runs_as_rows))
    problems += _names(table, rows, "row", runs=runs_as_rows)
    if not columns:
        problems.append(
            table.problem(f"no {'questions' if runs_as_rows else 'systems'}: the table has only one column")
        )
    if not rows:
        problems.append(table.problem(f"no {'systems' if runs_as_rows else 'questions'}: the table has only a header"))
    if runs_as_rows:
        problems += [table.problem(sums_up("column", columns[i]), line=table.header_line) for i in summaries(columns)]
    elif has_names:
        problems += [table.problem(sums_up("row", rows[i]), line=table.line(i)) for i in summaries(rows)]
    if problems:
        raise InputError(problems)
    places = tuple(range(int(has_names), len(header)))
    return _Labelled(tuple(rows), tuple(columns), places, unit_name(header[0] if has_names else ""))


def _refuse_scores_as_names(table: RawTable, header: Sequence[str]) -> None:
    """Stop where the first line has scores in place of names: numbers, with decimals, and no known name of ids."""
    numbers = [name for name in header[1:] if not math.isnan(number(name))]
    if plain_name(header[0]) not in UNIT_HEADERS and numbers == header[1:] and any("." in name for name in numbers):
        names = ["new", "old"] if len(header) == 2 else ["id", "new", "old"]
        example = ",".join([*names, "..."] if len(header) > len(names) else names)
        message = (
            "the first line has numbers where names of systems belong. Add a line with names above it, such as "
            f"{example}"
        )
        raise InputError(table.problem(message, line=table.header_line))


def _names(table: RawTable, names: Sequence[str], axis: str, *, runs: bool) -> Iterator[Problem]:
    """The faults of the names along one axis."""
    if all(names) and len(set(names)) == len(names):
        return
    kind = "run tag" if runs else "question id"
    places: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        places.setdefault(name, []).append(i)
    offset = 1 if axis == "row" else 1 + len(table.header) - len(names)
    for name, where in places.items():
        line = table.line(where[-1]) if axis == "row" else table.header_line
        numbers = few((str(table.line(i) if axis == "row" else i + offset) for i in where[:21]), 20)
        axis_word = "column" if axis == "column" else "row" if table.lines is None else "line"
        if not name:
            yield table.problem(f"{axis_word}{'s' * (len(where) > 1)} {numbers}: no {kind}", line=line)
        elif len(where) > 1:
            repeats = () if runs or axis == "column" else (Remedy("repeats", "rows", "If these are repeats"),)
            message = f"{kind} {name!r} is there {len(where)} times, in {axis_word}s {numbers}"
            yield table.problem(message, *repeats, line=line)


def _numbers(table: RawTable, labelled: _Labelled) -> Numbers:
    """The different values of the table's cells, in words."""
    texts = {cell for column in map(table.column, labelled.places) for cell in column}
    grades = not GRADES.keys().isdisjoint(texts) and all(
        is_grades(column) for column in map(table.column, labelled.places) if not GRADES.keys().isdisjoint(column)
    )
    return read_numbers(texts, grades=grades, decimal_commas=table.decimal_commas)


def _parse(table: RawTable, labelled: _Labelled, numbers: Numbers) -> tuple[Floats, Booleans]:
    """The numbers in the order of the file, and which cells are none."""
    values = np.empty((len(labelled.rows), len(labelled.names)))
    for place, column in zip(labelled.places, values.T, strict=True):
        column[:] = np.fromiter(map(numbers.known.__getitem__, table.column(place)), np.float64, table.size)
    return values, np.isnan(values)


def _without_text(
    table: RawTable, labelled: _Labelled, values: Floats, bad: Booleans, *, runs_as_rows: bool, keeps_empty: bool
) -> tuple[_Labelled, Floats, Booleans, list[str]]:
    """The table without columns of text: those without a number in which two cells or more say something.

    A blank column goes too, unless it was named or no column has numbers; one of NA is a run without scores.
    """
    without = {j: table.column(labelled.places[j]) for j in np.flatnonzero(bad.all(axis=0)).tolist()}
    drops_blank = not keeps_empty and not bad.all()
    texts = [
        j
        for j, cells in without.items()
        if sum(not is_absent(cell) for cell in cells) > 1 or (drops_blank and is_blank(cells))
    ]
    if len(texts) < len(labelled.names):
        # A system whose scores are written in another way is not a column of text, nor are its scores missing.
        meant = [j for j in texts if are_meant_numbers(table.column(labelled.places[j]))]
        _refuse(table, labelled, bad & np.isin(np.arange(len(labelled.names)), meant), complaint)
    if not texts:
        return labelled, values, bad, []
    if 0 in texts and labelled.places[0] == 0:
        message, option = _not_scores(table.header[0])
        raise InputError(table.problem(message, option, line=table.header_line))
    columns = [j for j in range(len(labelled.names)) if j not in texts]
    names = [labelled.names[j] for j in texts]
    if not columns:
        noun = "questions" if runs_as_rows else "systems"
        message = f"no column has numbers, so there are no {noun}. Columns: {few(names)}"
        raise InputError(table.problem(f"{message}{_what_to_write(table, labelled)}", line=table.header_line))
    labels = replace(
        labelled,
        names=tuple(labelled.names[j] for j in columns),
        places=tuple(labelled.places[j] for j in columns),
    )
    return labels, values[:, columns], bad[:, columns], names


def _what_to_write(table: RawTable, labelled: _Labelled) -> str:
    """Advice on texts that may be meant as scores: percentages, decimal commas, and grades, of which there are few."""
    texts = dict.fromkeys(cell.strip() for place in labelled.places for cell in table.column(place))
    stated = [text for text in texts if not is_absent(text)]
    if advice := meant_number(stated[0]):
        return f". For {stated[0]!r} {advice}"
    if len(stated) > _MOST_GRADES or max(map(len, stated)) > _LONGEST_GRADE:
        return ""
    return f". Write a number for each of {few(sorted(map(repr, stated)), _MOST_GRADES)}"


def common_denominator(values: Floats, digits: int, *, units: int) -> int | None:
    """The power of ten that makes every value whole, where sums over the units stay exact; else None."""
    if digits > 15:
        return None
    denominator = 10**digits
    largest = float(np.abs(values).max(initial=0.0))
    return denominator if denominator * max(1.0, largest) * units < EXACT else None


def _refuse(
    table: RawTable, labelled: _Labelled, bad: Booleans, fault_of: Callable[[str], str], *, stop: bool = True
) -> None:
    """Stop at every cell that is not a score, unless a rule for missing scores is chosen; `fault_of` says why."""
    problems = Problems()
    places = np.argwhere(bad) if stop else np.empty((0, 2), dtype=np.int64)
    for i, j in places[:MOST_KEPT].tolist():
        cell = table.columns[labelled.places[j]][i].strip()
        message = f"row {labelled.rows[i]}, column {labelled.names[j]}: {fault_of(cell)}"
        problems.append(table.problem(message, *way_out(cell), line=table.line(i)))
    problems.beyond[table.file] += max(0, len(places) - MOST_KEPT)
    if problems:
        raise InputError(problems)


def _refuse_ids(table: RawTable, runs: Sequence[str], scores: Floats, holes: Booleans) -> None:
    """Stop where the first run looks like the ids of the units: all different whole numbers, off the others' scale."""
    first, others = scores[0], scores[1:]
    if len(scores) < 2 or len(first) < 3 or holes.any() or np.abs(others).max() > 1 or first.max() <= 1:
        return
    if (first == np.rint(first)).all() and len(np.unique(first)) == len(first):
        known = ", ".join(name for name in UNIT_HEADERS if name)
        message = (
            f"the column {runs[0]!r} looks like the ids of the questions, not like a system. Call it one of {known}"
        )
        option = Remedy("question_column", runs[0], "Or say that it has the ids")
        raise InputError(table.problem(message, option, line=table.header_line))


def _not_scores(header: str) -> tuple[str, Remedy]:
    """The message about a first column without a single number, and the option that helps."""
    if plain_name(header) in RUN_HEADERS:
        message = f"column {header!r} has names of systems, not scores"
        return message, Remedy("runs_as_rows", True, "If each row is a system")
    known = ", ".join(UNIT_HEADERS[1:])
    message = f"column {header!r} has no numbers. Known names of a column with the ids of the questions are {known}"
    return message, Remedy("question_column", header, "If it has the ids")


def _fill(matrix: ScoreMatrix, holes: Booleans, missing: Missing, file: str) -> ScoreMatrix:
    """Apply the rule for missing cells, and say so."""
    cells = int(holes.sum())
    if holes.all():
        raise InputError(Problem("syntax", "no cell has a number, so there are no scores", file))
    if missing == "zero":
        note = f"{plural(cells, 'cell')} without a score {COUNTED_AS_ZERO}."
        return replace(matrix, notes=(*matrix.notes, note))
    complete = np.flatnonzero(~holes.any(axis=0))
    if not len(complete):
        message = f"every {matrix.unit_name[0]} has a cell without a score; none is left"
        raise InputError(Problem("syntax", message, file))
    left_out = len(matrix.units) - len(complete)
    whole = counted(len(matrix.units), matrix.unit_name)
    note = f"{left_out} of {whole} left out: a run has no score for them (missing: skip)."
    units = tuple(matrix.units[i] for i in complete)
    return replace(matrix, units=units, values=matrix.values[:, complete], notes=(*matrix.notes, note))


def _series_names(units: Sequence[str], pattern: str) -> list[str]:
    """The series of every unit; an error that names the units the pattern does not fit."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"series pattern {pattern!r} is not a regular expression: {error}") from None
    if compiled.groups < 1:
        raise UsageError(f"series pattern {pattern!r} has no group; for ids such as 141.2 write '^([^.]+)'")
    matches = [compiled.search(unit) for unit in units]
    lost = [unit for unit, match in zip(units, matches, strict=True) if match is None or match[1] is None]
    if lost:
        ids = f"{plural(len(lost), 'question id')}: {few(lost)}"
        raise UsageError(f"series pattern {pattern!r} finds no series in {ids}")
    return [match[1] for match in matches if match is not None]
