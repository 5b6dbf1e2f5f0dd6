"""The verdicts of a program that use people's labels of the same questions, as the `trace` of each says (METHOD 7).

Such a program is better on the questions that people labelled than on others. A correction takes it to be equally good
on both, so that it is refused; `trust` leaves out the verdicts that only repeat a label.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

from qassay.errors import UsageError
from qassay.judging import ROW_KINDS, kind_of_row

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation

Trace = Mapping[str, Any]
# In a trace: the set of people whose judgments of the same question the verdict uses, and the one whose judgment of
# this very answer it repeats.
LEARNED_FROM, COPIED_FROM = "learned_from", "copied_from"
# A file without any of these, whose rows all have a trace or none, is not read row by row.
_SIGNS = (LEARNED_FROM.encode(), COPIED_FROM.encode(), b"judged=", b"people=", b"hits=true")
_SPELLED = re.compile(r"[\w-]+\((?:.*\b(?:judged|people)=(?P<people>[^,()]+)|.*\bhits=true\b).*\)", re.DOTALL)
# These judge every question by a model of other questions.
_CROSS_FITTED = re.compile(r"(?:learned|embedding)\((?!.*\bhits=true\b)", re.DOTALL)


def learned_from(trace: Trace) -> str | None:
    """The people whose labels of the same question a verdict uses; None where it uses none.

    >>> learned_from({"assessor": "learned(people=ada,hits=true)"}), learned_from({"assessor": "learned(people=ada)"})
    ('ada', None)
    """
    stated = trace.get(LEARNED_FROM) or trace.get(COPIED_FROM)
    if stated:
        return str(stated)
    assessor = str(trace.get("assessor") or "")
    spelled = _SPELLED.fullmatch(assessor)
    return None if spelled is None or _CROSS_FITTED.match(assessor) else (spelled["people"] or "people")


def refuse_learned(evaluation: Evaluation, judge: str) -> None:
    """Raise where people's labels cannot correct a set, because its verdicts use labels of the same questions."""
    learned = verdicts(evaluation, judge, lambda trace: learned_from(trace) is not None)
    count = f"{sum(table.height for table in learned.values()):,} verdicts" if learned else "the verdicts"
    if learned or (judge in evaluation.automatic_sets and learned_from({"assessor": judge}) is not None):
        raise UsageError(
            f"{count} of {judge} use what people said of the same questions: where people judge, it would look better "
            "than it is elsewhere. Correct an assessor that has not seen their labels"
        )

    untraced = verdicts(evaluation, judge, lambda trace: not trace)
    if untraced and verdicts(evaluation, judge, bool):
        number = sum(table.height for table in untraced.values())
        raise UsageError(
            f"{number:,} verdicts of {judge} have no trace, as those of people, and the others have one: where people "
            "judge, it would look better than it is elsewhere. Correct a set that one program judged"
        )


def verdicts(evaluation: Evaluation, name: str, is_meant: Callable[[Trace], bool]) -> dict[str, pl.DataFrame]:
    """What the current verdicts of a set are about whose trace is meant, by kind; kinds without any are absent."""
    part = evaluation.folder.judgment_sets().get(name)
    data = part.read() if part is not None else b""
    is_mixed = 0 < data.count(b'"trace"') < data.count(b"\n")
    if not is_mixed and not any(sign in data for sign in _SIGNS):
        return {}
    judged = evaluation.judgment_set(name)
    types = {question.id: question.type for question in evaluation.questions}
    rows: dict[str, list[dict[str, Any]]] = {}
    for line in data.split(b"\n"):
        if line.strip():
            row = msgspec.json.decode(line)
            kind = kind_of_row(row, types.get(str(row.get("question"))), evaluation.task)
            if kind is not None:
                # The last row of a subject counts, so that all of them are looked at in order.
                trace = row.get("trace")
                rows.setdefault(kind, []).append({**row, "meant": is_meant(trace if isinstance(trace, dict) else {})})
    meant = {kind: _meant(kind, judged.kind(kind).schema, listed) for kind, listed in rows.items()}
    return {kind: table for kind, table in meant.items() if table.height}


def _meant(kind: str, columns: pl.Schema, rows: list[dict[str, Any]]) -> pl.DataFrame:
    identity = list(ROW_KINDS[kind].identity)
    schema = {name: columns[name] for name in identity} | {"meant": pl.Boolean}
    listed = [{name: _as_column(row.get(name), schema[name]) for name in schema} for row in rows]
    marks = pl.DataFrame(listed, schema=schema).unique(identity, keep="last", maintain_order=True)
    return marks.filter(pl.col("meant")).select(identity)


def _as_column(value: Any, kind: Any) -> Any:
    return str(value) if kind == pl.String and value is not None else value
