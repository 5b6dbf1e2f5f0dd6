"""The answer of a command for one metric, for each of several, or for several judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qassay.cli.inputs import about, announce, warn
from qassay.cli.output import print_answer, print_json, visible

if TYPE_CHECKING:
    from qassay.formats.scores import ScoreTables
    from qassay.matrix import ScoreMatrix


@dataclass(frozen=True)
class MetricAnswer:
    """A result as JSON, and how it is shown to people."""

    document: Mapping[str, object]
    show: Callable[[], None]


def give_answer_on(by_judge: Mapping[str, ScoreTables], answer: MetricAnswer, *, as_json: bool) -> None:
    """Print the answer about the scores of several judges, and how each of their tables was read."""
    matrices = {name: tables.matrix for name, tables in by_judge.items()}
    read = "; ".join(f"{name}: {matrix.read}" for name, matrix in matrices.items() if matrix.read)
    for warning in (warning for tables in by_judge.values() for warning in tables.warnings):
        warn(warning)
    if as_json:
        repeats = {name: about(matrix)["repeats"] for name, matrix in matrices.items() if matrix.repeats is not None}
        facts = {"read": read, "repeats": repeats}
        print_json({key: value for key, value in facts.items() if value} | {**answer.document})
        return
    if read:
        print(visible(f"{read}.\n"))
    answer.show()


def give_answers(
    tables: ScoreTables,
    answer: Callable[[ScoreMatrix], MetricAnswer],
    *,
    as_json: bool,
    every_metric: bool,
    together: Mapping[str, object] | None = None,
    first: str = "",
) -> None:
    """Print what `answer` says of the scores; of each metric, one after the other, where all are asked for.

    `together` is what the document of several metrics says of all of them, such as their correction; `first` says it
    to people.
    """
    answers = {name: answer(matrix) for name, matrix in tables}
    documents = {name: {**about(tables.matrices[name]), **answered.document} for name, answered in answers.items()}
    announce(tables, as_json=as_json)
    if as_json:
        document = {"metrics": documents, **(together or {})} if every_metric else next(iter(documents.values()))
        print_json(document)
        return
    if first:
        print_answer(first)
    for number, (name, answered) in enumerate(answers.items()):
        if every_metric:
            print("\n" * bool(number) + visible(f"Metric {name}\n"))
        answered.show()
