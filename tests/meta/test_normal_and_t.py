"""The normal and the t distribution without scipy.special, beside scipy's."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.special
from hypothesis import example, given
from hypothesis import strategies as st

from qassay.meta.normal_and_t import (
    LARGEST,
    MANY,
    ndtr,
    ndtri,
    normal_quantiles,
    t_power,
    two_sided_t,
    two_sided_t_line,
)

FREEDOM = [1, 2, 3, 5, 10, 39, 100, 999, LARGEST, LARGEST + 1]


def test_the_normal_distribution_is_scipys() -> None:
    values = np.linspace(-37, 37, 1001)
    assert ndtr(values) == pytest.approx(scipy.special.ndtr(values), rel=1e-12)
    assert ndtr(values.reshape(7, 143)).shape == (7, 143)
    many = np.linspace(-5, 5, MANY + 1)
    assert ndtr(many) == pytest.approx(scipy.special.ndtr(many), rel=1e-12)
    shares = [1e-300, 1e-10, 0.2, 0.5, 0.975, 1 - 1e-12]
    assert [ndtri(share) for share in shares] == pytest.approx(scipy.special.ndtri(shares), rel=1e-12)
    for count in (6, MANY + 1):
        spaced = np.linspace(0.001, 0.999, count).reshape(1, count)
        assert normal_quantiles(spaced) == pytest.approx(scipy.special.ndtri(spaced), rel=1e-12)
    assert (ndtri(0.0), ndtri(1.0)) == (-math.inf, math.inf)


@given(st.sampled_from(FREEDOM), st.floats(-60, 60))
@example(10, 3.7e-162)
def test_tails_of_t_are_scipys(freedom: int, t: float) -> None:
    known = 2 * scipy.special.stdtr(freedom, -abs(t))  # near 0 scipy rounds to 1
    assert two_sided_t(freedom, t) == pytest.approx(known, rel=1e-9 if abs(t) > 1e-6 else 1e-6, abs=1e-290)


def test_a_t_value_near_zero_is_exact() -> None:
    """With one degree of freedom P = 1 - 2/pi atan(t), where scipy rounds to 1."""
    assert 1 - two_sided_t(1, 1e-9) == pytest.approx(2 / math.pi * 1e-9, rel=1e-6)
    assert two_sided_t(5, 0.0) == 1.0
    assert two_sided_t(5, math.inf) == 0.0


@pytest.mark.parametrize("freedom", FREEDOM)
@pytest.mark.parametrize("alpha", [1e-6, 0.001, 0.05, 0.1, 0.5])
def test_lines_of_t_are_scipys(freedom: int, alpha: float) -> None:
    assert two_sided_t_line(freedom, alpha) == pytest.approx(-scipy.special.stdtrit(freedom, alpha / 2), rel=1e-9)


@given(st.sampled_from(FREEDOM[:-1]), st.floats(0, 8), st.sampled_from([0.01, 0.05, 0.2]))
def test_power_is_that_of_the_noncentral_t(freedom: int, distance: float, alpha: float) -> None:
    line = -scipy.special.stdtrit(freedom, alpha / 2)
    above, below = scipy.special.nctdtr(freedom, distance, line), scipy.special.nctdtr(freedom, distance, -line)
    # scipy gives not-a-number for probabilities too small to compute.
    known = 1 - (0.0 if math.isnan(above) else above) + (0.0 if math.isnan(below) else below)
    assert t_power(freedom, distance, line) == pytest.approx(known, abs=1e-9)
