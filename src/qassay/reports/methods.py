"""The methods in words: generated from the results, so that they describe exactly what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qassay.display import called, listed
from qassay.meta.agreement.coefficients import DRAWN_AGAIN
from qassay.meta.intervals import WAYS
from qassay.tables import counted, p_equals, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qassay.reports.document import Material


def methods(material: Material) -> tuple[str, ...]:
    """One paragraph per step, in the order of the work."""
    return tuple(paragraph for paragraph in _paragraphs(material) if paragraph)


def _paragraphs(material: Material) -> Iterator[str]:
    yield _data(material)
    yield _judgments(material)
    yield from _left_out(material)
    yield _intervals(material)
    yield _test(material)
    yield _first_two(material)
    yield _error_rate(material)
    yield _plan(material)
    yield _agreement(material)
    yield from material.missing
    if material.version:
        yield f"Computed with Qassay {material.version}, seed {material.seed}. The same input gives the same report."


def _data(material: Material) -> str:
    matrix, scores = material.matrix, material.scores
    size = f"{plural(len(matrix.runs), 'run')} on {counted(len(matrix.units), matrix.unit_name)}"
    if scores is None:
        read = f" Read: {material.matrix.read}." if material.matrix.read else ""
        return f"Scores: {size}, measure {matrix.measure}. The score of a run is the mean over the questions.{read}"
    title = f" ({material.task_title})" if material.task_title else ""
    measure = f"{scores.measure} ({material.measure_title})" if material.measure_title else scores.measure
    return f"Task: {scores.task}{title}. Scored: {size}, by {measure}. A run is the answers of one system."


def _judgments(material: Material) -> str:
    if material.scores is None:
        return ""
    others = [name for name in material.judged_by if name != material.scores.key]
    beside = f" Other judgments in the evaluation: {listed(others, 8)}." if others else ""
    return f"Judgments: {called(material.scores.key)}.{beside}"


def _left_out(material: Material) -> Iterator[str]:
    """Questions left out, counted as wrong or skipped, as the scores report them."""
    notes = material.matrix.notes
    if material.scores is not None and not material.on_shared_units:
        notes = material.scores.notes_for_output()
    yield from dict.fromkeys(note for note in notes if not note.startswith("*"))


def _intervals(material: Material) -> str:
    intervals = material.intervals
    ways = sorted({WAYS.get(way, way) for way in intervals.methods if way != "none"})
    if not ways:
        return " ".join(intervals.reasons)
    matrix = material.matrix
    over = counted(len(matrix.units), matrix.unit_name) if matrix.clusters is None else intervals.over
    return f"Intervals of scores: {' and '.join(ways)} at {intervals.level:.0%}, over {over}."


def _test(material: Material) -> str:
    pairs = material.pairs
    if len(pairs.runs) < 2:
        return ""
    drawn = ""
    if pairs.permutations is not None:
        drawn = f", {'all ' if pairs.exact else ''}{pairs.permutations:,} permutations"
    how = pairs.method_
    if pairs.pair is None:
        how = f"all pairs of runs, corrected for their number by {pairs.method_in_words}"
    return (
        f"Significance (could chance alone explain a difference?): {how}{drawn}, level {pairs.alpha:g}. Groups, "
        f"letters and possible ranks follow this test. {pairs.significant_from() or ''}"
    ).rstrip()


def _first_two(material: Material) -> str:
    first_two = material.first_two
    if first_two is None:
        return ""
    return (
        f"The first two runs by themselves: {first_two.tested()}, uncorrected {p_equals(first_two.p_of_one_look)}; the "
        f"number of {first_two.unit_name[1]} is that of a paired t test with power {first_two.power:g} for a "
        f"true difference of {first_two.wanted_difference:g}, if differences vary as much as an upper 80% limit says."
    )


def _error_rate(material: Material) -> str:
    curves = material.curves
    if curves is None:
        return ""
    return (
        "Repeatability (would as many new questions keep the order of two runs?): expected from the means and "
        f"variances of the per-{curves.unit_name[0]} differences of all {plural(curves.pairs, 'pair')} of runs, at "
        f"an error rate of {curves.error:.0%}. It is a property of the whole set of runs, a rule of thumb for "
        "reading the table; significance is a test of one pair."
    )


def _plan(material: Material) -> str:
    plan = material.plan
    if plan is None or plan.deviation is None:
        return ""
    return (
        f"Planning: the differences of a typical pair of runs deviate by {plan.deviation:.3f} per {plan.unit_name[0]}; "
        f"power is that of a paired t test at level {plan.wanted.alpha:g}."
    )


def _agreement(material: Material) -> str:
    kinds = [kind for kind in material.agreement if kind.raw is not None]
    if not kinds:
        return ""
    drawn = f" {DRAWN_AGAIN}" if kinds[0].resamples else ""
    return (
        f"Agreement: items that all of {listed(kinds[0].sets)} judged; chance-corrected coefficients beside it.{drawn}"
    )
