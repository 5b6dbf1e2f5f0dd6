"""The answer first: who is ahead, which differences hold, how sure that is, and what would settle the rest."""

from __future__ import annotations

import math

from qassay.arrays import TIE
from qassay.display import as_sentence, called, listed
from qassay.meta.ranking import pairs_of_runs
from qassay.meta.sensitivity.presenting import about_running_again
from qassay.meta.significance import PairComparison, limit, percent, signed
from qassay.reports.document import Fact, Material
from qassay.tables import counted, decimals, p_equals, plural, show


def headline(material: Material) -> str:
    """The leader, in one sentence without a term of statistics."""
    pairs = material.pairs
    if not pairs.runs:
        return "There are no runs."
    if len(pairs.runs) == 1:
        return f"The only run, {called(pairs.runs[0])}, scores {score(pairs.scores[0])}; it is compared with nothing."
    if len(pairs.leaders) == len(pairs.runs):
        every = "Both runs" if len(pairs.runs) == 2 else f"All {len(pairs.runs)} runs"
        return f"{every} score {score(pairs.scores[0])}: none is ahead."
    return f"{pairs.lead(listed)}."


def answer(material: Material) -> tuple[str, ...]:
    """The headline, and what a reader asks next: one paragraph each."""
    next_questions = (significance(material), [*repeatable(material), *settle(material)], judges(material))
    return (headline(material), *(" ".join(sentences) for sentences in next_questions if sentences))


def significance(material: Material) -> list[str]:
    """Which differences chance alone does not explain."""
    pairs = material.pairs
    if len(pairs.runs) < 2:
        return []
    total = len(pairs.runs) * (len(pairs.runs) - 1) // 2
    sentences = []
    behind = [run for run, differs in zip(pairs.runs[1:], pairs.is_different[0, 1:], strict=True) if differs]
    if behind and len(behind) < len(pairs.runs) - 1:
        sentences.append(f"{listed(behind)} {'is' if len(behind) == 1 else 'are'} significantly behind the first run.")
    sentences += _lead(material)
    if total > 1:
        differ = "differ" if pairs.different > 1 else "differs"
        sentences.append(as_sentence(f"{pairs_of_runs(pairs.different, total)} {differ} significantly"))
    return sentences


def _lead(material: Material) -> list[str]:
    """Whether chance could explain the lead of the first run over the second."""
    first_two = material.first_two
    if first_two is None or abs(first_two.difference) < TIE:
        return []
    explained = (
        "chance alone does not explain it" if material.pairs.is_different[0, 1] else "chance alone could explain it"
    )
    gap = _gap(first_two)
    return [f"The first is {gap} ahead of the second, {called(first_two.b)}; {explained} ({p_of_lead(material)})."]


def _gap(pair: PairComparison) -> str:
    return show(abs(pair.difference), f".{decimals([pair.difference])}f")


def p_of_lead(material: Material) -> str:
    """How often chance alone makes the lead of the first run over the second."""
    p = float(material.pairs.p_adjusted[0, 1])
    if math.isnan(p):
        return f"too few {material.pairs.unit_name[1]} for a test"
    shown = p_value(p)
    return shown if material.pairs.pair is not None else f"{shown}, corrected for all pairs"


def repeatable(material: Material) -> list[str]:
    """From which gap on a comparison keeps its sign."""
    curves = material.curves
    if curves is None:
        return []
    # The words of `qassay sensitivity`, so that both give one answer.
    return [as_sentence(curves.sentence()), *about_running_again(curves)]


def judges(material: Material) -> list[str]:
    """How far the judges agree, and what that does to the ranking."""
    # The words of `qassay agree`, so that both give one answer.
    sentences = [sentence for page in material.pages if page.name == "agree" for sentence in page.answer]
    ranks = material.stability
    if ranks is not None and ranks.mean_tau_with_reference is not None:
        tau = f"Kendall's tau {ranks.mean_tau_with_reference:.2f}, where 1 is the same ranking"
        sentences.append(as_sentence(f"{ranks.changes(called)} ({tau})"))
    return sentences


