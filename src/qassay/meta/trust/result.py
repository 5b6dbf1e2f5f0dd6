"""The result of `trust`: the answer in plain words, tables and JSON (FORMATS 7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from qassay.meta.agreement.nugget_lists import ListPair
from qassay.meta.ranking import pairs_of_runs
from qassay.meta.trust.annotator import EPSILONS, AlternativeAnnotator
from qassay.meta.trust.bias import Bias
from qassay.meta.trust.unevenness import PairBias, SignificanceAgreement, Unevenness
from qassay.results import UNREPORTED, Result, reported
from qassay.tables import MANUAL_RUN, Cell, Column, Table, plural, starred, table

# How well two rankings have to agree to be called alike, in words.
SAME, SIMILAR = 0.9, 0.7
PAIRS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """Agreement on the labels before folding; `matrix` has people's labels first, then the program's."""

    items: int
    agreement: float | None
    kappa: float | None
    ac1: float | None
    matrix: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class RunTrust:
    """The runs ranked by the program beside the ranking by people; `scores` has people's score first.

    `tau_sd` is the deviation of tau between draws of questions, `tau_next` where it lies for as many new ones.
    """

    runs: int = 0
    tau: float | None = None
    tau_ap: float | None = None
    tau_sd: float | None = None
    tau_next: tuple[float, float] | None = None
    swaps: int | None = None
    pairs: int = 0
    tied: int = 0
    largest_swapped_difference: float | None = None
    largest_swap: tuple[str, str] | None = None
    rmse: float | None = None
    tau_best_third: float | None = None
    scores: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QuestionTrust:
    """The mean over questions of tau between the runs' scores, and on how many questions it is defined."""

    mean_tau: float | None = None
    questions: int = 0


