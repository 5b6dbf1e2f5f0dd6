"""The exponential through the rates of a bin, and when it is refused."""

from __future__ import annotations

import math
from dataclasses import astuple

import numpy as np
import pytest
from scipy.optimize import curve_fit

from qassay.meta.sensitivity.curves import Fit, fit_curve
from qassay.results import document

SIZES = np.arange(5.0, 33.0)


def test_a_true_exponential_is_found():
    curve = fit_curve(SIZES, 0.45 * np.exp(-0.047 * SIZES))
    assert isinstance(curve, Fit)
    assert astuple(curve) == (pytest.approx(0.45), pytest.approx(0.047))
    # METHOD's example: A1 = 0.45, A2 = 0.047 give 0.022 at 64.
    assert curve.at(64) == pytest.approx(0.0222, abs=1e-4)
    assert document(curve) == {"A1": curve.A1, "A2": curve.A2}


def test_the_fit_is_unweighted_least_squares():
    rates = 0.4 * np.exp(-0.05 * SIZES) + 0.02 * np.sin(SIZES)
    curve = fit_curve(SIZES, rates)
    (a1, a2), _ = curve_fit(lambda s, a, b: a * np.exp(-b * s), SIZES, rates, p0=(1.0, 0.25))
    assert isinstance(curve, Fit)
    assert astuple(curve) == (pytest.approx(a1, rel=1e-5), pytest.approx(a2, rel=1e-5))


@pytest.mark.parametrize(
    ("sizes", "rates", "reason"),
    [
        (SIZES[:2], [0.4, 0.3], "fewer than three points"),
        (SIZES[:0], [], "fewer than three points"),
        (SIZES, np.zeros(len(SIZES)), "no swap at any size"),
        (SIZES, 0.1 * np.exp(0.05 * SIZES), "A1 or A2 not positive and finite"),
        (SIZES, np.full(len(SIZES), 0.3) + 0.001 * SIZES, "A1 or A2 not positive and finite"),
    ],
)
def test_rates_that_cannot_be_fitted_say_why(sizes, rates, reason):
    assert fit_curve(np.asarray(sizes), np.asarray(rates)) == reason


def test_size_for_an_error_rate():
    curve = Fit(0.45, 0.047)
    size = curve.size_for(0.05, 640)
    assert size == math.ceil(math.log(9) / 0.047) == 47
    assert curve.at(size) <= 0.05 < curve.at(size - 1)
    assert curve.size_for(0.05, 46) is None
    assert curve.size_for(0.05, 47) == 47
    assert curve.size_for(0.44, 640) == 1
    # The limit itself counts.
    assert Fit(0.4, math.log(2)).size_for(0.1, 640) in (2, 3)
    assert Fit(0.4, 1e-300).size_for(0.1, 640) is None
