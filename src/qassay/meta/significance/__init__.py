"""Is a difference more than chance? Two runs, or all pairs of many, with one decision behind every figure.

two_runs    one pair: its decision, effect size and the units needed
pair        its answer, as people read it
power       the power of the paired t test, the units that it needs, and the variance to plan with
with_repeats  the same where systems ran several times
many_runs   all pairs, under one or several metrics
all_pairs   their answer, with groups of runs that are not shown to differ, letters and possible ranks
letters     sets of runs that are not shown to differ
methods     flips, randomised Tukey, paired Tukey, Holm and Benjamini-Hochberg over all pairs
families    many differences at once: flips, and the largest of all pairs, or of all against one
differences   what families take: pairs of systems, or differences with questions left out
ranges      the range of many runs under chance
single_pairs  p-values of single pairs, and their corrections
"""

from qassay.meta.significance.all_pairs import POSSIBLE_RANKS, SHARED_LETTER, AllPairs
from qassay.meta.significance.many_runs import compare_all, compare_metrics, of_pair
from qassay.meta.significance.methods import Method
from qassay.meta.significance.pair import PairComparison, at_most, limit, percent, signed
from qassay.meta.significance.power import (
    FEWEST_BLOCKS,
    assured_variance,
    detectable,
    fewest_units,
    power,
    units_for_power,
)
from qassay.meta.significance.ranges import residual_variance
from qassay.meta.significance.single_pairs import flips_for, holm_levels
from qassay.meta.significance.two_runs import compare, refuse_itself
from qassay.meta.significance.with_repeats import Variances, variances

__all__ = [
    "FEWEST_BLOCKS",
    "POSSIBLE_RANKS",
    "SHARED_LETTER",
    "AllPairs",
    "Method",
    "PairComparison",
    "Variances",
    "assured_variance",
    "at_most",
    "compare",
    "compare_all",
    "compare_metrics",
    "detectable",
    "fewest_units",
    "flips_for",
    "holm_levels",
    "limit",
    "of_pair",
    "percent",
    "power",
    "refuse_itself",
    "residual_variance",
    "signed",
    "units_for_power",
    "variances",
]
