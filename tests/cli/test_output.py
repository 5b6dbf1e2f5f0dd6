"""How wide the prose around tables is."""

from __future__ import annotations

import sys

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
