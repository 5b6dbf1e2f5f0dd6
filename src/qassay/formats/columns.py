"""Which column of a table is what: question, system, repeat, metric, score, or none of these."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from qassay.errors import InputError, Remedy, few
from qassay.formats import fields
from qassay.formats.cells import GRADES, WORDS, are_meant_numbers, is_absent, is_grades, number
from qassay.formats.fields import plain_name
from qassay.formats.metrics import is_cost, is_metric
from qassay.formats.tables.table import RawTable

# The first column of a wide table has the ids of the questions where its header is one of these.
UNIT_HEADERS = ("", *fields.QUESTION_ID, *fields.UNIT, *fields.QUESTION)
RUN_HEADERS = ("", "tag", *fields.SYSTEM)
# Columns that name the question of a row: ids are surer than texts.
QUESTION = UNIT_HEADERS[1:]

# Rows at the end of a table that sum it up, as spreadsheets and trec_eval write them; they are not questions.
SUMMARIES = frozenset({
    "all", "average", "avg", "count", "max", "maximum", "mean", "median", "min", "minimum", "overall", "sd", "std",
    "standard deviation", "stddev", "stdev", "sum", "total", "grand total", "mittelwert", "durchschnitt", "summe",
    "gesamt", "moyenne", "somme", "media", "promedio",
})  # fmt: skip


class OneSystemError(InputError):
    """The columns of a table are metrics of one system."""


@dataclass(frozen=True)
class Columns:
    """Names of columns that the user gives; None: found by their usual names."""

    question: str | None = None
    system: str | None = None
    score: str | None = None
    repeat: str | None = None
    metric: str | None = None

    @property
    def are_given(self) -> bool:
        """Whether any column besides the question's is named, which makes the table a long one."""
        return any(name is not None for name in (self.system, self.score, self.repeat, self.metric))


@dataclass(frozen=True)
class Roles:
    """The places of the columns. `scores` are columns of scores by their names; `names_scores`: there are such.

    `other_scores` are columns of numbers beside them, and `left_out` those that have no scores.
    """

    question: int | None
    system: int | None
    repeat: int | None
    metric: int | None
    scores: tuple[int, ...]
    names_scores: bool
    left_out: tuple[str, ...] = ()
    other_scores: tuple[str, ...] = ()


def names_another(name: str) -> bool:
    """Whether a column of this name has something else than questions: systems, scores, repeats or metrics."""
    return plain_name(name) in (*fields.SYSTEM, *fields.SCORE, *fields.REPEAT, *fields.METRIC)


def refuse_metrics(table: RawTable, names: Sequence[str]) -> None:
    """Stop where all columns that would be systems have names of metrics: they are those of one system."""
    if not names or not all(map(is_metric, names)):
        return
    one = len(names) == 1
    message = (
        f"{few(names)} {'looks like a metric' if one else 'look like metrics'} of one system, not like "
        f"{'a system' if one else 'systems'}. To compare systems, give one file per system: NAME=FILE NAME=FILE"
    )
    option = Remedy("systems", tuple(names), f"If {'it is a system' if one else 'these are systems'}")
    raise OneSystemError(table.problem(message, option, line=table.header_line))


def left_out_note(names: Sequence[str]) -> tuple[str, ...]:
    """The sentence about columns that are not scores.

    >>> left_out_note(["comment", "cost"])
    ('Columns that are not scores were left out: comment, cost.',)
    """
    if not names:
        return ()
    if len(names) == 1:
        return (f"Column {names[0]!r} is not a score and was left out.",)
    return (f"Columns that are not scores were left out: {few(names, 20)}.",)


def other_scores_note(names: Sequence[str], used: str) -> tuple[str, ...]:
    """The sentence about columns of numbers beside a column that is called a score.

    >>> other_scores_note(["f1", "rouge"], "score")
    ("The scores are those in column 'score'. To take others: --metric f1 or --metric rouge.",)
    """
    if not names:
        return ()
    options = " or ".join(f"--metric {shlex.quote(name)}" for name in names[:5])
    return (f"The scores are those in column {used!r}. To take others: {options}.",)


def unit_name(header: str) -> tuple[str, str]:
    """The name of a unit, by the header of its ids.

    >>> unit_name("Topic"), unit_name("qid")
    (('topic', 'topics'), ('question', 'questions'))
    """
    known = {"topic": ("topic", "topics"), "series": ("series", "series")}
    return known.get(header.strip().lower(), ("question", "questions"))


