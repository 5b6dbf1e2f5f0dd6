"""Odd tables of scores: what is printed of them never contradicts itself, through any door.

Forty tables in every run of the tests, a thousand in the slow ones. Each is written as a file and read by the command
line and by Python; both say the same, and verdict, p, interval, letters, ranks, reversal, gap and number of questions
are one answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qassay
from qassay.arrays import Floats
from qassay.cli import main
from qassay.errors import QassayError
from qassay.studies import study

FEW, MANY = 40, 1000
NAMES = "ABCDEFGH"


@dataclass(frozen=True)
class Odd:
    """Scores of systems (systems x questions, or x repeats), and how they are read."""

    kind: str
    values: Floats
    questions: tuple[str, ...]
    lower: bool = False
    series: bool = False

    @property
    def systems(self) -> str:
        """The names of the systems."""
        return NAMES[: len(self.values)]

    def write(self, folder: Path) -> Path:
        """A wide table, or a long one where systems ran several times."""
        path = folder / f"{self.kind}.csv"
        if self.values.ndim == 2:
            rows = [",".join(["question", *self.systems])]
            rows += [
                ",".join([name, *map(repr, column)])
                for name, column in zip(self.questions, self.values.T.tolist(), strict=True)
            ]
        else:
            rows = ["question,system,repeat,score"]
            rows += [
                f"{name},{system},{repeat},{score!r}"
                for system, of_system in zip(self.systems, self.values.tolist(), strict=True)
                for name, of_question in zip(self.questions, of_system, strict=True)
                for repeat, score in enumerate(of_question)
            ]
        path.write_text("\n".join(rows) + "\n")
        return path

    def flags(self) -> list[str]:
        """How the command line reads it."""
        return [*(["--lower-is-better", "all"] * self.lower), *(["--series-from", r"^([^.]+)\."] * self.series)]

    def options(self) -> dict[str, Any]:
        """How Python reads it."""
        return {"lower_is_better": ["all"] if self.lower else [], "series_from": r"^([^.]+)\." if self.series else None}


KINDS = (
    *("right or wrong", "nearly all right", "graded", "ratings", "percentages", "negative", "huge", "small", "skewed"),
    *("rare gains", "identical systems", "all equal", "one amount", "no variance", "two questions", "few questions"),
    *("lower is better", "series", "one series", "repeats", "repeats without variance", "steady and all-or-nothing"),
)


def odd(seed: int) -> Odd:
    """An odd table: its kind follows from the seed, its size and scores are drawn."""
    rng = np.random.default_rng([7, seed])
    kind = KINDS[seed % len(KINDS)]
    systems = int(rng.integers(2, 8))
    size = int(rng.choice([6, 8, 12, 19, 20, 21, 40, 75]))
    size = {"two questions": 2, "few questions": int(rng.integers(3, 8))}.get(kind, size)
    merit = rng.normal(0, rng.choice([0.0, 0.05, 0.3]), (systems, 1))
    latent = 0.5 + merit + rng.normal(0, 0.2, size) + rng.normal(0, 0.2, (systems, size))
    share = np.clip(latent, 0.0, 1.0)
    values: Floats = {
        "right or wrong": (latent > 0.5).astype(float),
        "nearly all right": (rng.random((systems, size)) < 0.97).astype(float),
        "ratings": np.clip(np.round(1 + 4 * latent), 1, 5),
        "percentages": np.round(2 + 98 * share, 1),
        "negative": latent - 1.5,
        "huge": 1e9 * np.round(latent, 3),
        "small": 1e-7 * latent,
        "skewed": np.exp(3 * latent),
        "rare gains": 0.3 + merit * 0.1 + (rng.random((systems, size)) < 0.07) * 0.6,
        "all equal": np.full((systems, size), 0.5),
        "one amount": 0.4 + 0.1 * rng.integers(0, 2, (systems, size)),
        "no variance": np.repeat(np.round(rng.uniform(0, 1, (systems, 1)), 1), size, axis=1),
        "lower is better": np.round(np.exp(1 + latent), 2),
        "steady and all-or-nothing": np.where(np.arange(systems)[:, None] % 2, latent > 0.5, 0.5 + 0.02 * latent),
    }.get(kind, np.round(share, 2))
    if kind == "identical systems":
        values[-1] = values[0]
    names = [f"q{number}" for number in range(size)]
    is_series = kind in ("series", "one series")
    if is_series:
        names = [f"t{0 if kind == 'one series' else number // 3}.{number}" for number in range(size)]
    if kind.startswith("repeats"):
        noise = rng.normal(0, 0.1, (systems, size, 3)) if kind == "repeats" else np.zeros((systems, size, 2))
        values = np.round(share[:, :, None] + noise, 3)
    return Odd(kind, values, tuple(names), lower=kind == "lower is better", series=is_series)


# ---- what one document says -----------------------------------------------------------------------------------------


def excludes_0(interval: Sequence[float] | None) -> bool:
    """Whether a difference of 0 is outside."""
    return interval is not None and (interval[0] > 0 or interval[1] < 0)


def check_pair(pair: Mapping[str, Any]) -> None:
    """Verdict, p, interval, reversal and numbers of questions of two systems."""
    is_clear = pair["verdict"] != "cannot tell"
    low, high = pair["interval"] or (None, None)
    if pair["p"] is not None:
        assert is_clear == (pair["p"] <= pair["alpha"])
    if pair["interval"] is None:
        assert not is_clear or pair["p"] is not None
    else:
        assert is_clear == excludes_0(pair["interval"])
        margin = 1e-9 * max(1.0, abs(low), abs(high))
        assert low - margin <= pair["difference"] <= high + margin
        assert low < high
    better = pair["difference"] if pair["higher_is_better"] else -pair["difference"]
    assert not is_clear or (pair["verdict"] == "better") == (better > 0)
    if pair["reversal"] is not None:
        assert is_clear, "a bound below one half is a verdict"
        assert 0 <= pair["reversal"] < 0.5
    # What these units find, and how many find the wanted difference, are one answer.
    if pair["found_with"] is not None and pair["units_needed"] is not None:
        is_found = pair["found_with"] <= pair["wanted_difference"] * (1 + 1e-6)
        assert is_found == (pair["units_needed"] <= pair["units"])


def check_family(pairs: Mapping[str, Any]) -> None:
    """Verdicts, intervals, letters and ranges of ranks of all pairs."""
    letters = {row["run"]: set(row["letters"]) for row in pairs["ranking"]}
    above = dict.fromkeys(letters, 0)
    below = dict(above)
    for pair in pairs["pairs"]:
        different = pair["different"]
        assert different == (pair["p_adjusted"] is not None and pair["p_adjusted"] <= pairs["alpha"])
        if pair["interval"] is not None:
            assert different == excludes_0(pair["interval"])
            low, high = pair["interval"]
            margin = 1e-9 * max(1.0, abs(low), abs(high))
            assert low - margin <= pair["difference"] <= high + margin
        assert different != bool(letters[pair["a"]] & letters[pair["b"]])
        if different:
            first, second = (
                (pair["a"], pair["b"])
                if (pair["difference"] > 0) == pairs["higher_is_better"]
                else (pair["b"], pair["a"])
            )
            above[second] += 1
            below[first] += 1
    for place, row in enumerate(pairs["ranking"], 1):
        if row.get("rank_range") is not None:
            low, high = row["rank_range"]
            assert (low, high) == (1 + above[row["run"]], len(letters) - below[row["run"]])
            assert low <= place <= high


def check_control(against: Mapping[str, Any], *, higher_is_better: bool) -> None:
    """Verdicts and intervals of all systems against one."""
    for row in against["against"]:
        is_clear = row["verdict"] != "cannot tell"
        assert is_clear == (row["p_adjusted"] is not None and row["p_adjusted"] <= against["alpha"])
        if row["interval"] is not None:
            assert is_clear == excludes_0(row["interval"])
        is_better = (row["difference"] > 0) == higher_is_better
        assert not is_clear or is_better == (row["verdict"] == "better")


def mirrored(pair: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of B compared with A, if this is said of A compared with B."""
    turned = {"better": "worse", "worse": "better"}
    interval = pair["interval"] and [-limit for limit in pair["interval"][::-1]]
    verdict = turned.get(pair["verdict"], pair["verdict"])
    return {
        "difference": -pair["difference"],
        "interval": interval,
        "verdict": verdict,
        "p": pair["p"],
        "reversal": pair["reversal"],
    }