def settle(material: Material) -> list[str]:
    """How many questions would find a small difference of the first two."""
    first_two = material.first_two
    if first_two is None or material.pairs.is_different[0, 1] or abs(first_two.difference) < TIE:
        return []
    if first_two.verdict != "cannot tell":
        return ["Compared alone, the first two would differ significantly; among all pairs, chance could explain it."]
    if first_two.interval is None or first_two.units_needed is None:
        return []
    have, need = (counted(units, first_two.unit_name) for units in (first_two.units, first_two.units_needed))
    wanted, power = f"{first_two.wanted_difference:g}", f"{first_two.power:.0%}"
    return [f"A test of {need} would find a true difference of {wanted} with {power} probability; this one has {have}."]


def facts(material: Material) -> tuple[Fact, ...]:
    """The numbers that people look for."""
    cards: list[Fact] = []
    pairs, curves, first_two = material.pairs, material.curves, material.first_two
    total = len(pairs.runs) * (len(pairs.runs) - 1) // 2
    cards += _difference_fact(material)
    if total > 1:
        line = "" if pairs.typical_margin is None else f"from about {pairs.typical_margin:.3f}, "
        cards.append(Fact("Significant pairs", f"{pairs.different:,} of {total:,}", f"{line}corrected for all pairs"))
    if curves is not None:
        gap = curves.repeatable_difference
        keeps = f"keeps its sign in {100 * (1 - curves.error):g} of 100 repetitions"
        if gap is not None:
            meaning = "all gaps from here on, taken together" if curves.is_open else keeps
            cards.append(Fact("Repeatable gap", f"about {gap:g}", meaning))
    if material.stability is not None:
        cards += _ranking_fact(material)
    elif material.agreement and material.agreement[0].raw is not None:
        kind = material.agreement[0]
        cards.append(Fact("Judges agree on", f"{kind.raw:.1%}", f"of {kind.items:,} {kind.about}"))
    # Without an interval there are too few units to say how many it would take, as in `compare`.
    unclear = first_two is not None and first_two.verdict == "cannot tell" and first_two.interval is not None
    if first_two is not None and unclear and first_two.units_needed is not None:
        meaning = f"{first_two.unit_name[1]}, with {first_two.power:.0%} probability"
        cards.append(Fact(f"To find {first_two.wanted_difference:g}", f"{first_two.units_needed:,}", meaning))
    return tuple(cards)


def _difference_fact(material: Material) -> list[Fact]:
    """By how much the first is ahead of the second: the interval of the difference, not those of two scores."""
    first_two = material.first_two
    if first_two is None:
        return []
    return [Fact("First minus second", signed(first_two.difference), interval_of_lead(material))]


def interval_of_lead(material: Material) -> str:
    """Interval and p of the difference of the first two runs: those of the verdict, corrected for all pairs."""
    first_two, pairs = material.first_two, material.pairs
    assert first_two is not None
    shown, alone = next(pairs.pairs()).interval, ""
    if shown is None and pairs.pair is None:
        shown, alone = first_two.interval, " (compared alone)"
    level = percent(1 - pairs.alpha)
    if shown is None:
        return f"no {level} interval: too few {first_two.unit_name[1]}"
    return f"{level} interval {limit(shown[0])} to {limit(shown[1])}{alone}, {p_of_lead(material)}"


def _ranking_fact(material: Material) -> list[Fact]:
    """How far the ranking holds under other judgments."""
    ranks = material.stability
    assert ranks is not None
    taus = [comparison.tau for _, comparison in ranks.with_reference() if comparison.tau is not None]
    if not taus:
        return []
    between = f"τ {min(taus):.2f}" if max(taus) - min(taus) < 0.005 else f"τ {min(taus):.2f}–{max(taus):.2f}"
    swaps = plural(ranks.swaps_with_reference, "swap")
    largest = ranks.largest_swapped_difference
    meaning = swaps if largest is None else f"{swaps}, largest gap {largest:.3f}"
    return [Fact("Ranking under other judgments", between, meaning)]


def p_value(p: float) -> str:
    """A p-value as a sentence has it.

    >>> p_value(0.2346), p_value(0.0504), p_value(0.0123), p_value(0.00001), p_value(0.998)
    ('p = 0.23', 'p = 0.0504', 'p = 0.012', 'p < 0.001', 'p > 0.99')
    """
    if p > 0.99:
        return "p > 0.99"
    return f"p = {p:.2f}" if p >= 0.1 else p_equals(p)


def score(value: float) -> str:
    """A score with three decimals."""
    return show(value, ".3f")
