"""Who is out of line: who judged a question is dealt again among the people who judged it.

A block is one question with the people who judged the same items of it. Each of them has there

    a = sum over these items of (agreement with the others - agreement of the others among themselves)

which is 0 on average over the people of a block. If nobody judges differently from the others, any of these people
could have had any of these values: so they are dealt at random, and with z = sum of a / sqrt(sum of its variances)

    p of a person = (1 + number of deals whose smallest z is not above the person's) / (1 + number of deals)

is exact for all people together, whatever they misread, and however alike the answers to a question are judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from qassay.arrays import TIE, Floats, Integers
from qassay.meta.agreement.coefficients import CHUNK

DEALS = 999
ALPHA = 0.05
LEAST_PEOPLE, LEAST_BLOCKS = 3, 6


@dataclass(frozen=True, eq=False)
class DealtBlocks:
    """The values that are dealt: those of the people of each block, blocks with the same number of people together.

    `number` counts all blocks; those in which everybody has the same value are in no group: dealing changes nothing.
    """

    number: int
    people: Sequence[Integers]
    values: Sequence[Floats]

    @staticmethod
    def of(questions: Integers, items: Integers, people: Integers, values: Floats) -> DealtBlocks:
        """The blocks of judgments: of which question and item, by whom, and what it adds to the person's value."""
        judged = pl.DataFrame({"question": questions, "item": items, "person": people})
        groups = judged.sort("item", "person").group_by("question", "item", maintain_order=True).agg("person")
        blocks = groups.group_by("question", "person", maintain_order=True).agg("item").with_row_index("block")
        of_item = np.zeros(int(items.max(initial=-1)) + 1, dtype=np.int64)
        listed = blocks.select("block", "item").explode("item")
        of_item[listed["item"].to_numpy()] = listed["block"].to_numpy()
        everybody = int(people.max(initial=-1)) + 1
        entries, place = np.unique(of_item[items] * everybody + people, return_inverse=True)
        block, person = np.divmod(entries, everybody)
        totals = np.bincount(place, values, minlength=len(entries))
        sizes = np.bincount(block)
        sets, dealt = [], []
        for size in np.unique(sizes):
            own = np.flatnonzero(sizes[block] == size).reshape(-1, size)
            own = own[np.ptp(totals[own], axis=1) > TIE]
            if len(own):
                sets.append(person[own])
                dealt.append(totals[own])
        return DealtBlocks(len(sizes), sets, dealt)


def chances(blocks: DealtBlocks, people: int, *, seed: int) -> Floats | None:
    """The p of each of the people; None where there are too few blocks to say anything."""
    if blocks.number < LEAST_BLOCKS:
        return None
    spread = np.zeros(people)
    for who, values in zip(blocks.people, blocks.values, strict=True):
        spread += np.bincount(who.ravel(), np.repeat(values.var(axis=1), values.shape[1]), minlength=people)
    spread = np.where(spread > 0, np.sqrt(spread), np.inf)
    seen = _sums(blocks.people, [values[None] for values in blocks.values], people, 1)[0] / spread
    rng = np.random.default_rng(seed)
    step = max(1, CHUNK // max(1, sum(values.size for values in blocks.values)))
    smallest = np.empty(DEALS)
    for start in range(0, DEALS, step):
        times = min(step, DEALS - start)
        dealt = [rng.permuted(np.repeat(values[None], times, axis=0), axis=2) for values in blocks.values]
        smallest[start : start + times] = (_sums(blocks.people, dealt, people, times) / spread).min(axis=1)
    as_small = np.searchsorted(np.sort(smallest), seen + TIE, side="right")
    return np.asarray((1 + as_small) / (1 + DEALS))


def _sums(people: Sequence[Integers], values: Sequence[Floats], number: int, times: int) -> Floats:
    """The sum of every person's values in each of `times` deals."""
    sums = np.zeros(times * number)
    for who, dealt in zip(people, values, strict=True):
        place = who.ravel() + number * np.arange(times)[:, None]
        sums += np.bincount(place.ravel(), dealt.ravel(), minlength=times * number)
    return sums.reshape(times, number)
