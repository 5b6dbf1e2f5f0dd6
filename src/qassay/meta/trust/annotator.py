"""The alternative annotator test: may a program replace one of the people? (Calderon et al. 2025, arXiv 2501.10970)

For each person with at least 30 items, of 15 questions, that another person also judged, and each such item:

    S(x)  = share of the *other* people who give x's label (graded: minus the RMSE from them)
    Wf    = 1 where S(program) >= S(person), Wh = 1 where S(person) >= S(program); a tie gives both 1

A one-sided t test over questions asks whether mean(Wh - Wf) < epsilon, for answers to one question are judged alike: S
is the sum of a question, n the number of its items, and

    se^2 = G/(G - 1) sum (S - mean n)^2 / (sum n)^2, with G - 1 degrees of freedom for G questions

Benjamini-Yekutieli over the people at q = 0.05. The winning
rate is the share of people whose test is significant; the program passes at 0.5. Epsilon is what a person costs more
than a program: 0.2 for experts, 0.15 for trained people, 0.1 for crowds; all three are given. The mean of Wf is the
advantage probability: how often the program is at least as near to the others as the person is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from qassay.arrays import TIE, Floats, Integers
from qassay.errors import UsageError
from qassay.results import reported

EPSILONS: Mapping[str, float] = {"experts": 0.2, "trained": 0.15, "crowd": 0.1}
LEAST_ITEMS = 30
LEAST_QUESTIONS = 15
LEAST_PEOPLE = 3
FALSE_DISCOVERY_RATE = 0.05
PASSES = 0.5

Labels = Sequence[str | float | None]


@dataclass(frozen=True, slots=True)
class AgainstPerson:
    """The program beside one person: on how many items, how often as near to the others, and the p-value by epsilon."""

    person: str
    items: int
    advantage: float
    p: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class AlternativeAnnotator:
    """The outcome: the winning rate and whether the program passes, for each kind of people."""

    people: tuple[AgainstPerson, ...]
    winning_rate: Mapping[str, float]
    passes: Mapping[str, bool] | None
    advantage: float
    notes: tuple[str, ...] = ()

    @reported
    def epsilon(self) -> Mapping[str, float]:
        """What a person of each kind costs more than a program."""
        return EPSILONS


def alternative_annotator(
    program: Labels, people: Mapping[str, Labels], *, questions: Sequence[str] | None = None, graded: bool = False
) -> AlternativeAnnotator | None:
    """Run the test; None where nobody has enough items and questions. None among the labels: not judged.

    `questions` are those of the items (every item is a question of its own where they are not given). With two people
    it only asks whom the program resembles: `passes` is None.
    """
    if any(len(labels) != len(program) for labels in people.values()):
        raise UsageError("the alternative annotator test needs one label, or None, for each item of everybody")
    table = _numbers(program, people, graded=graded)
    machine = table.pop("")
    _, asked = np.unique(np.arange(len(program)) if questions is None else questions, return_inverse=True)
    rows = []
    for name, person_labels in table.items():
        others = np.stack([labels for other, labels in table.items() if other != name]) if len(table) > 1 else None
        if others is None:
            continue
        usable = np.isfinite(machine) & np.isfinite(person_labels) & np.isfinite(others).any(axis=0)
        of_item = asked[usable]
        if len(of_item) >= LEAST_ITEMS and len(np.unique(of_item)) >= LEAST_QUESTIONS:
            labels = machine[usable], person_labels[usable], others[:, usable]
            rows.append(_against(name, of_item, *labels, graded=graded))
    if not rows:
        return None
    rates = {
        kind: float(np.mean(significant([row.p[kind] for row in rows], FALSE_DISCOVERY_RATE))) for kind in EPSILONS
    }
    several = len(people) >= LEAST_PEOPLE
    left = len(people) - len(rows)
    notes = (
        [
            f"{left} of {len(people)} people have fewer than {LEAST_ITEMS} items, or {LEAST_QUESTIONS} questions, in "
            "common with another."
        ]
        if left
        else []
    )
    if not several:
        notes.append("With two people the test says only whom the program resembles; it gives no verdict.")
    return AlternativeAnnotator(
        people=tuple(rows),
        winning_rate=rates,
        passes={kind: rate >= PASSES for kind, rate in rates.items()} if several else None,
        advantage=float(np.mean([row.advantage for row in rows])),
        notes=tuple(notes),
    )


def significant(p_values: Sequence[float], rate: float) -> list[bool]:
    """Benjamini-Yekutieli: which p-values are significant at this false discovery rate, whatever their dependence.

    >>> significant([0.001, 0.9, 0.01], 0.05)
    [True, False, True]
    >>> significant([0.03, 0.9, 0.02], 0.05)
    [False, False, False]
    """
    count = len(p_values)
    order = np.argsort(p_values, kind="stable")
    harmonic = sum(1 / place for place in range(1, count + 1))
    limits = rate * np.arange(1, count + 1) / (count * harmonic)
    below = np.flatnonzero(np.asarray(p_values)[order] <= limits)
    rejected = np.zeros(count, dtype=bool)
    if len(below):
        rejected[order[: below[-1] + 1]] = True
    return [bool(value) for value in rejected]


def _against(
    name: str, questions: Integers, machine: Floats, person: Floats, others: Floats, *, graded: bool
) -> AgainstPerson:
    near_machine, near_person = (_nearness(labels, others, graded=graded) for labels in (machine, person))
    wins, losses = near_machine >= near_person, near_person >= near_machine
    differences = losses.astype(np.float64) - wins
    p_values = {kind: _p_value(differences, questions, epsilon) for kind, epsilon in EPSILONS.items()}
    return AgainstPerson(name, len(person), float(wins.mean()), p_values)


def _nearness(labels: Floats, others: Floats, *, graded: bool) -> Floats:
    """S of each item: the share of the others who give the label, or minus the RMSE from them."""
    judged = np.isfinite(others)
    apart = np.where(judged, (others - labels) ** 2 if graded else others == labels, 0.0).sum(axis=0) / judged.sum(
        axis=0
    )
    return np.asarray(-np.sqrt(apart) if graded else apart)


def _p_value(differences: Floats, questions: Integers, epsilon: float) -> float:
    """One-sided t test of mean < epsilon over questions; differences that are all equal leave no doubt."""
    from scipy.special import stdtr

    _, place, size = np.unique(questions, return_inverse=True, return_counts=True)
    mean = float(differences.mean())
    residuals = np.bincount(place, differences) - mean * size
    variance = len(size) / (len(size) - 1) * float((residuals**2).sum()) / len(differences) ** 2
    if variance <= TIE**2:
        return 0.0 if mean < epsilon else 1.0
    return float(stdtr(len(size) - 1, (mean - epsilon) / np.sqrt(variance)))


def _numbers(program: Labels, people: Mapping[str, Labels], *, graded: bool) -> dict[str, Floats]:
    """Everybody's labels as numbers, the program's under the empty name; NaN where not judged."""
    everybody: dict[str, Labels] = {"": program, **people}
    words = dict.fromkeys(label for labels in everybody.values() for label in labels if label is not None)
    codes = {label: float(label) if graded else float(code) for code, label in enumerate(words)}
    return {
        name: np.array([np.nan if label is None else codes[label] for label in labels])
        for name, labels in everybody.items()
    }
