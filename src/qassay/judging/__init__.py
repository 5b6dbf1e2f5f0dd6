"""Judging: what a judgment is, and what becomes of it, without files and without a database (METHOD 4).

One file per kind, like the measures; `kind` says what such a record has, and everybody who handles judgments asks it:

    item         answers to factoid and passage questions      list_item    items of lists, with classes of answers
    match        nuggets in a response                         support      support of a nugget by a long answer
    citation     support of a sentence by what it cites        pair         entailment labels
    holistic     content and organization, 0-10                rating       ratings of justifications
    label        free-text answers, with the task's labels     context      support of such an answer by its contexts

Beside them, rows in and rows out:

    sets         a judgment set: rows checked and sorted by kind
    roles        sets by role: the author of each question, and another person
    voting       one set from those of several people, by their votes
    keys         what scoring uses: a set with known answers, nuggets and the questions where NIL is right
    pool         what is to be judged, and how much of it is not yet
    items        what one screen shows, its parts, and the rows that verdicts become
    settling     assessors side by side: what all agree on, what is left to an adjudicator
    sharing      who judges which questions
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from qassay.judging import kind as _kind
from qassay.judging.citation import CitationSupport
from qassay.judging.context import ContextSupport
from qassay.judging.holistic import HolisticScore
from qassay.judging.item import AnswerItem, ExtractItem
from qassay.judging.kind import Item, Kind, Label, Marked, Part, Row, Verdict, Wanted, digest, subject
from qassay.judging.label import LabelledAnswer
from qassay.judging.list_item import ListItem
from qassay.judging.match import NuggetMatch
from qassay.judging.pair import EntailmentPair
from qassay.judging.rating import JustificationRating
from qassay.judging.support import NuggetSupport
from qassay.tasks import QuestionRules, Task

# In the order in which the stages of judging a question follow each other; the order of marks decides what a row is.
KINDS: Final[Mapping[str, Kind]] = {
    record.name: record
    for record in (
        AnswerItem(),
        ExtractItem(),
        ListItem(),
        LabelledAnswer(),
        NuggetMatch(),
        NuggetSupport(),
        CitationSupport(),
        ContextSupport(),
        HolisticScore(),
        EntailmentPair(),
        JustificationRating(),
    )
}
ROW_KINDS: Final[Mapping[str, Kind]] = {name: record for name, record in KINDS.items() if record.rows == name}
_kind.IDENTITY.update({name: record.identity for name, record in ROW_KINDS.items()})

# The one kind for which each of these holds, and all kinds of answers: others ask for them by this, not by their names.
(PAIRS,) = (record for record in ROW_KINDS.values() if not record.of_runs)
(OPINIONS,) = (record for record in ROW_KINDS.values() if record.by_assessor)
(CLASSED,) = (record for record in ROW_KINDS.values() if record.has_classes)
(LINKED,) = (record for record in ROW_KINDS.values() if record.linked)
ANSWERS: Final = tuple(name for name, record in ROW_KINDS.items() if record.has_answers)

# The written schema of a judgment set; a kind of judgment uses some of the columns.
JUDGMENT_COLUMNS: Final[Mapping[str, Any]] = {
    **_kind.SUBJECT_COLUMNS,
    **{name: column for record in KINDS.values() for name, column in {**record.fields, **record.file_fields}.items()},
}
# The kinds whose subject is a string, and the fields that give a plain label.
STRINGS: Final = tuple(name for name, record in ROW_KINDS.items() if "text" in record.identity)
LABEL_FIELDS: Final = tuple(
    dict.fromkeys(
        name for record in KINDS.values() for name in tuple(record.fields)[:1] if record.fields[name] == pl.String
    )
)
# The fields that make a row of any file a judgment; others, such as `answer`, occur in other rows too.
VERDICT_FIELDS: Final = frozenset(
    name for record in KINDS.values() for place, name in enumerate(record.fields) if place == 0 or name in record.marks
)
# Sets that nobody judged as an assessor.
ADJUDICATED = "adjudicated"
SETTLED_SETS = (ADJUDICATED, "reference")


def kind_of_type(type_: str, rules: QuestionRules, *, has_nuggets: bool = True) -> Kind:
    """How responses to a type of question are judged; long answers as a whole, as long as there are no nuggets.

    >>> kind_of_type("list", QuestionRules("set", "list_f")).name
    'list'
    >>> kind_of_type("other", QuestionRules("set", "nugget_f")).name
    'match'
    """
    name = rules.form.kind
    # Lists have the form of responses that are matched with nuggets; each of their items is judged.
    if name == "match" and type_ == "list":
        return KINDS["list"]
    return KINDS["match" if name == "support" and not has_nuggets else name]


def kind_of_label(type_: str, task: Task) -> str:
    """The kind of a row that has a plain label, by the type of its question: justified pairs have labels too."""
    rules = task.types.get(type_)
    if type_ == "pair" or rules is None:
        return "pair" if type_ == "pair" else "item"
    record = kind_of_type(type_, rules)
    return record.rows if "judgment" in record.fields else "item"


def kind_of_row(row: Mapping[str, Any], type_: str | None, task: Task) -> str | None:
    """The kind of a judgment row, by its fields or else by the type of its question; None without a verdict."""
    for record in KINDS.values():
        if any(row.get(mark) is not None for mark in record.marks):
            return record.rows
    if row.get("judgment") is not None:
        return kind_of_label(type_ or "", task)
    alone = (record.rows for record in KINDS.values() if any(row.get(mark) is not None for mark in record.marks_alone))
    return next(alone, None)


def names_nuggets(row: Mapping[str, Any]) -> bool:
    """Whether a judgment row is given against a list of nuggets."""
    marks = (mark for record in KINDS.values() if record.by_nuggets for mark in record.marks)
    return any(row.get(mark) is not None for mark in marks)


def kinds_of_rows(types: Mapping[str, str], task: Task) -> pl.Expr:
    """The same for a table with the columns of judgments: `types` are the types of the questions."""

    def marked(marks: str) -> list[pl.Expr]:
        return [
            pl.when(pl.col(mark).is_not_null()).then(pl.lit(record.rows))
            for record in KINDS.values()
            for mark in getattr(record, marks)
        ]

    of_type = {type_: kind_of_label(type_, task) for type_ in dict.fromkeys(types.values())}
    by_question = {question: of_type[type_] for question, type_ in types.items()}
    labelled = pl.col("question").replace_strict(by_question, default="item", return_dtype=pl.String)
    plain = pl.when(pl.col("judgment").is_not_null()).then(labelled)
    return pl.coalesce(*marked("marks"), plain, *marked("marks_alone"))


__all__ = [
    "ADJUDICATED",
    "ANSWERS",
    "CLASSED",
    "JUDGMENT_COLUMNS",
    "KINDS",
    "LABEL_FIELDS",
    "LINKED",
    "OPINIONS",
    "PAIRS",
    "ROW_KINDS",
    "SETTLED_SETS",
    "STRINGS",
    "VERDICT_FIELDS",
    "Item",
    "Kind",
    "Label",
    "Marked",
    "Part",
    "Row",
    "Verdict",
    "Wanted",
    "digest",
    "kind_of_label",
    "kind_of_row",
    "kind_of_type",
    "kinds_of_rows",
    "names_nuggets",
    "subject",
]
