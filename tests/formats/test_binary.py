"""Damaged Parquet, Arrow and Excel: a clear error, whatever the file does to its reader; numbers that are no scores."""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import qassay
from qassay.errors import InputError
from qassay.formats.matrix import read_matrix
from qassay.formats.tables import binary, read_table

FRAME = pl.DataFrame({"question": ["1", "2", "3"], "a": [0.5, 1.0, 0.0], "b": [1.0, 0.25, 1.0]})


def written(kind: str) -> bytes:
    out = io.BytesIO()
    getattr(FRAME, f"write_{kind}")(out)
    return out.getvalue()


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    path = tmp_path / "scores.parquet"
    path.write_bytes(written("parquet"))
    return path


@pytest.mark.parametrize("kind", ["parquet", "ipc", "ipc_stream", "excel"])
def test_a_sound_file_is_read_as_it_was_written(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"scores.{kind}"
    path.write_bytes(written(kind))
    grid = read_table(path).in_text()
    assert grid.header == ["question", "a", "b"]
    assert [[float(cell) for cell in row] for row in zip(*grid.columns, strict=True)] == [
        [1, 0.5, 1],
        [2, 1, 0.25],
        [3, 0, 1],
    ]


def test_reading_parquet_imports_no_polars_here(parquet: Path) -> None:
    program = "import sys; from pathlib import Path; from qassay.formats.tables import read_table; "
    program += f"read_table(Path({str(parquet)!r})); print('polars' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("os.abort()", "a damaged Parquet file"),
        ("os._exit(0)", "a damaged Parquet file"),
        ("sys.stdout.buffer.write(b'\\xc1'); sys.stdout.flush(); os._exit(0)", "a damaged Parquet file"),
        ("bytearray(1 << 40)", "a damaged Parquet file"),
        ("time.sleep(60)", "longer than 1 seconds"),
    ],
)
def test_a_file_that_ends_its_reader_is_an_error(
    parquet: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], code: str, says: str
) -> None:
    monkeypatch.setattr(binary, "_PROGRAM", f"import os, sys, time; {code}")
    monkeypatch.setattr(binary, "LIMIT_SECONDS", 1.0)
    with pytest.raises(InputError, match=says):
        read_table(parquet)
    assert capfd.readouterr() == ("", "")


# What polars panics at, as found by damaging a file: the message goes to stderr before there is an exception.
def panicking() -> bytes:
    data = bytearray(written("parquet"))
    end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for seed in range(3_000):
        chance = random.Random(seed)
        damaged = bytearray(data)
        for _ in range(3):
            damaged[chance.randrange(end, len(data) - 8)] = chance.randrange(256)
        try:
            pl.read_parquet(io.BytesIO(bytes(damaged)))
        except pl.exceptions.PanicException:
            return bytes(damaged)
        except Exception:  # noqa: BLE001
            continue
    pytest.fail("no damage makes polars panic any more")


def test_a_panic_is_not_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "damaged.parquet"
    path.write_bytes(panicking())
    capfd.readouterr()
    with pytest.raises(InputError) as error:
        read_table(path)
    assert error.value.problems[0].file == str(path)
    assert capfd.readouterr() == ("", "")


def test_the_child_takes_no_more_memory_than_it_may() -> None:
    program = "from qassay.child import limit_memory; limit_memory(1 << 30); bytearray(2 << 30)"
    source = str(Path(qassay.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert "MemoryError" in done.stderr


# ---- numbers that are no scores -------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["1000000000001", "-2e12", "1e300", "1.7e15"])
def test_a_score_beyond_1e12_is_an_error_with_row_and_column(tmp_path: Path, number: str) -> None:
    wide, long = tmp_path / "wide.csv", tmp_path / "long.csv"
    wide.write_text(f"question,a,b\nq1,0.5,1\nq2,{number},0\n")
    long.write_text(f"question,system,score\nq1,a,0.5\nq1,b,1\nq2,a,{number}\nq2,b,1\n")
    for path, place, line in ((wide, "row q2, column a: ", 3), (long, "row 3, column score: ", 4)):
        with pytest.raises(InputError) as error:
            qassay.scores(path)
        (problem,) = error.value.problems
        assert problem.message.startswith(f"{place}{number} is beyond 1e12"), problem.message
        assert (problem.file, problem.line) == (str(path), line)


def test_the_largest_scores_are_read(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("question,a,b\nq1,1000000000000,5e11\nq2,-1e12,0\n")
    assert read_matrix(path).values[0].tolist() == [1e12, -1e12]


def test_a_frame_with_an_infinite_or_too_large_score_is_an_error() -> None:
    for value, says in ((float("inf"), "is not a number"), (1e13, "is beyond 1e12")):
        frame = FRAME.with_columns(a=pl.Series([0.5, value, 0.0]))
        with pytest.raises(InputError, match=says):
            qassay.scores(frame)
