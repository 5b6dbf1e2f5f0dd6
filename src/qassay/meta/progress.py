"""Progress of judging: how many judgments each set had by when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qassay.results import Result
from qassay.tables import Column, Table, plural, table

# Points of a set that are kept: the first, the last, and others spread over the judgments.
MOST_POINTS = 200


@dataclass(frozen=True, repr=False)
class JudgingProgress(Result):
    """Judgments by set and time; `points` are times (RFC 3339, UTC) with the number of judgments up to then.

    `judgments` counts all of a set, `untimed` those without a time, which came from a file.
    """

    points: Mapping[str, tuple[tuple[str, int], ...]]
    judgments: Mapping[str, int]
    untimed: Mapping[str, int]

    def sentence(self) -> str:
        """How many judgments there are, from when to when."""
        if not self.points:
            return f"{plural(sum(self.judgments.values()), 'judgment')}, none with the time it was given"
        first = min(points[0][0] for points in self.points.values())
        last = max(points[-1][0] for points in self.points.values())
        timed = sum(points[-1][1] for points in self.points.values())
        return (
            f"{plural(timed, 'judgment')} of {plural(len(self.points), 'set')} from {_minute(first)} to {_minute(last)}"
        )

    def table(self) -> Table:
        """One row per set."""
        rows = [
            (
                name,
                number,
                self.untimed.get(name, 0),
                *(
                    (_minute(points[0][0]), _minute(points[-1][0]))
                    if (points := self.points.get(name))
                    else (None, None)
                ),
            )
            for name, number in self.judgments.items()
        ]
        columns: list[Column | str] = ["set", Column("judgments"), Column("without a time"), "first", "last"]
        return table("Judgments by set", columns, rows)


def judging_progress(times: Mapping[str, Sequence[str | None]]) -> JudgingProgress:
    """The progress of sets from the times of their judgments (RFC 3339 in UTC; None: not known)."""
    points = {}
    for name, moments in times.items():
        known = sorted(moment for moment in moments if moment is not None)
        if known:
            points[name] = tuple((known[place], place + 1) for place in _places(len(known)))
    return JudgingProgress(
        points=points,
        judgments={name: len(moments) for name, moments in times.items()},
        untimed={name: sum(moment is None for moment in moments) for name, moments in times.items()},
    )


def _places(number: int) -> list[int]:
    """The judgments, of this many, that are points of the curve.

    >>> _places(3)
    [0, 1, 2]
    """
    if number <= MOST_POINTS:
        return list(range(number))
    step = (number - 1) / (MOST_POINTS - 1)
    return list(dict.fromkeys(round(step * place) for place in range(MOST_POINTS)))


def _minute(moment: str) -> str:
    """A time for people.

    >>> _minute("2026-03-02T09:15:42.123Z")
    '2026-03-02 09:15 UTC'
    """
    return f"{moment[:10]} {moment[11:16]} UTC"
