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
from qassay.assessors.nuggets import LearnedNuggets
from qassay.assessors.overlap import JUDGED

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
    """Judges strings by the shipped model, and nuggets by what people decided elsewhere (`nuggets`)."""

    gold: Gold
    nuggets: LearnedNuggets | None = None
    # The set of people that nuggets were learned from, where it is not the default key.
    people: str | None = None

    @property
    def name(self) -> str:
        """The spelling says what it learned from."""
        given = [f"people={self.people}"] if self.people else []
        given += ["hits=true"] if self.nuggets is not None and self.nuggets.hits else []
        return f"learned({','.join(given)})" if given else "learned"

    def judge(self, case: Case) -> Opinion | None:
        """Right or wrong; nothing without a gold answer."""
        return self.judge_together([case])[0]

    def judge_together(self, cases: Sequence[Case]) -> list[Opinion | None]:
        """The same for several answers at once."""
        opinions = [self._nuggets(case) if case.kind in JUDGED else None for case in cases]
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

    def _nuggets(self, case: Case) -> Opinion | None:
        """The nuggets of a response, or the support of one."""
        if self.nuggets is None:
            return None
        names = [str(nugget["nugget"]) for nugget in case.nuggets]
        if case.kind == "support":
            names = [name for name in names if name == case.part.row.get("nugget")]
        decided = {name: self.nuggets.decide(case.question.id, case.item.run, name) for name in names}
        decisions = {name: decision for name, decision in decided.items() if decision is not None}
        if not decisions:
            return None
        if case.kind == "match":
            chances = {name: round(decision.probability, 4) for name, decision in decisions.items()}
            found = [name for name, decision in decisions.items() if decision.supported]
            return Opinion({"nuggets": found}, {"probabilities": chances})
        (decision,) = decisions.values()
        trace = {"probability": round(decision.probability, 4), "threshold": round(decision.threshold, 4)}
        return Opinion({"support": "full" if decision.supported else "none"}, trace)


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
