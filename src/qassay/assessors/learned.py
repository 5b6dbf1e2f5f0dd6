"""Short and free answers judged by their words, beside the gold answers.

`recall` calls an answer right where it has at least `threshold` of the content words of a gold answer, of the gold
answer of which it has most. `learned` puts thirteen such features (`features`) into a logistic model and calls an
answer right from probability 0.5 on. The model was trained on people's judgments of TriviaQA answers and is shipped as
its coefficients (learned.json, with script, source and date), so that it needs no label; the probability is in the
trace.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from qassay.assessors.base import Case, Opinion
from qassay.assessors.features import FEATURES, closest, known_side, side
from qassay.assessors.gold import Gold
from qassay.assessors.logistic import Logistic

THRESHOLD = 0.5


@dataclass(frozen=True)
class Recall:
    """Judges strings by the share of a gold answer's words that they have."""

    gold: Gold
    threshold: float = THRESHOLD

    @property
    def name(self) -> str:
        """The spelling says where it draws the line."""
        return "recall" if self.threshold == THRESHOLD else f"recall(threshold={self.threshold:g})"

    def judge(self, case: Case) -> Opinion | None:
        """Right or wrong; nothing without a gold answer."""
        golds = self.gold.of_case(case)
        if not golds:
            return None
        given = side(case.text).distinct
        shares = {gold: _recall(known_side(gold).distinct, given) for gold in golds}
        gold = max(shares, key=shares.__getitem__)
        verdict = self.gold.verdict(case, right=shares[gold] >= self.threshold, answer=gold)
        trace = {"answer": gold, "share": round(shares[gold], 3)}
        return None if verdict is None else Opinion(verdict, trace)


@dataclass(frozen=True)
class Learned:
    """Judges strings by the shipped model."""

    gold: Gold

    @property
    def name(self) -> str:
        """It has no parameters."""
        return "learned"

    def judge(self, case: Case) -> Opinion | None:
        """Right or wrong; nothing without a gold answer."""
        return self.judge_together([case])[0]

    def judge_together(self, cases: Sequence[Case]) -> list[Opinion | None]:
        """The same for several answers at once."""
        opinions: list[Opinion | None] = [None] * len(cases)
        places, golds, rows = [], [], []
        for place, case in enumerate(cases):
            if own := self.gold.of_case(case):
                gold, features = closest(case.question.text, own, case.text)
                places.append(place)
                golds.append(gold)
                rows.append(features)
        if rows:
            chances = shipped_model().probabilities(np.array(rows))
            for place, gold, chance in zip(places, golds, chances.tolist(), strict=True):
                verdict = self.gold.verdict(cases[place], right=chance >= THRESHOLD, answer=gold)
                trace = {"answer": gold, "probability": round(chance, 4)}
                opinions[place] = None if verdict is None else Opinion(verdict, trace)
        return opinions


@cache
def shipped_model() -> Logistic:
    """The model of learned.json."""
    text = resources.files("qassay.assessors").joinpath("learned.json").read_text(encoding="utf-8")
    model = Logistic.from_json(json.loads(text)["model"])
    if model.features != FEATURES:
        raise ValueError("learned.json has other features than features.py; run scripts/train_learned.py")
    return model


def _recall(gold: frozenset[str], answer: frozenset[str]) -> float:
    return len(gold & answer) / len(gold) if gold else 0.0
