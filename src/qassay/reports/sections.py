"""The sections of a report: figures and tables in the order of the questions that people ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from qassay import figures
from qassay.display import called
from qassay.meta.ranking import places
from qassay.meta.significance import POSSIBLE_RANKS, SHARED_LETTER, signed
from qassay.meta.significance.pair import READING
from qassay.pages import BEST, MORE, QUESTIONS, REAL, WHERE, Exhibit, Page
from qassay.reports import answers
from qassay.reports.document import Material, Report
from qassay.reports.methods import methods
from qassay.tables import (
    MANUAL_RUN,
    Cell,
    Column,
    Table,
    counted,
    plural,
    starred,
    table,
)

if TYPE_CHECKING:
    from qassay.meta.significance import PairComparison

SIGNIFICANT_AND_REPEATABLE = (
    "Significant: chance alone does not explain the difference of two given runs, corrected for all pairs. Repeatable: "
    "a gap of this size keeps its sign with new questions, a rule of thumb for reading the whole table."
)


def build_report(material: Material) -> Report:
    """The report of these results."""
    matrix, scores = material.matrix, material.scores
    size = f"{plural(len(matrix.runs), 'run')} · {counted(len(matrix.units), matrix.unit_name)} · {matrix.measure}"
    size += matrix.direction.words.replace(";", " ·")
    judged = "" if scores is None else f" · judgments: {called(scores.key)}"
    pages = pages_of(material)
    sections = [_section(question, [page for page in pages if page.title == question]) for question in QUESTIONS]
    return Report(
        title=f"Results: {called(material.name)}",
        subtitle=size + judged,
        answer=answers.answer(material),
        facts=answers.facts(material),
        sections=tuple(section for section in sections if section.answer or section.exhibits),
        methods=methods(material),
        commands=material.commands,
        scores=scores,
        version=material.version,
    )


def pages_of(material: Material) -> list[Page]:
    """What each study shows, in the order of the questions, which are the titles."""
    parts = (_best, _real, _units, _plan, _repeatable)
    pages = [page for page in (part(material) for part in parts) if page is not None]
    order = list(QUESTIONS)
    return sorted([*pages, *map(_arranged, material.pages)], key=lambda page: order.index(page.title))


def _arranged(page: Page) -> Page:
    """The page of a study as a part of a report: figures first, and of the other tables the first one open."""
    figures_first = sorted(page.exhibits, key=lambda exhibit: exhibit.draw is None)
    tables = [exhibit for exhibit in figures_first if exhibit.draw is None]
    return replace(page, exhibits=tuple(replace(e, folded=e.folded or e in tables[1:]) for e in figures_first))


def _section(question: str, pages: Sequence[Page]) -> Page:
    """One section: the answers of its pages in one paragraph, and their exhibits."""
    exhibits = tuple(exhibit for page in pages for exhibit in page.exhibits)
    return Page(tuple(sentence for page in pages for sentence in page.answer), exhibits, question, QUESTIONS[question])


def _best(material: Material) -> Page:
    drawn = Exhibit("leaderboard", draw=partial(figures.leaderboard, material.pairs, material.intervals))
    return Page((answers.headline(material),), (drawn, _board(material)), BEST)


def _board(material: Material) -> Exhibit:
    """The leaderboard: rank, run, score, interval, group, and what the task prints beside them."""
    intervals = material.intervals
    limits = {run: intervals.interval(run) for run in intervals.runs}
    texts = {run: f"{limit[0]:.3f} – {limit[1]:.3f}" if limit else None for run, limit in limits.items()}
    pairs, manual = material.pairs, material.pairs.manual
    letters = dict(zip(pairs.runs, pairs.letters, strict=True))
    level = f"{intervals.level:.0%} interval"
    if material.scores is not None and not material.on_shared_units:
        shown = material.scores.leaderboard({level: texts, "group": letters, "possible ranks": pairs.possible_ranks})
    else:
        rows: list[tuple[Cell, ...]] = [
            (place, starred(run, manual), value, texts.get(run), letters[run], pairs.possible_ranks[run])
            for place, run, value in zip(places(pairs.ranks), pairs.runs, pairs.scores, strict=True)
        ]
        measured = Column(material.matrix.measure, ".3f")
        columns: list[Column | str] = [Column("rank"), "run", measured, level, "group", "possible ranks"]
        shown = table("", columns, rows, [MANUAL_RUN] if manual else [])
    notes = (SHARED_LETTER, f"{POSSIBLE_RANKS}.", *intervals.reasons, *_stars(shown))
    return Exhibit("scores", replace(shown, title="All runs", notes=notes))


def _stars(shown: Table) -> list[str]:
    return [note for note in shown.notes if note.startswith("*")]


def _real(material: Material) -> Page | None:
    first_two = material.first_two
    if len(material.pairs.runs) < 2:
        return None
    exhibits = [] if first_two is None else [Exhibit("first-two", _first_two(material, first_two))]
    if first_two is not None and first_two.deciding:
        exhibits.append(Exhibit("differences", draw=partial(figures.differences_by_unit, first_two)))
    pairs = material.pairs
    listed = Exhibit("pairs", pairs.pair_table(len(pairs.runs) ** 2), folded=True)
    return Page(tuple(answers.significance(material)), (*exhibits, listed), REAL)


def _repeatable(material: Material) -> Page | None:
    curves = material.curves
    if curves is None or len(material.pairs.runs) < 2:
        return None
    margin, gap = material.pairs.typical_margin, curves.repeatable_difference
    both = "Significant and repeatable answer two questions."
    if margin is not None and gap is not None:
        both = f"Significant is a difference from about {margin:.3f}, repeatable one of about {gap:g}: both are right."
    answer = (*answers.repeatable(material), both, SIGNIFICANT_AND_REPEATABLE)
    drawn = Exhibit("error-rate", draw=partial(figures.error_rate_by_difference, curves))
    return Page(answer, () if gap is None else (drawn,), MORE)


def _first_two(material: Material, first_two: PairComparison) -> Table:
    """The difference of the first two runs and its interval; of two runs alone, what their comparison has."""
    shown = first_two.table()
    scores, (name, _, _), *others = shown.rows[:2], *shown.rows[2:]
    if material.pairs.pair is None:
        # The chance of a reversal is that of a pair which was named before its scores were known.
        del others[0]
    # The first is never behind: the difference needs no sign.
    rows = (*scores, (name, signed(first_two.difference)[1:], answers.interval_of_lead(material)), *others)
    title = f"{called(first_two.a)} and {called(first_two.b)} in numbers"
    return replace(shown, title=title, rows=rows, notes=(READING, *_stars(shown)))


def _units(material: Material) -> Page:
    scores = material.scores
    exhibits = [Exhibit("scores-by-unit", draw=partial(figures.scores_by_unit, material.matrix))]
    if scores is not None:
        if any(row.mean_length is not None for row in scores.runs) and len(scores.runs) > 1:
            exhibits.append(Exhibit("score-by-length", draw=partial(figures.score_by_length, scores)))
        if counts := scores.contingency():
            exhibits.append(Exhibit("contingency", draw=partial(figures.contingency, counts)))
    return Page((), tuple(exhibits), WHERE)


def _plan(material: Material) -> Page | None:
    plan = material.plan
    if plan is None or plan.deviation is None:
        return None
    answer = (*answers.settle(material), *filter(None, (plan.at_hand(),)))
    return Page(answer, (Exhibit("power", draw=partial(figures.power_by_units, plan)),), MORE)
