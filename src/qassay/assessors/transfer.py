"""The transfer assessor: an answer gets the label that people gave to an equal or nearly equal answer.

Equal answers to one question have the same words after normalising. Nearly equal ones share `similar` of their
character trigrams (Jaccard: shared / all of both) and have the same numbers. Where several judged answers are equally
near and their labels differ, and where none is near, nothing is said. In tasks with documents the label of the same
document counts; of another one only W is carried over, since whether a document supports an answer is its own affair.
A right item of a list belongs to the class that people put the near one into.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from qassay.assessors.base import Case, Opinion, spelled
from qassay.assessors.features import Side, known_side, side
from qassay.assessors.gold import RIGHT, WRONG
from qassay.assessors.words import normalised
from qassay.evaluation.learning import COPIED_FROM
from qassay.judging import ROW_KINDS, STRINGS
from qassay.judging.list_item import class_of

SIMILAR = 0.8


@dataclass(frozen=True)
class JudgedAnswer:
    """An answer that people judged."""

    text: str
    doc: str | None
    verdict: Mapping[str, Any]


@dataclass(frozen=True)
class Transfer:
    """Judges strings as people judged nearly equal ones."""

    people: str
    # Question -> normalised string -> the judged answers.
    judged: Mapping[str, Mapping[str, list[JudgedAnswer]]] = field(default_factory=dict)
    similar: float = SIMILAR
    judges: ClassVar[tuple[str, ...]] = STRINGS
    silence: ClassVar[str] = "no nearly equal answer that people judged, or several that they judged differently"

    @property
    def name(self) -> str:
        """The spelling says whose judgments are carried over."""
        return spelled("transfer", people=self.people, similar=None if self.similar == SIMILAR else self.similar)

    @classmethod
    def from_rows(cls, people: str, rows: Iterable[Mapping[str, Any]], *, similar: float = SIMILAR) -> Transfer:
        """The assessor of people's rows for strings (question, doc, text, judgment, answer)."""
        judged: dict[str, dict[str, list[JudgedAnswer]]] = {}
        for row in rows:
            if row.get("text") is None or row.get("judgment") is None:
                continue
            verdict = {"judgment": row["judgment"]}
            if row["judgment"] == RIGHT and row.get("run") is not None:
                # An item of a list: one without a class is its own class, and near ones belong to that.
                verdict["answer"] = class_of(row)
            answers = judged.setdefault(row["question"], {}).setdefault(normalised(row["text"]), [])
            answers.append(JudgedAnswer(row["text"], row.get("doc"), verdict))
        return cls(people, judged, similar)

    def judge(self, case: Case) -> Opinion | None:
        """The label of the nearest judged answer, or nothing."""
        text = case.part.row.get("text")
        judged = self.judged.get(case.question.id)
        if case.kind not in STRINGS or text is None or not judged:
            return None
        near, similarity = self._nearest(str(text), judged)
        usable = [answer for answer in near if answer.doc == case.doc or answer.verdict["judgment"] == WRONG]
        same_document = [answer for answer in usable if answer.doc == case.doc] or usable
        verdicts = {tuple(sorted(answer.verdict.items())) for answer in same_document}
        if len(verdicts) != 1:
            return None
        verdict = dict(same_document[0].verdict)
        if not ROW_KINDS[case.kind].has_classes:
            verdict.pop("answer", None)
        trace: dict[str, Any] = {"near": same_document[0].text, "similarity": round(similarity, 3)}
        if any(answer.text == text and answer.doc == case.doc for answer in same_document):
            trace[COPIED_FROM] = self.people
        return Opinion(verdict, trace)

    def _nearest(self, text: str, judged: Mapping[str, list[JudgedAnswer]]) -> tuple[list[JudgedAnswer], float]:
        """The judged answers that are nearest to a string, and how near they are; none below `similar`."""
        if equal := judged.get(normalised(text)):
            return equal, 1.0
        answer_side = side(text)
        likeness = {string: _likeness(answer_side, known_side(string)) for string in judged}
        best = max(likeness.values())
        if best < self.similar:
            return [], best
        return [answer for string in judged if likeness[string] == best for answer in judged[string]], best


def _likeness(first: Side, second: Side) -> float:
    """Shared trigrams over all trigrams; 0 where the numbers differ."""
    if first.numbers != second.numbers:
        return 0.0
    union = len(first.trigrams | second.trigrams)
    return len(first.trigrams & second.trigrams) / union if union else 0.0
