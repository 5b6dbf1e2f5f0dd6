"""The leaderboard with an interval for every score, and the groups of runs that are not shown to differ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from qassay.frames import ends
from qassay.meta.intervals import WAYS, ScoreIntervals
from qassay.meta.significance import AllPairs
from qassay.results import Result, document
from qassay.scoring import Scores
from qassay.tables import Table

if TYPE_CHECKING:
    import polars as pl

    from qassay.figures import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Result):
    """Runs by decreasing score, each with an interval and with letters: runs that share one are not shown to differ."""

    scores: Scores
    intervals: ScoreIntervals
    pairs: AllPairs

    @property
    def letters(self) -> dict[str, str]:
        """The letters of every run."""
        return dict(zip(self.pairs.runs, self.pairs.letters, strict=True))

    def sentence(self) -> str:
        """Who leads, and whether chance alone could explain that."""
        runs = self.pairs.runs
        if not runs:
            return "No run is scored"
        if len(runs) == 1:
            return f"{runs[0]} is the only run ({self.pairs.scores[0]:.3f})"
        return self.pairs.lead()

    def table(self) -> Table:
        """The leaderboard."""
        limits = {run: self.intervals.interval(run) for run in self.intervals.runs}
        texts = {run: f"{limit[0]:.3f}–{limit[1]:.3f}" if limit else None for run, limit in limits.items()}
        shown = self.scores.leaderboard({f"{self.intervals.level:.0%} interval": texts, "group": self.letters})
        methods = " and ".join(WAYS[method] for method in sorted(set(self.intervals.methods)) if method in WAYS)
        note = f"Intervals: where the true score may lie, by {methods}, over {self.intervals.over}."
        about = [*([note] if methods else []), *self.intervals.reasons]
        # Both say what was left out; once is enough.
        other = f"Which gaps new {self.scores.unit_name[1]} would show again (repeatable) is another question: "
        notes = (*about, *self.pairs.table().notes, f"{other}`qassay sensitivity`.", *shown.notes)
        return replace(shown, notes=tuple(dict.fromkeys(notes)))

    def tables(self) -> list[Table]:
        """The leaderboard; for entailment also the decisions of all runs."""
        return [self.table(), *self.scores.contingency_tables()]

    def figure(self) -> Figure:
        """Scores with intervals, and the groups of runs that are not shown to differ."""
        from qassay.figures import leaderboard

        return leaderboard(self.pairs, self.intervals)

    def to_polars(self) -> pl.DataFrame:
        """One row per run: rank, run, score, its interval, its group (letters), and the figures beside it."""
        import polars as pl

        plain = self.scores.to_polars()
        limits = [ends(self.intervals.interval(run)) for run in plain["run"]]
        beside = [
            pl.Series("low", [low for low, _ in limits], pl.Float64),
            pl.Series("high", [high for _, high in limits], pl.Float64),
            pl.Series("group", [self.letters[run] for run in plain["run"]], pl.String),
        ]
        taken = {series.name for series in beside}
        rest = plain[:, 3:]
        rest = rest.rename({name: f"{name}_2" for name in rest.columns if name in taken})
        return pl.concat([plain[:, :3], pl.DataFrame(beside), rest], how="horizontal")

    def as_json(self) -> dict[str, Any]:
        """Every run with its score, interval and letters."""
        return {
            "task": self.scores.task,
            "key": self.scores.key,
            **document(self.scores, "measure"),
            "level": self.intervals.level,
            "runs": [
                {
                    "run": row.run,
                    "score": row.score,
                    "interval": self.intervals.interval(row.run),
                    "letters": self.letters[row.run],
                }
                for row in self.scores.runs
            ],
            "notes": list(self.table().notes),
        }
