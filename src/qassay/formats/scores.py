"""Scores in whatever form people have them: the one door. (FORMATS 7)

A source is a file, a frame, a dictionary or a score matrix. Wide tables become a score matrix directly, with decimals
as they are written; every other form becomes rows first (`ScoreRows`). One sentence says what was read.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from qassay.errors import InputError, Problem, Remedy, UsageError, few, unknown
from qassay.formats.assembling import RepeatsAre, SourceRows, assemble, file_names, match_ids, name_systems
from qassay.formats.columns import Columns, OneSystemError, Roles, find_roles, unit_name, with_scores
from qassay.formats.fields import own_rows
from qassay.formats.long import is_long, long_rows
from qassay.formats.matrix import Missing, average_series, wide_matrix
from qassay.formats.metrics import ALL, check_stated, is_cost, with_direction
from qassay.formats.score_rows import ScoreRows
from qassay.formats.sources import Source, listed_sources
from qassay.formats.tables import read_table
from qassay.formats.tables.memory import FILE, memory_table
from qassay.formats.tables.table import RawTable
from qassay.matrix import ScoreMatrix
from qassay.tables import plural

# Scores between 0 and 1 beside scores beyond this are not on one scale.
FAR_BEYOND = 10.0


@dataclass(frozen=True)
class ScoreTables:
    """Score matrices by metric, and warnings about the files that they were read from."""

    matrices: Mapping[str, ScoreMatrix]
    warnings: tuple[Problem, ...] = ()

    @property
    def matrix(self) -> ScoreMatrix:
        """The score matrix, where there is one metric."""
        if len(self.matrices) > 1:
            option = Remedy("metric", "NAME", "Choose one")
            raise UsageError(f"there are several metrics: {few(self.matrices, 20)}", option)
        return next(iter(self.matrices.values()))

    @property
    def read(self) -> str:
        """One sentence about what was read."""
        first = next(iter(self.matrices.values()))
        if len(self.matrices) == 1:
            return first.read
        words: dict[str, list[str]] = {}
        for name, matrix in self:
            words.setdefault(matrix.direction.words, []).append(name)
        directions = "".join(f"{said} for {few(names, 20)}" for said, names in words.items() if said)
        return f"{first.read.removesuffix(first.direction.words)} and {len(self.matrices) - 1} more{directions}"

    def __iter__(self) -> Iterator[tuple[str, ScoreMatrix]]:
        return iter(self.matrices.items())

    def __repr__(self) -> str:
        return f"<scores: {self.read}>"


def read_scores(
    sources: Any,
    *,
    metric: str | None = None,
    systems: Sequence[str] | None = None,
    missing: Missing = "stop",
    repeats: RepeatsAre = "column",
    columns: Columns | Mapping[str, str] | None = None,
    runs_as_rows: bool = False,
    series_from: str | None = None,
    lower_is_better: Collection[str] = (),
    sheet: str | None = None,
) -> ScoreTables:
    """Read scores in any form: the systems, the questions, and one score matrix per metric.

    `sources` is a source or a list of them. A source is a path, "NAME=FILE", a frame of pandas or polars, an Arrow
    table, a dictionary of columns, a dictionary of scores by question for each system, rows as dictionaries, or a score
    matrix. Tables may be wide (a column per system) or long (a row per answer); several files are one system each.

    metric: the metric to take, or "all"; systems: the systems to take; missing: what to do where a system has no score
    for a question ("stop", "zero", "skip"); repeats: "rows" counts several rows of one question and system as
    repeats; columns: names of the columns `question`, `system`, `score`, `repeat`, `metric`; runs_as_rows: a wide
    table has one row per system; series_from: a regular expression whose first group, found in a question's id, names
    its series; lower_is_better: the metrics whose lower scores are better, or "all"; sheet: the sheet of a workbook.
    """
    stated = [lower_is_better] if isinstance(lower_is_better, str) else lower_is_better
    listed = listed_sources(sources)
    chosen = columns if isinstance(columns, Columns) else _columns(columns or {})
    if len(listed) == 1 and isinstance(listed[0].content, ScoreMatrix):
        matrix = _selected(listed[0].content, systems)
        check_stated(stated, [matrix.measure])
        tables = ScoreTables({matrix.measure: with_direction(matrix, stated) if stated else matrix})
    else:
        tables = _Reader(metric, systems, missing, repeats, chosen, runs_as_rows, stated, sheet).read(listed)
    if series_from is not None:
        tables = replace(tables, matrices={name: _in_series(matrix, series_from) for name, matrix in tables})
    return tables


def _in_series(matrix: ScoreMatrix, pattern: str) -> ScoreMatrix:
    averaged = average_series(matrix, pattern)
    words = matrix.direction.words
    read = f"{matrix.read.removesuffix(words)}, averaged into {plural_unit(averaged)}{words}"
    return replace(averaged, read=read)


def plural_unit(matrix: ScoreMatrix) -> str:
    """The number of units with their name: 60 questions."""
    return f"{len(matrix.units):,} {matrix.unit_name[len(matrix.units) != 1]}"


def _columns(columns: Mapping[str, str]) -> Columns:
    known = ("question", "system", "score", "repeat", "metric")
    for name in columns:
        if name not in known:
            raise unknown("column", name, known)
    return Columns(**columns)


def _selected(matrix: ScoreMatrix, systems: Sequence[str] | None) -> ScoreMatrix:
    return matrix if systems is None else matrix.select(systems)


@dataclass(frozen=True)
class _Table:
    """A table with the roles of its columns."""

    source: Source
    grid: RawTable
    roles: Roles


@dataclass(frozen=True)
class _Reader:
    """How sources are read, as the user says it."""

    metric: str | None
    systems: Sequence[str] | None
    missing: Missing
    repeats: RepeatsAre
    columns: Columns
    runs_as_rows: bool
    lower_is_better: Collection[str]
    sheet: str | None

    def read(self, sources: Sequence[Source]) -> ScoreTables:
        """The score matrices of the sources."""
        loaded = [self._load(source) for source in sources]
        wide = self._wide(loaded)
        if wide is not None:
            check_stated(self.lower_is_better, [wide.measure])
            return ScoreTables({wide.measure: with_direction(wide, self.lower_is_better)})
        if self.runs_as_rows:
            raise UsageError(
                "systems as rows are read from one wide table, not from a long table or from several files"
            )
        parts = match_ids(name_systems(self._parts(loaded)))
        metrics = self._metrics(parts)
        check_stated(self.lower_is_better, {name or "score" for part in parts for name in part.rows.metrics})
        matrices = {name or "score": self._matrix(parts, name, _unit_name(loaded)) for name in metrics}
        warnings = tuple(warning for part in parts for warning in part.rows.warnings)
        return ScoreTables(matrices, warnings)

    def _load(self, source: Source) -> _Table | SourceRows:
        """A source as a table, or as rows where it is a tool's log."""
        content = source.content
        if isinstance(content, ScoreMatrix):
            return SourceRows(_matrix_rows(content), source.name, source.stem)
        if isinstance(content, Path):
            if content.is_dir():
                from qassay.formats.folder import open_folder

                open_folder(content)
                message = "is an evaluation, not a file of scores; score it first"
                raise InputError(Problem("configuration", message, str(content)))
            if self.sheet is None:
                from qassay.formats.foreign import read_log

                rows = read_log(content)
                if rows is not None:
                    return SourceRows(rows, source.name, source.stem)
            grid = read_table(content, sheet=self.sheet).in_text()
        else:
            if self.sheet is not None:
                raise UsageError(f"a sheet is part of an Excel workbook; this is a {type(content).__name__}")
            grid = memory_table(content).in_text()
        kind = None if self.columns.are_given or self.systems else own_rows(grid.header)
        if kind is not None:
            message = f"contains {kind}, not scores: import it into an evaluation, and score that"
            raise InputError(Problem("syntax", message, grid.file))
        roles = Roles(None, None, None, None, (), False) if self.runs_as_rows else find_roles(grid, self.columns)
        return _Table(source, grid, self._for_metric(grid, roles))

    def _for_metric(self, grid: RawTable, roles: Roles) -> Roles:
        """The roles where the metric is a column: its scores are then taken, and not those of a column called score."""
        if self.metric is None or self.metric not in grid.header or roles.metric is not None or self.columns.score:
            return roles
        chosen = roles.names_scores or is_cost(self.metric)
        return replace(roles, scores=(grid.header.index(self.metric),), names_scores=False) if chosen else roles

    def _wide(self, loaded: Sequence[_Table | SourceRows]) -> ScoreMatrix | None:
        """The matrix of a single wide table; None where there is anything else."""
        if len(loaded) > 1 or isinstance(loaded[0], SourceRows) or loaded[0].source.name is not None:
            return None
        table = loaded[0]
        header = [name.strip() for name in table.grid.header]
        roles, named = table.roles, set(self.systems or ())
        beside = {header[place] for place in (roles.repeat, roles.metric) if place is not None}
        # Systems may be called as columns of a long table are; a column of repeats or metrics beside them is none.
        names_columns = bool(named) and named <= set(header) and beside <= named
        long = is_long(table.grid, table.roles, self.columns) and not names_columns
        if not self.runs_as_rows and (long or self.repeats == "rows" or self.metric not in (None, ALL)):
            return None
        try:
            matrix = wide_matrix(
                table.grid,
                runs_as_rows=self.runs_as_rows,
                missing=self.missing,
                question=self.columns.question,
                systems=self.systems,
            )
        except OneSystemError:
            if self.metric == ALL:
                return None
            raise
        if self.systems is not None:
            matrix = self._beside_others(matrix, table.grid)
        return self._finished(_selected(matrix, self.systems), "wide table", table.grid.file)

    def _beside_others(self, chosen: ScoreMatrix, grid: RawTable) -> ScoreMatrix:
        """The matrix of the chosen systems of a wide table, with what the others tell of it, where they are systems.

        Columns that go beyond 0 to 1 are not systems beside those that do not.
        """
        with suppress(InputError):
            whole = wide_matrix(grid, runs_as_rows=self.runs_as_rows, missing="zero", question=self.columns.question)
            within = (whole.values >= 0).all(axis=1) & (whole.values <= 1).all(axis=1)
            binary = bool(np.isin(whole.values[within], (0.0, 1.0)).all())
            return replace(chosen, right_or_wrong=binary, others=len(set(whole.runs) - set(chosen.runs)))
        return chosen

    def _parts(self, loaded: Sequence[_Table | SourceRows]) -> list[SourceRows]:
        """Every source as rows. Columns that several files share, or that a metric names, are metrics."""
        loaded = [
            table if isinstance(table, SourceRows) else replace(table, roles=with_scores(table.grid, table.roles))
            for table in loaded
        ]
        tables = [table for table in loaded if isinstance(table, _Table)]
        names = [{table.grid.header[place] for place in table.roles.scores} for table in tables]
        shared = len(loaded) > 1 and (len(tables) < len(loaded) or bool(set.intersection(*names)))
        parts = []
        for table in loaded:
            if isinstance(table, SourceRows):
                parts.append(table)
                continue
            has_name = table.source.name is not None
            is_wide = not is_long(table.grid, table.roles, self.columns)
            # A wide table of metrics comes here only where all of them are asked for.
            metrics = shared or has_name or self.metric in table.grid.header or (self.metric == ALL and is_wide)
            rows = long_rows(
                table.grid,
                table.roles,
                columns_are="metrics" if metrics else "systems",
                stop=self.missing == "stop",
            )
            if is_wide:
                rows.form = "table" if metrics else "wide table"
            parts.append(SourceRows(rows, table.source.name, table.source.stem))
        return parts

    def _metrics(self, parts: Sequence[SourceRows]) -> list[str]:
        """The metrics to analyse: the one that all sources share, or those asked for."""
        by_part = [list(dict.fromkeys(part.rows.metrics)) for part in parts]
        shared = [name for name in by_part[0] if all(name in names for names in by_part)]
        every = list(dict.fromkeys(name for names in by_part for name in names))
        if self.metric is None or self.metric == ALL:
            if self.metric is None:
                shared = [name for name in shared if not is_cost(name)] or shared
            if len(shared) == 1 or (shared and self.metric == ALL):
                return shared
            first = {part.rows.default_metric for part in parts}
            if self.metric is None and len(first) == 1 and first <= set(shared):
                return [str(first.pop())]
            options = () if not shared else (Remedy("metric", "NAME", "Choose one"), Remedy("metric", ALL, "or all"))
            message = _no_metric(parts, by_part, shared)
            raise InputError(Problem("configuration", message, file_names(parts), way_out=options))
        if self.metric in shared or (self.metric == "score" and "" in shared):
            return ["" if self.metric not in shared else self.metric]
        if self.metric in every:
            lacking = [part.rows.file for part, names in zip(parts, by_part, strict=True) if self.metric not in names]
            message = f"there is no metric {self.metric!r} here. Metrics of all files: {_names(shared)}"
            raise InputError(Problem("configuration", message, lacking[0]))
        raise unknown("metric", self.metric, [name or "score" for name in every])

    def _matrix(self, parts: Sequence[SourceRows], metric: str, name: tuple[str, str]) -> ScoreMatrix:
        chosen = parts
        if self.systems is not None:
            chosen = [_only(part, self.systems) for part in parts]
            chosen = [part for part in chosen if len(part.rows)]
            known = [system for part in parts for system in part.systems]
            for system in self.systems:
                if system not in known:
                    raise unknown("system", system, known)
        matrix = assemble(chosen, metric, missing=self.missing, repeats=self.repeats, unit_name=name)
        if self.systems is not None:
            values = {
                value
                for part in parts
                for value, of in zip(part.rows.values, part.rows.metrics, strict=True)
                if of == metric and not math.isnan(value)
            }
            others = len({system for part in parts for system in part.systems}) - len(matrix.runs)
            matrix = replace(matrix, right_or_wrong=values <= {0.0, 1.0}, others=others)
        matrix = self._finished(_selected(matrix, self.systems), _form(parts), file_names(parts))
        matrix = replace(matrix, read=f"{matrix.read}, metric {metric}") if metric else matrix
        says = [rows.higher_is_better[metric] for part in parts if metric in (rows := part.rows).higher_is_better]
        return with_direction(matrix, self.lower_is_better, all(says) if says else None)

    def _finished(self, matrix: ScoreMatrix, form: str, file: str) -> ScoreMatrix:
        """The matrix with the sentence about it; an error where its systems are not on one scale."""
        if self.systems is None:
            _refuse_scales(matrix, file)
        of = f"{len(matrix.runs):,} of " if matrix.others else ""
        read = f"{form}: {of}{plural(len(matrix.runs) + matrix.others, 'system')} x {plural_unit(matrix)}"
        if matrix.repeats is not None:
            numbers = sorted(set(matrix.repeats.numbers))
            read += f", {numbers[0]}{f' to {numbers[-1]}' if len(numbers) > 1 else ''} repeats"
        return replace(matrix, read=read)


