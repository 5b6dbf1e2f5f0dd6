"""The sample that people label: a random order of questions, the same for all runs (METHOD 7).

Every question has a random place of its own, drawn from the seed and its id: the order of some questions does not
depend on the others, and a larger sample of the same seed continues a smaller one. Where units have several decisions
(nuggets of a topic, questions of a series) the order goes round all units: in every round each unit gives one more.

Any prefix of the order is a random sample, all of it judged; a gap within it is not, and blocks correction. Its size is
the plan for looking at it (`qassay.meta.looks`), unless it is to be looked at in steps, or at any time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from qassay.errors import InputError, Problem, few
from qassay.meta.looks import Plan
from qassay.tables import counted, plural

# In how many steps a sample is looked at, or at any time; None: once it is all judged, and before with wide intervals.
Looks: TypeAlias = int | Literal["any time"] | None


@dataclass(frozen=True, slots=True, order=True)
class Draw:
    """One draw: a question, or one nugget of it."""

    question: str
    nugget: str | None = None

    def __str__(self) -> str:
        return self.question if self.nugget is None else f"{self.question} (nugget {self.nugget})"


@dataclass(frozen=True)
class Sample:
    """A drawn sample: `draws` in their random order, of a population of `population`.

    `seed` is None where it was drawn elsewhere. `judge` is the set whose scores it is for, `pair` the two runs that it
    serves alone, `measure` the measure it was drawn for.
    """

    name: str
    draws: tuple[Draw, ...]
    population: int
    seed: int | None = None
    judge: str | None = None
    pair: tuple[str, str] | None = None
    measure: str | None = None
    file: str | None = None
    looks: Looks = None

    def plan(self, size: int | None = None) -> Plan:
        """When it is looked at; with `size`, that of its draws which are still scored."""
        planned = len(self.draws) if size is None else size
        if self.looks == "any time":
            return Plan("any time")
        return Plan("planned", planned) if self.looks is None else Plan("steps", planned, self.looks)

    @property
    def probability(self) -> float:
        """The chance of every member of the population to be drawn."""
        return len(self.draws) / self.population

    @property
    def is_of_nuggets(self) -> bool:
        """Whether single nuggets were drawn."""
        return any(draw.nugget is not None for draw in self.draws)


def random_order(draws: Sequence[Draw], units: Sequence[str] | None, *, seed: int) -> list[Draw]:
    """The draws in random order; with `units`, the unit of each, going round the units."""

    def place(*parts: object) -> bytes:
        return hashlib.blake2b("\0".join(map(str, parts)).encode(), digest_size=16).digest()

    by_chance = sorted(draws, key=lambda draw: place(seed, draw.question, draw.nugget or ""))
    if units is None:
        return by_chance
    of_draw = dict(zip(draws, units, strict=True))
    rounds: dict[str, int] = {}
    keys = {}
    for draw in by_chance:
        unit = of_draw[draw]
        rounds[unit] = rounds.get(unit, 0) + 1
        keys[draw] = (rounds[unit], place(seed, "round", rounds[unit], unit))
    return sorted(by_chance, key=lambda draw: keys[draw])


def check_draw(sample: Sample, draws: Sequence[Draw], units: Sequence[str] | None, *, measure: str) -> tuple[Draw, ...]:
    """The sample without questions that are no longer scored; an error where it is not the draw of its seed.

    A sample drawn elsewhere (without a seed) is accepted, as far as its members are known.
    """
    known = set(draws)
    scored = tuple(draw for draw in sample.draws if draw in known)
    if not scored:
        raise _refused(sample, "none of its questions is scored")
    if sample.seed is None:
        return scored
    drawn = random_order(draws, units, seed=sample.seed)[: len(scored)]
    if list(scored) == drawn:
        return scored
    if sample.measure not in (None, measure) and (units is not None or sample.is_of_nuggets):
        raise _refused(sample, f"was drawn for {sample.measure}, and does not serve {measure}; draw one for it")
    added = [draw for draw in drawn if draw not in set(sample.draws)]
    message = "is not the random draw that its seed gives: questions were picked or moved by hand"
    if added and [draw for draw in drawn if draw in set(scored)] == list(scored)[: len(drawn) - len(added)]:
        message = (
            f"does not fit the questions as they are now: {few(map(str, added))} would have been drawn before others"
        )
    raise _refused(
        sample,
        f"{message}. A random sample is needed: draw again with qassay sample, with the same seed and under another "
        "name (--name); labels given so far still count",
    )


@dataclass(frozen=True, slots=True)
class Labelled:
    """How much of a sample is labelled: the first draws, without a gap, and how many more were drawn."""

    draws: tuple[Draw, ...]
    drawn: int


def labelled_prefix(
    sample: Sample,
    draws: Sequence[Draw],
    *,
    is_whole: Callable[[Draw], bool],
    is_begun: Callable[[Draw], bool],
    people: str,
    stops: Sequence[int] = (),
) -> Labelled:
    """The first draws that are judged completely; an error where a later one is judged and an earlier one is not.

    `stops` are the numbers of labels at which looks are planned.
    """
    whole = [is_whole(draw) for draw in draws]
    end = whole.index(False) if False in whole else len(whole)
    last = max((place for place, draw in enumerate(draws) if is_begun(draw)), default=-1)
    skipped = [str(draw) for place, draw in enumerate(draws[:last]) if not whole[place]]
    noun = ("nugget", "nuggets") if sample.is_of_nuggets else ("question", "questions")
    if last > end:
        message = (
            f"{people} judged question {draws[last]} at place {last + 1}, but not completely "
            f"{counted(len(skipped), noun)} drawn before it: {few(skipped)}. What is skipped may be hard, so the rest "
            f"is not a random sample. Judge {'it' if len(skipped) == 1 else 'them'}, then correct"
        )
        raise _refused(sample, message)
    # Draws that need no label count once people are past them, or where they complete what is planned.
    judged = end if end == len(draws) else min(end, last + 1)
    if judged == 0:
        first = f"the first is {draws[0]}"
        message = f"{people} has judged none of its {counted(len(draws), noun)} completely ({first})"
        raise _refused(sample, f"{message}. Judge them in the order of the sample, all answers of each")
    end = next((stop for stop in stops if last < stop <= end), judged)
    return Labelled(tuple(draws[:end]), len(draws))


def new_sample(
    name: str,
    draws: Sequence[Draw],
    units: Sequence[str] | None,
    *,
    size: int,
    seed: int,
    judge: str,
    measure: str,
    pair: tuple[str, str] | None = None,
    looks: Looks = None,
) -> Sample:
    """Draw a sample; an error where there are fewer questions, or fewer labels than units."""
    if size > len(draws):
        raise InputError(Problem("configuration", f"there are only {plural(len(draws), 'question')} to draw from"))
    number = len(set(units or ()))
    if size < number:
        message = f"each of the {number} topics or series needs a label: draw {number} or more (--size {number})"
        raise InputError(Problem("configuration", message))
    order = random_order(draws, units, seed=seed)
    return Sample(name, tuple(order[:size]), len(draws), seed, judge, pair, measure, looks=looks)


def sample_rows(sample: Sample) -> list[Mapping[str, object]]:
    """The rows of samples/NAME.jsonl."""
    shared: dict[str, object] = {"probability": sample.probability, "seed": sample.seed, "of": sample.population}
    shared |= {"for": sample.judge, "measure": sample.measure}
    if sample.pair is not None:
        shared["pair"] = list(sample.pair)
    if sample.looks is not None:
        shared["looks"] = sample.looks
    return [
        {
            "position": place,
            "question": draw.question,
            **({} if draw.nugget is None else {"nugget": draw.nugget}),
            **shared,
        }
        for place, draw in enumerate(sample.draws, 1)
    ]


def _refused(sample: Sample, message: str) -> InputError:
    return InputError(Problem("configuration", f"the sample {sample.name}: {message}", sample.file))
