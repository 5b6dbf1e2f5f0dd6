"""The result of agreement by person: every assessor beside the others, as records, tables and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from qassay.frames import ends, frame
from qassay.meta.agreement.coefficients import Interval
from qassay.meta.agreement.dealing import ALPHA, DEALS
from qassay.results import UNREPORTED, Result, reported
from qassay.tables import DASH, Cell, Column, Table, table

# With more people than this the tables are long; JSON and data frames have all of them.
PEOPLE_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Difference:
    """One label where the others say another: on how many items (others count by their share), of all differences."""

    own: str
    others: str
    items: float
    share: float


@dataclass(frozen=True, slots=True)
class Person:
    """One assessor beside the others on the same items; None where undefined.

    `items` are all that the person judged, `common` those that others judged too. `agreement` is the mean share of the
    others who gave the person's label. `others_agreement` is how far the others agree among themselves on the
    `compared` items of the person that two of them judged too, and `agreement_there` the person's own agreement on
    these; `p` is the probability that chance alone puts somebody so far out of line. `labels` and `others_labels` are
    shares on the common items.
    """

    person: str
    items: int
    common: int
    agreement: float | None
    interval: Interval | None
    kappa: float | None
    labels: Mapping[str, float]
    others_labels: Mapping[str, float]
    compared: int
    agreement_there: float | None
    others_agreement: float | None
    p: float | None
    differs: tuple[Difference, ...]
    by_type: Mapping[str, float]
    seconds: float | None = None

    @reported
    def out_of_line(self) -> bool:
        """Whether the others agree more among themselves than with the person, beyond chance over all people."""
        return self.p is not None and self.p <= ALPHA

    def reason(self) -> str:
        """On what the person differs most, in words; empty where there is no difference."""
        if not self.differs:
            return ""
        most = self.differs[0]
        return f"{most.own} where the others say {most.others} ({most.share:.1%} of the differences)"


@dataclass(frozen=True, slots=True, repr=False)
class PeopleAgreement(Result):
    """Every person beside the others, for one kind of judgment, those least in line first."""

    people: tuple[Person, ...]
    krippendorff_alpha: float | None
    interval: Interval | None
    items: int
    about: str
    notes: tuple[str, ...] = ()
    # All labels in their order.
    labels: tuple[str, ...] = field(default=(), metadata=UNREPORTED)

    @reported
    def out_of_line(self) -> tuple[str, ...]:
        """The people who agree with the others less than the others agree among themselves, beyond chance."""
        return tuple(person.person for person in self.people if person.out_of_line)

    @reported
    def answer(self) -> str:
        """The answer in a sentence."""
        return self.sentence()

    def sentence(self) -> str:
        """Who is out of line, and on what."""
        compared = [person for person in self.people if person.agreement is not None]
        if not compared:
            return f"no {self.about} were judged by two people: nobody can be compared"
        alpha = "" if self.krippendorff_alpha is None else f" (Krippendorff's alpha {self.krippendorff_alpha:.3f})"
        if self.out_of_line:
            # Those out of line come first.
            first, more = self.people[0], self.out_of_line[1:]
            rest = f"; also {', '.join(more[:3])}" if more else ""
            rest += f" and {len(more) - 3:,} more" if len(more) > 3 else ""
            items = f"{first.compared:,} {self.about}"
            return (
                f"out of line: {first.person}, who agrees with the others on {first.agreement_there:.1%} of {items}, "
                f"where the others agree on {first.others_agreement:.1%} among themselves; most often "
                f"{first.reason()}{rest}"
            )
        shares = [person.agreement for person in compared if person.agreement is not None]
        if len(compared) == 2:
            two = " and ".join(person.person for person in compared)
            share = f"{shares[0]:.1%} of their common {self.about}{alpha}"
            return f"two people, {two}, agree on {share}; a third would show who of them is out of line"
        tested = any(person.p is not None for person in self.people)
        nobody = "nobody is out of line" if tested else "who is out of line cannot be seen"
        return (
            f"{nobody}: {len(compared):,} people agree with the others on {min(shares):.1%} to "
            f"{max(shares):.1%} of their common {self.about}{alpha}"
        )

    def table(self) -> Table:
        """One row per person."""
        timed = any(person.seconds is not None for person in self.people)
        columns = [Column("person", left=True), Column(self.about), Column("with others"), Column("agreement", ".3f")]
        columns += [Column("95% interval", left=True), Column("kappa", ".3f"), Column("with two others")]
        columns += [Column("agreement there", ".3f"), Column("others there", ".3f")]
        columns += [Column("seconds per judgment", ".0f")] if timed else []
        columns += [Column("out of line", left=True), Column("differs most", left=True)]
        rows: list[tuple[Cell, ...]] = []
        for person in self.people[:PEOPLE_SHOWN]:
            limits = DASH if person.interval is None else f"{person.interval[0]:.3f} to {person.interval[1]:.3f}"
            beside_two = (person.compared, person.agreement_there, person.others_agreement)
            figures = (person.items, person.common, person.agreement, limits, person.kappa, *beside_two)
            pace = (person.seconds,) if timed else ()
            rows.append((person.person, *figures, *pace, "yes" if person.out_of_line else "", person.reason()))
        return table(f"Assessors on {self.about}, least in line first", columns, rows, [*self._reading(), *self.notes])

    def tables(self) -> list[Table]:
        """Agreement, and the labels given where anybody can be compared."""
        return [self.table(), *([self._labels()] if self.items else [])]

    def _reading(self) -> list[str]:
        notes = [f"The first {PEOPLE_SHOWN} of {len(self.people):,} people."] if len(self.people) > PEOPLE_SHOWN else []
        if self.krippendorff_alpha is not None:
            limits = "" if self.interval is None else f" ({self.interval[0]:.3f} to {self.interval[1]:.3f})"
            notes.append(
                f"Krippendorff's alpha over {self.items:,} {self.about}: {self.krippendorff_alpha:.3f}{limits}."
            )
        notes.append("Agreement: the share of the others who gave the same label, over the items judged with others.")
        if any(person.others_agreement is not None for person in self.people):
            notes.append("There: on the items that two others judged too, the person's agreement and the others' own.")
        if any(person.p is not None for person in self.people):
            notes.append(
                "Out of line: the first of these is further below the second than chance explains, at level 0.05 over "
                f"all people (who judged a question was dealt again {DEALS} times)."
            )
        return notes

    def _labels(self) -> Table:
        columns = [Column("person", left=True)]
        for label in self.labels:
            columns += [Column(label, ".3f"), Column("others", ".3f")]
        rows: list[tuple[Cell, ...]] = []
        for person in self.people[:PEOPLE_SHOWN]:
            if person.common:
                pairs = [(person.labels.get(label, 0.0), person.others_labels.get(label, 0.0)) for label in self.labels]
                rows.append((person.person, *(share for pair in pairs for share in pair)))
        return table(f"Labels on the same {self.about}: of the person, and of the others", columns, rows)

    def to_polars(self) -> pl.DataFrame:
        """One row per person."""
        columns = {"about": str, "person": str, "items": int, "common": int, "agreement": float, "low": float}
        columns |= {"high": float, "kappa": float, "compared": int, "agreement_there": float}
        columns |= {"others_agreement": float, "out_of_line": bool, "seconds": float}
        rows = []
        for p in self.people:
            beside_two = (p.compared, p.agreement_there, p.others_agreement)
            limits, more = ends(p.interval), (*beside_two, p.out_of_line, p.seconds)
            rows.append((self.about, p.person, p.items, p.common, p.agreement, *limits, p.kappa, *more))
        return frame(columns, rows)
