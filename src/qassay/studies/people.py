"""Show which assessor is out of line: every one is compared with all others on the same items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import polars as pl

from qassay.display import as_sentence
from qassay.errors import Problem
from qassay.evaluation import Evaluation
from qassay.formats import jsonl
from qassay.judging import ROW_KINDS
from qassay.meta.agreement import Agreement, scheme_of
from qassay.meta.agreement.by_person import by_person, time_per_judgment
from qassay.meta.agreement.people import PeopleAgreement
from qassay.pages import Exhibit, Page
from qassay.results import Result
from qassay.sources import need_evaluation
from qassay.studies import JUDGES, NothingYetError, Study
from qassay.tables import Table

if TYPE_CHECKING:
    from qassay.figures import Figure

# The columns that say who saved a judgment, and when.
_SAVED = {"assessor": pl.String, "at": pl.String}

OneKind = TypeVar("OneKind", Agreement, PeopleAgreement)


class ByKind(Result, Generic[OneKind]):
    """A study with one record per kind of judgment, labels of items or pairs first.

    The study is a sequence of its records: `study[0]`, `len(study)`, `for kind in study`.
    """

    kinds: tuple[OneKind, ...]

    def __len__(self) -> int:
        return len(self.kinds)

    def __iter__(self) -> Iterator[OneKind]:
        return iter(self.kinds)

    def __getitem__(self, place: int) -> OneKind:
        return self.kinds[place]

    def table(self) -> Table:
        """The main table of the first kind of judgment."""
        return self.kinds[0].table()

    def figure(self) -> Figure:
        """The figure of the first kind of judgment."""
        drawn: Figure = self.kinds[0].figure()
        return drawn

    def to_polars(self) -> pl.DataFrame:
        """The numbers of all kinds of judgment."""
        return pl.concat([kind.to_polars() for kind in self.kinds])

    def as_json(self) -> dict[str, Any]:
        """The document of the first kind; its keys beside those of the others, which have the names of their kinds."""
        first, *others = self.kinds
        return first.as_json() | {kind.about.replace(" ", "_"): kind.as_json() for kind in others}


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


def people(
    evaluation: Evaluation, *, sets: Sequence[str] | None = None, resamples: int = 1000, seed: int = 0
) -> PeopleStudy:
    """Which assessor is out of line, and on what? Everyone is compared with the others on the same items.

    Takes all judgments that name their assessor, from the assessors' sets or from those named in `sets`. One result
    per kind of judgment, labels of items or pairs first.
    """
    need_evaluation(evaluation, "people")
    names = list(sets) if sets is not None else list(evaluation.assessor_sets)
    evaluation = evaluation.with_judgments(map(evaluation.judgment_set, names))
    tables = _labels(evaluation, names)
    if not tables:
        listed = f" ({', '.join(names)})" if names else ""
        message = (
            f"no judgment names its assessor{listed}: assessors are compared once people have judged here, or rows "
            'of judgments have "assessor"'
        )
        raise NothingYetError(Problem("configuration", message, evaluation.folder.name()))
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


def page(study: PeopleStudy) -> Page:
    """Who is out of line on each kind of judgment, and every person beside the others."""
    exhibits = [
        Exhibit(f"people-{place}-{number}", shown, kind.figure if number == 1 else None)
        for place, kind in enumerate(study, 1)
        for number, shown in enumerate(kind.tables(), 1)
    ]
    return Page(tuple(as_sentence(kind.sentence()) for kind in study), tuple(exhibits))


STUDY = Study(
    name="people",
    compute=people,
    page=page,
    documents=(PeopleAgreement,),
    heading="Which assessor is out of line?",
    label="People",
    tab=JUDGES,
    slow=True,
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
            if (saved := moment(at)) is not None:
                moments.setdefault(person, []).append(saved.timestamp())
    times = {person: time_per_judgment(known) for person, known in moments.items()}
    return {person: seconds for person, seconds in times.items() if seconds is not None}


def moment(text: str | None) -> datetime | None:
    """A time in UTC, which is also that of a time without a zone; None where it is not one.

    >>> str(moment("2026-03-02T10:15:00+01:00")), moment("yesterday")
    ('2026-03-02 09:15:00+00:00', None)
    """
    try:
        at = datetime.fromisoformat(text or "")
        return (at if at.tzinfo is not None else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
