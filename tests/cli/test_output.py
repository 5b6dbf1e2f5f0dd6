"""How wide the prose around tables is, and what becomes of characters that an output cannot have."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from qassay.cli.output import NARROWEST, NOTE_WIDTH, print_tables
from qassay.tables import table

WORDS = "word " * 60


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    print_tables([table(WORDS.strip(), ["a"], [("x",)], [WORDS.strip()])])
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(("columns", "width"), [(60, 60), (200, NOTE_WIDTH), (12, NARROWEST)])
def test_prose_is_as_wide_as_the_terminal_within_bounds(
    columns: int, width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "dumb")  # no colours among the words
    longest = max(map(len, printed(capsys)))
    assert width - len("word ") < longest <= width


def test_output_without_a_terminal_has_one_width(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    title, *rest = printed(capsys)
    assert title == WORDS.strip()
    assert NOTE_WIDTH - len("word ") < max(map(len, rest)) <= NOTE_WIDTH


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_every_locale_gets_the_answer(tmp_path: Path, encoding: str) -> None:
    """A table has a minus sign, which Windows' files and the locale C do not have."""
    scores = tmp_path / "scores.csv"
    scores.write_text("id,n\u00fcw\U0001f600,old\nq1,1,0\nq2,1,0\n", encoding="utf-8")
    settings = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "qassay", "compare", str(scores)]
    shown = subprocess.run(command, capture_output=True, env=settings, check=True).stdout.decode(encoding)
    assert " - old  " in shown
    text = subprocess.run([*command, "--json"], capture_output=True, env=settings, check=True).stdout.decode(encoding)
    assert json.loads(text)["pairs"][0]["a"] == "n\u00fcw\U0001f600"


def test_a_closed_output_is_no_error(tmp_path: Path) -> None:
    scores = tmp_path / "scores.csv"
    scores.write_text("id,new,old\nq1,1,0\nq2,1,0\n")
    command = f"{shlex.quote(sys.executable)} -m qassay compare {shlex.quote(str(scores))} >&-"
    done = subprocess.run(["/bin/sh", "-c", command], stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
