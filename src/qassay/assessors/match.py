"""The match assessor: an item is right where its string is a known answer.

R where the string equals a known answer of the question (answers.jsonl, not withdrawn), U where it does but documents
are known for that answer and the item's is not among them, W else. `match(normalise=true)` compares in lower case,
without a leading article, punctuation and double blanks. A question without a known answer is not judged: nothing can
be said.

An answer in free text gets the task's best label where it equals a gold answer of its question or a known answer, and
the worst label else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from qassay.assessors.base import Case, Opinion

_ARTICLE = re.compile(r"^(?:a|an|the) (?=.)")
_NOT_WORD = re.compile(r"[^\w]+")


def normalised(text: str) -> str:
    """A string as it is compared where spelling is not the point; one without a word stays what it is.

    >>> normalised("The  Eiffel-Tower."), normalised("Vitamin A"), normalised("?!")
    ('eiffel tower', 'vitamin a', '?!')
    """
    words = " ".join(_NOT_WORD.sub(" ", text.casefold()).split())
    return _ARTICLE.sub("", words) or text.casefold().strip()


@dataclass(frozen=True)
class Match:
    """Judges factoid and list items, and answers in free text, by the known answers."""

    # Question -> compared string -> the answer's own string and the documents known for it.
    answers: Mapping[str, Mapping[str, tuple[str, frozenset[str]]]]
    normalise: bool = False
    # The labels for free-text answers that match and that do not.
    labels: tuple[str, str] | None = None

    @property
    def name(self) -> str:
        """The spelling says how it compares."""
        return "match(normalise=true)" if self.normalise else "match"

    @classmethod
    def from_rows(
        cls, rows: Iterable[Mapping[str, Any]], *, normalise: bool = False, labels: tuple[str, str] | None = None
    ) -> Match:
        """The assessor of known answers (question, answer, doc, withdrawn)."""
        found: dict[str, dict[str, tuple[str, frozenset[str]]]] = {}
        for row in rows:
            if row.get("withdrawn"):
                continue
            compared = normalised(row["answer"]) if normalise else row["answer"]
            own = found.setdefault(row["question"], {})
            first, docs = own.get(compared, (row["answer"], frozenset()))
            own[compared] = (first, docs | ({row["doc"]} if row.get("doc") else frozenset()))
        return cls(found, normalise, labels)

    def judge(self, case: Case) -> Opinion | None:
        """The label of an item, or nothing where no answer is known or the part has no string."""
        question, part = case.question, case.part
        text = part.row.get("text")
        own = self.answers.get(question.id)
        if part.kind not in ("item", "list", "label") or text is None or not own:
            return None
        known = own.get(normalised(str(text)) if self.normalise else str(text))
        if part.kind == "label":
            if self.labels is None:
                return None
            right, wrong = self.labels
            return Opinion({"judgment": right if known else wrong}, {"answer": known[0] if known else None})
        if known is None:
            return Opinion({"judgment": "W"}, {"answer": None})
        answer, docs = known
        if docs and part.row.get("doc") not in docs:
            return Opinion({"judgment": "U"}, {"answer": answer})
        named = {"answer": answer} if part.kind == "list" else {}
        return Opinion({"judgment": "R", **named}, {"answer": answer})