def alike(first: Any, second: Any) -> bool:
    """Whether two documents are equal but for the last bits of their numbers."""
    if isinstance(first, Mapping):
        return set(first) == set(second) and all(alike(first[name], second[name]) for name in first)
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(map(alike, first, second))
    if isinstance(first, float) and isinstance(second, (int, float)):
        return bool(first == pytest.approx(second, rel=1e-9, abs=1e-12))
    return bool(first == second)


# ---- all doors ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Doors:
    """The ways in to one table: the command line and Python, which say the same or refuse alike."""

    odd: Odd
    path: Path
    capsys: pytest.CaptureFixture[str]

    def ask(
        self, name: str, *systems: str, flags: Sequence[str] = (), **options: Any
    ) -> tuple[Any, dict[str, Any]] | None:
        """The record of a study and its document; None where it is refused."""
        status = main([name, str(self.path), *systems, *self.odd.flags(), *flags, "--json"])
        printed = self.capsys.readouterr()
        try:
            scores = qassay.scores(self.path, systems=systems or None, **self.odd.options()).matrix
            made = study(name).compute(scores, *systems, **options)
        except QassayError:
            made = None
        if made is None:
            assert status in (1, 2), "Python refuses, and the command does not"
            assert printed.err.strip()
            return None
        assert status == 0, printed.err
        assert "NaN" not in printed.out
        assert "Infinity" not in printed.out
        document: dict[str, Any] = json.loads(printed.out)
        said = json.loads(json.dumps(made.as_json()))
        apart = {key for key in said if not alike(said[key], document[key])} - {"notes"}
        assert not apart, {key: (said[key], document[key]) for key in apart}
        return made, document


