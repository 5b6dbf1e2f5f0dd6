"""Populations of judgments: who judged what, how often they slip, and what is true of questions like these."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from weakref import finalize

import numpy as np

import qassay
from benchmarks.truth.populations import Generator
from qassay.arrays import Integers

# Labels by their places: what a person writes, and what it is worth.
LABELS = ("incorrect", "partly", "correct")
WORTH = np.array([0.0, 0.5, 1.0])
MANY = 40_000
PROGRAM = "judge"


@dataclass(frozen=True, eq=False)
class Judgments:
    """Labels of every answer (systems x questions) by set, and who gave them where names matter; -1 is no label."""

    sets: Mapping[str, Integers]
    people: Mapping[str, Integers] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Judged:
    """One evaluation: labels as drawn, the labels of many questions, and the sets that are not written."""

    drawn: Judgments
    many: Judgments
    hidden: tuple[str, ...] = ()

    @cached_property
    def place(self) -> Path:
        """Its folder, which goes when this goes."""
        place = Path(mkdtemp(prefix="qassay-truth-"))
        finalize(self, rmtree, place, ignore_errors=True)
        write_evaluation(place, self.drawn, self.hidden)
        return place

    def open(self) -> qassay.Evaluation:
        """The evaluation as it is now."""
        return qassay.open(self.place)


@dataclass(frozen=True, eq=False, kw_only=True)
class Judging:
    """A population of judged answers: `draw` gives the labels of this many questions."""

    name: str
    draw: Callable[[Generator, int], Judgments]
    own: bool = False
    # Sets that are not written: what people would say, known to the simulation alone.
    hidden: tuple[str, ...] = ()

    @property
    def is_there(self) -> bool:
        """Whether evaluations can be drawn here."""
        return True

    def evaluation(self, rng: Generator, questions: int) -> Judged:
        """One evaluation."""
        return Judged(self.draw(rng, questions), many_judgments(self), self.hidden)


@cache
def many_judgments(population: Judging) -> Judgments:
    """The labels of many questions of a population."""
    return population.draw(np.random.default_rng(1), MANY)


def write_evaluation(folder: Path, drawn: Judgments, hidden: tuple[str, ...] = ()) -> None:
    """Questions, runs and judgments as files."""
    systems, questions = next(iter(drawn.sets.values())).shape
    ids = [f"q{number}" for number in range(questions)]
    (folder / "qassay.toml").write_text(f'task = "qa"\nautomatic = ["{PROGRAM}"]\n')
    write_rows(folder / "questions.jsonl", ({"id": name, "type": "qa", "text": f"{name}?"} for name in ids))
    for system in range(systems):
        rows = ({"run": f"s{system}", "question": name, "items": [{"text": f"{system} {name}"}]} for name in ids)
        write_rows(folder / "runs" / f"s{system}.jsonl", rows)
    for name in drawn.sets:
        if name not in hidden:
            write_set(folder, name, drawn)


def write_set(folder: Path, name: str, drawn: Judgments, only: frozenset[str] | None = None) -> None:
    """One judgment set; `only` the questions named."""
    labels, people = drawn.sets[name], drawn.people.get(name)
    rows = []
    for system, question in np.argwhere(labels >= 0).tolist():
        if only is None or f"q{question}" in only:
            row = {"question": f"q{question}", "text": f"{system} q{question}"}
            row["judgment"] = LABELS[labels[system, question]]
            rows.append(row if people is None else row | {"assessor": f"p{people[system, question]}"})
    write_rows(folder / "judgments" / f"{name}.jsonl", rows)


def write_rows(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Rows of JSON."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


# ---- people ---------------------------------------------------------------------------------------------------------


def slipping(rng: Generator, true: Integers, rate: np.ndarray, labels: Integers) -> Integers:
    """Labels of somebody who gives another label of these at this rate."""
    other = labels[rng.integers(len(labels), size=true.shape)]
    return np.where(rng.random(true.shape) < rate, other, true)


def hard_questions(answers: int, assessors: int, *, crowd: int = 0) -> Callable[[Generator, int], Judgments]:
    """Answers of one question resemble each other, and all assessors slip on the same hard questions.

    With a crowd, everybody's chance of a slip is the same, and who judges a question is drawn at random.
    """

    def draw(rng: Generator, questions: int) -> Judgments:
        ease = rng.beta(0.7, 0.7, questions)
        rate = np.where(rng.random(questions) < 0.3, 0.6, 0.06)
        true = 2 * (rng.random((answers, questions)) < ease).astype(np.int64)
        two = np.array([0, 2])
        names = ("first", "second", "third", "fourth")[:assessors]
        sets = {name: slipping(rng, true, rate, two) for name in names}
        if not crowd:
            return Judgments(sets)
        who = np.argsort(rng.random((min(questions, MANY), crowd)), axis=1)[:, :assessors]
        return Judgments(sets, {name: np.tile(who[:, place], (answers, 1)) for place, name in enumerate(names)})

    return draw


# ---- programs, and systems ------------------------------------------------------------------------------------------


def even_judge(systems: int, *, favoured: float = 0.0) -> Callable[[Generator, int], Judgments]:
    """A program that errs on the same questions for all systems, in both directions; or favours the first system."""

    def draw(rng: Generator, questions: int) -> Judgments:
        ease = rng.beta(1.0, 0.8, questions)
        true = 2 * (rng.random((systems, questions)) < ease).astype(np.int64)
        rate = np.where(rng.random(questions) < 0.25, 0.7, 0.1)
        judge = slipping(rng, true, rate, np.array([0, 2]))
        judge[0] = np.where((true[0] == 0) & (rng.random(questions) < favoured), 2, judge[0])
        return Judgments({"first": true, PROGRAM: judge})

    return draw


def by_assessors(assessors: int, *, bias: float = 0.1) -> Callable[[Generator, int], Judgments]:
    """All assessors judge the same answers of two systems; each is more lenient with one of them, or with all."""

    def draw(rng: Generator, questions: int) -> Judgments:
        merit = 0.3 + rng.normal(0, 0.8, questions) + rng.normal(0, 0.6, (2, questions))
        names = ("first", "second", "third", "fourth", "fifth")[:assessors]
        lenient = rng.normal(0, 0.3, assessors)[:, None] + rng.normal(0, bias, (assessors, 2))
        sets = {}
        for place, name in enumerate(names):
            latent = merit + lenient[place][:, None] + rng.normal(0, 0.5, merit.shape)
            sets[name] = np.digitize(latent, (-0.3, 0.6))
        return Judgments(sets)

    return draw


def as_judgments(systems: int, deviation: float) -> Callable[[Generator, int], Judgments]:
    """Systems whose true shares of right answers spread around 0.6, judged once."""
    from benchmarks.truth.populations import spread

    scores = spread(systems, deviation)
    return lambda rng, questions: Judgments({"first": 2 * scores(rng, questions).values.astype(np.int64)})


def two_judges(systems: int, deviation: float) -> Callable[[Generator, int], Judgments]:
    """The same, judged by two people who slip on hard questions."""
    from benchmarks.truth.populations import spread

    scores = spread(systems, deviation)

    def draw(rng: Generator, questions: int) -> Judgments:
        true = 2 * scores(rng, questions).values.astype(np.int64)
        rate = np.where(rng.random(questions) < 0.3, 0.5, 0.05)
        return Judgments({name: slipping(rng, true, rate, np.array([0, 2])) for name in ("first", "second")})

    return draw