def summaries(ids: Sequence[str]) -> list[int]:
    """The places of rows at the end of a table whose ids say that they sum up the others; none where all do.

    >>> summaries(["q1", "q2", "Average:", "Std"]), summaries(["sum", "max", "sort"]), summaries(["sum", "max"])
    ([2, 3], [], [])
    """
    first = len(ids)
    while first and ids[first - 1].strip(" :.").lower() in SUMMARIES:
        first -= 1
    return list(range(first, len(ids))) if first else []


def sums_up(axis: str, name: str) -> str:
    """The fault of a row or column that sums up the others."""
    return f"{axis} {name!r} looks like a summary of the other {axis}s, not like a question. Delete it, or rename it"


def id_column(table: RawTable, name: str | None) -> int | None:
    """The place of the ids in a wide table: the named column, the first one, or one whose name leaves no doubt."""
    if name is not None:
        return _place_of(table, name)
    lowered = [plain_name(name) for name in table.header]
    elsewhere = next((lowered.index(name) for name in fields.QUESTION_ID if name in lowered), None)
    if lowered[0] in UNIT_HEADERS and not (is_index(lowered[0]) and elsewhere is not None):
        return 0
    return elsewhere


def is_index(header: str) -> bool:
    """Whether a column may be the running number that pandas writes in front of a table."""
    return header in ("", "unnamed:_0")


def find_roles(table: RawTable, columns: Columns) -> Roles:
    """The role of every column of a table with one row per answer."""
    lowered = [plain_name(name) for name in table.header]
    table.refuse_equal_names(unnamed=True)
    taken: set[int] = set()

    def role(column: str | None, usual: Iterable[str]) -> int | None:
        if column is not None:
            place: int | None = _place_of(table, column)
        else:
            place = next((at for name in usual if name in lowered and (at := lowered.index(name)) not in taken), None)
        if place is not None:
            taken.add(place)
        return place

    question = role(columns.question or table.ids, [*QUESTION, *([""] if lowered[0] == "" else [])])
    system = role(columns.system, fields.SYSTEM)
    repeat = role(columns.repeat, fields.REPEAT)
    metric = role(columns.metric, fields.METRIC)
    if columns.score is not None:
        scores = [_place_of(table, columns.score)]
    else:
        scores = [lowered.index(name) for name in fields.SCORE if name in lowered and lowered.index(name) not in taken]
    return Roles(question, system, repeat, metric, tuple(scores), bool(scores))


def with_scores(table: RawTable, roles: Roles) -> Roles:
    """The roles with columns of scores: without a usual or chosen name, all that have numbers.

    What answers cost is left out where anything else has numbers.
    """
    if roles.scores and not roles.names_scores:
        return roles  # a metric chose its column
    others = {roles.question, roles.system, roles.repeat, roles.metric, *roles.scores}
    free = [place for place in range(len(table.header)) if place not in others]
    names = table.header
    columns = {place: table.column(place) for place in free if not is_index(plain_name(names[place]))}
    if roles.names_scores:
        scores = [place for place, cells in columns.items() if has_only_scores(cells) and not is_cost(names[place])]
    else:
        scores = [place for place, cells in columns.items() if has_scores(cells) or are_meant_numbers(cells)]
        scores = [place for place in scores if not is_cost(names[place])] or scores
    left_out = tuple(names[place] for place in free if place not in scores and names[place])
    if roles.names_scores:
        return replace(roles, left_out=left_out, other_scores=tuple(names[place] for place in scores))
    return replace(roles, scores=tuple(scores), left_out=left_out)


def has_scores(cells: Sequence[str]) -> bool:
    """Whether a column has a number, or words that stand for one."""
    texts = set(cells)
    if all(map(is_absent, texts)) and not is_blank(cells):
        return True  # a system without scores, such as NA
    if any(number(text) == number(text) or text.strip().lower() in WORDS for text in texts):
        return True
    return not GRADES.keys().isdisjoint(texts) and is_grades(texts)


def is_blank(cells: Sequence[str]) -> bool:
    """Whether no cell of a column says anything."""
    return not any(cell.strip() for cell in cells)


def has_only_scores(cells: Sequence[str]) -> bool:
    """Whether a column has nothing but numbers, words that stand for one, and empty cells."""
    return all(number(text) == number(text) or text.strip().lower() in WORDS or is_absent(text) for text in set(cells))


def is_text(cells: Sequence[str]) -> bool:
    """Whether a column has names: cells that are not numbers."""
    return any(number(text) != number(text) and not is_absent(text) for text in set(cells))


def _place_of(table: RawTable, name: str) -> int:
    if name not in table.header:
        message = f"there is no column {name!r}. The columns are {few(table.header, 20)}"
        raise InputError(table.problem(message, line=table.header_line))
    return table.header.index(name)
