"""Which units are base and test in a trial."""

from __future__ import annotations

import numpy as np
import pytest

from qassay.meta.sensitivity.trials import BASE, TEST, deal, resampled_units, trial_keys


def test_the_shuffle_is_the_textbook_one(deal_plainly):
    sizes = np.repeat([2, 5, 9], 4)
    keys = np.concatenate([trial_keys(11, 0, size, 4) for size in (2, 5, 9)])
    sides = deal(keys, sizes, 19)
    for row, (size, trial) in enumerate((size, trial) for size in (2, 5, 9) for trial in range(4)):
        base, test = deal_plainly(11, 0, size, trial, 19)
        assert np.flatnonzero(sides[row] == BASE).tolist() == base
        assert np.flatnonzero(sides[row] == TEST).tolist() == test


def test_every_unit_is_as_likely_on_either_side():
    trials, units, size = 20_000, 10, 3
    sides = deal(trial_keys(0, 0, size, trials), np.full(trials, size), units)
    for side in (BASE, TEST):
        shares = (sides == side).mean(axis=0)
        # Five standard deviations of a share of 0.3 over 20,000 trials.
        assert np.abs(shares - size / units).max() < 5 * np.sqrt(0.21 / trials)
    together = ((sides[:, 0] == BASE) & (sides[:, 1] == TEST)).mean()
    assert together == pytest.approx(3 * 3 / 90, abs=5 * np.sqrt(0.09 / trials))


def test_keys_differ_by_seed_stream_size_and_trial():
    keys = [
        key
        for seed in (0, 1, 2**64 - 1)
        for stream in (0, 1)
        for size in (1, 2)
        for key in trial_keys(seed, stream, size, 50)
    ]
    assert len(set(keys)) == len(keys)
    assert trial_keys(3, 0, 5, 10)[:4].tolist() == trial_keys(3, 0, 5, 4).tolist()


def test_resamples_take_whole_clusters():
    clusters = ("a", "a", "a", "b", "b", "c", "c", "c", "c")
    units = resampled_units(0, 1, 9, clusters)
    assert len(units) == 9
    drawn = [clusters[u] for u in units]
    lengths = {"a": 3, "b": 2, "c": 4}
    at = 0
    while at < 9:
        expected = [u for u in range(9) if clusters[u] == drawn[at]]
        length = min(lengths[drawn[at]], 9 - at)
        assert units[at : at + length].tolist() == expected[:length]
        at += length
    assert resampled_units(0, 1, 9, clusters).tolist() == units.tolist()
    assert resampled_units(0, 2, 9, clusters).tolist() != units.tolist()
