"""Rows of scores become score matrices, one per metric: systems named, questions matched, repeats averaged."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import Floats
from qassay.errors import InputError, Problem, Remedy, few
from qassay.formats.cells import COUNTED_AS_ZERO, places
from qassay.formats.cells import SKIP_OR_ZERO as MISSING
from qassay.formats.matrix import EXACT, Booleans, Missing, common_denominator
from qassay.formats.score_rows import ScoreRows
from qassay.matrix import Repeats, ScoreMatrix
from qassay.tables import plural

# How repeats are known: by the column or field that names them, or by several rows of one question and system.
RepeatsAre: TypeAlias = Literal["column", "rows"]

# The most cells of a table that is mostly empty.
MOST_EMPTY = 20_000_000
SKIP_OR_ZERO = (Remedy("missing", "skip", "To leave these questions out"), Remedy("missing", "zero", "to count 0"))
_WHOLE = re.compile(r"(-?[0-9]+)\.0+")


@dataclass(frozen=True)
class SourceRows:
    """The rows of one source, the name that was given to its system, and the name of its file."""

    rows: ScoreRows
    name: str | None
    stem: str

    @property
    def systems(self) -> list[str]:
        """The systems of this source, in its order."""
        return list(dict.fromkeys(self.rows.systems))

    def problem(self, message: str, *way_out: Remedy, line: int | None = None) -> Problem:
        """A problem of this source."""
        return Problem("syntax", message, self.rows.file, line, way_out=way_out)


def name_systems(parts: Sequence[SourceRows]) -> list[SourceRows]:
    """The parts with the names of their systems: the given one, what the source says, or the stem of its file."""
    named_parts = [_renamed(part, part.name) if part.name is not None else part for part in parts]
    named_parts = [_renamed(part, part.stem) if part.systems == [""] else part for part in named_parts]
    counts: dict[str, int] = {}
    for part in named_parts:
        for system in part.systems:
            counts[system] = counts.get(system, 0) + 1
    named_parts = [_renamed(part, part.stem) if _is_double(part, counts) else part for part in named_parts]
    owner: dict[str, SourceRows] = {}
    for part in named_parts:
        for system in part.systems:
            if system in owner:
                message = (
                    f"system {system!r} is also in {owner[system].rows.file}. Name the systems: NAME={part.rows.file}"
                )
                raise InputError(part.problem(message))
            owner[system] = part
    return named_parts


def _is_double(part: SourceRows, counts: Mapping[str, int]) -> bool:
    """Whether the one system of a part has the name of another part's, and nobody named it."""
    return part.name is None and len(part.systems) == 1 and counts[part.systems[0]] > 1


def _renamed(part: SourceRows, name: str) -> SourceRows:
    systems = part.systems
    if len(systems) > 1:
        message = f"{name}= names one system, but the file has {len(systems)}: {few(systems)}. Leave the name out"
        raise InputError(part.problem(message))
    return replace(part, rows=replace(part.rows, systems=[name] * len(part.rows)))


def match_ids(parts: Sequence[SourceRows]) -> list[SourceRows]:
    """The parts with ids that mean the same written the same: 7.0 in one file and 7 in another."""
    ids = [set(part.rows.questions) for part in parts]
    if len(parts) < 2 or all(names == ids[0] for names in ids):
        return list(parts)
    plain = [{_plain(name) for name in names} for names in ids]
    merges = any(len(plain_names) < len(before) for plain_names, before in zip(plain, ids, strict=True))
    if merges or len(set.union(*plain)) == len(set.union(*ids)):
        return list(parts)
    first = next(name for names in ids for name in names if _plain(name) != name)
    note = f"Question ids such as {first} were read as {_plain(first)}, to match the other files."
    matched = [part.rows.questions for part in parts]
    return [
        replace(
            part,
            rows=replace(part.rows, questions=[_plain(name) for name in names], notes=[*part.rows.notes, note]),
        )
        for part, names in zip(parts, matched, strict=True)
    ]


def _plain(name: str) -> str:
    whole = _WHOLE.fullmatch(name)
    return whole[1] if whole else name