@dataclass(frozen=True, repr=False)
class Trust(Result):
    """An automatic assessor beside people."""

    assessor: str
    against: str
    items: int
    agreement: float | None
    kappa: float | None
    ac1: float | None
    sensitivity: float | None
    specificity: float | None
    labels: Mapping[str, LabelAgreement]
    runs: RunTrust
    questions: QuestionTrust
    bias: Mapping[str, Bias]
    pairs: tuple[PairBias, ...]
    uneven: Unevenness | None
    significance: SignificanceAgreement | None
    by_length: Mapping[str, Bias]
    by_type: Mapping[str, Bias]
    left_out: Mapping[str, int]
    copied: int
    alternative_annotator: AlternativeAnnotator | None
    intervals: Mapping[str, tuple[float, float] | None]
    measure: str | None = None
    # The nugget lists of the two, where they differ.
    nugget_lists: tuple[ListPair, ...] = ()
    notes: tuple[str, ...] = field(default=(), metadata=UNREPORTED)
    manual: frozenset[str] = field(default=frozenset(), metadata=UNREPORTED)

    @reported
    def notes_(self) -> tuple[str, ...]:
        """The answer in words, and the notes."""
        return (*self.answer(), *self.notes)

    def sentence(self) -> str:
        """The answer first: does it judge like people, and does it rank the runs like them?"""
        agreement = f"{self.assessor} and {self.against} have no judgment in common"
        if self.agreement is not None:
            judgments = f"{self.agreement:.1%} of {self.items:,} judgments"
            agreement = f"{self.assessor} gives the same verdict as {self.against} on {judgments}"
        elif self.runs.tau is None:
            return f"{agreement}: nothing can be said."
        else:
            agreement += f", and {self.assessor}"
        if self.runs.tau is None:
            return f"{agreement}; there are too few runs to compare rankings."
        joint = " and" if self.agreement is not None else ""
        return f"{agreement}{joint} puts the runs {self._order(self.runs.tau)}."

    def _order(self, tau: float) -> str:
        """How near the order of the runs is to that of the people."""
        ranks = self.runs
        if not ranks.swaps:
            tied = f", but for {plural(ranks.tied, 'tie')}" if ranks.tied else ""
            return f"in the same order{tied}"
        order = "in nearly the same order" if tau >= SAME else "in a similar order"
        if tau < SIMILAR:
            order = "in the opposite order" if ranks.swaps == ranks.pairs else "in a different order"
        swaps = f"it reverses {pairs_of_runs(ranks.swaps, ranks.pairs)}"
        largest = ranks.largest_swapped_difference
        width = f", differences of up to {largest:.3f}" if largest else ""
        return f"{order}: {swaps}{width}"

    def answer(self) -> tuple[str, ...]:
        """The answer in whole sentences: labels and ranking, differences beyond chance, even or uneven errors."""
        significance = () if self.significance is None else self.significance.sentences()
        return (self.sentence(), *significance, *([] if self.uneven is None else [self.uneven.sentence()]))

    def tables(self) -> list[Table]:
        """Agreement, rankings, bias by run and by group, the alternative annotator test."""
        tables = [self.table()]
        if self.runs.runs > 1:
            tables += [self._ranking_table(), self._bias_table()]
        groups = {**self.by_length, **(self.by_type if len(self.by_type) > 1 else {})}
        if groups:
            tables.append(_biases("Bias by length of the response and by type of question", "responses", groups))
        if self.alternative_annotator is not None:
            tables.append(self._annotator_table(self.alternative_annotator))
        return [*tables, *(pair.table() for pair in self.nugget_lists)]

    def table(self) -> Table:
        """Agreement with people."""
        names = {
            "agreement": "same verdict",
            "kappa": "kappa: agreement beyond chance",
            "ac1": "AC1: the same where one label is rare",
            "sensitivity": "of what people call right, called right",
            "specificity": "of what people call wrong, called wrong",
        }
        rows: list[list[Cell]] = [
            [words, getattr(self, name), _interval_text(self.intervals.get(name))] for name, words in names.items()
        ]
        notes = ["Labels are folded: the best one against the rest. Intervals: 95%, questions drawn again."]
        if any(getattr(self, name) in (0.0, 1.0) and self.intervals.get(name) is None for name in names):
            notes.append("No interval for full or no agreement: these answers do not show how often it is otherwise.")
        for about, part in self.labels.items():
            if any(len(row) > 1 for row in part.matrix.values()) and len(part.matrix) > 2:
                notes.append(
                    f"Before folding ({about}): same verdict {_number(part.agreement)}, kappa {_number(part.kappa)}."
                )
        if self.copied:
            notes.append(
                f"{self.copied:,} verdicts repeat the people's own judgment of the same answer and are left out."
            )
        columns: list[Column | str] = ["on what both judged", Column("value", ".3f"), "interval"]
        title = f"{self.assessor} beside {self.against}: {self.items:,} judgments"
        return table(title, columns, rows, [*notes, *self.notes])

    def _ranking_table(self) -> Table:
        rows: list[list[Cell]] = [
            ["Kendall's tau of the two rankings", self.runs.tau],
            ["tau_AP, which weighs the top more", self.runs.tau_ap],
            ["tau among the best third of the runs", self.runs.tau_best_third],
            ["mean tau on single questions", self.questions.mean_tau],
            ["pairs of runs in the other order", self.runs.swaps],
            ["largest difference (by people) that is reversed", self.runs.largest_swapped_difference],
            ["RMSE of the runs' scores", self.runs.rmse],
        ]
        notes = [
            f"{self.measure}, {self.runs.runs} runs; only questions on which both judged all that the run returned."
        ]
        if self.runs.tau_next is not None:
            low, high = self.runs.tau_next
            notes.append(
                f"With as many new questions, tau would lie between {low:.2f} and {high:.2f} in 19 of 20 cases."
            )
        if self.left_out:
            gaps_in_words = ", ".join(f"{tag} {number}" for tag, number in list(self.left_out.items())[:6])
            more = f" and {len(self.left_out) - 6} more runs" if len(self.left_out) > 6 else ""
            notes.append(f"Questions left out because one of the two did not judge them: {gaps_in_words}{more}.")
        return table("Rankings of the runs", ["", Column("value", ".3f")], rows, notes)

    def _bias_table(self) -> Table:
        columns: list[Column | str] = ["run", Column("people", ".3f"), Column("program", ".3f"), Column("bias", "+.3f")]
        columns += ["interval", Column("questions")]
        by_score = sorted(self.runs.scores.items(), key=lambda entry: (-entry[1][0], entry[0]))
        rows: list[list[Cell]] = []
        for tag, (people, program) in by_score:
            bias = self.bias[tag]
            interval = _interval_text(bias.interval, "+")
            rows.append([starred(tag, self.manual), people, program, bias.bias, interval, bias.questions])
        clear = [pair for pair in self.pairs if pair.is_clear][:PAIRS_SHOWN]
        notes = ["The same bias for all runs changes no ranking; an uneven one does."]
        notes += ["Intervals: of single runs; those of pairs are corrected for all pairs."] if clear else []
        notes += [f"{p.a} − {p.b}: shifted by {p.bias:+.3f} ({_interval_text(p.interval, '+')})." for p in clear]
        notes += [MANUAL_RUN] if self.manual.intersection(self.runs.scores) else []
        return table(f"Bias: {self.assessor} − {self.against}", columns, rows, notes)

    def _annotator_table(self, test: AlternativeAnnotator) -> Table:
        rows: list[list[Cell]] = [
            [
                f"{kind} (epsilon {epsilon:g})",
                test.winning_rate[kind],
                "–" if test.passes is None else "passes" if test.passes[kind] else "does not pass",
            ]
            for kind, epsilon in EPSILONS.items()
        ]
        notes = [
            f"Share of people whom it could replace; it passes from 0.5 on. It is at least as near to the others as a"
            f" person in {test.advantage:.1%} of the cases.",
            "Read it beside the shares called right and wrong above: where nearly all is right, a program that always"
            " says right passes too.",
            *test.notes,
        ]
        columns: list[Column | str] = ["where people are", Column("winning rate", ".2f"), "verdict"]
        return table("Could it replace one of the people? (alternative annotator test)", columns, rows, notes)


def _biases(title: str, header: str, biases: Mapping[str, Bias]) -> Table:
    columns: list[Column | str] = [header, Column("bias", "+.3f"), "interval", Column("questions")]
    rows: list[list[Cell]] = [
        [name, bias.bias, _interval_text(bias.interval, "+"), bias.questions] for name, bias in biases.items()
    ]
    return table(title, columns, rows)


def _interval_text(interval: tuple[float, float] | None, sign: str = "") -> str | None:
    return None if interval is None else f"{interval[0]:{sign}.3f} to {interval[1]:{sign}.3f}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
