"""Short and free answers judged by their words, beside the gold answers.

`recall` calls an answer right where it has at least `threshold` of the content words of a gold answer, of the gold
answer of which it has most. `learned` puts thirteen such features (`features`) into a logistic model and calls an
answer right from probability 0.5 on. The model was trained on people's judgments of TriviaQA answers and is shipped as
its coefficients (learned.json, with script, source and date), so that it needs no label; the probability is in the
trace.

Both call an answer wrong that is only a long list of words (`word_lists`).

`embedding` is `learned` with sentence embeddings beside the words: two more features, the cosine of the answer and the
nearest gold answer, and the same of what is left of both without the question. Its coefficients are others, and others
for wordllama than for ONNX models (those were fitted with all-MiniLM-L6-v2). Cosines alone are much worse than words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import ClassVar

import numpy as np

from qassay.arrays import Floats
from qassay.assessors.base import Case, Opinion, spelled
from qassay.assessors.embeddings import Embedder, without_direction
from qassay.assessors.features import FEATURES, closest, known_side, side
from qassay.assessors.gold import NO_GOLD, Gold
from qassay.assessors.logistic import Logistic
from qassay.assessors.nuggets import LearnedNuggets
from qassay.assessors.overlap import JUDGED
from qassay.assessors.word_lists import is_list
from qassay.judging import ROW_KINDS, STRINGS

THRESHOLD = 0.5
# What the trace of an answer says that has the words of the gold answer and is only a list.
A_LIST = {"list_of_words": True}
# The cosine of answer and nearest gold answer, and of the two without what they share with the question.
COSINES = ("cosine", "cosine_new")


@dataclass(frozen=True)
class Recall:
    """Judges strings by the share of a gold answer's words that they have."""

    gold: Gold
    threshold: float = THRESHOLD
    learns: ClassVar[bool] = False
    judges: ClassVar[tuple[str, ...]] = STRINGS
    silence: ClassVar[str] = NO_GOLD

    @property
    def name(self) -> str:
        """The spelling says where it draws the line."""
        return spelled("recall", threshold=None if self.threshold == THRESHOLD else self.threshold)

    def judge(self, case: Case) -> Opinion | None:
        """Right or wrong; nothing without a gold answer."""
        golds = self.gold.of_case(case)
        if not golds:
            return None
        answer_words = side(case.text).distinct
        shares = {gold: _recall(known_side(gold).distinct, answer_words) for gold in golds}
        gold = max(shares, key=shares.__getitem__)
        right = shares[gold] >= self.threshold
        trace = {"answer": gold, "share": round(shares[gold], 3)}
        if right and is_list(case, self.gold, gold):
            right, trace = False, trace | A_LIST
        verdict = self.gold.verdict(case, right=right, answer=gold)
        return None if verdict is None else Opinion(verdict, trace)