def _only(part: SourceRows, systems: Sequence[str]) -> SourceRows:
    """The rows of these systems."""
    rows = part.rows
    places = [i for i, system in enumerate(rows.systems) if system in systems]
    if len(places) == len(rows):
        return part
    return replace(
        part,
        rows=replace(
            rows,
            systems=[rows.systems[i] for i in places],
            questions=[rows.questions[i] for i in places],
            metrics=[rows.metrics[i] for i in places],
            repeats=[rows.repeats[i] for i in places],
            values=[rows.values[i] for i in places],
            lines=None if rows.lines is None else [rows.lines[i] for i in places],
        ),
    )


def _matrix_rows(matrix: ScoreMatrix) -> ScoreRows:
    """A score matrix among other sources, as rows."""
    rows = ScoreRows("score matrix", FILE)
    if not matrix.direction.higher_is_better:
        rows.higher_is_better[""] = False
    for i, run in enumerate(matrix.runs):
        for j, unit in enumerate(matrix.units):
            scores = [matrix.values[i, j]] if matrix.repeats is None else matrix.repeats.values[i][j].tolist()
            for number, score in enumerate(scores, 1):
                rows.add(run, unit, float(score), repeat=str(number) if len(scores) > 1 else "")
    return rows


def _unit_name(loaded: Sequence[_Table | SourceRows]) -> tuple[str, str]:
    """The name of a unit, by the header of the first table's ids."""
    for table in loaded:
        if isinstance(table, _Table) and table.roles.question is not None:
            return unit_name(table.grid.header[table.roles.question])
    return ("question", "questions")


