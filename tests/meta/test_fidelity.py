"""Beta sweep, two rankings, moved weights, best runs: against the papers and by hand."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy import stats

from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix
from qassay.meta.fidelity import beta_sweep, moved_weights, two_rankings
from qassay.results import document


def one_unit(scores: dict[str, float], **more: object) -> ScoreMatrix:
    return ScoreMatrix(tuple(scores), ("u",), np.array(list(scores.values()))[:, None], **more)  # type: ignore[arg-type]


def test_beta_sweep_of_2003(golden: dict[str, Any]) -> None:
    # [QA03] table 6, and the ranks of SENT-BASE recomputed from it.
    printed = golden["QA03"]["beta_table6"]
    sweep = beta_sweep({b: one_unit({run: row[b - 1] for run, row in printed.items()}) for b in range(1, 6)})
    assert sweep.betas == (1, 2, 3, 4, 5)
    row = next(row for row in sweep.runs if row.run == "SENT-BASE")
    assert list(row.ranks) == golden["QA03"]["sent_base_rank_by_beta_recomputed"]
    assert list(row.scores) == printed["SENT-BASE"]
    assert [row.scores[4] for row in sweep.runs] == sorted((row[4] for row in printed.values()), reverse=True)
    for beta, tau in zip(range(5), sweep.tau_with_last, strict=True):
        first = [row[beta] for row in printed.values()]
        assert tau == pytest.approx(stats.kendalltau(first, [row[4] for row in printed.values()]).statistic)
    assert sweep.table().rows[0][:3] == ("BBN2003C", 0.31, "2=")  # two runs share the second place at beta 1
    json.dumps(sweep.as_json(), allow_nan=False)


def test_sweep_needs_the_same_runs() -> None:
    with pytest.raises(UsageError, match="same runs"):
        beta_sweep({1: one_unit({"A": 1}), 2: one_unit({"B": 1})})
    with pytest.raises(UsageError, match="at least one beta"):
        beta_sweep({})
    # The order of the runs does not matter.
    sweep = beta_sweep({1: one_unit({"A": 0.1, "B": 0.2}), 2: one_unit({"B": 0.3, "A": 0.4})})
    assert [(row.run, row.scores) for row in sweep.runs] == [("A", (0.1, 0.4)), ("B", (0.2, 0.3))]
    assert sweep.tau_with_last == (None, None)
    assert sweep.notes


def test_two_rankings() -> None:
    runs = ["a", "b", "c", "d"]
    result = two_rankings(runs, ("by series", [0.4, 0.3, 0.5, 0.1]), ("by type", [0.4, 0.35, 0.3, 0.1]))
    assert [(row.run, row.ranks) for row in result.runs] == [("c", (1, 3)), ("a", (2, 1)), ("b", (3, 2)), ("d", (4, 4))]
    assert result.agreement.tau == pytest.approx(1 - 2 * 2 / 6)
    assert "swaps: 2" in result.table().notes[0]
    json.dumps(document(result), allow_nan=False)
    with pytest.raises(UsageError):
        two_rankings(runs, ("x", [1.0]), ("y", [1.0, 2.0, 3.0, 4.0]))


def test_moved_weights_by_hand() -> None:
    components = {"factoid": [0.9, 0.2, 0.5], "list": [0.0, 0.8, 0.4], "other": [0.1, 0.5, 0.4]}
    weights = {"factoid": 0.5, "list": 0.25, "other": 0.25}
    result = moved_weights(components, weights)
    assert [(move.component, round(move.weight, 2)) for move in result.moves] == [
        ("factoid", 0.45), ("factoid", 0.55), ("list", 0.2), ("list", 0.3), ("other", 0.2), ("other", 0.3)
    ]  # fmt: skip
    # 0.55 for factoid leaves 0.45, shared out 1:1.
    assert list(result.moves[1].weights.values()) == pytest.approx([0.55, 0.225, 0.225])
    assert list(result.moves[2].weights.values()) == pytest.approx([0.8 * 0.5 / 0.75, 0.2, 0.8 * 0.25 / 0.75])
    table = np.array(list(components.values()))
    base = np.array([0.5, 0.25, 0.25]) @ table
    for move in result.moves:
        assert sum(move.weights.values()) == pytest.approx(1)
        moved = np.array(list(move.weights.values())) @ table
        assert move.agreement.tau == pytest.approx(stats.kendalltau(base, moved).statistic)
    assert {move.agreement.swaps for move in result.moves} == {0, 3}
    json.dumps(document(result), allow_nan=False)
    assert len(result.table().rows) == 6


def test_moved_weights_of_two_runs_have_no_tau_and_say_why() -> None:
    result = moved_weights({"a": [1, 2], "b": [2, 1]}, {"a": 0.6, "b": 0.4})
    assert {move.agreement.tau for move in result.moves} == {None}
    assert result.table().notes == ("A rank correlation needs three runs or more.",)


def test_weights_that_cannot_move() -> None:
    result = moved_weights({"a": [1, 2, 3], "b": [3, 2, 1]}, {"a": 0.98, "b": 0.02})
    assert [(m.component, round(m.weight, 2)) for m in result.moves] == [("a", 0.93), ("b", 0.07)]
    assert len(result.notes) == 2
    only = moved_weights({"a": [1, 2, 3], "b": [3, 2, 1]}, {"a": 1.0, "b": 0.0})
    assert [(m.component, round(m.weight, 2)) for m in only.moves] == [("b", 0.05)]
    with pytest.raises(UsageError):
        moved_weights({"a": [1]}, {"a": 1})
    with pytest.raises(UsageError):
        moved_weights({"a": [1], "b": [1]}, {"a": -1, "b": 2})