@dataclass(frozen=True)
class Learned:
    """Judges strings by the shipped model, and nuggets by people's decisions elsewhere (`nuggets`)."""

    gold: Gold
    nuggets: LearnedNuggets | None = None
    # The set of people that nuggets were learned from, where it is not the default key.
    people: str | None = None
    # The embeddings whose cosines are used next to the words; the assessor is called `embedding` then.
    embedder: Embedder | None = None
    judges: ClassVar[tuple[str, ...]] = (*STRINGS, *JUDGED)
    silence: ClassVar[str] = "no known answer to the question, or no nuggets of it that people judged"

    @property
    def name(self) -> str:
        """The spelling says what it learned from, and by which model; a set's name has room for no path."""
        model = self.embedder.label if self.embedder is not None and self.embedder.path else None
        hits = self.nuggets is not None and self.nuggets.hits
        return spelled("learned" if self.embedder is None else "embedding", model=model, people=self.people, hits=hits)

    @property
    def learns(self) -> bool:
        """For nuggets it learns from people's judgments."""
        return self.nuggets is not None

    def judge(self, case: Case) -> Opinion | None:
        """Right or wrong; nothing without a gold answer."""
        return self.judge_together([case])[0]

    def judge_together(self, cases: Sequence[Case]) -> list[Opinion | None]:
        """The same for several answers at once."""
        opinions = [self._nuggets(case) if case.kind in JUDGED else None for case in cases]
        places = [place for place, case in enumerate(cases) if self.gold.of_case(case)]
        with_gold = [cases[place] for place in places]
        for place, (gold, chance) in zip(places, self._chances(with_gold), strict=True):
            right = chance >= THRESHOLD
            trace = {"answer": gold, "probability": round(chance, 4), **self._model}
            if right and is_list(cases[place], self.gold, gold):
                right, trace = False, trace | A_LIST
            verdict = self.gold.verdict(cases[place], right=right, answer=gold)
            opinions[place] = None if verdict is None else Opinion(verdict, trace)
        return opinions

    def _chances(self, cases: Sequence[Case]) -> list[tuple[str, float]]:
        """The nearest gold answer of each string, and the probability that the string is right."""
        if not cases:
            return []
        golds = [self.gold.of_case(case) for case in cases]
        near = [
            closest(case.question.text, gold_answers, case.text)
            for case, gold_answers in zip(cases, golds, strict=True)
        ]
        rows = np.array([features for _, features in near])
        model = shipped_model(None if self.embedder is None else self.embedder.family)
        if self.embedder is not None:
            compared = [
                (case.question.text, case.text, gold, gold_answers)
                for case, (gold, _), gold_answers in zip(cases, near, golds, strict=True)
            ]
            rows = np.column_stack([rows, cosines(self.embedder, compared)])
        chances = model.probabilities(rows).tolist()
        return [(gold, chance) for (gold, _), chance in zip(near, chances, strict=True)]

    @property
    def _model(self) -> dict[str, str]:
        return {} if self.embedder is None else {"model": self.embedder.label}

    def _nuggets(self, case: Case) -> Opinion | None:
        """The nuggets of a response, or the support of one."""
        if self.nuggets is None:
            return None
        names = [str(nugget["nugget"]) for nugget in case.nuggets]
        if not ROW_KINDS[case.kind].linked:
            names = [name for name in names if name == case.part.row.get("nugget")]
        decided = {name: self.nuggets.decide(case.question.id, case.item.run, name) for name in names}
        decisions = {name: decision for name, decision in decided.items() if decision is not None}
        if not decisions:
            return None
        if ROW_KINDS[case.kind].linked:
            chances = {name: round(decision.probability, 4) for name, decision in decisions.items()}
            supported = [name for name, decision in decisions.items() if decision.supported]
            return Opinion({"nuggets": supported}, {"probabilities": chances, **self._model})
        (decision,) = decisions.values()
        trace = {
            "probability": round(decision.probability, 4),
            "threshold": round(decision.threshold, 4),
            **self._model,
        }
        return Opinion({"support": "full" if decision.supported else "none"}, trace)


def cosines(embedder: Embedder, answers: Sequence[tuple[str, str, str, Sequence[str]]]) -> Floats:
    """The features `COSINES` of answers: question, answer, the gold answer nearest by words, and all gold answers."""
    questions = embedder.vectors([question for question, *_ in answers])
    texts = embedder.vectors([text for _, text, *_ in answers])
    golds = embedder.vectors([gold for _, _, gold, _ in answers])
    every = embedder.vectors([gold for *_, gold_answers in answers for gold in gold_answers])
    nearest, start = [], 0
    for row, (*_, gold_answers) in enumerate(answers):
        nearest.append(float((every[start : start + len(gold_answers)] @ texts[row]).max()))
        start += len(gold_answers)
    new = without_direction(texts, questions) * without_direction(golds, questions)
    return np.column_stack([embedder.contrast(np.array(nearest)), new.sum(axis=1)])


@cache
def shipped_model(family: str | None = None) -> Logistic:
    """The model of words alone (learned.json), or that with the cosines of a family of embeddings (embedding.json)."""
    name, features = ("learned.json", FEATURES) if family is None else ("embedding.json", (*FEATURES, *COSINES))
    shipped = json.loads(resources.files("qassay.assessors").joinpath(name).read_text(encoding="utf-8"))
    model = Logistic.from_json((shipped if family is None else shipped[family])["model"])
    if model.features != features:
        raise ValueError(f"{name} has other features than features.py; run scripts/train_learned.py")
    return model


def _recall(gold: frozenset[str], answer: frozenset[str]) -> float:
    return len(gold & answer) / len(gold) if gold else 0.0
