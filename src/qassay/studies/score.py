"""Score every run of an evaluation and show the leaderboard.

The scores are computed from the judgment set that --key names; by default from `adjudicated`, else `reference`,
else the only set that people made. `--key majority` takes the label that most assessors gave (ties are unjudged),
`--key dawid-skene` a statistical model's guess from all their labels; `dawid-skene:first,second,third` names the
sets. Notes below the table name everything that is left out, counted as wrong or skipped.

Runs that share a group do not differ significantly: chance alone could explain the difference. Which gaps new
questions would show again (repeatable) is another question, which qassay sensitivity answers.

--correct-with corrects the scores of an automatic assessor (--key) with labels that people gave to a random sample
(qassay sample): this removes its bias, and the intervals include its errors.

Examples

  qassay score my-eval
  qassay score my-eval --key first --measure "nugget_f(beta=1)"
  qassay score my-eval --key majority
  qassay score my-eval --beta 1-5
  qassay score my-eval --above 0.2 --best-per-organisation
  qassay score my-eval --unjudged wrong --json
  qassay score my-eval --key gpt-4 --correct-with ada
  qassay score my-eval --key gpt-4 --correct-with ada --half-width 0.05
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import numpy as np

from qassay.errors import UsageError
from qassay.frames import ends
from qassay.matrix import ScoreMatrix
from qassay.meta.fidelity import BetaSweep, beta_sweep
from qassay.meta.intervals import WAYS, ScoreIntervals, score_intervals
from qassay.meta.leader import with_leader
from qassay.options import CorrectWith, Option, Sample, Scoring, Target
from qassay.pages import Exhibit, LeftOut, Links, Page
from qassay.results import Result
from qassay.results import document as document_of
from qassay.scoring import Scores
from qassay.sources import need_evaluation
from qassay.studies import BEST, Study
from qassay.studies.correcting import correction, correction_of_page
from qassay.studies.looking import of_labels
from qassay.tables import Table, table

if TYPE_CHECKING:
    import polars as pl

    from qassay.evaluation import Evaluation
    from qassay.figures import Figure
    from qassay.meta.correction.result import CorrectedScores
    from qassay.meta.significance import AllPairs

# Up to this many scores (runs x units) intervals and tests of all pairs take less than a second.
QUICK_CELLS = 50_000
SLOW = "Intervals and groups of this many scores take a while: ask for them (--intervals)."
# A page leaves more scores than these to the CSV.
DOCUMENT_CELLS = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Result):
    """Runs by decreasing score, each with an interval and with letters: runs that share one are not shown to differ.

    Without `intervals` and `pairs` it has neither; `reasons` say why where nobody chose that.
    """

    scores: Scores
    intervals: ScoreIntervals | None = None
    pairs: AllPairs | None = None
    reasons: tuple[str, ...] = ()

    @property
    def letters(self) -> dict[str, str]:
        """The letters of every run."""
        return {} if self.pairs is None else dict(zip(self.pairs.runs, self.pairs.letters, strict=True))

    def sentence(self) -> str:
        """Who leads, and whether chance alone could explain that."""
        if self.pairs is None:
            return self.scores.sentence()
        runs = self.pairs.runs
        if not runs:
            return "No run is scored"
        if len(runs) == 1:
            return f"{runs[0]} is the only run ({self.pairs.scores[0]:.3f})"
        return self.pairs.lead()

    def table(self) -> Table:
        """The leaderboard."""
        if self.intervals is None or self.pairs is None:
            plain = self.scores.leaderboard()
            return replace(plain, notes=(*plain.notes, *self.reasons))
        limits = {run: self.intervals.interval(run) for run in self.intervals.runs}
        texts = {run: f"{limit[0]:.3f}–{limit[1]:.3f}" if limit else None for run, limit in limits.items()}
        level = f"{self.intervals.level:.0%} interval"
        beside: dict[str, Mapping[str, str | None]]
        beside = {level: texts, "group": self.letters, "possible ranks": self.pairs.possible_ranks}
        shown = self.scores.leaderboard(beside)
        methods = " and ".join(WAYS[method] for method in sorted(set(self.intervals.methods)) if method in WAYS)
        note = f"Intervals: where the true score may lie, by {methods}, over {self.intervals.over}."
        about = [*([note] if methods else []), *self.intervals.reasons]
        # Both say what was left out; once is enough.
        other = f"Which gaps new {self.scores.unit_name[1]} would show again (repeatable) is another question: "
        notes = (
            *about,
            *self.pairs.readings(),
            *self.pairs.notes,
            f"{other}`qassay sensitivity`.",
            *shown.notes,
            *self.reasons,
        )
        return replace(shown, notes=tuple(dict.fromkeys(notes)))

    def tables(self) -> list[Table]:
        """The leaderboard; for entailment also the decisions of all runs."""
        return [self.table(), *self.scores.contingency_tables()]

    def figure(self) -> Figure:
        """Scores with intervals, and the groups of runs that are not shown to differ; or the first runs by score."""
        from qassay import figures

        if self.pairs is None:
            return figures.top_runs(self.scores)
        return figures.leaderboard(self.pairs, self.intervals)

    def to_polars(self) -> pl.DataFrame:
        """One row per run: rank, run, score, its interval, its group (letters), and the figures beside it."""
        import polars as pl

        plain = self.scores.to_polars()
        if self.intervals is None:
            return plain
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
        """The scores with the leader, and with every run its interval, its letters and the ranks that it may have."""
        document, intervals, letters = self.scores.as_json(), self.intervals, self.letters
        pairs = self.pairs
        ranks = {} if pairs is None else dict(zip(pairs.runs, pairs.rank_ranges, strict=True))
        for row in document["runs"]:
            run = row["run"]
            row["interval"] = None if intervals is None else intervals.interval(run)
            row["letters"] = letters.get(run)
            row["rank_range"] = ranks.get(run)
        level = None if intervals is None else intervals.level
        leader = (
            None if intervals is None or intervals.leader is None else document_of(intervals.leader, "lower", "nearer")
        )
        return {**document, "level": level, "leader": leader, "notes": list(self.table().notes)}


def leaderboard(scores: Scores | Evaluation, *, level: float = 0.95, seed: int = 0) -> Leaderboard:
    """The runs by score, each with an interval and with letters: runs that share a letter are not shown to differ.

    >>> import qassay
    >>> board = qassay.leaderboard(qassay.open(qassay.demo_folder()))
    >>> board.letters["hobby"], board.letters["kite"], board.letters["ibis"]
    ('a', 'bc', 'd')
    """
    from qassay.meta.significance import compare_all

    if not isinstance(scores, Scores):
        scores = need_evaluation(scores, "leaderboard", "For scores from elsewhere: qassay.compare_all(scores)").score()
    intervals = with_leader(score_intervals(scores.matrix, level=level, seed=seed), scores.matrix, seed=seed)
    return Leaderboard(scores, intervals, compare_all(scores.matrix, alpha=1 - level, seed=seed))


def score(
    evaluation: Evaluation,
    *,
    beta: Annotated[
        str | None, Option("Mean nugget F for every whole beta from A to B, with ranks.", metavar="A-B")
    ] = None,
    best_per_organisation: Annotated[bool, Option("Only the best run of each organisation.", on_pages=True)] = False,
    above: Annotated[float | None, Option("Only the runs that score above this.", metavar="SCORE")] = None,
    intervals: Annotated[
        bool | None,
        Option(
            "Intervals, and groups of runs that do not differ significantly (default: where it takes no time).",
            on_pages=True,
        ),
    ] = None,
    correct_with: CorrectWith = None,
    target: Target = None,
    sample: Sample = None,
    half_width: Annotated[
        float | None, Option("How many labels corrected intervals of ±H take (or topics, series).", metavar="H")
    ] = None,
    **how: Unpack[Scoring],
) -> Leaderboard | BetaSweep | CorrectedScores:
    """The leaderboard; the scores under several weights of recall, or corrected by people."""
    if correct_with is None and (target or sample or half_width is not None):
        raise UsageError("target, sample and half-width go with correct-with, which names the labels of people")
    if correct_with is not None:
        if beta is not None or best_per_organisation or intervals is not None:
            others = "beta, best-per-organisation and intervals"
            raise UsageError(f"corrected scores have intervals of their own: correct-with goes without {others}")
        corrected = correction(evaluation, correct_with, target=target or "new", sample=sample, **how)
        return corrected.scores(half_width=half_width)
    if beta is not None:
        if how.get("measure") is not None or how.get("component") is not None or above is not None:
            raise UsageError("beta is a measure of its own: use it without measure, component and above")
        return _sweep(evaluation, beta, how)
    scores = evaluation.score(**how)
    if best_per_organisation:
        scores = scores.best_per_organisation()
    board = _with_intervals(scores, intervals)
    unreadable = tuple(
        f"The judgment set {name} cannot be read ({fault}). These scores do not need it; `qassay check` lists all "
        "faults."
        for name, fault in evaluation.unreadable_sets(scores.key).items()
    )
    # Intervals and groups are those among all runs, whichever are shown.
    shown = board.scores if above is None else board.scores.above(above)
    return replace(board, scores=shown, reasons=(*board.reasons, *unreadable))


def page(result: Leaderboard | BetaSweep | CorrectedScores) -> Page:
    """Who is best, the leaderboard, and what was left out."""
    if not isinstance(result, Leaderboard):
        tables = result.tables()
        answer = (f"{result.sentence()}.", *of_labels(result)) if not isinstance(result, BetaSweep) else ()
        return Page(answer, tuple(Exhibit(f"score-{place}", shown) for place, shown in enumerate(tables, 1)))
    scores, (board, *decisions) = result.scores, result.tables()
    runs = tuple(row.run for row in scores.runs)
    exhibits = [Exhibit("leaderboard", board, result.figure, links=Links("run", runs, 1))]
    if scores.dropped:
        rows = [(dropped.unit, dropped.question, dropped.reason) for dropped in scores.dropped]
        left_out = table("Left out", [scores.unit_name[0], "question", "reason"], rows)
        exhibits.append(Exhibit("left-out", left_out, folded=True))
    exhibits += [Exhibit("contingency", shown, lambda: _conditioned_accuracy(scores)) for shown in decisions]
    cells = len(scores.runs) * (len(scores.units.ids) + len(scores.asked))
    where = f"matrix and questions: {cells:,} scores, which the CSV of the page Scores has"
    too_large = LeftOut(("matrix", "questions"), where) if cells > DOCUMENT_CELLS else None
    return Page((f"{result.sentence()}.",), tuple(exhibits), left_out=too_large)


def corrected(evaluation: Evaluation, **options: Any) -> CorrectedScores | str | None:
    """The scores of a program, corrected by the people who judged its sample; or why there are none yet."""
    return correction_of_page(evaluation, lambda result: result.scores(), **options)


STUDY = Study(
    name="score",
    compute=score,
    page=page,
    corrected=corrected,
    documents=(BetaSweep, "qassay.meta.correction.result.CorrectedScores"),
    heading="Results",
    label="Leaderboard",
    tab=BEST,
    page_name="leaderboard",
)


def _conditioned_accuracy(scores: Scores) -> Figure:
    from qassay import figures

    return figures.conditioned_accuracy(scores)


def _with_intervals(scores: Scores, intervals: bool | None) -> Leaderboard:
    """The leaderboard, with intervals and groups where they are asked for or quick."""
    skipped = scores.missing is not None and scores.missing[0] == "skip"
    if skipped and intervals:
        raise UsageError("intervals need runs scored on the same questions; skipping averages over different ones")
    if scores.judged_by is not None and intervals:
        raise UsageError(
            "a key with judgments of programs has no intervals: the errors of the programs would not be in them"
        )
    if few := scores.too_few_for_intervals():
        return Leaderboard(scores, reasons=(few,))
    if intervals is False or skipped or scores.judged_by is not None:
        return Leaderboard(scores)
    if intervals is None and (len(scores.runs) < 2 or scores.units.values.size > QUICK_CELLS):
        return Leaderboard(scores, reasons=(SLOW,) if len(scores.runs) > 1 else ())
    return leaderboard(scores)


def _sweep(evaluation: Evaluation, beta: str, how: Scoring) -> BetaSweep:
    """The scores at every whole beta of a range such as 1-5."""
    first, _, last = beta.partition("-")
    try:
        betas = range(int(first), int(last or first) + 1)
    except ValueError:
        betas = range(0)
    if not betas or betas[0] < 0 or len(betas) > 100:
        raise UsageError(f"--beta takes a range of whole numbers such as 1-5, not {beta!r}")
    matrices: dict[float, ScoreMatrix] = {}
    for value in betas:
        rules: Scoring = {**how, "measure": f"nugget_f(beta={value})"}
        matrices[value] = _means(evaluation.score(**rules))
    return beta_sweep(matrices)


def _means(scores: Scores) -> ScoreMatrix:
    """A matrix whose run scores are these: with --missing skip every run is averaged over the questions it has."""
    if scores.missing is None or scores.missing[0] != "skip":
        return scores.matrix
    means = {row.run: row.score for row in scores.runs if row.score is not None}
    if len(means) < len(scores.runs):
        empty = next(row.run for row in scores.runs if row.score is None)
        raise UsageError(f"run {empty} answers none of the questions; leave it out, or use --missing zero")
    notes = tuple(note for note in scores.notes_for_output() if not note.startswith("*"))
    values = np.array([[mean] for mean in means.values()])
    manual = frozenset(run for run in means if scores.information[run].manual)
    return ScoreMatrix(tuple(means), ("mean",), values, notes=notes, manual=manual)