def check_gate(made: Any, pair: Mapping[str, Any]) -> None:
    """A gate decides as its interval does, at its limits and elsewhere."""
    if pair["interval"] is None:
        assert made.gate(0.0) == "INCONCLUSIVE"
        return
    low, high = pair["interval"] if pair["higher_is_better"] else [-limit for limit in pair["interval"][::-1]]
    for margin in {0.0, abs(low), abs(high), abs(low) * 1.01, abs(pair["difference"])}:
        decided = made.gate(margin)
        assert (decided == "ALLOW") == (low > -margin)
        assert (decided == "REJECT") == (high < -margin)


def check_table(table: Odd, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything that is printed of one table."""
    doors = Doors(table, table.write(folder), capsys)
    both, turned, family = doors.ask("compare", "A", "B"), doors.ask("compare", "B", "A"), doors.ask("compare")
    assert (both is None) == (turned is None)
    if both is not None and turned is not None:
        made, pair = both
        check_pair(pair)
        check_gate(made, pair)
        expected = mirrored(pair)
        assert alike(expected, {key: turned[1][key] for key in expected})
        answer = " ".join(study("compare").page(made).answer)
        assert ("does not explain the difference" in answer) == (pair["verdict"] != "cannot tell")
        if len(table.systems) == 2 and family is not None:
            (only,) = family[1]["pairs"]
            same = pair if only["a"] == "A" else expected
            assert only["different"] == (pair["verdict"] != "cannot tell")
            assert alike([only["difference"], only["interval"]], [same["difference"], same["interval"]])
    if family is None:
        return
    check_family(family[1])
    if len(table.systems) > 2:
        answer = " ".join(study("compare").page(family[0]).answer)
        assert ("no pair of runs differs" in answer or "same score" in answer) == (not family[0].different), answer
    against = doors.ask("compare", flags=["--control", "B"], control="B")
    if against is not None:
        check_control(against[1], higher_is_better=family[1]["higher_is_better"])
    gap = doors.ask("sensitivity", flags=["--intervals", "0", "--trials", "2"], intervals=0, trials=2)
    planned = doors.ask("plan")
    if gap is not None and gap[1]["repeatable_difference"] is not None:
        assert family[0].different, "a gap is called repeatable, and no pair is separated"
    if gap is not None:
        answer = " ".join(study("sensitivity").page(gap[0]).answer)
        assert (" or more" in answer and " sign in 95 " in answer) == (gap[1]["repeatable_difference"] is not None), (
            answer
        )
    if gap is not None and planned is not None:
        now = {row["repeatable"] for row in planned[1]["shows"] if row["units"] == len(table.questions)}
        assert not now or alike(now.pop(), gap[1]["repeatable_difference"])


@pytest.mark.parametrize("seed", range(FEW))
def test_odd_tables_are_not_contradicted(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_table(odd(seed), tmp_path, capsys)


@pytest.mark.slow
def test_a_thousand_odd_tables_are_not_contradicted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(FEW, MANY):
        check_table(odd(seed), tmp_path, capsys)
