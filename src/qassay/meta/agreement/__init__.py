"""Agreement of judgment sets: who gave which label, how often they differ, and how much of it is beyond chance.

    labels  ->  distinct combinations  ->  patterns, matrices, shares, coefficients, each with its interval

schemes         the labels of each kind of judgment, their order and folding
coefficients    Cohen's and Fleiss' kappa, Scott's pi, Krippendorff's alpha
resampling      intervals over items
compute         labels -> Agreement
result          Agreement -> tables and JSON
"""

from qassay.meta.agreement.coefficients import (
    Metric,
    cohen_kappa,
    coincidences,
    fleiss_kappa,
    krippendorff_alpha,
)
from qassay.meta.agreement.compute import agreement
from qassay.meta.agreement.resampling import Interval, bootstrap_intervals, estimate
from qassay.meta.agreement.result import Agreement, PairAgreement
from qassay.meta.agreement.schemes import ENTAILMENT, FACTOID, MATCH, SUPPORT, Scheme, scheme_of

__all__ = [
    "ENTAILMENT",
    "FACTOID",
    "MATCH",
    "SUPPORT",
    "Agreement",
    "Interval",
    "Metric",
    "PairAgreement",
    "Scheme",
    "agreement",
    "bootstrap_intervals",
    "cohen_kappa",
    "coincidences",
    "estimate",
    "fleiss_kappa",
    "krippendorff_alpha",
    "scheme_of",
]