def assemble(
    parts: Sequence[SourceRows], metric: str, *, missing: Missing, repeats: RepeatsAre, unit_name: tuple[str, str]
) -> ScoreMatrix:
    """The score matrix of one metric."""
    blocks = [block for part in parts for block in _blocks(part, metric, repeats)]
    questions = list(dict.fromkeys(question for block in blocks for question in block.questions))
    index = {question: i for i, question in enumerate(questions)}
    _refuse_sparse(blocks, len(index))
    tables = [block.table(index) for block in blocks]
    _refuse_disjoint(blocks, tables)
    holes = [np.isnan(table.values) for table in tables]
    notes = list(dict.fromkeys(note for part in parts for note in part.rows.notes))
    keep = np.arange(len(questions))
    if any(hole.any() for hole in holes):
        if missing == "stop":
            raise InputError(
                problem for block, table in zip(blocks, tables, strict=True) for problem in block.gaps(table, questions)
            )
        complete = np.logical_and.reduce([~hole.any(axis=1) for hole in holes])
        incomplete = [questions[i] for i in np.flatnonzero(~complete).tolist()]
        if missing == "zero":
            cells = sum(int(hole.sum()) for hole in holes)
            notes.append(f"{plural(cells, 'missing score')} {COUNTED_AS_ZERO}: {few(incomplete)}.")
        else:
            keep = np.flatnonzero(complete)
            of = f"{len(incomplete)} of {plural(len(questions), unit_name[0])}"
            notes.append(f"{of} left out: a system has no score for them (missing: skip): {few(incomplete)}.")
    if not len(keep):
        raise InputError(
            Problem("syntax", "no question has a score of every system", file_names(parts), way_out=SKIP_OR_ZERO)
        )
    values = tuple(np.nan_to_num(table.values[keep], nan=0.0) for table in tables)
    matrix = _averaged(tuple(block.system for block in blocks), tuple(questions[i] for i in keep), values)
    return replace(matrix, measure=metric or "score", notes=tuple(notes), unit_name=unit_name)


def file_names(parts: Iterable[SourceRows]) -> str:
    """The files of some parts, each once."""
    return ", ".join(dict.fromkeys(part.rows.file for part in parts))


def _averaged(systems: tuple[str, ...], questions: tuple[str, ...], values: tuple[Floats, ...]) -> ScoreMatrix:
    """The matrix of means over repeats; exact where the scores are short decimals."""
    numbers = [scores.shape[1] for scores in values]
    together = np.concatenate([scores.ravel() for scores in values])
    denominator = common_denominator(together, _digits(together), units=len(questions) * max(numbers))
    if denominator is None:
        means = np.stack([scores.mean(axis=1) for scores in values])
    else:
        whole = [np.rint(scores * denominator).sum(axis=1) for scores in values]
        means = np.stack([sums / (denominator * number) for sums, number in zip(whole, numbers, strict=True)])
        denominator *= math.lcm(*numbers)
        if denominator * max(1.0, float(np.abs(means).max(initial=0.0))) * len(questions) >= EXACT:
            denominator = None
    repeats = Repeats(values) if max(numbers) > 1 else None
    return ScoreMatrix(systems, questions, means, denominator=denominator, repeats=repeats)


def _digits(values: Floats) -> int:
    """The decimal places that the values need; 16 where they need more than exact sums have."""
    digits = 0
    for value in np.unique(values).tolist():
        digits = max(digits, places(repr(value)))
        if digits > 15:
            return 16
    return digits


@dataclass(frozen=True)
class _Table:
    """The scores of one system, questions x repeats; NaN where there is none, `given` where there is a row."""

    values: Floats
    has_row: Booleans
    row: NDArray[np.int64]


