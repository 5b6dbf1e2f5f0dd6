"""The result of a comparison of judgment sets, as records, tables and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from qassay.display import enumerated
from qassay.frames import ends, frame
from qassay.meta.agreement.coefficients import DRAWN_AGAIN, Interval
from qassay.results import UNREPORTED, Figured, Result
from qassay.tables import DASH, Cell, Column, Table, plural, table

if TYPE_CHECKING:
    import polars as pl

BEYOND_CHANCE = (
    "kappa, pi and alpha: agreement beyond what chance alone would give; 1 is full agreement, 0 is no better than "
    "chance, below 0 is worse."
)

# Pairs of sets with a figure of their labels.
PAIRS_DRAWN = 3


@dataclass(frozen=True, slots=True)
class PairAgreement(Figured):
    """Two sets side by side.

    `matrix[x][y]` counts the items that `a` labels x and `b` labels y. `agreement` and `cohen_kappa` are None where
    one of the sets knows two labels only and the other more: these are compared after folding.
    """

    a: str
    b: str
    agreement: float | None
    folded: float | None
    cohen_kappa: float | None
    folded_kappa: float | None
    intervals: Mapping[str, Interval | None]
    matrix: Mapping[str, Mapping[str, int]]

    def table(self) -> Table:
        """The agreement matrix, with its sums."""
        columns = [Column("", left=True), *map(Column, self.matrix), Column("all")]
        rows: list[tuple[Cell, ...]] = [(label, *row.values(), sum(row.values())) for label, row in self.matrix.items()]
        sums = [sum(row[label] for row in self.matrix.values()) for label in self.matrix]
        rows.append(("all", *sums, sum(sums)))
        return table(f"Labels of {self.a} (rows) and {self.b} (columns)", columns, rows)


@dataclass(frozen=True, slots=True, repr=False)
class Agreement(Result):
    """How far judgment sets agree on the items that all of them judged.

    `patterns` counts the disagreements by unordered combination of labels. `raw` is the share of items on which all
    sets agree, `folded` the same after folding. `not_all_wrong` counts the items that at least one set does not call
    `wrong`; both are None where no label means wrong. `scott_pi` is there for two sets, the ordinal alpha where the
    labels have degrees. `labels` counts those that each set gave. `about` names what was judged. Undefined is None, and
    `notes` says why.
    """

    sets: tuple[str, ...]
    items: int
    questions: int
    disagreements: int
    not_all_wrong: int | None
    patterns: Mapping[str, int]
    raw: float | None
    folded: float | None
    fold: Mapping[str, str]
    fleiss_kappa: float | None
    krippendorff_alpha: float | None
    krippendorff_alpha_ordinal: float | None
    scott_pi: float | None
    intervals: Mapping[str, Interval | None]
    labels: Mapping[str, Mapping[str, int]]
    pairs: tuple[PairAgreement, ...]
    resamples: int
    seed: int
    about: str = "items"
    notes: tuple[str, ...] = ()
    # All labels in their order, and the one that means wrong.
    order: tuple[str, ...] = field(default=(), metadata=UNREPORTED)
    wrong: str | None = field(default=None, metadata=UNREPORTED)

    def sentence(self) -> str:
        """How many of the items all sets label alike; without a term of statistics."""
        who = f"the sets {enumerated(self.sets)}"
        if self.raw is not None:
            return f"{who} agree on {self.raw:.1%} of {self.items:,} {self.about}"
        if self.folded is not None:
            folds = enumerated(f"{label} counts as {other}" for label, other in self.fold.items())
            return f"{who} agree on {self.folded:.1%} of {self.items:,} {self.about}, where {folds}"
        return f"{who} have no {self.about} in common that can be compared"

    def to_polars(self) -> pl.DataFrame:
        """One row per statistic, with its 95% interval."""
        columns = {"about": str, "statistic": str, "value": float, "low": float, "high": float}
        rows = [(self.about, title, value, *ends(interval)) for title, value, interval in self._statistics()]
        return frame(columns, rows)

    def tables(self, *, matrices: bool = True) -> tuple[Table, ...]:
        """Items compared, statistics, combinations of labels, labels of each set, pairs of sets and their matrices."""
        pairs = (self._pairs(left_out=not matrices),) if len(self.sets) > 2 else ()
        shown = tuple(pair.table() for pair in self.pairs) if matrices else ()
        return (self._items(), self.table(), self._patterns(), self._labels(), *pairs, *shown)

    def table(self) -> Table:
        """The statistics, each with its interval."""
        rows = [(title, value, _range(interval)) for title, value, interval in self._statistics()]
        columns = [Column("statistic", left=True), Column("value", ".3f"), Column("95% interval", left=True)]
        return table(f"Agreement of {', '.join(self.sets)} on {self.about}", columns, rows, self._summary_notes())

    def _statistics(self) -> Iterator[tuple[str, float | None, Interval | None]]:
        """The statistics of the summary: two sets have a kappa of their own, more share Fleiss'."""
        yield "raw agreement (all agree)", self.raw, self.intervals.get("raw")
        if self.fold:
            yield "agreement after folding", self.folded, self.intervals.get("folded")
        if len(self.sets) == 2:
            pair = self.pairs[0]
            if pair.agreement is None and pair.folded is not None:
                yield "Cohen's kappa", pair.folded_kappa, pair.intervals.get("folded_kappa")
            else:
                yield "Cohen's kappa", pair.cohen_kappa, pair.intervals.get("cohen_kappa")
            yield "Scott's pi", self.scott_pi, self.intervals.get("scott_pi")
        else:
            yield "Fleiss' kappa", self.fleiss_kappa, self.intervals.get("fleiss_kappa")
        yield "Krippendorff's alpha", self.krippendorff_alpha, self.intervals.get("krippendorff_alpha")
        if self.krippendorff_alpha_ordinal is not None:
            interval = self.intervals.get("krippendorff_alpha_ordinal")
            yield "Krippendorff's alpha, ordinal", self.krippendorff_alpha_ordinal, interval

    def _items(self) -> Table:
        rows = [
            ("judged by all sets", self.items, ""),
            ("with a disagreement", self.disagreements, _percent(self.disagreements, self.items)),
        ]
        if self.not_all_wrong is not None:
            share, among = _percent(self.not_all_wrong, self.items), _percent(self.disagreements, self.not_all_wrong)
            rows.append((f"not called {self.wrong} by all sets", self.not_all_wrong, share))
            rows.append(("with a disagreement, among those", self.disagreements, among))
        columns = [Column(self.about, left=True), Column("number"), Column("share")]
        return table(f"{self.about.capitalize()} compared", columns, rows)

    def _summary_notes(self) -> list[str]:
        notes = list(self.notes)
        if self.fold:
            folded = ", ".join(f"{label} counts as {into}" for label, into in self.fold.items())
            notes.append(f"Folding: {folded}.")
        if self.items:
            notes.append(BEYOND_CHANCE)
        if any(interval is not None for interval in self.intervals.values()):
            notes.append(DRAWN_AGAIN)
        return notes

    def _patterns(self) -> Table:
        columns = [Column("labels", left=True), Column("number"), Column("% of disagreements", ".1f")]
        rows = [(name, count, 100 * count / self.disagreements) for name, count in self.patterns.items()]
        notes = [] if rows else ["There is no disagreement."]
        return table(f"Disagreements on {self.about}, by combination of labels", columns, rows, notes)

    def _labels(self) -> Table:
        columns = [Column("set", left=True), *map(Column, self.order)]
        rows: list[tuple[Cell, ...]] = [
            (name, *(counts[label] for label in self.order)) for name, counts in self.labels.items()
        ]
        return table(f"Labels of each set ({self.about})", columns, rows)

    def _pairs(self, *, left_out: bool) -> Table:
        kappa = [Column("Cohen's kappa", ".3f"), Column("95% interval", left=True)]
        columns = [Column("set", left=True), Column("set", left=True), Column("agreement", ".3f"), *kappa]
        columns += [Column("folded", ".3f"), Column("kappa, folded", ".3f")]
        rows = [
            (p.a, p.b, p.agreement, p.cohen_kappa, _range(p.intervals.get("cohen_kappa")), p.folded, p.folded_kappa)
            for p in self.pairs
        ]
        note = f"The matrices of these {plural(len(rows), 'pair')} are not shown: --json lists all of them."
        return table("Pairs of sets", columns, rows, [note] if left_out else [])


def _range(interval: Interval | None) -> str:
    return DASH if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else DASH
