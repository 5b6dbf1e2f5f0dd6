"""The sections of a report: figures and tables in the order of the questions that people ask."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from qassay import figures
from qassay.arrays import TIE
from qassay.display import as_sentence, called, enumerated, titled
from qassay.errors import UsageError
from qassay.frames import ends
from qassay.meta.agreement.result import PAIRS_DRAWN, Agreement
from qassay.meta.distributions import NAMED
from qassay.meta.ranking import places
from qassay.meta.significance import SHARED_LETTER, percent, signed
from qassay.meta.significance.pair import READING
from qassay.reports import answers
from qassay.reports.document import Exhibit, Material, Report, Section
from qassay.reports.methods import methods
from qassay.tables import MANUAL_RUN, PROBABILITY, Cell, Column, Table, counted, decimals, plural, starred, table

if TYPE_CHECKING:
    from qassay.figures import Figure
    from qassay.meta.significance import PairComparison


def build_report(material: Material) -> Report:
    """The report of these results."""
    matrix, scores = material.matrix, material.scores
    size = f"{plural(len(matrix.runs), 'run')} · {counted(len(matrix.units), matrix.unit_name)} · {matrix.measure}"
    size += matrix.direction.words.replace(";", " ·")
    judged = "" if scores is None else f" · judgments: {called(scores.key)}"
    parts = (_best, _real, _where, _judges, _next)
    sections = [section for section in (part(material) for part in parts) if section is not None]
    return Report(
        title=f"Results: {called(material.name)}",
        subtitle=size + judged,
        answer=answers.answer(material),
        facts=answers.facts(material),
        sections=tuple(sections),
        methods=methods(material),
        commands=material.commands,
        scores=scores,
        version=material.version,
    )


def _drawn(draw: Callable[[], Figure], *, folded: bool = True) -> list[Exhibit]:
    """A figure with its table; nothing where these results give no figure."""
    with suppress(UsageError):
        drawn = draw()
        return [Exhibit(drawn.name, drawn.table, drawn, folded)]
    return []


def _best(material: Material) -> Section:
    exhibits = _drawn(lambda: figures.leaderboard(material.pairs, material.intervals))
    return Section("best", "Who is best?", (answers.headline(material),), (*exhibits, _board(material)))


def _board(material: Material) -> Exhibit:
    """The leaderboard: rank, run, score, interval, group, and what the task prints beside them."""
    intervals = material.intervals
    limits = {run: intervals.interval(run) for run in intervals.runs}
    texts = {run: f"{limit[0]:.3f} – {limit[1]:.3f}" if limit else None for run, limit in limits.items()}
    pairs, manual = material.pairs, material.pairs.manual
    letters = dict(zip(pairs.runs, pairs.letters, strict=True))
    level = f"{intervals.level:.0%} interval"
    if material.scores is not None and not material.on_shared_units:
        shown = material.scores.leaderboard({level: texts, "group": letters})
    else:
        rows: list[tuple[Cell, ...]] = [
            (place, starred(run, manual), value, texts.get(run), letters[run])
            for place, run, value in zip(places(pairs.ranks), pairs.runs, pairs.scores, strict=True)
        ]
        columns: list[Column | str] = [Column("rank"), "run", Column(material.matrix.measure, ".3f"), level, "group"]
        shown = table("", columns, rows, [MANUAL_RUN] if manual else [])
    notes = (SHARED_LETTER, *intervals.reasons, *_stars(shown))
    return Exhibit("scores", replace(shown, title="All runs", notes=notes))


def _stars(shown: Table) -> list[str]:
    return [note for note in shown.notes if note.startswith("*")]


def _real(material: Material) -> Section | None:
    pairs = material.pairs
    if len(pairs.runs) < 2:
        return None
    about = [*answers.significance(material), *answers.repeatable(material)]
    if material.curves is not None:
        about.append(
            "Significant and repeatable answer two questions. Significant: chance alone does not explain this "
            "difference. Repeatable: a gap of this size keeps its sign with new questions."
        )
    first_two, curves = material.first_two, material.curves
    exhibits = [] if first_two is None else [Exhibit("first-two", _first_two(material, first_two))]
    if first_two is not None and first_two.deciding:
        exhibits += _drawn(lambda: figures.differences_by_unit(first_two))
    if curves is not None:
        exhibits += _drawn(lambda: figures.error_rate_by_difference(curves))
    return Section("real", "Is it real?", tuple(about), (*exhibits, _pairs(material)))


def _first_two(material: Material, first_two: PairComparison) -> Table:
    """The difference of the first two runs, its interval, and the chance that new questions reverse it."""
    shown = first_two.table()
    scores, (name, _, _), *others = shown.rows[:2], *shown.rows[2:]
    # The first is never behind: the difference needs no sign.
    rows = (*scores, (name, signed(first_two.difference)[1:], answers.interval_of_lead(material)), *others)
    title = f"{called(first_two.a)} and {called(first_two.b)} in numbers"
    return replace(shown, title=title, rows=rows, notes=(READING, *_stars(shown)))


def _pairs(material: Material) -> Exhibit:
    """All pairs of runs, the clearest first."""
    pairs = sorted(
        material.pairs.pairs(), key=lambda pair: (not pair.different, pair.p_adjusted or 0.0, -abs(pair.difference))
    )
    columns: list[Column | str] = [
        "run",
        "compared with",
        Column("difference", f"+.{decimals(pair.difference for pair in pairs)}f"),
        *(Column(name, "+.3f") for name in ("from", "to")),
        Column("p, corrected", PROBABILITY),
    ]
    manual = material.pairs.manual
    rows = [
        (
            *(starred(pair.a, manual), starred(pair.b, manual), pair.difference),
            *(*ends(pair.interval), pair.p_adjusted, pair.different),
        )
        for pair in pairs
    ]
    level = percent(1 - material.pairs.alpha)
    title = f"Pairs of runs with {level} intervals of their difference, the clearest first"
    shown = table(title, [*columns, "significant"], rows, [MANUAL_RUN] if manual else [])
    return Exhibit("pairs", shown, folded=True)


def _where(material: Material) -> Section | None:
    matrix, spread, scores = material.matrix, material.spread, material.scores
    exhibits = _drawn(lambda: figures.scores_by_unit(matrix))
    if len(matrix.runs) > 1:
        exhibits += _drawn(lambda: figures.boxes_by_unit(spread))
    if scores is not None:
        if any(row.mean_length is not None for row in scores.runs) and len(scores.runs) > 1:
            exhibits += _drawn(lambda: figures.score_by_length(scores))
        counts = scores.contingency()
        if counts:
            exhibits += _drawn(lambda: figures.contingency(counts))
    return Section("where", "Where do they differ?", tuple(_spread(material)), tuple(exhibits)) if exhibits else None


def _spread(material: Material) -> list[str]:
    """The units that separate the runs, the hardest and the easiest, and those that are too hard."""
    spread = material.spread
    sentences = []
    if hardest := spread.hardest_and_easiest(called):
        sentences.append(as_sentence(hardest))
        widest = max(box.spread for box in spread.units)
        furthest = [titled(box.unit, spread.titles, called) for box in spread.units if box.spread > widest - TIE]
        if widest > TIE and len(furthest) <= NAMED:
            sentences.append(f"The best and the worst run are furthest apart on {enumerated(furthest)} ({widest:.3f}).")
    if any(box.has_zero_median for box in spread.units):
        sentences.append(as_sentence(spread.zeros()))
    return sentences


def _judges(material: Material) -> Section | None:
    exhibits: list[Exhibit] = []
    for kind in material.agreement:
        if kind.raw is not None:
            exhibits += _of_agreement(kind)
    lists = enumerate(material.nugget_lists, start=1)
    exhibits += [Exhibit(f"nugget-lists-{number}", pair.table(), folded=True) for number, pair in lists]
    ranks = material.stability
    if ranks is not None and len(ranks.sets) > 1:
        exhibits += _drawn(lambda: figures.ranks_by_set(ranks))
        if len(ranks.sets) > 2:
            exhibits += _drawn(lambda: figures.tau_heat_map(ranks))
        if ranks.swaps_with_reference:
            exhibits.append(Exhibit("swaps", replace(ranks.largest_swaps(), title="Pairs of runs that change places")))
    for scale in material.ratings.values():
        exhibits += _drawn(partial(figures.rating_histogram, scale))
        exhibits += _drawn(partial(figures.mean_rank_by_judge, scale))
    if not exhibits:
        return None
    return Section("judges", "Do the judges agree?", tuple(answers.judges(material)), tuple(exhibits))


def _of_agreement(kind: Agreement) -> list[Exhibit]:
    """The statistics of one kind of judgment, and the labels of the first pairs of judges."""
    name = kind.about.replace(" ", "-")
    exhibits = [Exhibit(f"agreement-{name}", replace(kind.table(), title=f"Agreement on {kind.about}"))]
    for number, pair in enumerate(kind.pairs[:PAIRS_DRAWN], start=1):
        drawn = figures.agreement_matrix(pair, kind.about, number)
        exhibits.append(Exhibit(drawn.name, drawn.table, drawn, folded=True))
    return exhibits


def _next(material: Material) -> Section | None:
    plan = material.plan
    if plan is None or plan.deviation is None:
        return None
    exhibits = _drawn(lambda: figures.power_by_units(plan), folded=False)
    sentences = [*answers.settle(material), *filter(None, (plan.at_hand(),))]
    return Section("next", "How many more questions?", tuple(sentences), tuple(exhibits)) if exhibits else None
