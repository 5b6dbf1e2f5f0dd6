"""Progress of judging in an opened evaluation: when each judgment was given."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from qassay.evaluation import Evaluation
from qassay.judging import SETTLED_SETS
from qassay.meta.progress import JudgingProgress
from qassay.meta.progress import judging_progress as progress_of


class _Dated(msgspec.Struct):
    """The fields that are read of a row of judgments."""

    at: str | None = None
    settled: str | None = None


def judging_progress(evaluation: Evaluation) -> JudgingProgress:
    """How many judgments each set of people, and the adjudicator's, had by when.

    Judgments that came from a file without times are counted, and have no point.
    """
    parts = evaluation.folder.judgment_sets()
    names = [name for name in evaluation.human_sets if name in parts]
    # The adjudicator comes after the assessors.
    names.sort(key=lambda name: name in SETTLED_SETS)
    decoder = msgspec.json.Decoder(_Dated)
    times = {}
    for name in names:
        lines = parts[name].read().split(b"\n")
        rows = [decoder.decode(line) for line in lines if line.strip()]
        # Verdicts settled by a rule took no time.
        times[name] = [_moment(row.at) for row in rows if row.settled is None]
    return progress_of(times)


def _moment(text: str | None) -> str | None:
    """A time in UTC; None where it is not one.

    >>> _moment("2026-03-02T10:15:00+01:00"), _moment("yesterday")
    ('2026-03-02T09:15:00Z', None)
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
