"""Sets of runs that are not shown to differ, and letters that say who shares one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def indistinguishable(different: NDArray[np.bool_]) -> list[list[int]]:
    """Maximal sets of runs none of whose pairs are different, such that every such pair is in one of them.

    Runs are given in the order of the ranking. Where one threshold decides for all pairs, these are all the
    maximal sets there are, and each is a stretch of the ranking. With thresholds of their own (Holm,
    Benjamini-Hochberg) the maximal sets can be too many to list; then these are enough of them to cover every
    pair, found by growing each pair not yet covered, the widest first.
    """
    count = len(different)
    alike = ~different
    np.fill_diagonal(alike, True)
    covered = np.eye(count, dtype=np.bool_)
    sets: list[list[int]] = []
    for first in range(count):
        # The widest stretch first: in a ranking it holds most of the narrower ones.
        for last in range(count - 1, first, -1):
            if alike[first, last] and not covered[first, last]:
                sets.append(_grow(alike, first, last))
                covered[np.ix_(sets[-1], sets[-1])] = True
        if not any(first in members for members in sets):
            sets.append([first])
    return sorted(sets)


def _grow(alike: NDArray[np.bool_], first: int, last: int) -> list[int]:
    """A maximal set around two runs: those between them in the ranking are taken up before those outside."""
    between = range(first + 1, last)
    outside = [run for run in range(len(alike)) if run < first or run > last]
    members = [first, last]
    fits = alike[first] & alike[last]
    for run in [*between, *outside]:
        if fits[run]:
            members.append(run)
            fits &= alike[run]
    return sorted(members)


def letters(sets: Sequence[Sequence[int]], runs: int) -> list[str]:
    """Letters of every run: runs that share one are not shown to differ.

    One letter per set: a to z, then aa, ab and so on, so that they never run out; separated by commas where one is
    longer than a character, and four or more in a row written as a span.

    >>> letters([[0, 1], [1, 2]], 3)
    ['a', 'ab', 'b']
    """
    names = [_name(i) for i in range(len(sets))]
    places: list[list[int]] = [[] for _ in range(runs)]
    for i, members in enumerate(sets):
        for run in members:
            places[run].append(i)
    separator = "" if len(sets) <= 26 else ","
    return [separator.join(_spans(where, names)) for where in places]


def _spans(places: Sequence[int], names: Sequence[str]) -> list[str]:
    """Names of the places, with stretches of four or more shortened."""
    stretches: list[list[int]] = []
    for place in places:
        if stretches and place == stretches[-1][-1] + 1:
            stretches[-1].append(place)
        else:
            stretches.append([place])
    shown: list[str] = []
    for stretch in stretches:
        if len(stretch) < 4:
            shown.extend(names[place] for place in stretch)
        else:
            shown.append(f"{names[stretch[0]]}–{names[stretch[-1]]}")
    return shown


def _name(number: int) -> str:
    """The number as letters: a, b, ..., z, aa, ab, ...

    >>> _name(0), _name(25), _name(26), _name(701), _name(702)
    ('a', 'z', 'aa', 'zz', 'aaa')
    """
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("a") + rest) + name
    return name
