"""The match assessor: an item is right where its string is a known answer.

R where the string equals a known answer of the question (answers.jsonl, not withdrawn, or a gold answer), U where it
does but documents are known for that answer and the item's is not among them, W else. An answer in free text gets the
task's best label where it equals a known answer, else the worst. `match(normalise=true)` compares in lower case,
without accents, a leading article, punctuation and double blanks; `match(contains=true)` asks whether the words of a
known answer stand in the string, in a row. `match(judged=SET)` also takes the strings that people judged right in that
set; a right item of a list then belongs to the class that people put the string into. A question without a known
answer is left unjudged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from qassay.assessors.base import Case, Opinion, spelled
from qassay.assessors.gold import NO_GOLD, UNSUPPORTED, right_or_wrong
from qassay.assessors.words import normalised
from qassay.evaluation.learning import COPIED_FROM
from qassay.judging import ROW_KINDS, STRINGS


@dataclass(frozen=True)
class KnownString:
    """A known answer as written (of a list: its class), and the documents known for it."""

    answer: str
    documents: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Match:
    """Judges factoid and list items, and answers in free text, by the known answers."""

    # Question -> compared string -> the answer.
    answers: Mapping[str, Mapping[str, KnownString]]
    normalise: bool = False
    contains: bool = False
    judged: str | None = None
    # The labels for free-text answers that match and that do not.
    labels: tuple[str, str] | None = None
    # Question, document and string of what people judged right.
    judged_items: frozenset[tuple[str, str | None, str]] = frozenset()

    judges: ClassVar[tuple[str, ...]] = STRINGS
    silence: ClassVar[str] = NO_GOLD

    @property
    def name(self) -> str:
        """The spelling says how it compares."""
        return spelled("match", normalise=self.normalise, contains=self.contains, judged=self.judged)

    @property
    def learns(self) -> bool:
        """Whether it knows what people judged."""
        return self.judged is not None

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Mapping[str, Any]],
        *,
        normalise: bool = False,
        contains: bool = False,
        judged: str | None = None,
        judged_rows: Iterable[Mapping[str, Any]] = (),
        labels: tuple[str, str] | None = None,
    ) -> Match:
        """The assessor of known answers (question, answer, doc, withdrawn), and of judged ones in the same form.

        Judged items of lists have the class that people put them into, too.
        """
        known: dict[str, dict[str, KnownString]] = {}
        right = list(judged_rows)
        for row in (*rows, *right):
            if row.get("withdrawn"):
                continue
            compared = normalised(row["answer"]) if normalise or contains else row["answer"]
            answers_of_question = known.setdefault(row["question"], {})
            before = answers_of_question.get(compared, KnownString(row.get("class") or row["answer"]))
            documents = before.documents | ({row["doc"]} if row.get("doc") else frozenset())
            answers_of_question[compared] = KnownString(before.answer, documents)
        judged_items = frozenset((row["question"], row.get("doc"), row["answer"]) for row in right)
        return cls(known, normalise, contains, judged, labels, judged_items)

    def judge(self, case: Case) -> Opinion | None:
        """The label of an item, or nothing where no answer is known or the part has no string."""
        text = case.part.row.get("text")
        known_answers = self.answers.get(case.question.id)
        if case.kind not in STRINGS or text is None or not known_answers:
            return None
        known = self._known(str(text), known_answers)
        answer = None if known is None else known.answer
        verdict = right_or_wrong(case, self.labels, right=known is not None, answer=answer)
        if verdict is None or known is None:
            return None if verdict is None else Opinion(verdict, {"answer": None})
        trace = {"answer": known.answer}
        if self.judged and (case.question.id, case.doc, text) in self.judged_items:
            trace[COPIED_FROM] = self.judged
        if not ROW_KINDS[case.kind].has_values and known.documents and case.doc not in known.documents:
            verdict = {"judgment": UNSUPPORTED}
        return Opinion(verdict, trace)

    def _known(self, text: str, known_answers: Mapping[str, KnownString]) -> KnownString | None:
        """The known answer that a string is, or that it contains."""
        compared = normalised(text) if self.normalise or self.contains else text
        known = known_answers.get(compared)
        if known is None and self.contains:
            framed = f" {compared} "
            return next((answer for string, answer in known_answers.items() if f" {string} " in framed), None)
        return known
