"""The studies of the papers, laid out on the units at hand."""

from __future__ import annotations

import itertools

import pytest

from qassay.errors import InputError, UsageError
from qassay.meta.sensitivity.presets import PRESETS, schedule


@pytest.mark.parametrize(
    ("name", "units", "sizes", "trials", "fit_above", "target"),
    [
        # METHOD 6, the table of presets, on the number of units of each study.
        ("trec2002", 500, range(1, 251), 10, 20, 500),
        ("trec2003-definition", 50, range(1, 26), 50, 1, 50),
        ("trec2003-list", 37, range(1, 19), 50, 1, 36),
        ("trec2004", 64, range(5, 33), 50, 0, 64),
        ("trec2004", 65, range(5, 33), 50, 0, 65),
        ("default", 64, range(5, 33), 200, 0, 64),
        ("default", 129, range(5, 65), 200, 0, 129),
    ],
)
def test_presets_on_the_units_of_the_studies(name, units, sizes, trials, fit_above, target):
    plan = schedule(PRESETS[name], units)
    assert plan.sizes == tuple(sizes)
    assert (plan.trials, plan.fit_above, plan.target) == (trials, fit_above, target)


def test_default_thins_out_to_sixty_sizes_with_both_ends():
    for units in (130, 249, 1000, 10_001):
        sizes = schedule(PRESETS["default"], units).sizes
        assert len(sizes) == len(set(sizes)) == 60
        assert (sizes[0], sizes[-1]) == (5, units // 2)
        gaps = [b - a for a, b in itertools.pairwise(sizes)]
        assert max(gaps) - min(gaps) <= 1


@pytest.mark.parametrize(("name", "least"), [("default", 10), ("trec2004", 10), ("trec2002", 2), ("trec2003-list", 2)])
def test_too_few_units_is_an_error_of_the_data(name, least):
    assert schedule(PRESETS[name], least).sizes == (least // 2,)
    with pytest.raises(InputError, match=f"{least} questions or more"):
        schedule(PRESETS[name], least - 1)


@pytest.mark.parametrize(
    ("sizes", "trials", "message"),
    [
        ([5, 33], None, "the largest size is 32"),
        ([0, 3], None, "from 1 up"),
        ([], None, "at least one"),
        ([3], 0, "trials"),
    ],
)
def test_sizes_and_trials_of_the_caller_are_checked(sizes, trials, message):
    with pytest.raises(UsageError, match=message):
        schedule(PRESETS["default"], 64, sizes=sizes, trials=trials)


def test_sizes_of_the_caller_replace_the_presets():
    plan = schedule(PRESETS["trec2004"], 64, sizes=[7, 3, 7], trials=9)
    assert (plan.sizes, plan.trials, plan.target) == ((3, 7), 9, 64)
