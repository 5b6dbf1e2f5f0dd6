"""Is a difference more than chance? Two runs, or all pairs of many, with one decision behind every figure.

two_runs        paired randomisation test and the interval that inverts it, paired t, effect size, units needed
display         what is shown of two runs
many_runs       randomised Tukey, paired Tukey, Holm, Benjamini-Hochberg over all pairs
flipped_pairs   sign-flip and t p-values of all pairs
ranges          the range of many runs under chance
corrections     Holm and Benjamini-Hochberg
groups          runs that cannot be told apart, and their letters
power           units for a wanted power
"""

from qassay.meta.significance.corrections import benjamini_hochberg, holm
from qassay.meta.significance.display import signed
from qassay.meta.significance.groups import indistinguishable, letters
from qassay.meta.significance.many_runs import AllPairs, Pair, compare_all
from qassay.meta.significance.methods import NAMES, Method
from qassay.meta.significance.power import detectable, power, units_for_power
from qassay.meta.significance.ranges import residual_variance
from qassay.meta.significance.two_runs import PairComparison, UnitDifference, Verdict, compare

__all__ = [
    "NAMES",
    "AllPairs",
    "Method",
    "Pair",
    "PairComparison",
    "UnitDifference",
    "Verdict",
    "benjamini_hochberg",
    "compare",
    "compare_all",
    "detectable",
    "holm",
    "indistinguishable",
    "letters",
    "power",
    "residual_variance",
    "signed",
    "units_for_power",
]
