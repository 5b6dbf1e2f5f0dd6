"""Pairs of systems as families take them: sums of their differences, and the largest of a flip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import Floats
from qassay.matrix import Repeats
from qassay.meta.blocks import Blocks

# Pairs whose squares are added up together.
_PAIRS = 1_024
# Sums of whole numbers below this are exact in single precision.
_SINGLE = 2.0**24


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Over the blocks, for every pair: of differences, of their squares, and of both with the weights of the blocks.

    D = sum d, Q = sum d^2, W = sum w, V = sum w^2, U = sum d*w.
    """

    d: Floats
    q: Floats
    w: Floats
    v: Floats
    u: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Systems:
    """Systems x blocks, whole numbers: all pairs of them, or with `control` every other one against this one.

    `first[i]` and `second[i]` are the systems of pair i, whose difference is that of the first minus the second. With
    `repeats` running the systems again is included.
    """

    parts: Floats
    weights: Floats
    scale: float
    tolerance: float = 0.5
    control: int | None = None
    repeats: Repeats | None = None
    first: NDArray[np.intp] = field(init=False)
    second: NDArray[np.intp] = field(init=False)

    def __post_init__(self) -> None:
        if self.control is None:
            first, second = np.triu_indices(len(self.parts), 1)
        else:
            first = np.delete(np.arange(len(self.parts)), self.control)
            second = np.full(len(first), self.control)
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "second", second)

    @classmethod
    def of(cls, parts: Blocks, control: int | None = None, repeats: Repeats | None = None) -> Systems:
        """The systems whose scores these are."""
        return cls(parts.parts, parts.weights, parts.scale, parts.tolerance, control, repeats)

    @property
    def work(self) -> int:
        """What a flip costs: a comparison for each pair."""
        return len(self.first)

    def sums(self) -> Sums:
        """The sums of every pair."""
        weights = self.weights
        totals, weighted = self.parts.sum(axis=1), self.parts @ weights
        one = np.ones(len(self.first))
        return Sums(
            d=totals[self.first] - totals[self.second],
            q=self._squares(),
            w=weights.sum() * one,
            v=float(weights @ weights) * one,
            u=weighted[self.first] - weighted[self.second],
        )

    def _squares(self) -> Floats:
        near = self._centred()
        if float((near**2).sum(axis=1).max(initial=0.0)) < 2.0**51:
            products = near @ near.T
            own = np.diag(products)
            return np.asarray(own[self.first] + own[self.second] - 2 * products[self.first, self.second])
        # Products of larger numbers are rounded, and would hide small differences.
        squares = np.empty(len(self.first))
        for start in range(0, len(squares), _PAIRS):
            rows = slice(start, start + _PAIRS)
            apart = near[self.first[rows]] - near[self.second[rows]]
            squares[rows] = np.einsum("ij,ij->i", apart, apart)
        return squares

    def _centred(self) -> Floats:
        """The parts around the mean of each block, which changes no difference and keeps sums small."""
        return np.asarray(self.parts - np.rint(self.parts.mean(axis=0)))

    def flipper(self, deviations: Floats) -> tuple[Callable[[NDArray[np.uint8]], Floats], float]:
        """A function that gives the largest R of each flip, and its relative error."""
        near = self._centred()
        single = bool(2 * np.abs(near).sum(axis=1).max(initial=0.0) < _SINGLE)
        kind: type[np.float32 | np.float64] = np.float32 if single else np.float64
        if self.control is not None:
            near = np.roll(near, -self.control, axis=0)
            near[1:] = np.roll(near[1:], self.control, axis=0)
        signed: NDArray[Any] = near.astype(kind)
        factors: NDArray[Any] = (1 / deviations).astype(kind)[:, None]
        runs = len(signed)

        def largest(chosen: NDArray[np.uint8]) -> Floats:
            signs: NDArray[Any] = 1 - 2 * chosen.astype(kind)
            flipped = np.ascontiguousarray(signed @ signs.T)
            most = np.zeros(len(chosen), dtype=kind)
            buffer = np.empty((runs - 1, len(chosen)), dtype=kind)
            at = 0
            for i in range(runs - 1 if self.control is None else 1):
                count = runs - 1 - i
                apart = np.subtract(flipped[i + 1 :], flipped[i], out=buffer[:count])
                np.abs(apart, out=apart)
                np.multiply(apart, factors[at : at + count], out=apart)
                np.maximum(most, apart.max(axis=0), out=most)
                at += count
            return most.astype(np.float64)

        return largest, 2e-7 if single else 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Pairs x blocks: differences as whole numbers, and weights; both 0 where a block misses one of the pair."""

    differences: Floats
    weights: Floats
    scale: float
    tolerance: float = 0.5
    repeats: None = None

    @property
    def work(self) -> int:
        """What a flip costs: a sum over the blocks of each pair."""
        return self.differences.size

    def sums(self) -> Sums:
        """The sums of every pair."""
        d, w = self.differences, self.weights
        return Sums(d.sum(axis=1), (d**2).sum(axis=1), w.sum(axis=1), (w**2).sum(axis=1), (d * w).sum(axis=1))

    def flipper(self, deviations: Floats) -> tuple[Callable[[NDArray[np.uint8]], Floats], float]:
        """A function that gives the largest R of each flip, and its relative error."""
        scaled = self.differences / deviations[:, None]

        def largest(chosen: NDArray[np.uint8]) -> Floats:
            signs = 1 - 2 * chosen.astype(np.float64)
            return np.asarray(np.abs(scaled @ signs.T).max(axis=0, initial=0.0))

        return largest, 1e-9
