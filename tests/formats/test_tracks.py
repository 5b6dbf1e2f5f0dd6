"""The rules of a track: read from qassay.toml, in any time zone, and every fault with its key and advice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from qassay.errors import InputError
from qassay.formats.folder import Folder, read_configuration
from qassay.formats.tracks import Track

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


def track(folder: Path, text: str) -> Track:
    (folder / "qassay.toml").write_text(f'task = "qa"\n{text}')
    return read_configuration(Folder(folder)).track


def test_without_a_table_there_are_no_rules(tmp_path: Path) -> None:
    assert track(tmp_path, "") == Track(None, None, None, authors=False)


@pytest.mark.parametrize(
    "written",
    ["2026-12-01T12:00:00Z", "2026-12-01T13:00:00+01:00", "2026-12-01 00:00:00-12:00", "2026-12-02T02:00:00+14:00"],
)
def test_one_moment_in_every_time_zone(tmp_path: Path, written: str) -> None:
    rules = track(tmp_path, f"[track]\ndeadline = {written}\nlimit = 3\npooled = 2\nauthors = true\n")
    assert rules.deadline == NOON
    assert (rules.limit, rules.pooled, rules.authors) == (3, 2, True)
    assert not rules.is_over(NOON), "the deadline itself is in time"
    assert rules.is_over(NOON + timedelta(milliseconds=1))
    assert "2026-12-01 12:00 UTC" in rules.closed(NOON + timedelta(hours=1))
    assert "arrived on 2026-12-01 13:00 UTC" in rules.closed(NOON + timedelta(hours=1))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("deadline = 2026-12-01T12:00:00", "does not say which time zone it means; write 2026-12-01T23:59:00Z"),
        ("deadline = 2026-12-01", "2026-12-01 is not a moment; write day, time and zone"),
        ("deadline = 12:00:00", "12:00:00 is not a moment"),
        ('deadline = "2026-12-01T12:00:00Z"', "it takes a moment without quotes"),
        ("limit = 0", "track.limit: is 0; it takes a number of runs, 1 or more"),
        ("limit = true", "track.limit: is True"),
        ("pooled = 1.5", "track.pooled: is 1.5"),
        ('authors = "yes"', "track.authors: is 'yes'; it takes true or false"),
        ("dealine = 2026-12-01T12:00:00Z", "track.dealine: is not a rule of a track; there are deadline, limit"),
    ],
)
def test_errors_name_their_key(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError) as error:
        track(tmp_path, f"[track]\n{text}\n")
    assert "qassay.toml: track." in str(error.value)
    assert says in str(error.value)


def test_a_track_is_a_table_and_all_its_faults_are_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"track: takes a table, such as \[track\]"):
        track(tmp_path, "track = 3\n")
    with pytest.raises(InputError) as error:
        track(tmp_path, "[track]\nlimit = -1\npooled = 0\ndeadline = 5\n")
    assert len(error.value.problems) == 3