def _refuse_scales(matrix: ScoreMatrix, file: str) -> None:
    """Stop where the scores of some systems lie between 0 and 1 and those of others go far beyond."""
    low, high = matrix.values.min(axis=1), matrix.values.max(axis=1)
    within = np.flatnonzero((low >= 0) & (high <= 1)).tolist()
    beyond = np.flatnonzero(high > FAR_BEYOND).tolist()
    if not within or not beyond:
        return
    small, large = [matrix.runs[i] for i in within], [matrix.runs[i] for i in beyond]
    most = float(high[beyond].max())
    message = f"scores of {few(small)} lie between 0 and 1, those of {few(large)} go up to {most:g}"
    option = Remedy("systems", tuple(small[:5]), "Say which are systems")
    raise InputError(Problem("configuration", message, file, way_out=(option,)))


def _no_metric(parts: Sequence[SourceRows], by_part: Sequence[Sequence[str]], shared: Sequence[str]) -> str:
    if shared:
        return f"there are several metrics: {_names(shared)}"
    listed = "; ".join(f"{part.rows.file}: {_names(names)}" for part, names in zip(parts, by_part, strict=True))
    return f"the files have no metric in common ({listed}). Give the same metric the same name in all files"


def _form(parts: Sequence[SourceRows]) -> str:
    """A description of the sources, for people."""
    forms = list(dict.fromkeys(part.rows.form for part in parts))
    if len(parts) == 1:
        return forms[0]
    one_each = all(len(part.systems) == 1 for part in parts)
    shown = "" if set(forms) <= {"table", "wide table"} else f" ({', '.join(forms)})"
    return f"{len(parts)} files{', one per system' if one_each else ''}{shown}"


def _names(metrics: Sequence[str]) -> str:
    return few([name or "score" for name in metrics], 20) if metrics else "none"