@dataclass(frozen=True)
class _Block:
    """The rows of one system under one metric."""

    part: SourceRows
    system: str
    rows: list[int]
    labels: list[str]

    @property
    def questions(self) -> list[str]:
        """The question of each row."""
        names = self.part.rows.questions
        return [names[row] for row in self.rows]

    def table(self, index: dict[str, int]) -> _Table:
        """The scores in their places; an error where two rows have the same one, or repeats have no common names."""
        labels = {label: i for i, label in enumerate(dict.fromkeys(self.labels))}
        self._refuse_other_names(labels)
        shape = (len(index), len(labels))
        values, has_row = np.full(shape, np.nan), np.zeros(shape, dtype=np.bool_)
        origin = np.full(shape, -1, dtype=np.int64)
        for row, question, label in zip(self.rows, self.questions, self.labels, strict=True):
            place = index[question], labels[label]
            if has_row[place]:
                raise InputError(self._double(int(origin[place]), row, question, label))
            has_row[place], origin[place] = True, row
            values[place] = self.part.rows.values[row]
        return _Table(values, has_row, origin)

    def _refuse_other_names(self, labels: Collection[str]) -> None:
        """Stop where repeats have other names on every question."""
        rows = Counter(self.questions)
        if max(rows.values()) < len(labels):
            message = (
                f"system {self.system} has {len(labels)} repeats ({few(labels)}), but no question has them all: the "
                "repeats of different questions have different names"
            )
            option = Remedy("repeats", "rows", "To count the rows of a question")
            raise InputError(self.part.problem(message, option))

    def _double(self, first: int, second: int, question: str, label: str) -> Problem:
        lines = self.part.rows.lines
        where = "" if lines is None else f", lines {lines[first]} and {lines[second]}"
        fault = f"question {question} of system {self.system} has two rows"
        if label:
            return Problem("syntax", f"{fault} for repeat {label}{where}", self.part.rows.file)
        options = Remedy("repeats", "rows", "If they are repeats"), Remedy("repeat_column", "NAME", "or")
        return self.part.problem(f"{fault}{where}", *options, line=None if lines is None else lines[second])

    def gaps(self, table: _Table, questions: Sequence[str]) -> Iterator[Problem]:
        """The missing scores: rows without a score, whole questions, single repeats."""
        lines = self.part.rows.lines
        for i, j in np.argwhere(table.has_row & np.isnan(table.values)).tolist():
            line = None if lines is None else lines[int(table.row[i, j])]
            yield self.part.problem(f"question {questions[i]}, system {self.system}: no score", *MISSING, line=line)
        counts = table.has_row.sum(axis=1)
        lacking = [questions[i] for i in np.flatnonzero(counts == 0).tolist()]
        if lacking:
            have = f"system {self.system} has no score for {len(lacking)} of {len(questions)} questions"
            yield self.part.problem(f"{have}: {few(lacking)}", *SKIP_OR_ZERO)
        total = table.has_row.shape[1]
        partly = np.flatnonzero((counts > 0) & (counts < total)).tolist()
        if partly:
            counts_in_words = few([f"{questions[i]} ({counts[i]} of {total})" for i in partly])
            message = f"system {self.system} has repeats for some questions only: {counts_in_words}"
            yield self.part.problem(message, *SKIP_OR_ZERO)


def _blocks(part: SourceRows, metric: str, repeats: RepeatsAre) -> Iterator[_Block]:
    """The rows of each system under one metric, with the names of their repeats."""
    rows: dict[str, list[int]] = {}
    for i, (system, name) in enumerate(zip(part.rows.systems, part.rows.metrics, strict=True)):
        if name == metric:
            rows.setdefault(system, []).append(i)
    for system, system_rows in rows.items():
        labels = [part.rows.repeats[row] for row in system_rows]
        if repeats == "rows":
            labels = _numbered([part.rows.questions[row] for row in system_rows])
        yield _Block(part, system, system_rows, labels)


def _numbered(questions: Iterable[str]) -> list[str]:
    """The number of each row among those of its question, as a name.

    >>> _numbered(["q1", "q2", "q1"])
    ['1', '1', '2']
    """
    seen: dict[str, int] = {}
    labels = []
    for question in questions:
        seen[question] = seen.get(question, 0) + 1
        labels.append(str(seen[question]))
    return labels


def _refuse_sparse(blocks: Sequence[_Block], questions: int) -> None:
    """Stop before a table of systems, questions and repeats that would be large and almost empty."""
    cells = questions * sum(len(set(block.labels)) for block in blocks)
    rows = sum(len(block.rows) for block in blocks)
    if cells > MOST_EMPTY and cells > 4 * rows:
        message = (
            f"{rows:,} scores for {len(blocks):,} systems and {questions:,} questions: almost all are missing. Are "
            "these the right columns?"
        )
        roles = {"question": "The questions are in", "system": "the systems", "repeat": "the repeats"}
        options = (Remedy(f"{role}_column", "NAME", purpose) for role, purpose in roles.items())
        raise InputError(blocks[0].part.problem(message, *options))


def _refuse_disjoint(blocks: Sequence[_Block], tables: Sequence[_Table]) -> None:
    """Stop where two systems have no question in common, with ids of both."""
    has_question = [table.has_row.any(axis=1) for table in tables]
    if np.logical_and.reduce(has_question).any():
        return
    for i, first in enumerate(has_question):
        for j in range(i + 1, len(has_question)):
            if not (first & has_question[j]).any():
                a, b = blocks[i], blocks[j]
                ids = f"{few(dict.fromkeys(a.questions), 3)} and {few(dict.fromkeys(b.questions), 3)}"
                message = (
                    f"systems {a.system} and {b.system} have no question in common. Their ids are {ids}. Write the "
                    "same id for the same question"
                )
                option = Remedy("question_column", "NAME", "If the ids are in another column")
                raise InputError(b.part.problem(message, option))
