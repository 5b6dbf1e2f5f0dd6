"""Agreement by person of an opened evaluation, over all judgments that name their assessor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import polars as pl

from qassay.analysis.agreements import ByKind
from qassay.errors import InputError, Problem
from qassay.evaluation import Evaluation
from qassay.formats import jsonl
from qassay.judging import ROW_KINDS
from qassay.meta.agreement import scheme_of
from qassay.meta.agreement.people import PeopleAgreement, by_person, time_per_judgment
from qassay.tables import Table

# The columns that say who saved a judgment, and when.
_SAVED = {"assessor": pl.String, "at": pl.String}


@dataclass(frozen=True, eq=False, repr=False)
class PeopleStudy(ByKind[PeopleAgreement]):
    """Who is out of line: one `PeopleAgreement` per kind of judgment."""

    kinds: tuple[PeopleAgreement, ...]

    def sentence(self) -> str:
        """Who is out of line on each kind of judgment, and on what."""
        return "; ".join(kind.sentence() for kind in self.kinds)

    def tables(self) -> list[Table]:
        """The tables of every kind of judgment."""
        return [shown for kind in self.kinds for shown in kind.tables()]


class UnnamedError(InputError):
    """No judgment names its assessor."""


def people_study(
    evaluation: Evaluation, sets: Sequence[str] | None = None, *, resamples: int = 1000, seed: int = 0
) -> PeopleStudy:
    """Compare the people of these judgment sets; without names those of all assessors' sets."""
    names = list(sets) if sets is not None else list(evaluation.assessor_sets)
    tables = _labels(evaluation, names)
    if not tables:
        raise UnnamedError(Problem("configuration", _nobody(names), evaluation.folder.name()))
    types = {question.id: question.type for question in evaluation.questions}
    seconds = _seconds(evaluation, names)
    notes = _unnamed(evaluation, names)
    studies = []
    for about, labels in tables.items():
        order = _order(evaluation, about, labels)
        study = by_person(
            labels, about=about, order=order, types=types, seconds=seconds, seed=seed, resamples=resamples, notes=notes
        )
        studies.append(study)
    return PeopleStudy(tuple(studies))


def _nobody(names: Sequence[str]) -> str:
    listed = ", ".join(names) if names else "there are no judgment sets of assessors"
    return (
        f'no judgment names its assessor ({listed}): rows need "assessor"; to compare whole sets, leave out --by person'
    )


def _labels(evaluation: Evaluation, names: Sequence[str]) -> dict[str, pl.DataFrame]:
    """Labels by person, one table per kind that is compared: question, item, person, label; each once per item."""
    tables: dict[str, list[pl.DataFrame]] = {}
    for name in names:
        judged = evaluation.judgment_set(name)
        for kind, rows in judged.kinds.items():
            record = ROW_KINDS[kind]
            signed = rows.drop_nulls("assessor")
            if record.compared and signed.height:
                nuggets = evaluation.nugget_list(name)
                tables.setdefault(record.compared, []).append(record.labels_by_person(signed, nuggets))
    in_order = dict.fromkeys(record.compared for record in ROW_KINDS.values() if record.compared in tables)
    once = ["question", "item", "person"]
    return {about: pl.concat(tables[about]).unique(once, keep="last", maintain_order=True) for about in in_order}


def _order(evaluation: Evaluation, about: str, table: pl.DataFrame) -> tuple[str, ...]:
    """The labels in the order of the task, or of their scheme."""
    task_labels = evaluation.task.labels if evaluation.task.values and about == "items" else ()
    labels = set(table["label"])
    known = tuple(task_labels) if task_labels and labels <= set(task_labels) else scheme_of(labels).order
    return tuple(label for label in known if label in labels)


def _unnamed(evaluation: Evaluation, names: Sequence[str]) -> list[str]:
    """How many judgments have no assessor and are left out."""
    unnamed = {
        name: sum(rows["assessor"].null_count() for rows in evaluation.judgment_set(name).kinds.values())
        for name in names
    }
    counts_in_words = [f"{name} {count:,}" for name, count in unnamed.items() if count]
    return (
        [f"Left out, because they name no assessor: {', '.join(counts_in_words)} judgments."] if counts_in_words else []
    )


def _seconds(evaluation: Evaluation, names: Sequence[str]) -> Mapping[str, float]:
    """The time per judgment of each person, where rows say when they were saved."""
    moments: dict[str, list[float]] = {}
    parts = evaluation.folder.judgment_sets()
    for name in names:
        if name not in parts:
            continue
        rows = jsonl.parse_table(parts[name].read(), _SAVED, file=parts[name].name).drop_nulls()
        for person, at in rows.select("assessor", "at").iter_rows():
            moment = _moment(at)
            if moment is not None:
                moments.setdefault(person, []).append(moment)
    times = {person: time_per_judgment(known) for person, known in moments.items()}
    return {person: seconds for person, seconds in times.items() if seconds is not None}


def _moment(text: str) -> float | None:
    """Seconds since the epoch; None for what is not a moment with a time zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo is not None else None
